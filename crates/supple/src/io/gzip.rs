//! Gzip-compressed files.

use std::io::Read as _;

use flate2::bufread::MultiGzDecoder;

use super::{Malformed, Place};

/// Most bytes one compressed byte may become. Meshes as text shrink to a tenth, grids with many
/// equal numbers to a fiftieth; deflate itself ends at 1032.
const MOST_RATIO: u64 = 200;

/// Bytes any file may become, however short it is.
const ALWAYS_ALLOWED: u64 = 1 << 20;

/// True if the bytes start as a gzip file does.
#[must_use]
pub fn is_gzip(bytes: &[u8]) -> bool {
    bytes.starts_with(&[0x1f, 0x8b])
}

/// The uncompressed bytes.
///
/// # Errors
///
/// [`Malformed`] if the file is damaged, or grows out of proportion to its size.
pub fn decompress(bytes: &[u8]) -> Result<Vec<u8>, Malformed> {
    let most = ALWAYS_ALLOWED + MOST_RATIO * bytes.len() as u64;
    let mut whole = Vec::new();
    let read = MultiGzDecoder::new(bytes).take(most + 1).read_to_end(&mut whole);
    if let Err(error) = read {
        return Err(Malformed::new(
            Place::File,
            format!("the compressed data is damaged after {} bytes: {error}", whole.len()),
            "copy or download the file again",
        ));
    }
    if whole.len() as u64 > most {
        return Err(Malformed::new(
            Place::File,
            format!("{} compressed bytes become more than {most}", bytes.len()),
            "if you trust the file, decompress it first",
        ));
    }
    Ok(whole)
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

    #[test]
    fn refuses_a_file_cut_off() {
        let whole = compress(b"a line of text that is long enough to be cut in the middle");
        for length in 0..whole.len() {
            assert!(decompress(&whole[..length]).is_err(), "{length} bytes");
        }
    }
}
