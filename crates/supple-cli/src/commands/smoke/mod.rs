//! `supple smoke`: smoke-like streak surfaces in a flow.

mod cast;
mod output;
mod picture;

use std::ops::Range;
use std::path::PathBuf;
use std::process::ExitCode;

use glam::Vec3;
use supple::flow::dataset::Coordinates;
use supple::smoke::Opacity;
use supple::smoke::style::Style;

use self::cast::Cast;
use self::output::Output;
use super::number;
use super::render::Behind;
use crate::shell::Shell;

/// Smoke from a line in a flow: pictures, video or meshes
///
/// Columns of vertices are released from a seed line and carried by the flow; the surface is drawn the thinner
/// the more it is stretched. The flow is a recording (.pvd, VTK, NetCDF, Amira; files, patterns, lists) or a formula: abc,
/// gyre, hill, wake, swirl, uniform, oscillating, saddle. What is not given is chosen and printed. A picture shows the last frame; frame i is at --start + i × --dt.
#[derive(clap::Args, Debug)]
#[command(after_long_help = EXAMPLES)]
pub(crate) struct Args {
    /// The flow: files of a recording, or the name of a formula
    #[arg(required = true)]
    pub(crate) flow: Vec<String>,
    /// File to write: .png, .webp, .gif, .mp4; .ply, .glb, .obj (one a frame); .pvd (with one .vtp a frame)
    #[arg(short, long, value_name = "FILE")]
    pub(crate) output: PathBuf,
    /// A seed line, its corners separated by colons: 0,0,0:0,1,0; several make several surfaces
    #[arg(long, value_name = "X,Y,Z:X,Y,Z", value_parser = line, allow_hyphen_values = true)]
    pub(crate) seed: Vec<Line>,
    /// Colour of a surface, by name or as #rrggbb: the first for the first seed
    #[arg(long, value_name = "COLOR", value_parser = color)]
    pub(crate) color: Vec<[f32; 3]>,
    /// Columns of a surface: a column lives so many steps
    #[arg(long, value_name = "N", default_value_t = 200)]
    pub(crate) columns: usize,
    /// Vertices in a column
    #[arg(long, value_name = "N", default_value_t = 60)]
    pub(crate) rows: usize,
    /// Time between two frames, each of which releases a column; chosen for square cells if not given
    #[arg(long, value_parser = number::<f64>, value_name = "TIME")]
    pub(crate) dt: Option<f64>,
    /// When the first column is released
    #[arg(long, value_parser = number::<f64>, value_name = "TIME", allow_hyphen_values = true)]
    pub(crate) start: Option<f64>,
    /// Frames to write, the end not included; until the surface is complete if not given
    #[arg(long, value_name = "A..B", value_parser = super::bake::frame_range)]
    pub(crate) frames: Option<Range<u32>>,
    /// Run time backwards: where it came from
    #[arg(long)]
    pub(crate) backward: bool,
    /// Names of the velocity of a recording, or of its components
    #[arg(long, value_name = "U,V,W", value_delimiter = ',')]
    pub(crate) velocity: Vec<String>,
    /// Times of files that do not say them: the first, and from one to the next
    #[arg(long, value_name = "START:STEP", value_parser = times)]
    pub(crate) times: Option<(f64, f64)>,
    /// What the coordinates are; as the file says if not given
    #[arg(long, value_name = "WHAT", value_enum)]
    pub(crate) coordinates: Option<Meaning>,
    /// Axes whose end is their beginning: x, xy, z …
    #[arg(long, value_name = "AXES", default_value = "", value_parser = axes, hide_default_value = true)]
    pub(crate) periodic: [bool; 3],
    /// The record is a period that repeats
    #[arg(long = "loop")]
    pub(crate) looped: bool,
    /// Stand upright ribbons of this height on the seed line: for flows in a plane
    #[arg(long, value_parser = number::<f64>, value_name = "HEIGHT")]
    pub(crate) lift: Option<f64>,
    /// How the surface is shown
    #[arg(long, value_name = "STYLE", value_enum, default_value_t)]
    pub(crate) style: Shown,
    /// Rows or columns from one line to the next; rows of a nozzle with its gap
    #[arg(long, value_name = "N", default_value_t = 8)]
    pub(crate) every: usize,
    /// Colour by something, with a legend
    #[arg(long, value_name = "WHAT", value_enum)]
    pub(crate) by: Option<By>,
    #[command(flatten)]
    pub(crate) look: Look,
}

/// How smoke is seen.
#[derive(clap::Args, Clone, Debug)]
pub(crate) struct Look {
    /// Opacity of fresh smoke seen face on; 1 shows the other terms alone
    #[arg(long, value_parser = number::<f32>, value_name = "SHARE", default_value_t = 0.35)]
    pub(crate) opacity: f32,
    /// How strongly triangles out of shape are hidden (an exponent); 0 is not at all
    #[arg(long, value_parser = number::<f32>, value_name = "S", default_value_t = 0.5)]
    pub(crate) shape: f32,
    /// How strongly bends are hidden; 0 is not at all
    #[arg(long, value_parser = number::<f32>, value_name = "B", default_value_t = 1.0)]
    pub(crate) curvature: f32,
    /// Share of its life after which smoke fades; 1 is never
    #[arg(long, value_parser = number::<f32>, value_name = "SHARE", default_value_t = 0.5)]
    pub(crate) fade: f32,
    /// Density linearised, as the thesis has it
    #[arg(long)]
    pub(crate) linear: bool,
    /// Width and height in pixels
    #[arg(long, value_name = "WxH", default_value = "1280x720", value_parser = super::render::size)]
    pub(crate) size: [u32; 2],
    /// What stands behind and below
    #[arg(long, value_name = "WHAT", value_enum, default_value_t = Behind::Dark)]
    pub(crate) backdrop: Behind,
    /// Direction from the smoke to the camera; across the stream if not given
    #[arg(long, value_name = "X,Y,Z", value_parser = super::render::vector, allow_hyphen_values = true)]
    pub(crate) from: Option<Vec3>,
    /// Which way is up
    #[arg(long, value_name = "AXIS", default_value = "y", value_parser = super::render::axis)]
    pub(crate) up: Vec3,
    /// A mesh that stands in the flow, to be shown
    #[arg(long, value_name = "MESH")]
    pub(crate) obstacle: Option<PathBuf>,
    /// Leave the seed line out of the picture
    #[arg(long)]
    pub(crate) no_seed_line: bool,
}

/// How a surface is shown.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, clap::ValueEnum)]
pub(crate) enum Shown {
    /// Smoke
    #[default]
    Smoke,
    /// Smoke with streak lines
    Streaks,
    /// Smoke with time lines
    Times,
    /// The surface itself
    Surface,
    /// Smoke from nozzles
    Nozzles,
    /// Wool tufts all over an obstacle
    Tufts,
}

impl From<Shown> for Style {
    fn from(shown: Shown) -> Self {
        match shown {
            Shown::Smoke => Self::Smoke,
            Shown::Streaks => Self::Streaks,
            Shown::Times => Self::Times,
            Shown::Surface | Shown::Tufts => Self::Surface,
            Shown::Nozzles => Self::Nozzles,
        }
    }
}

/// What the colour means.
#[derive(Clone, Copy, Debug, PartialEq, Eq, clap::ValueEnum)]
pub(crate) enum By {
    /// How fast the flow is there
    Speed,
    /// Time since it was released
    Age,
    /// How often the area of its birth a triangle has
    Stretch,
    /// Where on the seed line it came from
    Row,
}

/// What coordinates are.
#[derive(Clone, Copy, Debug, PartialEq, Eq, clap::ValueEnum)]
pub(crate) enum Meaning {
    /// Longitude and latitude
    Degrees,
    /// Lengths
    Metres,
}

impl From<Meaning> for Coordinates {
    fn from(meaning: Meaning) -> Self {
        match meaning {
            Meaning::Degrees => Self::Degrees,
            Meaning::Metres => Self::Metres,
        }
    }
}

fn times(text: &str) -> Result<(f64, f64), String> {
    let wrong = || format!("'{text}' is no start and step; write them like 0:0.1");
    let (start, step) = text.split_once(':').ok_or_else(wrong)?;
    let number = |part: &str| part.trim().parse::<f64>().ok().filter(|n| n.is_finite());
    number(start).zip(number(step)).ok_or_else(wrong)
}

fn axes(text: &str) -> Result<[bool; 3], String> {
    match text.chars().find(|c| !"xyz".contains(*c)) {
        Some(c) => Err(format!("'{c}' is no axis; name axes like xz")),
        None => Ok(['x', 'y', 'z'].map(|axis| text.contains(axis))),
    }
}

impl Look {
    pub(crate) fn terms(&self) -> Opacity {
        let Self { opacity, shape, curvature, fade, linear, .. } = *self;
        Opacity { fresh: opacity, shape, curvature, fade, linear }
    }
}

const EXAMPLES: &str = "\
Examples:
  supple smoke wake -o wake.png
  supple smoke abc --seed 1,1,1:1,5,1 --columns 200 --rows 250 --dt 0.05 --frames 0..200 -o abc.mp4
  supple smoke gyre -o gyre.pvd
  supple smoke case.pvd -o wake.mp4
  supple smoke U.nc V.nc --velocity vozocrtx,vomecrty --seed 20000,10000:20000,90000 -o out.pvd
  supple smoke wake --seed 0.6,0.3,0:0.6,0.3,4 --color red --seed 0.6,-0.3,0:0.6,-0.3,4 --color blue -o two.png";

pub(crate) fn run(args: &Args, shell: &Shell) -> anyhow::Result<ExitCode> {
    let output = Output::check(&args.output)?;
    let cast = Cast::new(args, shell)?;
    for choice in cast.chosen() {
        shell.say(choice);
    }
    let files = output.write(&cast, args, shell)?;
    if shell.options().json {
        let vertices: usize =
            cast.streaks().iter().map(|s| s.params().columns * s.params().rows).sum();
        let told =
            serde_json::json!({ "files": files, "chosen": cast.chosen(), "vertices": vertices });
        shell.print_json(&told)?;
    }
    for file in files.iter().take(1) {
        shell.say(file.display().to_string());
    }
    if files.len() > 1 {
        shell.say(format!("… and {} more files", files.len() - 1));
    }
    Ok(ExitCode::SUCCESS)
}

/// The corners of a seed line.
#[derive(Clone, Debug, PartialEq)]
pub(crate) struct Line(pub(crate) Vec<[f64; 3]>);

/// Points separated by colons; in a plane two numbers will do.
fn line(text: &str) -> Result<Line, String> {
    let wrong = || format!("'{text}' is no line; write its corners like 0,0,0:0,1,0");
    let point = |part: &str| {
        let numbers: Vec<f64> =
            part.split(',').map(|n| n.trim().parse()).collect::<Result<_, _>>().ok()?;
        match numbers[..] {
            [x, y] => Some([x, y, 0.0]),
            [x, y, z] => Some([x, y, z]),
            _ => None,
        }
    };
    let points: Option<Vec<_>> = text.split(':').map(point).collect();
    let points = points.ok_or_else(wrong)?;
    if points.len() < 2 { Err(wrong()) } else { Ok(Line(points)) }
}

/// Names of colours in linear light, softened as smoke is.
const COLORS: [(&str, [f32; 3]); 9] = [
    ("white", [0.95, 0.95, 0.95]),
    ("red", [0.90, 0.12, 0.07]),
    ("blue", [0.08, 0.22, 0.92]),
    ("green", [0.10, 0.65, 0.16]),
    ("yellow", [0.92, 0.70, 0.08]),
    ("orange", [0.95, 0.35, 0.05]),
    ("cyan", [0.10, 0.70, 0.80]),
    ("magenta", [0.80, 0.12, 0.60]),
    ("gray", [0.40, 0.40, 0.40]),
];

fn color(text: &str) -> Result<[f32; 3], String> {
    if let Some((_, color)) = COLORS.iter().find(|(name, _)| *name == text) {
        return Ok(*color);
    }
    let names = || COLORS.map(|(name, _)| name).join(", ");
    let wrong = || format!("'{text}' is no colour; take {} or write it like #ff8800", names());
    let digits = text.strip_prefix('#').filter(|d| d.len() == 6).ok_or_else(wrong)?;
    let bits = u32::from_str_radix(digits, 16).ok().ok_or_else(wrong)?;
    let paint = supple_gpu::view::Paint::srgb((bits >> 16) as u8, (bits >> 8) as u8, bits as u8);
    let [r, g, b, _] = paint.color;
    Ok([r, g, b])
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn lines_are_read_and_refused() {
        assert_eq!(line("1,0,0:1,0.5,-2"), Ok(Line(vec![[1.0, 0.0, 0.0], [1.0, 0.5, -2.0]])));
        assert_eq!(line("1,2:3,4:5,6").map(|l| l.0.len()), Ok(3));
        for bad in ["1,0,0", "1,0,0:", "a,b:c,d", "1:2", "1,2,3,4:1,2,3,4"] {
            assert!(line(bad).unwrap_err().contains("0,0,0:0,1,0"), "{bad}");
        }
    }

    #[test]
    fn times_and_axes_are_read_and_refused() {
        assert_eq!(times("0:0.01"), Ok((0.0, 0.01)));
        assert!(times("0").is_err() && times("0:x").is_err());
        assert_eq!(axes("xz"), Ok([true, false, true]));
        assert!(axes("q").is_err());
    }

    #[test]
    fn colours_have_names_and_digits() {
        assert_eq!(color("red"), Ok([0.90, 0.12, 0.07]));
        assert_eq!(color("#ffffff").map(|c| c[1] > 0.99), Ok(true));
        assert!(color("#12345").is_err() && color("mauve").unwrap_err().contains("orange"));
    }
}
