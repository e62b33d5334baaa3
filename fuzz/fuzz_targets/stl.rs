//! Any bytes as a file of this kind: refused, or a sound mesh.
#![no_main]

use libfuzzer_sys::fuzz_target;

fuzz_target!(|bytes: &[u8]| {
    if let Ok(asset) = supple::io::stl::read(bytes, &mut Vec::new()) {
        for mesh in &asset.meshes {
            assert_eq!(mesh.validate(), Ok(()));
        }
    }
});
