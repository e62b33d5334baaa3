//! What the reader takes, what it refuses, and what it says then.

use std::collections::BTreeMap;

use glam::Vec3;
use serde::{Deserialize, Serialize};

use super::*;
use crate::modifier::{Track, Value};

/// One parameter of every kind there is.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(default)]
struct Params {
    /// How long it takes. Default: 1.
    #[schemars(range(min = 0.0, max = 60.0), extend("unit" = "s", "live" = true))]
    length: f64,
    /// How fast it swings.
    #[schemars(range(min = 1e-3, max = 1e4), extend("unit" = "Hz"))]
    frequency: Value,
    /// How many.
    #[schemars(range(min = 1, max = 12))]
    count: u32,
    /// Where it is.
    #[schemars(with = "[f32; 3]", extend("unit" = "m"))]
    center: Vec3,
    /// Where it goes.
    #[schemars(with = "Vec<[f32; 3]>", extend("unit" = "m"))]
    by: Vec<Vec3>,
    /// What pulls.
    #[schemars(extend("unit" = "m/s2", "maximum" = 100))]
    pull: [Value; 3],
    /// How rough, if it is.
    #[schemars(extend("exclusiveMinimum" = 0.0))]
    roughness: Option<f32>,
    /// How it ends.
    ends: Ends,
    /// What it is.
    tool: Tool,
    /// What moves it.
    motion: Motion,
    /// How much of each.
    #[schemars(extend("minimum" = -1, "maximum" = 1))]
    weights: BTreeMap<String, Value>,
    /// A clip.
    clip: Clip,
    /// A solid.
    solid: Option<Solid>,
    /// Turned or not.
    turned: bool,
    #[serde(flatten)]
    inner: Inner,
    /// More of them.
    parts: Vec<Part>,
}

#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(default)]
struct Inner {
    /// Share.
    #[schemars(range(min = 0.0, max = 1.0))]
    share: f32,
    /// A name.
    #[schemars(extend("format" = "file"))]
    file: Option<String>,
}

impl Default for Inner {
    fn default() -> Self {
        Self { share: 0.3, file: None }
    }
}

#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
struct Part {
    /// Its name.
    #[serde(default)]
    name: String,
    /// How large.
    #[schemars(example = 0.5, extend("unit" = "m"))]
    radius: f64,
    #[serde(flatten)]
    source: Source,
}

#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(untagged)]
enum Source {
    File {
        #[schemars(example = &"model.glb")]
        file: String,
    },
    Zoo {
        #[schemars(example = &"boxer")]
        zoo: String,
        triangles: Option<u32>,
    },
}

#[derive(Clone, Copy, Debug, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
enum Ends {
    /// It holds.
    #[default]
    Once,
    /// It turns round.
    PingPong,
}

#[derive(Clone, Copy, Debug, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
enum Tool {
    #[default]
    Sphere,
    Capsule {
        #[schemars(with = "[f32; 3]")]
        half: Vec3,
    },
}

#[derive(Clone, Copy, Debug, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(tag = "kind", rename_all = "kebab-case")]
enum Motion {
    #[default]
    Still,
    Swing {
        #[schemars(range(min = 0.0, max = 180.0), extend("unit" = "deg"))]
        angle: f64,
    },
    Fall(Inner2),
}

#[derive(Clone, Copy, Debug, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(default)]
struct Inner2 {
    #[schemars(extend("unit" = "m/s"))]
    velocity: [f64; 3],
}

#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(untagged)]
enum Solid {
    File(#[schemars(extend("format" = "file"))] String),
    Spacing(#[schemars(extend("unit" = "m"))] f64),
}

#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(untagged)]
enum Clip {
    Index(u32),
    Name(String),
}

impl Default for Params {
    fn default() -> Self {
        Self {
            length: 1.0,
            frequency: Value::Number(2.0),
            count: 3,
            center: Vec3::ZERO,
            by: Vec::new(),
            pull: Value::numbers([0.0; 3]),
            roughness: None,
            ends: Ends::Once,
            tool: Tool::Sphere,
            motion: Motion::Still,
            weights: BTreeMap::new(),
            clip: Clip::Index(0),
            solid: None,
            turned: false,
            inner: Inner::default(),
            parts: Vec::new(),
        }
    }
}

/// Knows one file.
#[derive(Debug)]
struct OneFile;

impl Formats for OneFile {
    fn check(&self, format: &str, text: &str) -> Result<(), (String, String)> {
        let wrong =
            || (format!("there is no {format} '{text}'"), "did you mean 'a.ply'?".to_owned());
        if text == "a.ply" { Ok(()) } else { Err(wrong()) }
    }
}

fn read(text: &str) -> Result<Params, Problem> {
    let keys = vec![[0.0, 1.0], [1.0, 50.0]];
    let tracks = Tracks::from([("lift".to_owned(), Track { keys, ..Track::default() })]);
    let reader = Reader { text, fps: 24.0, tracks: &tracks, formats: Some(&OneFile) };
    reader.read("", &reader.parse()?, &schema::<Params>())
}

#[test]
fn everything_is_read() {
    let text = r#"
        length = "500 ms"
        frequency = "lift"
        count = 0x0a
        center = [0, "25 cm", 1.5]
        by = [[0, 1, 0], ["1 mm", 0, 0]]
        pull = [0, "-3 m/s²", "lift"]
        roughness = "50 %"
        ends = "ping-pong"
        tool = { capsule = { half = [0, 0, 2] } }
        motion = { kind = "swing", angle = "0.25 turn" }
        weights = { smile = 0.5, "a b" = "-50 %" }
        clip = "Run"
        solid = "2 cm"
        turned = true
        share = 1
        file = "a.ply"
        [[parts]]
        radius = 2
        file = "b.ply"
        [[parts]]
        name = "two"
        radius = "3 cm"
        zoo = "boxer"
        triangles = 500
    "#;
    let params = read(text).unwrap();
    let part = |name: &str, radius, source| Part { name: name.to_owned(), radius, source };
    let expected = Params {
        length: 0.5,
        frequency: Value::Track("lift".to_owned()),
        count: 10,
        center: Vec3::new(0.0, 0.25, 1.5),
        by: vec![Vec3::Y, Vec3::X * 1e-3],
        pull: [Value::Number(0.0), Value::Number(-3.0), Value::Track("lift".to_owned())],
        roughness: Some(0.5),
        ends: Ends::PingPong,
        tool: Tool::Capsule { half: Vec3::Z * 2.0 },
        motion: Motion::Swing { angle: 90.0 },
        weights: [("smile", 0.5), ("a b", -0.5)]
            .map(|(k, v)| (k.to_owned(), Value::Number(v)))
            .into(),
        clip: Clip::Name("Run".to_owned()),
        solid: Some(Solid::Spacing(0.02)),
        turned: true,
        inner: Inner { share: 1.0, file: Some("a.ply".to_owned()) },
        parts: vec![
            part("", 2.0, Source::File { file: "b.ply".to_owned() }),
            part("two", 0.03, Source::Zoo { zoo: "boxer".to_owned(), triangles: Some(500) }),
        ],
    };
    assert_eq!(params, expected);
    assert_eq!(read("").unwrap(), Params::default(), "everything has a default");
    let fall = read("motion = { kind = \"fall\", velocity = [0, \"50 cm/s\", 0] }").unwrap();
    assert_eq!(fall.motion, Motion::Fall(Inner2 { velocity: [0.0, 0.5, 0.0] }));
    assert_eq!(read("tool = \"sphere\"").unwrap().tool, Tool::Sphere);
    assert_eq!(read("clip = 2").unwrap().clip, Clip::Index(2));
    let solid = |text: &str| read(&format!("solid = {text}")).unwrap().solid;
    assert_eq!(solid("\"a.ply\""), Some(Solid::File("a.ply".to_owned())));
    assert_eq!(solid("3"), Some(Solid::Spacing(3.0)));
}

#[test]
fn what_is_read_survives_being_written() {
    let params = read("count = 4\ncenter = [1, 2, 3]\nweights = { a = 1 }").unwrap();
    assert_eq!(read(&toml::to_string(&params).unwrap()).unwrap(), params);
}

/// The document is refused at this place with these words.
#[track_caller]
fn refused(text: &str, (line, column): (usize, usize), says: &[&str]) {
    let problem = read(text).expect_err(text);
    assert_eq!((problem.line, problem.column), (line, column), "{text}: {problem}");
    assert!(!problem.fix.is_empty(), "{problem}");
    for words in says {
        assert!(problem.to_string().contains(words), "'{problem}' should say '{words}'");
    }
}

#[test]
fn unknown_keys_kinds_and_words_are_answered_with_the_nearest_known() {
    refused("\nlenght = 3", (2, 1), &["unknown key 'lenght' in the document", "'length'?"]);
    refused("zzz = 3", (1, 1), &["keys here: length, frequency, count, center, by"]);
    refused("shar = 3", (1, 1), &["did you mean 'share'?"]);
    refused("ends = \"pingpong\"", (1, 8), &["'pingpong' is no ends", "did you mean 'ping-pong'?"]);
    refused("ends = \"up\"", (1, 8), &["known: once, ping-pong"]);
    refused("[motion]\nkind = \"swin\"", (2, 8), &["'swin' is no kind", "did you mean 'swing'?"]);
    refused("[motion]\nkind = 3", (2, 8), &["'kind' is an integer", "a text in quotes"]);
    refused("[motion]\nangle = 3", (1, 1), &["[motion] has no 'kind'", "still, swing, fall"]);
    refused(
        "[motion]\nkind = \"swing\"\nangel = 3",
        (3, 1),
        &["unknown key 'angel' in [motion]", "'angle'?"],
    );
    refused("[motion]\nkind = \"still\"\nangle = 3", (3, 1), &["unknown key 'angle'"]);
    refused("[motion]\nkind = \"swing\"", (1, 1), &["[motion] has no 'angle'"]);
    refused("tool = \"spere\"", (1, 8), &["'spere' is no tool", "did you mean 'sphere'?"]);
    refused("tool = { capsul = {} }", (1, 10), &["unknown key 'capsul'", "'capsule'?"]);
    refused("tool = { capsule = { half = [0, 1] } }", (1, 29), &["2 entries", "three are needed"]);
    refused("tool = { capsule = {} }", (1, 20), &["[tool.capsule] has no 'half'"]);
}

#[test]
fn numbers_are_finite_and_within_bounds() {
    for number in ["nan", "inf", "-inf", "1e999", "-1", "61", "\"2 min\""] {
        refused(&format!("length = {number}"), (1, 10), &["'length'", "between 0 and 60"]);
    }
    refused("center = [0, nan, 0]", (1, 14), &["'center' is NaN", "a length in m between"]);
    refused("center = [0, 1e10, 0]", (1, 14), &["'center' is 10000000000"]);
    refused("by = [[0, inf, 0]]", (1, 11), &["'by' is inf"]);
    refused("pull = [0, 101, 0]", (1, 12), &["'pull' is 101", "and 100 is needed"]);
    refused("weights = { a = 2 }", (1, 17), &["'a' is 2", "between -1 and 1"]);
    refused("roughness = 0", (1, 13), &["'roughness' is 0", "above 0"]);
    refused("count = 13", (1, 9), &["'count' is 13", "a whole number between 1 and 12"]);
    refused("count = -1", (1, 9), &["'count' is -1"]);
    refused("count = 1.5", (1, 9), &["'count' is not a whole number"]);
    refused("count = \"3\"", (1, 9), &["'count' is not a whole number"]);
    refused("count = 99999999999999999999", (1, 9), &["'count' is 99999999999999999999"]);
    refused("clip = 4294967296", (1, 8), &["'clip' is 4294967296"]);
}

#[test]
fn units_and_types_are_checked() {
    refused("length = \"2 kg\"", (1, 10), &["'kg' is not a unit", "s, ms, min, frames"]);
    refused("length = true", (1, 10), &["'length' is a boolean", "a time in seconds"]);
    refused("length = [1]", (1, 10), &["'length' is an array", "a time in seconds"]);
    refused("center = 3", (1, 10), &["'center' is an integer", "a list in [ ]"]);
    refused(
        "center = [true, 0, 0]",
        (1, 11),
        &["an entry of 'center' is a boolean", "for each entry"],
    );
    refused("center = [1, 2]", (1, 10), &["'center' has 2 entries", "three are needed"]);
    refused("by = [[1, 2]]", (1, 7), &["a point in 'by' has 2 entries", "[x, y, z]"]);
    refused("turned = 1", (1, 10), &["'turned' is an integer", "true or false"]);
    refused("clip = true", (1, 8), &["'clip' is a boolean", "a whole number", "a text in quotes"]);
    refused("ends = 3", (1, 8), &["'ends' is an integer", "a text in quotes"]);
    refused("weights = 3", (1, 11), &["'weights' is an integer", "a table: [weights]"]);
    refused("parts = 3", (1, 9), &["'parts' is an integer", "[[parts]]"]);
    refused("length = 1979-05-27", (1, 10), &["'length' is a datetime"]);
    refused("file = \"b.ply\"", (1, 8), &["there is no file 'b.ply'", "did you mean 'a.ply'?"]);
    refused("length = ", (1, 10), &["this is not TOML"]);
}

#[test]
fn tracks_are_known_and_stay_within_bounds() {
    refused(
        "frequency = \"lfit\"",
        (1, 13),
        &["no track 'lfit'", "did you mean the track 'lift'?"],
    );
    refused("frequency = \"wind\"", (1, 13), &["or write a frequency in Hz"]);
    refused(
        "weights = { a = \"lift\" }",
        (1, 17),
        &["track 'lift' is 50 at 1 s", "between -1 and 1"],
    );
    refused("length = \"lift\"", (1, 10), &["'length' cannot be driven by a track"]);
}

#[test]
fn alternatives_without_a_word_are_told_apart_by_their_keys() {
    let part = |rest: &str| format!("[[parts]]\nradius = 1\n{rest}");
    refused(
        &part(""),
        (1, 1),
        &["[[parts]] has neither 'file' nor 'zoo'", "add file = \"model.glb\", or zoo = \"boxer\""],
    );
    refused(&part("file = \"a\"\nzoo = \"b\""), (4, 1), &["both 'file' and 'zoo'", "keep one"]);
    refused(
        &part("file = \"a\"\ntriangles = 9"),
        (4, 1),
        &["'triangles' does not go with 'file'", "remove"],
    );
    refused(&part("fil = \"a\""), (3, 1), &["unknown key 'fil'", "did you mean 'file'?"]);
    refused("[[parts]]\nfile = \"a\"", (1, 1), &["has no 'radius'", "add it: radius = 0.5"]);
    refused("[[parts]]\nradius = \"1 s\"\nfile = \"a\"", (2, 10), &["m, cm, mm"]);
}

#[test]
fn columns_count_characters() {
    refused("weights = { \"ä\" = 0, \"ö\" = 9 }", (1, 28), &["'ö' is 9"]);
}

#[test]
fn the_help_says_meaning_unit_range_and_default() {
    let schema = schema::<Params>();
    let help = help(&schema);
    let line = |key: &str| {
        let start = format!("  {key} ");
        help.lines().find(|l| l.starts_with(&start)).unwrap_or_else(|| panic!("{key} in\n{help}"))
    };
    assert_eq!(
        line("length"),
        "  length     How long it takes [s] [between 0 and 60] [default: 1]"
    );
    assert_eq!(line("center"), "  center     Where it is [m] [default: 0,0,0]");
    assert_eq!(line("ends"), "  ends       How it ends [once, ping-pong] [default: once]");
    assert_eq!(line("share"), "  share      Share [between 0 and 1] [default: 0.3]", "a short f32");
    assert!(
        is_live(&schema, "length") && is_live(&schema, "frequency"),
        "one says so, one is driven"
    );
    assert!(is_live(&schema, "pull") && is_live(&schema, "weights"), "what can follow tracks");
    assert!(!is_live(&schema, "count") && !is_live(&schema, "nothing"), "one does not say so");
    assert_eq!(line("roughness"), "  roughness  How rough, if it is [above 0]");
    assert_eq!(line("count"), "  count      How many [between 1 and 12] [default: 3]");
    let part = super::schema::<Part>();
    let radius = keys(&part).into_iter().find(|k| k.name == "radius").unwrap();
    assert!(radius.required && radius.unit == "m", "{radius:?}");
}

#[test]
fn a_doc_comment_becomes_a_line_of_help() {
    #[derive(JsonSchema)]
    struct Documented {
        /// Share of it, 0 to 1; see [`Params`](super::Params), and
        /// `length`. 1 by default, which is much. More of it. Default: 3.
        _share: f32,
    }
    let schema = schema::<Documented>();
    let key = key(&schema, "_share").unwrap();
    assert_eq!(key.description, "Share of it, 0 to 1; see Params, and length. More of it");
}

#[test]
fn keys_inside_others_are_found() {
    let schema = schema::<Params>();
    assert_eq!(key(&schema, "tool.capsule.half").unwrap().unit, "");
    let angle = key(&schema, "motion.angle").unwrap();
    assert_eq!((angle.unit, angle.allowed.as_str()), ("deg", "between 0 and 180"));
    assert!(key(&schema, "tool.cylinder").is_none(), "there is none");
    let motion = part(&schema, "/properties/motion");
    assert!(kind(&motion, "swing").is_some() && kind(&motion, "jump").is_none(), "by its word");
}

#[test]
fn kinds_of_several_owners_are_one_list() {
    let schema = kinds([("inner", schema::<Inner>()), ("fall", schema::<Inner2>())]);
    let check = |text: &str| {
        let reader = Reader { text, fps: 24.0, tracks: &Tracks::new(), formats: None };
        reader.checked("asset.modifier", &reader.parse().unwrap(), &schema)
    };
    let read = check("kind = \"fall\"\nvelocity = [\"1 cm/s\", 0, 0]").unwrap();
    assert_eq!(read["velocity"][0].as_float(), Some(0.01));
    let problem = check("kind = \"fal\"").unwrap_err();
    assert!(problem.fix.contains("did you mean 'fall'?"), "{problem}");
    let problem = check("kind = \"inner\"\nvelocity = [0, 0, 0]").unwrap_err();
    assert!(problem.what.contains("unknown key 'velocity' in [asset.modifier]"), "{problem}");
}

#[test]
fn what_is_published_is_closed_and_takes_texts_for_numbers() {
    let schema = published(&schema::<Params>());
    let at = |path: &str| schema.pointer(path).unwrap_or_else(|| panic!("{path} in {schema:?}"));
    assert_eq!(at("/properties/length/type"), &serde_json::json!(["number", "string"]));
    assert_eq!(at("/properties/center/items/unit"), "m", "handed down");
    assert_eq!(at("/properties/weights/additionalProperties/maximum"), 1, "handed down");
    assert_eq!(at("/properties/count/type"), "integer");
    assert_eq!(at("/additionalProperties"), false);
    assert_eq!(at("/properties/parts/items/unevaluatedProperties"), false);
    assert_eq!(at("/properties/motion/oneOf/0/additionalProperties"), false);
    let open = schema.pointer("/properties/parts/items/anyOf/0/additionalProperties");
    assert_eq!(open, None, "an alternative does not know the keys beside it");
    let text = serde_json::to_string(&schema).unwrap();
    assert!(!text.contains("null"), "{text}");
}

#[test]
fn slips_are_counted() {
    assert_eq!(slips("motoin", "motion"), 1);
    assert_eq!(slips("clip", "clips"), 1);
    assert_eq!(slips("", "abc"), 3);
    assert_eq!(suggest("skining", &["clip", "skinning"]), Some("skinning"));
    assert_eq!(suggest("colour", &["clip", "skinning"]), None);
}
