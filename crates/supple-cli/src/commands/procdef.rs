//! `supple procdef`: bodies moved from inside, designed backwards.

use std::io::Write as _;
use std::path::{Path, PathBuf};
use std::process::ExitCode;

use anyhow::{Context as _, bail};
use glam::Vec3;
use supple::io::{self, pc2};
use supple::mesh::{TetMesh, Values};
use supple::player::Player;
use supple::procdef::cage::cage;
use supple::procdef::learn::{self, Learned};
use supple::procdef::starter::learned_scene;
use supple::scene::{Folder, Scene};
use supple::zoo::tet_bodies;

use super::number;
use crate::shell::Shell;

/// Design bodies that move from inside
#[derive(clap::Args, Debug)]
pub(crate) struct Args {
    #[command(subcommand)]
    what: What,
}

#[derive(Debug, clap::Subcommand)]
enum What {
    Learn(Learn),
}

/// Turn a cyclic motion into fields and charts that can be edited
///
/// The body is a file with tets, a closed mesh (which gets a cage of tets) or a tet body of the zoo. The motion is a model
/// with a clip (.glb), a point cache (.pc2), or numbered files in order; it moves all vertices of the tets, or those of
/// the mesh or of a skin around them. A scene and the tets with their fields (.vtu) are written.
#[derive(clap::Args, Debug)]
#[command(after_long_help = EXAMPLES)]
struct Learn {
    /// The body at rest: tets, a closed mesh, or a tet body of the zoo
    body: PathBuf,
    /// Its motion: one .glb or .pc2, or files in order
    #[arg(required = true)]
    sequence: Vec<PathBuf>,
    /// Scene to write
    #[arg(short, long, value_name = "SCENE")]
    output: PathBuf,
    /// How long a cycle takes, in seconds; found in the motion if not given
    #[arg(long, value_parser = number::<f64>, value_name = "SECS")]
    cycle: Option<f64>,
    /// Frames a second of the motion
    #[arg(long, value_parser = number::<f64>, default_value_t = 24.0, value_name = "N")]
    fps: f64,
    /// Which clip of a model; the first if not given
    #[arg(long, value_name = "CLIP")]
    clip: Option<String>,
    /// Nodes of the cage around a mesh, or of a body of the zoo
    #[arg(long, value_name = "N", value_parser = clap::value_parser!(u32).range(8..=1_000_000))]
    nodes: Option<u32>,
    /// Replace a scene that is already there
    #[arg(long)]
    force: bool,
}

const EXAMPLES: &str = "\
Examples:
  supple bake bowel.toml -o out
  supple procdef learn bowel out/bowel.glb -o learned.toml
  supple procdef learn fish.obj frames/fish.*.obj -o fish.toml --fps 30";

pub(crate) fn run(args: &Args, shell: &Shell) -> anyhow::Result<ExitCode> {
    match &args.what {
        What::Learn(args) => learn(args, shell),
    }
}

fn learn(args: &Learn, shell: &Shell) -> anyhow::Result<ExitCode> {
    if args.fps <= 0.0 || args.cycle.is_some_and(|c| c <= 0.0) {
        bail!("--fps and --cycle must be positive");
    }
    let tets_file = args.output.with_extension("vtu");
    for file in [&args.output, &tets_file] {
        if file.exists() && !args.force {
            bail!("{} exists; replace it with --force, or choose another with -o", file.display());
        }
        io::check_output(file)?;
    }
    let run = shell.quiet_run();
    let (mut mesh, skin) = body(args, shell)?;
    let motion = motion(args, shell)?;
    let count = motion.frames.first().map_or(0, Vec::len);
    let rest = motion.rest.filter(|r| r.len() == count);
    let boundary = boundary(&mesh);
    let frames = if count == mesh.positions.len() {
        motion.frames
    } else if let Some(skin) = rest.or(skin.filter(|s| s.len() == count)) {
        learn::from_skin(&mesh, &skin, &motion.frames, &run)?
    } else if count == boundary.len() {
        learn::from_skin(&mesh, &boundary, &motion.frames, &run)?
    } else {
        let (nodes, outside) = (mesh.positions.len(), boundary.len());
        bail!(
            "the motion has {count} vertices; it needs those of the body's tets ({nodes}), of their boundary ({outside}), or of the body's mesh"
        );
    };
    let cycle = args.cycle.map(|secs| (secs * args.fps).round() as usize);
    let learned = learn::learn(&mesh, &frames, (cycle, args.fps), &run)?;
    paint(&mut mesh, &learned);
    io::write_tets(&tets_file, &mesh)?;
    let name = tets_file.file_name().unwrap_or_default().to_string_lossy();
    let text = learned_scene(&name, &learned)?;
    io::save(&args.output, |out| out.write_all(text.as_bytes()))
        .with_context(|| format!("cannot write {}", args.output.display()))?;
    shell.say(format!(
        "a cycle of {} frames; played again, {:.1} % of the motion is there, {:.1} % of the stretching; {} nodes held",
        learned.frames,
        100.0 * learned.explained,
        100.0 * learned.stretching,
        learned.held.len(),
    ));
    if learned.explained < 0.0 {
        let what = "what was learned moves the body otherwise than the sequence does: is it a motion of this very body?";
        shell.warn("learn", &[what]);
    }
    shell.say(format!("{} and {} written", args.output.display(), tets_file.display()));
    if shell.options().json {
        shell.print_json(&serde_json::json!({
            "scene": args.output,
            "tets": tets_file,
            "cycle_frames": learned.frames,
            "explained": learned.explained,
            "stretching": learned.stretching,
            "held_nodes": learned.held.len(),
        }))?;
    }
    Ok(ExitCode::SUCCESS)
}

/// The tets of the body, and the mesh around them if it is one.
fn body(args: &Learn, shell: &Shell) -> anyhow::Result<(TetMesh, Option<Vec<Vec3>>)> {
    let nodes = args.nodes.map(|n| n as usize);
    if !args.body.exists()
        && let Some(name) = args.body.to_str()
        && tet_bodies::BODIES.iter().any(|b| b.name == name)
    {
        return Ok((tet_bodies::build(name, nodes)?, None));
    }
    if io::is_tets(&args.body) {
        let loaded = io::read_tets(&args.body)?;
        shell.warn(&args.body.display().to_string(), &loaded.warnings);
        return Ok((loaded.mesh, None));
    }
    let asset = super::read(&args.body, shell)?;
    let mesh = super::rest_mesh(&args.body, asset, shell)?;
    let made = cage(&mesh.positions, &mesh.triangles, nodes.unwrap_or(1500))
        .with_context(|| args.body.display().to_string())?;
    Ok((made.mesh, Some(mesh.positions)))
}

/// The vertices of the boundary, in order.
fn boundary(mesh: &TetMesh) -> Vec<Vec3> {
    let mut nodes: Vec<u32> = mesh.boundary().into_iter().flatten().collect();
    nodes.sort_unstable();
    nodes.dedup();
    nodes.into_iter().map(|v| mesh.positions[v as usize]).collect()
}

struct Take {
    frames: Vec<Vec<Vec3>>,
    /// The moved mesh at rest, where the file has it.
    rest: Option<Vec<Vec3>>,
}

fn motion(args: &Learn, shell: &Shell) -> anyhow::Result<Take> {
    match args.sequence.as_slice() {
        [one] if one.extension().is_some_and(|e| e.eq_ignore_ascii_case("pc2")) => {
            let bytes = io::inputs::read(one).with_context(|| one.display().to_string())?;
            io::inputs::remember(one);
            let frames = pc2::read(&bytes).with_context(|| one.display().to_string())?;
            Ok(Take { frames, rest: None })
        }
        [one] => clip(args, one, shell),
        files => {
            let positions = |file: &PathBuf| {
                let asset = super::read(file, shell)?;
                Ok(super::rest_mesh(file, asset, shell)?.positions)
            };
            let frames = files.iter().map(positions).collect::<anyhow::Result<_>>()?;
            Ok(Take { frames, rest: None })
        }
    }
}

/// All frames of a model's clip.
fn clip(args: &Learn, file: &Path, shell: &Shell) -> anyhow::Result<Take> {
    let asset = super::read(file, shell)?;
    let chosen = match &args.clip {
        Some(name) => asset.clips.iter().find(|c| c.name == *name),
        None => asset.clips.first(),
    };
    let Some(clip) = chosen else {
        if asset.clips.is_empty() {
            bail!(
                "{} has no clip to learn from; give a model that moves, a .pc2, or numbered files",
                file.display()
            );
        }
        let names: Vec<&str> = asset.clips.iter().map(|c| c.name.as_str()).collect();
        bail!("{} has no such clip; it has: {}", file.display(), names.join(", "));
    };
    let times = clip.channels.iter().flat_map(|c| &c.times);
    let end = f64::from(times.fold(0.0_f32, |end, t| end.max(*t)));
    let name = file.file_name().unwrap_or_default().to_string_lossy();
    let frames = (end * args.fps).round() as u32 + 1;
    // Strings of JSON are strings of TOML.
    let (file_name, clip_name) =
        (serde_json::to_string(&name)?, serde_json::to_string(&clip.name)?);
    let scene = Scene::parse(
        &format!(
            "supple = 2\n[time]\nframes = {frames}\nfps = {fps:?}\n[[asset]]\nfile = {file_name}\n\
             [asset.motion]\nkind = \"keyframes\"\nclip = {clip_name}\n",
            fps = args.fps,
        ),
        None,
    )?;
    let folder = file.parent().filter(|p| !p.as_os_str().is_empty()).unwrap_or(Path::new("."));
    let run = shell.quiet_run();
    let (mut player, _) = Player::open(&scene, &Folder::new(folder), &run)?;
    let mut all = Vec::new();
    for frame in 0..frames {
        let shown = player.frame(frame, &run)?;
        all.push(shown.bodies[0].positions.clone());
    }
    let rest = super::rest_mesh(file, asset, shell)?.positions;
    // A last frame that is the first again counts once.
    if all.len() > 2 && all.first() == all.last() {
        all.pop();
    }
    Ok(Take { frames: all, rest: Some(rest) })
}

/// Puts what was learned onto the tets, by the names that scenes look for.
fn paint(mesh: &mut TetMesh, learned: &Learned) {
    let fields = &learned.fields;
    let direction =
        |k: usize| Values::Vec3(fields.fibers.iter().map(|f| f.directions[k].as_vec3()).collect());
    mesh.attributes.set("primary", direction(0));
    mesh.attributes.set("secondary", direction(1));
    mesh.attributes.set("amplitude", Values::Scalar(fields.amplitude.clone()));
    mesh.attributes.set("phase", Values::Scalar(fields.phase.clone()));
    let mut held = vec![0.0; mesh.positions.len()];
    learned.held.iter().for_each(|&v| held[v as usize] = 1.0);
    mesh.attributes.set("held", Values::Scalar(held));
    mesh.attributes.remove("layer");
}
