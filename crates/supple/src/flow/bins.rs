//! Which boxes may hold a place: equal bins over the box around all of them.

/// Boxes by the bins they touch.
#[derive(Clone, Debug)]
pub(super) struct Bins {
    low: [f64; 3],
    density: [f64; 3],
    count: [usize; 3],
    first: Vec<u32>,
    boxes: Vec<u32>,
}

/// A box: its lowest and its highest corner.
pub(super) type Box3 = [[f64; 3]; 2];

/// Bins at most.
const MOST_BINS: f64 = (1 << 24) as f64;

/// Entries a box has on average at most; beyond, bins are made coarser.
const MOST_ENTRIES: usize = 12;

impl Bins {
    /// Sorts boxes into about as many bins; those that are not finite go into none.
    pub(super) fn new(boxes: &[Box3]) -> Self {
        let finite = |b: &&Box3| b.as_flattened().iter().all(|x| x.is_finite());
        let mut low = [f64::INFINITY; 3];
        let mut high = [f64::NEG_INFINITY; 3];
        let mut extents = [0.0; 3];
        let mut finite_boxes = 0.0;
        for b in boxes.iter().filter(finite) {
            finite_boxes += 1.0;
            for a in 0..3 {
                low[a] = low[a].min(b[0][a]);
                high[a] = high[a].max(b[1][a]);
                extents[a] += b[1][a] - b[0][a];
            }
        }
        let size = [0, 1, 2].map(|a| (high[a] - low[a]).max(0.0));
        let most = size.iter().fold(0.0_f64, |m, &s| m.max(s));
        // In boxes, not in lengths: an ocean is degrees wide and metres deep.
        let boxes_along = [0, 1, 2].map(|a| {
            let typical = extents[a] / finite_boxes;
            if typical > 0.0 { size[a] / typical } else { 1.0 }
        });
        let mut wanted = (boxes.len() as f64).clamp(1.0, MOST_BINS);
        loop {
            // Flat directions have one bin; the others share the number in proportion.
            let wide: Vec<usize> = (0..3).filter(|&a| size[a] > 1e-6 * most).collect();
            let volume: f64 = wide.iter().map(|&a| boxes_along[a]).product();
            let edge = (volume / wanted).powf(1.0 / wide.len().max(1) as f64);
            let count = [0, 1, 2].map(|a| {
                if wide.contains(&a) {
                    (boxes_along[a] / edge).ceil().clamp(1.0, 4096.0) as usize
                } else {
                    1
                }
            });
            let density =
                [0, 1, 2].map(|a| if size[a] > 0.0 { count[a] as f64 / size[a] } else { 0.0 });
            let mut bins = Self { low, density, count, first: Vec::new(), boxes: Vec::new() };
            let entries = boxes
                .iter()
                .filter(finite)
                .map(|b| bins.touched(b))
                .map(|r| r.iter().map(|[a, b]| b - a + 1).product::<usize>());
            let entries = entries.fold(0, usize::saturating_add);
            if entries <= MOST_ENTRIES * boxes.len().max(1) || wanted <= 1.0 {
                bins.fill(boxes);
                return bins;
            }
            wanted = (wanted * 0.25).max(1.0);
        }
    }

    fn touched(&self, b: &Box3) -> [[usize; 2]; 3] {
        [0, 1, 2].map(|a| [0, 1].map(|end| self.along(a, b[end][a])))
    }

    #[inline(always)]
    fn along(&self, a: usize, x: f64) -> usize {
        (((x - self.low[a]) * self.density[a]) as usize).min(self.count[a] - 1)
    }

    fn each(&self, b: &Box3, mut f: impl FnMut(usize)) {
        let [x, y, z] = self.touched(b);
        for k in z[0]..=z[1] {
            for j in y[0]..=y[1] {
                let row = (k * self.count[1] + j) * self.count[0];
                (x[0]..=x[1]).for_each(|i| f(row + i));
            }
        }
    }

    fn fill(&mut self, boxes: &[Box3]) {
        let finite = |b: &Box3| b.as_flattened().iter().all(|x| x.is_finite());
        let bins: usize = self.count.iter().product();
        let mut first = vec![0_u32; bins + 1];
        for b in boxes.iter().filter(|b| finite(b)) {
            self.each(b, |bin| first[bin + 1] += 1);
        }
        for bin in 0..bins {
            first[bin + 1] += first[bin];
        }
        let mut next = first.clone();
        let mut entries = vec![0_u32; first[bins] as usize];
        for (k, b) in boxes.iter().enumerate().filter(|(_, b)| finite(b)) {
            self.each(b, |bin| {
                entries[next[bin] as usize] = k as u32;
                next[bin] += 1;
            });
        }
        (self.first, self.boxes) = (first, entries);
    }

    /// The boxes that may hold a place.
    pub(super) fn at(&self, x: [f64; 3]) -> &[u32] {
        // A place beyond the ends falls into the bins there, whose boxes do not hold it.
        let [i, j, k] = [0, 1, 2].map(|a| self.along(a, x[a]));
        let bin = (k * self.count[1] + j) * self.count[0] + i;
        match (self.first.get(bin), self.first.get(bin + 1)) {
            (Some(&a), Some(&b)) => &self.boxes[a as usize..b as usize],
            _ => &[],
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Bins as long as they are deep put all of an ocean into a few: places on land took seconds to be found nowhere.
    #[test]
    fn degrees_and_metres_share_bins_by_their_boxes() {
        let box_at = |i: u32| {
            let [x, y, z] = [i % 30, i / 30 % 20, i / 600].map(f64::from);
            [
                [0.05 * x, 0.05 * y, -100.0 * z - 100.0],
                [0.05 * x + 0.05, 0.05 * y + 0.05, -100.0 * z],
            ]
        };
        let boxes: Vec<Box3> = (0..30 * 20 * 35).map(box_at).collect();
        let bins = Bins::new(&boxes);
        let most = (0..1000).map(|k| {
            let share = |by: f64| (f64::from(k) * by).fract();
            bins.at([1.5 * share(0.754_877), share(0.569_84), -3500.0 * share(0.618_034)]).len()
        });
        assert!(most.max() < Some(30), "few boxes a bin");
    }

    #[test]
    fn every_box_is_found_where_it_is() {
        let mut state = 3_u64;
        let mut random = || {
            state = state.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1);
            (state >> 11) as f64 / (1_u64 << 53) as f64
        };
        let boxes: Vec<Box3> = (0..500)
            .map(|k| {
                let low = [random(), random(), if k % 2 == 0 { random() } else { 0.5 }];
                [low, low.map(|x| x + 0.3 * 0.01_f64.powi(k % 3))]
            })
            .chain([[[f64::NAN; 3]; 2]])
            .collect();
        let bins = Bins::new(&boxes);
        for (k, [low, high]) in boxes[..500].iter().enumerate() {
            let inside = [0, 1, 2].map(|a| low[a] + random() * (high[a] - low[a]));
            assert!(bins.at(inside).contains(&(k as u32)), "box {k}");
        }
        assert!(bins.at([f64::NAN; 3]).len() < 500, "any place has an answer");
        assert!(Bins::new(&[]).at([0.0; 3]).is_empty());
    }
}
