//! What the key light sees: the nearest opaque surface, the nearest transparent one, and what
//! passes through all transparent ones.
//!
//! # Limits
//!
//! A surface between two transparent ones takes the shadow of both. Floor and wall, which are behind
//! everything, are exact.

use std::sync::OnceLock;

use crate::device::{DEPTH_FORMAT, Depth, Gpu, Recipe, begin, clear, onto};
use crate::draws::{Draw, Features, Kind, POSITION_LAYOUT, Uploaded, VERTEX_LAYOUT};

pub(crate) const SHADER: &str =
    concat!(include_str!("frame.wgsl"), include_str!("surface.wgsl"), include_str!("shadow.wgsl"));

const TRANSMITTANCE: wgpu::TextureFormat = wgpu::TextureFormat::Rgba8Unorm;

/// The maps and the pipelines that draw them; those that few pictures need are built when one does.
#[derive(Debug)]
pub(crate) struct ShadowPass {
    layouts: [wgpu::BindGroupLayout; 2],
    shader: wgpu::ShaderModule,
    /// The side towards the light alone: of bodies without holes that is all there is to draw.
    closed: wgpu::RenderPipeline,
    open: OnceLock<wgpu::RenderPipeline>,
    cutout: OnceLock<wgpu::RenderPipeline>,
    transmittance: OnceLock<wgpu::RenderPipeline>,
    /// Depth of the nearest opaque surface.
    pub(crate) map: wgpu::TextureView,
    /// Depth of the nearest transparent surface; one texel until there is one.
    pub(crate) veil: wgpu::TextureView,
    /// What passes through the transparent surfaces; one texel until there is one.
    pub(crate) passed: wgpu::TextureView,
}

impl ShadowPass {
    pub(crate) fn new(
        gpu: &Gpu,
        frame: &wgpu::BindGroupLayout,
        body: &wgpu::BindGroupLayout,
    ) -> Self {
        let shader = gpu.shader("shadow", &Features::ALL.with(SHADER));
        let layouts = [frame.clone(), body.clone()];
        Self {
            closed: gpu.pipeline(&Recipe {
                cull: Some(wgpu::Face::Back),
                ..depth_only(&shader, &layouts.each_ref())
            }),
            open: OnceLock::new(),
            cutout: OnceLock::new(),
            transmittance: OnceLock::new(),
            layouts,
            shader,
            map: gpu.target([gpu.quality.shadow_texels; 2], DEPTH_FORMAT, 1),
            veil: gpu.target([1; 2], DEPTH_FORMAT, 1),
            passed: gpu.target([1; 2], TRANSMITTANCE, 1),
        }
    }

    /// Makes room for transparent surfaces when the first ones come.
    pub(crate) fn prepare(&mut self, gpu: &Gpu, veiled: bool) {
        let texels = gpu.quality.shadow_texels;
        if veiled && self.veil.texture().width() < texels {
            self.veil = gpu.target([texels; 2], DEPTH_FORMAT, 1);
            self.passed = gpu.target([texels; 2], TRANSMITTANCE, 1);
        }
    }

    fn open(&self, gpu: &Gpu) -> &wgpu::RenderPipeline {
        self.open.get_or_init(|| gpu.pipeline(&depth_only(&self.shader, &self.layouts.each_ref())))
    }

    fn cutout(&self, gpu: &Gpu) -> &wgpu::RenderPipeline {
        self.cutout.get_or_init(|| {
            let layouts = self.layouts.each_ref();
            let depth = depth_only(&self.shader, &layouts);
            gpu.pipeline(&Recipe {
                vertex: "throw_shadow",
                fragment: Some("cast_cutout"),
                buffers: &[Some(VERTEX_LAYOUT)],
                ..depth
            })
        })
    }

    fn transmittance(&self, gpu: &Gpu) -> &wgpu::RenderPipeline {
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
        self.transmittance.get_or_init(|| {
            gpu.pipeline(&Recipe {
                vertex: "throw_shadow",
                fragment: Some("cast_transmittance"),
                buffers: &[Some(VERTEX_LAYOUT)],
                targets: &[Some(target)],
                depth: None,
                ..depth_only(&self.shader, &self.layouts.each_ref())
            })
        })
    }

    pub(crate) fn record(
        &self,
        gpu: &Gpu,
        encoder: &mut wgpu::CommandEncoder,
        frame: &wgpu::BindGroup,
        bodies: &Uploaded,
    ) {
        let far = wgpu::LoadOp::Clear(1.0);
        {
            let mut pass = begin(encoder, "shadow", &[], Some((&self.map, far)));
            pass.set_bind_group(0, frame, &[]);
            pass.set_pipeline(&self.closed);
            bodies.record_draws(&mut pass, |draw| draw.closed);
            let solid = |draw: &Draw| matches!(draw.kind, Kind::Plain | Kind::Rich);
            if bodies.any(|draw| solid(draw) && !draw.closed) {
                pass.set_pipeline(self.open(gpu));
                bodies.record_draws(&mut pass, |draw| solid(draw) && !draw.closed);
            }
            if bodies.has(Kind::Cutout) {
                pass.set_pipeline(self.cutout(gpu));
                bodies.record(&mut pass, |kind| kind == Kind::Cutout);
            }
        }
        if !bodies.has(Kind::Transparent) {
            return;
        }
        {
            let mut pass = begin(encoder, "veil", &[], Some((&self.veil, far)));
            pass.set_bind_group(0, frame, &[]);
            pass.set_pipeline(self.open(gpu));
            bodies.record(&mut pass, |kind| kind == Kind::Transparent);
        }
        let mut pass =
            begin(encoder, "transmittance", &[onto(&self.passed, None, clear(1.0))], None);
        pass.set_bind_group(0, frame, &[]);
        pass.set_pipeline(self.transmittance(gpu));
        bodies.record(&mut pass, |kind| kind == Kind::Transparent);
    }
}

/// Draws nothing but depth.
fn depth_only<'a>(
    shader: &'a wgpu::ShaderModule,
    layouts: &'a [&'a wgpu::BindGroupLayout],
) -> Recipe<'a> {
    Recipe {
        label: "shadow",
        shader,
        layouts,
        vertex: "throw_opaque",
        fragment: None,
        buffers: &[Some(POSITION_LAYOUT)],
        targets: &[],
        depth: Some(Depth::NEARER),
        samples: 1,
        cull: None,
    }
}
