//! Tet bodies that move from inside: the same bits on every machine, at any resolution.
//!
//! All are grids of cubes cut into five tets with mirrored neighbours ([`grid`](self)), bent into shape, so that none of
//! them has a handedness of its own. Lengths are metres, y is up. Each has the attributes `layer` (0 inside, 1 outside;
//! for solid bodies from the bottom to the top) and `phase` (0 to 1 along the body, or from the top to the rim).
//!
//! # Example
//!
//! ```
//! use supple::zoo::tet_bodies;
//!
//! let worm = tet_bodies::build("worm", None)?;
//! assert_eq!(worm.positions.len(), 468);
//! # Ok::<(), tet_bodies::Error>(())
//! ```

mod grid;

use std::f64::consts::PI;

use glam::{DVec3, UVec3, Vec3, Vec4};

use self::grid::{Grid, disc};
use crate::mesh::attribute::COLOR;
use crate::mesh::{TetMesh, TriMesh, Values};

/// Most vertices that [`build`] makes.
pub const MOST_VERTICES: usize = 4_000_000;

/// One body.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Entry {
    /// What to call it.
    pub name: &'static str,
    /// What it is, in a few words.
    pub what: &'static str,
    /// About how many vertices it has unless told otherwise.
    pub default_vertices: usize,
}

/// Why [`build`] refused.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum Error {
    /// There is no such body.
    #[error("no tet body '{name}' in the zoo; there are: {}", listed())]
    Unknown {
        /// What was asked for.
        name: String,
    },
    /// More vertices are wanted than can be made.
    #[error("{vertices} vertices are too many: a body can have up to {MOST_VERTICES}")]
    TooMany {
        /// How many were wanted.
        vertices: usize,
    },
}

fn listed() -> String {
    BODIES.iter().map(|e| e.name).collect::<Vec<_>>().join(", ")
}

/// All bodies.
pub const BODIES: &[Entry] = &[
    entry("bar", "a square bar 5 long and 1 thick, along x", 525),
    entry("tube", "a straight tube 1 long, along x, 0.12 wide", 720),
    entry("worm", "a round worm 1 long and 0.06 thick, along x", 468),
    entry("snail", "a snail 1 long, creeping along x, with its house on its back", 1575),
    entry("jellyfish", "a bell 1 wide, open below", 867),
    entry("heart", "the left ventricle of a heart, 0.1 high, open above", 1296),
    entry("bowel", "an S-shaped piece of bowel", 1584),
];

const fn entry(name: &'static str, what: &'static str, default_vertices: usize) -> Entry {
    Entry { name, what, default_vertices }
}

/// Makes the body called `name` with about as many vertices as wanted.
///
/// # Errors
///
/// [`Error::Unknown`] for a name not in [`BODIES`], [`Error::TooMany`] for more than [`MOST_VERTICES`].
pub fn build(name: &str, vertices: Option<usize>) -> Result<TetMesh, Error> {
    let Some(entry) = BODIES.iter().find(|e| e.name == name) else {
        return Err(Error::Unknown { name: name.to_owned() });
    };
    let wanted = vertices.unwrap_or(entry.default_vertices);
    if wanted > MOST_VERTICES {
        return Err(Error::TooMany { vertices: wanted });
    }
    let mut mesh = match entry.name {
        "bar" => bar(wanted),
        "tube" => tube(wanted),
        "worm" => worm(wanted),
        "snail" => snail(wanted),
        "jellyfish" => jellyfish(wanted),
        "heart" => heart(wanted),
        _ => bowel(wanted),
    };
    entry.name.clone_into(&mut mesh.name);
    Ok(mesh)
}

/// The surface of a body with about as many triangles as wanted: a fine skin for tets of any size.
///
/// # Errors
///
/// As [`build`].
pub fn surface(name: &str, triangles: Option<usize>) -> Result<TriMesh, Error> {
    let mut mesh = build(name, None)?;
    if let Some(wanted) = triangles {
        // Triangles grow with the square of the resolution, vertices with its cube.
        for _ in 0..3 {
            let ratio = wanted as f64 / mesh.boundary().len() as f64;
            let vertices = mesh.positions.len() as f64 * libm::pow(ratio, 1.5);
            mesh = build(name, Some((vertices as usize).max(64)))?;
        }
    }
    let faces = mesh.boundary();
    let mut used: Vec<u32> = faces.iter().flatten().copied().collect();
    used.sort_unstable();
    used.dedup();
    let place = |v: u32| used.binary_search(&v).map_or(0, |k| k as u32);
    let triangles = faces.iter().map(|f| f.map(place)).collect();
    let positions: Vec<Vec3> = used.iter().map(|&v| mesh.positions[v as usize]).collect();
    let color = color(name);
    let mut surface = TriMesh::new(positions, triangles);
    surface.attributes.set(COLOR, Values::Vec4(vec![color; used.len()]));
    Ok(surface)
}

/// What a body looks like, in linear light.
fn color(name: &str) -> Vec4 {
    let [r, g, b] = match name {
        "jellyfish" => [0.45, 0.62, 0.85],
        "worm" => [0.80, 0.42, 0.38],
        "snail" => [0.55, 0.42, 0.26],
        "heart" => [0.62, 0.10, 0.10],
        "bowel" => [0.80, 0.45, 0.40],
        _ => [0.55, 0.62, 0.70],
    };
    Vec4::new(r, g, b, 1.0)
}

/// Numbers of vertices along three axes whose product is near what is wanted: the two across as in the model, scaled, and
/// odd, so that the mirrored cubes are symmetric; the first takes what is left.
fn counts(model: [u32; 3], wanted: usize) -> [u32; 3] {
    let product: f64 = model.iter().map(|&n| f64::from(n)).product();
    let factor = libm::cbrt(wanted as f64 / product);
    let odd = |n: u32| (2 * ((f64::from(n) * factor - 1.0) / 2.0).round().max(1.0) as u32) + 1;
    let (y, z) = (odd(model[1]), odd(model[2]));
    [((wanted as f64 / f64::from(y * z)).round() as u32).max(4), y, z]
}

fn bar(wanted: usize) -> TetMesh {
    let [x, y, z] = counts([21, 5, 5], wanted);
    let place = |p: DVec3| DVec3::new(5.0 * (p.x - 0.5), p.y - 0.5, p.z - 0.5);
    Grid::block(x, y, z).mesh(place, |p| [p.y, p.x])
}

fn worm(wanted: usize) -> TetMesh {
    let [x, y, z] = counts([52, 3, 3], wanted);
    // With three vertices across it is square, so that it has a sole to lie on.
    let section = |p: DVec3| {
        let (a, b) = (2.0 * p.y - 1.0, 2.0 * p.z - 1.0);
        if y > 3 { disc(a, b) } else { (a, b) }
    };
    let place = |p: DVec3| {
        let (a, b) = section(p);
        let end = (2.0 * p.x - 1.0).abs();
        let radius = 0.03 * (1.0 - 0.3 * libm::pow(end, 24.0));
        DVec3::new(p.x - 0.5, radius * a, radius * b)
    };
    Grid::block(x, y, z).mesh(place, |p| {
        let (a, b) = section(p);
        [(a * a + b * b).sqrt(), p.x]
    })
}

fn tube(wanted: usize) -> TetMesh {
    let n = ring_counts([21, 12, 3], wanted);
    let place = |p: DVec3| {
        let (angle, radius) = (2.0 * PI * p.y, 0.03 + 0.03 * p.z);
        DVec3::new(p.x - 0.5, radius * libm::cos(angle), radius * libm::sin(angle))
    };
    n.mesh(place, |p| [p.z, p.x])
}

/// A grid that runs around in its second axis, in an even number of cells: in an odd ring the mirrored cubes would meet
/// their like.
fn ring_counts(model: [u32; 3], wanted: usize) -> Grid {
    let product: f64 = model.iter().map(|&n| f64::from(n)).product();
    let factor = libm::cbrt(wanted as f64 / product);
    let y = 2 * (f64::from(model[1]) * factor / 2.0).round().max(3.0) as u32;
    let z = (f64::from(model[2]) * factor).round().max(2.0) as u32;
    let x = ((wanted as f64 / f64::from(y * z)).round() as u32).max(3);
    Grid { vertices: UVec3::new(x, y, z), ring: true }
}

/// The middle line of the bowel: an S of two half circles, and the direction along it.
fn s_line(t: f64) -> (DVec3, DVec3) {
    const RADIUS: f64 = 0.16;
    let turn = if t < 0.5 { -1.0 } else { 1.0 };
    let angle = 2.0 * PI * (t - 0.5);
    let (sin, cos) = (libm::sin(angle), libm::cos(angle));
    let point = RADIUS * DVec3::new(turn * (1.0 - cos), sin, 0.0);
    (point, DVec3::new(turn * sin, cos, 0.0))
}

fn bowel(wanted: usize) -> TetMesh {
    let n = ring_counts([44, 12, 3], wanted);
    let place = |p: DVec3| {
        let (center, along) = s_line(p.x);
        let side = DVec3::new(-along.y, along.x, 0.0);
        let (angle, radius) = (2.0 * PI * p.y, 0.035 + 0.025 * p.z);
        center + radius * (libm::cos(angle) * side + libm::sin(angle) * DVec3::Z)
    };
    n.mesh(place, |p| [p.z, p.x])
}

fn jellyfish(wanted: usize) -> TetMesh {
    let [x, y, z] = shell_counts(17, 3, wanted);
    let place = |p: DVec3| {
        let (a, b) = disc(2.0 * p.x - 1.0, 2.0 * p.y - 1.0);
        // Thick at the top, thin at the rim; the rim hangs a little below the middle of the ball.
        let reach = (a * a + b * b).sqrt();
        let angle = 0.55 * PI * reach;
        let radius = 0.5 - (1.0 - p.z) * (0.12 - 0.07 * reach * reach);
        let (sin, cos) = (libm::sin(angle), libm::cos(angle));
        let spread = if reach > 0.0 { radius * sin / reach } else { 0.0 };
        DVec3::new(spread * a, 0.8 * radius * cos, spread * b)
    };
    Grid::block(x, y, z).mesh(place, |p| [p.z, reach(p)])
}

fn heart(wanted: usize) -> TetMesh {
    let [x, y, z] = shell_counts(18, 4, wanted);
    let place = |p: DVec3| {
        let (a, b) = disc(2.0 * p.x - 1.0, 2.0 * p.y - 1.0);
        let reach = (a * a + b * b).sqrt();
        // A truncated ellipsoid with the apex below: inner half axes 0.025 and 0.055, outer 0.036 and 0.066.
        let (short, long) = (0.025 + 0.011 * p.z, 0.055 + 0.011 * p.z);
        let angle = 0.62 * PI * reach;
        let (sin, cos) = (libm::sin(angle), libm::cos(angle));
        let spread = if reach > 0.0 { short * sin / reach } else { 0.0 };
        DVec3::new(spread * a, -long * cos, spread * b)
    };
    Grid::block(x, y, z).mesh(place, |p| [p.z, reach(p)])
}

/// How far a place of a round sheet is from its middle, in `[0, 1]`.
fn reach(p: DVec3) -> f64 {
    let (a, b) = disc(2.0 * p.x - 1.0, 2.0 * p.y - 1.0);
    (a * a + b * b).sqrt().min(1.0)
}

/// A square sheet of some layers, both sides alike.
fn shell_counts(side: u32, layers: u32, wanted: usize) -> [u32; 3] {
    let factor = libm::cbrt(wanted as f64 / f64::from(side * side * layers));
    let mut best = (f64::INFINITY, [side, side, layers]);
    let middle = (f64::from(layers) * factor).round() as u32;
    for z in middle.saturating_sub(1).max(2)..=middle + 2 {
        let x = ((wanted as f64 / f64::from(z)).sqrt().round() as u32).max(4);
        let off = (f64::from(x * x * z) / wanted as f64).ln().abs();
        let cost = 4.0 * off + 0.1 * (f64::from(z) / (f64::from(layers) * factor)).ln().abs();
        if cost < best.0 {
            best = (cost, [x, x, z]);
        }
    }
    best.1
}

fn snail(wanted: usize) -> TetMesh {
    let [x, y, z] = counts([35, 9, 5], wanted);
    let place = |p: DVec3| {
        let t = 2.0 * p.x - 1.0;
        let (a, b) = (2.0 * p.y - 1.0, 2.0 * p.z - 1.0);
        let (side, up) = disc(b, a);
        // Body: a flat sole; in the middle the house, a ball on the back; in front the raised head.
        let taper = (1.0 - libm::pow(t.abs(), 4.0) * 0.75).sqrt();
        let house = libm::exp(-16.0 * t * t);
        let head = 0.5 * (1.0 + libm::tanh(9.0 * (t - 0.72)));
        let width = 0.09 * taper + 0.07 * house * (0.5 + 0.5 * up);
        let height = 0.07 * taper + 0.27 * house;
        let lift = 0.1 * head;
        DVec3::new(0.5 * t, lift + height * (0.5 + 0.5 * up), width * side)
    };
    Grid::block(x, y, z).mesh(place, |p| [p.y, p.x])
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn bodies_are_sound_at_any_resolution() {
        for entry in BODIES {
            for vertices in
                [None, Some(entry.default_vertices / 2), Some(3 * entry.default_vertices)]
            {
                let mesh = build(entry.name, vertices).unwrap();
                let wanted = vertices.unwrap_or(entry.default_vertices) as f64;
                let found = mesh.positions.len() as f64;
                assert!(
                    (found / wanted - 1.0).abs() < 0.12,
                    "{}: {found} for {wanted}",
                    entry.name
                );
                let smallest =
                    (0..mesh.tets.len()).map(|t| mesh.volume_of(t)).fold(f64::INFINITY, f64::min);
                assert!(smallest > 0.0, "{} at {found}: a tet of volume {smallest}", entry.name);
                let surface = mesh.surface();
                let volume = crate::mesh::volume::volume(
                    &surface.positions,
                    &surface.triangles,
                    &crate::Run::default(),
                );
                assert!(
                    (volume / mesh.volume() - 1.0).abs() < 1e-4,
                    "{}: surface and tets agree",
                    entry.name
                );
            }
        }
    }

    #[test]
    fn the_papers_counts_are_met() {
        let counts = [
            ("jellyfish", 854),
            ("worm", 470),
            ("jellyfish", 315),
            ("worm", 73),
            ("heart", 1302),
            ("bowel", 1576),
        ];
        for (name, vertices) in counts {
            let found = build(name, Some(vertices)).unwrap().positions.len() as f64;
            let off = (found / f64::from(vertices as u32) - 1.0).abs();
            assert!(off <= 0.03, "{name}: {found} for {vertices}");
        }
    }

    #[test]
    fn what_cannot_be_built_is_refused() {
        assert_eq!(build("whale", None).unwrap_err(), Error::Unknown { name: "whale".to_owned() });
        let vertices = MOST_VERTICES + 1;
        assert_eq!(build("worm", Some(vertices)).unwrap_err(), Error::TooMany { vertices });
    }
}
