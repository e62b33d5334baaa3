//! Opaque bodies and the floor: a sketch of depth, normals and colours that the later passes light.
//!
//! Many triangles are smaller than a pixel, so the work for a triangle is kept small: light is worked
//! out once a pixel afterwards, and once more for each surface that shares a pixel at an edge.

use crate::device::{DEPTH_FORMAT, Depth, Gpu, Recipe, begin, clear, onto, replace};
use crate::draws::{Kind, Uploaded, VERTEX_LAYOUT};

pub(crate) const SHADER: &str = concat!(include_str!("frame.wgsl"), include_str!("surface.wgsl"));

pub(crate) const NORMAL: wgpu::TextureFormat = wgpu::TextureFormat::Rg16Float;
const COLOR: wgpu::TextureFormat = wgpu::TextureFormat::Rgba8UnormSrgb;

/// The pipelines.
#[derive(Debug)]
pub(crate) struct SurfacePass {
    plain: wgpu::RenderPipeline,
    rich: wgpu::RenderPipeline,
}

/// The sketch, for one size of picture.
#[derive(Debug)]
pub(crate) struct SurfaceTargets {
    pub(crate) depth: wgpu::TextureView,
    pub(crate) normal: wgpu::TextureView,
    pub(crate) color: wgpu::TextureView,
}

impl SurfaceTargets {
    pub(crate) fn new(gpu: &Gpu, size: [u32; 2]) -> Self {
        Self {
            depth: gpu.target(size, DEPTH_FORMAT, gpu.samples),
            normal: gpu.target(size, NORMAL, gpu.samples),
            color: gpu.target(size, COLOR, gpu.samples),
        }
    }
}

impl SurfacePass {
    pub(crate) fn new(
        gpu: &Gpu,
        frame: &wgpu::BindGroupLayout,
        body: &wgpu::BindGroupLayout,
    ) -> Self {
        let shader = gpu.shader("surface", SHADER);
        let plain = Recipe {
            label: "sketch plain",
            shader: &shader,
            layouts: &[frame, body],
            vertex: "place_plain",
            fragment: Some("sketch_plain"),
            buffers: &[Some(VERTEX_LAYOUT)],
            targets: &[replace(NORMAL), replace(COLOR)],
            depth: Some(Depth::NEARER),
            samples: gpu.samples,
        };
        let rich = Recipe { label: "sketch", vertex: "place", fragment: Some("sketch"), ..plain };
        Self { rich: gpu.pipeline(&rich), plain: gpu.pipeline(&plain) }
    }

    pub(crate) fn record(
        &self,
        encoder: &mut wgpu::CommandEncoder,
        targets: &SurfaceTargets,
        frame: &wgpu::BindGroup,
        bodies: &Uploaded,
    ) {
        let colors =
            [onto(&targets.normal, None, clear(0.0)), onto(&targets.color, None, clear(0.0))];
        let mut pass =
            begin(encoder, "sketch", &colors, Some((&targets.depth, wgpu::LoadOp::Clear(1.0))));
        pass.set_bind_group(0, frame, &[]);
        pass.set_pipeline(&self.plain);
        bodies.record(&mut pass, |kind| matches!(kind, Kind::Plain | Kind::Ground));
        pass.set_pipeline(&self.rich);
        bodies.record(&mut pass, |kind| matches!(kind, Kind::Rich | Kind::Cutout));
    }
}
