//! `skinning`: the skeleton moves the body without taking volume away.
//!
//! Takes the place of plain skinning, before any other modifier moves the vertices, wherever it stands in
//! the list; see [`crate::skinning`]. How joints are blended is said by the motion's `skinning`.
//!
//! ```
//! use supple::scene::{Modifier, Scene};
//!
//! let scene = Scene::parse(r#"
//!     supple = 1
//!     [[asset]]
//!     zoo = "arm"
//!     [asset.motion]
//!     kind = "keyframes"
//!     clip = "bend"
//!     [[asset.modifier]]
//!     kind = "skinning"
//!     step = "20 deg"
//! "#, None)?;
//! assert!(matches!(&scene.assets[0].modifiers[0], Modifier::Skinning(s) if s.step_degrees == 20.0));
//! # Ok::<(), supple::scene::Problem>(())
//! ```

use crate::rig::Body;

pub use crate::skinning::Params;

/// What else can be wrong is found when the body is prepared.
pub(super) fn check(body: &Body) -> Result<(), String> {
    if body.parts.iter().all(|p| !p.skinned) {
        return Err("no part of the asset has a skin: there is nothing to correct".to_owned());
    }
    Ok(())
}
