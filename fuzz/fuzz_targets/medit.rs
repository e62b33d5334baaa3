//! Any bytes as a file of this kind: refused, or sound tets.
#![no_main]

use libfuzzer_sys::fuzz_target;

fuzz_target!(|bytes: &[u8]| {
    if let Ok(mesh) = supple::io::medit::read(bytes, &mut Vec::new()) {
        assert!((0..mesh.tets.len()).all(|t| mesh.volume_of(t) > 0.0));
    }
});
