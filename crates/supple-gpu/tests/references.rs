//! Pictures against stored ones, with a tolerance.
//!
//! The stored pictures are in `tests/reference`. After a change that is meant to be seen, make them anew
//! and look at each:
//!
//! ```sh
//! SUPPLE_BLESS=1 cargo test --workspace --test references
//! ```
//!
//! Another adapter rounds differently and may have one sample a pixel in place of four; that must pass.
//! A fault of the renderer must not: every reference comes with pictures of such faults, which have to
//! be told from it.

mod studio;

use std::path::{Path, PathBuf};

use glam::Vec3;
use supple::TriMesh;
use supple::mesh::attribute::Attributes;
use supple_gpu::Image;
use supple_gpu::colormap::Colormap;
use supple_gpu::encode::png;
use supple_gpu::splat;
use supple_gpu::texture::Texture;
use supple_gpu::view::{Backdrop, Body, Contour, Paint, Scalars, View, Wireframe};

use studio::{sphere, square, take};

const SIZE: [u32; 2] = [96, 72];

/// Largest mean difference of the values of a pixel, of 255, and largest share of pixels that are clearly
/// off. Between Mesa's Vulkan with four samples a pixel and its OpenGL with one the pictures below differ
/// by up to 1.8 and 0.6 %; the faults begin at 3.8 and 7 %.
const MEAN: f32 = 2.5;
const SHARE: f32 = 0.015;

/// Values that differ by more are clearly off.
const CLEARLY: f32 = 20.0;

/// How far two pictures are apart: the mean difference of their values and the share of pixels that are
/// clearly off. Both are softened first: where exactly an edge falls between pixels does not matter.
fn apart(a: &Image, b: &Image) -> (f32, f32) {
    assert_eq!((a.width, a.height), (b.width, b.height), "pictures of one size");
    let (a, b) = (softened(a), softened(b));
    let off: Vec<f32> = a
        .iter()
        .zip(&b)
        .map(|(p, q)| (0..3).map(|c| (p[c] - q[c]).abs()).fold(0.0, f32::max))
        .collect();
    let count = off.len() as f32;
    let clearly = off.iter().filter(|&&d| d > CLEARLY).count() as f32;
    (off.iter().sum::<f32>() / count, clearly / count)
}

/// The mean of every pixel and those around it.
fn softened(image: &Image) -> Vec<[f32; 3]> {
    let (w, h) = (image.width as i32, image.height as i32);
    let at = |x: i32, y: i32| image.pixel(x.clamp(0, w - 1) as u32, y.clamp(0, h - 1) as u32);
    let mean = |x: i32, y: i32| {
        let around = (0..9).map(|k| at(x + k % 3 - 1, y + k / 3 - 1));
        let sum = around.fold([0.0; 3], |s: [f32; 3], p| [0, 1, 2].map(|c| s[c] + f32::from(p[c])));
        sum.map(|v| v / 9.0)
    };
    (0..h).flat_map(|y| (0..w).map(move |x| (x, y))).map(|(x, y)| mean(x, y)).collect()
}

fn is_close(a: &Image, b: &Image) -> bool {
    let (mean, share) = apart(a, b);
    mean <= MEAN && share <= SHARE
}

fn reference_path(name: &str) -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/reference").join(format!("{name}.png"))
}

/// Compares a picture with the stored one of that name, and that with pictures of faults.
fn compare(name: &str, view: &View<'_>, faults: &[(&str, View<'_>)]) {
    let found = take(view);
    let path = reference_path(name);
    if std::env::var_os("SUPPLE_BLESS").is_some() {
        let bytes = png::encode_small(&found).expect("a picture is no error");
        std::fs::write(&path, bytes).expect("the reference can be written");
    }
    let bytes = std::fs::read(&path).unwrap_or_else(|e| {
        panic!("{}: {e}; make it with SUPPLE_BLESS=1", path.display());
    });
    let stored = Texture::decode(&bytes).expect("the reference is a picture").levels()[0].clone();
    if !is_close(&found, &stored) {
        let shown = Path::new(env!("CARGO_TARGET_TMPDIR")).join(format!("{name}.png"));
        png::write(&found, &shown).expect("the picture can be written");
        let (mean, share) = apart(&found, &stored);
        panic!("{name} is off by {mean}, {share} of it clearly; see {}", shown.display());
    }
    for (fault, view) in faults {
        let (mean, share) = apart(&take(view), &stored);

        assert!(mean > MEAN || share > SHARE, "{name} with {fault} passes: {mean}, {share}");
    }
}

/// A ball on the floor beside a block that shades it.
fn ball_and_block() -> [TriMesh; 2] {
    let mut block = sphere(Vec3::ZERO, 1.0, 4);
    for p in &mut block.positions {
        *p = (1.6 * *p).clamp(Vec3::splat(-0.6), Vec3::splat(0.6)) - Vec3::new(1.7, 0.4, -0.2);
    }
    [sphere(Vec3::ZERO, 1.0, 24), block]
}

#[test]
fn shaded_bodies_with_their_shadows() {
    let meshes = ball_and_block();
    let bodies: Vec<_> = meshes.iter().map(Body::new).collect();
    let view = View::of(bodies.clone(), SIZE);
    let no_shadow = View { backdrop: Backdrop::Plain, ..view.clone() };
    let sunk = View { floor: Some(-1.6), ..view.clone() };
    let with_normals = |turn: fn(Vec3) -> Vec3| -> Vec<Vec3> {
        meshes[0].positions.iter().map(|p| turn(*p).normalize_or_zero()).collect()
    };
    let (swapped, inward_below) = (
        with_normals(|n| Vec3::new(-n.x, -n.y, n.z)),
        with_normals(|n| if n.y < 0.0 { -n } else { n }),
    );
    let relit = |normals| View {
        bodies: vec![Body { normals: Some(normals), ..bodies[0].clone() }, bodies[1].clone()],
        ..view.clone()
    };
    let faults = [
        ("no shadow", no_shadow),
        ("a floor too low", sunk),
        ("normals turned about", relit(&swapped)),
        ("normals flipped on one side", relit(&inward_below)),
        ("a body missing", View { bodies: vec![bodies[0].clone()], ..view.clone() }),
    ];
    compare("shadow", &view, &faults);
}

#[test]
fn a_heat_map_with_its_legend() {
    let mesh = sphere(Vec3::ZERO, 1.0, 24);
    let values: Vec<f32> = mesh.positions.iter().map(|p| p.x + 0.5 * p.y).collect();
    let lines = vec![Contour { value: 0.0, color: [0.0; 3], width_px: 1.5 }];
    let field = Scalars { contours: lines, ..Scalars::new("height", &values) };
    let body = |field| Body { field: Some(field), ..Body::new(&mesh) };
    let camera = View::of(vec![body(field.clone())], SIZE).camera;
    let with = |field| View { bodies: vec![body(field)], ..View::through(camera, SIZE) };
    let faults = [
        ("other colours", with(Scalars { colormap: Some(Colormap::Heat), ..field.clone() })),
        ("another range", with(Scalars { range: Some([-2.0, 2.0]), ..field.clone() })),
        ("no legend", with(Scalars { legend: false, ..field.clone() })),
    ];
    compare("heat", &with(field), &faults);
}

/// Three sheets one behind the other, a ball that cuts them, their shadows on floor and wall.
#[test]
fn transparent_layers() {
    let sheets = [0.7, 0.0, -0.7].map(|z| square(Vec3::new(0.35 * z, 0.0, z)));
    let ball = sphere(Vec3::ZERO, 0.6, 24);
    let paints = [Paint::srgb(210, 50, 40), Paint::srgb(40, 150, 60), Paint::srgb(40, 70, 200)];
    let bodies = |order: [usize; 3], opacity: f32| {
        let sheet =
            |i: usize| Body { paint: paints[order[i]].clone(), opacity, ..Body::new(&sheets[i]) };
        vec![sheet(0), Body::new(&ball), sheet(1), sheet(2)]
    };
    let view = View { backdrop: Backdrop::Wall, ..View::of(bodies([0, 1, 2], 0.5), SIZE) };
    let with = |bodies| View { bodies, ..view.clone() };
    let faults = [
        ("the first layer behind the others", with(bodies([1, 2, 0], 0.5))),
        ("two layers in the wrong order", with(bodies([1, 0, 2], 0.5))),
        ("a layer missing", with(bodies([0, 1, 2], 0.5).into_iter().skip(1).collect())),
        ("layers too thin", with(bodies([0, 1, 2], 0.4))),
        ("no shadow", View { backdrop: Backdrop::Plain, ..view.clone() }),
    ];
    compare("layers", &view, &faults);
}

#[test]
fn a_wireframe() {
    let mesh = sphere(Vec3::ZERO, 1.0, 7);
    let body = |wireframe| Body { wireframe, ..Body::new(&mesh) };
    let wire = Wireframe { width_px: 1.5, ..Wireframe::default() };
    let view = View::of(vec![body(Some(wire))], SIZE);
    let with = |body| View { bodies: vec![body], ..view.clone() };
    let thick = Wireframe { width_px: 3.0, ..wire };
    let faults = [("no lines", with(body(None))), ("lines too thick", with(body(Some(thick))))];
    compare("wireframe", &view, &faults);
}

#[test]
fn a_cloud_of_points() {
    let points: Vec<Vec3> = sphere(Vec3::ZERO, 1.0, 6).positions;
    let camera = View::of(vec![Body::new(&TriMesh::new(points.clone(), vec![]))], SIZE).camera;
    let cloud = |radius: f32| splat::splats(&points, &Attributes::default(), radius, &camera);
    let (right, small) = (cloud(0.2), cloud(0.16));
    let front = right.triangles.len() / 2;
    let half = TriMesh::new(right.positions.clone(), right.triangles[front..].to_vec());
    let with = |mesh| View { bodies: vec![Body::new(mesh)], ..View::through(camera, SIZE) };
    let faults = [("points too small", with(&small)), ("half of the points", with(&half))];
    compare("points", &with(&right), &faults);
}
