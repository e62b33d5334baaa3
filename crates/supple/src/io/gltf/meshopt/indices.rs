//! Streams of indices: triangles by edges and corners seen just before, or single differences.

use super::{Broken, Reader};

/// Codes of the third corner beside an edge from which on it is none of those seen last.
const FREE: u8 = 13;

/// Decodes the corners of triangles, `stride` bytes each.
pub(super) fn triangles(stream: &[u8], count: usize, stride: usize) -> Result<Vec<u8>, Broken> {
    let version = match stream.first() {
        Some(0xe0) => 0,
        Some(0xe1) => 1,
        _ => return Err("a stream of triangles starts with 0xe1".to_owned()),
    };
    let mut reader = Reader { rest: &stream[1..] };
    let codes = reader.take(count / 3)?;
    let body = reader.rest.len().checked_sub(16).ok_or("the stream is cut short")?;
    let (data, table) = reader.rest.split_at(body);
    let mut decoder = Triangles {
        reader: Reader { rest: data },
        table,
        free: if version == 0 { 15 } else { FREE },
        edges: Recent::default(),
        corners: Recent::default(),
        next: 0,
        last: 0,
    };
    let mut bytes = Vec::with_capacity(count * stride);
    for &code in codes {
        for index in decoder.triangle(code)? {
            push(&mut bytes, index, stride);
        }
    }
    decoder.reader.finish()?;
    Ok(bytes)
}

/// Decodes indices one by one.
pub(super) fn sequence(stream: &[u8], count: usize, stride: usize) -> Result<Vec<u8>, Broken> {
    if !matches!(stream.first(), Some(0xd0 | 0xd1)) {
        return Err("a stream of indices starts with 0xd1".to_owned());
    }
    let body = stream.len().checked_sub(4).filter(|&body| body > 0);
    let mut reader = Reader { rest: &stream[1..body.ok_or("the stream is cut short")?] };
    let mut last = [0_u32; 2];
    let mut bytes = Vec::with_capacity(count * stride);
    for _ in 0..count {
        let code = varint(&mut reader)?;
        let base = &mut last[(code & 1) as usize];
        *base = base.wrapping_add(unzigzag(code >> 1));
        push(&mut bytes, *base, stride);
    }
    reader.finish()?;
    Ok(bytes)
}

fn push(bytes: &mut Vec<u8>, index: u32, stride: usize) {
    bytes.extend_from_slice(&index.to_le_bytes()[..stride]);
}

/// Seven bits a byte, the lowest first; the highest bit says that more follow.
fn varint(reader: &mut Reader<'_>) -> Result<u32, Broken> {
    let mut value = 0_u32;
    for k in 0..5 {
        let byte = reader.take(1)?[0];
        value |= u32::from(byte & 127) << (7 * k);
        if byte < 128 {
            return Ok(value);
        }
    }
    Err("an index has more than five bytes".to_owned())
}

fn unzigzag(value: u32) -> u32 {
    (value >> 1) ^ (value & 1).wrapping_neg()
}

/// The last sixteen of something.
#[derive(Default)]
struct Recent<T> {
    ring: [Option<T>; 16],
    at: usize,
}

impl<T: Copy> Recent<T> {
    fn push(&mut self, value: T) {
        self.ring[self.at] = Some(value);
        self.at = (self.at + 1) % 16;
    }

    /// The one that was pushed `ago` before the last.
    fn get(&self, ago: u8) -> Result<T, Broken> {
        let found = self.ring[(self.at + 15 - usize::from(ago)) % 16];
        found.ok_or_else(|| "a triangle names an edge or a corner that was not seen yet".to_owned())
    }
}

struct Triangles<'a> {
    reader: Reader<'a>,
    table: &'a [u8],
    free: u8,
    edges: Recent<[u32; 2]>,
    corners: Recent<u32>,
    /// The lowest index that was not seen yet, and the last that was told by itself.
    next: u32,
    last: u32,
}

impl Triangles<'_> {
    fn triangle(&mut self, code: u8) -> Result<[u32; 3], Broken> {
        let (high, low) = (code >> 4, code & 15);
        if high < 15 {
            return self.beside(high, low);
        }
        let (told, pair) = match low {
            14 | 15 => (true, self.reader.take(1)?[0]),
            _ => (false, self.table[usize::from(low)]),
        };
        if told && pair == 0 {
            self.next = 0;
        }
        let a = if low == 15 { self.free()? } else { self.fresh() };
        let (b, b_is_new) = self.corner(pair >> 4)?;
        let (c, c_is_new) = self.corner(pair & 15)?;
        self.corners.push(a);
        for (corner, _) in [(b, b_is_new), (c, c_is_new)].iter().filter(|(_, is_new)| *is_new) {
            self.corners.push(*corner);
        }
        for edge in [[b, a], [c, b], [a, c]] {
            self.edges.push(edge);
        }
        Ok([a, b, c])
    }

    /// The triangle on an edge seen before.
    fn beside(&mut self, edge: u8, third: u8) -> Result<[u32; 3], Broken> {
        let [a, b] = self.edges.get(edge)?;
        let c = match third {
            0 => self.fresh(),
            _ if third < self.free => self.corners.get(third)?,
            15 => self.free()?,
            _ => {
                // 13 is the one before the last, 14 the one after it.
                let step = if third == FREE { u32::MAX } else { 1 };
                self.last = self.last.wrapping_add(step);
                self.last
            }
        };
        if third == 0 || third >= self.free {
            self.corners.push(c);
        }
        self.edges.push([c, b]);
        self.edges.push([a, c]);
        Ok([a, b, c])
    }

    /// A corner that is new, was seen, or is told by itself; whether it counts as seen from now on.
    fn corner(&mut self, code: u8) -> Result<(u32, bool), Broken> {
        Ok(match code {
            0 => (self.fresh(), true),
            15 => (self.free()?, true),
            _ => (self.corners.get(code - 1)?, false),
        })
    }

    fn fresh(&mut self) -> u32 {
        let fresh = self.next;
        self.next = fresh.wrapping_add(1);
        fresh
    }

    fn free(&mut self) -> Result<u32, Broken> {
        self.last = self.last.wrapping_add(unzigzag(varint(&mut self.reader)?));
        Ok(self.last)
    }
}
