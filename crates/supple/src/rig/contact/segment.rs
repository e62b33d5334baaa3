//! The segments of a body: what moves with one joint, and a few points that stand for it.

use glam::{Mat4, Vec3};

use crate::mesh::measure::Bounds;
use crate::rig::Body;

/// Points that stand for a segment while contacts are simulated.
const PROXIES: usize = 96;

/// Vertices that follow a joint by less than this are not looked at when contacts are found.
const FOLLOWS: f32 = 0.25;

/// What moves with one joint (or with several that move as one).
#[derive(Clone, Debug, PartialEq)]
pub struct Segment {
    /// Its joint.
    pub joint: usize,
    /// Its vertices, with how much each follows.
    pub vertices: Vec<(u32, f32)>,
    /// How many of those, which come first, follow enough to be looked at for contacts.
    pub followers: usize,
    /// Some of its vertices, where they are bound, spread evenly.
    pub proxies: Vec<Vec3>,
    /// Largest distance of its vertices from their mean, where they are bound, times the scale of the
    /// rest pose.
    pub radius: f32,
}

/// The segments of a body, one for each joint that has vertices of its own.
#[must_use]
pub fn segments(body: &Body, rest: &[Mat4]) -> Vec<Segment> {
    let Some(weights) = &body.mesh.skin_weights else { return Vec::new() };
    let mut vertices = vec![Vec::new(); body.joints.len()];
    for i in 0..body.mesh.positions.len() {
        for (joint, weight) in weights.of(i).filter(|(_, w)| *w > 0.0) {
            vertices[usize::from(joint)].push((i as u32, weight));
        }
    }
    let segment = |(joint, mut vertices): (usize, Vec<(u32, f32)>)| {
        vertices.sort_by_key(|&(i, w)| (w < FOLLOWS, i));
        let followers = vertices.iter().filter(|v| v.1 >= FOLLOWS).count();
        let own = |least: f32| -> Vec<Vec3> {
            let enough = vertices.iter().filter(|v| v.1 >= least);
            enough.map(|v| body.mesh.positions[v.0 as usize]).collect()
        };
        let points = own(0.5);
        if points.len() < 4 {
            return None;
        }
        let scale = rest.get(joint).map_or(1.0, |m| m.determinant().abs().cbrt());
        let mean = points.iter().sum::<Vec3>() / points.len() as f32;
        let radius = scale * points.iter().map(|x| x.distance(mean)).fold(0.0, f32::max);
        let proxies = spread(&points, PROXIES);
        (radius > 0.0).then_some(Segment { joint, vertices, followers, proxies, radius })
    };
    vertices.into_iter().enumerate().filter_map(segment).collect()
}

/// `count` of the points, each as far from those before it as can be.
fn spread(points: &[Vec3], count: usize) -> Vec<Vec3> {
    let mut chosen = vec![points[0]];
    let mut distance: Vec<f32> = points.iter().map(|x| x.distance_squared(points[0])).collect();
    while chosen.len() < count.min(points.len()) {
        let farthest =
            (0..points.len()).fold(0, |a, b| if distance[b] > distance[a] { b } else { a });
        if distance[farthest] == 0.0 {
            break;
        }
        let x = points[farthest];
        chosen.push(x);
        for (d, y) in distance.iter_mut().zip(points) {
            *d = d.min(x.distance_squared(*y));
        }
    }
    chosen
}

impl Segment {
    /// The proxies in the world, for the joint's matrix.
    #[must_use]
    pub fn posed(&self, joint: &Mat4) -> Vec<Vec3> {
        self.proxies.iter().map(|x| joint.transform_point3(*x)).collect()
    }

    /// The box around those of its vertices that are looked at.
    #[must_use]
    pub fn bounds(&self, positions: &[Vec3]) -> Bounds {
        let followers = &self.vertices[..self.followers];
        followers
            .iter()
            .map(|v| positions[v.0 as usize])
            .fold(Bounds::EMPTY, |b, x| Bounds { min: b.min.min(x), max: b.max.max(x) })
    }
}
