//! Sections: a mesh cut by a plane, what lies in front of it taken away and the cut filled.
//!
//! # Method
//!
//! Triangles that cross the plane are clipped; where they cross it they leave segments. Those bound the cut by the even-odd
//! rule: between two neighbouring heights of their ends nothing crosses, so sorted and taken in pairs they are the sides of
//! trapezoids, which fill the cut. Values at vertices are interpolated along edges, on the cut between its sides.
//!
//! # Limits
//!
//! For pictures: trapezoids share no vertices, and a surface that is open leaves cuts that are not filled where the number
//! of segments is odd.
//!
//! # Example
//!
//! ```
//! use glam::Vec3;
//! use supple::mesh::section::{Plane, cut};
//! use supple::{Run, zoo};
//!
//! let ball = &zoo::build("ball", &zoo::Size::default(), &Run::default())?.meshes[0];
//! let half = cut(ball, &Plane { normal: Vec3::Y, distance: 0.0 });
//! assert!(half.positions.iter().all(|p| p.y < 1e-6), "what is above is gone");
//! # Ok::<(), supple::zoo::Error>(())
//! ```

use glam::Vec3;

use super::{Attributes, TriMesh, Values};

/// A plane: points `x` with `normal · x = distance`.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Plane {
    /// Towards what is taken away.
    pub normal: Vec3,
    /// From the origin along the normal, in its lengths.
    pub distance: f32,
}

/// A new vertex: a share of the way from one of the mesh's to another.
#[derive(Clone, Copy, Debug, PartialEq)]
struct Between {
    from: u32,
    to: u32,
    share: f32,
}

/// What lies behind a plane, the cut filled. Values at vertices go along; those at corners are left out.
#[must_use]
pub fn cut(mesh: &TriMesh, plane: &Plane) -> TriMesh {
    let mut clipped = Clipped::new(mesh, plane);
    mesh.triangles.iter().for_each(|triangle| clipped.add(*triangle));
    let mut out = TriMesh::new(Vec::new(), clipped.triangles);
    out.name.clone_from(&mesh.name);
    let (positions, attributes) = interpolated(mesh, &clipped.vertices);
    (out.positions, out.attributes) = (positions, attributes);
    fill(&mut out, &clipped.segments, plane.normal);
    out
}

/// The part of a mesh behind a plane.
struct Clipped {
    /// Of the mesh's vertices over the plane.
    heights: Vec<f32>,
    /// What those behind it are called here.
    numbers: Vec<u32>,
    vertices: Vec<Between>,
    triangles: Vec<[u32; 3]>,
    /// Where triangles cross the plane.
    segments: Vec<[u32; 2]>,
}

impl Clipped {
    /// The vertices behind the plane, and no triangle yet.
    fn new(mesh: &TriMesh, plane: &Plane) -> Self {
        let height = |p: &Vec3| plane.normal.dot(*p) - plane.distance;
        let heights: Vec<f32> = mesh.positions.iter().map(height).collect();
        let mut vertices = Vec::new();
        let mut number = |(v, height): (usize, &f32)| {
            let next = vertices.len() as u32;
            if *height <= 0.0 {
                vertices.push(Between { from: v as u32, to: v as u32, share: 0.0 });
            }
            next
        };
        let numbers = heights.iter().enumerate().map(&mut number).collect();
        Self { heights, numbers, vertices, triangles: Vec::new(), segments: Vec::new() }
    }

    /// Adds the part of a triangle behind the plane, and where it crosses it.
    fn add(&mut self, triangle: [u32; 3]) {
        let behind = triangle.map(|v| self.heights[v as usize] <= 0.0);
        let mut corners = Vec::with_capacity(4);
        let mut crossings = Vec::with_capacity(2);
        for k in 0..3 {
            let (a, b) = (triangle[k], triangle[(k + 1) % 3]);
            if behind[k] {
                corners.push(self.numbers[a as usize]);
            }
            if behind[k] != behind[(k + 1) % 3] {
                // In one direction only, so that both triangles of an edge cross it at the same place.
                let (from, to) = (a.min(b), a.max(b));
                let (f, t) = (self.heights[from as usize], self.heights[to as usize]);
                let new = self.vertices.len() as u32;
                self.vertices.push(Between { from, to, share: f / (f - t) });
                corners.push(new);
                crossings.push(new);
            }
        }
        let fan = 1..corners.len().saturating_sub(1);
        self.triangles.extend(fan.map(|k| [corners[0], corners[k], corners[k + 1]]));
        if let [a, b] = crossings[..] {
            self.segments.push([a, b]);
        }
    }
}

/// Positions and values of new vertices.
fn interpolated(mesh: &TriMesh, vertices: &[Between]) -> (Vec<Vec3>, Attributes) {
    let at = |v: u32| mesh.positions[v as usize];
    let position = |b: &Between| at(b.from).lerp(at(b.to), b.share);
    let mut attributes = Attributes::default();
    for attribute in &mesh.attributes {
        let (width, floats) = (attribute.values.width(), attribute.values.as_floats());
        let value = |b: Between| {
            let (f, t) = (b.from as usize * width, b.to as usize * width);
            (0..width).map(move |k| floats[f + k] + b.share * (floats[t + k] - floats[f + k]))
        };
        let all = vertices.iter().copied().flat_map(value).collect();
        if let Some(values) = Values::from_floats(width, all) {
            attributes.set(attribute.name.clone(), values);
        }
    }
    (vertices.iter().map(position).collect(), attributes)
}

/// Fills the cut that segments bound.
fn fill(mesh: &mut TriMesh, segments: &[[u32; 2]], normal: Vec3) {
    let along = normal.normalize_or(Vec3::Y).any_orthonormal_vector();
    let across = normal.normalize_or(Vec3::Y).cross(along);
    let place = |v: u32| {
        let p = mesh.positions[v as usize];
        [p.dot(along), p.dot(across)]
    };
    let mut sides: Vec<[(u32, [f32; 2]); 2]> = Vec::new();
    for &[a, b] in segments {
        let (p, q) = ((a, place(a)), (b, place(b)));
        if p.1[1] < q.1[1] {
            sides.push([p, q]);
        } else if q.1[1] < p.1[1] {
            sides.push([q, p]);
        }
    }
    let mut levels: Vec<f32> = sides.iter().flatten().map(|(_, p)| p[1]).collect();
    levels.sort_by(f32::total_cmp);
    levels.dedup();
    sides.sort_by(|a, b| a[0].1[1].total_cmp(&b[0].1[1]));
    let mut corners: Vec<Between> = Vec::new();
    let (mut next, mut open): (usize, Vec<usize>) = (0, Vec::new());
    for pair in levels.windows(2) {
        let (low, high) = (pair[0], pair[1]);
        open.retain(|&s| sides[s][1].1[1] > low);
        while next < sides.len() && sides[next][0].1[1] <= low {
            open.push(next);
            next += 1;
        }
        let on = |s: usize, level: f32| {
            let [(a, p), (b, q)] = sides[s];
            let share = (level - p[1]) / (q[1] - p[1]);
            (p[0] + share * (q[0] - p[0]), Between { from: a, to: b, share })
        };
        let middle = 0.5 * (low + high);
        open.sort_by(|&a, &b| on(a, middle).0.total_cmp(&on(b, middle).0));
        for sides in open.chunks_exact(2) {
            let [a, b] = [on(sides[0], low).1, on(sides[1], low).1];
            let [c, d] = [on(sides[1], high).1, on(sides[0], high).1];
            corners.extend([a, b, c, a, c, d]);
        }
    }
    let first = mesh.positions.len() as u32;
    let (positions, attributes) = interpolated(mesh, &corners);
    mesh.positions.extend(positions);
    for (name, values) in mesh.attributes.values_mut() {
        if let Some(more) = attributes.get(name) {
            let mut floats = values.as_floats().to_vec();
            floats.extend_from_slice(more.as_floats());
            if let Some(joined) = Values::from_floats(values.width(), floats) {
                *values = joined;
            }
        }
    }
    mesh.triangles
        .extend((0..corners.len() as u32 / 3).map(|t| [0, 1, 2].map(|k| first + 3 * t + k)));
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::mesh::volume::volume;
    use crate::{Run, zoo};

    fn model(name: &str) -> TriMesh {
        zoo::build(name, &zoo::Size::default(), &Run::default()).unwrap().meshes[0].clone()
    }

    #[test]
    fn both_halves_have_the_whole_volume() {
        for name in ["ball", "torus", "comb", "cow"] {
            let mesh = model(name);
            let whole = volume(&mesh.positions, &mesh.triangles, &Run::default());
            for normal in [Vec3::X, Vec3::new(0.3, -0.8, 0.5)] {
                let low =
                    mesh.positions.iter().map(|p| normal.dot(*p)).fold(f32::INFINITY, f32::min);
                let high =
                    mesh.positions.iter().map(|p| normal.dot(*p)).fold(f32::NEG_INFINITY, f32::max);
                let distance = low + 0.37 * (high - low);
                let halves =
                    [Plane { normal, distance }, Plane { normal: -normal, distance: -distance }];
                let volumes = halves.map(|plane| {
                    let half = cut(&mesh, &plane);
                    volume(&half.positions, &half.triangles, &Run::default())
                });
                let off = (volumes[0] + volumes[1]) / whole - 1.0;
                assert!(off.abs() < 1e-4, "{name}: {volumes:?} of {whole}");
                assert!(volumes.iter().all(|v| *v > 0.0), "{name}: {volumes:?}");
            }
        }
    }

    #[test]
    fn values_go_along() {
        let mut mesh = model("ball");
        let paint = mesh.positions.iter().map(|p| p.x + 2.0 * p.z).collect();
        mesh.attributes.set("paint", Values::Scalar(paint));
        let half = cut(&mesh, &Plane { normal: Vec3::Y, distance: 0.2 });
        let Some(Values::Scalar(paint)) = half.attributes.get("paint") else { panic!("paint") };
        assert_eq!(paint.len(), half.positions.len());
        for (p, value) in half.positions.iter().zip(paint) {
            assert!((value - (p.x + 2.0 * p.z)).abs() < 1e-4, "{value} at {p}");
        }
        let nothing = cut(&mesh, &Plane { normal: Vec3::Y, distance: -9.0 });
        assert!(nothing.triangles.is_empty(), "all is taken away");
    }
}
