//! `morph`: blends a body towards its morph targets, constantly or driven by tracks.
//!
//! Takes effect in the pose, before the body is skinned, wherever it stands in the list. A weight given
//! here replaces the one of the file or clip; other targets keep theirs.
//!
//! ```
//! use std::collections::BTreeMap;
//! use supple::scene::{Value, modifier::morph};
//!
//! let smile = morph::Params {
//!     weights: BTreeMap::from([("smile".to_owned(), Value::Number(0.5))]),
//! };
//! assert_eq!(smile.weights["smile"], Value::Number(0.5));
//! ```

use std::collections::BTreeMap;

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::Moment;
use crate::modifier::read::suggest;
use crate::rig::{Body, Pose};
use crate::scene::Value;

/// How much of each morph target.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct Params {
    /// Weight of each target by name: 0 is the rest shape, 1 the target. A target without a name is
    /// called by its number, from 0.
    #[schemars(extend("minimum" = -100, "maximum" = 100))]
    pub weights: BTreeMap<String, Value>,
}

impl Params {
    pub(super) fn check(&self, body: &Body) -> Result<(), String> {
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

    pub(super) fn pose(&self, body: &Body, moment: &Moment<'_>, pose: &mut Pose) {
        for morph in &body.morphs {
            let Some(value) = self.weights.get(&name(morph)) else { continue };
            let weights = &mut pose.morph_weights[morph.node as usize];
            if let Some(weight) = weights.get_mut(morph.index) {
                *weight = value.at(moment.secs, moment.tracks) as f32;
            }
        }
    }
}

/// What a document calls a target.
fn name(morph: &crate::rig::body::Morph) -> String {
    if morph.name.is_empty() { morph.index.to_string() } else { morph.name.clone() }
}
