//! A bake whose process is killed outright goes on in the next one, to the same bytes.

mod stage;

use std::collections::BTreeMap;
use std::fs;
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Stdio};
use std::time::{Duration, Instant};

use stage::{SCENE, player, scene};
use supple::Run;
use supple::bake::{Options, WRITERS, bake};
use supple::scene::TakeFormat;

/// Names the folder the child bakes to.
const CHILD: &str = "SUPPLE_TEST_BAKE_CHILD";

fn bake_to(folder: &Path, run: &Run<'_>) {
    let mut player = player(&scene(SCENE)).expect("a sound scene");
    let formats = Some(vec![TakeFormat::Glb, TakeFormat::Ply]);
    let options = Options { frames: Some(0..12), formats, keep_cache: false, check: false };
    bake(&mut player, folder, &options, &WRITERS, run).expect("a bake");
}

/// Not a test of its own: what the other test starts and kills.
#[test]
fn child() {
    let Some(folder) = std::env::var_os(CHILD) else { return };
    let slowly = |_, _| std::thread::sleep(Duration::from_millis(15));
    bake_to(&PathBuf::from(folder), &Run { progress: Some(&slowly), ..Run::default() });
}

fn start(folder: &Path) -> Child {
    let mut command = Command::new(std::env::current_exe().expect("this program"));
    command.args(["child", "--exact"]).env(CHILD, folder);
    command.stdout(Stdio::null()).stderr(Stdio::null()).spawn().expect("a child")
}

fn names(folder: &Path) -> Vec<String> {
    let entries = fs::read_dir(folder).into_iter().flatten().flatten();
    entries.filter_map(|e| e.file_name().into_string().ok()).collect()
}

fn contents(folder: &Path) -> BTreeMap<String, Vec<u8>> {
    let read = |name: String| fs::read(folder.join(&name)).ok().map(|bytes| (name, bytes));
    names(folder).into_iter().filter_map(read).collect()
}

/// Files that are finished: stored frames and outputs.
fn finished(folder: &Path) -> usize {
    let whole = |n: &String| !n.ends_with("-tmp");
    let stored = names(&folder.join(".supple-bake"));
    stored.iter().chain(&names(folder)).filter(|n| whole(n)).count()
}

#[test]
fn killed_again_and_again_the_files_are_the_same() {
    let (calm, killed) = (tempfile::tempdir().unwrap(), tempfile::tempdir().unwrap());
    bake_to(calm.path(), &Run::default());
    let folder = killed.path();
    let patience = Instant::now() + Duration::from_secs(120);
    for more in [2, 4, 3, 5, 9] {
        let goal = finished(folder) + more;
        let mut child = start(folder);
        while finished(folder) < goal && Instant::now() < patience {
            if child.try_wait().unwrap().is_some() {
                break;
            }
            std::thread::sleep(Duration::from_millis(1));
        }
        // On Unix this is SIGKILL: no chance to tidy up.
        let _ = child.kill();
        child.wait().unwrap();
        for (name, bytes) in contents(folder).into_iter().filter(|f| !f.0.ends_with("-tmp")) {
            assert_eq!(contents(calm.path()).get(&name), Some(&bytes), "only whole files: {name}");
        }
    }
    assert!(finished(folder) > 12, "the children did get somewhere");
    bake_to(folder, &Run::default());
    assert_eq!(contents(folder), contents(calm.path()));
    assert_eq!(names(folder).len(), names(calm.path()).len(), "no leftovers");
}
