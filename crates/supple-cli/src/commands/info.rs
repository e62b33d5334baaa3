//! `supple info`: what is in a file.

use std::path::{Path, PathBuf};
use std::process::ExitCode;

use anyhow::Context as _;
use glam::Vec3;
use serde::Serialize;
use supple::flow::recording;
use supple::mesh::adjacency::{self, Seams, Topology};
use supple::mesh::intersect::{Count, count_self_intersections};
use supple::mesh::measure::{Bounds, area};
use supple::mesh::volume::volume;
use supple::mesh::welding::open_edges;
use supple::rig::body::Parts;
use supple::{Asset, Run, TriMesh, io};

use crate::shell::{self, Shell};

/// Tell what is in a file: counts, topology, volume, attributes, skins, animations; grid, times and arrays of a flow
#[derive(clap::Args, Debug)]
pub(crate) struct Args {
    /// File to look at; several, or a pattern, for a recorded flow
    #[arg(required = true)]
    files: Vec<PathBuf>,
    /// Also count the self-intersecting triangle pairs, exactly
    #[arg(long)]
    deep: bool,
    #[command(flatten)]
    flow: super::flow::FlowArgs,
}

/// What `info` tells, under the names it has in JSON.
#[derive(Debug, Default, Serialize)]
#[expect(clippy::struct_excessive_bools, reason = "each is an answer, not a state")]
struct Info {
    kind: &'static str,
    meshes: usize,
    vertices: usize,
    triangles: usize,
    /// Every edge has exactly two triangles.
    closed: bool,
    /// The same, once vertices at the same position count as one (glTF doubles them at seams).
    closed_when_welded: bool,
    /// Edges with an odd number of triangles, counted that way.
    open_edges_when_welded: usize,
    /// No edge has more than two triangles.
    manifold: bool,
    /// The triangles around every vertex form one fan.
    vertex_manifold: bool,
    /// Neighbouring triangles agree on which side is out.
    oriented: bool,
    boundary_edges: usize,
    components: usize,
    volume: f64,
    area: f64,
    bounds: Option<Corners>,
    attributes: Vec<String>,
    skins: usize,
    joints: usize,
    morph_targets: usize,
    /// Names of the morph targets, each once.
    morph_names: Vec<String>,
    animations: usize,
    clips: Vec<Clip>,
    /// Pairs of triangles, as far as they were counted.
    #[serde(skip_serializing_if = "Option::is_none")]
    self_intersections: Option<u64>,
    /// Whether counting ended before all were found.
    #[serde(skip_serializing_if = "std::ops::Not::not")]
    more_self_intersections: bool,
}

#[derive(Debug, Serialize)]
struct Corners {
    min: [f32; 3],
    max: [f32; 3],
}

#[derive(Debug, Serialize)]
struct Clip {
    name: String,
    seconds: f32,
}

pub(crate) fn run(args: &Args, shell: &Shell) -> anyhow::Result<ExitCode> {
    let [file] = &args.files[..] else {
        super::flow::info(&args.files, &args.flow, shell)?;
        return Ok(ExitCode::SUCCESS);
    };
    if io::is_tets(file) {
        return super::tetrahedralize::info(file, shell);
    }
    if recording::is_flow(file) {
        super::flow::info(&args.files, &args.flow, shell)?;
        return Ok(ExitCode::SUCCESS);
    }
    let asset = super::read(file, shell)?;
    let info = describe(file, asset, args.deep, shell)?;
    if shell.options().json {
        shell.print_json(&info)?;
    } else {
        print(&file.display().to_string(), &info);
    }
    Ok(ExitCode::SUCCESS)
}

fn describe(path: &Path, asset: Asset, deep: bool, shell: &Shell) -> anyhow::Result<Info> {
    let mut info = count(&asset);
    let run = shell.quiet_run();
    let asset = asset.with_clouds_as_meshes();
    let mut whole = Whole::default();
    // Parts one at a time: a thousand instances of a mesh take the memory of one.
    if asset.nodes.len() > 1 && !deep {
        let parts = Parts::of(&asset).with_context(|| path.display().to_string())?;
        for index in 0..parts.len() {
            run.check()?;
            let surface = parts.surface(index, &run).with_context(|| path.display().to_string())?;
            whole.add(&surface.positions, &surface.triangles, &run);
        }
    } else {
        let mesh = super::rest_mesh(path, asset, shell)?;
        whole.add(&mesh.positions, &mesh.triangles, &run);
        if deep {
            let Count { pairs, is_all } = shell.with_progress("self-intersections", |run| {
                count_self_intersections(&mesh.positions, &mesh.triangles, run)
            })?;
            info.self_intersections = Some(pairs);
            info.more_self_intersections = !is_all;
        }
    }
    whole.tell(&mut info);
    Ok(info)
}

/// What is measured, part by part.
#[derive(Default)]
struct Whole {
    topology: Topology,
    seams: Seams,
    /// A part was open as it is, and `seams` knows of all of them.
    is_open: bool,
    /// Edges of its parts that stay open where places agree.
    open_edges: usize,
    volume: f64,
    area: f64,
    bounds: Option<Bounds>,
}

impl Whole {
    fn add(&mut self, positions: &[Vec3], triangles: &[[u32; 3]], run: &Run<'_>) {
        let topology = adjacency::topology(positions.len(), triangles, run);
        // Parts that are closed as they are have nothing to close with others.
        if !topology.is_closed() && !triangles.is_empty() {
            self.is_open = true;
            self.seams.add(positions, triangles, run);
            self.open_edges += open_edges(positions, triangles);
        }
        self.topology += topology;
        self.volume += volume(positions, triangles, run);
        self.area += area(positions, triangles, run);
        let bounds = Bounds::of(positions);
        self.bounds = match (self.bounds, bounds) {
            (Some(a), Some(b)) => Some(a.union(&b)),
            (a, b) => a.or(b),
        };
    }

    fn tell(&self, info: &mut Info) {
        describe_topology(info, &self.topology);
        info.closed_when_welded = info.closed || (self.is_open && self.seams.are_closed());
        info.open_edges_when_welded = if info.closed_when_welded { 0 } else { self.open_edges };
        info.components = self.topology.components;
        (info.volume, info.area) = (self.volume, self.area);
        info.bounds = self.bounds.map(|b| Corners { min: b.min.to_array(), max: b.max.to_array() });
    }
}

/// What can be counted without looking at the geometry.
fn count(asset: &Asset) -> Info {
    let meshes = &asset.meshes;
    let clouds = &asset.clouds;
    let points = clouds.iter().map(|cloud| cloud.positions.len()).sum::<usize>();
    Info {
        kind: if !meshes.is_empty() {
            "mesh"
        } else if points > 0 {
            "points"
        } else {
            "empty"
        },
        meshes: meshes.len(),
        vertices: meshes.iter().map(|mesh| mesh.positions.len()).sum::<usize>() + points,
        triangles: meshes.iter().map(|mesh| mesh.triangles.len()).sum(),
        attributes: attribute_names(asset),
        skins: asset.skins.len(),
        joints: asset.skins.iter().map(|skin| skin.joints.len()).sum(),
        morph_targets: meshes.iter().map(|mesh| mesh.morphs.len()).sum(),
        morph_names: morph_names(meshes),
        animations: asset.clips.len(),
        clips: asset
            .clips
            .iter()
            .map(|c| Clip { name: c.name.clone(), seconds: c.span().map_or(0.0, |(_, end)| end) })
            .collect(),
        ..Info::default()
    }
}

/// The names of all morph targets, each once, in the order of the file; what has none goes by its number.
fn morph_names(meshes: &[TriMesh]) -> Vec<String> {
    let mut names: Vec<String> = Vec::new();
    for (k, morph) in meshes.iter().flat_map(|mesh| mesh.morphs.iter().enumerate()) {
        let name = if morph.name.is_empty() { k.to_string() } else { morph.name.clone() };
        if !names.contains(&name) {
            names.push(name);
        }
    }
    names
}

/// Names of all attributes, per vertex and per corner, in order of first appearance.
fn attribute_names(asset: &Asset) -> Vec<String> {
    let of_meshes = asset.meshes.iter().flat_map(|mesh| {
        let corners = mesh.corners.iter().map(|corner| &corner.name);
        mesh.attributes.iter().map(|attribute| &attribute.name).chain(corners)
    });
    let of_clouds = asset.clouds.iter().flat_map(|c| c.attributes.iter().map(|a| &a.name));
    let mut names: Vec<String> = Vec::new();
    for name in of_meshes.chain(of_clouds) {
        if !names.contains(name) {
            names.push(name.clone());
        }
    }
    names
}

fn describe_topology(info: &mut Info, topology: &Topology) {
    info.closed = topology.is_closed();
    info.manifold = topology.is_edge_manifold();
    info.vertex_manifold = topology.is_vertex_manifold();
    info.oriented = topology.is_oriented();
    info.boundary_edges = topology.boundary_edges;
}

fn print(file: &str, info: &Info) {
    let yes_no = |yes: bool| if yes { "yes" } else { "no" };
    shell::out(&format!("{file}: {}", info.kind));
    let line = |name: &str, value: String| shell::out(&format!("  {name:<20} {value}"));
    line("vertices", info.vertices.to_string());
    line("triangles", info.triangles.to_string());
    if info.triangles > 0 {
        line("closed", closed(info));
        line("manifold", manifold(info));
        line("oriented", yes_no(info.oriented).to_owned());
        line("components", info.components.to_string());
        line("volume", format!("{:.6}", info.volume));
        line("area", format!("{:.6}", info.area));
    }
    if let Some(bounds) = &info.bounds {
        line("bounds", format!("{:?} … {:?}", bounds.min, bounds.max));
    }
    let names: Vec<_> = info.attributes.iter().map(|name| shell::shown(name)).collect();
    line("attributes", or_none(names.join(", ")));
    line("skins", format!("{} ({} joints)", info.skins, info.joints));
    let names = info.morph_names.iter().map(|n| shell::shown(n)).collect::<Vec<_>>().join(", ");
    let named = if names.is_empty() { String::new() } else { format!(": {names}") };
    line("morph targets", format!("{}{named}", info.morph_targets));
    let told = |clip: &Clip| format!("{} ({:.2} s)", shell::shown(&clip.name), clip.seconds);
    let clips: Vec<_> = info.clips.iter().map(told).collect();
    line("animations", or_none(clips.join(", ")));
    if let Some(pairs) = info.self_intersections {
        let count = Count { pairs, is_all: !info.more_self_intersections };
        line("self-intersections", format!("{count} triangle pairs"));
    }
}

fn closed(info: &Info) -> String {
    match (info.closed, info.closed_when_welded) {
        (true, _) => "yes".to_owned(),
        (false, true) => "yes, once coincident vertices are merged".to_owned(),
        (false, false) => {
            let open = info.open_edges_when_welded;
            format!(
                "no, {} boundary edges, {open} once coincident vertices are merged",
                info.boundary_edges
            )
        }
    }
}

fn manifold(info: &Info) -> String {
    match (info.manifold, info.vertex_manifold) {
        (true, true) => "yes".to_owned(),
        (true, false) => "edges yes, some vertices join two fans".to_owned(),
        (false, _) => "no, some edges have more than two triangles".to_owned(),
    }
}

fn or_none(text: String) -> String {
    if text.is_empty() { "none".to_owned() } else { text }
}
