//! Streams of elements: differences between neighbours, byte by byte, in as few bits as they need.

use super::{Broken, Reader};

/// Elements whose bytes are packed together.
const GROUP: usize = 16;

/// Bits of the packed bytes of a group, by its two header bits: of version 0, and of version 1 by control mode.
const BITS_0: [u32; 4] = [0, 2, 4, 8];
const BITS_1: [[u32; 4]; 2] = [[0, 1, 2, 4], [1, 2, 4, 8]];

/// Decodes `count` elements of `stride` bytes.
pub(super) fn decode(stream: &[u8], count: usize, stride: usize) -> Result<Vec<u8>, Broken> {
    let version = match stream.first() {
        Some(0xa0) => 0,
        Some(0xa1) => 1,
        Some(other) => return Err(format!("a stream of attributes starts with {other:#04x}")),
        None => return Err("the stream is empty".to_owned()),
    };
    let modes = if version == 0 { 0 } else { stride / 4 };
    let least = if version == 0 { 32 } else { 24 };
    let tail = (stride + modes).max(least);
    let body = stream.len().checked_sub(tail).filter(|&body| body > 0);
    let (body, tail) = stream.split_at(body.ok_or("the stream is cut short")?);
    let (first, modes) = tail[tail.len() - stride - modes..].split_at(stride);
    let mut blocks = Blocks { reader: Reader { rest: &body[1..] }, stride, modes };
    let most = ((8192 / stride) & !(GROUP - 1)).min(256);
    let (mut elements, mut last) = (vec![0; count * stride], first.to_vec());
    for block in elements.chunks_mut(most * stride) {
        blocks.next(block, &mut last)?;
    }
    blocks.reader.finish()?;
    Ok(elements)
}

/// The blocks of a stream.
struct Blocks<'a> {
    reader: Reader<'a>,
    stride: usize,
    /// How differences are taken, for each four bytes of an element; none in version 0.
    modes: &'a [u8],
}

impl Blocks<'_> {
    /// Decodes a block whose first element follows `last`, which becomes the last of it.
    fn next(&mut self, block: &mut [u8], last: &mut [u8]) -> Result<(), Broken> {
        let count = block.len() / self.stride;
        let padded = count.next_multiple_of(GROUP);
        let control = self.reader.take(self.modes.len())?;
        let mut columns = vec![0; 4 * padded];
        for channel in 0..self.stride / 4 {
            for (k, column) in columns.chunks_mut(padded).enumerate() {
                let bits = match control.get(channel).map(|c| (c >> (2 * k)) & 3) {
                    None => &BITS_0,
                    Some(mode @ 0..=1) => &BITS_1[usize::from(mode)],
                    Some(2) => {
                        column.fill(0);
                        continue;
                    }
                    Some(_) => {
                        column[..count].copy_from_slice(self.reader.take(count)?);
                        continue;
                    }
                };
                self.column(bits, column)?;
            }
            let add = Add::from_code(self.modes.get(channel).copied().unwrap_or(0))?;
            let at = 4 * channel;
            let mut value: [u8; 4] = [last[at], last[at + 1], last[at + 2], last[at + 3]];
            for (i, element) in block.chunks_mut(self.stride).enumerate() {
                value = add.to(value, [0, 1, 2, 3].map(|k| columns[k * padded + i]));
                element[at..at + 4].copy_from_slice(&value);
            }
            last[at..at + 4].copy_from_slice(&value);
        }
        Ok(())
    }

    /// One byte of each element of a block.
    fn column(&mut self, bits: &[u32; 4], column: &mut [u8]) -> Result<(), Broken> {
        let groups = column.len() / GROUP;
        let header = self.reader.take(groups.div_ceil(4))?;
        for (g, group) in column.chunks_mut(GROUP).enumerate() {
            let bits = bits[usize::from(header[g / 4] >> (2 * (g % 4)) & 3)];
            self.group(bits, group)?;
        }
        Ok(())
    }

    /// Sixteen bytes of so many bits; those with all bits set follow whole.
    fn group(&mut self, bits: u32, group: &mut [u8]) -> Result<(), Broken> {
        match bits {
            0 => group.fill(0),
            8 => group.copy_from_slice(self.reader.take(GROUP)?),
            _ => {
                let packed = self.reader.take(2 * bits as usize)?;
                let (each, mask) = (8 / bits, u8::MAX >> (8 - bits));
                for (i, byte) in (0..).zip(group) {
                    // Single bits start at the lowest, pairs and fours at the highest.
                    let at = if bits == 1 { i % 8 } else { 8 - bits * (i % each + 1) };
                    let value = (packed[(i / each) as usize] >> at) & mask;
                    *byte = if value == mask { self.reader.take(1)?[0] } else { value };
                }
            }
        }
        Ok(())
    }
}

/// How four bytes follow from those of the element before.
#[derive(Clone, Copy)]
enum Add {
    Bytes,
    Pairs,
    /// Bits that changed, turned to the left by so many.
    Bits(u32),
}

impl Add {
    fn from_code(code: u8) -> Result<Self, Broken> {
        match (code & 15, code >> 4) {
            (0, 0) => Ok(Self::Bytes),
            (1, 0) => Ok(Self::Pairs),
            (2, turn) => Ok(Self::Bits(u32::from(turn))),
            _ => Err(format!("there is no channel mode {code:#04x}")),
        }
    }

    fn to(self, from: [u8; 4], delta: [u8; 4]) -> [u8; 4] {
        match self {
            Self::Bytes => [0, 1, 2, 3].map(|k| {
                let d = delta[k];
                from[k].wrapping_add((d >> 1) ^ (d & 1).wrapping_neg())
            }),
            Self::Pairs => {
                let pair = |b: [u8; 4], k: usize| u16::from_le_bytes([b[k], b[k + 1]]);
                let next = |k: usize| {
                    let d = pair(delta, k);
                    let change = (d >> 1) ^ (d & 1).wrapping_neg();
                    pair(from, k).wrapping_add(change).to_le_bytes()
                };
                let ([a, b], [c, d]) = (next(0), next(2));
                [a, b, c, d]
            }
            Self::Bits(turn) => {
                let changed = u32::from_le_bytes(delta).rotate_right(turn);
                (u32::from_le_bytes(from) ^ changed).to_le_bytes()
            }
        }
    }
}
