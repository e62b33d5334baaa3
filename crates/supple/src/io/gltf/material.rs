//! Materials and pictures.

use std::collections::HashMap;

use super::accessor::{Data, Fetch, missing};
use super::document::{self, Document};
use crate::io::uri;
use crate::io::{Malformed, Place, Warning};
use crate::rig::asset::{Alpha, Image, Material};

/// Reads all materials and the pictures they use as base colour.
pub(super) fn read(
    document: &Document<'_>,
    data: &Data<'_>,
    fetch: Fetch<'_>,
    warnings: &mut Vec<Warning>,
) -> Result<(Vec<Material>, Vec<Image>), Malformed> {
    let mut images = Images::default();
    let mut materials = Vec::new();
    for (i, material) in document.materials.iter().enumerate() {
        let surface = &material.pbr_metallic_roughness;
        let at = |field: &str| Place::Json(format!("materials[{i}].{field}"));
        let others = [
            &material.normal_texture,
            &material.occlusion_texture,
            &material.emissive_texture,
            &surface.metallic_roughness_texture,
        ];
        if others.iter().any(|t| t.is_some()) {
            let what = "only the base colour texture was kept";
            warnings.push(Warning::new(Place::Json(format!("materials[{i}]")), what));
        }
        let mut base_color_image = None;
        if let Some(info) = &surface.base_color_texture {
            let field = "pbrMetallicRoughness.baseColorTexture";
            if info.tex_coord.0 != 0 {
                let what = format!("uses TEXCOORD_{}; 'uv' is used instead", info.tex_coord.0);
                warnings.push(Warning::new(at(field), what));
            }
            let Some(texture) = document.textures.get(info.index.index()) else {
                return Err(missing(&at(field).to_string(), "texture", info.index));
            };
            if let Some(source) = texture.source {
                if source.index() >= document.images.len() {
                    let place = format!("textures[{}].source", info.index.0);
                    return Err(missing(&place, "image", source));
                }
                base_color_image =
                    images.index(source.index(), document, (data, fetch), warnings)?;
            }
        }
        materials.push(Material {
            name: material.name.clone(),
            base_color: surface.base_color_factor.unwrap_or([1.0; 4]),
            base_color_image,
            metallic: surface.metallic_factor.unwrap_or(1.0),
            roughness: surface.roughness_factor.unwrap_or(1.0),
            alpha: alpha(material, || at("alphaMode"), warnings),
            double_sided: material.double_sided,
        });
    }
    Ok((materials, images.list))
}

fn alpha(
    material: &document::Material,
    place: impl FnOnce() -> Place,
    warnings: &mut Vec<Warning>,
) -> Alpha {
    match material.alpha_mode.as_deref() {
        None | Some("OPAQUE") => Alpha::Opaque,
        Some("MASK") => Alpha::Mask(material.alpha_cutoff.unwrap_or(0.5)),
        Some("BLEND") => Alpha::Blend,
        Some(other) => {
            warnings.push(Warning::new(place(), format!("unknown alpha mode '{other}': opaque")));
            Alpha::Opaque
        }
    }
}

/// The pictures read so far.
#[derive(Default)]
struct Images<'d> {
    list: Vec<Image>,
    /// For each source that was asked for: its place in the list, if it could be read. A hundred entries may name
    /// one source.
    read: HashMap<(Option<u64>, Option<&'d str>), Option<u32>>,
}

impl<'d> Images<'d> {
    fn index(
        &mut self,
        i: usize,
        document: &'d Document<'_>,
        (data, fetch): (&Data<'_>, Fetch<'_>),
        warnings: &mut Vec<Warning>,
    ) -> Result<Option<u32>, Malformed> {
        let image = &document.images[i];
        let source = (image.buffer_view.map(|view| view.0), image.uri.as_deref());
        if let Some(known) = self.read.get(&source) {
            return Ok(*known);
        }
        let bytes = encoded(image, i, data, fetch, warnings)?;
        let mime = bytes.as_deref().and_then(mime);
        if bytes.is_some() && mime.is_none() {
            let place = Place::Json(format!("images[{i}]"));
            warnings.push(Warning::new(place, "neither PNG nor JPEG: left out"));
        }
        let index = match (bytes, mime) {
            (Some(bytes), Some(mime)) => {
                self.list.push(Image { name: image.name.clone(), mime: mime.to_owned(), bytes });
                Some(self.list.len() as u32 - 1)
            }
            _ => None,
        };
        self.read.insert(source, index);
        Ok(index)
    }
}

/// The bytes of a picture; a missing file is only a warning, a refused one an error.
fn encoded(
    image: &document::Image<'_>,
    i: usize,
    data: &Data<'_>,
    fetch: Fetch<'_>,
    warnings: &mut Vec<Warning>,
) -> Result<Option<Vec<u8>>, Malformed> {
    if let Some(view) = image.buffer_view {
        let (bytes, _) = data.view(view, &format!("images[{i}].bufferView"))?;
        return Ok(Some(bytes.to_vec()));
    }
    let place = Place::Json(format!("images[{i}].uri"));
    let Some(uri) = &image.uri else {
        warnings.push(Warning::new(place, "the image has no data in the file"));
        return Ok(None);
    };
    match uri::data(uri).unwrap_or_else(|| fetch(uri)) {
        Ok(bytes) => Ok(Some(bytes)),
        Err(e) if e.is_refusal() => Err(Malformed::new(place, e.to_string(), e.fix())),
        Err(e) => {
            warnings.push(Warning::new(place, format!("{e}: left out")));
            Ok(None)
        }
    }
}

fn mime(bytes: &[u8]) -> Option<&'static str> {
    if bytes.starts_with(b"\x89PNG\r\n\x1a\n") {
        Some("image/png")
    } else if bytes.starts_with(b"\xff\xd8\xff") {
        Some("image/jpeg")
    } else {
        None
    }
}
