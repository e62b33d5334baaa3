//! PNG files.

use std::path::{Path, PathBuf};

use image::ImageEncoder as _;
use image::codecs::png::{CompressionType, FilterType, PngEncoder};

use super::{EncodeError, same_size, save};
use crate::picture::Image;

/// The picture as the bytes of a PNG file, made quickly.
///
/// # Errors
///
/// If the picture is empty.
pub fn encode(image: &Image) -> Result<Vec<u8>, EncodeError> {
    compress(image, CompressionType::Fast)
}

/// The picture as the bytes of a PNG file of half the size, in several seconds: for documents.
///
/// # Errors
///
/// If the picture is empty.
pub fn encode_small(image: &Image) -> Result<Vec<u8>, EncodeError> {
    compress(image, CompressionType::Best)
}

fn compress(image: &Image, effort: CompressionType) -> Result<Vec<u8>, EncodeError> {
    let mut bytes = Vec::new();
    let encoder = PngEncoder::new_with_quality(&mut bytes, effort, FilterType::Adaptive);
    if image.rgba.iter().skip(3).step_by(4).all(|&a| a == 255) {
        let rgb: Vec<u8> = image.rgba.chunks_exact(4).flat_map(|p| [p[0], p[1], p[2]]).collect();
        encoder.write_image(&rgb, image.width, image.height, image::ExtendedColorType::Rgb8)?;
    } else {
        encoder.write_image(
            &image.rgba,
            image.width,
            image.height,
            image::ExtendedColorType::Rgba8,
        )?;
    }
    Ok(bytes)
}

/// Writes the picture to a PNG file.
///
/// # Errors
///
/// If the picture is empty or the file cannot be written.
pub fn write(image: &Image, path: &Path) -> Result<(), EncodeError> {
    save(path, &encode(image)?)
}

/// Frames as numbered files: `jelly.png` becomes `jelly_0000.png`, `jelly_0001.png`, ….
#[derive(Debug)]
pub struct Numbered {
    path: PathBuf,
    size: Option<[u32; 2]>,
    count: u32,
}

impl Numbered {
    /// Numbered files named after `path`.
    #[must_use]
    pub fn new(path: &Path) -> Self {
        Self { path: path.to_owned(), size: None, count: 0 }
    }

    /// The file of frame `i`.
    #[must_use]
    pub fn frame_path(&self, i: u32) -> PathBuf {
        let stem = self.path.file_stem().unwrap_or_default().to_string_lossy();
        self.path.with_file_name(format!("{stem}_{i:04}.png"))
    }

    /// Writes the next frame.
    ///
    /// # Errors
    ///
    /// If its size differs from the first frame's, or it cannot be written.
    pub fn push(&mut self, frame: &Image) -> Result<(), EncodeError> {
        same_size(&mut self.size, frame)?;
        write(frame, &self.frame_path(self.count))?;
        self.count += 1;
        Ok(())
    }

    /// Says whether there was a frame.
    ///
    /// # Errors
    ///
    /// [`EncodeError::Empty`] if there was none.
    pub fn finish(self) -> Result<(), EncodeError> {
        if self.count == 0 { Err(EncodeError::Empty) } else { Ok(()) }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::texture::Texture;

    #[test]
    fn pictures_round_trip() {
        let mut image = Image::filled(5, 3, [10, 200, 30, 255]);
        for alpha in [255, 77] {
            image.rgba[3] = alpha;
            let texture = Texture::decode(&encode(&image).unwrap()).unwrap();
            assert_eq!(texture.levels()[0], image);
        }
    }

    #[test]
    fn frames_are_numbered() {
        let dir = tempfile::tempdir().unwrap();
        let mut writer = Numbered::new(&dir.path().join("jelly.png"));
        for _ in 0..2 {
            writer.push(&Image::filled(2, 2, [1; 4])).unwrap();
        }
        writer.finish().unwrap();
        assert!(dir.path().join("jelly_0001.png").exists(), "second frame");
    }
}
