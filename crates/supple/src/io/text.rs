//! Numbers, words and lines of text files, read from bytes.
//!
//! Numbers are rounded correctly: up to 19 digits with a small power of ten take Clinger's exact
//! path (one multiplication or division of two exact numbers), everything else the standard
//! library's.
//!
//! # References
//!
//! - W. D. Clinger. How to Read Floating Point Numbers Accurately. PLDI, 1990.

use super::{Malformed, Place};

/// Powers of ten that an `f64` holds exactly.
const EXACT_POWERS: [f64; 23] = [
    1e0, 1e1, 1e2, 1e3, 1e4, 1e5, 1e6, 1e7, 1e8, 1e9, 1e10, 1e11, 1e12, 1e13, 1e14, 1e15, 1e16,
    1e17, 1e18, 1e19, 1e20, 1e21, 1e22,
];

/// Largest integer below which every integer is an `f64`.
const EXACT_INTEGERS: u64 = 1 << 53;

/// Most digits that always fit a `u64`.
const MAX_DIGITS: usize = 19;

/// Blanks within a line: everything up to the space except the line feed.
fn is_blank(byte: u8) -> bool {
    byte <= b' ' && byte != b'\n'
}

/// The text without a byte order mark.
pub(super) fn without_mark(bytes: &[u8]) -> &[u8] {
    bytes.strip_prefix(b"\xef\xbb\xbf").unwrap_or(bytes)
}

/// A piece of text for a message: short and printable.
pub(super) fn quote(word: &[u8]) -> String {
    const LONGEST: usize = 40;
    let text = String::from_utf8_lossy(&word[..word.len().min(LONGEST)]);
    let dots = if word.len() > LONGEST { "…" } else { "" };
    format!("'{}{dots}'", text.escape_debug())
}

/// A number as a decimal mantissa and exponent; `None` for anything unusual.
struct Decimal {
    negative: bool,
    mantissa: u64,
    exponent: i32,
}

impl Decimal {
    /// Reads the number that starts `text` and the length it has.
    fn scan(text: &[u8]) -> Option<(Self, usize)> {
        let mut at = 0;
        let negative = text.first() == Some(&b'-');
        if negative || text.first() == Some(&b'+') {
            at = 1;
        }
        let mut mantissa = 0_u64;
        let whole = scan_digits(&text[at..], &mut mantissa);
        at += whole;
        let mut fraction = 0;
        if text.get(at) == Some(&b'.') {
            fraction = scan_digits(&text[at + 1..], &mut mantissa);
            at += 1 + fraction;
        }
        if whole + fraction == 0 || whole + fraction > MAX_DIGITS {
            return None;
        }
        let mut exponent = -(fraction as i32);
        if matches!(text.get(at), Some(b'e' | b'E')) {
            let (power, length) = scan_exponent(&text[at + 1..])?;
            exponent += power;
            at += 1 + length;
        }
        Some((Self { negative, mantissa, exponent }, at))
    }

    /// The nearest `f64`, if one exact operation gives it.
    fn to_f64(&self) -> Option<f64> {
        if self.mantissa > EXACT_INTEGERS {
            return None;
        }
        let power = EXACT_POWERS.get(self.exponent.unsigned_abs() as usize)?;
        let mantissa = self.mantissa as f64;
        let value = if self.exponent < 0 { mantissa / power } else { mantissa * power };
        Some(if self.negative { -value } else { value })
    }
}

/// Appends the digits that start `text` to `mantissa`; how many there were.
///
/// The mantissa wraps beyond [`MAX_DIGITS`]; the caller refuses those.
fn scan_digits(text: &[u8], mantissa: &mut u64) -> usize {
    let mut count = 0;
    for &byte in text {
        let digit = byte.wrapping_sub(b'0');
        if digit > 9 {
            break;
        }
        *mantissa = mantissa.wrapping_mul(10).wrapping_add(u64::from(digit));
        count += 1;
    }
    count
}

fn scan_exponent(text: &[u8]) -> Option<(i32, usize)> {
    let negative = text.first() == Some(&b'-');
    let sign = usize::from(negative || text.first() == Some(&b'+'));
    let mut value = 0_u64;
    let digits = scan_digits(&text[sign..], &mut value);
    if digits == 0 || value > 400 || digits > MAX_DIGITS {
        return None;
    }
    let value = value as i32;
    Some((if negative { -value } else { value }, sign + digits))
}

/// The nearest `f32` to a number whose nearest `f64` is `value`, unless that takes more digits than
/// `value` has: rounding twice is only wrong at a tie of `f32`s, or below the normal range.
fn narrow(value: f64) -> Option<f32> {
    const DROPPED: u64 = (1 << 29) - 1;
    const TIE: u64 = 1 << 28;
    let tie = value.to_bits() & DROPPED == TIE;
    let normal = value == 0.0 || value.abs() >= f64::from(f32::MIN_POSITIVE);
    (normal && !tie).then_some(value as f32)
}

/// What stands in a line, read from left to right.
#[derive(Clone, Copy, Debug)]
pub(super) struct Words<'a> {
    rest: &'a [u8],
}

impl<'a> Words<'a> {
    pub(super) fn new(line: &'a [u8]) -> Self {
        Self { rest: line }
    }

    fn skip_blanks(&mut self) {
        while let Some((&byte, rest)) = self.rest.split_first()
            && is_blank(byte)
        {
            self.rest = rest;
        }
    }

    /// Everything not yet read, without blanks around it.
    pub(super) fn rest(&self) -> &'a [u8] {
        self.rest.trim_ascii()
    }

    /// True if only blanks are left.
    pub(super) fn is_done(&mut self) -> bool {
        self.skip_blanks();
        self.rest.is_empty()
    }

    /// The next word.
    pub(super) fn word(&mut self) -> Option<&'a [u8]> {
        self.skip_blanks();
        take_word(&mut self.rest)
    }

    /// The next word as a number: `None` at the end of the line, else the number or the word that
    /// is none.
    pub(super) fn float(&mut self) -> Option<Result<f32, &'a [u8]>> {
        self.skip_blanks();
        if self.rest.is_empty() {
            return None;
        }
        if let Some((decimal, length)) = Decimal::scan(self.rest)
            && self.rest.get(length).is_none_or(|&b| b <= b' ')
            && let Some(value) = decimal.to_f64().and_then(narrow)
        {
            self.rest = &self.rest[length..];
            return Some(Ok(value));
        }
        let word = self.word()?;
        Some(parse_f32(word).ok_or(word))
    }

    /// The next word as an integer; as [`float`](Self::float).
    pub(super) fn integer(&mut self) -> Option<Result<i64, &'a [u8]>> {
        let word = self.word()?;
        Some(parse_integer(word).ok_or(word))
    }
}

/// An `f32` from a whole word.
pub(super) fn parse_f32(word: &[u8]) -> Option<f32> {
    std::str::from_utf8(word).ok()?.parse().ok()
}

/// An `f64` from a whole word.
pub(super) fn parse_f64(word: &[u8]) -> Option<f64> {
    if let Some((decimal, length)) = Decimal::scan(word)
        && length == word.len()
        && let Some(value) = decimal.to_f64()
    {
        return Some(value);
    }
    std::str::from_utf8(word).ok()?.parse().ok()
}

/// An integer from a whole word.
pub(super) fn parse_integer(word: &[u8]) -> Option<i64> {
    let negative = word.first() == Some(&b'-');
    let digits = &word[usize::from(negative || word.first() == Some(&b'+'))..];
    let mut value = 0_u64;
    let count = scan_digits(digits, &mut value);
    if count == 0 || count != digits.len() || count >= MAX_DIGITS {
        return None;
    }
    let value = value as i64;
    Some(if negative { -value } else { value })
}

/// The lines of a text, with their numbers; carriage returns end up as trailing blanks.
#[derive(Clone, Debug)]
pub(super) struct Lines<'a> {
    rest: &'a [u8],
    number: usize,
    end: u8,
}

impl<'a> Lines<'a> {
    pub(super) fn new(bytes: &'a [u8]) -> Self {
        let bytes = without_mark(bytes);
        let end = if memchr::memchr(b'\n', bytes).is_some() { b'\n' } else { b'\r' };
        Self { rest: bytes, number: 0, end }
    }

    /// The next line without its end.
    pub(super) fn next_line(&mut self) -> Option<&'a [u8]> {
        if self.rest.is_empty() {
            return None;
        }
        self.number += 1;
        let end = memchr::memchr(self.end, self.rest).unwrap_or(self.rest.len());
        let line = &self.rest[..end];
        self.rest = self.rest.get(end + 1..).unwrap_or_default();
        Some(line)
    }

    /// The number of the line last returned, counted from 1.
    pub(super) fn number(&self) -> usize {
        self.number
    }

    /// What has not been read yet.
    pub(super) fn rest(&self) -> &'a [u8] {
        self.rest
    }
}

/// The words of a text regardless of lines, which are only counted.
#[derive(Clone, Debug, Default)]
pub(super) struct Tokens<'a> {
    rest: &'a [u8],
    line: usize,
}

impl<'a> Tokens<'a> {
    /// Starts in line `line` of the file.
    pub(super) fn new(rest: &'a [u8], line: usize) -> Self {
        Self { rest, line }
    }

    fn skip_blanks(&mut self) {
        while let Some((&byte, rest)) = self.rest.split_first()
            && byte <= b' '
        {
            self.line += usize::from(byte == b'\n');
            self.rest = rest;
        }
    }

    /// Where the next word is, or the last one was.
    pub(super) fn place(&self) -> Place {
        Place::Line(self.line)
    }

    /// How many bytes have not been read.
    pub(super) fn bytes_left(&self) -> usize {
        self.rest.len()
    }

    /// The next word.
    pub(super) fn word(&mut self) -> Option<&'a [u8]> {
        self.skip_blanks();
        take_word(&mut self.rest)
    }

    /// The words left in this line; the next call starts in the line after.
    pub(super) fn rest_of_line(&mut self) -> Words<'a> {
        let end = memchr::memchr(b'\n', self.rest).unwrap_or(self.rest.len());
        let (line, rest) = self.rest.split_at(end);
        self.rest = rest;
        Words::new(line)
    }

    /// The next line; nothing at the end of the text.
    pub(super) fn next_line(&mut self) -> Option<Words<'a>> {
        let rest = self.rest.strip_prefix(b"\n").unwrap_or(self.rest);
        self.line += usize::from(rest.len() < self.rest.len());
        self.rest = rest;
        (!rest.is_empty()).then(|| self.rest_of_line())
    }

    /// `count` bytes as they are, from the line after this one on.
    pub(super) fn take_bytes(&mut self, count: usize) -> Option<&'a [u8]> {
        let blank = self.rest.iter().position(|&b| b != b' ' && b != b'\r')?;
        let rest = &self.rest[blank..];
        let (bytes, rest) = rest.strip_prefix(b"\n")?.split_at_checked(count)?;
        self.rest = rest;
        Some(bytes)
    }

    /// The next word as a number.
    pub(super) fn float(&mut self) -> Result<f32, Malformed> {
        self.skip_blanks();
        let mut words = Words::new(self.rest);
        match words.float() {
            Some(Ok(value)) => {
                self.rest = words.rest;
                Ok(value)
            }
            found => Err(self.not_a("number", found.and_then(Result::err))),
        }
    }

    /// The next word as an `f64`.
    pub(super) fn double(&mut self) -> Result<f64, Malformed> {
        let word = self.word();
        word.and_then(parse_f64).ok_or_else(|| self.not_a("number", word))
    }

    fn not_a(&self, wanted: &str, found: Option<&[u8]>) -> Malformed {
        match found {
            None => Malformed::new(
                self.place(),
                format!("the file ends where a {wanted} should be"),
                "it was cut off, or a count in it is too large",
            ),
            Some(word) => Malformed::new(
                self.place(),
                format!("{} is not a {wanted}", quote(word)),
                "correct it, or export the file again",
            ),
        }
    }
}

/// Takes the word that text starts with off it.
fn take_word<'a>(text: &mut &'a [u8]) -> Option<&'a [u8]> {
    let end = text.iter().position(|&b| b <= b' ').unwrap_or(text.len());
    let (word, rest) = text.split_at(end);
    *text = rest;
    (!word.is_empty()).then_some(word)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn float(text: &str) -> Option<f32> {
        Words::new(text.as_bytes()).float()?.ok()
    }

    #[test]
    fn floats_are_the_nearest_ones() {
        let hard = [
            "0",
            "-0",
            "1",
            "-1.5",
            "+2.25",
            ".5",
            "5.",
            "1e5",
            "1E-05",
            "0.1",
            "16777217",
            "16777219",
            "33554435",
            "1.17549429e-38",
            "1e-45",
            "7e-46",
            "3.4028236e38",
            "1e39",
            "0.000000000000000000000000000001",
            "123456789012345678901234567890",
            "1e-400",
            "9007199254740993",
            "1.00000017881393421514957253748434595763683319091796875001",
            "1.00000017881393432617187499",
            "1.00000017881393432617187500",
        ];
        for text in hard {
            let expected: f32 = text.parse().unwrap();
            let found = float(text).map(f32::to_bits);
            assert_eq!(found, Some(expected.to_bits()), "{text}");
        }
    }

    #[test]
    fn floats_of_any_length_agree_with_the_standard_library() {
        let mut state = 1_u64;
        for i in 0..20_000 {
            state = state.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1);
            let digits = state >> (8 + i % 40);
            let text = format!("{}.{}e{}", digits % 1000, digits, i % 50 - 25);
            let expected: f32 = text.parse().unwrap();
            assert_eq!(float(&text).map(f32::to_bits), Some(expected.to_bits()), "{text}");
            assert_eq!(parse_f64(text.as_bytes()), text.parse().ok(), "{text}");
        }
    }

    #[test]
    fn words_that_are_no_numbers_are_returned() {
        for text in ["x", "1x", "--1", "1e", ".", "1,5", "-"] {
            assert_eq!(Words::new(text.as_bytes()).float(), Some(Err(text.as_bytes())), "{text}");
        }
        assert!(float("nan").is_some_and(f32::is_nan), "nan is a number to be refused later");
        assert_eq!(Words::new(b"  ").float(), None);
    }

    #[test]
    fn integers_are_whole_words() {
        assert_eq!(parse_integer(b"-12"), Some(-12));
        assert_eq!(parse_integer(b"+7"), Some(7));
        for bad in ["", "-", "1.0", "1/2", "99999999999999999999"] {
            assert_eq!(parse_integer(bad.as_bytes()), None, "{bad}");
        }
    }

    #[test]
    fn lines_end_with_any_of_the_three_customs() {
        for text in ["a\nb\nc", "a\r\nb\r\nc\r\n", "a\rb\rc\r"] {
            let mut lines = Lines::new(text.as_bytes());
            let mut found = Vec::new();
            while let Some(line) = lines.next_line() {
                found.push(line.trim_ascii());
            }
            assert_eq!(found, [b"a", b"b", b"c"], "{text:?}");
            assert_eq!(lines.number(), 3);
        }
    }
}
