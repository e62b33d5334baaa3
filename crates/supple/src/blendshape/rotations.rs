//! The rotations predictor: a blend from interpolated rotations, by one solve.
//!
//! # Method
//!
//! Each node's star turns from the base to target t by `exp ω_t`; angles go on beyond 180° by following the graph from
//! the middle of the body. A blend turns by `exp Σ w_t ω_t`, and what is left of a target after its turn is taken
//! back blends linearly:
//!
//! ```text
//! d = R_i [ d⁰ + Σ w_t (R_t,iᵀ d^t − d⁰) ]        R_i = exp Σ w_t ω_t,i,  R_t,i = exp ω_t,i
//! ```
//!
//! the mean over both ends. Positions whose differences come nearest to these follow from one solve with the constant
//! matrix. Exact at every target; 0.5 to 3 % of the diagonal off the equilibrium between.
//!
//! As the springs' start, differences are set to the blended length, which is nearer to their equilibrium. As a mode of its
//! own they are left as they are: `|a + b| ≤ |a| + |b|`, so lengths that are set make what shears or stretches between two
//! turned parts bulge, and push these apart.

use std::collections::VecDeque;
use std::f64::consts::TAU;

use glam::{DMat3, DQuat, DVec3};

use super::carry::moments;
use super::rigid::rotation_of;
use crate::Run;
use crate::spring::network::Network;

/// Rotation vectors of the stars of all nodes, unwrapped from the roots on.
pub(super) fn rotation_vectors(
    network: &Network,
    base: &[DVec3],
    target: &[DVec3],
    roots: &[u32],
    run: &Run<'_>,
) -> Vec<DVec3> {
    let mut omega = run.map(base.len(), |i| {
        let moved = |&[j, _]: &[u32; 2]| {
            let j = j as usize;
            (target[i] - target[j]) != (base[i] - base[j])
        };
        if network.around(i).iter().any(moved) {
            rotation_vector(rotation_of(&moments(network, base, target, i)))
        } else {
            DVec3::ZERO
        }
    });
    let mut seen = vec![false; base.len()];
    let mut open = VecDeque::new();
    for &root in roots {
        seen[root as usize] = true;
        open.push_back(root as usize);
    }
    while let Some(i) = open.pop_front() {
        for &[j, _] in network.around(i) {
            let j = j as usize;
            if !std::mem::replace(&mut seen[j], true) {
                omega[j] = nearest_turn(omega[j], omega[i]);
                open.push_back(j);
            }
        }
    }
    omega
}

/// The rotation vector of a rotation, of at most 180°.
pub(super) fn rotation_vector(turn: DQuat) -> DVec3 {
    let turn = if turn.w < 0.0 { -turn } else { turn };
    let axis = turn.xyz();
    let sine = axis.length_squared().sqrt();
    if sine > 0.0 { axis * (2.0 * libm::atan2(sine, turn.w) / sine) } else { DVec3::ZERO }
}

/// The rotation vector of the same rotation that is nearest to another one.
fn nearest_turn(omega: DVec3, near: DVec3) -> DVec3 {
    let angle = omega.length_squared().sqrt();
    let (axis, angle) = if angle > 1e-9 {
        (omega / angle, angle)
    } else {
        match near.try_normalize() {
            Some(axis) => (axis, 0.0),
            None => return omega,
        }
    };
    let turns = ((near.dot(axis) - angle) / TAU).round();
    axis * (angle + TAU * turns)
}

/// The rotation of a rotation vector.
pub(super) fn rotation(omega: DVec3) -> DMat3 {
    DMat3::from_quat(DQuat::from_scaled_axis(omega))
}

/// A target with a weight, as the predictor needs it.
pub(super) struct Weighed<'a> {
    pub(super) weight: f64,
    pub(super) positions: &'a [DVec3],
    pub(super) omega: &'a [DVec3],
}

/// The rotation of every node in a blend.
pub(super) fn blended_turns(nodes: usize, targets: &[Weighed<'_>], run: &Run<'_>) -> Vec<DMat3> {
    run.map(nodes, |i| rotation(targets.iter().map(|t| t.weight * t.omega[i]).sum()))
}

/// Angle beyond which two blends of rotations are two ways to turn, in radians.
const ANOTHER_WAY: f64 = 0.5;

/// The same seen from the heaviest target, each other one and the base the shorter way from there; `None` where that makes no
/// difference. Seen from the base, two targets that turn by about 180° may have gone there by different ways, and a blend
/// of them would turn back.
pub(super) fn turns_from_heaviest(
    nodes: usize,
    targets: &[Weighed<'_>],
    turns: &[DMat3],
    run: &Run<'_>,
) -> Option<Vec<DMat3>> {
    let first = heaviest(targets.iter().map(|t| t.weight)).filter(|_| targets.len() > 1)?;
    let others = run.map(nodes, |i| {
        let turned = targets.iter().map(|t| (t.weight, t.omega[i]));
        DMat3::from_quat(seen_from(turned, first))
    });
    others.iter().zip(turns).any(|(a, b)| is_another_way(a, b)).then_some(others)
}

/// The target with the largest weight, the first of equal ones.
fn heaviest(weights: impl Iterator<Item = f64>) -> Option<usize> {
    let heavier =
        |a: &(usize, f64), b: &(usize, f64)| a.1.abs().total_cmp(&b.1.abs()).then(b.0.cmp(&a.0));
    weights.enumerate().max_by(heavier).map(|(t, _)| t)
}

/// Weighted rotation vectors blended as seen from one of them.
fn seen_from(turned: impl Iterator<Item = (f64, DVec3)> + Clone, first: usize) -> DQuat {
    let Some((_, omega)) = turned.clone().nth(first) else { return DQuat::IDENTITY };
    let from = DQuat::from_scaled_axis(omega);
    let way = |to: DQuat| rotation_vector(from.inverse() * to);
    let base = 1.0 - turned.clone().map(|(w, _)| w).sum::<f64>();
    let mut sum = base * way(DQuat::IDENTITY);
    for (_, (w, omega)) in turned.enumerate().filter(|(t, _)| *t != first) {
        sum += w * way(DQuat::from_scaled_axis(omega));
    }
    from * DQuat::from_scaled_axis(sum)
}

fn is_another_way(a: &DMat3, b: &DMat3) -> bool {
    // The trace of a rotation is 1 + 2 cos of its angle.
    let trace = a.x_axis.dot(b.x_axis) + a.y_axis.dot(b.y_axis) + a.z_axis.dot(b.z_axis);
    trace < 1.0 + 2.0 * libm::cos(ANOTHER_WAY)
}

/// The rotation of a whole piece as seen from the heaviest target, where it is another one than `exp Σ w ω` and nearer to what
/// is blended.
///
/// A piece has no springs that would tell which way is meant.
pub(super) fn turned_another_way(
    turned: impl Iterator<Item = (f64, DVec3)> + Clone,
) -> Option<DVec3> {
    let first = heaviest(turned.clone().map(|(w, _)| w))?;
    let plain = DQuat::from_scaled_axis(turned.clone().map(|(w, omega)| w * omega).sum());
    let other = seen_from(turned.clone(), first);
    let base = (1.0 - turned.clone().map(|(w, _)| w).sum::<f64>(), DVec3::ZERO);
    let far = |turn: DQuat| {
        let off = |(w, omega): (f64, DVec3)| {
            let left = rotation_vector(DQuat::from_scaled_axis(omega).inverse() * turn);
            w.abs() * left.length_squared()
        };
        turned.clone().chain([base]).map(off).sum::<f64>()
    };
    let is_other = is_another_way(&DMat3::from_quat(other), &DMat3::from_quat(plain));
    (is_other && far(other) < far(plain)).then(|| rotation_vector(other))
}

/// What the differences along springs should be, of these lengths if any are given: `Σ k d` at every node.
pub(super) fn wanted(
    network: &Network,
    base: &[DVec3],
    targets: &[Weighed<'_>],
    turns: &[DMat3],
    lengths: Option<&[f64]>,
    run: &Run<'_>,
) -> Vec<DVec3> {
    let rest = 1.0 - targets.iter().map(|t| t.weight).sum::<f64>();
    let maps: Vec<Vec<DMat3>> = targets
        .iter()
        .map(|t| run.map(base.len(), |i| turns[i] * rotation(t.omega[i]).transpose() * t.weight))
        .collect();
    let ends = network.ends();
    let along: Vec<DVec3> = run.map(ends.len(), |s| {
        let [i, j] = ends[s].map(|v| v as usize);
        let mut d = 0.5 * rest * ((turns[i] + turns[j]) * (base[i] - base[j]));
        for (t, map) in targets.iter().zip(&maps) {
            d += 0.5 * ((map[i] + map[j]) * (t.positions[i] - t.positions[j]));
        }
        let k = network.stiffness()[s];
        let Some(lengths) = lengths else { return k * d };
        let size = d.length_squared().sqrt();
        if size > 0.0 { d * (k * lengths[s] / size) } else { DVec3::ZERO }
    });
    let mut sums = vec![DVec3::ZERO; base.len()];
    for (&[i, j], d) in ends.iter().zip(&along) {
        sums[i as usize] += *d;
        sums[j as usize] -= *d;
    }
    sums
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn angles_go_on_beyond_half_a_turn() {
        // A chain of triangles in a ladder, each turned by 20° more than the last, to 340°.
        let mut ends = Vec::new();
        let mut base = Vec::new();
        let mut target = Vec::new();
        for k in 0..18_u32 {
            let turn = DQuat::from_rotation_z(f64::from(k) * 20.0_f64.to_radians());
            for (c, offset) in [DVec3::ZERO, DVec3::X, DVec3::Y, DVec3::Z].into_iter().enumerate() {
                let c = c as u32;
                ends.extend((0..c).map(|o| [4 * k + o, 4 * k + c]));
                base.push(offset + f64::from(k) * 1e6 * DVec3::X);
                target.push(turn * offset);
            }
            if k > 0 {
                // So weak that it turns nothing.
                ends.push([4 * k - 4, 4 * k]);
            }
        }
        let k = ends.iter().map(|e| if e[1] - e[0] == 4 { 1e-30 } else { 1.0 }).collect();
        let network = Network::new(base.len(), ends, k);
        let omega = rotation_vectors(&network, &base, &target, &[0], &Run::default());
        for k in 0..18_u32 {
            let expected = f64::from(k) * 20.0_f64.to_radians() * DVec3::Z;
            assert!(
                (omega[4 * k as usize] - expected).length() < 1e-6,
                "{k}: {}",
                omega[4 * k as usize]
            );
        }
    }

    /// Turned by 170° and by 190°, the way of which is taken for −170°: half way between them it is 180°, not 0°.
    #[test]
    fn targets_on_both_sides_of_half_a_turn_are_blended_the_shorter_way() {
        let omega = [170.0_f64, -170.0].map(|a| vec![a.to_radians() * DVec3::Z]);
        let at = [DVec3::ZERO];
        let weighed = omega.each_ref().map(|omega| Weighed {
            weight: 0.5,
            positions: &at,
            omega: &omega[..],
        });
        let run = Run::default();
        let turns = blended_turns(1, &weighed, &run);
        assert!((turns[0] * DVec3::X - DVec3::X).length() < 1e-9);
        let other = turns_from_heaviest(1, &weighed, &turns, &run).unwrap();
        assert!((other[0] * DVec3::X + DVec3::X).length() < 1e-9, "{}", other[0]);
        let whole = omega.each_ref().map(|omega| (0.5, omega[0]));
        let other = turned_another_way(whole.into_iter()).unwrap();
        assert!((other.length() - 180.0_f64.to_radians()).abs() < 1e-9, "{other}");
        let less = [170.0_f64, 100.0].map(|a| (0.5, a.to_radians() * DVec3::Z));
        assert!(turned_another_way(less.into_iter()).is_none());
        let [near, _] = weighed;
        assert!(turns_from_heaviest(1, &[near], &turns, &run).is_none());
    }

    #[test]
    fn rotation_vectors_and_rotations_agree() {
        for omega in
            [DVec3::ZERO, DVec3::new(0.1, -2.0, 1.0), DVec3::new(0.0, 0.0, 3.1), 1e-9 * DVec3::X]
        {
            let back = rotation_vector(DQuat::from_scaled_axis(omega));
            assert!((back - omega).length() < 1e-12, "{omega} {back}");
        }
        let near = nearest_turn(DVec3::new(0.0, 0.0, -0.5), DVec3::new(0.0, 0.0, 6.0));
        assert!((near.z - (TAU - 0.5)).abs() < 1e-12, "{near}");
    }
}
