//! STL, text and binary.
//!
//! The format has no vertices, only the corners of each facet. Corners at exactly the same place
//! become one vertex, in the order they first appear; nothing is moved. Normals are left out, as
//! they follow from the corners, and so are the two spare bytes of a binary facet. Each `solid` of
//! a text file is a [group](Group). Written files are binary.

use std::collections::HashMap;
use std::collections::hash_map::Entry;
use std::io::{self, Write};

use glam::Vec3;

use super::text::{Lines, Words, quote};
use super::{Malformed, Place, Warning, finish};
use crate::Asset;
use crate::mesh::{Group, TriMesh};

const HEADER: usize = 84;
const FACET: usize = 50;

/// Reads an STL file.
///
/// # Errors
///
/// [`Malformed`] with the line or byte of what makes no sense.
pub fn read(bytes: &[u8], warnings: &mut Vec<Warning>) -> Result<Asset, Malformed> {
    if is_text(bytes) { read_text(bytes, warnings) } else { read_binary(bytes, warnings) }
}

/// Binary files may start with `solid`, too: the length decides first, then the first facet.
fn is_text(bytes: &[u8]) -> bool {
    if facet_count(bytes).is_some_and(|n| bytes.len() as u64 == HEADER as u64 + n * FACET as u64) {
        return false;
    }
    let start = super::text::without_mark(bytes).trim_ascii_start();
    let solid = start.get(..5).is_some_and(|w| w.eq_ignore_ascii_case(b"solid"));
    let head = &start[..start.len().min(1 << 12)];
    let mut words = head.split(u8::is_ascii_whitespace);
    let text = |w: &[u8]| w.eq_ignore_ascii_case(b"facet") || w.eq_ignore_ascii_case(b"endsolid");
    solid && (words.any(text) || !head.contains(&0))
}

/// The count in a binary header.
fn facet_count(bytes: &[u8]) -> Option<u64> {
    let count = bytes.get(HEADER - 4..)?.first_chunk()?;
    Some(u64::from(u32::from_le_bytes(*count)))
}

/// Joins corners at the same place.
#[derive(Default)]
struct Weld {
    positions: Vec<Vec3>,
    triangles: Vec<[u32; 3]>,
    index_at: HashMap<[u32; 3], u32>,
}

impl Weld {
    fn add(&mut self, corners: [Vec3; 3]) {
        let triangle = corners.map(|p| {
            // Adding zero makes -0 and 0 one place.
            match self.index_at.entry((p + Vec3::ZERO).to_array().map(f32::to_bits)) {
                Entry::Occupied(known) => *known.get(),
                Entry::Vacant(new) => {
                    self.positions.push(p);
                    *new.insert(self.positions.len() as u32 - 1)
                }
            }
        });
        self.triangles.push(triangle);
    }
}

fn read_binary(bytes: &[u8], warnings: &mut Vec<Warning>) -> Result<Asset, Malformed> {
    let Some(count) = facet_count(bytes) else {
        let what = format!("{} bytes are too few for an STL file", bytes.len());
        let fix = "a binary STL has at least 84 bytes, a text one starts with solid";
        return Err(Malformed::new(Place::File, what, fix));
    };
    let facets = bytes[HEADER..].chunks_exact(FACET);
    let available = facets.len() as u64;
    if count > available {
        let what = format!("the file says {count} facets but holds {available}");
        let fix = "it was cut off, or is not an STL file; export it again";
        return Err(Malformed::new(Place::Byte(HEADER as u64 - 4), what, fix));
    }
    if bytes.len() as u64 > HEADER as u64 + count * FACET as u64 {
        let place = Place::Byte(HEADER as u64 + count * FACET as u64);
        warnings.push(Warning::new(place, "bytes after the last facet are left out"));
    }
    let mut weld = Weld::default();
    for (i, facet) in facets.take(count as usize).enumerate() {
        let number = |k: usize| {
            let b = &facet[12 + 4 * k..];
            f32::from_le_bytes([b[0], b[1], b[2], b[3]])
        };
        let corners = [0, 3, 6].map(|k| Vec3::new(number(k), number(k + 1), number(k + 2)));
        if corners.iter().any(|p| !p.is_finite()) {
            let place = Place::Byte((HEADER + i * FACET) as u64);
            return Err(not_finite(place, &format!("facet {i}")));
        }
        weld.add(corners);
    }
    finish(TriMesh::new(weld.positions, weld.triangles), warnings)
}

fn not_finite(place: Place, what: &str) -> Malformed {
    let fix = "remove the facet, or export the file again";
    Malformed::new(place, format!("a corner of {what} is not finite"), fix)
}

fn read_text(bytes: &[u8], warnings: &mut Vec<Warning>) -> Result<Asset, Malformed> {
    let mut weld = Weld::default();
    let mut groups: Vec<Group> = Vec::new();
    let mut corners: Vec<Vec3> = Vec::new();
    let mut lines = Lines::new(bytes);
    while let Some(line) = lines.next_line() {
        let place = Place::Line(lines.number());
        let mut words = Words::new(line);
        let keyword = words.word().unwrap_or_default().to_ascii_lowercase();
        match keyword.as_slice() {
            b"vertex" => corners.push(corner(words, place)?),
            b"endloop" | b"endfacet" if corners.is_empty() => {}
            b"endloop" | b"endfacet" => {
                let Ok(facet) = <[Vec3; 3]>::try_from(corners.as_slice()) else {
                    let what = format!("a facet has {} corners", corners.len());
                    return Err(Malformed::new(place, what, "facets have three corners"));
                };
                weld.add(facet);
                corners.clear();
            }
            b"solid" => {
                let start = weld.triangles.len() as u32;
                let name = String::from_utf8_lossy(words.rest()).into_owned();
                groups.push(Group { name, triangles: start..start, material: None });
            }
            b"facet" | b"outer" | b"endsolid" | b"" | b"color" => {}
            other => {
                let what = format!("{} means nothing in a text STL", quote(other));
                return Err(Malformed::new(place, what, "remove the line, or export again"));
            }
        }
    }
    if !corners.is_empty() {
        let place = Place::Line(lines.number());
        let fix = "the file was cut off; export it again";
        return Err(Malformed::new(place, "the file ends in the middle of a facet", fix));
    }
    let mut mesh = TriMesh::new(weld.positions, weld.triangles);
    name_groups(&mut mesh, groups);
    finish(mesh, warnings)
}

fn corner(mut words: Words<'_>, place: Place) -> Result<Vec3, Malformed> {
    let mut p = [0.0; 3];
    for x in &mut p {
        *x = match words.float() {
            Some(Ok(x)) if x.is_finite() => x,
            Some(Ok(_)) => return Err(not_finite(place, "a facet")),
            found => {
                let word = found.and_then(Result::err).unwrap_or_default();
                let what = format!("{} is not a number", quote(word));
                return Err(Malformed::new(place, what, "a vertex needs three numbers"));
            }
        };
    }
    Ok(Vec3::from(p))
}

/// One solid names the mesh; several are its groups.
fn name_groups(mesh: &mut TriMesh, mut groups: Vec<Group>) {
    let end = mesh.triangles.len() as u32;
    let starts: Vec<u32> = groups.iter().skip(1).map(|g| g.triangles.start).collect();
    for (group, end) in groups.iter_mut().zip(starts.into_iter().chain([end])) {
        group.triangles.end = end;
    }
    groups.retain(|g| !g.triangles.is_empty());
    match groups.as_slice() {
        [one] => mesh.name.clone_from(&one.name),
        [first, _, ..] if first.triangles.start == 0 => mesh.groups = groups,
        _ => {}
    }
}

/// Writes a mesh as binary STL.
///
/// # Errors
///
/// Whatever `out` reports, or [`io::ErrorKind::InvalidInput`] beyond 4294967295 triangles.
pub fn write(mesh: &TriMesh, out: &mut impl Write) -> io::Result<()> {
    let count = u32::try_from(mesh.triangles.len())
        .map_err(|e| io::Error::new(io::ErrorKind::InvalidInput, e))?;
    let mut header = [0; HEADER];
    // Not `solid`, which would look like a text file.
    let title = format!("STL {}", mesh.name.replace(|c: char| !c.is_ascii_graphic(), "_"));
    let length = title.len().min(HEADER - 4);
    header[..length].copy_from_slice(&title.as_bytes()[..length]);
    header[HEADER - 4..].copy_from_slice(&count.to_le_bytes());
    out.write_all(&header)?;
    for t in 0..mesh.triangles.len() {
        let [a, b, c] = mesh.corners_of(t);
        let normal = (b - a).cross(c - a).normalize_or_zero();
        let mut facet = [0; FACET];
        let numbers = [normal, a, b, c].into_iter().flat_map(|p| p.to_array());
        for (slot, number) in facet.chunks_exact_mut(4).zip(numbers) {
            slot.copy_from_slice(&number.to_le_bytes());
        }
        out.write_all(&facet)?;
    }
    Ok(())
}
