//! Video, by ffmpeg when it is there.

use std::ffi::OsStr;
use std::io::{Read as _, Write as _};
use std::path::{Path, PathBuf};
use std::process::{Child, ChildStdin, Command, Stdio};

use supple::io::Temporary;

use super::{EncodeError, same_size};
use crate::picture::Image;

/// Sends frames to ffmpeg. The file appears under its name when it is complete.
#[derive(Debug)]
pub struct Writer {
    path: PathBuf,
    fps: f32,
    size: Option<[u32; 2]>,
    encoder: Option<Encoder>,
}

/// A running ffmpeg.
#[derive(Debug)]
struct Encoder {
    child: Child,
    frames: ChildStdin,
    temporary: Temporary,
}

/// True if ffmpeg can be started.
#[must_use]
pub fn is_available() -> bool {
    version().is_ok()
}

fn version() -> std::io::Result<std::process::Output> {
    Command::new("ffmpeg").arg("-version").stdin(Stdio::null()).output()
}

impl Writer {
    /// A video of `fps` frames a second.
    ///
    /// # Errors
    ///
    /// [`EncodeError::NoFfmpeg`] if ffmpeg is not installed.
    pub fn new(path: &Path, fps: f32) -> Result<Self, EncodeError> {
        version().map_err(EncodeError::NoFfmpeg)?;
        Ok(Self { path: path.to_owned(), fps: fps.clamp(0.1, 240.0), size: None, encoder: None })
    }

    /// Appends a frame.
    ///
    /// # Errors
    ///
    /// If its size differs from the first frame's, or ffmpeg fails.
    pub fn push(&mut self, frame: &Image) -> Result<(), EncodeError> {
        same_size(&mut self.size, frame)?;
        if self.encoder.is_none() {
            self.encoder = Some(self.start([frame.width, frame.height])?);
        }
        let Some(encoder) = &mut self.encoder else { return Err(EncodeError::Empty) };
        if encoder.frames.write_all(&frame.rgba).is_err() {
            // It is gone; its last words say why.
            return match self.encoder.take() {
                Some(encoder) => Err(encoder.complain()),
                None => Err(EncodeError::Empty),
            };
        }
        Ok(())
    }

    fn start(&self, [width, height]: [u32; 2]) -> Result<Encoder, EncodeError> {
        let ending =
            self.path.extension().and_then(OsStr::to_str).unwrap_or("mp4").to_ascii_lowercase();
        let stem = self.path.file_stem().unwrap_or_default().to_string_lossy();
        let name = format!("{stem}.{}.supple-tmp.{ending}", std::process::id());
        let temporary = Temporary::new(self.path.with_file_name(name));
        let codec: &[&str] = match ending.as_str() {
            "webm" => &["-c:v", "libvpx-vp9", "-crf", "24", "-b:v", "0"],
            _ => &["-c:v", "libx264", "-preset", "medium", "-crf", "17", "-movflags", "+faststart"],
        };
        // Even sides for the codec; the colours of a screen.
        let filter = "pad=ceil(iw/2)*2:ceil(ih/2)*2,scale=out_color_matrix=bt709:out_range=tv,format=yuv420p";
        let mut child = Command::new("ffmpeg")
            .args(["-hide_banner", "-loglevel", "error", "-nostdin", "-y"])
            .args(["-f", "rawvideo", "-pixel_format", "rgba"])
            .args([
                "-video_size",
                &format!("{width}x{height}"),
                "-framerate",
                &self.fps.to_string(),
                "-i",
                "pipe:0",
            ])
            .args([
                "-vf",
                filter,
                "-colorspace",
                "bt709",
                "-color_primaries",
                "bt709",
                "-color_trc",
                "bt709",
            ])
            .args(codec)
            .args(["-fflags", "+bitexact", "-flags:v", "+bitexact"])
            .arg(temporary.path())
            .stdin(Stdio::piped())
            .stdout(Stdio::null())
            .stderr(Stdio::piped())
            .spawn()
            .map_err(EncodeError::NoFfmpeg)?;
        let frames = child
            .stdin
            .take()
            .ok_or_else(|| EncodeError::Ffmpeg("it takes no frames".to_owned()))?;
        Ok(Encoder { child, frames, temporary })
    }

    /// Completes the file.
    ///
    /// # Errors
    ///
    /// If there was no frame, or ffmpeg failed.
    pub fn finish(mut self) -> Result<(), EncodeError> {
        let encoder = self.encoder.take().ok_or(EncodeError::Empty)?;
        let Encoder { mut child, frames, temporary } = encoder;
        drop(frames);
        let words = last_words(&mut child);
        let worked = child.wait().is_ok_and(|status| status.success());
        if !worked {
            return Err(EncodeError::Ffmpeg(words));
        }
        temporary
            .keep_as(&self.path)
            .map_err(|cause| EncodeError::Write { path: self.path.clone(), cause })
    }
}

/// An animation given up half-way leaves nothing behind.
impl Drop for Writer {
    fn drop(&mut self) {
        if let Some(mut encoder) = self.encoder.take() {
            let _ = encoder.child.kill();
            let _ = encoder.child.wait();
        }
    }
}

impl Encoder {
    fn complain(mut self) -> EncodeError {
        let words = last_words(&mut self.child);
        let _ = self.child.wait();
        EncodeError::Ffmpeg(words)
    }
}

/// What ffmpeg said until it ended.
fn last_words(child: &mut Child) -> String {
    let mut words = String::new();
    if let Some(mut stderr) = child.stderr.take() {
        let _ = stderr.read_to_string(&mut words);
    }
    words.trim().to_owned()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_video_is_written_whole_or_not_at_all() {
        if !is_available() {
            return;
        }
        let dir = tempfile::tempdir().unwrap();
        let path = dir.path().join("square.mp4");
        let frames = super::super::tests::frames(4);
        let mut given_up = Writer::new(&path, 24.0).unwrap();
        given_up.push(&frames[0]).unwrap();
        drop(given_up);
        assert_eq!(std::fs::read_dir(dir.path()).unwrap().count(), 0);
        let mut writer = Writer::new(&path, 24.0).unwrap();
        for frame in &frames {
            writer.push(frame).unwrap();
        }
        writer.finish().unwrap();
        let bytes = std::fs::read(&path).unwrap();
        assert_eq!(&bytes[4..8], b"ftyp");
        assert_eq!(std::fs::read_dir(dir.path()).unwrap().count(), 1);
    }
}
