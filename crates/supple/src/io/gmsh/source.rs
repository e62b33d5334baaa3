//! The numbers of a Gmsh file, as text or as bytes.

use super::super::text::{parse_f64, parse_integer, quote, without_mark};
use super::super::{Malformed, Place};

/// A file, read from its beginning.
#[derive(Clone, Copy, Default)]
pub(super) struct Source<'a> {
    bytes: &'a [u8],
    at: usize,
    pub(super) binary: bool,
    is_big_endian: bool,
    /// Bytes of a count in binary.
    size: usize,
}

impl<'a> Source<'a> {
    pub(super) fn new(bytes: &'a [u8]) -> Self {
        Self { bytes: without_mark(bytes), ..Self::default() }
    }

    pub(super) fn problem(&self, what: impl Into<String>, fix: &str) -> Malformed {
        let place = if self.binary {
            Place::Byte(self.at as u64)
        } else {
            Place::Line(1 + memchr::memchr_iter(b'\n', &self.bytes[..self.at]).count())
        };
        Malformed::new(place, what, fix)
    }

    fn left(&self) -> usize {
        self.bytes.len() - self.at
    }

    /// The next word of text.
    pub(super) fn word(&mut self) -> Option<&'a [u8]> {
        let rest = &self.bytes[self.at..];
        let start = rest.iter().position(|&b| b > b' ')?;
        let length = rest[start..].iter().position(|&b| b <= b' ').unwrap_or(rest.len() - start);
        self.at += start + length;
        Some(&rest[start..start + length])
    }

    /// Goes past the end of the line.
    pub(super) fn begin_line(&mut self) {
        let rest = &self.bytes[self.at..];
        self.at += memchr::memchr(b'\n', rest).map_or(rest.len(), |n| n + 1);
    }

    /// The rest of the line.
    pub(super) fn line(&mut self) -> &'a [u8] {
        let start = self.at;
        self.begin_line();
        &self.bytes[start..self.at]
    }

    /// What follows is data: in binary files it begins in the next line.
    pub(super) fn begin_data(&mut self) {
        if self.binary {
            self.begin_line();
        }
    }

    /// From here on data are bytes, whose order a one tells.
    pub(super) fn start_binary(&mut self, size: usize) -> Result<(), Malformed> {
        self.binary = true;
        self.size = size;
        self.begin_line();
        let one: [u8; 4] = self.take()?;
        self.is_big_endian = match one {
            [1, 0, 0, 0] => false,
            [0, 0, 0, 1] => true,
            _ => {
                let what = "the number that tells the order of bytes is not a one";
                return Err(self.problem(what, "the file is damaged; export it again"));
            }
        };
        Ok(())
    }

    fn take<const N: usize>(&mut self) -> Result<[u8; N], Malformed> {
        let found = self.bytes[self.at..].first_chunk::<N>().copied();
        let mut bytes = found.ok_or_else(|| self.cut_off())?;
        self.at += N;
        if self.is_big_endian {
            bytes.reverse();
        }
        Ok(bytes)
    }

    fn cut_off(&self) -> Malformed {
        let fix = "it was cut off, or a count in it is too large";
        self.problem("the file ends where a number should be", fix)
    }

    /// An integer that is text in binary files, too.
    pub(super) fn text_integer(&mut self) -> Result<i64, Malformed> {
        let word = self.word().ok_or_else(|| self.cut_off())?;
        parse_integer(word).ok_or_else(|| {
            let what = format!("{} is not a whole number", quote(word));
            self.problem(what, "correct it, or export the file again")
        })
    }

    /// An integer of 32 bits.
    pub(super) fn int(&mut self) -> Result<i64, Malformed> {
        if self.binary {
            return self.take().map(|b| i64::from(i32::from_le_bytes(b)));
        }
        self.text_integer()
    }

    /// A count or a number of a node in version 4.
    pub(super) fn size(&mut self) -> Result<i64, Malformed> {
        match (self.binary, self.size) {
            (false, _) => self.text_integer(),
            (true, 4) => self.take().map(|b| i64::from(u32::from_le_bytes(b))),
            (true, _) => self.take().map(i64::from_le_bytes),
        }
    }

    pub(super) fn double(&mut self) -> Result<f64, Malformed> {
        if self.binary {
            return self.take().map(f64::from_le_bytes);
        }
        let word = self.word().ok_or_else(|| self.cut_off())?;
        parse_f64(word).ok_or_else(|| {
            let what = format!("{} is not a number", quote(word));
            self.problem(what, "correct it, or export the file again")
        })
    }

    /// A count, if so many things of at least so many bytes, as text or binary, can be left.
    pub(super) fn check_room(&self, count: i64, least: [usize; 2]) -> Result<usize, Malformed> {
        let each = least[usize::from(self.binary)].max(1);
        usize::try_from(count).ok().filter(|&n| n <= self.left() / each + 1).ok_or_else(|| {
            let what = format!("{count} entries cannot be in the {} bytes left", self.left());
            self.problem(what, "the file was cut off, or a count in it is wrong")
        })
    }

    /// Goes to behind the word that ends the section a word began.
    pub(super) fn skip_past_end(&mut self, word: &[u8]) -> Result<(), Malformed> {
        let name = &word[1..];
        let is_old = matches!(name, b"NOD" | b"ELM");
        let end = [if is_old { b"$END".as_slice() } else { b"$End" }, name].concat();
        let found = memchr::memmem::find(&self.bytes[self.at..], &end);
        let Some(found) = found else {
            let what = format!("{} has no end", quote(word));
            return Err(self.problem(what, "the file was cut off; export it again"));
        };
        self.at += found + end.len();
        Ok(())
    }
}
