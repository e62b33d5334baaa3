//! The elements of a VTK XML file, and where its appended bytes begin.
//!
//! What follows `<AppendedData …>` may be raw bytes, which no XML reader accepts: the text ends there for the
//! tokenizer. Document types are refused, so there are no entities but XML's own five.

use std::borrow::Cow;
use std::ops::Range;

use quick_xml::events::{BytesStart, Event};
use quick_xml::{Reader, XmlVersion};

use crate::io::{Malformed, Place};

/// Deepest nesting that is followed; blocks of blocks go ten deep.
const DEEPEST: usize = 64;

/// An element with what it holds.
#[derive(Debug, Default)]
pub(in crate::io) struct Element {
    pub(in crate::io) name: String,
    attributes: Vec<(String, String)>,
    /// The longest text in it, as a range of the document.
    text: Range<usize>,
    pub(in crate::io) children: Vec<Self>,
}

impl Element {
    /// An attribute, without blanks around it.
    pub(in crate::io) fn get(&self, name: &str) -> Option<&str> {
        self.attributes.iter().find(|(n, _)| n == name).map(|(_, v)| v.trim())
    }

    /// The first child of a name.
    pub(in crate::io) fn child(&self, name: &str) -> Option<&Self> {
        self.children.iter().find(|c| c.name == name)
    }

    /// All children of a name.
    pub(in crate::io) fn all<'a>(&'a self, name: &'a str) -> impl Iterator<Item = &'a Self> {
        self.children.iter().filter(move |c| c.name == name)
    }
}

/// A file: its elements, and its appended bytes.
#[derive(Debug)]
pub(in crate::io) struct Document<'a> {
    text: Cow<'a, str>,
    pub(in crate::io) root: Element,
    /// The bytes after the underscore, and whether they are raw.
    pub(super) appended: Option<(&'a [u8], bool)>,
}

impl<'a> Document<'a> {
    /// Reads all elements of a file of VTK.
    pub(super) fn parse(bytes: &'a [u8]) -> Result<Self, Malformed> {
        Self::parse_as(bytes, "VTKFile")
    }

    /// Reads all elements of a file whose outermost has this name.
    pub(in crate::io) fn parse_as(bytes: &'a [u8], root: &str) -> Result<Self, Malformed> {
        let (head, after) = match memchr::memmem::find(bytes, b"<AppendedData") {
            None => (bytes, None),
            Some(start) => {
                let end = memchr::memchr(b'>', &bytes[start..]).map(|n| start + n + 1);
                let end = end.ok_or_else(|| cut_off(bytes.len()))?;
                (&bytes[..end], Some(&bytes[end..]))
            }
        };
        let text = String::from_utf8_lossy(head);
        let root = parse(&text, root)?;
        let appended = match (after, root.child("AppendedData")) {
            (Some(after), Some(element)) => {
                let raw = element.get("encoding").is_some_and(|e| e.eq_ignore_ascii_case("raw"));
                let Some(mark) = after.iter().position(|&b| b == b'_') else {
                    return Err(cut_off(bytes.len()));
                };
                Some((&after[mark + 1..], raw))
            }
            _ => None,
        };
        Ok(Self { text, root, appended })
    }

    /// More numbers than this cannot be in the file: deflate makes at most 1,032 bytes of one.
    pub(super) fn most_numbers(&self) -> usize {
        let bytes = self.text.len() + self.appended.map_or(0, |(bytes, _)| bytes.len());
        bytes.saturating_mul(1032)
    }

    /// The text in an element.
    pub(in crate::io) fn text(&self, element: &Element) -> &str {
        self.text.get(element.text.clone()).unwrap_or_default()
    }
}

fn cut_off(at: usize) -> Malformed {
    let place = Place::Byte(at as u64);
    Malformed::new(place, "the file ends before its appended data", "copy or write it again")
}

fn parse(text: &str, root: &str) -> Result<Element, Malformed> {
    let mut reader = Reader::from_str(text);
    reader.config_mut().check_end_names = true;
    let mut open: Vec<Element> = vec![Element::default()];
    loop {
        let before = reader.buffer_position() as usize;
        let event = reader.read_event().map_err(|error| {
            let at = Place::Byte(reader.error_position());
            Malformed::new(at, format!("not well-formed XML: {error}"), "write the file again")
        })?;
        let place = Place::Byte(before as u64);
        match event {
            Event::Start(start) => {
                if open.len() > DEEPEST {
                    let what = format!("elements are nested more than {DEEPEST} deep");
                    return Err(Malformed::new(place, what, "no flow is; write it again"));
                }
                open.push(element(&start, &place)?);
            }
            Event::Empty(start) => {
                let element = element(&start, &place)?;
                if let Some(parent) = open.last_mut() {
                    parent.children.push(element);
                }
            }
            Event::End(_) => close(&mut open),
            Event::Text(_) | Event::CData(_) => {
                let range = before..reader.buffer_position() as usize;
                if let Some(parent) = open.last_mut()
                    && range.len() > parent.text.len()
                {
                    parent.text = range;
                }
            }
            Event::DocType(_) => {
                let what = "the file declares a document type";
                return Err(Malformed::new(place, what, "remove it: it says nothing"));
            }
            Event::Eof => break,
            Event::Comment(_) | Event::Decl(_) | Event::PI(_) | Event::GeneralRef(_) => {}
        }
    }
    // Appended data cut the text before the last ends.
    while open.len() > 1 {
        close(&mut open);
    }
    let found = open.pop().and_then(|mut all| all.children.drain(..).find(|c| c.name == root));
    found.ok_or_else(|| match root {
        "VTKFile" => {
            let fix = "files of VTK start with <VTKFile type=…>";
            Malformed::new(Place::File, "this is not a VTK XML file", fix)
        }
        _ => {
            let what = format!("there is no element <{root}> in the file");
            Malformed::new(Place::File, what, "it is another kind of file, or was cut off")
        }
    })
}

fn close(open: &mut Vec<Element>) {
    if open.len() > 1
        && let Some(element) = open.pop()
        && let Some(parent) = open.last_mut()
    {
        parent.children.push(element);
    }
}

fn element(start: &BytesStart<'_>, place: &Place) -> Result<Element, Malformed> {
    let problem = |what: String| Malformed::new(place.clone(), what, "write the file again");
    let mut attributes = Vec::new();
    // Its check for doubled names takes the square of their number: the first of a name counts here.
    for attribute in start.attributes().with_checks(false) {
        let attribute =
            attribute.map_err(|e| problem(format!("an attribute is malformed: {e}")))?;
        let value = attribute
            .normalized_value(XmlVersion::Implicit1_0)
            .map_err(|e| problem(format!("the value of '{}': {e}", attribute.key.0)))?;
        attributes.push((attribute.key.0.to_owned(), value.into_owned()));
    }
    let name = start.name().0.to_owned();
    Ok(Element { name, attributes, ..Element::default() })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn elements_attributes_text_and_appended_bytes() {
        let file = b"<?xml version=\"1.0\"?><VTKFile type='A &lt; B'><X n=\"1\"> 1 2 <Y/></X>\
            <AppendedData encoding=\"raw\"> _\x00\xff<&";
        let document = Document::parse(file).unwrap();
        assert_eq!(document.root.get("type"), Some("A < B"));
        let x = document.root.child("X").unwrap();
        assert_eq!(document.text(x), " 1 2 ");
        assert_eq!(x.children[0].name, "Y");
        assert_eq!(document.appended, Some((&b"\x00\xff<&"[..], true)));
    }

    #[test]
    fn entities_nesting_and_damage_are_refused() {
        let bomb = b"<!DOCTYPE a [<!ENTITY b \"bbb\">]><VTKFile type=\"&b;\"/>";
        assert!(Document::parse(bomb).unwrap_err().what.contains("document type"), "doctype");
        let deep = "<VTKFile>".to_owned() + &"<a>".repeat(100_000);
        assert!(Document::parse(deep.as_bytes()).unwrap_err().what.contains("nested"), "deep");
        for bad in ["", "<a/>", "<VTKFile a=>", "<VTKFile a='&x;'/>", "<VTKFile></b>"] {
            assert!(Document::parse(bad.as_bytes()).is_err(), "{bad}");
        }
    }
}
