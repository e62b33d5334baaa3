//! Counting pairs of triangles in bounded time.

use super::Bvh;
use crate::Run;
use crate::run::Cancelled;

/// Tasks of a count between two looks at its bounds.
const COUNTED_AT_ONCE: usize = 32;

impl Bvh {
    /// How many pairs of triangles with overlapping boxes `keep` says yes to, and whether all were asked:
    /// counting ends soon after `most_kept` are found or `most_asked` were asked.
    pub(crate) fn count_pairs(
        &self,
        keep: &(dyn Fn(usize, usize) -> bool + Sync),
        [most_kept, most_asked]: [u64; 2],
        run: &Run<'_>,
    ) -> Result<(u64, bool), Cancelled> {
        let (mut kept, mut asked) = (0, 0);
        // A few tasks at a time, each within its share of the bounds: where counting ends does not depend
        // on how many threads there are.
        let share = most_asked.div_ceil(COUNTED_AT_ONCE as u64);
        for tasks in self.pair_tasks().chunks(COUNTED_AT_ONCE) {
            let counted = run.map_tasks(tasks.len(), |task| {
                run.check()?;
                Ok(self.count_below(tasks[task], keep, [most_kept, share], run))
            });
            let mut is_over = false;
            for counts in counted {
                let (more_kept, more_asked) = counts?;
                kept += more_kept;
                asked += more_asked;
                is_over |= more_asked > share;
            }
            run.check()?;
            if is_over || kept > most_kept || asked > most_asked {
                return Ok((kept.min(most_kept), false));
            }
        }
        Ok((kept, true))
    }

    /// How many pairs below a pair of subtrees are kept and asked about, until either bound is passed.
    fn count_below(
        &self,
        from: [usize; 2],
        keep: &(dyn Fn(usize, usize) -> bool + Sync),
        [most_kept, most_asked]: [u64; 2],
        run: &Run<'_>,
    ) -> (u64, u64) {
        let (mut kept, mut asked) = (0, 0);
        let mut stack = vec![from];
        while let Some(pair) = stack.pop() {
            if kept > most_kept || asked > most_asked || run.is_cancelled() {
                break;
            }
            if !self.open_pair(pair, &mut stack) {
                self.pairs_of_leaves(pair, &mut |i, j| {
                    asked += 1;
                    kept += u64::from(keep(i, j));
                });
            }
        }
        (kept, asked)
    }
}
