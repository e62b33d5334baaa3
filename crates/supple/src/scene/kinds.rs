//! The kinds of modifiers of this library: one line a capability.

use crate::modifier::Registry;

impl Default for Registry {
    fn default() -> Self {
        let all = Self::none()
            .with::<crate::sculpt::modifier::Sculpt>()
            .with::<crate::secondary::modifier::Secondary>()
            .with::<crate::skinning::modifier::Skinning>()
            .with::<crate::place::Place>()
            .with::<crate::morph::Morph>()
            .with::<crate::follow::Follow>()
            .with::<crate::blendshape::modifier::Blendshape>()
            .with::<crate::smoke::Smoke>()
            .with::<crate::smoke::Walls>()
            .with::<crate::procdef::modifier::Procdef>();
        #[cfg(feature = "rigid")]
        let all = all.with::<crate::rigid::Rigid>().with::<crate::rigid::Jointed>();
        all
    }
}
