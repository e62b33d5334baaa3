//! A list of edits, carried out up to a point.
//!
//! # Method
//!
//! All edits take equally long. Those before the point are whole; the one at the point is cut: a tool or
//! a set of points goes a part of its way, by length; a stroke is less deep; a twist, a bend and a knob
//! turn or go less far; a curve is followed up to a time. What comes later is left out.
//!
//! # Limits
//!
//! A stroke that is cut is shallow along its whole length, not deep along a part of it.

use glam::Vec3;

use super::Op;
use crate::lengths::Lengths as _;

/// The edits up to `amount` of the whole list, from 0 (none) to 1 (the list as it is).
///
/// The shape depends continuously on the amount.
///
/// ```
/// use supple::sculpt::{Op, Twist, partial};
///
/// let twist = |degrees| Op::Twist(Twist { degrees, ..Twist::default() });
/// let log = [twist(90.0), twist(40.0)];
/// assert_eq!(partial(&log, 0.75), [twist(90.0), twist(20.0)]);
/// ```
#[must_use]
pub fn partial(ops: &[Op], amount: f64) -> Vec<Op> {
    let reached = amount.max(0.0) * ops.len() as f64;
    let whole = (reached as usize).min(ops.len());
    let mut done = ops[..whole].to_vec();
    let share = (reached - whole as f64) as f32;
    if let Some(op) = ops.get(whole)
        && share > 0.0
    {
        done.push(op.cut(share));
    }
    done
}

impl Op {
    /// The first part of an edit.
    pub(super) fn cut(&self, share: f32) -> Self {
        let mut op = self.clone();
        match &mut op {
            Self::Move(op) => op.by = cut_way(&op.by, share),
            Self::Points(op) => op.by = cut_way(&op.by, share),
            Self::Paint(op) => op.depth *= share,
            Self::Stamp(op) => op.by = cut_way(&op.by, share),
            Self::Twist(op) => op.degrees *= share,
            Self::Bend(op) => op.degrees *= share,
            Self::Boundary(op) => op.knob = op.knob.cut(share),
            Self::Curve(op) => op.until *= share,
        }
        op
    }
}

/// The legs of a way up to a share of its length.
fn cut_way(legs: &[Vec3], share: f32) -> Vec<Vec3> {
    let mut left = share * legs.iter().map(|leg| leg.norm()).sum::<f32>();
    let mut done = Vec::with_capacity(legs.len());
    for &leg in legs {
        let length = leg.norm();
        if length >= left {
            if length > 0.0 {
                done.push(leg * (left / length));
            }
            break;
        }
        done.push(leg);
        left -= length;
    }
    done
}
