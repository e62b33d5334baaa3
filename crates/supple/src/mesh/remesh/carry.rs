//! The finished mesh with everything its vertices, corners and triangles carry.
//!
//! Each vertex knows where on the old surface it sits, so values are interpolated once, from the old
//! mesh, and do not blur from one iteration to the next. At a seam each side has a place of its own.

use glam::Vec3;

use super::passes::{Sector, sector};
use super::surface::{Constraint, Surface};
use super::work::Work;
use crate::Run;
use crate::mesh::attribute::{NORMAL, TANGENT};
use crate::mesh::bvh::closest_weights;
use crate::mesh::{CornerAttribute, Group, MorphTarget, SkinWeights, TriMesh, Values};

/// A point of the old mesh: a triangle and the weights of its corners.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) struct Source {
    pub(crate) triangle: u32,
    pub(crate) weights: [f32; 3],
}

/// Builds the new mesh; the work must be compact.
pub(super) fn carry(mesh: &TriMesh, surface: &Surface, work: &Work, run: &Run<'_>) -> TriMesh {
    let order = grouped(work);
    let (names, kept) = joined(surface, work);
    let sources = run.map(kept.len(), |i| vertex_source(surface, work, kept[i]));
    let mut new = interpolated(mesh, &sources);
    new.positions = kept.iter().map(|&v| work.at(v)).collect();
    new.triangles =
        order.iter().map(|&t| work.triangles[t as usize].map(|v| names[v as usize])).collect();
    new.groups = groups(mesh, work, &order);
    new.corners = mesh.corners.iter().map(|c| corner(c, surface, work, &order)).collect();
    new
}

/// Triangles by group, in order.
fn grouped(work: &Work) -> Vec<u32> {
    let mut order: Vec<u32> = (0..work.triangles.len() as u32).collect();
    order.sort_by_key(|&t| work.groups[t as usize]);
    order
}

/// Names for vertices, those that were cut apart joined again, and one vertex for each name.
fn joined(surface: &Surface, work: &Work) -> (Vec<u32>, Vec<u32>) {
    let mut first = vec![u32::MAX; surface.cut.origin.iter().max().map_or(0, |&v| v as usize + 1)];
    let (mut names, mut kept) = (Vec::with_capacity(work.positions.len()), Vec::new());
    for (v, place) in (0..).zip(&work.places) {
        let mut name = kept.len() as u32;
        if let Constraint::Corner(at) = place {
            let slot = &mut first[surface.cut.origin[*at as usize] as usize];
            if *slot == u32::MAX {
                *slot = name;
            }
            name = *slot;
        }
        if name as usize == kept.len() {
            kept.push(v);
        }
        names.push(name);
    }
    (names, kept)
}

fn vertex_source(surface: &Surface, work: &Work, v: u32) -> Source {
    let sector = match work.places[v as usize] {
        Constraint::Face(t) => {
            let corners = surface.corners_of(t).map(Vec3::as_dvec3);
            let weights = closest_weights(&corners, work.at(v).as_dvec3()).to_array();
            Sector { triangle: t, weights }
        }
        _ => corner_sector(surface, work, work.out[v as usize]),
    };
    source(surface, sector)
}

fn corner_sector(surface: &Surface, work: &Work, h: u32) -> Sector {
    sector(surface, work, h).expect("a vertex on a curve or corner has a sector")
}

fn source(surface: &Surface, sector: Sector) -> Source {
    let triangle = surface.cut.source[sector.triangle as usize];
    Source { triangle, weights: sector.weights.map(|w| w as f32) }
}

fn groups(mesh: &TriMesh, work: &Work, order: &[u32]) -> Vec<Group> {
    let mut start = 0;
    let of = |(g, group): (u32, &Group)| {
        let count = order.iter().filter(|&&t| work.groups[t as usize] == g).count() as u32;
        let triangles = start..start + count;
        start += count;
        Group { triangles, ..group.clone() }
    };
    (0..).zip(&mesh.groups).map(of).collect()
}

/// A corner attribute of the new mesh: one value a vertex, or one for each side of a seam.
fn corner(old: &CornerAttribute, surface: &Surface, work: &Work, order: &[u32]) -> CornerAttribute {
    let width = old.values.width();
    let mut floats: Vec<f32> = Vec::new();
    // For each vertex the values it has so far.
    let mut known: Vec<Vec<u32>> = vec![Vec::new(); work.positions.len()];
    let mut value = vec![0.0; width];
    let mut triangles = Vec::with_capacity(order.len());
    for &t in order {
        triangles.push([0, 1, 2].map(|k| {
            let h = 3 * t + k;
            let v = work.from(h);
            let is_inside = matches!(work.places[v as usize], Constraint::Face(_));
            if let ([one, ..], true) = (&known[v as usize][..], is_inside) {
                return *one;
            }
            let source = if is_inside {
                vertex_source(surface, work, v)
            } else {
                source(surface, corner_sector(surface, work, h))
            };
            let rows = old.triangles[source.triangle as usize];
            mix(&old.values, rows, &source.weights, &mut value);
            mend(&old.name, &mut value);
            let same = |i: &&u32| floats[**i as usize * width..][..width] == value[..];
            if let Some(&i) = known[v as usize].iter().find(same) {
                return i;
            }
            let i = (floats.len() / width) as u32;
            floats.extend_from_slice(&value);
            known[v as usize].push(i);
            i
        }));
    }
    let values = Values::from_floats(width, floats).expect("the width of the old values");
    CornerAttribute { name: old.name.clone(), values, triangles }
}

/// `Σ w v` of three rows.
fn mix(values: &Values, rows: [u32; 3], weights: &[f32; 3], into: &mut [f32]) {
    let (floats, width) = (values.as_floats(), values.width());
    for (k, x) in into.iter_mut().enumerate() {
        let at = |i: usize| floats[rows[i] as usize * width + k];
        *x = match weights.iter().position(|&w| w == 1.0) {
            Some(i) => at(i),
            None => (0..3).filter(|&i| weights[i] != 0.0).map(|i| weights[i] * at(i)).sum(),
        };
    }
}

/// Makes directions of unit length again.
fn mend(name: &str, value: &mut [f32]) {
    if (name == NORMAL && value.len() == 3) || (name == TANGENT && value.len() == 4) {
        let unit = Vec3::new(value[0], value[1], value[2]).normalize_or(Vec3::Z);
        value[..3].copy_from_slice(&unit.to_array());
        if let Some(hand) = value.get_mut(3) {
            *hand = if *hand < 0.0 { -1.0 } else { 1.0 };
        }
    }
}

/// A mesh without triangles whose vertices have what the old one has at the given points.
pub(crate) fn interpolated(mesh: &TriMesh, sources: &[Source]) -> TriMesh {
    let vectors = |values: &[Vec3]| -> Vec<Vec3> {
        sources.iter().map(|s| blend_vectors(values, mesh, s)).collect()
    };
    let mut new = TriMesh { name: mesh.name.clone(), ..TriMesh::default() };
    new.positions = vectors(&mesh.positions);
    for attribute in &mesh.attributes {
        let width = attribute.values.width();
        let mut floats = vec![0.0; sources.len() * width];
        for (source, value) in sources.iter().zip(floats.chunks_exact_mut(width)) {
            let rows = mesh.triangles[source.triangle as usize];
            mix(&attribute.values, rows, &source.weights, value);
            mend(&attribute.name, value);
        }
        let values = Values::from_floats(width, floats).expect("the width of the old values");
        new.attributes.set(attribute.name.clone(), values);
    }
    new.skin_weights = mesh.skin_weights.as_ref().map(|skin| blend_skin(skin, mesh, sources));
    let morph = |m: &MorphTarget| MorphTarget {
        name: m.name.clone(),
        positions: vectors(&m.positions),
        normals: m.normals.as_deref().map(vectors),
        weight: m.weight,
    };
    new.morphs = mesh.morphs.iter().map(morph).collect();
    new
}

fn blend_vectors(values: &[Vec3], mesh: &TriMesh, source: &Source) -> Vec3 {
    let rows = mesh.triangles[source.triangle as usize];
    if let Some(k) = source.weights.iter().position(|&w| w == 1.0) {
        return values[rows[k] as usize];
    }
    rows.iter().zip(source.weights).map(|(&i, w)| w * values[i as usize]).sum()
}

/// Interpolated influences, the weakest left out so that no vertex has more than any had before.
fn blend_skin(skin: &SkinWeights, mesh: &TriMesh, sources: &[Source]) -> SkinWeights {
    let most = skin.max_influences();
    let mut new = SkinWeights::default();
    let mut mixed: Vec<(u16, f32)> = Vec::new();
    for source in sources {
        mixed.clear();
        let rows = mesh.triangles[source.triangle as usize];
        for (&v, share) in rows.iter().zip(source.weights).filter(|(_, w)| *w != 0.0) {
            for (joint, weight) in skin.of(v as usize) {
                match mixed.iter_mut().find(|(j, _)| *j == joint) {
                    Some((_, sum)) => *sum += share * weight,
                    None => mixed.push((joint, share * weight)),
                }
            }
        }
        let total = |list: &[(u16, f32)]| list.iter().map(|(_, w)| w).sum::<f32>();
        let all = total(&mixed);
        if mixed.len() > most {
            mixed.sort_by(|a, b| b.1.total_cmp(&a.1).then(a.0.cmp(&b.0)));
            mixed.truncate(most);
            let left = total(&mixed);
            let scale = if left > 0.0 { all / left } else { 1.0 };
            mixed.iter_mut().for_each(|(_, w)| *w *= scale);
        }
        new.push(mixed.iter().copied());
    }
    new
}
