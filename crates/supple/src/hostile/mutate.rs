//! Altering files: their bytes, their words, their values.

use serde_json::Value;

use super::Kind;

/// Words that numbers are replaced by.
const WORDS: [&str; 20] = [
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
struct Dice(u64);

impl Dice {
    fn bits(&mut self) -> u64 {
        self.0 = self.0.wrapping_add(0x9e37_79b9_7f4a_7c15);
        let z = (self.0 ^ self.0 >> 30).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        let z = (z ^ z >> 27).wrapping_mul(0x94d0_49bb_1331_11eb);
        z ^ z >> 31
    }

    /// A whole number below `n`, 0 for 0.
    fn below(&mut self, n: usize) -> usize {
        (self.bits() % n.max(1) as u64) as usize
    }

    fn pick<'a, T>(&mut self, list: &'a [T]) -> Option<&'a T> {
        list.get(self.below(list.len()))
    }

    /// A short piece of a list of a length.
    fn piece(&mut self, length: usize) -> std::ops::Range<usize> {
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
            (Kind::Gltf, 1..) => gltf(file, &mut dice),
            (Kind::Toml, 2..) => toml(file, &mut dice),
            (Kind::Text | Kind::Toml, 1..) => text(file, &mut dice),
            _ => bytes(file, samples, &mut dice),
        };
    }
    file
}

fn bytes(mut file: Vec<u8>, samples: &[Vec<u8>], dice: &mut Dice) -> Vec<u8> {
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

fn text(mut file: Vec<u8>, dice: &mut Dice) -> Vec<u8> {
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

/// Alters the document of a glTF file, which stays a document.
fn gltf(file: Vec<u8>, dice: &mut Dice) -> Vec<u8> {
    let is_binary = file.starts_with(b"glTF") && file.len() >= 20;
    let length = |at: usize| {
        let word = file.get(at..at + 4)?;
        Some(u32::from_le_bytes([word[0], word[1], word[2], word[3]]) as usize)
    };
    let end = if is_binary { 20 + length(12).unwrap_or(0) } else { file.len() };
    let start = if is_binary { 20 } else { 0 };
    let document = file.get(start..end).unwrap_or_default();
    let Ok(mut root) = serde_json::from_slice::<Value>(document) else {
        return bytes(file, &[], dice);
    };
    let mut left = dice.below(leaves(&root));
    alter(&mut root, &mut left, dice);
    let mut text = root.to_string().into_bytes();
    if !is_binary {
        return text;
    }
    // The container stays a container: lengths as they must be.
    text.resize(text.len().next_multiple_of(4), b' ');
    let rest = file.get(end..).unwrap_or_default();
    let mut whole = file[..8].to_vec();
    whole.extend(((20 + text.len() + rest.len()) as u32).to_le_bytes());
    whole.extend((text.len() as u32).to_le_bytes());
    whole.extend(b"JSON");
    whole.extend(text);
    whole.extend_from_slice(rest);
    whole
}

/// How many values there are, those that hold others included.
fn leaves(value: &Value) -> usize {
    1 + match value {
        Value::Array(list) => list.iter().map(leaves).sum(),
        Value::Object(map) => map.values().map(leaves).sum(),
        _ => 0,
    }
}

/// Alters the `left`th value.
fn alter(value: &mut Value, left: &mut usize, dice: &mut Dice) -> bool {
    if *left == 0 {
        *value = altered(value.take(), dice);
        return true;
    }
    *left -= 1;
    match value {
        Value::Array(list) => list.iter_mut().any(|v| alter(v, left, dice)),
        Value::Object(map) => map.values_mut().any(|v| alter(v, left, dice)),
        _ => false,
    }
}

fn altered(value: Value, dice: &mut Dice) -> Value {
    match value {
        Value::Array(mut list) if !list.is_empty() => {
            let (a, b) = (dice.below(list.len()), dice.below(list.len()));
            match dice.below(4) {
                0 => drop(list.remove(a)),
                1 => list.push(list[a].clone()),
                2 => list.swap(a, b),
                _ => list.truncate(a),
            }
            Value::Array(list)
        }
        Value::Object(mut map) if !map.is_empty() => {
            let keys: Vec<String> = map.keys().cloned().collect();
            let (a, b) = (&keys[dice.below(keys.len())], &keys[dice.below(keys.len())]);
            let taken = map.remove(a);
            if let (1, Some(taken)) = (dice.below(2), taken) {
                map.insert(b.clone(), taken);
            }
            Value::Object(map)
        }
        Value::String(mut text) => {
            match dice.below(3) {
                0 => text.clear(),
                1 => text.push('X'),
                _ => {
                    let words = ["VEC3", "SCALAR", "MAT4", "VEC4", "weights", "\u{1b}[2J"];
                    words[dice.below(6)].clone_into(&mut text);
                }
            }
            Value::String(text)
        }
        _ => number(dice),
    }
}

/// A number that matters: enumerants and sizes of glTF among them.
fn number(dice: &mut Dice) -> Value {
    let whole: [i64; 16] =
        [0, 1, 2, 3, 4, 12, 255, 5120, 5121, 5123, 5125, 5126, 65_535, 1 << 31, 4_294_967_295, -1];
    match dice.below(4) {
        0 => Value::from([1e38, -1e39, 1e-45, 0.5][dice.below(4)]),
        1 => Value::Null,
        _ => Value::from(whole[dice.below(whole.len())]),
    }
}

/// Alters a TOML document, which stays one, by way of JSON.
fn toml(file: Vec<u8>, dice: &mut Dice) -> Vec<u8> {
    let text = String::from_utf8_lossy(&file).into_owned();
    let Some(mut root) = toml::from_str::<Value>(&text).ok() else {
        return self::text(file, dice);
    };
    let mut left = dice.below(leaves(&root));
    alter(&mut root, &mut left, dice);
    // Nothing in TOML is null.
    toml::to_string(&root).map_or(file, String::into_bytes)
}
