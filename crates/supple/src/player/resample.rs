//! Meshes that are fine enough for a whole take.
//!
//! # Method
//!
//! The take is played on the meshes as they are. Where it stretches or bends their triangles, these are
//! split at rest ([`mesh::refine`](crate::mesh::refine)); new vertices get the weights, colours and paint
//! between those of their neighbours and are played again, until no triangle needs more. The finer mesh
//! has one connectivity for all frames, and its first vertices are those it had.
//!
//! # Limits
//!
//! Up to 24 frames, evenly spread, are looked at. Assets of several meshes, and those whose modifiers
//! need the whole surface at once (`sculpt`, `skinning`: all that are not
//! [`POINTWISE`](crate::modifier::Modifier::POINTWISE)), are left as they are, with a warning.

use std::sync::Mutex;

use glam::Vec3;

use super::open::is_single;
use super::{Player, PlayerError, load};
use crate::mesh::measure::Bounds;
use crate::mesh::refine::{self, refine};
use crate::mesh::{SkinWeights, TriMesh, Values};
use crate::modifier::Registry;
use crate::scene::{Actor, Entry, Folder, Scene, Source};
use crate::{Asset, Run};

/// Frames of a take that are looked at.
const FRAMES: u32 = 24;

/// How far the middle of an edge may land beside the middle of its ends, as a share of the box.
const TOLERANCE: f32 = 1e-3;

/// An edge is too long at so many times the longest one at rest.
const STRETCH: f32 = 2.0;

/// The largest angle between the normals at the ends of an edge, beyond that at rest.
const ANGLE_DEGREES: f32 = 30.0;

/// A mesh may have so many times the triangles it had.
const MOST_TIMES: usize = 8;

impl Player {
    /// As [`open`](Self::open), with meshes that are finer wherever the take stretches them.
    ///
    /// # Errors
    ///
    /// As [`new`](Self::new).
    pub fn open_resampled(
        scene: &Scene,
        folder: &Folder<'_>,
        run: &Run<'_>,
    ) -> Result<(Self, Vec<String>), PlayerError> {
        let files = Mutex::default();
        let noting = folder.noting(&files);
        let mut stock = Stock::load(scene, &noting, run)?;
        for k in 0..stock.assets.len() {
            stock.resample(k, run)?;
        }
        let mut player = stock.play(None, run)?;
        let warnings = stock.warnings;
        player.sources.assets = files.into_inner().unwrap_or_default().files;
        Ok((player, warnings))
    }
}

/// The assets of a scene, each once.
struct Stock<'a> {
    scene: &'a Scene,
    folder: &'a Folder<'a>,
    assets: Vec<(Source, Asset)>,
    warnings: Vec<String>,
}

impl<'a> Stock<'a> {
    fn load(scene: &'a Scene, folder: &'a Folder<'a>, run: &Run<'_>) -> Result<Self, PlayerError> {
        let mut stock = Self { scene, folder, assets: Vec::new(), warnings: Vec::new() };
        for Actor { name, source, .. } in &scene.assets {
            if stock.assets.iter().all(|(known, _)| known != source) {
                let fail = |e| PlayerError::Load { asset: name.clone(), source: Box::new(e) };
                let asset = load(source, folder, &mut stock.warnings, run).map_err(fail)?;
                stock.assets.push((source.clone(), asset));
            }
        }
        Ok(stock)
    }

    /// A player of the scene, with another mesh for one of the assets.
    fn play(
        &self,
        instead: Option<(usize, &TriMesh)>,
        run: &Run<'_>,
    ) -> Result<Player, PlayerError> {
        let mut from_stock = |source: &Source| {
            let Some(k) = self.assets.iter().position(|(known, _)| known == source) else {
                return Ok(load(source, self.folder, &mut Vec::new(), run)?);
            };
            let mut asset = self.assets[k].1.clone();
            if let Some((_, mesh)) = instead.filter(|(number, _)| *number == k) {
                asset.meshes[0] = mesh.clone();
            }
            Ok(asset)
        };
        Player::new(self.scene, self.folder, &mut from_stock, run)
    }

    fn actors(&self, k: usize) -> impl Iterator<Item = (usize, &'a Actor)> {
        let source = self.assets[k].0.clone();
        self.scene.assets.iter().enumerate().filter(move |(_, actor)| actor.source == source)
    }

    /// Makes the mesh of an asset as fine as its takes need it.
    fn resample(&mut self, k: usize, run: &Run<'_>) -> Result<(), PlayerError> {
        if let Some(why) = self.obstacle(k) {
            let name = self.actors(k).next().map_or("", |(_, actor)| &actor.name);
            self.warnings.push(format!("asset '{name}' is not resampled: {why}"));
            return Ok(());
        }
        let quiet = Run { progress: None, ..*run };
        let mesh = self.assets[k].1.meshes[0].clone();
        let deform = |points: &TriMesh| self.frames(k, &mesh, points, &quiet);
        let scale = scale(&mesh, &deform(&TriMesh { triangles: Vec::new(), ..mesh.clone() })?);
        let refined = match refine(&mesh, &deform, &fineness(&mesh, scale), run) {
            Ok(refined) => refined,
            Err(refine::Error::Deformation(error)) => return Err(error),
            Err(refine::Error::Cancelled(cancelled)) => return Err(cancelled.into()),
            Err(error @ refine::Error::WrongCount { .. }) => {
                self.warnings.push(format!("not resampled: {error}"));
                return Ok(());
            }
        };
        self.assets[k].1.meshes[0] = refined.mesh;
        Ok(())
    }

    /// Why an asset stays as it is.
    fn obstacle(&self, k: usize) -> Option<&'static str> {
        let asset = &self.assets[k].1;
        let kinds = Registry::default();
        let whole = |entry: &Entry| !kinds.get(&entry.kind).is_some_and(|kind| kind.pointwise);
        if !is_single(asset) {
            return Some("it has several meshes; join them first");
        }
        let needs_surface =
            self.actors(k).any(|(_, actor)| actor.modifiers().any(|(_, m)| whole(m)));
        needs_surface.then_some("a modifier of it (sculpt, skinning, …) needs its whole surface")
    }

    /// Where points beside a mesh go, in some frames of all its actors.
    fn frames(
        &self,
        k: usize,
        mesh: &TriMesh,
        points: &TriMesh,
        run: &Run<'_>,
    ) -> Result<Vec<Vec<Vec3>>, PlayerError> {
        let mut player = self.play(Some((k, &with_points(mesh, points))), run)?;
        let count = player.frames();
        let shown = count.min(FRAMES);
        let mut frames = Vec::new();
        for i in 0..shown {
            let last = u64::from(count - 1);
            let number = u64::from(i) * last / u64::from(shown.max(2) - 1);
            let frame = player.frame_without_normals(number as u32, run)?;
            for (actor, _) in self.actors(k) {
                frames.push(frame.bodies[actor].positions[mesh.positions.len()..].to_vec());
            }
        }
        Ok(frames)
    }
}

/// How much larger the scene shows a mesh than its file has it.
fn scale(mesh: &TriMesh, frames: &[Vec<Vec3>]) -> f32 {
    let size = |points: &[Vec3]| Bounds::of(points).map_or(0.0, |b| b.diagonal());
    let (rest, shown) = (size(&mesh.positions), frames.first().map_or(0.0, |f| size(f)));
    if rest > 0.0 && shown > 0.0 { shown / rest } else { 1.0 }
}

fn fineness(mesh: &TriMesh, scale: f32) -> refine::Params {
    let edges = mesh.triangles.iter().flat_map(|&[a, b, c]| [[a, b], [b, c], [c, a]]);
    let length = |[a, b]: [u32; 2]| mesh.positions[a as usize].distance(mesh.positions[b as usize]);
    let longest = edges.map(length).fold(0.0, f32::max);
    let diagonal = Bounds::of(&mesh.positions).map_or(1.0, |b| b.diagonal());
    refine::Params {
        tolerance_rel_bbox: scale * TOLERANCE,
        volume_rel: None,
        longest_rel_bbox: scale * STRETCH * longest / diagonal,
        angle_degrees: ANGLE_DEGREES,
        most_triangles: MOST_TIMES * mesh.triangles.len(),
        ..refine::Params::default()
    }
}

/// A mesh with more vertices, which belong to no triangle.
fn with_points(mesh: &TriMesh, points: &TriMesh) -> TriMesh {
    let mut joined = mesh.clone();
    joined.positions.extend_from_slice(&points.positions);
    if let (Some(weights), Some(more)) = (&mut joined.skin_weights, &points.skin_weights) {
        append_weights(weights, more);
    }
    for (name, values) in joined.attributes.values_mut() {
        let Some(more) = points.attributes.get(name) else { continue };
        let floats = [values.as_floats(), more.as_floats()].concat();
        if let Some(all) = Values::from_floats(values.width(), floats) {
            *values = all;
        }
    }
    for (morph, more) in joined.morphs.iter_mut().zip(&points.morphs) {
        morph.positions.extend_from_slice(&more.positions);
        if let (Some(normals), Some(more)) = (&mut morph.normals, &more.normals) {
            normals.extend_from_slice(more);
        }
    }
    joined
}

fn append_weights(weights: &mut SkinWeights, more: &SkinWeights) {
    for vertex in 0..more.len() {
        weights.push(more.of(vertex));
    }
}
