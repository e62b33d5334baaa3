//! The data of a file being written: accessors and views first, bytes last.
//!
//! Bytes are borrowed where they lie in memory already, and made on the way out where they do not:
//! the JSON that stands before them needs only their lengths.

use std::borrow::Cow;
use std::io::{self, Write};

use base64::engine::general_purpose::STANDARD;
use base64::write::EncoderWriter;
use bytemuck::Pod;
use glam::Vec3;
use serde_json::{Map, Value, json};

use super::container::{BIN, JSON, MAGIC, padded};

/// What a view is used for.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Target {
    /// Attributes of vertices.
    Vertices,
    /// Corners of triangles.
    Indices,
    /// Anything else.
    Other,
}

/// How the numbers of an accessor are stored.
#[derive(Clone, Copy, Debug)]
pub(super) struct Layout {
    pub(super) component: u32,
    pub(super) kind: &'static str,
    pub(super) target: Target,
}

/// Code of 8-bit unsigned integers.
pub(super) const U8: u32 = 5121;
/// Code of 16-bit unsigned integers.
pub(super) const U16: u32 = 5123;
/// Code of 32-bit unsigned integers.
pub(super) const U32: u32 = 5125;
/// Code of 32-bit floats.
pub(super) const F32: u32 = 5126;

impl Layout {
    /// Floats, `width` an element.
    pub(super) fn floats(width: usize, target: Target) -> Self {
        let kind = match width {
            1 => "SCALAR",
            2 => "VEC2",
            3 => "VEC3",
            4 => "VEC4",
            _ => "MAT4",
        };
        Self { component: F32, kind, target }
    }
}

/// Bytes on their way to the file.
enum Chunk<'a> {
    Ready(Cow<'a, [u8]>),
    /// Made when they are written; the number is the caller's.
    Later {
        id: usize,
        length: usize,
    },
}

/// Makes the bytes of a chunk that was announced with [`Buffer::push_later`].
pub(super) type Make<'m> = &'m mut dyn FnMut(usize) -> io::Result<Vec<u8>>;

/// The one buffer of a file, with its accessors and views.
#[derive(Default)]
pub(super) struct Buffer<'a> {
    accessors: Vec<Value>,
    views: Vec<Value>,
    chunks: Vec<Chunk<'a>>,
    length: usize,
}

impl<'a> Buffer<'a> {
    /// Adds an accessor of values; returns its index.
    pub(super) fn push<T: Pod>(&mut self, values: Cow<'a, [T]>, layout: Layout) -> usize {
        let (count, bytes) = (values.len(), as_bytes(values));
        let view = self.view(bytes.len(), layout.target);
        self.chunks.push(Chunk::Ready(bytes));
        self.accessor(view, count, layout)
    }

    /// Adds an accessor of vectors given as a flat list, `width` numbers each; returns its index.
    pub(super) fn push_floats(
        &mut self,
        numbers: Cow<'a, [f32]>,
        layout: Layout,
        width: usize,
    ) -> usize {
        let (count, bytes) = (numbers.len() / width, as_bytes(numbers));
        let view = self.view(bytes.len(), layout.target);
        self.chunks.push(Chunk::Ready(bytes));
        self.accessor(view, count, layout)
    }

    /// Adds an accessor whose bytes are made later; returns its index.
    pub(super) fn push_later(&mut self, id: usize, count: usize, layout: Layout) -> usize {
        let width = match layout.kind {
            "VEC3" => 3,
            _ => 1,
        };
        let length = count * width * size_of::<f32>();
        let view = self.view(length, layout.target);
        self.chunks.push(Chunk::Later { id, length });
        self.accessor(view, count, layout)
    }

    /// Adds an accessor of `count` numbers that are all zero but for those at `indices`; returns its index.
    pub(super) fn push_sparse(&mut self, count: usize, indices: &[u32], values: &[f32]) -> usize {
        let mut view = |bytes: Vec<u8>| {
            let view = self.view(bytes.len(), Target::Other);
            self.chunks.push(Chunk::Ready(Cow::Owned(bytes)));
            view
        };
        let rows = view(bytemuck::cast_slice(indices).to_vec());
        let numbers = view(bytemuck::cast_slice(values).to_vec());
        self.accessors.push(json!({
            "componentType": F32,
            "count": count,
            "type": "SCALAR",
            "sparse": {
                "count": indices.len(),
                "indices": { "bufferView": rows, "componentType": U32 },
                "values": { "bufferView": numbers },
            },
        }));
        self.accessors.len() - 1
    }

    /// Adds a view without an accessor, such as a picture; returns its index.
    pub(super) fn push_view(&mut self, bytes: &'a [u8]) -> usize {
        let view = self.view(bytes.len(), Target::Other);
        self.chunks.push(Chunk::Ready(Cow::Borrowed(bytes)));
        view
    }

    /// Sets the smallest and largest values of an accessor.
    pub(super) fn set_bounds(&mut self, accessor: usize, min: &[f32], max: &[f32]) {
        self.accessors[accessor]["min"] = json!(min);
        self.accessors[accessor]["max"] = json!(max);
    }

    /// [`set_bounds`](Self::set_bounds) for vectors.
    pub(super) fn set_bounds_of(&mut self, accessor: usize, vectors: &[Vec3]) {
        let (min, max) = bounds(vectors);
        self.set_bounds(accessor, &min.to_array(), &max.to_array());
    }

    fn view(&mut self, length: usize, target: Target) -> usize {
        let mut view = json!({ "buffer": 0, "byteLength": length });
        if self.length > 0 {
            view["byteOffset"] = json!(self.length);
        }
        match target {
            Target::Vertices => view["target"] = json!(34962),
            Target::Indices => view["target"] = json!(34963),
            Target::Other => {}
        }
        self.length += padded(length);
        self.views.push(view);
        self.views.len() - 1
    }

    fn accessor(&mut self, view: usize, count: usize, layout: Layout) -> usize {
        self.accessors.push(json!({
            "bufferView": view,
            "componentType": layout.component,
            "count": count,
            "type": layout.kind,
        }));
        self.accessors.len() - 1
    }

    /// Refuses what does not fit into a binary file, before any work is done for it.
    pub(super) fn check_length(&self) -> io::Result<()> {
        if u32::try_from(self.length).is_ok() { Ok(()) } else { Err(too_long()) }
    }

    /// Writes the binary form: `document` and this buffer.
    pub(super) fn write_glb(
        mut self,
        mut document: Map<String, Value>,
        make: Make<'_>,
        out: &mut impl Write,
    ) -> io::Result<()> {
        self.describe(&mut document);
        if self.length > 0 {
            document.insert("buffers".into(), json!([{ "byteLength": self.length }]));
        }
        let mut text = serde_json::to_vec(&document)?;
        text.resize(padded(text.len()), b' ');
        let data = if self.length > 0 { 8 + self.length } else { 0 };
        let total = u32::try_from(12 + 8 + text.len() + data).map_err(|_overflow| too_long())?;
        out.write_all(MAGIC)?;
        out.write_all(&2_u32.to_le_bytes())?;
        out.write_all(&total.to_le_bytes())?;
        out.write_all(&(text.len() as u32).to_le_bytes())?;
        out.write_all(JSON)?;
        out.write_all(&text)?;
        if self.length > 0 {
            out.write_all(&(self.length as u32).to_le_bytes())?;
            out.write_all(BIN)?;
            self.write_data(make, out)?;
        }
        Ok(())
    }

    /// Writes the text form: `document` with this buffer in it as base64.
    pub(super) fn write_text(
        mut self,
        mut document: Map<String, Value>,
        out: &mut impl Write,
    ) -> io::Result<()> {
        self.describe(&mut document);
        let text = serde_json::to_vec(&document)?;
        if self.length == 0 {
            return out.write_all(&text);
        }
        write!(out, "{{\"buffers\":[{{\"byteLength\":{},", self.length)?;
        write!(out, "\"uri\":\"data:application/octet-stream;base64,")?;
        let mut encoder = EncoderWriter::new(&mut *out, &STANDARD);
        self.write_data(&mut |_| Ok(Vec::new()), &mut encoder)?;
        encoder.finish()?;
        drop(encoder);
        write!(out, "\"}}],")?;
        // The document is an object that is never empty: go on after its opening brace.
        out.write_all(&text[1..])
    }

    fn describe(&mut self, document: &mut Map<String, Value>) {
        insert_list(document, "accessors", std::mem::take(&mut self.accessors));
        insert_list(document, "bufferViews", std::mem::take(&mut self.views));
    }

    fn write_data(&self, make: Make<'_>, out: &mut impl Write) -> io::Result<()> {
        for chunk in &self.chunks {
            let made;
            let bytes = match chunk {
                Chunk::Ready(bytes) => bytes.as_ref(),
                Chunk::Later { id, length } => {
                    made = make(*id)?;
                    if made.len() != *length {
                        return Err(io::Error::other("a frame has another size than announced"));
                    }
                    &made
                }
            };
            out.write_all(bytes)?;
            out.write_all(&[0; 3][..padded(bytes.len()) - bytes.len()])?;
        }
        Ok(())
    }
}

fn too_long() -> io::Error {
    let what = "a binary glTF file ends at 4 GB: write fewer frames, or USD or PC2";
    io::Error::new(io::ErrorKind::InvalidInput, what)
}

/// Adds a list, which glTF does not want to be empty.
pub(super) fn insert_list(document: &mut Map<String, Value>, key: &str, list: Vec<Value>) {
    if !list.is_empty() {
        document.insert(key.to_owned(), Value::Array(list));
    }
}

/// Smallest and largest coordinates.
pub(super) fn bounds(vectors: &[Vec3]) -> (Vec3, Vec3) {
    let start = (Vec3::INFINITY, Vec3::NEG_INFINITY);
    vectors.iter().fold(start, |(min, max), &v| (min.min(v), max.max(v)))
}

fn as_bytes<T: Pod>(values: Cow<'_, [T]>) -> Cow<'_, [u8]> {
    match values {
        Cow::Borrowed(values) => Cow::Borrowed(bytemuck::cast_slice(values)),
        Cow::Owned(values) => Cow::Owned(bytemuck::cast_slice(&values).to_vec()),
    }
}
