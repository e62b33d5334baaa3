//! Transparent bodies, whatever the order they are given in.
//!
//! # Method
//!
//! Depth peeling: each pass finds, for every sample of every pixel, the nearest transparent surface
//! behind those already found, and puts its light *under* what is there. The picture does not depend
//! on the order of bodies or triangles. Memory is two depth buffers, however many layers.
//!
//! A sheet seen at a slant covers more, as a thin sheet of real material does:
//! `1 − (1 − α)^(1/cos θ)`.
//!
//! # Limits
//!
//! Layers beyond [`View::layers`](crate::view::View::layers) are not drawn. Of two sheets at the very
//! same depth one is drawn.
//!
//! # References
//!
//! - C. Everitt. Interactive Order-Independent Transparency. NVIDIA, 2001.

use crate::device::{DEPTH_FORMAT, Depth, Gpu, Recipe, begin, clear, depth, onto, with_samples};
use crate::draws::{Kind, Uploaded, VERTEX_LAYOUT};

pub(crate) const SHADER: &str = concat!(
    include_str!("frame.wgsl"),
    include_str!("surface.wgsl"),
    include_str!("light.wgsl"),
    include_str!("transparent.wgsl")
);

/// Light is kept in half floats until it is developed.
const LIGHT: wgpu::TextureFormat = wgpu::TextureFormat::Rgba16Float;

/// The pipelines.
#[derive(Debug)]
pub(crate) struct TransparentPass {
    peel: wgpu::RenderPipeline,
    shade: wgpu::RenderPipeline,
    layout: wgpu::BindGroupLayout,
}

/// What the layers are drawn on, for one size of picture.
#[derive(Debug)]
pub(crate) struct TransparentTargets {
    /// The layer before and this one, in turn.
    layers: [wgpu::TextureView; 2],
    light_samples: Option<wgpu::TextureView>,
    /// All layers together: light times cover, and cover.
    pub(crate) light: wgpu::TextureView,
}

impl TransparentTargets {
    pub(crate) fn new(gpu: &Gpu, size: [u32; 2]) -> Self {
        Self {
            layers: [0; 2].map(|_| gpu.target(size, DEPTH_FORMAT, gpu.samples)),
            light_samples: (gpu.samples > 1).then(|| gpu.target(size, LIGHT, gpu.samples)),
            light: gpu.target(size, LIGHT, 1),
        }
    }
}

impl TransparentPass {
    pub(crate) fn new(
        gpu: &Gpu,
        frame: &wgpu::BindGroupLayout,
        body: &wgpu::BindGroupLayout,
    ) -> Self {
        let many = gpu.samples > 1;
        let shader = gpu.shader("transparent", &with_samples(gpu.samples, SHADER));
        let layout = gpu.layout(&[depth(gpu.samples), depth(gpu.samples), depth(1)]);
        let peel = Recipe {
            label: "peel",
            shader: &shader,
            layouts: &[frame, body, &layout],
            vertex: "place_plain",
            fragment: Some(if many { "peel_samples" } else { "peel_single" }),
            buffers: &[Some(VERTEX_LAYOUT)],
            targets: &[],
            depth: Some(Depth::NEARER),
            samples: gpu.samples,
        };
        let under = wgpu::BlendComponent {
            src_factor: wgpu::BlendFactor::OneMinusDstAlpha,
            dst_factor: wgpu::BlendFactor::One,
            operation: wgpu::BlendOperation::Add,
        };
        let target = wgpu::ColorTargetState {
            format: LIGHT,
            blend: Some(wgpu::BlendState { color: under, alpha: under }),
            write_mask: wgpu::ColorWrites::ALL,
        };
        let shade = gpu.pipeline(&Recipe {
            label: "shade layer",
            vertex: "place",
            fragment: Some("shade_layer"),
            targets: &[Some(target)],
            depth: Some(Depth { write: false, compare: wgpu::CompareFunction::Equal }),
            ..peel
        });
        Self { peel: gpu.pipeline(&peel), shade, layout }
    }

    /// Draws `layers` layers of the transparent bodies.
    pub(crate) fn record(
        &self,
        gpu: &Gpu,
        encoder: &mut wgpu::CommandEncoder,
        frame: &wgpu::BindGroup,
        bodies: &Uploaded,
        input: &Input<'_>,
    ) {
        let targets = input.targets;
        begin(encoder, "first layer", &[], Some((&targets.layers[1], wgpu::LoadOp::Clear(0.0))));
        for layer in 0..input.layers {
            let (this, before) =
                (&targets.layers[layer as usize % 2], &targets.layers[(layer as usize + 1) % 2]);
            let group = |peeled: &wgpu::TextureView| {
                gpu.group(
                    &self.layout,
                    &[input.opaque_depth, peeled, input.shadow_map]
                        .map(wgpu::BindingResource::TextureView),
                )
            };
            {
                let mut pass = begin(encoder, "peel", &[], Some((this, wgpu::LoadOp::Clear(1.0))));
                pass.set_bind_group(0, frame, &[]);
                pass.set_bind_group(2, &group(before), &[]);
                pass.set_pipeline(&self.peel);
                bodies.record(&mut pass, |kind| kind == Kind::Transparent);
            }
            let load = if layer == 0 { clear(0.0) } else { wgpu::LoadOp::Load };
            let last = layer + 1 == input.layers;
            let color = match &targets.light_samples {
                Some(samples) => onto(samples, last.then_some(&targets.light), load),
                None => onto(&targets.light, None, load),
            };
            let mut pass =
                begin(encoder, "shade layer", &[color], Some((this, wgpu::LoadOp::Load)));
            pass.set_bind_group(0, frame, &[]);
            pass.set_bind_group(2, &group(before), &[]);
            pass.set_pipeline(&self.shade);
            bodies.record(&mut pass, |kind| kind == Kind::Transparent);
        }
    }
}

/// What the layers are drawn with.
pub(crate) struct Input<'a> {
    pub(crate) targets: &'a TransparentTargets,
    pub(crate) opaque_depth: &'a wgpu::TextureView,
    pub(crate) shadow_map: &'a wgpu::TextureView,
    pub(crate) layers: u32,
}
