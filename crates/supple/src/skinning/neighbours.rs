//! Which moments of corrected skinning are neighbours in time.
//!
//! What retreats does so smoothly over moments 1/24 s apart, whatever the rate of the scene. Frames between two of
//! these retreat as far as the two say: those that follow each other belong together, and frames of different rates at
//! one time have the same bits. A motion that goes round is cut into whole steps, as near to 1/24 s as that allows, and has neighbours beyond the
//! ends of the scene: its last frame meets its first. Any other has none before the scene begins and after it ends. A
//! scene of one frame is no take.

use super::Memo;
use crate::modifier::TICKS_PER_SECOND;

/// Moments a second that retreat together.
const RATE: f64 = 24.0;

/// How far from a tick, in ticks, a time still is the tick's; from a moment, in steps, the moment's.
const ON_TICK: f64 = 1e-6;

/// The take of one body.
#[derive(Debug)]
pub(super) struct Takes {
    start: f64,
    end: f64,
    fps: f64,
    /// From a moment to the next, in seconds.
    step: f64,
    /// Whether the motion goes round and round.
    is_round: bool,
    /// What is known of it.
    pub(super) memo: Memo,
}

/// When a frame is: after a moment by a part of the step to the next.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(super) struct Place {
    pub(super) number: i64,
    pub(super) part: f64,
}

impl Takes {
    /// `morphs`: whether the body has morph targets, which may go their own way while the skeleton goes round.
    pub(super) fn new(
        [start, end]: [f64; 2],
        fps: f64,
        round_secs: Option<f64>,
        morphs: bool,
    ) -> Self {
        let rounds = round_secs.map(|secs| (secs * RATE).round().max(1.0));
        let step = match (round_secs, rounds) {
            (Some(secs), Some(count)) => secs / count,
            _ => RATE.recip(),
        };
        let memo = Memo::of_round(rounds.filter(|_| !morphs).map(|count| count as i64));
        Self { start, end, fps, step, is_round: rounds.is_some(), memo }
    }

    /// Whether there are frames that follow each other.
    pub(super) fn is_take(&self) -> bool {
        (self.end - self.start) * self.fps > 1.0 - ON_TICK
    }

    /// Whether a time is in the take.
    pub(super) fn has(&self, secs: f64) -> bool {
        let beyond = ON_TICK / f64::from(TICKS_PER_SECOND);
        self.is_round || (self.start - beyond..=self.end + beyond).contains(&secs)
    }

    /// Where a time is.
    pub(super) fn place(&self, secs: f64) -> Place {
        let rate = f64::from(TICKS_PER_SECOND);
        let ticks = (secs - self.start) * rate;
        let is_tick = (ticks - ticks.round()).abs() <= ON_TICK;
        let steps = if is_tick { ticks.round() } else { ticks } / (rate * self.step);
        let near = if (steps - steps.round()).abs() <= ON_TICK { steps.round() } else { steps };
        Place { number: near.floor() as i64, part: near - near.floor() }
    }

    /// The time of a moment.
    pub(super) fn secs(&self, number: i64) -> f64 {
        self.start + number as f64 * self.step
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn frames_of_all_rates_at_one_time_are_in_the_same_place() {
        let [film, video] = [24.0, 60.0].map(|fps| Takes::new([0.25, 3.0], fps, None, false));
        for k in 0..20 {
            let secs = 0.25 + f64::from(k) / 12.0;
            assert_eq!(film.place(secs), Place { number: 2 * i64::from(k), part: 0.0 });
            assert_eq!(film.place(secs), video.place(0.25 + f64::from(5 * k) / 60.0), "at {secs}");
            assert!((film.secs(2 * i64::from(k)) - secs).abs() < 1e-9, "{secs}");
        }
        let between = film.place(0.25 + 7.0 / 120.0);
        assert_eq!(between.number, 1);
        assert!((between.part - 0.4).abs() < 1e-12, "{between:?}");
    }

    #[test]
    fn a_scene_has_an_end_and_may_be_one_frame() {
        let takes = Takes::new([0.5, 1.0], 24.0, None, false);
        assert!(takes.is_take() && takes.has(0.5) && takes.has(1.0));
        assert!(!takes.has(0.5 - 1.0 / 24.0) && !takes.has(1.0 + 1.0 / 24.0));
        assert!(!Takes::new([0.5, 0.5], 24.0, None, false).is_take());
    }

    #[test]
    fn a_round_is_cut_into_whole_steps_and_has_no_end() {
        let takes = Takes::new([0.0, 2.0], 120.0, Some(139.0 / 120.0), false);
        assert_eq!(takes.place(139.0 / 120.0), Place { number: 28, part: 0.0 }, "28 steps");
        assert!((takes.step - 1.0 / 24.0).abs() < 1e-3 && takes.has(-1.0));
    }
}
