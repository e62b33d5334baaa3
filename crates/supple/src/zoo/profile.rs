//! What stands in the flows of the zoo, as closed meshes: convex profiles, drawn out along z.

use glam::{Vec2, Vec3};

use super::lattice::{Obstacle, WING, thickness};
use crate::TriMesh;

/// Corners around a circle.
const AROUND: u32 = 96;

/// Corners along either side of a wing.
const ALONG: u32 = 48;

/// A convex profile, counter-clockwise, drawn out from one height to another and closed.
#[must_use]
pub fn extruded(profile: &[Vec2], [low, high]: [f32; 2]) -> TriMesh {
    let n = profile.len() as u32;
    let mut positions: Vec<Vec3> =
        profile.iter().flat_map(|p| [p.extend(low), p.extend(high)]).collect();
    let middle = profile.iter().sum::<Vec2>() / n.max(1) as f32;
    positions.extend([middle.extend(low), middle.extend(high)]);
    let (bottom, top) = (2 * n, 2 * n + 1);
    let around = |k: u32| {
        let (a, b) = (2 * k, 2 * ((k + 1) % n));
        [[a, b, b + 1], [a, b + 1, a + 1], [bottom, b, a], [top, a + 1, b + 1]]
    };
    TriMesh::new(positions, (0..n).flat_map(around).collect())
}

/// A circle around the origin.
#[must_use]
pub fn circle(radius: f32) -> Vec<Vec2> {
    let corner = |k: u32| {
        let (s, c) = libm::sincosf(std::f32::consts::TAU * k as f32 / AROUND as f32);
        radius * Vec2::new(c, s)
    };
    (0..AROUND).map(corner).collect()
}

impl Obstacle {
    /// Its surface in diameters, within a flow that reaches so far along z.
    #[must_use]
    pub fn mesh(self, ends: [f32; 2]) -> TriMesh {
        match self {
            Self::Cylinder => extruded(&circle(0.5), ends),
            Self::Square => {
                let corners = [[-0.5, -0.5], [0.5, -0.5], [0.5, 0.5], [-0.5, 0.5]];
                extruded(&corners.map(Vec2::from), ends)
            }
            Self::Wing | Self::WingExcited => extruded(&wing(), ends),
            Self::Ramp => {
                let rear = 1.2 - 0.466_307_66 * 0.9;
                let corners = [[-1.5, 0.2], [1.5, 0.2], [1.5, rear], [0.6, 1.2], [-1.5, 1.2]];
                extruded(&corners.map(Vec2::from), [-0.7, 0.7])
            }
        }
    }
}

/// The profile of the wing, closer corners at its nose and its end.
fn wing() -> Vec<Vec2> {
    let [s, c] = WING;
    let corner = |t: f32, side: f32| {
        let [along, up] = [3.0 * (t - 0.5), 3.0 * side * thickness(t)];
        Vec2::new(c * along + s * up, c * up - s * along)
    };
    let share = |k: u32| 0.5 - 0.5 * libm::cosf(std::f32::consts::PI * k as f32 / ALONG as f32);
    // Along the lower side from the nose, back along the upper one.
    let lower = (0..=ALONG).map(|k| corner(share(k), -1.0));
    lower.chain((1..=ALONG).rev().map(|k| corner(share(k), 1.0))).collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::Run;
    use crate::mesh::volume::volume;

    #[test]
    fn meshes_hold_what_the_solver_takes_for_solid() {
        let all = [Obstacle::Cylinder, Obstacle::Square, Obstacle::Wing, Obstacle::Ramp];
        for obstacle in all {
            let mesh = obstacle.mesh([-0.7, 0.7]);
            let found = volume(&mesh.positions, &mesh.triangles, &Run::default());
            // Cells of a twentieth that are solid.
            let at = |k: i32| 0.05 * k as f32 + 0.025;
            let solid = (-40..40)
                .flat_map(|i| (-40..40).flat_map(move |j| (-14..14).map(move |k| [i, j, k])))
                .filter(|c| obstacle.holds(c.map(at)))
                .count();
            let expected = 0.05_f64.powi(3) * solid as f64;
            assert!((found / expected - 1.0).abs() < 0.03, "{obstacle:?}: {found} {expected}");
        }
    }
}
