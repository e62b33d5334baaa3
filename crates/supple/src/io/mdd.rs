//! Lightwave MDD point caches, as Blender's Mesh Cache modifier reads them.
//!
//! Used as [`pc2`](super::pc2) is: set Frame Start of the modifier to the first frame of the take
//! and leave every other setting as it is. Numbers are big endian; each frame has its time in
//! seconds.

use std::io::{self, Write};

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
    out.write_all(&take.frames.to_be_bytes())?;
    out.write_all(&count.to_be_bytes())?;
    for frame in 0..take.frames {
        let seconds = (f64::from(take.first_frame) + f64::from(frame)) / take.fps;
        out.write_all(&(seconds as f32).to_be_bytes())?;
    }
    for frame in 0..take.frames {
        (take.positions)(frame, &mut positions)?;
        for x in positions.iter().flat_map(|p| p.to_array()) {
            out.write_all(&x.to_be_bytes())?;
        }
    }
    Ok(())
}
