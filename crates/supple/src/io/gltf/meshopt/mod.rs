//! Views compressed as `EXT_meshopt_compression` and `KHR_meshopt_compression` have it.
//!
//! # Method
//!
//! A view holds a stream of elements (`attributes.rs`) or of indices (`indices.rs`); elements may have gone through a
//! filter (`filter.rs`) before. The streams are what the extensions' Appendix A says, the filters what Appendix B says;
//! versions 0 and 1 of the attributes are read under either name.
//!
//! # Limits
//!
//! Written files are not compressed.
//!
//! # References
//!
//! - A. Kapoulkine et al. `KHR_meshopt_compression`. Khronos Group.

mod attributes;
mod filter;
mod indices;
#[cfg(test)]
mod tests;

/// What a stream holds.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Mode {
    /// Elements of any kind.
    Attributes,
    /// Corners of triangles.
    Triangles,
    /// Indices in any order.
    Indices,
}

/// What was done to elements before.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Filter {
    None,
    Octahedral,
    Quaternion,
    Exponential,
    Color,
}

/// The layout of a view.
#[derive(Clone, Copy, Debug)]
pub(super) struct Layout {
    pub(super) mode: Mode,
    pub(super) filter: Filter,
    pub(super) count: usize,
    /// Bytes of an element.
    pub(super) stride: usize,
}

impl Mode {
    pub(super) fn from_name(name: &str) -> Option<Self> {
        Some(match name {
            "ATTRIBUTES" => Self::Attributes,
            "TRIANGLES" => Self::Triangles,
            "INDICES" => Self::Indices,
            _ => return None,
        })
    }
}

impl Filter {
    pub(super) fn from_name(name: Option<&str>) -> Option<Self> {
        Some(match name {
            None | Some("NONE") => Self::None,
            Some("OCTAHEDRAL") => Self::Octahedral,
            Some("QUATERNION") => Self::Quaternion,
            Some("EXPONENTIAL") => Self::Exponential,
            Some("COLOR") => Self::Color,
            Some(_) => return None,
        })
    }
}

/// What is wrong with a stream.
pub(super) type Broken = String;

impl Layout {
    /// Whether the stream and its filter can have such elements.
    pub(super) fn check(&self) -> Result<(), Broken> {
        let Self { mode, filter, count, stride } = *self;
        let fits = match mode {
            Mode::Attributes => (4..=256).contains(&stride) && stride % 4 == 0,
            Mode::Triangles | Mode::Indices => stride == 2 || stride == 4,
        };
        let is_filtered = match filter {
            Filter::None => true,
            Filter::Octahedral | Filter::Color => stride == 4 || stride == 8,
            Filter::Quaternion => stride == 8,
            Filter::Exponential => stride % 4 == 0,
        };
        let has_filter = filter == Filter::None || mode == Mode::Attributes;
        if !fits || !is_filtered || !has_filter {
            return Err(format!(
                "elements of {stride} bytes do not go with {mode:?} and {filter:?}"
            ));
        }
        if mode == Mode::Triangles && !count.is_multiple_of(3) {
            return Err(format!("{count} corners are not a multiple of three"));
        }
        Ok(())
    }

    /// The bytes of the view. The layout must have been checked, and its size too.
    pub(super) fn decode(&self, stream: &[u8]) -> Result<Vec<u8>, Broken> {
        let mut bytes = match self.mode {
            Mode::Attributes => attributes::decode(stream, self.count, self.stride)?,
            Mode::Triangles => indices::triangles(stream, self.count, self.stride)?,
            Mode::Indices => indices::sequence(stream, self.count, self.stride)?,
        };
        filter::undo(self.filter, &mut bytes, self.stride);
        Ok(bytes)
    }
}

/// A stream that is read from its start.
struct Reader<'a> {
    rest: &'a [u8],
}

impl<'a> Reader<'a> {
    fn take(&mut self, count: usize) -> Result<&'a [u8], Broken> {
        let (taken, rest) = self.rest.split_at_checked(count).ok_or("the stream is cut short")?;
        self.rest = rest;
        Ok(taken)
    }

    /// Refuses what is left over.
    fn finish(&self) -> Result<(), Broken> {
        match self.rest.len() {
            0 => Ok(()),
            left => Err(format!("{left} bytes of the stream are left over")),
        }
    }
}
