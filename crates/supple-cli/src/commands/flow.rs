//! What commands share that read recorded flows: how files are named and understood, and what `info` tells of them.

use std::path::PathBuf;

use serde::Serialize;
use supple::dataset::{Centering, Coordinates};
use supple::flow::recording::{Options, Recording};

use crate::shell::{self, Shell};

/// How recorded flow is understood.
#[derive(clap::Args, Clone, Debug, Default)]
pub(crate) struct FlowArgs {
    /// Arrays that are the velocity: one vector, or its components
    #[arg(long, value_name = "NAME[,NAME…]", value_delimiter = ',')]
    pub(crate) velocity: Vec<String>,
    /// Time of the first level, and from one to the next
    #[arg(long, value_name = "START:STEP", value_parser = parse_times)]
    pub(crate) times: Option<(f64, f64)>,
    /// What horizontal coordinates are [default: as units say]
    #[arg(long, value_enum)]
    pub(crate) coordinates: Option<CoordinatesArg>,
    /// Axes whose end is their beginning, such as xy
    #[arg(long, value_name = "AXES", value_parser = parse_axes)]
    pub(crate) periodic: Option<Axes>,
    /// The axis that is time, of files that hold all times in one grid
    #[arg(long, value_name = "AXIS", value_parser = parse_axis)]
    pub(crate) time_axis: Option<usize>,
    /// Memory that levels may take, as 200M or 1G: they are read ahead and let go, or in parts
    #[arg(long, value_name = "SIZE", value_parser = parse_size)]
    pub(crate) memory: Option<u64>,
    /// Take every N-th point of a lattice along each axis
    #[arg(long, value_name = "N", value_parser = clap::value_parser!(u32).range(1..=1000))]
    pub(crate) stride: Option<u32>,
}

/// Bytes: a number, and perhaps k, M, G or T.
fn parse_size(text: &str) -> Result<u64, String> {
    let wrong = || format!("'{text}' is no size; write it like 200M or 1.5G");
    let plain = text.trim().trim_end_matches(['B', 'b']).trim_end_matches('i');
    let (digits, unit) = match plain.char_indices().next_back() {
        Some((at, c)) if c.is_alphabetic() => (&plain[..at], c.to_ascii_uppercase()),
        _ => (plain, ' '),
    };
    let factor = match unit {
        ' ' => 1.0,
        'K' => 1e3,
        'M' => 1e6,
        'G' => 1e9,
        'T' => 1e12,
        _ => return Err(wrong()),
    };
    let number = digits.trim().parse::<f64>().ok().filter(|n| n.is_finite() && *n > 0.0);
    Ok((number.ok_or_else(wrong)? * factor) as u64)
}

/// Some of x, y and z.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Axes([bool; 3]);

/// What coordinates are.
#[derive(Clone, Copy, Debug, clap::ValueEnum)]
pub(crate) enum CoordinatesArg {
    /// Longitude and latitude
    Degrees,
    /// Lengths
    Metres,
}

fn parse_times(text: &str) -> Result<(f64, f64), String> {
    let (start, step) = text.split_once(':').ok_or("write START:STEP, such as 0:0.1")?;
    let number = |t: &str| t.trim().parse::<f64>().map_err(|e| format!("'{t}': {e}"));
    Ok((number(start)?, number(step)?))
}

fn parse_axis(text: &str) -> Result<usize, String> {
    ["x", "y", "z"].iter().position(|a| *a == text).ok_or_else(|| "write x, y or z".to_owned())
}

fn parse_axes(text: &str) -> Result<Axes, String> {
    let mut axes = [false; 3];
    for c in text.chars() {
        axes[parse_axis(&c.to_string())?] = true;
    }
    Ok(Axes(axes))
}

impl FlowArgs {
    /// The same for the library.
    pub(crate) fn options(&self, scalars: &[String], shell: &Shell) -> Options {
        Options {
            velocity: self.velocity.clone(),
            scalars: scalars.to_vec(),
            times: self.times,
            coordinates: self.coordinates.map(|c| match c {
                CoordinatesArg::Degrees => Coordinates::Degrees,
                CoordinatesArg::Metres => Coordinates::Metres,
            }),
            periodic: self.periodic.map_or([false; 3], |p| p.0),
            time_axis: self.time_axis,
            allow_outside: shell.options().allow_outside,
            memory: self.memory,
            stride: self.stride.map_or(1, |n| n as usize),
        }
    }
}

/// What `info` tells of a flow, under the names it has in JSON.
#[derive(Debug, Serialize)]
struct FlowInfo {
    kind: &'static str,
    grid: &'static str,
    size: Option<[usize; 3]>,
    points: usize,
    cells: usize,
    bounds: Option<Corners>,
    coordinates: &'static str,
    levels: usize,
    times: Vec<f64>,
    time_unit: Option<String>,
    velocity: Vec<String>,
    vectors: Vec<ArrayLine>,
    scalars: Vec<ArrayLine>,
    masked: f64,
    bytes_a_level: usize,
    assumed: Vec<String>,
}

#[derive(Debug, Serialize)]
struct Corners {
    min: [f64; 3],
    max: [f64; 3],
}

#[derive(Debug, Serialize)]
struct ArrayLine {
    name: String,
    components: usize,
    place: &'static str,
    units: Option<String>,
}

/// Tells what is in a recorded flow.
pub(crate) fn info(files: &[PathBuf], args: &FlowArgs, shell: &Shell) -> anyhow::Result<()> {
    let recording = Recording::open(files, &args.options(&[], shell))?;
    let info = describe(&recording)?;
    if shell.options().json {
        shell.print_json(&info)?;
    } else {
        let names: Vec<String> = files.iter().map(|f| f.display().to_string()).collect();
        print(&names.join(" "), &info);
    }
    Ok(())
}

fn describe(recording: &Recording) -> anyhow::Result<FlowInfo> {
    let summary = recording.summary()?;
    let lines = |vectors: bool| {
        let arrays = recording.contents().iter().filter(|i| (i.components > 1) == vectors);
        arrays
            .map(|i| ArrayLine {
                name: i.name.clone(),
                components: i.components,
                place: if i.centering == Centering::Point { "point" } else { "cell" },
                units: i.units.clone(),
            })
            .collect()
    };
    Ok(FlowInfo {
        kind: "flow",
        grid: summary.grid,
        size: summary.dims,
        points: summary.points,
        cells: summary.cells,
        bounds: summary.bounds.map(|(a, b)| Corners { min: a.to_array(), max: b.to_array() }),
        coordinates: match recording.coordinates() {
            Coordinates::Metres => "metres",
            Coordinates::Degrees => "degrees",
        },
        levels: recording.times().len(),
        times: recording.times().to_vec(),
        time_unit: recording.time_unit().name.clone(),
        velocity: recording.velocity().names().into_iter().map(str::to_owned).collect(),
        vectors: lines(true),
        scalars: lines(false),
        masked: summary.masked,
        bytes_a_level: summary.bytes_a_level,
        assumed: recording.assumed().to_vec(),
    })
}

fn print(files: &str, info: &FlowInfo) {
    shell::out(&format!("{files}: {}", info.kind));
    let line = |name: &str, value: String| shell::out(&format!("  {name:<20} {value}"));
    let size = info.size.map_or(String::new(), |[x, y, z]| format!(", {x} × {y} × {z}"));
    line("grid", format!("{}{size}", info.grid));
    line("points, cells", format!("{}, {}", info.points, info.cells));
    if let Some(bounds) = &info.bounds {
        line("bounds", format!("{:?} … {:?} ({})", bounds.min, bounds.max, info.coordinates));
    }
    let unit = info.time_unit.as_deref().map_or(String::new(), |u| format!(" ({u})"));
    let times = match &info.times[..] {
        [only] => format!("{only}"),
        [first, .., last] => format!("{} from {first} to {last}", info.levels),
        [] => "none".to_owned(),
    };
    line("times", times + &unit);
    line("velocity", info.velocity.join(", "));
    for (name, arrays) in [("vectors", &info.vectors), ("scalars", &info.scalars)] {
        let text: Vec<String> = arrays.iter().map(describe_array).collect();
        line(name, if text.is_empty() { "none".to_owned() } else { text.join(", ") });
    }
    line("masked", format!("{:.2} %", 100.0 * info.masked));
    line("memory a level", format!("{:.1} MB", info.bytes_a_level as f64 / 1e6));
    for guess in &info.assumed {
        line("assumed", guess.clone());
    }
}

fn describe_array(array: &ArrayLine) -> String {
    let units = array.units.as_deref().map_or(String::new(), |u| format!(" {u}"));
    format!("{} ({}{units})", array.name, array.place)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn sizes_are_read_and_refused() {
        let sizes = [("200M", 200_000_000), ("1G", 1_000_000_000), ("1.5GB", 1_500_000_000)];
        for (text, bytes) in sizes.into_iter().chain([("64 MiB", 64_000_000), ("4096", 4096)]) {
            assert_eq!(parse_size(text), Ok(bytes), "{text}");
        }
        for bad in ["", "M", "-1G", "1X", "nan"] {
            assert!(parse_size(bad).unwrap_err().contains("200M"), "{bad}");
        }
    }
}
