//! Design backwards: the local stretches that make a body take a wanted shape.
//!
//! # Method
//!
//! For a wanted shape `X` every region gets the right stretch `U` of `F = (Σ m̃ (X − c) qᵀ)(Σ m̃ q qᵀ)⁻¹`. Neighbouring
//! regions average, so the shape that this makes falls a little short; a few times `ln T += ln U(X) − ln U(reached)`
//! makes up for it: a bar bent by 90° or twisted by 180° comes within 0.1 % of its diagonal
//! (`a_wanted_shape_is_reached` holds it to 0.2 %).
//!
//! # Limits
//!
//! Where the wanted shape turns a region inside out, its stretch is that of the nearest rotation: no matrix of positive
//! stretches can mirror it.

use glam::{DMat3, DVec3, Vec3};

use super::acceleration::Passes;
use super::chart::MOST_STRETCH;
use super::matching::{Passing, displacement, quad};
use super::rotation::{jacobi, nearest};
use super::tissue::beyond_one;
use super::wide::{WIDTH, Wide};
use super::{Body, Stretches};
use crate::Run;

/// How often the stretches are corrected.
const CORRECTIONS: usize = 8;
/// Rounds of accelerated passes that settle a shape.
const ROUNDS: usize = 40;

/// A wanted shape, as directions and the logarithms of the stretches along them, for every region.
#[derive(Clone, Debug)]
pub struct Shaped {
    blocks: Vec<([[Wide; 3]; 3], [Wide; 3])>,
}

impl Body {
    /// The stretches under which the body takes a shape, given by the positions of its mesh's vertices.
    #[must_use]
    pub fn stretches_for(&self, wanted: &[Vec3], run: &Run<'_>) -> Stretches {
        let mut stretches = Stretches::ones(self);
        stretches.multiply(&self.shaped(wanted, run), 1.0);
        stretches
    }

    /// What makes a body take a shape, given by the positions of its mesh's vertices; a share of it leads a part of
    /// the way there.
    #[must_use]
    pub fn shaped(&self, wanted: &[Vec3], run: &Run<'_>) -> Shaped {
        let none = ([[Wide::ZERO; 3]; 3], [Wide::ZERO; 3]);
        let mut blocks = vec![none; self.regions.len().div_ceil(WIDTH)];
        for (r, log) in self.logarithms_for(wanted, run).into_iter().enumerate() {
            let mut entries = entries(log);
            let vectors = jacobi(&mut entries);
            let (directions, logs) = &mut blocks[r / WIDTH];
            for k in 0..3 {
                logs[k].0[r % WIDTH] = entries[k][k] as f32;
                (0..3).for_each(|i| directions[k][i].0[r % WIDTH] = vectors[i][k] as f32);
            }
        }
        Shaped { blocks }
    }

    fn logarithms_for(&self, wanted: &[Vec3], run: &Run<'_>) -> Vec<DMat3> {
        let offset = |&v: &u32| wanted[v as usize].as_dvec3() - self.regions.center;
        let wanted: Vec<DVec3> = self.regions.vertices.iter().map(offset).collect();
        let stretched = |x: &[DVec3]| run.map(x.len(), |r| logarithm(self.gradient(x, r)));
        let aim = stretched(&wanted);
        let mut logs = aim.clone();
        let mut stretches = Stretches::ones(self);
        let mut shape = wanted;
        for _ in 0..CORRECTIONS {
            for (r, log) in logs.iter().enumerate() {
                self.set_strain(&mut stretches, r, exponential(*log));
            }
            self.settle(&mut shape, &stretches, run);
            for ((log, aim), reached) in logs.iter_mut().zip(&aim).zip(stretched(&shape)) {
                *log = within(*log + (*aim - reached));
            }
        }
        logs
    }

    /// The shape of least energy near another, in the body's frame.
    fn settle(&self, shape: &mut [DVec3], stretches: &Stretches, run: &Run<'_>) {
        let mut passing = Passing::default();
        passing.resize(shape.len());
        for (now, (x, rest)) in passing.now.iter_mut().zip(shape.iter().zip(&self.regions.rest)) {
            *now = quad((*x - *rest).as_vec3());
        }
        let schedule = Passes::Accelerated(12).schedule(self.edge_share);
        for _ in 0..ROUNDS {
            passing.run(&self.regions, &stretches.blocks, (&schedule, &[]), run);
        }
        for (x, (rest, now)) in shape.iter_mut().zip(self.regions.rest.iter().zip(&passing.now)) {
            *x = *rest + displacement(now).as_dvec3();
        }
    }

    /// `F` of a region.
    pub(super) fn gradient(&self, x: &[DVec3], region: usize) -> DMat3 {
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

pub(super) fn outer(a: DVec3, b: DVec3) -> DMat3 {
    DMat3::from_cols(a * b.x, a * b.y, a * b.z)
}

/// `ln U` of the polar factor `F = R U`.
pub(super) fn logarithm(f: DMat3) -> DMat3 {
    let u = DMat3::from_quat(nearest(f)).transpose() * f;
    spectral(0.5 * (u + u.transpose()), |e| libm::log(e.clamp(0.05, 20.0)))
}

fn exponential(log: DMat3) -> DMat3 {
    spectral(log, libm::exp)
}

/// With stretches that one place can have at most.
fn within(log: DMat3) -> DMat3 {
    let most = libm::log(MOST_STRETCH);
    spectral(log, |e| e.clamp(-most, most))
}

fn entries(m: DMat3) -> [[f64; 3]; 3] {
    std::array::from_fn(|i| std::array::from_fn(|j| m.col(j)[i]))
}

impl Stretches {
    /// Stretches by a share of what a shape wants, on top of what is there.
    pub fn multiply(&mut self, shaped: &Shaped, share: f32) {
        let most = MOST_STRETCH.ln() as f32;
        for (block, (directions, logs)) in self.blocks.iter_mut().zip(&shaped.blocks) {
            let mut more = [Wide::ZERO; 6];
            for (d, log) in directions.iter().zip(logs) {
                let c = beyond_one((share * *log).map(|l| l.clamp(-most, most)));
                for (entry, [i, j]) in more.iter_mut().zip(ENTRIES) {
                    *entry = *entry + c * d[i] * d[j];
                }
            }
            // (1 + E)(1 + M), made symmetric; exactly one of them where the other is nothing.
            let full = |m: &[Wide; 6], i: usize, j: usize| m[PLACES[i][j]];
            let before = *block;
            for (entry, [i, j]) in block.iter_mut().zip(ENTRIES) {
                let mut product = Wide::ZERO;
                for k in 0..3 {
                    let (a, b) = (full(&before, i, k), full(&more, k, j));
                    let (c, d) = (full(&more, i, k), full(&before, k, j));
                    product = product + 0.5 * (a * b + c * d);
                }
                *entry = *entry + full(&more, i, j) + product;
            }
        }
    }
}

/// The entries of a symmetric matrix as blocks hold them, and where each is.
const ENTRIES: [[usize; 2]; 6] = [[0, 0], [0, 1], [0, 2], [1, 1], [1, 2], [2, 2]];
const PLACES: [[usize; 3]; 3] = [[0, 1, 2], [1, 3, 4], [2, 4, 5]];

/// A function of a symmetric matrix.
fn spectral(m: DMat3, f: impl Fn(f64) -> f64) -> DMat3 {
    let mut entries = entries(m);
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
            assert!(off < 2e-3, "{what}: {off} of the diagonal");
        }
    }
}
