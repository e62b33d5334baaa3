//! Scene documents: what is read, what is refused, and what a person is told.

use std::fs;

use supple::io::uri::Policy;
use supple::rig::{Channel, Clip, Interpolation, Node, Skin, Skinning, Track as Keys};
use supple::scene::{
    ClipChoice, Ease, Folder, Motion, Problem, Repeat, Scene, SceneError, Source, TakeFormat, Value,
};
use supple::{Asset, Run, TriMesh, place, scene};

const WHOLE: &str = r#"
supple = 1
name = "fox"

[time]
start = "12 frames"
frames = 49
fps = 24

[[asset]]
file = "models/fox.glb"

[asset.placement]
translate = [0, "25 cm", 0]
rotate = [0, "0.5 turn", 90]
scale = 2

[asset.motion]
kind = "keyframes"
clip = "Run"
skinning = "dual-quaternion"
speed = 0.5
start = "500 ms"
repeat = "ping-pong"

[[asset.modifier]]
kind = "place"
translate = [0, "lift", 0]
scale = "50 %"

[[asset.modifier]]
kind = "morph"
weights = { smile = "lift", "2" = 0.25 }

[[asset.modifier]]
kind = "follow"
frequency = "3 Hz"
damping = "soft"

[[asset]]
name = "boxer-2"
zoo = "boxer"
triangles = 5000

[asset.motion]
kind = "path"
repeat = "once"
keys = [
  { time = 0, position = [0, 0, 0] },
  { time = "1 s", position = [1, 0, 0], rotation = [0, 90, 0] },
  { time = 2, position = [1, 0, 2], rotation = [0, 0, 0, 2] },
]

[track.lift]
interpolation = "smooth"
keys = [[0, 0.0], ["1 s", 0.5], ["48 frames", 0.25]]

[track.soft]
keys = [[0, 0.5]]

[output]
formats = ["glb", "pc2"]
folder = "baked"
"#;

fn parse(text: &str) -> Result<Scene, Problem> {
    Scene::parse(text, None)
}

#[test]
fn everything_in_the_document_is_read() {
    let scene = parse(WHOLE).unwrap();
    assert_eq!((scene.time.start, scene.time.end, scene.time.fps), (0.5, 2.5, 24.0));
    assert_eq!(scene.time.frames(), 49);
    let fox = &scene.assets[0];
    assert_eq!(fox.name, "fox");
    assert_eq!(fox.source, Source::File { file: "models/fox.glb".to_owned() });
    assert_eq!(fox.placement.translate, [0.0, 0.25, 0.0]);
    assert_eq!(fox.placement.rotate, [0.0, 180.0, 90.0]);
    assert_eq!(fox.placement.scale, [2.0; 3]);
    let Motion::Keyframes(keyframes) = &fox.motion else { panic!("{:?}", fox.motion) };
    assert_eq!(keyframes.clip, ClipChoice::Name("Run".to_owned()));
    assert_eq!(keyframes.skinning, Skinning::DualQuaternion);
    assert_eq!((keyframes.speed, keyframes.start), (0.5, 0.5));
    assert_eq!(keyframes.repeat, Repeat::PingPong);
    let kinds: Vec<_> = fox.modifiers().map(|(_, m)| m.kind.as_str()).collect();
    assert_eq!(kinds, ["morph", "place", "follow"], "in the order of effect");
    let place = &fox.world[0];
    let place: place::Params = place.params.clone().try_into().unwrap();
    assert_eq!(place.translate[1], Value::Track("lift".to_owned()));
    assert_eq!(place.scale, Value::numbers([0.5; 3]));
    let boxer = &scene.assets[1];
    assert_eq!(boxer.source, Source::Zoo { zoo: "boxer".to_owned(), triangles: Some(5000) });
    let Motion::Path(path) = &boxer.motion else { panic!("{:?}", boxer.motion) };
    assert_eq!(path.keys[2].rotation, [0.0, 0.0, 0.0, 1.0], "made unit");
    assert_eq!(scene.tracks["lift"].interpolation, Ease::Smooth);
    assert_eq!(scene.tracks["lift"].keys[2], [2.0, 0.25]);
    assert_eq!(scene.output.formats, [TakeFormat::Glb, TakeFormat::Pc2]);
}

#[test]
fn a_scene_survives_the_round_trip() {
    let scene = parse(WHOLE).unwrap();
    let text = scene.to_toml();
    assert_eq!(parse(&text).unwrap(), scene, "through the reader:\n{text}");
    assert_eq!(toml::from_str::<Scene>(&text).unwrap(), scene, "through serde");
    let smallest = parse("supple = 1").unwrap();
    assert_eq!(parse(&smallest.to_toml()).unwrap(), smallest);
}

/// Replaces `from` by `to` in the whole document and expects a problem in that line.
fn refused(from: &str, to: &str, says: &[&str]) {
    assert!(WHOLE.contains(from), "the document has '{from}'");
    let text = WHOLE.replacen(from, to, 1);
    let problem = parse(&text).expect_err(to);
    let at = WHOLE.find(from).unwrap_or_default();
    let line = WHOLE[..at].matches('\n').count() + 1;
    let message = problem.to_string();
    assert_eq!(problem.line, line, "{message}");
    for word in says {
        assert!(message.contains(word), "'{message}' should say '{word}'");
    }
}

#[test]
fn unknown_keys_are_answered_with_the_nearest_known_one() {
    refused("skinning =", "skining =", &["unknown key 'skining'", "did you mean 'skinning'?"]);
    refused(
        "[asset.motion]\nkind = \"k",
        "[asset.motoin]\nkind = \"k",
        &["did you mean 'motion'?"],
    );
    refused("fps = 24", "colour = 24", &["keys here: start, end, frames, fps"]);
    refused("frequency =", "freqency =", &["did you mean 'frequency'?"]);
    refused("\"ping-pong\"", "\"pingpong\"", &["did you mean 'ping-pong'?", "once"]);
    refused("kind = \"follow\"", "kind = \"folow\"", &["did you mean 'follow'?"]);
    refused("\"glb\", ", "\"gltf\", ", &["did you mean 'glb'?", "usda"]);
}

#[test]
fn wrong_units_and_ranges_say_what_is_allowed() {
    refused("\"500 ms\"", "\"2 kg\"", &["'kg' is not a unit", "s, ms, min, frames"]);
    refused("\"0.5 turn\"", "\"3 Hz\"", &["an angle in degrees", "deg, rad, turn"]);
    refused("fps = 24", "fps = 0", &["'fps' is 0", "between 0.01 and 10000"]);
    refused("fps = 24", "fps = nan", &["'fps' is NaN"]);
    refused("speed = 0.5", "speed = inf", &["'speed' is inf"]);
    refused("speed = 0.5", "speed = true", &["'speed' is a boolean", "a plain number"]);
    refused("frames = 49", "frames = 0", &["whole number between 1 and"]);
    refused("frames = 49", "frames = 1.5", &["not a whole number"]);
    refused("scale = 2", "scale = 0", &["flattens"]);
    refused("frames = 49", "end = 0.25", &["ends at 0.25 s", "starts at 0.5 s"]);
    refused("triangles = 5000", "triangles = 1", &["between 4 and"]);
    refused("\"3 Hz\"", "\"0 Hz\"", &["frequency"]);
    refused("[0, \"25 cm\", 0]", "[0, 1]", &["2 entries", "three are needed"]);
}

#[test]
fn references_are_checked() {
    refused("damping = \"soft\"", "damping = \"sofd\"", &["no track 'sofd'", "'soft'"]);
    refused("damping = \"soft\"", "damping = \"lfit\"", &["did you mean the track 'lift'?"]);
    refused("name = \"boxer-2\"", "name = \"../up\"", &["cannot be a name"]);
    refused("folder = \"baked\"", "folder = \"..\"", &["cannot be a name"]);
    let negative = WHOLE.replace("keys = [[0, 0.5]]", "keys = [[0, -0.5]]");
    let problem = parse(&negative).unwrap_err();
    assert!(problem.what.contains("track 'soft' is -0.5 at 0 s"), "{problem}");
    let twice = WHOLE.replace("name = \"boxer-2\"", "name = \"fox\"");
    assert!(parse(&twice).unwrap_err().what.contains("two assets"), "names are unique");
}

#[test]
fn broken_documents_are_refused_with_a_place() {
    for (text, line) in [
        ("supple = 1\nname = \n", 2),
        ("supple = 1\n[[asset]]\n", 2),
        ("supple = 3\n", 1),
        ("", 1),
        ("supple = 1\n[track]\nx = 3\n", 3),
        ("supple = 1\n[track.x]\nkeys = []\n", 3),
        ("supple = 1\n[track.x]\nkeys = [[1, 0], [1, 0]]\n", 3),
        ("supple = 1\nasset = 3\n", 2),
        ("supple = 1\n[time]\nend = 99999999999999999999999999\n", 3),
        ("supple = 1\n[[asset]]\nzoo = \"b\"\n[asset.motion]\nkind = \"path\"\n", 4),
    ] {
        let problem = parse(text).expect_err(text);
        assert_eq!(problem.line, line, "{text:?}: {problem}");
        assert!(!problem.fix.is_empty(), "{problem}");
    }
}

#[test]
fn columns_count_characters() {
    let problem = parse("supple = 1\nname = \"äöü\"\ntime = { fps = \"é\" }").unwrap_err();
    assert_eq!((problem.line, problem.column), (3, 16), "{problem}");
}

#[test]
fn files_must_be_there_and_inside_the_folder() {
    let folder = tempfile::tempdir().unwrap();
    fs::write(folder.path().join("fox.glb"), b"").unwrap();
    let here = |policy| {
        let mut here = Folder::new(folder.path());
        here.policy = policy;
        here
    };
    let (inside, anywhere) = (here(Policy::FolderOnly), here(Policy::AllowOutside));
    let scene = |file: &str| format!("supple = 1\n[[asset]]\nfile = \"{file}\"\n");
    assert!(Scene::parse(&scene("fox.glb"), Some(&inside)).is_ok(), "is there");
    let problem = Scene::parse(&scene("fxo.glb"), Some(&inside)).unwrap_err();
    assert_eq!(problem.line, 3);
    assert!(problem.fix.contains("did you mean 'fox.glb'?"), "{problem}");
    for outside in ["../fox.glb", "/fox.glb", "a/../../fox.glb"] {
        let problem = Scene::parse(&scene(outside), Some(&inside)).unwrap_err();
        assert!(problem.what.contains("leaves the folder"), "{problem}");
    }
    let network = Scene::parse(&scene("https://example.org/fox.glb"), Some(&anywhere));
    assert!(network.unwrap_err().what.contains("network"), "never fetched");
}

#[test]
fn loading_names_the_file() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("a.toml");
    assert!(
        matches!(Scene::load(&path, Policy::FolderOnly), Err(SceneError::Read { .. })),
        "missing"
    );
    fs::write(&path, "supple = 1\nname = 3\n").unwrap();
    let error = Scene::load(&path, Policy::FolderOnly).unwrap_err().to_string();
    assert!(error.contains("a.toml: line 2, column 8: 'name' is an integer"), "{error}");
}

/// A rig with everything the starter looks for, under names that need care.
fn rich_asset() -> Asset {
    let mut mesh = TriMesh::new(vec![glam::Vec3::ZERO; 3], vec![[0, 1, 2]]);
    mesh.morphs = vec![supple::mesh::MorphTarget {
        name: "smile \"wide\"".to_owned(),
        positions: vec![glam::Vec3::ZERO; 3],
        ..Default::default()
    }];
    let mut asset = Asset::from_mesh(mesh);
    asset.nodes.push(Node { name: "hip\nleft".to_owned(), ..Node::default() });
    asset.skins = vec![Skin { joints: vec![1], ..Skin::default() }];
    let channel = Channel {
        node: 0,
        times: vec![0.0, 1.25],
        track: Keys::Translation(vec![glam::Vec3::ZERO; 2]),
        interpolation: Interpolation::Linear,
    };
    for name in ["Run \\ fast", "Survey"] {
        asset.clips.push(Clip { name: name.to_owned(), channels: vec![channel.clone()] });
    }
    asset
}

#[test]
fn the_starter_is_a_scene_that_mentions_what_is_there() {
    let text = scene::starter("my model.v2.glb", &rich_asset(), &Run::default());
    let scene = parse(&text).unwrap_or_else(|p| panic!("{p}\n{text}"));
    assert_eq!(scene.assets[0].source, Source::File { file: "my model.v2.glb".to_owned() });
    let Motion::Keyframes(keyframes) = &scene.assets[0].motion else { panic!("{text}") };
    assert_eq!(keyframes.clip, ClipChoice::Name("Run \\ fast".to_owned()));
    assert_eq!(scene.time.end, 1.25);
    for mention in ["clip 1: \"Survey\", with end = 1.25", "Skeleton of 1 joints", "smile"] {
        assert!(text.contains(mention), "'{mention}' in\n{text}");
    }
}

#[test]
fn the_starter_works_without_its_comment_signs() {
    let text = scene::starter("a.glb", &rich_asset(), &Run::default());
    let lines = text.lines().filter(|l| !l.starts_with("# A scene") && !l.contains("remove the #"));
    let comment = |l: &str| ["# Skeleton", "#   clip", "# Morph"].iter().any(|c| l.starts_with(c));
    let all: Vec<_> =
        lines.filter(|l| !comment(l)).map(|l| l.strip_prefix("# ").unwrap_or(l)).collect();
    let scene = parse(&all.join("\n")).unwrap_or_else(|p| panic!("{p}\n{}", all.join("\n")));
    let kinds: Vec<_> = scene.assets[0].modifiers().map(|(_, m)| m.kind.as_str()).collect();
    assert_eq!(kinds, ["morph", "follow"], "in the order of effect");
}

/// Repeatable numbers below `n`.
fn dice(state: &mut u64, n: usize) -> usize {
    *state = state.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
    (*state >> 33) as usize % n
}

#[test]
fn no_mangled_document_makes_a_panic() {
    let pieces =
        ["[", "]]", "\"", "=", "\n", "-", "é", "nan", "1e999", "{", "[asset.motion]\n", "'''"];
    let mut seed = 5;
    let mut refused = 0;
    for _ in 0..3000 {
        let mut text: Vec<char> = WHOLE.chars().collect();
        for _ in 0..=dice(&mut seed, 3) {
            let at = dice(&mut seed, text.len());
            let end = (at + dice(&mut seed, 12)).min(text.len());
            let piece = pieces[dice(&mut seed, pieces.len())].chars();
            text.splice(at..end, piece);
        }
        let text: String = text.into_iter().collect();
        if let Err(problem) = parse(&text) {
            refused += 1;
            assert!(problem.line <= text.lines().count() + 1, "{problem}\n{text}");
        }
    }
    assert!(refused > 1000, "{refused} of 3000 refused");
}

/// The name of an asset comes from its file; forty letters of some scripts are 120 bytes.
#[test]
fn files_with_long_names_have_scenes_that_can_be_read_again() {
    for file in ["山".repeat(40), "a".repeat(200), "\u{7}bell".to_owned(), "...".to_owned()] {
        let text = format!("supple = 1\n[[asset]]\nfile = {:?}\n", format!("{file}.glb"));
        let text = text.replace("\\u{7}", "\\u0007");
        let scene = Scene::parse(&text, None).unwrap_or_else(|p| panic!("{p}"));
        let again = Scene::parse(&scene.to_toml(), None).unwrap_or_else(|p| panic!("{p}"));
        assert_eq!(scene, again);
    }
}
