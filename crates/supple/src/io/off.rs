//! OFF, the Object File Format of Geomview, as text.
//!
//! # What is read
//!
//! The variants with normals (`NOFF`), colours (`COFF`, bytes or fractions of one), texture
//! coordinates (`STOFF`) and their combinations; comments; the keyword missing or glued to the
//! counts; polygons of any size. Colours of faces are left out. The binary and four-dimensional
//! variants are refused.

use std::io::{self, Write};

use glam::{Vec2, Vec3, Vec4};

use super::polygon::Cutter;
use super::text::{Lines, Words, parse_f64, quote};
use super::{Malformed, Place, Warning, color, finish};
use crate::Asset;
use crate::mesh::attribute::{COLOR, NORMAL, UV};
use crate::mesh::{Attributes, PointCloud, TriMesh, Values};

/// Reads an OFF file.
///
/// # Errors
///
/// [`Malformed`] with the line of what makes no sense.
pub fn read(bytes: &[u8], warnings: &mut Vec<Warning>) -> Result<Asset, Malformed> {
    let mut rows = Rows { lines: Lines::new(bytes), row: &[] };
    let variant = Variant::read(&mut rows)?;
    let [vertices, faces] = read_counts(&mut rows)?;
    let mut mesh = read_vertices(&mut rows, variant, vertices)?;
    read_faces(&mut rows, &mut mesh, faces, warnings)?;
    finish(mesh, warnings)
}

/// Lines without comments and without those that are empty.
struct Rows<'a> {
    lines: Lines<'a>,
    row: &'a [u8],
}

impl<'a> Rows<'a> {
    fn place(&self) -> Place {
        Place::Line(self.lines.number())
    }

    /// Moves on until the current row has words; false at the end.
    fn fill(&mut self) -> bool {
        while self.row.trim_ascii().is_empty() {
            let Some(line) = self.lines.next_line() else { return false };
            let end = memchr::memchr(b'#', line).unwrap_or(line.len());
            self.row = &line[..end];
        }
        true
    }

    fn word(&mut self) -> Option<&'a [u8]> {
        self.fill();
        let mut words = Words::new(self.row);
        let word = words.word();
        self.row = words.rest();
        word
    }

    fn float(&mut self) -> Result<f32, Malformed> {
        self.fill();
        let mut words = Words::new(self.row);
        let number = words.float();
        self.row = words.rest();
        match number {
            Some(Ok(number)) => Ok(number),
            other => Err(self.not_a("number", other.and_then(Result::err))),
        }
    }

    fn index(&mut self) -> Result<u32, Malformed> {
        self.fill();
        let mut words = Words::new(self.row);
        let number = words.integer();
        self.row = words.rest();
        let word = match number {
            Some(Ok(number)) => {
                return u32::try_from(number).ok().ok_or_else(|| self.beyond(number));
            }
            Some(Err(word)) => Some(word),
            None => None,
        };
        Err(self.not_a("whole number", word))
    }

    fn beyond(&self, number: i64) -> Malformed {
        let what = format!("{number} is not a vertex or a count");
        Malformed::new(self.place(), what, "the file is damaged; export it again")
    }

    fn not_a(&self, wanted: &str, word: Option<&[u8]>) -> Malformed {
        let (what, fix) = match word {
            None => (
                format!("the file ends where a {wanted} should be"),
                "it was cut off, or a count in it is too large",
            ),
            Some(word) => {
                (format!("{} is not a {wanted}", quote(word)), "correct it, or export again")
            }
        };
        Malformed::new(self.place(), what, fix)
    }
}

/// What each vertex has beside its place.
#[derive(Clone, Copy, Default)]
struct Variant {
    normals: bool,
    colors: bool,
    uvs: bool,
}

impl Variant {
    /// Reads the keyword: `[ST][C][N]OFF`, perhaps with the first count glued to it, or none.
    fn read(rows: &mut Rows<'_>) -> Result<Self, Malformed> {
        rows.fill();
        let mut words = Words::new(rows.row);
        let word = words.word().unwrap_or_default();
        let Some(at) = word.windows(3).position(|w| w == b"OFF") else {
            if parse_f64(word).is_some() {
                return Ok(Self::default());
            }
            let fix = "an OFF file starts with the word OFF";
            return Err(Malformed::new(rows.place(), "this is not an OFF file", fix));
        };
        let (prefix, glued) = (&word[..at], &word[at + 3..]);
        let all = words.rest();
        if all.starts_with(b"BINARY") || glued.starts_with(b"BINARY") {
            let fix = "export it as text, or as PLY";
            return Err(Malformed::new(rows.place(), "binary OFF is not read", fix));
        }
        let after = &rows.row[rows.row.len() - rows.row.trim_ascii_start().len() + at + 3..];
        rows.row = after;
        let mut variant = Self::default();
        let mut prefix = prefix;
        if let Some(rest) = prefix.strip_prefix(b"ST") {
            (variant.uvs, prefix) = (true, rest);
        }
        if let Some(rest) = prefix.strip_prefix(b"C") {
            (variant.colors, prefix) = (true, rest);
        }
        if let Some(rest) = prefix.strip_prefix(b"N") {
            (variant.normals, prefix) = (true, rest);
        }
        if !prefix.is_empty() {
            let what = format!("{} is a kind of OFF that is not read", quote(word));
            let fix = "export three-dimensional OFF, COFF or NOFF";
            return Err(Malformed::new(rows.place(), what, fix));
        }
        Ok(variant)
    }
}

/// Vertices and faces; the edges are not needed and may be missing.
fn read_counts(rows: &mut Rows<'_>) -> Result<[usize; 2], Malformed> {
    /// The shortest vertex is `0 0 0` and an end of line, the shortest face `3 0 1 2`.
    const LEAST: [usize; 2] = [6, 4];
    let mut counts = [0; 2];
    for (count, least) in counts.iter_mut().zip(LEAST) {
        *count = rows.index()? as usize;
        let available = rows.lines.rest().len() + rows.row.len();
        if *count > available / least + 1 {
            let what = format!("{count} rows cannot be in the {available} bytes that follow");
            let fix = "the file was cut off, or the count is wrong";
            return Err(Malformed::new(rows.place(), what, fix));
        }
    }
    let mut rest = Words::new(rows.row);
    if !rest.is_done() {
        let _ = rest.word();
        rows.row = rest.rest();
    }
    Ok(counts)
}

fn read_vertices(
    rows: &mut Rows<'_>,
    variant: Variant,
    count: usize,
) -> Result<TriMesh, Malformed> {
    let mut mesh = TriMesh::default();
    let (mut normals, mut colors, mut uvs) = (Vec::new(), Vec::new(), Vec::new());
    mesh.positions.reserve(count);
    for i in 0..count {
        let p = Vec3::new(rows.float()?, rows.float()?, rows.float()?);
        if !p.is_finite() {
            let fix = "give it a place, or remove it with its faces";
            return Err(Malformed::new(
                rows.place(),
                format!("vertex {i} is not finite: {p}"),
                fix,
            ));
        }
        mesh.positions.push(p);
        if variant.normals {
            normals.push(Vec3::new(rows.float()?, rows.float()?, rows.float()?));
        }
        if variant.colors {
            colors.push(read_color(rows, variant.uvs)?);
        }
        if variant.uvs {
            uvs.push(Vec2::new(rows.float()?, rows.float()?));
        }
    }
    if variant.normals {
        mesh.attributes.set(NORMAL, Values::Vec3(normals));
    }
    if variant.colors {
        mesh.attributes.set(COLOR, Values::Vec4(colors));
    }
    if variant.uvs {
        mesh.attributes.set(UV, Values::Vec2(uvs));
    }
    Ok(mesh)
}

/// Three or four numbers: as many as the row has, save the two texture coordinates.
fn read_color(rows: &mut Rows<'_>, uvs: bool) -> Result<Vec4, Malformed> {
    rows.fill();
    let mut words = Words::new(rows.row);
    let mut left = 0;
    while words.word().is_some() {
        left += 1;
    }
    let count = if left >= 4 + 2 * usize::from(uvs) { 4 } else { 3 };
    let mut coded = [1.0; 4];
    let mut whole = true;
    for slot in &mut coded[..count] {
        let word = rows.word();
        let number = word.and_then(parse_f64);
        *slot = number.ok_or_else(|| rows.not_a("number", word))?;
        whole &= word.is_some_and(|w| w.iter().all(u8::is_ascii_digit));
    }
    if whole {
        coded[..count].iter_mut().for_each(|c| *c /= 255.0);
    }
    Ok(color::from_coded(coded))
}

fn read_faces(
    rows: &mut Rows<'_>,
    mesh: &mut TriMesh,
    count: usize,
    warnings: &mut Vec<Warning>,
) -> Result<(), Malformed> {
    let mut cutter = Cutter::default();
    let mut polygon = Vec::new();
    let (mut colored, mut short) = (0, 0);
    mesh.triangles.reserve(count);
    for _ in 0..count {
        let corners = rows.index()?;
        polygon.clear();
        for _ in 0..corners {
            let vertex = rows.index()?;
            if vertex as usize >= mesh.positions.len() {
                let what =
                    format!("a face names vertex {vertex}, but there are {}", mesh.positions.len());
                let fix = "vertices are counted from 0";
                return Err(Malformed::new(rows.place(), what, fix));
            }
            polygon.push(vertex);
        }
        colored += usize::from(!rows.row.is_empty());
        rows.row = &[];
        if polygon.len() < 3 {
            short += 1;
            continue;
        }
        let cuts = cutter.cut(&mesh.positions, &polygon);
        mesh.triangles.extend(cuts.iter().map(|cut| cut.map(|k| polygon[k as usize])));
    }
    let left_out = [
        (colored, "colours of faces left out"),
        (short, "faces with fewer than three corners left out"),
        (cutter.fans, "faces cross themselves, cut as a fan"),
    ];
    for (count, what) in left_out.into_iter().filter(|&(count, _)| count > 0) {
        warnings.push(Warning::new(Place::File, format!("{count} {what}")));
    }
    Ok(())
}

/// Writes a mesh as OFF with its vertex normals, colours and texture coordinates.
///
/// # Errors
///
/// Whatever `out` reports.
pub fn write(mesh: &TriMesh, out: &mut impl Write) -> io::Result<()> {
    write_vertices(&mesh.positions, &mesh.attributes, mesh.triangles.len(), out)?;
    for [a, b, c] in &mesh.triangles {
        writeln!(out, "3 {a} {b} {c}")?;
    }
    Ok(())
}

/// Writes points as OFF with their normals, colours and texture coordinates.
///
/// # Errors
///
/// Whatever `out` reports.
pub fn write_cloud(cloud: &PointCloud, out: &mut impl Write) -> io::Result<()> {
    write_vertices(&cloud.positions, &cloud.attributes, 0, out)
}

fn write_vertices(
    positions: &[Vec3],
    attributes: &Attributes,
    faces: usize,
    out: &mut impl Write,
) -> io::Result<()> {
    let normals = attributes.normals();
    let colors = match attributes.get(COLOR) {
        Some(Values::Vec4(colors)) => Some(colors),
        _ => None,
    };
    let uvs = match attributes.get(UV) {
        Some(Values::Vec2(uvs)) => Some(uvs),
        _ => None,
    };
    let bytes = colors.and_then(|c| color::all_to_bytes(c));
    let mark = |present: bool, letters| if present { letters } else { "" };
    let (st, c, n) =
        (mark(uvs.is_some(), "ST"), mark(colors.is_some(), "C"), mark(normals.is_some(), "N"));
    writeln!(out, "{st}{c}{n}OFF\n{} {faces} 0", positions.len())?;
    for (i, p) in positions.iter().enumerate() {
        write!(out, "{} {} {}", p.x, p.y, p.z)?;
        if let Some(normals) = normals {
            let n = normals[i];
            write!(out, " {} {} {}", n.x, n.y, n.z)?;
        }
        if let Some(bytes) = &bytes {
            let [r, g, b, a] = bytes[i];
            write!(out, " {r} {g} {b} {a}")?;
        } else if let Some(colors) = colors {
            // With a decimal point even for whole numbers: they are fractions of one.
            let [r, g, b, a] = color::to_coded(colors[i]);
            write!(out, " {r:?} {g:?} {b:?} {a:?}")?;
        }
        if let Some(uvs) = uvs {
            write!(out, " {} {}", uvs[i].x, uvs[i].y)?;
        }
        out.write_all(b"\n")?;
    }
    Ok(())
}
