//! What a modifier needs beside its body: models, solids, flows; named by its parameters, loaded once, shared.

use std::any::Any;
use std::collections::BTreeMap;
use std::fmt;
use std::sync::Arc;

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use crate::Asset;
use crate::mesh::TetMesh;

/// Where an asset comes from.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(untagged)]
pub enum Source {
    /// A file, relative to the scene's folder.
    File {
        /// Its name.
        #[schemars(example = &"model.glb", extend("format" = "file"))]
        file: String,
    },
    /// A model that Supple makes itself.
    Zoo {
        /// Its name in the zoo.
        #[schemars(example = &"boxer", extend("format" = "zoo"))]
        zoo: String,
        /// About how many triangles it should have; its own default otherwise.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        #[schemars(range(min = 4, max = 4_000_000))]
        triangles: Option<u32>,
    },
    /// Nothing: a modifier makes the body, frame by frame.
    Empty {
        /// Always true.
        empty: bool,
    },
}

/// A solid beside the surface of a body.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(untagged)]
pub enum Tets {
    /// From a file, relative to the scene's folder.
    File(#[schemars(extend("format" = "file"))] String),
    /// Made from the surface, with edges of about this length, in the asset's own units.
    Spacing(#[schemars(range(min = 1e-9), extend("unit" = "m"))] f64),
}

/// A flow of a scene: where it comes from, and its clock.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct FlowEntry {
    /// A file, or a model of the zoo.
    #[serde(flatten)]
    #[schemars(with = "FlowSource")]
    pub source: Source,
    /// Time of the flow at the scene's time zero, in seconds. Default: 0.
    #[serde(default)]
    #[schemars(extend("unit" = "s"))]
    pub start: f64,
    /// Seconds of the flow in a second of the scene; negative runs backwards. Default: 1.
    #[serde(default = "one")]
    pub speed: f64,
    /// Arrays of a recording that are its velocity: a vector, or its components. Default: found by itself.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub velocity: Vec<String>,
    /// Scalars of a recording that smoke may be coloured by.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub scalars: Vec<String>,
    /// Time of the first level and from one to the next, of a recording that does not say it.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub times: Option<[f64; 2]>,
    /// Axes whose end is their beginning: `"xz"`.
    #[serde(default, skip_serializing_if = "String::is_empty")]
    #[schemars(extend("format" = "name"))]
    pub periodic: String,
    /// The record is a period that repeats.
    #[serde(rename = "loop", default, skip_serializing_if = "is_false")]
    pub looped: bool,
    /// Cells of a flow that the zoo simulates. Default: its own.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schemars(extend("minimum" = 8, "maximum" = 1024))]
    pub size: Option<[u32; 3]>,
    /// Levels of a flow that the zoo simulates. Default: its own.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schemars(range(min = 1, max = 10_000))]
    pub levels: Option<u32>,
}

impl FlowEntry {
    /// A flow with nothing else said.
    #[must_use]
    pub fn of(source: Source) -> Self {
        Self {
            source,
            start: 0.0,
            speed: 1.0,
            velocity: Vec::new(),
            scalars: Vec::new(),
            times: None,
            periodic: String::new(),
            looped: false,
            size: None,
            levels: None,
        }
    }
}

/// In a schema: what a flow comes from. The zoo of flows is not that of models.
#[derive(JsonSchema)]
#[schemars(untagged)]
#[expect(dead_code, reason = "it is only described, never made")]
enum FlowSource {
    File {
        /// A file, relative to the scene's folder.
        #[schemars(example = &"wake.vti", extend("format" = "file"))]
        file: String,
    },
    Zoo {
        /// A flow that Supple makes itself.
        #[schemars(extend("format" = "name"))]
        zoo: String,
    },
}

fn one() -> f64 {
    1.0
}

#[expect(clippy::trivially_copy_pass_by_ref, reason = "serde asks so")]
fn is_false(value: &bool) -> bool {
    !*value
}

/// The flows of a scene by name.
pub type Flows = BTreeMap<String, FlowEntry>;

/// One thing a modifier needs.
#[derive(Clone, Debug, PartialEq)]
pub enum Need {
    /// A model: a target, a tool, an obstacle.
    Model(Source),
    /// A tetrahedral mesh from a file, relative to the scene's folder.
    Tets(String),
    /// A flow that the scene names: `[flow.NAME]`.
    Flow(String),
}

/// What came of a [`Need`].
#[derive(Clone, Debug)]
pub enum Loaded {
    /// A model.
    Model(Arc<Asset>),
    /// A tetrahedral mesh.
    Tets(Arc<TetMesh>),
    /// A flow.
    Flow(NamedFlow),
}

impl Loaded {
    /// The model, if it is one.
    #[must_use]
    pub fn model(&self) -> Option<&Arc<Asset>> {
        if let Self::Model(asset) = self { Some(asset) } else { None }
    }

    /// The tetrahedral mesh, if it is one.
    #[must_use]
    pub fn tets(&self) -> Option<&Arc<TetMesh>> {
        if let Self::Tets(tets) = self { Some(tets) } else { None }
    }

    /// The flow, if it is one.
    #[must_use]
    pub fn flow(&self) -> Option<&NamedFlow> {
        if let Self::Flow(flow) = self { Some(flow) } else { None }
    }
}

/// A flow of the scene, with its clock.
#[derive(Clone)]
pub struct NamedFlow {
    /// Its name in the scene.
    pub name: String,
    /// Time of the flow at the scene's time zero, in seconds.
    pub start: f64,
    /// Seconds of the flow in a second of the scene.
    pub speed: f64,
    /// The flow itself, of a type that its users know.
    pub flow: Arc<dyn Any + Send + Sync>,
}

impl NamedFlow {
    /// Time of the flow at a time of the scene.
    #[must_use]
    pub fn time(&self, secs: f64) -> f64 {
        self.start + self.speed * secs
    }

    /// The flow as what it is; `None` if it is something else.
    #[must_use]
    pub fn get<F: Send + Sync + 'static>(&self) -> Option<Arc<F>> {
        self.flow.clone().downcast().ok()
    }
}

impl fmt::Debug for NamedFlow {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Self { name, start, speed, .. } = self;
        write!(f, "flow '{name}' from {start} s at speed {speed}")
    }
}
