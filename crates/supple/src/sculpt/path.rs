//! The way the points of space went during a list of edits.

use glam::Vec3;

use super::bend::BendMap;
use super::boundary::BoundaryMap;
use super::printed::Within;
use super::twist::TwistMap;
use crate::Run;
use crate::field::Flow;
use crate::pathline::{self, Direction};

/// One edit as a map of space.
#[derive(Clone, Debug, PartialEq)]
pub enum SpaceMap {
    /// Along the path lines of a flow.
    Flow(Flow),
    /// The same in a cylinder only.
    Within(Within),
    /// A twist, in closed form.
    Twist(TwistMap),
    /// A bend, in closed form.
    Bend(BendMap),
    /// Between curves on the surface.
    Boundary(BoundaryMap),
    /// Along a curve, with a field that lives on the surface: the shape before and after it.
    Stored(Stored),
}

/// An edit of which only the vertices are known.
#[derive(Clone, Debug, PartialEq)]
pub struct Stored {
    /// Where the vertices were.
    pub before: Vec<Vec3>,
    /// Where they went.
    pub after: Vec<Vec3>,
    /// 0 for what moved fully, 1 for what stayed.
    pub values: Vec<f32>,
}

/// Edits as maps of space, in the order in which they happened.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Path {
    /// One for each edit.
    pub maps: Vec<SpaceMap>,
}

/// Sends those of the points that take part, and leaves the others where they are.
pub(super) fn send_members<T, E>(
    points: &mut [Vec3],
    takes_part: impl Fn(usize) -> bool,
    send: impl FnOnce(&mut [Vec3]) -> Result<T, E>,
) -> Result<T, E> {
    let members: Vec<usize> = (0..points.len()).filter(|&i| takes_part(i)).collect();
    let mut moving: Vec<Vec3> = members.iter().map(|&i| points[i]).collect();
    let sent = send(&mut moving)?;
    for (&i, x) in members.iter().zip(moving) {
        points[i] = x;
    }
    Ok(sent)
}

/// Points that cannot be sent through an edit.
#[derive(Clone, Debug, PartialEq, thiserror::Error)]
pub enum NotReversible {
    /// The edit is known for its own vertices only.
    #[error(
        "edit {number} lives on the surface of {vertices} vertices and cannot move {points} other \
         points: make it again on their shape"
    )]
    OtherPoints {
        /// Which one, counted from one.
        number: usize,
        /// Vertices it is known for.
        vertices: usize,
        /// Points given.
        points: usize,
    },
    /// Who was inside the cylinder of a bend is not known any more.
    #[error("edit {number} is a bend limited to a cylinder: restore the shape from before it")]
    LimitedBend {
        /// Which one, counted from one.
        number: usize,
    },
    /// The path lines could not be integrated.
    #[error(transparent)]
    Integration(#[from] pathline::Error),
}

impl Path {
    /// Sends points of the shape before the edits through all of them: vertices added later, another
    /// resolution of the same shape, a curve drawn on it.
    ///
    /// # Errors
    ///
    /// [`NotReversible::OtherPoints`] for edits that live on the surface they were made on, and as
    /// [`pathline::advect`].
    pub fn replay(
        &self,
        points: &mut [Vec3],
        params: &pathline::Params,
        run: &Run<'_>,
    ) -> Result<(), NotReversible> {
        self.check_stored(points.len())?;
        for map in &self.maps {
            match map {
                SpaceMap::Flow(flow) => {
                    pathline::advect(points, flow, params, Direction::Forward, run)?;
                }
                SpaceMap::Within(flow) => flow.send(points, params, Direction::Forward, run)?,
                SpaceMap::Twist(twist) => run.for_each(points, |_, x| *x = twist.forward(*x)),
                SpaceMap::Bend(bend) => run.for_each(points, |_, x| *x = bend.forward(*x)),
                SpaceMap::Boundary(map) => map.send(points, params, Direction::Forward, run)?,
                SpaceMap::Stored(stored) => points.copy_from_slice(&stored.after),
            }
        }
        Ok(())
    }

    /// Takes the edits back from the vertices they were made on, the last one first: flows are
    /// integrated backwards, closed forms inverted, and edits that live on the surface restored. A
    /// correction of the volume is not part of the path and stays.
    ///
    /// # Errors
    ///
    /// [`NotReversible`], before anything moves if it is known by then.
    pub fn undo(
        &self,
        points: &mut [Vec3],
        params: &pathline::Params,
        run: &Run<'_>,
    ) -> Result<(), NotReversible> {
        let limited = |s: &SpaceMap| matches!(s, SpaceMap::Bend(bend) if bend.is_limited());
        let other =
            |s: &SpaceMap| matches!(s, SpaceMap::Within(flow) if flow.vertices() != points.len());
        if let Some(index) = self.maps.iter().position(|s| limited(s) || other(s)) {
            return Err(NotReversible::LimitedBend { number: index + 1 });
        }
        self.check_stored(points.len())?;
        for map in self.maps.iter().rev() {
            match map {
                SpaceMap::Flow(flow) => {
                    pathline::advect(points, flow, params, Direction::Backward, run)?;
                }
                SpaceMap::Within(flow) => flow.send(points, params, Direction::Backward, run)?,
                SpaceMap::Twist(twist) => run.for_each(points, |_, x| *x = twist.backward(*x)),
                SpaceMap::Bend(bend) => run.for_each(points, |_, x| *x = bend.backward(*x)),
                SpaceMap::Boundary(map) => map.send(points, params, Direction::Backward, run)?,
                SpaceMap::Stored(stored) => points.copy_from_slice(&stored.before),
            }
        }
        Ok(())
    }

    fn check_stored(&self, points: usize) -> Result<(), NotReversible> {
        for (index, map) in self.maps.iter().enumerate() {
            if let SpaceMap::Stored(Stored { before, .. }) = map
                && before.len() != points
            {
                let (number, vertices) = (index + 1, before.len());
                return Err(NotReversible::OtherPoints { number, vertices, points });
            }
        }
        Ok(())
    }
}
