//! Gmsh `.msh`: versions 2.2 and 4.1, text and binary, read and written; version 1.0 read.
//!
//! # What is read
//!
//! Nodes, tets (of higher order: their corners), and `$NodeData` of one to four components as attributes of their name
//! (nine components, a tensor, are left out). Hexahedra, prisms and pyramids are left out with a warning, points, lines
//! and surfaces without: they are the boundary. Physical names, entities and parameters are passed over.
//!
//! # Example
//!
//! ```
//! use supple::io::gmsh::{self, Encoding, Version};
//! use supple::mesh::TetMesh;
//! use glam::Vec3;
//!
//! let corners = vec![Vec3::ZERO, Vec3::X, Vec3::Y, Vec3::Z];
//! let mesh = TetMesh::new(corners, vec![[0, 1, 2, 3]]);
//! let mut file = Vec::new();
//! gmsh::write(&mesh, Version::V41, Encoding::Binary, &mut file)?;
//! assert_eq!(gmsh::read(&file, &mut Vec::new())?, mesh);
//! # Ok::<(), Box<dyn std::error::Error>>(())
//! ```

mod source;
mod write;

use std::collections::HashMap;

use glam::DVec3;

use super::tets::finish_tets;
use super::text::quote;
use super::{Malformed, Place, Warning};
use crate::mesh::{TetMesh, Values};
use source::Source;

pub use write::{Encoding, Version, write};

/// Nodes of each type of element, by its number; zero where there is none.
const NODES: [u8; 32] = [
    0, 2, 3, 4, 4, 8, 6, 5, 3, 6, 9, 10, 27, 18, 14, 1, 8, 20, 15, 13, 9, 10, 12, 15, 15, 21, 4, 5,
    6, 20, 35, 56,
];

/// Tets of any order: their first four nodes are the corners.
const TETS: [usize; 5] = [4, 11, 29, 30, 31];

/// Solids that are no tets: hexahedra, prisms, pyramids.
const OTHER_SOLIDS: [usize; 9] = [5, 6, 7, 12, 13, 14, 17, 18, 19];

/// Reads a Gmsh file.
///
/// # Errors
///
/// [`Malformed`] with the line or byte of what makes no sense, or if there is no tet.
pub fn read(bytes: &[u8], warnings: &mut Vec<Warning>) -> Result<TetMesh, Malformed> {
    let mut reader = Reader { source: Source::new(bytes), ..Reader::default() };
    while let Some(word) = reader.source.word() {
        reader.section(word)?;
    }
    reader.finish(warnings)
}

/// Of what a version numbers elements and nodes with.
#[derive(Clone, Copy, Default, PartialEq, Eq)]
enum Layout {
    /// 1.0 and 2.x: one list.
    #[default]
    Flat,
    /// 4.1: blocks of an entity each.
    Blocks,
}

#[derive(Default)]
struct Reader<'a> {
    source: Source<'a>,
    layout: Layout,
    points: Vec<DVec3>,
    /// The node of each number in the file.
    numbers: HashMap<i64, u32>,
    tets: Vec<[u32; 4]>,
    data: Vec<(String, Values)>,
    other_solids: usize,
    of_higher_order: usize,
    left_out: Vec<String>,
}

impl<'a> Reader<'a> {
    fn section(&mut self, word: &'a [u8]) -> Result<(), Malformed> {
        match word {
            b"$MeshFormat" => self.format()?,
            b"$ELM" => self.flat_elements(Self::old_element)?,
            b"$Nodes" if self.layout == Layout::Blocks => self.blocks_of_nodes()?,
            b"$NOD" | b"$Nodes" => self.flat_nodes()?,
            b"$Elements" if self.layout == Layout::Blocks => self.blocks_of_elements()?,
            b"$Elements" if self.source.binary => self.packed_elements()?,
            b"$Elements" => self.flat_elements(Self::element)?,
            b"$NodeData" => self.node_data()?,
            b"$ElementData" | b"$ElementNodeData" => {
                self.left_out.push("values of elements".into());
            }
            [b'$', ..] => {}
            _ => {
                let what = format!("{} is not the start of a section", quote(word));
                return Err(self
                    .source
                    .problem(what, "sections start with $; export the file again"));
            }
        }
        self.source.skip_past_end(word)
    }

    fn format(&mut self) -> Result<(), Malformed> {
        let version = self.source.word().unwrap_or_default();
        self.layout = match version {
            b"2" | b"2.0" | b"2.1" | b"2.2" => Layout::Flat,
            b"4.1" => Layout::Blocks,
            _ => {
                let what = format!("version {} of the format is not read", quote(version));
                let fix = "save it as version 4.1 or 2.2: gmsh FILE -save -format msh41";
                return Err(self.source.problem(what, fix));
            }
        };
        let is_binary = self.source.word() == Some(b"1");
        let size = self.source.word().unwrap_or_default();
        if size != b"8" && !(size == b"4" && self.layout == Layout::Blocks) {
            let what = format!("numbers of {} bytes are not read", quote(size));
            return Err(self.source.problem(what, "save the file with 8"));
        }
        if is_binary {
            self.source.start_binary(if size == b"4" { 4 } else { 8 })?;
        }
        Ok(())
    }

    /// A number of things, each of which takes at least so many bytes as text or binary.
    fn count(&mut self, least: [usize; 2]) -> Result<usize, Malformed> {
        let count = self.source.text_integer()?;
        self.source.begin_data();
        self.source.check_room(count, least)
    }

    fn flat_nodes(&mut self) -> Result<(), Malformed> {
        let count = self.count([8, 28])?;
        self.points.reserve(count);
        for _ in 0..count {
            let number = self.source.int()?;
            self.node(number)?;
        }
        Ok(())
    }

    fn blocks_of_nodes(&mut self) -> Result<(), Malformed> {
        self.source.begin_data();
        let blocks = self.source.size()?;
        let _nodes = self.source.size()?;
        let _range = [self.source.size()?, self.source.size()?];
        let blocks = self.source.check_room(blocks, [8, 16])?;
        for _ in 0..blocks {
            let dimension = self.source.int()?;
            let _entity = self.source.int()?;
            let is_parametric = self.source.int()? != 0;
            let count = self.source.size()?;
            let count = self.source.check_room(count, [8, 28])?;
            let numbers = (0..count).map(|_| self.source.size()).collect::<Result<Vec<_>, _>>()?;
            for number in numbers {
                self.node(number)?;
                for _ in 0..if is_parametric { dimension.clamp(0, 3) } else { 0 } {
                    self.source.double()?;
                }
            }
        }
        Ok(())
    }

    /// The coordinates of the node of a number.
    fn node(&mut self, number: i64) -> Result<(), Malformed> {
        let at = [self.source.double()?, self.source.double()?, self.source.double()?];
        let index = self.points.len() as u32;
        self.points.push(DVec3::from_array(at));
        if self.numbers.insert(number, index).is_some() {
            let what = format!("there are two nodes {number}");
            return Err(self.source.problem(what, "number each node once; export the file again"));
        }
        Ok(())
    }

    fn flat_elements(
        &mut self,
        element: fn(&mut Self) -> Result<(), Malformed>,
    ) -> Result<(), Malformed> {
        let count = self.count([8, 12])?;
        (0..count).try_for_each(|_| element(self))
    }

    /// `number type tags… nodes…` of version 2.
    fn element(&mut self) -> Result<(), Malformed> {
        let (_number, kind) = (self.source.int()?, self.source.int()?);
        let tags = self.source.int()?;
        let tags = self.source.check_room(tags, [2, 4])?;
        for _ in 0..tags {
            self.source.int()?;
        }
        self.nodes_of_element(kind, Source::int)
    }

    /// `number type physical elementary count nodes…` of version 1.
    fn old_element(&mut self) -> Result<(), Malformed> {
        let (_number, kind) = (self.source.int()?, self.source.int()?);
        let (_physical, _elementary) = (self.source.int()?, self.source.int()?);
        let count = self.source.int()?;
        let expected = NODES.get(usize::try_from(kind).unwrap_or(0)).copied().unwrap_or(0);
        if count != i64::from(expected) {
            let what = format!("an element of type {kind} with {count} nodes");
            return Err(self.source.problem(what, "the file is damaged; export it again"));
        }
        self.nodes_of_element(kind, Source::int)
    }

    /// Version 2 in binary: runs of elements of one type.
    fn packed_elements(&mut self) -> Result<(), Malformed> {
        let count = self.count([8, 12])?;
        let mut done = 0;
        while done < count {
            let kind = self.source.int()?;
            let of_kind = self.source.int()?;
            let of_kind = self.source.check_room(of_kind, [8, 8])?;
            let tags = self.source.int()?;
            let tags = self.source.check_room(tags, [2, 4])?;
            if of_kind == 0 {
                let fix = "the file is damaged; export it again";
                return Err(self.source.problem("a run of no elements", fix));
            }
            for _ in 0..of_kind {
                for _ in 0..=tags {
                    self.source.int()?;
                }
                self.nodes_of_element(kind, Source::int)?;
            }
            done += of_kind;
        }
        Ok(())
    }

    fn blocks_of_elements(&mut self) -> Result<(), Malformed> {
        self.source.begin_data();
        let blocks = self.source.size()?;
        let _elements = self.source.size()?;
        let _range = [self.source.size()?, self.source.size()?];
        let blocks = self.source.check_room(blocks, [8, 16])?;
        for _ in 0..blocks {
            let (_dimension, _entity) = (self.source.int()?, self.source.int()?);
            let kind = self.source.int()?;
            let count = self.source.size()?;
            let count = self.source.check_room(count, [4, 8])?;
            for _ in 0..count {
                let _number = self.source.size()?;
                self.nodes_of_element(kind, Source::size)?;
            }
        }
        Ok(())
    }

    /// The nodes of an element, which is kept if it is a tet.
    fn nodes_of_element(
        &mut self,
        kind: i64,
        number: fn(&mut Source<'a>) -> Result<i64, Malformed>,
    ) -> Result<(), Malformed> {
        let kind = usize::try_from(kind).unwrap_or(0);
        let count = NODES.get(kind).copied().filter(|&n| n > 0).ok_or_else(|| {
            let what = format!("elements of type {kind} are not known");
            self.source.problem(what, "save the mesh with tets only")
        })?;
        let is_tet = TETS.contains(&kind);
        let mut nodes = Vec::with_capacity(usize::from(count));
        for _ in 0..count {
            nodes.push(number(&mut self.source)?);
        }
        if let [a, b, c, d, ..] = nodes[..]
            && is_tet
        {
            self.tets.push([self.named(a)?, self.named(b)?, self.named(c)?, self.named(d)?]);
            self.of_higher_order += usize::from(kind != 4);
        }
        self.other_solids += usize::from(OTHER_SOLIDS.contains(&kind));
        Ok(())
    }

    fn named(&self, number: i64) -> Result<u32, Malformed> {
        self.numbers.get(&number).copied().ok_or_else(|| {
            let what = format!("node {number} is named but not there");
            self.source
                .problem(what, "nodes must come before what names them; export the file again")
        })
    }

    fn node_data(&mut self) -> Result<(), Malformed> {
        let strings = self.source.text_integer()?;
        self.source.begin_line();
        let mut name = String::new();
        for k in 0..self.source.check_room(strings, [1, 1])? {
            let line = self.source.line();
            if k == 0 {
                name = String::from_utf8_lossy(line.trim_ascii()).trim_matches('"').to_owned();
            }
        }
        let reals = self.source.text_integer()?;
        for _ in 0..self.source.check_room(reals, [2, 2])? {
            self.source.word();
        }
        let integers = self.source.text_integer()?;
        let mut sizes = [0_i64; 3];
        for k in 0..self.source.check_room(integers, [2, 2])? {
            let value = self.source.text_integer()?;
            if let Some(size) = sizes.get_mut(k) {
                *size = value;
            }
        }
        self.source.begin_data();
        let components = self.source.check_room(sizes[1], [1, 1])?;
        let count = self.source.check_room(sizes[2], [4, 12])?;
        if !matches!(components, 1..=4 | 9) {
            let what = format!("'{name}' has {components} components");
            return Err(self.source.problem(what, "there are 1, 3 or 9; export the file again"));
        }
        // Zeros for the others; not for more nodes than the file has numbers of.
        if count < self.points.len().div_ceil(2) {
            self.left_out.push(format!("'{name}', which has values at {count} nodes only"));
            return Ok(());
        }
        self.values(&name, components, count)
    }

    fn values(&mut self, name: &str, width: usize, count: usize) -> Result<(), Malformed> {
        let mut floats = vec![0.0; self.points.len() * width];
        for _ in 0..count {
            let node = self.source.int()?;
            let node = self.named(node)? as usize;
            for k in 0..width {
                floats[node * width + k] = self.source.double()? as f32;
            }
        }
        match Values::from_floats(width, floats) {
            Some(values) => self.data.push((name.to_owned(), values)),
            None => self.left_out.push(format!("'{name}', which has {width} components")),
        }
        Ok(())
    }

    fn finish(self, warnings: &mut Vec<Warning>) -> Result<TetMesh, Malformed> {
        let mut say = |what: String| warnings.push(Warning::new(Place::File, what));
        if self.other_solids > 0 {
            say(format!(
                "{} hexahedra, prisms or pyramids left out: only tets are read",
                self.other_solids
            ));
        }
        if self.of_higher_order > 0 {
            say(format!("{} curved tets became straight", self.of_higher_order));
        }
        if !self.left_out.is_empty() {
            say(format!("left out: {}", self.left_out.join(", ")));
        }
        let positions = self.points.iter().map(|p| p.as_vec3()).collect();
        let mut mesh = TetMesh::new(positions, self.tets);
        for (name, values) in self.data {
            if values.len() == mesh.positions.len() {
                mesh.attributes.set(name, values);
            }
        }
        finish_tets(mesh, warnings)
    }
}
