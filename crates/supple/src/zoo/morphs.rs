//! Models with morph targets for blends: a face that opens its jaw and smiles, and creatures bent along their length
//! (Ma et al. 2012, figures 5 and 6).

use glam::{DQuat, DVec3, Vec3};

use crate::Asset;
use crate::mesh::{MorphTarget, TriMesh, Values};
use crate::rig::{Channel, Clip, Interpolation, Track};

/// The models, what each is made from, and how many triangles it has unless told otherwise.
pub(super) const MODELS: [(&str, &str, usize); 6] = [
    (STIFF_BAR, "morph-bar", 3328),
    ("morph-face", "head", 12_000),
    ("morph-boxer", "boxer", 15_596),
    ("morph-camel", "camel", 19_536),
    ("morph-cow", "cow", 5804),
    ("morph-hand", "hand", 9000),
];

/// The bar with its right half painted `stiff`, for springs that are a hundred times as stiff there; one elsewhere.
const STIFF_BAR: &str = "morph-stiff-bar";
const STIFF: f32 = 100.0;

/// How far creatures are bent and twisted along their longest side, in degrees.
const BEND: f64 = 110.0;
const TWIST: f64 = 60.0;

/// How far the jaw opens, in degrees, and where it turns about.
const JAW: f64 = 20.0;
const HINGE: DVec3 = DVec3::new(0.0, 0.175, 0.0);

/// Where the corners of the mouth are, how far about them a smile reaches, and where it moves them, on the left side.
const CORNER: DVec3 = DVec3::new(0.026, 0.14, 0.09);
const REACH: f64 = 0.018;
const SMILE: DVec3 = DVec3::new(0.008, 0.008, -0.004);

/// A creature without its bones, with its targets and a clip; of the bar its own.
pub(super) fn build(name: &str, mut mesh: TriMesh, clips: Vec<Clip>) -> (TriMesh, Asset) {
    mesh.skin_weights = None;
    if name == STIFF_BAR {
        let stiff = mesh.positions.iter().map(|p| if p.x > 0.0 { STIFF } else { 1.0 }).collect();
        mesh.attributes.set("stiff", Values::Scalar(stiff));
        return (mesh, Asset { clips, ..Asset::default() });
    }
    if name == "morph-face" {
        mesh = front(&mesh);
        mesh.morphs = vec![target("jawOpen", &mesh, &opened), target("smile", &mesh, &smiling)];
        let weights = vec![0.0, 0.0, 1.0, 0.0, 1.0, 1.0, 0.0, 1.0, 0.0, 0.0];
        return (mesh, clip("speak", vec![0.0, 0.5, 1.0, 1.5, 2.0], weights));
    }
    let ends = mesh
        .positions
        .iter()
        .map(|p| p.as_dvec3())
        .fold((DVec3::MAX, DVec3::MIN), |(a, b), x| (a.min(x), b.max(x)));
    mesh.morphs = vec![target("bend", &mesh, &|p| bent(p, ends))];
    (mesh, clip("bend", vec![0.0, 1.5, 2.0], vec![0.0, 1.0, 1.0]))
}

/// A clip of the weights of the only node.
fn clip(name: &str, times: Vec<f32>, weights: Vec<f32>) -> Asset {
    let (track, interpolation) = (Track::Weights(weights), Interpolation::Linear);
    let channels = vec![Channel { node: 0, times, track, interpolation }];
    Asset { clips: vec![Clip { name: name.to_owned(), channels }], ..Asset::default() }
}

fn target(name: &str, mesh: &TriMesh, shape: &dyn Fn(DVec3) -> DVec3) -> MorphTarget {
    let way = |p: &Vec3| (shape(p.as_dvec3()) - p.as_dvec3()).as_vec3();
    let positions = mesh.positions.iter().map(way).collect();
    MorphTarget { name: name.to_owned(), positions, normals: None, weight: 0.0 }
}

/// The front of the head: what is before the ears and above the neck.
fn front(head: &TriMesh) -> TriMesh {
    let is_front = |v: &u32| {
        let p = head.positions[*v as usize];
        p.z > -0.01 && p.y > 0.09
    };
    let mut names = vec![u32::MAX; head.positions.len()];
    let mut kept = Vec::new();
    let mut name = |v: u32| {
        let known = &mut names[v as usize];
        if *known == u32::MAX {
            *known = kept.len() as u32;
            kept.push(v as usize);
        }
        *known
    };
    let triangles = head.triangles.iter().filter(|t| t.iter().all(is_front));
    let triangles = triangles.map(|t| t.map(&mut name)).collect();
    let mut face = TriMesh::new(kept.iter().map(|&v| head.positions[v]).collect(), triangles);
    for attribute in &head.attributes {
        let values = match &attribute.values {
            Values::Vec3(all) => Values::Vec3(kept.iter().map(|&v| all[v]).collect()),
            Values::Vec4(all) => Values::Vec4(kept.iter().map(|&v| all[v]).collect()),
            _ => continue,
        };
        face.attributes.set(&attribute.name, values);
    }
    face
}

/// From 0 to 1, slowly at both ends.
fn ease(x: f64) -> f64 {
    let x = x.clamp(0.0, 1.0);
    x * x * (3.0 - 2.0 * x)
}

fn opened(p: DVec3) -> DVec3 {
    let angle = JAW.to_radians() * ease((0.150 - p.y) / 0.02) * ease(p.z / 0.05);
    let d = p - HINGE;
    let (sin, cos) = (libm::sin(angle), libm::cos(angle));
    HINGE + DVec3::new(d.x, cos * d.y - sin * d.z, sin * d.y + cos * d.z)
}

fn smiling(p: DVec3) -> DVec3 {
    let mut x = p;
    for side in [DVec3::new(-1.0, 1.0, 1.0), DVec3::ONE] {
        let away = (p - side * CORNER).length_squared() / (REACH * REACH);
        x += libm::exp(-away) * side * SMILE;
    }
    x
}

/// Twisted and bent along the longest side of a box, about its middle.
fn bent(p: DVec3, (low, high): (DVec3, DVec3)) -> DVec3 {
    let (size, middle) = (high - low, 0.5 * (low + high));
    let along = (0..3).fold(0, |best, k| if size[k] > size[best] { k } else { best });
    let up = (along + 1) % 3;
    let radius = size[along] / BEND.to_radians();
    let mut axis = DVec3::ZERO;
    axis[along] = 1.0;
    let half = 0.5 * TWIST.to_radians() * (p - middle)[along] / size[along];
    let turn = DQuat::from_vec4((libm::sin(half) * axis).extend(libm::cos(half)));
    let d = turn * (p - middle);
    let angle = d[along] / radius;
    let mut x = d;
    x[along] = (radius - d[up]) * libm::sin(angle);
    x[up] = radius - (radius - d[up]) * libm::cos(angle);
    x + middle
}
