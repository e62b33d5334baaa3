//! Transparent bodies, whatever the order they are given in.
//!
//! # Method
//!
//! One pass puts every transparent fragment, with its colour, normal, depth and the samples it covers,
//! into a list of its pixel. A second pass takes them from front to back, lights each and lays it under
//! those before, sample by sample, until nothing more passes: what cannot be seen is never lit. The
//! picture does not depend on the order of bodies or triangles: fragments of equal depth are ordered by
//! how they look.
//!
//! A sheet seen at a slant covers more, as a thin sheet of real material does:
//! `1 − (1 − α)^(1/cos θ)`. The steeper the slant, the more light comes through from its other side: at
//! a silhouette, where front and back of a body share a pixel, both have the same light.
//!
//! # Limits
//!
//! The nearest 64 fragments of a pixel are exact, and all of them if less than 1/500 of the light passes
//! them. What lies behind is one more fragment there with the mean colour of the rest, which covers as
//! much as they do together. Pixels in which that happened are counted. With opacity `α` it can be wrong by
//! what still passes, `(1 − α)^64`: 4 % for `α = 0.05`, 27 % for `α = 0.02`.
//!
//! Memory is 16 bytes a fragment: as many as a picture needs, up to [`MOST_BYTES`] and to what the adapter
//! allows for one buffer. A picture that needs more is drawn in bands, one after the other in the same
//! memory.
//!
//! # References
//!
//! - J. C. Yang, J. Hensley, H. Grün, N. Thibieroz. Real-Time Concurrent Linked List Construction on
//!   the GPU. Eurographics Symposium on Rendering, 2010.

use crate::device::{
    Gpu, LOADED, Recipe, begin, clear, cover, loaded_samples, onto, storage, untouched,
    with_samples,
};
use crate::draws::{Features, Kind, Uploaded, VERTEX_LAYOUT};
use crate::surface::{SURFACE, SurfaceTargets};

pub(crate) const GATHER: &str = concat!(
    include_str!("frame.wgsl"),
    include_str!("surface.wgsl"),
    include_str!("transparent.wgsl")
);

pub(crate) const RESOLVE: &str = concat!(
    include_str!("frame.wgsl"),
    include_str!("fullscreen.wgsl"),
    include_str!("light.wgsl"),
    include_str!("penumbra.wgsl"),
    include_str!("resolve.wgsl")
);

/// Light is kept in half floats until it is developed.
pub(crate) const LIGHT: wgpu::TextureFormat = wgpu::TextureFormat::Rgba16Float;

/// Bytes of a fragment.
const FRAGMENT: u64 = 16;

/// Fragments a pixel there is room for at first; more room is made when a picture needs it.
const FIRST_ROOM: u64 = 2;

/// The most memory that lists take.
const MOST_BYTES: u64 = 256 << 20;

/// The most bands a picture is drawn in.
pub(crate) const MAX_BANDS: u32 = 64;

/// Bytes of [`TransparentTargets::counts`].
pub(crate) const COUNTS_BYTES: u64 = 4 * (MAX_BANDS as u64 + 1);

/// The pipelines.
#[derive(Debug)]
pub(crate) struct TransparentPass {
    gather: wgpu::RenderPipeline,
    resolve: wgpu::RenderPipeline,
    gather_layout: wgpu::BindGroupLayout,
    resolve_layout: wgpu::BindGroupLayout,
}

/// The lists, for one size of picture.
#[derive(Debug)]
pub(crate) struct TransparentTargets {
    /// How many fragments there are in a band, then the first one of each pixel.
    heads: wgpu::Buffer,
    fragments: wgpu::Buffer,
    /// How many bands the picture is drawn in.
    bands: u32,
    /// How many fragments there were in each band, then how many pixels had more layers than are sorted.
    pub(crate) counts: wgpu::Buffer,
    crowded: wgpu::Buffer,
    size: [u32; 2],
    /// All layers together: light times cover, and cover.
    pub(crate) light: wgpu::TextureView,
}

impl TransparentTargets {
    pub(crate) fn new(gpu: &Gpu, [width, height]: [u32; 2]) -> Self {
        let pixels = u64::from(width) * u64::from(height);
        Self {
            heads: storage_buffer(gpu, 4 * (pixels + 1)),
            fragments: storage_buffer(
                gpu,
                FRAGMENT * (FIRST_ROOM * pixels).min(most_fragments(gpu)),
            ),
            bands: 1,
            counts: storage_buffer(gpu, COUNTS_BYTES),
            crowded: storage_buffer(gpu, 4),
            size: [width, height],
            light: gpu.target([width, height], LIGHT, 1),
        }
    }

    /// How many fragments there is room for.
    pub(crate) fn room(&self) -> u64 {
        self.fragments.size() / FRAGMENT
    }

    /// Makes room for `count` fragments in a band, or more bands; false if there are too many of them.
    pub(crate) fn grow(&mut self, gpu: &Gpu, count: u64) -> bool {
        let allowed = most_fragments(gpu);
        // A quarter more: the next frame may need a little more, and bands are not alike.
        let wanted = count + count / 4;
        let bands = if count > allowed { wanted.div_ceil(allowed) } else { 1 };
        let Ok(bands) = u32::try_from(u64::from(self.bands) * bands) else { return false };
        if bands > MAX_BANDS.min(self.size[1].max(1)) {
            return false;
        }
        self.bands = bands;
        self.fragments = storage_buffer(gpu, FRAGMENT * wanted.min(allowed));
        true
    }

    /// First row and number of rows of each band.
    fn rows(&self) -> impl Iterator<Item = [u32; 2]> + use<> {
        let height = self.size[1];
        let each = height.div_ceil(self.bands).max(1);
        (0..height).step_by(each as usize).map(move |y| [y, each.min(height - y)])
    }
}

/// How many fragments the adapter allows.
pub(crate) fn most_fragments(gpu: &Gpu) -> u64 {
    // Places are counted in 28 bits.
    (longest_list(gpu).min(MOST_BYTES) / FRAGMENT).min((1 << 28) - 2)
}

/// How many pixels a picture with transparent bodies can have.
pub(crate) fn most_pixels(gpu: &Gpu) -> u64 {
    longest_list(gpu) / 4 - 1
}

/// Bytes of the longest list the adapter allows.
fn longest_list(gpu: &Gpu) -> u64 {
    let limits = gpu.device.limits();
    limits.max_storage_buffer_binding_size.min(limits.max_buffer_size)
}

fn storage_buffer(gpu: &Gpu, size: u64) -> wgpu::Buffer {
    gpu.device.create_buffer(&wgpu::BufferDescriptor {
        label: Some("fragments"),
        size: size.max(FRAGMENT),
        usage: wgpu::BufferUsages::STORAGE
            | wgpu::BufferUsages::COPY_DST
            | wgpu::BufferUsages::COPY_SRC,
        mapped_at_creation: false,
    })
}

impl TransparentPass {
    pub(crate) fn new(
        gpu: &Gpu,
        frame: &wgpu::BindGroupLayout,
        body: &wgpu::BindGroupLayout,
    ) -> Self {
        let lists = |read_only: bool| [storage(read_only), storage(read_only)];
        let [heads, fragments] = lists(false);
        let gather_layout = gpu.layout(&[loaded_samples(gpu.samples), heads, fragments]);
        let [heads, fragments] = lists(true);
        let resolve_layout = gpu.layout(&[heads, fragments, LOADED, storage(false)]);
        let gather = gpu.pipeline(&Recipe {
            label: "gather",
            shader: &gpu.shader("gather", &Features::ALL.with(&with_samples(gpu.samples, GATHER))),
            layouts: &[frame, body, &gather_layout],
            vertex: "place",
            fragment: Some(if gpu.samples > 1 { "gather_samples" } else { "gather_single" }),
            buffers: &[Some(VERTEX_LAYOUT)],
            targets: &[untouched(SURFACE)],
            // The shader compares with the opaque bodies itself, for each sample.
            depth: None,
            samples: gpu.samples,
            cull: None,
        });
        let resolve = gpu.pipeline(&Recipe {
            label: "resolve",
            shader: &gpu.shader("resolve", &with_samples(gpu.samples, RESOLVE)),
            layouts: &[frame, &resolve_layout],
            vertex: "cover",
            fragment: Some("resolve"),
            buffers: &[],
            targets: &[cover(LIGHT)],
            depth: None,
            samples: 1,
            cull: None,
        });
        Self { gather, resolve, gather_layout, resolve_layout }
    }

    /// Draws the transparent bodies in front of the opaque ones.
    pub(crate) fn record(
        &self,
        gpu: &Gpu,
        encoder: &mut wgpu::CommandEncoder,
        frame: &wgpu::BindGroup,
        bodies: &Uploaded,
        input: &Input<'_>,
    ) {
        let TransparentTargets { heads, fragments, light, counts, crowded, size, .. } =
            input.targets;
        let [first, second] = [heads, fragments].map(|list| list.as_entire_binding());
        let views = [&input.sketch.depth, input.shadow_map].map(wgpu::BindingResource::TextureView);
        let [opaque, shadow] = views;
        let gather = gpu.group(&self.gather_layout, &[opaque, first.clone(), second.clone()]);
        let tally = crowded.as_entire_binding();
        let resolve = gpu.group(&self.resolve_layout, &[first, second, shadow, tally]);
        encoder.clear_buffer(counts, 0, None);
        encoder.clear_buffer(crowded, 0, None);
        for (band, [y, rows]) in input.targets.rows().enumerate() {
            encoder.clear_buffer(heads, 0, None);
            // A pass needs something to draw on; this one is not changed.
            let stand_in = onto(&input.sketch.surface, None, wgpu::LoadOp::Load);
            {
                let mut pass = begin(encoder, "gather", &[stand_in], None);
                pass.set_scissor_rect(0, y, size[0], rows);
                pass.set_bind_group(0, frame, &[]);
                pass.set_bind_group(2, &gather, &[]);
                pass.set_pipeline(&self.gather);
                bodies.record(&mut pass, |kind| kind == Kind::Transparent);
            }
            {
                let load = if band == 0 { clear(0.0) } else { wgpu::LoadOp::Load };
                let mut pass = begin(encoder, "resolve", &[onto(light, None, load)], None);
                pass.set_scissor_rect(0, y, size[0], rows);
                pass.set_bind_group(0, frame, &[]);
                pass.set_bind_group(1, &resolve, &[]);
                pass.set_pipeline(&self.resolve);
                pass.draw(0..3, 0..1);
            }
            encoder.copy_buffer_to_buffer(heads, 0, counts, 4 * band as u64, 4);
        }
        encoder.copy_buffer_to_buffer(crowded, 0, counts, 4 * u64::from(MAX_BANDS), 4);
    }
}

/// What transparent bodies are drawn with.
pub(crate) struct Input<'a> {
    pub(crate) targets: &'a TransparentTargets,
    /// The opaque bodies.
    pub(crate) sketch: &'a SurfaceTargets,
    pub(crate) shadow_map: &'a wgpu::TextureView,
}
