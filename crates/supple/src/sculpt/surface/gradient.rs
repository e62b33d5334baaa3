//! ∇s at a vertex from its neighbours, by least squares with no part along its upright.

use glam::Vec3;

/// Neighbours in nearly one line have no gradient across it.
const FLAT: f32 = 1e-6;

/// `Σ d dᵀ` over the offsets d to the neighbours.
#[derive(Clone, Copy)]
pub(super) struct Moments {
    /// `xx, yy, zz`.
    pub(super) squares: Vec3,
    /// `yz, xz, xy`.
    pub(super) products: Vec3,
}

impl Moments {
    /// The vector across a unit vector n that fits `Σ Δs d` best; zero where the neighbours lie in one
    /// line, seen along n.
    #[inline(always)]
    pub(super) fn solve(self, n: Vec3, right: Vec3) -> Vec3 {
        let flat = right - n * n.dot(right);
        let across = self.times(n);
        let trace = self.squares.element_sum() - n.dot(across);
        let determinant = n.dot(self.adjugate_times(n));
        let turned = self.times(flat);
        let top = trace * flat - (turned - n * n.dot(turned));
        let is_flat = determinant <= FLAT * trace * trace;
        let inverse = if is_flat { 0.0 } else { 1.0 / determinant };
        top * inverse
    }

    #[inline(always)]
    fn times(self, v: Vec3) -> Vec3 {
        let (s, p) = (self.squares, self.products);
        Vec3::new(
            s.x * v.x + p.z * v.y + p.y * v.z,
            p.z * v.x + s.y * v.y + p.x * v.z,
            p.y * v.x + p.x * v.y + s.z * v.z,
        )
    }

    #[inline(always)]
    fn adjugate_times(self, v: Vec3) -> Vec3 {
        let (s, p) = (self.squares, self.products);
        let squares =
            Vec3::new(s.y * s.z - p.x * p.x, s.x * s.z - p.y * p.y, s.x * s.y - p.z * p.z);
        let products =
            Vec3::new(p.z * p.y - s.x * p.x, p.z * p.x - p.y * s.y, p.y * p.x - p.z * s.z);
        Self { squares, products }.times(v)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn neighbours_in_a_line_have_no_gradient() {
        let m = Moments { squares: 2.0 * Vec3::X, products: Vec3::ZERO };
        assert_eq!(m.solve(Vec3::Z, Vec3::X), Vec3::ZERO);
        assert_eq!(m.solve(Vec3::ZERO, Vec3::X), Vec3::ZERO);
    }
}
