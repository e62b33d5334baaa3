//! Blendshapes that bend instead of shrink: a blend is the equilibrium of springs whose rest lengths are blended.
//!
//! # Method
//!
//! A network of springs ([`spring::network`](crate::spring::network)) is laid through the base shape: its edges, vertices
//! two edges apart, and the edges of tets inside. Every target gives each spring a length. The blend for weights w is
//! where the network comes to rest with the lengths
//!
//! ```text
//! r = r⁰ + Σ w_t (r^t − r⁰)        E = ½ Σ k (|x_i − x_j| − r)²        k ∝ 1/r⁰        001 (1)
//! ```
//!
//! A [`Solver`] is prepared once for a set of shapes. Each solve starts from interpolated rotations ([`rotations`](Mode::Rotations))
//! or from the [`History`] of the last ones, goes on to where the forces 001 (2) vanish, by Newton's method, 001 (3) and (4), with
//! conjugate gradients, until a step of at most 1e-4 of the diagonal is proved, and says in a [`Report`] how it went.
//!
//! # Where we differ from the paper
//!
//! - Nothing is fixed by default. What the lengths leave open, a rigid motion, is put back by fitting the anchor (the
//!   surface, or chosen vertices) to its interpolated motion: both ends are met exactly, and a shape that only turns in
//!   place does not drift. Fixing material points instead moves the ends by up to 8.5e-3.
//! - The paper starts from the source shape at every weight. For large bends that diverges; interpolated rotations do not.
//! - The curvature is the true one, clamped only where it is negative, and the energy falls at each accepted step.
//! - Weights may be any numbers, with the base counted or not. Lengths below a tenth of the base's are bent off
//!   (`q ↦ 0.1 exp(10 q − 1)`): positive always, and unchanged for what targets themselves need.
//! - Open surfaces get an inner layer: a sheet of structure and bending springs neither settles nor holds its shape.
//!
//! # Limits
//!
//! - A network can have more than one equilibrium; the one next to the predictor or to the history is taken.
//! - A twist gains volume, 0.55 % at half of 180° (`a_twisted_bar_keeps_its_volume_within_one_percent`).
//! - Where shapes stretch or shear rather than turn, blended lengths exceed those between, and the surface bulges: on
//!   faces [`Mode::Rotations`] is nearer to what artists expect (docs/blendshape.md).
//! - Parts of a body do not feel each other: no self-contact.
//!
//! # References
//!
//! - W.-C. Ma, Y.-H. Wang, G. Fyffe, B.-Y. Chen, P. Debevec. A Blendshape Model that Incorporates Physical Interaction.
//!   Computer Animation and Virtual Worlds, 2012.
//! - O. Sorkine, M. Alexa. As-Rigid-As-Possible Surface Modeling. Symposium on Geometry Processing, 2007.
//! - B. K. P. Horn. Closed-form Solution of Absolute Orientation using Unit Quaternions. JOSA A, 1987.
//!
//! # Example
//!
//! ```
//! use glam::Vec3;
//! use supple::{Run, blendshape::{History, Params, Shapes, Solver}};
//!
//! // A tetrahedron, and the same turned by a right angle: half way it has turned by half of that, and not shrunk.
//! let base = [Vec3::ZERO, Vec3::X, Vec3::Y, Vec3::Z];
//! let turned = base.map(|p| Vec3::new(-p.y, p.x, p.z));
//! let triangles = [[0, 2, 1], [0, 1, 3], [1, 2, 3], [2, 0, 3]];
//! let shapes = Shapes::of_surface(&triangles, &base, vec![&turned]);
//! let solver = Solver::new(&shapes, &Params::default(), &Run::default())?;
//! let half = solver.solve(&[0.5], &mut History::default(), &Run::default())?;
//! assert!((half.positions[1].distance(half.positions[0]) - 1.0).abs() < 1e-5);
//! # Ok::<(), supple::blendshape::Error>(())
//! ```

mod anchor;
mod body;
mod carry;
mod choice;
pub mod contact;
#[cfg(test)]
mod contact_tests;
mod lagged;
pub mod modifier;
mod newton;
pub mod obstacle;
pub mod oracle;
mod prepare;
pub mod rigid;
mod rotations;
mod solve;
mod terms;
#[cfg(test)]
mod tests;
mod weights;

use glam::Vec3;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use crate::mesh::TetMesh;
use crate::run::Cancelled;
pub use anchor::Anchor;
pub use body::Counts;
pub use choice::suggested;
pub use prepare::Solver;
pub use solve::{Blend, History, Report, Start};
pub use weights::additive;

/// What a blend is.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub enum Mode {
    /// The equilibrium of the springs: right where shapes bend or turn.
    #[default]
    Springs,
    /// Interpolated rotations of each vertex, by one solve: the springs' predictor without their lengths, and nearer to a
    /// linear blend.
    Rotations,
}

/// Which bending springs there are.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub enum Bending {
    /// Between all vertices two edges apart.
    #[default]
    TwoRing,
    /// Between the two vertices opposite each edge: fewer, up to 1.8e-3 of the diagonal off.
    Opposite,
    /// None.
    Nothing,
}

/// What is put inside a surface.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Inside {
    /// Tets in a closed surface, a layer under an open one.
    #[default]
    Auto,
    /// A layer under the surface.
    Layer,
    /// Nothing: such networks may crumple.
    Nothing,
}

/// Which vertices are kept where a linear blend puts them.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Hold {
    /// None: a rigid motion is put back by the anchor.
    #[default]
    Nothing,
    /// Those where all shapes agree.
    Agreeing,
    /// These.
    Vertices(Vec<u32>),
}

/// How shapes are blended.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub struct Params {
    /// Equilibrium or interpolated rotations.
    pub mode: Mode,
    /// Bending springs.
    pub bending: Bending,
    /// What is put inside the surface.
    pub inside: Inside,
    /// Depth of an inner layer, in mean edge lengths.
    pub layer_depth_edges: f64,
    /// Distance of the nodes inside a closed surface, in mean edge lengths.
    pub spacing_edges: f64,
    /// Vertices that are held.
    pub hold: Hold,
    /// Vertices whose motion the whole takes part in where nothing is held; none: the whole surface.
    pub anchor: Vec<u32>,
    /// Rigid rectangles inside that the rest comes to rest about, in place of the above (001 §3.4).
    pub anchors: Vec<Anchor>,
    /// Longest Newton step at the end, in diagonals of the base shape's box.
    pub tolerance_rel_diagonal: f64,
    /// Newton steps before the best shape so far is given.
    pub max_newton_steps: u32,
    /// Conjugate gradients a Newton step.
    pub max_gradient_steps: u32,
}

impl Default for Params {
    fn default() -> Self {
        Self {
            mode: Mode::Springs,
            bending: Bending::TwoRing,
            inside: Inside::Auto,
            layer_depth_edges: 1.0,
            spacing_edges: 1.0,
            hold: Hold::Nothing,
            anchor: Vec::new(),
            anchors: Vec::new(),
            tolerance_rel_diagonal: 1e-4,
            max_newton_steps: 60,
            max_gradient_steps: 400,
        }
    }
}

/// Shapes with the same vertices.
#[derive(Clone, Debug)]
pub struct Shapes<'a> {
    /// Triangles of the surface.
    pub triangles: &'a [[u32; 3]],
    /// The base.
    pub base: &'a [Vec3],
    /// What it blends to.
    pub targets: Vec<&'a [Vec3]>,
    /// Shapes for targets used together.
    pub combinations: Vec<Combination<'a>>,
    /// Tets of shapes that are tet meshes; empty for surfaces.
    pub tets: &'a [[u32; 4]],
    /// A filling of the base: its first vertices are the base's.
    pub inside: Option<&'a TetMesh>,
    /// Painted factors of the springs, one a vertex.
    pub stiffness: Option<&'a [f32]>,
}

/// The shape that targets make together at full weight; its own weight is the product of theirs.
#[derive(Clone, Debug)]
pub struct Combination<'a> {
    /// Which targets, each once.
    pub of: Vec<usize>,
    /// Where the vertices are with all of them at one.
    pub positions: &'a [Vec3],
}

impl<'a> Shapes<'a> {
    /// Surfaces.
    #[must_use]
    pub fn of_surface(
        triangles: &'a [[u32; 3]],
        base: &'a [Vec3],
        targets: Vec<&'a [Vec3]>,
    ) -> Self {
        Self {
            triangles,
            base,
            targets,
            combinations: Vec::new(),
            tets: &[],
            inside: None,
            stiffness: None,
        }
    }
}

/// Why shapes could not be blended.
#[derive(Clone, Debug, PartialEq, thiserror::Error)]
pub enum Error {
    /// A target has another number of vertices.
    #[error(
        "shape {shape} has {found} vertices, the base {expected}: all shapes need the same vertices in the same order"
    )]
    OtherCount {
        /// Which target or combination, counted from one.
        shape: usize,
        /// Its vertices.
        found: usize,
        /// Those of the base.
        expected: usize,
    },
    /// A position is NaN or infinite.
    #[error("vertex {vertex} of shape {shape} (0 is the base) is not finite")]
    NotFinite {
        /// Which shape, 0 for the base.
        shape: usize,
        /// Which vertex.
        vertex: usize,
    },
    /// A triangle or tet names a vertex that does not exist.
    #[error("a triangle or tet names vertex {vertex}, but there are {vertices}")]
    OutOfRange {
        /// Which vertex.
        vertex: u32,
        /// How many there are.
        vertices: usize,
    },
    /// There is no edge.
    #[error("the shapes have no edge: there is nothing to lay springs along")]
    NoEdges,
    /// A vertex to hold, to anchor or to pull does not exist.
    #[error(
        "there is no vertex {vertex} to hold or pull: the shapes have {vertices}, counted from 0"
    )]
    NoSuchVertex {
        /// Which.
        vertex: u32,
        /// How many there are.
        vertices: usize,
    },
    /// A vertex is to be pulled that is held: by name, where all shapes agree, or next to the anchor.
    #[error(
        "vertex {vertex} is held, so it cannot be pulled: pull another, or say which vertices are held (hold)"
    )]
    PullsHeld {
        /// Which.
        vertex: u32,
    },
    /// An anchor stands beside held vertices, or nowhere.
    #[error(
        "an anchor inside needs a finite place and nothing else held: give anchors or held vertices, not both"
    )]
    BadAnchor,
    /// A combination names no targets, or one that does not exist.
    #[error("combination {combination} must name at least two of the {targets} targets, each once")]
    BadCombination {
        /// Which, counted from zero.
        combination: usize,
        /// How many targets there are.
        targets: usize,
    },
    /// Painted factors of another number.
    #[error("{found} painted factors for {expected} vertices")]
    OtherPaint {
        /// Factors.
        found: usize,
        /// Vertices.
        expected: usize,
    },
    /// Weights of another number.
    #[error("{found} weights for {expected} {what}")]
    OtherWeights {
        /// Weights.
        found: usize,
        /// How many are needed.
        expected: usize,
        /// Of what.
        what: &'static str,
    },
    /// A weight is NaN or infinite.
    #[error("weight {weight} is not a finite number")]
    WeightNotFinite {
        /// Which, counted from zero.
        weight: usize,
    },
    /// A weight that no artist means.
    #[error("a weight of {weight} is beyond {most}: full weight is 1")]
    WeightTooLarge {
        /// The weight.
        weight: f64,
        /// The largest there may be, on either side.
        most: f64,
    },
    /// A vertex goes farther than positions can say.
    #[error(
        "vertex {vertex} goes farther than single precision holds: scale the shapes down, or take smaller weights"
    )]
    TooFar {
        /// Which vertex.
        vertex: usize,
    },
    /// Weights with the base counted do not sum to one.
    #[error(
        "the weights sum to {sum}, not to 1: with the base counted they must, or blend additively without it"
    )]
    SumNotOne {
        /// Their sum.
        sum: f64,
    },
    /// An obstacle has no triangle.
    #[error("an obstacle has no triangle: nothing can touch it")]
    ObstacleEmpty,
    /// An obstacle's triangles face inwards.
    #[error("an obstacle is turned inside out (its volume is negative): flip its triangles")]
    ObstacleInsideOut,
    /// The whole body is inside an obstacle.
    #[error("the whole body is inside obstacle {obstacle}: there is no side to push it out to")]
    ObstacleAround {
        /// Which, counted from zero.
        obstacle: usize,
    },
    /// The surface could not be filled.
    #[error("the inside could not be filled with tets: {0}")]
    Fill(#[from] crate::mesh::tetrahedralize::Error),
    /// The matrix of the springs could not be factorised.
    #[error("the springs could not be prepared: {0}")]
    Sparse(#[from] crate::sparse::Error),
    /// The caller asked to stop.
    #[error(transparent)]
    Cancelled(#[from] Cancelled),
}
