//! Wavefront OBJ.
//!
//! # What is read
//!
//! `v` (with `w` ignored, or with a colour), `vt`, `vn`, `f` with any of `v`, `v/t`, `v//n`,
//! `v/t/n`, indices from 1 or negative, polygons of any size; `o`, `g` and `usemtl` name
//! [groups](Group). All of a file is one mesh, and one `v` line is one vertex: seams do not open
//! it. Where the `vt` or `vn` indices of every corner are those of its vertex, the values become a
//! vertex attribute, otherwise a [`CornerAttribute`]; either way values and order are kept.
//!
//! # Where we differ from the format
//!
//! Indices may name vertices of later lines. A `vt` or `vn` index that names nothing is dropped
//! with a warning, as the surface itself is sound. Curves, lines, points and material files are
//! left out. A file without faces is a point cloud.

use std::io::{self, Write};
use std::rc::Rc;

use glam::{Vec2, Vec3, Vec4};

use super::polygon::Cutter;
use super::text::{Lines, Words, parse_f64, quote};
use super::{Malformed, Place, Warning, color, finish, finish_cloud};
use crate::Asset;
use crate::mesh::attribute::{COLOR, NORMAL, UV};
use crate::mesh::{Attributes, CornerAttribute, Group, PointCloud, TriMesh, Values};

/// A corner without a texture coordinate or normal.
const NONE: u32 = u32::MAX;

/// Reads an OBJ file.
///
/// # Errors
///
/// [`Malformed`] with the line of the first statement that makes no sense.
pub fn read(bytes: &[u8], warnings: &mut Vec<Warning>) -> Result<Asset, Malformed> {
    let mut reader = Reader::default();
    let mut lines = Lines::new(bytes);
    let mut joined = Vec::new();
    while let Some(line) = lines.next_line() {
        reader.line = lines.number();
        if line.trim_ascii_end().last() == Some(&b'\\') {
            join_continued(line, &mut lines, &mut joined);
            reader.statement(&joined)?;
        } else {
            reader.statement(line)?;
        }
    }
    reader.into_asset(warnings)
}

/// Fills `joined` with a line and those that continue it after a backslash.
fn join_continued(line: &[u8], lines: &mut Lines<'_>, joined: &mut Vec<u8>) {
    joined.clear();
    let mut line = line;
    while let Some(start) = line.trim_ascii_end().strip_suffix(b"\\") {
        joined.extend_from_slice(start);
        joined.push(b' ');
        line = lines.next_line().unwrap_or_default();
    }
    joined.extend_from_slice(line);
}

/// The furthest reference to something not read yet.
#[derive(Default)]
struct Furthest {
    index: u32,
    line: usize,
}

impl Furthest {
    fn note(&mut self, index: u32, count: usize, line: usize) {
        if index as usize >= count && index >= self.index {
            *self = Self { index, line };
        }
    }

    /// The line of a reference beyond `count` entries, if there is one.
    fn beyond(&self, count: usize) -> Option<usize> {
        (self.line > 0 && self.index as usize >= count).then_some(self.line)
    }
}

/// Statements that were left out: how many, and the line of the first.
#[derive(Default)]
struct LeftOut {
    count: usize,
    line: usize,
}

impl LeftOut {
    fn note(&mut self, line: usize) {
        if self.count == 0 {
            self.line = line;
        }
        self.count += 1;
    }

    fn warn(&self, what: &str, warnings: &mut Vec<Warning>) {
        if self.count > 0 {
            let what = format!("{} {what} left out, the first here", self.count);
            warnings.push(Warning::new(Place::Line(self.line), what));
        }
    }
}

/// The names in force from one triangle on.
struct NamedRun {
    start: u32,
    object: Rc<str>,
    group: Rc<str>,
    material: Rc<str>,
}

#[derive(Default)]
struct Names {
    runs: Vec<NamedRun>,
    object: Rc<str>,
    group: Rc<str>,
    material: Rc<str>,
    objects: usize,
}

impl Names {
    fn start_run(&mut self, triangles: usize) {
        let start = triangles as u32;
        if self.runs.last().is_some_and(|r| r.start == start) {
            self.runs.pop();
        }
        self.runs.push(NamedRun {
            start,
            object: Rc::clone(&self.object),
            group: Rc::clone(&self.group),
            material: Rc::clone(&self.material),
        });
    }

    /// The groups of all triangles, and the name of the one object, if there is one.
    fn into_groups(self, triangles: usize) -> (String, Vec<Group>) {
        let one_object = self.objects == 1;
        let mut groups: Vec<Group> = Vec::new();
        if self.runs.first().is_some_and(|r| r.start > 0) {
            groups.push(Group::default());
        }
        for run in &self.runs {
            let object = if one_object { "" } else { &run.object };
            let parts = [object, &run.group, &run.material];
            let parts: Vec<&str> = parts.into_iter().filter(|p| !p.is_empty()).collect();
            let name = parts.join("/");
            if groups.last().is_some_and(|g| g.name == name) {
                continue;
            }
            if let Some(last) = groups.last_mut() {
                last.triangles.end = run.start;
            }
            groups.push(Group { name, triangles: run.start..run.start, material: None });
        }
        if let Some(last) = groups.last_mut() {
            last.triangles.end = triangles as u32;
        }
        groups.retain(|g| !g.triangles.is_empty());
        if groups.iter().all(|g| g.name.is_empty()) {
            groups.clear();
        }
        let name = if one_object { self.object.to_string() } else { String::new() };
        (name, groups)
    }
}

/// One index list of the corners: what they name, and how far it reaches.
#[derive(Default)]
struct Channel {
    /// As the triangles, or empty as long as no corner named anything.
    triangles: Vec<[u32; 3]>,
    furthest: Furthest,
    /// The indices of the polygon being read.
    polygon: Vec<u32>,
}

impl Channel {
    /// Adds triangle `cut` of the polygon to a list that has `before` triangles so far.
    fn push(&mut self, cut: [u32; 3], before: usize) {
        let corners = cut.map(|k| self.polygon[k as usize]);
        if !self.triangles.is_empty() || corners != [NONE; 3] {
            self.triangles.resize(before, [NONE; 3]);
            self.triangles.push(corners);
        }
    }
}

/// The three indices of a corner as written, and the text after it.
type Corner<'a> = ([i64; 3], &'a [u8]);

#[derive(Default)]
struct Reader {
    line: usize,
    positions: Vec<Vec3>,
    colors: Vec<Vec4>,
    uvs: Vec<Vec2>,
    normals: Vec<Vec3>,
    triangles: Vec<[u32; 3]>,
    polygon: Vec<u32>,
    furthest: Furthest,
    uv: Channel,
    normal: Channel,
    names: Names,
    cutter: Cutter,
    elements: LeftOut,
    unknown: LeftOut,
    short: LeftOut,
}

impl Reader {
    fn statement(&mut self, line: &[u8]) -> Result<(), Malformed> {
        let mut words = Words::new(line);
        match words.word().unwrap_or_default() {
            b"v" => self.vertex(words)?,
            b"f" | b"fo" => self.face(words)?,
            b"vt" => {
                let [u, v] = self.numbers(&mut words, [None, Some(0.0)])?;
                self.uvs.push(Vec2::new(u, v));
            }
            b"vn" => {
                let n = self.numbers(&mut words, [None; 3])?;
                self.normals.push(Vec3::from(n));
            }
            b"o" => {
                let name: Rc<str> = name(&words);
                self.names.objects += usize::from(self.names.object != name);
                (self.names.object, self.names.group) = (name, Rc::default());
                self.names.start_run(self.triangles.len());
            }
            b"g" => {
                self.names.group = name(&words);
                self.names.start_run(self.triangles.len());
            }
            b"usemtl" => {
                self.names.material = name(&words);
                self.names.start_run(self.triangles.len());
            }
            b"l" | b"p" | b"curv" | b"curv2" | b"surf" => self.elements.note(self.line),
            b"" | b"s" | b"mtllib" | [b'#', ..] => {}
            _ => self.unknown.note(self.line),
        }
        Ok(())
    }

    fn problem(&self, what: impl Into<String>, fix: &str) -> Malformed {
        Malformed::new(Place::Line(self.line), what, fix)
    }

    fn not_a_number(&self, word: &[u8]) -> Malformed {
        self.problem(format!("{} is not a number", quote(word)), "correct or remove the line")
    }

    /// `N` numbers, those missing taken from `defaults` where there is one.
    fn numbers<const N: usize>(
        &self,
        words: &mut Words<'_>,
        defaults: [Option<f32>; N],
    ) -> Result<[f32; N], Malformed> {
        let mut values = [0.0; N];
        for (value, default) in values.iter_mut().zip(defaults) {
            *value = match (words.float(), default) {
                (Some(Ok(found)), _) => found,
                (Some(Err(word)), _) => return Err(self.not_a_number(word)),
                (None, Some(default)) => default,
                (None, None) => {
                    let what = format!("{N} numbers are needed here");
                    return Err(self.problem(what, "the line was cut off; export the file again"));
                }
            };
        }
        Ok(values)
    }

    fn vertex(&mut self, mut words: Words<'_>) -> Result<(), Malformed> {
        let position = Vec3::from(self.numbers(&mut words, [None; 3])?);
        if !position.is_finite() {
            let what = format!("vertex {} is not finite: {position}", self.positions.len() + 1);
            return Err(self.problem(what, "give it a place, or remove it with its faces"));
        }
        if !words.is_done() {
            self.color(words)?;
        } else if !self.colors.is_empty() {
            self.colors.push(Vec4::ONE);
        }
        self.positions.push(position);
        Ok(())
    }

    /// What follows a position: `w`, or red, green, blue and perhaps alpha.
    fn color(&mut self, mut words: Words<'_>) -> Result<(), Malformed> {
        let mut values = [1.0; 4];
        let mut count = 0;
        while let Some(word) = words.word() {
            if word.starts_with(b"#") {
                break;
            }
            let value = parse_f64(word).ok_or_else(|| self.not_a_number(word))?;
            if let Some(slot) = values.get_mut(count) {
                *slot = value;
            }
            count += 1;
        }
        if count >= 3 {
            self.colors.resize(self.positions.len(), Vec4::ONE);
            self.colors.push(color::from_coded(values));
        } else if !self.colors.is_empty() {
            self.colors.push(Vec4::ONE);
        }
        Ok(())
    }

    fn face(&mut self, words: Words<'_>) -> Result<(), Malformed> {
        self.polygon.clear();
        self.uv.polygon.clear();
        self.normal.polygon.clear();
        let mut rest = words.rest();
        while let Some((corner, after)) = self.corner(rest)? {
            self.add_corner(corner)?;
            rest = after;
        }
        if self.polygon.len() < 3 {
            self.short.note(self.line);
            return Ok(());
        }
        for &cut in self.cutter.cut(&self.positions, &self.polygon) {
            let before = self.triangles.len();
            self.uv.push(cut, before);
            self.normal.push(cut, before);
            self.triangles.push(cut.map(|k| self.polygon[k as usize]));
        }
        Ok(())
    }

    /// The corner that starts `text`, as written, zero for what is missing; and what follows it.
    fn corner<'a>(&self, text: &'a [u8]) -> Result<Option<Corner<'a>>, Malformed> {
        let text = text.trim_ascii_start();
        if text.is_empty() || text[0] == b'#' {
            return Ok(None);
        }
        let mut indices = [0; 3];
        let mut at = 0;
        for (k, index) in indices.iter_mut().enumerate() {
            let (value, length) = scan_index(&text[at..]);
            *index = value;
            at += length;
            let whole = length > 0 || k > 0;
            match text.get(at) {
                Some(b'/') if k < 2 && whole => at += 1,
                Some(&b) if b > b' ' || !whole => break,
                _ if whole => return Ok(Some((indices, &text[at..]))),
                _ => break,
            }
        }
        let word = Words::new(text).word().unwrap_or_default();
        let what = format!("{} is not a corner of a face", quote(word));
        Err(self.problem(what, "a corner is v, v/t, v//n or v/t/n"))
    }

    fn add_corner(&mut self, [v, t, n]: [i64; 3]) -> Result<(), Malformed> {
        let vertex = absolute(v, self.positions.len()).ok_or_else(|| {
            let what = format!("a face names vertex {v}, but {} are known", self.positions.len());
            self.problem(what, "indices start at 1, or at -1 for the last vertex so far")
        })?;
        self.furthest.note(vertex, self.positions.len(), self.line);
        self.polygon.push(vertex);
        let counts = [self.uvs.len(), self.normals.len()];
        for ((channel, i), count) in
            [(&mut self.uv, t), (&mut self.normal, n)].into_iter().zip(counts)
        {
            let index = absolute(i, count).unwrap_or(NONE);
            if index != NONE || i != 0 {
                channel.furthest.note(index, count, self.line);
            }
            channel.polygon.push(index);
        }
        Ok(())
    }

    fn into_asset(mut self, warnings: &mut Vec<Warning>) -> Result<Asset, Malformed> {
        if let Some(line) = self.furthest.beyond(self.positions.len()) {
            let (index, count) = (u64::from(self.furthest.index) + 1, self.positions.len());
            let what = format!("a face names vertex {index}, but the file has {count}");
            let fix = "the file was cut off or joined wrongly; export it again";
            return Err(Malformed::new(Place::Line(line), what, fix));
        }
        self.elements.warn("lines, points or curves", warnings);
        self.unknown.warn("statements of an unknown kind", warnings);
        self.short.warn("faces with fewer than three corners", warnings);
        if self.cutter.fans > 0 {
            let what = format!("{} faces cross themselves, cut as a fan", self.cutter.fans);
            warnings.push(Warning::new(Place::File, what));
        }
        let mut attributes = Attributes::default();
        if !self.colors.is_empty() {
            attributes.set(COLOR, Values::Vec4(std::mem::take(&mut self.colors)));
        }
        if self.triangles.is_empty() {
            let normals = std::mem::take(&mut self.normals);
            if !normals.is_empty() && normals.len() == self.positions.len() {
                attributes.set(NORMAL, Values::Vec3(normals));
            }
            let name = self.names.into_groups(0).0;
            let cloud = PointCloud { name, positions: self.positions, attributes };
            return finish_cloud(cloud, warnings);
        }
        let (name, groups) = std::mem::take(&mut self.names).into_groups(self.triangles.len());
        let uvs = self.take_uvs(warnings);
        let normals = self.take_normals(warnings);
        let mut mesh = TriMesh { name, groups, attributes, ..TriMesh::default() };
        mesh.positions = self.positions;
        mesh.triangles = self.triangles;
        for corner in [uvs, normals].into_iter().flatten() {
            attach(&mut mesh, corner);
        }
        finish(mesh, warnings)
    }

    fn take_uvs(&mut self, warnings: &mut Vec<Warning>) -> Option<CornerAttribute> {
        let mut values = std::mem::take(&mut self.uvs);
        let mut triangles = std::mem::take(&mut self.uv.triangles);
        let known = values.len();
        let missing = count_beyond(&triangles, known);
        warn_missing("texture coordinates", &self.uv.furthest, known, missing, warnings);
        if triangles.is_empty() || missing == 3 * triangles.len() {
            return None;
        }
        if missing > 0 {
            values.push(Vec2::ZERO);
            let last = known as u32;
            triangles.iter_mut().flatten().for_each(|i| *i = (*i).min(last));
        }
        Some(CornerAttribute { name: UV.to_owned(), values: Values::Vec2(values), triangles })
    }

    /// As [`take_uvs`](Self::take_uvs); a missing normal is that of the triangle.
    fn take_normals(&mut self, warnings: &mut Vec<Warning>) -> Option<CornerAttribute> {
        let mut values = std::mem::take(&mut self.normals);
        let mut triangles = std::mem::take(&mut self.normal.triangles);
        let known = values.len();
        let missing = count_beyond(&triangles, known);
        warn_missing("normals", &self.normal.furthest, known, missing, warnings);
        if triangles.is_empty() || missing == 3 * triangles.len() {
            return None;
        }
        for (corners, normals) in self.triangles.iter().zip(&mut triangles) {
            if normals.iter().all(|&i| (i as usize) < known) {
                continue;
            }
            let [a, b, c] = corners.map(|i| self.positions[i as usize]);
            let own = values.len() as u32;
            values.push((b - a).cross(c - a).try_normalize().unwrap_or(Vec3::Z));
            let mend = |i: &mut u32| *i = if (*i as usize) < known { *i } else { own };
            normals.iter_mut().for_each(mend);
        }
        Some(CornerAttribute { name: NORMAL.to_owned(), values: Values::Vec3(values), triangles })
    }
}

/// An index and its length as text; nothing is 0 with length 0.
fn scan_index(text: &[u8]) -> (i64, usize) {
    const MOST_DIGITS: usize = 18;
    let negative = text.first() == Some(&b'-');
    let sign = usize::from(negative);
    let mut value = 0_i64;
    let mut length = sign;
    while let Some(digit) = text.get(length).map(|b| b.wrapping_sub(b'0'))
        && digit <= 9
        && length < MOST_DIGITS
    {
        value = 10 * value + i64::from(digit);
        length += 1;
    }
    if length == sign { (0, 0) } else { (if negative { -value } else { value }, length) }
}

/// The index from 0 that an index from 1, or from the end, means; `None` if there is no such.
fn absolute(index: i64, count: usize) -> Option<u32> {
    let from_zero = if index > 0 { index - 1 } else { index + count as i64 };
    let valid = index != 0 && (0..i64::from(NONE)).contains(&from_zero);
    valid.then_some(from_zero as u32)
}

fn name(words: &Words<'_>) -> Rc<str> {
    String::from_utf8_lossy(words.rest()).into()
}

fn count_beyond(triangles: &[[u32; 3]], known: usize) -> usize {
    triangles.iter().flatten().filter(|&&i| i as usize >= known).count()
}

fn warn_missing(
    what: &str,
    furthest: &Furthest,
    known: usize,
    missing: usize,
    warnings: &mut Vec<Warning>,
) {
    if let Some(line) = furthest.beyond(known) {
        let what = format!("a face names {what} that are not in the file, which has {known}");
        warnings.push(Warning::new(Place::Line(line), what));
    } else if missing > 0 {
        let what = format!("{missing} corners have no {what} while others do");
        warnings.push(Warning::new(Place::File, what));
    }
}

/// Adds the values to the mesh: as a vertex attribute where nothing is lost by it.
fn attach(mesh: &mut TriMesh, corner: CornerAttribute) {
    let same = corner.values.len() == mesh.positions.len() && corner.triangles == mesh.triangles;
    if same {
        mesh.attributes.set(corner.name, corner.values);
    } else {
        mesh.corners.push(corner);
    }
}

/// Writes a mesh as OBJ: positions with their colours, texture coordinates, normals and groups.
///
/// # Errors
///
/// Whatever `out` reports.
pub fn write(mesh: &TriMesh, out: &mut impl Write) -> io::Result<()> {
    if !mesh.name.is_empty() {
        writeln!(out, "o {}", one_line(&mesh.name))?;
    }
    write_vertices(&mesh.positions, &mesh.attributes, out)?;
    let uvs = channel(mesh, UV, 2);
    let normals = channel(mesh, NORMAL, 3);
    for (keyword, list) in [("vt", &uvs), ("vn", &normals)] {
        let Some((values, _)) = list else { continue };
        for row in values.as_floats().chunks_exact(values.width()) {
            write_row(keyword, row, out)?;
        }
    }
    let whole = [Group { triangles: 0..mesh.triangles.len() as u32, ..Group::default() }];
    let groups = if mesh.groups.is_empty() { &whole[..] } else { &mesh.groups };
    for group in groups {
        if !group.name.is_empty() || group.triangles.start > 0 {
            writeln!(out, "g {}", one_line(&group.name))?;
        }
        for t in group.triangles.start as usize..group.triangles.end as usize {
            let lists = [uvs.map(|(_, l)| l[t]), normals.map(|(_, l)| l[t])];
            write_face(mesh.triangles[t], lists, out)?;
        }
    }
    Ok(())
}

/// Writes points as OBJ: positions with their colours.
///
/// # Errors
///
/// Whatever `out` reports.
pub fn write_cloud(cloud: &PointCloud, out: &mut impl Write) -> io::Result<()> {
    if !cloud.name.is_empty() {
        writeln!(out, "o {}", one_line(&cloud.name))?;
    }
    write_vertices(&cloud.positions, &cloud.attributes, out)?;
    if let Some(normals) = cloud.attributes.normals() {
        for n in normals {
            write_row("vn", &n.to_array(), out)?;
        }
    }
    Ok(())
}

fn write_vertices(
    positions: &[Vec3],
    attributes: &Attributes,
    out: &mut impl Write,
) -> io::Result<()> {
    let colors = match attributes.get(COLOR) {
        Some(Values::Vec4(colors)) => Some(colors),
        _ => None,
    };
    for (i, p) in positions.iter().enumerate() {
        write!(out, "v {} {} {}", p.x, p.y, p.z)?;
        if let Some(colors) = colors {
            let [r, g, b, a] = color::to_coded(colors[i]);
            write!(out, " {r} {g} {b}")?;
            if a != 1.0 {
                write!(out, " {a}")?;
            }
        }
        out.write_all(b"\n")?;
    }
    Ok(())
}

/// The values and indices of an attribute of the corners or the vertices.
fn channel<'a>(
    mesh: &'a TriMesh,
    name: &str,
    width: usize,
) -> Option<(&'a Values, &'a [[u32; 3]])> {
    let corner = mesh.corners.iter().find(|c| c.name == name && c.values.width() == width);
    if let Some(corner) = corner {
        return Some((&corner.values, &corner.triangles));
    }
    let values = mesh.attributes.get(name).filter(|v| v.width() == width)?;
    Some((values, &mesh.triangles))
}

fn write_row(keyword: &str, row: &[f32], out: &mut impl Write) -> io::Result<()> {
    out.write_all(keyword.as_bytes())?;
    for value in row {
        write!(out, " {value}")?;
    }
    out.write_all(b"\n")
}

fn write_face(
    vertices: [u32; 3],
    [uv, normal]: [Option<[u32; 3]>; 2],
    out: &mut impl Write,
) -> io::Result<()> {
    out.write_all(b"f")?;
    for k in 0..3 {
        write!(out, " {}", vertices[k] + 1)?;
        match (uv, normal) {
            (None, None) => {}
            (Some(t), None) => write!(out, "/{}", t[k] + 1)?,
            (None, Some(n)) => write!(out, "//{}", n[k] + 1)?,
            (Some(t), Some(n)) => write!(out, "/{}/{}", t[k] + 1, n[k] + 1)?,
        }
    }
    out.write_all(b"\n")
}

/// A name that stays in its line.
fn one_line(name: &str) -> String {
    name.replace(['\n', '\r'], " ")
}
