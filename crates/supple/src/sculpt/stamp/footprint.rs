//! The fields of a contact: full in it, fading around it.
//!
//! The contact's triangles become samples, each with the area it stands for, not farther apart than an
//! eighth of the fade: cells of a grid with that edge, with at least the area of a cell's face, so that
//! thin triangles count as well. No point of the contact is then farther than two thirds of the fade
//! from r = 0, and the inner region can hold all of it. A contact smaller than the fade gets the area of
//! a disc as wide as the fade: that is where a smooth distance to a point is the distance itself.

use std::collections::BTreeMap;

use glam::{DVec3, IVec3, Vec3};

use super::Stamp;
use crate::field::smooth_distance::SurfaceDistance;
use crate::field::{Fade, Field, Generator, Influence, Phase, Region, RigidMotion};
use crate::lanes::Lanes;
use crate::mesh::measure::Bounds;
use crate::sculpt::error::Problem;

/// Edge of a cell, as a share of the fade.
const CELL: f32 = 0.125;

/// Pieces that an edge of a triangle is cut into at most.
const MOST_PIECES: f32 = 256.0;

/// A part of the contact.
#[derive(Default)]
struct Patch {
    samples: Vec<Vec3>,
    areas: Vec<f32>,
    /// Vertices of the contact.
    vertices: Vec<Vec3>,
}

/// Where a tool touches.
pub(super) struct Footprint {
    outer: f32,
    patches: Vec<Patch>,
}

/// What falls into one cell.
#[derive(Default)]
struct Cell {
    weighted: DVec3,
    area: f64,
    vertices: Vec<Vec3>,
}

impl Footprint {
    /// The contact of some triangles, with a fade as wide as `outer`.
    pub(super) fn new(
        outer: f32,
        positions: &[Vec3],
        triangles: &[[u32; 3]],
        contact: &[u32],
    ) -> Self {
        let edge = CELL * outer;
        let mut cells: BTreeMap<[i32; 3], Cell> = BTreeMap::new();
        let key = |p: Vec3| (p / edge).floor().as_ivec3().to_array();
        for &t in contact {
            let corners = triangles[t as usize].map(|v| positions[v as usize]);
            for p in corners {
                cells.entry(key(p)).or_default().vertices.push(p);
            }
            spread(corners, edge, |p, area| {
                let cell = cells.entry(key(p)).or_default();
                cell.area += area;
                cell.weighted += area * p.as_dvec3();
            });
        }
        Self { outer, patches: patches(cells, outer) }
    }

    /// One phase for each part: they do not reach each other, so the order does not matter.
    pub(super) fn phases(&self, stamp: &Stamp, shift: Vec3) -> Result<Vec<Phase>, Problem> {
        let phase = |patch: &Patch| {
            let fields = vec![patch.field(stamp, self.outer, shift)?];
            Ok(Phase { fields, duration: 1.0 })
        };
        self.patches.iter().map(phase).collect()
    }
}

impl Patch {
    fn field(&self, stamp: &Stamp, outer: f32, shift: Vec3) -> Result<Field, Problem> {
        let distance = self.distance(outer);
        let farthest = |d: f32, k: usize| {
            let lanes = Lanes::<1>::gather(&self.vertices, &[k]);
            d.max(distance.eval(&lanes).value[0])
        };
        // A hair more: what is on the border must not fall outside by rounding.
        let contact = 1.0001 * (0..self.vertices.len()).fold(0.0, farthest);
        let inner = stamp.inner.max(contact);
        if inner >= outer {
            return Err(Problem::EmptyFade { inner, outer });
        }
        let center = self.samples.iter().sum::<Vec3>() / self.samples.len() as f32;
        let motion = RigidMotion::Translation { velocity: shift };
        let fade = Fade { region: Region::Surface(distance), motion, inner, outer };
        let generator = Generator::translation(center, shift);
        let mut field = Field::new(Influence::Fade(fade), generator, motion);
        field.lateral = stamp.lateral;
        for keep in &stamp.keep {
            field.masks.push(keep.fade()?);
        }
        Ok(field)
    }

    fn distance(&self, outer: f32) -> SurfaceDistance {
        let disc = std::f32::consts::PI * outer * outer;
        let total: f32 = self.areas.iter().sum();
        let scale = (disc / total).max(1.0);
        let areas: Vec<f32> = self.areas.iter().map(|a| scale * a).collect();
        SurfaceDistance::new(self.samples.clone(), &areas)
    }
}

/// Cuts a triangle into pieces no larger than `edge`; tells the middle and the area of each.
fn spread([a, b, c]: [Vec3; 3], edge: f32, mut tell: impl FnMut(Vec3, f64)) {
    let longest = a.distance(b).max(b.distance(c)).max(c.distance(a));
    let n = (longest / edge).ceil().clamp(1.0, MOST_PIECES);
    let (u, v) = ((b - a) / n, (c - a) / n);
    let area = 0.5 * f64::from(u.cross(v).length());
    let n = n as u32;
    for i in 0..n {
        for j in 0..n - i {
            let corner = a + i as f32 * u + j as f32 * v;
            tell(corner + (u + v) / 3.0, area);
            if i + j + 1 < n {
                tell(corner + 2.0 / 3.0 * (u + v), area);
            }
        }
    }
}

/// Cells that may feel each other, as one part each.
fn patches(cells: BTreeMap<[i32; 3], Cell>, outer: f32) -> Vec<Patch> {
    let edge = CELL * outer;
    let keys: Vec<IVec3> = cells.keys().map(|&k| IVec3::from_array(k)).collect();
    let group = groups(&keys);
    let count = group.iter().max().map_or(0, |g| g + 1);
    let mut patches: Vec<Patch> = (0..count).map(|_| Patch::default()).collect();
    for (cell, g) in cells.into_values().zip(group) {
        let patch = &mut patches[g];
        let weighted = (cell.weighted / cell.area).as_vec3();
        patch.samples.push(if cell.area > 0.0 { weighted } else { cell.vertices[0] });
        patch.areas.push((cell.area as f32).max(edge * edge));
        patch.vertices.extend(cell.vertices);
    }
    while let Some([first, second]) = touching(&patches, outer) {
        let joined = patches.swap_remove(second);
        let patch = &mut patches[first];
        patch.samples.extend(joined.samples);
        patch.areas.extend(joined.areas);
        patch.vertices.extend(joined.vertices);
    }
    patches
}

/// The group of each cell: those less than two widths of the fade apart are in one.
fn groups(keys: &[IVec3]) -> Vec<usize> {
    let reach = (2.0 / CELL) as i32;
    let mut group = vec![usize::MAX; keys.len()];
    let mut count = 0;
    for seed in 0..keys.len() {
        if group[seed] != usize::MAX {
            continue;
        }
        let mut open = vec![seed];
        group[seed] = count;
        while let Some(k) = open.pop() {
            for other in 0..keys.len() {
                let near = (keys[other] - keys[k]).abs().max_element() <= reach;
                if near && group[other] == usize::MAX {
                    group[other] = count;
                    open.push(other);
                }
            }
        }
        count += 1;
    }
    group
}

/// Two parts whose fades may overlap, the first such pair.
fn touching(patches: &[Patch], outer: f32) -> Option<[usize; 2]> {
    let felt: Vec<Option<Bounds>> =
        patches.iter().map(|p| Region::Surface(p.distance(outer)).bounds(outer)).collect();
    let overlap = |i: usize, j: usize| match (&felt[i], &felt[j]) {
        (Some(a), Some(b)) => a.overlaps(b),
        _ => false,
    };
    let pairs = (0..patches.len()).flat_map(|i| (i + 1..patches.len()).map(move |j| [i, j]));
    pairs.into_iter().find(|&[i, j]| overlap(i, j))
}
