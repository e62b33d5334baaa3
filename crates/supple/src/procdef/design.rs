//! From what an artist paints to fields over a body: layers, directions, amplitude, phase.
//!
//! # Method
//!
//! A field is a list of [`Mark`]s (a point, a face, a flat part of the surface, a stroke, a section) that become values at
//! places, interpolated in space or in the body ([`field`](super::field)). Orientation is made in the paper's two steps:
//! the gradient of the layer field is the secondary direction; the primary one comes from strokes, as arrows or as lines,
//! or from a rule for walls: an angle from the ring about an axis that changes from the inner to the outer layer.
//!
//! A field without marks is taken from the attribute of that name, if the mesh has it: so fibres computed by another
//! program arrive.

use glam::{DVec3, Vec3};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::field::inside::{self, Smoothness, hat_gradients};
use super::field::{Known, space};
use super::orientation;
use super::rotation::jacobi;
use super::tissue::Fields;
use crate::Run;
use crate::mesh::{TetMesh, Values};

/// Where a field's value is painted.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(tag = "kind", rename_all = "kebab-case", deny_unknown_fields)]
pub enum Mark {
    /// One place.
    Point {
        /// Where.
        at: [f64; 3],
        /// The field there.
        value: f64,
    },
    /// The triangle of the surface nearest to a place.
    Face {
        /// Where.
        at: [f64; 3],
        /// The field on it.
        value: f64,
    },
    /// The part of the surface around a place that is nearly flat.
    Flat {
        /// Where it begins.
        at: [f64; 3],
        /// Largest angle between neighbouring triangles, in degrees.
        angle: f64,
        /// The field on it.
        value: f64,
    },
    /// A line, drawn on the surface or on a section.
    Stroke {
        /// Its corners.
        points: Vec<[f64; 3]>,
        /// The field along it.
        value: f64,
    },
    /// A plane that cuts the body.
    Section {
        /// A place on it.
        through: [f64; 3],
        /// Its normal.
        normal: [f64; 3],
        /// The field on the cut.
        value: f64,
    },
}

/// What a field is interpolated in.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub enum Within {
    /// Space: smooth, also across gaps.
    #[default]
    Space,
    /// The body: along the tissue.
    Body,
}

/// A painted field.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(default, deny_unknown_fields)]
pub struct Painted {
    /// Where it is known.
    pub marks: Vec<Mark>,
    /// What it is interpolated in.
    pub within: Within,
}

/// A direction drawn on the body.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct Arrow {
    /// Its corners, in the order of the direction.
    pub points: Vec<[f64; 3]>,
}

/// The axis of a rule for walls.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case", untagged)]
pub enum Axis {
    /// A direction in space.
    Fixed([f64; 3]),
    /// `"phase"`: the direction in which phase grows, for bodies that are bent.
    Phase(PhaseWord),
}

/// The word `phase`.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub enum PhaseWord {
    /// The gradient of the phase field.
    Phase,
}

/// Primary directions by the angle from the ring about an axis.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct Rule {
    /// What the rings go around.
    pub axis: Axis,
    /// Angle where the layer is 0, in degrees.
    #[serde(default)]
    pub inside: f64,
    /// Angle where the layer is 1, in degrees.
    #[serde(default)]
    pub outside: f64,
}

/// All fields of a body, as they are painted.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(default, deny_unknown_fields)]
pub struct Design {
    /// Layers: their gradient is the secondary direction.
    pub layer: Painted,
    /// Strokes along the primary direction.
    pub arrows: Vec<Arrow>,
    /// Whether strokes are lines, drawn either way.
    pub lines: bool,
    /// Directions by a rule, in place of strokes.
    pub rule: Option<Rule>,
    /// How much of the chart each place does, in `[−1, 1]`; everywhere 1 without marks.
    pub amplitude: Painted,
    /// How late each place is, in `[0, 1]`; nowhere without marks.
    pub phase: Painted,
}

/// Why a design cannot be carried out.
#[derive(Clone, Debug, PartialEq, thiserror::Error)]
pub enum Error {
    /// A field cannot be interpolated.
    #[error("{field}: {error}")]
    Field {
        /// Which.
        field: &'static str,
        /// Why.
        error: space::Error,
    },
    /// A mark touches nothing.
    #[error(
        "{field}: mark {index} touches no vertex of the body; is it in the body's own coordinates?"
    )]
    Nothing {
        /// Of which field.
        field: &'static str,
        /// Which mark.
        index: usize,
    },
    /// A number is none.
    #[error("{field}: mark {index} has a coordinate or value that is no number")]
    NotFinite {
        /// Of which field.
        field: &'static str,
        /// Which mark.
        index: usize,
    },
}

/// Fields and what was noticed on the way.
#[derive(Clone, Debug)]
pub struct Made {
    /// The fields.
    pub fields: Fields,
    /// The layer field.
    pub layer: Vec<f64>,
    /// What the user should know: merged and contradicting marks.
    pub notes: Vec<String>,
}

impl Design {
    /// The fields over a mesh.
    ///
    /// # Errors
    ///
    /// For marks that touch nothing or are no numbers, and fields that cannot be interpolated.
    pub fn fields(&self, mesh: &TetMesh, run: &Run<'_>) -> Result<Made, Error> {
        let painter = Painter::new(mesh, run);
        let mut notes = Vec::new();
        let layer = painter.scalar("layer", &self.layer, &mut notes)?;
        let amplitude = painter.scalar("amplitude", &self.amplitude, &mut notes)?;
        let phase = painter.scalar("phase", &self.phase, &mut notes)?;
        let count = mesh.positions.len();
        let amplitude = amplitude.map_or_else(|| vec![1.0; count], |f| f.values);
        let phase = phase.unwrap_or_else(|| Scalar {
            values: vec![0.0; count],
            gradients: vec![DVec3::ZERO; count],
        });
        let (layer, gradients) = match layer {
            Some(layer) => (layer.values, Some(layer.gradients)),
            // `radial` says across the wall; sheets of some programs lie in it.
            None => (vec![0.0; count], painter.vectors(&["secondary", "radial", "sheet"])),
        };
        let primaries = self.primaries(&painter, &layer, gradients.as_deref(), &phase)?;
        let gradients = gradients.unwrap_or_else(|| vec![across(&primaries); count]);
        let fibers = orientation::fibers(mesh, &gradients, &primaries);
        let fields = Fields {
            fibers,
            amplitude: amplitude.iter().map(|a| a.clamp(-1.0, 1.0) as f32).collect(),
            phase: phase.values.iter().map(|p| p.clamp(0.0, 1.0) as f32).collect(),
        };
        Ok(Made { fields, layer, notes })
    }

    fn primaries(
        &self,
        painter: &Painter<'_>,
        layer: &[f64],
        gradients: Option<&[DVec3]>,
        phase: &Scalar,
    ) -> Result<Vec<DVec3>, Error> {
        let count = layer.len();
        if let Some(rule) = &self.rule {
            let radial = |v: usize| gradients.map_or(DVec3::ZERO, |g| g[v].normalize_or_zero());
            let axis = |v: usize| match rule.axis {
                Axis::Fixed(axis) => DVec3::from(axis).normalize_or_zero(),
                Axis::Phase(_) => phase.gradients[v].normalize_or_zero(),
            };
            let direction = |v: usize| {
                let d2 = radial(v);
                let ring = axis(v).cross(d2).normalize_or_zero();
                let share = layer[v].clamp(0.0, 1.0);
                let angle = (rule.inside + share * (rule.outside - rule.inside)).to_radians();
                libm::cos(angle) * ring + libm::sin(angle) * d2.cross(ring)
            };
            return Ok((0..count).map(direction).collect());
        }
        if self.arrows.is_empty() {
            let given = painter.vectors(&["primary", "fiber"]);
            return Ok(given.unwrap_or_else(|| vec![painter.longest(); count]));
        }
        painter.directions(&self.arrows, self.lines)
    }
}

/// A direction across the mean of some.
fn across(directions: &[DVec3]) -> DVec3 {
    directions.iter().sum::<DVec3>().normalize_or(DVec3::X).any_orthonormal_vector()
}

struct Scalar {
    values: Vec<f64>,
    gradients: Vec<DVec3>,
}

/// A mesh to paint on.
struct Painter<'a> {
    mesh: &'a TetMesh,
    surface: Vec<[u32; 3]>,
    edge: f64,
    run: &'a Run<'a>,
}

impl<'a> Painter<'a> {
    fn new(mesh: &'a TetMesh, run: &'a Run<'a>) -> Self {
        let edges = mesh.edges();
        let length = |[a, b]: &[u32; 2]| {
            (mesh.positions[*a as usize] - mesh.positions[*b as usize]).as_dvec3().length()
        };
        let edge = edges.iter().map(length).sum::<f64>() / edges.len().max(1) as f64;
        Self { mesh, surface: mesh.boundary(), edge, run }
    }

    fn at(&self, v: u32) -> DVec3 {
        self.mesh.positions[v as usize].as_dvec3()
    }

    /// A painted field, or the attribute of its name; nothing without either.
    fn scalar(
        &self,
        name: &'static str,
        painted: &Painted,
        notes: &mut Vec<String>,
    ) -> Result<Option<Scalar>, Error> {
        if painted.marks.is_empty() {
            let Some(Values::Scalar(values)) = self.mesh.attributes.get(name) else {
                return Ok(None);
            };
            let values: Vec<f64> = values.iter().map(|v| f64::from(*v)).collect();
            let gradients = self.gradients(&values);
            return Ok(Some(Scalar { values, gradients }));
        }
        let mut known = Vec::new();
        for (index, mark) in painted.marks.iter().enumerate() {
            let places = self.places(mark);
            let value = mark.value();
            if !value.is_finite() || places.iter().any(|p| !p.is_finite()) {
                return Err(Error::NotFinite { field: name, index });
            }
            if places.is_empty() {
                return Err(Error::Nothing { field: name, index });
            }
            known.extend(places.into_iter().map(|at| Known { at, value: [value] }));
        }
        let field = match painted.within {
            Within::Space => self.in_space(name, &known, notes)?,
            Within::Body => {
                let lines = |m: &Mark| matches!(m, Mark::Point { .. } | Mark::Stroke { .. });
                let thin = painted.marks.iter().all(lines);
                let smoothness = if thin { Smoothness::Biharmonic } else { Smoothness::Harmonic };
                let values = inside::interpolate(self.mesh, &known, smoothness, self.run);
                let gradients = self.gradients(&values);
                Scalar { values, gradients }
            }
        };
        Ok(Some(field))
    }

    fn in_space(
        &self,
        name: &'static str,
        known: &[Known<1>],
        notes: &mut Vec<String>,
    ) -> Result<Scalar, Error> {
        let field = space::Interpolant::new(known, self.run)
            .map_err(|error| Error::Field { field: name, error })?;
        if field.merged.contradiction > 0.0 {
            notes.push(format!(
                "{name}: marks at the same place differ by up to {:.3}; their mean is taken",
                field.merged.contradiction
            ));
        }
        let count = self.mesh.positions.len();
        let place = |v: usize| self.at(v as u32);
        Ok(Scalar {
            values: self.run.map(count, |v| field.at(place(v))[0]),
            gradients: self.run.map(count, |v| field.gradient(place(v))[0]),
        })
    }

    /// Directions interpolated between strokes.
    fn directions(&self, arrows: &[Arrow], lines: bool) -> Result<Vec<DVec3>, Error> {
        let mut known = Vec::new();
        for (index, arrow) in arrows.iter().enumerate() {
            let before = known.len();
            for pair in arrow.points.windows(2) {
                let (a, b) = (DVec3::from(pair[0]), DVec3::from(pair[1]));
                let direction = (b - a).normalize_or_zero();
                if !direction.is_finite() || direction == DVec3::ZERO {
                    continue;
                }
                known.extend(self.sampled(a, b).into_iter().map(|at| (at, direction)));
            }
            if known.len() == before {
                return Err(Error::Nothing { field: "arrows", index });
            }
        }
        let failed = |error| Error::Field { field: "arrows", error };
        let count = self.mesh.positions.len();
        if lines {
            let entries =
                |d: DVec3| [d.x * d.x, d.x * d.y, d.x * d.z, d.y * d.y, d.y * d.z, d.z * d.z];
            let known: Vec<Known<6>> =
                known.into_iter().map(|(at, d)| Known { at, value: entries(d) }).collect();
            let field = space::Interpolant::new(&known, self.run).map_err(failed)?;
            return Ok(self.run.map(count, |v| largest(&field.at(self.at(v as u32)))));
        }
        let known: Vec<Known<3>> =
            known.into_iter().map(|(at, d)| Known { at, value: d.to_array() }).collect();
        let field = space::Interpolant::new(&known, self.run).map_err(failed)?;
        Ok(self.run.map(count, |v| DVec3::from(field.at(self.at(v as u32)))))
    }

    /// Places along a line, about an edge apart.
    fn sampled(&self, a: DVec3, b: DVec3) -> Vec<DVec3> {
        let steps = ((b - a).length() / self.edge).ceil().clamp(1.0, 1000.0) as u32;
        (0..=steps).map(|k| a + f64::from(k) / f64::from(steps) * (b - a)).collect()
    }

    fn places(&self, mark: &Mark) -> Vec<DVec3> {
        match mark {
            Mark::Point { at, .. } => vec![DVec3::from(*at)],
            Mark::Face { at, .. } => {
                let face = self.nearest_face(DVec3::from(*at));
                face.map_or(Vec::new(), |f| self.surface[f].map(|v| self.at(v)).to_vec())
            }
            Mark::Flat { at, angle, .. } => self.flat(DVec3::from(*at), *angle),
            Mark::Stroke { points, .. } => {
                let pairs = points.windows(2);
                pairs.flat_map(|p| self.sampled(DVec3::from(p[0]), DVec3::from(p[1]))).collect()
            }
            Mark::Section { through, normal, .. } => {
                let (through, normal) =
                    (DVec3::from(*through), DVec3::from(*normal).normalize_or_zero());
                let near = |p: &DVec3| {
                    normal != DVec3::ZERO && (*p - through).dot(normal).abs() < 0.5 * self.edge
                };
                (0..self.mesh.positions.len() as u32).map(|v| self.at(v)).filter(near).collect()
            }
        }
    }

    fn nearest_face(&self, at: DVec3) -> Option<usize> {
        let distance = |f: &usize| {
            let [a, b, c] = self.surface[*f].map(|v| self.at(v));
            ((a + b + c) / 3.0).distance_squared(at)
        };
        (0..self.surface.len()).min_by(|a, b| distance(a).total_cmp(&distance(b)))
    }

    /// The vertices of all triangles that are reached without crossing an edge sharper than `angle`.
    fn flat(&self, at: DVec3, angle: f64) -> Vec<DVec3> {
        let Some(start) = self.nearest_face(at) else { return Vec::new() };
        let normal = |f: usize| {
            let [a, b, c] = self.surface[f].map(|v| self.at(v));
            (b - a).cross(c - a).normalize_or_zero()
        };
        let mut by_edge: Vec<([u32; 2], usize)> = Vec::with_capacity(3 * self.surface.len());
        for (f, t) in self.surface.iter().enumerate() {
            for k in 0..3 {
                let (a, b) = (t[k], t[(k + 1) % 3]);
                by_edge.push(([a.min(b), a.max(b)], f));
            }
        }
        by_edge.sort_unstable();
        let least = libm::cos(angle.to_radians());
        let mut reached = vec![false; self.surface.len()];
        reached[start] = true;
        let mut todo = vec![start];
        while let Some(f) = todo.pop() {
            let t = self.surface[f];
            for edge in [[t[0], t[1]], [t[1], t[2]], [t[2], t[0]]] {
                let edge = [edge[0].min(edge[1]), edge[0].max(edge[1])];
                let first = by_edge.partition_point(|e| e.0 < edge);
                let across = by_edge[first..].iter().take_while(|e| e.0 == edge).map(|e| e.1);
                let flat = |&g: &usize| !reached[g] && normal(f).dot(normal(g)) >= least;
                let next: Vec<usize> = across.filter(flat).collect();
                next.iter().for_each(|&g| reached[g] = true);
                todo.extend(next);
            }
        }
        let mut vertices: Vec<u32> =
            (0..reached.len()).filter(|&f| reached[f]).flat_map(|f| self.surface[f]).collect();
        vertices.sort_unstable();
        vertices.dedup();
        vertices.into_iter().map(|v| self.at(v)).collect()
    }

    /// Gradients at the vertices: means over their tets, weighted by volume.
    fn gradients(&self, values: &[f64]) -> Vec<DVec3> {
        let mut sums = vec![(DVec3::ZERO, 0.0); values.len()];
        for (t, tet) in self.mesh.tets.iter().enumerate() {
            let volume = self.mesh.volume_of(t).abs();
            let hats = hat_gradients(&self.mesh.corners_of(t).map(Vec3::as_dvec3));
            let gradient: DVec3 = (0..4).map(|k| values[tet[k] as usize] * hats[k]).sum();
            if volume <= 0.0 || !gradient.is_finite() {
                continue;
            }
            for &v in tet {
                sums[v as usize].0 += volume * gradient;
                sums[v as usize].1 += volume;
            }
        }
        sums.into_iter()
            .map(|(sum, volume)| if volume > 0.0 { sum / volume } else { DVec3::ZERO })
            .collect()
    }

    fn vectors(&self, names: &[&str]) -> Option<Vec<DVec3>> {
        let found = names.iter().find_map(|name| self.mesh.attributes.get(name));
        match found {
            Some(Values::Vec3(values)) => Some(values.iter().map(|v| v.as_dvec3()).collect()),
            _ => None,
        }
    }

    /// The direction in which the body is longest.
    fn longest(&self) -> DVec3 {
        axes(&self.mesh.positions)[0]
    }
}

impl Mark {
    fn value(&self) -> f64 {
        match self {
            Self::Point { value, .. }
            | Self::Face { value, .. }
            | Self::Flat { value, .. }
            | Self::Stroke { value, .. }
            | Self::Section { value, .. } => *value,
        }
    }
}

/// The eigenvector of the largest eigenvalue of `00 01 02 11 12 22`.
fn largest(m: &[f64; 6]) -> DVec3 {
    let mut matrix = [[m[0], m[1], m[2]], [m[1], m[3], m[4]], [m[2], m[4], m[5]]];
    let vectors = jacobi(&mut matrix);
    let k = (0..3).max_by(|&a, &b| matrix[a][a].total_cmp(&matrix[b][b])).unwrap_or(0);
    DVec3::new(vectors[0][k], vectors[1][k], vectors[2][k])
}

/// The axes in which some points spread most, next and least, right-handed.
#[must_use]
pub fn axes(positions: &[Vec3]) -> [DVec3; 3] {
    let count = positions.len().max(1) as f64;
    let center = positions.iter().map(|p| p.as_dvec3()).sum::<DVec3>() / count;
    let mut moment = [[0.0; 3]; 3];
    for p in positions {
        let d = p.as_dvec3() - center;
        for (i, row) in moment.iter_mut().enumerate() {
            (0..3).for_each(|j| row[j] += d[i] * d[j]);
        }
    }
    let vectors = jacobi(&mut moment);
    let mut order = [0, 1, 2];
    order.sort_by(|&a, &b| moment[b][b].total_cmp(&moment[a][a]));
    let axis = |k: usize| {
        let a = DVec3::new(vectors[0][k], vectors[1][k], vectors[2][k]).normalize_or(DVec3::X);
        // The sign that points along a positive coordinate axis.
        let main =
            a.to_array().into_iter().max_by(|x, y| x.abs().total_cmp(&y.abs())).unwrap_or(1.0);
        if main < 0.0 { -a } else { a }
    };
    let (a, b) = (axis(order[0]), axis(order[1]));
    [a, b, a.cross(b)]
}
