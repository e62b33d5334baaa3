//! The numbers of a `DataArray`: as text, coded in base64, or appended; compressed in blocks or not.

use std::io::Read as _;

use base64::Engine as _;
use base64::alphabet;
use base64::engine::{DecodePaddingMode, GeneralPurpose, GeneralPurposeConfig};

use super::xml::{Document, Element};
use crate::io::number::Number;
use crate::io::text::{parse_f64, quote};
use crate::io::{Malformed, Place};

/// Files differ in whether they pad, and in the bits after the last byte.
const BASE64: GeneralPurpose = GeneralPurpose::new(
    &alphabet::STANDARD,
    GeneralPurposeConfig::new()
        .with_decode_padding_mode(DecodePaddingMode::Indifferent)
        .with_decode_allow_trailing_bits(true),
);

/// Memory an xz block may ask for, in KiB; the largest preset takes 65 MiB.
const LZMA_MEMORY: u32 = 100 << 10;

/// Most bytes of a block that are reserved before any of it is there.
const RESERVED: usize = 1 << 22;

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Compressor {
    None,
    Zlib,
    Lz4,
    Lzma,
}

/// How the numbers of a file are coded.
#[derive(Clone, Copy, Debug)]
pub(super) struct Coding {
    big_endian: bool,
    wide_headers: bool,
    compressor: Compressor,
}

impl Coding {
    /// As the root element says.
    pub(super) fn of(root: &Element) -> Result<Self, Malformed> {
        let problem = |what, fix: &str| Malformed::new(Place::File, what, fix);
        let big_endian = root.get("byte_order") == Some("BigEndian");
        let wide_headers = match root.get("header_type") {
            None | Some("UInt32") => false,
            Some("UInt64") => true,
            Some(other) => {
                let what = format!("headers of type {}", quote(other.as_bytes()));
                return Err(problem(what, "they are UInt32 or UInt64; write the file again"));
            }
        };
        let compressor = match root.get("compressor") {
            None | Some("") => Compressor::None,
            Some("vtkZLibDataCompressor") => Compressor::Zlib,
            Some("vtkLZ4DataCompressor") => Compressor::Lz4,
            Some("vtkLZMADataCompressor") => Compressor::Lzma,
            Some(other) => {
                let what = format!("the compressor {} is not known", quote(other.as_bytes()));
                return Err(problem(what, "write the file with ZLib, LZ4, LZMA or none"));
            }
        };
        Ok(Self { big_endian, wide_headers, compressor })
    }

    pub(super) fn big_endian(self) -> bool {
        self.big_endian
    }

    /// Without compression.
    pub(super) fn is_plain(self) -> bool {
        self.compressor == Compressor::None
    }

    /// Whether blocks are those of LZ4 rather than of zlib; `None` if they are of neither.
    pub(super) fn is_lz4(self) -> Option<bool> {
        match self.compressor {
            Compressor::Zlib => Some(false),
            Compressor::Lz4 => Some(true),
            Compressor::None | Compressor::Lzma => None,
        }
    }

    pub(super) fn header_size(self) -> usize {
        if self.wide_headers { 8 } else { 4 }
    }

    pub(super) fn header(self, bytes: &[u8]) -> Option<usize> {
        let bytes = bytes.get(..self.header_size())?;
        let fold = |n: u64, &b: &u8| n << 8 | u64::from(b);
        let value = if self.big_endian {
            bytes.iter().fold(0, fold)
        } else {
            bytes.iter().rev().fold(0, fold)
        };
        usize::try_from(value).ok()
    }
}

/// The type a `DataArray` names; `None` for strings and bits.
pub(super) fn number_of(element: &Element) -> Option<Number> {
    Some(match element.get("type")? {
        "Int8" => Number::I8,
        "UInt8" => Number::U8,
        "Int16" => Number::I16,
        "UInt16" => Number::U16,
        "Int32" => Number::I32,
        "UInt32" => Number::U32,
        "Int64" => Number::I64,
        "UInt64" => Number::U64,
        "Float32" => Number::F32,
        "Float64" => Number::F64,
        _ => return None,
    })
}

/// Reads arrays of one document.
#[derive(Debug)]
pub(super) struct Values<'a> {
    pub(super) document: &'a Document<'a>,
    coding: Coding,
}

impl<'a> Values<'a> {
    pub(super) fn new(document: &'a Document<'a>) -> Result<Self, Malformed> {
        Ok(Self { document, coding: Coding::of(&document.root)? })
    }

    /// `count` numbers of an array, each converted.
    pub(super) fn read<T>(
        &self,
        array: &Element,
        count: usize,
        convert: impl Fn(f64) -> T,
    ) -> Result<Vec<T>, Malformed> {
        let values = self.all(array, Some(count), convert)?;
        if values.len() == count {
            return Ok(values);
        }
        let what = format!("there are {} numbers where {count} should be", values.len());
        Err(self.problem(array, what, "the file was cut off, or a count in it is wrong"))
    }

    /// All numbers of an array, at most `most`.
    pub(super) fn all<T>(
        &self,
        array: &Element,
        most: Option<usize>,
        convert: impl Fn(f64) -> T,
    ) -> Result<Vec<T>, Malformed> {
        let Some(number) = number_of(array) else {
            let what = format!("its type is {}", quote(array.get("type").unwrap_or("").as_bytes()));
            return Err(self.problem(array, what, "numbers are Int8 … UInt64, Float32, Float64"));
        };
        let format = array.get("format").unwrap_or("ascii");
        if format.eq_ignore_ascii_case("ascii") {
            return self.text(array, most, convert);
        }
        let bytes = if format.eq_ignore_ascii_case("appended") {
            self.appended(array)?
        } else if format.eq_ignore_ascii_case("binary") {
            Coded::Base64(self.document.text(array).trim().as_bytes())
        } else {
            let what = format!("its format is {}", quote(format.as_bytes()));
            return Err(self.problem(array, what, "formats are ascii, binary and appended"));
        };
        let most = most.map_or(usize::MAX, |n| n.saturating_mul(number.size()));
        let decoded = match self.coding.compressor {
            Compressor::None => self.plain(bytes, most),
            _ => self.blocks(bytes, most),
        };
        let decoded = decoded.map_err(|what| {
            self.problem(array, what, "the file is damaged; copy or write it again")
        })?;
        Ok(number.decode(&decoded, self.coding.big_endian, convert))
    }

    fn problem(&self, array: &Element, what: impl Into<String>, fix: &str) -> Malformed {
        let name = array.get("Name").unwrap_or(&array.name);
        Malformed::new(Place::File, format!("array '{name}': {}", what.into()), fix)
    }

    fn text<T>(
        &self,
        array: &Element,
        most: Option<usize>,
        convert: impl Fn(f64) -> T,
    ) -> Result<Vec<T>, Malformed> {
        let words = self.document.text(array).split_ascii_whitespace();
        let numbers = words.take(most.unwrap_or(usize::MAX)).map(|word| {
            let value = parse_f64(word.as_bytes());
            value.map(&convert).ok_or_else(|| {
                let what = format!("{} is not a number", quote(word.as_bytes()));
                self.problem(array, what, "correct it, or write the file again")
            })
        });
        numbers.collect()
    }

    fn appended(&self, array: &Element) -> Result<Coded<'a>, Malformed> {
        let offset = array.get("offset").and_then(|o| o.parse::<usize>().ok());
        let Some(offset) = offset else {
            return Err(self.problem(array, "it has no offset", "write the file again"));
        };
        let (bytes, raw) = self.document.appended.ok_or_else(|| {
            self.problem(array, "the file has no appended data", "it was cut off; copy it again")
        })?;
        let Some(bytes) = bytes.get(offset..) else {
            let what = format!("its offset {offset} is beyond the end of the file");
            return Err(self.problem(array, what, "the file was cut off; copy it again"));
        };
        if raw {
            return Ok(Coded::Raw(bytes));
        }
        let end = memchr::memchr(b'<', bytes).unwrap_or(bytes.len());
        Ok(Coded::Base64(bytes[..end].trim_ascii()))
    }

    /// One length, then the bytes.
    fn plain(&self, coded: Coded<'a>, most: usize) -> Result<Vec<u8>, String> {
        let size = self.coding.header_size();
        match coded {
            Coded::Raw(bytes) => {
                let length = self.coding.header(bytes).ok_or("the file ends before it")?;
                let end = size.saturating_add(length.min(most));
                let data = bytes.get(size..end);
                Ok(data.ok_or_else(|| format!("{length} bytes are more than there are"))?.to_vec())
            }
            Coded::Base64(text) => {
                // Length and bytes are one run, unless padding ends the length.
                let apart = size.div_ceil(3) * 4;
                let padded = text.get(..apart).is_some_and(|head| head.contains(&b'='));
                let head = decode64(text.get(..apart).ok_or("the text ends before its length")?)?;
                let length = self.coding.header(&head).ok_or("its length is not there")?;
                let length = length.min(most);
                let (text, skip) = if padded { (&text[apart..], 0) } else { (text, size) };
                let chars = length.saturating_add(skip).div_ceil(3).saturating_mul(4);
                let mut data = decode64(&text[..text.len().min(chars)])?;
                data.truncate(skip.saturating_add(length));
                data.drain(..skip.min(data.len()));
                Ok(data)
            }
        }
    }

    /// How many blocks, their size, the size of the last if it is smaller, the compressed size of each; then
    /// the blocks.
    fn blocks(&self, coded: Coded<'a>, most: usize) -> Result<Vec<u8>, String> {
        let size = self.coding.header_size();
        let ends = || "its table of blocks is not all there".to_owned();
        let first = coded.take(0, size).ok_or_else(ends)??;
        let count = self.coding.header(&first).ok_or_else(ends)?;
        if count == 0 {
            return Ok(Vec::new());
        }
        let table_size = count.checked_add(3).and_then(|n| n.checked_mul(size)).ok_or_else(ends)?;
        let table = coded.take(0, table_size).ok_or_else(ends)??;
        let entry = |k: usize| self.coding.header(&table[k * size..]).unwrap_or(usize::MAX);
        let (block, partial) = (entry(1), entry(2));
        let sizes = (0..count).map(|k| entry(3 + k));
        let data = match coded {
            Coded::Raw(bytes) => std::borrow::Cow::Borrowed(&bytes[table_size..]),
            Coded::Base64(text) => {
                let all = sizes.clone().fold(0, usize::saturating_add);
                let text = text.get(table_size.div_ceil(3) * 4..).ok_or_else(ends)?;
                let chars = all.div_ceil(3).saturating_mul(4);
                decode64(&text[..text.len().min(chars)])?.into()
            }
        };
        let mut rest = &data[..];
        let mut whole = Vec::new();
        for (k, size) in sizes.enumerate() {
            if whole.len() >= most {
                break;
            }
            let last = k + 1 == count && partial > 0;
            let expected = if last { partial } else { block };
            let Some((compressed, after)) = rest.split_at_checked(size) else {
                return Err(format!("block {} of {count} is cut off", k + 1));
            };
            let before = whole.len();
            self.inflate(compressed, expected, &mut whole)
                .map_err(|why| format!("block {} of {count}: {why}", k + 1))?;
            if whole.len() - before != expected {
                let found = whole.len() - before;
                return Err(format!("block {} has {found} bytes, not {expected}", k + 1));
            }
            rest = after;
        }
        whole.truncate(most);
        Ok(whole)
    }

    fn inflate(&self, block: &[u8], expected: usize, into: &mut Vec<u8>) -> Result<(), String> {
        into.reserve(expected.min(RESERVED));
        let most = (expected as u64).saturating_add(1);
        let read = match self.coding.compressor {
            Compressor::None => {
                into.extend_from_slice(block);
                Ok(block.len())
            }
            Compressor::Zlib => flate2::read::ZlibDecoder::new(block).take(most).read_to_end(into),
            Compressor::Lzma => lzma_rust2::XzReader::new_mem_limit(block, false, LZMA_MEMORY)
                .take(most)
                .read_to_end(into),
            Compressor::Lz4 => {
                // A byte of LZ4 becomes at most 255.
                if expected > block.len().saturating_mul(255).saturating_add(64) {
                    return Err(format!("{} bytes cannot become {expected}", block.len()));
                }
                let whole = lz4_flex::block::decompress(block, expected)
                    .map_err(|error| error.to_string())?;
                into.extend_from_slice(&whole);
                Ok(whole.len())
            }
        };
        read.map(|_| ()).map_err(|error| error.to_string())
    }
}

/// Bytes as they are in the file.
#[derive(Clone, Copy)]
enum Coded<'a> {
    Raw(&'a [u8]),
    Base64(&'a [u8]),
}

impl Coded<'_> {
    /// `count` bytes from `start`, which is 0 or a multiple of three in base64; `None` if they are not there.
    fn take(self, start: usize, count: usize) -> Option<Result<Vec<u8>, String>> {
        match self {
            Self::Raw(bytes) => Some(Ok(bytes.get(start..start.checked_add(count)?)?.to_vec())),
            Self::Base64(text) => {
                let chars = count.div_ceil(3).checked_mul(4)?;
                let text = text.get(start / 3 * 4..)?.get(..chars)?;
                let decoded = decode64(text);
                Some(decoded.and_then(|mut bytes| {
                    if bytes.len() < count {
                        return Err("its header is not all there".to_owned());
                    }
                    bytes.truncate(count);
                    Ok(bytes)
                }))
            }
        }
    }
}

/// Bytes of base64, up to the padding.
fn decode64(text: &[u8]) -> Result<Vec<u8>, String> {
    let end = memchr::memchr(b'=', text).unwrap_or(text.len());
    let whole = BASE64.decode(&text[..end]);
    let whole = match whole {
        // Lines are broken by some programs.
        Err(_) if text.iter().any(u8::is_ascii_whitespace) => {
            let joined: Vec<u8> =
                text[..end].iter().copied().filter(|b| !b.is_ascii_whitespace()).collect();
            BASE64.decode(joined)
        }
        whole => whole,
    };
    whole.map_err(|error| format!("it is not base64: {error}"))
}
