//! Design backwards: the local stretches that make a body take a wanted shape.
//!
//! # Method
//!
//! For a wanted shape `X` every region gets the right stretch `U` of `F = (Σ m̃ (X − c) qᵀ)(Σ m̃ q qᵀ)⁻¹`. Neighbouring
//! regions average, so the shape that this makes falls a little short; a few times `ln T += ln U(X) − ln U(reached)`
//! makes up for it: a bar bent by 90° comes from 1 % of its diagonal to 0.2 %, one twisted by 180° to 0.4 %
//! (`a_wanted_shape_is_reached`).
//!
//! # Limits
//!
//! Where the wanted shape turns a region inside out, its stretch is that of the nearest rotation: no matrix of positive
//! stretches can mirror it.

use glam::{DMat3, DVec3, Vec3};

use super::acceleration::Passes;
use super::matching::{Passing, displacement, row};
use super::rotation::{jacobi, nearest};
use super::wide::WIDTH;
use super::{Body, Stretches};
use crate::Run;

/// How often the stretches are corrected.
const CORRECTIONS: usize = 8;
/// Rounds of accelerated passes that settle a shape.
const ROUNDS: usize = 40;

impl Body {
    /// The stretches under which the body takes a shape, given by the positions of its mesh's vertices.
    #[must_use]
    pub fn stretches_for(&self, wanted: &[Vec3], run: &Run<'_>) -> Stretches {
        let offset = |&v: &u32| wanted[v as usize].as_dvec3() - self.regions.center;
        let wanted: Vec<DVec3> = self.regions.vertices.iter().map(offset).collect();
        let aim: Vec<DMat3> =
            (0..wanted.len()).map(|r| logarithm(self.gradient(&wanted, r))).collect();
        let mut logs = aim.clone();
        let mut stretches = Stretches::ones(self);
        let mut shape = wanted;
        for round in 0..=CORRECTIONS {
            for (r, log) in logs.iter().enumerate() {
                self.set_strain(&mut stretches, r, exponential(*log));
            }
            if round < CORRECTIONS {
                self.settle(&mut shape, &stretches, run);
                let reached = (0..shape.len()).map(|r| logarithm(self.gradient(&shape, r)));
                let corrected =
                    reached.zip(&aim).zip(&logs).map(|((now, aim), log)| *log + (*aim - now));
                logs = corrected.collect();
            }
        }
        stretches
    }

    /// The shape of least energy near another, in the body's frame.
    fn settle(&self, shape: &mut [DVec3], stretches: &Stretches, run: &Run<'_>) {
        let mut passing = Passing::default();
        passing.resize(shape.len());
        for (now, (x, rest)) in passing.now.iter_mut().zip(shape.iter().zip(&self.regions.rest)) {
            *now = row((*x - *rest).as_vec3());
        }
        for _ in 0..ROUNDS {
            for (k, pass) in
                Passes::Accelerated(12).schedule(self.edge_share).into_iter().enumerate()
            {
                passing.pass(&self.regions, &stretches.blocks, (pass, k == 0), run);
            }
        }
        for (x, (rest, now)) in shape.iter_mut().zip(self.regions.rest.iter().zip(&passing.now)) {
            *x = *rest + displacement(now).as_dvec3();
        }
    }

    /// `F` of a region.
    fn gradient(&self, x: &[DVec3], region: usize) -> DMat3 {
        let (members, center) = self.regions.members(region);
        let (mut moment, mut rest) = (DMat3::ZERO, DMat3::ZERO);
        for i in members {
            let m = self.regions.shared_mass(i);
            let q = self.regions.rest[i] - center;
            moment += outer(m * x[i], q);
            rest += outer(m * q, q);
        }
        let inverse = rest.inverse();
        if inverse.is_finite() { moment * inverse } else { DMat3::IDENTITY }
    }

    fn set_strain(&self, stretches: &mut Stretches, region: usize, stretch: DMat3) {
        let e = stretch - DMat3::IDENTITY;
        let entries = [e.x_axis.x, e.x_axis.y, e.x_axis.z, e.y_axis.y, e.y_axis.z, e.z_axis.z];
        for (wide, entry) in stretches.blocks[region / WIDTH].iter_mut().zip(entries) {
            wide.0[region % WIDTH] = entry as f32;
        }
    }
}

fn outer(a: DVec3, b: DVec3) -> DMat3 {
    DMat3::from_cols(a * b.x, a * b.y, a * b.z)
}

/// `ln U` of the polar factor `F = R U`.
pub(super) fn logarithm(f: DMat3) -> DMat3 {
    let u = DMat3::from_quat(nearest(f)).transpose() * f;
    spectral(0.5 * (u + u.transpose()), |e| e.clamp(0.05, 20.0).ln())
}

fn exponential(log: DMat3) -> DMat3 {
    spectral(log, |e| e.clamp(-1.4, 1.4).exp())
}

/// A function of a symmetric matrix.
fn spectral(m: DMat3, f: impl Fn(f64) -> f64) -> DMat3 {
    let mut entries = [[0.0; 3]; 3];
    for (i, line) in entries.iter_mut().enumerate() {
        (0..3).for_each(|j| line[j] = m.col(j)[i]);
    }
    let vectors = jacobi(&mut entries);
    let mut sum = DMat3::ZERO;
    for k in 0..3 {
        let v = DVec3::new(vectors[0][k], vectors[1][k], vectors[2][k]);
        sum += outer(f(entries[k][k]) * v, v);
    }
    sum
}

#[cfg(test)]
mod tests {
    use glam::DQuat;

    use super::*;
    use crate::procdef::{Drive, Motion, State, Work};
    use crate::zoo::tet_bodies;

    fn bent(p: Vec3, angle: f64) -> Vec3 {
        let (x, y) = (f64::from(p.x), f64::from(p.y));
        let radius = 5.0 / angle;
        let (s, c) = (x / radius).sin_cos();
        DVec3::new((radius - y) * s, radius - (radius - y) * c, f64::from(p.z)).as_vec3()
    }

    fn twisted(p: Vec3, angle: f64) -> Vec3 {
        (DQuat::from_rotation_x(angle * f64::from(p.x) / 5.0) * p.as_dvec3()).as_vec3()
    }

    #[test]
    fn a_wanted_shape_is_reached() {
        let mesh = tet_bodies::build("bar", None).unwrap();
        let body = Body::new(&mesh).unwrap();
        let bent = mesh.positions.iter().map(|p| bent(*p, std::f64::consts::FRAC_PI_2)).collect();
        let twisted = mesh.positions.iter().map(|p| twisted(*p, std::f64::consts::PI)).collect();
        let shapes: [(&str, Vec<Vec3>); 2] = [("bent by 90°", bent), ("twisted by 180°", twisted)];
        for (what, wanted) in shapes {
            let stretches = body.stretches_for(&wanted, &Run::default());
            let motion = Motion { passes: Passes::Accelerated(12), ..Motion::default() };
            let (mut state, mut work) = (State::at_rest(&body), Work::default());
            for _ in 0..1200 {
                body.tick(&motion, &Drive::by(&stretches), &mut state, &mut work, &Run::default());
            }
            let reached: Vec<DVec3> = body.positions(&state).iter().map(|p| p.as_dvec3()).collect();
            let goal: Vec<DVec3> = wanted.iter().map(|p| p.as_dvec3()).collect();
            let ordered = |x: &[DVec3]| -> Vec<DVec3> {
                body.regions.vertices.iter().map(|&v| x[v as usize]).collect()
            };
            let off = crate::procdef::tests::apart(&body, &ordered(&reached), &ordered(&goal));
            assert!(off < 4e-3, "{what}: {off} of the diagonal");
        }
    }
}
