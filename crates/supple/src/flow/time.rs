//! When the levels of a recording stand, and which two of them a stretch of time lies between.
//!
//! Between two levels velocity is linear in time; at a level it has a kink, across which a Runge–Kutta step loses its
//! order. So a stretch of time is cut at every level it crosses ([`Clock::pieces`]): two levels are all that is needed
//! at a time. Before the first and after the last level the nearest one holds, unless the record is a period that
//! repeats.

/// The times of the levels of a recording.
#[derive(Clone, Debug, PartialEq)]
pub struct Clock {
    times: Vec<f64>,
    period: Option<f64>,
}

/// What is wrong with the times of a recording.
#[derive(Clone, Debug, PartialEq, thiserror::Error)]
pub enum BadTimes {
    /// There is no level.
    #[error("a recording needs at least one level")]
    None,
    /// They do not grow.
    #[error("times must grow from level to level, but level {level} is at {time} after {before}")]
    Order {
        /// Which level.
        level: usize,
        /// Its time.
        time: f64,
        /// The time of the level before.
        before: f64,
    },
}

/// A stretch of time between two levels.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Piece {
    /// The levels; twice the same one outside the record.
    pub levels: [usize; 2],
    /// When these levels stand, on the clock that runs on.
    pub times: [f64; 2],
    /// Where the stretch begins and ends; backwards if the end is earlier.
    pub from: f64,
    /// See `from`.
    pub to: f64,
}

/// Stretches shorter than this share of a record are rounding.
const ROUNDING: f64 = 1e-12;

impl Clock {
    /// A clock of levels at growing times.
    ///
    /// # Errors
    ///
    /// [`BadTimes`] if there is none, or a time is not later than the one before.
    pub fn new(times: Vec<f64>) -> Result<Self, BadTimes> {
        if times.is_empty() {
            return Err(BadTimes::None);
        }
        let rises = |i: usize| times[i].is_finite() && (i == 0 || times[i] > times[i - 1]);
        if let Some(level) = (0..times.len()).find(|&i| !rises(i)) {
            let before = level.checked_sub(1).map_or(f64::NAN, |i| times[i]);
            return Err(BadTimes::Order { level, time: times[level], before });
        }
        Ok(Self { times, period: None })
    }

    /// The same levels over and over: the last is followed by the first, one mean spacing later.
    #[must_use]
    pub fn looped(mut self) -> Self {
        let gaps = self.times.len() - 1;
        let [first, last] = self.span();
        self.period = (gaps > 0).then(|| (last - first) * (1.0 + 1.0 / gaps as f64));
        self
    }

    /// Times of the levels.
    #[must_use]
    pub fn times(&self) -> &[f64] {
        &self.times
    }

    /// The first and the last time.
    #[must_use]
    pub fn span(&self) -> [f64; 2] {
        [self.times[0], self.times[self.times.len() - 1]]
    }

    /// The stretch from one time to another, cut at levels.
    #[must_use]
    pub fn pieces(&self, from: f64, to: f64) -> Vec<Piece> {
        let mut pieces = Vec::new();
        let mut at = from;
        let forward = to >= from;
        let rounding = ROUNDING * (from.abs() + to.abs() + self.times[self.times.len() - 1].abs());
        loop {
            let mut piece = self.interval(at, forward, rounding);
            let end = if forward { piece.times[1].min(to) } else { piece.times[0].max(to) };
            piece.from = at;
            piece.to = if (end - to).abs() <= rounding { to } else { end };
            at = piece.to;
            pieces.push(piece);
            // What is not a number ends the loop, too.
            let goes_on = if forward { at < to } else { at > to };
            if !goes_on || pieces.len() > self.most_pieces(from, to) {
                return pieces;
            }
        }
    }

    /// Intervals there can be in a stretch.
    fn most_pieces(&self, from: f64, to: f64) -> usize {
        let turns = self.period.map_or(1.0, |period| 2.0 + ((to - from) / period).abs());
        (turns * (self.times.len() + 2) as f64) as usize
    }

    /// The interval a moment lies in; at a level, the one that follows in the direction of time.
    fn interval(&self, at: f64, forward: bool, rounding: f64) -> Piece {
        let [first, last] = self.span();
        let base = self.period.map_or(0.0, |p| {
            let ahead = if forward { rounding } else { -rounding };
            p * ((at - first + ahead) / p).floor()
        });
        let t = at - base;
        let n = self.times.len();
        let after = if forward {
            self.times.partition_point(|&level| level <= t + rounding)
        } else {
            self.times.partition_point(|&level| level < t - rounding)
        };
        let (levels, times) = match (after, self.period) {
            (0, _) => ([0, 0], [f64::NEG_INFINITY, first]),
            (k, None) if k == n => ([n - 1, n - 1], [last, f64::INFINITY]),
            (k, Some(p)) if k == n => ([n - 1, 0], [last, first + p]),
            (k, _) => ([k - 1, k], [self.times[k - 1], self.times[k]]),
        };
        Piece { levels, times: times.map(|t| base + t), from: at, to: at }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn ends(pieces: &[Piece]) -> Vec<([usize; 2], f64, f64)> {
        pieces.iter().map(|p| (p.levels, p.from, p.to)).collect()
    }

    #[test]
    fn a_stretch_is_cut_at_every_level_both_ways() {
        let clock = Clock::new(vec![0.0, 1.0, 3.0]).unwrap();
        let forward =
            [([0, 0], -0.5, 0.0), ([0, 1], 0.0, 1.0), ([1, 2], 1.0, 3.0), ([2, 2], 3.0, 4.0)];
        assert_eq!(ends(&clock.pieces(-0.5, 4.0)), forward);
        let backward =
            [([2, 2], 4.0, 3.0), ([1, 2], 3.0, 1.0), ([0, 1], 1.0, 0.0), ([0, 0], 0.0, -0.5)];
        assert_eq!(ends(&clock.pieces(4.0, -0.5)), backward);
        assert_eq!(ends(&clock.pieces(0.25, 0.5)), [([0, 1], 0.25, 0.5)]);
        assert_eq!(ends(&clock.pieces(1.0, 1.0)), [([1, 2], 1.0, 1.0)]);
    }

    #[test]
    fn a_period_goes_on() {
        let clock = Clock::new(vec![0.0, 1.0, 2.0]).unwrap().looped();
        let pieces = clock.pieces(1.5, 4.5);
        assert_eq!(
            ends(&pieces),
            [([1, 2], 1.5, 2.0), ([2, 0], 2.0, 3.0), ([0, 1], 3.0, 4.0), ([1, 2], 4.0, 4.5)]
        );
        assert_eq!(pieces[1].times, [2.0, 3.0]);
        let back = clock.pieces(3.25, 1.75);
        assert_eq!(ends(&back), [([0, 1], 3.25, 3.0), ([2, 0], 3.0, 2.0), ([1, 2], 2.0, 1.75)]);
    }

    /// Rounding of sums of steps must make no piece of nothing.
    #[test]
    fn steps_that_add_up_meet_the_levels() {
        let clock = Clock::new((0..41).map(|i| 0.25 * f64::from(i)).collect()).unwrap();
        let mut t = 0.0;
        for _ in 0..100 {
            for piece in clock.pieces(t, t + 0.1) {
                assert!(piece.to - piece.from > 1e-3, "{piece:?}");
            }
            t += 0.1;
        }
    }

    #[test]
    fn times_that_do_not_grow_are_refused() {
        assert_eq!(Clock::new(vec![]), Err(BadTimes::None));
        assert!(Clock::new(vec![0.0, f64::NAN]).is_err(), "not a number");
        let told = Clock::new(vec![0.0, 2.0, 2.0]).unwrap_err().to_string();
        assert!(told.contains("level 2 is at 2 after 2"), "{told}");
    }
}
