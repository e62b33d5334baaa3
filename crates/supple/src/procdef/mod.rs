//! Characters without skeletons, moved from inside: tissue contracts and stretches, the body follows.
//!
//! # Method
//!
//! A body is a tet mesh. Every vertex with its 1-ring is a *region*, whose shape at rest is stretched by a matrix `T`
//! that changes with time; shape matching finds the rotation and the place at which each stretched region fits best, and
//! every vertex goes to the mean of the places its regions want it at ([`matching`](self), passes of it are chosen by
//! [`Passes`]). A tick is *predict, match, read off*:
//!
//! ```text
//! y = x + h (v + h f/m)     g = passes(y)     d = g − y, less its momentum     v ← v + d/h     x ← y + d     (8), (9)
//! ```
//!
//! with damping towards the rigid motion of the whole body, pins and water ([`Motion`]). Ground, colliders and other bodies
//! push in between ([`contact`](crate::contact)).
//!
//! # Where we differ from the paper
//!
//! (8) and (9) as printed ring: stiff modes keep swinging with a period of six ticks. The predicted form costs the same,
//! is stable for every step, and settles. Passes after the first make a body turn by itself; that is taken out, so linear
//! and angular momentum are kept (`momenta_of_a_driven_free_body_are_kept`).
//!
//! # Limits
//!
//! Displacements are f32 in the body's own f64 frame, laid anew when the body has moved by its size or turned: a body at
//! rest is still to the bit wherever it is (`a_chart_of_ones_leaves_a_body_still_to_the_bit`). Thin shells may turn
//! inside out when they are dragged far, as real ones do.
//!
//! # References
//!
//! Ijiri, Takayama, Yokota, Igarashi: `ProcDef`, 2009; Rivers, James: `FastLSM`, 2007; Müller et al. 2005, 2006.
//!
//! # Example
//!
//! ```
//! use glam::Vec3;
//! use supple::mesh::TetMesh;
//! use supple::procdef::{Body, Drive, Motion, State, Stretches, Work};
//!
//! let corners = vec![Vec3::ZERO, Vec3::X, Vec3::Y, Vec3::Z];
//! let body = Body::new(&TetMesh::new(corners, vec![[0, 1, 2, 3]]))?;
//! let mut stretches = Stretches::ones(&body);
//! (0..4).for_each(|v| stretches.set(&body, v, [Vec3::X, Vec3::Y, Vec3::Z], Vec3::new(0.5, 1.0, 1.0)));
//! let (mut state, mut work) = (State::at_rest(&body), Work::default());
//! let drive = Drive::by(&stretches);
//! for _ in 0..240 {
//!     body.tick(&Motion::default(), &drive, &mut state, &mut work, &supple::Run::default());
//! }
//! let x = body.positions(&state);
//! assert!((x[0].distance(x[1]) - 0.5).abs() < 1e-3, "half as long");
//! # Ok::<(), supple::procdef::Error>(())
//! ```

mod acceleration;
pub mod cage;
pub mod chart;
pub mod design;
mod distance;
mod environment;
pub mod field;
mod frame;
mod halves;
mod holding;
pub mod learn;
mod matching;
pub mod modifier;
mod motion;
pub mod orientation;
mod prepared;
pub mod preset;
mod regions;
mod replay;
mod rotation;
mod skin;
pub mod starter;
mod target;
mod tissue;
mod touching;
mod wide;

#[cfg(test)]
mod reach;
#[cfg(test)]
mod tests;

use std::sync::Arc;

use glam::{DVec3, Mat3, Vec3};
use serde::{Deserialize, Serialize};

pub use self::acceleration::{MOST_PASSES, Passes, plain_equivalent};
pub use self::chart::Chart;
pub use self::design::Design;
pub use self::environment::Water;
pub use self::frame::Placement;
pub use self::motion::{Drive, Motion, Pin, TICK_SECS, Ticked, Work};
pub use self::orientation::{Alike, Fibers};
use self::regions::Regions;
pub use self::target::Shaped;
pub use self::tissue::{Fields, Played, Tissue, Touch};
use self::wide::{WIDTH, Wide};
pub use crate::contact::{Friction, Ground};
use crate::mesh::TetMesh;

/// Most lines that show directions.
const MOST_LINES: usize = 400;

/// Why a mesh cannot be moved.
#[derive(Clone, Debug, PartialEq, thiserror::Error)]
pub enum Error {
    /// There is nothing to move.
    #[error("the body has no tets; `supple tetrahedralize` fills a closed surface with them")]
    Empty,
    /// A tet names a vertex that is not there.
    #[error("tet {tet} names vertex {vertex}, but there are {count}")]
    Index {
        /// Which tet.
        tet: usize,
        /// What it names.
        vertex: u32,
        /// How many there are.
        count: usize,
    },
    /// A vertex is nowhere.
    #[error("vertex {vertex} has a coordinate that is no number")]
    NotFinite {
        /// Which vertex.
        vertex: usize,
    },
    /// The tets have no volume.
    #[error("the tets of the body have no volume, so it has no mass; is the mesh flat?")]
    Flat,
}

/// A body prepared to be moved: its regions, its surface, its measures.
#[derive(Clone, Debug)]
pub struct Body {
    regions: Regions,
    /// The surface, by regions.
    surface: Vec<[u32; 3]>,
    /// The regions of the surface's vertices, ascending.
    outside: Vec<u32>,
    /// One over the mass of each of them, of density 1.
    inverse_masses: Arc<[f32]>,
    /// Diagonal of the bounds at rest.
    size: f64,
    /// Volume at rest: of the tets, and as the surface encloses it.
    volume: f64,
    /// Mean edge length over the diagonal.
    edge_share: f64,
}

/// All that changes with time.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct State {
    /// Where the body's frame is.
    pub placement: Placement,
    /// How far each vertex is from where it rests, in the body's frame.
    offsets: Vec<Vec3>,
    /// Velocities in the body's frame, relative to it.
    velocities: Vec<Vec3>,
}

/// The stretches of all regions: `T − 1`, so that a chart of ones is exactly nothing.
#[derive(Clone, Debug, PartialEq)]
pub struct Stretches {
    blocks: Vec<[Wide; 6]>,
}

impl Body {
    /// Prepares a tet mesh. Vertices in no tet follow the body's frame ([`Body::loose`] counts them).
    ///
    /// # Errors
    ///
    /// For a mesh without tets or without volume, for tets that name vertices that are not there, and for coordinates
    /// that are no numbers.
    pub fn new(mesh: &TetMesh) -> Result<Self, Error> {
        let regions = Regions::new(mesh)?;
        let mut oriented = mesh.clone();
        oriented.orient();
        let region = |v: u32| regions.region_of[v as usize];
        let surface: Vec<[u32; 3]> = oriented.boundary().iter().map(|f| f.map(region)).collect();
        let mut outside: Vec<u32> = surface.iter().flatten().copied().collect();
        outside.sort_unstable();
        outside.dedup();
        let low = regions.rest.iter().copied().fold(DVec3::INFINITY, DVec3::min);
        let high = regions.rest.iter().copied().fold(DVec3::NEG_INFINITY, DVec3::max);
        let size = (high - low).length();
        let edges = |r: usize| regions.ring[regions.ring(r)].iter().map(move |&i| (r, i as usize));
        let length = |(a, b): (usize, usize)| (regions.rest[a] - regions.rest[b]).length();
        let total: f64 = (0..regions.len()).flat_map(edges).map(length).sum();
        let edge_share = total / (regions.ring.len().max(1) as f64 * size);
        let volume = oriented.volume();
        let inverse_mass = |&r: &u32| (1.0 / (regions.masses[r as usize] * volume)) as f32;
        let inverse_masses = outside.iter().map(inverse_mass).collect();
        Ok(Self { surface, outside, inverse_masses, size, volume, edge_share, regions })
    }

    /// How many vertices the mesh has.
    #[must_use]
    pub fn vertex_count(&self) -> usize {
        self.regions.region_of.len()
    }

    /// How many vertices are in no tet.
    #[must_use]
    pub fn loose(&self) -> usize {
        self.regions.region_of.len() - self.regions.len()
    }

    /// The diagonal of the body's bounds at rest, in metres.
    #[must_use]
    pub fn size(&self) -> f64 {
        self.size
    }

    /// The volume of the tets at rest.
    #[must_use]
    pub fn volume(&self) -> f64 {
        self.volume
    }

    /// Where the vertices of the mesh are; those in no tet stay where they rest in the body's frame.
    #[must_use]
    pub fn positions(&self, state: &State) -> Vec<Vec3> {
        let mut positions = vec![state.placement.point(DVec3::ZERO).as_vec3(); self.vertex_count()];
        for (r, &v) in self.regions.vertices.iter().enumerate() {
            positions[v as usize] = self.world(state, r).as_vec3();
        }
        positions
    }

    /// Where the centre of mass is.
    #[must_use]
    pub fn center(&self, state: &State) -> DVec3 {
        let term = |r: usize| self.regions.masses[r] * self.world(state, r);
        (0..self.regions.len()).map(term).sum()
    }

    /// The velocity of a vertex in the world, in metres a second; zero for one in no tet.
    #[must_use]
    pub fn velocity(&self, state: &State, vertex: usize) -> DVec3 {
        let region = self.regions.region_of[vertex] as usize;
        let Some(v) = state.velocities.get(region) else { return DVec3::ZERO };
        state.placement.velocity + state.placement.rotation * v.as_dvec3()
    }

    /// Short lines along a direction at vertices of the surface, turned as their neighbourhood is.
    fn lines_along<'a>(
        &'a self,
        state: &'a State,
        directions: &'a [Vec3],
    ) -> impl Iterator<Item = Vec<Vec3>> + 'a {
        let step = self.outside.len().div_ceil(MOST_LINES).max(1);
        let x: Vec<DVec3> = (0..self.regions.len()).map(|r| self.world(state, r)).collect();
        let half = 0.5 * self.edge_share * self.size;
        self.outside.iter().step_by(step).filter_map(move |&r| {
            let vertex = self.regions.vertices[r as usize] as usize;
            let d = directions.get(vertex)?.as_dvec3();
            let along = (self.gradient(&x, r as usize) * d).normalize_or_zero() * half;
            let at = x[r as usize];
            Some(vec![(at - along).as_vec3(), (at + along).as_vec3()])
        })
    }

    /// The vertex of the mesh that a particle of the surface is.
    fn surface_vertex(&self, particle: usize) -> Option<usize> {
        let region = *self.outside.get(particle)?;
        self.regions.vertices.get(region as usize).map(|&v| v as usize)
    }

    fn world(&self, state: &State, region: usize) -> DVec3 {
        state.placement.point(self.regions.rest[region] + state.offsets[region].as_dvec3())
    }
}

impl State {
    /// A body as it was modelled.
    #[must_use]
    pub fn at_rest(body: &Body) -> Self {
        let placement = Placement { translation: body.regions.center, ..Placement::default() };
        Self::placed(body, placement)
    }

    /// A body at rest with its centre of mass and its axes somewhere.
    #[must_use]
    pub fn placed(body: &Body, placement: Placement) -> Self {
        let zeros = vec![Vec3::ZERO; body.regions.len()];
        Self { placement, offsets: zeros.clone(), velocities: zeros }
    }

    /// Moves the vertices of the mesh somewhere, without velocity.
    pub fn put(&mut self, body: &Body, positions: &[Vec3]) {
        for (r, &v) in body.regions.vertices.iter().enumerate() {
            let local = self.placement.local_point(positions[v as usize].as_dvec3());
            self.offsets[r] = (local - body.regions.rest[r]).as_vec3();
            self.velocities[r] = Vec3::ZERO;
        }
    }

    /// Whether it is a state of this body.
    #[must_use]
    pub fn fits(&self, body: &Body) -> bool {
        self.offsets.len() == body.regions.len() && self.velocities.len() == body.regions.len()
    }

    /// Bytes it holds.
    #[must_use]
    pub fn bytes(&self) -> usize {
        2 * size_of::<Vec3>() * self.offsets.len() + size_of::<Self>()
    }
}

impl Stretches {
    /// Nothing is stretched.
    #[must_use]
    pub fn ones(body: &Body) -> Self {
        Self { blocks: vec![[Wide::ZERO; 6]; body.regions.len().div_ceil(WIDTH)] }
    }

    /// Stretches the region of a vertex along three orthonormal directions: `T = 1 + Σ (c_k − 1) d_k d_kᵀ` (1).
    pub fn set(&mut self, body: &Body, vertex: usize, directions: [Vec3; 3], rates: Vec3) {
        let mut strain = Mat3::ZERO;
        for (d, c) in directions.into_iter().zip(rates.to_array()) {
            strain += Mat3::from_cols(d * d.x, d * d.y, d * d.z) * (c - 1.0);
        }
        self.set_matrix(body, vertex, strain + Mat3::IDENTITY);
    }

    /// Stretches the region of a vertex by a symmetric matrix.
    pub fn set_matrix(&mut self, body: &Body, vertex: usize, stretch: Mat3) {
        let region = body.regions.region_of[vertex];
        if region == u32::MAX {
            return;
        }
        let (block, lane) = (region as usize / WIDTH, region as usize % WIDTH);
        let strain = stretch - Mat3::IDENTITY;
        let entries = [
            strain.x_axis.x,
            0.5 * (strain.x_axis.y + strain.y_axis.x),
            0.5 * (strain.x_axis.z + strain.z_axis.x),
            strain.y_axis.y,
            0.5 * (strain.y_axis.z + strain.z_axis.y),
            strain.z_axis.z,
        ];
        for (wide, entry) in self.blocks[block].iter_mut().zip(entries) {
            wide.0[lane] = entry;
        }
    }
}
