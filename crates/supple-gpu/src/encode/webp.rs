//! Animated WebP without loss.
//!
//! Each frame holds only the smallest box around the pixels that changed, and in it what did not
//! change is left transparent, so a still background costs nothing. The pixels are encoded by the
//! `image` crate; this file is the container around them.

use std::path::{Path, PathBuf};

use image::codecs::webp::WebPEncoder;

use super::{EncodeError, duration, same_size, save};
use crate::picture::Image;

/// Collects frames; the file is written at the end.
#[derive(Debug)]
pub struct Writer {
    path: PathBuf,
    fps: f32,
    size: Option<[u32; 2]>,
    last: Option<Image>,
    count: u64,
    chunks: Vec<u8>,
}

/// How a patch is put onto what is there.
const BLEND: u8 = 0;
const REPLACE: u8 = 2;

/// Part of a picture.
struct Patch {
    /// Whether its transparent pixels are meant as such, not as "no change".
    replaces: bool,
    x: u32,
    y: u32,
    image: Image,
}

impl Writer {
    /// An animation of `fps` frames a second that repeats for ever.
    #[must_use]
    pub fn new(path: &Path, fps: f32) -> Self {
        Self { path: path.to_owned(), fps, size: None, last: None, count: 0, chunks: Vec::new() }
    }

    /// Appends a frame.
    ///
    /// # Errors
    ///
    /// If its size differs from the first frame's.
    pub fn push(&mut self, frame: &Image) -> Result<(), EncodeError> {
        same_size(&mut self.size, frame)?;
        let patch = match &self.last {
            Some(last) => changed(last, frame),
            None => Patch { replaces: true, x: 0, y: 0, image: frame.clone() },
        };
        let pixels = encode_pixels(&patch.image)?;
        let mut body = Vec::with_capacity(pixels.len() + 16);
        for value in [patch.x / 2, patch.y / 2, patch.image.width - 1, patch.image.height - 1] {
            body.extend(&value.to_le_bytes()[..3]);
        }
        body.extend(&duration(self.count, self.fps, 1000.0).to_le_bytes()[..3]);
        body.push(if patch.replaces { REPLACE } else { BLEND });
        body.extend(pixels);
        push_chunk(&mut self.chunks, *b"ANMF", &body);
        self.count += 1;
        self.last = Some(frame.clone());
        Ok(())
    }

    /// Writes the file.
    ///
    /// # Errors
    ///
    /// If there was no frame, or the file cannot be written.
    pub fn finish(self) -> Result<(), EncodeError> {
        let [width, height] = self.size.ok_or(EncodeError::Empty)?;
        let mut body = b"WEBP".to_vec();
        const ALPHA_AND_ANIMATION: u8 = 0x12;
        let mut header = vec![ALPHA_AND_ANIMATION, 0, 0, 0];
        for side in [width - 1, height - 1] {
            header.extend(&side.to_le_bytes()[..3]);
        }
        push_chunk(&mut body, *b"VP8X", &header);
        // Background colour, and 0 for "repeat for ever".
        push_chunk(&mut body, *b"ANIM", &[0; 6]);
        body.extend(&self.chunks);
        let mut file = Vec::with_capacity(body.len() + 8);
        push_chunk(&mut file, *b"RIFF", &body);
        save(&self.path, &file)
    }
}

/// The part of `frame` that differs from `last`; what is the same in it is transparent. WebP wants
/// even offsets. Frames with transparency come whole.
fn changed(last: &Image, frame: &Image) -> Patch {
    let width = frame.width as usize;
    let pixels = || last.rgba.chunks_exact(4).zip(frame.rgba.chunks_exact(4)).enumerate();
    if frame.rgba.iter().chain(&last.rgba).skip(3).step_by(4).any(|&a| a < 255) {
        return Patch { replaces: true, x: 0, y: 0, image: frame.clone() };
    }
    let (mut lo, mut hi) = ([usize::MAX; 2], [0; 2]);
    for (i, _) in pixels().filter(|(_, (a, b))| a != b) {
        let at = [i % width, i / width];
        lo = [lo[0].min(at[0]), lo[1].min(at[1])];
        hi = [hi[0].max(at[0]), hi[1].max(at[1])];
    }
    if lo[0] > hi[0] {
        return Patch { replaces: false, x: 0, y: 0, image: Image::filled(1, 1, [0; 4]) };
    }
    let lo = lo.map(|v| v & !1);
    let size = [hi[0] + 1 - lo[0], hi[1] + 1 - lo[1]];
    let mut image = Image::filled(size[0] as u32, size[1] as u32, [0; 4]);
    for (i, (_, now)) in pixels().filter(|(_, (a, b))| a != b) {
        let (x, y) = (i % width - lo[0], i / width - lo[1]);
        let at = 4 * (y * size[0] + x);
        image.rgba[at..at + 4].copy_from_slice(now);
    }
    Patch { replaces: false, x: lo[0] as u32, y: lo[1] as u32, image }
}

/// The chunk that holds the pixels, out of the file the encoder makes.
fn encode_pixels(image: &Image) -> Result<Vec<u8>, EncodeError> {
    let mut file = Vec::new();
    let encoder = WebPEncoder::new_lossless(&mut file);
    encoder.encode(&image.rgba, image.width, image.height, image::ExtendedColorType::Rgba8)?;
    // "RIFF", size, "WEBP", then the one chunk.
    Ok(file.split_off(12))
}

fn push_chunk(out: &mut Vec<u8>, name: [u8; 4], body: &[u8]) {
    out.extend(name);
    out.extend((body.len() as u32).to_le_bytes());
    out.extend(body);
    if body.len() % 2 == 1 {
        out.push(0);
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use image::AnimationDecoder as _;

    #[test]
    fn frames_round_trip() {
        let dir = tempfile::tempdir().unwrap();
        let path = dir.path().join("square.webp");
        let mut frames = super::super::tests::frames(4);
        frames.insert(2, frames[1].clone());
        let mut writer = Writer::new(&path, 25.0);
        for frame in &frames {
            writer.push(frame).unwrap();
        }
        writer.finish().unwrap();
        let bytes = std::fs::read(&path).unwrap();
        let decoder = image::codecs::webp::WebPDecoder::new(std::io::Cursor::new(bytes)).unwrap();
        let decoded = decoder.into_frames().collect_frames().unwrap();
        assert_eq!(decoded.len(), frames.len());
        for (found, frame) in decoded.iter().zip(&frames) {
            assert_eq!(found.delay().numer_denom_ms(), (40, 1));
            // This decoder blends with a rounding error; libwebp does not.
            let off = found.buffer().as_raw().iter().zip(&frame.rgba).map(|(a, b)| a.abs_diff(*b));
            assert!(off.max() <= Some(2), "a frame differs");
        }
    }

    #[test]
    fn a_still_background_costs_nothing() {
        let frames = super::super::tests::frames(2);
        let patch = changed(&frames[0], &frames[1]);
        assert!(patch.image.width <= 12 && patch.image.height <= 8, "{:?}", patch.image);
        assert_eq!((patch.x % 2, patch.y % 2), (0, 0));
    }
}
