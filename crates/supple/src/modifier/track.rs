//! Tracks: named values that change over time, and the parameters they drive.
//!
//! ```
//! use std::collections::BTreeMap;
//! use supple::modifier::{Track, Value};
//!
//! let lift = Track { keys: vec![[0.0, 1.0], [2.0, 3.0]], ..Track::default() };
//! let tracks = BTreeMap::from([("lift".to_owned(), lift)]);
//! assert_eq!(Value::Track("lift".to_owned()).at(0.5, &tracks), 1.5);
//! assert_eq!(Value::Number(4.0).at(0.5, &tracks), 4.0);
//! ```

use std::borrow::Cow;
use std::collections::BTreeMap;

use schemars::{JsonSchema, Schema, SchemaGenerator, json_schema};
use serde::{Deserialize, Serialize};

/// The tracks of a scene by name.
pub type Tracks = BTreeMap<String, Track>;

/// A value over time.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct Track {
    /// How it goes from key to key. Default: `linear`.
    #[serde(default)]
    pub interpolation: Ease,
    /// `[time in seconds, value]` in order of time; the first and the last value hold beyond them.
    #[schemars(schema_with = "keys")]
    pub keys: Vec<[f64; 2]>,
}

/// In a schema: pairs of a time and a number.
fn keys(_: &mut SchemaGenerator) -> Schema {
    let key = [json_schema!({ "type": "number", "unit": "s" }), json_schema!({ "type": "number" })];
    let pair = json_schema!({ "type": "array", "prefixItems": key, "minItems": 2, "maxItems": 2 });
    json_schema!({ "type": "array", "items": pair, "minItems": 1 })
}

/// How a track goes from one key to the next.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub enum Ease {
    /// Holds each value until the next key.
    Step,
    /// Straight lines.
    #[default]
    Linear,
    /// Slows down into every key and starts slowly from it; never overshoots.
    Smooth,
}

impl Track {
    /// The value at a time.
    #[must_use]
    pub fn at(&self, secs: f64) -> f64 {
        let next = self.keys.partition_point(|k| k[0] <= secs);
        let (Some(before), after) = (next.checked_sub(1), self.keys.get(next)) else {
            return self.keys.first().map_or(0.0, |k| k[1]);
        };
        let [t0, from] = self.keys[before];
        let Some(&[t1, to]) = after else { return from };
        let u = (secs - t0) / (t1 - t0);
        let u = match self.interpolation {
            Ease::Step => 0.0,
            Ease::Linear => u,
            Ease::Smooth => u * u * (3.0 - 2.0 * u),
        };
        from + u * (to - from)
    }
}

/// A parameter: a number, or the name of the track that drives it.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(untagged)]
pub enum Value {
    /// Always this.
    Number(f64),
    /// Whatever the track of this name says.
    Track(String),
}

impl Value {
    /// The value at a time; a track that does not exist counts as zero (scenes are checked on load).
    #[must_use]
    pub fn at(&self, secs: f64, tracks: &Tracks) -> f64 {
        match self {
            Self::Number(number) => *number,
            Self::Track(name) => tracks.get(name).map_or(0.0, |t| t.at(secs)),
        }
    }

    /// Three values at a time.
    #[must_use]
    pub fn at3(values: &[Self; 3], secs: f64, tracks: &Tracks) -> [f64; 3] {
        values.each_ref().map(|v| v.at(secs, tracks))
    }

    /// Three numbers.
    #[must_use]
    pub fn numbers(numbers: [f64; 3]) -> [Self; 3] {
        numbers.map(Self::Number)
    }
}

/// In a schema: a number, or the name of a track; what may follow a track may be turned while playing.
impl JsonSchema for Value {
    fn schema_name() -> Cow<'static, str> {
        "Value".into()
    }

    fn json_schema(_: &mut SchemaGenerator) -> Schema {
        json_schema!({ "type": ["number", "string"], "live": true })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_ease_meets_its_keys_and_holds_beyond_them() {
        for interpolation in [Ease::Step, Ease::Linear, Ease::Smooth] {
            let track = Track { interpolation, keys: vec![[1.0, 5.0], [2.0, 7.0], [4.0, -1.0]] };
            for (secs, value) in [(0.0, 5.0), (1.0, 5.0), (2.0, 7.0), (4.0, -1.0), (9.0, -1.0)] {
                assert_eq!(track.at(secs), value, "{interpolation:?} at {secs}");
            }
        }
    }

    #[test]
    fn smooth_is_flat_at_keys_and_halfway_in_the_middle() {
        let track =
            Track { interpolation: Ease::Smooth, keys: vec![[0.0, 0.0], [2.0, 8.0], [3.0, 8.0]] };
        assert_eq!(track.at(1.0), 4.0);
        assert!(track.at(1e-3) < 1e-4 && track.at(2.0 - 1e-3) > 8.0 - 1e-4, "flat ends");
    }
}
