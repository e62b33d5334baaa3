//! Any bytes as a text or binary glTF file without a folder: refused, or sound meshes.
#![no_main]

use libfuzzer_sys::fuzz_target;
use supple::io::{gltf, uri};

fuzz_target!(|bytes: &[u8]| {
    if let Ok(asset) = gltf::read(bytes, &uri::no_folder, &mut Vec::new()) {
        for mesh in &asset.meshes {
            assert_eq!(mesh.validate(), Ok(()));
        }
    }
});
