//! Ticks and frames: when things happen.
//!
//! ```
//! use supple::player::Clock;
//!
//! let (film, video) = (Clock { start: 0.0, fps: 24.0 }, Clock { start: 0.0, fps: 30.0 });
//! assert_eq!(film.frame(8), video.frame(10)); // both a third of a second: tick 40
//! assert!(!Clock { start: 0.0, fps: 25.0 }.frame(1).on_tick);
//! ```

pub use crate::modifier::TICKS_PER_SECOND;

/// A frame is on a tick if it is no farther from it than this, in ticks.
const ON_TICK: f64 = 1e-6;

/// When ticks and frames are due.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Clock {
    /// Time of the scene at tick 0 and frame 0, in seconds.
    pub start: f64,
    /// Frames a second.
    pub fps: f64,
}

/// A time and the last tick that is not after it.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct When {
    /// Time of the scene, in seconds.
    pub secs: f64,
    /// The last tick.
    pub tick: u64,
    /// Whether the time is the tick's own.
    pub on_tick: bool,
}

impl Clock {
    /// The time of a tick, in seconds.
    #[must_use]
    pub fn tick_secs(&self, tick: u64) -> f64 {
        self.start + tick as f64 / f64::from(TICKS_PER_SECOND)
    }

    /// When a frame is due.
    #[must_use]
    pub fn frame(&self, i: u32) -> When {
        let i = f64::from(i);
        // One rounding each: frames of different rates at one time get the same numbers.
        self.when(i * f64::from(TICKS_PER_SECOND) / self.fps, self.start + i / self.fps)
    }

    /// The tick of a time; times before the start count as the start.
    #[must_use]
    pub fn time(&self, secs: f64) -> When {
        let since = (secs - self.start).max(0.0);
        self.when(since * f64::from(TICKS_PER_SECOND), self.start + since)
    }

    fn when(&self, ticks: f64, secs: f64) -> When {
        // A billion seconds is long enough.
        let ticks = ticks.clamp(0.0, 1.2e11);
        let nearest = ticks.round();
        if (ticks - nearest).abs() <= ON_TICK {
            let tick = nearest as u64;
            return When { secs: self.tick_secs(tick), tick, on_tick: true };
        }
        When { secs, tick: ticks.floor() as u64, on_tick: false }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn common_frame_rates_fall_on_ticks() {
        for fps in [24.0, 30.0, 60.0, 120.0, 12.0, 40.0] {
            for i in [0, 1, 7, 1000, 123_457] {
                let when = Clock { start: 0.25, fps }.frame(i);
                assert!(when.on_tick, "{fps} fps, frame {i}");
                assert_eq!(when.tick, u64::from(i) * 120 / fps as u64, "{fps} fps, frame {i}");
            }
        }
    }

    #[test]
    fn other_rates_agree_where_they_meet() {
        let (slow, fast) = (Clock { start: 0.1, fps: 25.0 }, Clock { start: 0.1, fps: 50.0 });
        for i in 0..500 {
            assert_eq!(slow.frame(i), fast.frame(2 * i), "frame {i}");
        }
        let ntsc = Clock { start: 0.0, fps: 24_000.0 / 1001.0 };
        assert!(ntsc.frame(1).tick == 5 && !ntsc.frame(1).on_tick, "between ticks 5 and 6");
    }
}
