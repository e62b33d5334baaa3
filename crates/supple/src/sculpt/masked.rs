//! Edits that a painted mask scales.
//!
//! # Method
//!
//! The mask m multiplies the blend: `v = ∇(mβe) × ∇(mβf)` has no divergence, as `m v` would have. So it is for tools,
//! points, strokes, stamps and what is printed; the extent of a curve is multiplied the same way, and a boundary's blend
//! at rest, which then stays with the vertices as a curve's does. m stays
//! with the vertices and its gradient is estimated on the moving surface, as that of a curve edit's extent
//! is ([`super::surface`]). Where m is one all around, a vertex moves as without a mask; where it is zero it
//! stays, to the bit.
//!
//! # Limits
//!
//! What a mask holds back must flow past its edge: a mask that jumps from one vertex to the next makes a
//! steep shear there. Paint a soft edge, several triangles wide. New vertices cannot follow such an edit. A twist or bend in
//! closed form has no blend to multiply: a vertex turns by the share m of its angle, and the volume at the mask's edge is
//! kept with [`Params::exact_volume`] only (`a_masked_twist_turns_by_the_share`).

use glam::Vec3;

use super::curve::guided;
use super::error::Problem;
use super::freedom::final_share;
use super::guide::Ride;
use super::path::{SpaceMap, Stored};
use super::surface::{EditedSurface, Mover, Pace};
use super::{Done, Op, Params};
use crate::Run;
use crate::field::{Flow, Phase, PosedField};
use crate::lanes::{Lanes, ScalarLanes, WIDTH};
use crate::pathline;

/// How often the gradient of the mask is averaged over the neighbours.
const SMOOTHING: u32 = 3;

/// Least steps of a phase, and how many times as many as without a mask, whose edge is steeper.
const LEAST_STEPS: u32 = 16;
const FINER: u32 = 2;

/// Steps of a boundary's motion.
const STEPS: u32 = 64;

/// A surface with a mask on it.
pub(super) struct Masked<'a> {
    mask: &'a [f32],
    surface: EditedSurface,
}

impl<'a> Masked<'a> {
    pub(super) fn new(
        mask: &'a [f32],
        positions: &[Vec3],
        triangles: &[[u32; 3]],
        run: &Run<'_>,
    ) -> Result<Self, Problem> {
        if mask.len() != positions.len() {
            return Err(Problem::MaskLength { given: mask.len(), vertices: positions.len() });
        }
        if triangles.is_empty() {
            return Err(Problem::NeedsTriangles { what: "a mask is painted on it" });
        }
        if let Some(&value) = mask.iter().find(|m| !(0.0..=1.0).contains(*m)) {
            return Err(Problem::NotAShare { what: "a value of the mask", value });
        }
        let held: Vec<f32> = mask.iter().map(|m| 1.0 - m).collect();
        let surface = EditedSurface::new(positions, &held, remaining, triangles, SMOOTHING, run);
        Ok(Self { mask, surface })
    }

    /// Carries the surface along a flow.
    pub(super) fn carry(
        &self,
        flow: &Flow,
        positions: &mut [Vec3],
        params: &pathline::Params,
        run: &Run<'_>,
    ) -> Result<pathline::Report, Problem> {
        let mut report = pathline::Report::default();
        for phase in &flow.phases {
            let steps = FINER * pathline::steps_of(positions, phase, params, run)?.max(LEAST_STEPS);
            let pace = Pace { steps, until: f64::from(phase.duration), piece: steps };
            let before = positions.to_vec();
            report.steps += u64::from(self.surface.follow(positions, &phase, pace, run)?);
            if (&phase).keeps_volume() {
                self.surface.give_back(&before, positions, run);
            }
        }
        Ok(report)
    }

    /// 0 for what takes part fully, 1 for what does not, from the share without a mask.
    fn shares(&self, share: impl Fn(usize) -> f64) -> Vec<f32> {
        (0_usize..).zip(self.mask).map(|(i, m)| 1.0 - m * share(i) as f32).collect()
    }

    /// The same for a flow, from where it led.
    fn of_flow(&self, flow: &Flow, after: &[Vec3]) -> Vec<f32> {
        self.shares(|i| final_share(flow, after[i]))
    }
}

impl Op {
    /// Carries an edit out where a mask says how much each vertex takes part.
    pub(super) fn run_masked(
        &self,
        positions: &mut [Vec3],
        triangles: &[[u32; 3]],
        params: &Params,
        run: &Run<'_>,
    ) -> Result<Done, Problem> {
        let mut mask = params.mask.clone();
        let exact = pathline::Report::default();
        let before = positions.to_vec();
        if let (Self::Twist(_) | Self::Bend(_), Some(cylinder)) = (self, self.cylinder()?) {
            for (m, &x) in mask.iter_mut().zip(&before) {
                *m *= f32::from(u8::from(cylinder.contains(x)));
            }
        }
        let masked = Masked::new(&mask, positions, triangles, run)?;
        let integration = &params.integration;
        let quiet = Run { progress: None, ..*run };
        let carry = |flow: &Flow, positions: &mut [Vec3]| {
            masked.carry(flow, positions, integration, &quiet)
        };
        let (values, taken, warnings) = match self {
            Self::Twist(op) if !op.as_printed => {
                let map = op.run(positions, triangles, &mask, run)?;
                (masked.shares(|i| map.share(before[i])), exact, Vec::new())
            }
            Self::Bend(op) if !op.as_printed => {
                let (map, warning) = op.run(positions, triangles, &mask, run)?;
                let values = masked.shares(|i| map.share(before[i]));
                (values, exact, warning.into_iter().collect())
            }
            Self::Boundary(op) => {
                let map = op.prepare(positions, triangles, run)?;
                let values = masked.shares(|i| map.share_at_rest(i));
                let surface =
                    EditedSurface::new(positions, &values, remaining, triangles, SMOOTHING, run);
                let ride = Ride::of(map.motion());
                let steps = guided(&ride, &surface, &values, STEPS, positions, run)?;
                (values, pathline::Report { steps, ..exact }, Vec::new())
            }
            Self::Curve(op) => {
                let (values, steps) = op.run(positions, triangles, &mask, run)?;
                (values, pathline::Report { steps, ..exact }, Vec::new())
            }
            Self::Stamp(op) => {
                let done = op.run(positions, triangles, &carry, run)?;
                let SpaceMap::Flow(flow) = &done.map else { return Ok(done) };
                (masked.of_flow(flow, positions), done.taken, done.warnings)
            }
            Self::Move(_) | Self::Points(_) | Self::Paint(_) | Self::Twist(_) | Self::Bend(_) => {
                let (flow, taken) =
                    self.flow_through(positions, triangles, integration, &carry, run)?;
                (masked.of_flow(&flow, positions), taken, Vec::new())
            }
        };
        let stored = Stored { before, after: positions.to_vec(), values };
        Ok(Done { map: SpaceMap::Stored(stored), taken, warnings })
    }
}

/// What a value leaves of the motion, and its slope.
fn remaining(s: f32) -> (f32, f32) {
    (1.0 - s, -1.0)
}

impl<'a> Mover for &'a Phase {
    type Posed = Vec<PosedField<'a>>;

    fn at(&self, t: f64) -> Self::Posed {
        self.fields.iter().map(|field| field.at(t as f32)).collect()
    }

    fn keeps_volume(&self) -> bool {
        self.fields.iter().all(|field| field.lateral >= 1.0)
    }

    #[inline(always)]
    fn velocity(
        fields: &Self::Posed,
        x: &Lanes<WIDTH>,
        painted: &ScalarLanes<WIDTH>,
    ) -> Lanes<WIDTH> {
        let mut v = Lanes::ZERO;
        for field in fields {
            field.add_painted(painted, x, &mut v);
        }
        v
    }

    #[inline(always)]
    fn circulation(
        fields: &Self::Posed,
        from: &Lanes<WIDTH>,
        way: &Lanes<WIDTH>,
        painted: &[[f32; WIDTH]; 3],
    ) -> [f32; WIDTH] {
        let mut sums = [0.0; WIDTH];
        for field in fields {
            field.add_circulation(painted, from, way, &mut sums);
        }
        sums
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::sculpt::{
        Bend, Boundary, Curve, Error, Extent, Guide, Knob, Move, Outcome, Stamp, ToolShape, Twist,
        apply,
    };
    use crate::{Run, TriMesh, zoo};

    fn ball(triangles: usize) -> TriMesh {
        let size = zoo::Size { triangles: Some(triangles) };
        zoo::build("ball", &size, &Run::default()).unwrap().meshes.swap_remove(0)
    }

    /// A tool that pulls the top of the ball up.
    fn pull() -> Op {
        let by = vec![Vec3::new(0.3, 0.0, 0.5)];
        Op::Move(Move { center: Vec3::Z, by, inner: 0.3, outer: 0.9, ..Move::default() })
    }

    fn edit(mesh: &TriMesh, op: Op, mask: Vec<f32>) -> Result<(Vec<Vec3>, Outcome), Error> {
        let params = Params { mask, ..Params::default() };
        let mut positions = mesh.positions.clone();
        let done = apply(&mut positions, &mesh.triangles, &[op], &params, &Run::default())?;
        Ok((positions, done))
    }

    /// One for y below `from`, zero above `to`.
    fn soft(mesh: &TriMesh, from: f32, to: f32) -> Vec<f32> {
        let u = |x: &Vec3| ((to - x.y) / (to - from)).clamp(0.0, 1.0);
        mesh.positions.iter().map(u).map(|u| u * u * (3.0 - 2.0 * u)).collect()
    }

    #[test]
    fn a_mask_of_ones_changes_nothing() {
        let mesh = ball(2000);
        let (plain, _) = edit(&mesh, pull(), Vec::new()).unwrap();
        let (masked, _) = edit(&mesh, pull(), vec![1.0; mesh.positions.len()]).unwrap();
        for (a, b) in plain.iter().zip(&masked) {
            assert!(a.distance(*b) < 1e-4, "{a} {b}");
        }
    }

    #[test]
    fn what_is_masked_stays_to_the_bit_and_the_rest_follows() {
        let mesh = ball(8000);
        let mask = soft(&mesh, 0.0, 0.3);
        let (plain, _) = edit(&mesh, pull(), Vec::new()).unwrap();
        let (moved, done) = edit(&mesh, pull(), mask.clone()).unwrap();
        let mut followed = 0;
        for i in 0..moved.len() {
            let (from, to) = (mesh.positions[i], moved[i]);
            if mask[i] == 0.0 {
                assert_eq!(from, to, "held");
            } else if from.distance(Vec3::Z) < 0.3 && from.y < -0.2 {
                assert!(to.distance(plain[i]) < 1e-4, "as without the mask: {to}");
                followed += 1;
            }
        }
        assert!(followed > 3, "some of the core is free");
        assert!(done.report.volume_error().abs() < 2e-3, "{}", done.report.volume_error());
        let mut back = moved;
        done.path.undo(&mut back, &pathline::Params::default(), &Run::default()).unwrap();
        assert_eq!(back, mesh.positions, "undo restores");
    }

    /// Without what flows past the edge of the mask the same edit loses volume.
    #[test]
    fn the_volume_is_kept() {
        let mesh = ball(20_000);
        let error = |lateral: f32| {
            let Op::Move(pull) = pull() else { return f64::NAN };
            let op = Op::Move(Move { lateral, ..pull });
            let (_, done) = edit(&mesh, op, soft(&mesh, -0.4, 0.4)).unwrap();
            done.report.volume_error().abs()
        };
        let (kept, lost) = (error(1.0), error(0.0));
        assert!(kept < 4e-4 && lost > 20.0 * kept, "{kept:e}, {lost:e}");
    }

    #[test]
    fn masks_that_do_not_fit_are_refused() {
        let mesh = ball(500);
        let n = mesh.positions.len();
        let problem = |op, mask| edit(&mesh, op, mask).unwrap_err().problem;
        let short = Problem::MaskLength { given: 3, vertices: n };
        assert_eq!(problem(pull(), vec![1.0; 3]), short);
        assert!(matches!(problem(pull(), vec![f32::NAN; n]), Problem::NotAShare { .. }), "NaN");
    }

    /// No blend to multiply: the share of the angle, and nothing where the mask is zero.
    #[test]
    fn a_masked_twist_turns_by_the_share() {
        let mesh = ball(2000);
        let mask = soft(&mesh, -0.4, 0.4);
        let twist = Twist { degrees: 80.0, from: -0.5, to: 0.5, ..Twist::default() };
        let map = twist.prepare().unwrap();
        let (moved, done) = edit(&mesh, Op::Twist(twist.clone()), mask.clone()).unwrap();
        for ((a, b), m) in mesh.positions.iter().zip(&moved).zip(&mask) {
            let part = Twist { degrees: m * 80.0, ..twist.clone() }.prepare().unwrap();
            let there = if *m > 0.0 { part.forward(*a) } else { *a };
            assert!(b.abs_diff_eq(there, 1e-5), "{a} went to {b}, not {there}");
            assert!(*m > 0.0 || a == b, "held");
        }
        let SpaceMap::Stored(stored) = &done.path.maps[0] else { panic!("stored") };
        let top = mesh.positions.iter().position(|x| x.z > 0.6 && x.y < -0.5).unwrap();
        assert!(stored.values[top] < 1e-6 && map.share(mesh.positions[top]) >= 1.0, "all of it");
    }

    /// Whatever the edit: what is held stays to the bit, and what is free all around goes as without a mask.
    #[test]
    fn every_edit_takes_a_mask() {
        let size = zoo::Size { triangles: Some(5000) };
        let bar = zoo::build("bar", &size, &Run::default()).unwrap().meshes.swap_remove(0);
        let ring = |x: f32| {
            let corners = [(1, 1), (0, 1), (-1, 1), (-1, 0), (-1, -1), (0, -1), (1, -1), (1, 0)];
            corners.map(|(y, z)| Vec3::new(x, 0.5 * y as f32, 0.5 * z as f32)).to_vec()
        };
        let die = zoo::build("box", &zoo::Size { triangles: Some(12) }, &Run::default()).unwrap();
        let die = &die.meshes[0];
        let tool =
            ToolShape::Mesh { positions: die.positions.clone(), triangles: die.triangles.clone() };
        let drawn = Extent::Drawn { inner: ring(1.0), outer: ring(-1.0) };
        let knob = Knob::Translate { by: 0.3 * Vec3::Y };
        let guide = Guide::Through(vec![Vec3::X, Vec3::new(1.3, 0.2, 0.0)]);
        let bend = Bend { degrees: 40.0, width: 4.0, ..Bend::default() };
        let twist = Twist { axis: Vec3::X, degrees: 40.0, ..Twist::default() };
        let (from, by) = (Vec3::new(0.0, 0.9, 0.0), vec![-0.25 * Vec3::Y]);
        let ops = [
            Op::Twist(twist.clone()),
            Op::Bend(bend.clone()),
            Op::Twist(Twist { as_printed: true, ..twist }),
            Op::Bend(Bend { as_printed: true, ..bend }),
            Op::Stamp(Stamp { tool, scale: 0.2, from, by, outer: 0.5, ..Stamp::default() }),
            Op::Boundary(Boundary {
                inner: ring(1.0),
                outer: ring(-1.0),
                knob,
                ..Boundary::default()
            }),
            Op::Curve(Curve { guide, extent: drawn, ..Curve::default() }),
        ];
        for op in ops {
            let name = format!("{} {:?}", op.name(), matches!(&op, Op::Twist(t) if t.as_printed));
            let (free, _) = edit(&bar, op.clone(), Vec::new()).unwrap();
            let (all, _) = edit(&bar, op.clone(), vec![1.0; bar.positions.len()]).unwrap();
            // A boundary's blend stays with the vertices under a mask: only its ends are the same.
            let same =
                |i: &usize| !matches!(op, Op::Boundary(_)) || bar.positions[*i].x.abs() > 1.1;
            let off =
                (0..all.len()).filter(same).map(|i| free[i].distance(all[i])).fold(0.0, f32::max);
            assert!(off < 2e-3, "{name}: a mask of ones moves {off} elsewhere");
            let mask = soft(&bar, -0.2, 0.2);
            let (held, done) = edit(&bar, op.clone(), mask.clone()).unwrap();
            for i in 0..held.len() {
                assert!(mask[i] > 0.0 || held[i] == bar.positions[i], "{name}: held");
            }
            assert!(done.report.moved > 100 || matches!(op, Op::Stamp(_)), "{name}: some move");
            let (none, done) = edit(&bar, op.clone(), vec![0.0; held.len()]).unwrap();
            assert_eq!((&none, done.report.moved), (&bar.positions, 0), "{name}");
        }
    }
}
