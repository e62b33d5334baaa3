//! How much light arrives at each pixel: soft shadows of the key light and ambient obscurance.
//!
//! # Method
//!
//! Shadows are percentage-closer soft shadows: the mean distance of what blocks the light gives the
//! width of the penumbra. Obscurance looks at the depth of a few pixels around. Both take few taps,
//! turned by one of 16 angles in a 4 × 4 pattern, which a smoothing pass averages within each
//! surface: smooth, cheap, and the same picture every time.
//!
//! # References
//!
//! - R. Fernando. Percentage-Closer Soft Shadows. SIGGRAPH Sketches, 2005.
//! - M. McGuire, M. Mara, D. Luebke. Scalable Ambient Obscurance. High-Performance Graphics, 2012.

use crate::device::{
    Gpu, LOADED, Recipe, begin, clear, loaded_samples, onto, replace, with_samples,
};
use crate::shadow::ShadowPass;
use crate::surface::SurfaceTargets;

pub(crate) const OCCLUDE: &str = concat!(
    include_str!("frame.wgsl"),
    include_str!("fullscreen.wgsl"),
    include_str!("occlusion.wgsl")
);

pub(crate) const SMOOTH: &str = concat!(
    include_str!("frame.wgsl"),
    include_str!("fullscreen.wgsl"),
    include_str!("smooth.wgsl")
);

const FORMAT: wgpu::TextureFormat = wgpu::TextureFormat::Rgba8Unorm;

/// The pipelines.
#[derive(Debug)]
pub(crate) struct OcclusionPass {
    occlude: wgpu::RenderPipeline,
    along_rows: wgpu::RenderPipeline,
    along_columns: wgpu::RenderPipeline,
    occlude_layout: wgpu::BindGroupLayout,
    smooth_layout: wgpu::BindGroupLayout,
}

/// Two pictures to smooth from one to the other; the result is in the first.
#[derive(Debug)]
pub(crate) struct OcclusionTargets {
    pub(crate) result: wgpu::TextureView,
    other: wgpu::TextureView,
}

impl OcclusionTargets {
    pub(crate) fn new(gpu: &Gpu, size: [u32; 2]) -> Self {
        Self { result: gpu.target(size, FORMAT, 1), other: gpu.target(size, FORMAT, 1) }
    }
}

impl OcclusionPass {
    pub(crate) fn new(gpu: &Gpu, frame: &wgpu::BindGroupLayout) -> Self {
        let (depths, samples) = (loaded_samples(gpu.samples), loaded_samples(gpu.samples));
        let occlude_layout = gpu.layout(&[depths, samples, LOADED, LOADED, LOADED]);
        let smooth_layout = gpu.layout(&[depths, samples, LOADED]);
        let occlude = gpu.shader("occlusion", &with_samples(gpu.samples, OCCLUDE));
        let smooth = gpu.shader("smooth", &with_samples(gpu.samples, SMOOTH));
        let recipe = Recipe {
            label: "occlusion",
            shader: &occlude,
            layouts: &[frame, &occlude_layout],
            vertex: "cover",
            fragment: Some("occlude"),
            buffers: &[],
            targets: &[replace(FORMAT)],
            depth: None,
            samples: 1,
        };
        let rows = Recipe {
            label: "smooth",
            shader: &smooth,
            layouts: &[frame, &smooth_layout],
            fragment: Some("along_rows"),
            ..recipe
        };
        Self {
            occlude: gpu.pipeline(&recipe),
            along_columns: gpu.pipeline(&Recipe { fragment: Some("along_columns"), ..rows }),
            along_rows: gpu.pipeline(&rows),
            occlude_layout,
            smooth_layout,
        }
    }

    pub(crate) fn record(
        &self,
        gpu: &Gpu,
        encoder: &mut wgpu::CommandEncoder,
        frame: &wgpu::BindGroup,
        (sketch, shadow): (&SurfaceTargets, &ShadowPass),
        targets: &OcclusionTargets,
    ) {
        let (d, n) = (&sketch.depth, &sketch.normal);
        let group = |layout: &wgpu::BindGroupLayout, views: &[&wgpu::TextureView]| {
            let resources: Vec<_> =
                views.iter().map(|&v| wgpu::BindingResource::TextureView(v)).collect();
            gpu.group(layout, &resources)
        };
        let steps = [
            (
                &self.occlude,
                group(&self.occlude_layout, &[d, n, &shadow.map, &shadow.veil, &shadow.passed]),
                &targets.result,
            ),
            (
                &self.along_rows,
                group(&self.smooth_layout, &[d, n, &targets.result]),
                &targets.other,
            ),
            (
                &self.along_columns,
                group(&self.smooth_layout, &[d, n, &targets.other]),
                &targets.result,
            ),
        ];
        for (pipeline, inputs, target) in steps {
            let mut pass = begin(encoder, "occlusion", &[onto(target, None, clear(1.0))], None);
            pass.set_bind_group(0, frame, &[]);
            pass.set_bind_group(1, &inputs, &[]);
            pass.set_pipeline(pipeline);
            pass.draw(0..3, 0..1);
        }
    }
}
