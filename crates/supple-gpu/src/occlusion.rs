//! How much light arrives at each pixel: soft shadows of the key light and ambient obscurance.
//!
//! # Method
//!
//! Shadows are percentage-closer soft shadows: the mean distance of what blocks the light gives the
//! width of the penumbra. Each tap is compared with the plane of the surface it is for: so surfaces
//! at a slant do not shade themselves, and shadows reach right to where two things touch. Obscurance
//! looks at the depth of a few pixels around. Both take few taps, turned by one of 16 angles in a
//! 4 × 4 pattern, which is averaged within each surface when the light is used: smooth, cheap, and
//! the same picture every time.
//!
//! # References
//!
//! - R. Fernando. Percentage-Closer Soft Shadows. SIGGRAPH Sketches, 2005.
//! - M. McGuire, M. Mara, D. Luebke. Scalable Ambient Obscurance. High-Performance Graphics, 2012.

use std::sync::OnceLock;

use crate::device::{
    Gpu, LOADED, begin, loaded_samples, loaded_whole_samples, onto, replace, with_samples,
    with_veil,
};
use crate::frame::Window;
use crate::surface::SurfaceTargets;

pub(crate) const SHADER: &str = concat!(
    include_str!("frame.wgsl"),
    include_str!("fullscreen.wgsl"),
    include_str!("penumbra.wgsl"),
    include_str!("occlusion.wgsl")
);

/// The distance of what a pixel shows, and the light that arrives there: the share of the key light in
/// red, green and blue, and openness, in eight bits each.
pub(crate) const LIGHT: wgpu::TextureFormat = wgpu::TextureFormat::Rg32Uint;

/// All light arrives, far away.
const OPEN: wgpu::Color = wgpu::Color { r: FAR_AWAY, g: u32::MAX as f64, b: 0.0, a: 0.0 };

/// The bits of 1e30 in single precision.
const FAR_AWAY: f64 = 0x7149_f2ca_u32 as f64;

/// The pipelines, built when a picture first needs them.
#[derive(Debug)]
pub(crate) struct OcclusionPass {
    /// For opaque bodies alone.
    plain: OnceLock<wgpu::RenderPipeline>,
    /// With the shadows of transparent bodies.
    veiled: OnceLock<wgpu::RenderPipeline>,
    frame_layout: wgpu::BindGroupLayout,
    layout: wgpu::BindGroupLayout,
}

/// What is looked at: the sketch, and what the key light sees.
pub(crate) struct Input<'a> {
    pub(crate) sketch: &'a SurfaceTargets,
    pub(crate) shadow_map: &'a wgpu::TextureView,
    pub(crate) veil: &'a wgpu::TextureView,
    pub(crate) passed: &'a wgpu::TextureView,
    /// True if there are transparent bodies.
    pub(crate) veiled: bool,
    /// The part of the picture that shows something.
    pub(crate) window: Window,
}

impl OcclusionPass {
    pub(crate) fn new(gpu: &Gpu, frame: &wgpu::BindGroupLayout) -> Self {
        let samples = loaded_samples(gpu.samples);
        let normals = loaded_whole_samples(gpu.samples);
        Self {
            plain: OnceLock::new(),
            veiled: OnceLock::new(),
            frame_layout: frame.clone(),
            layout: gpu.layout(&[samples, normals, LOADED, LOADED, LOADED]),
        }
    }

    fn pipeline(&self, gpu: &Gpu, veiled: bool) -> &wgpu::RenderPipeline {
        let slot = if veiled { &self.veiled } else { &self.plain };
        slot.get_or_init(|| {
            let source = with_veil(veiled, &with_samples(gpu.samples, SHADER));
            let layouts = [&self.frame_layout, &self.layout];
            gpu.screen_pipeline(["occlusion", "occlude"], &source, &layouts, replace(LIGHT))
        })
    }

    /// Looks how much light arrives at each pixel of a sketch.
    pub(crate) fn record(
        &self,
        gpu: &Gpu,
        encoder: &mut wgpu::CommandEncoder,
        frame: &wgpu::BindGroup,
        input: &Input<'_>,
        light: &wgpu::TextureView,
    ) {
        let Input { sketch, shadow_map, veil, passed, veiled, window } = input;
        let views = [&sketch.depth, &sketch.surface, *shadow_map, *veil, *passed];
        let group = gpu.group(&self.layout, &views.map(wgpu::BindingResource::TextureView));
        let open = onto(light, None, wgpu::LoadOp::Clear(OPEN));
        let mut pass = begin(encoder, "occlusion", &[open], None);
        if window.is_empty() {
            return;
        }
        window.limit(&mut pass);
        pass.set_bind_group(0, frame, &[]);
        pass.set_bind_group(1, &group, &[]);
        pass.set_pipeline(self.pipeline(gpu, *veiled));
        pass.draw(0..3, 0..1);
    }
}
