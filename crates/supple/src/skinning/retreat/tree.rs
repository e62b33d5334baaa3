//! The blend tree: the skeleton, with bones hung where their skin is.
//!
//! Low-poly rigs hang feet on the root for inverse kinematics, while their skin blends with the lower leg. A bone
//! whose skin meets that of its parent much less than that of another bone is hung on the other one.

use std::collections::BTreeMap;

use super::super::bones::Bones;
use super::welded::Welded;
use crate::lengths::Lengths as _;

/// A parent that shares less than this of the most that another bone shares is not the one that blends.
const SHARED: f64 = 0.1;

/// Re-hangs bones; returns those that moved.
pub(super) fn repair(bones: &mut Bones, welded: &Welded) -> Vec<u32> {
    let shared = shared(welded);
    let mut order: Vec<u32> = (0..bones.bones.len() as u32).collect();
    order.sort_by_key(|&b| bones.bones[b as usize].level);
    let mut moved = Vec::new();
    for bone in order {
        let Some(parent) = bones.bones[bone as usize].parent else { continue };
        let of = |other: u32| shared.get(&[bone.min(other), bone.max(other)]).copied();
        let mut best = (parent, of(parent).unwrap_or(0.0));
        let with_parent = best.1;
        for other in 0..bones.bones.len() as u32 {
            if let Some(area) = of(other).filter(|&a| a > best.1)
                && !bones.is_under(other, bone)
            {
                best = (other, area);
            }
        }
        if with_parent < SHARED * best.1 {
            bones.bones[bone as usize].parent = Some(best.0);
            moved.push(bone);
        }
    }
    bones.relink();
    moved
}

/// For each two bones, the area they blend: triangles' areas, times the mean weights of both there.
fn shared(welded: &Welded) -> BTreeMap<[u32; 2], f64> {
    let mut shared = BTreeMap::new();
    let mut mean: Vec<(u32, f64)> = Vec::new();
    for t in &welded.triangles {
        let [a, b, c] = t.map(|v| welded.at[v as usize]);
        let area = 0.5 * (b - a).cross(c - a).norm();
        mean.clear();
        for &(bone, w) in t.iter().flat_map(|&v| &welded.rows[v as usize]) {
            match mean.iter_mut().find(|m| m.0 == bone) {
                Some(known) => known.1 += w / 3.0,
                None => mean.push((bone, w / 3.0)),
            }
        }
        for (i, &(a, wa)) in mean.iter().enumerate() {
            for &(b, wb) in &mean[..i] {
                *shared.entry([a.min(b), a.max(b)]).or_insert(0.0) += area * wa * wb;
            }
        }
    }
    shared
}
