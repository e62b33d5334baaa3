//! Any bytes as the two files of this kind, the second behind the first zero: refused, or sound tets.
#![no_main]

use libfuzzer_sys::fuzz_target;

fuzz_target!(|bytes: &[u8]| {
    let end = bytes.iter().position(|&b| b == 0).unwrap_or(bytes.len());
    let (node, ele) = bytes.split_at(end);
    if let Ok(mesh) = supple::io::tetgen::read(node, ele.get(1..).unwrap_or_default(), &mut Vec::new()) {
        assert!((0..mesh.tets.len()).all(|t| mesh.volume_of(t) > 0.0));
    }
});
