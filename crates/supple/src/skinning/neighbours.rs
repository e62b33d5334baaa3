//! Which frames of corrected skinning are neighbours in time.
//!
//! What retreats does so smoothly over frames 1/24 s apart, whatever the rate of the scene: frames of different
//! rates at one time then have the same bits. The ticks between make five takes that know nothing of each other.
//! Frames that are on no tick (25 a second) are a take of their own at their own rate. Before the scene begins and after it ends there are no
//! neighbours, and a scene of one frame is no take.

use super::Memo;
use crate::modifier::TICKS_PER_SECOND;

/// Ticks from a frame to its neighbours: 1/24 s.
const STEP: u32 = TICKS_PER_SECOND / 24;

/// How far from a tick, in ticks, a time still is the tick's.
const ON_TICK: f64 = 1e-6;

/// What is known of the takes of one body.
#[derive(Debug)]
pub(super) struct Takes {
    start: f64,
    end: f64,
    fps: f64,
    /// One for each tick of a step, then that of frames on no tick.
    memos: [Memo; STEP as usize + 1],
}

/// A frame of one of the takes.
#[derive(Clone, Copy, Debug)]
pub(super) struct Place<'a> {
    pub(super) memo: &'a Memo,
    pub(super) number: i64,
    first: f64,
    step: f64,
}

impl Takes {
    pub(super) fn new([start, end]: [f64; 2], fps: f64) -> Self {
        Self { start, end, fps, memos: Default::default() }
    }

    /// Whether there are frames that follow each other.
    pub(super) fn is_take(&self) -> bool {
        (self.end - self.start) * self.fps > 1.0 - ON_TICK
    }

    /// Whether a time is in the scene.
    pub(super) fn has(&self, secs: f64) -> bool {
        let beyond = ON_TICK / f64::from(TICKS_PER_SECOND);
        (self.start - beyond..=self.end + beyond).contains(&secs)
    }

    /// Where a time is.
    pub(super) fn place(&self, secs: f64) -> Place<'_> {
        let rate = f64::from(TICKS_PER_SECOND);
        let ticks = (secs - self.start) * rate;
        if (ticks - ticks.round()).abs() > ON_TICK {
            let number = ((secs - self.start) * self.fps).round();
            let (step, number) = (self.fps.recip(), number as i64);
            let first = secs - number as f64 * step;
            return Place { memo: &self.memos[STEP as usize], number, first, step };
        }
        let tick = ticks.round() as i64;
        let residue = tick.rem_euclid(i64::from(STEP));
        Place {
            memo: &self.memos[residue as usize],
            number: tick.div_euclid(i64::from(STEP)),
            first: self.start + residue as f64 / rate,
            step: f64::from(STEP) / rate,
        }
    }
}

impl Place<'_> {
    /// The time of a frame of the same take.
    pub(super) fn secs(&self, number: i64) -> f64 {
        self.first + number as f64 * self.step
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn frames_of_all_rates_at_one_time_have_the_same_neighbours() {
        let (film, video) = (Takes::new([0.25, 3.0], 24.0), Takes::new([0.25, 3.0], 60.0));
        for k in 0..20 {
            let secs = 0.25 + f64::from(k) / 12.0;
            let (one, two) = (film.place(secs), video.place(secs));
            assert_eq!(one.number, two.number, "at {secs}");
            for near in [-1, 0, 1] {
                let number = one.number + near;
                assert!(
                    (one.secs(number) - secs - f64::from(near as i32) / 24.0).abs() < 1e-9,
                    "{secs}"
                );
                assert_eq!(one.secs(number), two.secs(number), "at {secs}");
            }
        }
    }

    #[test]
    fn a_scene_has_an_end_and_may_be_one_frame() {
        let takes = Takes::new([0.5, 1.0], 24.0);
        assert!(takes.is_take() && takes.has(0.5) && takes.has(1.0));
        assert!(!takes.has(0.5 - 1.0 / 24.0) && !takes.has(1.0 + 1.0 / 24.0));
        assert!(!Takes::new([0.5, 0.5], 24.0).is_take());
    }

    #[test]
    fn frames_between_ticks_follow_each_other_at_their_own_rate() {
        let takes = Takes::new([0.0, 1.0], 25.0);
        let place = takes.place(7.0 / 25.0);
        assert_eq!(place.number, 7);
        assert!((place.secs(8) - 8.0 / 25.0).abs() < 1e-12, "the next frame");
    }
}
