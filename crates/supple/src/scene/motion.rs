//! Primary motion: how an asset moves before anything modifies it.
//!
//! ```
//! use supple::scene::Repeat;
//!
//! assert_eq!(Repeat::Loop.wrap(2.5, 0.0, 1.0), 0.5);
//! assert_eq!(Repeat::PingPong.wrap(1.25, 0.0, 1.0), 0.75);
//! assert_eq!(Repeat::Once.wrap(2.5, 0.0, 1.0), 1.0);
//! ```

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::Problem;
use super::document::Location;
use crate::modifier::PathKey;
use crate::rig::Skinning;

/// How an asset moves.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(tag = "kind", rename_all = "kebab-case")]
pub enum Motion {
    /// It stands in its rest pose.
    #[default]
    Still,
    /// A clip of its file moves its skeleton.
    Keyframes(Keyframes),
    /// It moves as a rigid body along a recording.
    Path(Recording),
}

/// A clip that moves a skeleton.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(default)]
pub struct Keyframes {
    /// Which clip of the asset. Default: the first.
    pub clip: ClipChoice,
    /// How joints are blended. Default: `linear`, which is what files are made for.
    pub skinning: Skinning,
    /// Clip seconds per scene second; negative plays backwards. Default: 1.
    #[schemars(range(min = -1000.0, max = 1000.0))]
    pub speed: f64,
    /// When its first key is due, in scene seconds. Default: 0.
    #[schemars(extend("unit" = "s"))]
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

    /// How long it takes until a clip of the given span is where it was, in seconds of the scene; `None` if it does not
    /// go round.
    #[must_use]
    pub fn round_secs(&self, span: (f32, f32)) -> Option<f64> {
        let ways = match self.repeat {
            Repeat::Once | Repeat::Auto => return None,
            Repeat::Loop => 1.0,
            Repeat::PingPong => 2.0,
        };
        let round = ways * (f64::from(span.1) - f64::from(span.0)) / self.speed.abs();
        (round > 0.0 && round.is_finite()).then_some(round)
    }
}

/// A clip by name or by number.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(untagged)]
pub enum ClipChoice {
    /// Its place in the file, from 0.
    Index(#[schemars(range(max = 1_000_000))] u32),
    /// Its name.
    Name(String),
}

/// What happens beyond the first and last key.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub enum Repeat {
    /// It holds still.
    Once,
    /// It starts again from the other end.
    #[default]
    Loop,
    /// It turns round.
    PingPong,
    /// It starts again if its end is where it begins, and holds still otherwise.
    Auto,
}

impl Repeat {
    /// What [`Auto`](Self::Auto) comes to for a motion that closes or does not.
    #[must_use]
    pub fn resolved(self, closes: impl FnOnce() -> bool) -> Self {
        match self {
            Self::Auto if closes() => Self::Loop,
            Self::Auto => Self::Once,
            other => other,
        }
    }

    /// The time between `first` and `last` that is shown at `secs`.
    #[must_use]
    pub fn wrap(self, secs: f64, first: f64, last: f64) -> f64 {
        let length = last - first;
        if length <= 0.0 {
            return first;
        }
        match self {
            Self::Once | Self::Auto => secs.clamp(first, last),
            Self::Loop => first + (secs - first).rem_euclid(length),
            Self::PingPong => {
                let there_and_back = (secs - first).rem_euclid(2.0 * length);
                first + length - (there_and_back - length).abs()
            }
        }
    }
}

/// A rigid motion that was recorded.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(default)]
pub struct Recording {
    /// What happens beyond its ends. Default: `once`.
    pub repeat: Repeat,
    /// A CSV file of keys, in place of `keys`; see [`RigidPath::from_csv`](super::RigidPath::from_csv).
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schemars(extend("format" = "file"))]
    pub file: Option<String>,
    /// The keys, in order of time.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    #[schemars(length(min = 1))]
    pub keys: Vec<PathKey>,
}

impl Default for Recording {
    fn default() -> Self {
        Self { repeat: Repeat::Once, file: None, keys: Vec::new() }
    }
}

impl Motion {
    pub(super) fn check(&self, at: Location<'_>) -> Result<(), Problem> {
        match self {
            Self::Still | Self::Keyframes(_) => Ok(()),
            Self::Path(path) if path.file.is_some() != path.keys.is_empty() => {
                let fix = "give one of them: file = \"path.csv\", or keys = [{ time = 0, position = [0, 0, 0] }]";
                Err(at.wrong("a path needs either 'file' or 'keys'", fix))
            }
            Self::Path(path) => {
                PathKey::check_all(&path.keys, "keys").map_err(|wrong| at.problem(&wrong))
            }
        }
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
