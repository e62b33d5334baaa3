//! Cameras, and where they hang.

use std::f32::consts::PI;

use serde_json::{Map, Value, json};

use super::accessor::missing;
use super::buffer::insert_list;
use super::document::{self, Document};
use super::write::named;
use crate::io::{Malformed, Place, Warning};
use crate::rig::asset::{Camera, Lens};

/// Reads the cameras that nodes carry; one whose lens makes no sense is left out with a warning.
pub(super) fn read(
    document: &Document<'_>,
    warnings: &mut Vec<Warning>,
) -> Result<Vec<Camera>, Malformed> {
    let mut cameras = Vec::new();
    for (i, node) in document.nodes.iter().enumerate() {
        let Some(index) = node.camera else { continue };
        let Some(camera) = document.cameras.get(index.index()) else {
            return Err(missing(&format!("nodes[{i}].camera"), "camera", index));
        };
        match lens(camera) {
            Some(lens) => {
                cameras.push(Camera { name: camera.name.clone(), node: i as u32, lens });
            }
            None => {
                let place = Place::Json(format!("cameras[{}]", index.0));
                warnings.push(Warning::new(place, "a lens that shows nothing; left out"));
            }
        }
    }
    Ok(cameras)
}

fn lens(camera: &document::Camera) -> Option<Lens> {
    match (&camera.perspective, &camera.orthographic) {
        (Some(lens), _) if lens.yfov > 0.0 && lens.yfov < PI => {
            Some(Lens::Perspective { fov_y: lens.yfov })
        }
        (None, Some(lens)) if lens.ymag.is_finite() && lens.ymag != 0.0 => {
            Some(Lens::Orthographic { height: 2.0 * lens.ymag.abs() })
        }
        _ => None,
    }
}

/// Hangs the cameras on their nodes.
pub(super) fn write(cameras: &[Camera], nodes: &mut [Value], document: &mut Map<String, Value>) {
    let mut objects = Vec::new();
    for camera in cameras {
        if let Some(Value::Object(node)) = nodes.get_mut(camera.node as usize) {
            node.insert("camera".to_owned(), json!(objects.len()));
            objects.push(named(&camera.name, object(camera.lens)));
        }
    }
    insert_list(document, "cameras", objects);
}

/// The clipping planes, which glTF demands, hold anything from a millimetre to ten kilometres.
fn object(lens: Lens) -> Value {
    match lens {
        Lens::Perspective { fov_y } => {
            json!({ "type": "perspective", "perspective": { "yfov": fov_y, "znear": 1e-3 } })
        }
        Lens::Orthographic { height } => json!({
            "type": "orthographic",
            "orthographic": {
                "xmag": 0.5 * height, "ymag": 0.5 * height, "znear": 1e-3, "zfar": 1e4,
            },
        }),
    }
}
