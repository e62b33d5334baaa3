//! PNG files.

use std::path::Path;

use image::ImageEncoder as _;
use image::codecs::png::{CompressionType, FilterType, PngEncoder};

use crate::picture::Image;

/// The picture as the bytes of a PNG file.
///
/// # Errors
///
/// If the picture is empty.
pub fn encode(image: &Image) -> Result<Vec<u8>, image::ImageError> {
    let mut bytes = Vec::new();
    let encoder =
        PngEncoder::new_with_quality(&mut bytes, CompressionType::Fast, FilterType::Adaptive);
    encoder.write_image(&image.rgba, image.width, image.height, image::ExtendedColorType::Rgba8)?;
    Ok(bytes)
}

/// Writes the picture to a PNG file.
///
/// # Errors
///
/// If the picture is empty or the file cannot be written.
pub fn write(image: &Image, path: &Path) -> Result<(), image::ImageError> {
    Ok(std::fs::write(path, encode(image)?)?)
}
