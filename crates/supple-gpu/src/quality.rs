//! How much work a picture is worth.

/// What a picture is made with. What is looked at while it moves needs less than what is kept.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Quality {
    /// Samples a pixel: 4, or 1. Drivers that cannot be trusted with several take one.
    pub samples: u32,
    /// Whether jagged edges are softened afterwards: for one sample a pixel.
    pub softens_edges: bool,
    /// Texels along an edge of the shadow map.
    pub shadow_texels: u32,
    /// Taps of ambient obscurance (none: there is no obscurance), of the search for what blocks the key light, and of
    /// the filter of shadows.
    pub taps: [u32; 3],
    /// Pixels along an edge of what arriving light is looked at for once: 1, or 2. Twice as coarse a look also takes turns
    /// of four directions in place of 16.
    pub light_step: u32,
}

impl Quality {
    /// For what moves on a software adapter.
    pub const DRAFT: Self = Self {
        samples: 1,
        softens_edges: true,
        shadow_texels: 1024,
        taps: [0, 4, 6],
        light_step: 2,
    };
    /// For what moves on a GPU.
    pub const LIVE: Self = Self {
        samples: 4,
        softens_edges: false,
        shadow_texels: 2048,
        taps: [8, 10, 14],
        light_step: 1,
    };
    /// For files, and for what stands still.
    pub const STILL: Self = Self {
        samples: 4,
        softens_edges: false,
        shadow_texels: 2048,
        taps: [12, 14, 20],
        light_step: 1,
    };
}

impl Default for Quality {
    fn default() -> Self {
        Self::STILL
    }
}
