//! The operations of `supple deform`, as words of the command line.

use std::process::ExitCode;

use clap::{Parser, ValueEnum};
use glam::Vec3;
use supple::mesh::geodesic;
use supple::sculpt::{
    Bend, Boundary, Curve, Extent, Guide, Knob, Mirror, Move, Op, Orientation, Paint, Points, Side,
    Stamp, Tool, ToolShape, Twist,
};

use supple::zoo;

use crate::commands::number;
use crate::commands::render::vector;
use crate::shell;

/// The names that begin a new operation.
const NAMES: [&str; 8] = ["move", "points", "paint", "stamp", "twist", "bend", "boundary", "curve"];

/// One operation with its options.
#[derive(Debug, Parser)]
#[command(name = "supple deform IN -o OUT", no_binary_name = true, disable_help_subcommand = true)]
enum Line {
    Move(MoveArgs),
    Points(PointsArgs),
    Paint(PaintArgs),
    Stamp(StampArgs),
    Twist(TwistArgs),
    Bend(BendArgs),
    Boundary(BoundaryArgs),
    Curve(CurveArgs),
}

/// Splits the words at the names of operations and parses each.
pub(super) fn parse(words: &[&String]) -> Result<Vec<Op>, clap::Error> {
    let mut lines: Vec<&[&String]> = Vec::new();
    let mut start = 0;
    for i in 1..=words.len() {
        if i == words.len() || NAMES.contains(&words[i].as_str()) {
            lines.push(&words[start..i]);
            start = i;
        }
    }
    lines.into_iter().map(|line| Ok(Line::try_parse_from(line)?.op())).collect()
}

/// Prints what clap has to say: the help that was asked for, or what is wrong.
pub(super) fn explain(error: &clap::Error) -> ExitCode {
    let text = error.render().to_string();
    if error.use_stderr() {
        shell::err(text.trim_end());
        return ExitCode::from(2);
    }
    shell::out(text.trim_end());
    ExitCode::SUCCESS
}

impl Line {
    fn op(self) -> Op {
        match self {
            Self::Move(args) => Op::Move(args.op()),
            Self::Points(args) => Op::Points(args.op()),
            Self::Paint(args) => Op::Paint(args.op()),
            Self::Stamp(args) => Op::Stamp(args.op()),
            Self::Twist(args) => Op::Twist(args.op()),
            Self::Bend(args) => Op::Bend(args.op()),
            Self::Boundary(args) => Op::Boundary(args.op()),
            Self::Curve(args) => Op::Curve(args.op()),
        }
    }
}

/// What the dragging operations share.
#[derive(clap::Args, Debug)]
struct Common {
    /// Share of the sideways flow that makes room; 1 keeps volume, 0 just grabs (cloth, open shells)
    #[arg(long, value_parser = number::<f32>, value_name = "0..1", default_value_t = 1.0)]
    lateral: f32,
    /// Do the same on the other side of a plane with this normal
    #[arg(long, value_name = "X,Y,Z", value_parser = vector, allow_hyphen_values = true)]
    mirror: Option<Vec3>,
    /// A point of that plane
    #[arg(long, value_name = "X,Y,Z", value_parser = vector, allow_hyphen_values = true,
          default_value = "0,0,0", requires = "mirror")]
    mirror_origin: Vec3,
}

impl Common {
    fn mirror(&self) -> Option<Mirror> {
        self.mirror.map(|normal| Mirror { origin: self.mirror_origin, normal })
    }
}

/// Drag a sphere, capsule or box: what is inside follows exactly, what is around makes room
///
/// Example: move --center 0,0,1.4 --by 0,0,-1.2 --inner 0.3 --outer 1.2
#[derive(clap::Args, Debug)]
struct MoveArgs {
    /// Where the tool starts
    #[arg(long, value_name = "X,Y,Z", value_parser = vector, allow_hyphen_values = true)]
    center: Vec3,
    /// How far it goes; repeat for further legs
    #[arg(long, value_name = "X,Y,Z", value_parser = vector, allow_hyphen_values = true, required = true)]
    by: Vec<Vec3>,
    /// Distance up to which everything follows
    #[arg(long, value_parser = number::<f32>, value_name = "LENGTH", default_value_t = 0.5)]
    inner: f32,
    /// Distance from which nothing moves
    #[arg(long, value_parser = number::<f32>, value_name = "LENGTH", default_value_t = 1.0)]
    outer: f32,
    /// Make the tool a capsule: from its centre to one end
    #[arg(long, value_name = "X,Y,Z", value_parser = vector, allow_hyphen_values = true)]
    capsule: Option<Vec3>,
    /// Make the tool a box: from its centre to a corner
    #[arg(long = "box", value_name = "X,Y,Z", value_parser = vector, conflicts_with = "capsule")]
    cuboid: Option<Vec3>,
    #[command(flatten)]
    common: Common,
}

impl MoveArgs {
    fn op(self) -> Move {
        let tool = match (self.capsule, self.cuboid) {
            (Some(half), _) => Tool::Capsule { half },
            (None, Some(half)) => Tool::Box { half },
            (None, None) => Tool::Sphere,
        };
        Move {
            center: self.center,
            by: self.by,
            tool,
            inner: self.inner,
            outer: self.outer,
            lateral: self.common.lateral,
            mirror: self.common.mirror(),
            ..Move::default()
        }
    }
}

/// Drag a set of points, which may be far apart, and what is near them
///
/// Example: points --points '1,0,0;-1,0,0' --by 0,0.5,0 --outer 0.8
#[derive(clap::Args, Debug)]
struct PointsArgs {
    /// The points
    #[arg(long, value_name = "X,Y,Z;…", value_parser = polyline, allow_hyphen_values = true)]
    points: Polyline,
    /// How far they go; repeat for further legs
    #[arg(long, value_name = "X,Y,Z", value_parser = vector, allow_hyphen_values = true, required = true)]
    by: Vec<Vec3>,
    /// Distance up to which everything follows
    #[arg(long, value_parser = number::<f32>, value_name = "LENGTH", default_value_t = 0.0)]
    inner: f32,
    /// Distance from which nothing moves
    #[arg(long, value_parser = number::<f32>, value_name = "LENGTH", default_value_t = 1.0)]
    outer: f32,
    #[command(flatten)]
    common: Common,
}

impl PointsArgs {
    fn op(self) -> Points {
        Points {
            points: self.points.0,
            by: self.by,
            inner: self.inner,
            outer: self.outer,
            lateral: self.common.lateral,
            mirror: self.common.mirror(),
            ..Points::default()
        }
    }
}

/// Push the surface in or out along a stroke
///
/// Example: paint --stroke '0,1,0;0.5,0.9,0' --radius 0.3 --depth 0.1 --side out
#[derive(clap::Args, Debug)]
struct PaintArgs {
    /// Points on the surface that the stroke runs through
    #[arg(long, value_name = "X,Y,Z;…", value_parser = polyline, allow_hyphen_values = true)]
    stroke: Polyline,
    /// Distance from the stroke beyond which nothing moves
    #[arg(long, value_parser = number::<f32>, value_name = "LENGTH", default_value_t = 0.2)]
    radius: f32,
    /// How far the surface moves in the middle of the stroke
    #[arg(long, value_parser = number::<f32>, value_name = "LENGTH", default_value_t = 0.05)]
    depth: f32,
    /// Which way
    #[arg(long, value_enum, default_value_t = Way::In)]
    side: Way,
    #[command(flatten)]
    common: Common,
}

/// Into the shape, or out of it.
#[derive(Clone, Copy, Debug, ValueEnum)]
enum Way {
    In,
    Out,
}

impl PaintArgs {
    fn op(self) -> Paint {
        Paint {
            stroke: self.stroke.0,
            radius: self.radius,
            depth: self.depth,
            side: match self.side {
                Way::In => Side::In,
                Way::Out => Side::Out,
            },
            lateral: self.common.lateral,
            mirror: self.common.mirror(),
            ..Paint::default()
        }
    }
}

/// Push a closed mesh into the shape: what it meets makes room, and keeps its footprint
///
/// The tool goes its way in short steps; at each, what it would run into moves along with it, and the
/// motion fades around that. A shape that starts outside the tool never enters it.
///
/// Examples:
///   stamp --tool y.ply --from 0,0,1.6 --by 0,0,-0.4 --outer 0.3
///   stamp --tool torus --scale 0.4 --path '0,0,1.6;0,0,1.25;0,0,1.6' --outer 0.4
#[derive(clap::Args, Debug)]
#[command(verbatim_doc_comment)]
struct StampArgs {
    /// The tool: a file with a closed mesh, or the name of a model of the zoo
    #[arg(long, value_name = "FILE|NAME")]
    tool: String,
    /// Where the tool's origin is at the start
    #[arg(long, value_name = "X,Y,Z", value_parser = vector, allow_hyphen_values = true,
          required_unless_present = "path")]
    from: Option<Vec3>,
    /// How far it goes; repeat for further legs
    #[arg(long, value_name = "X,Y,Z", value_parser = vector, allow_hyphen_values = true,
          required_unless_present = "path")]
    by: Vec<Vec3>,
    /// Or all places of the tool's origin on its way
    #[arg(long, value_name = "X,Y,Z;…", value_parser = polyline, allow_hyphen_values = true,
          conflicts_with_all = ["from", "by"])]
    path: Option<Polyline>,
    /// Make the tool so many times larger
    #[arg(long, value_parser = number::<f32>, value_name = "FACTOR", default_value_t = 1.0)]
    scale: f32,
    /// Turn the tool about the x, then the y, then the z axis, in degrees
    #[arg(long, value_name = "X,Y,Z", value_parser = vector, allow_hyphen_values = true, default_value = "0,0,0")]
    rotate: Vec3,
    /// Distance from the contact up to which everything follows
    #[arg(long, value_parser = number::<f32>, value_name = "LENGTH", default_value_t = 0.0)]
    inner: f32,
    /// Distance from the contact from which nothing moves
    #[arg(long, value_parser = number::<f32>, value_name = "LENGTH", default_value_t = 0.5)]
    outer: f32,
    /// How far the tool goes before contacts are looked for again; a sixteenth of --outer if not given
    #[arg(long, value_parser = number::<f32>, value_name = "LENGTH")]
    step: Option<f32>,
    #[command(flatten)]
    common: Common,
}

impl StampArgs {
    fn op(self) -> Stamp {
        let places = self.path.map(|path| path.0).unwrap_or_default();
        let from = places.first().copied().or(self.from).unwrap_or_default();
        let legs = places.windows(2).map(|pair| pair[1] - pair[0]);
        let by = if places.is_empty() { self.by } else { legs.collect() };
        let in_zoo = zoo::names().iter().any(|entry| entry.name == self.tool);
        let is_file = !in_zoo || std::path::Path::new(&self.tool).exists();
        Stamp {
            tool: if is_file { ToolShape::File(self.tool) } else { ToolShape::Zoo(self.tool) },
            from,
            by,
            scale: self.scale,
            rotate: self.rotate,
            inner: self.inner,
            outer: self.outer,
            step: self.step,
            lateral: self.common.lateral,
            mirror: self.common.mirror(),
            ..Stamp::default()
        }
    }
}

/// Turn about an axis: still below --from, by the whole angle above --to
///
/// Example: twist --center 0,0,0 --axis 1,0,0 --degrees 180 --from -2 --to 2
#[derive(clap::Args, Debug)]
struct TwistArgs {
    /// A point of the axis; heights are measured from it
    #[arg(long, value_name = "X,Y,Z", value_parser = vector, allow_hyphen_values = true, default_value = "0,0,0")]
    center: Vec3,
    /// Direction of the axis
    #[arg(long, value_name = "X,Y,Z", value_parser = vector, allow_hyphen_values = true, default_value = "0,0,1")]
    axis: Vec3,
    /// Angle of what lies above --to, right-handed
    #[arg(long, value_parser = number::<f32>, value_name = "ANGLE", allow_hyphen_values = true, default_value_t = 90.0)]
    degrees: f32,
    /// Height along the axis below which nothing moves
    #[arg(long, value_parser = number::<f32>, value_name = "HEIGHT", allow_hyphen_values = true, default_value_t = -1.0)]
    from: f32,
    /// Height along the axis above which everything turns by the whole angle
    #[arg(long, value_parser = number::<f32>, value_name = "HEIGHT", allow_hyphen_values = true, default_value_t = 1.0)]
    to: f32,
    /// Only what is this near to the axis turns, decided on the rest shape
    #[arg(long, value_parser = number::<f32>, value_name = "LENGTH")]
    radius: Option<f32>,
}

impl TwistArgs {
    fn op(self) -> Twist {
        let Self { center, axis, degrees, from, to, radius } = self;
        Twist { center, axis, degrees, from, to, radius }
    }
}

/// Bend about an axis: what lies before the fade stays, what lies after it turns by the whole angle
///
/// The line through the centre keeps its length. If the shape reaches beyond the centre of the bend, the
/// line is moved to its inner side as far as needed, and a warning says so.
///
/// Example: bend --center 0,0,0 --axis 0,0,1 --along 1,0,0 --degrees 90 --width 4
#[derive(clap::Args, Debug)]
struct BendArgs {
    /// Middle of the fade, a point of the axis
    #[arg(long, value_name = "X,Y,Z", value_parser = vector, allow_hyphen_values = true, default_value = "0,0,0")]
    center: Vec3,
    /// Direction of the axis; the bend is right-handed about it
    #[arg(long, value_name = "X,Y,Z", value_parser = vector, allow_hyphen_values = true, default_value = "0,0,1")]
    axis: Vec3,
    /// Direction of the shape, from what stays to what turns
    #[arg(long, value_name = "X,Y,Z", value_parser = vector, allow_hyphen_values = true, default_value = "1,0,0")]
    along: Vec3,
    /// Angle of what lies after the fade
    #[arg(long, value_parser = number::<f32>, value_name = "ANGLE", allow_hyphen_values = true, default_value_t = 90.0)]
    degrees: f32,
    /// Length of the fade
    #[arg(long, value_parser = number::<f32>, value_name = "LENGTH", default_value_t = 1.0)]
    width: f32,
    /// Only what is this near to the line through the centre bends, decided on the rest shape
    #[arg(long, value_parser = number::<f32>, value_name = "LENGTH")]
    radius: Option<f32>,
}

impl BendArgs {
    fn op(self) -> Bend {
        let Self { center, axis, along, degrees, width, radius } = self;
        Bend { center, axis, along, degrees, width, radius }
    }
}

/// Move what lies inside one closed curve on the surface, leave what lies outside another
///
/// Example: boundary --inner '0.5,0.8,0;…' --outer '0.9,0.2,0;…' --by 0,0.4,0
#[derive(clap::Args, Debug)]
struct BoundaryArgs {
    /// Closed curve around the part that moves
    #[arg(long, value_name = "X,Y,Z;…", value_parser = polyline, allow_hyphen_values = true)]
    inner: Polyline,
    /// Closed curve beyond which nothing moves
    #[arg(long, value_name = "X,Y,Z;…", value_parser = polyline, allow_hyphen_values = true)]
    outer: Polyline,
    /// Closed curve between the two that moves by half, for extreme bends
    #[arg(long, value_name = "X,Y,Z;…", value_parser = polyline, allow_hyphen_values = true)]
    middle: Option<Polyline>,
    /// Radius of the tubes around the curves; as thin as possible if not given
    #[arg(long, value_parser = number::<f32>, value_name = "LENGTH")]
    thickness: Option<f32>,
    /// Above one the inner curve reaches farther, below one the outer
    #[arg(long, value_parser = number::<f32>, default_value_t = 1.0)]
    weight: f32,
    /// Move straight, by this
    #[arg(long, value_name = "X,Y,Z", value_parser = vector, allow_hyphen_values = true,
          required_unless_present = "joint")]
    by: Option<Vec3>,
    /// Or turn about an axis through this point
    #[arg(long, value_name = "X,Y,Z", value_parser = vector, allow_hyphen_values = true, conflicts_with = "by")]
    joint: Option<Vec3>,
    /// Direction of that axis
    #[arg(long, value_name = "X,Y,Z", value_parser = vector, allow_hyphen_values = true, default_value = "0,0,1")]
    axis: Vec3,
    /// By this angle
    #[arg(long, value_parser = number::<f32>, value_name = "ANGLE", allow_hyphen_values = true, default_value_t = 90.0)]
    degrees: f32,
}

impl BoundaryArgs {
    fn op(self) -> Boundary {
        let knob = match self.joint {
            Some(joint) => Knob::Rotate { joint, axis: self.axis, degrees: self.degrees },
            None => Knob::Translate { by: self.by.unwrap_or_default() },
        };
        Boundary {
            inner: self.inner.0,
            outer: self.outer.0,
            middle: self.middle.map(|curve| curve.0).unwrap_or_default(),
            thickness: self.thickness,
            knob,
            weight: self.weight,
        }
    }
}

/// Guide part of the surface along a curve
///
/// Example: curve --through '0,1,0;0,1.5,0.2;0.4,1.8,0.2' --inner 0.2 --outer 0.8
#[derive(clap::Args, Debug)]
struct CurveArgs {
    /// The curve, through these points; it starts in the part that moves
    #[arg(long, value_name = "X,Y,Z;…", value_parser = polyline, allow_hyphen_values = true)]
    through: Polyline,
    /// Distance along the surface from the curve's start up to which everything moves fully
    #[arg(long, value_parser = number::<f32>, value_name = "LENGTH")]
    inner: f32,
    /// Distance along the surface from which nothing moves
    #[arg(long, value_parser = number::<f32>, value_name = "LENGTH")]
    outer: f32,
    /// Turn about the curve on the way
    #[arg(long, value_parser = number::<f32>, value_name = "ANGLE", allow_hyphen_values = true, default_value_t = 0.0)]
    twist: f32,
    /// Move without turning with the curve
    #[arg(long)]
    keep_orientation: bool,
    /// How distances along the surface are found; heat is smoother and more exact
    #[arg(long, value_enum, default_value_t = Distance::Dijkstra)]
    distance: Distance,
}

/// Shortest paths, or the heat method.
#[derive(Clone, Copy, Debug, ValueEnum)]
enum Distance {
    Dijkstra,
    Heat,
}

impl CurveArgs {
    fn op(self) -> Curve {
        let from = self.through.0.first().copied().unwrap_or_default();
        Curve {
            guide: Guide::Through(self.through.0),
            orientation: if self.keep_orientation {
                Orientation::Keep
            } else {
                Orientation::Follow
            },
            twist_degrees: self.twist,
            extent: Extent::Geodesic { from, inner: self.inner, outer: self.outer },
            distance: match self.distance {
                Distance::Dijkstra => geodesic::Method::Dijkstra,
                Distance::Heat => geodesic::Method::Heat,
            },
            ..Curve::default()
        }
    }
}

/// Points in a row; a type of its own, since clap takes a list for a repeated option.
#[derive(Clone, Debug)]
struct Polyline(Vec<Vec3>);

fn polyline(text: &str) -> Result<Polyline, String> {
    let points = text.split(';').filter(|part| !part.trim().is_empty()).map(vector);
    Ok(Polyline(points.collect::<Result<_, _>>()?))
}
