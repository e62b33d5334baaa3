//! A mass on a damped spring, carried by an anchor: solved in closed form.
//!
//! # Method
//!
//! `m q̈ = -k (q - p) - c (q̇ - ṗ) + m g`, with an anchor `p` that moves in a straight line at constant
//! speed within one step. Seen from the anchor, `y = q - p` obeys `ÿ = -ω² y - 2β ẏ + g` with
//! `ω² = k/m` and `β = c/2m`, whose solution is linear in `y₀`, `ẏ₀` and `g`:
//!
//! ```text
//! y = A y₀ + B ẏ₀ + P g        A = e^{-βt}(C + βS)     B = e^{-βt} S
//! ẏ = -ω² B y₀ + D ẏ₀ + B g    D = e^{-βt}(C - βS)     P = ∫₀ᵗ B = (1 - A)/ω²
//! ```
//!
//! where `C, S` are `cos wt, sin wt / w` below critical damping and `cosh st, sinh st / s` above it.
//! There is no step to choose and none that is unstable: one step of a second and a thousand of a
//! millisecond end at the same place, up to rounding
//! (`one_long_step_equals_many_short_ones`).
//!
//! `P` is the delicate one: for a soft spring it is a small difference of large numbers. It is summed
//! as a power series when `βt` and `ωt` are small, and written without the difference above critical
//! damping, so that it stays exact down to no spring at all.
//!
//! # Limits
//!
//! Rates above 10¹⁰⁰ per second and steps above 10⁹ seconds are cut to that, so that no stiffness,
//! mass or step makes a NaN (`never_makes_a_nan`). A negative or NaN constant counts as zero.
//!
//! # Example
//!
//! ```
//! use glam::DVec3;
//! use supple::spring::{Mass, Spring};
//!
//! // Let go one metre off the anchor; half a period later it is on the other side.
//! let spring = Spring::from_frequency(2.0, 0.0);
//! let mut mass = Mass { position: DVec3::X, ..Mass::at_rest(DVec3::ZERO) };
//! mass.step(&spring, DVec3::ZERO, DVec3::ZERO, 0.25);
//! assert!((mass.position.x + 1.0).abs() < 1e-12);
//! ```

pub mod network;

use glam::DVec3;
use serde::{Deserialize, Serialize};

/// Largest rate (of `ω` and `β`) that is told apart from infinity, per second.
const MAX_RATE: f64 = 1e100;
/// Longest step, in seconds.
const MAX_STEP_SECS: f64 = 1e9;
/// Below this `βt` and `ωt` the power series of `P` is used: twelve terms reach rounding.
const SERIES_BELOW: f64 = 0.1;

/// The constants of a spring.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Spring {
    /// Undamped angular frequency `√(k/m)`, in radians a second.
    omega: f64,
    /// Decay rate `c/2m`, per second.
    beta: f64,
}

impl Spring {
    /// From mass (kg), stiffness (N/m) and damping (N s/m).
    #[must_use]
    pub fn new(mass: f64, stiffness: f64, damping: f64) -> Self {
        let omega = quotient(stiffness, mass).sqrt();
        let beta = 0.5 * quotient(damping, mass);
        Self { omega: omega.min(MAX_RATE), beta: beta.min(MAX_RATE) }
    }

    /// From the undamped frequency in hertz and the damping ratio: 0 swings for ever, 1 is critical.
    #[must_use]
    pub fn from_frequency(hertz: f64, damping_ratio: f64) -> Self {
        let omega = not_negative(std::f64::consts::TAU * hertz).min(MAX_RATE);
        let beta = not_negative(damping_ratio * omega).min(MAX_RATE);
        Self { omega, beta }
    }

    /// The coefficients of the module doc after `t` seconds.
    fn response(&self, t: f64) -> Response {
        let (beta, omega) = (self.beta, self.omega);
        // β² - ω² as a product: no overflow, no cancellation near critical damping.
        let discriminant = (beta - omega) * (beta + omega);
        let mut response = if discriminant < 0.0 {
            under_damped(beta, omega, (-discriminant).sqrt(), t)
        } else {
            over_damped(beta, omega, discriminant.sqrt(), t)
        };
        if beta * t < SERIES_BELOW && omega * t < SERIES_BELOW {
            response.p = power_series(beta, omega, t);
        }
        response
    }
}

/// Where a mass is and how fast it moves.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
pub struct Mass {
    /// `q`.
    pub position: DVec3,
    /// `q̇`, in units a second.
    pub velocity: DVec3,
    /// Where the anchor was at the end of the last step.
    pub anchor: DVec3,
}

impl Mass {
    /// Resting on its anchor.
    #[must_use]
    pub fn at_rest(anchor: DVec3) -> Self {
        Self { position: anchor, velocity: DVec3::ZERO, anchor }
    }

    /// Moves on by `dt_secs`, while the anchor goes straight to `anchor`; a step of no length or less
    /// only moves the anchor.
    pub fn step(&mut self, spring: &Spring, anchor: DVec3, gravity: DVec3, dt_secs: f64) {
        let t = not_negative(dt_secs).min(MAX_STEP_SECS);
        if t > 0.0 {
            let anchor_velocity = (anchor - self.anchor) / t;
            let (y, dy) = (self.position - self.anchor, self.velocity - anchor_velocity);
            let Response { a, b, d, p } = spring.response(t);
            self.position = anchor + a * y + b * dy + p * gravity;
            // ω (ω B) y₀: ω² alone may overflow where ω B never does.
            let pull = spring.omega * (spring.omega * b);
            self.velocity = anchor_velocity - pull * y + d * dy + b * gravity;
        }
        self.anchor = anchor;
    }

    /// True while every number is finite.
    #[must_use]
    pub fn is_finite(&self) -> bool {
        self.position.is_finite() && self.velocity.is_finite() && self.anchor.is_finite()
    }
}

/// `A`, `B`, `D` and `P` of the module doc.
#[derive(Clone, Copy, Debug)]
struct Response {
    a: f64,
    b: f64,
    d: f64,
    p: f64,
}

fn under_damped(beta: f64, omega: f64, w: f64, t: f64) -> Response {
    let decay = libm::exp(-beta * t);
    // A phase beyond 1e300 has no meaning left, but must stay finite.
    let (sin, cos) = libm::sincos((w * t).min(1e300));
    let c = decay * cos;
    let b = decay * if w * t < 1e-8 { t } else { sin / w };
    let a = c + beta * b;
    let half = libm::sin((0.5 * w * t).min(1e300));
    // 1 - A without the difference 1 - cos.
    let one_minus_a = -libm::expm1(-beta * t) + 2.0 * decay * half * half - beta * b;
    Response { a, b, d: c - beta * b, p: one_minus_a / omega / omega }
}

fn over_damped(beta: f64, omega: f64, s: f64, t: f64) -> Response {
    let fast = beta + s;
    // β - s, without the difference.
    let slow = if fast > 0.0 { omega * (omega / fast) } else { 0.0 };
    let (slow_decay, fast_decay) = (libm::exp(-slow * t), libm::exp(-fast * t));
    let b = slow_decay * t * mean_decay(2.0 * s * t);
    let p = if fast > 0.0 { (t * mean_decay(slow * t) - b) / fast } else { 0.5 * t * t };
    Response { a: slow_decay + slow * b, b, d: fast_decay - slow * b, p }
}

/// `(1 - e^{-x}) / x`: the mean of `e^{-ξ}` over `0..x`.
fn mean_decay(x: f64) -> f64 {
    if x == 0.0 { 1.0 } else { -libm::expm1(-x) / x }
}

/// `P` from `P̈ = 1 - 2β Ṗ - ω² P`, term by term.
fn power_series(beta: f64, omega: f64, t: f64) -> f64 {
    let (mut last, mut term) = (0.0, 0.5 * t * t);
    let mut sum = term;
    for n in 3..15 {
        let n = f64::from(n);
        let next =
            -(2.0 * beta * t * (n - 1.0) * term + omega * t * (omega * t) * last) / (n * (n - 1.0));
        (last, term) = (term, next);
        sum += term;
    }
    sum
}

fn not_negative(x: f64) -> f64 {
    if x > 0.0 { x } else { 0.0 }
}

/// `x/m` of two quantities that are not negative; nothing over nothing is nothing.
fn quotient(x: f64, m: f64) -> f64 {
    let (x, m) = (not_negative(x), not_negative(m));
    let quotient = x / m;
    if x == 0.0 || quotient.is_nan() { 0.0 } else { quotient.min(MAX_RATE * MAX_RATE) }
}

#[cfg(test)]
mod tests {
    use super::*;

    const G: DVec3 = DVec3::new(0.3, -9.81, 1.0);

    fn fly(spring: &Spring, secs: f64, steps: u32) -> Mass {
        let mut mass = Mass { velocity: DVec3::new(3.0, -2.0, 0.5), ..Mass::at_rest(DVec3::ZERO) };
        mass.position = DVec3::new(0.2, 0.1, -0.4);
        for i in 1..=steps {
            let anchor = DVec3::new(1.0, 2.0, -3.0) * (f64::from(i) / f64::from(steps));
            mass.step(spring, anchor, G, secs / f64::from(steps));
        }
        mass
    }

    #[test]
    fn one_long_step_equals_many_short_ones() {
        for stiffness in [0.0, 1e-6, 1.0, 30.0, 400.0, 1e5] {
            for damping in [0.0, 1e-6, 0.4, 2.0, 2.0 * 30.0_f64.sqrt(), 50.0, 1e4] {
                let spring = Spring::new(1.0, stiffness, damping);
                let (one, many) = (fly(&spring, 1.0 / 24.0, 1), fly(&spring, 1.0 / 24.0, 240));
                let away = (one.position - many.position).length();
                let faster = (one.velocity - many.velocity).length();
                assert!(away < 1e-11, "k {stiffness} c {damping}: {away}");
                assert!(faster < 1e-11 * 320.0, "k {stiffness} c {damping}: {faster}");
            }
        }
    }

    #[test]
    fn without_spring_or_damping_it_falls() {
        let mut mass = Mass::at_rest(DVec3::ZERO);
        mass.step(&Spring::new(2.0, 0.0, 0.0), DVec3::ZERO, G, 3.0);
        assert!(mass.position.abs_diff_eq(4.5 * G, 1e-12), "{}", mass.position);
        assert!(mass.velocity.abs_diff_eq(3.0 * G, 1e-12), "{}", mass.velocity);
    }

    #[test]
    fn without_spring_it_reaches_terminal_velocity() {
        let mut mass = Mass::at_rest(DVec3::ZERO);
        mass.step(&Spring::new(2.0, 0.0, 8.0), DVec3::ZERO, G, 100.0);
        assert!(mass.velocity.abs_diff_eq(G / 4.0, 1e-12), "m g / c, not {}", mass.velocity);
    }

    #[test]
    fn hangs_where_force_and_weight_balance() {
        for damping in [5.0, 40.0, 500.0] {
            let mut mass = Mass::at_rest(DVec3::ONE);
            mass.step(&Spring::new(2.0, 100.0, damping), DVec3::ONE, G, 1e4);
            let expected = DVec3::ONE + G * 2.0 / 100.0;
            assert!(mass.position.abs_diff_eq(expected, 1e-12), "{}", mass.position);
        }
    }

    #[test]
    fn swings_with_its_period_and_decay() {
        let (mass, stiffness, damping) = (2.0, 50.0, 0.8);
        let (beta, period) = (0.2, std::f64::consts::TAU / (25.0_f64 - 0.04).sqrt());
        let mut swing = Mass { position: DVec3::X, ..Mass::at_rest(DVec3::ZERO) };
        swing.step(&Spring::new(mass, stiffness, damping), DVec3::ZERO, DVec3::ZERO, period);
        let expected = (-beta * period).exp();
        assert!((swing.position.x - expected).abs() < 1e-12, "{}", swing.position.x);
    }

    /// An independent judge: fourth-order Runge-Kutta with tiny steps.
    #[test]
    fn solves_its_equation() {
        for (stiffness, damping) in [(300.0, 3.0), (100.0, 20.0), (20.0, 60.0), (0.0, 5.0)] {
            let spring = Spring::new(1.0, stiffness, damping);
            let exact = fly(&spring, 0.5, 1);
            let speed = DVec3::new(1.0, 2.0, -3.0) / 0.5;
            let accelerate = |t: f64, q: DVec3, v: DVec3| {
                -stiffness * (q - speed * t) - damping * (v - speed) + G
            };
            let (mut q, mut v) = (DVec3::new(0.2, 0.1, -0.4), DVec3::new(3.0, -2.0, 0.5));
            let h = 0.5 / 20_000.0;
            for i in 0..20_000 {
                let t = f64::from(i) * h;
                let (k1, l1) = (v, accelerate(t, q, v));
                let (k2, l2) =
                    (v + 0.5 * h * l1, accelerate(t + 0.5 * h, q + 0.5 * h * k1, v + 0.5 * h * l1));
                let (k3, l3) =
                    (v + 0.5 * h * l2, accelerate(t + 0.5 * h, q + 0.5 * h * k2, v + 0.5 * h * l2));
                let (k4, l4) = (v + h * l3, accelerate(t + h, q + h * k3, v + h * l3));
                q += h / 6.0 * (k1 + 2.0 * k2 + 2.0 * k3 + k4);
                v += h / 6.0 * (l1 + 2.0 * l2 + 2.0 * l3 + l4);
            }
            let away = (exact.position - q).length();
            assert!(away < 1e-9, "k {stiffness} c {damping}: {away}");
        }
    }

    #[test]
    fn never_makes_a_nan() {
        let extremes = [0.0, 1e-300, 1e-9, 1.0, 1e9, 1e300, f64::INFINITY, f64::NAN, -1.0];
        let steps = [0.0, 1e-300, 1e-9, 1.0 / 120.0, 1e9, 1e300, f64::NAN];
        let stiffnesses = extremes.iter().flat_map(|m| extremes.iter().map(move |k| (*m, *k)));
        for (mass, stiffness) in stiffnesses {
            for (damping, dt) in extremes.iter().flat_map(|c| steps.iter().map(move |t| (*c, *t))) {
                let spring = Spring::new(mass, stiffness, damping);
                let mut state = Mass::at_rest(DVec3::ZERO);
                for i in 0..3 {
                    state.step(&spring, DVec3::splat(f64::from(i)), G, dt);
                }
                let what = format!("m {mass} k {stiffness} c {damping} dt {dt}");
                assert!(state.is_finite(), "{what}: {state:?}");
            }
        }
    }
}
