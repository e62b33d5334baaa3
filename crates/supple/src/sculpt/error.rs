//! What can be wrong with an edit, and what would be right.

use glam::Vec3;

use crate::mesh::geodesic::heat;
use crate::pathline;
use crate::run::Cancelled;

/// An edit that cannot be carried out.
#[derive(Clone, Debug, PartialEq, thiserror::Error)]
#[error("operation {number} ({name}): {problem}")]
pub struct Error {
    /// Which one, counted from one.
    pub number: usize,
    /// Its name.
    pub name: &'static str,
    /// What is wrong.
    #[source]
    pub problem: Problem,
}

/// What is wrong with an edit.
#[derive(Clone, Debug, PartialEq, thiserror::Error)]
pub enum Problem {
    /// The fade is empty or inverted.
    #[error(
        "the outer radius {outer} must be larger than the inner radius {inner}, for example {}",
        2.0 * .inner.max(0.5 * .outer.abs())
    )]
    EmptyFade {
        /// Given inner radius.
        inner: f32,
        /// Given outer radius.
        outer: f32,
    },
    /// A length that must be positive is not.
    #[error("{what} is {value}; it must be a positive length")]
    NotPositive {
        /// Which parameter.
        what: &'static str,
        /// Its value.
        value: f32,
    },
    /// A way with too many corners.
    #[error(
        "the way has {corners} corners; give at most {most}, or a smooth curve through some of them"
    )]
    TooManyCorners {
        /// How many there are.
        corners: usize,
        /// How many there may be.
        most: usize,
    },
    /// A parameter is NaN or infinite.
    #[error("{what} is not a finite number")]
    NotFinite {
        /// Which parameter.
        what: &'static str,
    },
    /// A share is not between nothing and all.
    #[error("{what} is {value}; it must lie between 0 and 1")]
    NotAShare {
        /// Which parameter.
        what: &'static str,
        /// Its value.
        value: f32,
    },
    /// A mask for another mesh.
    #[error("the mask has {given} values for {vertices} vertices; give one for each")]
    MaskLength {
        /// Values given.
        given: usize,
        /// Vertices there are.
        vertices: usize,
    },
    /// Copies of a vertex came apart.
    #[error(
        "{edges} edges would open along the seams of the shape; weld it first (supple convert --weld 0)"
    )]
    Opened {
        /// How many.
        edges: usize,
    },
    /// A direction without length.
    #[error("{what} is zero; give a direction such as 0,0,1")]
    NoDirection {
        /// Which parameter.
        what: &'static str,
    },
    /// A curve that goes nowhere.
    #[error(
        "the points of the curve are all the same; give at least two that differ, or turn in place"
    )]
    NoWay,
    /// The numbers became too large.
    #[error(
        "the motion leads beyond what single precision holds; bring it near the shape's own size"
    )]
    OutOfRange,
    /// The bend's two directions are parallel.
    #[error("along {along} is parallel to the axis {axis}; it must point across it")]
    AlongTheAxis {
        /// Given direction.
        along: Vec3,
        /// Given axis.
        axis: Vec3,
    },
    /// The pairs of a turn over time are in the wrong order.
    #[error("the times of a turn along the way must grow from pair to pair")]
    UnsortedTwist,
    /// A list without entries.
    #[error("{what} is empty; give at least {least}")]
    TooFew {
        /// Which list.
        what: &'static str,
        /// How many are needed.
        least: usize,
    },
    /// The twist's heights are in the wrong order.
    #[error("the twist starts at height {from} and must end above it, not at {to}")]
    EmptyTwist {
        /// Height up to which everything stays.
        from: f32,
        /// Height from which everything turns.
        to: f32,
    },
    /// Part of the shape would be turned inside out.
    #[error(
        "the shape reaches beyond the centre of the bend: bend by at most {degrees:.2}°, fade over a \
         width of at least {width:.4}, or move the centre to the inner side"
    )]
    InsideTheBarrel {
        /// Largest angle that works with this width.
        degrees: f32,
        /// Smallest width that works with this angle.
        width: f32,
    },
    /// The cylinder that limits an edit cuts through the shape.
    #[error(
        "the shape crosses the cylinder of radius {radius} between vertices {inside} and {outside}; \
         choose a radius that passes between its parts, or none"
    )]
    CrossesTheCylinder {
        /// Given radius.
        radius: f32,
        /// A vertex inside.
        inside: u32,
        /// Its neighbour outside.
        outside: u32,
    },
    /// The edit needs a surface.
    #[error("this needs a surface: the shape has no triangles{}", hint(.what))]
    NeedsTriangles {
        /// What for.
        what: &'static str,
    },
    /// Bézier pieces share their ends: 4, 7, 10 … points.
    #[error("{found} points do not make a row of cubic Bézier curves: give 4, 7, 10 and so on")]
    BezierPoints {
        /// How many were given.
        found: usize,
    },
    /// A list that must have one entry a vertex has not.
    #[error("{found} painted values for {expected} vertices: give one for each")]
    WrongCount {
        /// How many were given.
        found: usize,
        /// How many there must be.
        expected: usize,
    },
    /// A list names a vertex that does not exist.
    #[error("there is no vertex {vertex}: the shape has {vertices}")]
    NoSuchVertex {
        /// The vertex named.
        vertex: u32,
        /// How many there are.
        vertices: usize,
    },
    /// Picked vertices that lie on different pieces.
    #[error(
        "the picked vertices do not lie on one piece of the surface: no way leads over edges from each to the next"
    )]
    NotJoined,
    /// Values that were not painted, or not looked up.
    #[error("there are no painted values '{name}'{}", among(.known))]
    NotPainted {
        /// Their name.
        name: String,
        /// Those there are.
        known: String,
    },
    /// The curves of a uniform twist overlap in height.
    #[error(
        "the curves of an even twist must lie one above the other along its axis: the outer reaches up to {outer}, the \
         inner down to {inner}; turn the axis, or leave `uniform` out"
    )]
    NoHeight {
        /// Up to where what stays reaches.
        outer: f32,
        /// Down to where the handle reaches.
        inner: f32,
    },
    /// Two boundaries are too near to each other.
    #[error(
        "with tubes of thickness {thickness} the boundaries touch: draw them farther apart, or give a \
         smaller thickness"
    )]
    BoundariesTouch {
        /// Radius of the tubes.
        thickness: f32,
    },
    /// A boundary that can be walked around.
    #[error(
        "the {what} boundary does not divide the surface with a tube of thickness {thickness}: close it \
         around the part that moves, draw it nearer to the surface, or give a larger thickness"
    )]
    DoesNotDivide {
        /// Which one.
        what: &'static str,
        /// Radius of the tube.
        thickness: f32,
    },
    /// No part of the surface is near enough.
    #[error(
        "point {point} of the stroke is farther than {radius} from the surface; its legs are straight: put points \
         nearer to each other on the surface, or make the radius larger"
    )]
    OffTheSurface {
        /// Which point.
        point: Vec3,
        /// The tool's radius.
        radius: f32,
    },
    /// A tool without triangles.
    #[error("the tool has no triangles; give a closed mesh")]
    EmptyTool,
    /// A tool that does not enclose anything.
    #[error(
        "the tool is not closed: {open} of its {edges} edges are not between two triangles; fill its \
         holes first"
    )]
    ToolNotClosed {
        /// Edges that are in one triangle, or in more than two.
        open: usize,
        /// All edges.
        edges: usize,
    },
    /// A fade that begins on the surface of a solid tool, or too near to it.
    #[error(
        "a tool that is a mesh needs room for its fade to begin: give an inner radius of at least {least:.4}, \
         or a coarser mesh"
    )]
    InTheSolid {
        /// The least inner radius that works.
        least: f32,
    },
    /// A tool whose triangles face inwards, or not all the same way.
    #[error("the tool is inside out: its triangles must be counter-clockwise seen from outside")]
    ToolInsideOut,
    /// A tool that is in the shape before it has gone anywhere.
    #[error(
        "the tool starts inside the shape, at {triangles} triangles: start it outside, at {outside} for \
         instance"
    )]
    ToolStartsInside {
        /// Triangles that meet it or have a corner in it.
        triangles: usize,
        /// A start that is surely outside, back along the way.
        outside: Vec3,
    },
    /// The tool is only a name.
    #[error("the tool '{name}' was not loaded; give its mesh")]
    ToolNotLoaded {
        /// The name.
        name: String,
    },
    /// A step that is too short for the way.
    #[error("the tool would take {steps:.0} steps; give a longer step or a shorter way")]
    TooManySteps {
        /// How many.
        steps: f32,
    },
    /// Distances along the surface could not be found.
    #[error("distances along the surface: {0}")]
    Distances(#[from] heat::Error),
    /// The path lines could not be integrated.
    #[error(transparent)]
    Integration(#[from] pathline::Error),
}

impl From<Cancelled> for Problem {
    fn from(cancelled: Cancelled) -> Self {
        Self::Integration(cancelled.into())
    }
}

fn among(names: &str) -> String {
    if names.is_empty() { String::new() } else { format!(" ({names})") }
}

fn hint(what: &str) -> String {
    format!(" ({what})")
}

/// Checks that a fade from `inner` to `outer` is one.
pub(super) fn check_fade(inner: f32, outer: f32) -> Result<(), Problem> {
    check_finite("the inner radius", inner)?;
    check_finite("the outer radius", outer)?;
    if inner < 0.0 {
        return Err(Problem::NotPositive { what: "the inner radius", value: inner });
    }
    if outer <= inner {
        return Err(Problem::EmptyFade { inner, outer });
    }
    Ok(())
}

pub(super) fn check_finite(what: &'static str, value: f32) -> Result<(), Problem> {
    if value.is_finite() { Ok(()) } else { Err(Problem::NotFinite { what }) }
}

pub(super) fn check_point(what: &'static str, value: Vec3) -> Result<(), Problem> {
    if value.is_finite() { Ok(()) } else { Err(Problem::NotFinite { what }) }
}

/// Checks a list of points.
pub(super) fn check_list(what: &'static str, points: &[Vec3], least: usize) -> Result<(), Problem> {
    if points.len() < least {
        return Err(Problem::TooFew { what, least });
    }
    points.iter().try_for_each(|&p| check_point(what, p))
}

pub(super) fn check_positive(what: &'static str, value: f32) -> Result<(), Problem> {
    check_finite(what, value)?;
    if value > 0.0 { Ok(()) } else { Err(Problem::NotPositive { what, value }) }
}

pub(super) fn check_share(what: &'static str, value: f32) -> Result<(), Problem> {
    if (0.0..=1.0).contains(&value) { Ok(()) } else { Err(Problem::NotAShare { what, value }) }
}

/// The unit vector along a direction.
pub(super) fn direction(what: &'static str, value: Vec3) -> Result<Vec3, Problem> {
    check_point(what, value)?;
    value.try_normalize().ok_or(Problem::NoDirection { what })
}
