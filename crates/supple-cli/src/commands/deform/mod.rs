//! `supple deform`: one-shot sculpt operations on a file.

mod ops;
mod strokes;

use std::path::{Path, PathBuf};
use std::process::ExitCode;

use anyhow::Context as _;
use glam::Vec3;
use serde::Serialize;
use supple::mesh::folding::Folding;
use supple::mesh::measure::Bounds;
use supple::mesh::refine;
use supple::mesh::surface_frames::SurfaceFrames;
use supple::mesh::tangents;
use supple::modifier::Modifier as _;
use supple::scene::{Entry, Scene, Source, Time};
use supple::sculpt::{self, OnContact, Op, Report, ToolShape, Undone, modifier};
use supple::{Asset, TriMesh, io, zoo};

use super::one_shot;
use crate::shell::Shell;

/// Deform a shape by operations that keep its volume, one after the other
///
/// Lengths are in the file's units, points and directions are x,y,z without spaces. Each operation
/// has its own options; see them with: supple deform IN -o OUT move --help
#[derive(clap::Args, Debug)]
#[command(after_long_help = EXAMPLES)]
pub(crate) struct Args {
    /// The shape: a mesh or a point cloud
    input: PathBuf,
    /// File to write; its ending says the format
    #[arg(short, long, value_name = "OUT")]
    output: PathBuf,
    /// Restore the volume exactly at the end; what must land exactly or must not move stays
    #[arg(long)]
    exact_volume: bool,
    /// End an operation before parts of the surface meet that it moves towards each other
    #[arg(long)]
    stop_on_contact: bool,
    /// Split triangles, at rest, wherever the deformed shape needs them finer; even out what moved
    #[arg(long)]
    remesh: bool,
    /// Painted vertex values of the file, 0 to 1, that say how much each vertex takes part; 0 stays in place
    #[arg(long, value_name = "NAME")]
    mask: Option<String>,
    /// Keep what is done as a scene, for `supple bake`
    #[arg(long, value_name = "FILE", conflicts_with_all = ["log", "replay"])]
    scene: Option<PathBuf>,
    /// A log of strokes: operations are written down in it, and can be taken back
    #[arg(long, value_name = "LOG", conflicts_with = "remesh")]
    log: Option<PathBuf>,
    /// Take the last strokes of the log back from the shape they led to
    #[arg(long, value_name = "N", requires = "log", conflicts_with_all = ["redo", "operations"])]
    undo: Option<usize>,
    /// Make the strokes again that were last taken back
    #[arg(long, value_name = "N", requires = "log", conflicts_with = "operations")]
    redo: Option<usize>,
    /// Make all strokes of a log on this shape, which may be another than theirs
    #[arg(long, value_name = "LOG", conflicts_with_all = ["undo", "redo", "log", "remesh", "operations"])]
    replay: Option<PathBuf>,
    /// What to do: move, points, paint, stamp, twist, bend, boundary or curve, each with its options
    #[arg(
        value_name = "OP",
        required_unless_present_any = ["undo", "redo", "replay"],
        trailing_var_arg = true,
        allow_hyphen_values = true
    )]
    operations: Vec<String>,
}

const EXAMPLES: &str = "\
Operations:
  move      drag a sphere, capsule, box, plane, curve, set of points or closed mesh; what is inside follows,
            what is around makes room
  points    drag a set of points or a curve and what is near them
  paint     push the surface in or out along a stroke
  stamp     push a closed mesh into the shape, which makes room for it
  twist     turn about an axis: still below --from, by the whole angle above --to
  bend      bend about an axis: what lies before the fade stays, what lies after it turns
  boundary  move what lies inside one closed curve, leave what lies outside another
  curve     guide part of the surface along a curve

Points may also come from a file, in its order: --stroke @stroke.obj

Examples:
  supple zoo ball -o ball.ply
  supple deform ball.ply -o out.ply move --center 0,0,1.4 --by 0,0,-1.2 --inner 0.3 --outer 1.2
  supple deform ball.ply -o out.ply stamp --tool torus --scale 0.4 --from 0,0,1.6 --by 0,0,-0.35 --outer 0.4
  supple zoo bar -o bar.ply
  supple deform bar.ply -o out.ply twist --center 0,0,0 --axis 1,0,0 --degrees 180 --from -2 --to 2
  supple deform bar.ply -o out.ply bend --axis 0,0,1 --along 1,0,0 --degrees 90 --width 4
  supple deform bar.ply -o out.ply --remesh bend --axis 0,0,1 --along 1,0,0 --degrees 90 --width 4
  supple deform bar.ply -o out.ply --remesh --exact-volume twist --axis 1,0,0 bend --axis 0,0,1 --width 4
  supple deform ball.ply -o one.ply --log strokes.json move --center 0,0,1 --by 0,0,0.5
  supple deform one.ply -o back.ply --log strokes.json --undo 1
  supple deform bar.ply -o bent.ply --scene bent.toml bend --axis 0,0,1 --width 4     (then: supple bake bent.toml -o out)
  supple deform bar.ply -o other.ply --replay strokes.json";

/// What `deform` tells, under the names it has in JSON.
#[derive(Debug, Serialize)]
struct Results<'a> {
    #[serde(flatten)]
    report: &'a Report,
    volume_error: f64,
    self_intersections: Folding,
    #[serde(skip_serializing_if = "Option::is_none")]
    undone: Option<Undone>,
}

/// Switches of the whole command.
const SWITCHES: [&str; 4] = ["--json", "--exact-volume", "--stop-on-contact", "--remesh"];

pub(crate) fn run(args: &Args, shell: &Shell) -> anyhow::Result<ExitCode> {
    let (scene, log) = (args.scene.as_deref(), args.log.as_deref());
    one_shot::apart(&[("--output", Some(&args.output)), ("--scene", scene), ("--log", log)])?;
    // Switches of the whole command may also follow the operations.
    let is_switch = |word: &&String| SWITCHES.contains(&word.as_str());
    let (switches, words): (Vec<_>, Vec<_>) = args.operations.iter().partition(is_switch);
    let given = |switch: &str| switches.iter().any(|word| *word == switch);
    let words = words.into_iter().map(|word| points_of_file(word, shell));
    let words = words.collect::<anyhow::Result<Vec<String>>>()?;
    let mut ops = match ops::parse(&words.iter().collect::<Vec<_>>()) {
        Ok(ops) => ops,
        Err(error) => return Ok(ops::explain(&error)),
    };
    let edits = ops.clone();
    for op in &mut ops {
        load_tool(op, shell)?;
    }
    let mut asset = deformable(&args.input, shell)?;
    io::check_output(&args.output)?;
    if let [mesh, ..] = &asset.meshes[..] {
        ops.iter_mut().try_for_each(|op| op.look_up(&mesh.attributes))?;
    }
    let exact_volume = args.exact_volume || given("--exact-volume");
    let stop = args.stop_on_contact || given("--stop-on-contact");
    let on_contact = if stop { OnContact::Stop } else { OnContact::Report };
    let remesh = args.remesh || given("--remesh");
    if let Some(file) = &args.scene {
        let params = modifier::Params {
            exact_volume,
            on_contact,
            mask: args.mask.clone(),
            remesh,
            ops: edits,
            ..modifier::Params::default()
        };
        one_shot::keep(&scene_of(&args.input, file, params)?, Some(file), shell)?;
    }
    let mask = mask(args.mask.as_deref(), &asset)?;
    let params = sculpt::Params { exact_volume, on_contact, mask, ..sculpt::Params::default() };
    anyhow::ensure!(
        !(remesh && args.log.is_some()),
        "a log is of one mesh: leave --remesh or --log out"
    );
    let before = asset.meshes.first().cloned().unwrap_or_default();
    let (report, undone) = shell.with_progress("deforming", |run| -> anyhow::Result<_> {
        if let ([mesh, ..], true) = (&mut asset.meshes[..], remesh) {
            let fineness = refine::Params::default();
            return Ok((sculpt::apply_refined(mesh, &ops, &params, &fineness, run)?.report, None));
        }
        let (positions, triangles) = match (&mut asset.meshes[..], &mut asset.clouds[..]) {
            ([mesh, ..], _) => (&mut mesh.positions, &mesh.triangles[..]),
            (_, [cloud, ..]) => (&mut cloud.positions, &[][..]),
            _ => anyhow::bail!("{}: there is nothing to deform", args.input.display()),
        };
        if args.log.is_some() || args.replay.is_some() {
            return strokes::run(args, ops, positions, triangles, &params, run);
        }
        Ok((sculpt::apply(positions, triangles, &ops, &params, run)?.report, None))
    })?;
    let mut folding = Folding { is_all: true, ..Folding::default() };
    if let [mesh] = &mut asset.meshes[..] {
        let (run, positions) = (shell.quiet_run(), mesh.positions.clone());
        if remesh {
            // Tangents cannot follow vertices that are not the same.
            tangents::follow(mesh, &[]);
            SurfaceFrames::of_vertices(mesh).place(mesh, positions, &run);
        } else {
            SurfaceFrames::of(&before).place(mesh, positions, &run);
        }
        folding = super::folding(&before, mesh, shell)?;
    }
    let warnings = io::write(&args.output, &asset)?;
    shell.warn(&args.output.display().to_string(), &warnings);
    shell.warn("deform", &report.warnings);
    shell.warn("deform", &hints(&report, &before, &folding));
    let told = Results {
        volume_error: report.volume_error(),
        report: &report,
        self_intersections: folding,
        undone,
    };
    tell(&told, given("--json"), shell)?;
    Ok(ExitCode::SUCCESS)
}

/// What else to tell: where the shape is, if nothing moved; that it folds.
fn hints(report: &Report, mesh: &TriMesh, folding: &Folding) -> Vec<String> {
    let nothing_moved = Bounds::of(&mesh.positions).filter(|_| report.moved == 0);
    let spans = nothing_moved.map(|Bounds { min, max }| {
        format!("no vertex moved: the operations reach none; the shape spans {min} … {max}")
    });
    spans.into_iter().chain(folding.warning()).collect()
}

/// One frame of the shape with its edits.
fn scene_of(input: &Path, scene_file: &Path, mut edits: modifier::Params) -> anyhow::Result<Scene> {
    let named = |file: &str| one_shot::named(Path::new(file), Some(scene_file));
    for tool in edits.ops.iter_mut().flat_map(Op::tool_shapes) {
        if let ToolShape::File(name) = tool {
            *name = named(name)?;
        }
    }
    let source = Source::File { file: one_shot::named(input, Some(scene_file))? };
    let mut scene = Scene::of(&source.name(), source);
    scene.time = Time { end: 0.0, ..Time::default() };
    // A character is edited as it stands, not as it is bound.
    scene.assets[0].world = vec![Entry::of(modifier::Sculpt::KIND, &edits)];
    Ok(scene)
}

/// A word of the command line; what begins with @ is the points of a file, in their order.
fn points_of_file(word: &str, shell: &Shell) -> anyhow::Result<String> {
    let Some(name) = word.strip_prefix('@') else { return Ok(word.to_owned()) };
    let mesh = super::rest_mesh(Path::new(name), super::read(Path::new(name), shell)?, shell)?;
    anyhow::ensure!(!mesh.positions.is_empty(), "{name}: there are no points in it");
    let point = |p: &Vec3| format!("{},{},{}", p.x, p.y, p.z);
    Ok(mesh.positions.iter().map(point).collect::<Vec<_>>().join(";"))
}

/// The painted values of a name.
fn mask(name: Option<&str>, asset: &Asset) -> anyhow::Result<Vec<f32>> {
    let (Some(name), [mesh, ..]) = (name, &asset.meshes[..]) else { return Ok(Vec::new()) };
    let values = mesh.attributes.scalar(name).with_context(|| {
        format!("there are no painted values '{name}' ({})", mesh.attributes.known_scalars())
    })?;
    Ok(values.to_vec())
}

/// Puts the meshes of tools in the places of their names.
fn load_tool(op: &mut Op, shell: &Shell) -> anyhow::Result<()> {
    for tool in op.tool_shapes() {
        let (name, asset) = match &*tool {
            ToolShape::Mesh { .. } => continue,
            ToolShape::File(name) => (name, super::read(Path::new(name), shell)?),
            ToolShape::Zoo(name) => {
                (name, zoo::build(name, &zoo::Size::default(), &shell.quiet_run())?)
            }
        };
        let mesh = super::rest_mesh(Path::new(name), asset, shell)?;
        *tool = ToolShape::Mesh { positions: mesh.positions, triangles: mesh.triangles };
    }
    Ok(())
}

/// One mesh, or one point cloud: a character's parts are joined in their rest pose.
fn deformable(path: &Path, shell: &Shell) -> anyhow::Result<Asset> {
    let mut asset = super::read(path, shell)?;
    if asset.meshes.is_empty() {
        return Ok(asset);
    }
    if !asset.skins.is_empty() || !asset.clips.is_empty() {
        shell.warn("deform", &["the rest shape is deformed; skeleton and animations are left out"]);
    }
    let (materials, images) = (asset.materials.split_off(0), asset.images.split_off(0));
    let mesh = super::rest_mesh(path, asset, shell)?;
    Ok(Asset { materials, images, ..Asset::from_mesh(mesh) })
}

fn tell(told: &Results<'_>, json: bool, shell: &Shell) -> anyhow::Result<()> {
    if json || shell.options().json {
        return shell.print_json(told);
    }
    let Results { report, volume_error, self_intersections: folding, undone } = told;
    if let Some(Undone { by_mathematics, by_shape, error_rel_bbox }) = undone {
        shell.say(format!(
            "{} strokes taken back: {by_mathematics} along backward path lines, off by {error_rel_bbox:.1e} of the \
             shape's size there and back; {by_shape} by the shape kept in the log",
            by_mathematics + by_shape
        ));
    }
    shell.say(format!("{} vertices moved, by up to {}", report.moved, report.max_displacement));
    shell.say(format!("volume {:.9} → {:.9}", report.volume_before, report.volume_after));
    shell.say(format!("volume error {volume_error:.3e}"));
    shell.say(format!("self-intersections {} → {}", folding.before, folding.after));
    Ok(())
}
