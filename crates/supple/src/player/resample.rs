//! Meshes that are fine enough for a whole take.
//!
//! # Method
//!
//! The take is played on the meshes as they are. Where it stretches or bends their triangles, these are
//! split at rest ([`mesh::refine`](crate::mesh::refine)); new vertices get the weights, colours and paint
//! between those of their neighbours and are played again, until no triangle needs more. The finer mesh
//! has one connectivity for all frames, and its first vertices are those it had.
//!
//! Where modifiers need the whole surface at once (`sculpt`, `skinning`: all that are not
//! [`POINTWISE`](crate::modifier::Modifier::POINTWISE)), the middles of edges cannot be played before they are
//! vertices: they are guessed, and after each round the finer mesh is played
//! ([`refine_whole`](crate::mesh::refine::refine_whole)).
//!
//! The meshes of an asset are split as one, so that they stay together where they touch; each node gets a mesh of
//! its own, since copies move differently.
//!
//! # Limits
//!
//! - Up to 24 frames, evenly spread, are looked at.
//! - Modifiers that name vertices by number would name others in an asset of several meshes: it is left as it is, with
//!   a warning. So are bodies that `remesh = true` made finer for their edits, and those whose modifiers take no finer
//!   mesh (a blend of files with as many vertices).

use std::sync::Mutex;

use glam::Vec3;

use super::joined::{apart, join};
use super::{Player, PlayerError, load};
use crate::mesh::measure::Bounds;
use crate::mesh::refine::{self, refine, refine_whole};
use crate::mesh::welding::Welding;
use crate::mesh::{SkinWeights, TriMesh, Values};
use crate::modifier::Registry;
use crate::rig::Body;
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

/// How near vertices that rest at one place must stay to be at one place, as a share of the box.
const NEAR_REL_BBOX: f32 = 1e-5;

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

    /// A player of the scene, with another asset for one of them.
    fn play(&self, instead: Option<(usize, &Asset)>, run: &Run<'_>) -> Result<Player, PlayerError> {
        let mut from_stock = |source: &Source| {
            let Some(k) = self.assets.iter().position(|(known, _)| known == source) else {
                return Ok(load(source, self.folder, &mut Vec::new(), run)?);
            };
            let other = instead.filter(|(number, _)| *number == k).map(|(_, asset)| asset);
            Ok(other.unwrap_or(&self.assets[k].1).clone())
        };
        Player::new(self.scene, self.folder, &mut from_stock, run)
    }

    fn actors(&self, k: usize) -> impl Iterator<Item = (usize, &'a Actor)> {
        let source = self.assets[k].0.clone();
        self.scene.assets.iter().enumerate().filter(move |(_, actor)| actor.source == source)
    }

    /// Makes the meshes of an asset as fine as its takes need them.
    fn resample(&mut self, k: usize, run: &Run<'_>) -> Result<(), PlayerError> {
        let asset = with_own_meshes(&self.assets[k].1);
        if let Some(why) = self.obstacle(k, asset.meshes.len()) {
            self.leave(k, why);
            return Ok(());
        }
        let Ok(body) = Body::from_asset(&asset) else { return Ok(()) };
        let quiet = Run { progress: None, ..*run };
        let mesh = join(&asset.meshes, body.rest_mesh(run).positions);
        // What is wrong with the scene is told when it is played.
        let Ok(shown) = self.frames(k, &asset, &mesh, &quiet) else {
            return run.check().map_err(PlayerError::from);
        };
        let params = fineness(&mesh, scale(&mesh, &shown));
        let refined = if self.needs_surface(k) {
            let deform = |mesh: &TriMesh| self.frames(k, &asset, mesh, &quiet);
            refine_whole(&mesh, &deform, &params, run)
        } else {
            let deform = |points: &TriMesh| {
                let mut frames = self.frames(k, &asset, &with_points(&mesh, points), &quiet)?;
                frames.iter_mut().for_each(|f| drop(f.drain(..mesh.positions.len().min(f.len()))));
                Ok(frames)
            };
            refine(&mesh, &deform, &params, run)
        };
        match refined {
            Ok(refined) => {
                let (meshes, _) = apart(&asset.meshes, &refined.mesh);
                self.assets[k].1 = Asset { meshes, ..asset };
            }
            Err(refine::Error::Cancelled(cancelled)) => return Err(cancelled.into()),
            Err(refine::Error::Deformation(PlayerError::Cancelled(cancelled))) => {
                return Err(cancelled.into());
            }
            Err(error) => self.leave(k, &error.to_string()),
        }
        Ok(())
    }

    /// Tells that an asset stays as it is.
    fn leave(&mut self, k: usize, why: &str) {
        let name = self.actors(k).next().map_or("", |(_, actor)| &actor.name);
        self.warnings.push(format!("asset '{name}' is not resampled: {why}"));
    }

    /// Why an asset of so many meshes stays as it is.
    fn obstacle(&self, k: usize, meshes: usize) -> Option<&'static str> {
        let kinds = Registry::default();
        let mut entries = self.actors(k).flat_map(|(_, actor)| actor.modifiers());
        let mut any = |is_it: &dyn Fn(&Entry) -> bool| entries.any(|(_, entry)| is_it(entry));
        let remeshes = |entry: &Entry| {
            let kind = kinds.get(&entry.kind);
            kind.is_some_and(|kind| (kind.remeshes)(&entry.params).unwrap_or(false))
        };
        if any(&remeshes) {
            return Some("remesh = true makes it finer already");
        }
        let mut entries = self.actors(k).flat_map(|(_, actor)| actor.modifiers());
        let names_vertices = meshes > 1 && entries.any(|(_, entry)| names_vertices(&entry.params));
        names_vertices.then_some(
            "it has several meshes, and a modifier of it names vertices by number: these would be others; \
             join its meshes first, or say where the points are",
        )
    }

    /// Whether a modifier of an asset needs its whole surface.
    fn needs_surface(&self, k: usize) -> bool {
        let kinds = Registry::default();
        let whole = |entry: &Entry| !kinds.get(&entry.kind).is_some_and(|kind| kind.pointwise);
        self.actors(k).any(|(_, actor)| actor.modifiers().any(|(_, entry)| whole(entry)))
    }

    /// Where the vertices of a joined mesh go, in some frames of all its actors.
    fn frames(
        &self,
        k: usize,
        asset: &Asset,
        joined: &TriMesh,
        run: &Run<'_>,
    ) -> Result<Vec<Vec<Vec3>>, PlayerError> {
        let (meshes, order) = apart(&asset.meshes, joined);
        let together = Together::of(joined);
        let mut player = self.play(Some((k, &Asset { meshes, ..asset.clone() })), run)?;
        let count = player.frames();
        let shown = count.min(FRAMES);
        let mut frames = Vec::new();
        for i in 0..shown {
            let last = u64::from(count - 1);
            let number = u64::from(i) * last / u64::from(shown.max(2) - 1);
            let frame = player.frame_without_normals(number as u32, run)?;
            for (actor, _) in self.actors(k) {
                let found = &frame.bodies[actor].positions;
                // A modifier may show another shape: then there are too few, or too many.
                let is_other = found.len() != order.len();
                if is_other {
                    frames.push(found.clone());
                    continue;
                }
                let mut positions: Vec<Vec3> = order.iter().map(|&v| found[v as usize]).collect();
                together.close(&mut positions);
                frames.push(positions);
            }
        }
        Ok(frames)
    }
}

/// Which vertices are at one place at rest.
struct Together {
    firsts: Vec<u32>,
    near: f32,
}

impl Together {
    fn of(mesh: &TriMesh) -> Self {
        let diagonal = Bounds::of(&mesh.positions).map_or(0.0, |b| b.diagonal());
        Self { firsts: Welding::of(&mesh.positions).firsts(), near: NEAR_REL_BBOX * diagonal }
    }

    /// Meshes that touch hang on joints of their own, and rounding parts them: what is still almost at one place is put
    /// there, or their triangles would cross along every seam.
    fn close(&self, positions: &mut [Vec3]) {
        for (v, &first) in self.firsts.iter().enumerate() {
            let at = positions[first as usize];
            if positions[v].distance(at) <= self.near {
                positions[v] = at;
            }
        }
    }
}

/// An asset in which every node that carries a mesh has one of its own, in the order of the nodes.
fn with_own_meshes(asset: &Asset) -> Asset {
    let mut own = Asset { meshes: Vec::new(), ..asset.clone() };
    for node in &mut own.nodes {
        if let Some(mesh) = node.mesh.and_then(|m| asset.meshes.get(m as usize)) {
            node.mesh = Some(own.meshes.len() as u32);
            own.meshes.push(mesh.clone());
        }
    }
    own
}

/// Whether parameters name vertices by their numbers.
fn names_vertices(params: &toml::Table) -> bool {
    let is_named = |(key, value): (&String, &toml::Value)| match value {
        toml::Value::Table(inner) => names_vertices(inner),
        toml::Value::Array(all) => {
            let mut tables = all.iter().filter_map(toml::Value::as_table);
            key.ends_with("vertices") && !all.is_empty() || tables.any(names_vertices)
        }
        _ => key == "vertex",
    };
    params.iter().any(is_named)
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
