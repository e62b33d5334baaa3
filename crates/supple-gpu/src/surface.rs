//! Opaque bodies and the floor: a sketch of depth, normals and colours that the later passes light.
//!
//! Many triangles are smaller than a pixel, so the work for a triangle is kept small: light is worked
//! out once a pixel afterwards, and once more for each surface that shares a pixel at an edge.

use std::collections::HashMap;

use crate::device::{DEPTH_FORMAT, Depth, Gpu, Recipe, begin, clear, onto, replace};
use crate::draws::{Features, Kind, PLAIN_LAYOUT, Uploaded, VERTEX_LAYOUT};

pub(crate) const SHADER: &str = concat!(include_str!("frame.wgsl"), include_str!("surface.wgsl"));

/// Normals and colours in whole numbers, all in one: what a software driver stores without converting.
pub(crate) const SURFACE: wgpu::TextureFormat = wgpu::TextureFormat::Rgba16Uint;

/// The pipelines, built when a picture first needs them: that takes a software driver long.
#[derive(Debug)]
pub(crate) struct SurfacePass {
    layouts: [wgpu::BindGroupLayout; 2],
    plain: Option<wgpu::RenderPipeline>,
    rich: HashMap<Features, wgpu::RenderPipeline>,
}

/// The sketch, for one size of picture.
#[derive(Debug)]
pub(crate) struct SurfaceTargets {
    pub(crate) depth: wgpu::TextureView,
    pub(crate) surface: wgpu::TextureView,
}

impl SurfaceTargets {
    pub(crate) fn new(gpu: &Gpu, size: [u32; 2]) -> Self {
        Self {
            depth: gpu.target(size, DEPTH_FORMAT, gpu.samples),
            surface: gpu.target(size, SURFACE, gpu.samples),
        }
    }
}

impl SurfacePass {
    pub(crate) fn new(frame: &wgpu::BindGroupLayout, body: &wgpu::BindGroupLayout) -> Self {
        Self { layouts: [frame.clone(), body.clone()], plain: None, rich: HashMap::new() }
    }

    /// Makes the pipelines ready that the bodies need.
    pub(crate) fn prepare(&mut self, gpu: &Gpu, bodies: &Uploaded) {
        if bodies.has(Kind::Plain) || !has_rich(bodies) {
            let no = Features::default();
            self.plain.get_or_insert_with(|| {
                pipeline(gpu, &self.layouts, no, (PLAIN_LAYOUT, ["place_plain", "sketch_plain"]))
            });
        }
        if has_rich(bodies) {
            let features = bodies.features(is_rich);
            self.rich.entry(features).or_insert_with(|| {
                pipeline(gpu, &self.layouts, features, (VERTEX_LAYOUT, ["place", "sketch"]))
            });
        }
    }

    pub(crate) fn record(
        &self,
        encoder: &mut wgpu::CommandEncoder,
        targets: &SurfaceTargets,
        frame: &wgpu::BindGroup,
        bodies: &Uploaded,
    ) {
        let colors = [onto(&targets.surface, None, clear(0.0))];
        let mut pass =
            begin(encoder, "sketch", &colors, Some((&targets.depth, wgpu::LoadOp::Clear(1.0))));
        pass.set_bind_group(0, frame, &[]);
        // The floor is drawn with what is there already.
        let floor_is_rich = !bodies.has(Kind::Plain) && has_rich(bodies);
        if !floor_is_rich && let Some(plain) = &self.plain {
            pass.set_pipeline(plain);
            bodies.record(&mut pass, |kind| matches!(kind, Kind::Plain | Kind::Ground));
        }
        if let Some(rich) = self.rich.get(&bodies.features(is_rich)) {
            pass.set_pipeline(rich);
            let floor = |kind| floor_is_rich && kind == Kind::Ground;
            bodies.record(&mut pass, |kind| is_rich(kind) || floor(kind));
        }
    }
}

fn is_rich(kind: Kind) -> bool {
    matches!(kind, Kind::Rich | Kind::Cutout)
}

fn has_rich(bodies: &Uploaded) -> bool {
    bodies.has(Kind::Rich) || bodies.has(Kind::Cutout)
}

fn pipeline(
    gpu: &Gpu,
    layouts: &[wgpu::BindGroupLayout; 2],
    features: Features,
    (buffer, [vertex, fragment]): (wgpu::VertexBufferLayout<'static>, [&str; 2]),
) -> wgpu::RenderPipeline {
    gpu.pipeline(&Recipe {
        label: fragment,
        shader: &gpu.shader("surface", &features.with(SHADER)),
        layouts: &layouts.each_ref(),
        vertex,
        fragment: Some(fragment),
        buffers: &[Some(buffer)],
        targets: &[replace(SURFACE)],
        depth: Some(Depth::NEARER),
        samples: gpu.samples,
        cull: None,
    })
}
