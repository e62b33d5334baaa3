//! A surface of smoke as a shape, at a moment.

use std::sync::{Arc, Mutex};

use glam::{Vec3, Vec4};

use super::grow::Column;
use super::opacity::{self, Shade, Sheet};
use super::{Emitter, Error, Ring};
use crate::Run;
use crate::flow::Flow;
use crate::flow::advect::{Tracer, is_alive};
use crate::mesh::attribute::{COLOR, NORMAL};
use crate::mesh::{Attributes, Shape, Topology, TriMesh, Values};

/// Opacity seen face on, all terms together, [`Values::Scalar`].
pub const ALPHA: &str = "alpha";

/// Surfaces with fewer vertices are one thread's work: to wake another takes longer.
const SMALL: usize = 12_000;

/// A share of a step that is rounding.
const NO_TIME: f64 = 1e-9;

/// A surface at a moment: columns, the oldest first.
#[derive(Clone, Debug)]
pub struct Surface {
    /// Positions and triangles, with the channels `color` (white, its fourth number the alpha), `normal`, `row`,
    /// `born`, `age`, `alpha`, and the terms `density`, `shape`, `curvature`, `fade`.
    pub shape: Shape,
    /// The flow's time.
    pub time: f64,
    /// Columns and rows of the vertices.
    pub size: [usize; 2],
    /// Vertices that left the fluid.
    pub dead: usize,
}

impl Surface {
    /// It as a mesh.
    #[must_use]
    pub fn into_mesh(self) -> TriMesh {
        let Shape { topology, positions, channels } = self.shape;
        let mut mesh = TriMesh::new(positions, topology.triangles().to_vec());
        mesh.attributes = channels;
        mesh
    }
}

/// How the vertices of whole columns hang together, made once for each number of columns.
#[derive(Clone, Debug, Default)]
pub(super) struct Known(Arc<Mutex<Topologies>>);

/// Memory of surfaces that were made and shown, to be written again.
#[derive(Clone, Debug, Default)]
pub(super) struct Spare(Arc<Mutex<Memory>>);

#[derive(Debug, Default)]
struct Memory {
    /// What surfaces are computed in: columns laid out, and their shade.
    computed: Vec<(Vec<f32>, Shade)>,
    /// Lists of surfaces that were handed back.
    shown: Vec<(Vec<Vec3>, Attributes)>,
}

/// Surfaces whose memory is kept: one that is made and one that comes back meanwhile.
const SPARE: usize = 2;

impl Spare {
    fn get(&self) -> std::sync::MutexGuard<'_, Memory> {
        self.0.lock().unwrap_or_else(std::sync::PoisonError::into_inner)
    }

    /// Keeps what a surface was computed in.
    fn keep(&self, columns: Vec<f32>, shade: Shade) {
        let computed = &mut self.get().computed;
        if computed.len() < SPARE {
            computed.push((columns, shade));
        }
    }

    /// Keeps the lists of a surface that nobody needs any more.
    fn take_back(&self, shape: Shape) {
        let shown = &mut self.get().shown;
        if shown.len() < SPARE {
            shown.push((shape.positions, shape.channels));
        }
    }
}

/// By the number of columns.
type Topologies = Vec<(usize, Arc<Topology>)>;

/// Topologies kept: with and without the strip that grows at the seeds.
const KNOWN: usize = 2;

impl Known {
    fn get(&self, columns: usize, make: impl FnOnce() -> Vec<[u32; 3]>) -> Arc<Topology> {
        let mut known = self.0.lock().unwrap_or_else(std::sync::PoisonError::into_inner);
        if let Some((_, topology)) = known.iter().find(|known| known.0 == columns) {
            return Arc::clone(topology);
        }
        let topology = Arc::new(Topology::Triangles(make()));
        known.truncate(KNOWN - 1);
        known.insert(0, (columns, Arc::clone(&topology)));
        topology
    }
}

impl Emitter {
    /// The surface of a ring so long after its last step: a share of a step, from 0 (included) to 1 (not).
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
        let share = if share < NO_TIME { 0.0 } else { share };
        let now = self.time(ring) + share * self.params.dt;
        let moved = self.moved(ring, flow, now, run)?;
        let (columns, end_strips) = self.columns(ring, moved.as_ref(), now);
        let small = columns.len() * self.seeds.rows() < SMALL;
        let run = if small { Run { threads: None, ..*run } } else { *run };
        Ok(run.install(|| self.surface_of(&columns, end_strips, now, &run)))
    }

    /// Takes back a surface that nobody needs any more: the next is written into its memory.
    pub fn take_back(&self, shape: Shape) {
        self.spare.take_back(shape);
    }

    fn surface_of(
        &self,
        columns: &[Column<'_>],
        end_strips: [f32; 2],
        now: f64,
        run: &Run<'_>,
    ) -> Surface {
        let (rows, life) = (self.seeds.rows(), self.life());
        let (middle, up) = (middle_of(columns.last()), self.params.vertical_scale);
        let (mut laid_out, mut shade) = self.spare.get().computed.pop().unwrap_or_default();
        laid_out.resize(4 * rows * columns.len(), 0.0);
        let mut sheet = Sheet {
            rows,
            columns: laid_out,
            life: columns.iter().map(|column| (column.age / life).clamp(0.0, 1.0)).collect(),
            end_strips,
            joined: self.joined.clone(),
        };
        run.for_each_piece(&mut sheet.columns, 4 * rows, |start, block| {
            lay_out(columns[start / (4 * rows)].vertices, middle, up, block);
        });
        opacity::shade(&sheet, &self.params.opacity, self.k, &mut shade, run);
        let dead = |block: &[f32]| block[3 * rows..].iter().filter(|alive| **alive <= 0.0).count();
        let dead: usize = sheet.columns.chunks_exact(4 * rows).map(dead).sum();
        let topology = if dead == 0 {
            self.known.get(columns.len(), || triangles_of(columns, &self.joined))
        } else {
            Arc::new(Topology::Triangles(triangles_of(columns, &self.joined)))
        };
        let (positions, channels) = self.spare.get().shown.pop().unwrap_or_default();
        let lists = Lists::of(positions, channels);
        let (positions, channels) = lists.filled(columns, rows, &shade, up, run);
        self.spare.keep(sheet.columns, shade);
        let shape = Shape { topology, positions, channels };
        Surface { shape, time: now, size: [columns.len(), rows], dead }
    }
}

fn middle_of(column: Option<&Column<'_>>) -> [f64; 3] {
    let vertices = column.map_or(&[][..], |column| column.vertices);
    let n = vertices.len().max(1) as f64;
    [0, 1, 2].map(|c| vertices.iter().map(|x| x[c]).sum::<f64>() / n)
}

/// A column as all x, all y, all z, all alive, relative to a place.
fn lay_out(column: &[Tracer], middle: [f64; 3], up: f64, block: &mut [f32]) {
    let rows = column.len();
    let (x, rest) = block.split_at_mut(rows);
    let (y, rest) = rest.split_at_mut(rows);
    let (z, alive) = rest.split_at_mut(rows);
    for (row, p) in column.iter().enumerate() {
        x[row] = (p[0] - middle[0]) as f32;
        y[row] = (p[1] - middle[1]) as f32;
        z[row] = (up * (p[2] - middle[2])) as f32;
        alive[row] = if is_alive(p) { 1.0 } else { 0.0 };
    }
}

/// What a channel is filled with.
#[derive(Clone, Copy)]
enum Channel {
    Term(usize),
    Fade,
    Row,
    Born,
    Age,
}

const CHANNELS: [(&str, Channel); 8] = [
    (ALPHA, Channel::Term(opacity::ALPHA)),
    ("density", Channel::Term(opacity::DENSITY)),
    ("shape", Channel::Term(opacity::SHAPE)),
    ("curvature", Channel::Term(opacity::CURVATURE)),
    ("fade", Channel::Fade),
    ("row", Channel::Row),
    ("born", Channel::Born),
    ("age", Channel::Age),
];

/// The lists of a surface: positions and channels.
#[derive(Default)]
struct Lists {
    positions: Vec<Vec3>,
    scalars: [Vec<f32>; CHANNELS.len()],
    normals: Vec<Vec3>,
    colors: Vec<Vec4>,
}

impl Lists {
    /// Those of an earlier surface, as far as they are there, empty.
    fn of(mut positions: Vec<Vec3>, mut channels: Attributes) -> Self {
        positions.clear();
        let mut lists = Self { positions, ..Self::default() };
        for ((name, _), list) in CHANNELS.iter().zip(&mut lists.scalars) {
            if let Some(Values::Scalar(old)) = channels.remove(name) {
                *list = old;
                list.clear();
            }
        }
        if let Some(Values::Vec3(old)) = channels.remove(NORMAL) {
            lists.normals = old;
            lists.normals.clear();
        }
        if let Some(Values::Vec4(old)) = channels.remove(COLOR) {
            lists.colors = old;
            lists.colors.clear();
        }
        lists
    }

    /// Positions and channels of all vertices: lists that are filled side by side.
    fn filled(
        self,
        columns: &[Column<'_>],
        rows: usize,
        shade: &Shade,
        up: f64,
        run: &Run<'_>,
    ) -> (Vec<Vec3>, Attributes) {
        let Self { mut positions, mut scalars, mut normals, mut colors } = self;
        let count = rows * columns.len();
        let scalars_filled = || {
            run.for_each_piece(&mut scalars, 1, |i, values| {
                values[0].reserve_exact(count);
                fill(CHANNELS[i].1, columns, rows, shade, &mut values[0]);
            });
        };
        let positions_filled = || {
            positions.reserve_exact(count);
            for column in columns {
                let place = |p: &Tracer| Vec3::new(p[0] as f32, p[1] as f32, (up * p[2]) as f32);
                positions.extend(column.vertices.iter().map(place));
            }
        };
        let vectors_filled = || {
            normals.reserve_exact(count);
            colors.reserve_exact(count);
            for column in 0..columns.len() {
                let [x, y, z, alpha] = [0, 1, 2, opacity::ALPHA].map(|c| shade.channel(column, c));
                let normal = x.iter().zip(y).zip(z).map(|((x, y), z)| Vec3::new(*x, *y, *z));
                normals.extend(normal);
                colors.extend(alpha.iter().map(|a| Vec4::new(1.0, 1.0, 1.0, *a)));
            }
        };
        run.join(|| run.join(positions_filled, scalars_filled), vectors_filled);
        let mut channels = Attributes::default();
        for ((name, _), values) in CHANNELS.iter().zip(scalars) {
            channels.set((*name).to_owned(), Values::Scalar(values));
        }
        channels.set(NORMAL.to_owned(), Values::Vec3(normals));
        channels.set(COLOR.to_owned(), Values::Vec4(colors));
        (positions, channels)
    }
}

fn fill(
    channel: Channel,
    columns: &[Column<'_>],
    rows: usize,
    shade: &Shade,
    values: &mut Vec<f32>,
) {
    for (i, column) in columns.iter().enumerate() {
        let same = |value: f64| std::iter::repeat_n(value as f32, rows);
        match channel {
            Channel::Term(term) => values.extend_from_slice(shade.channel(i, term)),
            Channel::Fade => values.extend(same(f64::from(shade.fade()[i]))),
            Channel::Row => values.extend((0..rows).map(|row| row as f32)),
            Channel::Born => values.extend(same(column.born)),
            Channel::Age => values.extend(same(column.age)),
        }
    }
}

/// Two triangles a cell, without those that have a vertex outside the fluid or lie in a gap.
fn triangles_of(columns: &[Column<'_>], joined: &[f32]) -> Vec<[u32; 3]> {
    let rows = columns.first().map_or(1, |column| column.vertices.len());
    let mut triangles = Vec::with_capacity(2 * rows * columns.len());
    for (i, pair) in columns.windows(2).enumerate() {
        let (older, newer) = (pair[0].vertices, pair[1].vertices);
        let (a, b) = ((i * rows) as u32, ((i + 1) * rows) as u32);
        for j in 0..rows - 1 {
            let k = j as u32;
            let is_joined = joined.get(j).is_none_or(|joined| *joined > 0.0);
            let diagonal = is_joined && is_alive(&older[j + 1]) && is_alive(&newer[j]);
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
