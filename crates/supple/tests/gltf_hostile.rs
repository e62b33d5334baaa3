//! glTF files that are odd, broken or hostile: each gives what it means, or an error that says where.

use std::fmt::Write as _;
use std::path::Path;

use glam::{Vec3, Vec4};
use supple::Asset;
use supple::io::uri::{FetchError, no_folder};
use supple::io::{Malformed, Place, Warning, gltf};
use supple::mesh::Values;
use supple::rig::Track;

fn read_all(bytes: &[u8]) -> Result<(Asset, Vec<Warning>), Malformed> {
    let mut warnings = Vec::new();
    let asset = gltf::read(bytes, &no_folder, &mut warnings)?;
    for mesh in &asset.meshes {
        mesh.validate().expect("a reader returns valid meshes");
    }
    Ok((asset, warnings))
}

/// A document being put together: every list of numbers gets a buffer view of its own.
#[derive(Default)]
struct File {
    data: Vec<u8>,
    views: String,
    view_count: usize,
    accessors: String,
    accessor_count: usize,
}

impl File {
    fn view(&mut self, bytes: &[u8]) -> usize {
        let comma = if self.view_count > 0 { "," } else { "" };
        let (at, len) = (self.data.len(), bytes.len());
        let view = format!(r#"{comma}{{"buffer":0,"byteOffset":{at},"byteLength":{len}}}"#);
        self.views.push_str(&view);
        self.data.extend_from_slice(bytes);
        self.view_count += 1;
        self.view_count - 1
    }

    /// An accessor from the text of its object.
    fn accessor(&mut self, object: &str) -> usize {
        let comma = if self.accessor_count > 0 { "," } else { "" };
        write!(self.accessors, "{comma}{{{object}}}").expect("text can always be written");
        self.accessor_count += 1;
        self.accessor_count - 1
    }

    fn numbers(&mut self, bytes: &[u8], component: u32, kind: &str, count: usize) -> usize {
        let view = self.view(bytes);
        self.accessor(&format!(
            r#""bufferView":{view},"componentType":{component},"type":"{kind}","count":{count}"#
        ))
    }

    fn floats(&mut self, kind: &str, width: usize, numbers: &[f32]) -> usize {
        self.numbers(bytemuck::cast_slice(numbers), 5126, kind, numbers.len() / width)
    }

    fn positions(&mut self, points: &[Vec3]) -> usize {
        self.floats("VEC3", 3, bytemuck::cast_slice(points))
    }

    /// The text form, with `rest` as further members of the document.
    fn text(&self, rest: &str) -> String {
        use base64::Engine as _;
        let data = base64::engine::general_purpose::STANDARD.encode(&self.data);
        let mut lists = String::new();
        if !self.data.is_empty() {
            write!(
                lists,
                r#""buffers":[{{"byteLength":{},"uri":"data:;base64,{data}"}}],"bufferViews":[{}],"#,
                self.data.len(),
                self.views
            )
            .expect("text can always be written");
        }
        if !self.accessors.is_empty() {
            write!(lists, r#""accessors":[{}],"#, self.accessors).expect("as above");
        }
        format!(r#"{{{lists}"asset":{{"version":"2.0"}}{rest}}}"#)
    }

    fn read(&self, rest: &str) -> Result<(Asset, Vec<Warning>), Malformed> {
        read_all(self.text(rest).as_bytes())
    }
}

const SQUARE: [Vec3; 4] = [Vec3::ZERO, Vec3::X, Vec3::Y, Vec3::new(1.0, 1.0, 0.0)];

fn one_primitive(primitive: &str) -> String {
    format!(r#","meshes":[{{"primitives":[{{{primitive}}}]}}]"#)
}

#[track_caller]
fn assert_place(result: Result<(Asset, Vec<Warning>), Malformed>, place: &str) {
    let error = result.expect_err("must be refused");
    assert_eq!(error.place, Place::Json(place.to_owned()), "{error}");
}

#[test]
fn strips_and_fans_become_triangles() {
    let mut file = File::default();
    file.positions(&SQUARE);
    let mesh = |mode| one_primitive(&format!(r#""attributes":{{"POSITION":0}},"mode":{mode}"#));
    let (strip, _) = file.read(&mesh(5)).unwrap();
    assert_eq!(strip.meshes[0].triangles, [[0, 1, 2], [2, 1, 3]]);
    let (fan, _) = file.read(&mesh(6)).unwrap();
    assert_eq!(fan.meshes[0].triangles, [[1, 2, 0], [2, 3, 0]]);
    let (points, _) = file.read(&mesh(0)).unwrap();
    assert_eq!(points.clouds[0].positions, SQUARE);
    let placed = r#","nodes":[{"children":[1],"scale":[2,2,2]},{"mesh":0,"translation":[0,0,1]}]"#;
    let (points, _) = file.read(&(mesh(0) + placed)).unwrap();
    assert_eq!(points.clouds[0].positions[1], Vec3::new(2.0, 0.0, 2.0), "points go to their place");
    let (lines, warnings) = file.read(&mesh(1)).unwrap();
    assert!(lines.meshes.is_empty() && !warnings.is_empty(), "lines are left out, with a warning");
    assert_place(file.read(&mesh(7)), "meshes[0].primitives[0].mode");
}

#[test]
fn meshes_that_no_node_shows_are_put_at_the_origin() {
    let mut file = File::default();
    file.positions(&SQUARE[..3]);
    let mesh = one_primitive(r#""attributes":{"POSITION":0}"#);
    let (asset, warnings) = file.read(&(mesh.clone() + r#","nodes":[{}]"#)).unwrap();
    assert_eq!(asset.nodes.iter().map(|n| n.mesh).collect::<Vec<_>>(), [None, Some(0)]);
    assert_eq!(warnings[0].place, Place::Json("nodes".to_owned()), "{warnings:?}");
    let (shown, warnings) = file.read(&(mesh + r#","nodes":[{"mesh":0}]"#)).unwrap();
    assert_eq!((shown.nodes.len(), warnings), (1, Vec::new()));
}

#[test]
fn json_errors_say_what_is_wrong_once() {
    let said = |text: &str| read_all(text.as_bytes()).unwrap_err().to_string();
    assert!(said("{").starts_with("line 1: the JSON text ends too early ("), "{}", said("{"));
    let comma = "{\n,}";
    assert!(
        said(comma).starts_with("line 2: not JSON at column 1: key must be"),
        "{}",
        said(comma)
    );
    assert!(!said(comma).contains("at line"), "{}", said(comma));
}

#[test]
fn indices_of_every_width_are_read() {
    for (component, bytes) in [
        (5121, vec![0_u8, 1, 2]),
        (5123, vec![0, 0, 1, 0, 2, 0]),
        (5125, vec![0, 0, 0, 0, 1, 0, 0, 0, 2, 0, 0, 0]),
    ] {
        let mut file = File::default();
        file.positions(&SQUARE);
        file.numbers(&bytes, component, "SCALAR", 3);
        let mesh = one_primitive(r#""attributes":{"POSITION":0},"indices":1"#);
        assert_eq!(file.read(&mesh).unwrap().0.meshes[0].triangles, [[0, 1, 2]], "{component}");
    }
}

#[test]
fn primitives_on_the_same_vertices_share_them() {
    let mut file = File::default();
    file.positions(&SQUARE);
    file.numbers(&[0, 1, 2], 5121, "SCALAR", 3);
    file.numbers(&[2, 1, 3], 5121, "SCALAR", 3);
    file.floats("SCALAR", 1, &[1.0, 2.0, 3.0, 4.0]);
    let both = r#","materials":[{},{}],"meshes":[{"primitives":[
        {"attributes":{"POSITION":0},"indices":1,"material":1},
        {"attributes":{"POSITION":0,"_heat":3},"indices":2,"material":0}]}],"nodes":[{"mesh":0}]"#;
    let (asset, warnings) = file.read(both).unwrap();
    let mesh = &asset.meshes[0];
    assert_eq!(mesh.positions, SQUARE);
    assert_eq!(mesh.triangles, [[0, 1, 2], [2, 1, 3]]);
    assert_eq!(mesh.attributes.scalar("heat"), Some(&[1.0, 2.0, 3.0, 4.0][..]));
    let materials: Vec<_> = mesh.groups.iter().map(|g| g.material).collect();
    assert_eq!(materials, [Some(1), Some(0)]);
    assert_eq!(warnings, []);
}

#[test]
fn other_primitives_are_put_one_after_the_other() {
    let mut file = File::default();
    file.positions(&SQUARE[..3]);
    file.positions(&SQUARE[1..]);
    file.floats("VEC3", 3, &[0.5; 9]);
    let both = r#","meshes":[{"primitives":[
        {"attributes":{"POSITION":0,"COLOR_0":2,"NORMAL":2}},{"attributes":{"POSITION":1}}]}],
        "nodes":[{"mesh":0}]"#;
    let (asset, warnings) = file.read(both).unwrap();
    let mesh = &asset.meshes[0];
    assert_eq!(mesh.triangles, [[0, 1, 2], [3, 4, 5]]);
    let Some(Values::Vec4(colors)) = mesh.attributes.get("color") else { panic!("no colour") };
    assert_eq!((colors[2], colors[3]), (Vec4::new(0.5, 0.5, 0.5, 1.0), Vec4::ONE));
    assert_eq!(mesh.attributes.normals().unwrap()[3], Vec3::NEG_Z, "missing normals are computed");
    assert_eq!(warnings.len(), 2, "one for each attribute that was filled in: {warnings:?}");
}

#[test]
fn normalised_and_strided_numbers_are_decoded() {
    let mut file = File::default();
    file.positions(&SQUARE[..3]);
    let view = file.view(&[0, 255, 99, 99, 128, 51, 99, 99, 255, 0]);
    file.views.truncate(file.views.len() - 1);
    file.views.push_str(r#","byteStride":4}"#);
    file.accessor(&format!(
        r#""bufferView":{view},"componentType":5121,"normalized":true,"type":"VEC2","count":3"#
    ));
    let bytes: Vec<u8> = [-32768_i16, -32767, 0].iter().flat_map(|i| i.to_le_bytes()).collect();
    file.numbers(&bytes, 5122, "SCALAR", 3);
    let quantised = one_primitive(r#""attributes":{"POSITION":0,"TEXCOORD_0":1,"_raw":2}"#);
    let quantised = format!(
        r#"{quantised},"extensionsRequired":["KHR_mesh_quantization"],"nodes":[{{"mesh":0}}]"#
    );
    let (asset, warnings) = file.read(&quantised).unwrap();
    let Some(Values::Vec2(uv)) = asset.meshes[0].attributes.get("uv") else { panic!("no uv") };
    let found: Vec<[f32; 2]> = uv.iter().map(|v| v.to_array()).collect();
    assert_eq!(found, [[0.0, 1.0], [128.0 / 255.0, 0.2], [1.0, 0.0]]);
    assert_eq!(asset.meshes[0].attributes.scalar("raw"), Some(&[-32768.0, -32767.0, 0.0][..]));
    assert_eq!(warnings, []);
}

#[test]
fn a_sparse_accessor_may_stand_on_zeros() {
    let mut file = File::default();
    let (rows, values) = (file.view(&[1, 2]), file.view(bytemuck::cast_slice(&SQUARE[1..3])));
    file.accessor(&format!(
        r#""componentType":5126,"type":"VEC3","count":3,"sparse":{{"count":2,
        "indices":{{"bufferView":{rows},"componentType":5121}},"values":{{"bufferView":{values}}}}}"#
    ));
    let mesh = one_primitive(r#""attributes":{"POSITION":0}"#);
    assert_eq!(file.read(&mesh).unwrap().0.meshes[0].positions, SQUARE[..3]);
    let text = file.text(&mesh).replace(r#""count":3"#, r#""count":2"#);
    assert_place(read_all(text.as_bytes()), "accessors[0].sparse.indices");
    let text =
        file.text(&mesh).replace(r#""sparse":{"count":2"#, r#""sparse":{"count":4000000000"#);
    assert_place(read_all(text.as_bytes()), "accessors[0].sparse.count");
}

#[test]
fn four_billion_elements_in_a_small_file_are_refused() {
    let mesh = one_primitive(r#""attributes":{"POSITION":0}"#);
    let mut file = File::default();
    file.positions(&SQUARE[..3]);
    for count in ["4", "4294967295"] {
        let text = file.text(&mesh).replace(r#""count":3"#, &format!(r#""count":{count}"#));
        assert_place(read_all(text.as_bytes()), "accessors[0].count");
    }
    // More than indices can name is refused before the accessor is looked at.
    let text = file.text(&mesh).replace(r#""count":3"#, r#""count":18446744073709551615"#);
    assert_place(read_all(text.as_bytes()), "meshes[0].primitives[0].attributes.POSITION");
    let mut zeros = File::default();
    zeros.accessor(r#""componentType":5126,"type":"VEC3","count":1000000000"#);
    assert_place(zeros.read(&mesh), "accessors[0].count");
    let text =
        file.text(&mesh).replace(r#""byteLength":36,"uri""#, r#""byteLength":4294967296,"uri""#);
    assert_place(read_all(text.as_bytes()), "buffers[0].byteLength");
    let text = file.text(&mesh).replace(r#""byteLength":36}"#, r#""byteLength":4294967296}"#);
    assert_place(read_all(text.as_bytes()), "bufferViews[0].byteLength");
}

/// A mesh is a few bytes that may name megabytes.
#[test]
fn meshes_of_one_accessor_are_limited_to_a_few_times_the_file() {
    let mut file = File::default();
    file.positions(&vec![Vec3::ONE; 300_000]);
    let read = |count: usize| {
        let mesh = r#"{"primitives":[{"attributes":{"POSITION":0}}]}"#;
        file.read(&format!(r#","meshes":[{}]"#, vec![mesh; count].join(",")))
    };
    assert_eq!(read(4).unwrap().0.meshes.len(), 4, "some files do that");
    let error = read(40).unwrap_err();
    assert!(error.what.contains("out of proportion"), "{error}");
}

/// Objects that name one accessor again and again must not multiply it without end.
#[test]
fn repetition_is_limited_too() {
    let points = vec![Vec3::ONE; 30_000];
    let mut file = File::default();
    file.positions(&points);
    let targets = vec!["{}"; 100_000].join(",");
    let mesh = one_primitive(&format!(r#""attributes":{{"POSITION":0}},"targets":[{targets}]"#));
    let error = file.read(&mesh).unwrap_err();
    assert!(error.what.contains("out of proportion"), "{error}");
    let primitives = vec![r#"{"attributes":{"POSITION":0}}"#; 20_000].join(",");
    let error = file.read(&format!(r#","meshes":[{{"primitives":[{primitives}]}}]"#)).unwrap_err();
    assert!(error.what.contains("out of proportion"), "{error}");
}

#[test]
fn a_vertex_that_is_not_a_number_is_refused() {
    let mut file = File::default();
    file.positions(&[Vec3::ZERO, Vec3::new(0.0, f32::NAN, 0.0), Vec3::Y]);
    let error = file.read(&one_primitive(r#""attributes":{"POSITION":0}"#)).unwrap_err();
    assert!(error.to_string().contains("vertex 1"), "{error}");
}

#[test]
fn an_index_out_of_range_is_refused() {
    let mut file = File::default();
    file.positions(&SQUARE[..3]);
    file.numbers(&[0, 1, 3], 5121, "SCALAR", 3);
    let error =
        file.read(&one_primitive(r#""attributes":{"POSITION":0},"indices":1"#)).unwrap_err();
    assert!(error.to_string().contains("vertex 3"), "{error}");
    // The vertices of the next primitive are not those of this one.
    file.positions(&SQUARE);
    let two = r#","meshes":[{"primitives":[{"attributes":{"POSITION":0},"indices":1},{"attributes":{"POSITION":2}}]}]"#;
    assert_place(file.read(two), "meshes[0].primitives[0].indices");
}

#[test]
fn names_of_nothing_say_where() {
    let mut file = File::default();
    file.positions(&SQUARE[..3]);
    for (rest, place) in [
        (one_primitive(r#""attributes":{"POSITION":9}"#), "meshes[0].primitives[0].attributes.POSITION"),
        // Beyond 32 bits: must not wrap around to accessor 0.
        (
            one_primitive(r#""attributes":{"POSITION":4294967296}"#),
            "meshes[0].primitives[0].attributes.POSITION",
        ),
        (
            one_primitive(r#""attributes":{"POSITION":0},"indices":9"#),
            "meshes[0].primitives[0].indices",
        ),
        (
            one_primitive(r#""attributes":{"POSITION":0},"material":0"#),
            "meshes[0].primitives[0].material",
        ),
        (r#","nodes":[{"mesh":0}]"#.to_owned(), "nodes[0].mesh"),
        (r#","nodes":[{"skin":0}]"#.to_owned(), "nodes[0].skin"),
        (r#","nodes":[{"children":[5]}]"#.to_owned(), "nodes[0].children[0]"),
        (r#","skins":[{"joints":[0]}]"#.to_owned(), "skins[0].joints[0]"),
        (
            r#","animations":[{"channels":[{"sampler":0,"target":{"node":0,"path":"scale"}}],"samplers":[]}]"#.to_owned(),
            "animations[0].channels[0].sampler",
        ),
    ] {
        assert_place(file.read(&rest), place);
    }
}

#[test]
fn nodes_must_form_a_forest() {
    let file = File::default();
    assert_place(file.read(r#","nodes":[{"children":[0]}]"#), "nodes[0].children");
    let cycle = r#","nodes":[{},{"children":[2]},{"children":[3]},{"children":[1]}]"#;
    assert_place(file.read(cycle), "nodes[1].children");
    let two_parents = r#","nodes":[{"children":[2]},{"children":[2]},{}]"#;
    assert_place(file.read(two_parents), "nodes[1].children[0]");
    // A long chain is fine, and does not take its square in time.
    let chain: Vec<String> =
        (1..50_000).map(|i| format!(r#"{{"children":[{i}]}}"#)).chain(["{}".to_owned()]).collect();
    let (asset, _) = file.read(&format!(r#","nodes":[{}]"#, chain.join(","))).unwrap();
    assert_eq!(asset.nodes[49_999].parent, Some(49_998));
}

#[test]
fn required_extensions_are_named() {
    let file = File::default();
    let draco = r#","extensionsUsed":["KHR_draco_mesh_compression"],"extensionsRequired":["KHR_draco_mesh_compression"]"#;
    let error = file.read(draco).unwrap_err();
    assert!(error.to_string().contains("KHR_draco_mesh_compression"), "{error}");
    let (_, warnings) = file.read(r#","extensionsUsed":["KHR_texture_transform"]"#).unwrap();
    assert!(warnings[0].to_string().contains("KHR_texture_transform"), "{warnings:?}");
}

#[test]
fn uris_go_through_the_fetcher() {
    let names = r#"{"asset":{"version":"2.0"},"buffers":[{"byteLength":4,"uri":"../../secret"}]}"#;
    assert_place(read_all(names.as_bytes()), "buffers[0].uri");
    let network = r#"{"asset":{"version":"2.0"},"images":[{"uri":"https://example.org/a.png"}],
        "textures":[{"source":0}],
        "materials":[{"pbrMetallicRoughness":{"baseColorTexture":{"index":0}}}]}"#;
    assert_place(read_all(network.as_bytes()), "images[0].uri");
    let missing = |uri: &str| {
        let source = std::io::Error::from(std::io::ErrorKind::NotFound);
        Err(FetchError::Io { path: uri.into(), source })
    };
    let mut warnings = Vec::new();
    let asset = gltf::read(network.as_bytes(), &missing, &mut warnings).unwrap();
    assert_eq!(asset.materials[0].base_color_image, None, "a missing picture is only a warning");
    assert!(
        warnings.iter().any(|w| w.place == Place::Json("images[0].uri".into())),
        "{warnings:?}"
    );
}

#[test]
fn skin_weights_are_made_to_sum_to_one() {
    let mut file = File::default();
    file.positions(&SQUARE[..3]);
    file.numbers(&[0, 1, 0, 0, 1, 0, 0, 0, 0, 0, 0, 0], 5121, "VEC4", 3);
    file.floats("VEC4", 4, &[1.0, 3.0, 0.0, 0.0, 1.0, 0.0, 0.0, 0.0, 0.5, 0.0, -0.5, 0.0]);
    let mesh = one_primitive(r#""attributes":{"POSITION":0,"JOINTS_0":1,"WEIGHTS_0":2}"#);
    let skinned =
        format!(r#"{mesh},"nodes":[{{"mesh":0,"skin":0}},{{}},{{}}],"skins":[{{"joints":[1,2]}}]"#);
    let (asset, warnings) = file.read(&skinned).unwrap();
    let skin = asset.meshes[0].skin_weights.as_ref().unwrap();
    assert_eq!(skin.of(0).collect::<Vec<_>>(), [(0, 0.25), (1, 0.75)]);
    assert_eq!(skin.of(1).collect::<Vec<_>>(), [(1, 1.0)]);
    assert_eq!(skin.of(2).collect::<Vec<_>>(), [(0, 1.0)]);
    assert_eq!(warnings.len(), 2, "{warnings:?}");
    assert_place(file.read(&skinned.replace("[1,2]", "[1]")), "nodes[0].skin");
}

#[test]
fn rotations_may_be_normalised_integers_and_splines() {
    let mut file = File::default();
    file.floats("SCALAR", 1, &[0.0, 1.0]);
    let bytes: Vec<u8> =
        [0_i16, 0, 0, 32767, 0, 0, 32767, 0].iter().flat_map(|i| i.to_le_bytes()).collect();
    let view = file.view(&bytes);
    file.accessor(&format!(
        r#""bufferView":{view},"componentType":5122,"normalized":true,"type":"VEC4","count":2"#
    ));
    let spline: Vec<f32> = (0..6).flat_map(|i| [i as f32, 0.0, 0.0]).collect();
    file.floats("VEC3", 3, &spline);
    let clip = r#","nodes":[{}],"animations":[{"name":"turn","channels":[
        {"sampler":0,"target":{"node":0,"path":"rotation"}},
        {"sampler":1,"target":{"node":0,"path":"translation"}},
        {"sampler":1,"target":{"path":"translation"}}],
        "samplers":[{"input":0,"output":1},{"input":0,"output":2,"interpolation":"CUBICSPLINE"}]}]"#;
    let (asset, warnings) = file.read(clip).unwrap();
    let [turn, slide] = &asset.clips[0].channels[..] else { panic!("two channels") };
    let Track::Rotation(turns) = &turn.track else { panic!("a rotation") };
    assert_eq!(
        turns.iter().map(|q| q.to_array()).collect::<Vec<_>>(),
        [[0.0, 0.0, 0.0, 1.0], [0.0, 0.0, 1.0, 0.0]]
    );
    let Track::Translation(keys) = &slide.track else { panic!("a translation") };
    assert_eq!(keys[4], Vec3::X * 4.0, "in-tangent, value, out-tangent of the second key");
    assert!(warnings.iter().any(|w| w.what.contains("moves no node")), "{warnings:?}");
    assert_place(file.read(&clip.replace("CUBICSPLINE", "STEP")), "animations[0].channels[1]");
}

/// The seeds of the fuzz target that can be read, cut short and altered at every byte: no panic, no
/// endless work.
#[test]
fn altered_files_never_panic() {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../fuzz/corpus/gltf");
    let paths = std::fs::read_dir(folder).unwrap().map(|e| e.unwrap().path());
    let mut seeds: Vec<_> = paths.map(|p| std::fs::read(p).unwrap()).collect();
    seeds.retain(|bytes| read_all(bytes).is_ok());
    assert!(seeds.len() >= 3, "{} seeds can be read", seeds.len());
    for bytes in seeds {
        for i in 0..bytes.len() {
            let _ = read_all(&bytes[..i]);
            for change in [0x01, 0x10, 0x80, 0xff] {
                let mut altered = bytes.clone();
                altered[i] ^= change;
                let _ = read_all(&altered);
            }
        }
    }
}

/// The finding: each of 400 buffers that name one file held a copy of it.
#[test]
fn a_buffer_that_is_named_often_is_read_once() {
    let buffers = vec![r#"{"byteLength":36,"uri":"a.bin"}"#; 400].join(",");
    let views: Vec<String> =
        (0..400).map(|i| format!(r#"{{"buffer":{i},"byteLength":36}}"#)).collect();
    let text = format!(
        r#"{{"asset":{{"version":"2.0"}},"buffers":[{buffers}],"bufferViews":[{}],
        "accessors":[{{"bufferView":399,"componentType":5126,"count":3,"type":"VEC3"}}],
        "meshes":[{{"primitives":[{{"attributes":{{"POSITION":0}}}}]}}],"nodes":[{{"mesh":0}}]}}"#,
        views.join(",")
    );
    let fetched = std::cell::Cell::new(0);
    let fetch = |_: &str| {
        fetched.set(fetched.get() + 1);
        Ok([0.0_f32, 0.0, 0.0, 1.0, 0.0, 0.0, 0.0, 1.0, 0.0].map(f32::to_le_bytes).concat())
    };
    let asset = gltf::read(text.as_bytes(), &fetch, &mut Vec::new()).unwrap();
    assert_eq!(asset.meshes[0].positions, [Vec3::ZERO, Vec3::X, Vec3::Y]);
    assert_eq!(fetched.get(), 1);
    // Each may claim its own length, but not more than there is.
    let longer = text.replacen("\"byteLength\":36", "\"byteLength\":40", 1);
    let error = gltf::read(longer.as_bytes(), &fetch, &mut Vec::new()).unwrap_err();
    assert!(error.to_string().contains("claims 40 bytes and has 36"), "{error}");
}
