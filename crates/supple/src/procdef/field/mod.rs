//! Fields from a few painted values: layers, directions, amplitude, phase.
//!
//! In *space* ([`space`]) a field is smooth across everything, also across the gap between two limbs; in the *body*
//! ([`inside`]) it follows the tissue. Phase painted on the two ends of an S-shaped bowel comes out as arc length in the
//! body and as nonsense in space; sixty scattered points on a bar are met five times as well in space. So phase and
//! amplitude are interpolated in the body by default, layers and directions in space.

mod dense;
pub mod inside;
pub mod space;

use glam::DVec3;

/// A place where a field is known.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Known<const D: usize> {
    /// Where.
    pub at: DVec3,
    /// What the field is there.
    pub value: [f64; D],
}

/// What was done about constraints that say the same or the contrary.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct Merged {
    /// Constraints at the place of another one.
    pub merged: usize,
    /// The largest difference between two values at one place; their mean is taken.
    pub contradiction: f64,
}

/// Merges what is known at one place (closer than a millionth of the extent), in the order of the places.
pub(super) fn merge<const D: usize>(known: &[Known<D>]) -> (Vec<Known<D>>, Merged) {
    let low = known.iter().map(|k| k.at).fold(DVec3::INFINITY, DVec3::min);
    let high = known.iter().map(|k| k.at).fold(DVec3::NEG_INFINITY, DVec3::max);
    let cell = 1e-6 * (high - low).max_element().max(f64::MIN_POSITIVE);
    let key = |k: &Known<D>| ((k.at - low) / cell).round().to_array().map(|e| e as i64);
    let mut sorted: Vec<([i64; 3], usize)> =
        known.iter().map(key).enumerate().map(|(i, k)| (k, i)).collect();
    sorted.sort_unstable();
    let mut report = Merged::default();
    let mut out: Vec<(usize, Known<D>)> = Vec::new();
    for group in sorted.chunk_by(|a, b| a.0 == b.0) {
        let first = known[group[0].1];
        let mut value = [0.0; D];
        for other in group.iter().map(|(_, i)| known[*i].value) {
            for (sum, (other, first)) in value.iter_mut().zip(other.into_iter().zip(first.value)) {
                *sum += other / group.len() as f64;
                report.contradiction = report.contradiction.max((other - first).abs());
            }
        }
        report.merged += group.len() - 1;
        out.push((group[0].1, Known { at: first.at, value }));
    }
    out.sort_unstable_by_key(|(i, _)| *i);
    (out.into_iter().map(|(_, k)| k).collect(), report)
}
