//! From the sketch to the picture: light, transparent bodies over it, tones.

use crate::device::{
    Gpu, LOADED, Recipe, begin, clear, loaded_samples, onto, replace, with_samples,
};

pub(crate) const SHADER: &str = concat!(
    include_str!("frame.wgsl"),
    include_str!("fullscreen.wgsl"),
    include_str!("light.wgsl"),
    include_str!("tonemap.wgsl"),
    include_str!("shade.wgsl")
);

/// The finished picture: sRGB in eight bits, encoded by the shader.
pub(crate) const PICTURE: wgpu::TextureFormat = wgpu::TextureFormat::Rgba8Unorm;

/// The pipeline.
#[derive(Debug)]
pub(crate) struct ShadePass {
    develop: wgpu::RenderPipeline,
    layout: wgpu::BindGroupLayout,
}

impl ShadePass {
    pub(crate) fn new(gpu: &Gpu, frame: &wgpu::BindGroupLayout) -> Self {
        let samples = loaded_samples(gpu.samples);
        let layout = gpu.layout(&[loaded_samples(gpu.samples), samples, samples, LOADED, LOADED]);
        let shader = gpu.shader("shade", &with_samples(gpu.samples, SHADER));
        let develop = gpu.pipeline(&Recipe {
            label: "shade",
            shader: &shader,
            layouts: &[frame, &layout],
            vertex: "cover",
            fragment: Some("develop"),
            buffers: &[],
            targets: &[replace(PICTURE)],
            depth: None,
            samples: 1,
        });
        Self { develop, layout }
    }

    /// Lights the sketch: its depth, normals and colours, how much light arrives, and the transparent
    /// bodies.
    pub(crate) fn record(
        &self,
        gpu: &Gpu,
        encoder: &mut wgpu::CommandEncoder,
        frame: &wgpu::BindGroup,
        inputs: [&wgpu::TextureView; 5],
        picture: &wgpu::TextureView,
    ) {
        let group = gpu.group(&self.layout, &inputs.map(wgpu::BindingResource::TextureView));
        let mut pass = begin(encoder, "shade", &[onto(picture, None, clear(0.0))], None);
        pass.set_bind_group(0, frame, &[]);
        pass.set_bind_group(1, &group, &[]);
        pass.set_pipeline(&self.develop);
        pass.draw(0..3, 0..1);
    }
}
