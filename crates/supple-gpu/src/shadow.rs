//! What the key light sees: the nearest opaque surface, the nearest transparent one, and what
//! passes through all transparent ones.
//!
//! # Limits
//!
//! A surface between two transparent ones takes the shadow of both. Floor and wall, which are behind
//! everything, are exact.

use crate::device::{DEPTH_FORMAT, Depth, Gpu, Recipe, begin, clear, onto};
use crate::draws::{Kind, Uploaded, VERTEX_LAYOUT};
use crate::frame::SHADOW_TEXELS;

pub(crate) const SHADER: &str =
    concat!(include_str!("frame.wgsl"), include_str!("surface.wgsl"), include_str!("shadow.wgsl"));

const TRANSMITTANCE: wgpu::TextureFormat = wgpu::TextureFormat::Rgba8Unorm;

/// The maps and the pipelines that draw them.
#[derive(Debug)]
pub(crate) struct ShadowPass {
    opaque: wgpu::RenderPipeline,
    cutout: wgpu::RenderPipeline,
    transmittance: wgpu::RenderPipeline,
    /// Depth of the nearest opaque surface.
    pub(crate) map: wgpu::TextureView,
    /// Depth of the nearest transparent surface; one texel until there is one.
    pub(crate) veil: wgpu::TextureView,
    /// What passes through the transparent surfaces; one texel until there is one.
    pub(crate) passed: wgpu::TextureView,
    veiled: bool,
}

impl ShadowPass {
    pub(crate) fn new(
        gpu: &Gpu,
        frame: &wgpu::BindGroupLayout,
        body: &wgpu::BindGroupLayout,
    ) -> Self {
        let shader = gpu.shader("shadow", SHADER);
        let depth = Recipe {
            label: "shadow",
            shader: &shader,
            layouts: &[frame, body],
            vertex: "throw_shadow",
            fragment: None,
            buffers: &[Some(VERTEX_LAYOUT)],
            targets: &[],
            depth: Some(Depth::NEARER),
            samples: 1,
        };
        let multiply = wgpu::BlendComponent {
            src_factor: wgpu::BlendFactor::Dst,
            dst_factor: wgpu::BlendFactor::Zero,
            operation: wgpu::BlendOperation::Add,
        };
        let target = wgpu::ColorTargetState {
            format: TRANSMITTANCE,
            blend: Some(wgpu::BlendState { color: multiply, alpha: multiply }),
            write_mask: wgpu::ColorWrites::ALL,
        };
        Self {
            opaque: gpu.pipeline(&depth),
            cutout: gpu.pipeline(&Recipe { fragment: Some("cast_cutout"), ..depth }),
            transmittance: gpu.pipeline(&Recipe {
                fragment: Some("cast_transmittance"),
                targets: &[Some(target)],
                depth: None,
                ..depth
            }),
            map: gpu.target([SHADOW_TEXELS; 2], DEPTH_FORMAT, 1),
            veil: gpu.target([1; 2], DEPTH_FORMAT, 1),
            passed: gpu.target([1; 2], TRANSMITTANCE, 1),
            veiled: false,
        }
    }

    /// Makes room for transparent surfaces, the first time there are any.
    pub(crate) fn prepare(&mut self, gpu: &Gpu, veiled: bool) {
        if veiled && !self.veiled {
            self.veil = gpu.target([SHADOW_TEXELS; 2], DEPTH_FORMAT, 1);
            self.passed = gpu.target([SHADOW_TEXELS; 2], TRANSMITTANCE, 1);
            self.veiled = true;
        }
    }

    pub(crate) fn record(
        &self,
        encoder: &mut wgpu::CommandEncoder,
        frame: &wgpu::BindGroup,
        bodies: &Uploaded,
    ) {
        let far = wgpu::LoadOp::Clear(1.0);
        {
            let mut pass = begin(encoder, "shadow", &[], Some((&self.map, far)));
            pass.set_bind_group(0, frame, &[]);
            pass.set_pipeline(&self.opaque);
            bodies.record(&mut pass, |kind| matches!(kind, Kind::Plain | Kind::Rich));
            if bodies.has(Kind::Cutout) {
                pass.set_pipeline(&self.cutout);
                bodies.record(&mut pass, |kind| kind == Kind::Cutout);
            }
        }
        if !bodies.has(Kind::Transparent) {
            return;
        }
        {
            let mut pass = begin(encoder, "veil", &[], Some((&self.veil, far)));
            pass.set_bind_group(0, frame, &[]);
            pass.set_pipeline(&self.opaque);
            bodies.record(&mut pass, |kind| kind == Kind::Transparent);
        }
        let mut pass =
            begin(encoder, "transmittance", &[onto(&self.passed, None, clear(1.0))], None);
        pass.set_bind_group(0, frame, &[]);
        pass.set_pipeline(&self.transmittance);
        bodies.record(&mut pass, |kind| kind == Kind::Transparent);
    }
}
