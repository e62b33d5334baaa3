//! Jagged edges softened without several samples a pixel.
//!
//! # Method
//!
//! The finished picture is read again: a pixel whose neighbours differ in brightness becomes the mean of what lies along
//! the edge through it, as far as that stays between the brightness of the neighbours.
//!
//! # Limits
//!
//! What is thinner than a pixel flickers: only samples help there.
//!
//! # References
//!
//! - T. Lottes. FXAA. NVIDIA white paper, 2009.

use std::sync::OnceLock;

use crate::device::{Gpu, SAMPLED, SAMPLER, begin, clear, cover, onto};
use crate::shade::PICTURE;

pub(crate) const SHADER: &str =
    concat!(include_str!("fullscreen.wgsl"), include_str!("edges.wgsl"));

/// The pipeline, built when the first picture needs it.
#[derive(Debug)]
pub(crate) struct EdgePass {
    pipeline: OnceLock<wgpu::RenderPipeline>,
    layout: wgpu::BindGroupLayout,
    between: wgpu::Sampler,
}

impl EdgePass {
    pub(crate) fn new(gpu: &Gpu) -> Self {
        let between = gpu.device.create_sampler(&wgpu::SamplerDescriptor {
            mag_filter: wgpu::FilterMode::Linear,
            min_filter: wgpu::FilterMode::Linear,
            ..Default::default()
        });
        Self { pipeline: OnceLock::new(), layout: gpu.layout(&[SAMPLED, SAMPLER]), between }
    }

    fn pipeline(&self, gpu: &Gpu) -> &wgpu::RenderPipeline {
        self.pipeline.get_or_init(|| {
            gpu.screen_pipeline(["edges", "soften"], SHADER, &[&self.layout], cover(PICTURE))
        })
    }

    /// Draws a rough picture once more.
    pub(crate) fn record(
        &self,
        gpu: &Gpu,
        encoder: &mut wgpu::CommandEncoder,
        rough: &wgpu::TextureView,
        picture: &wgpu::TextureView,
    ) {
        let read = [
            wgpu::BindingResource::TextureView(rough),
            wgpu::BindingResource::Sampler(&self.between),
        ];
        let group = gpu.group(&self.layout, &read);
        let mut pass = begin(encoder, "edges", &[onto(picture, None, clear(0.0))], None);
        pass.set_bind_group(0, &group, &[]);
        pass.set_pipeline(self.pipeline(gpu));
        pass.draw(0..3, 0..1);
    }
}
