//! PLY, the polygon file format: text and both binary orders.
//!
//! # What is read
//!
//! The element `vertex` with properties of any type, `face` with polygons of any size, and
//! `tristrips`; any other element is skipped by its declared size. Of the vertex properties
//! `x y z` are the position, `nx ny nz` the normal, `s t`, `u v` or `texture_u texture_v` the
//! texture coordinates, `red green blue alpha` the colour; `name_x name_y …` are one attribute
//! `name`, and every other property is a scalar attribute of its name. A face list `texcoord` (or
//! `corner_name`) is an attribute of the corners. A file without faces is a point cloud.
//!
//! # What is written
//!
//! Binary, little endian, in the same names, so that a file written and read again is the same
//! mesh. Colours are bytes where that loses nothing. Groups, skins and morph targets have no place
//! in the format.

mod body;
mod header;
mod vertices;
mod write;

use super::polygon::Cutter;
use super::{Malformed, Place, Warning, finish};
use crate::Asset;
use crate::mesh::{TriMesh, Values};
use body::{Ascii, Binary, Source};
use header::{Element, Encoding, Header};
use vertices::Vertices;
pub use write::{write, write_cloud};

/// Reads a PLY file.
///
/// # Errors
///
/// [`Malformed`] with the line or byte of what makes no sense.
pub fn read(bytes: &[u8], warnings: &mut Vec<Warning>) -> Result<Asset, Malformed> {
    let header = header::read(bytes)?;
    let mut reader = Reader::default();
    if header.encoding == Encoding::Ascii {
        let mut source = Ascii::new(&bytes[header.body..], header.line);
        reader.elements(&header, &mut source, warnings)?;
    } else {
        let mut source = Binary::new(bytes, header.body, header.encoding == Encoding::Big);
        reader.elements(&header, &mut source, warnings)?;
    }
    reader.into_asset(warnings)
}

#[derive(Default)]
struct Reader {
    vertices: Option<Vertices>,
    triangles: Vec<[u32; 3]>,
    wedges: Vec<Wedge>,
    cutter: Cutter,
    short_faces: usize,
}

/// What the corners of faces have, a row a corner of the file.
struct Wedge {
    name: String,
    /// Numbers a corner; 0 until the first list that is not empty.
    width: usize,
    values: Vec<f32>,
    triangles: Vec<[u32; 3]>,
    /// The list of the face being read.
    list: Vec<f32>,
}

impl Wedge {
    /// Takes over the list of a face, which `cuts` turn into triangles.
    fn add_face(&mut self, corners: usize, cuts: &[[u32; 3]]) {
        let width = self.list.len() / corners;
        if self.width == 0 && (1..=4).contains(&width) && self.list.len() == width * corners {
            self.width = width;
            // Corners before this one have the value 0.
            self.values.resize(width, 0.0);
        }
        if self.width == 0 {
            self.triangles.extend(cuts.iter().map(|_| [0; 3]));
            return;
        }
        let base = (self.values.len() / self.width) as u32;
        self.list.resize(corners * self.width, 0.0);
        self.values.extend_from_slice(&self.list);
        self.triangles.extend(cuts.iter().map(|cut| cut.map(|k| base + k)));
    }

    /// The attribute, each distinct value kept once in the order of its first corner.
    fn into_attribute(mut self) -> Option<crate::mesh::CornerAttribute> {
        if !(1..=4).contains(&self.width) {
            return None;
        }
        let mut seen = std::collections::HashMap::new();
        let mut kept: Vec<f32> = Vec::new();
        for index in self.triangles.iter_mut().flatten() {
            let at = *index as usize * self.width;
            let row = &self.values[at..at + self.width];
            let mut key = [0; 4];
            for (bits, value) in key.iter_mut().zip(row) {
                *bits = value.to_bits();
            }
            *index = *seen.entry(key).or_insert_with(|| {
                kept.extend_from_slice(row);
                (kept.len() / self.width - 1) as u32
            });
        }
        let values = Values::from_floats(self.width, kept)?;
        Some(crate::mesh::CornerAttribute { name: self.name, values, triangles: self.triangles })
    }
}

impl Reader {
    fn elements<S: Source>(
        &mut self,
        header: &Header,
        source: &mut S,
        warnings: &mut Vec<Warning>,
    ) -> Result<(), Malformed> {
        for element in &header.elements {
            match element.name.as_str() {
                "vertex" | "vertices" if self.vertices.is_none() => {
                    self.vertices = Some(Vertices::read(element, source, warnings)?);
                }
                "face" | "faces" if has_indices(element) => {
                    self.faces(element, source, warnings)?;
                }
                "tristrips" if has_indices(element) => self.strips(element, source)?,
                _ => {
                    skip_rows(element, source)?;
                    if element.count > 0 {
                        let what = format!("the element '{}' is left out", element.name);
                        warnings.push(Warning::new(Place::File, what));
                    }
                }
            }
        }
        Ok(())
    }

    fn faces<S: Source>(
        &mut self,
        element: &Element,
        source: &mut S,
        warnings: &mut Vec<Warning>,
    ) -> Result<(), Malformed> {
        let uses = face_uses(element, &mut self.wedges, warnings);
        let mut polygon = Vec::new();
        self.triangles.reserve(element.count as usize);
        let mut row = 0;
        while row < element.count {
            if self.wedges.is_empty()
                && let Some(indices) = uses.iter().position(|&u| u == Use::Indices)
            {
                let left = (element.count - row) as usize;
                row += source.triangles(element, indices, left, &mut self.triangles) as u64;
            }
            if row == element.count {
                break;
            }
            row += 1;
            for (property, target) in element.properties.iter().zip(&uses) {
                match *target {
                    Use::Skip => source.skip(property)?,
                    Use::Indices => source.indices(property, &mut polygon)?,
                    Use::Wedge(k) => source.floats(property, &mut self.wedges[k].list)?,
                }
            }
            self.add_polygon(&polygon);
        }
        Ok(())
    }

    fn add_polygon(&mut self, polygon: &[u32]) {
        if polygon.len() < 3 {
            self.short_faces += 1;
            return;
        }
        let positions = self.vertices.as_ref().map_or(&[][..], |v| &v.positions);
        let cuts = self.cutter.cut(positions, polygon);
        self.triangles.extend(cuts.iter().map(|cut| cut.map(|k| polygon[k as usize])));
        for wedge in &mut self.wedges {
            wedge.add_face(polygon.len(), cuts);
        }
    }

    /// Triangle strips: every third index closes a triangle, a negative one starts anew.
    fn strips<S: Source>(&mut self, element: &Element, source: &mut S) -> Result<(), Malformed> {
        let mut strip = Vec::new();
        for _ in 0..element.count {
            for property in &element.properties {
                if is_index_list(property) {
                    source.numbers(property, &mut strip)?;
                    self.add_strip(&strip, source.place())?;
                } else {
                    source.skip(property)?;
                }
            }
        }
        Ok(())
    }

    fn add_strip(&mut self, strip: &[f64], place: Place) -> Result<(), Malformed> {
        for run in strip.split(|&i| i < 0.0) {
            for (k, corner) in run.windows(3).enumerate() {
                let mut triangle = [0; 3];
                for (index, &number) in triangle.iter_mut().zip(corner) {
                    *index = body::index(number, || place.clone())?;
                }
                if k % 2 == 1 {
                    triangle.swap(0, 1);
                }
                self.triangles.push(triangle);
            }
        }
        Ok(())
    }

    fn into_asset(self, warnings: &mut Vec<Warning>) -> Result<Asset, Malformed> {
        if self.short_faces > 0 {
            let what = format!("{} faces with fewer than three corners left out", self.short_faces);
            warnings.push(Warning::new(Place::File, what));
        }
        if self.cutter.fans > 0 {
            let what = format!("{} faces cross themselves, cut as a fan", self.cutter.fans);
            warnings.push(Warning::new(Place::File, what));
        }
        let vertices = self.vertices.unwrap_or_default();
        let mut mesh = TriMesh::new(vertices.positions, self.triangles);
        mesh.attributes = vertices.attributes;
        mesh.corners = self.wedges.into_iter().filter_map(Wedge::into_attribute).collect();
        // Corners of strips have no wedges; a file that has both keeps its surface.
        mesh.corners.retain(|c| c.triangles.len() == mesh.triangles.len());
        finish(mesh, warnings)
    }
}

/// What a property of a face is for.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Use {
    Skip,
    Indices,
    Wedge(usize),
}

fn face_uses(element: &Element, wedges: &mut Vec<Wedge>, warnings: &mut Vec<Warning>) -> Vec<Use> {
    let mut left_out = Vec::new();
    let mut uses = Vec::new();
    for property in &element.properties {
        let wedge = match property.name.strip_prefix("corner_") {
            _ if property.list.is_none() || !property.kind.is_float() => None,
            Some(name) => Some((name, 0)),
            None if property.name == "texcoord" => Some((crate::mesh::attribute::UV, 2)),
            None => None,
        };
        uses.push(if is_index_list(property) && !uses.contains(&Use::Indices) {
            Use::Indices
        } else if let Some((name, width)) = wedge {
            let (name, none) = (name.to_owned(), Vec::new);
            wedges.push(Wedge { name, width, values: vec![], triangles: vec![], list: none() });
            Use::Wedge(wedges.len() - 1)
        } else {
            left_out.push(property.name.as_str());
            Use::Skip
        });
    }
    if !left_out.is_empty() && element.count > 0 {
        let what = format!("the face properties {} are left out", left_out.join(", "));
        warnings.push(Warning::new(Place::File, what));
    }
    uses
}

fn is_index_list(property: &header::Property) -> bool {
    let named = matches!(property.name.as_str(), "vertex_indices" | "vertex_index");
    named && property.list.is_some()
}

fn has_indices(element: &Element) -> bool {
    element.properties.iter().any(is_index_list)
}

fn skip_rows<S: Source>(element: &Element, source: &mut S) -> Result<(), Malformed> {
    if element.properties.is_empty() {
        return Ok(());
    }
    for _ in 0..element.count {
        for property in &element.properties {
            source.skip(property)?;
        }
    }
    Ok(())
}
