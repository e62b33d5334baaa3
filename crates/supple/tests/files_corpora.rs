//! The seeds of the fuzz targets, each through the reader its folder is named after.

use std::path::Path;

use supple::hostile::READERS;

#[test]
fn every_seed_is_refused_or_read_soundly() {
    let corpora = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../fuzz/corpus");
    for reader in &READERS {
        let (mut accepted, mut refused) = (0, 0);
        for entry in corpora.join(reader.name).read_dir().unwrap() {
            let bytes = std::fs::read(entry.unwrap().path()).unwrap();
            match reader.read(&bytes) {
                Ok(()) => accepted += 1,
                Err(what) => {
                    refused += 1;
                    assert!(!what.is_empty(), "{}: a refusal says why", reader.name);
                }
            }
        }
        assert!(accepted > 0 && refused > 0, "{}: {accepted} read, {refused} refused", reader.name);
    }
}
