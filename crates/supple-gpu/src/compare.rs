//! Before and after: the same camera, and what changed as colour.

use glam::Vec3;

use crate::camera::Framing;
use crate::colormap::Colormap;
use crate::picture::Image;
use crate::renderer::{RenderError, Renderer};
use crate::sheet::side_by_side;
use crate::view::{Body, Scalars, View, aspect, legend_room};

/// Why two shapes cannot be compared.
#[derive(Debug, thiserror::Error)]
pub enum CompareError {
    /// They have no vertices in common.
    #[error(
        "cannot compare shapes of {before} and {after} vertices: the same vertices in the same order are needed"
    )]
    DifferentVertices {
        /// Vertices before.
        before: usize,
        /// Vertices after.
        after: usize,
    },
}

/// How far each vertex moved, in the scene.
///
/// # Errors
///
/// [`CompareError::DifferentVertices`] if the bodies do not have the same number of vertices.
pub fn displacement(before: &Body<'_>, after: &Body<'_>) -> Result<Vec<f32>, CompareError> {
    let (p, q) = (before.placed(), after.placed());
    if p.len() != q.len() {
        return Err(CompareError::DifferentVertices { before: p.len(), after: q.len() });
    }
    Ok(p.iter().zip(&q).map(|(a, b)| a.distance(*b)).collect())
}

/// How bodies are compared.
#[derive(Clone, Debug)]
pub struct Comparison {
    /// Width and height of one panel, in pixels.
    pub panel: [u32; 2],
    /// Which way is up.
    pub up: Vec3,
    /// From the subject to the camera; `None` for a three-quarter view.
    pub direction: Option<Vec3>,
    /// What stands in the corners of the panels.
    pub captions: [String; 2],
}

impl Default for Comparison {
    fn default() -> Self {
        let captions = ["before", "after"].map(str::to_owned);
        Self { panel: [640, 720], up: Vec3::Y, direction: None, captions }
    }
}

/// Two panels from the same camera: before, and after with how far each vertex moved as colour. Bodies
/// that do not have the same vertices before and after are shown in their paints.
///
/// # Errors
///
/// If a picture cannot be taken.
pub fn before_after(
    renderer: &mut Renderer,
    before: &[Body<'_>],
    after: &[Body<'_>],
    how: &Comparison,
) -> Result<Image, RenderError> {
    let pairs = before.iter().zip(after);
    let moved: Option<Vec<Vec<f32>>> = (before.len() == after.len())
        .then(|| pairs.map(|(p, q)| displacement(p, q).ok()).collect())
        .flatten();
    let ratio = aspect(how.panel);
    let mut framing = match how.direction {
        Some(direction) => Framing::new(direction, how.up, ratio),
        None => Framing::three_quarter(how.up, ratio),
    };
    if moved.is_some() {
        framing = framing.with_room(legend_room(how.panel));
    }
    let up = how.up.try_normalize().unwrap_or(Vec3::Y);
    let mut floor = f32::INFINITY;
    for body in before.iter().chain(after) {
        let placed = body.placed();
        framing.add(&placed);
        floor = placed.iter().map(|x| x.dot(up)).fold(floor, f32::min);
    }
    let mut panel = |bodies: Vec<Body<'_>>| {
        let floor = floor.is_finite().then_some(floor);
        let view = View { bodies, floor, ..View::through(framing.camera(), how.panel) };
        renderer.render(&view)
    };
    let left = panel(before.to_vec())?;
    let right = match &moved {
        Some(moved) => panel(colored(after, moved))?,
        None => panel(after.to_vec())?,
    };
    let [first, second] = &how.captions;
    Ok(side_by_side(&[(first, &left), (second, &right)]))
}

/// Bodies in the colours of how far they moved, in the same colours for all, explained once.
fn colored<'a>(after: &[Body<'a>], moved: &'a [Vec<f32>]) -> Vec<Body<'a>> {
    let most = moved.iter().flatten().copied().filter(|d| d.is_finite()).fold(0.0, f32::max);
    let field = |(i, values): (usize, &'a Vec<f32>)| Scalars {
        colormap: Some(Colormap::Heat),
        range: Some([0.0, most]),
        legend: i == 0,
        ..Scalars::new("moved by", values)
    };
    let dressed =
        |(body, field): (&Body<'a>, Scalars<'a>)| Body { field: Some(field), ..body.clone() };
    after.iter().zip(moved.iter().enumerate().map(field)).map(dressed).collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    use supple::TriMesh;

    #[test]
    fn displacement_is_measured_in_the_scene() {
        let mesh = TriMesh::new(vec![Vec3::ZERO, Vec3::X], vec![]);
        let moved = [Vec3::Y, Vec3::X];
        let transform = glam::Mat4::from_scale(Vec3::splat(3.0));
        let before = Body { transform, ..Body::new(&mesh) };
        let after = Body { positions: Some(&moved), ..before.clone() };
        assert_eq!(displacement(&before, &after).unwrap(), [3.0, 0.0]);
        let other = TriMesh::default();
        assert!(displacement(&before, &Body::new(&other)).is_err(), "no vertices in common");
    }
}
