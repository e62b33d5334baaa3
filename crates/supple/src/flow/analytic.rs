//! Flows given by formulas: for demonstrations, and to measure recorded ones against.
//!
//! # Method
//!
//! | name | velocity |
//! |---|---|
//! | `abc` | Arnold, Beltrami and Childress: `(A sin z + C cos y, B sin x + A cos z, C sin y + B cos x)`, A = √3, B = √2, C = 1; steady, chaotic |
//! | `gyre` | double gyre: `ψ = A sin(π f) sin(π y)`, `f = ε sin(ωt) x² + (1 − 2ε sin ωt) x`, A = 0.1, ε = 0.25, period 10, in [0, 2] × [0, 1] |
//! | `hill` | Hill's spherical vortex of radius 1 at rest in a stream along x of speed 1 |
//! | `wake` | a street of vortices behind a cylinder of diameter 1 in a stream along x of speed 1 |
//! | `swirl` | `(1 + t/2) (S x, 0.2)`, S = [[0.3, −1], [1, −0.3]] |
//! | `uniform`, `oscillating`, `saddle` | `(1, 0, 0)`; `(1, cos 2t, 0)`; a saddle that turns, `R(t) diag(½, −½) R(−t)` |
//!
//! All are free of divergence. `wake` is the curl of `ψ ẑ`: a stream around a cylinder, a deficit behind it, and
//! Gaussian vortices of alternating sign that leave it every half period (Strouhal number 0.2), travel at 0.85 of the
//! stream and grow; what is shed is shifted along the span in waves of the length of one diameter, as in the
//! three-dimensional wakes of thesis §7.4.1. It is made for the eye, not a solution of the flow equations.
//!
//! # Limits
//!
//! Only `wake` has an inside of an obstacle; the others have fluid everywhere.

use std::f64::consts::PI;

use serde::{Deserialize, Serialize};

use super::advect::{BLOCK, Row, Sampler, of_one, put_one};
use super::wide::Wide;

/// A flow with a formula.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Analytic {
    /// Steady and chaotic.
    Abc,
    /// Two gyres whose border swings.
    Gyre,
    /// A ball of vortex in a stream.
    Hill,
    /// A street of vortices behind a cylinder.
    Wake,
    /// Linear in space and time.
    Swirl,
    /// The same everywhere.
    Uniform,
    /// The same everywhere, swinging in time.
    Oscillating,
    /// A saddle that turns.
    Saddle,
}

/// All, with what they show.
pub const ALL: [(&str, Analytic, &str); 8] = [
    ("abc", Analytic::Abc, "steady and chaotic, without end"),
    ("gyre", Analytic::Gyre, "two gyres whose border swings"),
    ("hill", Analytic::Hill, "a ball of vortex in a stream"),
    ("wake", Analytic::Wake, "a street of vortices behind a cylinder"),
    ("swirl", Analytic::Swirl, "linear in space and time"),
    ("uniform", Analytic::Uniform, "a stream along x"),
    ("oscillating", Analytic::Oscillating, "a stream that swings"),
    ("saddle", Analytic::Saddle, "a saddle that turns"),
];

impl Analytic {
    /// The flow of that name.
    #[must_use]
    pub fn named(name: &str) -> Option<Self> {
        ALL.iter().find(|known| known.0 == name).map(|known| known.1)
    }

    /// What it is called.
    #[must_use]
    pub fn name(self) -> &'static str {
        ALL.iter().find(|known| known.1 == self).map_or("", |known| known.0)
    }

    /// Velocity at a place and time, and 1 in the fluid, else 0.
    #[must_use]
    pub fn velocity(self, [x, y, z]: [f64; 3], t: f64) -> [f64; 4] {
        match self {
            Self::Abc => {
                let [a, b, c] = [3.0_f64.sqrt(), 2.0_f64.sqrt(), 1.0];
                let [(sx, cx), (sy, cy), (sz, cz)] = [x, y, z].map(libm::sincos);
                [a * sz + c * cy, b * sx + a * cz, c * sy + b * cx, 1.0]
            }
            Self::Gyre => gyre(x, y, t),
            Self::Hill => hill(x, y, z),
            Self::Wake => wake(x, y, z, t),
            Self::Swirl => {
                let g = 1.0 + 0.5 * t;
                [g * (0.3 * x - y), g * (x - 0.3 * y), 0.2 * g, 1.0]
            }
            Self::Uniform => [1.0, 0.0, 0.0, 1.0],
            Self::Oscillating => [1.0, libm::cos(2.0 * t), 0.0, 1.0],
            Self::Saddle => {
                let (s, c) = libm::sincos(2.0 * t);
                [0.5 * (c * x + s * y), 0.5 * (s * x - c * y), 0.0, 1.0]
            }
        }
    }

    /// Steps a unit of time after which finer ones change nothing that can be seen.
    #[must_use]
    pub fn rate(self) -> f64 {
        match self {
            Self::Uniform => 1.0,
            _ => 25.0,
        }
    }

    /// The part of space worth looking at.
    #[must_use]
    pub fn bounds(self) -> [[f64; 3]; 2] {
        match self {
            Self::Abc => [[0.0; 3], [2.0 * PI; 3]],
            Self::Gyre => [[0.0; 3], [2.0, 1.0, 1.0]],
            Self::Hill => [[-3.0, -2.0, -2.0], [3.0, 2.0, 2.0]],
            Self::Wake => [[-2.0, -3.0, 0.0], [14.0, 3.0, 4.0]],
            _ => [[-2.0; 3], [2.0; 3]],
        }
    }

    /// A seed line that shows it, and how long a column lives.
    #[must_use]
    pub fn seed(self) -> ([[f64; 3]; 2], f64) {
        match self {
            Self::Abc => ([[1.0, 1.0, 1.0], [1.0, 5.0, 1.0]], 10.0),
            Self::Gyre => ([[1.0, 0.2, 0.0], [1.0, 0.2, 1.0]], 15.0),
            Self::Hill => ([[-2.5, -0.3, -0.9], [-2.5, 0.3, 0.9]], 8.0),
            Self::Wake => ([[0.9, 0.12, 0.1], [0.9, 0.12, 3.9]], 16.0),
            Self::Swirl => ([[1.0, 0.0, 0.0], [1.0, 0.5, 0.0]], 3.0),
            _ => ([[-1.0, -0.5, 0.0], [-1.0, 0.5, 0.0]], 4.0),
        }
    }
}

fn gyre(x: f64, y: f64, t: f64) -> [f64; 4] {
    let (amplitude, swing) = (0.1, 0.25 * libm::sin(2.0 * PI / 10.0 * t));
    let f = (swing * x + 1.0 - 2.0 * swing) * x;
    let slope = 2.0 * swing * x + 1.0 - 2.0 * swing;
    let ((sf, cf), (sy, cy)) = (libm::sincos(PI * f), libm::sincos(PI * y));
    let speed = PI * amplitude;
    [-speed * sf * cy, speed * cf * sy * slope, 0.0, 1.0]
}

/// In Stokes' stream function, with ρ the distance from the x axis: `−¾ ρ² (1 − r²)` inside, `½ ρ² (1 − r⁻³)` outside.
fn hill(x: f64, y: f64, z: f64) -> [f64; 4] {
    let rho2 = y * y + z * z;
    let r2 = x * x + rho2;
    let (along, across) = if r2 < 1.0 {
        (-1.5 * (1.0 - x * x - 2.0 * rho2), -1.5 * x)
    } else {
        let cube = 1.0 / (r2 * r2.sqrt());
        (1.0 - cube + 1.5 * cube * rho2 / r2, -1.5 * cube * x / r2)
    };
    [along, across * y, across * z, 1.0]
}

/// A number with its derivatives by x and y.
#[derive(Clone, Copy)]
struct Slope([f64; 3]);

impl Slope {
    fn constant(c: f64) -> Self {
        Self([c, 0.0, 0.0])
    }

    fn plus(self, b: Self) -> Self {
        Self([0, 1, 2].map(|i| self.0[i] + b.0[i]))
    }

    fn times(self, b: Self) -> Self {
        let ([a, ax, ay], [b, bx, by]) = (self.0, b.0);
        Self([a * b, ax * b + a * bx, ay * b + a * by])
    }

    fn scaled(self, k: f64) -> Self {
        Self(self.0.map(|c| k * c))
    }

    /// `f(self)`, from `f` and its derivative there.
    fn mapped(self, value: f64, derivative: f64) -> Self {
        Self([value, derivative * self.0[1], derivative * self.0[2]])
    }

    fn exp(self) -> Self {
        let e = libm::exp(self.0[0]);
        self.mapped(e, e)
    }

    fn tanh(self) -> Self {
        let t = libm::tanh(self.0[0]);
        self.mapped(t, 1.0 - t * t)
    }
}

/// Radius of the cylinder, period of the street (Strouhal number 0.2) and speed of its vortices.
const RADIUS: f64 = 0.5;
const PERIOD: f64 = 5.0;
const DRIFT: f64 = 0.85;

/// Exponent below which a vortex is nothing: 1e-13.
const FAINTEST: f64 = -30.0;

fn wake(x: f64, y: f64, z: f64, t: f64) -> [f64; 4] {
    let r2 = x * x + y * y;
    if r2 < RADIUS * RADIUS {
        return [0.0; 4];
    }
    let square = Slope([r2, 2.0 * x, 2.0 * y]);
    let gap = Slope([r2.sqrt() - RADIUS, x / r2.sqrt(), y / r2.sqrt()]);
    let inverse = square.mapped(1.0 / r2, -1.0 / (r2 * r2));
    // Around the cylinder without friction, slowed at its wall.
    let wall = gap.scaled(8.0).tanh();
    let around = Slope([y, 0.0, 1.0])
        .times(Slope::constant(1.0).plus(inverse.scaled(-RADIUS * RADIUS)))
        .times(wall);
    // The stream is slower behind it.
    let behind = Slope([x, 1.0, 0.0]).plus(Slope::constant(-0.4)).scaled(1.5).tanh();
    let sheltered = behind.plus(Slope::constant(1.0)).scaled(0.5);
    let deficit = Slope([y, 0.0, 1.0]).scaled(1.8).tanh().times(sheltered).scaled(-0.22);
    let mut psi = around.plus(deficit);
    let ripple = 0.18 * libm::cos(2.0 * PI * z) + 0.25 * libm::cos(0.5 * PI * z + 0.7);
    let newest = (2.0 * t / PERIOD).floor();
    for k in 0..16 {
        let n = newest - f64::from(k);
        psi = psi.plus(vortex([x, y], t - 0.5 * PERIOD * n, n, ripple).times(wall));
    }
    let [_, dx, dy] = psi.0;
    [dy, -dx, 0.0, 1.0]
}

/// The stream function of the vortex of number `n`, so long after it began to form.
fn vortex([x, y]: [f64; 2], age: f64, n: f64, ripple: f64) -> Slope {
    let side = if n.rem_euclid(2.0) < 0.5 { 1.0 } else { -1.0 };
    let width = (0.16 + 0.012 * age).sqrt();
    let reach = age * DRIFT;
    let center = [0.75 + reach + ripple * reach / (2.0 + reach), side * (0.18 + 0.012 * reach)];
    let [dx, dy] = [x - center[0], y - center[1]];
    let k = -0.5 / (width * width);
    let exponent = k * (dx * dx + dy * dy);
    // Most are far away, where nothing is left of them.
    if exponent < FAINTEST {
        return Slope::constant(0.0);
    }
    // Grows while it forms, is spent at the end of the street.
    let strength = 1.25 * libm::tanh(0.8 * age) * 0.5 * (1.0 - libm::tanh(0.35 * (age - 28.0)));
    let bump = Slope([exponent, 2.0 * k * dx, 2.0 * k * dy]).exp();
    // Above the middle they turn with the clock.
    bump.scaled(side * strength * width)
}

/// The formula as a [`Sampler`].
#[derive(Clone, Copy, Debug)]
pub(super) struct FormulaSampler(pub(super) Analytic);

impl Sampler for FormulaSampler {
    #[inline(always)]
    fn sample<W: Wide>(&self, _: W, x: &[Row; 3], t: f64, _: &mut [u32; BLOCK]) -> [Row; 4] {
        let mut v = [[0.0; BLOCK]; 4];
        for i in 0..BLOCK {
            put_one(&mut v, i, self.0.velocity(of_one(x, i), t));
        }
        v
    }
}
