//! PC2 point caches, as Blender's Mesh Cache modifier and 3ds Max read them.
//!
//! A cache holds the positions of every vertex in every frame, in the order and the space of the
//! mesh. In Blender, import the mesh with the importer's own settings (OBJ or PLY, which keep the
//! vertex order and the coordinates; a GLB is turned on import), add a Mesh Cache modifier, choose
//! the file and the format PC2, and set Frame Start to the first frame of the take, which Blender
//! does not take from the file. Every other setting stays as it is; no axis needs to be flipped.

use std::io::{self, Write};

use glam::Vec3;

use super::take::rest_mesh;
use super::{Malformed, Place, Take};

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

/// Reads the positions of every vertex in every frame.
///
/// # Errors
///
/// [`Malformed`] for what is no point cache, or is cut off.
pub fn read(bytes: &[u8]) -> Result<Vec<Vec<Vec3>>, Malformed> {
    const HEADER: usize = 32;
    let wrong = |what: &str| Malformed::new(Place::File, what, "export the point cache again");
    if !bytes.starts_with(b"POINTCACHE2\0") || bytes.len() < HEADER {
        return Err(wrong("it is no PC2 point cache"));
    }
    let number = |at: usize| {
        let four = [bytes[at], bytes[at + 1], bytes[at + 2], bytes[at + 3]];
        usize::try_from(i32::from_le_bytes(four)).unwrap_or(0)
    };
    let (count, frames) = (number(16), number(28));
    let floats = count.checked_mul(frames).and_then(|n| n.checked_mul(12));
    if floats.is_none_or(|n| n != bytes.len() - HEADER || n == 0) {
        let what =
            format!("{frames} frames of {count} vertices do not fit its {} bytes", bytes.len());
        return Err(wrong(&what));
    }
    let point = |p: &[u8]| {
        let float = |k: usize| f32::from_le_bytes([p[k], p[k + 1], p[k + 2], p[k + 3]]);
        Vec3::new(float(0), float(4), float(8))
    };
    let frame = |f: &[u8]| f.chunks_exact(12).map(point).collect();
    let frames: Vec<Vec<Vec3>> = bytes[HEADER..].chunks_exact(12 * count).map(frame).collect();
    for (number, frame) in frames.iter().enumerate() {
        if let Some(vertex) = frame.iter().position(|p| !p.is_finite()) {
            return Err(wrong(&format!("vertex {vertex} of frame {number} is nowhere")));
        }
    }
    Ok(frames)
}

fn write_positions(positions: &[Vec3], out: &mut impl Write) -> io::Result<()> {
    for x in positions.iter().flat_map(|p| p.to_array()) {
        out.write_all(&x.to_le_bytes())?;
    }
    Ok(())
}
