//! The binary container: a header, a chunk of JSON, a chunk of data.

use crate::io::{Malformed, Place, Warning};

/// The first four bytes of a binary file.
pub(super) const MAGIC: &[u8; 4] = b"glTF";
/// Type of the chunk that holds the JSON.
pub(super) const JSON: &[u8; 4] = b"JSON";
/// Type of the chunk that holds the first buffer.
pub(super) const BIN: &[u8; 4] = b"BIN\0";

const HEADER: usize = 12;
const CHUNK_HEADER: usize = 8;

/// The parts of a file, borrowed from it.
pub(super) struct Parts<'a> {
    pub(super) json: &'a [u8],
    pub(super) bin: Option<&'a [u8]>,
}

/// Takes a binary file apart; a text file is all JSON.
pub(super) fn parts<'a>(
    bytes: &'a [u8],
    warnings: &mut Vec<Warning>,
) -> Result<Parts<'a>, Malformed> {
    if !bytes.starts_with(MAGIC) {
        return text(bytes);
    }
    let body = body(bytes, warnings)?;
    let Chunk { kind, data: json, mut rest } = chunk(bytes, body)?;
    if kind != JSON {
        let what = format!("the first chunk is '{}', not 'JSON'", kind.escape_ascii());
        return Err(broken(bytes, body, what));
    }
    let mut bin = None;
    let mut is_second = true;
    while !rest.is_empty() {
        let Chunk { kind, data, rest: tail } = chunk(bytes, rest)?;
        if kind == BIN && is_second {
            bin = Some(data);
        } else {
            let what = format!("skipped a chunk '{}'", kind.escape_ascii());
            warnings.push(Warning::new(Place::Byte(offset(bytes, rest) as u64), what));
        }
        (rest, is_second) = (tail, false);
    }
    Ok(Parts { json, bin })
}

/// A file without the magic must be the text form.
fn text(bytes: &[u8]) -> Result<Parts<'_>, Malformed> {
    let start = bytes.strip_prefix(b"\xef\xbb\xbf").unwrap_or(bytes);
    if start.iter().find(|b| !b.is_ascii_whitespace()) == Some(&b'{') {
        return Ok(Parts { json: bytes, bin: None });
    }
    let what = if bytes.is_empty() {
        "the file is empty"
    } else {
        "neither JSON ('{' first) nor binary glTF ('glTF' first)"
    };
    Err(Malformed::new(Place::Byte(0), what, "is this a glTF file?"))
}

/// What follows the header, cut to the length it claims.
fn body<'a>(bytes: &'a [u8], warnings: &mut Vec<Warning>) -> Result<&'a [u8], Malformed> {
    let word = |at: usize| bytes.get(at..at + 4).map(little_endian);
    let (Some(version), Some(length)) = (word(4), word(8)) else {
        let what = format!("the header needs {HEADER} bytes, the file has {}", bytes.len());
        return Err(broken(bytes, bytes, what));
    };
    if version != 2 {
        let what = format!("version {version} of the binary container");
        return Err(Malformed::new(Place::Byte(4), what, "export the file as glTF 2.0"));
    }
    let length = length as usize;
    if length > bytes.len() || length < HEADER {
        let what = format!("the header claims {length} bytes, the file has {}", bytes.len());
        return Err(Malformed::new(Place::Byte(8), what, CUT));
    }
    if length < bytes.len() {
        let what = format!("ignored {} bytes after the end of the container", bytes.len() - length);
        warnings.push(Warning::new(Place::Byte(length as u64), what));
    }
    Ok(&bytes[HEADER..length])
}

/// A chunk, and what follows it.
struct Chunk<'a> {
    kind: &'a [u8],
    data: &'a [u8],
    rest: &'a [u8],
}

/// The chunk at the start of `rest`, a part of `bytes`.
fn chunk<'a>(bytes: &[u8], rest: &'a [u8]) -> Result<Chunk<'a>, Malformed> {
    let Some((head, data)) = rest.split_at_checked(CHUNK_HEADER) else {
        return Err(broken(bytes, rest, "a chunk header is cut short".to_owned()));
    };
    let length = little_endian(head) as usize;
    if length > data.len() {
        let what = format!("a chunk claims {length} bytes, {} are left", data.len());
        return Err(broken(bytes, rest, what));
    }
    let next = padded(length).min(data.len());
    Ok(Chunk { kind: &head[4..], data: &data[..length], rest: &data[next..] })
}

const CUT: &str = "the file was cut short or altered: copy or export it again";

fn broken(bytes: &[u8], rest: &[u8], what: String) -> Malformed {
    Malformed::new(Place::Byte(offset(bytes, rest) as u64), what, CUT)
}

/// Where `part`, which ends before or at the end of `bytes`, starts.
fn offset(bytes: &[u8], part: &[u8]) -> usize {
    (part.as_ptr() as usize).saturating_sub(bytes.as_ptr() as usize)
}

fn little_endian(bytes: &[u8]) -> u32 {
    u32::from_le_bytes([bytes[0], bytes[1], bytes[2], bytes[3]])
}

/// Chunks and views start at multiples of four.
pub(super) fn padded(length: usize) -> usize {
    length.next_multiple_of(4)
}
