//! Primary motion: how an asset moves before anything modifies it.
//!
//! ```
//! use supple::scene::Repeat;
//!
//! assert_eq!(Repeat::Loop.wrap(2.5, 0.0, 1.0), 0.5);
//! assert_eq!(Repeat::PingPong.wrap(1.25, 0.0, 1.0), 0.75);
//! assert_eq!(Repeat::Once.wrap(2.5, 0.0, 1.0), 1.0);
//! ```

use glam::{DVec3, Vec3};
use serde::{Deserialize, Serialize};

use super::document::{Range, Table};
use super::path::PathKey;
use super::{Problem, Unit};
use crate::rig::{Skinning, rigid};

/// How an asset moves.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[serde(tag = "kind", rename_all = "kebab-case")]
pub enum Motion {
    /// It stands in its rest pose.
    #[default]
    Still,
    /// A clip of its file moves its skeleton.
    Keyframes(Keyframes),
    /// It moves as a rigid body along a recording.
    Path(Recording),
    /// It falls and bounces as one rigid body.
    Rigid(RigidMotion),
    /// Its bones fall and bounce, and return to the rest pose.
    Ragdoll(RigidMotion),
}

/// A motion that is simulated.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct RigidMotion {
    /// How joints are blended. Default: `linear`.
    pub skinning: Skinning,
    /// What it weighs and how it bounces.
    #[serde(flatten)]
    pub params: rigid::Params,
    /// A path that pulls the body (the first bone of a ragdoll) as on a spring; none leaves it free.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub pull: Vec<PathKey>,
}

/// A clip that moves a skeleton.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Keyframes {
    /// Which clip of the asset. Default: the first.
    pub clip: ClipChoice,
    /// How joints are blended. Default: `linear`, which is what files are made for.
    pub skinning: Skinning,
    /// Clip seconds per scene second; negative plays backwards. Default: 1.
    pub speed: f64,
    /// When its first key is due, in scene seconds. Default: 0.
    pub start: f64,
    /// What happens after its last key. Default: `loop`.
    pub repeat: Repeat,
}

impl Default for Keyframes {
    fn default() -> Self {
        Self {
            clip: ClipChoice::Index(0),
            skinning: Skinning::Linear,
            speed: 1.0,
            start: 0.0,
            repeat: Repeat::Loop,
        }
    }
}

impl Keyframes {
    /// The time within a clip of the given span, at a time of the scene.
    #[must_use]
    pub fn clip_time(&self, secs: f64, span: (f32, f32)) -> f32 {
        let (first, last) = (f64::from(span.0), f64::from(span.1));
        self.repeat.wrap(first + (secs - self.start) * self.speed, first, last) as f32
    }
}

/// A clip by name or by number.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(untagged)]
pub enum ClipChoice {
    /// Its place in the file, from 0.
    Index(u32),
    /// Its name.
    Name(String),
}

/// What happens beyond the first and last key.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Repeat {
    /// It holds still.
    Once,
    /// It starts again from the other end.
    #[default]
    Loop,
    /// It turns round.
    PingPong,
}

impl Repeat {
    const WORDS: [(&'static str, Self); 3] =
        [("once", Self::Once), ("loop", Self::Loop), ("ping-pong", Self::PingPong)];

    /// The time between `first` and `last` that is shown at `secs`.
    #[must_use]
    pub fn wrap(self, secs: f64, first: f64, last: f64) -> f64 {
        let length = last - first;
        if length <= 0.0 {
            return first;
        }
        match self {
            Self::Once => secs.clamp(first, last),
            Self::Loop => first + (secs - first).rem_euclid(length),
            Self::PingPong => {
                let there_and_back = (secs - first).rem_euclid(2.0 * length);
                first + length - (there_and_back - length).abs()
            }
        }
    }
}

/// A rigid motion that was recorded.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct Recording {
    /// What happens beyond its ends. Default: `once`.
    pub repeat: Repeat,
    /// A CSV file of keys, in place of `keys`; see [`RigidPath::from_csv`](super::RigidPath::from_csv).
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub file: Option<String>,
    /// The keys, in order of time.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub keys: Vec<PathKey>,
}

const METHODS: [(&str, Skinning); 2] =
    [("linear", Skinning::Linear), ("dual-quaternion", Skinning::DualQuaternion)];

impl Motion {
    pub(super) fn read(table: &Table<'_>) -> Result<Self, Problem> {
        #[derive(Clone, Copy)]
        enum Kind {
            Still,
            Keyframes,
            Path,
            Rigid,
            Ragdoll,
        }
        let kinds = [
            ("still", Kind::Still),
            ("keyframes", Kind::Keyframes),
            ("path", Kind::Path),
            ("rigid", Kind::Rigid),
            ("ragdoll", Kind::Ragdoll),
        ];
        match table.need("kind")?.choice(&kinds)? {
            Kind::Still => table.only(&["kind"]).map(|()| Self::Still),
            Kind::Keyframes => Keyframes::read(table).map(Self::Keyframes),
            Kind::Path => Recording::read(table).map(Self::Path),
            Kind::Rigid => RigidMotion::read(table).map(Self::Rigid),
            Kind::Ragdoll => RigidMotion::read(table).map(Self::Ragdoll),
        }
    }
}

impl Keyframes {
    fn read(table: &Table<'_>) -> Result<Self, Problem> {
        table.only(&["kind", "clip", "skinning", "speed", "start", "repeat"])?;
        let default = Self::default();
        let clip = match table.get("clip") {
            Some(field) if field.is_text() => ClipChoice::Name(field.text()?.to_owned()),
            Some(field) => ClipChoice::Index(field.count(0..=1_000_000)?),
            None => default.clip,
        };
        let speeds = Range { least: -1000.0, most: 1000.0 };
        Ok(Self {
            clip,
            skinning: table.get("skinning").map_or(Ok(default.skinning), |f| f.choice(&METHODS))?,
            speed: table.number_or("speed", Unit(""), speeds, default.speed)?,
            start: table.number_or("start", Unit("s"), Range::ANY, default.start)?,
            repeat: table.get("repeat").map_or(Ok(default.repeat), |f| f.choice(&Repeat::WORDS))?,
        })
    }
}

impl RigidMotion {
    fn read(table: &Table<'_>) -> Result<Self, Problem> {
        table.only(&[
            "kind",
            "skinning",
            "density",
            "gravity",
            "velocity",
            "spin",
            "joint_frequency",
            "joint_damping",
            "contact_frequency",
            "contact_damping",
            "friction",
            "drag",
            "pull",
            "pull_frequency",
        ])?;
        let d = rigid::Params::default();
        let three = |key: &str, unit, default: Vec3| {
            let number = table.get(key).map(|f| f.numbers3(unit, Range::ANY)).transpose()?;
            Ok::<_, Problem>(number.map_or(default, |v| DVec3::from(v).as_vec3()))
        };
        let one = |key: &str, unit, least: f64, most: f64, default: f32| {
            let number = table.number_or(key, unit, Range { least, most }, f64::from(default))?;
            Ok::<_, Problem>(number as f32)
        };
        let params = rigid::Params {
            density: one("density", Unit(""), 1e-3, 1e6, d.density)?,
            gravity: three("gravity", Unit("m/s2"), d.gravity)?,
            velocity: three("velocity", Unit("m"), d.velocity)?,
            spin: three("spin", Unit("deg"), d.spin)?,
            joint_frequency: one("joint_frequency", Unit("Hz"), 0.0, 50.0, d.joint_frequency)?,
            joint_damping: one("joint_damping", Unit(""), 0.0, 10.0, d.joint_damping)?,
            contact_frequency: one(
                "contact_frequency",
                Unit("Hz"),
                0.1,
                30.0,
                d.contact_frequency,
            )?,
            contact_damping: one("contact_damping", Unit(""), 0.0, 2.0, d.contact_damping)?,
            friction: one("friction", Unit(""), 0.0, 10.0, d.friction)?,
            drag: one("drag", Unit(""), 0.0, 100.0, d.drag)?,
            pull_frequency: one("pull_frequency", Unit("Hz"), 0.01, 30.0, d.pull_frequency)?,
        };
        let skinning =
            table.get("skinning").map_or(Ok(Skinning::Linear), |f| f.choice(&METHODS))?;
        let pull = table.get("pull").map_or(Ok(Vec::new()), |f| PathKey::read_all(&f))?;
        Ok(Self { skinning, params, pull })
    }
}

impl Recording {
    fn read(table: &Table<'_>) -> Result<Self, Problem> {
        table.only(&["kind", "file", "keys", "repeat"])?;
        let repeat = table.get("repeat").map_or(Ok(Repeat::Once), |f| f.choice(&Repeat::WORDS))?;
        let (file, keys) = match (table.get("file"), table.get("keys")) {
            (Some(file), None) => (Some(file.file()?), Vec::new()),
            (None, Some(keys)) => (None, PathKey::read_all(&keys)?),
            _ => {
                let fix = "give one of them: file = \"path.csv\", or keys = [{ time = 0, position = [0, 0, 0] }]";
                return Err(table.wrong("a path needs either 'file' or 'keys'", fix));
            }
        };
        Ok(Self { repeat, file, keys })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn repeats_are_periodic_and_stay_inside() {
        for i in -40..40 {
            let t = f64::from(i) * 0.25;
            for repeat in [Repeat::Once, Repeat::Loop, Repeat::PingPong] {
                let wrapped = repeat.wrap(t, 1.0, 3.0);
                assert!((1.0..=3.0).contains(&wrapped), "{repeat:?} at {t}: {wrapped}");
            }
            assert_eq!(Repeat::Loop.wrap(t, 1.0, 3.0), Repeat::Loop.wrap(t + 2.0, 1.0, 3.0));
            assert_eq!(
                Repeat::PingPong.wrap(t, 1.0, 3.0),
                Repeat::PingPong.wrap(2.0 - t, 1.0, 3.0)
            );
        }
        assert_eq!(Repeat::Loop.wrap(9.0, 2.0, 2.0), 2.0, "a clip of no length");
    }

    #[test]
    fn clip_time_follows_speed_and_start() {
        let keyframes =
            Keyframes { speed: 2.0, start: 1.0, repeat: Repeat::Once, ..Keyframes::default() };
        assert_eq!(keyframes.clip_time(1.0, (0.5, 4.0)), 0.5);
        assert_eq!(keyframes.clip_time(2.0, (0.5, 4.0)), 2.5);
        assert_eq!(keyframes.clip_time(99.0, (0.5, 4.0)), 4.0);
    }
}
