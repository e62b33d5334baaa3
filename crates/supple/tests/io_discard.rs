//! Ending a process in the middle of a write; alone in its process, since it discards every write.

use std::fs;
use std::io::Write as _;

use supple::io::{discard_unfinished, save};

#[test]
fn discarding_removes_what_is_half_written() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("b.txt");
    let result = save(&path, |out| {
        out.write_all(b"half")?;
        discard_unfinished();
        Ok(())
    });
    assert!(result.is_err(), "there is nothing left to rename");
    assert_eq!(fs::read_dir(folder.path()).unwrap().count(), 0, "no file is left");
}
