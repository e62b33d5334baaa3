//! `MakeHuman` targets: displacements of the vertices of a base mesh, as text.
//!
//! # What is read
//!
//! Lines of a vertex number from 0 and three lengths; `#` starts a comment. Vertices that are not named stay.
//!
//! ```
//! use glam::Vec3;
//! use supple::io::makehuman;
//!
//! let moved = makehuman::read_target(b"# smile\n2 0 .5 -1\n", 4)?;
//! assert_eq!(moved[2], Vec3::new(0.0, 0.5, -1.0));
//! # Ok::<(), supple::io::Malformed>(())
//! ```

use glam::Vec3;

use super::text::{Lines, Words, quote};
use super::{Malformed, Place};

/// The displacement of each of so many vertices.
///
/// # Errors
///
/// [`Malformed`] with the line of what makes no sense.
pub fn read_target(bytes: &[u8], vertices: usize) -> Result<Vec<Vec3>, Malformed> {
    let mut moved = vec![Vec3::ZERO; vertices];
    let mut lines = Lines::new(bytes);
    while let Some(line) = lines.next_line() {
        let end = memchr::memchr(b'#', line).unwrap_or(line.len());
        let mut words = Words::new(&line[..end]);
        if words.is_done() {
            continue;
        }
        let place = Place::Line(lines.number());
        let wrong = |what: String| {
            Malformed::new(place.clone(), what, "a line is a vertex number and three lengths")
        };
        let vertex = match words.integer() {
            Some(Ok(vertex)) => vertex,
            Some(Err(word)) => return Err(wrong(format!("{} is no vertex number", quote(word)))),
            None => continue,
        };
        let slot = usize::try_from(vertex).ok().and_then(|v| moved.get_mut(v));
        let Some(slot) = slot else {
            let fix = "use the base mesh that the target was made for";
            return Err(Malformed::new(
                place,
                format!("vertex {vertex} does not exist: the base has {vertices}"),
                fix,
            ));
        };
        for axis in 0..3 {
            match words.float() {
                Some(Ok(length)) if length.is_finite() => slot[axis] = length,
                Some(Ok(length)) => return Err(wrong(format!("{length} is no length"))),
                Some(Err(word)) => return Err(wrong(format!("{} is no number", quote(word)))),
                None => return Err(wrong(format!("vertex {vertex} has {axis} of three lengths"))),
            }
        }
    }
    Ok(moved)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_makes_no_sense_is_said_with_its_line() {
        for (text, said) in [
            ("0 1 2 3\n9 0 0 0", "vertex 9 does not exist"),
            ("0 1 2", "2 of three"),
            ("x 1 2 3", "no vertex number"),
            ("0 1 nan 3", "n"),
            ("-1 0 0 0", "vertex -1"),
        ] {
            let wrong = read_target(text.as_bytes(), 3).unwrap_err();
            assert!(wrong.what.contains(said), "{text:?}: {}", wrong.what);
        }
        assert_eq!(read_target(b"", 2).unwrap(), [Vec3::ZERO; 2]);
    }
}
