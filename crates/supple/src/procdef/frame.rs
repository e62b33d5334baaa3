//! Where a body's own frame is: f64, so that a body far away moves as finely as one at the origin.

use glam::{DMat3, DQuat, DVec3, Vec3};
use serde::{Deserialize, Serialize};

use crate::Run;

/// A body's frame in the world, which glides at constant velocity between the moments it is laid anew.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
pub struct Placement {
    /// From the body's axes to the world's.
    pub rotation: DQuat,
    /// Where the frame's origin is, in metres.
    pub translation: DVec3,
    /// How fast the frame glides, in metres a second.
    pub velocity: DVec3,
}

impl Default for Placement {
    fn default() -> Self {
        Self { rotation: DQuat::IDENTITY, translation: DVec3::ZERO, velocity: DVec3::ZERO }
    }
}

impl Placement {
    /// A point of the frame in the world.
    #[must_use]
    pub fn point(&self, local: DVec3) -> DVec3 {
        self.rotation * local + self.translation
    }

    /// A point of the world in the frame.
    #[must_use]
    pub fn local_point(&self, world: DVec3) -> DVec3 {
        self.rotation.conjugate() * (world - self.translation)
    }

    /// A direction of the world in the frame.
    #[must_use]
    pub fn local_vector(&self, world: DVec3) -> DVec3 {
        self.rotation.conjugate() * world
    }
}

/// What a body does as a whole: mass is 1.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct Whole {
    /// Centre of mass.
    pub(super) center: DVec3,
    /// Mean velocity.
    pub(super) velocity: DVec3,
    /// Inertia about the centre.
    pub(super) inertia: DMat3,
    /// Angular momentum about the centre.
    pub(super) spin: DVec3,
    /// `Σ m x x⁰ᵀ`.
    pub(super) fit: DMat3,
}

/// Sums of a sweep over the vertices.
const TERMS: usize = 24;
/// Vertices that are summed up at a time: fixed, so that threads change no bits.
pub(super) const SUMMED: usize = 4096;

impl Whole {
    /// Of vertices at `x⁰ + u` with velocities `v`.
    pub(super) fn of(
        masses: &[f64],
        rest: &[DVec3],
        (u, v): (&[Vec3], &[Vec3]),
        run: &Run<'_>,
    ) -> Self {
        let chunks = run.map_tasks(masses.len().div_ceil(SUMMED), |chunk| {
            let mut sums = [0.0; TERMS];
            for i in chunk * SUMMED..((chunk + 1) * SUMMED).min(masses.len()) {
                add(&mut sums, masses[i], rest[i], (rest[i] + u[i].as_dvec3(), v[i].as_dvec3()));
            }
            sums
        });
        let mut total = [0.0; TERMS];
        for sums in chunks {
            total.iter_mut().zip(sums).for_each(|(t, s)| *t += s);
        }
        Self::from_sums(&total)
    }

    fn from_sums(s: &[f64; TERMS]) -> Self {
        let vector = |k: usize| DVec3::new(s[k], s[k + 1], s[k + 2]);
        let (center, velocity) = (vector(0), vector(3));
        let spin = vector(6) - center.cross(velocity);
        let [xx, xy, xz, yy, yz, zz] = [s[9], s[10], s[11], s[12], s[13], s[14]];
        let moment =
            DMat3::from_cols_array(&[xx, xy, xz, xy, yy, yz, xz, yz, zz]) - outer(center, center);
        let trace = moment.x_axis.x + moment.y_axis.y + moment.z_axis.z;
        let inertia = DMat3::from_diagonal(DVec3::splat(trace)) - moment;
        let fit = DMat3::from_cols_array(&[
            s[15], s[16], s[17], s[18], s[19], s[20], s[21], s[22], s[23],
        ]);
        Self { center, velocity, inertia, spin, fit }
    }

    /// Angular velocity that carries an angular momentum; none where the body has no extent.
    pub(super) fn turning(&self, momentum: DVec3) -> DVec3 {
        let trace = self.inertia.x_axis.x + self.inertia.y_axis.y + self.inertia.z_axis.z;
        let det = self.inertia.determinant();
        if det > 1e-18 * trace * trace * trace && momentum != DVec3::ZERO {
            self.inertia.inverse() * momentum
        } else {
            DVec3::ZERO
        }
    }
}

fn outer(a: DVec3, b: DVec3) -> DMat3 {
    DMat3::from_cols(a * b.x, a * b.y, a * b.z)
}

#[inline(always)]
fn add(sums: &mut [f64; TERMS], m: f64, rest: DVec3, (x, v): (DVec3, DVec3)) {
    let (mx, mv) = (m * x, m * v);
    let spin = x.cross(mv);
    let terms = [
        mx.x,
        mx.y,
        mx.z,
        mv.x,
        mv.y,
        mv.z,
        spin.x,
        spin.y,
        spin.z,
        mx.x * x.x,
        mx.x * x.y,
        mx.x * x.z,
        mx.y * x.y,
        mx.y * x.z,
        mx.z * x.z,
        mx.x * rest.x,
        mx.y * rest.x,
        mx.z * rest.x,
        mx.x * rest.y,
        mx.y * rest.y,
        mx.z * rest.y,
        mx.x * rest.z,
        mx.y * rest.z,
        mx.z * rest.z,
    ];
    for k in 0..TERMS {
        sums[k] += terms[k];
    }
}
