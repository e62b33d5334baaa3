//! The rows of a PLY file, from text or from bytes.

use std::ops::Range;

use super::super::text::Tokens;
use super::super::{Malformed, Place};
use super::header::{Element, Kind, Property};

/// Where rows come from.
pub(super) trait Source {
    /// The next number.
    fn number(&mut self, kind: Kind) -> Result<f64, Malformed>;

    /// Where the next number is.
    fn place(&self) -> Place;

    /// Most numbers of a kind the rest of the file can hold.
    fn capacity(&self, kind: Kind) -> usize;

    /// Appends the triangles of up to `most` next rows of which only the list `indices` matters
    /// and that can be read at once; how many there were.
    fn triangles(
        &mut self,
        _element: &Element,
        _indices: usize,
        _most: usize,
        _triangles: &mut Vec<[u32; 3]>,
    ) -> usize {
        0
    }

    /// Reads consecutive properties of all rows of an element into `floats`, if they are floats
    /// that can be copied; the rows stay to be read.
    fn copy_floats(
        &self,
        _element: &Element,
        _properties: &[usize],
        _floats: &mut [f32],
    ) -> Option<()> {
        None
    }

    /// Calls `put(k, number)` for one property of the `k`-th of some rows of an element, if the
    /// rows are of one size; the rows stay to be read.
    fn column(
        &self,
        _element: &Element,
        _property: usize,
        _rows: Range<usize>,
        _put: impl FnMut(usize, f64),
    ) -> Option<()> {
        None
    }

    /// Leaves all rows of an element of one size behind.
    fn leave_rows(&mut self, _element: &Element) {}

    /// The place of a row of an element of one size that starts here.
    fn place_of_row(&self, _element: &Element, _row: usize) -> Place {
        self.place()
    }

    /// The length of a list, checked against what is left of the file.
    fn length(&mut self, property: &Property) -> Result<Option<usize>, Malformed> {
        let Some(kind) = property.list else { return Ok(None) };
        let place = self.place();
        let length = self.number(kind)?;
        if length >= 0.0 && length <= self.capacity(property.kind) as f64 && length.fract() == 0.0 {
            return Ok(Some(length as usize));
        }
        Err(Malformed::new(
            place,
            format!("a list '{}' of {length} numbers cannot be in the file", property.name),
            "the file was cut off, or is not of the type its header says",
        ))
    }

    /// Passes over a property.
    fn skip(&mut self, property: &Property) -> Result<(), Malformed> {
        let count = self.length(property)?.unwrap_or(1);
        for _ in 0..count {
            self.number(property.kind)?;
        }
        Ok(())
    }

    /// A list of numbers.
    fn numbers(&mut self, property: &Property, list: &mut Vec<f64>) -> Result<(), Malformed> {
        list.clear();
        for _ in 0..self.length(property)?.unwrap_or(1) {
            list.push(self.number(property.kind)?);
        }
        Ok(())
    }

    /// A list of numbers, narrowed.
    fn floats(&mut self, property: &Property, list: &mut Vec<f32>) -> Result<(), Malformed> {
        list.clear();
        for _ in 0..self.length(property)?.unwrap_or(1) {
            list.push(self.number(property.kind)? as f32);
        }
        Ok(())
    }

    /// A list of vertices.
    fn indices(&mut self, property: &Property, list: &mut Vec<u32>) -> Result<(), Malformed> {
        list.clear();
        for _ in 0..self.length(property)?.unwrap_or(1) {
            let number = self.number(property.kind)?;
            list.push(index(number, || self.place())?);
        }
        Ok(())
    }
}

/// A vertex index from a number.
pub(super) fn index(number: f64, place: impl FnOnce() -> Place) -> Result<u32, Malformed> {
    if number >= 0.0 && number < f64::from(u32::MAX) && number.fract() == 0.0 {
        return Ok(number as u32);
    }
    let fix = "the file is damaged; export it again";
    Err(Malformed::new(place(), format!("a face names vertex {number}"), fix))
}

/// Rows as text.
pub(super) struct Ascii<'a> {
    tokens: Tokens<'a>,
}

impl<'a> Ascii<'a> {
    pub(super) fn new(body: &'a [u8], line: usize) -> Self {
        Self { tokens: Tokens::new(body, line) }
    }
}

impl Source for Ascii<'_> {
    fn number(&mut self, kind: Kind) -> Result<f64, Malformed> {
        if kind == Kind::F32 {
            return self.tokens.float().map(f64::from);
        }
        self.tokens.double()
    }

    fn place(&self) -> Place {
        self.tokens.place()
    }

    fn capacity(&self, _kind: Kind) -> usize {
        self.tokens.bytes_left().div_ceil(2)
    }
}

/// Rows as bytes.
pub(super) struct Binary<'a> {
    bytes: &'a [u8],
    at: usize,
    big: bool,
}

impl<'a> Binary<'a> {
    /// Rows that start at byte `at` of a file.
    pub(super) fn new(bytes: &'a [u8], at: usize, big: bool) -> Self {
        Self { bytes, at, big }
    }

    /// The rows of an element of one size that start here, and that size.
    fn rows(&self, element: &Element) -> Option<(&'a [u8], usize)> {
        let stride = element.stride().filter(|&s| s > 0)?;
        let rows = self.bytes.get(self.at..)?.get(..stride.checked_mul(element.count as usize)?)?;
        Some((rows, stride))
    }
}

/// How a row of an element lies in the file if its list of indices holds three.
#[derive(Clone, Copy)]
struct TriangleRow {
    stride: usize,
    /// Where the length of the list is, and its kind.
    length: (usize, Kind),
}

impl TriangleRow {
    fn of(element: &Element, indices: usize) -> Option<Self> {
        let list = &element.properties[indices];
        let others = || element.properties.iter().enumerate().filter(|&(p, _)| p != indices);
        let has_whole_indices = matches!(list.kind, Kind::I32 | Kind::U32);
        if !has_whole_indices || others().any(|(_, p)| p.list.is_some()) {
            return None;
        }
        let kind = list.list?;
        let size: usize = others().map(|(_, p)| p.kind.size()).sum();
        let length = (element.offset(indices), kind);
        Some(Self { stride: size + kind.size() + 12, length })
    }

    /// The triangle of a row; `None` if its list does not hold three indices.
    #[inline(always)]
    fn triangle(&self, row: &[u8], big: bool) -> Option<[u32; 3]> {
        let (at, kind) = self.length;
        let is_three = match kind {
            Kind::U8 => row[at] == 3,
            _ => decode(&row[at..], kind, big) == 3.0,
        };
        let (corners, _) = row[at + kind.size()..].as_chunks::<4>();
        let corner = |k: usize| match big {
            true => u32::from_be_bytes(corners[k]),
            false => u32::from_le_bytes(corners[k]),
        };
        is_three.then(|| [corner(0), corner(1), corner(2)])
    }
}

#[inline(always)]
fn put_all<'a>(
    column: impl Iterator<Item = &'a [u8]>,
    decode: impl Fn(&[u8]) -> f64,
    mut put: impl FnMut(usize, f64),
) {
    for (k, bytes) in column.enumerate() {
        put(k, decode(bytes));
    }
}

/// The number at the start of `bytes`, which is as long as its kind.
#[inline(always)]
fn decode(bytes: &[u8], kind: Kind, big: bool) -> f64 {
    fn ordered<const N: usize>(bytes: &[u8], big: bool) -> [u8; N] {
        let mut array = [0; N];
        array.copy_from_slice(&bytes[..N]);
        if big {
            array.reverse();
        }
        array
    }
    match kind {
        Kind::I8 => f64::from(i8::from_le_bytes(ordered(bytes, big))),
        Kind::U8 => f64::from(bytes[0]),
        Kind::I16 => f64::from(i16::from_le_bytes(ordered(bytes, big))),
        Kind::U16 => f64::from(u16::from_le_bytes(ordered(bytes, big))),
        Kind::I32 => f64::from(i32::from_le_bytes(ordered(bytes, big))),
        Kind::U32 => f64::from(u32::from_le_bytes(ordered(bytes, big))),
        Kind::F32 => f64::from(f32::from_le_bytes(ordered(bytes, big))),
        Kind::F64 => f64::from_le_bytes(ordered(bytes, big)),
    }
}

impl Source for Binary<'_> {
    fn number(&mut self, kind: Kind) -> Result<f64, Malformed> {
        let size = kind.size();
        let Some(bytes) = self.bytes.get(self.at..self.at + size) else {
            return Err(Malformed::new(
                self.place(),
                "the file ends in the middle of a row",
                "it was cut off, or a count in its header is too large",
            ));
        };
        self.at += size;
        Ok(decode(bytes, kind, self.big))
    }

    fn place(&self) -> Place {
        Place::Byte(self.at as u64)
    }

    fn capacity(&self, kind: Kind) -> usize {
        (self.bytes.len() - self.at) / kind.size()
    }

    /// Rows of one size if every list holds three indices of four bytes, as nearly all files have.
    fn triangles(
        &mut self,
        element: &Element,
        indices: usize,
        most: usize,
        triangles: &mut Vec<[u32; 3]>,
    ) -> usize {
        let Some(layout) = TriangleRow::of(element, indices) else { return 0 };
        let rows = self.bytes[self.at..].chunks_exact(layout.stride).take(most);
        let before = triangles.len();
        let big = self.big;
        triangles.extend(rows.map_while(|row| layout.triangle(row, big)));
        let count = triangles.len() - before;
        self.at += layout.stride * count;
        count
    }

    fn copy_floats(
        &self,
        element: &Element,
        properties: &[usize],
        floats: &mut [f32],
    ) -> Option<()> {
        let width = properties.len();
        let first = *properties.first()?;
        let plain = |(k, &p): (usize, &usize)| {
            p == first + k && element.properties[p].kind == Kind::F32 && !self.big
        };
        if !properties.iter().enumerate().all(plain) {
            return None;
        }
        let (rows, stride) = self.rows(element)?;
        let offset = element.offset(first);
        for (row, slot) in rows.chunks_exact(stride).zip(floats.chunks_exact_mut(width)) {
            let (numbers, _) = row[offset..offset + 4 * width].as_chunks::<4>();
            for (float, bytes) in slot.iter_mut().zip(numbers) {
                *float = f32::from_le_bytes(*bytes);
            }
        }
        Some(())
    }

    fn column(
        &self,
        element: &Element,
        property: usize,
        rows: Range<usize>,
        put: impl FnMut(usize, f64),
    ) -> Option<()> {
        let (all, stride) = self.rows(element)?;
        let rows = all.get(rows.start * stride..rows.end * stride)?;
        let offset = element.offset(property);
        let column = rows.chunks_exact(stride).map(|row| &row[offset..]);
        // The kind is told apart once, not for every number.
        match element.properties[property].kind {
            Kind::I8 => put_all(column, |b| decode(b, Kind::I8, self.big), put),
            Kind::U8 => put_all(column, |b| decode(b, Kind::U8, self.big), put),
            Kind::I16 => put_all(column, |b| decode(b, Kind::I16, self.big), put),
            Kind::U16 => put_all(column, |b| decode(b, Kind::U16, self.big), put),
            Kind::I32 => put_all(column, |b| decode(b, Kind::I32, self.big), put),
            Kind::U32 => put_all(column, |b| decode(b, Kind::U32, self.big), put),
            Kind::F32 => put_all(column, |b| decode(b, Kind::F32, self.big), put),
            Kind::F64 => put_all(column, |b| decode(b, Kind::F64, self.big), put),
        }
        Some(())
    }

    fn leave_rows(&mut self, element: &Element) {
        self.at += element.stride().unwrap_or(0) * element.count as usize;
    }

    fn place_of_row(&self, element: &Element, row: usize) -> Place {
        Place::Byte((self.at + element.stride().unwrap_or(0) * row) as u64)
    }
}
