//! The last step of edits that keep volume exactly: the correction, where it makes nothing cross.
//!
//! # Method
//!
//! [`exact_volume`] moves vertices along their normals, by next to nothing. Sheets that nearly touch may
//! cross all the same. The vertices of triangles that do are held, and the others make up for them.
//!
//! # Limits
//!
//! An open shape has no volume and is left as it is (`an_open_shape_is_left_as_it_is`).

use glam::Vec3;

use crate::Run;
use crate::mesh::exact_volume::exact_volume;
use crate::mesh::intersect::self_intersections;
use crate::mesh::welding::is_closed;
use crate::run::Cancelled;

/// Corrections that are tried, each with more vertices held.
const TRIES: usize = 5;

/// Gives a shape its volume back; returns why that was not done.
pub(super) fn restore_volume(
    positions: &mut [Vec3],
    triangles: &[[u32; 3]],
    target: f64,
    mut freedom: Vec<f32>,
    run: &Run<'_>,
) -> Result<Option<String>, Cancelled> {
    if !is_closed(positions, triangles) {
        return Ok(Some("volume not corrected: the shape is open and has none".to_owned()));
    }
    let before = positions.to_vec();
    let mut known = None;
    for _ in 0..TRIES {
        if let Err(error) = exact_volume(positions, triangles, target, &freedom, run) {
            return Ok(Some(format!("volume not corrected: {error}")));
        }
        let mut pairs = self_intersections(positions, triangles, run)?;
        if !pairs.is_empty() {
            let known: &Vec<_> = match &known {
                Some(known) => known,
                None => known.insert(self_intersections(&before, triangles, run)?),
            };
            pairs.retain(|pair| known.binary_search(pair).is_err());
        }
        if pairs.is_empty() {
            return Ok(None);
        }
        for &t in pairs.as_flattened() {
            triangles[t as usize].iter().for_each(|&v| freedom[v as usize] = 0.0);
        }
        positions.copy_from_slice(&before);
    }
    Ok(Some("volume not corrected: parts of the surface that nearly touch would cross".to_owned()))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::mesh::volume::volume;
    use crate::zoo;

    /// Two cubes, a hair apart.
    fn cubes() -> (Vec<Vec3>, Vec<[u32; 3]>) {
        let size = zoo::Size { triangles: Some(600) };
        let cube = zoo::build("box", &size, &Run::default()).unwrap().meshes.swap_remove(0);
        let count = cube.positions.len() as u32;
        let width = cube.positions.iter().map(|p| 2.0 * p.x).fold(0.0, f32::max);
        let aside = cube.positions.iter().map(|&p| p + Vec3::X * (width + 1e-5));
        let positions = cube.positions.iter().copied().chain(aside).collect();
        let others = cube.triangles.iter().map(|t| t.map(|v| v + count));
        (positions, cube.triangles.iter().copied().chain(others).collect())
    }

    #[test]
    fn what_nearly_touches_is_held() {
        let ((mut positions, triangles), run) = (cubes(), Run::default());
        let target = 1.01 * volume(&positions, &triangles, &run);
        let freedom = vec![1.0; positions.len()];
        let mut blind = positions.clone();
        exact_volume(&mut blind, &triangles, target, &freedom, &run).unwrap();
        assert_ne!(self_intersections(&blind, &triangles, &run), Ok(Vec::new()), "a real case");
        let told = restore_volume(&mut positions, &triangles, target, freedom, &run);
        assert_eq!(told, Ok(None));
        assert_eq!(self_intersections(&positions, &triangles, &run), Ok(Vec::new()));
        let found = volume(&positions, &triangles, &run);
        assert!((found / target - 1.0).abs() < 1e-6, "{found} for {target}");
    }

    #[test]
    fn an_open_shape_is_left_as_it_is() {
        let ((mut positions, mut triangles), run) = (cubes(), Run::default());
        triangles.pop();
        let (before, freedom) = (positions.clone(), vec![1.0; positions.len()]);
        let told = restore_volume(&mut positions, &triangles, 1.0, freedom, &run).unwrap();
        assert!(told.is_some_and(|why| why.contains("open")), "a reason");
        assert_eq!(positions, before);
    }
}
