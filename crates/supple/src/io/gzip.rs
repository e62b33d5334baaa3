//! Gzip-compressed files.
//!
//! A file is decompressed twice: once into nothing, to see how long it gets and how much of that a reader can use, and
//! then into exactly as much memory. One that grows out of proportion has cost a little time when it is refused.
//!
//! Text may be stretched by blanks and comments, which shrink to next to nothing: a reader drops them, so that they must
//! not be most of what is decompressed. The places that messages name are in the decompressed text, which is why it
//! is kept whole.

use std::io::{BufRead as _, BufReader, Read as _};

use flate2::bufread::MultiGzDecoder;

use super::{Malformed, Place};

/// Most bytes one compressed byte may become. Meshes as text shrink to a tenth, grids with many
/// equal numbers to a fiftieth; deflate itself ends at 1032.
const MOST_RATIO: u64 = 200;

/// Bytes any file may become, however short it is.
const ALWAYS_ALLOWED: u64 = 1 << 20;

/// Bytes of text for each byte that is neither blank nor in a comment. Wide columns of numbers have two or three.
const MOST_TEXT: u64 = 6;

/// Text up to this length may consist of blanks and comments.
const FREE_TEXT: u64 = 32 << 20;

/// True if the bytes start as a gzip file does.
#[must_use]
pub fn is_gzip(bytes: &[u8]) -> bool {
    bytes.starts_with(&[0x1f, 0x8b])
}

/// The uncompressed bytes.
///
/// # Errors
///
/// [`Malformed`] if the file is damaged, or grows out of proportion to its size or to what can be read of it.
pub fn decompress(bytes: &[u8]) -> Result<Vec<u8>, Malformed> {
    let census = Census::of(bytes)?;
    let mut whole = Vec::with_capacity(usize::try_from(census.length).unwrap_or(0));
    let read = MultiGzDecoder::new(bytes).take(census.length).read_to_end(&mut whole);
    read.map_err(|error| damaged(whole.len() as u64, &error))?;
    Ok(whole)
}

/// What a compressed file becomes.
#[derive(Debug, Default)]
struct Census {
    length: u64,
    /// Bytes that a reader of text looks at: neither blank nor in a comment.
    used: u64,
    is_binary: bool,
    in_comment: bool,
    /// Nothing but blanks since the line began.
    at_start: bool,
}

impl Census {
    /// Decompresses everything and keeps nothing.
    fn of(bytes: &[u8]) -> Result<Self, Malformed> {
        let most = ALWAYS_ALLOWED + MOST_RATIO * bytes.len() as u64;
        let mut census = Self { at_start: true, ..Self::default() };
        let mut decoder = BufReader::with_capacity(1 << 16, MultiGzDecoder::new(bytes));
        loop {
            let block = decoder.fill_buf().map_err(|error| damaged(census.length, &error))?;
            if block.is_empty() {
                return Ok(census);
            }
            let taken = block.len();
            census.add(block);
            decoder.consume(taken);
            census.check(bytes.len(), most)?;
        }
    }

    fn add(&mut self, block: &[u8]) {
        if self.length == 0 {
            self.is_binary = block[..block.len().min(1 << 10)].contains(&0);
        }
        self.length += block.len() as u64;
        if self.is_binary {
            return;
        }
        for &b in block {
            match b {
                b'\n' => (self.in_comment, self.at_start) = (false, true),
                b'#' if self.at_start => self.in_comment = true,
                _ if b.is_ascii_whitespace() || b == 0 => {}
                _ => {
                    self.at_start = false;
                    self.used += u64::from(!self.in_comment);
                }
            }
        }
    }

    fn check(&self, compressed: usize, most: u64) -> Result<(), Malformed> {
        let what = if self.length > most {
            format!("{compressed} compressed bytes become more than {most}")
        } else if !self.is_binary && self.length > FREE_TEXT + MOST_TEXT * self.used {
            format!(
                "of {} decompressed bytes all but {} are blanks and comments",
                self.length, self.used
            )
        } else {
            return Ok(());
        };
        Err(Malformed::new(Place::File, what, "if you trust the file, decompress it first"))
    }
}

fn damaged(after: u64, error: &std::io::Error) -> Malformed {
    Malformed::new(
        Place::File,
        format!("the compressed data is damaged after {after} bytes: {error}"),
        "copy or download the file again",
    )
}

#[cfg(test)]
mod tests {
    use std::io::Write as _;

    use flate2::Compression;
    use flate2::write::GzEncoder;

    use super::*;

    fn compress(bytes: &[u8]) -> Vec<u8> {
        let mut encoder = GzEncoder::new(Vec::new(), Compression::best());
        encoder.write_all(bytes).unwrap();
        encoder.finish().unwrap()
    }

    #[test]
    fn gives_back_what_was_compressed() {
        let text = b"v 0 0 0\n".repeat(1000);
        assert_eq!(decompress(&compress(&text)), Ok(text));
    }

    #[test]
    fn refuses_what_grows_out_of_proportion() {
        let bomb = compress(&vec![0; 64 << 20]);
        assert!(bomb.len() < 100_000, "{} bytes", bomb.len());
        let error = decompress(&bomb).unwrap_err();
        assert!(error.what.contains("become more than"), "{error}");
    }

    /// A hundred comments for each vertex, and noise in them so that the ratio alone looks honest.
    #[test]
    fn refuses_text_that_is_mostly_comments() {
        let mut text = Vec::new();
        let mut noise = 7_u32;
        while text.len() < 40 << 20 {
            text.extend(b"v 0 0 0\n# ");
            for _ in 0..200 {
                noise = noise.wrapping_mul(1_664_525).wrapping_add(1_013_904_223);
                text.push(b'a' + (noise >> 28) as u8);
            }
            text.push(b'\n');
        }
        let mut encoder = GzEncoder::new(Vec::new(), Compression::fast());
        encoder.write_all(&text).unwrap();
        let file = encoder.finish().unwrap();
        assert!(text.len() < 4 * file.len(), "{} bytes", file.len());
        let error = decompress(&file).unwrap_err();
        assert!(error.what.contains("blanks and comments"), "{error}");
        let kept = text.len() / 2;
        text.truncate(kept);
        let mut encoder = GzEncoder::new(Vec::new(), Compression::fast());
        encoder.write_all(&text).unwrap();
        assert_eq!(decompress(&encoder.finish().unwrap()), Ok(text), "short files may say much");
    }

    #[test]
    fn refuses_a_file_cut_off() {
        let whole = compress(b"a line of text that is long enough to be cut in the middle");
        for length in 0..whole.len() {
            assert!(decompress(&whole[..length]).is_err(), "{length} bytes");
        }
    }
}
