//! Painted weights: where the volume that a joint displaces goes.
//!
//! Two kinds of vertex attributes, found by name whatever the case of its letters (in a glTF file with
//! an underscore in front):
//!
//! | attribute | meaning |
//! |---|---|
//! | `volume` | multiplies the automatic weights of all joints: 0 keeps a vertex from being displaced |
//! | `volume_JOINT` | replaces the automatic weights of that joint, wherever it is painted |
//!
//! Weights may be negative: such a vertex goes in where others bulge. A part of the body on which the
//! field is zero all over counts as not painted.

use super::Error;
use super::bones::Bones;
use crate::mesh::Values;
use crate::rig::Body;

/// The field looked for unless told otherwise.
pub(super) const DEFAULT: &str = "volume";

/// What is painted on a body.
#[derive(Clone, Debug, Default)]
pub(super) struct Paint<'a> {
    /// Multiplies the weights of all joints.
    common: Option<&'a [f32]>,
    /// Replaces the weights of one bone.
    own: Vec<(u32, &'a [f32])>,
    /// Parts on which the common field is painted.
    painted_parts: Vec<bool>,
}

impl<'a> Paint<'a> {
    pub(super) fn find(body: &'a Body, bones: &Bones, wanted: Option<&str>) -> Result<Self, Error> {
        let field = wanted.unwrap_or(DEFAULT).trim_start_matches('_').to_lowercase();
        let mut paint = Self::default();
        for attribute in &body.mesh.attributes {
            let name = attribute.name.to_lowercase();
            let Some(rest) = name.strip_prefix(&field) else { continue };
            match rest.strip_prefix('_') {
                None if rest.is_empty() => {
                    paint.common = Some(scalar(&attribute.name, &attribute.values)?);
                }
                None => {}
                Some(joint) => {
                    let values = scalar(&attribute.name, &attribute.values)?;
                    paint.add(body, bones, &attribute.name, joint, values)?;
                }
            }
        }
        if let (Some(wanted), true) = (wanted, paint.is_empty()) {
            let has = body.mesh.attributes.iter().filter(|a| a.values.width() == 1);
            let has = has.map(|a| a.name.clone()).collect();
            return Err(Error::NoWeights { wanted: wanted.to_owned(), has });
        }
        paint.mark_parts(body);
        Ok(paint)
    }

    fn is_empty(&self) -> bool {
        self.common.is_none() && self.own.is_empty()
    }

    fn add(
        &mut self,
        body: &Body,
        bones: &Bones,
        attribute: &str,
        joint: &str,
        values: &'a [f32],
    ) -> Result<(), Error> {
        let called = |node: u32| body.node_names[node as usize].to_lowercase();
        let mut found = false;
        for (i, bone) in (0..).zip(&bones.bones).filter(|(_, b)| called(b.node) == joint) {
            found = true;
            // A root carries everything alike: there is nothing to correct.
            if bone.parent.is_some() {
                self.own.push((i, values));
            }
        }
        if found {
            return Ok(());
        }
        let name = |b: &super::bones::Bone| body.node_names[b.node as usize].clone();
        let joints = bones.bones.iter().map(name).filter(|n| !n.is_empty()).collect();
        Err(Error::NoJoint { attribute: attribute.to_owned(), joints })
    }

    fn mark_parts(&mut self, body: &Body) {
        let Some(common) = self.common else { return };
        let painted = |p: &crate::rig::body::Part| {
            let values = &common[p.vertices.start as usize..p.vertices.end as usize];
            values.iter().any(|x| *x != 0.0)
        };
        self.painted_parts = body.parts.iter().map(painted).collect();
    }

    /// How freely a vertex of a part moves for a bone that would let it by `automatic` if nothing were painted.
    pub(super) fn freedom(&self, bone: u32, part: usize, vertex: u32, automatic: f64) -> f64 {
        if let Some((_, values)) = self.own.iter().find(|own| own.0 == bone) {
            return f64::from(values[vertex as usize]);
        }
        match self.common {
            Some(values) if self.painted_parts[part] => {
                automatic * f64::from(values[vertex as usize])
            }
            _ => automatic,
        }
    }

    /// The bones with weights of their own, with these.
    pub(super) fn own(&self) -> &[(u32, &'a [f32])] {
        &self.own
    }
}

fn scalar<'a>(name: &str, values: &'a Values) -> Result<&'a [f32], Error> {
    let bad = |what: String| Error::BadWeights { attribute: name.to_owned(), what };
    let Values::Scalar(numbers) = values else {
        let width = values.width();
        return Err(bad(format!("has {width} numbers a vertex; paint a field of one number")));
    };
    match numbers.iter().position(|x| !x.is_finite()) {
        Some(vertex) => Err(bad(format!("is {} at vertex {vertex}", numbers[vertex]))),
        None => Ok(numbers),
    }
}
