//! The bar with morph targets: the test piece of blends (Ma et al. 2012, figure 1).
//!
//! Its left end is the same in all shapes: what holds where shapes agree holds there.

use glam::{DVec3, Vec3};

use super::simple;
use crate::Asset;
use crate::mesh::{MorphTarget, TriMesh};
use crate::rig::{Channel, Clip, Interpolation, Track};

/// Where the bar begins, and how long it is.
const START: f64 = -3.0;
const LENGTH: f64 = 6.0;

/// How far it is bent and twisted, in degrees.
const CURL: f64 = 150.0;
const WRING: f64 = 180.0;

pub(super) fn build(triangles: usize) -> Option<(TriMesh, Asset)> {
    let mut mesh = simple::build("bar", triangles)?;
    mesh.morphs = vec![target("curl", &mesh, curled), target("wring", &mesh, wrung)];
    // The node comes after those of a rig, of which there are none.
    let channel = |name: &str, times: Vec<f32>, weights: Vec<f32>| Clip {
        name: name.to_owned(),
        channels: vec![Channel {
            node: 0,
            times,
            track: Track::Weights(weights),
            interpolation: Interpolation::Linear,
        }],
    };
    let clips = vec![
        channel("curl", vec![0.0, 1.5, 2.0], vec![0.0, 0.0, 1.0, 0.0, 1.0, 0.0]),
        channel("wring", vec![0.0, 1.5, 2.0], vec![0.0, 0.0, 0.0, 1.0, 0.0, 1.0]),
    ];
    Some((mesh, Asset { clips, ..Asset::default() }))
}

fn target(name: &str, mesh: &TriMesh, shape: fn(DVec3) -> DVec3) -> MorphTarget {
    let way = |p: &Vec3| (shape(p.as_dvec3()) - p.as_dvec3()).as_vec3();
    let positions = mesh.positions.iter().map(way).collect();
    MorphTarget { name: name.to_owned(), positions, normals: None, weight: 0.0 }
}

/// An arc of a circle, its middle line as long as before.
fn curled(p: DVec3) -> DVec3 {
    let radius = LENGTH / CURL.to_radians();
    let angle = (p.x - START) / radius;
    let (sin, cos) = (libm::sin(angle), libm::cos(angle));
    DVec3::new(START + (radius - p.y) * sin, radius - (radius - p.y) * cos, p.z)
}

/// Turned about its length, the farther the more.
fn wrung(p: DVec3) -> DVec3 {
    let angle = WRING.to_radians() * (p.x - START) / LENGTH;
    let (sin, cos) = (libm::sin(angle), libm::cos(angle));
    DVec3::new(p.x, cos * p.y - sin * p.z, sin * p.y + cos * p.z)
}
