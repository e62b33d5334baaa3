//! From the sketch to the picture: light, transparent bodies over it, tones.

use std::sync::OnceLock;

use crate::device::{
    Gpu, LOADED, Recipe, begin, clear, cover, loaded_samples, loaded_whole_samples, onto,
    with_samples, with_veil,
};
use crate::surface::SurfaceTargets;

pub(crate) const SHADER: &str = concat!(
    include_str!("frame.wgsl"),
    include_str!("fullscreen.wgsl"),
    include_str!("light.wgsl"),
    include_str!("tonemap.wgsl"),
    include_str!("shade.wgsl")
);

/// The finished picture: sRGB in eight bits, encoded by the shader.
pub(crate) const PICTURE: wgpu::TextureFormat = wgpu::TextureFormat::Rgba8Unorm;

/// The pipelines, built when a picture first needs them.
#[derive(Debug)]
pub(crate) struct ShadePass {
    /// For opaque bodies alone.
    plain: OnceLock<wgpu::RenderPipeline>,
    /// With transparent bodies in front.
    veiled: OnceLock<wgpu::RenderPipeline>,
    frame_layout: wgpu::BindGroupLayout,
    layout: wgpu::BindGroupLayout,
}

/// What is lit: the sketch, how much light arrives, and the transparent bodies.
pub(crate) struct Input<'a> {
    pub(crate) sketch: &'a SurfaceTargets,
    pub(crate) occlusion: &'a wgpu::TextureView,
    /// Some texture to bind where there are no transparent bodies.
    pub(crate) veil: &'a wgpu::TextureView,
    pub(crate) veiled: bool,
}

impl ShadePass {
    pub(crate) fn new(gpu: &Gpu, frame: &wgpu::BindGroupLayout) -> Self {
        let samples = loaded_samples(gpu.samples);
        Self {
            plain: OnceLock::new(),
            veiled: OnceLock::new(),
            frame_layout: frame.clone(),
            layout: gpu.layout(&[
                samples,
                loaded_whole_samples(gpu.samples),
                samples,
                LOADED,
                LOADED,
            ]),
        }
    }

    fn pipeline(&self, gpu: &Gpu, veiled: bool) -> &wgpu::RenderPipeline {
        let slot = if veiled { &self.veiled } else { &self.plain };
        slot.get_or_init(|| {
            let source = with_veil(veiled, &with_samples(gpu.samples, SHADER));
            gpu.pipeline(&Recipe {
                label: "shade",
                shader: &gpu.shader("shade", &source),
                layouts: &[&self.frame_layout, &self.layout],
                vertex: "cover",
                fragment: Some("develop"),
                buffers: &[],
                targets: &[cover(PICTURE)],
                depth: None,
                samples: 1,
            })
        })
    }

    /// Lights the sketch and lays the transparent bodies over it.
    pub(crate) fn record(
        &self,
        gpu: &Gpu,
        encoder: &mut wgpu::CommandEncoder,
        frame: &wgpu::BindGroup,
        input: &Input<'_>,
        picture: &wgpu::TextureView,
    ) {
        let SurfaceTargets { depth, normal, color } = input.sketch;
        let views = [depth, normal, color, input.occlusion, input.veil];
        let group = gpu.group(&self.layout, &views.map(wgpu::BindingResource::TextureView));
        let mut pass = begin(encoder, "shade", &[onto(picture, None, clear(0.0))], None);
        pass.set_bind_group(0, frame, &[]);
        pass.set_bind_group(1, &group, &[]);
        pass.set_pipeline(self.pipeline(gpu, input.veiled));
        pass.draw(0..3, 0..1);
    }
}
