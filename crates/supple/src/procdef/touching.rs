//! What a body lends to contact: its surface, and the distance field of its shape at rest with the maps of its regions.

use std::sync::Arc;

use glam::Vec3;

use super::matching::Row;
use super::motion::{TICK_SECS, Work};
use super::{Body, State};
use crate::Run;
use crate::contact::{DistanceField, Edge, Lent, Patches, Space};
use crate::lengths::Lengths as _;

/// How far apart points of an edge are, as a share of how deep the body is. Two rounds that cross touch in one point: with
/// points a thickness apart worms of a heap sank into each other to their middle lines, and went through.
const GAP: f32 = 0.8;

/// The same for shells, which touch in many: no two points are farther apart than they are thick.
const SHELL_GAP: f32 = 2.0;

/// With more volume than this times size and square of its depth a body is a shell: a straight rod has `π`.
const SHELL: f32 = 12.0;

/// Most points between two vertices of the surface: a hair of a body is not filled with points.
const MOST_BETWEEN: f32 = 16.0;

/// What other bodies meet of a body.
#[derive(Clone, Debug)]
pub(super) struct Flesh {
    field: Arc<DistanceField>,
    patches: Arc<Patches>,
}

impl Body {
    /// What others meet; `None` for a surface without an inside.
    pub(super) fn flesh(&self, run: &Run<'_>) -> Option<Flesh> {
        let rest: Vec<Vec3> = self.regions.rest.iter().map(|x| x.as_vec3()).collect();
        let field = Arc::new(DistanceField::new(&rest, &self.surface, run)?);
        let particle = |r: u32| self.outside.binary_search(&r).map_or(0, |k| k as u32);
        let rod = self.size as f32 * field.deepest() * field.deepest();
        let is_shell = self.volume as f32 > SHELL * rod;
        let gap = if is_shell { SHELL_GAP } else { GAP } * field.deepest();
        let edge = |[a, b]: [u32; 2]| {
            let along = rest[b as usize] - rest[a as usize];
            let parts = (along.norm() / gap).ceil().clamp(1.0, MOST_BETWEEN + 1.0) as u32;
            Edge { of: [a, b].map(particle), along, points: parts - 1 }
        };
        let edges: Vec<Edge> = edges(&self.surface).into_iter().map(edge).collect();
        let triangles: Vec<[u32; 3]> = self.surface.iter().map(|t| t.map(particle)).collect();
        let outside: Vec<Vec3> = self.outside.iter().map(|&r| rest[r as usize]).collect();
        let patches = Arc::new(Patches::new(&outside, &triangles, &edges, &field, run));
        Some(Flesh { field, patches })
    }

    /// Lends the surface, as the step that `work` was just used for left it. Friction and ground are set already.
    pub(super) fn lend(&self, directions: &[Vec3], state: &State, work: &Work, lent: &mut Lent) {
        let placement = &state.placement;
        let glide = (TICK_SECS * placement.local_vector(placement.velocity)).as_vec3();
        lent.space = Space { rotation: placement.rotation, translation: placement.translation };
        let regions = || self.outside.iter().map(|&r| r as usize);
        let particles = &mut lent.particles;
        let place = |r: usize| self.regions.rest[r].as_vec3() + state.offsets[r];
        particles.places.extend(regions().map(place));
        let motion = |r: usize| state.offsets[r] - work.offsets[r] + glide;
        particles.motions.extend(regions().map(motion));
        particles.inverse_masses.clone_from(&self.inverse_masses);
        particles.size = self.size as f32;
        let on_ground = lent.ground.is_some_and(|ground| !ground.friction.is_uniform());
        if !directions.is_empty() && (on_ground || !particles.friction.is_uniform()) {
            let vertex = |r: usize| self.regions.vertices[r] as usize;
            let forward =
                |r: usize| turned(&work.passing.map(&self.regions, r), directions[vertex(r)]);
            particles.forward.extend(regions().map(forward));
        }
    }

    /// Lends what others meet, too.
    pub(super) fn lend_flesh(&self, flesh: &Flesh, state: &State, work: &Work, lent: &mut Lent) {
        lent.interior.patches = Arc::clone(&flesh.patches);
        lent.interior.field = Some(Arc::clone(&flesh.field));
        let map = |&r: &u32| -> [f32; 12] {
            let row = work.passing.map(&self.regions, r as usize).0;
            let mut map = [0.0; 12];
            map.copy_from_slice(&row[..12]);
            // Through the vertex itself, as the skin goes: the region's centre lags behind what is pushed.
            let rest = self.regions.rest[r as usize].as_vec3();
            let offset = state.offsets[r as usize];
            for k in 0..3 {
                let row = Vec3::new(map[4 * k], map[4 * k + 1], map[4 * k + 2]);
                map[4 * k + 3] = offset[k] - row.dot(rest);
            }
            map
        };
        lent.interior.maps.extend(self.outside.iter().map(map));
    }
}

/// The edges of a surface, each once.
fn edges(surface: &[[u32; 3]]) -> Vec<[u32; 2]> {
    let mut edges: Vec<[u32; 2]> = Vec::with_capacity(3 * surface.len());
    for &[a, b, c] in surface {
        edges.extend([[a, b], [b, c], [c, a]].map(|[a, b]| [a.min(b), a.max(b)]));
    }
    edges.sort_unstable();
    edges.dedup();
    edges
}

/// A direction of the region at rest, as its map turns it.
fn turned(map: &Row, d: Vec3) -> Vec3 {
    let m = &map.0;
    let along = |k: usize| m[k] * d.x + m[k + 1] * d.y + m[k + 2] * d.z;
    d + Vec3::new(along(0), along(4), along(8))
}
