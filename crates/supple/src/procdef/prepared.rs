//! A body of a scene, prepared: all that does not depend on where it stands, so that copies share it.
//!
//! It is prepared in the asset's own coordinates, in which marks, touches and holds are given; the state places it. What
//! a placement does beyond turning and moving (scaling, mirroring) is done to the tets.

use std::sync::Arc;

use bytemuck::cast_slice;
use glam::{DAffine3, DMat3, DQuat, DVec3, Vec3};

use super::chart::Sampled;
use super::holding::{Binder, Held};
use super::modifier::{Hold, Params, Play};
use super::rotation::nearest;
use super::skin::{Skin, carry_nodes, fill, placement};
use super::tissue::{Tissue, Touch};
use super::touching::Flesh;
use super::{Body, Chart, Fibers, Placement, Shaped};
use crate::mesh::{Shape, TetMesh};
use crate::modifier::{Inputs, Loaded};
use crate::zoo::tet_bodies;
use crate::{Run, rig};

/// Nodes of a body that is filled with tets here.
const NODES: u32 = 1500;

/// Attribute of nodes that are held: above one half they are.
const HELD: &str = "held";

/// A map that differs from a rigid one by less than this is rigid.
const RIGID: f64 = 1e-9;

/// What copies of a body share.
#[derive(Debug)]
pub(super) struct Prepared {
    pub(super) body: Body,
    pub(super) tissue: Tissue,
    /// The primary direction of each vertex of the tets.
    pub(super) directions: Vec<Vec3>,
    /// The second and third.
    pub(super) across: [Vec<Vec3>; 2],
    pub(super) charts: Vec<Sampled>,
    pub(super) touch_chart: Sampled,
    /// When each touch happens, and what it does.
    pub(super) touches: Vec<Touch>,
    /// The nodes of each hold.
    pub(super) holds: Vec<Vec<Held>>,
    /// Nodes that the file of the tets holds for ever.
    pub(super) held: Vec<Held>,
    pub(super) skin: Skin,
    /// What each target does.
    pub(super) targets: Vec<Aim>,
    /// Layer, amplitude and phase at the vertices of the skin.
    pub(super) paintings: [Vec<f32>; 3],
    /// What other bodies meet, if it meets others.
    pub(super) flesh: Option<Flesh>,
    pub(super) notes: Vec<String>,
}

/// What a target does.
#[derive(Debug)]
pub(super) struct Aim {
    pub(super) shaped: Shaped,
    /// Which weight of the body's morph targets it takes.
    pub(super) morph: Option<usize>,
    /// How far it carries the nodes of each hold.
    pub(super) carries: Vec<Vec<DVec3>>,
}

/// Where an asset stands: scaled or mirrored, then turned, then moved.
#[derive(Clone, Copy, Debug)]
pub(super) struct Standing {
    pub(super) turn: DQuat,
    pub(super) at: DVec3,
    scale: DMat3,
}

impl Standing {
    pub(super) fn of(placement: &DAffine3) -> Self {
        if *placement == DAffine3::IDENTITY {
            return Self { turn: DQuat::IDENTITY, at: DVec3::ZERO, scale: DMat3::IDENTITY };
        }
        let turn = nearest(placement.matrix3);
        let scale = DMat3::from_quat(turn.conjugate()) * placement.matrix3;
        let scale = if scale.abs_diff_eq(DMat3::IDENTITY, RIGID) { DMat3::IDENTITY } else { scale };
        Self { turn, at: placement.translation, scale }
    }

    /// A point of the prepared body in the world.
    pub(super) fn point(&self, x: DVec3) -> DVec3 {
        self.turn * x + self.at
    }

    /// Where a body at rest begins.
    pub(super) fn begin(&self, body: &Body) -> Placement {
        let translation = self.point(body.regions.center);
        Placement { rotation: self.turn, translation, ..Placement::default() }
    }

    fn scales(&self) -> bool {
        self.scale != DMat3::IDENTITY
    }

    fn scaled(&self, mesh: &TetMesh) -> TetMesh {
        let mut mesh = mesh.clone();
        mesh.positions.iter_mut().for_each(|x| *x = (self.scale * x.as_dvec3()).as_vec3());
        mesh.orient();
        mesh
    }

    /// Directions of an asset in the scaled one: those along it are carried, those across it stay normal to layers.
    fn fibers(&self, fibers: &Fibers) -> Fibers {
        let [primary, secondary, _] = fibers.directions;
        let across = (self.scale.inverse().transpose() * secondary).normalize_or(secondary);
        let along = self.scale * primary;
        let along = (along - along.dot(across) * across).normalize_or(primary);
        Fibers { directions: [along, across, along.cross(across)], alike: fibers.alike }
    }
}

/// What a body is prepared from: the asset at rest before it is placed, and tets if it has some.
struct Unplaced {
    shape: Shape,
    tets: Option<TetMesh>,
}

impl Unplaced {
    fn of(params: &Params, from: &Inputs<'_>) -> Result<Self, String> {
        if params.tets.file.is_some()
            && let Some(tets) = from.sources.first().and_then(|s| s.tets())
        {
            return Ok(Self { shape: shape(from), tets: Some(TetMesh::clone(tets)) });
        }
        if let Some(name) = &params.tets.zoo {
            let nodes = params.tets.nodes.map(|n| n as usize);
            let tets = tet_bodies::build(name, nodes).map_err(|e| e.to_string())?;
            return Ok(Self { shape: shape(from), tets: Some(tets) });
        }
        let tets = from.tets.map(|placed| {
            let (back, mut tets) = (from.placement.inverse(), placed.clone());
            if from.placement != DAffine3::IDENTITY {
                let home = |x: &mut Vec3| *x = back.transform_point3(x.as_dvec3()).as_vec3();
                tets.positions.iter_mut().for_each(home);
                tets.orient();
            }
            tets
        });
        Ok(Self { shape: shape(from), tets })
    }
}

/// The asset at rest, before it is placed.
fn shape(from: &Inputs<'_>) -> Shape {
    match from.placement == DAffine3::IDENTITY {
        true => from.rest.clone(),
        false => Shape::of_mesh(&from.body.rest_mesh(from.run)),
    }
}

impl Prepared {
    /// For a body of a scene; copies of it get the same one.
    pub(super) fn of(params: &Params, from: &Inputs<'_>) -> Result<Arc<Self>, String> {
        let (unplaced, standing) = (Unplaced::of(params, from)?, Standing::of(&from.placement));
        let written = toml::to_string(params).map_err(|e| e.to_string())?;
        let (tets, shape) = (unplaced.tets.as_ref(), &unplaced.shape);
        // Attributes of tets come from a file that is named, or from nowhere.
        let nodes = tets.map_or(&[][..], |tets| &tets.positions[..]);
        let tets = tets.map_or(&[][..], |tets| &tets.tets[..]);
        let scale = standing.scale.to_cols_array().map(f64::to_le_bytes).concat();
        let key: [&[u8]; 7] = [
            b"procdef",
            written.as_bytes(),
            cast_slice(&shape.positions),
            cast_slice(shape.topology.triangles()),
            cast_slice(nodes),
            cast_slice(tets),
            &scale,
        ];
        let meets = [u8::from(from.meets_others)];
        // Targets are made of morph targets.
        let morphs = from.body.morphs.iter().filter(|_| !params.targets.is_empty());
        let morphs = morphs.map(|m| cast_slice(&m.positions));
        let key: Vec<&[u8]> = key.into_iter().chain([&meets[..]]).chain(morphs).collect();
        from.memo.get(&key, || Self::new(params, &unplaced, &standing, from))
    }

    fn new(
        params: &Params,
        unplaced: &Unplaced,
        standing: &Standing,
        from: &Inputs<'_>,
    ) -> Result<Self, String> {
        let mut shape = unplaced.shape.clone();
        if standing.scales() {
            let scale = |x: &mut Vec3| *x = (standing.scale * x.as_dvec3()).as_vec3();
            shape.positions.iter_mut().for_each(scale);
        }
        // The design is made in the asset's coordinates, the body in the scaled ones.
        let (mesh, asset) = match (&unplaced.tets, standing.scales()) {
            (Some(tets), true) => (standing.scaled(tets), Some(tets.clone())),
            (Some(tets), false) => (tets.clone(), None),
            (None, scales) => {
                let mesh = fill(&shape, params.tets.nodes.unwrap_or(NODES) as usize)?;
                let back = Standing { scale: standing.scale.inverse(), ..*standing };
                let asset = scales.then(|| back.scaled(&mesh));
                (mesh, asset)
            }
        };
        let asset = asset.as_ref().unwrap_or(&mesh);
        let body = Body::new(&mesh).map_err(|e| e.to_string())?;
        let mut made = params.design.fields(asset, from.run).map_err(|e| e.to_string())?;
        if standing.scales() {
            made.fields.fibers.iter_mut().for_each(|f| *f = standing.fibers(f));
        }
        let mut notes = made.notes;
        if body.loose() > 0 {
            notes.push(format!("{} vertices are in no tet and stay where they rest", body.loose()));
        }
        let charts = sampled(&params.charts)?;
        let touch_chart = match (&params.touch_chart, charts.first()) {
            (Some(chart), _) => chart.sampled().map_err(|e| format!("touch_chart: {e}"))?,
            (None, Some(first)) => first.clone(),
            (None, None) => Chart::default().sampled().map_err(|e| e.to_string())?,
        };
        let binder = Binder::new(from.body, &unplaced.shape.positions);
        let bind =
            |v: usize| binder.bind((v as u32, asset.positions[v]), mesh.positions[v].as_dvec3());
        let held = |hold: &Hold| held_nodes(asset, hold).into_iter().map(bind).collect();
        let holds: Vec<Vec<Held>> = params.holds.iter().map(held).collect();
        let marked = asset.attributes.scalar(HELD).unwrap_or_default();
        let marked = (0..marked.len().min(mesh.positions.len())).filter(|&v| marked[v] > 0.5);
        let skin = Skin::new(&mesh, &shape);
        notes.extend(far_outside(&skin));
        notes.extend(params.passes.too_many());
        let layer: Vec<f32> = made.layer.iter().map(|l| *l as f32).collect();
        let paintings = [&layer, &made.fields.amplitude, &made.fields.phase];
        let fibers = &made.fields.fibers;
        let directions =
            |k: usize| -> Vec<Vec3> { fibers.iter().map(|f| f.directions[k].as_vec3()).collect() };
        Ok(Self {
            targets: Wanted { params, from, mesh: &mesh, shape: &shape, standing }
                .of(&body, &holds)?,
            paintings: paintings.map(|values| skin.scalars(values)),
            tissue: Tissue::new(&body, &made.fields),
            directions: directions(0),
            across: [directions(1), directions(2)],
            touches: touches(params, from, (&body, asset))?,
            holds,
            held: marked.map(bind).collect(),
            skin,
            flesh: flesh(&body, from.meets_others, &mut notes, from.run),
            charts,
            touch_chart,
            notes,
            body,
        })
    }
}

/// Says that a skin is not in the tets that are to carry it.
fn far_outside(skin: &Skin) -> Option<String> {
    let (far, all) = skin.far();
    (far > 0).then(|| {
        format!(
            "{far} of {all} vertices of the mesh are far outside the tets and follow the nearest node alone: are these \
             the tets of this mesh?"
        )
    })
}

fn touches(
    params: &Params,
    from: &Inputs<'_>,
    (body, asset): (&Body, &TetMesh),
) -> Result<Vec<Touch>, String> {
    let mut all = Vec::new();
    for touch in &params.touches {
        let vertex = nearest_node(asset, DVec3::from(touch.at));
        let at = |secs: f64| Touch::new(body, vertex, secs, touch.damping as f32);
        all.extend(touch.times(from.tracks)?.into_iter().map(at));
    }
    Ok(all)
}

/// What targets are made of: a body before it stands somewhere, scaled as it will be.
struct Wanted<'a, 'b> {
    params: &'a Params,
    from: &'a Inputs<'b>,
    mesh: &'a TetMesh,
    shape: &'a Shape,
    standing: &'a Standing,
}

impl Wanted<'_, '_> {
    /// What the targets want of a body.
    fn of(&self, body: &Body, holds: &[Vec<Held>]) -> Result<Vec<Aim>, String> {
        let Self { params, from, mesh, shape: rest, standing } = self;
        let mut sources = from.sources.iter().skip(usize::from(params.tets.file.is_some()));
        let mut found = Vec::new();
        for (number, target) in params.targets.iter().enumerate() {
            let (mut shape, morph) = match (&target.morph, &target.file) {
                (Some(name), None) => {
                    let (shape, morph) = self.morphed(name)?;
                    (shape, Some(morph))
                }
                (None, Some(file)) => {
                    let shape = sources.next().and_then(deformed);
                    (shape.ok_or_else(|| format!("target '{file}' has no vertices"))?, None)
                }
                _ => return Err(format!("target {number} needs either `morph` or `file`")),
            };
            if target.file.is_some() && standing.scales() {
                let scale = |x: &mut Vec3| *x = (standing.scale * x.as_dvec3()).as_vec3();
                shape.iter_mut().for_each(scale);
            }
            let nodes = match shape.len() {
                n if n == mesh.positions.len() => shape,
                n if n == rest.positions.len() => {
                    carry_nodes(mesh, &rest.positions, &shape, from.run)?
                }
                n => {
                    let (skin, nodes) = (rest.positions.len(), mesh.positions.len());
                    return Err(format!(
                        "target {number} has {n} vertices; it needs those of the body ({skin}) or of its tets ({nodes})"
                    ));
                }
            };
            let carry = |held: &Held| nodes[held.node as usize].as_dvec3() - held.rest;
            let carries = holds.iter().map(|held| held.iter().map(carry).collect()).collect();
            found.push(Aim { shaped: body.shaped(&nodes, from.run), morph, carries });
        }
        Ok(found)
    }

    /// The body with one morph target at weight one, where it rests, and which target that is.
    fn morphed(&self, name: &str) -> Result<(Vec<Vec3>, usize), String> {
        let morphs = &self.from.body.morphs;
        let Some(index) = morphs.iter().position(|m| m.name == name) else {
            let names: Vec<&str> = morphs.iter().map(|m| m.name.as_str()).collect();
            let known = names.join(", ");
            return Err(format!("the body has no morph target '{name}'; it has: {known}"));
        };
        let bound = &self.from.body.mesh.positions;
        let mut shape = self.shape.positions.clone();
        if bound.len() != shape.len() {
            return Err("targets cannot be morphs of a body that was split".to_owned());
        }
        let place = placement(bound, &shape)
            .ok_or("morph targets of a body that a skeleton bends cannot be targets")?;
        let moved = &mut shape[morphs[index].vertices.start as usize..];
        for (x, by) in moved.iter_mut().zip(&morphs[index].positions) {
            *x = (x.as_dvec3() + place * by.as_dvec3()).as_vec3();
        }
        Ok((shape, index))
    }
}

/// The vertices of a model or of tets.
fn deformed(loaded: &Loaded) -> Option<Vec<Vec3>> {
    let model = || rig::Body::from_asset(loaded.model()?).ok().map(|b| b.mesh.positions);
    loaded.tets().map(|t| t.positions.clone()).or_else(model).filter(|x| !x.is_empty())
}

fn sampled(charts: &[Play]) -> Result<Vec<Sampled>, String> {
    let one =
        |play: &Play| play.chart().sampled().map_err(|e| format!("chart '{}': {e}", play.name));
    charts.iter().map(one).collect()
}

fn flesh(body: &Body, meets: bool, notes: &mut Vec<String>, run: &Run<'_>) -> Option<Flesh> {
    if !meets {
        return None;
    }
    let flesh = body.flesh(run);
    if flesh.is_none() {
        notes.push("its tets enclose nothing, so other bodies pass through it".to_owned());
    }
    flesh
}

fn nearest_node(mesh: &TetMesh, at: DVec3) -> usize {
    let distance = |v: &usize| mesh.positions[*v].as_dvec3().distance_squared(at);
    (0..mesh.positions.len()).min_by(|a, b| distance(a).total_cmp(&distance(b))).unwrap_or(0)
}

fn held_nodes(mesh: &TetMesh, hold: &Hold) -> Vec<usize> {
    let at = DVec3::from(hold.at);
    let within = |v: &usize| mesh.positions[*v].as_dvec3().distance(at) <= hold.radius;
    let nodes: Vec<usize> = (0..mesh.positions.len()).filter(within).collect();
    if nodes.is_empty() { vec![nearest_node(mesh, at)] } else { nodes }
}
