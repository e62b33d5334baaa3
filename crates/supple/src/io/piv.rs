//! Velocities of particle image velocimetry as text: `.vec` of Insight (Tecplot), OpenPIV and DaVis `.txt`; read only.
//!
//! # What is read
//!
//! Rows of x, y, u, v (with z and w if the header names them) and perhaps a flag, in any order of points, separated by
//! blanks, tabs, commas or semicolons; numbers with decimal commas where they are not separators. Points make a
//! rectilinear grid; places without a row, vectors flagged as bad (`CHC` below 1, OpenPIV's flags and mask above 0) and
//! DaVis' vectors of exactly zero are outside. Lengths in mm become metres where velocities are m/s.

use super::text::quote;
use super::{Malformed, Place};
use crate::dataset::{Array, ArrayInfo, Centering, Dataset, Grid, Select};

/// Coordinates closer than this share of the extent are one.
const SAME: f64 = 1e-6;

/// Whether a flag is that of a good vector.
type Good = fn(f64) -> bool;

/// What the columns are, and how good rows are told from bad ones.
#[derive(Debug, Default)]
struct Layout {
    /// Columns of x, y, u, v.
    columns: [usize; 4],
    /// Column of z, of w.
    third: [Option<usize>; 2],
    /// A flag: its column, and whether a value is good.
    flags: Vec<(usize, Good)>,
    /// A vector of exactly zero is none.
    zero_is_none: bool,
    decimal_comma: bool,
    length: f64,
    units: Option<String>,
    /// How many rows the header says there are.
    rows: Option<usize>,
    said: Vec<String>,
}

fn problem(line: usize, what: impl Into<String>, fix: &str) -> Malformed {
    Malformed::new(Place::Line(line), what, fix)
}

/// Reads a table of vectors.
///
/// # Errors
///
/// [`Malformed`] with the line that makes no sense.
pub fn read(bytes: &[u8], select: Select<'_>) -> Result<Dataset, Malformed> {
    let text = String::from_utf8_lossy(bytes);
    let layout = layout_of(&text);
    let rows = rows_of(&text, &layout)?;
    if rows.is_empty() {
        let fix = "tables have rows of x y u v; export the vectors as text";
        return Err(problem(1, "there is no row of numbers", fix));
    }
    if let Some(said) = layout.rows.filter(|said| *said > rows.len()) {
        let what = format!("the header says {said} vectors, {} are there", rows.len());
        return Err(problem(1, what, "the file was cut off; copy it again"));
    }
    let axes = [0, 1, 2].map(|a| axis_of(rows.iter().map(|r| r.place[a]).collect()));
    let dims = [axes[0].len(), axes[1].len(), axes[2].len()];
    let count = dims.iter().try_fold(1_usize, |n, &d| n.checked_mul(d)).unwrap_or(usize::MAX);
    // A lattice with most of its points missing is none.
    if count > rows.len().saturating_mul(4).saturating_add(16) {
        let what = format!("{} rows are no lattice ({dims:?} coordinates)", rows.len());
        return Err(problem(1, what, "export vectors on a regular grid"));
    }
    let spatial = layout.third[1].is_some();
    let components = if spatial { 3 } else { 2 };
    let mut values = vec![f32::NAN; count * components];
    for row in rows.iter().filter(|r| r.good) {
        let [i, j, k] = [0, 1, 2].map(|a| nearest(&axes[a], row.place[a]));
        let at = ((k * dims[1] + j) * dims[0] + i) * components;
        for c in 0..components {
            values[at + c] = row.velocity[c] as f32;
        }
    }
    let [x, y, z] = axes.map(|axis| axis.iter().map(|x| x * layout.length).collect());
    let mut dataset = Dataset::new(Grid::Rectilinear { x, y, z }, Vec::new());
    dataset.assumed = layout.said;
    let name = "velocity".to_owned();
    let info = ArrayInfo {
        name,
        components,
        centering: Centering::Point,
        units: layout.units,
        meaning: None,
    };
    if select.wants(&info.name) {
        dataset.arrays.push(Array { info, values });
    } else {
        dataset.others.push(info);
    }
    Ok(dataset)
}

#[derive(Debug)]
struct Row {
    place: [f64; 3],
    velocity: [f64; 3],
    good: bool,
}

/// What the first lines say about the columns.
fn layout_of(text: &str) -> Layout {
    let head: String = text.lines().take(4).collect::<Vec<_>>().join("\n");
    let plain = Layout { columns: [0, 1, 2, 3], length: 1.0, ..Layout::default() };
    if let Some(at) = head.to_ascii_uppercase().find("VARIABLES") {
        return tecplot(&head[at..], plain);
    }
    if head.to_ascii_lowercase().contains("davis") {
        let first = text.lines().find(|l| !l.starts_with('#')).unwrap_or_default();
        let decimal_comma = first.contains(',') && first.contains(['\t', ';']);
        let length = if head.contains("\"mm\"") && head.contains("m/s") { 1e-3 } else { 1.0 };
        let units = head.contains("m/s").then(|| "m/s".to_owned());
        return Layout { decimal_comma, zero_is_none: true, length, units, ..plain };
    }
    // OpenPIV: x y u v, then flags and mask, or the ratio of peaks and a mask in older versions.
    let named =
        text.lines().next().filter(|l| l.starts_with('#')).unwrap_or_default().to_ascii_lowercase();
    let names: Vec<&str> = named.trim_start_matches('#').split_ascii_whitespace().collect();
    let bad = |name: &str| names.iter().position(|n| *n == name);
    let zero: Good = |x| x == 0.0;
    let flags = ["flags", "mask"].iter().filter_map(|n| bad(n)).map(|k| (k, zero)).collect();
    let said = vec!["the columns are x, y, u, v".to_owned()];
    Layout { flags, said: if names.len() >= 4 { Vec::new() } else { said }, ..plain }
}

/// `VARIABLES="X mm", "Y mm", "U m/s", "V m/s", "CHC"`
fn tecplot(head: &str, plain: Layout) -> Layout {
    let list = head.split(['\n', '\r']).next().unwrap_or_default();
    let end = list.find("DATASETAUXDATA").or_else(|| list.find("ZONE")).unwrap_or(list.len());
    let names: Vec<&str> = list[..end].split('"').skip(1).step_by(2).collect();
    let column = |letters: &[&str]| {
        names.iter().position(|n| {
            let word = n.split_ascii_whitespace().next().unwrap_or_default().to_ascii_lowercase();
            letters.contains(&word.as_str())
        })
    };
    let columns = [column(&["x"]), column(&["y"]), column(&["u", "vx"]), column(&["v", "vy"])];
    let unit = |k: Option<usize>| {
        k.and_then(|k| names[k].split_once(' ')).map(|(_, u)| u.trim().to_ascii_lowercase())
    };
    let units = unit(columns[2]);
    let millimetres = unit(columns[0]).as_deref() == Some("mm") && units.as_deref() == Some("m/s");
    let flags = column(&["chc", "flag", "status"]).map(|k| (k, (|x: f64| x >= 1.0) as Good));
    Layout {
        columns: [0, 1, 2, 3].map(|k| columns[k].unwrap_or(k)),
        third: [column(&["z"]), column(&["w", "vz"])],
        flags: flags.into_iter().collect(),
        length: if millimetres { 1e-3 } else { 1.0 },
        units,
        rows: zone_of(head),
        ..plain
    }
}

/// The points of `ZONE I=63, J=63, F=POINT`.
fn zone_of(head: &str) -> Option<usize> {
    let zone = head.split_once("ZONE")?.1.lines().next()?;
    let along = |letter: &str| {
        let mut words = zone.split([',', ' ', '\t']);
        words.find_map(|w| w.strip_prefix(letter)?.trim().parse::<usize>().ok())
    };
    along("I=")?.checked_mul(along("J=")?)?.checked_mul(along("K=").unwrap_or(1))
}

fn rows_of(text: &str, layout: &Layout) -> Result<Vec<Row>, Malformed> {
    let most = layout.columns.iter().copied().chain(layout.third.iter().copied().flatten()).max();
    let needed = most.unwrap_or(3) + 1;
    let mut rows = Vec::new();
    for (k, line) in text.lines().enumerate() {
        let begins =
            line.trim_start().starts_with(|c: char| c.is_ascii_digit() || "+-.".contains(c));
        if !begins {
            continue;
        }
        let numbers = numbers_of(line, layout.decimal_comma).ok_or_else(|| {
            let what = format!("{} is no row of numbers", quote(line.as_bytes()));
            problem(k + 1, what, "correct it, or export the table again")
        })?;
        if numbers.len() < needed {
            let what = format!("a row has {} numbers, {needed} are needed", numbers.len());
            return Err(problem(k + 1, what, "the file was cut off, or is another kind of table"));
        }
        let at = |column: usize| numbers[column];
        let third = layout.third.map(|c| c.map_or(0.0, at));
        let [x, y, u, v] = layout.columns.map(at);
        if ![x, y, third[0]].iter().all(|x| x.is_finite()) {
            return Err(problem(k + 1, "a place is not finite", "correct it"));
        }
        let flagged =
            layout.flags.iter().any(|(c, good)| numbers.get(*c).is_some_and(|x| !good(*x)));
        let none = layout.zero_is_none && u == 0.0 && v == 0.0 && third[1] == 0.0;
        rows.push(Row {
            place: [x, y, third[0]],
            velocity: [u, v, third[1]],
            good: !flagged && !none,
        });
    }
    Ok(rows)
}

fn numbers_of(line: &str, decimal_comma: bool) -> Option<Vec<f64>> {
    let separator = |c: char| c.is_whitespace() || c == ';' || c == ',' && !decimal_comma;
    let words = line.split(separator).filter(|w| !w.is_empty());
    words
        .map(|w| {
            let word = if decimal_comma { w.replace(',', ".") } else { w.to_owned() };
            word.parse::<f64>().ok()
        })
        .collect()
}

/// The different coordinates, rising.
fn axis_of(mut all: Vec<f64>) -> Vec<f64> {
    all.sort_by(f64::total_cmp);
    let size = all.last().zip(all.first()).map_or(0.0, |(b, a)| b - a);
    all.dedup_by(|b, a| *b - *a <= SAME * size);
    all
}

fn nearest(axis: &[f64], x: f64) -> usize {
    let after = axis.partition_point(|&a| a < x).min(axis.len() - 1);
    let before = after.saturating_sub(1);
    if (x - axis[before]).abs() <= (axis[after] - x).abs() { before } else { after }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn table(text: &str) -> Dataset {
        read(text.as_bytes(), Select::All).unwrap()
    }

    #[test]
    fn tables_of_three_programs() {
        let insight = "TITLE=\"a\" VARIABLES=\"X mm\", \"Y mm\", \"U m/s\", \"V m/s\", \"CHC\", DATASETAUXDATA A=\"b\" ZONE I=2, J=2, F=POINT\n\
            1, -1, 0.5, 0.25, 1\n2, -1, 9, 9, -1\n1, -2, 3, 4, 2\n2, -2, 5, 6, 1\n";
        let dataset = table(insight);
        assert_eq!(dataset.grid.dims(), Some([2, 2, 1]));
        assert_eq!(dataset.grid.point(0).to_array(), [1e-3, -2e-3, 0.0]);
        let values = &dataset.arrays[0].values;
        assert_eq!(values[..6], [3.0, 4.0, 5.0, 6.0, 0.5, 0.25]);
        assert!(values[6].is_nan() && values[7].is_nan(), "flagged: {values:?}");
        let openpiv = "# x\ty\tu\tv\tflags\tmask\n0\t0\t1\t2\t0\t0\n1\t0\t3\t4\t1\t0\n";
        let values = &table(openpiv).arrays[0].values;
        assert!(values[1] == 2.0 && values[2].is_nan(), "{values:?}");
        let davis = "#DaVis 8.3 2D-vector 2 1 1 \"\" \"mm\" \"\" \"m/s\"\n0,5\t1,0\t0,25\t-1,5\n1,5\t1,0\t0\t0\n";
        let dataset = table(davis);
        assert_eq!(dataset.arrays[0].values[..2], [0.25, -1.5]);
        assert!(dataset.arrays[0].values[2].is_nan(), "no vector");
        assert_eq!(dataset.grid.point(0).x, 0.5e-3);
    }

    #[test]
    fn what_is_no_table_is_refused() {
        for bad in ["", "hello\n", "1 2 3\n", "1 2 3 x\n", "1 2 3 4\n1e999 1 1 1\n"] {
            assert!(!read(bad.as_bytes(), Select::All).unwrap_err().fix.is_empty(), "{bad}");
        }
        let cut = "VARIABLES=\"X\", \"Y\", \"U\", \"V\" ZONE I=2, J=2, F=POINT\n1,1,0,0\n2,1,0,0\n1,2,0,0\n";
        let error = read(cut.as_bytes(), Select::All).unwrap_err();
        assert!(error.what.contains("4 vectors, 3"), "{error:?}");
        let scattered: String = (0..100).map(|k| format!("{k} {} 1 1\n", k * k)).collect();
        assert!(
            read(scattered.as_bytes(), Select::All).unwrap_err().what.contains("lattice"),
            "scattered"
        );
    }
}
