//! Named values that travel with the vertices of a mesh.
//!
//! The names every part of Supple agrees on are the constants below; any other name is a painted
//! field. In glTF a painted field `stiffness` is the attribute `_stiffness`.

use glam::{Vec2, Vec3, Vec4};

/// Unit normals, [`Values::Vec3`].
pub const NORMAL: &str = "normal";
/// Unit tangents with handedness in `w`, [`Values::Vec4`].
pub const TANGENT: &str = "tangent";
/// Texture coordinates, [`Values::Vec2`]; further sets are `uv1`, `uv2`, ….
pub const UV: &str = "uv";
/// Linear RGBA colour, [`Values::Vec4`]; further sets are `color1`, `color2`, ….
pub const COLOR: &str = "color";

/// Which set of `base` a name is: 0 for `uv`, 1 for `uv1`; nothing for `uv0`, `uv01` and other names.
pub(crate) fn set_number(name: &str, base: &str) -> Option<u32> {
    let digits = name.strip_prefix(base)?;
    if digits.is_empty() {
        return Some(0);
    }
    let set: u32 = digits.parse().ok()?;
    (set > 0 && set.to_string() == digits).then_some(set)
}

/// Counts v from the other end, 1 − v for v, if the values are texture coordinates.
pub(crate) fn flip_if_uv(name: &str, values: &mut Values) {
    if let (Some(_), Values::Vec2(uvs)) = (set_number(name, UV), values) {
        uvs.iter_mut().for_each(|uv| uv.y = 1.0 - uv.y);
    }
}

/// The values of one attribute, one per vertex.
#[derive(Clone, Debug, PartialEq)]
pub enum Values {
    /// One number a vertex.
    Scalar(Vec<f32>),
    /// Two numbers a vertex.
    Vec2(Vec<Vec2>),
    /// Three numbers a vertex.
    Vec3(Vec<Vec3>),
    /// Four numbers a vertex.
    Vec4(Vec<Vec4>),
}

impl Values {
    /// How many vertices the values are for.
    #[must_use]
    pub fn len(&self) -> usize {
        match self {
            Self::Scalar(v) => v.len(),
            Self::Vec2(v) => v.len(),
            Self::Vec3(v) => v.len(),
            Self::Vec4(v) => v.len(),
        }
    }

    /// True if there is no value.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.len() == 0
    }

    /// Numbers a vertex: 1 to 4.
    #[must_use]
    pub fn width(&self) -> usize {
        match self {
            Self::Scalar(_) => 1,
            Self::Vec2(_) => 2,
            Self::Vec3(_) => 3,
            Self::Vec4(_) => 4,
        }
    }

    /// The values as one flat list of numbers, vertex after vertex.
    #[must_use]
    pub fn as_floats(&self) -> &[f32] {
        match self {
            Self::Scalar(v) => v,
            Self::Vec2(v) => bytemuck::cast_slice(v),
            Self::Vec3(v) => bytemuck::cast_slice(v),
            Self::Vec4(v) => bytemuck::cast_slice(v),
        }
    }

    /// As [`as_floats`](Self::as_floats), to change the numbers.
    #[must_use]
    pub fn as_floats_mut(&mut self) -> &mut [f32] {
        match self {
            Self::Scalar(v) => v,
            Self::Vec2(v) => bytemuck::cast_slice_mut(v),
            Self::Vec3(v) => bytemuck::cast_slice_mut(v),
            Self::Vec4(v) => bytemuck::cast_slice_mut(v),
        }
    }

    /// Values of `width` numbers a vertex from a flat list; `None` unless the width is 1 to 4 and
    /// divides the list.
    #[must_use]
    pub fn from_floats(width: usize, floats: Vec<f32>) -> Option<Self> {
        if !(1..=4).contains(&width) || !floats.len().is_multiple_of(width) {
            return None;
        }
        Some(match width {
            1 => Self::Scalar(floats),
            2 => Self::Vec2(bytemuck::cast_slice(&floats).to_vec()),
            3 => Self::Vec3(bytemuck::cast_slice(&floats).to_vec()),
            _ => Self::Vec4(bytemuck::cast_slice(&floats).to_vec()),
        })
    }

    /// The values at `indices`, in that order: how attributes follow a change of vertices.
    ///
    /// # Panics
    ///
    /// If an index is out of range.
    #[must_use]
    pub fn gather(&self, indices: &[u32]) -> Self {
        fn pick<T: Copy>(values: &[T], indices: &[u32]) -> Vec<T> {
            indices.iter().map(|&i| values[i as usize]).collect()
        }
        match self {
            Self::Scalar(v) => Self::Scalar(pick(v, indices)),
            Self::Vec2(v) => Self::Vec2(pick(v, indices)),
            Self::Vec3(v) => Self::Vec3(pick(v, indices)),
            Self::Vec4(v) => Self::Vec4(pick(v, indices)),
        }
    }
}

/// A named list of values, one per vertex.
#[derive(Clone, Debug, PartialEq)]
pub struct Attribute {
    /// What the values are; unique within one mesh.
    pub name: String,
    /// One value a vertex.
    pub values: Values,
}

/// The attributes of a mesh, in the order they were added; names are unique.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Attributes(Vec<Attribute>);

impl Attributes {
    /// The attribute called `name`.
    #[must_use]
    pub fn get(&self, name: &str) -> Option<&Values> {
        self.0.iter().find(|a| a.name == name).map(|a| &a.values)
    }

    /// The attribute called `name`, to change its values.
    #[must_use]
    pub fn get_mut(&mut self, name: &str) -> Option<&mut Values> {
        self.0.iter_mut().find(|a| a.name == name).map(|a| &mut a.values)
    }

    /// Sets the attribute called `name`, replacing one of that name in place.
    pub fn set(&mut self, name: impl Into<String>, values: Values) {
        let name = name.into();
        match self.0.iter_mut().find(|a| a.name == name) {
            Some(attribute) => attribute.values = values,
            None => self.0.push(Attribute { name, values }),
        }
    }

    /// Takes the attribute called `name` out.
    pub fn remove(&mut self, name: &str) -> Option<Values> {
        let at = self.0.iter().position(|a| a.name == name)?;
        Some(self.0.remove(at).values)
    }

    /// The names and values of all attributes, in order, to change the values.
    pub fn values_mut(&mut self) -> impl Iterator<Item = (&str, &mut Values)> {
        self.0.iter_mut().map(|a| (a.name.as_str(), &mut a.values))
    }

    /// All attributes, in order.
    pub fn iter(&self) -> std::slice::Iter<'_, Attribute> {
        self.0.iter()
    }

    /// How many attributes there are.
    #[must_use]
    pub fn len(&self) -> usize {
        self.0.len()
    }

    /// True if there is none.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.0.is_empty()
    }

    /// Normals, if there are any of the right width.
    #[must_use]
    pub fn normals(&self) -> Option<&[Vec3]> {
        match self.get(NORMAL) {
            Some(Values::Vec3(v)) => Some(v),
            _ => None,
        }
    }

    /// The painted scalar field called `name`.
    #[must_use]
    pub fn scalar(&self, name: &str) -> Option<&[f32]> {
        match self.get(name) {
            Some(Values::Scalar(v)) => Some(v),
            _ => None,
        }
    }

    /// The names of painted scalar fields, as a message tells them.
    #[must_use]
    pub fn known_scalars(&self) -> String {
        let is_painted = |a: &&Attribute| matches!(a.values, Values::Scalar(_));
        let names: Vec<&str> = self.iter().filter(is_painted).map(|a| a.name.as_str()).collect();
        match &names[..] {
            [] => "the mesh has none".to_owned(),
            names => format!("known: {}", names.join(", ")),
        }
    }
}

impl<'a> IntoIterator for &'a Attributes {
    type Item = &'a Attribute;
    type IntoIter = std::slice::Iter<'a, Attribute>;

    fn into_iter(self) -> Self::IntoIter {
        self.iter()
    }
}
