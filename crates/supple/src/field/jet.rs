//! Scalars with first and second derivatives: `value`, `∇`, and the Hessian.
//!
//! The arithmetic of jets is the product and chain rule, so whatever is written with them has its
//! closed-form derivatives, exact to rounding, in f64.

use glam::{DMat3, DVec3};

/// A scalar field at a point, with its derivatives there.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Jet {
    /// The value.
    pub value: f64,
    /// First derivatives.
    pub gradient: DVec3,
    /// Second derivatives; symmetric.
    pub hessian: DMat3,
}

impl Jet {
    /// A field that is the same everywhere.
    #[must_use]
    pub const fn constant(value: f64) -> Self {
        Self { value, gradient: DVec3::ZERO, hessian: DMat3::ZERO }
    }

    /// A linear field with this value and gradient at the point.
    #[must_use]
    pub const fn linear(value: f64, gradient: DVec3) -> Self {
        Self { value, gradient, hessian: DMat3::ZERO }
    }

    /// `|ξ|²`, where ξ is the position relative to some fixed point.
    #[must_use]
    pub fn length_squared(xi: DVec3) -> Self {
        Self {
            value: xi.length_squared(),
            gradient: 2.0 * xi,
            hessian: DMat3::from_diagonal(DVec3::splat(2.0)),
        }
    }

    /// `g(self)`, given `g`, `g'` and `g''` there.
    #[must_use]
    pub fn compose(self, [g, dg, ddg]: [f64; 3]) -> Self {
        Self {
            value: g,
            gradient: dg * self.gradient,
            hessian: dg * self.hessian + ddg * outer(self.gradient, self.gradient),
        }
    }

    /// `self^power`, for a positive value.
    #[must_use]
    pub fn pow(self, power: f64) -> Self {
        let g = self.value.powf(power);
        let dg = power * g / self.value;
        self.compose([g, dg, (power - 1.0) * dg / self.value])
    }

    /// `√self`; zero, with no derivatives, where the value is zero.
    #[must_use]
    pub fn sqrt(self) -> Self {
        if self.value <= 0.0 {
            return Self::constant(0.0);
        }
        let g = self.value.sqrt();
        self.compose([g, 0.5 / g, -0.25 / (g * self.value)])
    }

    /// `1/self`.
    #[must_use]
    pub fn recip(self) -> Self {
        let g = 1.0 / self.value;
        self.compose([g, -g * g, 2.0 * g * g * g])
    }
}

/// `a bᵀ`.
#[must_use]
pub fn outer(a: DVec3, b: DVec3) -> DMat3 {
    DMat3::from_cols(b.x * a, b.y * a, b.z * a)
}

impl std::ops::Add for Jet {
    type Output = Self;
    fn add(self, o: Self) -> Self {
        Self {
            value: self.value + o.value,
            gradient: self.gradient + o.gradient,
            hessian: self.hessian + o.hessian,
        }
    }
}

impl std::ops::Sub for Jet {
    type Output = Self;
    fn sub(self, o: Self) -> Self {
        self + -1.0 * o
    }
}

impl std::ops::Mul for Jet {
    type Output = Self;
    fn mul(self, o: Self) -> Self {
        let cross = outer(self.gradient, o.gradient);
        Self {
            value: self.value * o.value,
            gradient: self.value * o.gradient + o.value * self.gradient,
            hessian: self.value * o.hessian + o.value * self.hessian + cross + cross.transpose(),
        }
    }
}

impl std::ops::Mul<Jet> for f64 {
    type Output = Jet;
    fn mul(self, j: Jet) -> Jet {
        Jet { value: self * j.value, gradient: self * j.gradient, hessian: self * j.hessian }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// `g(x) = √(|x|² + 1)/(2 + x·a)`, whose derivatives finite differences can check.
    fn sample(x: DVec3) -> Jet {
        let a = DVec3::new(0.3, -0.2, 0.4);
        let root = (Jet::length_squared(x) + Jet::constant(1.0)).sqrt();
        root * (Jet::linear(2.0 + x.dot(a), a)).recip().pow(1.5)
    }

    #[test]
    fn derivatives_match_finite_differences() {
        let x = DVec3::new(0.4, 0.7, -0.3);
        let h = 1e-5;
        let jet = sample(x);
        for (k, axis) in DVec3::AXES.into_iter().enumerate() {
            let (ahead, behind) = (sample(x + h * axis), sample(x - h * axis));
            let slope = (ahead.value - behind.value) / (2.0 * h);
            assert!((slope - jet.gradient[k]).abs() < 1e-9, "gradient {k}");
            let column = (ahead.gradient - behind.gradient) / (2.0 * h);
            assert!((column - jet.hessian.col(k)).length() < 1e-8, "hessian {k}");
        }
    }
}
