//! Words, numbers and lists of OpenFOAM files, text and binary.

use crate::io::number::Number;
use crate::io::text::{parse_f64, parse_integer, quote};
use crate::io::{Malformed, Place};

/// A file, read from left to right.
#[derive(Debug)]
pub(super) struct Foam<'a> {
    bytes: &'a [u8],
    at: usize,
    binary: bool,
    big_endian: bool,
    label: Number,
    scalar: Number,
    class: String,
}

/// Marks that are words of their own.
const MARKS: &[u8] = b"(){};[]";

impl<'a> Foam<'a> {
    /// Reads the header of a file.
    pub(super) fn new(bytes: &'a [u8]) -> Result<Self, Malformed> {
        let mut foam = Self {
            bytes,
            at: 0,
            binary: false,
            big_endian: false,
            label: Number::I32,
            scalar: Number::F64,
            class: String::new(),
        };
        if foam.word() != Some(b"FoamFile") {
            let fix = "files of OpenFOAM start with FoamFile { … }";
            return Err(Malformed::new(Place::File, "this is no file of OpenFOAM", fix));
        }
        foam.expect(b"{")?;
        loop {
            let key = foam.word().ok_or_else(|| foam.ends())?;
            if key == b"}" {
                break;
            }
            let mut value = Vec::new();
            loop {
                match foam.word().ok_or_else(|| foam.ends())? {
                    b";" => break,
                    word => value = word.to_vec(),
                }
            }
            foam.declare(key, &value);
        }
        Ok(foam)
    }

    fn declare(&mut self, key: &[u8], value: &[u8]) {
        let text = String::from_utf8_lossy(value).trim_matches('"').to_owned();
        match key {
            b"format" => self.binary = text == "binary",
            b"class" => self.class = text,
            b"arch" => {
                self.big_endian = text.contains("MSB");
                self.label = if text.contains("label=64") { Number::I64 } else { Number::I32 };
                self.scalar = if text.contains("scalar=32") { Number::F32 } else { Number::F64 };
            }
            _ => {}
        }
    }

    pub(super) fn class(&self) -> &str {
        &self.class
    }

    /// Whether the dimensions that follow are those of a velocity.
    pub(super) fn speed(&self) -> bool {
        let mut rest = Self { class: String::new(), ..*self };
        let words: Vec<&[u8]> = std::iter::from_fn(|| rest.word()).take(6).collect();
        words.starts_with(&[b"dimensions", b"[", b"0", b"1", b"-1"])
    }

    pub(super) fn problem(&self, what: impl Into<String>) -> Malformed {
        Malformed::new(Place::Byte(self.at as u64), what, "the file is damaged; write it again")
    }

    fn ends(&self) -> Malformed {
        self.problem("the file ends too early")
    }

    fn skip(&mut self) {
        loop {
            let rest = &self.bytes[self.at..];
            let blank = rest.iter().take_while(|b| b.is_ascii_whitespace()).count();
            self.at += blank;
            let rest = &rest[blank..];
            let end = if rest.starts_with(b"//") {
                memchr::memchr(b'\n', rest)
            } else if rest.starts_with(b"/*") {
                memchr::memmem::find(rest, b"*/").map(|n| n + 2)
            } else {
                return;
            };
            self.at = end.map_or(self.bytes.len(), |n| self.at + n);
        }
    }

    /// The next word, mark or quoted text.
    pub(super) fn word(&mut self) -> Option<&'a [u8]> {
        self.skip();
        let rest = &self.bytes[self.at..];
        let first = *rest.first()?;
        let length = if MARKS.contains(&first) {
            1
        } else if first == b'"' {
            memchr::memchr(b'"', &rest[1..]).map_or(rest.len(), |n| n + 2)
        } else {
            let end = |b: &u8| b.is_ascii_whitespace() || MARKS.contains(b);
            rest.iter().position(end).unwrap_or(rest.len())
        };
        self.at += length;
        Some(&rest[..length])
    }

    /// The next word without taking it.
    pub(super) fn peek(&mut self) -> Option<&'a [u8]> {
        let at = self.at;
        let word = self.word();
        self.at = at;
        word
    }

    pub(super) fn expect(&mut self, wanted: &[u8]) -> Result<(), Malformed> {
        match self.word() {
            Some(word) if word == wanted => Ok(()),
            other => {
                let found = quote(other.unwrap_or_default());
                Err(self.problem(format!("{found} stands where {} should", quote(wanted))))
            }
        }
    }

    /// A whole number that counts nothing of this file.
    pub(super) fn whole(&mut self) -> Result<usize, Malformed> {
        let word = self.word().unwrap_or_default();
        let whole = parse_integer(word).and_then(|n| usize::try_from(n).ok());
        whole.ok_or_else(|| self.problem(format!("{} is no count", quote(word))))
    }

    /// How many entries follow.
    pub(super) fn count(&mut self) -> Result<usize, Malformed> {
        let count = self.whole()?;
        // In text a number takes two bytes, in binary at least one.
        if count > self.bytes.len() {
            let left = self.bytes.len() - self.at;
            return Err(self.problem(format!("{count} entries cannot be in {left} bytes")));
        }
        Ok(count)
    }

    pub(super) fn number(&mut self) -> Result<f64, Malformed> {
        let word = self.word().unwrap_or_default();
        parse_f64(word).ok_or_else(|| self.problem(format!("{} is no number", quote(word))))
    }

    fn raw<T>(
        &mut self,
        number: Number,
        count: usize,
        convert: impl Fn(f64) -> T,
    ) -> Result<Vec<T>, Malformed> {
        let size = count.saturating_mul(number.size());
        let bytes = self.bytes.get(self.at..self.at.saturating_add(size));
        let bytes = bytes.ok_or_else(|| self.ends())?;
        self.at += size;
        Ok(number.decode(bytes, self.big_endian, convert))
    }

    /// `N (bytes)`: a file of one processor within that of all.
    fn block(&mut self) -> Result<&'a [u8], Malformed> {
        let count = self.count()?;
        self.expect(b"(")?;
        let bytes = self.bytes.get(self.at..self.at.saturating_add(count));
        let bytes = bytes.ok_or_else(|| self.ends())?;
        self.at += count;
        self.expect(b")")?;
        Ok(bytes)
    }

    /// Where the header ends.
    pub(super) fn header_end(&self) -> usize {
        self.at
    }

    /// `N ( … )` of labels.
    pub(super) fn labels(&mut self) -> Result<Vec<i64>, Malformed> {
        let flat = self.list(1, true)?;
        Ok(flat.into_iter().map(|x| x as i64).collect())
    }

    /// `N ( … )` of scalars or vectors, flat.
    pub(super) fn scalars(&mut self, components: usize) -> Result<Vec<f64>, Malformed> {
        self.list(components, false)
    }

    fn list(&mut self, components: usize, labels: bool) -> Result<Vec<f64>, Malformed> {
        let count = self.count()?;
        if count == 0 && self.peek() != Some(b"(") {
            return Ok(Vec::new());
        }
        let size = count.saturating_mul(components);
        if self.peek() == Some(b"{") {
            self.expect(b"{")?;
            let one = self.tuple(components)?;
            self.expect(b"}")?;
            return Ok(one.repeat(count));
        }
        self.expect(b"(")?;
        let values = if self.binary {
            self.raw(if labels { self.label } else { self.scalar }, size, |x| x)?
        } else {
            let mut values = Vec::with_capacity(size.min(self.bytes.len()));
            for _ in 0..count {
                values.extend(self.tuple(components)?);
            }
            values
        };
        self.expect(b")")?;
        Ok(values)
    }

    /// A number, or `(x y z)`.
    pub(super) fn tuple(&mut self, components: usize) -> Result<Vec<f64>, Malformed> {
        if components == 1 {
            return Ok(vec![self.number()?]);
        }
        self.expect(b"(")?;
        let values = (0..components).map(|_| self.number()).collect::<Result<_, _>>()?;
        self.expect(b")")?;
        Ok(values)
    }

    /// Faces: a list of lists, or in binary two lists, where each begins and the points.
    pub(super) fn faces(&mut self) -> Result<Vec<Vec<u32>>, Malformed> {
        let point = |foam: &Self, x: i64| {
            u32::try_from(x).ok().ok_or_else(|| foam.problem(format!("{x} is no point")))
        };
        if self.class == "faceCompactList" {
            let (starts, points) = (self.labels()?, self.labels()?);
            let mut faces = Vec::with_capacity(starts.len());
            for w in starts.windows(2) {
                let range = usize::try_from(w[0]).ok().zip(usize::try_from(w[1]).ok());
                let face = range.and_then(|(a, b)| points.get(a..b));
                let face = face.ok_or_else(|| self.problem("faces are out of order"))?;
                faces.push(face.iter().map(|&x| point(self, x)).collect::<Result<_, _>>()?);
            }
            return Ok(faces);
        }
        let count = self.count()?;
        self.expect(b"(")?;
        let mut faces = Vec::with_capacity(count.min(self.bytes.len()));
        for _ in 0..count {
            let face = self.labels()?;
            faces.push(face.into_iter().map(|x| point(self, x)).collect::<Result<_, _>>()?);
        }
        self.expect(b")")?;
        Ok(faces)
    }
}

/// The file of one processor out of one that holds those of several, one after the other; any other file as it is.
pub(super) fn of_processor(bytes: Vec<u8>, processor: usize) -> Result<Vec<u8>, Malformed> {
    let mut whole = Foam::new(&bytes)?;
    if whole.class() != COLLATED {
        return Ok(bytes);
    }
    let first = whole.block()?;
    if processor == 0 {
        return Ok(first.to_vec());
    }
    // The first has a header, which is that of all.
    let header = Foam::new(first)?.header_end();
    let mut block = first;
    for _ in 0..processor {
        block = whole.block()?;
    }
    Ok([&first[..header], b"\n", block].concat())
}

/// How many processors a file holds.
pub(super) fn processors(bytes: &[u8]) -> Result<usize, Malformed> {
    let mut whole = Foam::new(bytes)?;
    if whole.class() != COLLATED {
        return Ok(1);
    }
    let mut count = 0;
    while whole.peek().is_some() {
        whole.block()?;
        count += 1;
    }
    Ok(count)
}

/// The class of files that hold those of several processors.
const COLLATED: &str = "decomposedBlockData";
