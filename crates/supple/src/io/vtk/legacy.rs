//! The sections of a VTK legacy file, text and binary, of all versions.

use crate::io::number::Number;
use crate::io::text::{Lines, Tokens, parse_integer, quote};
use crate::io::{Malformed, Place};

/// What a file says it is.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(super) enum Kind {
    #[default]
    PolyData,
    StructuredPoints,
    StructuredGrid,
    RectilinearGrid,
    UnstructuredGrid,
}

/// What cells are.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum CellKind {
    Vertices,
    Lines,
    Polygons,
    Strips,
    /// Of an unstructured grid, with types of their own.
    Typed,
}

/// Cells of one kind: where each begins in `corners`, and where the last ends.
#[derive(Debug)]
pub(super) struct CellList {
    pub(super) kind: CellKind,
    pub(super) offsets: Vec<i64>,
    pub(super) corners: Vec<i64>,
}

/// What an array was declared as.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Role {
    /// Scalars, vectors, arrays of a field.
    Values,
    Normals,
    TextureCoordinates,
    /// Bytes in binary files, fractions of one in text: here always fractions.
    Colors,
    /// Tensors, ids, flags: nobody reads them.
    Other,
}

/// What the data sections that follow belong to.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(super) enum Owner {
    #[default]
    File,
    Cells(usize),
    Points(usize),
}

/// An array.
#[derive(Debug)]
pub(super) struct LegacyArray {
    pub(super) role: Role,
    pub(super) owner: Owner,
    pub(super) name: String,
    pub(super) components: usize,
    pub(super) values: Vec<f32>,
}

/// All that is in a file.
#[derive(Debug, Default)]
pub(super) struct Contents {
    pub(super) kind: Kind,
    pub(super) dims: [usize; 3],
    pub(super) origin: [f64; 3],
    pub(super) spacing: [f64; 3],
    pub(super) axes: [Vec<f64>; 3],
    pub(super) points: Vec<[f64; 3]>,
    pub(super) cells: Vec<CellList>,
    pub(super) types: Vec<i64>,
    pub(super) arrays: Vec<LegacyArray>,
    pub(super) time: Option<f64>,
}

/// Reads all sections; `expect` refuses other kinds before anything else is read.
pub(super) fn parse(bytes: &[u8], expect: Option<Kind>) -> Result<Contents, Malformed> {
    let mut lines = Lines::new(bytes);
    let first = lines.next_line().unwrap_or_default();
    if !first.to_ascii_lowercase().starts_with(b"# vtk datafile") {
        let fix =
            "a legacy file starts with '# vtk DataFile Version'; XML files have other endings";
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
    let contents = Contents { spacing: [1.0; 3], ..Contents::default() };
    let mut reader = Reader { tokens, length: bytes.len(), binary, contents, owner: Owner::File };
    reader.dataset(expect)?;
    while let Some(word) = reader.tokens.word() {
        reader.section(word)?;
    }
    Ok(reader.contents)
}

fn number_from_word(word: &[u8]) -> Option<Number> {
    Some(match word.to_ascii_lowercase().as_slice() {
        b"char" | b"vtktypeint8" | b"signed_char" => Number::I8,
        b"unsigned_char" | b"vtktypeuint8" => Number::U8,
        b"short" | b"vtktypeint16" => Number::I16,
        b"unsigned_short" | b"vtktypeuint16" => Number::U16,
        // Files hold vtkIdType in 32 bits, whatever the program that wrote them used.
        b"int" | b"vtktypeint32" | b"vtkidtype" => Number::I32,
        b"unsigned_int" | b"vtktypeuint32" => Number::U32,
        b"long" | b"vtktypeint64" | b"long_long" => Number::I64,
        b"unsigned_long" | b"vtktypeuint64" | b"unsigned_long_long" => Number::U64,
        b"float" => Number::F32,
        b"double" => Number::F64,
        _ => return None,
    })
}

struct Reader<'a> {
    tokens: Tokens<'a>,
    length: usize,
    binary: bool,
    owner: Owner,
    contents: Contents,
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

    fn dataset(&mut self, expect: Option<Kind>) -> Result<(), Malformed> {
        let keyword = self.tokens.word().unwrap_or_default();
        if expect.is_none() && keyword.eq_ignore_ascii_case(b"FIELD") {
            let fix = "it holds arrays and no grid; write the grid they belong to";
            return Err(self.problem("the file has a field without a grid", fix));
        }
        let word = self.tokens.word().unwrap_or_default();
        let known = match word.to_ascii_uppercase().as_slice() {
            _ if !keyword.eq_ignore_ascii_case(b"DATASET") => None,
            b"POLYDATA" => Some(Kind::PolyData),
            b"STRUCTURED_POINTS" => Some(Kind::StructuredPoints),
            b"STRUCTURED_GRID" => Some(Kind::StructuredGrid),
            b"RECTILINEAR_GRID" => Some(Kind::RectilinearGrid),
            b"UNSTRUCTURED_GRID" => Some(Kind::UnstructuredGrid),
            _ => None,
        };
        match (known, expect) {
            (Some(kind), None) => self.contents.kind = kind,
            (Some(kind), Some(expected)) if kind == expected => self.contents.kind = kind,
            (_, Some(_)) => {
                let what = format!("the dataset is {}, not POLYDATA", quote(word));
                let fix = "extract the surface, for example with ParaView, and save polydata; \
                           flows are read by 'supple info' and 'supple smoke'";
                return Err(self.problem(what, fix));
            }
            (None, None) => {
                let what = format!("the dataset is {}, which is no grid", quote(word));
                return Err(self.problem(what, "save a grid with a vector on it"));
            }
        }
        Ok(())
    }

    fn section(&mut self, word: &[u8]) -> Result<(), Malformed> {
        match word.to_ascii_uppercase().as_slice() {
            b"POINTS" => self.points(),
            b"POLYGONS" => self.cells(CellKind::Polygons),
            b"TRIANGLE_STRIPS" => self.cells(CellKind::Strips),
            b"VERTICES" => self.cells(CellKind::Vertices),
            b"LINES" => self.cells(CellKind::Lines),
            b"CELLS" if self.contents.kind == Kind::UnstructuredGrid => self.cells(CellKind::Typed),
            b"CELL_TYPES" if self.contents.kind == Kind::UnstructuredGrid => {
                let count = self.count()?;
                self.contents.types = self.numbers(Number::I32, count)?;
                Ok(())
            }
            b"DIMENSIONS" => {
                self.contents.dims = [self.count()?, self.count()?, self.count()?];
                Ok(())
            }
            b"ORIGIN" => self.triple().map(|t| self.contents.origin = t),
            b"SPACING" | b"ASPECT_RATIO" => self.triple().map(|t| self.contents.spacing = t),
            b"X_COORDINATES" => self.axis(0),
            b"Y_COORDINATES" => self.axis(1),
            b"Z_COORDINATES" => self.axis(2),
            b"POINT_DATA" => self.count().map(|n| self.owner = Owner::Points(n)),
            b"CELL_DATA" => self.count().map(|n| self.owner = Owner::Cells(n)),
            b"SCALARS" => self.scalars(),
            b"COLOR_SCALARS" => self.colors(),
            b"LOOKUP_TABLE" => self.lookup_table(),
            b"VECTORS" => self.named_array(Role::Values, 3),
            b"NORMALS" => self.named_array(Role::Normals, 3),
            b"TENSORS" => self.named_array(Role::Other, 9),
            b"TENSORS6" => self.named_array(Role::Other, 6),
            b"GLOBAL_IDS" | b"PEDIGREE_IDS" | b"EDGE_FLAGS" => self.named_array(Role::Other, 1),
            b"TEXTURE_COORDINATES" => self.texture_coordinates(),
            b"FIELD" => self.field(),
            b"METADATA" => {
                self.skip_metadata();
                Ok(())
            }
            _ => {
                let what = format!("{} is not a section of this dataset", quote(word));
                Err(self.problem(what, "the file is damaged; export it again"))
            }
        }
    }

    fn triple(&mut self) -> Result<[f64; 3], Malformed> {
        Ok([self.tokens.double()?, self.tokens.double()?, self.tokens.double()?])
    }

    fn axis(&mut self, axis: usize) -> Result<(), Malformed> {
        let count = self.count()?;
        let number = self.number()?;
        self.contents.axes[axis] = self.data(number, count, |x| x)?;
        Ok(())
    }

    fn points(&mut self) -> Result<(), Malformed> {
        let count = self.count()?;
        let number = self.number()?;
        let flat = self.data(number, count.saturating_mul(3), |x| x)?;
        if let Some(bad) = flat.iter().position(|x| !x.is_finite()) {
            let what = format!("point {} of those before here is not finite", bad / 3);
            return Err(self.problem(what, "give it a place, or remove it with its cells"));
        }
        self.contents.points = flat.as_chunks::<3>().0.to_vec();
        Ok(())
    }

    fn cells(&mut self, kind: CellKind) -> Result<(), Malformed> {
        let count = self.count()?;
        let size = self.count()?;
        let mut peek = self.tokens.clone();
        let (offsets, corners) = if peek.word() == Some(b"OFFSETS") {
            self.tokens = peek;
            let number = self.number()?;
            let offsets = self.numbers(number, count)?;
            if self.tokens.word() != Some(b"CONNECTIVITY") {
                return Err(self.problem("CONNECTIVITY is missing", "export the file again"));
            }
            let number = self.number()?;
            (offsets, self.numbers(number, size)?)
        } else {
            let packed = self.numbers(Number::I32, size)?;
            self.unpack(count, &packed)?
        };
        let ordered = offsets.windows(2).all(|w| w[0] <= w[1])
            && offsets.first().is_none_or(|&o| o >= 0)
            && offsets.last().is_none_or(|&o| o <= corners.len() as i64);
        if !ordered {
            return Err(self.problem("cell offsets are out of order", "export the file again"));
        }
        // Polyhedra mix counts with points; typed cells are checked once their types are known.
        if kind != CellKind::Typed {
            let points = self.contents.points.len();
            if let Some(bad) = corners.iter().find(|&&i| i < 0 || i >= points as i64) {
                let what = format!("a cell names point {bad}, but there are {points}");
                return Err(self.problem(what, "the file is damaged; export it again"));
            }
        }
        self.contents.cells.push(CellList { kind, offsets, corners });
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

    fn scalars(&mut self) -> Result<(), Malformed> {
        let name = self.name();
        let number = self.number()?;
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
        self.array(Role::Values, name, number, components)
    }

    fn named_array(&mut self, role: Role, components: usize) -> Result<(), Malformed> {
        let name = self.name();
        let number = self.number()?;
        self.array(role, name, number, components)
    }

    fn texture_coordinates(&mut self) -> Result<(), Malformed> {
        let name = self.name();
        let dimension = self.count()?;
        let number = self.number()?;
        if !(1..=3).contains(&dimension) {
            let what = format!("texture coordinates of {dimension} dimensions");
            return Err(self.problem(what, "there are 1 to 3; export the file again"));
        }
        self.array(Role::TextureCoordinates, name, number, dimension)
    }

    fn colors(&mut self) -> Result<(), Malformed> {
        let name = self.name();
        let components = self.count()?;
        if !(1..=4).contains(&components) {
            let what = format!("colours of {components} components");
            return Err(self.problem(what, "there are 1 to 4; export the file again"));
        }
        let number = if self.binary { Number::U8 } else { Number::F32 };
        self.array(Role::Colors, name, number, components)?;
        if self.binary
            && let Some(array) = self.contents.arrays.last_mut()
        {
            array.values.iter_mut().for_each(|x| *x = (f64::from(*x) / 255.0) as f32);
        }
        Ok(())
    }

    fn lookup_table(&mut self) -> Result<(), Malformed> {
        let _name = self.name();
        let size = self.count()?;
        let number = if self.binary { Number::U8 } else { Number::F32 };
        self.data(number, size.saturating_mul(4), |_| ())?;
        Ok(())
    }

    fn field(&mut self) -> Result<(), Malformed> {
        let _name = self.name();
        for _ in 0..self.count()? {
            let name = self.name();
            let components = self.count()?;
            let tuples = self.count()?;
            let word = self.tokens.word().unwrap_or_default();
            if word.eq_ignore_ascii_case(b"string") && !self.binary {
                for _ in 0..tuples.saturating_mul(components).min(self.tokens.bytes_left()) {
                    let _ = self.tokens.word();
                }
                continue;
            }
            let number = self.number_of(word)?;
            let values = self.data(number, tuples.saturating_mul(components), |x| x)?;
            let time = matches!(name.to_ascii_lowercase().as_str(), "time" | "timevalue");
            if time && self.owner == Owner::File {
                self.contents.time = values.first().copied();
            }
            let fits = matches!(self.owner, Owner::Points(n) | Owner::Cells(n) if n == tuples);
            let role = if fits { Role::Values } else { Role::Other };
            let values = values.into_iter().map(|x| x as f32).collect();
            let owner = self.owner;
            self.contents.arrays.push(LegacyArray { role, owner, name, components, values });
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

    fn array(
        &mut self,
        role: Role,
        name: String,
        number: Number,
        components: usize,
    ) -> Result<(), Malformed> {
        let tuples = match self.owner {
            Owner::File => 0,
            Owner::Cells(n) | Owner::Points(n) => n,
        };
        let values = self.data(number, tuples.saturating_mul(components), |x| x as f32)?;
        let owner = self.owner;
        self.contents.arrays.push(LegacyArray { role, owner, name, components, values });
        Ok(())
    }

    fn count(&mut self) -> Result<usize, Malformed> {
        let word = self.tokens.word().unwrap_or_default();
        let count = parse_integer(word).and_then(|n| usize::try_from(n).ok());
        let what = || format!("{} is not a count", quote(word));
        count.ok_or_else(|| self.problem(what(), "the file is damaged; export it again"))
    }

    fn number(&mut self) -> Result<Number, Malformed> {
        let word = self.tokens.word().unwrap_or_default();
        self.number_of(word)
    }

    fn number_of(&self, word: &[u8]) -> Result<Number, Malformed> {
        let what = || format!("{} is not a type that is read", quote(word));
        number_from_word(word).ok_or_else(|| self.problem(what(), "use float, double or int"))
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

    fn numbers(&mut self, number: Number, count: usize) -> Result<Vec<i64>, Malformed> {
        self.data(number, count, |x| x as i64)
    }

    fn data<T>(
        &mut self,
        number: Number,
        count: usize,
        convert: impl Fn(f64) -> T,
    ) -> Result<Vec<T>, Malformed> {
        if self.binary {
            let bytes = count.checked_mul(number.size()).and_then(|n| self.tokens.take_bytes(n));
            let bytes = bytes.ok_or_else(|| self.too_many(count))?;
            return Ok(number.decode(bytes, true, convert));
        }
        if count > self.tokens.bytes_left().div_ceil(2) {
            return Err(self.too_many(count));
        }
        let mut values = Vec::with_capacity(count);
        for _ in 0..count {
            let narrow = number == Number::F32;
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
}
