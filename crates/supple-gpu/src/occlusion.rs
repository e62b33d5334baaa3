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

use std::sync::OnceLock;

use crate::device::{
    Gpu, LOADED, Recipe, begin, clear, cover, loaded_samples, loaded_whole_samples, onto,
    with_samples, with_veil,
};
use crate::shadow::ShadowPass;
use crate::surface::SurfaceTargets;

pub(crate) const OCCLUDE: &str = concat!(
    include_str!("frame.wgsl"),
    include_str!("fullscreen.wgsl"),
    include_str!("penumbra.wgsl"),
    include_str!("occlusion.wgsl")
);

pub(crate) const SMOOTH: &str = concat!(
    include_str!("frame.wgsl"),
    include_str!("fullscreen.wgsl"),
    include_str!("smooth.wgsl")
);

const FORMAT: wgpu::TextureFormat = wgpu::TextureFormat::Rgba8Unorm;

/// The pipelines; those that look at shadows are built when a picture first needs them.
#[derive(Debug)]
pub(crate) struct OcclusionPass {
    /// For opaque bodies alone.
    plain: OnceLock<wgpu::RenderPipeline>,
    /// With the shadows of transparent bodies.
    veiled: OnceLock<wgpu::RenderPipeline>,
    smooth: wgpu::RenderPipeline,
    frame_layout: wgpu::BindGroupLayout,
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
        let samples = loaded_samples(gpu.samples);
        let normals = loaded_whole_samples(gpu.samples);
        let smooth_layout = gpu.layout(&[samples, normals, LOADED]);
        let shader = gpu.shader("smooth", &with_samples(gpu.samples, SMOOTH));
        let smooth = gpu.pipeline(&Recipe {
            label: "smooth",
            layouts: &[frame, &smooth_layout],
            vertex: "cover_along",
            fragment: Some("smooth_along"),
            ..fullscreen(&shader)
        });
        Self {
            plain: OnceLock::new(),
            veiled: OnceLock::new(),
            smooth,
            frame_layout: frame.clone(),
            occlude_layout: gpu.layout(&[samples, normals, LOADED, LOADED, LOADED]),
            smooth_layout,
        }
    }

    fn occlude(&self, gpu: &Gpu, veiled: bool) -> &wgpu::RenderPipeline {
        let slot = if veiled { &self.veiled } else { &self.plain };
        slot.get_or_init(|| {
            let source = with_veil(veiled, &with_samples(gpu.samples, OCCLUDE));
            gpu.pipeline(&Recipe {
                label: "occlusion",
                layouts: &[&self.frame_layout, &self.occlude_layout],
                fragment: Some("occlude"),
                ..fullscreen(&gpu.shader("occlusion", &source))
            })
        })
    }

    pub(crate) fn record(
        &self,
        gpu: &Gpu,
        encoder: &mut wgpu::CommandEncoder,
        frame: &wgpu::BindGroup,
        (sketch, shadow): (&SurfaceTargets, &ShadowPass),
        targets: &OcclusionTargets,
    ) {
        let OcclusionTargets { result, other } = targets;
        let (d, n) = (&sketch.depth, &sketch.normal);
        let group = |layout: &wgpu::BindGroupLayout, views: &[&wgpu::TextureView]| {
            let resources: Vec<_> =
                views.iter().map(|&v| wgpu::BindingResource::TextureView(v)).collect();
            gpu.group(layout, &resources)
        };
        let light = [d, n, &shadow.map, &shadow.veil, &shadow.passed];
        let smooth = |from| group(&self.smooth_layout, &[d, n, from]);
        let occlude = self.occlude(gpu, shadow.veiled);
        // Smoothing tells rows from columns by the number of the instance.
        let steps = [
            (occlude, group(&self.occlude_layout, &light), result, 0),
            (&self.smooth, smooth(result), other, 0),
            (&self.smooth, smooth(other), result, 1),
        ];
        for (pipeline, inputs, target, instance) in steps {
            let mut pass = begin(encoder, "occlusion", &[onto(target, None, clear(1.0))], None);
            pass.set_bind_group(0, frame, &[]);
            pass.set_bind_group(1, &inputs, &[]);
            pass.set_pipeline(pipeline);
            pass.draw(0..3, instance..instance + 1);
        }
    }
}

/// What the passes over the whole picture have in common.
fn fullscreen(shader: &wgpu::ShaderModule) -> Recipe<'_> {
    const TARGETS: &[Option<wgpu::ColorTargetState>] = &[cover(FORMAT)];
    Recipe {
        label: "occlusion",
        shader,
        layouts: &[],
        vertex: "cover",
        fragment: None,
        buffers: &[],
        targets: TARGETS,
        depth: None,
        samples: 1,
    }
}
