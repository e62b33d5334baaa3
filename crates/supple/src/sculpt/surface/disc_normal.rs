//! The direction in which s is taken not to change.
//!
//! # Method
//!
//! A surface says how s changes along it, not across it. The velocity across the surface does not depend
//! on that choice, the one along it does. Taking the normal, as the source does, feeds back: a ripple of
//! wave number k tilts the normals, the tilt moves s along the surface, and the ripple grows at a rate
//! proportional to k. So every refinement of a mesh lets finer ripples grow faster. A disc normal is the mean
//! of the normals over a disc whose size depends on the width of the fade and not on the triangles, and
//! such ripples do not grow.
//!
//! The normals of each disc are added up and each vertex takes the mean of its discs. Where that leans too far
//! from the vertex' own normal, as at the rim of something thin, some of that is added.

use super::disc::Discs;
use super::{Normal, Row};
use crate::Run;
use crate::lengths::Lengths as _;

/// The sum over each disc of its normals and of their lengths.
pub(super) fn means(discs: &Discs, normals: &[Normal], run: &Run<'_>) -> Vec<Row> {
    discs.sums(|v| normals[v].0, run)
}

/// The disc normal of a vertex, from the mean of [`means`] over its discs and its own normal of
/// length one: tilted back towards
/// that if it lies farther off than 60°.
#[inline(always)]
pub(super) fn regularized(mean: Row, own: Row) -> Row {
    let mean = mean.with_w(0.0) / mean.w.max(f32::MIN_POSITIVE);
    normalized(mean + (1.0 - 2.0 * mean.dot(own)).max(0.0) * own)
}

/// Without a branch: the code around it runs on many vectors at a time.
#[inline(always)]
fn normalized(v: Row) -> Row {
    v / v.norm().max(f32::MIN_POSITIVE)
}

#[cfg(test)]
mod tests {
    use super::super::EditedSurface;
    use super::*;
    use crate::field::blend::fade;
    use crate::zoo;

    fn bar(triangles: usize) -> crate::TriMesh {
        let size = zoo::Size { triangles: Some(triangles) };
        zoo::build("bar", &size, &Run::default()).unwrap().meshes.swap_remove(0)
    }

    /// A ripple of a few triangles is gone from the disc normals, whatever the size of the triangles.
    #[test]
    fn ripples_do_not_tilt_disc_normals() {
        for triangles in [4000, 16_000] {
            let mut mesh = bar(triangles);
            let values: Vec<f32> = mesh.positions.iter().map(|p| 0.5 + 0.1 * p.x).collect();
            let edge = (26.0 / triangles as f32).sqrt();
            for p in &mut mesh.positions {
                p.y += 0.2 * edge * (std::f32::consts::TAU * p.x / (5.0 * edge)).sin();
            }
            let surface = EditedSurface::new(
                &mesh.positions,
                &values,
                fade,
                &mesh.triangles,
                0,
                &Run::default(),
            );
            let local = surface.local(&mesh.positions);
            let normals = surface.shapes(&local, &Run::default()).normals;
            let means = means(&surface.discs, &normals, &Run::default());
            let on_top = |v: &usize| {
                let p = local[*v];
                p.x.abs() < 0.5 && p.z.abs() < 0.2 && p.y > 0.2
            };
            let tilt = |n: Row| n.normalize_or_zero().x.abs();
            let (mut before, mut after) = (0.0_f32, 0.0_f32);
            for v in (0..surface.moving).filter(on_top) {
                before = before.max(tilt(normals[v].direction()));
                let mean = surface.discs.mean(v, &means);
                after = after.max(tilt(regularized(mean, normals[v].direction())));
            }
            assert!(before > 0.1 && after < 0.1 * before, "{before} {after}");
            // Nor do they tilt the gradients, which lie across the disc normals.
            let gradients =
                surface.nearly_smooth(&surface.shapes(&local, &Run::default()), &Run::default());
            let gradient = |v: usize| normalized(gradients.as_flattened()[v]);
            let lean = (0..surface.moving).filter(on_top).map(|v| gradient(v).y.abs());
            let lean = lean.fold(0.0, f32::max);
            assert!(lean < 0.1 * before, "{lean} of {before}");
        }
    }

    #[test]
    fn where_normals_cancel_the_own_one_is_taken() {
        let mean = |x: f32, z: f32| Row::new(x, 0.0, z, 1.0);
        assert!(regularized(mean(0.01, 0.0), Row::Z).z > 0.99, "cancelled");
        assert!(regularized(mean(0.0, -1.0), Row::Z).z > 0.99, "opposite");
        assert_eq!(regularized(mean(1.0, 0.0), Row::X), Row::X, "flat");
    }
}
