//! A hash of all that decides where vertices go, to tell whether stored frames are still right.
//!
//! Nothing is picked out: the whole scene is hashed but for where its files go, and every asset as it was
//! loaded, whoever asked for it (bodies, tools, colliders), but for how it looks. Any other file that was
//! asked for through the scene's [`Folder`](crate::scene::Folder) is hashed as it lies on the disk. A new kind
//! of modifier or source needs nothing of its own here.
//!
//! # Limits
//!
//! A file of more than 1 GB, and a level of a flow, of which there may be thousands, is told by its name, its size, the
//! time of its last change, and its first and last 64 kB.

use std::collections::BTreeSet;
use std::io::{self, Read as _, Seek as _, SeekFrom};
use std::path::{Path, PathBuf};
use std::time::UNIX_EPOCH;

use bytemuck::cast_slice;

use crate::Asset;
use crate::io::inputs;
use crate::mesh::{Attributes, CornerAttribute, MorphTarget, PointCloud, TriMesh, Values};
use crate::rig::{Channel, Clip, Track};
use crate::scene::{Noted, Output, Scene};

/// Raised when the same scene gives other frames than before, or states of another form.
const FRAMES_VERSION: u32 = 4;

/// Files up to this size are hashed whole.
const WHOLE_BYTES: u64 = 1 << 30;

/// What is hashed of a larger file at either end.
const END_BYTES: u64 = 1 << 16;

/// All that was loaded for a player.
#[derive(Clone, Debug, Default)]
pub(super) struct Sources {
    loaded: blake3::Hasher,
    /// Files that assets were read from; their contents are in the hash already.
    pub(super) assets: BTreeSet<PathBuf>,
    /// Other files that the scene names.
    pub(super) noted: Noted,
}

impl Sources {
    /// Takes in an asset as it was loaded.
    pub(super) fn add(&mut self, asset: &Asset) {
        Hash(&mut self.loaded).asset(asset);
    }

    pub(super) fn fingerprint(&self, scene: &Scene) -> [u8; 32] {
        let mut hasher = blake3::Hasher::new();
        let mut hash = Hash(&mut hasher);
        hash.bytes(env!("CARGO_PKG_VERSION").as_bytes());
        hash.bytes(&FRAMES_VERSION.to_le_bytes());
        // What is written and where does not change where vertices go.
        let moving = Scene { output: Output::default(), ..scene.clone() };
        hash.bytes(moving.to_toml().as_bytes());
        hash.bytes(self.loaded.finalize().as_bytes());
        for path in &self.noted.files {
            hash.file(path, WHOLE_BYTES);
        }
        for path in &self.noted.levels {
            hash.file(path, 0);
        }
        *hasher.finalize().as_bytes()
    }
}

struct Hash<'a>(&'a mut blake3::Hasher);

impl Hash<'_> {
    /// With their length before them, so that lists cannot run into each other.
    fn bytes(&mut self, bytes: &[u8]) {
        self.count(bytes.len());
        self.0.update(bytes);
    }

    fn count(&mut self, n: usize) {
        self.0.update(&(n as u64).to_le_bytes());
    }

    fn asset(&mut self, asset: &Asset) {
        // How a surface looks, and who looks at it, moves no vertex. No `..`: what is added to an asset
        // must be thought of here.
        let Asset {
            meshes,
            clouds,
            nodes,
            skins,
            clips,
            uv_origin,
            cameras: _,
            materials: _,
            images: _,
        } = asset;
        self.count(meshes.len());
        meshes.iter().for_each(|mesh| self.mesh(mesh));
        self.count(clouds.len());
        for PointCloud { name, positions, attributes } in clouds {
            self.bytes(name.as_bytes());
            self.bytes(cast_slice(positions));
            self.attributes(attributes);
        }
        self.bytes(format!("{nodes:?} {skins:?} {uv_origin:?}").as_bytes());
        self.count(clips.len());
        clips.iter().for_each(|clip| self.clip(clip));
    }

    fn mesh(&mut self, mesh: &TriMesh) {
        let TriMesh {
            name,
            positions,
            triangles,
            attributes,
            corners,
            groups,
            skin_weights,
            morphs,
        } = mesh;
        self.bytes(name.as_bytes());
        self.bytes(cast_slice(positions));
        self.bytes(cast_slice(triangles));
        self.attributes(attributes);
        self.count(corners.len());
        for CornerAttribute { name, values, triangles } in corners {
            self.values(name, values);
            self.bytes(cast_slice(triangles));
        }
        self.bytes(format!("{groups:?}").as_bytes());
        if let Some(weights) = skin_weights {
            self.count(weights.len());
            for vertex in 0..weights.len() {
                self.count(weights.of(vertex).len());
                for (joint, weight) in weights.of(vertex) {
                    self.0.update(&joint.to_le_bytes());
                    self.0.update(&weight.to_le_bytes());
                }
            }
        }
        self.count(morphs.len());
        for MorphTarget { name, positions, normals, weight } in morphs {
            self.bytes(name.as_bytes());
            self.bytes(cast_slice(positions));
            self.bytes(cast_slice(normals.as_deref().unwrap_or_default()));
            self.bytes(&weight.to_le_bytes());
        }
    }

    fn attributes(&mut self, attributes: &Attributes) {
        self.count(attributes.len());
        attributes.iter().for_each(|a| self.values(&a.name, &a.values));
    }

    fn values(&mut self, name: &str, values: &Values) {
        self.bytes(name.as_bytes());
        self.count(values.width());
        self.bytes(cast_slice(values.as_floats()));
    }

    fn clip(&mut self, Clip { name, channels }: &Clip) {
        self.bytes(name.as_bytes());
        self.count(channels.len());
        for Channel { node, times, track, interpolation } in channels {
            self.bytes(&node.to_le_bytes());
            self.bytes(cast_slice(times));
            self.bytes(format!("{interpolation:?}").as_bytes());
            let sparse: Vec<u8>;
            let (kind, values): (u8, &[u8]) = match track {
                Track::Translation(v) => (0, cast_slice(v)),
                Track::Rotation(v) => (1, cast_slice(v)),
                Track::Scale(v) => (2, cast_slice(v)),
                Track::Weights(v) => (3, cast_slice(v)),
                Track::SparseWeights(v) => {
                    let pair = |(i, w): (u32, f32)| [i.to_le_bytes(), w.to_le_bytes()];
                    sparse = v.iter().flat_map(pair).flatten().collect();
                    (4, &sparse)
                }
            };
            self.bytes(&[kind]);
            self.count(track.value_count());
            self.bytes(values);
        }
    }

    /// A file as it is now; one that cannot be read is like no other.
    fn file(&mut self, path: &Path, whole: u64) {
        self.bytes(path.file_name().unwrap_or_default().as_encoded_bytes());
        if let Err(error) = self.contents(path, whole) {
            self.bytes(error.to_string().as_bytes());
        }
    }

    fn contents(&mut self, path: &Path, whole: u64) -> io::Result<()> {
        let mut file = inputs::open(path)?;
        let about = file.metadata()?;
        self.0.update(&about.len().to_le_bytes());
        if about.len() <= whole {
            self.0.update_reader(&file)?;
            return Ok(());
        }
        let changed = about.modified()?.duration_since(UNIX_EPOCH).unwrap_or_default();
        self.0.update(&changed.as_nanos().to_le_bytes());
        for start in [0, about.len().saturating_sub(END_BYTES)] {
            file.seek(SeekFrom::Start(start))?;
            self.0.update_reader((&file).take(END_BYTES))?;
        }
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use std::fs::File;

    use super::*;

    fn of_file(path: &Path, whole: u64) -> blake3::Hash {
        let mut hasher = blake3::Hasher::new();
        Hash(&mut hasher).file(path, whole);
        hasher.finalize()
    }

    #[test]
    fn a_file_is_hashed_whole_and_a_huge_one_by_its_ends_and_its_time() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("level.vti");
        let mut bytes = vec![7_u8; 3 << 20];
        std::fs::write(&path, &bytes).unwrap();
        let (whole, ends) = (of_file(&path, WHOLE_BYTES), of_file(&path, 1 << 20));
        let time = File::open(&path).unwrap().metadata().unwrap().modified().unwrap();
        let rewrite = |bytes: &[u8]| {
            std::fs::write(&path, bytes).unwrap();
            File::options().write(true).open(&path).unwrap().set_modified(time).unwrap();
        };
        for (at, seen_at_ends) in [(0, true), (3 << 19, false), ((3 << 20) - 1, true)] {
            bytes[at] ^= 1;
            rewrite(&bytes);
            assert_ne!(of_file(&path, WHOLE_BYTES), whole, "byte {at}");
            assert_eq!(of_file(&path, 1 << 20) != ends, seen_at_ends, "byte {at}");
            bytes[at] ^= 1;
        }
        rewrite(&bytes);
        assert_eq!(of_file(&path, 1 << 20), ends);
        let later = time + std::time::Duration::from_millis(20);
        File::options().write(true).open(&path).unwrap().set_modified(later).unwrap();
        assert_ne!(of_file(&path, 1 << 20), ends, "the time of a huge file counts");
        std::fs::remove_file(&path).unwrap();
        assert_ne!(of_file(&path, WHOLE_BYTES), whole, "a file that is gone");
    }
}
