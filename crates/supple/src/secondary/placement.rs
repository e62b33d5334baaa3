//! Sets placed by the rules of thumb, from the shape and its skeleton.
//!
//! # Method
//!
//! The source's rules: a set at the centre of every large homogeneous part, as large as the part; one at
//! the centre of gravity if there is only one; smaller ones in distant parts such as head, legs and ears; the
//! mass in proportion to the influence and one stiffness for all, so that large parts are slow and small
//! ones quick.
//!
//! With a skeleton the parts are the flesh of its joints: each that has a fair share of the surface gets a
//! set at its area's centre, of 1.7 times the root mean square distance to it. Without one the body gets
//! such a set, and smaller ones at its extremities: where the distance along the surface from the middle is
//! locally largest. The set lies inside the tip, not on it.
//!
//! If there is a clip, the springs are made as soft as it takes for the flesh to be seen but not to
//! flap: a mean stretch of a tenth of the radius where the clip is liveliest, between 1.5 and 6 Hz.
//!
//! # Limits
//!
//! What is bone and what is flesh cannot be seen from outside: a person should look, and edit.
//!
//! # References
//!
//! - W. von Funck, H. Theisel, H.-P. Seidel. Elastic Secondary Deformations by Vector Field
//!   Integration. Symposium on Geometry Processing, 2007; 3.5.
//!
//! # Example
//!
//! ```
//! use supple::{Run, zoo};
//! use supple::rig::Body;
//! use supple::secondary::place;
//!
//! let asset = zoo::build("boxer", &zoo::Size { triangles: Some(2000) }, &Run::default())?;
//! let params = place(&Body::from_asset(&asset)?, asset.clips.first(), &Run::default());
//! assert!(params.sets.iter().any(|s| s.bone.as_deref() == Some("chest")));
//! # Ok::<(), Box<dyn std::error::Error>>(())
//! ```

use glam::{DAffine3, DVec3, Vec3};

use super::{Flesh, Params, Preset, Set, Step};
use crate::Run;
use crate::mesh::adjacency::vertex_vertices;
use crate::mesh::geodesic::dijkstra::distances;
use crate::mesh::measure::Bounds;
use crate::rig::{Body, Clip, Skinning};

/// At most so many sets are placed.
const MOST_SETS: usize = 13;
/// A joint with a smaller share of the surface gets none.
const LEAST_SHARE: f64 = 0.015;
/// Radius of a set over the root mean square distance of its part.
const AROUND: f64 = 1.7;
/// Smallest and largest radius, over the diagonal of the body.
const RADII_REL_BBOX: [f64; 2] = [0.03, 0.4];
/// The same for extremities.
const TIP_RADII_REL_BBOX: [f64; 2] = [0.06, 0.14];
/// At most so many extremities of a body without a skeleton.
const MOST_TIPS: usize = 8;
/// Stretch over radius that can be seen but does not flap.
const LIVELY: f64 = 0.1;
/// Frequencies of the largest set to choose from, in hertz.
const HERTZ: [f64; 2] = [1.5, 6.0];
/// Height of a body whose gravity is that of the earth.
const HUMAN_HEIGHT: f64 = 1.8;

/// Sets for a body; `clip` is the motion they should suit.
#[must_use]
pub fn place(body: &Body, clip: Option<&Clip>, run: &Run<'_>) -> Params {
    let positions = body.pose(body.rest_pose(), Skinning::Linear, run);
    let areas = areas(&positions, &body.mesh.triangles);
    let parts = parts(body, &positions, &areas);
    let Some(bounds) = Bounds::of(&positions) else { return Params::default() };
    let size = f64::from(bounds.diagonal());
    let mut sets = match &parts[..] {
        [] => Vec::new(),
        [only] => whole(body, &positions, only, size),
        _ => parts.iter().take(MOST_SETS).map(|p| p.set(body, size)).collect(),
    };
    let largest = sets.iter().map(|s| s.radius).fold(0.0, f64::max);
    for set in &mut sets {
        set.mass = Some(rounded(set.radius / largest));
    }
    let height = f64::from(bounds.size().y.max(0.3 * bounds.diagonal()));
    let fall = rounded(9.81 * height / HUMAN_HEIGHT);
    let mut params = Params { sets, gravity: DVec3::new(0.0, -fall, 0.0), ..Params::default() };
    if let Some(clip) = clip {
        params.stiffness = Some(rounded(suited(body, clip, &params)));
    }
    params
}

/// The flesh of a joint.
struct Part {
    joint: usize,
    /// Its share of the surface.
    share: f64,
    center: DVec3,
    /// Root mean square distance to the centre.
    spread: f64,
}

impl Part {
    fn set(&self, body: &Body, size: f64) -> Set {
        let [least, most] = RADII_REL_BBOX.map(|r| r * size);
        let name = body.joint_name(self.joint);
        Set {
            anchor: self.center.to_array().map(|x| round_to(x, size)).into(),
            radius: rounded((AROUND * self.spread).clamp(least, most)),
            bone: Some(name.clone()),
            name,
            ..Set::default()
        }
    }
}

/// The flesh of every joint with a fair share of the surface, the largest first.
fn parts(body: &Body, positions: &[Vec3], areas: &[f64]) -> Vec<Part> {
    let Some(weights) = &body.mesh.skin_weights else { return Vec::new() };
    let mut sums = vec![(0.0, DVec3::ZERO, 0.0); body.joints.len()];
    for (v, x) in positions.iter().enumerate() {
        for (joint, w) in weights.of(v) {
            let (weight, x) = (f64::from(w.max(0.0)) * areas[v], x.as_dvec3());
            let sum = &mut sums[usize::from(joint)];
            *sum = (sum.0 + weight, sum.1 + weight * x, sum.2 + weight * x.length_squared());
        }
    }
    let all: f64 = sums.iter().map(|s| s.0).sum();
    let part = |(joint, &(weight, sum, square)): (usize, &(f64, DVec3, f64))| {
        let (share, center) = (weight / all, sum / weight);
        let spread = (square / weight - center.length_squared()).max(0.0).sqrt();
        Part { joint, share, center, spread }
    };
    let mut parts: Vec<Part> = sums.iter().enumerate().map(part).collect();
    parts.retain(|p| p.share >= LEAST_SHARE && p.center.is_finite() && p.spread > 0.0);
    parts.sort_by(|a, b| b.share.total_cmp(&a.share));
    parts
}

/// Sets of a body that moves as one: its middle and its extremities.
fn whole(body: &Body, positions: &[Vec3], part: &Part, size: f64) -> Vec<Set> {
    let middle = Set { name: "middle".to_owned(), ..part.set(body, size) };
    let mut sets = vec![middle];
    for (tip, way) in tips(positions, &body.mesh.triangles, part.center, size) {
        let [least, most] = TIP_RADII_REL_BBOX.map(|r| r * size);
        let radius = rounded((0.3 * way).clamp(least, most));
        let near = |x: &&Vec3| x.as_dvec3().distance(tip) < 0.7 * radius;
        let (count, sum) = positions
            .iter()
            .filter(near)
            .fold((0.0, DVec3::ZERO), |(n, sum), x| (n + 1.0, sum + x.as_dvec3()));
        let anchor: DVec3 = if count > 0.0 { sum / count } else { tip };
        sets.push(Set {
            name: format!("tip {}", sets.len()),
            anchor: anchor.to_array().map(|x| round_to(x, size)).into(),
            radius,
            bone: sets[0].bone.clone(),
            ..Set::default()
        });
    }
    sets
}

/// Where the distance along the surface from the middle is locally largest, with that distance.
fn tips(positions: &[Vec3], triangles: &[[u32; 3]], center: DVec3, size: f64) -> Vec<(DVec3, f64)> {
    let from_center = |x: &Vec3| x.as_dvec3().distance_squared(center);
    let nearest = (0..).zip(positions).min_by(|a, b| from_center(a.1).total_cmp(&from_center(b.1)));
    let Some((start, _)) = nearest else { return Vec::new() };
    let way = distances(positions, triangles, &[start]);
    let rings = vertex_vertices(positions.len(), triangles);
    let is_top = |v: &usize| {
        let around = rings.row(*v);
        way[*v].is_finite()
            && !around.is_empty()
            && around.iter().all(|&n| way[n as usize] <= way[*v])
    };
    let mut tops: Vec<usize> = (0..positions.len()).filter(is_top).collect();
    tops.sort_by(|&a, &b| way[b].total_cmp(&way[a]));
    let farthest = tops.first().map_or(0.0, |&t| way[t]);
    let mut tips: Vec<(DVec3, f64)> = Vec::new();
    for top in tops {
        let (x, far) = (positions[top].as_dvec3(), f64::from(way[top]));
        let is_alone = tips.iter().all(|t| t.0.distance(x) > 0.12 * size);
        // Beyond the middle part, and as far from it in space as along the surface, roughly.
        let stands_out = way[top] > 0.45 * farthest && x.distance(center) > 0.2 * size;
        if is_alone && stands_out && tips.len() < MOST_TIPS {
            tips.push((x, far));
        }
    }
    tips
}

/// A third of the area of the triangles around each vertex.
fn areas(positions: &[Vec3], triangles: &[[u32; 3]]) -> Vec<f64> {
    let mut areas = vec![0.0; positions.len()];
    for triangle in triangles {
        let [a, b, c] = triangle.map(|i| positions[i as usize].as_dvec3());
        let area = 0.5 * (b - a).cross(c - a).length();
        for i in triangle.iter().filter(|_| area.is_finite()) {
            areas[*i as usize] += area / 3.0;
        }
    }
    areas
}

/// The stiffness at which a clip stretches the sets so that it can be seen.
fn suited(body: &Body, clip: &Clip, params: &Params) -> f64 {
    let [softest, stiffest] = HERTZ.map(|h| (std::f64::consts::TAU * h).powi(2));
    let mut stiffness = Preset::default().stiffness();
    for _ in 0..3 {
        let trial = Params { stiffness: Some(stiffness), ..params.clone() };
        let Some(lively) = liveliness(body, clip, &trial) else { return stiffness };
        // In a steady swing the stretch goes with one over the stiffness.
        stiffness = (stiffness * lively / LIVELY).clamp(softest, stiffest);
    }
    stiffness
}

/// The largest mean stretch over the radius in two rounds of a clip.
fn liveliness(body: &Body, clip: &Clip, params: &Params) -> Option<f64> {
    const DT_SECS: f64 = 1.0 / 60.0;
    const MOST_FRAMES: f64 = 600.0;
    let flesh = Flesh::new(body, &DAffine3::IDENTITY, params).ok()?;
    let (first, last) = clip.span()?;
    let length = f64::from(last - first);
    let frames = (2.0 * length / DT_SECS).min(MOST_FRAMES) as u32;
    let mut pose = body.rest_pose().clone();
    let mut joints_at = |k: u32| {
        let secs = (f64::from(k) * DT_SECS).rem_euclid(length.max(DT_SECS));
        clip.sample(first + secs as f32, &mut pose);
        body.matrices(&pose)
    };
    let mut state = flesh.begin(&joints_at(0));
    let mut largest = 0.0_f64;
    for k in 1..frames {
        let joints = joints_at(k);
        flesh.step(&mut state, &Step { joints: &joints, hands: &[], dt_secs: DT_SECS });
        let stretch = |(s, set): (&super::Swing, &Set)| {
            (s.mass.position - s.mass.anchor).length() / set.radius
        };
        let mean = state.swings.iter().zip(&params.sets).map(stretch).sum::<f64>();
        largest = largest.max(mean / params.sets.len() as f64);
    }
    largest.is_finite().then_some(largest)
}

/// Three digits.
fn rounded(x: f64) -> f64 {
    format!("{x:.2e}").parse().unwrap_or(x)
}

/// To a ten-thousandth of a size.
fn round_to(x: f64, size: f64) -> f64 {
    let digits = (4.0 - size.max(1e-12).log10()).ceil().clamp(0.0, 12.0) as usize;
    // Adding zero makes a negative zero a plain one.
    format!("{x:.digits$}").parse().unwrap_or(x) + 0.0
}
