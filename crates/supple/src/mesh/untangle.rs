//! Small folds of a deformed surface, smoothed out.
//!
//! A deformation that folds nothing folds a mesh all the same where its triangles are too coarse for it: a few of them
//! come to lie across each other. Splitting them helps as long as the deformation can be evaluated; this is for what is
//! left.
//!
//! # Method
//!
//! The corners of pairs of triangles that intersect, and did not before the deformation, go half way to the mean of their
//! neighbours, again and again; from time to time one ring more takes part. It ends when none is left. What is smoothed
//! stays within a given reach of where the deformation took it.
//!
//! # Limits
//!
//! Parts that are far from each other on the surface and were moved through each other are not untangled: the positions
//! then stay as they are (`what_goes_through_is_left`).
//!
//! # Example
//!
//! ```
//! use glam::Vec3;
//! use supple::{Run, mesh::untangle::untangle};
//!
//! // A fan whose middle was dragged beyond its rim.
//! let rim = |k: u32| std::f32::consts::TAU * k as f32 / 8.0;
//! let rim = (0..8).map(rim).map(|a| Vec3::new(a.cos(), a.sin(), 0.1 * (2.0 * a).sin()));
//! let before: Vec<Vec3> = rim.chain([Vec3::ZERO]).collect();
//! let triangles: Vec<[u32; 3]> = (0..8).map(|k| [k, (k + 1) % 8, 8]).collect();
//! let mut positions = before.clone();
//! positions[8] = Vec3::new(1.5, 0.2, 0.0);
//! let told = untangle(&before, &mut positions, &triangles, 2.0, &Run::default())?;
//! assert!(told.before > 0 && told.after == 0);
//! # Ok::<(), supple::run::Cancelled>(())
//! ```

use glam::Vec3;

use super::adjacency::vertex_vertices;
use super::intersect::added::AddedPairs;
use crate::Run;
use crate::lengths::Lengths as _;
use crate::run::Cancelled;

/// Smoothings, and after how many of them without a gain another ring takes part.
const ROUNDS: usize = 60;
const RING_AFTER: usize = 4;

/// Pairs up to which there is something small to mend: beyond, parts go through each other.
const MOST_PAIRS: usize = 2000;

/// What was mended.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Untangled {
    /// Pairs that intersected and did not before the deformation.
    pub before: usize,
    /// Those that still do.
    pub after: usize,
    /// Vertices that were smoothed.
    pub vertices: usize,
}

/// Smooths what intersects and did not at `before`, no vertex farther than `reach`. If pairs are left the positions
/// stay as they are.
///
/// # Errors
///
/// [`Cancelled`] when the caller asked to stop; the positions are then as they were.
///
/// # Panics
///
/// If there are not as many positions, or a triangle names a vertex that does not exist.
pub fn untangle(
    before: &[Vec3],
    positions: &mut [Vec3],
    triangles: &[[u32; 3]],
    reach: f32,
    run: &Run<'_>,
) -> Result<Untangled, Cancelled> {
    assert_eq!(before.len(), positions.len(), "as many positions");
    let mut watch = AddedPairs::new(before, triangles, run);
    let mut tangled = corners(watch.look(positions, run)?, triangles);
    let start = watch.pairs().len();
    let mut told = Untangled { before: start, after: start, vertices: 0 };
    if start == 0 || start > MOST_PAIRS {
        return Ok(told);
    }
    let around = vertex_vertices(positions.len(), triangles);
    let mut taking_part = vec![false; positions.len()];
    let mut smoothed = positions.to_vec();
    let (mut fewest, mut idle) = (start, 0);
    for _ in 0..ROUNDS {
        tangled.iter().for_each(|&v| taking_part[v as usize] = true);
        if idle == RING_AFTER {
            idle = 0;
            let rim: Vec<u32> = members(&taking_part)
                .flat_map(|v| around.row(v as usize).iter().copied())
                .collect();
            rim.into_iter().for_each(|v| taking_part[v as usize] = true);
        }
        let next: Vec<(u32, Vec3)> = members(&taking_part)
            .map(|v| (v, halfway(v, &smoothed, around.row(v as usize))))
            .map(|(v, x)| (v, within(reach, positions[v as usize], x)))
            .collect();
        next.into_iter().for_each(|(v, x)| smoothed[v as usize] = x);
        tangled = corners(watch.look(&smoothed, run)?, triangles);
        let left = watch.pairs().len();
        if left == 0 {
            positions.copy_from_slice(&smoothed);
            told.after = 0;
            told.vertices = members(&taking_part).count();
            break;
        }
        idle = if left < fewest { 0 } else { idle + 1 };
        fewest = fewest.min(left);
    }
    Ok(told)
}

/// The corners of the triangles of pairs.
fn corners(pairs: &[[u32; 2]], triangles: &[[u32; 3]]) -> Vec<u32> {
    pairs.as_flattened().iter().flat_map(|&t| triangles[t as usize]).collect()
}

fn members(of: &[bool]) -> impl Iterator<Item = u32> {
    (0..).zip(of).filter(|(_, is)| **is).map(|(v, _)| v)
}

/// Half the way to the mean of the neighbours.
fn halfway(v: u32, at: &[Vec3], neighbours: &[u32]) -> Vec3 {
    let own = at[v as usize];
    if neighbours.is_empty() {
        return own;
    }
    let mean = neighbours.iter().map(|&n| at[n as usize]).sum::<Vec3>() / neighbours.len() as f32;
    0.5 * (own + mean)
}

/// The point nearest to `x` that is no farther from `from`.
fn within(reach: f32, from: Vec3, x: Vec3) -> Vec3 {
    let way = x - from;
    let far = way.norm();
    if far <= reach { x } else { from + way * (reach / far) }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::mesh::intersect::self_intersections;
    use crate::mesh::sample;

    #[test]
    fn a_fold_is_smoothed_out_and_the_rest_keeps_its_bits() {
        let ((before, triangles), run) = (sample::bumpy_sphere(12), Run::default());
        let mut positions = before.clone();
        // The pole is drawn over the third ring: the triangles around it go through those between.
        positions[0] = 1.1 * before[2 + 2 * 24];
        let wanted = positions.clone();
        let told = untangle(&before, &mut positions, &triangles, 1.0, &run).unwrap();
        assert!(told.before > 0, "a real case");
        assert_eq!((told.after, self_intersections(&positions, &triangles, &run)), (0, Ok(vec![])));
        let kept = wanted.iter().zip(&positions).filter(|(a, b)| a == b).count();
        assert_eq!(kept, wanted.len() - told.vertices);
        assert!(kept > wanted.len() / 2, "{kept} of {}", wanted.len());
    }

    #[test]
    fn what_goes_through_is_left() {
        let ((one, triangles), run) = (sample::bumpy_sphere(8), Run::default());
        let count = one.len() as u32;
        let other = triangles.iter().map(|t| t.map(|v| v + count));
        let both: Vec<[u32; 3]> = triangles.iter().copied().chain(other).collect();
        let before: Vec<Vec3> =
            one.iter().copied().chain(one.iter().map(|x| *x + 5.0 * Vec3::X)).collect();
        let apart: Vec<Vec3> =
            one.iter().copied().chain(one.iter().map(|x| *x + Vec3::X)).collect();
        let mut positions = apart.clone();
        let told = untangle(&before, &mut positions, &both, 0.1, &run).unwrap();
        assert!(told.before > 0 && told.after == told.before, "{told:?}");
        assert_eq!(positions, apart);
    }
}
