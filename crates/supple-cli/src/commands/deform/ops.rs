//! The operations of `supple deform`, as words of the command line.
//!
//! Options come from the parameters of the edits themselves; here stand only the shorthands: options that write a key
//! inside another, and what a command line must say though a document need not.

use std::process::ExitCode;

use clap::error::ErrorKind;
use clap::{Arg, ArgMatches, Command};
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

const MIRROR: [(&str, &str); 2] = [("mirror", "mirror.normal"), ("mirror-origin", "mirror.origin")];

const LINES: [Line; 8] = [
    Line {
        name: "move",
        nested: &[("capsule", "tool.capsule.half"), ("box", "tool.box.half"), MIRROR[0], MIRROR[1]],
        required: &["center", "by"],
        example: "move --center 0,0,1.4 --by 0,0,-1.2 --inner 0.3 --outer 1.2",
    },
    Line {
        name: "points",
        nested: &MIRROR,
        required: &["points", "by"],
        example: "points --points '1,0,0;-1,0,0' --by 0,0.5,0 --outer 0.8",
    },
    Line {
        name: "paint",
        nested: &MIRROR,
        required: &["stroke"],
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
        nested: &[
            ("by", "knob.translate.by"),
            ("joint", "knob.rotate.joint"),
            ("axis", "knob.rotate.axis"),
            ("degrees", "knob.rotate.degrees"),
        ],
        required: &["inner", "outer"],
        example: "boundary --inner '0.5,0.8,0;…' --outer '0.9,0.2,0;…' --by 0,0.4,0",
    },
    Line {
        name: "curve",
        nested: &[
            ("through", "guide.through"),
            ("inner", "extent.geodesic.inner"),
            ("outer", "extent.geodesic.outer"),
            ("twist", "twist_degrees"),
        ],
        required: &["through", "inner", "outer"],
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
        let point = |name: &'static str| {
            Arg::new(name).long(name).value_name("X,Y,Z;…").allow_hyphen_values(true)
        };
        command = match self.name {
            "stamp" => command
                .arg(Arg::new("tool").long("tool").value_name("FILE|NAME").help(
                    "The tool: a file with a closed mesh, or the name of a model of the zoo",
                ))
                .arg(
                    point("path")
                        .help("All places of the tool's origin on its way, in place of --from and --by [m]")
                        .conflicts_with_all(["from", "by"]),
                )
                .mut_arg("from", |arg| arg.required_unless_present("path"))
                .mut_arg("by", |arg| arg.required_unless_present("path")),
            "boundary" => command
                .mut_arg("by", |arg| arg.required_unless_present("joint").conflicts_with("joint"))
                .mut_arg("axis", |arg| arg.requires("joint"))
                .mut_arg("degrees", |arg| arg.requires("joint")),
            "curve" => command.arg(
                Arg::new("keep-orientation")
                    .long("keep-orientation")
                    .action(clap::ArgAction::SetTrue)
                    .help("Move without turning with the curve"),
            ),
            "move" => command.mut_arg("box", |arg| arg.conflicts_with("capsule")),
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
                let in_zoo = zoo::names().iter().any(|entry| entry.name == tool);
                let is_file = !in_zoo || std::path::Path::new(tool).exists();
                document.push_text("tool", if is_file { "tool.file" } else { "tool.zoo" }, tool);
                if let Some(path) = word("path") {
                    document.push_points("path", "by", path);
                }
            }
            "boundary" if word("joint").is_some() => {
                if word("axis").is_none() {
                    document.push("axis", "knob.rotate.axis", "[0, 0, 1]");
                }
                if word("degrees").is_none() {
                    document.push("degrees", "knob.rotate.degrees", "90");
                }
            }
            "curve" => {
                let start = word("through").and_then(|points| points.split(';').next());
                document.push_point("through", "extent.geodesic.from", start.unwrap_or_default());
                if given.get_flag("keep-orientation") {
                    document.push_text("keep-orientation", "orientation", "keep");
                }
            }
            _ => {}
        }
        document
    }
}
