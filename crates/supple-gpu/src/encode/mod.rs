//! Pictures and animations as files.
//!
//! | ending | what |
//! |---|---|
//! | `.png` | a picture; several frames become numbered files |
//! | `.webp` | an animation without loss |
//! | `.gif` | an animation of 256 colours a frame |
//! | `.mp4`, `.mov`, `.mkv`, `.webm` | video, by ffmpeg |

pub mod gif;
pub mod png;
pub mod video;
pub mod webp;

use std::ffi::OsStr;
use std::path::{Path, PathBuf};

use crate::picture::Image;

/// Why a file could not be written.
#[derive(Debug, thiserror::Error)]
pub enum EncodeError {
    /// The ending says nothing.
    #[error("{}: unknown kind of file; use .png, .webp, .gif, .mp4, .mov, .mkv or .webm", .0.display())]
    UnknownEnding(PathBuf),
    /// A frame has another size than the first.
    #[error("a frame of {found:?} pixels does not fit into an animation of {expected:?}")]
    FrameSize {
        /// Size of the first frame.
        expected: [u32; 2],
        /// Size of this one.
        found: [u32; 2],
    },
    /// There was no frame.
    #[error("an animation needs at least one frame")]
    Empty,
    /// The picture cannot be encoded.
    #[error("cannot encode the picture: {0}")]
    Image(#[from] image::ImageError),
    /// The file cannot be written.
    #[error("{}: {cause}", path.display())]
    Write {
        /// Which file.
        path: PathBuf,
        /// What the system said.
        cause: std::io::Error,
    },
    /// ffmpeg is not installed.
    #[error(
        "video needs ffmpeg, which is not there ({0}): install it (Debian: `apt install ffmpeg`), \
         or write .webp or .gif"
    )]
    NoFfmpeg(std::io::Error),
    /// ffmpeg refused.
    #[error("ffmpeg failed: {0}")]
    Ffmpeg(String),
}

/// Writes an animation frame by frame, in the format its name asks for.
#[derive(Debug)]
pub enum Animation {
    /// Numbered PNG files.
    Png(png::Numbered),
    /// Animated WebP.
    Webp(webp::Writer),
    /// Animated GIF.
    Gif(gif::Writer),
    /// Video.
    Video(video::Writer),
}

/// Checks that there is a format for the ending of `path`, and ffmpeg if that is video.
///
/// # Errors
///
/// If the ending is unknown, or ffmpeg is needed and missing.
pub fn check(path: &Path) -> Result<(), EncodeError> {
    // Nothing is written before the first frame.
    Animation::create(path, 24.0).map(|_| ())
}

impl Animation {
    /// Begins an animation of `fps` frames a second.
    ///
    /// # Errors
    ///
    /// If the ending is unknown, or ffmpeg is needed and missing.
    pub fn create(path: &Path, fps: f32) -> Result<Self, EncodeError> {
        let ending =
            path.extension().and_then(OsStr::to_str).unwrap_or_default().to_ascii_lowercase();
        Ok(match ending.as_str() {
            "png" => Self::Png(png::Numbered::new(path)),
            "webp" => Self::Webp(webp::Writer::new(path, fps)),
            "gif" => Self::Gif(gif::Writer::new(path, fps)),
            "mp4" | "mov" | "mkv" | "webm" => Self::Video(video::Writer::new(path, fps)?),
            _ => return Err(EncodeError::UnknownEnding(path.to_owned())),
        })
    }

    /// Appends a frame.
    ///
    /// # Errors
    ///
    /// If its size differs from the first frame's, or it cannot be written.
    pub fn push(&mut self, frame: &Image) -> Result<(), EncodeError> {
        match self {
            Self::Png(w) => w.push(frame),
            Self::Webp(w) => w.push(frame),
            Self::Gif(w) => w.push(frame),
            Self::Video(w) => w.push(frame),
        }
    }

    /// Completes the file; without this there is none.
    ///
    /// # Errors
    ///
    /// If there was no frame, or the file cannot be written.
    pub fn finish(self) -> Result<(), EncodeError> {
        match self {
            Self::Png(w) => w.finish(),
            Self::Webp(w) => w.finish(),
            Self::Gif(w) => w.finish(),
            Self::Video(w) => w.finish(),
        }
    }
}

/// Writes whole files only.
fn save(path: &Path, bytes: &[u8]) -> Result<(), EncodeError> {
    use std::io::Write as _;
    supple::io::save(path, |out| out.write_all(bytes))
        .map_err(|cause| EncodeError::Write { path: path.to_owned(), cause })
}

/// Checks that frames are all of one size and not empty.
fn same_size(first: &mut Option<[u32; 2]>, frame: &Image) -> Result<(), EncodeError> {
    let found = [frame.width, frame.height];
    let expected = *first.get_or_insert(found);
    if found != expected || found.contains(&0) {
        return Err(EncodeError::FrameSize { expected, found });
    }
    Ok(())
}

/// How long a frame is shown when frame `i` starts at `i / fps` seconds, in ticks of a second's
/// `ticks`-th part; rounding does not add up.
fn duration(i: u64, fps: f32, ticks: f64) -> u32 {
    let at = |i: u64| (i as f64 * ticks / f64::from(fps.clamp(0.1, 240.0))).round() as u64;
    (at(i + 1) - at(i)) as u32
}

#[cfg(test)]
mod tests {
    use super::*;

    /// A bright square that moves over a gradient.
    pub(crate) fn frames(count: u32) -> Vec<Image> {
        (0..count)
            .map(|i| {
                let mut frame = Image::filled(33, 21, [40, 50, 60, 255]);
                for x in 0..33 {
                    frame.paste(&Image::filled(1, 21, [7 * x as u8, 50, 60, 255]), x, 0);
                }
                frame.paste(&Image::filled(6, 6, [250, 240, 30, 255]), 3 + 4 * i, 7);
                frame
            })
            .collect()
    }

    #[test]
    fn durations_add_up() {
        let total: u32 = (0..90).map(|i| duration(i, 30.0, 1000.0)).sum();
        assert_eq!(total, 3000);
    }

    #[test]
    fn an_unknown_ending_is_refused() {
        let error = Animation::create(Path::new("a.bmp"), 24.0).unwrap_err();
        assert!(error.to_string().contains(".webp"), "{error}");
    }

    #[test]
    fn frames_of_two_sizes_are_refused() {
        let dir = tempfile::tempdir().unwrap();
        for name in ["a.webp", "a.gif", "a.png"] {
            let mut animation = Animation::create(&dir.path().join(name), 24.0).unwrap();
            animation.push(&Image::filled(4, 4, [9; 4])).unwrap();
            assert!(animation.push(&Image::filled(4, 5, [9; 4])).is_err(), "{name}");
        }
    }
}
