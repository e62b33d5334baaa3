//! The direction in which s is taken not to change.
//!
//! # Method
//!
//! A surface says how s changes along it, not across it. The velocity across the surface does not depend
//! on that choice, the one along it does. Taking the normal, as the source does, feeds back: a ripple of
//! wave number k tilts the normals, the tilt moves s along the surface, and the ripple grows at a rate
//! proportional to k. So every refinement of a mesh lets finer ripples grow faster. An upright is the mean
//! of the normals over a disc whose size depends on the width of the fade and not on the triangles, and
//! such ripples do not grow.
//!
//! The normals of each disc are added up and each vertex takes the mean of its discs. Where that leans too far
//! from the vertex' own normal, as at the rim of something thin, some of that is added.

use glam::{Vec3, Vec4};

use super::disc::Discs;
use super::{Block, Shape, each};
use crate::Run;
use crate::field::lanes::WIDTH;

/// The sum over each disc of its normals and of their lengths.
pub(super) fn means(discs: &Discs, shapes: &[Shape], run: &Run<'_>) -> Vec<Vec4> {
    let sized = each(
        shapes.len() - 1,
        run,
        #[inline(always)]
        |b| {
            std::array::from_fn(
                #[inline(always)]
                |i| shapes[b].normal.get(i).extend(shapes[b].normal.get(i).length()),
            )
        },
    );
    discs.sums(sized.as_flattened(), run)
}

/// The uprights of a block.
#[inline(always)]
pub(super) fn block(discs: &Discs, b: usize, means: &[Vec4], shape: &Shape) -> Block {
    let mut uprights = Block::ZERO;
    for i in 0..WIDTH {
        let sum = discs.mean(b * WIDTH + i, means);
        let mean = sum.truncate() / sum.w.max(f32::MIN_POSITIVE);
        uprights.set(i, leant(mean, shape.normal.get(i).normalize_or_zero()));
    }
    uprights
}

/// The mean normal, leant back towards the vertex' own if it lies farther off than 60°.
fn leant(mean: Vec3, own: Vec3) -> Vec3 {
    (mean + (1.0 - 2.0 * mean.dot(own)).max(0.0) * own).normalize_or_zero()
}

#[cfg(test)]
mod tests {
    use super::super::Surface;
    use super::*;
    use crate::field::blend::fade;
    use crate::zoo;

    fn bar(triangles: usize) -> crate::TriMesh {
        let size = zoo::Size { triangles: Some(triangles) };
        zoo::build("bar", &size, &Run::default()).unwrap().meshes.swap_remove(0)
    }

    /// A ripple of a few triangles is gone from the uprights, whatever the size of the triangles.
    #[test]
    fn ripples_do_not_tilt_uprights() {
        for triangles in [4000, 16_000] {
            let mut mesh = bar(triangles);
            let values: Vec<f32> = mesh.positions.iter().map(|p| 0.5 + 0.1 * p.x).collect();
            let edge = (26.0 / triangles as f32).sqrt();
            for p in &mut mesh.positions {
                p.y += 0.2 * edge * (std::f32::consts::TAU * p.x / (5.0 * edge)).sin();
            }
            let surface = Surface::new(&mesh.positions, &values, fade, &mesh.triangles, 0);
            let local: Vec<Vec3> =
                surface.vertices.iter().map(|&i| mesh.positions[i as usize]).collect();
            let shapes = surface.shapes(&local, &Run::default());
            let means = means(&surface.discs, &shapes, &Run::default());
            let on_top = |v: &usize| {
                let p = local[*v];
                p.x.abs() < 0.5 && p.z.abs() < 0.2 && p.y > 0.2
            };
            let tilt = |n: Vec3| n.normalize_or_zero().x.abs();
            let (mut before, mut after) = (0.0_f32, 0.0_f32);
            for v in (0..surface.moving).filter(on_top) {
                let (b, i) = (v / WIDTH, v % WIDTH);
                before = before.max(tilt(shapes[b].normal.get(i)));
                after = after.max(tilt(block(&surface.discs, b, &means, &shapes[b]).get(i)));
            }
            assert!(before > 0.1 && after < 0.1 * before, "{before} {after}");
        }
    }

    #[test]
    fn where_normals_cancel_the_own_one_is_taken() {
        assert!(leant(0.01 * Vec3::X, Vec3::Z).z > 0.99, "cancelled");
        assert!(leant(-Vec3::Z, Vec3::Z).z > 0.99, "opposite");
        assert_eq!(leant(Vec3::X, Vec3::X), Vec3::X, "flat");
    }
}
