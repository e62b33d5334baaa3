//! PC2 point caches, as Blender's Mesh Cache modifier and 3ds Max read them.
//!
//! A cache holds the positions of every vertex in every frame, in the order and the space of the
//! mesh. In Blender, import the mesh with the importer's own settings (OBJ or PLY, which keep the
//! vertex order and the coordinates; a GLB is turned on import), add a Mesh Cache modifier, choose
//! the file and the format PC2, and set Frame Start to the first frame of the take, which Blender
//! does not take from the file. Every other setting stays as it is; no axis needs to be flipped.

use std::io::{self, Write};

use glam::Vec3;

use super::Take;
use super::take::rest_mesh;

/// Writes all frames of a take.
///
/// # Errors
///
/// Whatever `out` or the take reports.
pub fn write(take: &mut Take<'_>, out: &mut impl Write) -> io::Result<()> {
    let mut positions = rest_mesh(take)?.positions.clone();
    let count = i32::try_from(positions.len())
        .map_err(|e| io::Error::new(io::ErrorKind::InvalidInput, e))?;
    out.write_all(b"POINTCACHE2\0")?;
    out.write_all(&1_i32.to_le_bytes())?;
    out.write_all(&count.to_le_bytes())?;
    out.write_all(&(take.first_frame as f32).to_le_bytes())?;
    // One sample a frame.
    out.write_all(&1_f32.to_le_bytes())?;
    out.write_all(&take.frames.to_le_bytes())?;
    for frame in 0..take.frames {
        (take.positions)(frame, &mut positions)?;
        write_positions(&positions, out)?;
    }
    Ok(())
}

fn write_positions(positions: &[Vec3], out: &mut impl Write) -> io::Result<()> {
    for x in positions.iter().flat_map(|p| p.to_array()) {
        out.write_all(&x.to_le_bytes())?;
    }
    Ok(())
}
