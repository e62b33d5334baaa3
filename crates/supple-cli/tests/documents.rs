//! The documents speak of things that exist.

use std::path::{Path, PathBuf};

fn root() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../..")
}

/// What a Markdown text sets in backticks and looks like a path of the repository.
fn paths_in(text: &str) -> impl Iterator<Item = &str> {
    let quoted = text.split('`').skip(1).step_by(2);
    quoted.filter(|word| word.contains('/') && !word.contains(' ') && !word.starts_with("./"))
}

#[test]
fn every_path_in_the_architecture_page_exists() {
    let text = std::fs::read_to_string(root().join("ARCHITECTURE.md")).unwrap();
    let paths: Vec<_> = paths_in(&text).collect();
    assert!(paths.len() > 8, "the page names its paths in backticks");
    for path in paths {
        assert!(root().join(path).exists(), "ARCHITECTURE.md names {path}, which does not exist");
    }
}

#[test]
fn the_bibliography_is_well_formed() {
    let bibliography = std::fs::read_to_string(root().join("references.bib")).unwrap();
    let keys = bibliography.lines().filter(|line| line.starts_with('@')).count();
    assert!(keys >= 5, "the five source texts are cited");
    let braces = bibliography.matches('{').count();
    assert_eq!(braces, bibliography.matches('}').count(), "references.bib has unbalanced braces");
}
