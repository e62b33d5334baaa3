//! Three orthonormal directions at every vertex, from the gradient of a layer field and a primary direction.
//!
//! # Method
//!
//! `d₂ = ∇layer/|∇layer|`, `d₁` the primary direction without its part along `d₂`, `d₃ = d₁ × d₂`. Where the gradient
//! vanishes, `d₂` is the largest eigenvector of `Σ d₂d₂ᵀ` over the neighbours that have one, outwards ring by ring. If
//! the two largest eigenvalues are alike, no direction in their plane is better than another, as on the axis of a worm
//! with tube layers: then the two stretches in that plane become their geometric mean.
//!
//! # Where we differ from the paper
//!
//! The paper's three interpolated directions are not orthonormal: 0.4 rad off make `det T` 0.72 and `T ≠ 1` even for
//! `c = 1`. It says nothing of places where gradients vanish.

use glam::{DMat3, DVec3};

use super::rotation::jacobi;
use crate::mesh::TetMesh;

/// Gradients below this share of the median vanish.
const LEAST_GRADIENT: f64 = 0.05;
/// Directions that keep less than this of their length are parallel to what is taken out of them.
const LEAST_ANGLE: f64 = 0.05;

/// Which two directions are no better than any other two in their plane, and are stretched alike.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Alike {
    /// All three are what they are.
    #[default]
    None,
    /// The first and the second, as on the axis of a body with ring fibres.
    FirstSecond,
    /// The second and the third, as on the axis of a body with fibres along it.
    SecondThird,
}

/// Directions at a vertex.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Fibers {
    /// Primary, secondary, third: orthonormal and right-handed.
    pub directions: [DVec3; 3],
    /// Which of them are arbitrary in their plane.
    pub alike: Alike,
}

impl Default for Fibers {
    fn default() -> Self {
        Self { directions: [DVec3::X, DVec3::Y, DVec3::Z], alike: Alike::None }
    }
}

/// Directions from layer gradients and primary directions, one a vertex each.
#[must_use]
pub fn fibers(mesh: &TetMesh, gradients: &[DVec3], primaries: &[DVec3]) -> Vec<Fibers> {
    let rings = rings(mesh);
    let secondary = completed(gradients, &rings);
    let one = |v: usize| match secondary[v] {
        Secondary::Plane(normal) => in_plane(normal, primaries[v]),
        Secondary::Direction(d2) => {
            let (p, d2) = (primaries[v], d2);
            let across = p - p.dot(d2) * d2;
            if across.length() > LEAST_ANGLE * p.length() && p.length() > 1e-9 {
                let d1 = across.normalize();
                Fibers { directions: [d1, d2, d1.cross(d2)], alike: Alike::None }
            } else {
                // No primary direction within the layer: first and third are alike; second keeps its own.
                parallel(&rings[v], &secondary, primaries, d2)
            }
        }
        Secondary::Unknown => Fibers::default(),
    };
    (0..mesh.positions.len()).map(one).collect()
}

#[derive(Clone, Copy, Debug, PartialEq)]
enum Secondary {
    Unknown,
    Direction(DVec3),
    /// Every direction orthogonal to this one is as good.
    Plane(DVec3),
}

fn rings(mesh: &TetMesh) -> Vec<Vec<u32>> {
    let mut rings = vec![Vec::new(); mesh.positions.len()];
    for [a, b] in mesh.edges() {
        rings[a as usize].push(b);
        rings[b as usize].push(a);
    }
    rings
}

/// Secondary directions; those of vanishing gradients from their neighbours, ring by ring.
fn completed(gradients: &[DVec3], rings: &[Vec<u32>]) -> Vec<Secondary> {
    let mut sizes: Vec<f64> =
        gradients.iter().map(|g| g.length()).filter(|s| s.is_finite()).collect();
    sizes.sort_by(f64::total_cmp);
    let median = sizes.get(sizes.len() / 2).copied().unwrap_or(0.0);
    let known = |g: &DVec3| {
        if g.length() > LEAST_GRADIENT * median && median > 0.0 {
            Secondary::Direction(g.normalize())
        } else {
            Secondary::Unknown
        }
    };
    let mut all: Vec<Secondary> = gradients.iter().map(known).collect();
    // Each round settles at least one ring, or nothing is left to settle from.
    for _ in 0..gradients.len() {
        let settled: Vec<(usize, Secondary)> = (0..all.len())
            .filter(|&v| all[v] == Secondary::Unknown)
            .filter_map(|v| Some((v, from_neighbours(&rings[v], &all)?)))
            .collect();
        if settled.is_empty() {
            break;
        }
        settled.into_iter().for_each(|(v, s)| all[v] = s);
    }
    all
}

fn from_neighbours(ring: &[u32], all: &[Secondary]) -> Option<Secondary> {
    let mut sum = [[0.0; 3]; 3];
    for &n in ring {
        let matrix = match all[n as usize] {
            Secondary::Unknown => continue,
            Secondary::Direction(d) => outer(d),
            Secondary::Plane(n) => (DMat3::IDENTITY - outer(n)) * 0.5,
        };
        for (i, row) in sum.iter_mut().enumerate() {
            (0..3).for_each(|j| row[j] += matrix.col(j)[i]);
        }
    }
    let vectors = jacobi(&mut sum);
    let mut order = [0, 1, 2];
    order.sort_by(|&a, &b| sum[b][b].total_cmp(&sum[a][a]));
    let [large, middle, small] = order;
    if sum[large][large] <= 0.0 {
        return None;
    }
    let axis =
        |k: usize| DVec3::new(vectors[0][k], vectors[1][k], vectors[2][k]).normalize_or(DVec3::X);
    let ambiguous = sum[middle][middle] > 0.5 * sum[large][large];
    Some(if ambiguous { Secondary::Plane(axis(small)) } else { Secondary::Direction(axis(large)) })
}

fn outer(d: DVec3) -> DMat3 {
    DMat3::from_cols(d * d.x, d * d.y, d * d.z)
}

/// Directions where all that are orthogonal to `normal` are alike.
fn in_plane(normal: DVec3, primary: DVec3) -> Fibers {
    let (a, b) = normal.any_orthonormal_pair();
    if primary.dot(normal).abs() > 0.7 * primary.length() && primary.length() > 1e-9 {
        let d1 = normal * primary.dot(normal).signum();
        Fibers { directions: [d1, a, d1.cross(a)], alike: Alike::SecondThird }
    } else {
        // a × b = normal.
        Fibers { directions: [a, b, a.cross(b)], alike: Alike::FirstSecond }
    }
}

/// A primary direction where it is parallel to the secondary one or vanishes: that of the neighbours.
fn parallel(ring: &[u32], secondary: &[Secondary], primaries: &[DVec3], d2: DVec3) -> Fibers {
    let mut sum = DMat3::ZERO;
    for &n in ring {
        let Secondary::Direction(other) = secondary[n as usize] else { continue };
        let p = primaries[n as usize];
        sum += outer((p - p.dot(other) * other).normalize_or_zero());
    }
    let (a, b) = d2.any_orthonormal_pair();
    // The largest of the 2×2 matrix in the plane orthogonal to d₂.
    let (aa, ab, bb) = (a.dot(sum * a), a.dot(sum * b), b.dot(sum * b));
    let angle = 0.5 * libm::atan2(2.0 * ab, aa - bb);
    let d1 = libm::cos(angle) * a + libm::sin(angle) * b;
    Fibers { directions: [d1, d2, d1.cross(d2)], alike: Alike::None }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::zoo::tet_bodies;

    #[test]
    fn frames_are_orthonormal_and_right_handed_everywhere() {
        let worm = tet_bodies::build("worm", None).unwrap();
        let radial = |p: &glam::Vec3| DVec3::new(0.0, f64::from(p.y), f64::from(p.z));
        let gradients: Vec<DVec3> = worm.positions.iter().map(radial).collect();
        let rings: Vec<DVec3> = gradients.iter().map(|g| DVec3::X.cross(*g)).collect();
        let along = vec![DVec3::X; rings.len()];
        for (primaries, alike) in [(&rings, Alike::FirstSecond), (&along, Alike::SecondThird)] {
            let fibers = fibers(&worm, &gradients, primaries);
            for f in &fibers {
                let [a, b, c] = f.directions;
                let m = DMat3::from_cols(a, b, c);
                assert!((m.determinant() - 1.0).abs() < 1e-9, "{f:?}");
                assert!(
                    (m.transpose() * m - DMat3::IDENTITY)
                        .to_cols_array()
                        .iter()
                        .all(|e| e.abs() < 1e-9),
                    "{f:?}"
                );
            }
            let axis: Vec<&Fibers> = fibers
                .iter()
                .zip(&gradients)
                .filter(|(_, g)| g.length() < 1e-6)
                .map(|(f, _)| f)
                .collect();
            assert!(
                !axis.is_empty() && axis.iter().all(|f| f.alike == alike),
                "{:?}",
                axis.first()
            );
        }
    }
}
