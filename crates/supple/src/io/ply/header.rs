//! The header of a PLY file: which elements there are and what each row of them holds.

use super::super::text::{quote, without_mark};
use super::super::{Malformed, Place};

/// How the rows are stored.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Encoding {
    Ascii,
    Little,
    Big,
}

/// The type of a number.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Kind {
    I8,
    U8,
    I16,
    U16,
    I32,
    U32,
    F32,
    F64,
}

impl Kind {
    fn from_word(word: &str) -> Option<Self> {
        Some(match word {
            "char" | "int8" => Self::I8,
            "uchar" | "uint8" => Self::U8,
            "short" | "int16" => Self::I16,
            "ushort" | "uint16" => Self::U16,
            "int" | "int32" => Self::I32,
            "uint" | "uint32" => Self::U32,
            "float" | "float32" => Self::F32,
            "double" | "float64" => Self::F64,
            _ => return None,
        })
    }

    /// Bytes a number takes.
    pub(super) fn size(self) -> usize {
        match self {
            Self::I8 | Self::U8 => 1,
            Self::I16 | Self::U16 => 2,
            Self::I32 | Self::U32 | Self::F32 => 4,
            Self::F64 => 8,
        }
    }

    pub(super) fn is_float(self) -> bool {
        matches!(self, Self::F32 | Self::F64)
    }
}

/// One property of an element.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Property {
    pub(super) name: String,
    pub(super) kind: Kind,
    /// The type of the count, for a list.
    pub(super) list: Option<Kind>,
}

/// One element: `count` rows of properties.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Element {
    pub(super) name: String,
    pub(super) count: u64,
    pub(super) properties: Vec<Property>,
}

impl Element {
    /// Bytes the rows take at least.
    fn least_bytes(&self, encoding: Encoding) -> u64 {
        let least = |p: &Property| match encoding {
            Encoding::Ascii => 2,
            _ => p.list.unwrap_or(p.kind).size() as u64,
        };
        let row: u64 = self.properties.iter().map(least).sum();
        // The last number of a text file needs no blank after it.
        self.count.saturating_mul(row).saturating_sub(u64::from(encoding == Encoding::Ascii))
    }

    /// Bytes of one binary row, if there is no list in it.
    pub(super) fn stride(&self) -> Option<usize> {
        let plain = self.properties.iter().all(|p| p.list.is_none());
        plain.then(|| self.properties.iter().map(|p| p.kind.size()).sum())
    }

    /// Where in a binary row a property starts.
    pub(super) fn offset(&self, property: usize) -> usize {
        self.properties[..property].iter().map(|p| p.kind.size()).sum()
    }
}

/// What the file declares, and where the rows start.
#[derive(Debug)]
pub(super) struct Header {
    pub(super) encoding: Encoding,
    pub(super) elements: Vec<Element>,
    /// Offset of the first row.
    pub(super) body: usize,
    /// Line of the first row.
    pub(super) line: usize,
}

/// Reads the header and checks that the rows it declares can be in the file.
pub(super) fn read(bytes: &[u8]) -> Result<Header, Malformed> {
    let mut lines = HeaderLines::new(bytes);
    if lines.next_line()?.trim() != "ply" {
        let fix = "a PLY file starts with the word ply";
        return Err(Malformed::new(Place::Line(1), "this is not a PLY file", fix));
    }
    let mut encoding = None;
    let mut elements: Vec<Element> = Vec::new();
    loop {
        let line = lines.next_line()?;
        let words: Vec<&str> = line.split_ascii_whitespace().collect();
        let place = Place::Line(lines.number);
        match words[..] {
            [] | ["comment" | "obj_info", ..] => {}
            ["format", name, ..] => encoding = Some(encoding_of(name, place)?),
            ["element", name, count, ..] => elements.push(element(name, count, place)?),
            ["property", ref rest @ ..] => {
                let what = "a property before any element";
                let element = elements.last_mut().ok_or_else(|| bad_header(place.clone(), what))?;
                element.properties.push(property(rest, place)?);
            }
            ["end_header", ..] => break,
            _ => {
                return Err(bad_header(
                    place,
                    &format!("{} means nothing", quote(line.as_bytes())),
                ));
            }
        }
    }
    let place = Place::Line(lines.number);
    let encoding = encoding.ok_or_else(|| bad_header(place, "the format line is missing"))?;
    let header = Header { encoding, elements, body: lines.at, line: lines.number + 1 };
    check_size(&header, (bytes.len() - lines.at) as u64)?;
    Ok(header)
}

fn encoding_of(name: &str, place: Place) -> Result<Encoding, Malformed> {
    match name {
        "ascii" => Ok(Encoding::Ascii),
        "binary_little_endian" => Ok(Encoding::Little),
        "binary_big_endian" => Ok(Encoding::Big),
        _ => Err(bad_header(place, &format!("the format {} is unknown", quote(name.as_bytes())))),
    }
}

fn element(name: &str, count: &str, place: Place) -> Result<Element, Malformed> {
    let what = || format!("{} is not a count", quote(count.as_bytes()));
    let count = count.parse().ok().ok_or_else(|| bad_header(place, &what()))?;
    Ok(Element { name: name.to_owned(), count, properties: Vec::new() })
}

fn property(words: &[&str], place: Place) -> Result<Property, Malformed> {
    let kind = |word: &str| {
        let what = || format!("the type {} is unknown", quote(word.as_bytes()));
        Kind::from_word(word).ok_or_else(|| bad_header(place.clone(), &what()))
    };
    match *words {
        ["list", count, of, name, ..] => {
            let list = kind(count)?;
            if list.is_float() {
                return Err(bad_header(place, "a list cannot have a fractional length"));
            }
            Ok(Property { name: name.to_owned(), kind: kind(of)?, list: Some(list) })
        }
        [of, name, ..] => Ok(Property { name: name.to_owned(), kind: kind(of)?, list: None }),
        _ => Err(bad_header(place, "a property needs a type and a name")),
    }
}

fn bad_header(place: Place, what: &str) -> Malformed {
    Malformed::new(place, what, "correct the header, or export the file again")
}

fn check_size(header: &Header, available: u64) -> Result<(), Malformed> {
    let mut needed = 0_u64;
    for element in &header.elements {
        needed = needed.saturating_add(element.least_bytes(header.encoding));
        if needed > available {
            let Element { name, count, .. } = element;
            return Err(Malformed::new(
                Place::Byte(header.body as u64),
                format!("{count} rows of '{name}' cannot be in the {available} bytes that follow"),
                "the file was cut off, or the count in the header is wrong",
            ));
        }
    }
    Ok(())
}

/// The lines of a header, which end with any of the three customs.
struct HeaderLines<'a> {
    bytes: &'a [u8],
    at: usize,
    number: usize,
}

impl<'a> HeaderLines<'a> {
    fn new(bytes: &'a [u8]) -> Self {
        Self { bytes, at: bytes.len() - without_mark(bytes).len(), number: 0 }
    }

    fn next_line(&mut self) -> Result<&'a str, Malformed> {
        /// Longer than any line a program writes; keeps messages and searches short.
        const LONGEST: usize = 1 << 16;
        self.number += 1;
        let rest = &self.bytes[self.at..];
        let window = &rest[..rest.len().min(LONGEST)];
        let place = Place::Line(self.number);
        let Some(end) = memchr::memchr2(b'\n', b'\r', window) else {
            return Err(bad_header(place, "the header has no end_header line"));
        };
        let pair = window[end..].starts_with(b"\r\n");
        self.at += end + 1 + usize::from(pair);
        std::str::from_utf8(&window[..end])
            .ok()
            .or(Some("comment").filter(|_| window.starts_with(b"comment")))
            .ok_or_else(|| bad_header(place, "the header is not text"))
    }
}
