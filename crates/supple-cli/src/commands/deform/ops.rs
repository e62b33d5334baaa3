//! The operations of `supple deform`, as words of the command line.
//!
//! Options come from the parameters of the edits themselves; here stand only the shorthands: options that write a key
//! inside another, and what a command line must say though a document need not.

use std::process::ExitCode;

use clap::error::ErrorKind;
use clap::{Arg, ArgGroup, ArgMatches, Command};
use supple::modifier::read::{self, Schema};
use supple::sculpt::{Op, Stamp};
use supple::zoo;

use crate::options::{Document, Opt};
use crate::shell;

/// How an edit is written on a command line.
struct Line {
    name: &'static str,
    /// Options for keys inside others: name and path.
    nested: &'static [(&'static str, &'static str)],
    /// Options that must be given.
    required: &'static [&'static str],
    example: &'static str,
}

/// The curves that guide an edit: one of them is given.
const GUIDES: [&str; 6] =
    ["through", "polyline", "bezier", "b-spline", "turn-center", "from-handle"];

/// What says which part moves: one of them is given, each with what it needs.
const EXTENTS: [(&str, &str); 6] = [
    ("inner", "outer"),
    ("inner-curve", "outer-curve"),
    ("inner-loop", "outer-loop"),
    ("inner-vertices", "outer-vertices"),
    ("painted", ""),
    ("regions", ""),
];

/// The shapes of a tool beside the sphere: at most one is given.
const TOOLS: [&str; 6] = ["capsule", "box", "plane", "curve", "cloud", "solid"];

const MIRROR: [(&str, &str); 2] = [("mirror", "mirror.normal"), ("mirror-origin", "mirror.origin")];

const LINES: [Line; 8] = [
    Line {
        name: "move",
        nested: &[
            ("capsule", "tool.capsule.half"),
            ("box", "tool.box.half"),
            ("plane", "tool.plane.normal"),
            ("curve", "tool.curve.points"),
            ("cloud", "tool.points.points"),
            ("solid-scale", "tool.solid.scale"),
            MIRROR[0],
            MIRROR[1],
        ],
        required: &["center", "by"],
        example: "move --center 0,0,1.4 --by 0,0,-1.2 --inner 0.3 --outer 1.2",
    },
    Line {
        name: "points",
        nested: &MIRROR,
        required: &["by"],
        example: "points --points '1,0,0;-1,0,0' --by 0,0.5,0 --outer 0.8",
    },
    Line {
        name: "paint",
        nested: &MIRROR,
        required: &[],
        example: "paint --stroke '0,1,0;0.5,0.9,0' --radius 0.3 --depth 0.1 --side out",
    },
    Line {
        name: "stamp",
        nested: &MIRROR,
        required: &["tool"],
        example: "stamp --tool torus --scale 0.4 --path '0,0,1.6;0,0,1.25;0,0,1.6' --outer 0.4",
    },
    Line {
        name: "twist",
        nested: &[],
        required: &[],
        example: "twist --center 0,0,0 --axis 1,0,0 --degrees 180 --from -2 --to 2",
    },
    Line {
        name: "bend",
        nested: &[],
        required: &[],
        example: "bend --center 0,0,0 --axis 0,0,1 --along 1,0,0 --degrees 90 --width 4",
    },
    Line {
        name: "boundary",
        nested: &[("by", "knob.translate.by")],
        required: &[],
        example: "boundary --inner '0.5,0.8,0;…' --outer '0.9,0.2,0;…' --by 0,0.4,0",
    },
    Line {
        name: "curve",
        nested: &[
            ("through", "guide.through"),
            ("polyline", "guide.polyline"),
            ("bezier", "guide.bezier"),
            ("b-spline", "guide.b_spline"),
            ("turn-center", "guide.turn.center"),
            ("turn-axis", "guide.turn.axis"),
            ("turn-degrees", "guide.turn.degrees"),
            ("from", "extent.geodesic.from"),
            ("inner", "extent.geodesic.inner"),
            ("outer", "extent.geodesic.outer"),
            ("inner-curve", "extent.drawn.inner"),
            ("outer-curve", "extent.drawn.outer"),
            ("inner-loop", "extent.loops.inner"),
            ("outer-loop", "extent.loops.outer"),
            ("inner-vertices", "extent.between.inner"),
            ("outer-vertices", "extent.between.outer"),
            ("painted", "extent.attribute.name"),
            ("regions", "extent.regions.name"),
            ("twist", "twist_degrees"),
        ],
        required: &[],
        example: "curve --through '0,1,0;0,1.5,0.2;0.4,1.8,0.2' --inner 0.2 --outer 0.8",
    },
];

/// Splits the words at the names of operations and parses each.
pub(super) fn parse(words: &[&String]) -> Result<Vec<Op>, clap::Error> {
    let schema = read::schema::<Op>();
    let is_name = |word: &&String| LINES.iter().any(|line| line.name == word.as_str());
    let mut ops = Vec::new();
    let mut rest = words;
    while !rest.is_empty() {
        let end = rest.iter().skip(1).position(is_name).map_or(rest.len(), |i| i + 1);
        ops.push(op(&rest[..end], &schema)?);
        rest = &rest[end..];
    }
    Ok(ops)
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

fn op(words: &[&String], schema: &Schema) -> Result<Op, clap::Error> {
    let known: Vec<_> = LINES.iter().map(|line| (line, line.options(schema))).collect();
    let mut command = Command::new("supple deform IN -o OUT")
        .no_binary_name(true)
        .disable_help_subcommand(true)
        .subcommand_required(true)
        .subcommands(known.iter().map(|(line, options)| line.command(schema, options)));
    let given = command.try_get_matches_from_mut(words)?;
    let found = given.subcommand().and_then(|(name, given)| {
        known.iter().find(|(line, _)| line.name == name).map(|known| (known, given))
    });
    let Some(((line, options), given)) = found else {
        return Err(command.error(ErrorKind::MissingSubcommand, "an operation is needed"));
    };
    let read = line.document(options, given).read(schema);
    let mut op = read.map_err(|wrong| command.error(ErrorKind::ValueValidation, wrong))?;
    if let (Op::Stamp(stamp), true) = (&mut op, given.try_contains_id("path").unwrap_or(false)) {
        follow_path(stamp);
    }
    Ok(op)
}

/// The ways a knob may be moved, and the curves.
fn boundary_forms(
    command: Command,
    own: impl Fn(&'static str, &'static str, &'static str) -> Arg,
) -> Command {
    let curve = |name: &str| format!("{name}-vertices");
    command
        .arg(own("joint", "X,Y,Z", "The joint, in place of --by: the handle turns about it [m]"))
        .arg(own("axis", "X,Y,Z", "Axis of the turn [default: 0,0,1]").requires("joint"))
        .arg(
            own("degrees", "NUMBER", "Angle of the turn or twist [deg] [default: 90]")
                .requires("joint"),
        )
        .arg(
            own(
                "knob",
                "X,Y,Z",
                "A knob: alone, the handle twists about the line from the joint to it [m]",
            )
            .requires("joint")
            .conflicts_with("axis"),
        )
        .arg(
            own(
                "to",
                "X,Y,Z",
                "Where the knob is dragged: the handle turns until it points there [m]",
            )
            .requires("knob")
            .conflicts_with("degrees"),
        )
        .arg(
            Arg::new("uniform")
                .long("uniform")
                .action(clap::ArgAction::SetTrue)
                .requires("knob")
                .conflicts_with("to")
                .help("Twist evenly with the height between the curves"),
        )
        .mut_arg("by", |arg| arg.required_unless_present("joint").conflicts_with("joint"))
        .mut_arg("inner", |arg| arg.required_unless_present(curve("inner")))
        .mut_arg("outer", |arg| arg.required_unless_present(curve("outer")))
}

/// The ways a curve and what it moves may be given.
fn curve_forms(
    command: Command,
    own: impl Fn(&'static str, &'static str, &'static str) -> Arg,
) -> Command {
    let handle = "Place, normal and binormal of a handle, as three points";
    let mut command = command
        .arg(
            Arg::new("keep-orientation")
                .long("keep-orientation")
                .action(clap::ArgAction::SetTrue)
                .help("Move without turning with the curve"),
        )
        .arg(own("from-handle", "P;N;B", handle).requires("to-handle"))
        .arg(own("to-handle", "P;N;B", "Where that handle goes").requires("from-handle"))
        .mut_arg("turn-axis", |arg| arg.requires("turn-center"))
        .mut_arg("turn-degrees", |arg| arg.requires("turn-center"))
        .mut_arg("from", |arg| arg.requires("inner"))
        .group(ArgGroup::new("guides").args(GUIDES).required(true))
        .group(ArgGroup::new("extents").args(EXTENTS.map(|e| e.0)).required(true));
    for (one, other) in EXTENTS.into_iter().filter(|e| !e.1.is_empty()) {
        command =
            command.mut_arg(one, |arg| arg.requires(other)).mut_arg(other, |arg| arg.requires(one));
    }
    command
}

/// A path was read in place of the legs: all places of the tool's origin.
fn follow_path(stamp: &mut Stamp) {
    stamp.from = stamp.by.first().copied().unwrap_or_default();
    stamp.by = stamp.by.windows(2).map(|pair| pair[1] - pair[0]).collect();
}

impl Line {
    fn options(&self, schema: &Schema) -> Vec<Opt> {
        let own = read::kind(schema, self.name).unwrap_or_default();
        Opt::all(&own, self.nested)
    }

    fn command(&self, schema: &Schema, options: &[Opt]) -> Command {
        let own = read::kind(schema, self.name).unwrap_or_default();
        let about = own.get("description").and_then(|d| d.as_str()).unwrap_or_default().to_owned();
        let mut command = Command::new(self.name)
            .about(about)
            .after_help(format!("Example: {}", self.example))
            .args(options.iter().map(|opt| opt.arg.clone()));
        let own = |name: &'static str, value: &'static str, help: &'static str| {
            Arg::new(name).long(name).value_name(value).allow_hyphen_values(true).help(help)
        };
        command = match self.name {
            "stamp" => command
                .arg(own(
                    "tool",
                    "FILE|NAME",
                    "The tool: a file with a closed mesh, or the name of a model of the zoo",
                ))
                .arg(
                    own("path", "X,Y,Z;…", "All places of the tool's origin on its way, in place of --from and --by [m]")
                        .conflicts_with_all(["from", "by"]),
                )
                .mut_arg("from", |arg| arg.required_unless_present("path"))
                .mut_arg("by", |arg| arg.required_unless_present("path")),
            "points" => command.mut_arg("points", |arg| arg.required_unless_present("vertices")),
            "paint" => command.mut_arg("stroke", |arg| arg.required_unless_present("vertices")),
            "boundary" => boundary_forms(command, own),
            "curve" => curve_forms(command, own),
            "move" => command
                .arg(own(
                    "solid",
                    "FILE|NAME",
                    "A closed mesh as tool, about the centre: a file, or the name of a model of the zoo",
                ))
                .arg(
                    Arg::new("closed")
                        .long("closed")
                        .action(clap::ArgAction::SetTrue)
                        .requires("curve")
                        .help("The curve returns to its first point"),
                )
                .mut_arg("solid-scale", |arg| arg.requires("solid"))
                .group(ArgGroup::new("tools").args(TOOLS)),
            _ => command,
        };
        for name in self.required {
            command = command.mut_arg(*name, |arg| arg.required(true));
        }
        if self.nested.contains(&MIRROR[1]) {
            command = command.mut_arg(MIRROR[1].0, |arg| arg.requires(MIRROR[0].0));
        }
        command
    }

    /// What was given, as a document has it.
    fn document(&self, options: &[Opt], given: &ArgMatches) -> Document {
        let mut document = Document::of(options, given);
        document.push_text("", "kind", self.name);
        let word =
            |name: &str| given.try_get_one::<String>(name).ok().flatten().map(String::as_str);
        match self.name {
            "stamp" => {
                let tool = word("tool").unwrap_or_default();
                document.push_text("tool", &format!("tool.{}", kind_of(tool)), tool);
                if let Some(path) = word("path") {
                    document.push_points("path", "by", path);
                }
            }
            "move" => {
                if let Some(tool) = word("solid") {
                    document.push_text(
                        "solid",
                        &format!("tool.solid.mesh.{}", kind_of(tool)),
                        tool,
                    );
                }
                if given.get_flag("closed") {
                    document.push("closed", "tool.curve.closed", "true");
                }
            }
            "boundary" => {
                if let Some(joint) = word("joint") {
                    knob(&mut document, joint, word, given.get_flag("uniform"));
                }
            }
            "curve" => {
                for (option, path) in [("from-handle", "from"), ("to-handle", "to")] {
                    let parts = word(option).into_iter().flat_map(|word| word.split(';'));
                    for (part, key) in parts.zip(["position", "normal", "binormal"]) {
                        document.push_point(option, &format!("guide.handles.{path}.{key}"), part);
                    }
                }
                if word("turn-center").is_some() {
                    if word("turn-axis").is_none() {
                        document.push("turn-axis", "guide.turn.axis", "[0, 0, 1]");
                    }
                    if word("turn-degrees").is_none() {
                        document.push("turn-degrees", "guide.turn.degrees", "90");
                    }
                }
                if word("inner").is_some() && word("from").is_none() {
                    let start = GUIDES.iter().find_map(|name| Some((name, word(name)?)));
                    if let Some((name, points)) = start {
                        let first = points.split(';').next().unwrap_or_default();
                        document.push_point(name, "extent.geodesic.from", first);
                    }
                }
                if given.get_flag("keep-orientation") {
                    document.push_text("keep-orientation", "orientation", "keep");
                }
            }
            _ => {}
        }
        document
    }
}

/// Whether a tool's name is that of a file or of a model of the zoo.
fn kind_of(tool: &str) -> &'static str {
    let in_zoo = zoo::names().iter().any(|entry| entry.name == tool);
    if in_zoo && !std::path::Path::new(tool).exists() { "zoo" } else { "file" }
}

/// Writes how a knob with a joint is moved.
fn knob<'w>(
    document: &mut Document,
    joint: &str,
    word: impl Fn(&str) -> Option<&'w str>,
    uniform: bool,
) {
    let (form, points) = match (word("knob"), word("to")) {
        (Some(knob), Some(to)) => ("drag", vec![("knob", knob), ("to", to)]),
        (Some(knob), None) => ("twist", vec![("knob", knob)]),
        (None, _) => ("rotate", vec![("axis", word("axis").unwrap_or("0,0,1"))]),
    };
    for (option, point) in std::iter::once(("joint", joint)).chain(points) {
        document.push_point(option, &format!("knob.{form}.{option}"), point);
    }
    if form != "drag" {
        document.push_number(
            "degrees",
            &format!("knob.{form}.degrees"),
            word("degrees").unwrap_or("90"),
        );
    }
    if uniform {
        document.push("uniform", "knob.twist.uniform", "true");
    }
}
