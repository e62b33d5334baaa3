//! Smooth distance to a solid: what a closed mesh encloses.
//!
//! # Method
//!
//! Outside, the integral over the surface ([`SurfaceDistance`]), summed over samples; inside, zero. Which side a point is on
//! is told by the winding number of the same samples, `w = 1/4π Σ A n·(p − x)/|p − x|³`, above one half inside. Both are
//! rough nearer to the surface than the samples are to each other; there r is small, and a fade that begins at the spacing
//! or farther out ([`SolidDistance::new`] makes it so) sees neither: its β is one on both sides.
//!
//! # Limits
//!
//! A fade that begins on the surface itself would need samples without end: it is refused, with the least that works
//! ([`TooFine`]). An open mesh encloses nothing well: its winding number is none.
//!
//! # References
//!
//! - A. Jacobson, L. Kavan, O. Sorkine-Hornung. Robust Inside-Outside Segmentation using Generalized Winding Numbers. ACM
//!   Transactions on Graphics (SIGGRAPH), 2013.

use glam::{DVec3, Vec3};

use super::jet::Jet;
use super::smooth_distance::SurfaceDistance;
use crate::lanes::{Lanes, ScalarLanes};
use crate::lengths::Lengths as _;

/// Most samples of a solid: each costs time at every point and step.
const MOST_SAMPLES: usize = 20_000;

/// Smooth distance to what a closed mesh encloses.
#[derive(Clone, Debug, PartialEq)]
pub struct SolidDistance {
    surface: SurfaceDistance,
    /// Outer normals of the samples, as long as their areas over 4π.
    dipoles: Vec<Vec3>,
}

/// A fade begins too near to the surface of a solid.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct TooFine {
    /// The least distance at which it may begin.
    pub least: f32,
}

impl SolidDistance {
    /// The distance to what the triangles enclose, counter-clockwise seen from outside, for a fade that begins at `inner`.
    ///
    /// # Errors
    ///
    /// [`TooFine`] if that needs too many samples.
    pub fn new(positions: &[Vec3], triangles: &[[u32; 3]], inner: f32) -> Result<Self, TooFine> {
        let corners = |t: &[u32; 3]| t.map(|i| positions[i as usize]);
        let longest =
            |[a, b, c]: [Vec3; 3]| a.distance_to(b).max(b.distance_to(c)).max(c.distance_to(a));
        let pieces = |spacing: f32, t: &[u32; 3]| (longest(corners(t)) / spacing).ceil().max(1.0);
        let count =
            |spacing: f32| triangles.iter().map(|t| pieces(spacing, t).powi(2)).sum::<f32>();
        if count(inner) > MOST_SAMPLES as f32 || inner <= 0.0 {
            let size = triangles.iter().map(|t| longest(corners(t))).fold(0.0, f32::max);
            let mut least = size.max(f32::MIN_POSITIVE) / 256.0;
            // More triangles than samples are allowed for each, whatever the spacing.
            while count(least) > MOST_SAMPLES as f32 && least < size {
                least *= 1.1;
            }
            return Err(TooFine { least });
        }
        let (mut samples, mut areas, mut dipoles) = (Vec::new(), Vec::new(), Vec::new());
        for t in triangles {
            let [a, b, c] = corners(t);
            let n = pieces(inner, t) as u32;
            let share = 1.0 / (n * n) as f32;
            let area = 0.5 * share * (b - a).cross(c - a);
            for [u, v] in centroids(n) {
                samples.push(a + u * (b - a) + v * (c - a));
                areas.push(area.norm());
                dipoles.push(area / (4.0 * std::f32::consts::PI));
            }
        }
        Ok(Self { surface: SurfaceDistance::new(samples, &areas), dipoles })
    }

    /// The samples.
    #[must_use]
    pub fn points(&self) -> &[Vec3] {
        self.surface.points()
    }

    /// True distance beyond which the smooth one exceeds `d`.
    pub(crate) fn reach(&self, d: f32) -> f32 {
        self.surface.reach(d)
    }

    /// The same solid on the other side of a plane through `origin` with a unit `normal`.
    pub(crate) fn mirrored(&self, origin: Vec3, normal: Vec3) -> Self {
        let turned = |v: Vec3| v - 2.0 * normal.dot(v) * normal;
        Self {
            surface: self.surface.map(|p| origin + turned(p - origin)),
            dipoles: self.dipoles.iter().map(|&d| turned(d)).collect(),
        }
    }

    #[inline(always)]
    pub(crate) fn eval<const L: usize>(&self, x: &Lanes<L>) -> ScalarLanes<L> {
        let mut r = self.surface.eval(x);
        let mut winding = [0.0; L];
        for (&p, &dipole) in self.points().iter().zip(&self.dipoles) {
            for (i, turns) in winding.iter_mut().enumerate() {
                let to = p - x.get(i);
                let squared = to.dot(to).max(f32::MIN_POSITIVE);
                *turns += dipole.dot(to) / (squared * squared.sqrt());
            }
        }
        for (i, turns) in winding.iter().enumerate() {
            let outside = if *turns > 0.5 { 0.0 } else { 1.0 };
            r.value[i] *= outside;
            r.gradient.set(i, outside * r.gradient.get(i));
        }
        r
    }

    pub(crate) fn jet(&self, x: DVec3) -> Jet {
        let dipoles = self.points().iter().zip(&self.dipoles);
        let winding: f64 = dipoles
            .map(|(p, d)| {
                let to = p.as_dvec3() - x;
                d.as_dvec3().dot(to) / to.length().powi(3).max(f64::MIN_POSITIVE)
            })
            .sum();
        if winding > 0.5 { Jet::constant(0.0) } else { self.surface.jet(x) }
    }
}

/// Where the centroids of a triangle's n² equal parts lie, along its first and its second side.
fn centroids(n: u32) -> impl Iterator<Item = [f32; 2]> {
    let third = 1.0 / (3 * n) as f32;
    let step = 1.0 / n as f32;
    (0..n).flat_map(move |i| {
        (0..n - i).flat_map(move |j| {
            let (u, v) = (i as f32 * step, j as f32 * step);
            let upright = [u + third, v + third];
            let turned = [u + 2.0 * third, v + 2.0 * third];
            std::iter::once(upright).chain((i + j + 1 < n).then_some(turned))
        })
    })
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{Run, zoo};

    fn value(solid: &SolidDistance, x: Vec3) -> f32 {
        solid.eval(&Lanes::<1>::gather(&[x], &[0])).value[0]
    }

    #[test]
    fn the_parts_of_a_triangle_have_its_middle_and_its_number() {
        for n in 1..6 {
            let all: Vec<_> = centroids(n).collect();
            assert_eq!(all.len() as u32, n * n);
            for k in 0..2 {
                let mean = all.iter().map(|c| c[k]).sum::<f32>() / all.len() as f32;
                assert!((mean - 1.0 / 3.0).abs() < 1e-5, "{n}: {mean}");
            }
        }
    }

    /// Zero in it, however deep; outside the distance, nearly, and the same for any mesh of the shape.
    #[test]
    fn a_box_is_a_solid_for_any_mesh() {
        let boxes = [12, 300, 3000].map(|triangles| {
            let size = zoo::Size { triangles: Some(triangles) };
            let mesh = zoo::build("box", &size, &Run::default()).unwrap().meshes.swap_remove(0);
            SolidDistance::new(&mesh.positions, &mesh.triangles, 0.1).unwrap()
        });
        for solid in &boxes {
            for x in [Vec3::ZERO, Vec3::splat(0.8), Vec3::new(0.0, -0.85, 0.3)] {
                assert_eq!(value(solid, x), 0.0, "{x} is inside");
                assert_eq!(solid.jet(x.as_dvec3()), Jet::constant(0.0), "{x}");
            }
            // Over the middle of a face it is as over a plane, but for what the plane has beyond the edge.
            let over = value(solid, Vec3::new(0.1, 1.1, 0.0));
            assert!((over - 0.1).abs() < 2e-3, "{over}");
        }
        for k in 0..50 {
            let t = 0.618 * k as f32;
            let x = Vec3::new((3.1 * t).sin(), 1.0 + 0.4 * (0.3 + t.sin().abs()), (5.9 * t).sin());
            let [a, b, c] = [0, 1, 2].map(|i| value(&boxes[i], x));
            // As near as the samples are to each other, they show a little.
            assert!((a - b).abs() < 5e-3 * a && (b - c).abs() < 5e-3 * b, "{x}: {a} {b} {c}");
            let slope = boxes[0].jet(x.as_dvec3()).gradient.as_vec3();
            let found = boxes[0].eval(&Lanes::<1>::gather(&[x], &[0])).gradient.get(0);
            assert!(found.abs_diff_eq(slope, 1e-4), "{x}: {found} {slope}");
        }
    }

    #[test]
    fn a_fade_from_the_surface_itself_is_refused_with_what_works() {
        let mesh = zoo::build("torus", &zoo::Size { triangles: Some(800) }, &Run::default());
        let mesh = mesh.unwrap().meshes.swap_remove(0);
        let refused = |inner| SolidDistance::new(&mesh.positions, &mesh.triangles, inner);
        let least = refused(0.0).unwrap_err().least;
        assert!(refused(1.01 * least).is_ok(), "{least}");
        assert!(refused(0.5 * least).is_err(), "{least}");
    }
}
