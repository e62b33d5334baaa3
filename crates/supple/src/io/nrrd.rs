//! NRRD lattices: attached and detached, raw, gzip and text; read only.
//!
//! # What is read
//!
//! Arrays of up to three dimensions of space, with a vector axis (`2-vector`, `3-vector`, `vector`, `list`, or a first
//! axis of 2 or 3 where there is one more than space) that comes first, as most programs write it. Points are where
//! `space origin` and `space directions` put them, else `axis mins` and `spacings`.
//!
//! # References
//!
//! - G. Kindlmann. Definition of NRRD File Format. Teem, 2008.

use std::io::Read as _;

use glam::DVec3;

use super::number::Number;
use super::text::{parse_f64, quote};
use super::vtk_xml::Fetch;
use super::{Malformed, Place};
use crate::dataset::{Array, ArrayInfo, Centering, Dataset, Grid, Select};

fn problem(what: impl Into<String>, fix: &str) -> Malformed {
    Malformed::new(Place::File, what, fix)
}

/// The fields of a header, by their names in lower case.
struct Header(Vec<(String, String)>);

impl Header {
    fn get(&self, name: &str) -> Option<&str> {
        self.0.iter().find(|(n, _)| n == name).map(|(_, v)| v.as_str())
    }

    fn need(&self, name: &str) -> Result<&str, Malformed> {
        self.get(name)
            .ok_or_else(|| problem(format!("the header has no '{name}'"), "write it again"))
    }

    fn numbers(&self, name: &str) -> Option<Vec<f64>> {
        self.get(name)?.split_ascii_whitespace().map(|w| parse_f64(w.as_bytes())).collect()
    }
}

/// Reads a lattice.
///
/// # Errors
///
/// [`Malformed`] with what makes no sense.
pub fn read(bytes: &[u8], select: Select<'_>, fetch: Fetch<'_>) -> Result<Dataset, Malformed> {
    let (header, attached) = header_of(bytes)?;
    let sizes: Option<Vec<usize>> =
        header.need("sizes")?.split_ascii_whitespace().map(|w| w.parse().ok()).collect();
    let sizes = sizes.filter(|s| !s.is_empty() && s.len() <= 4 && !s.contains(&0));
    let Some(sizes) = sizes else {
        return Err(problem("the sizes make no sense", "1 to 4 numbers above 0; write it again"));
    };
    let count = sizes.iter().try_fold(1_usize, |n, &s| n.checked_mul(s)).filter(|&n| n < 1 << 40);
    let count = count.ok_or_else(|| problem("the lattice is too large", "write it again"))?;
    let vector = has_vector(&header, &sizes)?;
    let (components, space) = if vector { (sizes[0], &sizes[1..]) } else { (1, &sizes[..]) };
    if space.is_empty() || space.len() > 3 {
        let what = format!("{} axes of space", space.len());
        return Err(problem(what, "flows have 1 to 3; slice the file"));
    }
    let mut dims = [1; 3];
    dims.iter_mut().zip(space).for_each(|(d, s)| *d = *s);
    let grid = grid_of(&header, dims, space.len(), usize::from(vector))?;
    let mut dataset = Dataset::new(grid, Vec::new());
    let name = header.get("content").filter(|c| !c.is_empty()).unwrap_or("nrrd").to_owned();
    let info =
        ArrayInfo { name, components, centering: Centering::Point, units: None, meaning: None };
    if select.wants(&info.name) {
        let values = values_of(&header, attached, count, fetch)?;
        dataset.arrays.push(Array { info, values });
    } else {
        dataset.others.push(info);
    }
    dataset.make_axes_rise().map_err(|what| problem(what, "correct the header"))?;
    Ok(dataset)
}

/// The fields up to the empty line, and what follows it.
fn header_of(bytes: &[u8]) -> Result<(Header, &[u8]), Malformed> {
    if !bytes.starts_with(b"NRRD") {
        return Err(problem("this is not an NRRD file", "one starts with NRRD000"));
    }
    let mut fields = Vec::new();
    let mut rest = bytes;
    while !rest.is_empty() {
        let end = memchr::memchr(b'\n', rest).unwrap_or(rest.len());
        let line = String::from_utf8_lossy(&rest[..end]).trim().to_owned();
        rest = rest.get(end + 1..).unwrap_or_default();
        if line.is_empty() {
            break;
        }
        if let Some((name, value)) = line.split_once(": ").filter(|_| !line.starts_with('#')) {
            fields.push((name.trim().to_ascii_lowercase(), value.trim().to_owned()));
        }
    }
    Ok((Header(fields), rest))
}

fn has_vector(header: &Header, sizes: &[usize]) -> Result<bool, Malformed> {
    if let Some(kinds) = header.get("kinds") {
        let is_vector = |k: &str| k.contains("vector") || k == "list";
        let kinds: Vec<String> =
            kinds.split_ascii_whitespace().map(str::to_ascii_lowercase).collect();
        return match kinds.iter().position(|k| is_vector(k)) {
            None => Ok(false),
            Some(0) => Ok(true),
            Some(_) => {
                Err(problem("the vector axis is not the first", "swap the axes: unu permute"))
            }
        };
    }
    let space = header.get("space dimension").and_then(|d| d.parse::<usize>().ok());
    Ok(match space {
        Some(space) => sizes.len() == space + 1,
        None => sizes.len() > 2 && matches!(sizes[0], 2 | 3),
    })
}

/// `none (0.1,0) (0,0.2)` as vectors; `None` where it says so.
fn vectors(text: &str) -> Option<Vec<Option<DVec3>>> {
    let word = |w: &str| {
        if w.eq_ignore_ascii_case("none") {
            return Some(None);
        }
        let inside = w.strip_prefix('(')?.strip_suffix(')')?;
        let numbers: Option<Vec<f64>> =
            inside.split(',').map(|x| parse_f64(x.trim().as_bytes())).collect();
        let mut v = [0.0; 3];
        v.iter_mut().zip(numbers?).for_each(|(v, x)| *v = x);
        Some(Some(DVec3::from_array(v)))
    };
    text.split_ascii_whitespace().map(word).collect()
}

fn grid_of(
    header: &Header,
    dims: [usize; 3],
    space: usize,
    skip: usize,
) -> Result<Grid, Malformed> {
    let bad = |what: &str| problem(format!("{what} makes no sense"), "write the file again");
    let mut axes = DVec3::AXES;
    let mut origin = DVec3::ZERO;
    if let Some(text) = header.get("space directions") {
        let all = vectors(text).ok_or_else(|| bad("space directions"))?;
        for (axis, direction) in axes.iter_mut().zip(all.iter().skip(skip).take(space)) {
            *axis = direction.ok_or_else(|| bad("space directions"))?;
        }
        if let Some(text) = header.get("space origin") {
            let found = vectors(text).and_then(|v| v.first().copied().flatten());
            origin = found.ok_or_else(|| bad("space origin"))?;
        }
    } else {
        // NaN stands for axes that are not in space.
        let known = |list: Option<Vec<f64>>, a: usize| {
            list.and_then(|l| l.get(a + skip).copied()).filter(|x| x.is_finite())
        };
        for a in 0..space {
            axes[a] *= known(header.numbers("spacings"), a).unwrap_or(1.0);
            origin[a] = known(header.numbers("axis mins"), a).unwrap_or(0.0);
        }
    }
    let spacing = [axes[0].x, axes[1].y, axes[2].z];
    let straight = DVec3::AXES.iter().zip(spacing).map(|(a, s)| *a * s).eq(axes);
    if straight {
        if spacing.contains(&0.0) || !origin.is_finite() {
            return Err(bad("the spacing"));
        }
        return Ok(Grid::Uniform { dims, origin: origin.to_array(), spacing });
    }
    let count: usize = dims.iter().product();
    // Its points take memory before any value is read.
    if count > 1 << 24 {
        return Err(problem("a turned lattice of that size is not read", "resample it"));
    }
    let point = |i: usize| {
        let k = [i % dims[0], i / dims[0] % dims[1], i / (dims[0] * dims[1])];
        origin + (0..3).map(|a| axes[a] * k[a] as f64).sum::<DVec3>()
    };
    Ok(Grid::Curvilinear { dims, points: (0..count).map(point).collect() })
}

fn values_of(
    header: &Header,
    attached: &[u8],
    count: usize,
    fetch: Fetch<'_>,
) -> Result<Vec<f32>, Malformed> {
    let number = match header.need("type")? {
        "float" => Number::F32,
        "double" => Number::F64,
        "signed char" | "int8" | "int8_t" => Number::I8,
        "uchar" | "unsigned char" | "uint8" | "uint8_t" => Number::U8,
        "short" | "signed short" | "int16" | "int16_t" => Number::I16,
        "ushort" | "unsigned short" | "uint16" | "uint16_t" => Number::U16,
        "int" | "signed int" | "int32" | "int32_t" => Number::I32,
        "uint" | "unsigned int" | "uint32" | "uint32_t" => Number::U32,
        other => {
            let what = format!("numbers of type {}", quote(other.as_bytes()));
            return Err(problem(what, "write float or double"));
        }
    };
    let fetched;
    let file = header.get("data file").or_else(|| header.get("datafile"));
    let mut data = match file {
        Some(name) if name.contains(' ') || name == "LIST" => {
            return Err(problem("the data are in several files", "join them: unu save"));
        }
        Some(name) => {
            fetched = fetch(name)?;
            &fetched[..]
        }
        None => attached,
    };
    let size = count.saturating_mul(number.size());
    let cut = || problem("the data are not all there", "the file was cut off; copy it again");
    if let Some(skip) = header.get("byte skip").or_else(|| header.get("byteskip")) {
        let skip = match skip.parse::<i64>() {
            Ok(-1) => data.len().checked_sub(size),
            Ok(n) => usize::try_from(n).ok(),
            Err(_) => None,
        };
        data = skip.and_then(|n| data.get(n..)).ok_or_else(cut)?;
    }
    let encoding = header.need("encoding")?.to_ascii_lowercase();
    let mut whole = Vec::new();
    let bytes = match encoding.as_str() {
        "raw" => data.get(..size).ok_or_else(cut)?,
        "gzip" | "gz" => {
            let read =
                flate2::read::MultiGzDecoder::new(data).take(size as u64).read_to_end(&mut whole);
            read.map_err(|error| {
                problem(format!("the data are damaged: {error}"), "copy it again")
            })?;
            whole.get(..size).ok_or_else(cut)?
        }
        "ascii" | "text" | "txt" => {
            let words = data.split(u8::is_ascii_whitespace).filter(|w| !w.is_empty());
            let values: Vec<f32> =
                words.take(count).map_while(parse_f64).map(|x| x as f32).collect();
            return if values.len() == count { Ok(values) } else { Err(cut()) };
        }
        other => {
            let what = format!("the data are coded as {}", quote(other.as_bytes()));
            return Err(problem(what, "save them raw or as gzip: unu save -e gzip"));
        }
    };
    let big_endian = header.get("endian").is_some_and(|e| e.eq_ignore_ascii_case("big"));
    Ok(number.decode(bytes, big_endian, |x| x as f32))
}

#[cfg(test)]
mod tests {
    use super::super::vtk_xml::no_files;
    use super::*;

    #[test]
    fn vectors_on_a_lattice() {
        let header = "NRRD0004\n# made by hand\ntype: float\ndimension: 3\nspace dimension: 2\nsizes: 2 2 2\n\
            space directions: none (0.5,0) (0,0.25)\nkinds: 2-vector space space\nendian: big\nencoding: raw\n\
            space origin: (-1,2)\n\n";
        let values = [1.0_f32, 2.0, 3.0, 4.0, 5.0, 6.0, 7.0, 8.0];
        let mut file = header.as_bytes().to_vec();
        file.extend(values.map(f32::to_be_bytes).concat());
        let dataset = read(&file, Select::All, &no_files).unwrap();
        assert_eq!(dataset.arrays[0].values, values);
        assert_eq!(dataset.arrays[0].info.components, 2);
        assert_eq!(dataset.grid.point(3), DVec3::new(-0.5, 2.25, 0.0));
        for length in (0..file.len()).step_by(3) {
            assert!(read(&file[..length], Select::All, &no_files).is_err(), "{length} bytes");
        }
        let text = header.replace("raw", "ascii") + "1 2 3 4 5 6 7 8";
        assert_eq!(read(text.as_bytes(), Select::All, &no_files).unwrap().arrays[0].values, values);
        let turned = text.replace("(0.5,0)", "(0.5,0.1)");
        let dataset = read(turned.as_bytes(), Select::All, &no_files).unwrap();
        assert_eq!(dataset.grid.point(1), DVec3::new(-0.5, 2.1, 0.0));
        for (from, to) in
            [("float", "block"), ("sizes: 2 2 2", "sizes: 2 99999999 99999999"), ("ascii", "bzip2")]
        {
            assert!(
                read(text.replace(from, to).as_bytes(), Select::All, &no_files).is_err(),
                "{to}"
            );
        }
    }
}
