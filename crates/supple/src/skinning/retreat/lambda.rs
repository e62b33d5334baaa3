//! How far the skin is displaced at each joint: all λ at once, in the final pose.
//!
//! ```text
//! Δ = α (T + U c tanh(x / c)),   x = Σ λ_b s_b,   c = ½
//! J_b = ∫₀¹ ∇V(P + tΔ) · α τ s_b U dt,   τ = tanh(x / c) / (x / c),   λ_b ← −(L_b + Q_b) / J_b
//! ```
//!
//! `T` is what dual quaternions do where a joint twists far, `Q_b` the volume of the joint's share of it. The volume is
//! a cubic in t, so that its gradient is integrated exactly, and `R_b = λ_b J_b + Q_b` add up to what was given back.

use glam::DVec3;

use super::Skin;
use super::frame::{Frame, Turned};
use crate::Run;

/// Vertices move by at most this share of their distance from the bone.
const MOST: f64 = 0.5;

/// The largest λ.
const LARGEST: f64 = 3.0;

/// A field whose pushes in and out cancel to less than this share gives no hold to divide by.
const HOLD: f64 = 0.05;

/// The displacement as far as it goes where nothing draws it back.
#[derive(Clone, Debug)]
pub(super) struct Displacement {
    /// One for each joint that turned.
    pub(super) lambda: Vec<f64>,
    /// What each gave back.
    pub(super) returned: Vec<f64>,
    /// `T + U c tanh(x / c)`.
    pub(super) whole: Vec<DVec3>,
}

impl Displacement {
    pub(super) fn new(skin: &Skin, frame: &Frame, lambda: Vec<f64>) -> Self {
        let x = strengths(skin, frame, &lambda);
        let whole = |v: usize| {
            let twist = frame.twist.as_ref().map_or(DVec3::ZERO, |t| t.by[v]);
            twist + frame.out[v] * (MOST * (x[v] / MOST).tanh())
        };
        let whole = (0..skin.welded.len()).map(whole).collect();
        Self { returned: vec![0.0; lambda.len()], lambda, whole }
    }

    /// How far it is from giving back what was lost.
    pub(super) fn missing(&self, frame: &Frame) -> f64 {
        let missing = |(t, r): (&Turned, &f64)| (t.lost + r).abs();
        frame.turned.iter().zip(&self.returned).map(missing).sum()
    }
}

/// x at every vertex.
fn strengths(skin: &Skin, frame: &Frame, lambda: &[f64]) -> Vec<f64> {
    let mut x = vec![0.0; skin.welded.len()];
    for (t, lambda) in frame.turned.iter().zip(lambda) {
        for &(v, s) in &skin.joints[t.joint].field {
            x[v as usize] += lambda * s;
        }
    }
    x
}

/// What a joint's field does to the volume.
struct Pull {
    /// J, and the same with all signs alike.
    pull: f64,
    sum: f64,
    /// Q.
    twist: f64,
}

/// The λ that give back most, from those given.
pub(super) fn solve(
    skin: &Skin,
    frame: &Frame,
    alpha: &[f32],
    start: Vec<f64>,
    rounds: usize,
    run: &Run<'_>,
) -> Displacement {
    let lost: f64 = frame.turned.iter().map(|t| t.lost.abs()).sum();
    let mut trial = Displacement::new(skin, frame, start);
    let mut best: Option<(f64, Displacement)> = None;
    for _ in 0..rounds {
        let pulls = measure(skin, frame, alpha, &mut trial, run);
        let missing = trial.missing(frame);
        let next: Vec<f64> = frame.turned.iter().zip(&pulls).map(|(t, p)| p.lambda(t)).collect();
        if best.as_ref().is_none_or(|b| missing < b.0) {
            best = Some((missing, trial));
        }
        if missing <= 1e-10 * lost {
            break;
        }
        trial = Displacement::new(skin, frame, next);
    }
    best.map_or_else(|| Displacement::new(skin, frame, vec![0.0; frame.turned.len()]), |b| b.1)
}

impl Pull {
    fn lambda(&self, turned: &Turned) -> f64 {
        let hold = (HOLD * self.sum).max(self.pull.abs());
        let lambda = -(turned.lost + self.twist) * self.pull / (hold * hold);
        if lambda.is_finite() { lambda.clamp(-LARGEST, LARGEST) } else { 0.0 }
    }
}

/// What each joint gives back by a displacement, and what it could.
fn measure(
    skin: &Skin,
    frame: &Frame,
    alpha: &[f32],
    displacement: &mut Displacement,
    run: &Run<'_>,
) -> Vec<Pull> {
    let gradient = mean_gradient(skin, frame, alpha, &displacement.whole, run);
    let x = strengths(skin, frame, &displacement.lambda);
    let tau = |x: f64| if x.abs() < 1e-9 { 1.0 } else { (x / MOST).tanh() / (x / MOST) };
    let along =
        run.map(x.len(), |v| f64::from(alpha[v]) * tau(x[v]) * frame.out[v].dot(gradient[v]));
    let pull = |k: usize| {
        let turned = &frame.turned[k];
        let (mut pull, mut sum) = (0.0, 0.0);
        for &(v, s) in &skin.joints[turned.joint].field {
            let term = s * along[v as usize];
            pull += term;
            sum += term.abs();
        }
        let by = frame.twist.as_ref().map(|t| &t.by);
        let term = |&(v, share): &(u32, f64)| {
            let v = v as usize;
            by.map_or(0.0, |by| f64::from(alpha[v]) * share * by[v].dot(gradient[v]))
        };
        Pull { pull, sum, twist: turned.twist.iter().map(term).sum() }
    };
    let pulls: Vec<Pull> = run.map(frame.turned.len(), pull);
    let returned = |(p, lambda): (&Pull, &f64)| lambda * p.pull + p.twist;
    displacement.returned = pulls.iter().zip(&displacement.lambda).map(returned).collect();
    pulls
}

/// What each joint gives back with a displacement drawn back by α.
pub(super) fn returned(
    skin: &Skin,
    frame: &Frame,
    alpha: &[f32],
    displacement: &mut Displacement,
    run: &Run<'_>,
) {
    measure(skin, frame, alpha, displacement, run);
}

/// ∫₀¹ ∇V(P + tΔ) dt at the vertices that may move.
fn mean_gradient(
    skin: &Skin,
    frame: &Frame,
    alpha: &[f32],
    whole: &[DVec3],
    run: &Run<'_>,
) -> Vec<DVec3> {
    let welded = &skin.welded;
    let mut delta: Vec<DVec3> = whole.iter().zip(alpha).map(|(d, a)| f64::from(*a) * *d).collect();
    welded.with_means(&mut delta);
    let half: Vec<DVec3> = frame.at.iter().zip(&delta).map(|(x, d)| *x + 0.5 * *d).collect();
    let mut gradient = run.map(welded.places(), |v| {
        let mut sum = DVec3::ZERO;
        if !skin.is_live(v) {
            return sum;
        }
        for &corner in welded.corners.row(v) {
            let (t, k) = (corner as usize / 3, corner as usize % 3);
            let t = welded.closed[t];
            let (a, b) = (t[(k + 1) % 3] as usize, t[(k + 2) % 3] as usize);
            // ∫ (a + tα) × (b + tβ) dt = (a + α/2) × (b + β/2) + α × β / 12
            sum += half[a].cross(half[b]) + delta[a].cross(delta[b]) / 12.0;
        }
        sum / 6.0
    });
    for (k, rim) in welded.rims.iter().enumerate() {
        let share = gradient[welded.len() + k] / rim.len() as f64;
        rim.iter().for_each(|&v| gradient[v as usize] += share);
    }
    gradient
}
