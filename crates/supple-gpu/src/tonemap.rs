//! From light to the picture.

use crate::device::{Gpu, LOADED, Recipe, begin, clear, onto, replace};

pub(crate) const SHADER: &str = concat!(
    include_str!("frame.wgsl"),
    include_str!("fullscreen.wgsl"),
    include_str!("tonemap.wgsl")
);

/// The finished picture: sRGB in eight bits, encoded by the shader.
pub(crate) const PICTURE: wgpu::TextureFormat = wgpu::TextureFormat::Rgba8Unorm;

/// The pipeline.
#[derive(Debug)]
pub(crate) struct TonemapPass {
    develop: wgpu::RenderPipeline,
    layout: wgpu::BindGroupLayout,
}

impl TonemapPass {
    pub(crate) fn new(gpu: &Gpu, frame: &wgpu::BindGroupLayout) -> Self {
        let layout = gpu.layout(&[LOADED, LOADED]);
        let shader = gpu.shader("tonemap", SHADER);
        let develop = gpu.pipeline(&Recipe {
            label: "tonemap",
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

    pub(crate) fn record(
        &self,
        gpu: &Gpu,
        encoder: &mut wgpu::CommandEncoder,
        frame: &wgpu::BindGroup,
        [opaque, transparent]: [&wgpu::TextureView; 2],
        picture: &wgpu::TextureView,
    ) {
        let group =
            gpu.group(&self.layout, &[opaque, transparent].map(wgpu::BindingResource::TextureView));
        let mut pass = begin(encoder, "tonemap", &[onto(picture, None, clear(0.0))], None);
        pass.set_bind_group(0, frame, &[]);
        pass.set_bind_group(1, &group, &[]);
        pass.set_pipeline(&self.develop);
        pass.draw(0..3, 0..1);
    }
}
