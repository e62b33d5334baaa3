//! The seeds of the fuzz targets, each through the reader its folder is named after.

use std::path::Path;

use supple::Asset;
use supple::io::{Malformed, Warning, obj, off, ply, stl, vtk};

type Read = fn(&[u8], &mut Vec<Warning>) -> Result<Asset, Malformed>;

const READERS: [(&str, Read); 5] = [
    ("obj", obj::read),
    ("ply", ply::read),
    ("stl", stl::read),
    ("off", off::read),
    ("vtk", vtk::read),
];

#[test]
fn every_seed_is_refused_or_read_soundly() {
    let corpora = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../fuzz/corpus");
    for (name, read) in READERS {
        let (mut sound, mut refused) = (0, 0);
        for entry in corpora.join(name).read_dir().unwrap() {
            let path = entry.unwrap().path();
            let bytes = std::fs::read(&path).unwrap();
            match read(&bytes, &mut Vec::new()) {
                Ok(asset) => {
                    sound += 1;
                    for mesh in &asset.meshes {
                        assert_eq!(mesh.validate(), Ok(()), "{}", path.display());
                    }
                }
                Err(error) => {
                    refused += 1;
                    assert!(!error.fix.is_empty(), "{}: {error}", path.display());
                }
            }
        }
        assert!(sound > 0 && refused > 0, "{name}: {sound} sound and {refused} refused seeds");
    }
}
