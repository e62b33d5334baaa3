//! A baked motion on its way to a file.

use std::io;

use glam::Vec3;

use crate::Asset;
use crate::mesh::TriMesh;

/// One body's frames: one connectivity, positions for every frame.
///
/// Frames are fetched one at a time, so that a writer never holds a whole take in memory.
pub struct Take<'a> {
    /// The body at rest: exactly one mesh, with its materials and images.
    pub asset: &'a Asset,
    /// Frames a second.
    pub fps: f64,
    /// Number of the first frame; frame `i` is at `(first_frame + i) / fps` seconds.
    pub first_frame: u32,
    /// How many frames.
    pub frames: u32,
    /// Fills in the positions of frame `i`, counted from 0.
    pub positions: &'a mut dyn FnMut(u32, &mut [Vec3]) -> io::Result<()>,
}

impl std::fmt::Debug for Take<'_> {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Take")
            .field("fps", &self.fps)
            .field("first_frame", &self.first_frame)
            .field("frames", &self.frames)
            .finish_non_exhaustive()
    }
}

/// The one mesh of a take.
pub(super) fn rest_mesh<'a>(take: &Take<'a>) -> io::Result<&'a TriMesh> {
    match take.asset.meshes.as_slice() {
        [mesh] => Ok(mesh),
        meshes => Err(io::Error::new(
            io::ErrorKind::InvalidInput,
            format!("a take has one mesh, not {}", meshes.len()),
        )),
    }
}
