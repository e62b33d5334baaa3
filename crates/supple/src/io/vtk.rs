//! VTK legacy polydata, text and binary; read only.
//!
//! # What is read
//!
//! Points, polygons and triangle strips (also the offsets and connectivity of version 5), and the
//! point data: scalars, vectors and field arrays of up to four components become attributes of
//! their name, `NORMALS` the normals, `TEXTURE_COORDINATES` the texture coordinates and
//! `COLOR_SCALARS` the colour. Cell data, lines and vertices are left out with a warning. Other
//! datasets are refused.

use glam::{Vec2, Vec3};

use super::polygon::Cutter;
use super::text::{Lines, Tokens, parse_integer, quote};
use super::{Malformed, Place, Warning, color, finish};
use crate::Asset;
use crate::mesh::attribute::{COLOR, NORMAL, UV};
use crate::mesh::{TriMesh, Values};

/// Reads a VTK legacy file.
///
/// # Errors
///
/// [`Malformed`] with the line or byte of what makes no sense, or if the file is not polydata.
pub fn read(bytes: &[u8], warnings: &mut Vec<Warning>) -> Result<Asset, Malformed> {
    let mut lines = Lines::new(bytes);
    let first = lines.next_line().unwrap_or_default();
    if !first.to_ascii_lowercase().starts_with(b"# vtk datafile") {
        let fix = "a legacy file starts with '# vtk DataFile Version'; XML files are not read";
        return Err(Malformed::new(Place::Line(1), "this is not a legacy VTK file", fix));
    }
    let _title = lines.next_line();
    let encoding = lines.next_line().unwrap_or_default().trim_ascii().to_ascii_uppercase();
    let binary = match encoding.as_slice() {
        b"ASCII" => false,
        b"BINARY" => true,
        other => {
            let what = format!("{} is neither ASCII nor BINARY", quote(other));
            return Err(Malformed::new(Place::Line(3), what, "export the file again"));
        }
    };
    let tokens = Tokens::new(lines.rest(), lines.number() + 1);
    let mut reader = Reader { tokens, length: bytes.len(), binary, ..Reader::default() };
    reader.dataset()?;
    while let Some(word) = reader.tokens.word() {
        reader.section(word)?;
    }
    reader.into_asset(warnings)
}

/// The type of a number.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Kind {
    I8,
    U8,
    I16,
    U16,
    I32,
    U32,
    I64,
    U64,
    F32,
    F64,
}

impl Kind {
    fn from_word(word: &[u8]) -> Option<Self> {
        Some(match word.to_ascii_lowercase().as_slice() {
            b"char" | b"vtktypeint8" | b"signed_char" => Self::I8,
            b"unsigned_char" | b"vtktypeuint8" => Self::U8,
            b"short" | b"vtktypeint16" => Self::I16,
            b"unsigned_short" | b"vtktypeuint16" => Self::U16,
            // Files hold vtkIdType in 32 bits, whatever the program that wrote them used.
            b"int" | b"vtktypeint32" | b"vtkidtype" => Self::I32,
            b"unsigned_int" | b"vtktypeuint32" => Self::U32,
            b"long" | b"vtktypeint64" | b"long_long" => Self::I64,
            b"unsigned_long" | b"vtktypeuint64" | b"unsigned_long_long" => Self::U64,
            b"float" => Self::F32,
            b"double" => Self::F64,
            _ => return None,
        })
    }

    fn size(self) -> usize {
        match self {
            Self::I8 | Self::U8 => 1,
            Self::I16 | Self::U16 => 2,
            Self::I32 | Self::U32 | Self::F32 => 4,
            Self::I64 | Self::U64 | Self::F64 => 8,
        }
    }

    /// The number in big-endian bytes as long as the type.
    fn decode(self, bytes: &[u8]) -> f64 {
        let wide = bytes.iter().fold(0_u64, |n, &b| n << 8 | u64::from(b));
        match self {
            Self::I8 => f64::from(wide as u8 as i8),
            Self::I16 => f64::from(wide as u16 as i16),
            Self::I32 => f64::from(wide as u32 as i32),
            Self::I64 => wide as i64 as f64,
            Self::U8 | Self::U16 | Self::U32 | Self::U64 => wide as f64,
            Self::F32 => f64::from(f32::from_bits(wide as u32)),
            Self::F64 => f64::from_bits(wide),
        }
    }
}

/// What the data sections that follow belong to.
#[derive(Clone, Copy, Default, PartialEq, Eq)]
enum Owner {
    #[default]
    File,
    Cells(usize),
    Points(usize),
}

#[derive(Default)]
struct Reader<'a> {
    tokens: Tokens<'a>,
    length: usize,
    binary: bool,
    mesh: TriMesh,
    cutter: Cutter,
    owner: Owner,
    left_out: Vec<String>,
    short_cells: usize,
}

impl Reader<'_> {
    fn place(&self) -> Place {
        if self.binary {
            return Place::Byte((self.length - self.tokens.bytes_left()) as u64);
        }
        self.tokens.place()
    }

    fn problem(&self, what: impl Into<String>, fix: &str) -> Malformed {
        Malformed::new(self.place(), what, fix)
    }

    fn dataset(&mut self) -> Result<(), Malformed> {
        let keyword = self.tokens.word().unwrap_or_default();
        let kind = self.tokens.word().unwrap_or_default();
        if keyword.eq_ignore_ascii_case(b"DATASET") && kind.eq_ignore_ascii_case(b"POLYDATA") {
            return Ok(());
        }
        let what = format!("the dataset is {}, not POLYDATA", quote(kind));
        Err(self.problem(what, "extract the surface, for example with ParaView, and save polydata"))
    }

    fn section(&mut self, word: &[u8]) -> Result<(), Malformed> {
        match word.to_ascii_uppercase().as_slice() {
            b"POINTS" => self.points(),
            b"POLYGONS" => self.cells(Cells::Polygons),
            b"TRIANGLE_STRIPS" => self.cells(Cells::Strips),
            b"VERTICES" | b"LINES" => self.cells(Cells::Other),
            b"POINT_DATA" => self.count().map(|n| self.owner = Owner::Points(n)),
            b"CELL_DATA" => self.count().map(|n| self.owner = Owner::Cells(n)),
            b"SCALARS" => self.scalars(),
            b"COLOR_SCALARS" => self.colors(),
            b"LOOKUP_TABLE" => self.lookup_table(),
            b"VECTORS" => self.vectors(None),
            b"NORMALS" => self.vectors(Some(NORMAL)),
            b"TENSORS" => self.unread_array(9),
            b"TENSORS6" => self.unread_array(6),
            b"GLOBAL_IDS" | b"PEDIGREE_IDS" | b"EDGE_FLAGS" => self.unread_array(1),
            b"TEXTURE_COORDINATES" => self.texture_coordinates(),
            b"FIELD" => self.field(),
            b"METADATA" => {
                self.skip_metadata();
                Ok(())
            }
            _ => {
                let what = format!("{} is not a section of polydata", quote(word));
                Err(self.problem(what, "the file is damaged; export it again"))
            }
        }
    }

    fn points(&mut self) -> Result<(), Malformed> {
        let count = self.count()?;
        let kind = self.kind()?;
        let flat = self.floats(kind, count, 3)?;
        if let Some(bad) = flat.iter().position(|x| !x.is_finite()) {
            let what = format!("point {} of those before here is not finite", bad / 3);
            return Err(self.problem(what, "give it a place, or remove it with its cells"));
        }
        self.mesh.positions = flat.chunks_exact(3).map(Vec3::from_slice).collect();
        Ok(())
    }

    fn cells(&mut self, cells: Cells) -> Result<(), Malformed> {
        let count = self.count()?;
        let size = self.count()?;
        let mut peek = self.tokens.clone();
        let (offsets, corners) = if peek.word() == Some(b"OFFSETS") {
            self.tokens = peek;
            let kind = self.kind()?;
            let offsets = self.numbers(kind, count)?;
            if self.tokens.word() != Some(b"CONNECTIVITY") {
                return Err(self.problem("CONNECTIVITY is missing", "export the file again"));
            }
            let kind = self.kind()?;
            (offsets, self.numbers(kind, size)?)
        } else {
            let packed = self.numbers(Kind::I32, size)?;
            self.unpack(count, &packed)?
        };
        let mut cell = Vec::new();
        for span in offsets.windows(2) {
            let range = span[0] as usize..span[1] as usize;
            let ordered = span[0] >= 0 && span[0] <= span[1];
            let Some(indices) = corners.get(range).filter(|_| ordered) else {
                return Err(self.problem("cell offsets are out of order", "export the file again"));
            };
            cell.clear();
            for &i in indices {
                cell.push(self.vertex(i)?);
            }
            self.add_cell(cells, &cell);
        }
        if cells == Cells::Other && count > 0 {
            self.left_out.push("vertices or lines".to_owned());
        }
        Ok(())
    }

    /// Offsets and corners of cells that are stored as `n i₁ … iₙ`.
    fn unpack(&self, count: usize, packed: &[i64]) -> Result<(Vec<i64>, Vec<i64>), Malformed> {
        let mut offsets = vec![0];
        let mut corners = Vec::with_capacity(packed.len());
        let mut rest = packed;
        for cell in 0..count {
            let taken = rest.split_first().and_then(|(&n, rest)| {
                let n = usize::try_from(n).ok()?;
                Some((rest.get(..n)?, rest.get(n..)?))
            });
            let Some((indices, after)) = taken else {
                let what = format!("cell {cell} is longer than the list of cells");
                return Err(self.problem(what, "the counts are wrong; export the file again"));
            };
            corners.extend_from_slice(indices);
            offsets.push(corners.len() as i64);
            rest = after;
        }
        Ok((offsets, corners))
    }

    fn vertex(&self, index: i64) -> Result<u32, Malformed> {
        let count = self.mesh.positions.len();
        u32::try_from(index).ok().filter(|&i| (i as usize) < count).ok_or_else(|| {
            let what = format!("a cell names point {index}, but there are {count}");
            self.problem(what, "the file is damaged; export it again")
        })
    }

    fn add_cell(&mut self, cells: Cells, cell: &[u32]) {
        match cells {
            Cells::Other => {}
            _ if cell.len() < 3 => self.short_cells += 1,
            Cells::Polygons => {
                let cuts = self.cutter.cut(&self.mesh.positions, cell);
                self.mesh.triangles.extend(cuts.iter().map(|cut| cut.map(|k| cell[k as usize])));
            }
            Cells::Strips => {
                for (k, w) in cell.windows(3).enumerate() {
                    let (a, b) = if k % 2 == 0 { (w[0], w[1]) } else { (w[1], w[0]) };
                    self.mesh.triangles.push([a, b, w[2]]);
                }
            }
        }
    }

    fn scalars(&mut self) -> Result<(), Malformed> {
        let name = self.name();
        let kind = self.kind()?;
        let mut rest = self.tokens.rest_of_line();
        let components = rest.word().map_or(Some(1), |w| parse_integer(w)?.try_into().ok());
        let components = components.filter(|c| (1..=4).contains(c)).ok_or_else(|| {
            self.problem("scalars have 1 to 4 components", "export the file again")
        })?;
        let mut peek = self.tokens.clone();
        if peek.word() == Some(b"LOOKUP_TABLE") {
            let _ = peek.word();
            self.tokens = peek;
        }
        self.array(&name, kind, components)
    }

    fn vectors(&mut self, known: Option<&str>) -> Result<(), Malformed> {
        let name = self.name();
        let kind = self.kind()?;
        self.array(known.unwrap_or(&name), kind, 3)
    }

    fn unread_array(&mut self, components: usize) -> Result<(), Malformed> {
        let name = self.name();
        let kind = self.kind()?;
        let tuples = self.tuples();
        self.numbers(kind, tuples.saturating_mul(components))?;
        self.left_out.push(format!("'{name}'"));
        Ok(())
    }

    fn texture_coordinates(&mut self) -> Result<(), Malformed> {
        let _name = self.name();
        let dimension = self.count()?;
        let kind = self.kind()?;
        if !(1..=3).contains(&dimension) {
            let what = format!("texture coordinates of {dimension} dimensions");
            return Err(self.problem(what, "there are 1 to 3; export the file again"));
        }
        let flat = self.floats(kind, self.tuples(), dimension)?;
        let pair = |row: &[f32]| Vec2::new(row[0], row.get(1).copied().unwrap_or(0.0));
        self.keep(UV, Values::Vec2(flat.chunks_exact(dimension).map(pair).collect()));
        Ok(())
    }

    /// Bytes in binary files, fractions of one in text.
    fn colors(&mut self) -> Result<(), Malformed> {
        let _name = self.name();
        let components = self.count()?;
        if !(1..=4).contains(&components) {
            let what = format!("colours of {components} components");
            return Err(self.problem(what, "there are 1 to 4; export the file again"));
        }
        let (kind, one) = if self.binary { (Kind::U8, 255.0) } else { (Kind::F32, 1.0) };
        let flat = self.floats(kind, self.tuples(), components)?;
        let linear = |row: &[f32]| {
            let c = |k: usize| f64::from(row[k]) / one;
            color::from_coded(match components {
                1 => [c(0), c(0), c(0), 1.0],
                2 => [c(0), c(0), c(0), c(1)],
                3 => [c(0), c(1), c(2), 1.0],
                _ => [c(0), c(1), c(2), c(3)],
            })
        };
        self.keep(COLOR, Values::Vec4(flat.chunks_exact(components).map(linear).collect()));
        Ok(())
    }

    fn lookup_table(&mut self) -> Result<(), Malformed> {
        let _name = self.name();
        let size = self.count()?;
        let kind = if self.binary { Kind::U8 } else { Kind::F32 };
        self.floats(kind, size, 4)?;
        Ok(())
    }

    fn field(&mut self) -> Result<(), Malformed> {
        let _name = self.name();
        for _ in 0..self.count()? {
            let name = self.name();
            let components = self.count()?;
            let tuples = self.count()?;
            let kind = self.kind()?;
            let points = self.owner == Owner::Points(tuples);
            if points && (1..=4).contains(&components) {
                self.array(&name, kind, components)?;
            } else {
                self.numbers(kind, tuples.saturating_mul(components))?;
                self.left_out.push(format!("'{name}'"));
            }
            let mut peek = self.tokens.clone();
            if peek.word() == Some(b"METADATA") {
                self.tokens = peek;
                self.skip_metadata();
            }
        }
        Ok(())
    }

    /// Information about an array, up to an empty line.
    fn skip_metadata(&mut self) {
        let _ = self.tokens.rest_of_line();
        while self.tokens.next_line().is_some_and(|mut line| !line.is_done()) {}
    }

    fn array(&mut self, name: &str, kind: Kind, components: usize) -> Result<(), Malformed> {
        let flat = self.floats(kind, self.tuples(), components)?;
        if let Some(values) = Values::from_floats(components, flat) {
            self.keep(name, values);
        }
        Ok(())
    }

    /// Makes values an attribute if they belong to the points.
    fn keep(&mut self, name: &str, values: Values) {
        let points = matches!(self.owner, Owner::Points(_));
        if points && values.len() == self.mesh.positions.len() {
            self.mesh.attributes.set(name, values);
        } else {
            self.left_out.push(format!("'{name}'"));
        }
    }

    fn tuples(&self) -> usize {
        match self.owner {
            Owner::File => 0,
            Owner::Cells(n) | Owner::Points(n) => n,
        }
    }

    fn count(&mut self) -> Result<usize, Malformed> {
        let word = self.tokens.word().unwrap_or_default();
        let count = parse_integer(word).and_then(|n| usize::try_from(n).ok());
        let what = || format!("{} is not a count", quote(word));
        count.ok_or_else(|| self.problem(what(), "the file is damaged; export it again"))
    }

    fn kind(&mut self) -> Result<Kind, Malformed> {
        let word = self.tokens.word().unwrap_or_default();
        let what = || format!("{} is not a type that is read", quote(word));
        Kind::from_word(word).ok_or_else(|| self.problem(what(), "use float, double or int"))
    }

    /// A name, in which blanks and the like are coded as `%20`.
    fn name(&mut self) -> String {
        let word = self.tokens.word().unwrap_or_default();
        let mut decoded = Vec::with_capacity(word.len());
        let mut rest = word;
        while let Some((&byte, after)) = rest.split_first() {
            let code = after.get(..2).filter(|_| byte == b'%');
            let hex = code.and_then(|c| std::str::from_utf8(c).ok());
            match hex.and_then(|h| u8::from_str_radix(h, 16).ok()) {
                Some(coded) => {
                    decoded.push(coded);
                    rest = &after[2..];
                }
                None => {
                    decoded.push(byte);
                    rest = after;
                }
            }
        }
        String::from_utf8_lossy(&decoded).into_owned()
    }

    /// `tuples × components` numbers.
    fn floats(
        &mut self,
        kind: Kind,
        tuples: usize,
        components: usize,
    ) -> Result<Vec<f32>, Malformed> {
        self.data(kind, tuples.saturating_mul(components), |x| x as f32)
    }

    fn numbers(&mut self, kind: Kind, count: usize) -> Result<Vec<i64>, Malformed> {
        self.data(kind, count, |x| x as i64)
    }

    fn data<T>(
        &mut self,
        kind: Kind,
        count: usize,
        convert: impl Fn(f64) -> T,
    ) -> Result<Vec<T>, Malformed> {
        if self.binary {
            let bytes = count.checked_mul(kind.size()).and_then(|n| self.tokens.take_bytes(n));
            let bytes = bytes.ok_or_else(|| self.too_many(count))?;
            return Ok(bytes.chunks_exact(kind.size()).map(|b| convert(kind.decode(b))).collect());
        }
        if count > self.tokens.bytes_left().div_ceil(2) {
            return Err(self.too_many(count));
        }
        let mut values = Vec::with_capacity(count);
        for _ in 0..count {
            let narrow = kind == Kind::F32;
            let x = if narrow { f64::from(self.tokens.float()?) } else { self.tokens.double()? };
            values.push(convert(x));
        }
        Ok(values)
    }

    fn too_many(&self, count: usize) -> Malformed {
        let what =
            format!("{count} numbers cannot be in the {} bytes left", self.tokens.bytes_left());
        self.problem(what, "the file was cut off, or a count in it is wrong")
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

/// What cells are.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Cells {
    Polygons,
    Strips,
    Other,
}
