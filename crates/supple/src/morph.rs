//! `morph`: blends a body towards its morph targets, constantly or driven by tracks.
//!
//! Takes effect in the pose, before the body is skinned, wherever it stands in the list. A weight given
//! here replaces the one of the file or clip; other targets keep theirs.
//!
//! ```
//! use std::collections::BTreeMap;
//! use supple::modifier::Value;
//! use supple::morph::Params;
//!
//! let smile = Params { weights: BTreeMap::from([("smile".to_owned(), Value::Number(0.5))]) };
//! assert_eq!(smile.weights["smile"], Value::Number(0.5));
//! ```

use std::collections::BTreeMap;

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use crate::modifier::read::suggest;
use crate::modifier::{Inputs, Modifier, Moment, Stage, Stateless, Tracks, Value};
use crate::rig::Body;

/// How much of each morph target.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct Params {
    /// Weight of each target by name: 0 is the rest shape, 1 the target. A target without a name is
    /// called by its number, from 0.
    #[schemars(extend("minimum" = -100, "maximum" = 100))]
    pub weights: BTreeMap<String, Value>,
}

impl Params {
    fn check(&self, body: &Body) -> Result<(), String> {
        let names: Vec<String> = body.morphs.iter().map(name).collect();
        let known: Vec<&str> = names.iter().map(String::as_str).collect();
        match self.weights.keys().find(|w| !known.contains(&w.as_str())) {
            None => Ok(()),
            Some(wanted) if known.is_empty() => {
                Err(format!("there is no morph target '{wanted}': the asset has none"))
            }
            Some(wanted) => Err(match suggest(wanted, &known) {
                Some(near) => {
                    format!("there is no morph target '{wanted}': did you mean '{near}'?")
                }
                None => {
                    let list = known[..known.len().min(20)].join(", ");
                    format!("there is no morph target '{wanted}' (known: {list})")
                }
            }),
        }
    }
}

/// The modifier: the value for each of the body's morph targets that has one.
#[derive(Clone, Debug)]
pub struct Morph {
    values: Vec<Option<Value>>,
}

impl Modifier for Morph {
    const KIND: &'static str = "morph";
    const STAGES: &'static [Stage] = &[Stage::Pose];
    type Params = Params;
    type State = Stateless;

    fn prepare(params: &Params, from: &Inputs<'_>) -> Result<Self, String> {
        params.check(from.body)?;
        let value = |morph| params.weights.get(&name(morph)).cloned();
        Ok(Self { values: from.body.morphs.iter().map(value).collect() })
    }

    fn weigh(&self, _: &Params, secs: f64, tracks: &Tracks, weights: &mut [f32]) {
        for (weight, value) in weights.iter_mut().zip(&self.values) {
            if let Some(value) = value {
                *weight = value.at(secs, tracks) as f32;
            }
        }
    }

    fn begin(&self, _: &Params, _: &Moment<'_>) -> Stateless {
        Stateless {}
    }
}

/// What a document calls a target.
fn name(morph: &crate::rig::body::Morph) -> String {
    if morph.name.is_empty() { morph.index.to_string() } else { morph.name.clone() }
}
