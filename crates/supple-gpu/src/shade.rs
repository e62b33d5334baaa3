//! From the sketch to the picture: light, transparent bodies over it, tones.

use std::sync::OnceLock;

use crate::device::{
    Gpu, LOADED, begin, clear, cover, loaded_samples, loaded_whole_samples, onto, with_samples,
};
use crate::surface::SurfaceTargets;
use crate::transparent::LIGHT as VEIL;

pub(crate) const SHADER: &str = concat!(
    include_str!("frame.wgsl"),
    include_str!("fullscreen.wgsl"),
    include_str!("light.wgsl"),
    include_str!("tonemap.wgsl"),
    include_str!("shade.wgsl")
);

/// The finished picture: sRGB in eight bits, encoded by the shader.
pub(crate) const PICTURE: wgpu::TextureFormat = wgpu::TextureFormat::Rgba8Unorm;

/// The size of what stands for no transparent bodies: like that of most pictures no power of two, for which
/// the software driver has shaders of their own.
const NO_VEIL_SIZE: [u32; 2] = [3, 3];

/// The pipeline, built when the first picture needs it.
#[derive(Debug)]
pub(crate) struct ShadePass {
    pipeline: OnceLock<wgpu::RenderPipeline>,
    frame_layout: wgpu::BindGroupLayout,
    layout: wgpu::BindGroupLayout,
    /// In place of transparent bodies.
    pub(crate) no_veil: wgpu::TextureView,
}

/// What is lit: the sketch, how much light arrives, and the transparent bodies.
pub(crate) struct Input<'a> {
    pub(crate) sketch: &'a SurfaceTargets,
    pub(crate) occlusion: &'a wgpu::TextureView,
    pub(crate) veil: &'a wgpu::TextureView,
}

impl ShadePass {
    pub(crate) fn new(gpu: &Gpu, frame: &wgpu::BindGroupLayout) -> Self {
        let samples = loaded_samples(gpu.samples);
        Self {
            pipeline: OnceLock::new(),
            no_veil: gpu.target(NO_VEIL_SIZE, VEIL, 1),
            frame_layout: frame.clone(),
            layout: gpu.layout(&[
                samples,
                loaded_whole_samples(gpu.samples),
                loaded_whole_samples(1),
                LOADED,
            ]),
        }
    }

    fn pipeline(&self, gpu: &Gpu) -> &wgpu::RenderPipeline {
        self.pipeline.get_or_init(|| {
            let source = with_samples(gpu.samples, SHADER);
            let layouts = [&self.frame_layout, &self.layout];
            gpu.screen_pipeline(["shade", "develop"], &source, &layouts, cover(PICTURE))
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
        let SurfaceTargets { depth, surface } = input.sketch;
        let views = [depth, surface, input.occlusion, input.veil];
        let group = gpu.group(&self.layout, &views.map(wgpu::BindingResource::TextureView));
        let mut pass = begin(encoder, "shade", &[onto(picture, None, clear(0.0))], None);
        pass.set_bind_group(0, frame, &[]);
        pass.set_bind_group(1, &group, &[]);
        pass.set_pipeline(self.pipeline(gpu));
        pass.draw(0..3, 0..1);
    }
}
