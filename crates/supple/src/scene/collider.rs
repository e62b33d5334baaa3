//! Colliders of a scene, and how assets behave in contact with them.
//!
//! ```
//! use supple::scene::Scene;
//!
//! let scene = Scene::parse(r#"
//!     supple = 2
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

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::document::Location;
use super::{Actor, Motion, Placement, Problem, Source};
use crate::contact::collider::ColliderShape;

/// A collider of a scene.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct ColliderEntry {
    /// What reports call it. Default: its kind and number.
    #[serde(default)]
    #[schemars(extend("format" = "name"))]
    pub name: String,
    /// What it looks like.
    #[serde(flatten)]
    pub shape: ColliderShape,
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
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct Ride {
    /// The asset's name.
    pub asset: String,
    /// The name of its joint; its first if not given.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub joint: Option<String>,
}

/// How an asset behaves in contact.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(default)]
pub struct Contact {
    /// How far a dent reaches, as a share of the size of the segment that is dented. Default: 1; smaller
    /// looks softer.
    #[schemars(range(min = 0.05, max = 20.0))]
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

impl ColliderEntry {
    /// Checks all colliders, and gives names to those that have none.
    pub(super) fn check_all(
        colliders: &mut [Self],
        assets: &[Actor],
        at: Location<'_>,
    ) -> Result<(), Problem> {
        for i in 0..colliders.len() {
            let (before, collider) = (&colliders[..i], &colliders[i]);
            let at = at.entry(i);
            let kind = at.text("kind");
            let name = match &collider.name[..] {
                "" => format!("{kind} {}", i + 1),
                name => name.to_owned(),
            };
            if before.iter().any(|c| c.name == name) {
                let what = format!("two colliders are called '{name}'");
                return Err(at.wrong(&what, "give each a name of its own: name = \"…\""));
            }
            collider.check(kind, assets, at)?;
            colliders[i].name = name;
        }
        Ok(())
    }

    fn check(&self, kind: &str, assets: &[Actor], at: Location<'_>) -> Result<(), Problem> {
        match (
            &self.source,
            matches!(self.shape, ColliderShape::Convex | ColliderShape::Mesh { .. }),
        ) {
            (None | Some(Source::Empty { .. }), true) => {
                let fix = "add file = \"model.glb\", or zoo = \"boxer\" for a built-in model";
                return Err(at.wrong("[[collider]] has neither 'file' nor 'zoo'", fix));
            }
            (Some(_), false) => {
                let key = ["file", "zoo", "empty"]
                    .into_iter()
                    .find(|key| at.has(key))
                    .unwrap_or_default();
                let what = format!("a {kind} is not made of a mesh");
                return Err(at.get(key).wrong(&what, &format!("remove '{key}'")));
            }
            _ => {}
        }
        super::check_placement(&self.placement, at.get("placement"))?;
        self.motion.check(at.get("motion"))?;
        if self.rides.is_some() && self.motion != Motion::Still {
            let what = "a collider that rides has no motion of its own";
            return Err(at.get("motion").wrong(what, "keep one"));
        }
        if !matches!(self.motion, Motion::Still | Motion::Path(_)) {
            let what = "a collider cannot move like this";
            return Err(at.get("motion").wrong(what, "use kind = \"path\""));
        }
        let unknown = |ride: &&Ride| assets.iter().all(|a| a.name != ride.asset);
        if let Some(ride) = self.rides.as_ref().filter(unknown) {
            let known: Vec<&str> = assets.iter().map(|a| a.name.as_str()).collect();
            let what = format!("there is no asset '{}' to ride on", ride.asset);
            let fix = format!("assets here: {}", known.join(", "));
            return Err(at.get("rides").get("asset").wrong(&what, &fix));
        }
        Ok(())
    }
}
