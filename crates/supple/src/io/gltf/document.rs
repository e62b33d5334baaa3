//! The JSON part of a glTF file, as far as it is read.
//!
//! Own types rather than those of a glTF crate: an index beyond 32 bits must not wrap around to
//! another object, `1.0` is an integer, what the specification makes optional is optional, and an
//! error names its place (`accessors[3].count`).

use std::borrow::Cow;
use std::collections::BTreeMap;
use std::fmt;

use serde::Deserialize;
use serde::de::{self, Deserializer, Visitor};

use crate::io::{Malformed, Place};

/// The whole document. Texts are borrowed from the file: one may be a buffer of many megabytes.
#[derive(Debug, Deserialize)]
#[serde(rename_all = "camelCase")]
pub(super) struct Document<'a> {
    pub(super) asset: Version,
    #[serde(default)]
    pub(super) extensions_used: Vec<String>,
    #[serde(default)]
    pub(super) extensions_required: Vec<String>,
    #[serde(default, borrow)]
    pub(super) buffers: Vec<Buffer<'a>>,
    #[serde(default)]
    pub(super) buffer_views: Vec<BufferView>,
    #[serde(default)]
    pub(super) accessors: Vec<Accessor>,
    #[serde(default)]
    pub(super) meshes: Vec<Mesh>,
    #[serde(default)]
    pub(super) nodes: Vec<Node>,
    #[serde(default)]
    pub(super) scenes: Vec<de::IgnoredAny>,
    #[serde(default)]
    pub(super) cameras: Vec<Camera>,
    #[serde(default)]
    pub(super) skins: Vec<Skin>,
    #[serde(default)]
    pub(super) animations: Vec<Animation>,
    #[serde(default)]
    pub(super) materials: Vec<Material>,
    #[serde(default)]
    pub(super) textures: Vec<Texture>,
    #[serde(default, borrow)]
    pub(super) images: Vec<Image<'a>>,
}

#[derive(Debug, Deserialize)]
#[serde(rename_all = "camelCase")]
pub(super) struct Version {
    pub(super) version: String,
    pub(super) min_version: Option<String>,
}

#[derive(Debug, Deserialize)]
#[serde(rename_all = "camelCase")]
pub(super) struct Buffer<'a> {
    pub(super) byte_length: Int,
    #[serde(borrow)]
    pub(super) uri: Option<Cow<'a, str>>,
    #[serde(default)]
    pub(super) extensions: Either<Fallback>,
}

/// An extension under the name it has from its vendor, or from Khronos.
#[derive(Debug, Deserialize)]
#[serde(bound(deserialize = "T: Deserialize<'de>"))]
pub(super) struct Either<T> {
    #[serde(rename = "EXT_meshopt_compression")]
    ext: Option<T>,
    #[serde(rename = "KHR_meshopt_compression")]
    khr: Option<T>,
}

impl<T> Default for Either<T> {
    fn default() -> Self {
        Self { ext: None, khr: None }
    }
}

impl<T> Either<T> {
    /// What there is, and its name.
    pub(super) fn one(&self) -> Option<(&T, &'static str)> {
        let khr = self.khr.as_ref().map(|it| (it, "KHR_meshopt_compression"));
        khr.or_else(|| self.ext.as_ref().map(|it| (it, "EXT_meshopt_compression")))
    }
}

/// Whether a buffer is for readers that cannot decompress.
#[derive(Debug, Deserialize)]
pub(super) struct Fallback {
    #[serde(default)]
    pub(super) fallback: bool,
}

#[derive(Debug, Deserialize)]
#[serde(rename_all = "camelCase")]
pub(super) struct BufferView {
    pub(super) buffer: Int,
    #[serde(default)]
    pub(super) byte_offset: Int,
    pub(super) byte_length: Int,
    pub(super) byte_stride: Option<Int>,
    #[serde(default)]
    pub(super) extensions: Either<Compressed>,
}

/// Where the bytes of a view are in fewer bytes.
#[derive(Debug, Deserialize)]
#[serde(rename_all = "camelCase")]
pub(super) struct Compressed {
    pub(super) buffer: Int,
    #[serde(default)]
    pub(super) byte_offset: Int,
    pub(super) byte_length: Int,
    pub(super) byte_stride: Int,
    pub(super) count: Int,
    pub(super) mode: String,
    pub(super) filter: Option<String>,
}

#[derive(Debug, Deserialize)]
#[serde(rename_all = "camelCase")]
pub(super) struct Accessor {
    pub(super) buffer_view: Option<Int>,
    #[serde(default)]
    pub(super) byte_offset: Int,
    pub(super) component_type: Int,
    #[serde(default)]
    pub(super) normalized: bool,
    pub(super) count: Int,
    #[serde(rename = "type")]
    pub(super) kind: String,
    pub(super) sparse: Option<Sparse>,
}

#[derive(Debug, Deserialize)]
pub(super) struct Sparse {
    pub(super) count: Int,
    pub(super) indices: SparseIndices,
    pub(super) values: SparseValues,
}

#[derive(Debug, Deserialize)]
#[serde(rename_all = "camelCase")]
pub(super) struct SparseIndices {
    pub(super) buffer_view: Int,
    #[serde(default)]
    pub(super) byte_offset: Int,
    pub(super) component_type: Int,
}

#[derive(Debug, Deserialize)]
#[serde(rename_all = "camelCase")]
pub(super) struct SparseValues {
    pub(super) buffer_view: Int,
    #[serde(default)]
    pub(super) byte_offset: Int,
}

#[derive(Debug, Deserialize)]
pub(super) struct Mesh {
    #[serde(default)]
    pub(super) name: String,
    pub(super) primitives: Vec<Primitive>,
    #[serde(default)]
    pub(super) weights: Vec<f32>,
    pub(super) extras: Option<serde_json::Value>,
}

/// Accessors by what they hold: `POSITION`, `_NAME`, ….
pub(super) type Semantics = BTreeMap<String, Int>;

#[derive(Debug, Deserialize)]
pub(super) struct Primitive {
    pub(super) attributes: Semantics,
    pub(super) indices: Option<Int>,
    pub(super) material: Option<Int>,
    pub(super) mode: Option<Int>,
    #[serde(default)]
    pub(super) targets: Vec<Semantics>,
}

#[derive(Debug, Deserialize)]
pub(super) struct Node {
    #[serde(default)]
    pub(super) name: String,
    #[serde(default)]
    pub(super) children: Vec<Int>,
    pub(super) matrix: Option<[f32; 16]>,
    pub(super) translation: Option<[f32; 3]>,
    pub(super) rotation: Option<[f32; 4]>,
    pub(super) scale: Option<[f32; 3]>,
    pub(super) mesh: Option<Int>,
    pub(super) skin: Option<Int>,
    pub(super) camera: Option<Int>,
    #[serde(default)]
    pub(super) weights: Vec<f32>,
}

#[derive(Debug, Deserialize)]
pub(super) struct Camera {
    #[serde(default)]
    pub(super) name: String,
    pub(super) perspective: Option<Perspective>,
    pub(super) orthographic: Option<Orthographic>,
}

#[derive(Debug, Deserialize)]
pub(super) struct Perspective {
    pub(super) yfov: f32,
}

#[derive(Debug, Deserialize)]
pub(super) struct Orthographic {
    pub(super) ymag: f32,
}

#[derive(Debug, Deserialize)]
#[serde(rename_all = "camelCase")]
pub(super) struct Skin {
    #[serde(default)]
    pub(super) name: String,
    pub(super) joints: Vec<Int>,
    pub(super) inverse_bind_matrices: Option<Int>,
    pub(super) skeleton: Option<Int>,
}

#[derive(Debug, Deserialize)]
pub(super) struct Animation {
    #[serde(default)]
    pub(super) name: String,
    pub(super) channels: Vec<Channel>,
    pub(super) samplers: Vec<Sampler>,
}

#[derive(Debug, Deserialize)]
pub(super) struct Channel {
    pub(super) sampler: Int,
    pub(super) target: Target,
}

#[derive(Debug, Deserialize)]
pub(super) struct Target {
    pub(super) node: Option<Int>,
    pub(super) path: String,
}

#[derive(Debug, Deserialize)]
pub(super) struct Sampler {
    pub(super) input: Int,
    pub(super) output: Int,
    pub(super) interpolation: Option<String>,
}

#[derive(Debug, Default, Deserialize)]
#[serde(rename_all = "camelCase", default)]
pub(super) struct Material {
    pub(super) name: String,
    pub(super) pbr_metallic_roughness: MetallicRoughness,
    pub(super) normal_texture: Option<de::IgnoredAny>,
    pub(super) occlusion_texture: Option<de::IgnoredAny>,
    pub(super) emissive_texture: Option<de::IgnoredAny>,
    pub(super) alpha_mode: Option<String>,
    pub(super) alpha_cutoff: Option<f32>,
    pub(super) double_sided: bool,
}

#[derive(Debug, Default, Deserialize)]
#[serde(rename_all = "camelCase", default)]
pub(super) struct MetallicRoughness {
    pub(super) base_color_factor: Option<[f32; 4]>,
    pub(super) base_color_texture: Option<TextureInfo>,
    pub(super) metallic_factor: Option<f32>,
    pub(super) roughness_factor: Option<f32>,
    pub(super) metallic_roughness_texture: Option<de::IgnoredAny>,
}

#[derive(Debug, Deserialize)]
#[serde(rename_all = "camelCase")]
pub(super) struct TextureInfo {
    pub(super) index: Int,
    #[serde(default)]
    pub(super) tex_coord: Int,
}

#[derive(Debug, Deserialize)]
pub(super) struct Texture {
    pub(super) source: Option<Int>,
}

#[derive(Debug, Deserialize)]
#[serde(rename_all = "camelCase")]
pub(super) struct Image<'a> {
    #[serde(default)]
    pub(super) name: String,
    #[serde(borrow)]
    pub(super) uri: Option<Cow<'a, str>>,
    pub(super) buffer_view: Option<Int>,
}

/// A count, an offset or an index; `2`, `2.0` and `20e-1` are the same.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord)]
pub(super) struct Int(pub(super) u64);

impl Int {
    /// As an index into a list; too large for any list if it does not fit.
    pub(super) fn index(self) -> usize {
        usize::try_from(self.0).unwrap_or(usize::MAX)
    }
}

impl<'de> Deserialize<'de> for Int {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        struct Whole;

        impl Visitor<'_> for Whole {
            type Value = Int;

            fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                write!(f, "a whole number, zero or more")
            }

            fn visit_u64<E: de::Error>(self, value: u64) -> Result<Int, E> {
                Ok(Int(value))
            }

            fn visit_f64<E: de::Error>(self, value: f64) -> Result<Int, E> {
                // Beyond 2^53 a float has no exact meaning as a count.
                let whole =
                    (0.0..=9_007_199_254_740_992.0).contains(&value) && value.fract() == 0.0;
                if whole {
                    return Ok(Int(value as u64));
                }
                Err(E::invalid_value(de::Unexpected::Float(value), &self))
            }
        }

        deserializer.deserialize_u64(Whole)
    }
}

/// Parses the JSON text.
pub(super) fn parse(json: &[u8]) -> Result<Document<'_>, Malformed> {
    let json = json.strip_prefix(b"\xef\xbb\xbf").unwrap_or(json);
    let mut deserializer = serde_json::Deserializer::from_slice(json);
    let document: Document<'_> =
        serde_path_to_error::deserialize(&mut deserializer).map_err(|e| {
            let (path, error) = (e.path().to_string(), e.into_inner());
            let place = match error.classify() {
                serde_json::error::Category::Data if path != "." => Place::Json(path),
                _ => Place::Line(error.line()),
            };
            Malformed::new(place, reason(&error), "export the file again as glTF 2.0")
        })?;
    deserializer.end().map_err(|e| {
        let what = "something follows the end of the document";
        Malformed::new(Place::Line(e.line()), what, "remove it, or export the file again")
    })?;
    Ok(document)
}

/// What is wrong with the JSON, without the line, which is the place of the error.
fn reason(error: &serde_json::Error) -> String {
    let text = error.to_string();
    let reason = text.rsplit_once(" at line ").map_or(text.as_str(), |(reason, _)| reason);
    match error.classify() {
        serde_json::error::Category::Eof => "the JSON text ends too early".to_owned(),
        serde_json::error::Category::Syntax => {
            format!("not JSON at column {}: {reason}", error.column())
        }
        _ => reason.to_owned(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn place_of(json: &str) -> Place {
        parse(json.as_bytes()).unwrap_err().place
    }

    #[test]
    fn errors_name_their_place() {
        let json = r#"{"asset":{"version":"2.0"},"accessors":[{"componentType":5126,"type":"VEC3","count":-1}]}"#;
        assert_eq!(place_of(json), Place::Json("accessors[0].count".to_owned()));
        assert_eq!(place_of("{\n\n,"), Place::Line(3));
    }

    #[test]
    fn whole_floats_are_integers_and_others_are_not() {
        let buffer = |n: &str| {
            format!(r#"{{"asset":{{"version":"2.0"}},"buffers":[{{"byteLength":{n}}}]}}"#)
        };
        for n in ["2", "2.0", "20e-1"] {
            let text = buffer(n);
            assert_eq!(parse(text.as_bytes()).unwrap().buffers[0].byte_length, Int(2), "{n}");
        }
        for n in ["1.5", "-1", "-1.0", "1e300", "\"2\"", "null"] {
            assert_eq!(place_of(&buffer(n)), Place::Json("buffers[0].byteLength".to_owned()));
        }
    }

    #[test]
    fn a_nesting_bomb_does_no_harm() {
        let open = "[".repeat(100_000);
        let bomb = format!(r#"{{"asset":{{"version":"2.0"}},"meshes":[{{"extras":{open}"#);
        assert!(parse(bomb.as_bytes()).is_err(), "kept extras are no deeper than the stack allows");
        let close = "]".repeat(100_000);
        let ignored = format!(r#"{{"asset":{{"version":"2.0"}},"extras":{open}{close}}}"#);
        assert!(parse(ignored.as_bytes()).is_ok(), "what is not read may be as deep as it likes");
    }
}
