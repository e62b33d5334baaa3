//! Edits on shapes whose vertices are split: they act on the places, so that copies move as one.
//!
//! An edit that follows the surface must see it whole: distances, normals and fans of triangles end at a
//! seam otherwise, and a correction along the normals opens it. So the edits run on the welded shape
//! ([`Welding`]), and what they know of its vertices is handed on to the copies.

use glam::Vec3;

use super::curve::Extent;
use super::path::{Path, SpaceMap, Stored};
use super::{Error, Op, Params, Problem, Report, apply_all};
use crate::Run;
use crate::mesh::welding::Welding;

/// Carries out the edits on the places of the vertices.
pub(super) fn apply_welded(
    target: f64,
    positions: &mut [Vec3],
    triangles: &[[u32; 3]],
    ops: &[Op],
    params: &Params,
    run: &Run<'_>,
) -> Result<(Path, Report), Error> {
    let welding = Welding::of(positions);
    if welding.is_trivial() || triangles.is_empty() {
        return apply_all(target, positions, triangles, ops, params, run);
    }
    let fail = |index: usize| {
        move |problem| Error {
            number: index + 1,
            name: ops.get(index).map_or("", Op::name),
            problem,
        }
    };
    let on_places = |(index, op): (usize, &Op)| op.welded(&welding).map_err(fail(index));
    let welded = ops.iter().enumerate().map(on_places).collect::<Result<Vec<_>, _>>()?;
    let mask = match params.mask.len() {
        0 => Vec::new(),
        n if n == welding.vertices() => welding.gather_least(&params.mask),
        given => {
            return Err(fail(0)(Problem::MaskLength { given, vertices: welding.vertices() }));
        }
    };
    let params = Params { mask, ..params.clone() };
    let before = positions.to_vec();
    let from = welding.gather(positions);
    let mut to = from.clone();
    let joined = welding.triangles(triangles);
    let (mut path, told) = apply_all(target, &mut to, &joined, &welded, &params, run)?;
    welding.carry(&from, &to, positions);
    let edges = welding.opened(triangles, &before, positions);
    if edges > 0 {
        return Err(fail(ops.len().saturating_sub(1))(Problem::Opened { edges }));
    }
    path.maps.iter_mut().for_each(|map| map.spread(&welding));
    Ok((path, told))
}

impl Op {
    /// The edit on the places, whose numbers are others than those of the vertices.
    fn welded(&self, welding: &Welding) -> Result<Self, Problem> {
        let mut op = self.clone();
        let mut missing = None;
        op.for_each_pick(|picked| {
            missing =
                missing.or(picked.iter().copied().find(|v| *v as usize >= welding.vertices()));
            if missing.is_none() {
                picked.iter_mut().for_each(|v| *v = welding.place(*v));
                picked.dedup();
            }
        });
        if let Some(vertex) = missing {
            return Err(Problem::NoSuchVertex { vertex, vertices: welding.vertices() });
        }
        if let Self::Curve(curve) = &mut op {
            curve.extent.check_on(welding.vertices())?;
            match &mut curve.extent {
                Extent::Between { inner, outer } => {
                    for set in [inner, outer] {
                        set.sort_unstable();
                        set.dedup();
                    }
                }
                Extent::Painted { values } => *values = welding.gather(values),
                _ => {}
            }
        }
        Ok(op)
    }
}

impl SpaceMap {
    /// What is known of places, of the vertices.
    fn spread(&mut self, welding: &Welding) {
        match self {
            Self::Stored(Stored { before, after, values }) => {
                *before = welding.spread(before);
                *after = welding.spread(after);
                *values = welding.spread(values);
            }
            Self::Boundary(map) => map.spread(welding),
            Self::Within(flow) => flow.spread(welding),
            Self::Flow(_) | Self::Twist(_) | Self::Bend(_) => {}
        }
    }
}
