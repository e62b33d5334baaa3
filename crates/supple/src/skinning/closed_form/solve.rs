//! One region in one pose: the steps of its bones, each followed by its correction.

use glam::DVec3;

use super::super::Left;
use super::super::motion::{Motion, Step};
use super::blend::{Advance, Blend, Fill, Kernel};
use super::region::{Member, Region};
use super::sums::{Block, Record, WIDTH, cubic, record, set_record, volume};
use crate::Run;
use crate::mesh::exact_volume::smallest_root;
use crate::rig::Skinning;

/// Volume errors below this share of the volume are rounding.
const NO_ERROR: f64 = 1e-13;

/// A field that changes the volume by less than this share cannot restore it.
const NO_CHANGE: f64 = 1e-12;

/// What is left of the error, relative to the volume, that counts as undone.
pub(super) const UNDONE: f64 = 1e-7;

/// Below this many blocks a second thread costs more than it gives.
const WORTH_THREADS: usize = 3000 / WIDTH;

/// Blocks a thread works on at a time.
const TASK: usize = 32;

/// How a pose is solved.
#[derive(Clone, Copy, Debug)]
pub(super) struct Plan {
    pub(super) skinning: Skinning,
    /// The largest turn of a step, in radians.
    pub(super) most: f64,
    /// The volume of the piece, to measure errors by.
    pub(super) volume: f64,
}

/// What a member did.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct Done {
    /// The λ of largest size.
    pub(super) lambda: f64,
    /// Volume it gave back, as a share of the piece's.
    pub(super) restored: f64,
    pub(super) left: Option<Left>,
}

/// A moving member of a region.
#[derive(Clone, Copy, Debug)]
pub(super) struct Mover<'a> {
    pub(super) member: &'a Member,
    pub(super) motion: Motion,
    /// Which of the region's joints it is.
    pub(super) number: usize,
}

/// The vertices of a region, position and way out of the skeleton, seen from its origin.
pub(super) struct Work<'a> {
    pub(super) region: &'a Region,
    movers: &'a [Mover<'a>],
    plan: Plan,
    pub(super) run: Run<'a>,
    /// Of the vertices, the middles of rims and the joints, and one of zeros.
    pub(super) state: Vec<Block>,
    /// The same after the steps that were evaluated last, with shifts in place of the ways out.
    records: Vec<Block>,
    /// Steps that were decided on and are not in the state yet, with their λ.
    decided: Option<(Kernel<'a>, f64)>,
    /// Where the members' joints are.
    joints: Vec<DVec3>,
    /// What the last step left of the error, as a share of the piece's volume.
    off: f64,
}

/// Which movers take part in an evaluation, with how much of their correction.
struct Trial<'a> {
    steps: &'a [(usize, Step)],
    /// Correction that is in the positions already: λ for each mover.
    added: &'a [f64],
}

impl<'a> Work<'a> {
    pub(super) fn new(
        region: &'a Region,
        movers: &'a [Mover<'a>],
        plan: Plan,
        state: Vec<Block>,
        run: Run<'a>,
    ) -> Self {
        let threads = run.threads.filter(|_| state.len() >= WORTH_THREADS);
        let run = Run { threads, ..run };
        let records = vec![[[0.0; WIDTH]; 6]; state.len()];
        let mut joints = vec![DVec3::ZERO; region.members.len()];
        for mover in movers {
            joints[mover.number] = mover.motion.from;
        }
        Self { region, movers, plan, run, state, records, decided: None, joints, off: 0.0 }
    }

    /// Carries out all motions. Those of several bones go side by side.
    pub(super) fn solve(&mut self) -> Vec<Done> {
        let mut done = vec![Done::default(); self.movers.len()];
        self.stretch();
        let steps = |m: &Mover<'_>| m.motion.steps(self.plan.most);
        let most = self.movers.iter().map(steps).max().unwrap_or(0);
        if most == 0 {
            return done;
        }
        let target = self.volume();
        for k in 0..most {
            let taking = |i: usize| k < self.movers[i].motion.steps(self.plan.most);
            let step = |i: usize| (i, self.movers[i].motion.step(k, self.plan.most));
            let steps: Vec<_> = (0..self.movers.len()).filter(|&i| taking(i)).map(step).collect();
            self.step(&steps, target, &mut done);
        }
        self.settle();
        for d in &mut done {
            // The error of a region belongs to those who could not mend theirs.
            d.left = d.left.filter(|_| self.off.abs() > UNDONE);
        }
        done
    }

    /// Scale is the artist's: what it does to the volume stays.
    fn stretch(&mut self) {
        let step = |(i, m): (usize, &Mover<'_>)| m.motion.stretch_step().map(|s| (i, s));
        let steps: Vec<_> = self.movers.iter().enumerate().filter_map(step).collect();
        if !steps.is_empty() {
            let linear = Plan { skinning: Skinning::Linear, ..self.plan };
            let plan = std::mem::replace(&mut self.plan, linear);
            let trial = Trial { steps: &steps, added: &[] };
            self.evaluate(&trial);
            self.decide(&trial, 0.0);
            self.settle();
            self.plan = plan;
        }
    }

    /// One step of some movers, corrected: each by its own λ, then what overlaps by one for all.
    fn step(&mut self, steps: &[(usize, Step)], target: f64, done: &mut [Done]) {
        let mut added = vec![0.0; self.movers.len()];
        if let [_, _, ..] = steps {
            let before = self.volume();
            for one in steps {
                let trial = Trial { steps: std::slice::from_ref(one), added: &[] };
                let sums = self.evaluate(&trial);
                added[one.0] = self.root(sums, before, std::slice::from_ref(one)).unwrap_or(0.0);
            }
        }
        let trial = Trial { steps, added: &added };
        let sums = self.evaluate(&trial);
        let common = self.root(sums, target, steps);
        let lambda = common.unwrap_or(0.0);
        let error = target - sums[0];
        let [_, c1, c2, c3] = sums;
        self.off = (lambda * (c1 + lambda * (c2 + lambda * c3)) - error) / self.plan.volume;
        self.decide(&trial, lambda);
        for &(i, _) in steps {
            let (d, mine) = (&mut done[i], added[i] + lambda);
            d.lambda = if mine.abs() > d.lambda.abs() { mine } else { d.lambda };
            d.restored += if common.is_ok() { error / self.plan.volume } else { 0.0 };
            d.left = common.err().or(d.left);
        }
    }

    /// The λ that brings the volume to the target.
    fn root(&self, sums: [f64; 4], target: f64, steps: &[(usize, Step)]) -> Result<f64, Left> {
        let [c0, c1, c2, c3] = sums;
        let scale = self.plan.volume.abs();
        if (c0 - target).abs() <= NO_ERROR * scale {
            return Ok(0.0);
        }
        let freedom = |s: &(usize, Step)| self.movers[s.0].member.most_freedom;
        let most = steps.iter().map(freedom).fold(0.0, f64::max);
        // In units in which no vertex moves farther than it is from its bone.
        let unit = 1.0 / most;
        let scaled = [c0 - target, c1 * unit, c2 * unit * unit, c3 * unit * unit * unit];
        let change = scaled[1].abs() + scaled[2].abs() + scaled[3].abs();
        if most == 0.0 || change.is_nan() || change <= NO_CHANGE * scale {
            return Err(Left::Immovable);
        }
        smallest_root(scaled).map(|x| x * unit).ok_or(Left::OutOfReach)
    }

    fn kernel(&self, trial: &Trial<'_>) -> Kernel<'a> {
        let blend = |&(i, step): &(usize, Step)| {
            let member = self.movers[i].member;
            let added = trial.added.get(i).copied().unwrap_or(0.0);
            Blend::new(&member.weights, &member.freedom, added, &step)
        };
        Kernel {
            blends: trial.steps.iter().map(blend).collect(),
            is_dual: self.plan.skinning == Skinning::DualQuaternion,
        }
    }

    /// The volume as it stands, up to a constant.
    fn volume(&mut self) -> f64 {
        self.settle();
        complete(&mut self.state, self.region, &self.joints);
        volume(&self.state, &self.region.pairs, &self.run)
    }

    /// Takes the steps on trial, into the records, and sums them up.
    fn evaluate(&mut self, trial: &Trial<'_>) -> [f64; 4] {
        let next = self.kernel(trial);
        self.pass(Some(&next));
        let mut joints = self.joints.clone();
        self.carry(trial, &mut joints);
        complete(&mut self.records, self.region, &joints);
        cubic(&self.records, &self.region.pairs, &self.run)
    }

    /// Decides on the steps that were evaluated last, with λ times their shifts.
    fn decide(&mut self, trial: &Trial<'_>, lambda: f64) {
        self.decided = Some((self.kernel(trial), lambda));
        let mut joints = std::mem::take(&mut self.joints);
        self.carry(trial, &mut joints);
        self.joints = joints;
    }

    /// Moves the joints as the steps say.
    fn carry(&self, trial: &Trial<'_>, joints: &mut [DVec3]) {
        for (i, step) in trial.steps {
            joints[self.movers[*i].number] = step.to;
        }
    }

    /// Brings the state up to what was decided.
    fn settle(&mut self) {
        if self.decided.is_some() {
            self.pass(None);
        }
    }

    /// One pass over the vertices: what was decided for good, then the next steps on trial.
    fn pass(&mut self, next: Option<&Kernel<'_>>) {
        let decided = self.decided.take();
        let blocks = self.region.vertices.len().div_ceil(WIDTH);
        let states = self.state[..blocks].chunks_mut(TASK);
        let mut tasks: Vec<_> = states.zip(self.records[..blocks].chunks_mut(TASK)).collect();
        let arch = pulp::Arch::new();
        self.run.for_each_piece(&mut tasks, 1, |task, tasks| {
            let start = task * TASK;
            for (state, records) in tasks {
                if let Some((kernel, lambda)) = &decided {
                    arch.dispatch(Advance { kernel, start, records, lambda: *lambda, state });
                }
                if let Some(kernel) = next {
                    arch.dispatch(Fill { kernel, start, state, records });
                }
            }
        });
    }
}

/// Puts what comes after the vertices into the blocks: middles of rims, joints, and zeros.
fn complete(blocks: &mut [Block], region: &Region, joints: &[DVec3]) {
    let mut place = region.vertices.len();
    for rim in &region.rims {
        let mean = mean(blocks, rim);
        set_record(blocks, place, mean);
        place += 1;
    }
    for joint in joints {
        let [x, y, z] = joint.to_array();
        set_record(blocks, place, [x, y, z, 0.0, 0.0, 0.0]);
        place += 1;
    }
    set_record(blocks, place, [0.0; 6]);
}

/// The mean of some records.
pub(super) fn mean(blocks: &[Block], rim: &[u32]) -> Record {
    let mut sum = [0.0; 6];
    for &v in rim {
        sum.iter_mut().zip(record(blocks, v as usize)).for_each(|(s, x)| *s += x);
    }
    sum.map(|x| x / rim.len() as f64)
}
