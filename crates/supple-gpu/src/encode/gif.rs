//! Animated GIF, for where nothing better is shown: 256 colours a frame.

use std::io;
use std::path::{Path, PathBuf};
use std::sync::{Arc, Mutex, PoisonError};

use image::codecs::gif::{GifEncoder, Repeat};

use super::{EncodeError, duration, same_size, save};
use crate::picture::Image;

/// Colours are chosen from every n-th pixel; 10 is the encoder's own balance of time and quality.
const SPEED: i32 = 10;

/// Collects frames; the file is written at the end.
pub struct Writer {
    path: PathBuf,
    fps: f32,
    size: Option<[u32; 2]>,
    count: u64,
    encoder: GifEncoder<Shared>,
    bytes: Shared,
}

impl std::fmt::Debug for Writer {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Writer")
            .field("path", &self.path)
            .field("frames", &self.count)
            .finish_non_exhaustive()
    }
}

/// Bytes that stay when the encoder, which keeps what it writes to, is gone.
#[derive(Clone, Default)]
struct Shared(Arc<Mutex<Vec<u8>>>);

impl io::Write for Shared {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner).extend_from_slice(bytes);
        Ok(bytes.len())
    }

    fn flush(&mut self) -> io::Result<()> {
        Ok(())
    }
}

impl Writer {
    /// An animation of `fps` frames a second that repeats for ever.
    #[must_use]
    pub fn new(path: &Path, fps: f32) -> Self {
        let bytes = Shared::default();
        let encoder = GifEncoder::new_with_speed(bytes.clone(), SPEED);
        Self { path: path.to_owned(), fps, size: None, count: 0, encoder, bytes }
    }

    /// Appends a frame.
    ///
    /// # Errors
    ///
    /// If its size differs from the first frame's, or is more than a GIF can hold.
    pub fn push(&mut self, frame: &Image) -> Result<(), EncodeError> {
        same_size(&mut self.size, frame)?;
        if self.count == 0 {
            self.encoder.set_repeat(Repeat::Infinite)?;
        }
        let Some(pixels) =
            image::RgbaImage::from_raw(frame.width, frame.height, frame.rgba.clone())
        else {
            return Err(EncodeError::Empty);
        };
        // GIF counts hundredths of a second; fewer than two are not believed by browsers.
        let hundredths = duration(self.count, self.fps, 100.0).max(2);
        let delay = image::Delay::from_numer_denom_ms(10 * hundredths, 1);
        self.encoder.encode_frame(image::Frame::from_parts(pixels, 0, 0, delay))?;
        self.count += 1;
        Ok(())
    }

    /// Writes the file.
    ///
    /// # Errors
    ///
    /// If there was no frame, or the file cannot be written.
    pub fn finish(self) -> Result<(), EncodeError> {
        if self.count == 0 {
            return Err(EncodeError::Empty);
        }
        // Dropping the encoder writes the end of the file.
        drop(self.encoder);
        let bytes = self.bytes.0.lock().unwrap_or_else(PoisonError::into_inner);
        save(&self.path, &bytes)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use image::AnimationDecoder as _;

    #[test]
    fn frames_come_back_nearly_the_same() {
        let dir = tempfile::tempdir().unwrap();
        let path = dir.path().join("square.gif");
        let frames = super::super::tests::frames(3);
        let mut writer = Writer::new(&path, 20.0);
        for frame in &frames {
            writer.push(frame).unwrap();
        }
        writer.finish().unwrap();
        let bytes = std::fs::read(&path).unwrap();
        let decoder = image::codecs::gif::GifDecoder::new(io::Cursor::new(bytes)).unwrap();
        let decoded = decoder.into_frames().collect_frames().unwrap();
        assert_eq!(decoded.len(), 3);
        for (found, frame) in decoded.iter().zip(&frames) {
            let off =
                found.buffer().as_raw().iter().zip(&frame.rgba).map(|(a, b)| a.abs_diff(*b)).max();
            assert!(off < Some(12), "colours off by {off:?}");
        }
    }
}
