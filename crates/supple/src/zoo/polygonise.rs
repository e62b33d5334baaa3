//! Triangle meshes of solids with exactly the wanted number of triangles.
//!
//! # Method
//!
//! The field is sampled on a grid fine enough for the solid's features and for more triangles than
//! wanted; blocks of cells far from the surface are skipped. Surface nets (crate
//! `fast-surface-nets`) give one vertex a cell the surface crosses. Vertices go onto the surface by
//! Newton steps in f64, edges collapse until the count is met ([`reduce`](super::reduce)), and the
//! triangles are evened out ([`relax`](super::relax)).
//!
//! # Where we differ
//!
//! Surface nets pinch where the inside of a cell is connected by an edge or a corner alone, which
//! happens wherever a surface grazes the grid. Before extraction the samples nearest the surface
//! change sides until no such cell is left; the signs are then well-composed and the net is a
//! manifold. Projection undoes the change. The quads are split by us, along the shorter diagonal after projection:
//! the crate's own choice uses SIMD sums whose last bit depends on the machine.
//!
//! # References
//!
//! - S. F. F. Gibson. Constrained elastic surface nets. MICCAI, 1998.
//! - L. J. Latecki. 3D well-composed pictures. Graphical Models and Image Processing, 1997.

use fast_surface_nets::ndshape::RuntimeShape;
use fast_surface_nets::{SurfaceNetsBuffer, surface_nets};
use glam::DVec3;

use super::fabric::Fabric;
use super::solid::Solid;
use super::{reduce, relax};
use crate::Run;
use crate::run::Cancelled;

/// Triangles extracted for each one wanted.
const EXCESS: f64 = 1.25;
/// Samples along the edge of a block that is skipped as a whole.
const BLOCK: usize = 4;
/// Most samples of one grid: 1 GiB of distances.
const MOST_SAMPLES: usize = 1 << 28;
/// Distance, in cells, of a sample that changed sides.
const JUST_ACROSS: f32 = 1e-3;
/// Passes over the samples in which those that pinch the surface change sides.
const SETTLING_PASSES: usize = 16;
/// How often the grid is refined before giving up.
const TRIES: usize = 12;

/// Why no mesh was made.
#[derive(Clone, Copy, Debug, PartialEq, thiserror::Error)]
pub(super) enum Error {
    /// No grid within the memory limit gives a manifold with enough triangles.
    #[error("no grid resolves the shape")]
    Unresolved,
    /// The caller asked to stop.
    #[error(transparent)]
    Cancelled(#[from] Cancelled),
}

/// A closed mesh of the solid's surface with `wanted` triangles, or as few as can be made.
pub(super) fn polygonise(
    solid: &Solid,
    wanted: usize,
    run: &Run<'_>,
) -> Result<(Vec<DVec3>, Vec<[u32; 3]>), Error> {
    let wanted = wanted.next_multiple_of(2);
    let mut fabric = extract(solid, wanted, run)?;
    reduce::reduce(&mut fabric, solid, wanted, run)?;
    relax::relax(&mut fabric, solid, run)?;
    Ok(fabric.into_mesh())
}

/// A manifold with at least `wanted` triangles near the surface.
fn extract(solid: &Solid, wanted: usize, run: &Run<'_>) -> Result<Fabric, Error> {
    let mut cell = solid.finest;
    for _ in 0..TRIES {
        let (positions, quads) = Grid::new(solid, cell)?.surface(solid, run)?;
        let count = 2 * quads.len();
        if count < wanted {
            let ratio = count.max(16) as f64 / (EXCESS * wanted as f64);
            cell *= ratio.sqrt().min(0.95);
            continue;
        }
        let positions: Vec<DVec3> = run.map(positions.len(), |v| solid.project(positions[v], 3));
        let triangles = quads.iter().flat_map(|q| split(q, &positions)).collect();
        let fabric = Fabric::new(positions, triangles);
        if is_manifold(&fabric) {
            return Ok(fabric);
        }
        cell *= 0.87;
    }
    Err(Error::Unresolved)
}

/// Samples of a field on a regular grid.
struct Grid {
    origin: DVec3,
    cell: f64,
    /// Samples along each axis, a multiple of [`BLOCK`].
    size: [usize; 3],
}

impl Grid {
    fn new(solid: &Solid, cell: f64) -> Result<Self, Error> {
        let (min, max) = solid.bounds();
        let extent = max - min;
        // Two cells of air all around; symmetric in x, so that a mirror image has mirrored cells.
        let samples = |length: f64| ((length / cell) as usize + 5).next_multiple_of(BLOCK);
        let size = [samples(extent.x), samples(extent.y), samples(extent.z)];
        let total = size.iter().try_fold(1_usize, |t, &n| t.checked_mul(n));
        if total.is_none_or(|t| t > MOST_SAMPLES) {
            return Err(Error::Unresolved);
        }
        let span = DVec3::new(size[0] as f64, size[1] as f64, size[2] as f64) - DVec3::ONE;
        let origin = 0.5 * (min + max) - 0.5 * cell * span;
        Ok(Self { origin, cell, size })
    }

    fn point(&self, x: usize, y: usize, z: usize) -> DVec3 {
        self.origin + self.cell * DVec3::new(x as f64, y as f64, z as f64)
    }

    /// The vertices and quads of the surface.
    fn surface(
        &self,
        solid: &Solid,
        run: &Run<'_>,
    ) -> Result<(Vec<DVec3>, Vec<[u32; 4]>), Cancelled> {
        let mut distances = self.sample(solid, run)?;
        make_well_composed(&mut distances, self.size);
        let size = self.size.map(|n| n as u32);
        let shape = RuntimeShape::<u32, 3>::new(size);
        let mut net = SurfaceNetsBuffer::default();
        surface_nets(&distances, &shape, [0; 3], size.map(|n| n - 1), &mut net);
        run.check()?;
        let place = |p: &[f32; 3]| self.origin + self.cell * DVec3::from(p.map(f64::from));
        let quads = net.indices.chunks_exact(6).map(|six| {
            let [a, b, c, d, e, f] = [six[0], six[1], six[2], six[3], six[4], six[5]];
            debug_assert_eq!(a, d, "the triangles of a quad start at one end of its diagonal");
            if c == e { [a, b, c, f] } else { [a, e, b, c] }
        });
        Ok((net.positions.iter().map(place).collect(), quads.collect()))
    }

    /// Distances at all samples, x fastest; far from the surface only their sign is right.
    fn sample(&self, solid: &Solid, run: &Run<'_>) -> Result<Vec<f32>, Cancelled> {
        let [nx, ny, nz] = self.size;
        let (columns, rows) = (nx / BLOCK, ny / BLOCK);
        let slabs = run.map_tasks(nz / BLOCK, |slab| {
            let mut distances = vec![0.0_f32; nx * ny * BLOCK];
            let blocks = if run.is_cancelled() { 0 } else { columns * rows };
            for block in 0..blocks {
                let corner = [block % columns, block / columns, slab].map(|k| k * BLOCK);
                self.sample_block(solid, corner, &mut distances);
            }
            distances
        });
        run.check()?;
        Ok(slabs.concat())
    }

    /// Fills the block at `[x0, y0, z0]` of a slab that starts at `z0`.
    fn sample_block(&self, solid: &Solid, [x0, y0, z0]: [usize; 3], slab: &mut [f32]) {
        let [nx, ny, _] = self.size;
        let half = 0.5 * self.cell * (BLOCK - 1) as f64;
        let middle = solid.distance(self.point(x0, y0, z0) + DVec3::splat(half));
        // Half as much again as the radius: the field is no exact distance.
        let far = middle.abs() > 1.5 * 1.733 * half + self.cell;
        for k in 0..BLOCK * BLOCK {
            let (y, z) = (y0 + k % BLOCK, k / BLOCK);
            let row = (z * ny + y) * nx;
            for x in x0..x0 + BLOCK {
                let d = if far { middle } else { solid.distance(self.point(x, y, z0 + z)) };
                slab[row + x] = (d / self.cell) as f32;
            }
        }
    }
}

/// Moves samples across the surface until no cell's inside hangs together by an edge or a corner.
fn make_well_composed(distances: &mut [f32], [nx, ny, nz]: [usize; 3]) {
    let strides = [1, nx, nx * ny];
    // What one pass changes may need a change next to it; a few passes settle.
    for _ in 0..SETTLING_PASSES {
        let mut changed = false;
        for z in 0..nz - 1 {
            for y in 0..ny - 1 {
                let row = (z * ny + y) * nx;
                for at in row..row + nx - 1 {
                    changed |= mend_cell(distances, at, strides);
                }
            }
        }
        if !changed {
            return;
        }
    }
}

/// The faces of a cell; bit 0 of a corner is x, bit 1 is y, bit 2 is z.
const FACES: [[usize; 4]; 6] =
    [[0, 1, 2, 3], [4, 5, 6, 7], [0, 1, 4, 5], [2, 3, 6, 7], [0, 2, 4, 6], [1, 3, 5, 7]];

/// Mends the cell at sample `at`; true if it had to be.
fn mend_cell(distances: &mut [f32], at: usize, [x, y, z]: [usize; 3]) -> bool {
    let corners = [0, x, y, x + y, z, z + x, z + y, z + x + y].map(|offset| at + offset);
    let inside = |distances: &[f32], k: usize| distances[corners[k]] < 0.0;
    let count = (0..8).filter(|&k| inside(distances, k)).count();
    if !(2..=6).contains(&count) {
        return false;
    }
    let is = |k: usize| inside(distances, k);
    let crossed = |[a, b, c, d]: [usize; 4]| is(a) == is(d) && is(b) == is(c) && is(a) != is(b);
    if let Some(face) = FACES.into_iter().find(|&f| crossed(f)) {
        change_side(distances, face.map(|k| corners[k]));
        return true;
    }
    let alone = |k: usize| (count == 2) == is(k) && is(k) == is(7 - k);
    let opposite = (0..4).find(|&k| (count == 2 || count == 6) && alone(k));
    if let Some(k) = opposite {
        change_side(distances, [k, 7 - k, k, 7 - k].map(|k| corners[k]));
    }
    opposite.is_some()
}

/// Moves the sample nearest the surface just across it.
fn change_side(distances: &mut [f32], candidates: [usize; 4]) {
    let nearest = candidates
        .into_iter()
        .min_by(|&a, &b| distances[a].abs().total_cmp(&distances[b].abs()).then(a.cmp(&b)));
    if let Some(i) = nearest {
        distances[i] = if distances[i] < 0.0 { JUST_ACROSS } else { -JUST_ACROSS };
    }
}

/// Splits a quad along its shorter diagonal.
fn split(&[a, b, c, d]: &[u32; 4], positions: &[DVec3]) -> [[u32; 3]; 2] {
    let length = |v: u32, w: u32| (positions[v as usize] - positions[w as usize]).length_squared();
    if length(a, c) < length(b, d) { [[a, b, c], [a, c, d]] } else { [[a, b, d], [b, c, d]] }
}

/// True if every edge has one triangle on each side and every vertex one fan of triangles.
fn is_manifold(fabric: &Fabric) -> bool {
    (0..fabric.positions.len() as u32).all(|v| {
        let mut neighbours: Vec<u32> = fabric.neighbours(v).collect();
        neighbours.sort_unstable();
        neighbours.dedup();
        let valence = fabric.around(v).len();
        let fan = neighbours.first().map_or(0, |&start| fan_length(fabric, v, start));
        neighbours.len() == valence && fan == valence
    })
}

/// Triangles passed when turning about `v` once, from its neighbour `start`.
fn fan_length(fabric: &Fabric, v: u32, start: u32) -> usize {
    let (mut at, mut length) = (start, 0);
    while let Some(next) = fabric.opposite(v, at) {
        length += 1;
        at = next;
        if at == start || length > fabric.around(v).len() {
            break;
        }
    }
    length
}
