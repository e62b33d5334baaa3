//! Baked motion as morph targets with a weights animation.
//!
//! # Method
//!
//! The mesh is frame 0; every later frame is a morph target, its displacement from frame 0. At the
//! time of frame `i` the weight of target `i` is one and all others zero, with linear interpolation
//! between: a time between two frames shows the straight mix of both, and without animation the
//! first frame is seen.
//!
//! Normals are morphed too, or light would stand still on a moving body. They are angle-weighted
//! normals of each frame, smooth across vertices that had one place and one normal at rest (a
//! texture seam does not show) and sharp where the body at rest has different normals (a hard edge
//! stays hard).
//!
//! # Limits
//!
//! A key has a weight for every frame. Takes of more than 256 frames name only the weights that are not
//! zero (a sparse accessor, `long_takes_do_not_grow_with_the_square_of_their_frames`), and are read as they are
//! written; other programs may make `4 n²` bytes of it. A file ends at 4 GB (`24` bytes a vertex and frame). Frames are asked
//! for twice, first for their bounds, which stand before the data in the file; only one is in
//! memory at a time. Skin and morph targets of the body are not written: they are baked.

use std::borrow::Cow;
use std::io::{self, Write};

use glam::Vec3;
use serde_json::{Map, Value, json};

use super::buffer::{Buffer, Layout, Target, bounds, insert_list};
use super::write::{Pictures, check_mesh, header, invalid, named, push_times};
use super::write_mesh;
use crate::io::Take;
use crate::mesh::attribute::{NORMAL, TANGENT};
use crate::mesh::surface_frames::SurfaceFrames;
use crate::mesh::{TriMesh, Values};
use crate::rig::asset::UvOrigin;
use crate::run::Run;

/// Takes up to this length write all their weights, as the oldest programs want it.
const DENSE_FRAMES: usize = 256;

/// Writes baked takes into one binary glTF file: a mesh each, all moved by one animation.
///
/// The positions of a take are in the space of the file: nodes of its asset are not written.
///
/// # Errors
///
/// Whatever `out` or a take reports; [`io::ErrorKind::InvalidInput`] if a take has no frames, not
/// exactly one mesh, or positions that are not finite, or if the file would need more than 4 GB.
pub fn write_takes(takes: &mut [Take<'_>], out: &mut impl Write) -> io::Result<()> {
    let bodies =
        takes.iter_mut().map(FirstFrame::at_first_frame).collect::<io::Result<Vec<_>>>()?;
    let mut plan = Plan::default();
    let mut document = plan.lay_out(takes, &bodies);
    plan.buffer.check_length()?;
    for target in &plan.targets {
        let displacements =
            displacements(&mut takes[target.take], &bodies[target.take], target.frame)?;
        let (min, max) = bounds(&displacements);
        plan.buffer.set_bounds(target.accessor, &min.to_array(), &max.to_array());
    }
    insert_list(&mut document, "animations", plan.animation.take().into_iter().collect());
    let Plan { buffer, pieces, .. } = plan;
    let mut frame = Vec::new();
    let mut make = |id: usize| {
        match pieces[id] {
            Piece::Positions { take, frame: i } => {
                frame = displacements(&mut takes[take], &bodies[take], i)?;
                Ok(bytemuck::cast_slice(&frame).to_vec())
            }
            // Normals and tangents follow the positions of the same frame.
            Piece::Normals { take } => {
                Ok(bytemuck::cast_slice(&bodies[take].normal_changes(&frame)).to_vec())
            }
            Piece::Tangents { take } => {
                Ok(bytemuck::cast_slice(&bodies[take].tangent_changes(&frame)).to_vec())
            }
            Piece::Weights { frames } => Ok(bytemuck::cast_slice(&one_at_a_time(frames)).to_vec()),
        }
    };
    buffer.write_glb(document, &mut make, out)
}

/// What is made while the file is written.
#[derive(Clone, Copy)]
enum Piece {
    Positions { take: usize, frame: u32 },
    Normals { take: usize },
    Tangents { take: usize },
    Weights { frames: usize },
}

/// A morph target whose bounds are still to be found.
struct MorphAccessor {
    take: usize,
    frame: u32,
    accessor: usize,
}

/// The file, before its frames are known.
#[derive(Default)]
struct Plan<'a> {
    buffer: Buffer<'a>,
    pieces: Vec<Piece>,
    targets: Vec<MorphAccessor>,
    animation: Option<Value>,
}

impl<'a> Plan<'a> {
    fn lay_out<'t: 'a>(
        &mut self,
        takes: &[Take<'t>],
        bodies: &'a [FirstFrame],
    ) -> Map<String, Value> {
        let mut document = header();
        let mut pictures = Pictures::default();
        let (mut nodes, mut meshes, mut materials) = (Vec::new(), Vec::new(), Vec::new());
        let (mut channels, mut samplers) = (Vec::new(), Vec::new());
        for (k, (take, body)) in takes.iter().zip(bodies).enumerate() {
            meshes.push(self.mesh(k, take, &body.mesh, materials.len()));
            nodes.push(named(&body.mesh.name, json!({ "mesh": k })));
            for material in &take.asset.materials {
                materials.push(pictures.material(material, take.asset, &mut self.buffer));
            }
            if take.frames > 1 {
                let target = json!({ "node": k, "path": "weights" });
                channels.push(json!({ "sampler": samplers.len(), "target": target }));
                samplers.push(self.sampler(take));
            }
        }
        document.insert("scene".to_owned(), json!(0));
        let roots: Vec<usize> = (0..nodes.len()).collect();
        document.insert("scenes".to_owned(), json!([{ "nodes": roots }]));
        insert_list(&mut document, "nodes", nodes);
        pictures.insert(&mut document, meshes, materials);
        if !channels.is_empty() {
            let animation = json!({ "channels": channels, "samplers": samplers });
            self.animation = Some(named("baked", animation));
        }
        document
    }

    fn mesh(
        &mut self,
        k: usize,
        take: &Take<'_>,
        mesh: &'a TriMesh,
        first_material: usize,
    ) -> Value {
        let positions = Cow::Borrowed(mesh.positions.as_slice());
        let attributes = write_mesh::vertices(&mut self.buffer, positions, &mesh.attributes, None);
        let (count, layout) = (mesh.positions.len(), Layout::floats(3, Target::Vertices));
        let has_tangents = matches!(mesh.attributes.get(TANGENT), Some(Values::Vec4(_)));
        let (mut targets, mut names) = (Vec::new(), Vec::new());
        for frame in 1..take.frames {
            let accessor = self.push_later(Piece::Positions { take: k, frame }, count, layout);
            let normals = self.push_later(Piece::Normals { take: k }, count, layout);
            self.targets.push(MorphAccessor { take: k, frame, accessor });
            let mut target = json!({ "POSITION": accessor, "NORMAL": normals });
            if has_tangents {
                target["TANGENT"] =
                    self.push_later(Piece::Tangents { take: k }, count, layout).into();
            }
            targets.push(target);
            names.push(format!("frame {}", u64::from(take.first_frame) + u64::from(frame)));
        }
        let mut primitives = write_mesh::primitives(&mut self.buffer, mesh, attributes, targets);
        for primitive in &mut primitives {
            if let Some(material) = primitive.get("material").and_then(Value::as_u64) {
                primitive["material"] = json!(material as usize + first_material);
            }
        }
        let mut object = named(&mesh.name, json!({ "primitives": primitives }));
        if !names.is_empty() {
            object["extras"] = json!({ "targetNames": names });
        }
        object
    }

    fn sampler(&mut self, take: &Take<'_>) -> Value {
        let seconds = |i| ((f64::from(take.first_frame) + f64::from(i)) / take.fps) as f32;
        let times: Vec<f32> = (0..take.frames).map(seconds).collect();
        let input = push_times(&mut self.buffer, Cow::Owned(times));
        let frames = take.frames as usize;
        let count = frames * (frames - 1);
        let output = if frames > DENSE_FRAMES && u32::try_from(count).is_ok() {
            let targets = frames as u32 - 1;
            let shown: Vec<u32> = (0..targets).map(|t| (t + 1) * targets + t).collect();
            self.buffer.push_sparse(count, &shown, &vec![1.0; shown.len()])
        } else {
            let layout = Layout::floats(1, Target::Other);
            self.push_later(Piece::Weights { frames }, count, layout)
        };
        json!({ "input": input, "output": output, "interpolation": "LINEAR" })
    }

    fn push_later(&mut self, piece: Piece, count: usize, layout: Layout) -> usize {
        self.pieces.push(piece);
        self.buffer.push_later(self.pieces.len() - 1, count, layout)
    }
}

/// Weights of `frames − 1` targets at `frames` keys: none at the first key, then one at a time.
fn one_at_a_time(frames: usize) -> Vec<f32> {
    let targets = frames - 1;
    let mut weights = vec![0.0; frames * targets];
    for target in 0..targets {
        weights[(target + 1) * targets + target] = 1.0;
    }
    weights
}

/// How far every vertex of the split mesh is from where it was in frame 0.
fn displacements(take: &mut Take<'_>, body: &FirstFrame, frame: u32) -> io::Result<Vec<Vec3>> {
    let positions = positions(take, frame)?;
    let rest = body.sources.iter().zip(&body.mesh.positions);
    Ok(rest.map(|(&source, &rest)| positions[source as usize] - rest).collect())
}

fn positions(take: &mut Take<'_>, frame: u32) -> io::Result<Vec<Vec3>> {
    let mut positions = take.asset.meshes[0].positions.clone();
    (take.positions)(frame, &mut positions)?;
    match positions.iter().position(|p| !p.is_finite()) {
        None => Ok(positions),
        Some(vertex) => Err(invalid(format!("vertex {vertex} is not finite in frame {frame}"))),
    }
}

/// A body in its first frame.
struct FirstFrame {
    /// Without seams, with the normals of the first frame.
    mesh: TriMesh,
    /// The vertex of the take that each vertex is.
    sources: Vec<u32>,
    frames: SurfaceFrames,
}

impl FirstFrame {
    fn at_first_frame(take: &mut Take<'_>) -> io::Result<Self> {
        let [mesh] = &take.asset.meshes[..] else {
            let what = format!("a take has one mesh, not {}", take.asset.meshes.len());
            return Err(invalid(what));
        };
        if take.frames == 0 || !(take.fps > 0.0 && take.fps.is_finite()) {
            let what = format!("a take of {} frames at {} a second", take.frames, take.fps);
            return Err(invalid(what));
        }
        check_mesh(mesh, take.asset.materials.len())?;
        if mesh.triangles.is_empty() {
            return Err(invalid(format!("mesh '{}' has no triangles", mesh.name)));
        }
        let (mut mesh, sources) = mesh.split_seams();
        if take.asset.uv_origin != UvOrigin::Top {
            mesh.flip_uvs();
        }
        let frames = SurfaceFrames::of_copies(&mesh, &sources);
        let first = positions(take, 0)?;
        mesh.positions = sources.iter().map(|&v| first[v as usize]).collect();
        let mut normals = frames.normals(&mesh.positions, &Run::default());
        for normal in normals.iter_mut().filter(|n| **n == Vec3::ZERO) {
            *normal = Vec3::Z;
        }
        if let Some(moved) = frames.tangents(&mesh.positions, &normals) {
            mesh.attributes.set(TANGENT, Values::Vec4(moved));
        }
        mesh.attributes.set(NORMAL, Values::Vec3(normals));
        Ok(Self { mesh, sources, frames })
    }

    /// Where the vertices are when they are displaced.
    fn moved(&self, displacements: &[Vec3]) -> Vec<Vec3> {
        let moved = |(&rest, &d): (&Vec3, &Vec3)| rest + d;
        self.mesh.positions.iter().zip(displacements).map(moved).collect()
    }

    /// How the tangents change when the vertices are displaced.
    fn tangent_changes(&self, displacements: &[Vec3]) -> Vec<Vec3> {
        let positions = self.moved(displacements);
        let normals = self.frames.normals(&positions, &Run::default());
        let tangents = self.frames.tangents(&positions, &normals);
        match (tangents, self.mesh.attributes.get(TANGENT)) {
            (Some(now), Some(Values::Vec4(first))) => {
                now.iter().zip(first).map(|(now, first)| (now - first).truncate()).collect()
            }
            _ => vec![Vec3::ZERO; positions.len()],
        }
    }

    /// How the normals change when the vertices are displaced.
    fn normal_changes(&self, displacements: &[Vec3]) -> Vec<Vec3> {
        let mut normals = self.frames.normals(&self.moved(displacements), &Run::default());
        let rest = self.mesh.attributes.normals().unwrap_or_default();
        for (normal, rest) in normals.iter_mut().zip(rest) {
            let vanished = *normal == Vec3::ZERO;
            *normal = if vanished { Vec3::ZERO } else { *normal - *rest };
        }
        normals
    }
}
