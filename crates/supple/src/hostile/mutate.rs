//! Altering files: their bytes and their words.

use super::{Kind, document, xml};

/// Words that numbers are replaced by.
pub(super) const WORDS: [&str; 20] = [
    "0",
    "-1",
    "1",
    "3",
    "255",
    "256",
    "65535",
    "65536",
    "2147483647",
    "-2147483648",
    "4294967295",
    "4294967296",
    "9007199254740993",
    "1e38",
    "-1e39",
    "1e-45",
    "1e308",
    "1e309",
    "nan",
    "inf",
];

/// Random numbers that are the same everywhere.
pub(super) struct Dice(u64);

impl Dice {
    pub(super) fn new(seed: u64) -> Self {
        Self(seed)
    }

    pub(super) fn bits(&mut self) -> u64 {
        self.0 = self.0.wrapping_add(0x9e37_79b9_7f4a_7c15);
        let z = (self.0 ^ self.0 >> 30).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        let z = (z ^ z >> 27).wrapping_mul(0x94d0_49bb_1331_11eb);
        z ^ z >> 31
    }

    /// A whole number below `n`, 0 for 0.
    pub(super) fn below(&mut self, n: usize) -> usize {
        (self.bits() % n.max(1) as u64) as usize
    }

    pub(super) fn pick<'a, T>(&mut self, list: &'a [T]) -> Option<&'a T> {
        list.get(self.below(list.len()))
    }

    /// A short piece of a list of a length.
    pub(super) fn piece(&mut self, length: usize) -> std::ops::Range<usize> {
        let start = self.below(length);
        let longest = if self.below(4) == 0 { length } else { 16 };
        start..(start + 1 + self.below(longest)).min(length)
    }
}

/// The mutation of a seed with a number.
pub(super) fn mutated(samples: &[Vec<u8>], kind: Kind, seed: u64, number: u64) -> Vec<u8> {
    let mut dice = Dice(seed.wrapping_mul(0x2545_f491_4f6c_dd1d) ^ number);
    let mut file = dice.pick(samples).cloned().unwrap_or_default();
    for _ in 0..=dice.below(4) {
        file = match (kind, dice.below(4)) {
            (Kind::Gltf, 1..) => document::gltf(file, &mut dice),
            (Kind::Toml, 2..) => document::toml(file, samples, &mut dice),
            (Kind::Xml, 2..) => xml::altered(file, &mut dice),
            (Kind::Text | Kind::Toml | Kind::Xml, 1..) => text(file, &mut dice),
            _ => bytes(file, samples, &mut dice),
        };
    }
    file
}

pub(super) fn bytes(mut file: Vec<u8>, samples: &[Vec<u8>], dice: &mut Dice) -> Vec<u8> {
    let at = dice.below(file.len());
    let piece = dice.piece(file.len());
    match dice.below(8) {
        0 | 1 if !file.is_empty() => file[at] ^= 1 << dice.below(8),
        2 if !file.is_empty() => file[at] = [0, 1, 0x7f, 0x80, 0xff, b' ', b'\n'][dice.below(7)],
        3 => file.truncate(at),
        4 if !file.is_empty() => drop(file.drain(piece)),
        5 => {
            let copy = file[piece].to_vec();
            file.splice(at..at, copy);
        }
        // Four bytes that may be a count.
        6 if file.len() >= 4 => {
            let at = dice.below(file.len() - 3);
            let count = [0, 1, u32::MAX, 1 << 31, 0x7fff_ffff, 1 << 24][dice.below(6)];
            file[at..at + 4].copy_from_slice(&count.to_le_bytes());
        }
        _ => {
            let other = dice.pick(samples).map_or(&[][..], |sample| sample);
            let tail = dice.below(other.len());
            file.truncate(at);
            file.extend_from_slice(other.get(tail..).unwrap_or_default());
        }
    }
    file
}

/// Words are what is between blanks and the marks of the formats.
fn words(file: &[u8]) -> Vec<std::ops::Range<usize>> {
    let is_gap = |b: &u8| b.is_ascii_whitespace() || b"/,=[]{}<>\"".contains(b);
    let mut found = Vec::new();
    let mut start = None;
    for (i, b) in file.iter().chain(b" ").enumerate() {
        match (is_gap(b), start) {
            (false, None) => start = Some(i),
            (true, Some(from)) => {
                found.push(from..i);
                start = None;
            }
            _ => {}
        }
    }
    found
}

pub(super) fn text(mut file: Vec<u8>, dice: &mut Dice) -> Vec<u8> {
    let words = words(&file);
    let Some(word) = dice.pick(&words).cloned() else { return file };
    let Some(other) = dice.pick(&words).cloned() else { return file };
    match dice.below(6) {
        0 | 1 => {
            let number = WORDS[dice.below(WORDS.len())];
            file.splice(word, number.bytes());
        }
        2 => {
            let copy = file[other].to_vec();
            file.splice(word, copy);
        }
        3 => drop(file.drain(word)),
        4 => lines(&mut file, dice),
        _ => {
            // The same number, one more digit, or a sign.
            let extra = [b'0', b'9', b'-', b'.', b'e'][dice.below(5)];
            file.insert(word.start + dice.below(word.len()), extra);
        }
    }
    file
}

/// Drops, doubles or swaps lines.
fn lines(file: &mut Vec<u8>, dice: &mut Dice) {
    let mut lines: Vec<Vec<u8>> = file.split(|&b| b == b'\n').map(<[u8]>::to_vec).collect();
    let (a, b) = (dice.below(lines.len()), dice.below(lines.len()));
    match dice.below(3) {
        0 => drop(lines.remove(a)),
        1 => lines.insert(b, lines[a].clone()),
        _ => lines.swap(a, b),
    }
    *file = lines.join(&b'\n');
}
