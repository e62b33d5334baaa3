//! Poses that follow each other: what retreats does so smoothly in time.
//!
//! A frame that retreats by itself pops. So the α of a frame become the mean over its neighbours of the least over
//! theirs, which is never more than its own; then λ is found anew and the frame retreats again; four times. Where the
//! displacement changes course too fast (a limb that is thrown), α is lowered first, in that frame and its
//! neighbours. A frame so depends on sixteen before and after it and on nothing else: any frame of a take can be asked
//! for, in any order, with the same bits. What lies between two frames is drawn back as far as lies between theirs; a
//! take that goes round has its last frames before its first.

use std::borrow::Cow;
use std::collections::BTreeMap;
use std::sync::{Arc, Mutex, PoisonError};

use glam::{DVec3, Mat4, Vec3};

use super::super::Report;
use super::frame::{Frame, Posing};
use super::harm::{Cause, Guard};
use super::lambda::{self, Displacement};
use super::{AGAIN, FIRST, Outcome, Skin};
use crate::Run;
use crate::lengths::Lengths as _;
use crate::rig::{Body, Skinning};
use crate::run::Cancelled;

/// How often α is smoothed over time.
const PASSES: u8 = 4;

/// Frames before and after the one asked for whose α are worth keeping.
const KEPT: i64 = 40;

/// The largest second difference of the displacement, as a share of the body's size. A little less than the 0.02 that is
/// promised, since the last retreat and the last λ come after it.
const COURSE: f32 = 0.016;

/// A pose in a take.
#[derive(Clone, Debug)]
pub struct Instant<'a> {
    /// Where the vertices are bound, morphed.
    pub bound: Cow<'a, [Vec3]>,
    /// A matrix for each joint.
    pub matrices: Vec<Mat4>,
}

/// The poses of a take by their numbers; `None` before the first and after the last.
pub type Instants<'a> = &'a (dyn Fn(i64) -> Option<Instant<'a>> + Sync);

/// A frame after a pass.
#[derive(Debug)]
struct Passed {
    alpha: Vec<f32>,
    causes: Vec<Cause>,
    /// How far the vertices are displaced, for a body of size one.
    by: Vec<Vec3>,
}

/// Frames after passes.
type Passes = BTreeMap<(i64, u8), Arc<Passed>>;

/// What is known of a take; empty in the beginning.
#[derive(Debug, Default)]
pub struct Memo {
    passes: Mutex<Passes>,
    /// λ of what is done, and the α that are not one, by frame and by the bits of the part of the way to the next.
    done: Mutex<BTreeMap<(i64, u64), Arc<Done>>>,
    /// After how many frames the take is where it was, if it goes round.
    round: Option<i64>,
}

impl Memo {
    /// That of a take that is where it was after so many frames, if it goes round.
    #[must_use]
    pub fn of_round(frames: Option<i64>) -> Self {
        Self { round: frames.filter(|n| *n > 0), ..Self::default() }
    }

    /// The first frame that is the same as this one.
    fn same(&self, number: i64) -> i64 {
        self.round.map_or(number, |n| number.rem_euclid(n))
    }

    /// Forgets what is far from a frame.
    fn keep_near(&self, number: i64) {
        let far = |a: i64| {
            let away = (a - self.same(number)).abs();
            self.round.map_or(away, |n| away.min(n - away))
        };
        locked(&self.passes).retain(|key, _| far(key.0) <= KEPT);
    }
}

#[derive(Debug)]
struct Done {
    lambda: Vec<f64>,
    alpha: Vec<(u32, f32)>,
    report: Report,
}

/// A take in the course of being asked for a frame.
pub(in super::super) struct Taking<'s, 'a> {
    pub(in super::super) skin: &'s Skin,
    pub(in super::super) body: &'a Body,
    pub(in super::super) skinning: Skinning,
    pub(in super::super) instants: Instants<'a>,
    pub(in super::super) memo: &'a Memo,
}

fn locked<T>(mutex: &Mutex<T>) -> std::sync::MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}

impl Taking<'_, '_> {
    /// What lies after frame `number` by a part of the way to the next, bound and moved as given.
    pub(in super::super) fn frame(
        &self,
        (number, part): (i64, f64),
        instant: &Instant<'_>,
        run: &Run<'_>,
    ) -> Result<(Vec<Vec3>, Report), Cancelled> {
        let frame = self.posed(instant, run);
        if frame.is_still() {
            let report = self.skin.report(&frame, None, run);
            return Ok((frame.plain, report));
        }
        let key = (number, part.to_bits());
        let known = locked(&self.memo.done).get(&key).cloned();
        if let Some(done) = known.filter(|d| d.lambda.len() == frame.turned.len()) {
            let mut alpha = vec![1.0; self.skin.welded.len()];
            done.alpha.iter().for_each(|&(v, a)| alpha[v as usize] = a);
            let displacement = Displacement::new(self.skin, &frame, done.lambda.clone());
            let positions = self.skin.place(&frame, &alpha, &displacement.whole, run);
            return Ok((positions, done.report.clone()));
        }
        let drawn = self.drawn((number, part), run)?;
        let mut outcome = self.again(&frame, drawn, false, run)?;
        lambda::returned(self.skin, &frame, &outcome.alpha, &mut outcome.displacement, run);
        let report = self.skin.report(&frame, Some(&outcome), run);
        let some = (0..).zip(&outcome.alpha).filter(|a| *a.1 < 1.0).map(|(v, a)| (v, *a));
        let done = Done {
            lambda: outcome.displacement.lambda,
            alpha: some.collect(),
            report: report.clone(),
        };
        locked(&self.memo.done).insert(key, Arc::new(done));
        self.memo.keep_near(number);
        Ok((outcome.positions, report))
    }

    /// How far the neighbours draw a frame back, or what lies between two.
    fn drawn(
        &self,
        (number, part): (i64, f64),
        run: &Run<'_>,
    ) -> Result<(Vec<f32>, Vec<Cause>), Cancelled> {
        let (mut alpha, mut causes) = self.smoothed(number, PASSES - 1, run)?;
        if part > 0.0 && self.passed(number + 1, PASSES - 1, run)?.is_some() {
            let (next, why) = self.smoothed(number + 1, PASSES - 1, run)?;
            let part = part as f32;
            alpha.iter_mut().zip(next).for_each(|(a, b)| *a += part * (b - *a));
            causes.iter_mut().zip(why).for_each(|(a, b)| a.join(b));
        }
        Ok((alpha, causes))
    }

    fn posed(&self, instant: &Instant<'_>, run: &Run<'_>) -> Frame {
        let Instant { bound, matrices } = instant;
        let posing = Posing { body: self.body, bound, matrices, skinning: self.skinning };
        Frame::new(self.skin, &posing, run)
    }

    /// λ anew, then a retreat.
    fn again(
        &self,
        frame: &Frame,
        (alpha, causes): (Vec<f32>, Vec<Cause>),
        spreads: bool,
        run: &Run<'_>,
    ) -> Result<Outcome, Cancelled> {
        run.check()?;
        let mut guard = Guard::new(self.skin, frame, run);
        let start = vec![0.0; frame.turned.len()];
        let displacement = lambda::solve(self.skin, frame, &alpha, start, FIRST, run);
        let mut outcome = Outcome { alpha, causes, displacement, positions: Vec::new() };
        self.skin.retreat(&mut guard, frame, &mut outcome, spreads, run)?;
        Ok(outcome)
    }

    /// A frame after some passes; `None` beyond the ends of the take.
    fn passed(
        &self,
        number: i64,
        pass: u8,
        run: &Run<'_>,
    ) -> Result<Option<Arc<Passed>>, Cancelled> {
        let number = self.memo.same(number);
        if let Some(known) = locked(&self.memo.passes).get(&(number, pass)) {
            return Ok(Some(known.clone()));
        }
        let Some(instant) = (self.instants)(number) else { return Ok(None) };
        let drawn = if pass == 0 { None } else { Some(self.smoothed(number, pass - 1, run)?) };
        if let Some((alpha, _)) = &drawn
            && let Some(before) = self.passed(number, pass - 1, run)?
            && alpha.iter().chain(&before.alpha).all(|a| *a == 1.0)
        {
            // Nothing near by retreats: it would come out the same.
            locked(&self.memo.passes).insert((number, pass), before.clone());
            return Ok(Some(before));
        }
        let frame = self.posed(&instant, run);
        let passed = if frame.is_still() {
            let count = self.skin.welded.len();
            let causes = vec![Cause::default(); count];
            Passed { alpha: vec![1.0; count], causes, by: vec![Vec3::ZERO; count] }
        } else {
            let outcome = match drawn {
                None => self.first(&frame, run)?,
                Some(drawn) => self.again(&frame, drawn, true, run)?,
            };
            let size = (self.skin.extent * frame.scale).recip();
            let whole = &outcome.displacement.whole;
            let by = |(d, a): (&DVec3, &f32)| (f64::from(*a) * size * *d).as_vec3();
            let by = whole.iter().zip(&outcome.alpha).map(by).collect();
            Passed { alpha: outcome.alpha, causes: outcome.causes, by }
        };
        let passed = Arc::new(passed);
        locked(&self.memo.passes).insert((number, pass), passed.clone());
        Ok(Some(passed))
    }

    /// A frame by itself.
    fn first(&self, frame: &Frame, run: &Run<'_>) -> Result<Outcome, Cancelled> {
        let mut guard = Guard::new(self.skin, frame, run);
        let alpha = vec![1.0; self.skin.welded.len()];
        let causes = vec![Cause::default(); alpha.len()];
        let start = vec![0.0; frame.turned.len()];
        let displacement = lambda::solve(self.skin, frame, &alpha, start, FIRST, run);
        let mut outcome = Outcome { alpha, causes, displacement, positions: Vec::new() };
        if self.skin.retreat(&mut guard, frame, &mut outcome, true, run)? {
            let start = outcome.displacement.lambda.clone();
            outcome.displacement =
                lambda::solve(self.skin, frame, &outcome.alpha, start, AGAIN, run);
            self.skin.retreat(&mut guard, frame, &mut outcome, true, run)?;
        }
        Ok(outcome)
    }

    /// The mean over the neighbours in time of the least over theirs, and why the frame was drawn back so far.
    fn smoothed(
        &self,
        number: i64,
        pass: u8,
        run: &Run<'_>,
    ) -> Result<(Vec<f32>, Vec<Cause>), Cancelled> {
        let mut around = Vec::with_capacity(9);
        for k in -4..=4 {
            around.push(self.passed(number + k, pass, run)?);
        }
        let count = self.skin.welded.len();
        let own = around[4].as_ref().map(|p| p.causes.clone());
        let causes = own.unwrap_or_else(|| vec![Cause::default(); count]);
        Ok((run.map(count, |v| smoothed(&around, v)), causes))
    }
}

/// What becomes of a vertex in the middle of nine frames.
fn smoothed(around: &[Option<Arc<Passed>>], v: usize) -> f32 {
    // How much of the displacement may stay for its course not to change too fast in each frame.
    let mut stays = [1.0_f32; 9];
    for k in 1..8 {
        if let [Some(a), Some(b), Some(c)] = &around[k - 1..=k + 1] {
            let change = (a.by[v] - 2.0 * b.by[v] + c.by[v]).norm();
            stays[k] = if change > COURSE { COURSE / change } else { 1.0 };
        }
    }
    let alpha = |k: usize| {
        let least = stays[k - 1].min(stays[k]).min(stays[k + 1]);
        around[k].as_ref().map_or(1.0, |p| p.alpha[v] * least)
    };
    let (mut sum, mut count) = (0.0, 0.0);
    for (k, _) in around.iter().enumerate().skip(3).take(3).filter(|(_, p)| p.is_some()) {
        sum += alpha(k - 1).min(alpha(k)).min(alpha(k + 1));
        count += 1.0;
    }
    if count > 0.0 { sum / count } else { 1.0 }
}
