//! Sound files, small, one of each thing a format knows.

use std::io::Write as _;

use flate2::Compression;
use flate2::write::GzEncoder;
use glam::{Mat4, Quat, Vec2, Vec3};

use crate::mesh::attribute::{NORMAL, UV};
use crate::mesh::{CornerAttribute, Group, MorphTarget, SkinWeights, TetMesh, TriMesh, Values};
use crate::rig::asset::{Image, Material};
use crate::rig::{Channel, Clip, Interpolation, Node, Skin, Track, Transform};
use crate::{Asset, io};

/// A tetrahedron with all that a mesh can carry.
fn mesh() -> TriMesh {
    let positions = vec![Vec3::ZERO, Vec3::X, Vec3::Y, Vec3::Z];
    let triangles = vec![[0, 2, 1], [0, 1, 3], [1, 2, 3], [0, 3, 2]];
    let mut mesh = TriMesh::new(positions, triangles);
    "tet".clone_into(&mut mesh.name);
    mesh.attributes.set("heat", Values::Scalar(vec![0.5, 6.0, -7.0, 8.0]));
    mesh.attributes.set(NORMAL, Values::Vec3(vec![Vec3::X; 4]));
    mesh.corners.push(CornerAttribute {
        name: UV.to_owned(),
        values: Values::Vec2(vec![Vec2::ZERO, Vec2::X, Vec2::Y]),
        triangles: vec![[0, 1, 2]; 4],
    });
    mesh.groups = vec![
        Group { name: "one".to_owned(), triangles: 0..1, material: Some(0) },
        Group { name: "rest".to_owned(), triangles: 1..4, material: None },
    ];
    mesh
}

fn written(write: impl FnOnce(&mut Vec<u8>) -> std::io::Result<()>) -> Vec<u8> {
    let mut bytes = Vec::new();
    // Memory takes all; a sample that is not sound fails its test.
    let _ = write(&mut bytes);
    bytes
}

pub(super) fn obj() -> Vec<Vec<u8>> {
    let by_hand = b"# a square\nmtllib a.mtl\no a\nv 0 0 0\nv 1 0 0\nv 1 1 0 0.5 0.5 0.5\nv 0 1 0\nvt 0 0\n\
        vt 1 1\nvn 0 0 1\ng one\nusemtl red\nf 1/1/1 2/2/1 3/1/1 4/2/1\nf -4//-1 -3//-1 -2//-1\nl 1 2 3\n";
    vec![written(|out| io::obj::write(&mesh(), out)), by_hand.to_vec()]
}

pub(super) fn ply() -> Vec<Vec<u8>> {
    let text = b"ply\nformat ascii 1.0\ncomment by hand\nelement vertex 4\nproperty float x\nproperty float y\n\
        property float z\nproperty uchar red\nproperty uchar green\nproperty uchar blue\nelement face 2\n\
        property list uchar int vertex_indices\nproperty list uchar float texcoord\nend_header\n0 0 0 1 2 3\n\
        1 0 0 4 5 6\n1 1 0 7 8 9\n0 1 0 0 0 0\n3 0 1 2 6 0 0 1 0 0 1\n4 0 1 2 3 8 0 0 1 0 0 1 1 1\n";
    let mut big = b"ply\nformat binary_big_endian 1.0\nelement vertex 3\nproperty double x\nproperty double y\n\
        property double z\nelement face 1\nproperty list uchar uint vertex_indices\nend_header\n"
        .to_vec();
    for x in [0.0_f64, 0.0, 0.0, 1.0, 0.0, 0.0, 0.0, 1.0, 0.0] {
        big.extend(x.to_be_bytes());
    }
    big.push(3);
    for i in [0_u32, 1, 2] {
        big.extend(i.to_be_bytes());
    }
    vec![written(|out| io::ply::write(&mesh(), out)), text.to_vec(), big]
}

pub(super) fn stl() -> Vec<Vec<u8>> {
    let text = b"solid a\nfacet normal 0 0 1\nouter loop\nvertex 0 0 0\nvertex 1 0 0\nvertex 0 1 0\nendloop\n\
        endfacet\nendsolid a\n";
    vec![written(|out| io::stl::write(&mesh(), out)), text.to_vec()]
}

pub(super) fn off() -> Vec<Vec<u8>> {
    let colored =
        b"COFF\n# by hand\n4 2 0\n0 0 0 255 0 0 255\n1 0 0 0 255 0 255\n1 1 0 0 0 255 255\n\
        0 1 0 9 9 9 255\n3 0 1 2\n4 0 1 2 3 0.5 0.5 0.5\n";
    vec![written(|out| io::off::write(&mesh(), out)), colored.to_vec()]
}

pub(super) fn vtk() -> Vec<Vec<u8>> {
    let text = b"# vtk DataFile Version 3.0\nt\nASCII\nDATASET POLYDATA\nPOINTS 4 float\n0 0 0 1 0 0 0 1 0 1 1 0\n\
        POLYGONS 2 8\n3 0 1 2\n3 1 3 2\nPOINT_DATA 4\nSCALARS heat float 1\nLOOKUP_TABLE default\n1 2 3 4\n\
        FIELD f 1\nflow 3 4 double\n1 2 3 4 5 6 7 8 9 10 11 12\n";
    let mut binary =
        b"# vtk DataFile Version 3.0\nt\nBINARY\nDATASET POLYDATA\nPOINTS 3 float\n".to_vec();
    for x in [0.0_f32, 0.0, 0.0, 1.0, 0.0, 0.0, 0.0, 1.0, 0.0] {
        binary.extend(x.to_be_bytes());
    }
    binary.extend(b"\nPOLYGONS 1 4\n");
    for i in [3_i32, 0, 1, 2] {
        binary.extend(i.to_be_bytes());
    }
    vec![text.to_vec(), binary]
}

/// A skinned, morphed, animated, painted, textured mesh, twice over.
fn character() -> Asset {
    let mut mesh = mesh();
    let mut weights = SkinWeights::default();
    (0..4).for_each(|i| weights.push([(0, 1.0 - 0.25 * i as f32), (1, 0.25 * i as f32)]));
    mesh.skin_weights = Some(weights);
    mesh.morphs = vec![MorphTarget {
        name: "fat".to_owned(),
        positions: vec![0.5 * Vec3::X; 4],
        normals: None,
        weight: 0.25,
    }];
    let channel = |node, track| Channel {
        node,
        times: vec![0.0, 1.0],
        track,
        interpolation: Interpolation::Linear,
    };
    let turns = [0.0, 1.0].map(Quat::from_rotation_x).to_vec();
    let channels = vec![
        channel(1, Track::Rotation(turns)),
        channel(0, Track::Translation(vec![Vec3::ZERO, Vec3::Y])),
        channel(2, Track::Weights(vec![0.0, 1.0])),
    ];
    Asset {
        meshes: vec![mesh, self::mesh()],
        nodes: vec![
            Node { name: "root".to_owned(), ..Node::default() },
            Node {
                parent: Some(0),
                local: Transform::from_translation(Vec3::Y),
                ..Node::default()
            },
            Node { mesh: Some(0), skin: Some(0), ..Node::default() },
            Node {
                mesh: Some(1),
                local: Transform::Matrix(Mat4::from_scale(Vec3::splat(2.0))),
                ..Node::default()
            },
        ],
        skins: vec![Skin {
            joints: vec![0, 1],
            inverse_bind: vec![Mat4::IDENTITY, Mat4::from_translation(-Vec3::Y)],
            ..Skin::default()
        }],
        clips: vec![Clip { name: "bend".to_owned(), channels }],
        materials: vec![Material { base_color_image: Some(0), ..Material::default() }],
        images: vec![Image {
            name: "dot".to_owned(),
            mime: "image/png".to_owned(),
            bytes: vec![0x89, b'P', b'N', b'G', 13, 10, 26, 10],
        }],
        ..Asset::default()
    }
}

pub(super) fn gltf() -> Vec<Vec<u8>> {
    let asset = character();
    let bare = TriMesh { groups: Vec::new(), ..mesh() };
    vec![
        written(|out| io::gltf::write_glb(&asset, out)),
        written(|out| io::gltf::write_gltf(&asset, out)),
        written(|out| io::gltf::write_glb(&Asset::from_mesh(bare), out)),
    ]
}

/// Scenes that come with the toolkit.
macro_rules! shipped {
    ($($name:literal),*) => {
        [$(include_bytes!(concat!("../../../../scenes/", $name, ".toml")).to_vec()),*]
    };
}

pub(super) fn scene() -> Vec<Vec<u8>> {
    let moving = br#"supple = 2
name = "stage"
[time]
end = "1 s"
fps = 24
[[asset]]
zoo = "rigged-bar"
triangles = 300
placement = { translate = [1, 0, "5 cm"], rotate = [0, 30, 0], scale = 2 }
motion = { kind = "keyframes", clip = "bend", skinning = "dual-quaternion", repeat = "ping-pong" }
contact = { others = true }
[[asset.world]]
kind = "place"
translate = ["shove", 0, 0]
[[asset.world]]
kind = "follow"
frequency = 3
damping = 0.2
[[asset.pose]]
kind = "skinning"
[[asset.world]]
kind = "secondary"
[[asset.world.set]]
anchor = [1, 0, 0]
radius = 1
[[asset]]
name = "thrown"
zoo = "ball"
[asset.motion]
kind = "path"
keys = [{ time = 0, position = [0, 0, 0] }, { time = 1, position = [0, 2, 1], rotation = [0, 90, 0] }]
[[collider]]
kind = "box"
size = [2, "10 cm", 1]
[track.shove]
interpolation = "step"
keys = [[0, 0], [0.26, 1]]
[camera]
eye = [0, 2, 10]
target = [0, 1, 0]
fov = "40 deg"
[output]
formats = ["glb", "ply"]
"#;
    let edited = br#"supple = 2
[time]
end = 1
[[asset]]
zoo = "ball"
[[asset.world]]
kind = "sculpt"
[[asset.world.op]]
kind = "move"
center = [0, 0.5, 0]
by = [[0, 0.5, 0]]
inner = 0.3
outer = 1
[[asset.world.op]]
kind = "stamp"
tool = { zoo = "torus" }
scale = 0.45
from = [0, 0, 1.2]
by = [[0, 0, -0.2]]
outer = 0.9
"#;
    let mut scenes = vec![moving.to_vec(), edited.to_vec()];
    scenes.extend(shipped![
        "blend-cylinder",
        "procdef-jellyfish",
        "procdef-worm",
        "ragdoll",
        "smoke-wake"
    ]);
    scenes
}

pub(super) fn path() -> Vec<Vec<u8>> {
    vec![
        b"time,x,y,z\n0,0,0,0\n1,0,2,0\n2.5,1,2,3\n".to_vec(),
        b"# turned\n0,0,0,0,0,0,0,1\n1,0,0,1,0,0.7071068,0,0.7071068\n".to_vec(),
    ]
}

/// Seeds of the fuzz targets that can be read.
macro_rules! seeds {
    ($($file:literal),*) => {
        vec![$(include_bytes!(concat!("../../../../fuzz/corpus/", $file)).to_vec()),*]
    };
}

pub(super) fn vtk_xml() -> Vec<Vec<u8>> {
    seeds![
        "vtk_xml/appended_lzma_32_big.vts",
        "vtk_xml/ascii_none_32_little.vtu",
        "vtk_xml/binary_lz4_32_little.vtr",
        "vtk_xml/polyhedra_faces.vtu",
        "vtk_xml/raw_none_64_little.vtu",
        "vtk_xml/raw_zlib_64_little.vti"
    ]
}

pub(super) fn vtkhdf() -> Vec<Vec<u8>> {
    seeds!["vtkhdf/image.vtkhdf", "vtkhdf/mesh.vtkhdf"]
}

pub(super) fn xdmf() -> Vec<Vec<u8>> {
    seeds!["xdmf/lattice.xmf", "xdmf/series.xdmf"]
}

pub(super) fn ensight() -> Vec<Vec<u8>> {
    seeds!["ensight/binary.geo", "ensight/fortran.geo", "ensight/text.geo"]
}

pub(super) fn vtk_flow() -> Vec<Vec<u8>> {
    seeds![
        "vtk_flow/points_ascii_42.vtk",
        "vtk_flow/structured_binary_42.vtk",
        "vtk_flow/unstructured_binary_51.vtk"
    ]
}

pub(super) fn netcdf() -> Vec<Vec<u8>> {
    seeds![
        "netcdf/cdf5.nc",
        "netcdf/classic.nc",
        "netcdf/four.nc",
        "netcdf/mitgcm.nc",
        "netcdf/roms.nc"
    ]
}

pub(super) fn amira() -> Vec<Vec<u8>> {
    seeds!["amira/text.am"]
}

pub(super) fn nrrd() -> Vec<Vec<u8>> {
    seeds!["nrrd/text.nrrd"]
}

pub(super) fn piv() -> Vec<Vec<u8>> {
    seeds!["piv/openpiv.txt"]
}

pub(super) fn openfoam() -> Vec<Vec<u8>> {
    seeds!["openfoam/binary", "openfoam/text"]
}

pub(super) fn raw() -> Vec<Vec<u8>> {
    seeds!["raw/plain.toml", "raw/vectors.toml"]
}

pub(super) fn gmsh() -> Vec<Vec<u8>> {
    seeds!["gmsh/binary22.msh", "gmsh/binary41.msh", "gmsh/text22.msh", "gmsh/version1.msh"]
}

pub(super) fn medit() -> Vec<Vec<u8>> {
    seeds!["medit/one.mesh"]
}

pub(super) fn tetgen() -> Vec<Vec<u8>> {
    seeds!["tetgen/one"]
}

pub(super) fn vtk_tets() -> Vec<Vec<u8>> {
    let positions = vec![Vec3::ZERO, Vec3::X, Vec3::Y, Vec3::Z, Vec3::ONE];
    let mut mesh = TetMesh::new(positions, vec![[0, 1, 2, 3], [1, 2, 3, 4]]);
    mesh.attributes.set("fiber", Values::Vec3(vec![Vec3::X; 5]));
    vec![
        written(|out| io::vtk_tets::write_xml(&mesh, out)),
        written(|out| io::vtk_tets::write_legacy(&mesh, out)),
    ]
}

pub(super) fn dolfin() -> Vec<Vec<u8>> {
    seeds!["dolfin/function.h5", "dolfin/mesh.h5"]
}

pub(super) fn makehuman() -> Vec<Vec<u8>> {
    vec![b"# smile\n2 0 .5 -1\n7 1e-3 0 0\n\n0 1 1 1\n".to_vec()]
}

pub(super) fn pc2() -> Vec<Vec<u8>> {
    let mut bytes = b"POINTCACHE2\0".to_vec();
    for word in [1_i32, 2] {
        bytes.extend(word.to_le_bytes());
    }
    for word in [0.0_f32, 1.0] {
        bytes.extend(word.to_le_bytes());
    }
    bytes.extend(3_i32.to_le_bytes());
    for word in 0_u8..18 {
        bytes.extend(f32::from(word).to_le_bytes());
    }
    vec![bytes]
}

pub(super) fn pvd() -> Vec<Vec<u8>> {
    let by_hand = b"<?xml version=\"1.0\"?>\n<VTKFile type=\"Collection\" version=\"0.1\">\n<Collection>\n\
        <DataSet timestep=\"0\" part=\"0\" file=\"a.vti\"/>\n<DataSet timestep=\"0.5\" part=\"1\" file=\"b.vti\"/>\n\
        </Collection>\n</VTKFile>\n";
    let files = [(0.0, "a.vtp".to_owned()), (0.25, "b.vtp".to_owned())];
    vec![written(|out| io::vtp::write_series(&files, out)), by_hand.to_vec()]
}

pub(super) fn gzip() -> Vec<Vec<u8>> {
    let packed = |bytes: &[u8]| {
        let mut packer = GzEncoder::new(Vec::new(), Compression::default());
        let whole = packer.write_all(bytes).and_then(|()| packer.finish());
        whole.unwrap_or_default()
    };
    vec![packed(b"v 0 0 0\nv 1 0 0\nv 0 1 0\nf 1 2 3\n"), packed(&[7; 4096])]
}
