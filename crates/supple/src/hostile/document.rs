//! Altering documents of values, which stay documents: glTF and scenes.

use serde_json::Value;

use super::mutate::{Dice, bytes, text};

/// Words that mean something to glTF or to scenes, and some that should mean nothing to anybody.
const WORDS: [&str; 24] = [
    "",
    "VEC3",
    "SCALAR",
    "MAT4",
    "VEC4",
    "weights",
    "CUBICSPLINE",
    "data:,",
    "../../etc/passwd",
    "\u{1b}[2J",
    "nan",
    "1e400 m",
    "-5 cm",
    "720 deg",
    "0 s",
    "1e-300 kg",
    "t",
    "sculpt",
    "secondary",
    "procdef",
    "blendshape",
    "smoke",
    "skinning",
    "path",
];

/// Bits of numbers that matter: infinite, not a number, the largest, the smallest.
const BITS: [u32; 8] =
    [0x7f80_0000, 0xff80_0000, 0x7fc0_0000, 0x7f7f_ffff, 0xff7f_ffff, 1, 0x8000_0000, u32::MAX];

/// Alters the document of a glTF file, or the numbers behind it; the container stays a container.
pub(super) fn gltf(mut file: Vec<u8>, dice: &mut Dice) -> Vec<u8> {
    let is_binary = file.starts_with(b"glTF") && file.len() >= 20;
    let length = |at: usize| {
        let word = file.get(at..at + 4)?;
        Some(u32::from_le_bytes([word[0], word[1], word[2], word[3]]) as usize)
    };
    let end = if is_binary { 20 + length(12).unwrap_or(0) } else { file.len() };
    let start = if is_binary { 20 } else { 0 };
    if is_binary && dice.below(4) == 0 && end + 16 < file.len() {
        let slot = end + 8 + 4 * dice.below((file.len() - end - 12) / 4);
        file[slot..slot + 4].copy_from_slice(&BITS[dice.below(BITS.len())].to_le_bytes());
        return file;
    }
    let document = file.get(start..end).unwrap_or_default();
    let Ok(mut root) = serde_json::from_slice::<Value>(document) else {
        return bytes(file, &[], dice);
    };
    alter_some(&mut root, None, dice);
    let mut text = root.to_string().into_bytes();
    if !is_binary {
        return text;
    }
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

/// Alters a TOML document, which stays one, by way of JSON; pieces of other documents get into it.
pub(super) fn toml(file: Vec<u8>, samples: &[Vec<u8>], dice: &mut Dice) -> Vec<u8> {
    let parse = |file: &[u8]| toml::from_str::<Value>(&String::from_utf8_lossy(file)).ok();
    let Some(mut root) = parse(&file) else { return text(file, dice) };
    let other = (dice.below(3) == 0).then(|| dice.pick(samples).and_then(|file| parse(file)));
    alter_some(&mut root, other.flatten().as_ref(), dice);
    // Nothing in TOML is null.
    toml::to_string(&root).map_or(file, String::into_bytes)
}

/// Alters one to three values; `other` is a document to take pieces from.
fn alter_some(root: &mut Value, other: Option<&Value>, dice: &mut Dice) {
    for _ in 0..=dice.below(3) {
        let whole = leaves(root);
        let graft = (dice.below(5) == 0).then(|| {
            let from = other.unwrap_or(root);
            value_at(from, &mut dice.below(leaves(from))).cloned()
        });
        let mut left = dice.below(whole);
        alter(root, &mut left, &mut graft.flatten(), dice);
    }
}

/// How many values there are, those that hold others included.
fn leaves(value: &Value) -> usize {
    1 + match value {
        Value::Array(list) => list.iter().map(leaves).sum(),
        Value::Object(map) => map.values().map(leaves).sum(),
        _ => 0,
    }
}

/// The `left`th value.
fn value_at<'v>(value: &'v Value, left: &mut usize) -> Option<&'v Value> {
    if *left == 0 {
        return Some(value);
    }
    *left -= 1;
    match value {
        Value::Array(list) => list.iter().find_map(|v| value_at(v, left)),
        Value::Object(map) => map.values().find_map(|v| value_at(v, left)),
        _ => None,
    }
}

/// Alters the `left`th value, or puts `graft` in its place.
fn alter(value: &mut Value, left: &mut usize, graft: &mut Option<Value>, dice: &mut Dice) -> bool {
    if *left == 0 {
        *value = match graft.take() {
            Some(graft) => graft,
            None => altered(value.take(), dice),
        };
        return true;
    }
    *left -= 1;
    match value {
        Value::Array(list) => list.iter_mut().any(|v| alter(v, left, graft, dice)),
        Value::Object(map) => map.values_mut().any(|v| alter(v, left, graft, dice)),
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
        Value::String(text) if dice.below(3) == 0 => Value::String(text + "X"),
        Value::String(_) => Value::from(WORDS[dice.below(WORDS.len())]),
        // Near what it was: the next index, half the length.
        Value::Number(number) if dice.below(3) == 0 => near(&number, dice),
        _ => number(dice),
    }
}

fn near(number: &serde_json::Number, dice: &mut Dice) -> Value {
    match (number.as_i64(), number.as_f64()) {
        (Some(whole), _) => Value::from(whole.wrapping_add([1, -1, 7, whole][dice.below(4)])),
        (_, Some(x)) => Value::from(x * [-1.0, 0.5, 1e3, 1e-3][dice.below(4)]),
        _ => Value::Null,
    }
}

/// A number that matters: enumerants and sizes of glTF among them.
fn number(dice: &mut Dice) -> Value {
    let whole: [i64; 16] =
        [0, 1, 2, 3, 4, 12, 255, 5120, 5121, 5123, 5125, 5126, 65_535, 1 << 31, 4_294_967_295, -1];
    match dice.below(4) {
        0 => Value::from([1e38, -1e39, 1e-45, 0.5, 1e300, -0.0][dice.below(6)]),
        1 => Value::Null,
        _ => Value::from(whole[dice.below(whole.len())]),
    }
}
