//! The floor plan, read off the imports: top-level modules form no cycle, and no capability knows another.

use std::collections::{BTreeMap, BTreeSet};
use std::fs;
use std::path::{Path, PathBuf};

/// What a user reaches for; each stands on the foundations alone.
const CAPABILITIES: [&str; 6] =
    ["sculpt", "secondary", "skinning", "blendshape", "procdef", "smoke"];

/// Which top-level modules each of them names.
type Imports = BTreeMap<String, BTreeSet<String>>;

fn sources(folder: &Path, found: &mut Vec<PathBuf>) {
    for entry in fs::read_dir(folder).expect("a folder of sources") {
        let path = entry.expect("a file of it").path();
        let name = path.file_name().unwrap_or_default().to_string_lossy().into_owned();
        if path.is_dir() {
            sources(&path, found);
        } else if name.ends_with(".rs") && !name.starts_with("tests") {
            found.push(path);
        }
    }
}

/// The code of a file: without comments, and without the tests at its end.
fn code(path: &Path) -> String {
    let text = fs::read_to_string(path).expect("text");
    let text = text.split("#[cfg(test)]\nmod ").next().unwrap_or_default();
    let is_code = |line: &&str| !line.trim_start().starts_with("//");
    text.lines().filter(is_code).collect::<Vec<_>>().join("\n")
}

/// The first names of all paths that begin at the crate's root.
fn roots(code: &str) -> BTreeSet<String> {
    let mut found = BTreeSet::new();
    let first = |text: &str| -> String {
        text.trim_start().chars().take_while(|c| c.is_alphanumeric() || *c == '_').collect()
    };
    for (at, _) in code.match_indices("crate::") {
        let rest = &code[at + "crate::".len()..];
        let Some(list) = rest.strip_prefix('{') else {
            found.insert(first(rest));
            continue;
        };
        let (mut depth, mut name) = (0, String::new());
        for c in list.chars() {
            match c {
                '{' => depth += 1,
                '}' if depth == 0 => break,
                '}' => depth -= 1,
                ',' if depth == 0 => {
                    found.insert(first(&name));
                    name.clear();
                    continue;
                }
                _ => {}
            }
            name.push(c);
        }
        found.insert(first(&name));
    }
    found
}

fn imports() -> Imports {
    let src = Path::new(env!("CARGO_MANIFEST_DIR")).join("src");
    let mut files = Vec::new();
    sources(&src, &mut files);
    let module = |path: &Path| -> String {
        let inside = path.strip_prefix(&src).unwrap_or(path);
        let first = inside.components().next().expect("it has a name");
        first.as_os_str().to_string_lossy().trim_end_matches(".rs").to_owned()
    };
    let modules: BTreeSet<String> = files.iter().map(|f| module(f)).collect();
    let mut imports = Imports::new();
    for file in files.iter().filter(|f| module(f) != "lib") {
        let own = module(file);
        let mut names = roots(&code(file));
        // What the root hands on stands there under its own name.
        for (name, home) in
            [("Asset", "rig"), ("asset", "rig"), ("TriMesh", "mesh"), ("Run", "run")]
        {
            if names.remove(name) {
                names.insert(home.to_owned());
            }
        }
        let others = names.into_iter().filter(|name| *name != own && modules.contains(name));
        imports.entry(own.clone()).or_default().extend(others);
    }
    imports
}

/// A way that leads from a module back to itself.
fn cycle(imports: &Imports) -> Option<Vec<String>> {
    fn walk(
        at: &str,
        imports: &Imports,
        way: &mut Vec<String>,
        done: &mut BTreeSet<String>,
    ) -> bool {
        if let Some(start) = way.iter().position(|m| m == at) {
            way.drain(..start);
            return true;
        }
        if done.contains(at) {
            return false;
        }
        way.push(at.to_owned());
        if imports.get(at).into_iter().flatten().any(|next| walk(next, imports, way, done)) {
            return true;
        }
        way.pop();
        done.insert(at.to_owned());
        false
    }
    let mut done = BTreeSet::new();
    imports.keys().find_map(|from| {
        let mut way = Vec::new();
        walk(from, imports, &mut way, &mut done).then_some(way)
    })
}

#[test]
fn modules_form_no_cycle() {
    let imports = imports();
    assert!(imports["mesh"].contains("lanes"), "imports are found: {:?}", imports["mesh"]);
    assert_eq!(cycle(&imports), None);
}

#[test]
fn no_capability_knows_another() {
    let imports = imports();
    for capability in CAPABILITIES {
        let known = &imports[capability];
        let mut others = CAPABILITIES.iter().chain(&["scene", "player", "bake"]);
        let other = others.find(|other| known.contains(**other));
        assert_eq!(other, None, "{capability} imports it");
    }
}

#[test]
fn a_cycle_would_be_found() {
    let of = |pairs: &[(&str, &[&str])]| -> Imports {
        let names = |list: &[&str]| list.iter().map(|m| (*m).to_owned()).collect();
        pairs.iter().map(|(module, list)| ((*module).to_owned(), names(list))).collect()
    };
    let way = cycle(&of(&[("a", &["b"]), ("b", &["c"]), ("c", &["b"])]));
    assert_eq!(way, Some(vec!["b".to_owned(), "c".to_owned()]));
    assert_eq!(cycle(&of(&[("a", &["b", "c"]), ("b", &["c"]), ("c", &[])])), None);
    let names = roots("use crate::mesh::{bvh, volume};\nuse crate::{Run, rig::{Body, Pose}, zoo};");
    assert_eq!(names.into_iter().collect::<Vec<_>>(), ["Run", "mesh", "rig", "zoo"]);
}
