//! Contact of bodies that move vertex by vertex: with each other, with the ground, with colliders.
//!
//! # Method
//!
//! A tick has three steps. Every modifier advances its body; what may touch is *lent* ([`Lent`]): surface particles with
//! how far they went, and the distance field of the shape at rest with the maps that carry it. Contact pushes the
//! particles out of what they entered, all bodies together ([`resolve`]). Then every modifier *settles*: it takes the
//! pushes over and reads its velocities off.
//!
//! - *Bodies* (`bodies.rs`): bounds give pairs, of bodies and of patches of their surfaces (`patches.rs`, `search.rs`); a
//!   particle near another body is carried back to that body's rest shape by the map of the nearest particle, where the
//!   [`DistanceField`] tells its depth and the way out. Particle and surface part along it, each by its share of the mass.
//! - *Ground* and *colliders* (`obstacle.rs`) do not give way.
//! - *Friction* ([`Friction`]) takes away tangential motion up to the coefficient times the push; it may differ forward,
//!   backward and sideways of the particle.
//!
//! What was pushed is told by planes ([`Touch`]): where, which way, how rough, whose.
//!
//! # Limits
//!
//! A body is known by its particles and by points between them no farther apart than it is thick: what is thinner can
//! pass between. Half a thickness in one tick is too fast. A body does not meet itself.
//!
//! # References
//!
//! Müller, Heidelberger, Hennix, Ratcliff: Position Based Dynamics, 2006. Fisher, Lin: Deformed Distance Fields for
//! Simulation of Non-Penetrating Flexible Bodies, 2001.

mod bodies;
pub mod collider;
pub mod distance;
pub mod flesh;
mod friction;
mod obstacle;
mod patches;
mod search;

use std::sync::Arc;

use glam::{DQuat, DVec3, Vec3};

use crate::Run;

pub use self::distance::DistanceField;
pub use self::friction::{Friction, Ground};
pub use self::obstacle::Obstacle;
pub use self::patches::{Edge, Patches};

/// Where a lender's own space is in the world: turned, then moved. Particles are f32 there, so that a body far away
/// touches as finely as one at the origin.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Space {
    /// From the lender's axes to the world's.
    pub rotation: DQuat,
    /// Where its origin is.
    pub translation: DVec3,
}

impl Default for Space {
    fn default() -> Self {
        Self { rotation: DQuat::IDENTITY, translation: DVec3::ZERO }
    }
}

impl Space {
    /// A point of the space in the world.
    #[must_use]
    pub fn point(&self, local: Vec3) -> DVec3 {
        self.rotation * local.as_dvec3() + self.translation
    }

    /// A direction of the world in the space.
    #[must_use]
    pub fn local_vector(&self, world: DVec3) -> DVec3 {
        self.rotation.conjugate() * world
    }
}

/// The surface of a body.
#[derive(Clone, Debug, Default)]
pub struct Particles {
    /// Where they are after the tick, in the lender's space.
    pub places: Vec<Vec3>,
    /// How far each went in the tick, in the axes of that space.
    pub motions: Vec<Vec3>,
    /// One over the mass of each; zero cannot be pushed.
    pub inverse_masses: Arc<[f32]>,
    /// The way forward of each, for friction that depends on it; empty if it does not.
    pub forward: Vec<Vec3>,
    /// How they hold on what they touch.
    pub friction: Friction,
    /// The size of the whole body.
    pub size: f32,
}

/// The inside of a body: the distance field of its shape at rest, and how that is carried.
#[derive(Clone, Debug, Default)]
pub struct Interior {
    /// In the space that the maps start from; `None` for a body that others may pass through.
    pub field: Option<Arc<DistanceField>>,
    /// How its particles hang together, and points between them that must not enter anything either.
    pub patches: Arc<Patches>,
    /// Around each particle, from rest to where it is: `x ↦ x + M x + t`, the rows of `[M | t]`.
    pub maps: Vec<[f32; 12]>,
}

/// What is touched.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Whose {
    /// The ground.
    Ground,
    /// A collider, by its number in the scene.
    Collider(u32),
    /// Another body, by its place in the list.
    Body(u32),
}

/// A plane that a particle was put onto.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Touch {
    /// Which particle.
    pub particle: u32,
    /// A point of the plane, in the lender's space.
    pub point: Vec3,
    /// The way out of what was touched.
    pub normal: Vec3,
    /// How rough it is.
    pub friction: Friction,
    /// What was touched.
    pub whose: Whose,
}

/// What a modifier lends contact between `tick` and `settle`, and what it gets back.
#[derive(Clone, Debug, Default)]
pub struct Lent {
    /// Where the lender's space is.
    pub space: Space,
    /// Its surface.
    pub particles: Particles,
    /// Its inside.
    pub interior: Interior,
    /// A ground of its own.
    pub ground: Option<Ground>,
    /// Handed back: how far contact moved each particle.
    pub pushes: Vec<Vec3>,
    /// Handed back: the part of that which changes velocities. What was inside before the tick is moved out without
    /// being thrown.
    pub gains: Vec<Vec3>,
    /// Handed back: the planes that were touched.
    pub touches: Vec<Touch>,
    /// All that in the form in which it is searched.
    blocks: search::Blocks,
}

impl Lent {
    /// Makes it ready to be filled again; memory is kept.
    pub fn clear(&mut self) {
        let Self { space, particles, interior, ground, pushes, gains, touches, blocks } = self;
        (*space, *ground) = (Space::default(), None);
        particles.places.clear();
        particles.motions.clear();
        particles.forward.clear();
        interior.field = None;
        interior.patches = Arc::default();
        interior.maps.clear();
        pushes.clear();
        gains.clear();
        touches.clear();
        blocks.clear();
    }

    /// How many particles are lent.
    #[inline]
    #[must_use]
    pub fn len(&self) -> usize {
        self.particles.places.len()
    }

    /// Whether nothing is lent.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.particles.places.is_empty()
    }

    /// Nothing is pushed yet.
    fn begin(&mut self) {
        let count = self.len();
        self.pushes.clear();
        self.pushes.resize(count, Vec3::ZERO);
        self.gains.clear();
        self.gains.resize(count, Vec3::ZERO);
        self.touches.clear();
    }

    /// Where a particle is now.
    #[inline(always)]
    fn place(&self, particle: usize) -> Vec3 {
        self.particles.places[particle] + self.pushes[particle]
    }

    /// Where a point of an edge is now: `x(s) = (1 − s)(A₁ s e + x₁) + s (A₂ (s − 1) e + x₂)`, with the maps
    /// `A = 1 + M` around both ends and the edge `e` at rest: on the curve that both maps blend to, as a skin does.
    #[inline(always)]
    fn place_between(&self, edge: &Edge, s: f32) -> Vec3 {
        let [i, j] = edge.of.map(|p| p as usize);
        let (a, b) = (self.place(i), self.place(j));
        let straight = a + s * (b - a);
        let maps = &self.interior.maps;
        let (Some(m), Some(n)) = (maps.get(i), maps.get(j)) else { return straight };
        let e = edge.along;
        let along = |k: usize| {
            (m[k] - n[k]) * e.x + (m[k + 1] - n[k + 1]) * e.y + (m[k + 2] - n[k + 2]) * e.z
        };
        straight + s * (1.0 - s) * Vec3::new(along(0), along(4), along(8))
    }

    /// The way forward of a particle along a plane.
    fn forward(&self, particle: usize, normal: Vec3) -> Vec3 {
        use crate::lengths::Lengths as _;
        let Some(&d) = self.particles.forward.get(particle) else { return Vec3::ZERO };
        (d - d.dot(normal) * normal).unit_or_zero()
    }
}

/// One body in contact.
#[derive(Debug)]
pub struct Party<'a> {
    /// What it lends.
    pub lent: &'a mut Lent,
    /// Whether it meets other bodies that do.
    pub others: bool,
    /// Whether it meets the obstacles.
    pub obstacles: bool,
}

/// Looks for bodies in each other and takes them apart so many times a tick: with one, a heap of worms on a tray is up
/// to 3.7 % of a length deep, with two 2.3 %.
const PASSES: usize = 2;

/// Parties that one task pushes out of ground and colliders.
const PARTIES_A_TASK: usize = 8;

/// Pushes particles out of all they entered; threads change no bits.
pub fn resolve(parties: &mut [Party<'_>], obstacles: &[Obstacle<'_>], run: &Run<'_>) {
    run.for_each_piece(parties, PARTIES_A_TASK, |_, parties| {
        parties.iter_mut().for_each(|party| party.lent.begin());
    });
    let pairs = bodies::pairs(parties, run);
    let passes = if pairs.is_empty() { 1 } else { PASSES };
    let mut memory = None;
    for _ in 0..passes {
        bodies::part(parties, &pairs, &mut memory, run);
        run.for_each_piece(parties, PARTIES_A_TASK, |_, parties| {
            for party in parties {
                obstacle::stand(party.lent);
                if party.obstacles {
                    obstacle::leave(party.lent, obstacles);
                }
                party.lent.measure_pushes();
            }
        });
    }
}

/// Puts the particles of one body that nothing else is near onto its ground.
pub fn stand(lent: &mut Lent) {
    lent.begin();
    obstacle::stand(lent);
}
