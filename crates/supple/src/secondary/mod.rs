//! Flesh that moves on top of any animation: a handful of masses on springs, and no volume lost.
//!
#![doc = include_str!("../../../../docs/pictures/secondary.md")]
//!
//! # Method
//!
//! A *set* is a mass `q` on a spring of no length, anchored at a point `p` inside the shape that rides on a
//! bone. The primary motion carries the anchor, the mass lags behind ([`crate::spring`]: closed form, exact
//! for any step), and what is between them deforms the flesh around: a point starts where the bone carries
//! it and follows, from `t = 0` to 1, the field (5.6), (5.7) of a ball of radius `R` that travels from `p` to `q`, (5.13):
//!
//! ```text
//! v = (R² − b²)³/R⁸ · ((R² − 5b²) a + 4 (a·b) b)      a = q − p,  b = x − p − t a
//! ```
//!
//! It has no divergence (5.4), (5.11), is C² (5.3), (5.10) and ends at `R` (5.2), (5.9); the anchor's own flesh goes exactly
//! to `q` (5.1), (5.8); nothing folds (5.5). The fields of
//! small sets are added up and carry first (*local*), then those of large ones (*global*). A *turning* set
//! lags in rotation as well: its angle `φ` gives `v = (1 − b²/R²)³ φ × b`, for flesh that twists and bends.
//!
//! Each joint of the skeleton has its own sets, so that the flesh of one leg leaves the other in peace:
//! `x' = Σ w_k d_k(M_k x + e)` (5.16), where `d_k` is the deformation of joint `k` and `e` whatever was done to
//! the vertex beyond the plain blend of its matrices (another way of skinning, morph targets, edits). Since
//! `Σ w_k (M_k x + e)` is where the vertex already is, only the differences `d_k(y) − y` are added: what no
//! set reaches keeps its bits.
//!
//! # Where we differ from the paper
//!
//! - The spring is solved exactly; the paper integrates it. Gravity is *preloaded*: the spring carries the
//!   weight in the rest pose, so a character at rest has its artist's shape and sags only when it turns.
//! - Fourth-order Runge–Kutta steps, as many as keep the map of vertices injective:
//!   `h (3.081 Σ|a|/R + Σ|φ|) ≤ 0.69`; the paper takes twelve of Euler's. A stretch beyond
//!   [`Params::max_stretch`] radii is cut and reported.
//! - Sets too small to see from the scene's camera fade out over `R/(t·d)` from 1.5 to 1 instead of being
//!   switched off.
//! - Turning sets, which the paper lists as missing.
//! - A hand may hold a mass ([`Step::hands`]): the paper's draggers.
//!
//! # Limits
//!
//! Where the deformations of several joints are blended, volume is kept only about as well as by the blend
//! itself, and painted shares scale displacements; the report of a scene measures it, and the exact
//! correction can restore it. A vertex shares its step count with 31 neighbours.
//!
//! # References
//!
//! - W. von Funck, H. Theisel, H.-P. Seidel. Elastic Secondary Deformations by Vector Field
//!   Integration. Symposium on Geometry Processing, 2007.
//!
//! # Example
//!
//! ```
//! use glam::{DAffine3, DVec3, Mat4, Vec3};
//! use supple::{Asset, Run, zoo};
//! use supple::rig::Body;
//! use supple::secondary::{Flesh, Frame, Params, Set, Step};
//!
//! let ball = zoo::build("ball", &zoo::Size { triangles: Some(320) }, &Run::default())?;
//! let body = Body::from_asset(&ball)?;
//! let set = Set { anchor: DVec3::ZERO, radius: 1.5, ..Set::default() };
//! let params = Params { sets: vec![set], ..Params::default() };
//! let flesh = Flesh::new(&body, &DAffine3::IDENTITY, &params)?;
//!
//! let rest = vec![Mat4::IDENTITY];
//! let mut state = flesh.begin(&rest);
//! let jump = vec![Mat4::from_translation(0.1 * Vec3::X)];
//! flesh.step(&mut state, &Step { joints: &jump, hands: &[], shifts: &[], dt_secs: 1.0 / 120.0 });
//! let mut positions: Vec<Vec3> = body.mesh.positions.iter().map(|x| x + 0.1 * Vec3::X).collect();
//! let frame = Frame { joints: &jump, eye: None, amount: 1.0 };
//! let report = flesh.deform(&state, &frame, &mut positions, &Run::default());
//! assert!(report.moved > 0 && report.steps == 1);
//! # Ok::<(), Box<dyn std::error::Error>>(())
//! ```

mod field;
pub mod fitting;
mod flesh;
mod hardness;
mod kernel;
mod layout;
pub mod modifier;
pub mod placement;
mod state;

use glam::DVec3;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

pub use flesh::{Error, Flesh, Frame, Report};
pub use placement::{Placed, Wishes, place};
pub use state::{State, Step, Swing, Turning};

/// A material: how a mass of one swings and how soon it comes to rest.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub enum Preset {
    /// Soft tissue of a healthy body: 3 Hz, a few swings.
    #[default]
    Flesh,
    /// Slow and heavy: 2 Hz.
    Fat,
    /// Tight: 6 Hz, hardly a swing.
    Muscle,
    /// Wobbles for long: 3 Hz, little damping.
    Jelly,
    /// Fast and springy: 8 Hz.
    Rubber,
}

impl Preset {
    /// Every preset by name.
    pub const ALL: [(&'static str, Self); 5] = [
        ("flesh", Self::Flesh),
        ("fat", Self::Fat),
        ("muscle", Self::Muscle),
        ("jelly", Self::Jelly),
        ("rubber", Self::Rubber),
    ];

    /// Stiffness of all springs, in N/m: `(2π f)²` for the frequency `f` of a mass of one kilogram.
    #[must_use]
    pub fn stiffness(self) -> f64 {
        let hertz: f64 = match self {
            Self::Flesh | Self::Jelly => 3.0,
            Self::Fat => 2.0,
            Self::Muscle => 6.0,
            Self::Rubber => 8.0,
        };
        (std::f64::consts::TAU * hertz).powi(2)
    }

    /// Damping ratio: 0 swings for ever, 1 does not overshoot.
    #[must_use]
    pub fn damping(self) -> f64 {
        match self {
            Self::Flesh => 0.2,
            Self::Fat => 0.25,
            Self::Muscle => 0.5,
            Self::Jelly => 0.06,
            Self::Rubber => 0.12,
        }
    }
}

/// All sets of a body.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(default)]
pub struct Params {
    /// What the springs are like where nothing else is said. Default: flesh.
    pub preset: Preset,
    /// Stiffness of every spring, in N/m. Default: the preset's. One stiffness for all makes large sets slow
    /// and small ones quick.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schemars(range(min = 0.0), extend("unit" = "N/m"))]
    pub stiffness: Option<f64>,
    /// Damping ratio of every spring: 0 swings for ever, 1 does not overshoot. Default: the preset's.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schemars(range(min = 0.0))]
    pub damping: Option<f64>,
    /// What pulls on the masses, in scene units a second squared. Default: 9.81 downwards. The rest pose
    /// does not sag: the springs are loaded with it.
    #[schemars(with = "[f64; 3]", extend("unit" = "m/s2"))]
    pub gravity: DVec3,
    /// Sets with a smaller radius than this act first. Default: half of the largest radius.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schemars(range(min = 0.0), extend("unit" = "m"))]
    pub local_below: Option<f64>,
    /// How far a mass may be from its anchor, in radii; beyond, the stretch is cut. Default: 1.5.
    #[schemars(range(min = 0.0, max = 10.0))]
    pub max_stretch: f64,
    /// How far a turning set may lag, in degrees. Default: 120.
    #[schemars(range(min = 0.0, max = 360.0), extend("unit" = "deg"))]
    pub max_turn: f64,
    /// Sets with a radius of less than this share of their distance from the camera do not act. Default: 0,
    /// so that all act.
    #[schemars(range(min = 0.0))]
    pub detail: f64,
    /// The painted vertex attribute (`_NAME`) that says how much of the effect each vertex takes, from 0 to
    /// 1. Default: none, everything.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub paint: Option<String>,
    /// Whether pieces that one joint carries alone (armour, antlers, a gun) stay as they are. Default: no.
    pub spare_rigid: bool,
    /// Numbers of the file's materials, from 0, whose surface stays as it is. Default: none.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub hard: Vec<u32>,
    /// Height above the lowest point of the rest pose up to which nothing moves, so that feet stay; it fades
    /// out over as much again. In the asset's own units. Default: none.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schemars(range(min = 0.0), extend("unit" = "m"))]
    pub still_below: Option<f64>,
    /// The sets.
    #[serde(rename = "set")]
    pub sets: Vec<Set>,
}

impl Default for Params {
    fn default() -> Self {
        Self {
            preset: Preset::default(),
            stiffness: None,
            damping: None,
            gravity: DVec3::new(0.0, -9.81, 0.0),
            local_below: None,
            max_stretch: 1.5,
            max_turn: 120.0,
            detail: 0.0,
            paint: None,
            spare_rigid: false,
            hard: Vec::new(),
            still_below: None,
            sets: Vec::new(),
        }
    }
}

/// One mass on its spring.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct Set {
    /// What reports call it. Default: its number.
    #[serde(default, skip_serializing_if = "String::is_empty")]
    pub name: String,
    /// Where the anchor is in the body's rest pose, in the asset's own units.
    #[schemars(with = "[f64; 3]", extend("unit" = "m"))]
    pub anchor: DVec3,
    /// How far it acts, in the asset's own units.
    #[schemars(range(min = 1e-9), extend("unit" = "m"))]
    pub radius: f64,
    /// The bone (joint, node) that carries the anchor. Default: the one that moves the nearest vertex.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub bone: Option<String>,
    /// Whose flesh it moves. Default: that of its own bone.
    #[serde(default, skip_serializing_if = "Segments::is_own")]
    pub segments: Segments,
    /// Mass in kg. Default: its radius over the largest one.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schemars(range(min = 1e-9), extend("unit" = "kg"))]
    pub mass: Option<f64>,
    /// Stiffness of its own spring, in N/m. Default: that of all.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schemars(range(min = 0.0), extend("unit" = "N/m"))]
    pub stiffness: Option<f64>,
    /// Damping ratio of its own spring. Default: that of all.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schemars(range(min = 0.0))]
    pub damping: Option<f64>,
    /// How its mass lags behind. Default: it stretches.
    #[serde(default)]
    pub lag: Lag,
}

impl Default for Set {
    fn default() -> Self {
        Self {
            name: String::new(),
            anchor: DVec3::ZERO,
            radius: 1.0,
            bone: None,
            segments: Segments::default(),
            mass: None,
            stiffness: None,
            damping: None,
            lag: Lag::default(),
        }
    }
}

/// Whose flesh a set moves.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub enum Segments {
    /// That of the bone that carries its anchor.
    #[default]
    Own,
    /// That of every bone.
    All,
    /// That of these bones.
    #[serde(untagged)]
    Named(Vec<String>),
}

impl Segments {
    fn is_own(&self) -> bool {
        *self == Self::Own
    }
}

/// How a mass lags behind its anchor.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub enum Lag {
    /// In place.
    #[default]
    Stretch,
    /// In rotation: flesh twists and bends.
    Turn,
    /// In both.
    Both,
}

#[cfg(test)]
mod tests;
