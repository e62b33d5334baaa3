//! A streak surface as a mesh, at a moment.

use glam::{DVec3, Vec3, Vec4};

use super::opacity::{self, Shade, Sheet};
use super::{Emitter, Error, Ring};
use crate::Run;
use crate::flow::Flow;
use crate::flow::advect::{self, Tracer, is_alive};
use crate::mesh::attribute::{COLOR, NORMAL};
use crate::mesh::{TriMesh, Values};

/// Opacity seen face on, all terms together, [`Values::Scalar`].
pub const ALPHA: &str = "alpha";

/// A streak surface at a moment: columns, the oldest first.
#[derive(Clone, Debug)]
pub struct Surface {
    /// Positions and triangles, with the attributes `color` (white, its fourth number the alpha), `normal`, `row`,
    /// `born`, `age`, `alpha`, and the terms `density`, `shape`, `curvature`, `fade`.
    pub mesh: TriMesh,
    /// The flow's time.
    pub time: f64,
    /// Columns and rows of the vertices.
    pub size: [usize; 2],
    /// Vertices that left the fluid.
    pub dead: usize,
}

impl Emitter {
    /// The surface of a ring so long after its newest release: a share of a step, from 0 (included) to 1 (not).
    ///
    /// # Errors
    ///
    /// [`Error::Unreadable`] if a level of the flow cannot be read.
    pub fn surface(
        &self,
        ring: &Ring,
        flow: &Flow,
        share: f64,
        run: &Run<'_>,
    ) -> Result<Surface, Error> {
        let now = self.time(ring) + share * self.params.dt;
        if share <= 0.0 {
            return Ok(run.install(|| self.surface_of(ring, &[], now, run)));
        }
        // A partial step, forgotten afterwards; the strip at the seeds is growing.
        let mut moved = ring.clone();
        moved.advance(flow, [self.time(ring), now], run)?;
        let seeds: Vec<Tracer> = self.seeds.at(now).into_iter().map(advect::tracer).collect();
        Ok(run.install(|| self.surface_of(&moved, &seeds, now, run)))
    }

    fn surface_of(&self, ring: &Ring, growing: &[Tracer], now: f64, run: &Run<'_>) -> Surface {
        let mut columns: Vec<(f64, &[Tracer])> = (0..ring.live()).map(|i| ring.column(i)).collect();
        let life = self.params.columns as f64 * self.params.dt;
        let mut last_strip = 1.0;
        if !growing.is_empty() {
            last_strip = ((now - columns[columns.len() - 1].0) / self.params.dt) as f32;
            columns.push((now, growing));
        }
        let rows = self.params.rows;
        let middle = middle_of(columns[columns.len() - 1].1);
        let mut sheet = Sheet {
            rows,
            columns: vec![0.0; 4 * rows * columns.len()],
            life: columns.iter().map(|column| ((now - column.0) / life).clamp(0.0, 1.0)).collect(),
            last_strip,
        };
        run.for_each_piece(&mut sheet.columns, 4 * rows, |start, block| {
            lay_out(columns[start / (4 * rows)].1, middle, block);
        });
        let mut shade = Shade::default();
        opacity::shade(&sheet, &self.params.opacity, self.k, &mut shade, run);
        let mesh = mesh_of(&columns, &shade, now, run);
        let dead = columns.iter().flat_map(|c| c.1).filter(|x| !is_alive(x)).count();
        Surface { mesh, time: now, size: [columns.len(), rows], dead }
    }
}

fn middle_of(column: &[Tracer]) -> [f64; 3] {
    let n = column.len() as f64;
    [0, 1, 2].map(|c| column.iter().map(|x| x[c]).sum::<f64>() / n)
}

/// A column as all x, all y, all z, all alive, relative to a place.
fn lay_out(column: &[Tracer], middle: [f64; 3], block: &mut [f32]) {
    let rows = column.len();
    for (row, x) in column.iter().enumerate() {
        for c in 0..3 {
            block[c * rows + row] = (x[c] - middle[c]) as f32;
        }
        block[3 * rows + row] = if is_alive(x) { 1.0 } else { 0.0 };
    }
}

fn mesh_of(columns: &[(f64, &[Tracer])], shade: &Shade, now: f64, run: &Run<'_>) -> TriMesh {
    let rows = columns[0].1.len();
    let count = rows * columns.len();
    let place = |i: usize| {
        let [x, y, z, _] = columns[i / rows].1[i % rows];
        DVec3::new(x, y, z).as_vec3()
    };
    let (positions, triangles) = run.join(|| run.map(count, place), || triangles_of(columns));
    let mut mesh = TriMesh::new(positions, triangles);
    let of_columns = |f: &dyn Fn(usize, &mut Vec<f32>)| {
        let mut values = Vec::with_capacity(count);
        (0..columns.len()).for_each(|column| f(column, &mut values));
        Values::Scalar(values)
    };
    let term = |channel: usize| {
        of_columns(&|column, out| out.extend_from_slice(shade.channel(column, channel)))
    };
    let each = |value: &dyn Fn(usize) -> f32| {
        of_columns(&|column, out| out.extend(std::iter::repeat_n(value(column), rows)))
    };
    let attributes = &mut mesh.attributes;
    attributes.set(ALPHA.to_owned(), term(opacity::ALPHA));
    attributes.set("density".to_owned(), term(opacity::DENSITY));
    attributes.set("shape".to_owned(), term(opacity::SHAPE));
    attributes.set("curvature".to_owned(), term(opacity::CURVATURE));
    attributes.set("fade".to_owned(), each(&|column| shade.fade()[column]));
    let row = of_columns(&|_, out| out.extend((0..rows).map(|row| row as f32)));
    attributes.set("row".to_owned(), row);
    attributes.set("born".to_owned(), each(&|column| columns[column].0 as f32));
    attributes.set("age".to_owned(), each(&|column| (now - columns[column].0).abs() as f32));
    let (normals, colors) = run.join(
        || run.map(count, |i| Vec3::from([0, 1, 2].map(|c| shade.channel(i / rows, c)[i % rows]))),
        || {
            run.map(count, |i| {
                Vec4::new(1.0, 1.0, 1.0, shade.channel(i / rows, opacity::ALPHA)[i % rows])
            })
        },
    );
    attributes.set(NORMAL.to_owned(), Values::Vec3(normals));
    attributes.set(COLOR.to_owned(), Values::Vec4(colors));
    mesh
}

/// Two triangles a cell, without those that have a vertex outside the fluid.
fn triangles_of(columns: &[(f64, &[Tracer])]) -> Vec<[u32; 3]> {
    let rows = columns[0].1.len();
    let mut triangles = Vec::with_capacity(2 * rows * columns.len());
    for (i, pair) in columns.windows(2).enumerate() {
        let (older, newer) = (pair[0].1, pair[1].1);
        let (a, b) = ((i * rows) as u32, ((i + 1) * rows) as u32);
        for j in 0..rows - 1 {
            let k = j as u32;
            let diagonal = is_alive(&older[j + 1]) && is_alive(&newer[j]);
            if diagonal && is_alive(&older[j]) {
                triangles.push([a + k, a + k + 1, b + k]);
            }
            if diagonal && is_alive(&newer[j + 1]) {
                triangles.push([b + k, a + k + 1, b + k + 1]);
            }
        }
    }
    triangles
}
