//! What acts on single nodes beside springs: planes not to be passed, friction along them, points to be reached.
//!
//! Planes and points are penalties with multipliers (augmented Lagrangian): with a constant κ of moderate size and a
//! force λ that is learnt in a few rounds they hold exactly, and a plane lets go where its force would pull.

use glam::{DMat3, DVec3};

use super::rigid::outer;

/// One term of the energy, of one node.
#[derive(Clone, Copy, Debug, PartialEq, serde::Serialize, serde::Deserialize)]
pub(super) enum Term {
    /// `normal · x ≥ offset`, pushed by `force`.
    Plane { node: u32, normal: DVec3, offset: f64, kappa: f64, force: f64 },
    /// `x = at`, pulled by `force`.
    Point { node: u32, at: DVec3, kappa: f64, force: DVec3 },
    /// Resists moving away from `from` along a plane by up to `force`; quadratic within `width`.
    Friction { node: u32, normal: DVec3, from: DVec3, force: f64, width: f64 },
}

impl Term {
    pub(super) fn node(&self) -> usize {
        match *self {
            Self::Plane { node, .. } | Self::Point { node, .. } | Self::Friction { node, .. } => {
                node as usize
            }
        }
    }

    pub(super) fn energy(&self, x: &[DVec3]) -> f64 {
        let x = x[self.node()];
        match *self {
            Self::Plane { normal, offset, kappa, force, .. } => {
                let pushed = (force / kappa - (normal.dot(x) - offset)).max(0.0);
                0.5 * kappa * pushed * pushed
            }
            Self::Point { at, kappa, force, .. } => {
                0.5 * kappa * (x - at - force / kappa).length_squared()
            }
            Self::Friction { normal, from, force, width, .. } => {
                let way = along(normal, x - from).length_squared().sqrt();
                force * if way < width { 0.5 * way * way / width } else { way - 0.5 * width }
            }
        }
    }

    /// Slope and curvature; that of friction is without the part that sliding takes away.
    pub(super) fn derivatives(&self, x: &[DVec3]) -> (DVec3, DMat3) {
        let x = x[self.node()];
        match *self {
            Self::Plane { normal, offset, kappa, force, .. } => {
                let pushed = force / kappa - (normal.dot(x) - offset);
                if pushed > 0.0 {
                    (-kappa * pushed * normal, kappa * outer(normal, normal))
                } else {
                    (DVec3::ZERO, DMat3::ZERO)
                }
            }
            Self::Point { at, kappa, force, .. } => {
                (kappa * (x - at) - force, DMat3::from_diagonal(DVec3::splat(kappa)))
            }
            Self::Friction { normal, from, force, width, .. } => {
                let u = along(normal, x - from);
                let pull = force / u.length_squared().sqrt().max(width);
                (pull * u, pull * (DMat3::IDENTITY - outer(normal, normal)))
            }
        }
    }

    /// Learns its force from where the node came to lie; says by how much it was missed.
    pub(super) fn learn(&mut self, x: &[DVec3]) -> f64 {
        let x = x[self.node()];
        match self {
            Self::Plane { normal, offset, kappa, force, .. } => {
                let gap = normal.dot(x) - *offset;
                let before = *force;
                *force = (*force - *kappa * gap).max(0.0);
                // In front of the plane with no force left nothing is missed.
                if *force == 0.0 && before == 0.0 {
                    0.0
                } else {
                    gap.abs().min((before - *force).abs() / *kappa)
                }
            }
            Self::Point { at, kappa, force, .. } => {
                *force -= *kappa * (x - *at);
                (x - *at).length_squared().sqrt()
            }
            Self::Friction { .. } => 0.0,
        }
    }
}

/// The part of a vector along a plane.
fn along(normal: DVec3, v: DVec3) -> DVec3 {
    v - normal.dot(v) * normal
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn slopes_are_the_derivatives_of_energies() {
        let normal = DVec3::new(0.6, 0.0, 0.8);
        let terms = [
            Term::Plane { node: 0, normal, offset: 0.5, kappa: 3.0, force: 0.2 },
            Term::Plane { node: 0, normal, offset: -5.0, kappa: 3.0, force: 0.2 },
            Term::Point { node: 0, at: DVec3::Y, kappa: 2.0, force: DVec3::X },
            Term::Friction { node: 0, normal, from: DVec3::ZERO, force: 0.7, width: 1e-3 },
            Term::Friction { node: 0, normal, from: DVec3::ZERO, force: 0.7, width: 10.0 },
        ];
        let x = DVec3::new(0.1, 0.3, -0.2);
        for term in terms {
            let (slope, _) = term.derivatives(&[x]);
            for axis in DVec3::AXES {
                let h = 1e-6;
                let rise =
                    (term.energy(&[x + h * axis]) - term.energy(&[x - h * axis])) / (2.0 * h);
                assert!((rise - slope.dot(axis)).abs() < 1e-8, "{term:?}: {rise} {slope}");
            }
        }
    }

    #[test]
    fn a_plane_never_pulls() {
        let mut plane =
            Term::Plane { node: 0, normal: DVec3::Z, offset: 0.0, kappa: 1.0, force: 0.5 };
        assert_eq!(plane.derivatives(&[DVec3::Z]).0, DVec3::ZERO);
        plane.learn(&[DVec3::Z]);
        assert!(matches!(plane, Term::Plane { force: 0.0, .. }), "{plane:?}");
    }
}
