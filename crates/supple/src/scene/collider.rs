//! Colliders of a scene, and how assets behave in contact with them.
//!
//! ```
//! use supple::scene::Scene;
//!
//! let scene = Scene::parse(r#"
//!     supple = 1
//!     [[collider]]
//!     kind = "box"                  # or "sphere", "capsule", "ring", "plane", "convex", "mesh"
//!     size = [2, "10 cm", 1]
//!     placement = { rotate = [0, 0, 30] }
//!     [[collider]]
//!     kind = "mesh"                 # split into convex parts
//!     zoo = "torus"
//!     parts = 24
//!     motion = { kind = "path", keys = [{ time = 0, position = [0, 0, 0] }] }
//! "#, None)?;
//! assert_eq!(scene.colliders.len(), 2);
//! # Ok::<(), supple::scene::Problem>(())
//! ```

use serde::{Deserialize, Serialize};

use super::document::{Range, Table};
use super::{Motion, Placement, Problem, Source, Unit};
use crate::rig::collider::Shape;

/// A collider of a scene.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct ColliderEntry {
    /// What reports call it. Default: its kind and number.
    pub name: String,
    /// What it looks like.
    #[serde(flatten)]
    pub shape: Shape,
    /// The mesh of `convex` and `mesh`.
    #[serde(flatten, default, skip_serializing_if = "Option::is_none")]
    pub source: Option<Source>,
    /// Where it stands.
    #[serde(default)]
    pub placement: Placement,
    /// How it moves: `still` or `path`.
    #[serde(default)]
    pub motion: Motion,
    /// What it rides on, in place of a motion of its own.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub rides: Option<Ride>,
}

/// What a collider rides on.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Ride {
    /// The asset's name.
    pub asset: String,
    /// The name of its joint; its first if not given.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub joint: Option<String>,
}

/// How an asset behaves in contact.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
pub struct Contact {
    /// How far a dent reaches, as a share of the size of the segment that is dented. Default: 1; smaller
    /// looks softer.
    pub softness: f64,
    /// Whether it collides with other assets that have this set. Default: yes.
    pub others: bool,
    /// Whether its segments collide with each other. Default: no. Segments count as convex; those that
    /// overlap at rest or follow each other in the skeleton do not collide, and those that are deep in
    /// each other stay as they are, with a warning.
    pub itself: bool,
}

impl Default for Contact {
    fn default() -> Self {
        Self { softness: 1.0, others: true, itself: false }
    }
}

impl Contact {
    pub(super) fn read(table: &Table<'_>) -> Result<Self, Problem> {
        table.only(&["softness", "others", "itself"])?;
        let default = Self::default();
        let softness = Range { least: 0.05, most: 20.0 };
        Ok(Self {
            softness: table.number_or("softness", Unit(""), softness, default.softness)?,
            others: table.get("others").map_or(Ok(default.others), |f| f.flag())?,
            itself: table.get("itself").map_or(Ok(default.itself), |f| f.flag())?,
        })
    }
}

#[derive(Clone, Copy)]
enum Kind {
    Sphere,
    Capsule,
    Box,
    Ring,
    Plane,
    Convex,
    Mesh,
}

const KINDS: [(&str, Kind); 7] = [
    ("sphere", Kind::Sphere),
    ("capsule", Kind::Capsule),
    ("box", Kind::Box),
    ("ring", Kind::Ring),
    ("plane", Kind::Plane),
    ("convex", Kind::Convex),
    ("mesh", Kind::Mesh),
];

/// Lengths a collider may have.
const SIZES: Range = Range { least: 1e-6, most: 1e6 };

impl ColliderEntry {
    pub(super) fn read(table: &Table<'_>, number: usize) -> Result<Self, Problem> {
        let field = table.need("kind")?;
        let kind = field.choice(&KINDS)?;
        let own: &[&str] = match kind {
            Kind::Sphere => &["radius"],
            Kind::Capsule => &["radius", "length"],
            Kind::Box => &["size"],
            Kind::Ring => &["radius", "thickness"],
            Kind::Plane => &[],
            Kind::Convex => &["file", "zoo", "triangles"],
            Kind::Mesh => &["file", "zoo", "triangles", "parts"],
        };
        let common = ["kind", "name", "placement", "motion", "rides"];
        table.only(&[&common[..], own].concat())?;
        let length = |key: &str| table.need(key)?.number(Unit("m"), SIZES);
        let shape = match kind {
            Kind::Sphere => Shape::Sphere { radius: length("radius")? },
            Kind::Capsule => {
                Shape::Capsule { radius: length("radius")?, length: length("length")? }
            }
            Kind::Box => Shape::Box { size: table.need("size")?.numbers3(Unit("m"), SIZES)? },
            Kind::Ring => {
                Shape::Ring { radius: length("radius")?, thickness: length("thickness")? }
            }
            Kind::Plane => Shape::Plane,
            Kind::Convex => Shape::Convex,
            Kind::Mesh => {
                Shape::Mesh { parts: table.get("parts").map_or(Ok(16), |f| f.count(1..=256))? }
            }
        };
        let meshed = matches!(kind, Kind::Convex | Kind::Mesh);
        let source = meshed.then(|| Source::read(table)).transpose()?;
        let name = match table.get("name") {
            Some(field) => field.name()?,
            None => format!("{} {number}", field.text()?),
        };
        let placement = match table.get("placement") {
            Some(field) => Placement::read(&field.table("[collider.placement]")?)?,
            None => Placement::default(),
        };
        let (motion, rides) = read_motion(table)?;
        Ok(Self { name, shape, source, placement, motion, rides })
    }
}

fn read_motion(table: &Table<'_>) -> Result<(Motion, Option<Ride>), Problem> {
    let rides = match table.get("rides") {
        Some(field) => {
            let ride = field.table("rides = { asset, joint }")?;
            ride.only(&["asset", "joint"])?;
            let joint = ride.get("joint").map(|f| f.text().map(str::to_owned)).transpose()?;
            Some(Ride { asset: ride.need("asset")?.text()?.to_owned(), joint })
        }
        None => None,
    };
    let Some(field) = table.get("motion") else { return Ok((Motion::Still, rides)) };
    let motion = Motion::read(&field.table("[collider.motion]")?)?;
    if rides.is_some() && motion != Motion::Still {
        return Err(field.wrong("a collider that rides has no motion of its own", "keep one"));
    }
    if !matches!(motion, Motion::Still | Motion::Path(_)) {
        return Err(field.wrong("a collider cannot move like this", "use kind = \"path\""));
    }
    Ok((motion, rides))
}
