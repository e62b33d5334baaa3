//! The passes over all edges: split what is long, merge what is short, turn what meets badly.

use glam::Vec3;

use super::connect::{NONE, next, prev};
use super::guard::{Guard, quality, sound_normal};
use super::index::Index;
use super::surface::{Constraint, Surface};
use super::work::{Edge, Work};
use super::{Error, Lengths};
use crate::Run;
use crate::mesh::bvh::{blend, closest_weights};

/// New triangles face within this of the old ones: 45°.
const SAME_FACING: f64 = 0.7;

/// Edges between two looks at the cancel flag.
const CHECK_EVERY: u32 = 1024;

/// A mesh, the surface it must keep to, and what guards it.
pub(super) struct Passes<'a> {
    pub(super) surface: &'a Surface,
    pub(super) work: Work,
    pub(super) index: Index,
    pub(super) guard: Guard<'a>,
    /// Triangles beyond which no edge is split.
    pub(super) limit: usize,
    /// For each triangle of the surface whether vertices on it may move; empty if all may.
    pub(super) free: Vec<bool>,
    /// How far the surface may move away from a vertex; without limit by default.
    pub(super) tolerance: f32,
    new: Vec<[Vec3; 3]>,
    old: Vec<u32>,
    ring: [Vec<u32>; 2],
}

impl<'a> Passes<'a> {
    pub(super) fn new(surface: &'a Surface, work: Work, guard: Guard<'a>, limit: usize) -> Self {
        let index = Index::new(&work);
        let (free, new, old, ring) = Default::default();
        let tolerance = f32::INFINITY;
        Self { surface, work, index, guard, limit, free, tolerance, new, old, ring }
    }

    /// Closes holes and sorts by place, so that what is near is near in memory.
    pub(super) fn tidy(&mut self, run: &Run<'_>) {
        let order = Index::order(&self.work, run);
        self.work.compact(&order);
        self.index = Index::new(&self.work);
    }

    /// Splits edges that are too long, the longest first by octaves. Returns how many were.
    pub(super) fn split_long(&mut self, lengths: &Lengths, run: &Run<'_>) -> Result<usize, Error> {
        let longest = (0..self.work.twin.len() as u32)
            .filter(|&h| self.work.is_alive(h / 3))
            .map(|h| self.work.length(h))
            .fold(0.0, f32::max);
        let mut threshold = lengths.longest;
        while 2.0 * threshold < longest {
            threshold *= 2.0;
        }
        let mut splits = 0;
        while threshold >= lengths.longest {
            let before = self.work.alive;
            splits += self.split_longer_than(threshold, run)?;
            if self.work.alive > before + before / 2 {
                self.tidy(run);
            }
            threshold *= 0.5;
        }
        Ok(splits)
    }

    fn split_longer_than(&mut self, threshold: f32, run: &Run<'_>) -> Result<usize, Error> {
        let (mut splits, mut h) = (0, 0_u32);
        // Half-edges of new triangles come last and are visited as well.
        while (h as usize) < self.work.twin.len() {
            if h.is_multiple_of(CHECK_EVERY) {
                run.check()?;
            }
            let twin = self.work.twin[h as usize];
            let once = self.work.is_alive(h / 3) && (twin == NONE || h < twin);
            if once && self.work.length(h) > threshold && self.try_split(h) {
                splits += 1;
                if self.work.alive > self.limit {
                    return Err(Error::TooManyTriangles { limit: self.limit });
                }
                continue;
            }
            h += 1;
        }
        Ok(splits)
    }

    fn try_split(&mut self, h: u32) -> bool {
        let Edge { g, v, w, a, b, .. } = self.work.edge(h);
        let label = self.work.label[h as usize];
        let middle = 0.5 * (self.work.at(v) + self.work.at(w));
        let (place, on_surface) = if label == 0 {
            let (t, point) = self.surface.project(middle, self.source_of(h));
            (Constraint::Face(t), point)
        } else {
            let curve = label.unsigned_abs() - 1;
            if self.surface.curves[curve as usize].locked {
                return false;
            }
            let [from, to] = self.span(h);
            let at = 0.5 * (from + to);
            (Constraint::Curve(curve, at), self.surface.point_on_curve(curve, at))
        };
        let candidates = [on_surface, middle];
        let fallback = if label == 0 { 2 } else { 1 };
        self.old.clear();
        self.old.push(h / 3);
        self.old.extend((g != NONE).then_some(g / 3));
        for m in &candidates[..fallback] {
            let [pv, pw, pa] = [v, w, a].map(|v| self.work.at(v));
            self.new.clear();
            self.new.extend([[pv, *m, pa], [*m, pw, pa]]);
            if g != NONE {
                let pb = self.work.at(b);
                self.new.extend([[pw, *m, pb], [*m, pv, pb]]);
            }
            if *m != pv && *m != pw && self.faces_alike(2) && self.admits() {
                self.work.split(h, *m, place);
                self.tell_index();
                return true;
            }
        }
        false
    }

    /// Whether each new triangle faces like the old one it comes from, `per` of them each; where the
    /// old one is too thin to say, anything goes.
    fn faces_alike(&self, per: usize) -> bool {
        self.new.chunks(per).zip(&self.old).all(|(parts, &t)| {
            let Some(n) = sound_normal(&self.work.corners_of(t)) else { return true };
            parts.iter().all(|p| sound_normal(p).is_some_and(|m| n.dot(m) > SAME_FACING))
        })
    }

    fn admits(&mut self) -> bool {
        self.guard.admits(&self.work, &self.index, &self.new, &self.old)
    }

    /// Puts the triangles of a split into the index: the old ones shrank, the new ones come last.
    fn tell_index(&mut self) {
        let first = self.work.triangles.len() - self.old.len();
        for (k, &near) in self.old.iter().enumerate() {
            let t = (first + k) as u32;
            self.index.update(t, near, &self.work.corners_of(t));
            self.index.update(near, near, &self.work.corners_of(near));
        }
    }

    /// Merges the ends of edges that are too short. Returns how many were.
    pub(super) fn merge_short(&mut self, lengths: &Lengths, run: &Run<'_>) -> Result<usize, Error> {
        let mut merged = 0;
        for h in 0..self.work.twin.len() as u32 {
            if h.is_multiple_of(CHECK_EVERY) {
                run.check()?;
            }
            if !self.work.is_alive(h / 3) {
                continue;
            }
            let twin = self.work.twin[h as usize];
            let once = twin == NONE || h < twin;
            if once && self.work.length(h) < lengths.shortest && self.try_merge(h, lengths) {
                merged += 1;
            }
        }
        Ok(merged)
    }

    fn try_merge(&mut self, h: u32, lengths: &Lengths) -> bool {
        self.merge_target(h).is_some_and(|target| self.merge_to(target, lengths))
    }

    /// Merges the end of an edge into its start, at a place, if nothing speaks against it.
    pub(super) fn merge_to(
        &mut self,
        (h, place, at): (u32, Constraint, Vec3),
        lengths: &Lengths,
    ) -> bool {
        let edge = self.work.edge(h);
        if !self.link_is_whole(&edge) || !self.sides_join(&edge) {
            return false;
        }
        self.new.clear();
        self.old.clear();
        for (vertex, other) in [(edge.v, edge.w), (edge.w, edge.v)] {
            for spoke in self.work.spokes(vertex) {
                let [p, q] = [self.work.to(spoke), self.work.from(prev(spoke))];
                if p == other || q == other {
                    // Listed once: with the vertex that stays.
                    self.old.extend((vertex == edge.v).then_some(spoke / 3));
                    continue;
                }
                let corners = [at, self.work.at(p), self.work.at(q)];
                if !self.fits_ring(spoke, &corners, lengths) {
                    return false;
                }
                self.new.push(corners);
                self.old.push(spoke / 3);
            }
        }
        let ends = [edge.v, edge.w].map(|v| self.work.at(v));
        let kept = ends.iter().all(|&p| is_near(p, &self.new, self.tolerance));
        if self.new.is_empty() || !kept || !self.admits() {
            return false;
        }
        self.work.collapse(h);
        self.work.positions[edge.v as usize] = at;
        self.work.places[edge.v as usize] = place;
        for k in 0..self.old.len() {
            let t = self.old[k];
            if self.work.is_alive(t) {
                self.index.update(t, t, &self.work.corners_of(t));
            }
        }
        true
    }

    /// Whether a triangle of the ring may become `corners`, whose first is the merged vertex.
    fn fits_ring(&self, spoke: u32, corners: &[Vec3; 3], lengths: &Lengths) -> bool {
        let Some(n) = sound_normal(corners) else { return false };
        let old = self.work.corners_of(spoke / 3);
        let longest = |[a, b, c]: &[Vec3; 3]| {
            a.distance_squared(*b).max(c.distance_squared(*a)).max(b.distance_squared(*c))
        };
        let allowed = (lengths.longest * lengths.longest).max(longest(&old));
        if longest(corners) > allowed {
            return false;
        }
        sound_normal(&old).is_none_or(|m| n.dot(m) > SAME_FACING)
    }

    /// The edge, turned so that its end is what goes, and where the merged vertex will be.
    pub(super) fn merge_target(&self, h: u32) -> Option<(u32, Constraint, Vec3)> {
        let Edge { g, v, w, .. } = self.work.edge(h);
        let [from, to] = [v, w].map(|v| self.work.places[v as usize]);
        let label = self.work.label[h as usize];
        let back = || (g != NONE).then_some(g);
        let stays = |h: u32| self.start_stays(h);
        match (from, to) {
            (Constraint::Face(t), Constraint::Face(_)) => {
                let middle = 0.5 * (self.work.at(v) + self.work.at(w));
                let (t, at) = self.surface.project(middle, t);
                Some((h, Constraint::Face(t), at))
            }
            (_, Constraint::Face(_)) => Some(stays(h)),
            (Constraint::Face(_), _) => back().map(stays),
            _ if label == 0 => None,
            (Constraint::Curve(c, _), Constraint::Curve(..)) => {
                let [a, b] = self.span(h);
                let at = 0.5 * (a + b);
                Some((h, Constraint::Curve(c, at), self.surface.point_on_curve(c, at)))
            }
            (Constraint::Corner(_), Constraint::Curve(..)) => Some(stays(h)),
            (Constraint::Curve(..), Constraint::Corner(_)) if g != NONE => Some(stays(g)),
            // Along a border, where there is no half-edge back.
            (Constraint::Curve(..), Constraint::Corner(_)) => Some((h, to, self.work.at(w))),
            _ => None,
        }
    }

    /// A half-edge, and where its start is.
    pub(super) fn start_stays(&self, h: u32) -> (u32, Constraint, Vec3) {
        let v = self.work.from(h);
        (h, self.work.places[v as usize], self.work.at(v))
    }

    /// The link condition: the ends of an edge have no neighbours in common but those opposite it.
    fn link_is_whole(&mut self, edge: &Edge) -> bool {
        let [around_v, around_w] = &mut self.ring;
        self.work.neighbours(edge.v, around_v);
        self.work.neighbours(edge.w, around_w);
        let common = around_v.iter().filter(|v| around_w.contains(v)).count();
        let inner = edge.g != NONE;
        if common != 1 + usize::from(inner) {
            return false;
        }
        // An inner edge between two borders would pinch the surface.
        if inner && self.work.is_border(edge.v) && self.work.is_border(edge.w) {
            return false;
        }
        let enough = |third: u32| {
            third == NONE || self.work.is_border(third) || self.work.valence(third) > 3
        };
        enough(edge.a) && enough(edge.b)
    }

    /// Whether the sides that come to lie on each other can be one: not both are features, and one has
    /// a triangle beyond it.
    fn sides_join(&self, edge: &Edge) -> bool {
        [edge.h, edge.g].into_iter().filter(|&side| side != NONE).all(|side| {
            let pair = [next(side), prev(side)].map(|x| x as usize);
            !(pair.iter().all(|&x| self.work.label[x] != 0))
        })
    }

    /// Turns edges where that brings vertices nearer to six neighbours. Returns how many were.
    pub(super) fn turn_edges(&mut self, run: &Run<'_>) -> Result<usize, Error> {
        let mut valence: Vec<u8> = (0..self.work.positions.len() as u32)
            .map(|v| {
                if self.work.out[v as usize] == NONE {
                    0
                } else {
                    self.work.valence(v).min(255) as u8
                }
            })
            .collect();
        let mut turned = 0;
        for h in 0..self.work.twin.len() as u32 {
            if h.is_multiple_of(CHECK_EVERY) {
                run.check()?;
            }
            let twin = self.work.twin[h as usize];
            if twin == NONE
                || h > twin
                || !self.work.is_alive(h / 3)
                || self.work.label[h as usize] != 0
            {
                continue;
            }
            if self.try_turn(h, &mut valence) {
                turned += 1;
            }
        }
        Ok(turned)
    }

    fn try_turn(&mut self, h: u32, valence: &mut [u8]) -> bool {
        let Edge { g, v, w, a, b, .. } = self.work.edge(h);
        let miss = |vertex: u32, change: i32| {
            let wanted = if self.work.is_border(vertex) { 4 } else { 6 };
            let off = i32::from(valence[vertex as usize]) + change - wanted;
            off * off
        };
        let before = miss(v, 0) + miss(w, 0) + miss(a, 0) + miss(b, 0);
        let after = miss(v, -1) + miss(w, -1) + miss(a, 1) + miss(b, 1);
        let smallest = valence[v as usize].min(valence[w as usize]);
        if after >= before || smallest <= 3 || a == b {
            return false;
        }
        let [pv, pw, pa, pb] = [v, w, a, b].map(|v| self.work.at(v));
        self.new.clear();
        self.new.extend([[pb, pw, pa], [pa, pv, pb]]);
        self.old.clear();
        self.old.extend([h / 3, g / 3]);
        let worst = |ts: &[[Vec3; 3]]| ts.iter().map(quality).fold(f64::INFINITY, f64::min);
        let now = [self.work.corners_of(h / 3), self.work.corners_of(g / 3)];
        if worst(&self.new) < (0.5 * worst(&now)).min(0.5) {
            return false;
        }
        let facing = |t: &[Vec3; 3]| {
            sound_normal(t).is_some_and(|n| {
                now.iter().all(|o| sound_normal(o).is_none_or(|m| n.dot(m) > SAME_FACING))
            })
        };
        if !self.new.iter().all(facing) {
            return false;
        }
        if self.work.spokes(a).any(|s| self.work.to(s) == b || self.work.from(prev(s)) == b) {
            return false;
        }
        if !self.admits() {
            return false;
        }
        self.work.flip(h);
        for (vertex, change) in [(v, -1), (w, -1), (a, 1), (b, 1)] {
            let count = &mut valence[vertex as usize];
            *count = count.saturating_add_signed(change);
        }
        for t in [h / 3, g / 3] {
            self.index.update(t, t, &self.work.corners_of(t));
        }
        true
    }

    /// How far along its curve a feature half-edge starts and ends.
    pub(super) fn span(&self, h: u32) -> [f64; 2] {
        span(self.surface, &self.work, h)
    }

    /// A triangle of the surface on the side of `h`, near its start.
    fn source_of(&self, h: u32) -> u32 {
        for v in [self.work.from(h), self.work.to(h)] {
            if let Constraint::Face(t) = self.work.places[v as usize] {
                return t;
            }
        }
        sector(self.surface, &self.work, h).map_or(0, |s| s.triangle)
    }
}

/// Whether a point is not farther than a distance from one of the triangles.
pub(super) fn is_near(point: Vec3, triangles: &[[Vec3; 3]], distance: f32) -> bool {
    let (q, most) = (point.as_dvec3(), f64::from(distance) * f64::from(distance));
    most.is_infinite()
        || triangles.iter().any(|corners| {
            let nearest = blend(corners, closest_weights(&corners.map(Vec3::as_dvec3), q));
            nearest.distance_squared(q) <= most
        })
}

/// How far along its curve a feature half-edge starts and ends.
pub(super) fn span(surface: &Surface, work: &Work, h: u32) -> [f64; 2] {
    let label = work.label[h as usize];
    let curve = &surface.curves[label.unsigned_abs() as usize - 1];
    let whole = curve.lengths.last().copied().unwrap_or(0.0);
    let ends = if label > 0 { [0.0, whole] } else { [whole, 0.0] };
    let at = |v: u32, end: f64| match work.places[v as usize] {
        Constraint::Curve(_, at) => at,
        _ => end,
    };
    [at(work.from(h), ends[0]), at(work.to(h), ends[1])]
}

/// Where the triangles between two features at a vertex come from.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(super) struct Sector {
    /// A triangle of the surface on the same side of the features.
    pub(super) triangle: u32,
    /// Weights of its corners at the vertex.
    pub(super) weights: [f64; 3],
}

/// The part of the surface that the triangle of `h` has at the start of `h`, if that is on a feature
/// or a corner.
pub(super) fn sector(surface: &Surface, work: &Work, h: u32) -> Option<Sector> {
    let place = work.places[work.from(h) as usize];
    if let Constraint::Face(_) = place {
        return None;
    }
    // Clockwise to the feature on whose left the triangle is.
    let mut feature = h;
    while work.label[feature as usize] == 0 {
        feature = next(work.twin[feature as usize]);
        if feature == h {
            return lone_corner(surface, place);
        }
    }
    let label = work.label[feature as usize];
    let c = label.unsigned_abs() - 1;
    let at = span(surface, work, feature)[0];
    let (mut segment, mut share) = surface.along(c, at);
    let curve = &surface.curves[c as usize];
    if label < 0 && share == 0.0 && segment > 0 {
        (segment, share) = (segment - 1, 1.0);
    }
    // Forwards from the end of a segment is the next one.
    if label > 0 && share == 1.0 && segment + 1 < curve.sides.len() {
        (segment, share) = (segment + 1, 0.0);
    }
    let [along, against] = curve.sides[segment];
    let side = if label > 0 { along } else { against };
    let [first, second] = if label > 0 { [side, next(side)] } else { [next(side), side] };
    let mut weights = [0.0; 3];
    weights[first as usize % 3] = 1.0 - share;
    weights[second as usize % 3] = share;
    Some(Sector { triangle: side / 3, weights })
}

/// A corner where no features meet.
fn lone_corner(surface: &Surface, place: Constraint) -> Option<Sector> {
    let Constraint::Corner(v) = place else { return None };
    let h = surface.out[v as usize];
    let mut weights = [0.0; 3];
    weights[h as usize % 3] = 1.0;
    Some(Sector { triangle: h / 3, weights })
}
