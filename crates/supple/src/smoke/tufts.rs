//! Wool tufts (thesis §7.3.4): short, narrow streak surfaces seeded all over an obstacle.
//!
//! # Method
//!
//! Places are spread evenly over the area of a mesh, a little off it along its normal: on the wall itself nothing
//! moves. Each is the middle of a short seed line along `n × v`, so that the ribbon that leaves it lies flat on the
//! surface and has its full width; a line along the flow would make a ribbon without any.
//!
//! # Limits
//!
//! Where the flow is at rest or the place is not in the fluid there is no tuft
//! (`tufts_lie_flat_and_only_where_something_moves`).

use glam::DVec3;

use crate::flow::{Flow, Unreadable};
use crate::mesh::measure::Bounds;
use crate::{Run, TriMesh};

/// How tufts are spread.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Params {
    /// About how many.
    pub count: usize,
    /// How far off the surface they begin: about a cell of the flow.
    pub off: f64,
    /// How wide they are.
    pub width: f64,
    /// The flow's time at which its direction is looked at.
    pub time: f64,
}

/// Why there are no tufts.
#[derive(Debug, thiserror::Error)]
pub enum Error {
    /// Nothing to sit on.
    #[error(
        "tufts need something to sit on: name a mesh as the obstacle; the flow has no walls of its own"
    )]
    NoWall,
    /// Nothing moves there.
    #[error("nothing moves around the obstacle: is it in the flow's units?")]
    Still,
    /// A level could not be read.
    #[error(transparent)]
    Unreadable(#[from] Unreadable),
}

/// Seed lines of about so many tufts over a mesh, as far off it and as wide as its size suggests; none where the mesh
/// touches the bounds of the flow: that is its floor, or an end of it.
///
/// # Errors
///
/// [`Error`] says why there are none.
pub fn over(
    mesh: &TriMesh,
    flow: &Flow,
    count: usize,
    run: &Run<'_>,
) -> Result<Vec<[[f64; 3]; 2]>, Error> {
    let [low, high] = flow.bounds().map(DVec3::from);
    let extent = high - low;
    let margin = 0.01 * extent.max_element();
    // Flat on one side of the bounds.
    let lies_on = |t: &[u32; 3], a: usize, side: f64| {
        t.iter().all(|&i| (f64::from(mesh.positions[i as usize][a]) - side).abs() <= margin)
    };
    let inner = |t: &[u32; 3]| {
        (0..3).all(|a| extent[a] <= 0.0 || !(lies_on(t, a, low[a]) || lies_on(t, a, high[a])))
    };
    let triangles: Vec<[u32; 3]> = mesh.triangles.iter().copied().filter(inner).collect();
    let used: Vec<glam::Vec3> =
        triangles.iter().flatten().map(|&i| mesh.positions[i as usize]).collect();
    let bounds = Bounds::of(&used).ok_or(Error::NoWall)?;
    let size = f64::from(bounds.diagonal());
    let time = flow.span().map_or(0.0, |[first, last]| 0.5 * (first + last));
    let params = Params { count, off: 0.03 * size, width: 0.01 * size, time };
    let shown = TriMesh::new(mesh.positions.clone(), triangles);
    let lines = seeds(&shown, flow, &params, run)?;
    if lines.is_empty() { Err(Error::Still) } else { Ok(lines) }
}

/// Seed lines of tufts over a mesh.
///
/// # Errors
///
/// [`Unreadable`] if a level of the flow cannot be read.
pub fn seeds(
    mesh: &TriMesh,
    flow: &Flow,
    params: &Params,
    run: &Run<'_>,
) -> Result<Vec<[[f64; 3]; 2]>, Unreadable> {
    let places = spread(mesh, params);
    let points: Vec<[f64; 3]> = places.iter().map(|(place, _)| place.to_array()).collect();
    let velocities = flow.velocities(&points, params.time, run)?;
    let fastest = velocities.iter().map(speed).fold(0.0, f64::max);
    let line = |((place, normal), v): (&(DVec3, DVec3), &[f64; 4])| {
        let across = normal.cross(DVec3::new(v[0], v[1], v[2])).try_normalize()?;
        let moves = v[3] > 0.5 && speed(v) > 1e-3 * fastest;
        let half = 0.5 * params.width * across;
        moves.then(|| [(*place - half).to_array(), (*place + half).to_array()])
    };
    Ok(places.iter().zip(&velocities).filter_map(line).collect())
}

fn speed(v: &[f64; 4]) -> f64 {
    (v[0] * v[0] + v[1] * v[1] + v[2] * v[2]).sqrt()
}

/// Places and normals: one each time the area gone over passes another share of the whole.
fn spread(mesh: &TriMesh, params: &Params) -> Vec<(DVec3, DVec3)> {
    let corners = |t: usize| mesh.corners_of(t).map(|p| p.as_dvec3());
    let cross = |[a, b, c]: [DVec3; 3]| (b - a).cross(c - a);
    let area = |t: usize| 0.5 * cross(corners(t)).length_squared().sqrt();
    let total: f64 = (0..mesh.triangles.len()).map(area).sum();
    let share = total / params.count.max(1) as f64;
    let mut places = Vec::new();
    let (mut gone, mut next) = (0.0, 0.5 * share);
    for t in 0..mesh.triangles.len() {
        gone += area(t);
        while next < gone && places.len() < params.count {
            next += share;
            // Golden ratios: spread within large triangles, too.
            let k = places.len() as f64;
            let [mut u, mut v] = [(0.754_877_666 * k).fract(), (0.569_840_291 * k).fract()];
            if u + v > 1.0 {
                [u, v] = [1.0 - u, 1.0 - v];
            }
            let [a, b, c] = corners(t);
            let normal = cross([a, b, c]).normalize_or_zero();
            places.push((a + u * (b - a) + v * (c - a) + params.off * normal, normal));
        }
    }
    places
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::flow::analytic::Analytic;
    use crate::zoo;

    #[test]
    fn tufts_lie_flat_and_only_where_something_moves() {
        let run = Run::default();
        let ball = zoo::build("ball", &zoo::Size { triangles: Some(1200) }, &run).unwrap();
        let mesh = &ball.meshes[0];
        let params = Params { count: 200, off: 0.05, width: 0.1, time: 0.0 };
        let flow = Flow::Analytic(Analytic::Uniform);
        let lines = seeds(mesh, &flow, &params, &run).unwrap();
        assert!((190..=200).contains(&lines.len()), "{}", lines.len());
        for [a, b] in lines.iter().map(|line| line.map(DVec3::from)) {
            assert!(
                (a.distance(b) - 0.1).abs() < 1e-9 && (b - a).x.abs() < 1e-9,
                "across the stream"
            );
            let middle = 0.5 * (a + b);
            let off = middle.length() - mesh.positions[0].length() as f64;
            assert!((0.03..0.06).contains(&off), "{off}");
            assert!((b - a).dot(middle).abs() < 0.02, "along the surface");
        }
        // All octants: they are spread.
        let middles: Vec<DVec3> =
            lines.iter().map(|l| 0.5 * (DVec3::from(l[0]) + DVec3::from(l[1]))).collect();
        for k in 0..8 {
            let sign = |bit: i32| if k >> bit & 1 == 1 { 1.0 } else { -1.0 };
            let octant = DVec3::new(sign(0), sign(1), sign(2));
            let there = middles.iter().filter(|m| (**m * octant).min_element() > 0.0).count();
            assert!(there > 12, "octant {k}: {there}");
        }
        // In the wake's cylinder there is no fluid.
        let small = TriMesh {
            positions: mesh.positions.iter().map(|p| *p * 0.2).collect(),
            ..mesh.clone()
        };
        let none = seeds(&small, &Flow::Analytic(Analytic::Wake), &params, &run).unwrap();
        assert!(none.is_empty(), "{}", none.len());
    }
}
