//! `supple blend`: shapes blended as bodies, from files.

mod correctives;
mod inputs;
mod output;
mod player;

use std::path::PathBuf;
use std::process::ExitCode;

use anyhow::bail;
use clap::ValueEnum;
use serde::Serialize;
use supple::bake::Folds;
use supple::blendshape::contact::Response;
use supple::blendshape::{Counts, Mode, Report};

use self::inputs::Inputs;
use self::player::Player;
use super::{folds, number};
use crate::shell::Shell;

/// Blend shapes so that they bend and turn instead of shrinking, and stay out of obstacles
///
/// Give a base and its targets as files with the same vertices, or one file with morph targets. Weights are those of all
/// shapes with the base first, and sum to one; with --additive, or by name, those of the targets alone. The ending of the
/// output says what is written: a shape, a take (.glb, .usda, .pc2, .mdd), a sequence of shapes (with --steps), a
/// picture or a video.
#[derive(clap::Args, Debug)]
#[command(after_long_help = EXAMPLES)]
pub(crate) struct Args {
    /// The base and its targets, or one file with morph targets
    #[arg(required = true, value_name = "SHAPES")]
    inputs: Vec<PathBuf>,
    /// File to write; its ending says the format
    #[arg(short, long, value_name = "OUT")]
    output: PathBuf,
    /// Weights: of the base and all targets, or name=weight for morph targets
    #[arg(long, value_name = "W,…", allow_hyphen_values = true)]
    weights: Option<String>,
    /// Go there in so many steps from the base; with --weights the last one is written
    #[arg(long, value_name = "N", value_parser = clap::value_parser!(u32).range(1..=100_000))]
    steps: Option<u32>,
    /// Weights are those of the targets alone and need not sum to one
    #[arg(long)]
    additive: bool,
    /// A target that is for others used together: its weight is the product of theirs; may be given again
    #[arg(long, value_name = "NAME=A*B")]
    combine: Vec<String>,
    /// What a blend is
    #[arg(long, value_enum, default_value_t = How::Springs)]
    mode: How,
    /// Vertices to hold: numbers from 0, the name of painted values, `agree` (where all shapes agree) or `nothing`
    #[arg(long, value_name = "I,…|PAINT")]
    hold: Option<String>,
    /// What the whole moves with where nothing is held: vertices by number or painted values, or rigid rectangles inside,
    /// at the `centre` or `@X,Y,Z`; may be given again
    #[arg(long, value_name = "I,…|PAINT|centre|@X,Y,Z", num_args = 0..=1, default_missing_value = "centre")]
    anchor: Vec<String>,
    /// Painted values that make springs stiffer
    #[arg(long, value_name = "PAINT")]
    stiffness: Option<String>,
    /// A closed mesh that is not entered; may be given again
    #[arg(long, value_name = "MESH")]
    obstacle: Vec<PathBuf>,
    /// Coefficient of friction on obstacles
    #[arg(long, value_parser = number::<f64>, default_value_t = 0.0, value_name = "MU")]
    friction: f64,
    /// Fix vertices where they leave an obstacle, as the paper does, in place of letting them slide
    #[arg(long)]
    stick: bool,
    /// Pull a vertex to a place; may be given again
    #[arg(long, value_name = "I:X,Y,Z", allow_hyphen_values = true)]
    pull: Vec<String>,
    /// What to write in place of blends: morph targets that a linear engine plays as the blend
    #[arg(long = "as", value_enum, value_name = "WHAT")]
    what: Option<What>,
    /// In-between targets for each morph target, with --as correctives
    #[arg(long, default_value_t = 5, value_name = "N", value_parser = clap::value_parser!(u32).range(1..=64))]
    between: u32,
    /// Which clip to play, by name or by number from 0; the first if not given
    #[arg(long, value_name = "CLIP")]
    clip: Option<String>,
    /// Frames a second of a take or video
    #[arg(long, value_parser = number::<f64>, default_value_t = 24.0, value_name = "N")]
    fps: f64,
}

const EXAMPLES: &str = "\
Examples:
  supple blend a.obj b.obj --weights 0.5,0.5 -o half.obj
  supple blend a.obj b.obj --steps 36 -o bend.glb            (.mp4: a video; out/b.obj: out/b.0000.obj, …)
  supple blend a.obj b.obj c.obj --additive --weights 1,0.5 -o sum.ply
  supple blend face.glb --weights jawOpen=0.7,smile=0.3 -o out.glb
  supple blend face.glb --combine fix=jawOpen*smile --weights jawOpen=1,smile=1 -o both.glb
  supple blend face.glb -o played.glb                        (its clip plays)
  supple blend face.glb --as correctives --between 5 -o engine.glb
  supple blend a.obj b.obj --steps 9 --obstacle rod.obj --friction 0.3 -o touch.glb
  supple blend a.obj b.obj --weights 0.5,0.5 --pull 17:0,0.2,1 -o pulled.obj";

/// What a blend is.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
enum How {
    /// The equilibrium of springs: for what bends and turns
    Springs,
    /// Interpolated rotations: for faces
    Rotations,
    /// Straight lines, to compare with
    Linear,
}

/// What else can be written.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
enum What {
    /// In-between morph targets
    Correctives,
}

impl Args {
    fn mode(&self) -> Mode {
        if self.mode == How::Rotations { Mode::Rotations } else { Mode::Springs }
    }

    fn response(&self) -> Response {
        if self.stick { Response::Stick } else { Response::Slide }
    }
}

/// What `blend` tells, under the names it has in JSON.
#[derive(Debug, Default, Serialize)]
struct Results {
    file: PathBuf,
    frames: u32,
    targets: Vec<String>,
    network: Counts,
    held_vertices: usize,
    /// Of the hardest frame.
    newton_steps: usize,
    gradient_steps: usize,
    last_step_rel_diagonal: f64,
    frames_not_proved: u32,
    inverted_tets: usize,
    bent_off: usize,
    /// Weights outside 0 to 1.
    beyond: usize,
    contacts: usize,
    depth_rel_diagonal: f64,
    /// Volume over that between the shapes, and that of a linear blend, where they differ most.
    volume_error: Option<f64>,
    volume_error_linear: Option<f64>,
    /// Mean error of edges against blended lengths, and that of a linear blend, where they are largest.
    edge_error: f64,
    edge_error_linear: f64,
    /// Median time of a frame.
    milliseconds: f64,
    /// Of correctives: the largest distance from the blend itself.
    correctives_error_rel_diagonal: Option<f64>,
    /// Self-intersections of some of the frames that were written, against the first shape.
    #[serde(skip_serializing_if = "Option::is_none")]
    folds: Option<Folds>,
}

impl Results {
    fn add(&mut self, report: &Report) {
        self.newton_steps = self.newton_steps.max(report.newton_steps);
        self.gradient_steps = self.gradient_steps.max(report.gradient_steps);
        self.last_step_rel_diagonal =
            self.last_step_rel_diagonal.max(report.last_step_rel_diagonal);
        self.frames_not_proved += u32::from(!report.is_proved);
        self.inverted_tets = self.inverted_tets.max(report.inverted_tets);
        self.bent_off = self.bent_off.max(report.bent_off);
        self.beyond = self.beyond.max(report.beyond);
        self.contacts = self.contacts.max(report.contacts);
        self.depth_rel_diagonal = self.depth_rel_diagonal.max(report.depth_rel_diagonal);
    }
}

pub(crate) fn run(args: &Args, shell: &Shell) -> anyhow::Result<ExitCode> {
    if !(0.01..=10_000.0).contains(&args.fps) {
        bail!("--fps {}: give a rate between 0.01 and 10000", args.fps);
    }
    if !(args.friction >= 0.0 && args.friction.is_finite()) {
        bail!("--friction {}: give a number that is not negative", args.friction);
    }
    let inputs = Inputs::read(args, shell)?;
    let told = if args.what == Some(What::Correctives) {
        correctives::write(args, &inputs, shell)?
    } else {
        let mut player = Player::new(args, &inputs, shell)?;
        output::write(args, &inputs, &mut player, shell)?;
        player.finish(shell)?
    };
    tell(&told, args, shell)?;
    Ok(ExitCode::SUCCESS)
}

/// What the person should know.
fn warnings(told: &Results) -> Vec<String> {
    let mut warnings = Vec::new();
    let n = &told.network;
    if n.pieces > 1 {
        warnings.push(format!(
            "{} pieces that nothing holds together are blended each for itself",
            n.pieces
        ));
    }
    if n.loose > 0 {
        warnings.push(format!("{} vertices without an edge are blended linearly", n.loose));
    }
    if n.inverted_in_targets > 0 {
        warnings.push(format!(
            "{} inside out in the targets: they fold or cut through themselves",
            counted(n.inverted_in_targets, "tet is", "tets are")
        ));
    }
    if told.inverted_tets > 0 {
        let tets = counted(told.inverted_tets, "tet is", "tets are");
        warnings.push(format!("up to {tets} inside out in a frame"));
    }
    if told.beyond > 0 {
        warnings.push(format!(
            "{} outside 0 to 1: the blend goes on beyond the shapes that were made",
            counted(told.beyond, "weight lies", "weights lie")
        ));
    }
    if told.bent_off > 0 {
        warnings
            .push(format!("up to {} springs would have had no length: bent off", told.bent_off));
    }
    if told.frames_not_proved > 0 {
        warnings.push(format!(
            "{} of {} frames are the best found, not proved to be at rest",
            told.frames_not_proved, told.frames
        ));
    }
    warnings
}

fn tell(told: &Results, args: &Args, shell: &Shell) -> anyhow::Result<()> {
    shell.warn("blend", &warnings(told));
    let n = &told.network;
    if shell.options().json {
        told.folds.iter().for_each(|f| folds::tell(f, "blend", shell));
        return shell.print_json(told);
    }
    let file = told.file.display();
    let targets = counted(told.targets.len(), "target", "targets");
    if let Some(error) = told.correctives_error_rel_diagonal {
        shell.say(format!(
            "{file}: {} for {targets}, {} nodes ({} inside), {} springs",
            counted(told.frames as usize, "in-between", "in-betweens"),
            n.nodes,
            n.inner,
            n.springs
        ));
        shell.say(format!("correctives are within {error:.1e} of the diagonal of the blend"));
        told.folds.iter().for_each(|f| folds::tell(f, "blend", shell));
        return Ok(());
    }
    shell.say(format!("{file}: {}, {targets}", counted(told.frames as usize, "frame", "frames")));
    if n.nodes > 0 && args.mode != How::Linear {
        shell.say(format!(
            "{} nodes ({} inside), {} springs, {} vertices held; {:.1} ms a frame",
            n.nodes, n.inner, n.springs, told.held_vertices, told.milliseconds
        ));
    }
    if let (Some(error), Some(linear)) = (told.volume_error, told.volume_error_linear) {
        shell.say(format!(
            "volume off by at most {:+.3} % (linear: {:+.3} %)",
            100.0 * error,
            100.0 * linear
        ));
    }
    if told.edge_error_linear > 0.0 {
        shell.say(format!(
            "edges off by {:.2} % on average at most (linear: {:.2} %)",
            100.0 * told.edge_error,
            100.0 * told.edge_error_linear
        ));
    }
    if told.contacts > 0 {
        shell.say(format!(
            "{} vertices touch, {:.1e} of the diagonal deep",
            told.contacts, told.depth_rel_diagonal
        ));
    }
    told.folds.iter().for_each(|f| folds::tell(f, "blend", shell));
    Ok(())
}

/// A number with its word.
fn counted(count: usize, one: &str, many: &str) -> String {
    format!("{count} {}", if count == 1 { one } else { many })
}
