//! Altering the elements and attributes of XML, which stays XML.

use std::ops::Range;

use super::mutate::{Dice, WORDS, text};

/// What attributes of VTK say.
const VALUES: [&str; 26] = [
    "Float32",
    "Float64",
    "Int8",
    "UInt8",
    "Int32",
    "UInt32",
    "Int64",
    "UInt64",
    "String",
    "Bit",
    "ascii",
    "binary",
    "appended",
    "raw",
    "base64",
    "LittleEndian",
    "BigEndian",
    "vtkZLibDataCompressor",
    "vtkLZ4DataCompressor",
    "vtkLZMADataCompressor",
    "ImageData",
    "StructuredGrid",
    "UnstructuredGrid",
    "0 -1 0 -1 0 -1",
    "0 2147483647 0 2147483647 0 2147483647",
    "velocity",
];

/// One alteration of an element or an attribute; of a word where there is neither.
pub(super) fn altered(mut file: Vec<u8>, dice: &mut Dice) -> Vec<u8> {
    let elements = elements(&file);
    let Some(element) = dice.pick(&elements).cloned() else { return text(file, dice) };
    let Some(other) = dice.pick(&elements).cloned() else { return text(file, dice) };
    match dice.below(8) {
        0..=3 => attribute(&mut file, &element, dice),
        4 => drop(file.drain(element.whole)),
        5 => {
            let copy = file[other.whole].to_vec();
            file.splice(element.whole.start..element.whole.start, copy);
        }
        6 => {
            let copy = file[other.whole].to_vec();
            file.splice(element.whole, copy);
        }
        _ => drop(file.drain(element.inside)),
    }
    file
}

/// Where an element stands.
#[derive(Clone)]
struct Element {
    whole: Range<usize>,
    /// Between its name and the end of its start tag.
    attributes: Range<usize>,
    /// Between its tags.
    inside: Range<usize>,
}

/// All elements up to the data that is appended, which may be any bytes.
fn elements(file: &[u8]) -> Vec<Element> {
    let mut found: Vec<Element> = Vec::new();
    let mut open: Vec<usize> = Vec::new();
    let mut at = 0;
    while let Some(start) = file[at..].iter().position(|&b| b == b'<').map(|i| at + i) {
        let Some(end) = file[start..].iter().position(|&b| b == b'>').map(|i| start + i) else {
            break;
        };
        at = end + 1;
        match file.get(start + 1) {
            Some(b'/') => {
                if let Some(element) = open.pop() {
                    found[element].whole.end = at;
                    found[element].inside.end = start;
                }
            }
            Some(b'?' | b'!') => {}
            _ => {
                let closed = file[end - 1] == b'/';
                let name = file[start..end].iter().position(u8::is_ascii_whitespace);
                let attributes = start + name.unwrap_or(end - start)..end - usize::from(closed);
                if !closed {
                    open.push(found.len());
                }
                let is_data = file[start + 1..].starts_with(b"AppendedData");
                found.push(Element { whole: start..at, attributes, inside: at..at });
                if is_data {
                    break;
                }
            }
        }
    }
    found
}

/// Alters, drops or doubles one attribute.
fn attribute(file: &mut Vec<u8>, element: &Element, dice: &mut Dice) {
    let quotes: Vec<usize> =
        element.attributes.clone().filter(|&i| file.get(i) == Some(&b'"')).collect();
    if quotes.len() < 2 {
        return;
    }
    let which = dice.below(quotes.len() / 2);
    let (from, to) = (quotes[2 * which] + 1, quotes[2 * which + 1]);
    // The name before the value reaches back to a blank.
    let name = file[..from].iter().rposition(u8::is_ascii_whitespace).unwrap_or(from);
    match dice.below(6) {
        0 | 1 => drop(file.splice(from..to, VALUES[dice.below(VALUES.len())].bytes())),
        2 | 3 => drop(file.splice(from..to, WORDS[dice.below(WORDS.len())].bytes())),
        4 => drop(file.drain(name..=to)),
        _ => {
            let copy = file[name..=to].to_vec();
            file.splice(name..name, copy);
        }
    }
}
