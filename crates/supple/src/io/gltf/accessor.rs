//! Accessors: numbers out of buffers, every claim checked against the bytes that are there.
//!
//! An accessor may be backed by bytes (packed or strided), by zeros, and be patched sparsely. Zeros
//! cost a file nothing, and many objects may name one accessor, so all that is decoded is charged
//! to a budget in proportion to the file.

use std::borrow::Cow;
use std::cell::{Cell, RefCell};
use std::collections::{HashMap, HashSet};

use bytemuck::Pod;

use super::document::{Accessor, BufferView, Compressed, Document, Int};
use super::meshopt::{Filter, Layout, Mode};
use crate::io::uri::{self, FetchError};
use crate::io::{Malformed, Place, Warning};
use crate::mesh::Values;

/// Reads what a URI names.
pub(super) type Fetch<'a> = &'a dyn Fn(&str) -> Result<Vec<u8>, FetchError>;

/// Decoded bytes allowed for each byte of the file and its buffers. A hundred sparse morph targets
/// of a mesh that fills half the file need 50; nothing real was seen to need more.
const BUDGET_PER_BYTE: u64 = 64;
/// Decoded bytes allowed whatever the size of the file.
const BUDGET_BASE: u64 = 16 << 20;
/// Bytes that may be decoded a second time and more often, for each byte of the file: several meshes may name one
/// accessor, which costs a file nothing.
const AGAIN_PER_BYTE: u64 = 3;

/// The buffers of a file and how to read them.
pub(super) struct Data<'a> {
    document: &'a Document<'a>,
    /// What was fetched, each once, however many buffers name it.
    fetched: Vec<Cow<'a, [u8]>>,
    /// Which of those a buffer is, and how many bytes of it; `None` for a buffer that the file names but
    /// does not have.
    buffers: Vec<Option<(usize, usize)>>,
    /// The bytes of views that are compressed and whose buffer is not there.
    unpacked: Vec<Option<Vec<u8>>>,
    budget: Cell<u64>,
    /// The accessors that were decoded, and what may still be decoded again.
    decoded: RefCell<HashSet<u64>>,
    again: Cell<u64>,
}

/// What a sparse accessor lists.
pub(super) struct Patches<N> {
    /// Elements of the accessor in all.
    pub(super) of: usize,
    /// Which of them are listed.
    pub(super) indices: Vec<u32>,
    /// Their numbers.
    pub(super) values: Vec<N>,
}

impl<'a> Data<'a> {
    /// Fetches all buffers.
    pub(super) fn load(
        document: &'a Document<'a>,
        (file_len, bin): (usize, Option<&'a [u8]>),
        fetch: Fetch<'_>,
        warnings: &mut Vec<Warning>,
    ) -> Result<Self, Malformed> {
        let mut total = file_len as u64;
        let (mut fetched, mut buffers) = (Vec::<Cow<'a, [u8]>>::new(), Vec::new());
        let mut known: HashMap<&str, usize> = HashMap::new();
        for (i, buffer) in document.buffers.iter().enumerate() {
            if is_fallback(document, i) {
                buffers.push(None);
                continue;
            }
            let uri = buffer.uri.as_deref();
            let again = uri.and_then(|uri| known.get(uri).copied());
            let which = match again {
                Some(which) => Some(which),
                None => load_buffer(document, i, bin, fetch)?.map(|bytes| {
                    total += if let Cow::Owned(owned) = &bytes { owned.len() as u64 } else { 0 };
                    fetched.push(bytes);
                    fetched.len() - 1
                }),
            };
            if let (Some(uri), Some(which)) = (uri, which) {
                known.insert(uri, which);
            }
            if which.is_none() {
                let place = Place::Json(format!("buffers[{i}]"));
                warnings.push(Warning::new(place, "the buffer has no data in the file"));
            }
            let length = which.map(|which| claimed(document, i, &fetched[which])).transpose()?;
            buffers.push(which.zip(length));
        }
        let budget = Cell::new(total.saturating_mul(BUDGET_PER_BYTE).saturating_add(BUDGET_BASE));
        let again = total.saturating_mul(AGAIN_PER_BYTE).saturating_add(BUDGET_BASE);
        let (decoded, again) = (RefCell::default(), Cell::new(again));
        let unpacked = Vec::new();
        let mut data = Self { document, fetched, buffers, unpacked, budget, decoded, again };
        data.unpacked = data.unpack()?;
        Ok(data)
    }

    /// Decompresses the views whose buffer is not there.
    fn unpack(&self) -> Result<Vec<Option<Vec<u8>>>, Malformed> {
        let views = self.document.buffer_views.iter().enumerate();
        let one = |(i, view): (usize, &BufferView)| {
            let Some((packed, name)) = view.extensions.one() else { return Ok(None) };
            if matches!(self.buffers.get(view.buffer.index()), Some(Some(_))) {
                return Ok(None);
            }
            self.unpack_view(packed, &format!("bufferViews[{i}].extensions.{name}")).map(Some)
        };
        views.map(one).collect()
    }

    fn unpack_view(&self, packed: &Compressed, place: &str) -> Result<Vec<u8>, Malformed> {
        let wrong = |what: String| Malformed::new(Place::Json(place.to_owned()), what, AGAIN);
        let mode = Mode::from_name(&packed.mode);
        let mode = mode.ok_or_else(|| wrong(format!("unknown mode '{}'", packed.mode)))?;
        let filter = Filter::from_name(packed.filter.as_deref());
        let filter = filter.ok_or_else(|| wrong(format!("unknown filter {:?}", packed.filter)))?;
        let (count, stride) = (packed.count.index(), packed.byte_stride.index());
        let layout = Layout { mode, filter, count, stride };
        layout.check().map_err(wrong)?;
        self.charge(count, stride, || place.to_owned())?;
        let range = (packed.byte_offset.0, packed.byte_length.0);
        let stream = self.bytes(packed.buffer, range, |field| format!("{place}.{field}"))?;
        layout.decode(stream).map_err(wrong)
    }

    /// A part of a buffer.
    fn bytes(
        &self,
        id: Int,
        (start, len): (u64, u64),
        at: impl Fn(&str) -> String,
    ) -> Result<&[u8], Malformed> {
        let wrong = |field: &str, what: String| Malformed::new(Place::Json(at(field)), what, AGAIN);
        let buffer = self.buffers.get(id.index());
        let buffer =
            buffer.ok_or_else(|| wrong("buffer", format!("there is no buffer {}", id.0)))?;
        let (which, length) = buffer
            .ok_or_else(|| wrong("buffer", format!("buffer {} has no data in the file", id.0)))?;
        let buffer = &self.fetched[which][..length];
        slice(buffer, start, len).ok_or_else(|| {
            let what = format!("bytes {start} to {start}+{len} of a buffer of {}", buffer.len());
            wrong("byteLength", what)
        })
    }

    /// How many elements an accessor has.
    pub(super) fn count(&self, accessor: Int, place: &str) -> Result<usize, Malformed> {
        Ok(self.accessor(accessor, place)?.count.index())
    }

    /// How many numbers each element of an accessor has.
    pub(super) fn width(&self, accessor: Int, place: &str) -> Result<usize, Malformed> {
        width(self.accessor(accessor, place)?, accessor)
    }

    /// Decodes floats, normalised or plain integers as vectors of floats.
    pub(super) fn floats<T: Pod>(&self, accessor: Int, place: &str) -> Result<Vec<T>, Malformed> {
        self.read::<f32, T>(accessor, place)
    }

    /// Decodes unsigned integers.
    pub(super) fn integers<T: Pod>(&self, accessor: Int, place: &str) -> Result<Vec<T>, Malformed> {
        self.check_unsigned(accessor, place)?;
        self.read::<u32, T>(accessor, place)
    }

    /// Decodes a list of indices, a multiple of three long.
    pub(super) fn triangles(&self, indices: Int, place: &str) -> Result<Vec<[u32; 3]>, Malformed> {
        self.check_unsigned(indices, place)?;
        self.read_as::<u32, [u32; 3]>(indices, 1, place)
    }

    fn check_unsigned(&self, accessor: Int, place: &str) -> Result<(), Malformed> {
        let component = self.accessor(accessor, place)?.component_type;
        if matches!(Component::from_code(component), Some(c) if c.is_unsigned()) {
            return Ok(());
        }
        let what = format!("componentType {} where unsigned integers are needed", component.0);
        let place = Place::Json(format!("accessors[{}].componentType", accessor.0));
        Err(Malformed::new(place, what, AGAIN))
    }

    /// Decodes scalars or vectors of any width.
    pub(super) fn values(&self, accessor: Int, place: &str) -> Result<Values, Malformed> {
        Ok(match self.width(accessor, place)? {
            1 => Values::Scalar(self.floats(accessor, place)?),
            2 => Values::Vec2(self.floats(accessor, place)?),
            3 => Values::Vec3(self.floats(accessor, place)?),
            _ => Values::Vec4(self.floats(accessor, place)?),
        })
    }

    /// The bytes of a buffer view, and the stride it sets.
    pub(super) fn view(&self, view: Int, place: &str) -> Result<(&[u8], Option<usize>), Malformed> {
        let found = self.document.buffer_views.get(view.index());
        let found = found.ok_or_else(|| missing(place, "buffer view", view))?;
        let stride = found.byte_stride.map(Int::index);
        if let Some(Some(bytes)) = self.unpacked.get(view.index()) {
            return Ok((bytes, stride));
        }
        let range = (found.byte_offset.0, found.byte_length.0);
        let bytes =
            self.bytes(found.buffer, range, |field| format!("bufferViews[{}].{field}", view.0))?;
        Ok((bytes, stride))
    }

    fn accessor(&self, accessor: Int, place: &str) -> Result<&Accessor, Malformed> {
        let found = self.document.accessors.get(accessor.index());
        found.ok_or_else(|| missing(place, "accessor", accessor))
    }

    /// Decodes elements that are a `T` each.
    fn read<N: Number, T: Pod>(&self, id: Int, place: &str) -> Result<Vec<T>, Malformed> {
        self.read_as::<N, T>(id, size_of::<T>() / size_of::<N>(), place)
    }

    /// Decodes elements of `wanted` numbers into as many `T` as they fill.
    fn read_as<N: Number, T: Pod>(
        &self,
        id: Int,
        wanted: usize,
        place: &str,
    ) -> Result<Vec<T>, Malformed> {
        let accessor = self.accessor(id, place)?;
        let width = width(accessor, id)?;
        if width != wanted {
            let what = format!("'{}' where {wanted} numbers an element are needed", accessor.kind);
            let at = Place::Json(format!("accessors[{}].type", id.0));
            return Err(Malformed::new(at, what, AGAIN));
        }
        let base = self.base(accessor, id, width)?;
        let at = || format!("accessors[{}].count", id.0);
        self.charge(base.count, width * size_of::<N>(), at)?;
        if !self.decoded.borrow_mut().insert(id.0) {
            pay(&self.again, base.count, width * size_of::<N>(), at)?;
        }
        if N::is_plain(&base) && accessor.sparse.is_none() {
            // What most files hold: copied as it is, without clearing the memory first.
            let elements = base.bytes.chunks_exact(size_of::<T>());
            return Ok(elements.map(bytemuck::pod_read_unaligned).collect());
        }
        let mut values = vec![T::zeroed(); base.count * width * size_of::<N>() / size_of::<T>()];
        let numbers: &mut [N] = bytemuck::cast_slice_mut(&mut values);
        N::decode(&base, numbers);
        if accessor.sparse.is_some() {
            self.patch(accessor, id, &base, numbers)?;
        }
        Ok(values)
    }

    /// The elements of an accessor before the sparse patch.
    fn base(&self, accessor: &Accessor, id: Int, width: usize) -> Result<Elements<'_>, Malformed> {
        let at = |field: &str| Place::Json(format!("accessors[{}].{field}", id.0));
        let component = component(accessor.component_type, || at("componentType"))?;
        let size = component.size() * width;
        let count = accessor.count.index();
        let Some(view) = accessor.buffer_view else {
            let normalized = accessor.normalized;
            return Ok(Elements { bytes: &[], stride: size, count, width, component, normalized });
        };
        let (bytes, stride) = self.view(view, &format!("accessors[{}].bufferView", id.0))?;
        let stride = stride.filter(|&s| s != 0).unwrap_or(size);
        if stride < size {
            let what = format!("elements of {size} bytes in a view with stride {stride}");
            return Err(Malformed::new(at("bufferView"), what, AGAIN));
        }
        let needed = needed(accessor.count.0, stride, size);
        let bytes = needed.and_then(|needed| slice(bytes, accessor.byte_offset.0, needed));
        let bytes = bytes.ok_or_else(|| {
            let what = format!("{count} elements do not fit in buffer view {}", view.0);
            Malformed::new(at("count"), what, AGAIN)
        })?;
        let normalized = accessor.normalized;
        Ok(Elements { bytes, stride, count, width, component, normalized })
    }

    /// The scalars of an accessor that is zero but for some of them; `None` for any other accessor.
    pub(super) fn sparse(&self, id: Int, place: &str) -> Result<Option<Patches<f32>>, Malformed> {
        let accessor = self.accessor(id, place)?;
        let width = width(accessor, id)?;
        if accessor.buffer_view.is_some() || accessor.sparse.is_none() || width != 1 {
            return Ok(None);
        }
        let base = self.base(accessor, id, width)?;
        self.patches(accessor, id, &base)
    }

    /// Overwrites the elements that a sparse accessor lists.
    fn patch<N: Number>(
        &self,
        accessor: &Accessor,
        id: Int,
        base: &Elements<'_>,
        numbers: &mut [N],
    ) -> Result<(), Malformed> {
        let Some(patches) = self.patches::<N>(accessor, id, base)? else { return Ok(()) };
        let values = patches.values.chunks_exact(base.width);
        for (&row, value) in patches.indices.iter().zip(values) {
            let Some(slot) = numbers.chunks_exact_mut(base.width).nth(row as usize) else {
                let place = Place::Json(format!("accessors[{}].sparse.indices", id.0));
                let what = format!("element {row} of {}", base.count);
                return Err(Malformed::new(place, what, AGAIN));
            };
            slot.copy_from_slice(value);
        }
        Ok(())
    }

    /// Which elements a sparse accessor lists, and what they are.
    fn patches<N: Number>(
        &self,
        accessor: &Accessor,
        id: Int,
        base: &Elements<'_>,
    ) -> Result<Option<Patches<N>>, Malformed> {
        let Some(sparse) = &accessor.sparse else { return Ok(None) };
        let at = |field: &str| format!("accessors[{}].sparse.{field}", id.0);
        let wrong =
            |field: &str, what: String| Err(Malformed::new(Place::Json(at(field)), what, AGAIN));
        if sparse.count.index() > base.count {
            return wrong("count", format!("{} of {} elements", sparse.count.0, base.count));
        }
        let count = sparse.count.index();
        let packed = |view: Int, offset: Int, size: usize, field: &str| {
            let (bytes, _) = self.view(view, &at(&format!("{field}.bufferView")))?;
            slice(bytes, offset.0, (count * size) as u64).ok_or_else(|| {
                let what = format!("{count} elements do not fit in buffer view {}", view.0);
                Malformed::new(Place::Json(at(field)), what, AGAIN)
            })
        };
        let code = sparse.indices.component_type;
        let index = component(code, || Place::Json(at("indices.componentType")))?;
        if !index.is_unsigned() {
            return wrong(
                "indices.componentType",
                format!("{} is not an unsigned integer", code.0),
            );
        }
        let (view, offset) = (sparse.indices.buffer_view, sparse.indices.byte_offset);
        let bytes = packed(view, offset, index.size(), "indices")?;
        let rows =
            Elements { bytes, stride: index.size(), count, width: 1, component: index, ..*base };
        let stride = base.component.size() * base.width;
        let (view, offset) = (sparse.values.buffer_view, sparse.values.byte_offset);
        let bytes = packed(view, offset, stride, "values")?;
        let patches = Elements { bytes, stride, count, ..*base };
        let mut indices = vec![0_u32; count];
        u32::decode(&rows, &mut indices);
        let mut values = vec![N::zeroed(); count * base.width];
        N::decode(&patches, &mut values);
        Ok(Some(Patches { of: base.count, indices, values }))
    }

    /// Pays for `count` elements of `size` bytes before they are allocated.
    pub(super) fn charge(
        &self,
        count: usize,
        size: usize,
        place: impl FnOnce() -> String,
    ) -> Result<(), Malformed> {
        pay(&self.budget, count, size, place)
    }
}

/// Takes the bytes of some elements from a budget.
fn pay(
    budget: &Cell<u64>,
    count: usize,
    size: usize,
    place: impl FnOnce() -> String,
) -> Result<(), Malformed> {
    let cost = (count as u64).saturating_mul(size as u64);
    let Some(left) = budget.get().checked_sub(cost) else {
        let what = format!("{count} elements are out of proportion to the size of the file");
        return Err(Malformed::new(Place::Json(place()), what, AGAIN));
    };
    budget.set(left);
    Ok(())
}

/// What to do about a reference or a size that makes no sense.
pub(super) const AGAIN: &str = "the file is damaged: export it again";

/// An error for an index that names nothing.
pub(super) fn missing(place: &str, what: &str, index: Int) -> Malformed {
    let what = format!("there is no {what} {}", index.0);
    Malformed::new(Place::Json(place.to_owned()), what, AGAIN)
}

fn load_buffer<'a>(
    document: &Document<'_>,
    index: usize,
    bin: Option<&'a [u8]>,
    fetch: Fetch<'_>,
) -> Result<Option<Cow<'a, [u8]>>, Malformed> {
    let buffer = &document.buffers[index];
    let at = |field: &str| Place::Json(format!("buffers[{index}].{field}"));
    Ok(match &buffer.uri {
        Some(uri) => {
            let fetched = uri::data(uri).unwrap_or_else(|| fetch(uri));
            let wrong = |e: FetchError| Malformed::new(at("uri"), e.to_string(), e.fix());
            Some(Cow::Owned(fetched.map_err(wrong)?))
        }
        None => bin.filter(|_| index == 0).map(Cow::Borrowed),
    })
}

/// Whether a buffer is for readers that cannot decompress: it says so, or has no bytes and compressed views alone.
fn is_fallback(document: &Document<'_>, index: usize) -> bool {
    let buffer = &document.buffers[index];
    let is_marked = buffer.extensions.one().is_some_and(|(mark, _)| mark.fallback);
    let mut views = document.buffer_views.iter().filter(|v| v.buffer.index() == index).peekable();
    let is_empty = buffer.uri.is_none() && index > 0;
    is_marked || (is_empty && views.peek().is_some() && views.all(|v| v.extensions.one().is_some()))
}

/// How many bytes a buffer says it has, if they are there.
fn claimed(document: &Document<'_>, index: usize, bytes: &[u8]) -> Result<usize, Malformed> {
    let claimed = document.buffers[index].byte_length.index();
    if bytes.len() < claimed {
        let what = format!("the buffer claims {claimed} bytes and has {}", bytes.len());
        let at = Place::Json(format!("buffers[{index}].byteLength"));
        return Err(Malformed::new(at, what, AGAIN));
    }
    Ok(claimed)
}

fn slice(bytes: &[u8], start: u64, len: u64) -> Option<&[u8]> {
    let start = usize::try_from(start).ok()?;
    let end = start.checked_add(usize::try_from(len).ok()?)?;
    bytes.get(start..end)
}

/// Bytes that `count` elements span.
fn needed(count: u64, stride: usize, size: usize) -> Option<u64> {
    match count.checked_sub(1) {
        None => Some(0),
        Some(before) => before.checked_mul(stride as u64)?.checked_add(size as u64),
    }
}

fn width(accessor: &Accessor, id: Int) -> Result<usize, Malformed> {
    Ok(match accessor.kind.as_str() {
        "SCALAR" => 1,
        "VEC2" => 2,
        "VEC3" => 3,
        "VEC4" | "MAT2" => 4,
        "MAT3" => 9,
        "MAT4" => 16,
        other => {
            let place = Place::Json(format!("accessors[{}].type", id.0));
            return Err(Malformed::new(place, format!("unknown type '{other}'"), AGAIN));
        }
    })
}

/// How one number is stored.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Component {
    I8,
    U8,
    I16,
    U16,
    U32,
    F32,
}

impl Component {
    fn from_code(code: Int) -> Option<Self> {
        Some(match code.0 {
            5120 => Self::I8,
            5121 => Self::U8,
            5122 => Self::I16,
            5123 => Self::U16,
            5125 => Self::U32,
            5126 => Self::F32,
            _ => return None,
        })
    }

    fn size(self) -> usize {
        match self {
            Self::I8 | Self::U8 => 1,
            Self::I16 | Self::U16 => 2,
            Self::U32 | Self::F32 => 4,
        }
    }

    fn is_unsigned(self) -> bool {
        matches!(self, Self::U8 | Self::U16 | Self::U32)
    }
}

fn component(code: Int, place: impl FnOnce() -> Place) -> Result<Component, Malformed> {
    Component::from_code(code).ok_or_else(|| {
        Malformed::new(place(), format!("{} is not a component type", code.0), AGAIN)
    })
}

/// Where the elements of an accessor lie; no bytes mean zeros.
struct Elements<'a> {
    bytes: &'a [u8],
    stride: usize,
    count: usize,
    width: usize,
    component: Component,
    normalized: bool,
}

impl Elements<'_> {
    /// Converts every component, of `B` bytes, into `out`.
    fn each<const B: usize, N>(&self, out: &mut [N], convert: impl Fn([u8; B]) -> N) {
        if self.stride == B * self.width {
            let (components, _) = self.bytes.as_chunks::<B>();
            for (slot, &component) in out.iter_mut().zip(components) {
                *slot = convert(component);
            }
            return;
        }
        let rows = out.chunks_exact_mut(self.width);
        for (row, element) in rows.zip(self.bytes.chunks(self.stride)) {
            let (components, _) = element.as_chunks::<B>();
            for (slot, &component) in row.iter_mut().zip(components) {
                *slot = convert(component);
            }
        }
    }

    /// True if there are bytes, and they are the numbers of this machine one after the other.
    fn holds_plain(&self, component: Component) -> bool {
        cfg!(target_endian = "little")
            && !self.bytes.is_empty()
            && self.component == component
            && self.stride == component.size() * self.width
    }
}

/// A kind of number that accessors decode to.
trait Number: Pod {
    /// True if the bytes of `elements` are such numbers already.
    fn is_plain(elements: &Elements<'_>) -> bool;

    /// Fills `out` with the components of `elements`.
    fn decode(elements: &Elements<'_>, out: &mut [Self]);
}

impl Number for f32 {
    fn is_plain(elements: &Elements<'_>) -> bool {
        elements.holds_plain(Component::F32)
    }

    fn decode(elements: &Elements<'_>, out: &mut [Self]) {
        if elements.bytes.is_empty() {
            return;
        }
        match (elements.component, elements.normalized) {
            (Component::F32, _) => elements.each(out, Self::from_le_bytes),
            (Component::I8, false) => elements.each(out, |b| i8::from_le_bytes(b).into()),
            (Component::U8, false) => elements.each(out, |[b]| b.into()),
            (Component::I16, false) => elements.each(out, |b| i16::from_le_bytes(b).into()),
            (Component::U16, false) => elements.each(out, |b| u16::from_le_bytes(b).into()),
            (Component::U32, false) => elements.each(out, |b| u32::from_le_bytes(b) as Self),
            (Component::I8, true) => {
                elements.each(out, |b| (Self::from(i8::from_le_bytes(b)) / 127.0).max(-1.0));
            }
            (Component::U8, true) => elements.each(out, |[b]| Self::from(b) / 255.0),
            (Component::I16, true) => {
                elements.each(out, |b| (Self::from(i16::from_le_bytes(b)) / 32767.0).max(-1.0));
            }
            (Component::U16, true) => {
                elements.each(out, |b| Self::from(u16::from_le_bytes(b)) / 65535.0);
            }
            (Component::U32, true) => elements
                .each(out, |b| (f64::from(u32::from_le_bytes(b)) / f64::from(u32::MAX)) as Self),
        }
    }
}

impl Number for u32 {
    fn is_plain(elements: &Elements<'_>) -> bool {
        elements.holds_plain(Component::U32)
    }

    /// Signed integers and floats are refused before.
    fn decode(elements: &Elements<'_>, out: &mut [Self]) {
        if elements.bytes.is_empty() {
            return;
        }
        match elements.component {
            Component::U8 | Component::I8 => elements.each(out, |[b]| b.into()),
            Component::U16 | Component::I16 => {
                elements.each(out, |b| u16::from_le_bytes(b).into());
            }
            Component::U32 | Component::F32 => elements.each(out, Self::from_le_bytes),
        }
    }
}
