//! Keyframed animation: clips of channels that move nodes over time.
//!
//! # Method
//!
//! A channel is sampled as glTF 2.0 says: held (step), straight (linear; rotations along the shorter
//! great arc), or a cubic Hermite spline whose tangents are scaled by the time between the keys.
//! Before its first and after its last key it holds the value there. Rotations come out as unit
//! quaternions.
//!
//! ```
//! use glam::Vec3;
//! use supple::Asset;
//! use supple::rig::{Channel, Clip, Interpolation, Node, Pose, Track};
//!
//! let asset = Asset { nodes: vec![Node::default()], ..Asset::default() };
//! let clip = Clip {
//!     name: "rise".into(),
//!     channels: vec![Channel {
//!         node: 0,
//!         times: vec![0.0, 2.0],
//!         track: Track::Translation(vec![Vec3::ZERO, Vec3::Y]),
//!         interpolation: Interpolation::Linear,
//!     }],
//! };
//! clip.check(&asset)?;
//! let mut pose = Pose::rest(&asset);
//! clip.sample(0.5, &mut pose);
//! assert_eq!(pose.locals[0].parts().2, 0.25 * Vec3::Y);
//! # Ok::<(), supple::rig::keyframes::ClipError>(())
//! ```

use glam::{Quat, Vec3};

use super::{Pose, Transform};
use crate::Asset;

/// A named animation.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Clip {
    /// Name in the file, or empty.
    pub name: String,
    /// What moves.
    pub channels: Vec<Channel>,
}

/// The keys of one property of one node.
#[derive(Clone, Debug, PartialEq)]
pub struct Channel {
    /// Which node.
    pub node: u32,
    /// When, in seconds; strictly increasing, never empty.
    pub times: Vec<f32>,
    /// What the property is at those times.
    pub track: Track,
    /// How it goes from key to key.
    pub interpolation: Interpolation,
}

/// The values of a channel, one a key.
///
/// With [`Interpolation::CubicSpline`] each key has three: in-tangent, value, out-tangent.
#[derive(Clone, Debug, PartialEq)]
pub enum Track {
    /// The node's translation.
    Translation(Vec<Vec3>),
    /// The node's rotation; unit quaternions (tangents need not be unit).
    Rotation(Vec<Quat>),
    /// The node's scale.
    Scale(Vec<Vec3>),
    /// The morph weights of the node's mesh: as many numbers a key as it has targets.
    Weights(Vec<f32>),
    /// The same, almost all of them zero: a baked take shows one target at a time.
    SparseWeights(SparseWeights),
}

/// Numbers of which only some are not zero.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct SparseWeights {
    count: usize,
    /// Which numbers are not zero, rising.
    indices: Vec<u32>,
    values: Vec<f32>,
}

impl SparseWeights {
    /// `count` numbers, zero but for those at `indices`; `None` if these do not rise or have not a value each.
    #[must_use]
    pub fn new(count: usize, indices: Vec<u32>, values: Vec<f32>) -> Option<Self> {
        let rise = indices.windows(2).all(|w| w[0] < w[1]);
        let fit = indices.last().is_none_or(|&last| (last as usize) < count);
        (rise && fit && indices.len() == values.len()).then_some(Self { count, indices, values })
    }

    /// How many numbers there are, zeros among them.
    #[must_use]
    pub fn len(&self) -> usize {
        self.count
    }

    /// True if there are none.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.count == 0
    }

    /// The number at an index.
    #[must_use]
    pub fn at(&self, index: usize) -> f32 {
        let found = self.indices.binary_search_by(|i| (*i as usize).cmp(&index));
        found.map_or(0.0, |at| self.values[at])
    }

    /// Those that are not zero, with their indices.
    pub fn iter(&self) -> impl Iterator<Item = (u32, f32)> {
        self.indices.iter().copied().zip(self.values.iter().copied())
    }

    /// Those in the rows of `width` numbers that are kept.
    pub(crate) fn with_rows(&self, keep: &[bool], width: usize) -> Self {
        let before = |row: usize| keep[..row].iter().filter(|kept| **kept).count();
        let mut kept = Self { count: before(keep.len()) * width, ..Self::default() };
        let mut last = (0, 0);
        for (index, value) in self.iter() {
            let row = index as usize / width;
            if keep.get(row) == Some(&true) {
                last = (row, last.1 + keep[last.0..row].iter().filter(|kept| **kept).count());
                kept.indices.push((last.1 * width + index as usize % width) as u32);
                kept.values.push(value);
            }
        }
        kept
    }

    /// All of them, one after the other.
    #[must_use]
    pub fn to_dense(&self) -> Vec<f32> {
        let mut all = vec![0.0; self.count];
        self.iter().for_each(|(index, value)| all[index as usize] = value);
        all
    }
}

/// How a channel goes from one key to the next.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Interpolation {
    /// Holds each value until the next key.
    Step,
    /// Straight lines; the shorter arc for rotations.
    #[default]
    Linear,
    /// Hermite splines with given tangents.
    CubicSpline,
}

/// Why a clip does not fit its asset.
#[derive(Clone, Debug, PartialEq, thiserror::Error)]
#[error("clip '{clip}', channel {channel}: {what}")]
pub struct ClipError {
    /// Name of the clip.
    pub clip: String,
    /// Which of its channels.
    pub channel: usize,
    /// What is wrong.
    pub what: String,
}

impl Clip {
    /// Time of the first and of the last key, in seconds; `None` without a channel.
    #[must_use]
    pub fn span(&self) -> Option<(f32, f32)> {
        let ends = self.channels.iter().filter_map(|c| Some((*c.times.first()?, *c.times.last()?)));
        ends.reduce(|a, b| (a.0.min(b.0), a.1.max(b.1)))
    }

    /// Checks that the clip fits the asset: [`sample`](Self::sample) relies on it.
    ///
    /// # Errors
    ///
    /// The first channel that names a missing node, has no or unordered times, or has not one value
    /// a key.
    pub fn check(&self, asset: &Asset) -> Result<(), ClipError> {
        let rest = Pose::rest(asset);
        for (channel, c) in self.channels.iter().enumerate() {
            c.check(&rest).map_err(|what| ClipError { clip: self.name.clone(), channel, what })?;
        }
        Ok(())
    }

    /// Moves what the clip moves to where it is after `secs`, and leaves the rest of the pose.
    ///
    /// # Panics
    ///
    /// If the clip does not fit the pose's asset; see [`check`](Self::check).
    pub fn sample(&self, secs: f32, pose: &mut Pose) {
        for channel in &self.channels {
            channel.sample(secs, pose);
        }
    }
}

impl Channel {
    fn check(&self, rest: &Pose) -> Result<(), String> {
        let node = self.node as usize;
        let nodes = rest.locals.len();
        if node >= nodes {
            return Err(format!("moves node {node}, but there are {nodes} nodes"));
        }
        if self.times.is_empty() || !self.times.iter().all(|t| t.is_finite()) {
            return Err("has no key, or a key whose time is not finite".to_owned());
        }
        if let Some(k) = self.times.windows(2).position(|w| w[0] >= w[1]) {
            return Err(format!("key {} is not later than key {k}", k + 1));
        }
        let width = match &self.track {
            track if track.is_weights() => rest.morph_weights[node].len(),
            _ => 1,
        };
        let per_key = if self.interpolation == Interpolation::CubicSpline { 3 } else { 1 };
        let (found, expected) = (self.track.value_count(), self.times.len() * width * per_key);
        if found != expected {
            return Err(format!("has {found} values where its keys need {expected}"));
        }
        Ok(())
    }

    fn sample(&self, secs: f32, pose: &mut Pose) {
        let at = Moment::find(&self.times, secs, self.interpolation);
        let node = self.node as usize;
        if self.track.is_weights() {
            let weights = &mut pose.morph_weights[node];
            let width = weights.len();
            for (k, weight) in weights.iter_mut().enumerate() {
                *weight = at.value(|key, part| self.track.weight(at.row(key, part) * width + k));
            }
            return;
        }
        let (mut scale, mut rotation, mut translation) = pose.locals[node].parts();
        match &self.track {
            Track::Translation(v) => translation = at.value(|key, part| v[at.row(key, part)]),
            Track::Scale(v) => scale = at.value(|key, part| v[at.row(key, part)]),
            Track::Rotation(v) => rotation = at.rotation(v),
            Track::Weights(_) | Track::SparseWeights(_) => {}
        }
        pose.locals[node] = Transform::Trs { translation, rotation, scale };
    }
}

impl Track {
    /// How many values, or weights, there are.
    #[must_use]
    pub fn value_count(&self) -> usize {
        match self {
            Self::Translation(v) | Self::Scale(v) => v.len(),
            Self::Rotation(v) => v.len(),
            Self::Weights(v) => v.len(),
            Self::SparseWeights(v) => v.len(),
        }
    }

    /// Whether it moves weights, not the node.
    #[must_use]
    pub fn is_weights(&self) -> bool {
        matches!(self, Self::Weights(_) | Self::SparseWeights(_))
    }

    /// The weight at an index; zero for other tracks.
    fn weight(&self, index: usize) -> f32 {
        match self {
            Self::Weights(v) => v[index],
            Self::SparseWeights(v) => v.at(index),
            _ => 0.0,
        }
    }
}

/// The three values a key of a spline has.
#[derive(Clone, Copy)]
enum Part {
    InTangent,
    Value,
    OutTangent,
}

/// A time between two keys of a channel.
#[derive(Clone, Copy)]
struct Moment {
    key: usize,
    /// Seconds from this key to the next.
    span: f32,
    /// How far it is to the next key: 0 at this one, below 1.
    u: f32,
    interpolation: Interpolation,
}

impl Moment {
    fn find(times: &[f32], secs: f32, interpolation: Interpolation) -> Self {
        let key = times.partition_point(|&t| t <= secs).saturating_sub(1);
        let span = times.get(key + 1).map_or(0.0, |next| next - times[key]);
        let inside = span > 0.0 && secs > times[key];
        let u = if inside { (secs - times[key]) / span } else { 0.0 };
        Self { key, span, u, interpolation }
    }

    fn row(&self, key: usize, part: Part) -> usize {
        match (self.interpolation, part) {
            (Interpolation::CubicSpline, Part::InTangent) => 3 * key,
            (Interpolation::CubicSpline, Part::Value) => 3 * key + 1,
            (Interpolation::CubicSpline, Part::OutTangent) => 3 * key + 2,
            _ => key,
        }
    }

    fn value<T>(&self, get: impl Fn(usize, Part) -> T) -> T
    where
        T: std::ops::Add<Output = T> + std::ops::Mul<f32, Output = T>,
    {
        let (key, u) = (self.key, self.u);
        if u == 0.0 || self.interpolation == Interpolation::Step {
            return get(key, Part::Value);
        }
        let (from, to) = (get(key, Part::Value), get(key + 1, Part::Value));
        if self.interpolation == Interpolation::Linear {
            return from * (1.0 - u) + to * u;
        }
        let (u2, u3) = (u * u, u * u * u);
        from * (2.0 * u3 - 3.0 * u2 + 1.0)
            + get(key, Part::OutTangent) * (self.span * (u3 - 2.0 * u2 + u))
            + to * (3.0 * u2 - 2.0 * u3)
            + get(key + 1, Part::InTangent) * (self.span * (u3 - u2))
    }

    fn rotation(&self, keys: &[Quat]) -> Quat {
        let unit = if self.interpolation == Interpolation::Linear && self.u > 0.0 {
            slerp(keys[self.key], keys[self.key + 1], self.u)
        } else {
            self.value(|key, part| keys[self.row(key, part)])
        };
        if unit.length_squared() > 0.0 { unit.normalize() } else { Quat::IDENTITY }
    }
}

/// From `a` to `b` along the shorter great arc at constant speed.
///
/// The arc's length comes from its chord and not from an arc cosine, so that it is exact for small
/// arcs too.
#[must_use]
pub fn slerp(a: Quat, b: Quat, u: f32) -> Quat {
    let b = if a.dot(b) < 0.0 { -b } else { b };
    let half_arc = 2.0 * libm::atan2(f64::from((b - a).length()), f64::from((b + a).length()));
    let sine = libm::sin(half_arc);
    if sine < 1e-9 {
        return a;
    }
    let u = f64::from(u);
    let (wa, wb) = (libm::sin((1.0 - u) * half_arc) / sine, libm::sin(u * half_arc) / sine);
    a * wa as f32 + b * wb as f32
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::rig::Node;

    fn one_node() -> Asset {
        Asset { nodes: vec![Node::default()], ..Asset::default() }
    }

    fn sample(track: Track, interpolation: Interpolation, times: &[f32], secs: f32) -> Transform {
        let channel = Channel { node: 0, times: times.to_vec(), track, interpolation };
        let clip = Clip { name: String::new(), channels: vec![channel] };
        clip.check(&one_node()).unwrap();
        let mut pose = Pose::rest(&one_node());
        clip.sample(secs, &mut pose);
        pose.locals[0]
    }

    #[test]
    fn step_holds_linear_moves_and_both_clamp() {
        let keys = || Track::Translation(vec![Vec3::ZERO, Vec3::X, 3.0 * Vec3::X]);
        let times = [1.0, 2.0, 4.0];
        let x = |i, t| sample(keys(), i, &times, t).parts().2.x;
        assert_eq!(
            [0.0, 1.0, 1.5, 2.0, 3.9, 9.0].map(|t| x(Interpolation::Step, t)),
            [0.0, 0.0, 0.0, 1.0, 1.0, 3.0]
        );
        assert_eq!(
            [0.0, 1.0, 1.5, 2.0, 3.0, 9.0].map(|t| x(Interpolation::Linear, t)),
            [0.0, 0.0, 0.5, 1.0, 2.0, 3.0]
        );
    }

    /// A Hermite spline through samples of a cubic with its own tangents is that cubic.
    #[test]
    fn a_spline_reproduces_a_cubic() {
        let f = |t: f32| t * t * t - 2.0 * t * t + 0.5 * t - 1.0;
        let df = |t: f32| 3.0 * t * t - 4.0 * t + 0.5;
        let times = [0.0, 0.5, 2.0];
        let values =
            times.iter().flat_map(|&t| [df(t), f(t), df(t)].map(|y| Vec3::X * y)).collect();
        for i in 0..=20 {
            let t = i as f32 * 0.1;
            let track = Track::Scale(Vec::clone(&values));
            let x = sample(track, Interpolation::CubicSpline, &times, t).parts().0.x;
            assert!((x - f(t)).abs() < 1e-5, "{x} at {t}, not {}", f(t));
        }
    }

    #[test]
    fn rotations_take_the_shorter_arc_at_constant_speed() {
        let turn = |angle: f32| Quat::from_rotation_y(angle);
        for (to, sign) in [(2.5, 1.0), (2.5, -1.0), (1e-3, 1.0)] {
            let track = || Track::Rotation(vec![turn(0.0), turn(to) * sign]);
            for u in [0.1, 0.25, 0.9] {
                let q = sample(track(), Interpolation::Linear, &[0.0, 1.0], u).parts().1;
                assert!(q.dot(turn(to * u)).abs() > 1.0 - 1e-6, "{q} at {u} of {to}");
                assert!(q.is_normalized(), "{q} is unit");
            }
        }
    }

    /// A baked take, dense and sparse, at and between its keys.
    #[test]
    fn sparse_weights_are_the_same_weights() {
        let mut asset = one_node();
        asset.nodes[0].morph_weights = vec![0.0; 3];
        asset.nodes[0].mesh = Some(0);
        asset.meshes = vec![crate::TriMesh {
            morphs: vec![crate::mesh::MorphTarget::default(); 3],
            ..crate::TriMesh::default()
        }];
        let sparse = SparseWeights::new(12, vec![3, 7, 11], vec![1.0, 0.5, 2.0]).unwrap();
        let tracks = [Track::Weights(sparse.to_dense()), Track::SparseWeights(sparse)];
        for interpolation in [Interpolation::Linear, Interpolation::Step] {
            for secs in [-1.0, 0.0, 0.3, 1.0, 1.75, 2.5, 3.0, 9.0] {
                let [dense, sparse] = tracks.clone().map(|track| {
                    let times = vec![0.0, 1.0, 2.0, 3.0];
                    let channel = Channel { node: 0, times, track, interpolation };
                    let clip = Clip { name: String::new(), channels: vec![channel] };
                    clip.check(&asset).unwrap();
                    let mut pose = Pose::rest(&asset);
                    clip.sample(secs, &mut pose);
                    pose.morph_weights[0].clone()
                });
                assert_eq!(dense, sparse, "{secs} s");
            }
        }
        let some = SparseWeights::new(12, vec![3, 7, 11], vec![1.0, 0.5, 2.0]).unwrap();
        let rows = some.with_rows(&[true, true, false, true], 3).to_dense();
        assert_eq!(rows, [0.0, 0.0, 0.0, 1.0, 0.0, 0.0, 0.0, 0.0, 2.0]);
        assert_eq!(SparseWeights::new(4, vec![2, 1], vec![0.0; 2]), None, "falling");
        assert_eq!(SparseWeights::new(4, vec![4], vec![1.0]), None, "beyond the end");
    }

    #[test]
    fn clips_that_do_not_fit_are_refused() {
        let good = Channel {
            node: 0,
            times: vec![0.0, 1.0],
            track: Track::Translation(vec![Vec3::ZERO; 2]),
            interpolation: Interpolation::Linear,
        };
        let refused = |channel| {
            let clip = Clip { name: "bad".to_owned(), channels: vec![channel] };
            clip.check(&one_node()).unwrap_err().to_string()
        };
        let node = refused(Channel { node: 5, ..good.clone() });
        assert!(node.contains("moves node 5"), "{node}");
        let order = refused(Channel { times: vec![1.0, 1.0], ..good.clone() });
        assert!(order.contains("not later"), "{order}");
        let values = refused(Channel { interpolation: Interpolation::CubicSpline, ..good });
        assert!(values.contains("2 values where its keys need 6"), "{values}");
    }
}
