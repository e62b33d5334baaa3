//! Baking: interrupted anywhere and however, the files come out the same.

mod stage;

use std::collections::BTreeMap;
use std::fs::{self, File};
use std::io::{self, BufWriter, Write as _};
use std::path::Path;
use std::sync::atomic::{AtomicBool, Ordering};

use glam::Vec3;
use stage::{SCENE, player, scene};
use supple::bake::{BakeError, Baked, Options, Writer, bake, simulate};
use supple::io::Take;
use supple::scene::TakeFormat;
use supple::{Run, TriMesh};

fn dump(take: &mut Take<'_>, out: &mut BufWriter<File>) -> io::Result<()> {
    writeln!(out, "{} {} {}", take.fps, take.first_frame, take.frames)?;
    let mut positions = vec![Vec3::ZERO; take.asset.meshes[0].positions.len()];
    for i in 0..take.frames {
        (take.positions)(i, &mut positions)?;
        out.write_all(bytemuck::cast_slice(&positions))?;
    }
    Ok(())
}

fn dump_all(takes: &mut [Take<'_>], out: &mut BufWriter<File>) -> io::Result<()> {
    takes.iter_mut().try_for_each(|take| dump(take, out))
}

fn dump_mesh(mesh: &TriMesh, out: &mut BufWriter<File>) -> io::Result<()> {
    out.write_all(bytemuck::cast_slice(&mesh.positions))
}

const WRITERS: [(TakeFormat, Writer); 3] = [
    (TakeFormat::Glb, Writer::Together(dump_all)),
    (TakeFormat::Pc2, Writer::Each(dump)),
    (TakeFormat::Ply, Writer::Sequence(dump_mesh)),
];

fn options() -> Options {
    Options {
        frames: Some(2..10),
        formats: Some(vec![TakeFormat::Glb, TakeFormat::Pc2, TakeFormat::Ply]),
        keep_cache: false,
        check: false,
    }
}

fn bake_here(text: &str, folder: &Path, run: &Run<'_>) -> Result<Baked, BakeError> {
    let mut player = player(&scene(text)).unwrap_or_else(|e| panic!("{e}"));
    bake(&mut player, folder, &options(), &WRITERS, run)
}

/// All files of a folder by name.
fn contents(folder: &Path) -> BTreeMap<String, Vec<u8>> {
    let entries = fs::read_dir(folder).expect("a folder");
    let file = |e: io::Result<fs::DirEntry>| {
        let path = e.expect("an entry").path();
        let name = path.file_name().unwrap_or_default().to_string_lossy().into_owned();
        path.is_file().then(|| (name, fs::read(&path).expect("readable")))
    };
    entries.filter_map(file).collect()
}

fn uninterrupted(text: &str) -> BTreeMap<String, Vec<u8>> {
    let folder = tempfile::tempdir().expect("a folder");
    bake_here(text, folder.path(), &Run::default()).unwrap_or_else(|e| panic!("{e}"));
    contents(folder.path())
}

/// Parts that start from states which another run stored have the bits of one bake.
#[test]
fn a_bake_in_parts_starts_from_simulated_states() {
    let folder = tempfile::tempdir().unwrap();
    let (run, mut long) = (Run::default(), scene(SCENE));
    long.time.end = long.time.start + 2.0;
    let part = |folder: &Path| {
        let mut player = player(&long).unwrap_or_else(|e| panic!("{e}"));
        let frames = Some(30..34);
        bake(&mut player, folder, &Options { frames, ..options() }, &WRITERS, &run).unwrap();
        contents(folder)
    };
    let plain = tempfile::tempdir().unwrap();
    let expected = part(plain.path());
    let mut simulated = player(&long).unwrap();
    let frames = simulated.frames();
    let states = simulate(&mut simulated, folder.path(), &run).unwrap();
    assert_eq!(states, frames.div_ceil(24), "one for every 24 frames");
    let stored = folder.path().join(".supple-bake").join("0000024.state");
    assert!(stored.exists(), "the state before the part");
    assert_eq!(part(folder.path()), expected);
    assert!(stored.exists(), "other parts start from it too");
    // What is damaged is not read but simulated again.
    let bytes = fs::read(&stored).unwrap();
    fs::write(&stored, &bytes[..bytes.len() - 40]).unwrap();
    assert_eq!(part(folder.path()), expected, "from an earlier state");
}

#[test]
fn a_bake_writes_what_was_asked_and_leaves_nothing_else() {
    let folder = tempfile::tempdir().unwrap();
    let baked = bake_here(SCENE, folder.path(), &Run::default()).unwrap();
    let names: Vec<_> = contents(folder.path()).into_keys().collect();
    assert_eq!(baked.files.len(), names.len());
    assert_eq!(names.len(), 1 + 3 + 3 * 8, "{names:?}");
    assert!(names.contains(&"stage.glb".to_owned()), "{names:?}");
    assert!(names.contains(&"stage.thrown.pc2".to_owned()), "{names:?}");
    assert!(names.contains(&"stage.bar.0002.ply".to_owned()), "{names:?}");
    assert!(!folder.path().join(".supple-bake").exists(), "the cache is gone");
    let names: Vec<_> = baked.bodies.iter().map(|b| b.body.as_str()).collect();
    assert_eq!(names.len(), 3, "{names:?}");
    // The files hold what the player shows.
    let mut player = player(&scene(SCENE)).unwrap();
    let frame = player.frame(7, &Run::default()).unwrap();
    let file = &contents(folder.path())["stage.bar.0007.ply"];
    assert_eq!(*file, bytemuck::cast_slice::<_, u8>(&frame.bodies[0].positions));
}

/// The flag goes up when the work has come to `stop`, whichever frame or file that is in.
#[test]
fn cancelled_anywhere_and_resumed_the_files_are_the_same() {
    let expected = uninterrupted(SCENE);
    let total = 8 * 4;
    for stop in 0..total {
        let folder = tempfile::tempdir().unwrap();
        let flag = AtomicBool::new(stop == 0);
        let progress = |done: u64, all: u64| {
            assert_eq!(all, total);
            flag.fetch_or(done >= stop, Ordering::Relaxed);
        };
        let run = Run { cancel: Some(&flag), progress: Some(&progress), ..Run::default() };
        let error = bake_here(SCENE, folder.path(), &run).unwrap_err();
        assert!(matches!(error, BakeError::Cancelled(_)), "stopped at {stop}: {error}");
        for (name, bytes) in contents(folder.path()) {
            assert_eq!(expected.get(&name), Some(&bytes), "only whole files: {name}");
        }
        let baked = bake_here(SCENE, folder.path(), &Run::default()).unwrap();
        assert_eq!(u64::from(baked.reused), stop.min(8), "nothing finished is lost");
        assert_eq!(contents(folder.path()), expected, "stopped at {stop}");
    }
}

/// A player that plays all but is stopped before it writes, so that the cache stays.
fn fill_cache(text: &str, folder: &Path) {
    let flag = AtomicBool::new(false);
    let progress = |done: u64, _| flag.store(done == 8, Ordering::Relaxed);
    let run = Run { cancel: Some(&flag), progress: Some(&progress), ..Run::default() };
    assert!(bake_here(text, folder, &run).is_err(), "stopped before writing");
}

/// Repeatable numbers below `n`.
fn dice(state: &mut u64, n: u64) -> u64 {
    *state = state.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
    (*state >> 33) % n
}

#[test]
fn torn_or_altered_frames_are_played_again() {
    let expected = uninterrupted(SCENE);
    let mut seed = 42;
    for round in 0..12 {
        let folder = tempfile::tempdir().unwrap();
        fill_cache(SCENE, folder.path());
        let cache = folder.path().join(".supple-bake");
        // As after a kill: a temporary file, and a record that is cut short or has a wrong byte.
        fs::write(cache.join("0000009.frame.77.supple-tmp"), b"half").unwrap();
        fs::write(folder.path().join("stage.glb.77.supple-tmp"), b"half").unwrap();
        let torn = cache.join(format!("{:07}.frame", 2 + dice(&mut seed, 8)));
        let mut bytes = fs::read(&torn).unwrap();
        let at = dice(&mut seed, bytes.len() as u64) as usize;
        if round % 3 == 0 {
            bytes[at] ^= 0x40;
        } else {
            bytes.truncate(at);
        }
        fs::write(&torn, &bytes).unwrap();
        let baked = bake_here(SCENE, folder.path(), &Run::default()).unwrap();
        assert_eq!(baked.reused, 7, "all but the torn one");
        assert_eq!(contents(folder.path()), expected, "round {round}, byte {at}");
    }
}

#[test]
fn a_changed_scene_starts_anew_and_says_so() {
    let folder = tempfile::tempdir().unwrap();
    fill_cache(SCENE, folder.path());
    let changed = SCENE.replace("damping = 0.2", "damping = 0.25");
    let baked = bake_here(&changed, folder.path(), &Run::default()).unwrap();
    assert_eq!(baked.reused, 0);
    assert!(baked.warnings[0].contains("starting anew"), "{:?}", baked.warnings);
    assert_eq!(contents(folder.path()), uninterrupted(&changed));
}

#[test]
fn a_kept_cache_serves_other_formats_and_more_frames() {
    let folder = tempfile::tempdir().unwrap();
    let mut player = player(&scene(SCENE)).unwrap();
    let run = Run::default();
    let some = Options { frames: Some(0..5), keep_cache: true, ..options() };
    bake(&mut player, folder.path(), &some, &WRITERS, &run).unwrap();
    let more = Options { frames: Some(3..10), ..options() };
    let baked = bake(&mut player, folder.path(), &more, &WRITERS, &run).unwrap();
    assert_eq!(baked.reused, 2, "frames 3 and 4");
}

#[test]
fn only_one_bake_at_a_time() {
    let folder = tempfile::tempdir().unwrap();
    let inner = AtomicBool::new(false);
    let progress = |_, _| {
        if !inner.swap(true, Ordering::Relaxed) {
            let second = bake_here(SCENE, folder.path(), &Run::default());
            assert!(matches!(second, Err(BakeError::Busy { .. })), "{second:?}");
        }
    };
    let run = Run { progress: Some(&progress), ..Run::default() };
    bake_here(SCENE, folder.path(), &run).unwrap();
}

#[test]
fn what_cannot_be_baked_is_refused() {
    let folder = tempfile::tempdir().unwrap();
    let run = Run::default();
    let mut player = player(&scene(SCENE)).unwrap();
    let with = |options: Options, player: &mut _| {
        bake(player, folder.path(), &options, &WRITERS, &run).unwrap_err().to_string()
    };
    let beyond = with(Options { frames: Some(20..99), ..options() }, &mut player);
    assert!(beyond.contains("20..99") && beyond.contains("25 frames"), "{beyond}");
    let empty = with(Options { frames: Some(5..5), ..options() }, &mut player);
    assert!(empty.contains("5..5"), "{empty}");
    let format = with(Options { formats: Some(vec![TakeFormat::Mdd]), ..options() }, &mut player);
    assert!(format.contains("Mdd"), "{format}");
    let mut nothing = stage::player(&scene("supple = 1")).unwrap();
    assert!(with(options(), &mut nothing).contains("no assets"), "an empty scene");
    assert!(contents(folder.path()).is_empty(), "refused before anything is written");
}

#[test]
fn outputs_stay_in_the_scenes_folder() {
    let folder = tempfile::tempdir().unwrap();
    let text = format!("{SCENE}\n[output]\nformats = [\"pc2\"]\nfolder = \"shots\"\n");
    let mut scene = scene(&text);
    scene.name = "../../escape".to_owned();
    let mut player = player(&scene).unwrap();
    let options = Options { frames: Some(0..1), ..Options::default() };
    let baked = bake(&mut player, folder.path(), &options, &WRITERS, &Run::default()).unwrap();
    for file in baked.files {
        assert_eq!(file.parent(), Some(&*folder.path().join("shots")), "{}", file.display());
    }
}

#[test]
fn a_writer_that_fails_leaves_no_file() {
    let folder = tempfile::tempdir().unwrap();
    let mut player = player(&scene(SCENE)).unwrap();
    let fail: [(TakeFormat, Writer); 1] = [(
        TakeFormat::Glb,
        Writer::Together(|_, out| {
            out.write_all(b"half")?;
            Err(io::Error::other("disk full"))
        }),
    )];
    let options = Options { formats: Some(vec![TakeFormat::Glb]), ..options() };
    let error = bake(&mut player, folder.path(), &options, &fail, &Run::default()).unwrap_err();
    assert!(error.to_string().contains("stage.glb: disk full"), "{error}");
    assert!(contents(folder.path()).is_empty(), "nothing half-written");
}
