//! Real models load with the counts other programs find in them, and survive a round trip.

mod data;

use std::path::{Path, PathBuf};

use data::test_data;
use supple::TriMesh;
use supple::io::{self, ReadOptions};

/// File, vertices, triangles; the counts are those of libigl and trimesh, n-gons cut.
const MODELS: [(&str, usize, usize); 31] = [
    ("meshes/spot.obj", 2930, 5856),
    ("meshes/stanford-bunny.obj", 35947, 69451),
    ("meshes/bunny_closed_3k.obj", 3301, 6598),
    ("meshes/armadillo_43k.obj", 43243, 86482),
    ("meshes/cow.obj", 2903, 5804),
    ("meshes/homer.obj", 6002, 12000),
    ("meshes/teapot.obj", 3644, 6320),
    ("meshes/suzanne.obj", 507, 968),
    ("meshes/camel.off", 9770, 19536),
    ("meshes/max-planck_decimated.obj", 5272, 10540),
    ("meshes/lion.off", 8356, 16674),
    ("meshes/fertility.off", 4494, 9000),
    ("meshes/cheburashka.off", 6669, 13334),
    ("meshes/hand_closed.obj", 7993, 15982),
    ("meshes/cat-low-resolution.obj", 7949, 15894),
    ("meshes/penguin.obj", 3362, 6720),
    ("meshes/blub_fish.obj", 10786, 21568),
    ("meshes/koala_low_resolution.obj", 3560, 7116),
    ("meshes/goathead.obj", 2763, 5522),
    ("meshes/bowel_large_intestine_20k.vtk", 10000, 20000),
    ("meshes/dragon_vrip.ply.gz", 437_645, 871_414),
    ("meshes/Lucy100k.ply", 50002, 100_000),
    ("meshes/liver_surface_sofa.vtk", 5008, 10000),
    ("blendshapes/makehuman/base.obj", 19158, 36972),
    ("blendshapes/ict_face/generic_neutral_mesh.obj", 26719, 52220),
    ("blendshapes/ict_face/jawOpen.obj", 26719, 52220),
    ("blendshapes/smpl_man_woman/human_man.obj", 6890, 13776),
    ("blendshapes/smpl_man_woman/human_woman.obj", 6890, 13776),
    ("blendshapes/kick_sequence/000.obj", 12811, 25472),
    ("blendshapes/kick_sequence/040.obj", 12811, 25472),
    ("rigs_libigl/arm.obj", 8311, 16618),
];

fn load(path: &Path) -> TriMesh {
    let loaded = io::read(path, &ReadOptions::default()).expect("a sound file");
    let [mesh] = <[TriMesh; 1]>::try_from(loaded.asset.meshes).expect("one mesh");
    mesh
}

fn present() -> impl Iterator<Item = (PathBuf, usize, usize)> {
    MODELS.into_iter().filter_map(|(name, v, t)| Some((test_data(name)?, v, t)))
}

#[test]
fn models_have_the_counts_other_programs_find() {
    for (path, vertices, triangles) in present() {
        let mesh = load(&path);
        let found = (mesh.positions.len(), mesh.triangles.len());
        assert_eq!(found, (vertices, triangles), "{}", path.display());
        assert_eq!(mesh.validate(), Ok(()), "{}", path.display());
    }
}

#[test]
fn models_survive_a_round_trip_through_obj_and_ply() {
    let folder = tempfile::tempdir().unwrap();
    for (path, vertices, _) in present() {
        if vertices > 20_000 {
            continue;
        }
        let mesh = load(&path);
        for ending in ["obj", "obj.gz", "ply", "off"] {
            let copy_path = folder.path().join(format!("copy.{ending}"));
            // As these files count: a conversion would turn the texture coordinates round.
            let uv_origin = supple::asset::UvOrigin::Bottom;
            let asset = supple::Asset { uv_origin, ..supple::Asset::from_mesh(mesh.clone()) };
            io::write(&copy_path, &asset).unwrap();
            let copy = load(&copy_path);
            let name = path.display();
            assert_eq!(copy.positions, mesh.positions, "{name} as {ending}");
            assert_eq!(copy.triangles, mesh.triangles, "{name} as {ending}");
            if ending.starts_with("obj") {
                assert_eq!(copy, mesh, "{name} as {ending}");
            }
        }
    }
}
