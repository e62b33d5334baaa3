//! How much a bake will write, told before it does.

use std::path::Path;

use super::cache::Cache;
use super::{BakeError, Options, output_folder, wanted_frames};
use crate::mesh::TriMesh;
use crate::mesh::attribute::TANGENT;
use crate::player::Player;
use crate::scene::TakeFormat;

/// A binary glTF file counts its bytes in 32 bits.
const LARGEST_GLB: u64 = u32::MAX as u64;

/// About how many bytes a bake writes.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Estimate {
    /// Stored frames, which go away at the end unless they are kept.
    pub cache: u64,
    /// The files of each format.
    pub files: Vec<(TakeFormat, u64)>,
}

impl Estimate {
    /// Everything that lies on the disk at the same time.
    #[must_use]
    pub fn total(&self) -> u64 {
        self.files.iter().fold(self.cache, |sum, (_, bytes)| sum.saturating_add(*bytes))
    }

    /// The format whose file cannot be as long as it would have to be, if there is one.
    #[must_use]
    pub fn too_long(&self) -> Option<TakeFormat> {
        self.files
            .iter()
            .find(|(f, bytes)| *f == TakeFormat::Glb && *bytes > LARGEST_GLB)
            .map(|f| f.0)
    }
}

/// About how much [`bake`](super::bake()) will write: right to a third or so, text less so.
///
/// # Errors
///
/// [`BakeError`] if the scene has not the frames that are asked for.
pub fn estimate(player: &Player, options: &Options) -> Result<Estimate, BakeError> {
    let frames = wanted_frames(player, options)?;
    let count = u64::from(frames.end - frames.start);
    let meshes: Vec<&TriMesh> = player.cast().iter().map(|c| &c.rest.meshes[0]).collect();
    let vertices: u64 = meshes.iter().map(|m| m.positions.len() as u64).sum();
    let state = postcard::to_stdvec(&player.snapshot()).map_or(0, |bytes| bytes.len() as u64);
    let formats = options.formats.as_ref().unwrap_or(&player.scene().output.formats);
    let mut files: Vec<(TakeFormat, u64)> = Vec::new();
    for &format in formats {
        if files.iter().all(|(known, _)| *known != format) {
            let frame: u64 = meshes.iter().map(|mesh| bytes_a_frame(mesh, format)).sum();
            files.push((format, count.saturating_mul(frame)));
        }
    }
    Ok(Estimate { cache: count.saturating_mul(12 * vertices + state), files })
}

/// Bytes of the frames that an earlier bake into a folder left there.
#[must_use]
pub fn stored_bytes(player: &Player, folder: &Path) -> u64 {
    let cache = Cache::folder_in(&output_folder(player, folder));
    let entries = std::fs::read_dir(cache).into_iter().flatten().flatten();
    entries.filter_map(|entry| entry.metadata().ok()).map(|data| data.len()).sum()
}

/// About how many bytes one frame of a body takes.
fn bytes_a_frame(mesh: &TriMesh, format: TakeFormat) -> u64 {
    let (vertices, triangles) = (mesh.positions.len() as u64, mesh.triangles.len() as u64);
    match format {
        // Displacements of positions, normals and tangents; vertices are split where values at corners differ.
        TakeFormat::Glb => {
            let split = mesh.corners.iter().map(|c| c.values.len() as u64).fold(vertices, u64::max);
            let has_tangents = mesh.attributes.get(TANGENT).is_some()
                || mesh.corners.iter().any(|c| c.name == TANGENT);
            (24 + 12 * u64::from(has_tangents)) * split
        }
        // Three numbers of about eleven letters.
        TakeFormat::Usda => 36 * vertices,
        TakeFormat::Pc2 | TakeFormat::Mdd => 12 * vertices,
        TakeFormat::Ply => {
            let attributes = mesh.attributes.iter().map(|a| 4 * a.values.width() as u64);
            (12 + attributes.sum::<u64>()) * vertices + 13 * triangles
        }
        TakeFormat::Obj => 32 * vertices + 24 * triangles,
    }
}
