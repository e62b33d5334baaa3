//! Where a joint may displace: a smooth bump around each joint, the same for all layers there.
//!
//! With `w` the weight of a joint's subtree after one pass of smoothing over the surface, `s = 4 w (1 − w)`, smoothed
//! twice more. In a narrow blend, of one ring of vertices or none, the bare product is a row of spikes or zero; the
//! smoothed one has room. Then it is averaged in bind space over all pieces near by that hang on the same bones, so
//! that the layers of a character move as one; the legs, which hang on different bones, do not mix.

use glam::Vec3;

use super::super::bones::Bones;
use super::super::paint::Paint;
use super::super::surface::part_of;
use super::welded::{Row, Welded};
use crate::Run;
use crate::lengths::Lengths as _;
use crate::mesh::bvh::Bvh;
use crate::mesh::measure::Bounds;
use crate::rig::Body;

/// Values below this are none.
const NOTHING: f64 = 1e-4;

/// The Gauss kernel in space ends at so many lengths of the edges around a vertex.
const REACH: f64 = 2.5;

/// The most vertices that are averaged.
const MOST: usize = 160;

/// One joint: where it blends and where it may displace.
#[derive(Clone, Debug)]
pub(super) struct Joint {
    pub(super) bone: u32,
    /// It and the bones below it.
    pub(super) subtree: Vec<u32>,
    /// The closed triangles that its turn deforms, and all places at their corners, rims whole.
    pub(super) triangles: Vec<u32>,
    pub(super) places: Vec<u32>,
    /// Where the joint may displace, and how much.
    pub(super) field: Vec<(u32, f64)>,
    /// The same as the weights alone say, without paint.
    pub(super) blend: Vec<(u32, f64)>,
}

/// The joints that blend anything, parents first.
pub(super) fn joints(
    body: &Body,
    bones: &Bones,
    paint: &Paint<'_>,
    welded: &Welded,
    run: &Run<'_>,
) -> Vec<Joint> {
    let mut order: Vec<u32> = (0..bones.bones.len() as u32).collect();
    order.retain(|&b| bones.bones[b as usize].parent.is_some());
    order.sort_by_key(|&b| bones.bones[b as usize].level);
    let weights = subtree_weights(bones, welded);
    order.retain(|&b| !weights[b as usize].is_empty());
    let near = neighbourhoods(welded, run);
    let one = |k: usize| {
        let bone = order[k];
        let weights = &weights[bone as usize];
        let blend = bump(welded, &near, weights);
        let field = painted(body, paint, welded, bone, &blend);
        let (triangles, places) = deformed(welded, weights);
        let under = |&b: &u32| bones.is_under(b, bone);
        let subtree = (0..bones.bones.len() as u32).filter(under).collect();
        Joint { bone, subtree, triangles, places, field, blend }
    };
    let joints = run.map_tasks(order.len(), one);
    joints.into_iter().filter(|j| !j.triangles.is_empty() || !j.field.is_empty()).collect()
}

/// For each bone the vertices that it and the bones below carry, with their summed weights.
fn subtree_weights(bones: &Bones, welded: &Welded) -> Vec<Vec<(u32, f64)>> {
    let mut weights: Vec<Vec<(u32, f64)>> = vec![Vec::new(); bones.bones.len()];
    for (v, row) in (0..).zip(&welded.rows) {
        for &(bone, w) in row {
            for above in std::iter::once(bone).chain(bones.above(bone)) {
                let list = &mut weights[above as usize];
                match list.last_mut().filter(|l| l.0 == v) {
                    Some(known) => known.1 += w,
                    None => list.push((v, w)),
                }
            }
        }
    }
    weights
}

/// The closed triangles that a turn of the subtree deforms.
fn deformed(welded: &Welded, weights: &[(u32, f64)]) -> (Vec<u32>, Vec<u32>) {
    let mut w = vec![0.0; welded.places()];
    for &(v, x) in weights {
        w[v as usize] = x;
    }
    let whole = |x: f64| (x - 1.0).abs() < 1e-9;
    for (k, rim) in welded.rims.iter().enumerate() {
        let uniform = |x: f64| rim.iter().all(|&v| (w[v as usize] - x).abs() < 1e-9);
        w[welded.len() + k] = if uniform(1.0) {
            1.0
        } else if uniform(0.0) {
            0.0
        } else {
            0.5
        };
    }
    let blends = |t: &[u32; 3]| {
        let [a, b, c] = t.map(|v| w[v as usize]);
        let none = a == 0.0 && b == 0.0 && c == 0.0;
        !(none || whole(a) && whole(b) && whole(c))
    };
    let triangles: Vec<u32> =
        (0..).zip(&welded.closed).filter(|(_, t)| blends(t)).map(|(i, _)| i).collect();
    let mut places: Vec<u32> = triangles.iter().flat_map(|&t| welded.closed[t as usize]).collect();
    for k in 0..places.len() {
        if let Some(rim) = (places[k] as usize).checked_sub(welded.len()) {
            places.extend(&welded.rims[rim]);
        }
    }
    places.sort_unstable();
    places.dedup();
    (triangles, places)
}

/// The vertices that are averaged with each, with their shares.
type Near = Vec<Vec<(u32, f32)>>;

/// The bump of a joint, from the weights of its subtree.
fn bump(welded: &Welded, near: &Near, weights: &[(u32, f64)]) -> Vec<(u32, f64)> {
    let mut w = vec![0.0; welded.len()];
    for &(v, x) in weights {
        w[v as usize] = x.clamp(0.0, 1.0);
    }
    if weights.len() == welded.len() && weights.iter().all(|w| w.1 > 1.0 - 1e-9) {
        return Vec::new();
    }
    smooth(welded, &mut w);
    let mut s: Vec<f64> = w.iter().map(|w| 4.0 * w * (1.0 - w)).collect();
    smooth(welded, &mut s);
    smooth(welded, &mut s);
    let mean = |v: usize| match near[v].is_empty() {
        true => s[v],
        false => near[v].iter().map(|&(o, share)| f64::from(share) * s[o as usize]).sum(),
    };
    let free = (0..welded.len()).filter(|&v| !welded.rigid[v]);
    free.map(|v| (v as u32, mean(v))).filter(|x| x.1 > NOTHING).collect()
}

/// One pass: half of each value gives way to the mean of its neighbours.
fn smooth(welded: &Welded, values: &mut Vec<f64>) {
    let smoothed = |v: usize| {
        let around = welded.around.row(v);
        let sum: f64 = around.iter().map(|&o| values[o as usize]).sum();
        if around.is_empty() { values[v] } else { 0.5 * (values[v] + sum / around.len() as f64) }
    };
    *values = (0..values.len()).map(smoothed).collect();
}

/// What is painted takes the place of the bump, or multiplies it.
fn painted(
    body: &Body,
    paint: &Paint<'_>,
    welded: &Welded,
    bone: u32,
    blend: &[(u32, f64)],
) -> Vec<(u32, f64)> {
    let part = |v: u32| part_of(body, welded.first[v as usize]) as usize;
    let first = |v: u32| welded.first[v as usize];
    let all = match paint.own().iter().any(|own| own.0 == bone) {
        true => (0..welded.len() as u32).map(|v| (v, 1.0)).collect(),
        false => blend.to_vec(),
    };
    let free = |(v, s): (u32, f64)| (v, paint.freedom(bone, part(v), first(v), s));
    all.into_iter().map(free).filter(|x| x.1.abs() > NOTHING).collect()
}

/// Gauss in bind space, times how much two vertices hang on the same bones.
fn neighbourhoods(welded: &Welded, run: &Run<'_>) -> Near {
    let rounded: Vec<Vec3> = welded.at.iter().map(|x| x.as_vec3()).collect();
    let tree = Bvh::new(&rounded, &welded.triangles, run);
    run.map(welded.len(), |v| {
        let around = welded.around.row(v);
        let here = welded.at[v];
        let edges: f64 = around.iter().map(|&o| here.distance_to(welded.at[o as usize])).sum();
        if around.is_empty() || welded.rigid[v] {
            return Vec::new();
        }
        let sigma = edges / around.len() as f64;
        let near = vertices_near(welded, &tree, v, REACH * sigma);
        let share = |o: u32| {
            let far = here.distance_to(welded.at[o as usize]) / sigma;
            let alike = in_common(&welded.rows[v], &welded.rows[o as usize]);
            (o, if far < REACH { (-0.5 * far * far).exp() * alike } else { 0.0 })
        };
        let mut shares: Vec<(u32, f64)> =
            near.into_iter().map(share).filter(|s| s.1 > 0.0).collect();
        let total: f64 = shares.iter().map(|s| s.1).sum();
        shares.iter_mut().for_each(|s| s.1 /= total);
        shares.into_iter().map(|(o, s)| (o, s as f32)).collect()
    })
}

/// Vertices of triangles that reach into a box around a vertex, itself among them; at most so many, evenly chosen.
fn vertices_near(welded: &Welded, tree: &Bvh, v: usize, radius: f64) -> Vec<u32> {
    let here = welded.at[v].as_vec3();
    let half = Vec3::splat(radius as f32);
    let found = tree.in_box(&Bounds { min: here - half, max: here + half });
    let mut near: Vec<u32> = found.iter().flat_map(|&t| welded.triangles[t as usize]).collect();
    near.push(v as u32);
    near.sort_unstable();
    near.dedup();
    near.retain(|&o| !welded.rigid[o as usize]);
    let stride = near.len().div_ceil(MOST).max(1);
    let kept = |(k, o): (usize, u32)| (k % stride == 0 || o as usize == v).then_some(o);
    near.into_iter().enumerate().filter_map(kept).collect()
}

/// `Σ min(w_a, w′_a)`.
fn in_common(a: &Row, b: &Row) -> f64 {
    let of = |bone: u32| b.iter().find(|r| r.0 == bone).map_or(0.0, |r| r.1);
    a.iter().map(|&(bone, w)| w.min(of(bone)).max(0.0)).sum()
}

/// The vertices that any joint may displace.
pub(super) fn live(welded: &Welded, joints: &[Joint]) -> Vec<bool> {
    let mut live = vec![false; welded.len()];
    for &(v, _) in joints.iter().flat_map(|j| j.field.iter().chain(&j.blend)) {
        live[v as usize] = true;
    }
    live
}
