//! Streams written here are read again; hostile ones are refused.

use super::*;

/// A stream of attributes, every byte in the fewest bits that hold it.
fn packed(elements: &[u8], stride: usize, version: u8) -> Vec<u8> {
    let mut stream = vec![0xa0 | version];
    let mut last = elements[..stride].to_vec();
    let most = ((8192 / stride) & !15).min(256);
    for block in elements.chunks(most * stride) {
        let count = block.len() / stride;
        if version == 1 {
            // All four ways by turns; zeros cannot be chosen freely.
            stream.extend(
                (0..stride / 4)
                    .map(|channel| if channel % 2 == 0 { 0b1101_0001 } else { 0b0111_0100 }),
            );
        }
        for k in 0..stride {
            let mut column: Vec<u8> = Vec::new();
            for element in block.chunks(stride) {
                let delta = element[k].wrapping_sub(std::mem::replace(&mut last[k], element[k]));
                column.push((delta << 1) ^ (delta >> 7).wrapping_neg());
            }
            let control = [[1, 0, 1, 3], [0, 1, 3, 1]][(k / 4) % 2][k % 4];
            if version == 1 && control == 3 {
                stream.extend_from_slice(&column);
                continue;
            }
            column.resize(count.next_multiple_of(16), 0);
            let bits = match (version, control) {
                (0, _) => [0, 2, 4, 8],
                (_, 0) => [0, 1, 2, 4],
                _ => [1, 2, 4, 8],
            };
            push_column(&mut stream, &column, bits);
        }
    }
    let modes = if version == 0 { 0 } else { stride / 4 };
    let least = if version == 0 { 32 } else { 24 };
    stream.resize(stream.len() + least.max(stride + modes) - stride - modes, 0);
    stream.extend_from_slice(&elements[..stride]);
    stream.resize(stream.len() + modes, 0);
    stream
}

fn push_column(stream: &mut Vec<u8>, column: &[u8], bits: [u32; 4]) {
    let (mut header, mut groups) = (vec![0; column.len().div_ceil(64)], Vec::new());
    for (g, group) in column.chunks(16).enumerate() {
        let ways: Vec<Vec<u8>> = bits.iter().filter_map(|&b| packed_group(group, b)).collect();
        let fits = |b: u32| packed_group(group, b).is_some();
        let shortest = ways.iter().map(Vec::len).min().expect("at least one way");
        let of = |&m: &usize| {
            fits(bits[m]) && packed_group(group, bits[m]).is_some_and(|w| w.len() == shortest)
        };
        let mode = (0..4).find(of).expect("the shortest");
        header[g / 4] |= (mode as u8) << (2 * (g % 4));
        groups.extend(packed_group(group, bits[mode]).expect("fits"));
    }
    stream.extend(header);
    stream.extend(groups);
}

fn packed_group(group: &[u8], bits: u32) -> Option<Vec<u8>> {
    if bits == 0 {
        return group.iter().all(|&x| x == 0).then(Vec::new);
    }
    if bits == 8 {
        return Some(group.to_vec());
    }
    let (mask, each) = (u8::MAX >> (8 - bits), 8 / bits);
    let mut bytes = vec![0; 2 * bits as usize];
    for (i, &x) in (0..).zip(group) {
        let at = if bits == 1 { i % 8 } else { 8 - bits * (i % each + 1) };
        bytes[(i / each) as usize] |= x.min(mask) << at;
    }
    bytes.extend(group.iter().filter(|&&x| x >= mask));
    Some(bytes)
}

/// Bytes that change little, much, and not at all.
fn elements(count: usize, stride: usize) -> Vec<u8> {
    let of = |i: usize, k: usize| match k % 5 {
        0 => 7,
        1 => (i / 3) as u8,
        2 => (i * 37 % 251) as u8,
        3 => (i % 2) as u8,
        _ => (i / 40) as u8,
    };
    (0..count).flat_map(|i| (0..stride).map(move |k| of(i, k))).collect()
}

fn plain(mode: Mode, count: usize, stride: usize) -> Layout {
    Layout { mode, filter: Filter::None, count, stride }
}

#[test]
fn attributes_come_back() {
    for (count, stride) in [(1, 4), (16, 8), (17, 12), (300, 16), (1000, 64), (70, 256)] {
        let whole = elements(count, stride);
        for version in [0, 1] {
            let stream = packed(&whole, stride, version);
            let read = plain(Mode::Attributes, count, stride).decode(&stream);
            assert_eq!(read.as_ref(), Ok(&whole), "{count} of {stride}, version {version}");
        }
        assert!(count < 300 || packed(&whole, stride, 0).len() < whole.len() * 2 / 3, "smaller");
    }
}

/// The example of the specification.
#[test]
fn four_bits_and_what_does_not_fit_them() {
    let deltas = [-1_i32, -4, -3, 26, -91, 0, -6, 6, -4, -4, 5, -5, 1, -1, 0, 0];
    let group = [0x17, 0x5f, 0xf0, 0xbc, 0x77, 0xa9, 0x21, 0x00, 0x34, 0xb5];
    let mut stream = vec![0xa1, 0b10_10_10_00, 0b11];
    stream.extend(group);
    stream.extend([0; 24]);
    let read = plain(Mode::Attributes, 16, 4).decode(&stream).unwrap();
    let mut sum = 0_u8;
    let expected = deltas.map(|d| {
        sum = sum.wrapping_add(d as u8);
        sum
    });
    assert_eq!(read.chunks(4).map(|e| e[0]).collect::<Vec<_>>(), expected);
}

/// Differences of pairs and changed bits, from zeros alone: the first element again and again, or turned.
#[test]
fn channels_follow_their_modes() {
    let stream = |mode: u8, deltas: [u8; 8]| {
        // Two elements, all bytes literal.
        let mut stream = vec![0xa1, 0xff];
        stream.extend(deltas);
        stream.resize(stream.len() + 24 - 5, 0);
        stream.extend([0x10, 0x20, 0x30, 0x40, mode]);
        stream
    };
    let read = |mode, deltas| plain(Mode::Attributes, 2, 4).decode(&stream(mode, deltas));
    // Column by column: the lowest bytes of both elements first.
    let pairs = read(1, [2, 1, 0, 0, 0, 0, 2, 0]).unwrap();
    assert_eq!(pairs, [0x11, 0x20, 0x30, 0x41, 0x10, 0x20, 0x30, 0x41]);
    let bits = read(0x12, [2, 0, 0, 0, 0, 0, 0, 2]).unwrap();
    assert_eq!(bits, [0x11, 0x20, 0x30, 0x40, 0x11, 0x20, 0x30, 0x41]);
    assert!(read(3, [0; 8]).unwrap_err().contains("channel mode"));
    assert!(read(0x11, [0; 8]).is_err(), "pairs are not turned");
}

#[test]
fn triangles_come_back() {
    // A strip; a triangle on an edge with a corner seen, one with the corner after the last told, one told whole.
    let mut stream = vec![0xe1, 0xf0, 0x10, 0x00, 0x01, 0xff, 0x0e, 0x0f];
    stream.extend([0xff, 20, 1, 2, 6]);
    stream.extend([0; 16]);
    let read = plain(Mode::Triangles, 21, 4).decode(&stream).unwrap();
    let corners: Vec<u32> =
        read.chunks(4).map(|b| u32::from_le_bytes([b[0], b[1], b[2], b[3]])).collect();
    let expected =
        [[0, 1, 2], [2, 1, 3], [2, 3, 4], [2, 4, 3], [10, 9, 10], [10, 10, 11], [10, 11, 14]];
    assert_eq!(corners, expected.as_flattened());
    let short = plain(Mode::Triangles, 21, 2).decode(&stream).unwrap();
    assert_eq!(short.len(), 42);
    let mut unseen = vec![0xe1, 0x00];
    unseen.extend([0; 16]);
    assert!(plain(Mode::Triangles, 3, 4).decode(&unseen).unwrap_err().contains("seen"));
}

#[test]
fn indices_come_back() {
    // 5 and 100 on one base each, then one more of either.
    let stream = [0xd1, 20, 0x91, 3, 4, 5, 0, 0, 0, 0];
    let read = plain(Mode::Indices, 4, 2).decode(&stream).unwrap();
    assert_eq!(read, [5, 0, 100, 0, 6, 0, 101, 0]);
}

#[test]
fn filters_are_undone() {
    let undone = |filter, mut bytes: Vec<u8>, stride| {
        filter::undo(filter, &mut bytes, stride);
        bytes
    };
    let normal =
        undone(Filter::Octahedral, vec![0, 0, 127, 9, 0x81, 0, 127, 9, 127, 127, 127, 9], 4);
    assert_eq!(normal, [0, 0, 127, 9, 0x81, 0, 0, 9, 0, 0, 0x81, 9]);
    let words = |w: [i16; 4]| w.iter().flat_map(|x| x.to_le_bytes()).collect::<Vec<_>>();
    // The second component is missing, and all of it; then a quarter turn about the third axis.
    assert_eq!(undone(Filter::Quaternion, words([0, 0, 0, 2045]), 8), words([0, 32767, 0, 0]));
    let turned = undone(Filter::Quaternion, words([0, 0, 2047, 2047]), 8);
    assert_eq!(turned, words([0, 0, 23170, 23170]));
    let number = (-3_i32 & 0x00ff_ffff) | (-1 << 24);
    assert_eq!(
        undone(Filter::Exponential, number.to_le_bytes().to_vec(), 4),
        (-1.5_f32).to_le_bytes()
    );
    // Grey of six bits, half of it clear.
    assert_eq!(undone(Filter::Color, vec![63, 0, 0, 32], 4), [255, 255, 255, 0]);
    assert_eq!(undone(Filter::Color, vec![32, 31, 0, 63], 4), [255, 130, 4, 255]);
}

/// Cut, lengthened and altered streams end in an error or in bytes, never in a panic.
#[test]
fn altered_streams_do_no_harm() {
    let whole = elements(100, 8);
    for version in [0, 1] {
        let stream = packed(&whole, 8, version);
        let layout = plain(Mode::Attributes, 100, 8);
        for cut in 0..stream.len() {
            assert!(layout.decode(&stream[..cut]).is_err(), "cut at {cut}");
        }
        for at in 0..stream.len() {
            for bit in 0..8 {
                let mut altered = stream.clone();
                altered[at] ^= 1 << bit;
                if let Ok(bytes) = layout.decode(&altered) {
                    assert_eq!(bytes.len(), whole.len());
                }
                for mode in [Mode::Triangles, Mode::Indices] {
                    let _ = plain(mode, 99, 4).decode(&altered);
                }
            }
        }
    }
    assert!(plain(Mode::Attributes, 1, 6).check().is_err());
    assert!(plain(Mode::Triangles, 4, 4).check().is_err());
    assert!(plain(Mode::Triangles, 3, 8).check().is_err());
    assert!(
        Layout { filter: Filter::Quaternion, ..plain(Mode::Attributes, 1, 4) }.check().is_err()
    );
    assert!(Layout { filter: Filter::Color, ..plain(Mode::Indices, 1, 4) }.check().is_err());
}
