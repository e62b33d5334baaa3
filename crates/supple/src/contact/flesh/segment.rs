//! The segments of a body: what moves with one joint, and a few points that stand for it.

use glam::{Mat4, Vec3};

use super::hierarchy::Hierarchy;
use crate::Run;
use crate::lengths::Lengths as _;
use crate::mesh::bvh::along_curve;
use crate::rig::Body;

/// Points that stand for a segment while contacts are simulated.
const PROXIES: usize = 96;

/// Vertices that follow a joint by less than this, and another by more, are not looked at when contacts
/// of the joint's segment are found.
const FOLLOWS: f32 = 0.25;

/// A body as what gives way: its segments, and its vertices in an order of their own.
#[derive(Clone, Debug, PartialEq)]
pub struct Segments {
    /// One for each joint that has vertices of its own.
    pub all: Vec<Segment>,
    /// All vertices; those near each other are close together.
    order: Vec<u32>,
    pub(super) hierarchy: Hierarchy,
}

/// What moves with one joint (or with several that move as one).
#[derive(Clone, Debug, PartialEq)]
pub struct Segment {
    /// Its joint.
    pub joint: usize,
    /// Its vertices, as places in the order of [`Segments`].
    pub(super) followers: Vec<u32>,
    /// Some of its vertices, where they are bound, spread evenly.
    pub proxies: Vec<Vec3>,
    /// Largest distance of its vertices from their mean, where they are bound, times the scale of the
    /// rest pose.
    pub radius: f32,
}

impl Segments {
    /// The segments of a body; `rest` is from bind to the rest pose, for each joint.
    #[must_use]
    pub fn new(body: &Body, rest: &[Mat4]) -> Self {
        let order = along_curve(&body.mesh.positions, &Run::default());
        let all = (0..body.joints.len()).filter_map(|j| segment(body, rest, &order, j)).collect();
        let hierarchy = Hierarchy::new(body, &order);
        Self { all, order, hierarchy }
    }

    /// True if two segments are too near in the skeleton to meet: the joint of one hangs on that of the
    /// other, directly or on what hangs on it.
    #[must_use]
    pub fn adjoin(&self, a: usize, b: usize) -> bool {
        self.hierarchy.adjoin(self.all[a].joint, self.all[b].joint)
    }

    /// The positions in the order of the segments.
    pub(super) fn gather(&self, positions: &[Vec3]) -> Vec<Vec3> {
        self.order.iter().map(|&i| positions[i as usize]).collect()
    }

    /// The positions back in the order of the body.
    pub(super) fn scatter(&self, points: &[Vec3], positions: &mut [Vec3]) {
        for (&i, x) in self.order.iter().zip(points) {
            positions[i as usize] = *x;
        }
    }
}

fn segment(body: &Body, rest: &[Mat4], order: &[u32], joint: usize) -> Option<Segment> {
    let weights = body.mesh.skin_weights.as_ref()?;
    let (mut followers, mut own) = (Vec::new(), Vec::new());
    for (place, &i) in (0..).zip(order) {
        let row = || weights.of(i as usize);
        let total: f32 = row().map(|(_, w)| w).sum();
        let most = row().map(|(_, w)| w).fold(0.0, f32::max);
        let Some((_, weight)) = row().find(|(j, w)| usize::from(*j) == joint && *w > 0.0) else {
            continue;
        };
        if weight >= FOLLOWS * total || weight >= most {
            followers.push(place);
        }
        if weight >= 0.5 * total {
            own.push(body.mesh.positions[i as usize]);
        }
    }
    if own.len() < 4 {
        return None;
    }
    let scale = rest.get(joint).map_or(1.0, |m| m.determinant().abs().cbrt());
    let mean = own.iter().sum::<Vec3>() / own.len() as f32;
    let radius = scale * own.iter().map(|x| x.distance_to(mean)).fold(0.0, f32::max);
    let proxies = spread(&own, PROXIES);
    (radius > 0.0).then_some(Segment { joint, followers, proxies, radius })
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
}
