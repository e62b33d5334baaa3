//! What is written and read again is the same, as far as the format can hold it.

use glam::{Vec2, Vec3, Vec4};
use supple::asset::UvOrigin;
use supple::io::{Format, Warning, gzip, obj, off, ply, stl, vtk};
use supple::mesh::attribute::{COLOR, NORMAL, UV};
use supple::mesh::{CornerAttribute, Group, PointCloud, Values};
use supple::{Asset, TriMesh};

/// A tetrahedron with every kind of attribute; numbers that need all their digits.
fn tetrahedron() -> TriMesh {
    let positions = vec![
        Vec3::new(0.1, -0.0, 1.0 / 3.0),
        Vec3::new(1.000_000_1, 2.5e-8, 0.0),
        Vec3::new(0.0, 16_777_216.0, -7.25),
        Vec3::new(-0.3, 0.2, 1.5e10),
    ];
    let triangles = vec![[0, 2, 1], [0, 1, 3], [1, 2, 3], [0, 3, 2]];
    let mut mesh = TriMesh::new(positions, triangles);
    mesh.name = "a body".to_owned();
    let unit = |x: f32| Vec3::new(x, 1.0, 0.0).normalize_or_zero();
    mesh.attributes.set(NORMAL, Values::Vec3([0.1, 0.2, 0.3, 0.4].map(unit).to_vec()));
    let colors = [0.1, 0.123_456_7, 1.0, 0.0].map(|x| Vec4::new(x, 0.5 * x, 1.0 - x, 0.25));
    mesh.attributes.set(COLOR, Values::Vec4(colors.to_vec()));
    mesh
}

fn with_seam(mut mesh: TriMesh) -> TriMesh {
    mesh.corners.push(CornerAttribute {
        name: UV.to_owned(),
        values: Values::Vec2((0..5).map(|i| Vec2::new(0.1 * i as f32, 0.7)).collect()),
        triangles: vec![[0, 1, 2], [0, 2, 3], [2, 1, 3], [4, 3, 1]],
    });
    mesh
}

fn one_mesh(asset: Asset) -> TriMesh {
    let [mesh] = <[TriMesh; 1]>::try_from(asset.meshes).expect("one mesh");
    mesh
}

type Read = fn(&[u8], &mut Vec<Warning>) -> Result<Asset, supple::io::Malformed>;

fn reread(read: Read, write: impl Fn(&mut Vec<u8>) -> std::io::Result<()>) -> Asset {
    let mut bytes = Vec::new();
    write(&mut bytes).expect("memory takes all");
    let mut warnings = Vec::new();
    let asset = read(&bytes, &mut warnings).expect("what was written is read");
    assert_eq!(warnings, [], "nothing to complain about");
    asset
}

#[test]
fn obj_keeps_names_groups_seams_and_colours() {
    let mut mesh = with_seam(tetrahedron());
    let group = |name: &str, triangles| Group { name: name.to_owned(), triangles, material: None };
    mesh.groups = vec![group("", 0..1), group("front side", 1..3), group("back", 3..4)];
    let copy = one_mesh(reread(obj::read, |out| obj::write(&mesh, out)));
    assert_eq!(copy.attributes.get(COLOR), mesh.attributes.get(COLOR));
    assert_eq!(copy.attributes.get(NORMAL), mesh.attributes.get(NORMAL));
    assert_eq!((copy.name, copy.groups), (mesh.name, mesh.groups));
    assert_eq!((copy.positions, copy.triangles), (mesh.positions, mesh.triangles));
    assert_eq!(copy.corners, mesh.corners);
}

#[test]
fn ply_keeps_every_attribute_in_order() {
    let mut mesh = tetrahedron();
    mesh.name.clear();
    mesh.attributes.set("stiffness", Values::Scalar(vec![0.1, 1.0, -2.0, 1e-20]));
    mesh.attributes.set(UV, Values::Vec2(vec![Vec2::new(0.3, 0.9); 4]));
    mesh.attributes.set("velocity", Values::Vec3(vec![Vec3::new(1.0, -2.0, 0.1); 4]));
    mesh.attributes.set("tangent", Values::Vec4(vec![Vec4::new(1.0, 0.0, 0.0, -1.0); 4]));
    let copy = one_mesh(reread(ply::read, |out| ply::write(&mesh, out)));
    assert_eq!(copy, mesh);
}

#[test]
fn ply_keeps_the_values_at_corners() {
    let mesh = with_seam(tetrahedron());
    let copy = one_mesh(reread(ply::read, |out| ply::write(&mesh, out)));
    let at_corners = |mesh: &TriMesh| {
        let corner = &mesh.corners[0];
        (corner.name.clone(), corner.values.gather(corner.triangles.as_flattened()))
    };
    assert_eq!(at_corners(&copy), at_corners(&mesh));
}

#[test]
fn ply_colours_that_are_bytes_stay_bytes() {
    let header = "ply\nformat ascii 1.0\nelement vertex 3\nproperty float x\nproperty float y\n\
                  property float z\nproperty uchar red\nproperty uchar green\nproperty uchar blue\n\
                  element face 1\nproperty list uchar int vertex_index\nend_header\n";
    let text = format!("{header}0 0 0 255 128 0\n1 0 0 1 2 3\n0 1 0 9 8 7\n3 0 1 2\n");
    let mesh = one_mesh(ply::read(text.as_bytes(), &mut Vec::new()).unwrap());
    let mut bytes = Vec::new();
    ply::write(&mesh, &mut bytes).unwrap();
    let shown = String::from_utf8_lossy(&bytes);
    assert!(shown.contains("property uchar red"), "{shown}");
    assert_eq!(one_mesh(ply::read(&bytes, &mut Vec::new()).unwrap()), mesh);
}

#[test]
fn both_byte_orders_and_text_of_ply_agree() {
    let header = |format: &str| {
        format!(
            "ply\nformat {format} 1.0\ncomment a square\nelement vertex 4\nproperty double x\n\
             property float y\nproperty short z\nproperty ushort heat\nelement extra 1\n\
             property list int double numbers\nelement face 1\nproperty uchar flag\n\
             property list uchar short vertex_indices\nend_header\n"
        )
    };
    let rows = [(0.0, 0.0, -1, 7), (1.0, 0.1, -1, 8), (1.0, 1.5, -2, 65_535), (0.25, 1.0, 300, 0)];
    let mut text = header("ascii").into_bytes();
    let mut little = header("binary_little_endian").into_bytes();
    let mut big = header("binary_big_endian").into_bytes();
    for (x, y, z, heat) in rows {
        let (x, y, z, heat): (f64, f32, i16, u16) = (x, y, z, heat);
        text.extend(format!("{x} {y} {z} {heat}\n").bytes());
        for (out, order) in [(&mut little, true), (&mut big, false)] {
            let ordered = |mut bytes: Vec<u8>| {
                if !order {
                    bytes.reverse();
                }
                bytes
            };
            out.extend(ordered(x.to_le_bytes().to_vec()));
            out.extend(ordered(y.to_le_bytes().to_vec()));
            out.extend(ordered(z.to_le_bytes().to_vec()));
            out.extend(ordered(heat.to_le_bytes().to_vec()));
        }
    }
    text.extend(b"1 2.5\n9 4 0 1 2 3\n");
    little.extend(1_i32.to_le_bytes().into_iter().chain(2.5_f64.to_le_bytes()).chain([9, 4]));
    big.extend(1_i32.to_be_bytes().into_iter().chain(2.5_f64.to_be_bytes()).chain([9, 4]));
    for i in 0..4_i16 {
        little.extend(i.to_le_bytes());
        big.extend(i.to_be_bytes());
    }
    let meshes = [text, little, big].map(|bytes| {
        let mut warnings = Vec::new();
        let mesh = one_mesh(ply::read(&bytes, &mut warnings).unwrap());
        assert_eq!(warnings.len(), 2, "the element and the flag are left out: {warnings:?}");
        mesh
    });
    assert_eq!(meshes[0].positions[2], Vec3::new(1.0, 1.5, -2.0));
    assert_eq!(meshes[0].triangles.len(), 2);
    assert_eq!(meshes[0].attributes.scalar("heat"), Some(&[7.0, 8.0, 65_535.0, 0.0][..]));
    assert_eq!(meshes[0], meshes[1]);
    assert_eq!(meshes[0], meshes[2]);
}

#[test]
fn ply_strips_turn_every_other_triangle_round() {
    let text = "ply\nformat ascii 1.0\nelement vertex 5\nproperty float x\nproperty float y\n\
                property float z\nelement tristrips 1\nproperty list int int vertex_indices\n\
                end_header\n0 0 0\n1 0 0\n0 1 0\n1 1 0\n2 2 1\n8 0 1 2 3 -1 4 3 2\n";
    let mesh = one_mesh(ply::read(text.as_bytes(), &mut Vec::new()).unwrap());
    assert_eq!(mesh.triangles, [[0, 1, 2], [2, 1, 3], [4, 3, 2]]);
}

#[test]
fn clouds_stay_clouds() {
    let mesh = tetrahedron();
    let (positions, attributes) = (mesh.positions, mesh.attributes);
    let cloud = PointCloud { name: String::new(), positions, attributes };
    let by_ply = reread(ply::read, |out| ply::write_cloud(&cloud, out));
    assert_eq!(by_ply.clouds, std::slice::from_ref(&cloud));
    assert_eq!(by_ply.meshes, []);
    let by_obj = reread(obj::read, |out| obj::write_cloud(&cloud, out));
    assert_eq!(by_obj.clouds[0].positions, cloud.positions);
    let by_off = reread(off::read, |out| off::write_cloud(&cloud, out));
    assert_eq!(by_off.clouds[0].attributes.get(COLOR), cloud.attributes.get(COLOR));
}

#[test]
fn off_keeps_normals_colours_and_texture_coordinates() {
    let mut mesh = tetrahedron();
    mesh.name.clear();
    let copy = one_mesh(reread(off::read, |out| off::write(&mesh, out)));
    assert_eq!(copy, mesh);
    mesh.attributes.set(COLOR, Values::Vec4(vec![Vec4::ONE; 4]));
    mesh.attributes.set(UV, Values::Vec2(vec![Vec2::new(0.3, 0.9); 4]));
    let copy = one_mesh(reread(off::read, |out| off::write(&mesh, out)));
    assert_eq!(copy, mesh);
}

#[test]
fn stl_keeps_the_surface() {
    let mesh = tetrahedron();
    let copy = one_mesh(reread(stl::read, |out| stl::write(&mesh, out)));
    assert_eq!(copy.triangles.len(), mesh.triangles.len());
    assert_eq!(copy.positions.len(), mesh.positions.len());
    for t in 0..mesh.triangles.len() {
        assert_eq!(copy.corners_of(t), mesh.corners_of(t));
    }
}

#[test]
fn text_stl_with_two_solids_has_two_groups() {
    let facet = |x: f32| {
        format!(
            "facet normal 0 0 1\n outer loop\n  vertex {x} 0 0\n  vertex {} 0 0\n  \
             vertex {x} 1 0\n endloop\nendfacet\n",
            x + 1.0
        )
    };
    let text = format!(
        "solid one\n{}endsolid one\nsolid two\n{}{}endsolid\n",
        facet(0.0),
        facet(1.0),
        facet(2.0)
    );
    let mesh = one_mesh(stl::read(text.as_bytes(), &mut Vec::new()).unwrap());
    assert_eq!(mesh.groups.len(), 2);
    assert_eq!((mesh.groups[1].name.as_str(), mesh.groups[1].triangles.clone()), ("two", 1..3));
    assert_eq!(mesh.positions.len(), 7, "corners at one place are one vertex");
}

#[test]
fn a_binary_stl_that_starts_with_solid_is_binary() {
    let mesh = tetrahedron();
    let mut bytes = Vec::new();
    stl::write(&mesh, &mut bytes).unwrap();
    bytes[..11].copy_from_slice(b"solid facet");
    assert_eq!(one_mesh(stl::read(&bytes, &mut Vec::new()).unwrap()).triangles.len(), 4);
}

#[test]
fn vtk_reads_strips_data_and_both_kinds_of_cells() {
    let mut text = "# vtk DataFile Version 3.0\ntitle\nASCII\nDATASET POLYDATA\nPOINTS 4 double\n\
                    0 0 0 1 0 0\n0 1 0 1 1 0\n"
        .to_owned();
    text.push_str("TRIANGLE_STRIPS 1 5\n4 0 1 2 3\nCELL_DATA 2\nSCALARS c int\n");
    text.push_str("LOOKUP_TABLE default\n1 2\nPOINT_DATA 4\nSCALARS my%20heat float 1\n");
    text.push_str("LOOKUP_TABLE default\n1 2 3 4.5\nNORMALS n float\n");
    text.push_str("0 0 1 0 0 1 0 0 1 0 0 1\nFIELD f 1\nflow 3 4 float\n");
    text.push_str("1 2 3 4 5 6 7 8 9 10 11 12\n");
    let mut warnings = Vec::new();
    let mesh = one_mesh(vtk::read(text.as_bytes(), &mut warnings).unwrap());
    assert_eq!(mesh.triangles, [[0, 1, 2], [2, 1, 3]]);
    assert_eq!(mesh.attributes.scalar("my heat"), Some(&[1.0, 2.0, 3.0, 4.5][..]));
    assert_eq!(mesh.attributes.normals().map(<[_]>::len), Some(4));
    let Some(Values::Vec3(flow)) = mesh.attributes.get("flow") else { panic!("no flow") };
    assert_eq!(flow[3], Vec3::new(10.0, 11.0, 12.0));
    assert_eq!(warnings.len(), 1, "cell data is left out: {warnings:?}");

    let mut five =
        b"# vtk DataFile Version 5.1\ntitle\nBINARY\nDATASET POLYDATA\nPOINTS 3 float\n".to_vec();
    five.extend([0.0_f32, 0.0, 0.0, 1.0, 0.0, 0.0, 0.0, 1.0, 0.5].map(f32::to_be_bytes).concat());
    five.extend(b"\nPOLYGONS 2 3\nOFFSETS vtktypeint64\n");
    five.extend([0_i64, 3].map(i64::to_be_bytes).concat());
    five.extend(b"\nCONNECTIVITY vtktypeint64\n");
    five.extend([0_i64, 1, 2].map(i64::to_be_bytes).concat());
    five.extend(b"\nMETADATA\nINFORMATION 0\n\nPOINT_DATA 3\nCOLOR_SCALARS c 3\n");
    five.extend([255, 0, 0, 0, 255, 0, 0, 0, 255]);
    let mesh = one_mesh(vtk::read(&five, &mut Vec::new()).unwrap());
    assert_eq!((mesh.triangles[0], mesh.positions[2].z), ([0, 1, 2], 0.5));
    let Some(Values::Vec4(colors)) = mesh.attributes.get(COLOR) else { panic!("no colours") };
    assert_eq!(colors[1], Vec4::new(0.0, 1.0, 0.0, 1.0));
}

#[test]
fn obj_reads_what_exporters_write() {
    let text = "# a comment\r\nmtllib x.mtl\r\n  v\t0 0 0\r\nv 1 0 0 1.0\r\nv 1 1 0 # here\r\n\
                v 0 1 0\r\nv .5 .5 1e0\r\nvt 0 0\r\nvt 1 1 0\r\nvn 0 0 1\r\nusemtl red\r\n\
                f 1/1/1 2/2/1 \\\r\n 3/1/1 4/2/1\r\ng top\r\nf -1 -5 -4\r\nl 1 2 3\r\np 1\r\n";
    let mut warnings = Vec::new();
    let mesh = one_mesh(obj::read(text.as_bytes(), &mut warnings).unwrap());
    assert_eq!(mesh.triangles, [[0, 1, 2], [0, 2, 3], [4, 0, 1]]);
    assert_eq!(mesh.positions[4], Vec3::new(0.5, 0.5, 1.0));
    let names: Vec<&str> = mesh.groups.iter().map(|g| g.name.as_str()).collect();
    assert_eq!(names, ["red", "top/red"]);
    assert_eq!(mesh.corners.len(), 2, "texture coordinates and normals of corners");
    let said: Vec<String> = warnings.iter().map(ToString::to_string).collect();
    assert!(said.iter().any(|w| w.starts_with("line 16: 2 lines, points")), "{said:?}");
}

#[test]
fn obj_values_that_follow_the_vertices_are_vertex_attributes() {
    let text = "v 0 0 0\nv 1 0 0\nv 0 1 0\nvt 0 0\nvt 1 0\nvt 0 1\nvn 0 0 1\n\
                f 1/1/1 2/2/1 3/3/1\n";
    let mesh = one_mesh(obj::read(text.as_bytes(), &mut Vec::new()).unwrap());
    assert_eq!(mesh.attributes.get(UV).map(Values::len), Some(3));
    assert_eq!(mesh.corners.len(), 1, "one normal for all three corners");
}

/// The values of a vertex or corner attribute, one a corner.
fn at_corners(mesh: &TriMesh, name: &str) -> Vec<f32> {
    let corner = mesh.corners.iter().find(|c| c.name == name);
    let (values, triangles) = match corner {
        Some(corner) => (&corner.values, &corner.triangles),
        None => (mesh.attributes.get(name).expect("an attribute"), &mesh.triangles),
    };
    values.gather(triangles.as_flattened()).as_floats().to_vec()
}

/// Texture coordinates stay with the picture: only a way between formats that count v from other
/// ends turns the numbers round.
#[test]
fn texture_coordinates_stay_with_the_picture() {
    let folder = tempfile::tempdir().unwrap();
    let mut mesh = with_seam(tetrahedron());
    mesh.attributes
        .set("uv1", Values::Vec2(vec![Vec2::new(0.3, 0.1), Vec2::X, Vec2::Y, Vec2::ONE]));
    mesh.attributes.set("uvula", Values::Vec2(vec![Vec2::new(0.3, 0.1); 4]));
    let through = |asset: &Asset, name: &str| {
        let path = folder.path().join(name);
        supple::io::write(&path, asset).unwrap();
        supple::io::read(&path, &supple::io::ReadOptions::default()).unwrap().asset
    };
    let flipped = |uvs: &[f32]| -> Vec<f32> {
        uvs.chunks_exact(2).flat_map(|uv| [uv[0], 1.0 - uv[1]]).collect()
    };
    for (origin, same, other) in
        [(UvOrigin::Top, "a.glb", "a.ply"), (UvOrigin::Bottom, "a.ply", "a.gltf")]
    {
        let asset = Asset { uv_origin: origin, ..Asset::from_mesh(mesh.clone()) };
        let kept = through(&asset, same);
        let turned = through(&asset, other);
        let back = through(&turned, same);
        assert_eq!((kept.uv_origin, back.uv_origin), (origin, origin), "{same}");
        assert_ne!(turned.uv_origin, origin, "{other}");
        for name in [UV, "uv1"] {
            let exact = at_corners(&mesh, name);
            assert_eq!(at_corners(&kept.meshes[0], name), exact, "{name} in {same}");
            assert_eq!(at_corners(&turned.meshes[0], name), flipped(&exact), "{name} in {other}");
            let returned = at_corners(&back.meshes[0], name);
            assert_eq!(returned, flipped(&flipped(&exact)), "{name} in {same} by {other}");
        }
        let painted = at_corners(&turned.meshes[0], "uvula");
        assert_eq!(painted, at_corners(&mesh, "uvula"), "a painted field is left alone");
    }
}

#[test]
fn each_format_keeps_the_bits_of_its_texture_coordinates() {
    let folder = tempfile::tempdir().unwrap();
    let mut mesh = tetrahedron();
    let uvs: Vec<Vec2> = (0..4).map(|i| Vec2::new(0.1, 1e-9 + 0.3 * i as f32)).collect();
    mesh.attributes.set(UV, Values::Vec2(uvs));
    mesh.attributes.remove(COLOR);
    for name in ["a.glb", "a.gltf", "a.obj", "a.ply", "a.off"] {
        let path = folder.path().join(name);
        let uv_origin = Format::of(&path).unwrap().0.uv_origin();
        supple::io::write(&path, &Asset { uv_origin, ..Asset::from_mesh(mesh.clone()) }).unwrap();
        let copy = supple::io::read(&path, &supple::io::ReadOptions::default()).unwrap().asset;
        assert_eq!(copy.uv_origin, uv_origin, "{name}");
        assert_eq!(at_corners(&copy.meshes[0], UV), at_corners(&mesh, UV), "{name}");
        let body = supple::rig::Body::from_asset(&copy).unwrap();
        let top = copy.with_uv_origin(UvOrigin::Top).into_owned();
        assert_eq!(at_corners(&body.mesh, UV), at_corners(&top.meshes[0], UV), "{name}");
    }
}

#[test]
fn formats_are_known_by_ending_and_by_content() {
    let of = |name: &str| Format::of(std::path::Path::new(name));
    assert_eq!(of("a/b.OBJ"), Some((Format::Obj, false)));
    assert_eq!(of("b.x.ply.gz"), Some((Format::Ply, true)));
    assert_eq!(of("b.gz"), None);
    assert_eq!(of("ply"), None);
    assert_eq!(Format::sniff(b"ply\nformat"), Some(Format::Ply));
    assert_eq!(Format::sniff(b"# made by\nv 1 2 3\n"), Some(Format::Obj));
    assert_eq!(Format::sniff(b"hello"), None);
}

#[test]
fn writing_says_what_is_lost_and_replaces_whole_files() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("a.stl.gz");
    let warnings = supple::io::write(&path, &Asset::from_mesh(with_seam(tetrahedron()))).unwrap();
    let said: Vec<String> = warnings.iter().map(ToString::to_string).collect();
    assert!(said.iter().any(|w| w.contains("'uv'")), "{said:?}");
    assert!(gzip::is_gzip(&std::fs::read(&path).unwrap()), "compressed as its name says");
    let loaded = supple::io::read(&path, &supple::io::ReadOptions::default()).unwrap();
    assert_eq!(one_mesh(loaded.asset).triangles.len(), 4);
    assert_eq!(std::fs::read_dir(folder.path()).unwrap().count(), 1, "no temporary file is left");
    for name in ["a.vtk", "a.xyz", "noending"] {
        let refused = supple::io::write(&folder.path().join(name), &Asset::default());
        assert!(refused.is_err(), "{name}");
    }
}
