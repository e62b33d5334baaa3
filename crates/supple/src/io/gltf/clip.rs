//! Animations.

use glam::{Quat, Vec3};

use super::accessor::{AGAIN, Data, Patches, missing};
use super::document::{Animation, Channel as FileChannel, Document, Int};
use super::scene::{node_index, unit};
use crate::io::{Malformed, Place, Warning};
use crate::mesh::TriMesh;
use crate::rig::{Channel, Clip, Interpolation, Node, SparseWeights, Track, Transform};

/// Reads all animations; a node that is animated by parts gets its transform as parts.
pub(super) fn read(
    document: &Document<'_>,
    data: &Data<'_>,
    nodes: &mut [Node],
    meshes: &[TriMesh],
    warnings: &mut Vec<Warning>,
) -> Result<Vec<Clip>, Malformed> {
    let mut clips = Vec::new();
    for (i, animation) in document.animations.iter().enumerate() {
        let mut clip = Clip { name: animation.name.clone(), channels: Vec::new() };
        for (k, channel) in animation.channels.iter().enumerate() {
            let mut reader = ChannelReader {
                document,
                data,
                place: format!("animations[{i}].channels[{k}]"),
                warnings,
            };
            let Some(channel) = reader.read(animation, channel, nodes, meshes)? else { continue };
            reader.decompose(&mut nodes[channel.node as usize], &channel.track);
            clip.channels.push(channel);
        }
        clips.push(clip);
    }
    Ok(clips)
}

struct ChannelReader<'r, 'd> {
    document: &'r Document<'d>,
    data: &'r Data<'d>,
    place: String,
    warnings: &'r mut Vec<Warning>,
}

impl ChannelReader<'_, '_> {
    fn read(
        &mut self,
        animation: &Animation,
        channel: &FileChannel,
        nodes: &[Node],
        meshes: &[TriMesh],
    ) -> Result<Option<Channel>, Malformed> {
        let Some(sampler) = animation.samplers.get(channel.sampler.index()) else {
            return Err(missing(&format!("{}.sampler", self.place), "sampler", channel.sampler));
        };
        let Some(node) = channel.target.node else {
            self.warn("skipped: it moves no node");
            return Ok(None);
        };
        let node = node_index(self.document, node, &format!("{}.target.node", self.place))?;
        let interpolation = match sampler.interpolation.as_deref() {
            None | Some("LINEAR") => Interpolation::Linear,
            Some("STEP") => Interpolation::Step,
            Some("CUBICSPLINE") => Interpolation::CubicSpline,
            Some(other) => return Err(self.broken(format!("unknown interpolation '{other}'"))),
        };
        let times: Vec<f32> = self.data.floats(sampler.input, &self.place)?;
        let per_key = if interpolation == Interpolation::CubicSpline { 3 } else { 1 };
        let track = match channel.target.path.as_str() {
            "translation" => Track::Translation(self.vectors(sampler.output)?),
            "scale" => Track::Scale(self.vectors(sampler.output)?),
            "rotation" => Track::Rotation(self.rotations(sampler.output, per_key)?),
            "weights" => self.weights(sampler.output)?,
            other => {
                self.warn(&format!("skipped: '{other}' is not animated here"));
                return Ok(None);
            }
        };
        let mesh = nodes[node].mesh.map(|m| &meshes[m as usize]);
        let width = match mesh {
            _ if !track.is_weights() => 1,
            None => 0,
            Some(mesh) => mesh.morphs.len(),
        };
        if width == 0 {
            self.warn("skipped: it moves weights of a node without morph targets");
            return Ok(None);
        }
        self.check_length(&track, times.len() * per_key * width)?;
        let channel = Channel { node: node as u32, times, track, interpolation };
        self.with_rising_times(channel, per_key * width)
    }

    fn vectors(&self, output: Int) -> Result<Vec<Vec3>, Malformed> {
        self.finite(output)
    }

    /// Weights, sparse where the file has them so.
    fn weights(&self, output: Int) -> Result<Track, Malformed> {
        if let Some(Patches { of, indices, values }) = self.data.sparse(output, &self.place)?
            && values.iter().all(|x| x.is_finite())
            && let Some(sparse) = SparseWeights::new(of, indices, values)
        {
            return Ok(Track::SparseWeights(sparse));
        }
        Ok(Track::Weights(self.finite(output)?))
    }

    /// Values become unit; the tangents of a spline stay as they are.
    fn rotations(&self, output: Int, per_key: usize) -> Result<Vec<Quat>, Malformed> {
        let values: Vec<[f32; 4]> = self.finite(output)?;
        let is_tangent = |i: usize| per_key == 3 && i % 3 != 1;
        let rotation = |(i, xyzw): (usize, &[f32; 4])| {
            let rotation = Quat::from_array(*xyzw);
            if is_tangent(i) { rotation } else { unit(rotation) }
        };
        Ok(values.iter().enumerate().map(rotation).collect())
    }

    fn finite<T: bytemuck::Pod>(&self, output: Int) -> Result<Vec<T>, Malformed> {
        let values = self.data.floats(output, &self.place)?;
        let numbers: &[f32] = bytemuck::cast_slice(&values);
        if numbers.iter().all(|x| x.is_finite()) {
            return Ok(values);
        }
        Err(self.broken("a value is not finite".to_owned()))
    }

    fn check_length(&self, track: &Track, expected: usize) -> Result<(), Malformed> {
        let found = track.value_count();
        if found == expected {
            return Ok(());
        }
        Err(self.broken(format!("{found} values where the keys need {expected}")))
    }

    /// Drops keys that are not after all keys before them; `None` if no key is left.
    fn with_rising_times(
        &mut self,
        mut channel: Channel,
        per_key: usize,
    ) -> Result<Option<Channel>, Malformed> {
        if channel.times.iter().any(|t| !t.is_finite()) {
            return Err(self.broken("a time is not finite".to_owned()));
        }
        let mut last = f32::NEG_INFINITY;
        let keep: Vec<bool> = channel
            .times
            .iter()
            .map(|&t| {
                let rises = t > last;
                last = last.max(t);
                rises
            })
            .collect();
        let dropped = keep.iter().filter(|k| !**k).count();
        if dropped > 0 {
            self.warn(&format!("{dropped} keys do not come after the key before: left out"));
            retain(&mut channel.times, &keep, 1);
            match &mut channel.track {
                Track::Translation(v) | Track::Scale(v) => retain(v, &keep, per_key),
                Track::Rotation(v) => retain(v, &keep, per_key),
                Track::Weights(v) => retain(v, &keep, per_key),
                Track::SparseWeights(v) => *v = v.with_rows(&keep, per_key),
            }
        }
        if channel.times.is_empty() {
            self.warn("skipped: it has no keys");
            return Ok(None);
        }
        Ok(Some(channel))
    }

    /// A matrix cannot be animated by parts.
    fn decompose(&mut self, node: &mut Node, track: &Track) {
        if let (Transform::Matrix(matrix), false) = (node.local, track.is_weights()) {
            let (scale, rotation, translation) = matrix.to_scale_rotation_translation();
            node.local = Transform::Trs { translation, rotation, scale };
            self.warn("it moves a node that has a matrix: taken apart");
        }
    }

    fn warn(&mut self, what: &str) {
        self.warnings.push(Warning::new(Place::Json(self.place.clone()), what));
    }

    fn broken(&self, what: String) -> Malformed {
        Malformed::new(Place::Json(self.place.clone()), what, AGAIN)
    }
}

fn retain<T: Copy>(values: &mut Vec<T>, keep: &[bool], per_key: usize) {
    let mut i = 0;
    values.retain(|_| {
        i += 1;
        keep[(i - 1) / per_key]
    });
}
