//! Divergence-free velocity fields that move one part of space and leave another at rest.
//!
//! # Method
//!
//! `v = ∇p × ∇q` (2.2), (3.1) has no divergence for any `p`, `q`; in the plane it is (2.1). With a generator `e`, `f` whose `∇e × ∇f` is the
//! wanted motion, and an influence `β` that is one where everything must follow and zero where nothing
//! may move, `p = βe` (2.3), (3.4) and `q = βf` (2.4), (3.5) give, by (2.12) and (2.13),
//!
//! ```text
//! v = β² ∇e×∇f + β ∇β × (e∇f − f∇e)
//! ```
//!
//! which needs only `e`, `f`, `β` and their gradients. Masks multiply `β` and bring their gradients
//! along: multiplying `v` would give it a divergence. Fields of one [`Phase`] are added; the phases of
//! a [`Flow`] follow one another in time.
//!
//! Velocities are f32, block by block, for [`pathline`](crate::pathline); [`Field::sample`] gives
//! velocity and Jacobian in closed form in f64, as (2.9), (2.14) and (2.15) have them.
//!
//! # Where we differ from the paper
//!
//! A moving tool is evaluated where it is at the time of each integration stage, not as a blend of two
//! frozen fields (2.22), which is inexact near the inner border.
//!
//! # References
//!
//! - W. von Funck, H. Theisel, H.-P. Seidel. Vector Field Based Shape Deformations. ACM
//!   Transactions on Graphics (SIGGRAPH), 2006.
//! - W. von Funck. Shape Deformations Based on Vector Fields. Thesis, Saarbrücken, 2008; chapters 2 to 4.

pub mod blend;
pub mod generator;
pub mod influence;
pub mod jet;
pub mod motion;
pub mod region;
pub mod smooth_distance;
pub mod solid;

use glam::{DMat3, DVec3, Vec3};

pub use generator::Generator;
pub use influence::{Between, Fade, Influence, Tube};
pub use jet::Jet;
pub use motion::RigidMotion;
pub use region::Region;

use crate::lanes::{Lanes, ScalarLanes};
use crate::lengths::Lengths as _;
use crate::mesh::measure::Bounds;
use influence::PosedInfluence;
use jet::outer;

/// One tool: who moves, and how.
#[derive(Clone, Debug, PartialEq)]
pub struct Field {
    /// `β`.
    pub influence: Influence,
    /// `e` and `f` at time 0.
    pub generator: Generator,
    /// How the generator's centre moves.
    pub motion: RigidMotion,
    /// What must not move: each multiplies `β` by `b`, zero inside and one outside.
    pub masks: Vec<Fade>,
    /// Share of the sideways flow that makes room for what moves, 0 to 1.
    ///
    /// At 1 the field has no divergence. Below, it pushes less aside and no longer keeps volume: for
    /// open shells, which have none.
    pub lateral: f32,
}

/// A field's value at a point.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Sample {
    /// `v`.
    pub velocity: DVec3,
    /// `∂v/∂x`; its trace is the divergence.
    pub jacobian: DMat3,
}

/// Fields that act together for some time.
#[derive(Clone, Debug, PartialEq)]
pub struct Phase {
    /// Their sum is the velocity.
    pub fields: Vec<Field>,
    /// For how long.
    pub duration: f32,
}

/// Phases that follow one another.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Flow {
    /// In order of time.
    pub phases: Vec<Phase>,
}

impl Field {
    /// A tool without masks that makes room for what it moves.
    #[must_use]
    pub fn new(influence: Influence, generator: Generator, motion: RigidMotion) -> Self {
        Self { influence, generator, motion, masks: Vec::new(), lateral: 1.0 }
    }

    /// Velocity and Jacobian at a point and a time within the phase.
    #[must_use]
    pub fn sample(&self, x: DVec3, t: f64) -> Sample {
        let beta = self.masks.iter().fold(self.influence.jet(x, t), |beta, mask| {
            let r = Influence::Fade(mask.clone()).jet(x, t);
            beta * (Jet::constant(1.0) - r)
        });
        let [e, f] = self.generator.moved_to(self.center_at(t as f32)).jets(x);
        let full = cross_of_gradients(beta * e, beta * f);
        if self.lateral >= 1.0 {
            return full;
        }
        let inside = cross_of_gradients(e, f);
        let squared = beta * beta;
        let direct = Sample {
            velocity: squared.value * inside.velocity,
            jacobian: squared.value * inside.jacobian + outer(inside.velocity, squared.gradient),
        };
        let share = f64::from(self.lateral);
        Sample {
            velocity: share * full.velocity + (1.0 - share) * direct.velocity,
            jacobian: share * full.jacobian + (1.0 - share) * direct.jacobian,
        }
    }

    #[inline(always)]
    pub(crate) fn at(&self, t: f32) -> PosedField<'_> {
        PosedField {
            field: self,
            influence: self.influence.at(t),
            generator: self.generator.moved_to(self.center_at(t)),
            time: t,
        }
    }

    /// The generator's centre, carried along. A tool that turns about it leaves it where it is.
    #[inline(always)]
    fn center_at(&self, t: f32) -> Vec3 {
        match self.motion {
            RigidMotion::Still => self.generator.center,
            RigidMotion::Translation { velocity } => self.generator.center + t * velocity,
            RigidMotion::Rotation { center, .. } if center == self.generator.center => center,
            RigidMotion::Rotation { .. } | RigidMotion::Swing { .. } => {
                self.motion.carry(self.generator.center, t)
            }
        }
    }

    /// The motion of everything in the inner region, if the region moves along with it.
    pub(crate) fn rigid_motion(&self) -> Option<RigidMotion> {
        let Influence::Fade(fade) = &self.influence else { return None };
        let RigidMotion::Translation { velocity } = self.motion else { return None };
        let (_, grad_e, _, grad_f) = self.generator.eval(self.generator.center);
        let follows = grad_e.cross(grad_f).abs_diff_eq(velocity, 1e-5 * velocity.norm());
        let is_translation = self.generator.radial.abs() <= 0.0;
        let whole = fade.motion == self.motion && self.masks.is_empty();
        (follows && is_translation && whole).then_some(self.motion)
    }

    /// A bound of `‖∂v/∂x‖` over what lies in `shape`; `None` for masked tools, tools between two
    /// curves, and those whose r may be steeper than a distance.
    ///
    /// From the β form by the triangle inequality, with the largest distance to the centre a point of
    /// the region has, at 128 values of r.
    #[must_use]
    pub fn gradient_bound(&self, shape: &Bounds) -> Option<f32> {
        let Influence::Fade(fade) = &self.influence else { return None };
        let roundness = fade.region.roundness()?;
        if !self.masks.is_empty() {
            return None;
        }
        let width = fade.outer - fade.inner;
        let at = |k: i32| {
            let u = k as f32 / 128.0;
            let r = fade.inner + u * width;
            let [b, db, ddb] = blend::fade_derivatives(f64::from(u)).map(|d| d as f32);
            let (db, ddb) = (db.abs() / width, ddb.abs() / (width * width));
            let curvature = db * roundness / r.abs().max(1e-6 * width);
            let g = self.generator.bounds(self.farthest(&fade.region, r, shape));
            2.0 * b * db * g.velocity
                + b * b * g.velocity_gradient
                + (db * db + b * (ddb + curvature)) * g.moment
                + b * db * g.moment_gradient
        };
        Some((0..=128).map(at).fold(0.0, f32::max))
    }

    /// How many widths of its fade the tool moves per unit of time, times a constant that makes steps
    /// under the bound of injectivity a quarter of a width: what is at rest must not be jumped over.
    pub(crate) fn passing_rate(&self, shape: &Bounds) -> f32 {
        let Influence::Fade(fade) = &self.influence else { return 0.0 };
        let speed = match fade.motion {
            RigidMotion::Still => 0.0,
            RigidMotion::Translation { velocity } => velocity.norm(),
            RigidMotion::Rotation { center, speed, .. } => {
                let bounds = fade.region.bounds(fade.outer).unwrap_or(*shape);
                let corner = (bounds.max - center).abs().max((bounds.min - center).abs());
                speed.abs() * corner.norm()
            }
            RigidMotion::Swing { center, speed, drift, .. } => {
                let bounds = fade.region.bounds(fade.outer).unwrap_or(*shape);
                let corner = (bounds.max - center).abs().max((bounds.min - center).abs());
                speed.abs() * (corner + drift.abs()).norm() + drift.norm()
            }
        };
        2.8 * speed / (fade.outer - fade.inner)
    }

    /// How far from the generator's centre a point with this `r` may be.
    fn farthest(&self, region: &Region, r: f32, shape: &Bounds) -> f32 {
        let bounds = region.bounds(r).unwrap_or(*shape);
        if let Region::Point(center) = region {
            return r + center.distance_to(self.generator.center);
        }
        let corner = (bounds.max - self.generator.center).abs();
        corner.max((bounds.min - self.generator.center).abs()).norm()
    }

    /// The same tool on the other side of a plane through `origin` with a unit `normal`.
    ///
    /// `None` for tools that cannot be mirrored: those between two curves.
    #[must_use]
    pub fn mirrored(&self, origin: Vec3, normal: Vec3) -> Option<Self> {
        let Influence::Fade(fade) = &self.influence else { return None };
        let flip_vector = |v: Vec3| v - 2.0 * normal.dot(v) * normal;
        let flip = |p: Vec3| p - 2.0 * normal.dot(p - origin) * normal;
        let flip_motion = |motion: RigidMotion| match motion {
            RigidMotion::Still => RigidMotion::Still,
            RigidMotion::Translation { velocity } => {
                RigidMotion::Translation { velocity: flip_vector(velocity) }
            }
            RigidMotion::Rotation { center, axis, speed } => RigidMotion::Rotation {
                center: flip(center),
                axis: flip_vector(axis),
                speed: -speed,
            },
            RigidMotion::Swing { center, axis, speed, drift } => RigidMotion::Swing {
                center: flip(center),
                axis: flip_vector(axis),
                speed: -speed,
                drift: flip_vector(drift),
            },
        };
        let flip_fade = |fade: &Fade| Fade {
            region: fade.region.mirrored(origin, normal),
            motion: flip_motion(fade.motion),
            ..fade.clone()
        };
        let g = &self.generator;
        // A mirror turns a cross product round: e changes sign.
        let generator = Generator {
            center: flip(g.center),
            axis: flip_vector(g.axis),
            rise: g.rise.map(|e| -e),
            linear: flip_vector(g.linear),
            radial: g.radial,
        };
        Some(Self {
            influence: Influence::Fade(flip_fade(fade)),
            generator,
            motion: flip_motion(self.motion),
            masks: self.masks.iter().map(flip_fade).collect(),
            lateral: self.lateral,
        })
    }
}

/// `∇p × ∇q` and its Jacobian.
fn cross_of_gradients(p: Jet, q: Jet) -> Sample {
    let column = |k: usize| p.hessian.col(k).cross(q.gradient) + p.gradient.cross(q.hessian.col(k));
    Sample {
        velocity: p.gradient.cross(q.gradient),
        jacobian: DMat3::from_cols(column(0), column(1), column(2)),
    }
}

impl Phase {
    /// Velocity and Jacobian of the sum.
    #[must_use]
    pub fn sample(&self, x: DVec3, t: f64) -> Sample {
        let zero = Sample { velocity: DVec3::ZERO, jacobian: DMat3::ZERO };
        self.fields.iter().fold(zero, |sum, field| {
            let s = field.sample(x, t);
            Sample { velocity: sum.velocity + s.velocity, jacobian: sum.jacobian + s.jacobian }
        })
    }
}

/// A field at one time.
#[derive(Clone, Copy, Debug)]
pub(crate) struct PosedField<'a> {
    field: &'a Field,
    influence: PosedInfluence<'a>,
    generator: Generator,
    time: f32,
}

impl PosedField<'_> {
    /// Adds the velocity in each lane to `v`.
    #[inline(always)]
    pub(crate) fn add_velocity<const L: usize>(&self, x: &Lanes<L>, v: &mut Lanes<L>) {
        self.add_blended(&self.blend(x), x, v);
    }

    /// The same with `β` multiplied by what was painted.
    #[inline(always)]
    pub(crate) fn add_painted<const L: usize>(
        &self,
        painted: &ScalarLanes<L>,
        x: &Lanes<L>,
        v: &mut Lanes<L>,
    ) {
        let mut beta = self.blend(x);
        for i in 0..L {
            let (b, m) = (beta.value[i], painted.value[i]);
            let g = m * beta.gradient.get(i) + b * painted.gradient.get(i);
            beta.value[i] = b * m;
            beta.gradient.set(i, g);
        }
        self.add_blended(&beta, x, v);
    }

    /// Adds the integrals of `½β²(e∇f − f∇e)` along straight ways, with `β` multiplied by what was painted at
    /// their start, middle and end.
    #[inline(always)]
    pub(crate) fn add_circulation<const L: usize>(
        &self,
        painted: &[[f32; L]; 3],
        from: &Lanes<L>,
        way: &Lanes<L>,
        sums: &mut [f32; L],
    ) {
        let mut beta = *painted;
        for (k, beta) in beta.iter_mut().enumerate() {
            let mut x = *from;
            for i in 0..L {
                x.set(i, from.get(i) + 0.5 * k as f32 * way.get(i));
            }
            let inside = self.blend(&x).value;
            for i in 0..L {
                beta[i] *= inside[i];
            }
        }
        self.generator.add_circulation(from, way, &beta, sums);
    }

    /// `β` in each lane.
    #[inline(always)]
    fn blend<const L: usize>(&self, x: &Lanes<L>) -> ScalarLanes<L> {
        let mut beta = self.influence.eval(x);
        for mask in &self.field.masks {
            let inside = PosedInfluence::Fade(mask, mask.motion.at(self.time)).eval(x);
            for i in 0..L {
                let (b, m) = (beta.value[i], 1.0 - inside.value[i]);
                beta.value[i] = b * m;
                let g = m * beta.gradient.get(i) - b * inside.gradient.get(i);
                beta.gradient.set(i, g);
            }
        }
        beta
    }

    #[inline(always)]
    fn add_blended<const L: usize>(&self, beta: &ScalarLanes<L>, x: &Lanes<L>, v: &mut Lanes<L>) {
        let lateral = self.field.lateral;
        for i in 0..L {
            let b = beta.value[i];
            let (e, grad_e, f, grad_f) = self.generator.eval(x.get(i));
            let inside = grad_e.cross(grad_f);
            let moment = e * grad_f - f * grad_e;
            let sideways = beta.gradient.get(i).cross(moment);
            let sum = v.get(i) + b * (b * inside + lateral * sideways);
            v.set(i, sum);
        }
    }
}

#[cfg(test)]
mod tests;
