//! AmiraMesh `.am` lattices: text and binary, uniform, rectilinear and curvilinear; read only.
//!
//! # What is read
//!
//! `define Lattice`, `BoundingBox` and `CoordType` of the parameters, and every array on the lattice, as text, in both
//! byte orders, plain, run-length coded (`HxByteRLE`) or deflated (`HxZip`). The box goes from the first point to the
//! last, as Amira has it. Meshes of triangles or tetrahedra are refused.
//!
//! # References
//!
//! - Amira User's Guide, AmiraMesh format. Visage Imaging, 2009.

use std::io::Read as _;

use glam::DVec3;

use super::number::Number;
use super::text::{parse_f64, quote};
use super::{Malformed, Place};
use crate::dataset::{Array, ArrayInfo, Centering, Dataset, Grid, Select};

/// The longest header that is looked through for the data.
const LONGEST_HEADER: usize = 1 << 20;

/// An array on the lattice, as the header declares it.
struct Declared {
    of: String,
    number: Number,
    components: usize,
    name: String,
    label: String,
    coding: Coding,
}

#[derive(Clone, Copy, PartialEq, Eq)]
enum Coding {
    Plain,
    RunLength(usize),
    Zip(usize),
}

struct Header<'a> {
    text: &'a str,
    binary: bool,
    big_endian: bool,
    data: &'a [u8],
}

fn problem(what: impl Into<String>, fix: &str) -> Malformed {
    Malformed::new(Place::File, what, fix)
}

/// Reads a lattice with the arrays selected.
///
/// # Errors
///
/// [`Malformed`] with what makes no sense, or what the file is if it is no lattice.
pub fn read(bytes: &[u8], select: Select<'_>) -> Result<Dataset, Malformed> {
    let header = header_of(bytes)?;
    let dims = dims_of(header.text)?;
    let declared = declarations(header.text)?;
    let grid = grid_of(&header, dims, &declared)?;
    let mut dataset = Dataset::new(grid, Vec::new());
    let count = dataset.grid.point_count();
    for array in declared.iter().filter(|d| d.of == "Lattice" && d.name != "Coordinates") {
        let info = ArrayInfo {
            name: array.name.clone(),
            components: array.components,
            centering: Centering::Point,
            units: None,
            meaning: None,
        };
        if !select.wants(&info.name) {
            dataset.others.push(info);
            continue;
        }
        let values = values_of(&header, array, count, |x| x as f32)?;
        dataset.arrays.push(Array { info, values });
    }
    let rising = dataset.make_axes_rise();
    rising.map_err(|what| problem(what, "correct the coordinates in the file"))?;
    Ok(dataset)
}

fn header_of(bytes: &[u8]) -> Result<Header<'_>, Malformed> {
    let head = &bytes[..bytes.len().min(LONGEST_HEADER)];
    let line = head.split(|&b| b == b'\n').next().unwrap_or_default();
    let line = String::from_utf8_lossy(line).into_owned();
    if !line.starts_with("# AmiraMesh") && !line.starts_with("# Avizo") {
        let fix = "an AmiraMesh file starts with '# AmiraMesh'";
        return Err(problem("this is not an AmiraMesh file", fix));
    }
    // Data begin at the first line that is a label alone.
    let start = memchr::memmem::find_iter(head, b"\n@1").find(|&at| {
        let rest = head.get(at + 3..).unwrap_or_default();
        rest.iter().take_while(|&&b| b != b'\n').all(u8::is_ascii_whitespace)
    });
    let Some(start) = start else {
        return Err(problem(
            "the data section '@1' is missing",
            "the file was cut off; copy it again",
        ));
    };
    let Ok(text) = std::str::from_utf8(&head[..start]) else {
        return Err(problem("the header is no text", "write the file again"));
    };
    let binary = !line.contains("ASCII");
    let big_endian = binary && !line.contains("LITTLE-ENDIAN");
    Ok(Header { text, binary, big_endian, data: &bytes[start..] })
}

fn dims_of(text: &str) -> Result<[usize; 3], Malformed> {
    let found = text.lines().find_map(|l| l.trim().strip_prefix("define Lattice"));
    let Some(found) = found else {
        let fix = "only lattices are flows; resample the mesh to one";
        return Err(problem("the file defines no lattice", fix));
    };
    let mut dims = [1_usize; 3];
    let words: Vec<&str> = found.split_ascii_whitespace().collect();
    if words.is_empty() || words.len() > 3 {
        return Err(problem(format!("the lattice has {} sizes", words.len()), "there are 1 to 3"));
    }
    for (dim, word) in dims.iter_mut().zip(words) {
        *dim = word.parse().ok().filter(|&n| n > 0 && n < 1 << 31).ok_or_else(|| {
            problem(format!("{} is no size", quote(word.as_bytes())), "write the file again")
        })?;
    }
    let count = dims.iter().try_fold(1_usize, |n, &d| n.checked_mul(d));
    count
        .filter(|&n| n < 1 << 40)
        .ok_or_else(|| problem("the lattice is too large", "write it again"))?;
    Ok(dims)
}

/// Lines such as `Lattice { float[3] Data } @1(HxZip,123)`.
fn declarations(text: &str) -> Result<Vec<Declared>, Malformed> {
    let mut declared = Vec::new();
    for line in text.lines() {
        let Some((of, rest)) = line.split_once('{') else { continue };
        let Some((inside, after)) = rest.split_once('}') else { continue };
        let Some(at) = after.find('@') else { continue };
        let mut words = inside.split_ascii_whitespace();
        let (Some(kind), Some(name)) = (words.next(), words.next()) else { continue };
        let (kind, components) = match kind.split_once('[') {
            None => (kind, 1),
            Some((kind, n)) => (kind, n.trim_end_matches(']').parse().unwrap_or(0)),
        };
        let number = match kind {
            "byte" => Number::U8,
            "short" => Number::I16,
            "ushort" => Number::U16,
            "int" | "int32" => Number::I32,
            "float" => Number::F32,
            "double" => Number::F64,
            _ => continue,
        };
        if !(1..=64).contains(&components) {
            return Err(problem(format!("'{name}' has {components} components"), "write it again"));
        }
        let label = after[at..].trim();
        let (label, coding) = label.split_once('(').unwrap_or((label, ""));
        let size = |prefix: &str| {
            let inside = coding.strip_prefix(prefix)?.trim_end_matches([')', ' ']);
            inside.trim_start_matches(',').parse::<usize>().ok()
        };
        let coding = match (size("HxByteRLE"), size("HxZip"), coding) {
            (Some(n), ..) => Coding::RunLength(n),
            (_, Some(n), _) => Coding::Zip(n),
            (.., "") => Coding::Plain,
            (.., other) => {
                let what = format!("'{name}' is coded as {}", quote(other.as_bytes()));
                return Err(problem(what, "save it without compression, or as HxZip"));
            }
        };
        declared.push(Declared {
            of: of.trim().to_owned(),
            number,
            components,
            name: name.to_owned(),
            label: label.trim().to_owned(),
            coding,
        });
    }
    Ok(declared)
}

fn parameter<'a>(text: &'a str, name: &str) -> Option<&'a str> {
    let mut lines = text.lines().map(str::trim);
    let line = lines.find(|l| l.strip_prefix(name).is_some_and(|r| r.starts_with([' ', '\t'])))?;
    Some(line[name.len()..].trim().trim_end_matches(',').trim())
}

fn grid_of(
    header: &Header<'_>,
    dims: [usize; 3],
    declared: &[Declared],
) -> Result<Grid, Malformed> {
    let kind = parameter(header.text, "CoordType").unwrap_or("\"uniform\"");
    match kind.trim_matches('"') {
        "uniform" => uniform(header.text, dims),
        "rectilinear" => {
            let Some(axes) = declared.iter().find(|d| d.of == "Coordinates") else {
                return Err(problem("the coordinates are missing", "write the file again"));
            };
            let flat = values_of(header, axes, dims.iter().sum(), |x| x)?;
            let (x, rest) = flat.split_at(dims[0]);
            let (y, z) = rest.split_at(dims[1]);
            Ok(Grid::Rectilinear { x: x.to_vec(), y: y.to_vec(), z: z.to_vec() })
        }
        "curvilinear" => {
            let own = declared.iter().find(|d| d.of == "Lattice" && d.name == "Coordinates");
            let Some(own) = own.filter(|d| (2..=3).contains(&d.components)) else {
                return Err(problem("the coordinates are missing", "write the file again"));
            };
            let flat = values_of(header, own, dims.iter().product(), |x| x)?;
            let point = |p: &[f64]| DVec3::new(p[0], p[1], p.get(2).copied().unwrap_or(0.0));
            let points = flat.chunks_exact(own.components).map(point).collect();
            Ok(Grid::Curvilinear { dims, points })
        }
        other => {
            let what = format!("coordinates of type {}", quote(other.as_bytes()));
            Err(problem(what, "they are uniform, rectilinear or curvilinear"))
        }
    }
}

fn uniform(text: &str, dims: [usize; 3]) -> Result<Grid, Malformed> {
    let bounds = parameter(text, "BoundingBox").map(|b| {
        b.split_ascii_whitespace().map_while(|w| parse_f64(w.as_bytes())).collect::<Vec<f64>>()
    });
    let bounds =
        bounds.unwrap_or_else(|| dims.iter().flat_map(|&n| [0.0, (n - 1) as f64]).collect());
    if bounds.len() < 2 || !bounds.iter().all(|x| x.is_finite()) {
        return Err(problem("the bounding box makes no sense", "correct BoundingBox"));
    }
    let (mut origin, mut spacing) = ([0.0; 3], [1.0; 3]);
    for (a, pair) in bounds.as_chunks::<2>().0.iter().take(3).enumerate() {
        origin[a] = pair[0];
        let steps = (dims[a] - 1) as f64;
        if dims[a] > 1 {
            spacing[a] = (pair[1] - pair[0]) / steps;
        }
        if spacing[a] == 0.0 {
            return Err(problem("the bounding box is flat", "correct BoundingBox"));
        }
    }
    Ok(Grid::Uniform { dims, origin, spacing })
}

/// The numbers of an array.
fn values_of<T>(
    header: &Header<'_>,
    array: &Declared,
    tuples: usize,
    convert: impl Fn(f64) -> T,
) -> Result<Vec<T>, Malformed> {
    let count = tuples.saturating_mul(array.components);
    let size = count.saturating_mul(array.number.size());
    let label = format!("\n{}\n", array.label);
    let dos = format!("\n{}\r\n", array.label);
    let found = memchr::memmem::find(header.data, label.as_bytes()).map(|at| at + label.len());
    let found =
        found.or_else(|| Some(memchr::memmem::find(header.data, dos.as_bytes())? + dos.len()));
    let cut = || {
        let what = format!("the data of '{}' are not all there", array.name);
        problem(what, "the file was cut off; copy it again")
    };
    let data = &header.data[found.ok_or_else(cut)?..];
    if !header.binary {
        let words = data.split(u8::is_ascii_whitespace).filter(|w| !w.is_empty());
        let values: Vec<T> = words.take(count).map_while(parse_f64).map(convert).collect();
        return if values.len() == count { Ok(values) } else { Err(cut()) };
    }
    let bytes = match array.coding {
        Coding::Plain => data.get(..size).ok_or_else(cut)?.to_vec(),
        Coding::Zip(length) => {
            let mut whole = Vec::new();
            let part = data.get(..length).ok_or_else(cut)?;
            let read =
                flate2::read::ZlibDecoder::new(part).take(size as u64).read_to_end(&mut whole);
            read.map_err(|error| problem(format!("'{}': {error}", array.name), "copy it again"))?;
            whole
        }
        Coding::RunLength(length) => run_length(data.get(..length).ok_or_else(cut)?, size),
    };
    if bytes.len() != size {
        return Err(cut());
    }
    Ok(array.number.decode(&bytes, header.big_endian, convert))
}

/// Undoes `HxByteRLE`: a count of less than 128 repeats a byte, else that many less 128 follow as they are.
fn run_length(mut coded: &[u8], most: usize) -> Vec<u8> {
    let mut whole = Vec::new();
    while let Some((&count, rest)) = coded.split_first()
        && whole.len() < most
    {
        let n = usize::from(count & 0x7f);
        if count & 0x80 == 0 {
            let Some((&byte, after)) = rest.split_first() else { break };
            whole.resize(whole.len() + n, byte);
            coded = after;
        } else {
            let Some((bytes, after)) = rest.split_at_checked(n) else { break };
            whole.extend_from_slice(bytes);
            coded = after;
        }
    }
    whole.truncate(most);
    whole
}

#[cfg(test)]
mod tests {
    use super::*;

    fn file(kind: &str, declared: &str, data: &[u8]) -> Vec<u8> {
        let mut file = format!(
            "# AmiraMesh {kind} 2.1\n\ndefine Lattice 2 2 1\nParameters {{\n    BoundingBox 0 1 0 2 0 1,\n    \
             CoordType \"uniform\"\n}}\n\nLattice {{ {declared}\n\n# Data section follows\n@1\n"
        )
        .into_bytes();
        file.extend_from_slice(data);
        file
    }

    #[test]
    fn all_codings_give_the_same_numbers() {
        let values = [1.0_f32, 2.0, 3.0, 4.0, 5.0, 6.0, 7.0, 8.0];
        let little = values.map(f32::to_le_bytes).concat();
        let big = values.map(f32::to_be_bytes).concat();
        let mut zip = flate2::write::ZlibEncoder::new(Vec::new(), flate2::Compression::fast());
        std::io::Write::write_all(&mut zip, &little).unwrap();
        let zip = zip.finish().unwrap();
        let runs: Vec<u8> = little.chunks(16).flat_map(|c| [&[0x90][..], c].concat()).collect();
        let zipped = format!("float[2] v }} @1(HxZip,{})", zip.len());
        let run = format!("float[2] v }} @1(HxByteRLE,{})", runs.len());
        for bytes in [
            file("BINARY-LITTLE-ENDIAN", "float[2] v } @1", &little),
            file("3D BINARY", "float[2] v } = @1", &big),
            file("3D ASCII", "float[2] v } @1", b"1 2 3 4\n5 6 7 8\n"),
            file("BINARY-LITTLE-ENDIAN", &zipped, &zip),
            file("BINARY-LITTLE-ENDIAN", &run, &runs),
        ] {
            let dataset = read(&bytes, Select::All).unwrap();
            assert_eq!(dataset.arrays[0].values, values);
            assert_eq!(dataset.grid.point(3), DVec3::new(1.0, 2.0, 0.0));
            for length in (0..bytes.len() - 2).step_by(5) {
                assert!(read(&bytes[..length], Select::All).is_err(), "{length} bytes");
            }
        }
    }

    #[test]
    fn what_is_no_lattice_is_refused() {
        for bad in [
            &b"# AmiraMesh 3D ASCII 2.0\nnTriangles 3\nTriangles { int[3] x } @1\n@1\n1 2 3\n"[..],
            b"# AmiraMesh 3D ASCII 2.0\ndefine Lattice 99999999 99999999 99999999\n@1\n",
            b"# AmiraMesh 3D ASCII 2.0\ndefine Lattice 0 1 1\n@1\n",
            b"solid\n",
            b"",
        ] {
            assert!(!read(bad, Select::All).unwrap_err().fix.is_empty(), "refused with advice");
        }
    }
}
