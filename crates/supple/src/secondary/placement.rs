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
//! What is rigid gets none: pieces that one joint carries alone, hard materials, what stands on the ground
//! ([`Params::spare_rigid`], [`Params::hard`], [`Params::still_below`]). Parts that mirror each other, by their
//! names or by where they lie, get sets of one size, or neither of them.
//!
//! How soft the springs are is measured on the clips: see [`fitting`](super::fitting).
//!
//! # Limits
//!
//! What is bone and what is flesh cannot be seen from outside: a person should look, and edit. The ground is
//! where the rest pose is lowest along y.
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
//! use supple::secondary::{Wishes, place};
//!
//! let asset = zoo::build("boxer", &zoo::Size { triangles: Some(2000) }, &Run::default())?;
//! let wishes = Wishes { clips: &asset.clips, ..Wishes::default() };
//! let placed = place(&Body::from_asset(&asset)?, &wishes, &Run::default());
//! assert!(placed.params.sets.iter().any(|s| s.bone.as_deref() == Some("chest")));
//! assert!(placed.stretch <= 0.5);
//! # Ok::<(), Box<dyn std::error::Error>>(())
//! ```

use glam::{DVec3, Vec3};

use super::{Params, Set, hardness};
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
/// What is farther from the middle than the surface is, in the root mean square, by this factor stands out.
const STANDS_OUT: f64 = 1.15;
/// At most so many extremities of a body without a skeleton.
const MOST_TIPS: usize = 8;
/// What stands on the ground stays up to this share of the height, if the body is at least so high against its
/// diagonal: what lies on the ground must move all the same.
const STILL_BELOW_REL: f64 = 0.03;
const STANDING: f64 = 0.3;
/// Parts are alike if their shares of the surface are within this factor, and they mirror each other if the
/// image of one's centre is so near to the other's, over the diagonal.
const ALIKE: f64 = 1.6;
const MIRRORED_REL_BBOX: f64 = 0.06;
/// A part of which less than this share is flesh gets no set.
const LEAST_FLESH: f64 = 0.25;
/// Height of a body whose gravity is that of the earth.
const HUMAN_HEIGHT: f64 = 1.8;

/// What is known of a body beside its shape.
#[derive(Clone, Copy, Debug, Default)]
pub struct Wishes<'a> {
    /// The motions that its flesh should suit.
    pub clips: &'a [Clip],
    /// Which of them is played; the first by default.
    pub played: usize,
    /// Numbers of the materials that are hard.
    pub hard: &'a [u32],
}

/// Sets for a body, and what a person should know of them.
#[derive(Clone, Debug, Default)]
pub struct Placed {
    /// The sets.
    pub params: Params,
    /// The largest stretch of a set over its radius in any of the clips.
    pub stretch: f64,
    /// How far the flesh moves in the liveliest frame of the clip that is played: the root mean square over the
    /// vertices that sets reach, over the diagonal of the body.
    pub moved_rel_bbox: f64,
    /// The stiffness that suits each of the first clips, for a person who plays that one instead.
    pub stiffness_of_clips: Vec<f64>,
    /// What gets no flesh and why, and what else a person should know.
    pub notes: Vec<String>,
}

/// Places sets in a body.
#[must_use]
pub fn place(body: &Body, wishes: &Wishes<'_>, run: &Run<'_>) -> Placed {
    let positions = body.pose(body.rest_pose(), Skinning::Linear, run);
    let Some(bounds) = Bounds::of(&positions) else { return Placed::default() };
    let size = f64::from(bounds.diagonal());
    let mut params = Params { hard: wishes.hard.to_vec(), ..Params::default() };
    let areas = areas(&positions, &body.mesh.triangles);
    let all = parts(body, &positions, &areas, &areas);
    let mut notes = Vec::new();
    params.sets = if all.len() > 1 {
        params.spare_rigid = true;
        let height = f64::from(bounds.size().y);
        params.still_below = (height > STANDING * size).then(|| rounded(STILL_BELOW_REL * height));
        let flesh = flesh_of(body, &params, &areas);
        let mut parts = parts(body, &positions, &areas, &flesh);
        leave_hard_out(body, &mut parts, &all, &mut notes);
        let parts = alike(body, parts, &bounds, &mut notes);
        parts.iter().map(|p| p.set(body, size)).collect()
    } else {
        all.first().map_or_else(Vec::new, |only| whole(body, &positions, only, size))
    };
    let largest = params.sets.iter().map(|s| s.radius).fold(0.0, f64::max);
    for set in &mut params.sets {
        set.mass = Some(rounded(set.radius / largest));
    }
    let height = f64::from(bounds.size().y.max(0.3 * bounds.diagonal()));
    let fall = rounded(9.81 * height / HUMAN_HEIGHT);
    params.gravity = DVec3::new(0.0, -fall, 0.0);
    let mut placed = Placed { params, notes, ..Placed::default() };
    if placed.params.sets.is_empty() {
        placed.notes.push("no flesh: every part is rigid, hard or stands on the ground".to_owned());
    } else {
        super::fitting::fit(body, wishes, &mut placed, size, run);
    }
    placed
}

/// Areas of vertices, as far as they are flesh.
fn flesh_of(body: &Body, params: &Params, areas: &[f64]) -> Vec<f64> {
    let mut flesh = areas.to_vec();
    let shares = [hardness::hard(body, params), hardness::near_ground(body, params)];
    for share in shares.iter().flatten() {
        flesh.iter_mut().zip(share).for_each(|(area, share)| *area *= f64::from(*share));
    }
    flesh
}

/// Drops the parts that are hardly flesh, and says which.
fn leave_hard_out(body: &Body, parts: &mut Vec<Part>, all: &[Part], notes: &mut Vec<String>) {
    let is_soft = |whole: &Part| {
        let soft = parts.iter().find(|p| p.joint == whole.joint).map_or(0.0, |p| p.area);
        soft >= LEAST_FLESH * whole.area
    };
    let hard: Vec<usize> = all.iter().filter(|p| !is_soft(p)).map(|p| p.joint).collect();
    parts.retain(|p| !hard.contains(&p.joint));
    if !hard.is_empty() {
        let names: Vec<String> = hard.iter().map(|&j| body.joint_name(j)).collect();
        notes.push(format!(
            "no flesh on what is rigid, hard or stands on the ground: {}",
            names.join(", ")
        ));
    }
}

/// Gives parts that mirror each other one size, or leaves both out; at most as many as there may be sets.
fn alike(body: &Body, parts: Vec<Part>, bounds: &Bounds, notes: &mut Vec<String>) -> Vec<Part> {
    let twins = twins(body, &parts, bounds);
    let spread = |i: usize| match twins[i] {
        Some(j) => 0.5 * (parts[i].spread + parts[j].spread),
        None => parts[i].spread,
    };
    let mut taken = vec![false; parts.len()];
    let mut count = 0;
    // Largest first; a part and its twin come together.
    for (i, twin) in twins.iter().enumerate() {
        let pair = 1 + usize::from(twin.is_some());
        if !taken[i] && count + pair <= MOST_SETS {
            count += pair;
            std::iter::once(i).chain(*twin).for_each(|k| taken[k] = true);
        }
    }
    let left: Vec<String> =
        (0..parts.len()).filter(|&i| !taken[i]).map(|i| body.joint_name(parts[i].joint)).collect();
    if !left.is_empty() {
        notes.push(format!("no flesh on the smallest parts: {}", left.join(", ")));
    }
    (0..parts.len()).filter(|&i| taken[i]).map(|i| Part { spread: spread(i), ..parts[i] }).collect()
}

/// For each part the one on the other side: by their names, else by where they lie about the middle of the body.
fn twins(body: &Body, parts: &[Part], bounds: &Bounds) -> Vec<Option<usize>> {
    let names: Vec<String> = parts.iter().map(|p| body.joint_name(p.joint)).collect();
    let (middle, size) = (bounds.center().as_dvec3(), f64::from(bounds.diagonal()));
    let similar = |i: usize, j: usize| {
        let ratio = parts[i].area / parts[j].area;
        i != j && ratio < ALIKE && ratio > 1.0 / ALIKE
    };
    let by_name = |i: usize| {
        let other = other_side(&names[i])?;
        (0..parts.len()).find(|&j| j != i && names[j] == other)
    };
    let across = |i: usize, axis: usize| {
        let mut image = parts[i].center;
        image[axis] = 2.0 * middle[axis] - image[axis];
        // What lies in the plane is its own image.
        if image.distance(parts[i].center) < MIRRORED_REL_BBOX * size {
            return None;
        }
        let off = |j: &usize| parts[*j].center.distance(image);
        let near = (0..parts.len()).filter(|&j| similar(i, j));
        near.min_by(|a, b| off(a).total_cmp(&off(b))).filter(|j| off(j) < MIRRORED_REL_BBOX * size)
    };
    // Bodies are mirrored sideways: along x, or z for those that look along x.
    let pairs = |axis: usize| (0..parts.len()).filter(|&i| across(i, axis).is_some()).count();
    let axis = if pairs(2) > pairs(0) { 2 } else { 0 };
    let found: Vec<Option<usize>> =
        (0..parts.len()).map(|i| by_name(i).or_else(|| across(i, axis))).collect();
    // Only if both mean each other.
    (0..parts.len()).map(|i| found[i].filter(|&j| found[j] == Some(i))).collect()
}

/// The name of the same thing on the other side, if the name has one.
pub(super) fn other_side(name: &str) -> Option<String> {
    const SIDES: [(&str, &str); 3] = [("left", "right"), ("Left", "Right"), ("LEFT", "RIGHT")];
    for (left, right) in SIDES {
        if name.contains(left) {
            return Some(name.replace(left, right));
        }
        if name.contains(right) {
            return Some(name.replace(right, left));
        }
    }
    // A letter of its own: `arm.L`, `L_arm`, `Arm_l_02`.
    let letters: Vec<char> = name.chars().collect();
    let alone = |i: usize| {
        let is_edge = |c: Option<&char>| c.is_none_or(|c| !c.is_alphanumeric());
        is_edge(i.checked_sub(1).and_then(|k| letters.get(k))) && is_edge(letters.get(i + 1))
    };
    let swap = |c: char| match c {
        'L' => Some('R'),
        'R' => Some('L'),
        'l' => Some('r'),
        'r' => Some('l'),
        _ => None,
    };
    let (i, other) =
        (0..letters.len()).find_map(|i| Some((i, swap(letters[i])?)).filter(|_| alone(i)))?;
    let swapped = letters.iter().enumerate().map(|(k, c)| if k == i { other } else { *c });
    Some(swapped.collect())
}

/// The flesh of a joint.
#[derive(Clone, Copy, Debug)]
struct Part {
    joint: usize,
    /// Its share of the surface.
    share: f64,
    /// Its area, as far as it counts.
    area: f64,
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

/// The flesh of every joint with a fair share of the surface, the largest first: shares of `areas`, as far as they
/// are in `flesh`.
fn parts(body: &Body, positions: &[Vec3], areas: &[f64], flesh: &[f64]) -> Vec<Part> {
    let Some(weights) = &body.mesh.skin_weights else { return Vec::new() };
    let mut sums = vec![(0.0, DVec3::ZERO, 0.0); body.joints.len()];
    for (v, x) in positions.iter().enumerate() {
        for (joint, w) in weights.of(v) {
            let (weight, x) = (f64::from(w.max(0.0)) * flesh[v], x.as_dvec3());
            let sum = &mut sums[usize::from(joint)];
            *sum = (sum.0 + weight, sum.1 + weight * x, sum.2 + weight * x.length_squared());
        }
    }
    let all: f64 = areas.iter().sum();
    let part = |(joint, &(weight, sum, square)): (usize, &(f64, DVec3, f64))| {
        let (share, center) = (weight / all, sum / weight);
        let spread = (square / weight - center.length_squared()).max(0.0).sqrt();
        Part { joint, share, area: weight, center, spread }
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
    for (tip, way) in tips(positions, &body.mesh.triangles, part, size) {
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
fn tips(positions: &[Vec3], triangles: &[[u32; 3]], part: &Part, size: f64) -> Vec<(DVec3, f64)> {
    let center = part.center;
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
        // Beyond the middle part along the surface and in space: a ball has no tips.
        let out = (0.2 * size).max(STANDS_OUT * part.spread);
        let stands_out = way[top] > 0.45 * farthest && x.distance(center) > out;
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

/// Three digits.
pub(super) fn rounded(x: f64) -> f64 {
    format!("{x:.2e}").parse().unwrap_or(x)
}

/// To a ten-thousandth of a size.
fn round_to(x: f64, size: f64) -> f64 {
    let digits = (4.0 - size.max(1e-12).log10()).ceil().clamp(0.0, 12.0) as usize;
    // Adding zero makes a negative zero a plain one.
    format!("{x:.digits$}").parse().unwrap_or(x) + 0.0
}

#[cfg(test)]
mod tests {
    use super::other_side;

    #[test]
    fn names_have_another_side() {
        let pairs = [
            ("LeftArm", "RightArm"),
            ("arm.L", "arm.R"),
            ("L_hand", "R_hand"),
            ("Bip01 r Thigh", "Bip01 l Thigh"),
            ("upperarm_l_02", "upperarm_r_02"),
        ];
        for (a, b) in pairs {
            assert_eq!((other_side(a).as_deref(), other_side(b).as_deref()), (Some(b), Some(a)));
        }
        assert_eq!((other_side("Spine"), other_side("tail")), (None, None));
    }
}
