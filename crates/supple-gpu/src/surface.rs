//! Opaque bodies and the floor: a sketch (depth and normals) that the occlusion pass reads, then the
//! shaded surface.

use crate::device::{DEPTH_FORMAT, Depth, Gpu, LOADED, Recipe, begin, clear, onto, replace};
use crate::draws::{Kind, Uploaded, VERTEX_LAYOUT};

pub(crate) const SHADER: &str = concat!(
    include_str!("frame.wgsl"),
    include_str!("surface.wgsl"),
    include_str!("light.wgsl"),
    include_str!("shade.wgsl")
);

/// Light is kept in half floats until it is developed.
pub(crate) const LIGHT: wgpu::TextureFormat = wgpu::TextureFormat::Rgba16Float;

const SKETCH_DEPTH: wgpu::TextureFormat = wgpu::TextureFormat::R32Float;
const SKETCH_NORMAL: wgpu::TextureFormat = wgpu::TextureFormat::Rg16Float;

/// The pipelines.
#[derive(Debug)]
pub(crate) struct SurfacePass {
    sketch: wgpu::RenderPipeline,
    shade: wgpu::RenderPipeline,
    ground: wgpu::RenderPipeline,
    occlusion_layout: wgpu::BindGroupLayout,
}

/// What the passes draw on, for one size of picture.
#[derive(Debug)]
pub(crate) struct SurfaceTargets {
    pub(crate) sketch_depth: wgpu::TextureView,
    pub(crate) sketch_normal: wgpu::TextureView,
    depth: wgpu::TextureView,
    /// Several samples a pixel; `None` where there is only one.
    light_samples: Option<wgpu::TextureView>,
    /// Depth of the samples.
    pub(crate) depth_samples: wgpu::TextureView,
    /// The mean of the samples.
    pub(crate) light: wgpu::TextureView,
}

impl SurfaceTargets {
    pub(crate) fn new(gpu: &Gpu, size: [u32; 2]) -> Self {
        let samples = gpu.samples;
        Self {
            sketch_depth: gpu.target(size, SKETCH_DEPTH, 1),
            sketch_normal: gpu.target(size, SKETCH_NORMAL, 1),
            depth: gpu.target(size, DEPTH_FORMAT, 1),
            light_samples: (samples > 1).then(|| gpu.target(size, LIGHT, samples)),
            depth_samples: gpu.target(size, DEPTH_FORMAT, samples),
            light: gpu.target(size, LIGHT, 1),
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
        let occlusion_layout = gpu.layout(&[LOADED, LOADED]);
        let sketch = Recipe {
            label: "sketch",
            shader: &shader,
            layouts: &[frame, body],
            vertex: "place",
            fragment: Some("sketch"),
            buffers: &[Some(VERTEX_LAYOUT)],
            targets: &[replace(SKETCH_DEPTH), replace(SKETCH_NORMAL)],
            depth: Some(Depth::NEARER),
            samples: 1,
        };
        let shade = Recipe {
            label: "shade",
            layouts: &[frame, body, &occlusion_layout],
            fragment: Some("shade"),
            targets: &[replace(LIGHT)],
            samples: gpu.samples,
            ..sketch
        };
        Self {
            sketch: gpu.pipeline(&sketch),
            ground: gpu.pipeline(&Recipe { fragment: Some("shade_ground"), ..shade }),
            shade: gpu.pipeline(&shade),
            occlusion_layout,
        }
    }

    /// Draws depth and normals.
    pub(crate) fn record_sketch(
        &self,
        encoder: &mut wgpu::CommandEncoder,
        targets: &SurfaceTargets,
        frame: &wgpu::BindGroup,
        bodies: &Uploaded,
    ) {
        let nothing = wgpu::LoadOp::Clear(wgpu::Color { r: 1e30, g: 0.0, b: 0.0, a: 0.0 });
        let colors = [
            onto(&targets.sketch_depth, None, nothing),
            onto(&targets.sketch_normal, None, clear(0.0)),
        ];
        let mut pass =
            begin(encoder, "sketch", &colors, Some((&targets.depth, wgpu::LoadOp::Clear(1.0))));
        pass.set_bind_group(0, frame, &[]);
        pass.set_pipeline(&self.sketch);
        for kind in [Kind::Opaque, Kind::Cutout, Kind::Ground] {
            bodies.record(&mut pass, kind);
        }
    }

    /// Draws the shaded surfaces, given how much light arrives at each pixel.
    pub(crate) fn record(
        &self,
        gpu: &Gpu,
        encoder: &mut wgpu::CommandEncoder,
        (targets, occlusion): (&SurfaceTargets, &wgpu::TextureView),
        frame: &wgpu::BindGroup,
        bodies: &Uploaded,
    ) {
        let views = [occlusion, &targets.sketch_depth].map(wgpu::BindingResource::TextureView);
        let group = gpu.group(&self.occlusion_layout, &views);
        let color = match &targets.light_samples {
            Some(samples) => onto(samples, Some(&targets.light), clear(0.0)),
            None => onto(&targets.light, None, clear(0.0)),
        };
        let mut pass = begin(
            encoder,
            "shade",
            &[color],
            Some((&targets.depth_samples, wgpu::LoadOp::Clear(1.0))),
        );
        pass.set_bind_group(0, frame, &[]);
        pass.set_bind_group(2, &group, &[]);
        pass.set_pipeline(&self.shade);
        bodies.record(&mut pass, Kind::Opaque);
        bodies.record(&mut pass, Kind::Cutout);
        pass.set_pipeline(&self.ground);
        bodies.record(&mut pass, Kind::Ground);
    }
}
