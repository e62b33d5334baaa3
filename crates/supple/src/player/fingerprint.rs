//! A hash of all that decides where vertices go, to tell whether stored frames are still right.

use bytemuck::cast_slice;
use glam::Vec3;

use super::Cast;
use super::arena::Arena;
use super::cast::Drive;
use crate::rig::{Body, Clip, Track, Transform};
use crate::scene::{Modifier, Scene};

/// Raised when the same scene gives other frames than before.
const FRAMES_VERSION: u32 = 1;

pub(super) fn of(scene: &Scene, cast: &[Cast], arena: &Arena) -> [u8; 32] {
    let mut hash = Hash(blake3::Hasher::new());
    hash.bytes(env!("CARGO_PKG_VERSION").as_bytes());
    hash.bytes(&FRAMES_VERSION.to_le_bytes());
    // What is written and where does not change where vertices go.
    let moving = Scene { output: crate::scene::Output::default(), ..scene.clone() };
    hash.bytes(moving.to_toml().as_bytes());
    for cast in cast {
        hash.body(&cast.body);
        cast.actor.modifiers.iter().flat_map(Modifier::loaded).for_each(|tool| hash.tool(tool));
        match &cast.drive {
            Drive::Still => {}
            // All of it is in the scene and the body.
            #[cfg(feature = "rigid")]
            Drive::Simulated { .. } => {}
            Drive::Clip { clip, .. } => hash.clip(clip),
            Drive::Path { path, .. } => hash.bytes(format!("{path:?}").as_bytes()),
        }
    }
    for collider in arena.colliders() {
        hash.bytes(cast_slice(&collider.mesh.positions));
        hash.bytes(cast_slice(&collider.mesh.triangles));
    }
    *hash.0.finalize().as_bytes()
}

struct Hash(blake3::Hasher);

impl Hash {
    /// With their length before them, so that lists cannot run into each other.
    fn bytes(&mut self, bytes: &[u8]) {
        self.0.update(&(bytes.len() as u64).to_le_bytes());
        self.0.update(bytes);
    }

    fn tool(&mut self, (positions, triangles): (&[Vec3], &[[u32; 3]])) {
        self.bytes(cast_slice(positions));
        self.bytes(cast_slice(triangles));
    }

    fn body(&mut self, body: &Body) {
        self.bytes(cast_slice(&body.mesh.positions));
        self.bytes(cast_slice(&body.mesh.triangles));
        for i in 0..body.mesh.positions.len() {
            let row = body.mesh.skin_weights.iter().flat_map(|w| w.of(i));
            for (joint, weight) in row {
                self.0.update(&joint.to_le_bytes());
                self.0.update(&weight.to_le_bytes());
            }
            self.0.update(&[0xff; 8]);
        }
        for morph in &body.morphs {
            self.bytes(morph.name.as_bytes());
            self.bytes(cast_slice(&[morph.node, morph.index as u32, morph.vertices.start]));
            self.bytes(cast_slice(&morph.positions));
        }
        for joint in &body.joints {
            self.0.update(&joint.node.to_le_bytes());
            self.bytes(cast_slice(&joint.inverse_bind.to_cols_array()));
        }
        self.bytes(format!("{:?}", body.hierarchy()).as_bytes());
        let rest = body.rest_pose();
        for (local, weights) in rest.locals.iter().zip(&rest.morph_weights) {
            self.transform(local);
            self.bytes(cast_slice(weights));
        }
    }

    fn transform(&mut self, transform: &Transform) {
        match transform {
            Transform::Trs { translation, rotation, scale } => {
                self.bytes(cast_slice(&translation.to_array()));
                self.bytes(cast_slice(&rotation.to_array()));
                self.bytes(cast_slice(&scale.to_array()));
            }
            Transform::Matrix(matrix) => self.bytes(cast_slice(&matrix.to_cols_array())),
        }
    }

    fn clip(&mut self, clip: &Clip) {
        for channel in &clip.channels {
            self.0.update(&channel.node.to_le_bytes());
            self.bytes(cast_slice(&channel.times));
            self.bytes(format!("{:?}", channel.interpolation).as_bytes());
            let (kind, values): (u8, &[u8]) = match &channel.track {
                Track::Translation(v) => (0, cast_slice(v)),
                Track::Rotation(v) => (1, cast_slice(v)),
                Track::Scale(v) => (2, cast_slice(v)),
                Track::Weights(v) => (3, cast_slice(v)),
            };
            self.0.update(&[kind]);
            self.bytes(values);
        }
    }
}
