//! `supple smoke`: smoke-like streak surfaces in a flow.

mod cast;
mod checkpoint;
mod lines;
mod output;
mod picture;

use std::ops::Range;
use std::path::PathBuf;
use std::process::ExitCode;

use glam::Vec3;
use supple::smoke::SmokeParams;
use supple::smoke::style::Style;

use self::cast::Cast;
use self::output::Output;
use super::flow::FlowArgs;
use super::number;
use super::render::Behind;
use crate::shell::Shell;

/// Smoke from a line in a flow: pictures, video or meshes
///
/// Columns of vertices are released from a seed line and carried by the flow; the surface is drawn the thinner
/// the more it is stretched. The flow is a recording (.pvd, VTK, NetCDF, OpenFOAM, XDMF, EnSight, PIV; files, patterns, lists) or a formula: abc,
/// gyre, hill, wake, swirl, uniform, oscillating, saddle. What is not given is chosen and printed. A picture shows the
/// last frame; frame i is at --start + i × --dt. Stopped with Ctrl-C, the same command goes on where it was.
#[derive(clap::Args, Clone, Debug)]
#[command(after_long_help = EXAMPLES)]
#[expect(clippy::struct_excessive_bools, reason = "each is a switch of the command line")]
pub(crate) struct Args {
    /// The flow: files of a recording, or the name of a formula
    #[arg(required = true)]
    pub(crate) flow: Vec<String>,
    /// File to write: .png, .webp, .gif, .mp4; .ply, .glb, .obj (one a frame); .pvd (with one .vtp a frame)
    #[arg(short, long, value_name = "FILE")]
    pub(crate) output: PathBuf,
    /// A seed line, its corners separated by colons: 0,0,0:0,1,0; several make several surfaces. Lines with a time,
    /// 0,0,0:0,1,0@2.5, that follow each other are one that moves. Of a time surface, its four corners
    #[arg(long, value_name = "X,Y,Z:X,Y,Z", value_parser = line, allow_hyphen_values = true)]
    pub(crate) seed: Vec<Line>,
    /// Colour of a surface, by name or as #rrggbb: the first for the first seed
    #[arg(long, value_name = "COLOR", value_parser = color)]
    pub(crate) color: Vec<[f32; 3]>,
    /// Columns of a surface: a column lives so many steps [default: 200]
    #[arg(long, value_name = "N")]
    pub(crate) columns: Option<usize>,
    /// Vertices in a column [default: 60]
    #[arg(long, value_name = "N")]
    pub(crate) rows: Option<usize>,
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
    /// The record is a period that repeats
    #[arg(long = "loop")]
    pub(crate) looped: bool,
    /// Stand upright ribbons of this height on the seed line: for flows in a plane
    #[arg(long, value_parser = number::<f64>, value_name = "HEIGHT")]
    pub(crate) lift: Option<f64>,
    /// What heights are multiplied with: an ocean is flat [default: 1; 9e-5 where coordinates are degrees: depths ten times as large]
    #[arg(long, value_parser = number::<f64>, value_name = "FACTOR")]
    pub(crate) vertical_scale: Option<f64>,
    /// How the surface is made and shown
    #[arg(long, value_name = "STYLE", default_value = "smoke", value_parser = style)]
    pub(crate) style: Style,
    /// Rows or columns from one line to the next; rows of a nozzle with its gap
    #[arg(long, value_name = "N", default_value_t = 8)]
    pub(crate) every: usize,
    /// Time after which a time or path surface is put in anew
    #[arg(long, value_parser = number::<f64>, value_name = "TIME")]
    pub(crate) inject: Option<f64>,
    /// About how many wool tufts
    #[arg(long, value_name = "N", default_value_t = 180)]
    pub(crate) tufts: u32,
    /// Draw lines in this width, in pixels, and not as coloured vertices
    #[arg(long, value_parser = number::<f32>, value_name = "PX")]
    pub(crate) line_width: Option<f32>,
    /// Colour by speed, age, stretch (area over that of its birth), row, or any scalar of the recording, with a legend
    #[arg(long, value_name = "WHAT")]
    pub(crate) by: Option<String>,
    /// Take longer to make a PNG of about half the size
    #[arg(long)]
    pub(crate) small: bool,
    /// Play more than 100,000 frames
    #[arg(long)]
    pub(crate) yes: bool,
    #[command(flatten)]
    pub(crate) recorded: FlowArgs,
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
    /// Leave the time out of the picture
    #[arg(long)]
    pub(crate) no_time: bool,
}

/// Names of styles.
const STYLES: [(&str, Style); 8] = [
    ("smoke", Style::Smoke),
    ("streaks", Style::Streaks),
    ("times", Style::Times),
    ("surface", Style::Surface),
    ("nozzles", Style::Nozzles),
    ("tufts", Style::Tufts),
    ("path", Style::Path),
    ("stream", Style::Stream),
];

fn style(text: &str) -> Result<Style, String> {
    let known = || STYLES.map(|(name, _)| name).join(", ");
    let found = STYLES.iter().find(|(name, _)| *name == text).map(|(_, style)| *style);
    found.ok_or_else(|| format!("'{text}' is no style; there are {}", known()))
}

const EXAMPLES: &str = "\
Examples:
  supple smoke wake -o wake.png
  supple smoke abc --seed 1,1,1:1,5,1 --columns 200 --rows 250 --dt 0.05 --frames 0..200 -o abc.mp4
  supple smoke gyre -o gyre.pvd
  supple smoke case.pvd -o wake.mp4
  supple smoke U.nc V.nc --velocity vozocrtx,vomecrty --seed 20000,10000:20000,90000 -o out.pvd
  supple smoke case.foam --style tufts --obstacle body.stl -o tufts.png
  supple smoke ocean.nc --memory 200M -o drift.mp4
  supple smoke 'piv*.vec' --times 0:0.01 --lift 0.002 -o channel.png
  supple smoke wake --seed 0.6,0.3,0:0.6,0.3,4 --color red --seed 0.6,-0.3,0:0.6,-0.3,4 --color blue -o two.png";

pub(crate) fn run(args: &Args, shell: &Shell) -> anyhow::Result<ExitCode> {
    let output = Output::check(&args.output)?;
    let mut cast = Cast::new(args, shell)?;
    for choice in cast.chosen() {
        shell.say(choice);
    }
    let files = output.write(&mut cast, args, shell)?;
    if shell.options().json {
        let vertices: u64 = cast.params().iter().map(vertices).sum();
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

fn vertices(params: &SmokeParams) -> u64 {
    u64::from(params.columns) * u64::from(params.rows) * (1 + params.parts.len() as u64)
}

/// The corners of a seed line, and when it is there.
#[derive(Clone, Debug, PartialEq)]
pub(crate) struct Line {
    pub(crate) points: Vec<[f64; 3]>,
    pub(crate) at: Option<f64>,
}

impl Line {
    fn of(points: &[[f64; 3]]) -> Self {
        Self { points: points.to_vec(), at: None }
    }
}

/// Points separated by colons; in a plane two numbers will do.
fn line(text: &str) -> Result<Line, String> {
    let wrong = || format!("'{text}' is no line; write its corners like 0,0,0:0,1,0");
    let point = |part: &str| {
        let numbers: Vec<f64> =
            part.split(',').map(|n| number(n.trim())).collect::<Result<_, _>>().ok()?;
        match numbers[..] {
            [x, y] => Some([x, y, 0.0]),
            [x, y, z] => Some([x, y, z]),
            _ => None,
        }
    };
    let (corners, at) = match text.split_once('@') {
        Some((corners, at)) => (corners, Some(number(at.trim()).ok().ok_or_else(wrong)?)),
        None => (text, None),
    };
    let points: Option<Vec<_>> = corners.split(':').map(point).collect();
    let points = points.ok_or_else(wrong)?;
    if points.len() < 2 { Err(wrong()) } else { Ok(Line { points, at }) }
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
        let points = vec![[1.0, 0.0, 0.0], [1.0, 0.5, -2.0]];
        assert_eq!(line("1,0,0:1,0.5,-2"), Ok(Line { points, at: None }));
        assert_eq!(line("1,2:3,4:5,6").map(|l| l.points.len()), Ok(3));
        assert_eq!(line("1,2:3,4@-2.5").map(|l| l.at), Ok(Some(-2.5)));
        for bad in [
            "1,2:3,4@",
            "1,2:3,4@x",
            "1,2:3,4@inf",
            "nan,2:3,4",
            "1,0,0",
            "1,0,0:",
            "a,b:c,d",
            "1:2",
            "1,2,3,4:1,2,3,4",
        ] {
            assert!(line(bad).unwrap_err().contains("0,0,0:0,1,0"), "{bad}");
        }
    }

    #[test]
    fn styles_are_known_by_name() {
        assert_eq!(style("path"), Ok(Style::Path));
        assert!(style("fog").unwrap_err().contains("streaks, times, surface"));
    }

    #[test]
    fn colours_have_names_and_digits() {
        assert_eq!(color("red"), Ok([0.90, 0.12, 0.07]));
        assert_eq!(color("#ffffff").map(|c| c[1] > 0.99), Ok(true));
        assert!(color("#12345").is_err() && color("mauve").unwrap_err().contains("orange"));
    }
}
