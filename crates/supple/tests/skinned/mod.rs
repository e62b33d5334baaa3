//! What corrected skinning did to a character, measured from its vertices alone.

use std::borrow::Cow;
use std::collections::HashSet;

use glam::Vec3;
use supple::mesh::intersect::self_intersections;
use supple::mesh::volume::volume;
use supple::mesh::welding::is_closed;
use supple::rig::{Body, Clip, Pose, Skinning};
use supple::skinning::{Instant, Memo, Report, Solver, Take};
use supple::{Asset, Run};

/// Everything that is promised, over some poses of a character.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct Measured {
    /// How many poses.
    pub(crate) poses: usize,
    /// What joints lost, all signs alike, and what is missing of it, as shares of the volume, summed over poses.
    pub(crate) lost: f64,
    /// What is missing of it.
    pub(crate) missing: f64,
    /// The most that was lost in one pose.
    pub(crate) most_lost: f64,
    /// The longest edge, measured by the longer of plain and rest.
    pub(crate) stretch: f64,
    /// The same as the report tells, which counts dual quaternions as plain in far twists.
    pub(crate) told_stretch: f64,
    /// Pairs of triangles that intersect and do not under plain skinning.
    pub(crate) pairs: usize,
    /// Triangles turned by more than 90° against plain skinning.
    pub(crate) turned: usize,
    /// The largest second difference of the displacement in a take, in sizes.
    pub(crate) jerk: f64,
    /// How far what the reports tell of a closed body's volume is off from what its triangles enclose, as a share of it.
    pub(crate) untold: f64,
}

impl Measured {
    /// The share of what was lost that came back.
    pub(crate) fn back(&self) -> f64 {
        if self.lost > 0.0 { 1.0 - self.missing / self.lost } else { 1.0 }
    }

    /// Both together.
    pub(crate) fn and(self, other: Self) -> Self {
        Self {
            poses: self.poses + other.poses,
            lost: self.lost + other.lost,
            missing: self.missing + other.missing,
            most_lost: self.most_lost.max(other.most_lost),
            stretch: self.stretch.max(other.stretch),
            told_stretch: self.told_stretch.max(other.told_stretch),
            pairs: self.pairs + other.pairs,
            turned: self.turned + other.turned,
            jerk: self.jerk.max(other.jerk),
            untold: self.untold.max(other.untold),
        }
    }
}

/// A character and what plain skinning makes of its rest pose.
pub(crate) struct Character<'a> {
    body: &'a Body,
    solver: &'a Solver,
    edges: Vec<[u32; 2]>,
    rest: Vec<Vec3>,
    size: f64,
    run: Run<'a>,
}

impl<'a> Character<'a> {
    pub(crate) fn new(body: &'a Body, solver: &'a Solver, run: Run<'a>) -> Self {
        let rest = body.pose(body.rest_pose(), Skinning::Linear, &run);
        let corner = |pick: fn(Vec3, Vec3) -> Vec3| rest.iter().copied().reduce(pick);
        let size = corner(Vec3::max).unwrap_or_default() - corner(Vec3::min).unwrap_or_default();
        let mut edges: Vec<[u32; 2]> = Vec::new();
        for &[a, b, c] in &body.mesh.triangles {
            edges.extend([[a, b], [b, c], [c, a]].map(|[a, b]| [a.min(b), a.max(b)]));
        }
        edges.sort_unstable();
        edges.dedup();
        Self { body, solver, edges, rest, size: f64::from(size.length()), run }
    }

    fn pose(&self, clip: &Clip, secs: f32) -> Pose {
        let mut pose = self.body.rest_pose().clone();
        clip.sample(secs, &mut pose);
        pose
    }

    /// Poses by themselves, evenly over a clip.
    pub(crate) fn poses(&self, clip: &Clip, count: usize) -> Measured {
        let (first, last) = clip.span().unwrap_or_default();
        let mut measured = Measured::default();
        for k in 0..count {
            let secs = first + (last - first) * (k as f32 + 0.5) / count as f32;
            let pose = self.pose(clip, secs);
            let matrices = self.body.matrices(&pose);
            let skinned =
                self.solver.pose(self.body, &pose, &matrices, Skinning::Linear, &self.run);
            let skinned = skinned.expect("nobody cancels");
            let plain = self.body.skin(&pose, &matrices, Skinning::Linear, &self.run);
            measured = measured.and(self.judge(&plain, &skinned.positions, &skinned.report));
        }
        measured
    }

    /// Frames of a clip that follow each other at a rate: at most so many, from its start.
    pub(crate) fn take(&self, clip: &Clip, fps: f32, most: usize) -> Measured {
        let (first, last) = clip.span().unwrap_or_default();
        let count = (((last - first) * fps + 1e-4).floor() as usize + 1).min(most);
        let instant = |number: i64| {
            let inside = (0..count as i64).contains(&number);
            inside.then(|| {
                let pose = self.pose(clip, first + number as f32 / fps);
                let matrices = self.body.matrices(&pose);
                let bound = Cow::Owned(self.body.morphed(&pose, &self.run).into_owned());
                Instant { bound, matrices }
            })
        };
        let memo = Memo::default();
        let take =
            Take { body: self.body, skinning: Skinning::Linear, instants: &instant, memo: &memo };
        let mut measured = Measured::default();
        let mut before: Vec<Vec<Vec3>> = Vec::new();
        for number in 0..count as i64 {
            let now = instant(number).expect("inside the clip");
            let skinned = self.solver.frame(&take, number, &now, &self.run);
            let skinned = skinned.expect("nobody cancels");
            let pose = self.pose(clip, first + number as f32 / fps);
            let plain = self.body.skin(&pose, &now.matrices, Skinning::Linear, &self.run);
            measured = measured.and(self.judge(&plain, &skinned.positions, &skinned.report));
            before.push(skinned.positions.iter().zip(&plain).map(|(x, p)| *x - *p).collect());
            if let [.., a, b, c] = &before[..] {
                let bend = |v: usize| f64::from((a[v] - 2.0 * b[v] + c[v]).length());
                let most = (0..a.len()).map(bend).fold(0.0, f64::max);
                measured.jerk = measured.jerk.max(most / self.size);
            }
        }
        measured
    }

    fn judge(&self, plain: &[Vec3], now: &[Vec3], report: &Report) -> Measured {
        let triangles = &self.body.mesh.triangles;
        let pairs =
            |at: &[Vec3]| self_intersections(at, triangles, &self.run).expect("nobody cancels");
        let known: HashSet<[u32; 2]> = pairs(plain).into_iter().collect();
        let normal = |t: &[u32; 3], at: &[Vec3]| {
            let [a, b, c] = t.map(|v| at[v as usize].as_dvec3());
            (b - a).cross(c - a)
        };
        let ratio = |&[a, b]: &[u32; 2]| {
            let length = |at: &[Vec3]| f64::from(at[a as usize].distance(at[b as usize]));
            let longest = length(plain).max(length(&self.rest));
            if longest > 0.0 { length(now) / longest } else { 1.0 }
        };
        let turned = |t: &&[u32; 3]| normal(t, plain).dot(normal(t, now)) < 0.0;
        Measured {
            poses: 1,
            lost: report.lost(),
            missing: report.missing(),
            most_lost: report.lost(),
            stretch: self.edges.iter().map(ratio).fold(0.0, f64::max),
            told_stretch: report.stretch,
            pairs: pairs(now).iter().filter(|p| !known.contains(*p)).count(),
            turned: triangles.iter().filter(turned).count(),
            jerk: 0.0,
            untold: self.untold(plain, now, report),
        }
    }

    /// What the joints are told to have given back, against the volume that the triangles have gained.
    fn untold(&self, plain: &[Vec3], now: &[Vec3], report: &Report) -> f64 {
        if !is_closed(&self.rest, &self.body.mesh.triangles) || report.rest_volume == 0.0 {
            return 0.0;
        }
        let enclosed = |at: &[Vec3]| volume(at, &self.body.mesh.triangles, &self.run);
        let gained = (enclosed(now) - enclosed(plain)).abs() / report.rest_volume;
        let told: f64 = report.joints.iter().map(|j| j.returned).sum();
        (gained - told.abs()).abs()
    }
}

/// The clips of an asset that fit it.
pub(crate) fn clips(asset: &Asset) -> impl Iterator<Item = &Clip> {
    asset.clips.iter().filter(|c| c.check(asset).is_ok() && c.span().is_some())
}
