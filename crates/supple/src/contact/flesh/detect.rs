//! Finding the vertices of a segment that are inside obstacles.
//!
//! Neighbours are looked at in blocks, first by the boxes around them. What is near is carried into the space
//! of the obstacles once for all that stand in the same place, as the parts of a ring do, and tested there
//! many lanes at a time.

use glam::{Vec3, Vec3A};
use pulp::{Simd, WithSimd};

use super::Segment;
use super::resolve::{Obstacle, Penetration};
use crate::Run;
use crate::contact::collider::{Frame, Isometry, Solid};
use crate::lanes::Lanes;
use crate::mesh::measure::Bounds;

/// Vertices deeper than this share of the obstacle's size are pushed out.
pub(super) const TOLERANCE: f32 = 3e-4;

/// Vertices behind an obstacle count if those in front of them do, up to gaps of this share of the
/// segment's size.
const GAP: f32 = 0.15;

/// A segment deeper inside than this share of its size is moved as a whole.
const SWALLOWED: f32 = 1.0;

/// A segment deeper inside than this share of its size may leave by another face of a solid with at most
/// so many, if that way is shorter by this factor and no turn back: the least cosine between the two.
const DEEP: f32 = 0.15;
const MOST_FACES: usize = 32;
const SHORTER: f32 = 0.4;
const TURNS_BACK: f32 = -0.3;

/// Neighbouring vertices with one box around them.
const BLOCK: usize = 32;

/// Blocks that one task looks at.
const BLOCKS_A_TASK: usize = 32;

/// The vertices of a segment where they are now, as its obstacles see them.
pub(super) struct Cloud<'a> {
    segment: &'a Segment,
    /// Around all vertices.
    pub(super) around: Bounds,
    /// Around each block of them.
    boxes: Vec<Bounds>,
    /// The obstacles that vertices may be inside of, or behind.
    sights: Vec<Sight<'a>>,
    views: Vec<View>,
}

/// An obstacle, and from where it is seen.
struct Sight<'a> {
    obstacle: &'a Obstacle<'a>,
    reach: SearchRegion<'a>,
    /// The number of the view.
    view: usize,
}

/// The blocks near some obstacles that stand in the same place, in their space.
struct View {
    place: Isometry,
    blocks: Vec<VertexBlock>,
}

/// Neighbouring vertices in the space of an obstacle.
struct VertexBlock {
    /// Its number among those of the segment.
    number: usize,
    around: Bounds,
    x: Lanes<BLOCK>,
}

impl<'a> Cloud<'a> {
    pub(super) fn new(
        points: &[Vec3],
        segment: &'a Segment,
        near: &'a [Obstacle<'a>],
        run: &Run<'_>,
    ) -> Self {
        let boxes = boxes(points, segment, run);
        let around = boxes.iter().fold(Bounds::EMPTY, |b, c| b.union(c));
        let mut cloud = Self { segment, around, boxes, sights: Vec::new(), views: Vec::new() };
        for obstacle in near {
            let reach = SearchRegion::along(obstacle, obstacle.way_back(), segment.radius);
            if !reach.meets(&around) {
                continue;
            }
            let known = cloud.views.iter().position(|v| v.place == obstacle.place);
            let view = known.unwrap_or(cloud.views.len());
            if known.is_none() {
                cloud.views.push(View { place: obstacle.place, blocks: Vec::new() });
            }
            cloud.sights.push(Sight { obstacle, reach, view });
        }
        for number in 0..cloud.views.len() {
            let own = cloud.sights.iter().filter(|s| s.view == number);
            let own: Vec<&SearchRegion<'_>> = own.map(|s| &s.reach).collect();
            cloud.views[number].blocks = cloud.seen(points, &own, run);
        }
        cloud
    }

    /// The blocks that some obstacles in the same place reach.
    fn seen(
        &self,
        points: &[Vec3],
        reaches: &[&SearchRegion<'_>],
        run: &Run<'_>,
    ) -> Vec<VertexBlock> {
        let Some(first) = reaches.first() else { return Vec::new() };
        let all = reaches.iter().try_fold(Bounds::EMPTY, |b, r| Some(b.union(&r.around?)));
        let mut blocks = Vec::new();
        for (number, around) in self.boxes.iter().enumerate() {
            let around = first.frame.bounds(around);
            if all.is_none_or(|all| all.overlaps(&around))
                && reaches.iter().any(|r| r.meets_here(&around))
            {
                blocks.push(VertexBlock { number, around, x: Lanes::ZERO });
            }
        }
        let (segment, frame) = (self.segment, first.frame);
        run.for_each_piece(&mut blocks, BLOCKS_A_TASK, |_, blocks| {
            pulp::Arch::new().dispatch(Carry { points, segment, frame, blocks });
        });
        blocks
    }

    /// The vertices of a block, by their places.
    fn places(&self, block: &VertexBlock) -> &'a [u32] {
        let first = block.number * BLOCK;
        &self.segment.followers[first..self.segment.followers.len().min(first + BLOCK)]
    }

    /// Finds for each obstacle whether the segment is inside, and how deep; `points` are where they
    /// were.
    pub(super) fn contacts(
        &self,
        points: &[Vec3],
        softness: f32,
        run: &Run<'_>,
    ) -> Vec<Penetration<'a>> {
        let look = Look { points, cloud: self, softness, run };
        let found = run.map_tasks(self.sights.len(), |i| look.at(&self.sights[i]));
        found.into_iter().flatten().collect()
    }

    /// The vertices inside any obstacle, by their places, in order.
    pub(super) fn inside(&self) -> Vec<u32> {
        let mut places = Vec::new();
        for sight in &self.sights {
            let own = sight.reach.solid.bounds();
            for block in &self.views[sight.view].blocks {
                if own.is_some_and(|b| !b.overlaps(&block.around)) {
                    continue;
                }
                let gaps = sight.reach.solid.gaps(&block.x);
                if gaps.least <= 0.0 {
                    let all = self.places(block).iter().zip(gaps.all);
                    places.extend(all.filter(|(_, gap)| *gap <= 0.0).map(|(p, _)| *p));
                }
            }
        }
        places.sort_unstable();
        places.dedup();
        places
    }

    /// The obstacles that vertices may be inside of, or behind.
    pub(super) fn obstacles(&self) -> impl Iterator<Item = &'a Obstacle<'a>> {
        self.sights.iter().map(|s| s.obstacle)
    }
}

/// The boxes around the blocks of a segment.
fn boxes(points: &[Vec3], segment: &Segment, run: &Run<'_>) -> Vec<Bounds> {
    let mut boxes = vec![Bounds::EMPTY; segment.followers.len().div_ceil(BLOCK)];
    run.for_each_piece(&mut boxes, BLOCKS_A_TASK, |start, boxes| {
        let blocks = segment.followers[start * BLOCK..].chunks(BLOCK);
        for (own, places) in boxes.iter_mut().zip(blocks) {
            *own = around(points, places);
        }
    });
    boxes
}

/// The box around some points.
fn around(points: &[Vec3], places: &[u32]) -> Bounds {
    let (mut min, mut max) = (Vec3A::INFINITY, Vec3A::NEG_INFINITY);
    for &place in places {
        let x = Vec3A::from(points[place as usize]);
        (min, max) = (min.min(x), max.max(x));
    }
    Bounds { min: min.into(), max: max.into() }
}

/// Carries blocks into a space and puts boxes around them there.
struct Carry<'a> {
    points: &'a [Vec3],
    segment: &'a Segment,
    frame: Frame,
    blocks: &'a mut [VertexBlock],
}

impl WithSimd for Carry<'_> {
    type Output = ();

    #[inline(always)]
    fn with_simd<S: Simd>(self, _: S) {
        let followers = &self.segment.followers;
        for block in self.blocks {
            let first = block.number * BLOCK;
            let places = &followers[first..followers.len().min(first + BLOCK)];
            block.x = self.frame.lanes(&gather(self.points, places));
            let [min, max] = block.x.bounds();
            block.around = Bounds { min, max };
        }
    }
}

/// Some points by their places; where there are too few the last is repeated.
#[inline(always)]
fn gather(points: &[Vec3], places: &[u32]) -> Lanes<BLOCK> {
    let mut lanes = Lanes::ZERO;
    for (lane, &place) in places.iter().enumerate() {
        lanes.set(lane, points[place as usize]);
    }
    for lane in places.len()..BLOCK {
        lanes.set(lane, points[places[places.len() - 1] as usize]);
    }
    lanes
}

/// Where vertices of a segment may be inside an obstacle, or behind it as seen along the way out, if
/// they may have come through.
struct SearchRegion<'a> {
    solid: &'a Solid,
    frame: Frame,
    /// The box around all that, in the space of the obstacle; `None` is anywhere.
    around: Option<Bounds>,
    behind: Vec3,
}

impl<'a> SearchRegion<'a> {
    /// The obstacle, and behind it if the way out is given.
    fn along(obstacle: &Obstacle<'a>, way_out: Option<Vec3>, radius: f32) -> Self {
        let (solid, frame) = (obstacle.solid, obstacle.place.frame());
        let behind = frame.turned(way_out.map_or(Vec3::ZERO, |n| -2.0 * radius * n));
        let moved = |b: Bounds| Bounds { min: b.min + behind, max: b.max + behind };
        let around = solid.bounds().map(|b| b.union(&moved(b)));
        Self { solid, frame, around, behind }
    }

    /// True if a box of the world may be within.
    fn meets(&self, points: &Bounds) -> bool {
        self.meets_here(&self.frame.bounds(points))
    }

    /// True if a box in the space of the obstacle may be within.
    fn meets_here(&self, points: &Bounds) -> bool {
        // Of what is round, nothing but the box around it is compared.
        let is_round = matches!(self.solid, Solid::Round { .. });
        self.around.is_none_or(|a| a.overlaps(points))
            && (is_round || !self.solid.is_beyond(points, self.behind, 0.0))
    }
}

/// A segment, seen by its obstacles.
struct Look<'a, 'b> {
    points: &'b [Vec3],
    cloud: &'b Cloud<'a>,
    softness: f32,
    run: &'b Run<'b>,
}

impl<'a> Look<'a, '_> {
    /// Finds whether the segment is inside an obstacle, and how deep.
    fn at(&self, sight: &Sight<'a>) -> Option<Penetration<'a>> {
        let (obstacle, segment) = (sight.obstacle, self.cloud.segment);
        let blocks = &self.cloud.views[sight.view].blocks;
        let Some(known) = obstacle.way_back() else {
            let close = self.inside(&sight.reach, blocks);
            let toward = obstacle.way_out.map(|n| sight.reach.frame.turned(n)).unwrap_or_default();
            let n = mean_way_out(obstacle.solid, &close, toward, TOLERANCE * obstacle.size)?;
            return self.along(obstacle, n, &close);
        };
        let along = |reach: &SearchRegion<'_>, n: Vec3, blocks: &[VertexBlock]| {
            self.along(obstacle, reach.frame.turned(n), &within(reach, blocks, self.cloud))
        };
        let mut best = along(&sight.reach, known, blocks)?;
        let Solid::Hull { faces, .. } = obstacle.solid else { return Some(best) };
        if best.depth < DEEP * segment.radius || faces.len() > MOST_FACES {
            return Some(best);
        }
        // Deep along the known way: perhaps it has come round an edge.
        for face in faces {
            let normal = obstacle.place.rotation * face.normal;
            if normal.dot(known) <= TURNS_BACK {
                continue;
            }
            let reach = SearchRegion::along(obstacle, Some(normal), segment.radius);
            let blocks = self.cloud.seen(self.points, &[&reach], self.run);
            let shorter = |c: &Penetration<'_>| c.depth < SHORTER * best.depth;
            if let Some(other) = along(&reach, normal, &blocks).filter(shorter) {
                best = other;
            }
        }
        Some(best)
    }

    /// How deep the segment is inside along a way out; all in the space of the obstacle.
    fn along(
        &self,
        obstacle: &'a Obstacle<'a>,
        n: Vec3,
        close: &[Vec3],
    ) -> Option<Penetration<'a>> {
        let (solid, place, segment) = (obstacle.solid, &obstacle.place, self.cloud.segment);
        let tolerance = TOLERANCE * obstacle.size;
        let mut chords: Vec<([f32; 2], Vec3)> = Vec::with_capacity(close.len());
        for some in close.chunks(BLOCK) {
            let rays = solid.rays(&Lanes::<BLOCK>::of(some), n);
            let all = some.iter().enumerate().filter_map(|(lane, x)| Some((rays.get(lane)?, *x)));
            chords.extend(all.filter(|c| c.0[1] > tolerance));
        }
        if obstacle.solitary {
            chords.sort_by(|a, b| a.0[0].total_cmp(&b.0[0]));
        }
        let (mut depth, mut sum, mut weight, mut deepest) = (0.0, Vec3::ZERO, 0.0, Vec3::ZERO);
        for ([enter, exit], x) in chords {
            // What is far behind, with nothing in between, is another side of the body.
            if enter > depth + GAP * segment.radius {
                break;
            }
            sum += exit * x;
            weight += exit;
            if exit > depth {
                (depth, deepest) = (exit, x);
            }
        }
        let depth = (depth > 0.0).then_some(depth + 0.5 * tolerance)?;
        Some(Penetration {
            obstacle,
            normal: place.rotation * n,
            depth,
            width: self.softness * segment.radius,
            weight,
            center: place.to_world(sum / weight),
            deepest: place.to_world(deepest),
            swallowed: depth > SWALLOWED * segment.radius,
            opposed: false,
            through: Vec3::ZERO,
        })
    }

    /// The vertices inside the obstacle.
    fn inside(&self, reach: &SearchRegion<'_>, blocks: &[VertexBlock]) -> Vec<Vec3> {
        let mut inside = Vec::new();
        for block in blocks.iter().filter(|b| reach.around.is_none_or(|a| a.overlaps(&b.around))) {
            let gaps = reach.solid.gaps(&block.x);
            if gaps.least <= 0.0 {
                let count = self.cloud.places(block).len();
                inside.extend((0..count).filter(|&l| gaps.all[l] <= 0.0).map(|l| block.x.get(l)));
            }
        }
        inside
    }
}

/// The vertices that may be inside the obstacle or behind.
fn within(reach: &SearchRegion<'_>, blocks: &[VertexBlock], cloud: &Cloud<'_>) -> Vec<Vec3> {
    let mut within = Vec::new();
    for block in blocks.iter().filter(|b| reach.meets_here(&b.around)) {
        let all = (0..cloud.places(block).len()).map(|l| block.x.get(l));
        within.extend(
            all.filter(|x| {
                reach.around.is_none_or(|a| x.cmpge(a.min).all() && x.cmple(a.max).all())
            }),
        );
    }
    within
}

/// Of vertices inside, the mean of the ways out, by depth.
fn mean_way_out(solid: &Solid, inside: &[Vec3], toward: Vec3, tolerance: f32) -> Option<Vec3> {
    let (mut sum, mut deepest) = (Vec3::ZERO, 0.0_f32);
    for x in inside {
        let probe = solid.probe(*x, toward);
        sum -= probe.distance * probe.normal;
        deepest = deepest.max(-probe.distance);
    }
    (deepest > tolerance).then(|| sum.normalize_or(toward.normalize_or(Vec3::Y)))
}
