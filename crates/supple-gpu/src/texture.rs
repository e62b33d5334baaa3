//! Pictures on surfaces, and the paints of a file.

use std::sync::Arc;

use supple::Asset;

use crate::picture::Image;
use crate::view::Paint;

/// A decoded picture with its smaller versions, each half the size of the one before.
#[derive(Debug, PartialEq)]
pub struct Texture {
    levels: Vec<Image>,
}

/// Larger pictures are not read: 16k × 16k pixels are a gigabyte.
const LARGEST_SIDE: u32 = 16_384;

/// Pictures on a surface are kept at most this wide: more than any picture shows.
const KEPT_SIDE: u32 = 4096;

/// Why a picture could not be read.
#[derive(Debug, thiserror::Error)]
#[error("cannot read the picture: {0}")]
pub struct TextureError(#[from] image::ImageError);

impl Texture {
    /// A texture of the given pixels.
    #[must_use]
    pub fn new(image: Image) -> Self {
        let mut levels = vec![image.shrunk_to_fit(KEPT_SIDE, KEPT_SIDE)];
        loop {
            let last = &levels[levels.len() - 1];
            if last.width <= 1 && last.height <= 1 {
                return Self { levels };
            }
            levels.push(half(last));
        }
    }

    /// Decodes a PNG, JPEG, WebP or GIF.
    ///
    /// # Errors
    ///
    /// If the bytes are none of these, are damaged, or hold more than 16,384 pixels a side.
    pub fn decode(bytes: &[u8]) -> Result<Self, TextureError> {
        let mut reader = image::ImageReader::new(std::io::Cursor::new(bytes))
            .with_guessed_format()
            .map_err(image::ImageError::from)?;
        let mut limits = image::Limits::default();
        limits.max_image_width = Some(LARGEST_SIDE);
        limits.max_image_height = Some(LARGEST_SIDE);
        reader.limits(limits);
        let rgba = reader.decode()?.to_rgba8();
        Ok(Self::new(Image { width: rgba.width(), height: rgba.height(), rgba: rgba.into_raw() }))
    }

    /// True if any part of it can be seen through.
    #[must_use]
    pub fn has_alpha(&self) -> bool {
        self.levels[0].rgba.iter().skip(3).step_by(4).any(|&a| a < 255)
    }

    /// The picture and its smaller versions.
    #[must_use]
    pub fn levels(&self) -> &[Image] {
        &self.levels
    }
}

/// The picture at half the size: the mean of 2 × 2 pixels; a last odd row or column is left out.
fn half(image: &Image) -> Image {
    let (width, height) = ((image.width / 2).max(1), (image.height / 2).max(1));
    let mut rgba = Vec::with_capacity(4 * width as usize * height as usize);
    for y in 0..height {
        for x in 0..width {
            let pixel = |dx: u32, dy: u32| {
                image.pixel((2 * x + dx).min(image.width - 1), (2 * y + dy).min(image.height - 1))
            };
            let four = [pixel(0, 0), pixel(1, 0), pixel(0, 1), pixel(1, 1)];
            rgba.extend(
                (0..4).map(|c| (four.iter().map(|p| u32::from(p[c])).sum::<u32>() / 4) as u8),
            );
        }
    }
    Image { width, height, rgba }
}

/// The paints of a file's materials, in their order, for [`Body::paints`](crate::view::Body::paints).
/// A picture that cannot be read is left out with a warning.
#[must_use]
pub fn paints_of(asset: &Asset) -> (Vec<Paint>, Vec<String>) {
    let mut warnings = Vec::new();
    let textures: Vec<Option<Arc<Texture>>> = asset
        .images
        .iter()
        .enumerate()
        .map(|(i, image)| match Texture::decode(&image.bytes) {
            Ok(texture) => Some(Arc::new(texture)),
            Err(error) => {
                warnings.push(format!(
                    "image {i} '{}': {error}; its surfaces are drawn without it",
                    image.name
                ));
                None
            }
        })
        .collect();
    let paints = asset
        .materials
        .iter()
        .map(|m| Paint {
            color: m.base_color,
            texture: m.base_color_image.and_then(|i| textures.get(i as usize)?.clone()),
            metallic: m.metallic,
            roughness: m.roughness,
            alpha: m.alpha,
            smoke: false,
        })
        .collect();
    (paints, warnings)
}

#[cfg(test)]
mod tests {
    use super::*;
    use supple::asset::{Image as Encoded, Material};

    #[test]
    fn levels_go_down_to_one_pixel() {
        let texture = Texture::new(Image::filled(12, 5, [10, 20, 30, 255]));
        let sizes: Vec<_> = texture.levels().iter().map(|l| (l.width, l.height)).collect();
        assert_eq!(sizes, [(12, 5), (6, 2), (3, 1), (1, 1)]);
        assert_eq!(texture.levels()[3].pixel(0, 0), [10, 20, 30, 255]);
    }

    #[test]
    fn a_damaged_picture_is_a_warning() {
        let asset = Asset {
            materials: vec![Material { base_color_image: Some(0), ..Material::default() }],
            images: vec![Encoded {
                name: "skin".into(),
                mime: "image/png".into(),
                bytes: vec![137, 80, 78, 71, 0],
            }],
            ..Asset::default()
        };
        let (paints, warnings) = paints_of(&asset);
        assert!(paints[0].texture.is_none() && warnings[0].contains("skin"), "{warnings:?}");
    }
}
