//! Binary glTF files, their views compressed as the extension `EXT_meshopt_compression` and its younger twin have it: in
//! the longest way, which is the shortest to write.

use serde_json::{Value, json};

/// The file with all views compressed that can be, under the name of the extension; and how many were.
pub(crate) fn compressed(glb: &[u8], extension: &str) -> (Vec<u8>, usize) {
    let word =
        |at: usize| u32::from_le_bytes(glb[at..at + 4].try_into().expect("four bytes")) as usize;
    let json_end = 20 + word(12);
    let mut document: Value = serde_json::from_slice(&glb[20..json_end]).expect("JSON");
    let (data, mut bin, mut count) = (&glb[json_end + 8..], Vec::new(), 0);
    let accessors = document["accessors"].as_array().cloned().unwrap_or_default();
    for (i, view) in document["bufferViews"].as_array_mut().expect("views").iter_mut().enumerate() {
        let number = |value: &Value| value.as_u64().unwrap_or(0) as usize;
        let (start, length) = (number(&view["byteOffset"]), number(&view["byteLength"]));
        let (bytes, offset) = (&data[start..start + length], bin.len());
        let Some((stream, mut told)) = accessors
            .iter()
            .find(|a| a["bufferView"] == json!(i))
            .and_then(|a| stream(bytes, a, extension.starts_with("KHR")))
        else {
            view["byteOffset"] = json!(offset);
            bin.extend_from_slice(bytes);
            bin.resize(bin.len().next_multiple_of(4), 0);
            continue;
        };
        told["buffer"] = json!(0);
        told["byteOffset"] = json!(offset);
        told["byteLength"] = json!(stream.len());
        view["buffer"] = json!(1);
        view["extensions"] = json!({ extension: told });
        bin.extend(stream);
        bin.resize(bin.len().next_multiple_of(4), 0);
        count += 1;
    }
    let fallback = json!({ extension: { "fallback": true } });
    document["buffers"] = json!([
        { "byteLength": bin.len() },
        { "byteLength": data.len(), "extensions": fallback },
    ]);
    document["extensionsUsed"] = json!([extension]);
    document["extensionsRequired"] = json!([extension]);
    (whole(&document, &bin), count)
}

fn whole(document: &Value, bin: &[u8]) -> Vec<u8> {
    let mut text = serde_json::to_vec(document).expect("JSON");
    text.resize(text.len().next_multiple_of(4), b' ');
    let mut file = b"glTF\x02\0\0\0".to_vec();
    file.extend((28 + text.len() as u32 + bin.len() as u32).to_le_bytes());
    file.extend((text.len() as u32).to_le_bytes());
    file.extend(b"JSON");
    file.extend(&text);
    file.extend((bin.len() as u32).to_le_bytes());
    file.extend(b"BIN\0");
    file.extend(bin);
    file
}

/// The stream of an accessor that fills a view, and what the view tells of it.
fn stream(bytes: &[u8], accessor: &Value, is_younger: bool) -> Option<(Vec<u8>, Value)> {
    let width = match accessor["type"].as_str()? {
        "SCALAR" => 1,
        "VEC2" => 2,
        "VEC3" => 3,
        "VEC4" => 4,
        _ => 16,
    };
    let component = accessor["componentType"].as_u64()?;
    let size = width * [1, 1, 2, 2, 4, 4, 4][component as usize - 5120];
    let count = bytes.len() / size;
    let told = |mode: &str| json!({ "mode": mode, "count": count, "byteStride": size });
    if matches!(component, 5123 | 5125) && width == 1 {
        let index = |b: &[u8]| b.iter().rev().fold(0, |sum, &byte| sum << 8 | u32::from(byte));
        let indices: Vec<u32> = bytes.chunks(size).map(index).collect();
        return Some(match is_younger && count.is_multiple_of(3) {
            true => (triangles(&indices), told("TRIANGLES")),
            false => (sequence(&indices), told("INDICES")),
        });
    }
    (size % 4 == 0).then(|| (attributes(bytes, size, is_younger), told("ATTRIBUTES")))
}

/// All differences as whole bytes.
fn attributes(elements: &[u8], stride: usize, is_younger: bool) -> Vec<u8> {
    let mut stream = vec![0xa0 | u8::from(is_younger)];
    let mut last = elements[..stride].to_vec();
    for block in elements.chunks(((8192 / stride) & !15).min(256) * stride) {
        let count = block.len() / stride;
        if is_younger {
            stream.resize(stream.len() + stride / 4, 0xff);
        }
        for k in 0..stride {
            if !is_younger {
                stream.resize(stream.len() + count.div_ceil(64), 0xff);
            }
            for element in block.chunks(stride) {
                let delta = element[k].wrapping_sub(std::mem::replace(&mut last[k], element[k]));
                stream.push((delta << 1) ^ (delta >> 7).wrapping_neg());
            }
            let padding = if is_younger { 0 } else { count.next_multiple_of(16) - count };
            stream.resize(stream.len() + padding, 0);
        }
    }
    let modes = if is_younger { stride / 4 } else { 0 };
    let least = if is_younger { 24 } else { 32 };
    stream.resize(stream.len() + least.max(stride + modes) - stride - modes, 0);
    stream.extend_from_slice(&elements[..stride]);
    stream.resize(stream.len() + modes, 0);
    stream
}

/// All corners told by themselves.
fn triangles(indices: &[u32]) -> Vec<u8> {
    let mut stream = vec![0xe1];
    stream.resize(1 + indices.len() / 3, 0xff);
    let mut last = 0;
    for corners in indices.chunks(3) {
        stream.push(0xff);
        corners.iter().for_each(|&i| varint(&mut stream, zigzag(i, &mut last)));
    }
    stream.resize(stream.len() + 16, 0);
    stream
}

fn sequence(indices: &[u32]) -> Vec<u8> {
    let (mut stream, mut last) = (vec![0xd1], 0);
    indices.iter().for_each(|&i| varint(&mut stream, zigzag(i, &mut last) << 1));
    stream.resize(stream.len() + 4, 0);
    stream
}

fn zigzag(index: u32, last: &mut u32) -> u32 {
    let delta = index.wrapping_sub(std::mem::replace(last, index));
    (delta << 1) ^ (delta >> 31).wrapping_neg()
}

fn varint(stream: &mut Vec<u8>, mut value: u32) {
    while value >= 128 {
        stream.push(value as u8 | 128);
        value >>= 7;
    }
    stream.push(value as u8);
}
