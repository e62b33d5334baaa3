//! A log of strokes: edits made one after the other on one mesh, taken back, made again, and made on another mesh.
//!
//! # Method
//!
//! Every stroke is an [`Op`] and how it was carried out. It is taken back by the mathematics where the edit alone says
//! how: path lines of tools and points are integrated backwards, closed forms inverted. The error of that is measured: what
//! was taken back is sent forth again and compared with the shape it came from ([`Undone::error_rel_bbox`]). Where the way
//! back needs the shape (strokes that follow the surface, edits that live on it, a restored volume, a mask, a bend whose
//! line was moved, a motion that was stopped) the places before the stroke are kept in the log and put back, to the bit.
//!
//! # Limits
//!
//! A log belongs to one mesh: its strokes keep the vertices, so it goes with no remeshing. On another mesh it is made anew,
//! stroke by stroke, except strokes that name vertices ([`LogError::NamesVertices`]).

use glam::Vec3;
use serde::{Deserialize, Serialize};

use super::path::{NotReversible, Path, SpaceMap};
use super::{Error, OnContact, Op, Outcome, Params, Problem, apply};
use crate::Run;
use crate::lengths::Lengths as _;
use crate::mesh::measure::Bounds;
use crate::pathline;

/// Strokes on one mesh.
///
/// ```
/// use glam::Vec3;
/// use supple::sculpt::{Log, Move, Op, Params};
///
/// let (mut shape, run) = (vec![Vec3::ZERO, Vec3::X], supple::Run::default());
/// let mut log = Log::new(shape.len());
/// let pull = Op::Move(Move { by: vec![Vec3::Y], inner: 0.5, outer: 2.0, ..Move::default() });
/// log.make(pull, &mut shape, &[], &Params::default(), &run)?;
/// assert_eq!(shape[0], Vec3::Y);
/// let undone = log.undo(1, &mut shape, &run)?;
/// assert!(shape[0].length() < 1e-6 && undone.error_rel_bbox < 1e-6);
/// # Ok::<(), supple::sculpt::LogError>(())
/// ```
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Log {
    /// Vertices of the mesh.
    pub vertices: usize,
    /// What was done, the first first.
    pub strokes: Vec<Stroke>,
    /// What was taken back, the last to be made again first.
    #[serde(default)]
    pub undone: Vec<Stroke>,
}

/// One edit of a log.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Stroke {
    /// The edit.
    pub op: Op,
    /// Whether the volume was restored after it.
    #[serde(default)]
    pub exact_volume: bool,
    /// What was done where parts of the surface met.
    #[serde(default)]
    pub on_contact: OnContact,
    /// How much each vertex took part; empty if all did.
    #[serde(default)]
    pub mask: Vec<f32>,
    /// The shape before it, where the mathematics does not lead back.
    #[serde(default)]
    pub before: Option<Vec<Vec3>>,
}

/// How strokes were taken back.
#[derive(Clone, Copy, Debug, Default, PartialEq, Serialize)]
pub struct Undone {
    /// Strokes along backward path lines and inverted closed forms.
    pub by_mathematics: usize,
    /// Strokes by the shape that was kept.
    pub by_shape: usize,
    /// How far the largest of the former is off, there and back, as a share of the shape's diagonal.
    pub error_rel_bbox: f64,
}

/// What cannot be done with a log.
#[derive(Clone, Debug, PartialEq, thiserror::Error)]
pub enum LogError {
    /// The log is of another mesh.
    #[error(
        "the log is of a shape with {expected} vertices, this one has {found}: replay it to make its strokes anew"
    )]
    OtherShape {
        /// Vertices of the log's mesh.
        expected: usize,
        /// Vertices given.
        found: usize,
    },
    /// There are not so many.
    #[error("there are {found} strokes to {what}, not {asked}")]
    TooFew {
        /// What was to be done with them.
        what: &'static str,
        /// How many were asked for.
        asked: usize,
        /// How many there are.
        found: usize,
    },
    /// A stroke means the vertices of its own mesh.
    #[error(
        "stroke {number} ({name}) names vertices of the mesh it was made on: it means nothing on another"
    )]
    NamesVertices {
        /// Which one, counted from one.
        number: usize,
        /// Its name.
        name: &'static str,
    },
    /// An edit cannot be carried out.
    #[error(transparent)]
    Edit(#[from] Error),
    /// Points could not be sent back.
    #[error(transparent)]
    Back(#[from] NotReversible),
}

impl Stroke {
    fn params(&self) -> Params {
        let (exact_volume, on_contact) = (self.exact_volume, self.on_contact);
        Params { exact_volume, on_contact, mask: self.mask.clone(), ..Params::default() }
    }

    /// The way back that the edit alone tells.
    fn way_back(&self) -> Option<Path> {
        if self.exact_volume || !self.mask.is_empty() || self.op.names_vertices() {
            return None;
        }
        let map = match &self.op {
            Op::Move(_) | Op::Points(_) => SpaceMap::Flow(self.op.flow().ok()?),
            Op::Twist(twist) if !twist.as_printed => SpaceMap::Twist(twist.prepare().ok()?),
            Op::Bend(bend) if !bend.as_printed && bend.radius.is_none() => {
                SpaceMap::Bend(bend.prepare().ok()?)
            }
            _ => return None,
        };
        Some(Path { maps: vec![map] })
    }
}

impl Log {
    /// An empty log for a mesh of so many vertices.
    #[must_use]
    pub fn new(vertices: usize) -> Self {
        Self { vertices, ..Self::default() }
    }

    /// Makes an edit and writes it down. What was taken back before cannot be made again after it.
    ///
    /// # Errors
    ///
    /// [`LogError`]; positions and log are then as they were.
    pub fn make(
        &mut self,
        op: Op,
        positions: &mut [Vec3],
        triangles: &[[u32; 3]],
        params: &Params,
        run: &Run<'_>,
    ) -> Result<Outcome, LogError> {
        self.check_shape(positions.len())?;
        let before = positions.to_vec();
        let done = apply(positions, triangles, std::slice::from_ref(&op), params, run)?;
        let Params { exact_volume, on_contact, mask, .. } = params.clone();
        let mut stroke = Stroke { op, exact_volume, on_contact, mask, before: None };
        let was_stopped = done.report.contacts.iter().any(|contact| contact.stopped);
        // What happened must be what the edit alone says: not so where it was stopped or its line moved.
        let path = stroke.way_back().filter(|path| path.maps == done.path.maps);
        if path.is_none() || was_stopped {
            stroke.before = Some(before);
        }
        self.strokes.push(stroke);
        self.undone.clear();
        Ok(done)
    }

    /// Takes the last strokes back from the shape they led to.
    ///
    /// # Errors
    ///
    /// [`LogError`]; positions and log are then as they were.
    pub fn undo(
        &mut self,
        count: usize,
        positions: &mut [Vec3],
        run: &Run<'_>,
    ) -> Result<Undone, LogError> {
        self.check_shape(positions.len())?;
        let found = self.strokes.len();
        if count > found {
            return Err(LogError::TooFew { what: "take back", asked: count, found });
        }
        let mut now = positions.to_vec();
        let mut undone = Undone::default();
        for stroke in self.strokes[found - count..].iter().rev() {
            match (&stroke.before, stroke.way_back()) {
                (Some(before), _) => {
                    self.check_shape(before.len())?;
                    now.copy_from_slice(before);
                    undone.by_shape += 1;
                }
                (None, Some(path)) => {
                    let error = back(&path, &mut now, run)?;
                    undone.error_rel_bbox = undone.error_rel_bbox.max(error);
                    undone.by_mathematics += 1;
                }
                (None, None) => return Err(NotReversible::LimitedBend { number: found }.into()),
            }
        }
        positions.copy_from_slice(&now);
        self.undone.extend(self.strokes.drain(found - count..).rev());
        Ok(undone)
    }

    /// Makes strokes again that were taken back, in the order in which they were made.
    ///
    /// # Errors
    ///
    /// [`LogError`]; positions and log are then as they were.
    pub fn redo(
        &mut self,
        count: usize,
        positions: &mut [Vec3],
        triangles: &[[u32; 3]],
        run: &Run<'_>,
    ) -> Result<Vec<Outcome>, LogError> {
        self.check_shape(positions.len())?;
        let found = self.undone.len();
        if count > found {
            return Err(LogError::TooFew { what: "make again", asked: count, found });
        }
        let mut now = positions.to_vec();
        let again = self.undone[found - count..].iter().rev();
        let done = make_all(again, &mut now, triangles, run)?;
        positions.copy_from_slice(&now);
        self.strokes.extend(self.undone.drain(found - count..).rev());
        Ok(done)
    }

    /// Makes all strokes on a mesh, which may be another one.
    ///
    /// # Errors
    ///
    /// [`LogError::NamesVertices`] for strokes that mean no other mesh, and [`LogError::Edit`]; the positions are then as they
    /// were.
    pub fn replay(
        &self,
        positions: &mut [Vec3],
        triangles: &[[u32; 3]],
        run: &Run<'_>,
    ) -> Result<Vec<Outcome>, LogError> {
        let is_other = positions.len() != self.vertices;
        let named = |s: &Stroke| s.op.names_vertices() || !s.mask.is_empty();
        if let Some(index) = self.strokes.iter().position(|s| is_other && named(s)) {
            let name = self.strokes[index].op.name();
            return Err(LogError::NamesVertices { number: index + 1, name });
        }
        let mut now = positions.to_vec();
        let done = make_all(self.strokes.iter(), &mut now, triangles, run)?;
        positions.copy_from_slice(&now);
        Ok(done)
    }

    fn check_shape(&self, found: usize) -> Result<(), LogError> {
        let expected = self.vertices;
        if found == expected { Ok(()) } else { Err(LogError::OtherShape { expected, found }) }
    }
}

fn make_all<'s>(
    strokes: impl Iterator<Item = &'s Stroke>,
    positions: &mut [Vec3],
    triangles: &[[u32; 3]],
    run: &Run<'_>,
) -> Result<Vec<Outcome>, LogError> {
    let mut done = Vec::new();
    for (number, stroke) in (1..).zip(strokes) {
        let ops = std::slice::from_ref(&stroke.op);
        let made = apply(positions, triangles, ops, &stroke.params(), run);
        done.push(made.map_err(|error| Error { number, ..error })?);
    }
    Ok(done)
}

/// Goes back, and tells how far going forth again ends from the start, as a share of the diagonal.
fn back(path: &Path, positions: &mut [Vec3], run: &Run<'_>) -> Result<f64, LogError> {
    let (params, start) = (pathline::Params::default(), positions.to_vec());
    path.undo(positions, &params, run)?;
    if !positions.iter().all(|x| x.is_finite()) {
        positions.copy_from_slice(&start);
        let problem = Problem::OutOfRange;
        return Err(Error { number: 1, name: "undo", problem }.into());
    }
    let mut forth = positions.to_vec();
    path.replay(&mut forth, &params, run)?;
    let off = forth.iter().zip(&start).map(|(a, b)| a.distance_to(*b)).fold(0.0, f32::max);
    let size = Bounds::of(&start).map_or(0.0, |b| b.diagonal()).max(f32::MIN_POSITIVE);
    Ok(f64::from(off / size))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::sculpt::{Bend, Boundary, Knob, Move, Paint, Points, Twist};
    use crate::{TriMesh, zoo};

    fn ball(triangles: usize) -> TriMesh {
        let size = zoo::Size { triangles: Some(triangles) };
        zoo::build("ball", &size, &Run::default()).unwrap().meshes.swap_remove(0)
    }

    fn strokes() -> Vec<Op> {
        let by = vec![Vec3::new(0.2, 0.0, 0.5)];
        let ring = |z: f32| {
            let at = |k: u8| {
                let (s, c) = (0.25 * std::f32::consts::PI * f32::from(k)).sin_cos();
                Vec3::new(c, s, 0.0) * (1.0 - z * z).sqrt() + z * Vec3::Z
            };
            (0..8).map(at).collect::<Vec<Vec3>>()
        };
        vec![
            Op::Boundary(Boundary {
                inner: ring(-0.7),
                outer: ring(-0.1),
                knob: Knob::Translate { by: -0.3 * Vec3::Z },
                thickness: Some(0.15),
                ..Boundary::default()
            }),
            Op::Twist(Twist { degrees: 60.0, ..Twist::default() }),
            Op::Move(Move { center: Vec3::Z, by, inner: 0.3, outer: 0.9, ..Move::default() }),
            Op::Paint(Paint { stroke: vec![-Vec3::X], radius: 0.5, ..Paint::default() }),
            Op::Points(Points {
                points: vec![Vec3::Y, -Vec3::Y],
                by: vec![0.1 * Vec3::X],
                outer: 0.6,
                ..Points::default()
            }),
            Op::Bend(Bend { degrees: 20.0, width: 6.0, ..Bend::default() }),
        ]
    }

    fn made(mesh: &TriMesh) -> (Log, Vec<Vec<Vec3>>) {
        let (mut log, run) = (Log::new(mesh.positions.len()), Run::default());
        let mut shapes = vec![mesh.positions.clone()];
        for op in strokes() {
            let mut next = shapes[shapes.len() - 1].clone();
            log.make(op, &mut next, &mesh.triangles, &Params::default(), &run).unwrap();
            shapes.push(next);
        }
        (log, shapes)
    }

    fn apart(a: &[Vec3], b: &[Vec3]) -> f32 {
        a.iter().zip(b).map(|(a, b)| a.distance(*b)).fold(0.0, f32::max)
    }

    /// Back stroke by stroke, by the mathematics or by what was kept, and forth again.
    #[test]
    fn strokes_are_taken_back_and_made_again() {
        let (mesh, run) = (ball(2000), Run::default());
        let (mut log, shapes) = made(&mesh);
        let kept: Vec<bool> = log.strokes.iter().map(|s| s.before.is_some()).collect();
        assert_eq!(kept, [true, false, false, true, false, false], "what needs the shape keeps it");
        let mut now = shapes[6].clone();
        for k in (0..6).rev() {
            let undone = log.undo(1, &mut now, &run).unwrap();
            let error = apart(&now, &shapes[k]);
            assert!(error < 2e-5, "stroke {k}: {error}");
            let counted = if kept[k] { (0, 1) } else { (1, 0) };
            assert_eq!((undone.by_mathematics, undone.by_shape), counted, "stroke {k}");
            // What is told is the error, there and back: of the same size.
            assert!(
                undone.error_rel_bbox < 1e-5 && (kept[k] == (undone.error_rel_bbox == 0.0)),
                "{undone:?}"
            );
        }
        assert!(matches!(log.undo(1, &mut now, &run), Err(LogError::TooFew { .. })), "no more");
        log.redo(6, &mut now, &mesh.triangles, &run).unwrap();
        assert!(apart(&now, &shapes[6]) < 1e-4, "{}", apart(&now, &shapes[6]));
        assert_eq!(log, made(&mesh).0, "the log is as it was");
        // All at once, and what is stored on the way puts an end to errors.
        let undone = log.undo(6, &mut now, &run).unwrap();
        assert_eq!((undone.by_mathematics, undone.by_shape), (4, 2));
        assert!(apart(&now, &mesh.positions) < 2e-5, "{}", apart(&now, &mesh.positions));
    }

    #[test]
    fn a_log_survives_its_file_to_the_bit() {
        let (log, _) = made(&ball(2000));
        let text = serde_json::to_string(&log).unwrap();
        assert_eq!(serde_json::from_str::<Log>(&text).unwrap(), log);
    }

    /// The same strokes on a finer mesh of the same shape lead to the same shape.
    #[test]
    fn a_log_is_made_anew_on_another_mesh() {
        let (coarse, fine, run) = (ball(2000), ball(8000), Run::default());
        let (log, shapes) = made(&coarse);
        let mut other = fine.positions.clone();
        log.replay(&mut other, &fine.triangles, &run).unwrap();
        let near = |x: &Vec3| {
            let all = fine.positions.iter().zip(&other);
            let least = all.map(|(rest, now)| (rest.distance(*x), *now));
            least.min_by(|a, b| a.0.total_cmp(&b.0)).map_or((1.0, Vec3::ZERO), |least| least)
        };
        for (rest, now) in coarse.positions.iter().zip(&shapes[6]).step_by(7) {
            let (off, there) = near(rest);
            assert!(there.distance(*now) < 0.03 + 3.0 * off, "{rest}: {now} there {there}");
        }
        let mut picked = Log::new(4);
        let op = Op::Points(Points { vertices: vec![1], ..Points::default() });
        picked.strokes.push(Stroke {
            op,
            exact_volume: false,
            on_contact: OnContact::Report,
            mask: Vec::new(),
            before: None,
        });
        let refused = picked.replay(&mut other, &fine.triangles, &run);
        assert!(matches!(refused, Err(LogError::NamesVertices { number: 1, .. })), "{refused:?}");
    }

    #[test]
    fn a_log_of_another_shape_is_refused() {
        let (mut log, _) = made(&ball(2000));
        let mut few = vec![Vec3::ZERO; 3];
        let refused = log.undo(1, &mut few, &Run::default());
        assert!(matches!(refused, Err(LogError::OtherShape { found: 3, .. })), "{refused:?}");
    }
}
