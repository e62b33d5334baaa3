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
    /// Its vertices and those of the segments it blends with, with how much each follows: a dent reaches
    /// over the joint, so that nothing is lost where segments blend.
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
    let mut neighbours = vec![vec![false; body.joints.len()]; body.joints.len()];
    for i in 0..body.mesh.positions.len() {
        let row: Vec<usize> =
            weights.of(i).filter(|(_, w)| *w > 0.0).map(|(j, _)| usize::from(j)).collect();
        for &a in &row {
            row.iter().for_each(|&b| neighbours[a][b] = true);
        }
    }
    let segment = |joint: usize| {
        let near = &neighbours[joint];
        let mut vertices = Vec::new();
        let mut own = Vec::new();
        for i in 0..body.mesh.positions.len() {
            let total: f32 = weights.of(i).map(|(_, w)| w).sum();
            let of =
                |j: usize| weights.of(i).find(|(k, _)| usize::from(*k) == j).map_or(0.0, |w| w.1);
            let followed: f32 =
                weights.of(i).filter(|(j, _)| near[usize::from(*j)]).map(|(_, w)| w).sum();
            if followed > 0.0 {
                vertices.push((of(joint) < FOLLOWS, i as u32, followed / total));
            }
            if of(joint) >= 0.5 {
                own.push(body.mesh.positions[i]);
            }
        }
        if own.len() < 4 {
            return None;
        }
        vertices.sort_by_key(|v| (v.0, v.1));
        let followers = vertices.iter().filter(|v| !v.0).count();
        let vertices = vertices.into_iter().map(|(_, i, w)| (i, w)).collect();
        let scale = rest.get(joint).map_or(1.0, |m| m.determinant().abs().cbrt());
        let mean = own.iter().sum::<Vec3>() / own.len() as f32;
        let radius = scale * own.iter().map(|x| x.distance(mean)).fold(0.0, f32::max);
        let proxies = spread(&own, PROXIES);
        (radius > 0.0).then_some(Segment { joint, vertices, followers, proxies, radius })
    };
    (0..body.joints.len()).filter_map(segment).collect()
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
