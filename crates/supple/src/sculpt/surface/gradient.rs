//! ∇s at a vertex from its neighbours, by least squares with no part along its disc normal.

use glam::Vec4Swizzles as _;

use super::Row;

/// Neighbours in nearly one line have no gradient across it.
const FLAT: f32 = 1e-6;

/// `Σ d dᵀ` over the offsets d to the neighbours.
#[derive(Clone, Copy, Default)]
pub(super) struct Moments {
    /// `xx, yy, zz`.
    pub(super) squares: Row,
    /// `yz, xz, xy`.
    pub(super) products: Row,
}

impl Moments {
    /// Adds an offset.
    #[inline(always)]
    pub(super) fn add(&mut self, d: Row) {
        self.squares += d * d;
        self.products += d.yzxw() * d.zxyw();
    }

    /// The vector across a unit vector n that fits `Σ Δs d` best; zero where the neighbours lie in one
    /// line, seen along n.
    #[inline(always)]
    pub(super) fn solve(self, n: Row, right: Row) -> Row {
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
    fn times(self, v: Row) -> Row {
        let (s, p) = (self.squares, self.products);
        s * v + p.zxyw() * v.yzxw() + p.yzxw() * v.zxyw()
    }

    #[inline(always)]
    fn adjugate_times(self, v: Row) -> Row {
        let (s, p) = (self.squares, self.products);
        let squares = s.yzxw() * s.zxyw() - p * p;
        let products = p.zxyw() * p.yzxw() - s * p;
        Self { squares, products }.times(v)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn neighbours_in_a_line_have_no_gradient() {
        let m = Moments { squares: 2.0 * Row::X, products: Row::ZERO };
        assert_eq!(m.solve(Row::Z, Row::X), Row::ZERO);
        assert_eq!(m.solve(Row::ZERO, Row::X), Row::ZERO);
    }
}
