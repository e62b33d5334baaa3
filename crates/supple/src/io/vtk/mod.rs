//! VTK legacy files, text and binary, of all versions; read only.
//!
//! # What is read
//!
//! As a mesh ([`read`]): points, polygons and triangle strips of polydata (also the offsets and connectivity of
//! version 5), and the point data: scalars, vectors and field arrays of up to four components become attributes of
//! their name, `NORMALS` the normals, `TEXTURE_COORDINATES` the texture coordinates and `COLOR_SCALARS` the colour.
//! Cell data, lines and vertices are left out with a warning. Other datasets are refused.
//!
//! As a flow ([`read_dataset`]): structured points, rectilinear, structured and unstructured grids and polydata, with
//! scalars, vectors and field arrays of points and cells; `TIME` of the field data is the time.

mod dataset;
mod legacy;

use glam::{Vec2, Vec3};

pub use dataset::{is_mesh, read_dataset};
use legacy::{CellKind, Contents, Kind, LegacyArray, Owner, Role};

use super::polygon::Cutter;
use super::{Malformed, Place, Warning, color, finish};
use crate::Asset;
use crate::mesh::attribute::{COLOR, NORMAL, UV};
use crate::mesh::{TriMesh, Values};

/// Reads polydata as a mesh.
///
/// # Errors
///
/// [`Malformed`] with the line or byte of what makes no sense, or if the file is not polydata.
pub fn read(bytes: &[u8], warnings: &mut Vec<Warning>) -> Result<Asset, Malformed> {
    let contents = legacy::parse(bytes, Some(Kind::PolyData))?;
    let mut maker = Maker::default();
    let narrow = |p: &[f64; 3]| Vec3::new(p[0] as f32, p[1] as f32, p[2] as f32);
    maker.mesh.positions = contents.points.iter().map(narrow).collect();
    maker.cells(&contents);
    for array in contents.arrays {
        maker.array(array);
    }
    maker.into_asset(warnings)
}

#[derive(Default)]
struct Maker {
    mesh: TriMesh,
    cutter: Cutter,
    left_out: Vec<String>,
    short_cells: usize,
}

impl Maker {
    fn cells(&mut self, contents: &Contents) {
        let mut cell = Vec::new();
        for list in &contents.cells {
            for span in list.offsets.windows(2) {
                cell.clear();
                cell.extend(
                    list.corners[span[0] as usize..span[1] as usize].iter().map(|&i| i as u32),
                );
                self.add_cell(list.kind, &cell);
            }
            if matches!(list.kind, CellKind::Vertices | CellKind::Lines) && list.offsets.len() > 1 {
                self.left_out.push("vertices or lines".to_owned());
            }
        }
    }

    fn add_cell(&mut self, kind: CellKind, cell: &[u32]) {
        match kind {
            CellKind::Vertices | CellKind::Lines | CellKind::Typed => {}
            _ if cell.len() < 3 => self.short_cells += 1,
            CellKind::Polygons => {
                let cuts = self.cutter.cut(&self.mesh.positions, cell);
                self.mesh.triangles.extend(cuts.iter().map(|cut| cut.map(|k| cell[k as usize])));
            }
            CellKind::Strips => {
                for (k, w) in cell.windows(3).enumerate() {
                    let (a, b) = if k % 2 == 0 { (w[0], w[1]) } else { (w[1], w[0]) };
                    self.mesh.triangles.push([a, b, w[2]]);
                }
            }
        }
    }

    /// Makes values an attribute if they belong to the points.
    fn array(&mut self, array: LegacyArray) {
        let LegacyArray { role, owner, name, components, values } = array;
        let (name, values) = match role {
            Role::Normals => (NORMAL.to_owned(), Values::from_floats(components, values)),
            Role::Colors => {
                let linear = |row: &[f32]| {
                    let c = |k: usize| f64::from(row[k]);
                    color::from_coded(match components {
                        1 => [c(0), c(0), c(0), 1.0],
                        2 => [c(0), c(0), c(0), c(1)],
                        3 => [c(0), c(1), c(2), 1.0],
                        _ => [c(0), c(1), c(2), c(3)],
                    })
                };
                let colors = values.chunks_exact(components).map(linear).collect();
                (COLOR.to_owned(), Some(Values::Vec4(colors)))
            }
            Role::TextureCoordinates => {
                let pair = |row: &[f32]| Vec2::new(row[0], row.get(1).copied().unwrap_or(0.0));
                let pairs = values.chunks_exact(components).map(pair).collect();
                (UV.to_owned(), Some(Values::Vec2(pairs)))
            }
            Role::Values if (1..=4).contains(&components) => {
                (name, Values::from_floats(components, values))
            }
            Role::Values | Role::Other => (name, None),
        };
        let points = matches!(owner, Owner::Points(_));
        match values.filter(|v| points && v.len() == self.mesh.positions.len()) {
            Some(values) => {
                self.mesh.attributes.set(&name, values);
            }
            None => self.left_out.push(format!("'{name}'")),
        }
    }

    fn into_asset(self, warnings: &mut Vec<Warning>) -> Result<Asset, Malformed> {
        if !self.left_out.is_empty() {
            let what = format!("left out: {}", self.left_out.join(", "));
            warnings.push(Warning::new(Place::File, what));
        }
        let notes = [
            (self.short_cells, "cells with fewer than three corners left out"),
            (self.cutter.fans, "polygons cross themselves, cut as a fan"),
        ];
        for (count, what) in notes.into_iter().filter(|&(count, _)| count > 0) {
            warnings.push(Warning::new(Place::File, format!("{count} {what}")));
        }
        finish(self.mesh, warnings)
    }
}
