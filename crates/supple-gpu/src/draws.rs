//! The bodies of a view on the GPU: one vertex buffer, one index buffer, and the list of draws.

use std::ops::Range;
use std::sync::Arc;

use glam::Vec4;
use supple::asset::Alpha;

use crate::colormap;
use crate::device::{Gpu, SAMPLED, SAMPLER, uniform};
use crate::geometry::{Geometry, Vertex};
use crate::picture::Image;
use crate::texture::Texture;
use crate::view::{Body, MAX_CONTOURS, Paint};

/// Bytes between the blocks of two bodies: the largest alignment any adapter asks for.
const BLOCK: usize = 512;

/// The layout of `Body` in `surface.wgsl`.
#[derive(Clone, Copy, Debug, bytemuck::Pod, bytemuck::Zeroable)]
#[repr(C)]
struct BodyUniforms {
    color: Vec4,
    surface: Vec4,
    field: Vec4,
    wire: Vec4,
    extra: Vec4,
    contours: [Vec4; 2 * MAX_CONTOURS],
}

/// How a run of triangles is drawn.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Kind {
    /// One colour, or painted ones.
    Plain,
    /// A texture, a field or a wireframe.
    Rich,
    /// A texture that cuts holes.
    Cutout,
    Transparent,
    Ground,
}

/// What the surfaces of a picture need besides painted colours. A shader without the rest is compiled in
/// a fraction of the time, and surfaces that need less look the same with more.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
pub(crate) struct Features {
    textured: bool,
    mapped: bool,
    wired: bool,
}

impl Features {
    pub(crate) const ALL: Self = Self { textured: true, mapped: true, wired: true };

    fn and(self, other: Self) -> Self {
        Self {
            textured: self.textured || other.textured,
            mapped: self.mapped || other.mapped,
            wired: self.wired || other.wired,
        }
    }

    /// A shader with these features.
    pub(crate) fn with(self, shader: &str) -> String {
        let Self { textured, mapped, wired } = self;
        format!(
            "const TEXTURED: bool = {textured};\nconst MAPPED: bool = {mapped};\n\
             const WIRED: bool = {wired};\n{shader}"
        )
    }
}

/// A run of triangles with one paint.
#[derive(Clone, Debug)]
pub(crate) struct Draw {
    pub(crate) kind: Kind,
    /// True if it is part of a body without holes that is not inside out: light that it keeps away, its side towards the light
    /// keeps away.
    pub(crate) closed: bool,
    features: Features,
    indices: Range<u32>,
    first_vertex: i32,
    block: u32,
    texture: usize,
}

/// How a run of triangles looks.
struct Look {
    kind: Kind,
    closed: bool,
    features: Features,
    block: BodyUniforms,
    texture: Option<Arc<Texture>>,
}

/// A list in GPU memory that keeps its room from frame to frame.
#[derive(Debug)]
pub(crate) struct Room {
    usage: wgpu::BufferUsages,
    buffer: Option<wgpu::Buffer>,
}

impl Room {
    pub(crate) fn new(usage: wgpu::BufferUsages) -> Self {
        Self { usage: usage | wgpu::BufferUsages::COPY_DST, buffer: None }
    }

    /// Replaces what is in it.
    pub(crate) fn write(&mut self, gpu: &Gpu, bytes: &[u8]) -> &wgpu::Buffer {
        let needed = (bytes.len() as u64).next_multiple_of(4).max(16);
        if self.buffer.as_ref().is_some_and(|b| b.size() < needed) {
            self.buffer = None;
        }
        let buffer = self.buffer.get_or_insert_with(|| {
            gpu.device.create_buffer(&wgpu::BufferDescriptor {
                label: Some("room"),
                size: needed,
                usage: self.usage,
                mapped_at_creation: false,
            })
        });
        gpu.queue.write_buffer(buffer, 0, bytes);
        buffer
    }

    /// Replaces what is in it, for shaders to read.
    pub(crate) fn group(
        &mut self,
        gpu: &Gpu,
        layout: &wgpu::BindGroupLayout,
        bytes: &[u8],
    ) -> wgpu::BindGroup {
        let buffer = self.write(gpu, bytes);
        gpu.group(layout, &[buffer.as_entire_binding()])
    }
}

/// Draws in the making, still in main memory.
#[derive(Debug, Default)]
pub(crate) struct DrawList {
    pub(crate) vertices: Vec<Vertex>,
    pub(crate) indices: Vec<[u32; 3]>,
    blocks: Vec<u8>,
    textures: Vec<Arc<Texture>>,
    pub(crate) draws: Vec<Draw>,
}

impl DrawList {
    /// Adds a body, a draw for each of its groups.
    pub(crate) fn add_body(&mut self, body: &Body<'_>, geometry: &Geometry) {
        let runs: Vec<(Range<u32>, Option<u32>)> = if body.mesh.groups.is_empty() {
            vec![(0..geometry.indices.len() as u32, None)]
        } else {
            body.mesh.groups.iter().map(|g| (g.triangles.clone(), g.material)).collect()
        };
        let start = (self.vertices.len(), self.indices.len());
        let painted_alpha = geometry.vertices.iter().any(|v| v.color[3] < 255);
        self.vertices.extend_from_slice(&geometry.vertices);
        self.indices.extend_from_slice(&geometry.indices);
        let paint_of = |material: Option<u32>| {
            material.and_then(|m| body.paints.get(m as usize)).unwrap_or(&body.paint)
        };
        let kind_of = |material| kind_of(body, paint_of(material), painted_alpha);
        let solid = runs.iter().all(|(_, m)| matches!(kind_of(*m), Kind::Plain | Kind::Rich));
        let closed = solid && geometry.is_closed(body);
        for (triangles, material) in runs {
            let (paint, kind) = (paint_of(material), kind_of(material));
            let features = Features {
                textured: paint.texture.is_some(),
                mapped: body.field.is_some(),
                wired: body.wireframe.is_some(),
            };
            let texture = paint.texture.clone();
            let look = Look { kind, closed, features, block: block(body, paint, kind), texture };
            self.push(triangles, start, look);
        }
    }

    /// Adds the floor.
    pub(crate) fn add_ground(&mut self, geometry: Geometry) {
        let start = (self.vertices.len(), self.indices.len());
        let triangles = 0..geometry.indices.len() as u32;
        self.vertices.extend(geometry.vertices);
        self.indices.extend(geometry.indices);
        let plain = BodyUniforms {
            color: Vec4::ONE,
            surface: Vec4::new(1.0, 0.0, 0.0, 1.0),
            extra: Vec4::new(0.0, 0.0, 1.0, 0.0),
            ..bytemuck::Zeroable::zeroed()
        };
        let (kind, features) = (Kind::Ground, Features::default());
        let look = Look { kind, closed: false, features, block: plain, texture: None };
        self.push(triangles, start, look);
    }

    fn push(&mut self, triangles: Range<u32>, start: (usize, usize), look: Look) {
        if triangles.is_empty() {
            return;
        }
        let at = self.blocks.len() as u32;
        self.blocks.extend(bytemuck::bytes_of(&look.block));
        self.blocks.resize(at as usize + BLOCK, 0);
        // Texture 0 is plain white.
        let texture = look.texture.map_or(0, |t| {
            let known = self.textures.iter().position(|k| Arc::ptr_eq(k, &t));
            1 + known.unwrap_or_else(|| {
                self.textures.push(t);
                self.textures.len() - 1
            })
        });
        let first = 3 * start.1 as u32;
        let indices = first + 3 * triangles.start..first + 3 * triangles.end;
        self.draws.push(Draw {
            kind: look.kind,
            closed: look.closed,
            features: look.features,
            indices,
            first_vertex: start.0 as i32,
            block: at,
            texture,
        });
    }

    /// Bytes of the largest buffer this needs.
    pub(crate) fn largest_buffer(&self) -> u64 {
        let bytes = |n: usize, each: usize| n as u64 * each as u64;
        bytes(self.vertices.len(), size_of::<Vertex>())
            .max(bytes(self.indices.len(), 12))
            .max(self.blocks.len() as u64)
    }
}

/// Whether anything can be seen through a surface decides how it is drawn.
fn kind_of(body: &Body<'_>, paint: &Paint, painted_alpha: bool) -> Kind {
    let see_through = match paint.alpha {
        Alpha::Blend => {
            paint.color[3] < 1.0
                || painted_alpha
                || paint.texture.as_ref().is_some_and(|t| t.has_alpha())
        }
        Alpha::Opaque | Alpha::Mask(_) => false,
    };
    let plain = paint.texture.is_none() && body.field.is_none() && body.wireframe.is_none();
    match paint.alpha {
        _ if see_through || paint.smoke || body.opacity < 1.0 => Kind::Transparent,
        Alpha::Mask(_) => Kind::Cutout,
        Alpha::Opaque | Alpha::Blend if plain => Kind::Plain,
        Alpha::Opaque | Alpha::Blend => Kind::Rich,
    }
}

fn block(body: &Body<'_>, paint: &Paint, kind: Kind) -> BodyUniforms {
    let mut color = Vec4::from(paint.color);
    if paint.alpha == Alpha::Opaque {
        color.w = 1.0;
    }
    let cutoff = if let Alpha::Mask(cutoff) = paint.alpha { cutoff } else { 0.0 };
    let opacity = if kind == Kind::Transparent { body.opacity.clamp(0.0, 1.0) } else { 1.0 };
    let mut block = BodyUniforms {
        color,
        surface: Vec4::new(
            paint.roughness.clamp(0.05, 1.0),
            paint.metallic.clamp(0.0, 1.0),
            cutoff,
            opacity,
        ),
        ..bytemuck::Zeroable::zeroed()
    };
    block.extra.w = f32::from(paint.smoke);
    if let Some(wire) = body.wireframe {
        let [r, g, b] = wire.color;
        block.wire = Vec4::new(r, g, b, wire.opacity);
        block.extra.x = wire.width_px;
    }
    if let Some(field) = &body.field {
        let [lo, hi] = field.shown_range();
        let row = (field.shown_colormap().row() as f32 + 0.5) / colormap::ALL.len() as f32;
        block.field = Vec4::new(lo, 1.0 / (hi - lo), row, 1.0);
        block.extra.y = field.contours.len().min(MAX_CONTOURS) as f32;
        for (slot, c) in block.contours.chunks_mut(2).zip(&field.contours) {
            slot[0] = Vec4::new(c.value, c.width_px, 0.0, 0.0);
            slot[1] = Vec4::new(c.color[0], c.color[1], c.color[2], 1.0);
        }
    }
    block
}

/// What stays on the GPU from frame to frame: buffers, and the textures of the last frame.
#[derive(Debug)]
pub(crate) struct Store {
    pub(crate) layout: wgpu::BindGroupLayout,
    vertices: Room,
    indices: Room,
    blocks: Room,
    textures: Vec<(Arc<Texture>, wgpu::TextureView)>,
    white: wgpu::TextureView,
    colormaps: wgpu::TextureView,
    repeat: wgpu::Sampler,
    clamp: wgpu::Sampler,
}

/// Draws ready to be recorded.
#[derive(Debug)]
pub(crate) struct Uploaded {
    vertices: wgpu::Buffer,
    indices: wgpu::Buffer,
    /// One a texture; 0 is plain white.
    groups: Vec<wgpu::BindGroup>,
    draws: Vec<Draw>,
}

impl Store {
    pub(crate) fn new(gpu: &Gpu) -> Self {
        let sampler = |mode: wgpu::AddressMode| {
            gpu.device.create_sampler(&wgpu::SamplerDescriptor {
                address_mode_u: mode,
                address_mode_v: mode,
                mag_filter: wgpu::FilterMode::Linear,
                min_filter: wgpu::FilterMode::Linear,
                mipmap_filter: wgpu::MipmapFilterMode::Linear,
                ..Default::default()
            })
        };
        let maps = Image {
            width: colormap::ENTRIES as u32,
            height: colormap::ALL.len() as u32,
            rgba: colormap::table(),
        };
        Self {
            layout: gpu.layout(&[uniform(true), SAMPLED, SAMPLER, SAMPLED, SAMPLER]),
            vertices: Room::new(wgpu::BufferUsages::VERTEX),
            indices: Room::new(wgpu::BufferUsages::INDEX),
            blocks: Room::new(wgpu::BufferUsages::UNIFORM),
            textures: Vec::new(),
            white: upload_levels(gpu, &[Image::filled(1, 1, [255; 4])]),
            colormaps: upload_levels(gpu, &[maps]),
            repeat: sampler(wgpu::AddressMode::Repeat),
            clamp: sampler(wgpu::AddressMode::ClampToEdge),
        }
    }

    /// Sends a draw list to the GPU.
    pub(crate) fn upload(&mut self, gpu: &Gpu, list: DrawList) -> Uploaded {
        self.textures.retain(|(known, _)| list.textures.iter().any(|t| Arc::ptr_eq(t, known)));
        for texture in &list.textures {
            if !self.textures.iter().any(|(known, _)| Arc::ptr_eq(known, texture)) {
                self.textures.push((Arc::clone(texture), upload_levels(gpu, texture.levels())));
            }
        }
        let vertices = self.vertices.write(gpu, bytemuck::cast_slice(&list.vertices)).clone();
        let indices = self.indices.write(gpu, bytemuck::cast_slice(&list.indices)).clone();
        let blocks = self.blocks.write(gpu, &list.blocks).clone();
        let views = list.textures.iter().filter_map(|t| {
            self.textures.iter().find(|(known, _)| Arc::ptr_eq(known, t)).map(|(_, view)| view)
        });
        let group = |view: &wgpu::TextureView| {
            let block = wgpu::BufferBinding {
                buffer: &blocks,
                offset: 0,
                size: wgpu::BufferSize::new(size_of::<BodyUniforms>() as u64),
            };
            gpu.group(
                &self.layout,
                &[
                    wgpu::BindingResource::Buffer(block),
                    wgpu::BindingResource::TextureView(view),
                    wgpu::BindingResource::Sampler(&self.repeat),
                    wgpu::BindingResource::TextureView(&self.colormaps),
                    wgpu::BindingResource::Sampler(&self.clamp),
                ],
            )
        };
        let groups = std::iter::once(&self.white).chain(views).map(group).collect();
        Uploaded { vertices, indices, groups, draws: list.draws }
    }
}

impl Uploaded {
    pub(crate) fn has(&self, kind: Kind) -> bool {
        self.any(|draw| draw.kind == kind)
    }

    pub(crate) fn any(&self, wanted: impl Fn(&Draw) -> bool) -> bool {
        self.draws.iter().any(wanted)
    }

    /// What all draws of some kinds need together.
    pub(crate) fn features(&self, wanted: impl Fn(Kind) -> bool) -> Features {
        let draws = self.draws.iter().filter(|d| wanted(d.kind));
        draws.fold(Features::default(), |sum, d| sum.and(d.features))
    }

    /// Records the draws of some kinds; pipeline and the other bind groups are set already.
    pub(crate) fn record(&self, pass: &mut wgpu::RenderPass<'_>, wanted: impl Fn(Kind) -> bool) {
        self.record_draws(pass, |draw| wanted(draw.kind));
    }

    /// Records some of the draws.
    pub(crate) fn record_draws(
        &self,
        pass: &mut wgpu::RenderPass<'_>,
        wanted: impl Fn(&Draw) -> bool,
    ) {
        pass.set_vertex_buffer(0, self.vertices.slice(..));
        pass.set_index_buffer(self.indices.slice(..), wgpu::IndexFormat::Uint32);
        for draw in self.draws.iter().filter(|d| wanted(d)) {
            pass.set_bind_group(1, &self.groups[draw.texture], &[draw.block]);
            pass.draw_indexed(draw.indices.clone(), draw.first_vertex, 0..1);
        }
    }
}

fn upload_levels(gpu: &Gpu, levels: &[Image]) -> wgpu::TextureView {
    let extent = |level: &Image| wgpu::Extent3d {
        width: level.width,
        height: level.height,
        depth_or_array_layers: 1,
    };
    let texture = gpu.device.create_texture(&wgpu::TextureDescriptor {
        label: Some("texture"),
        size: extent(&levels[0]),
        mip_level_count: levels.len() as u32,
        sample_count: 1,
        dimension: wgpu::TextureDimension::D2,
        format: wgpu::TextureFormat::Rgba8UnormSrgb,
        usage: wgpu::TextureUsages::TEXTURE_BINDING | wgpu::TextureUsages::COPY_DST,
        view_formats: &[],
    });
    for (mip_level, level) in levels.iter().enumerate() {
        let to = wgpu::TexelCopyTextureInfo {
            texture: &texture,
            mip_level: mip_level as u32,
            origin: wgpu::Origin3d::ZERO,
            aspect: wgpu::TextureAspect::All,
        };
        let rows = wgpu::TexelCopyBufferLayout {
            offset: 0,
            bytes_per_row: Some(4 * level.width),
            rows_per_image: None,
        };
        gpu.queue.write_texture(to, &level.rgba, rows, extent(level));
    }
    texture.create_view(&wgpu::TextureViewDescriptor::default())
}

/// The positions of the vertices alone. Drivers fetch what a layout names, needed or not.
pub(crate) const POSITION_LAYOUT: wgpu::VertexBufferLayout<'static> = wgpu::VertexBufferLayout {
    array_stride: size_of::<Vertex>() as u64,
    step_mode: wgpu::VertexStepMode::Vertex,
    attributes: &wgpu::vertex_attr_array![0 => Float32x3],
};

/// Positions, normals and colours.
pub(crate) const PLAIN_LAYOUT: wgpu::VertexBufferLayout<'static> = wgpu::VertexBufferLayout {
    attributes: &wgpu::vertex_attr_array![0 => Float32x3, 1 => Float32x3, 2 => Unorm8x4],
    ..POSITION_LAYOUT
};

/// How vertices lie in their buffer.
pub(crate) const VERTEX_LAYOUT: wgpu::VertexBufferLayout<'static> = wgpu::VertexBufferLayout {
    array_stride: size_of::<Vertex>() as u64,
    step_mode: wgpu::VertexStepMode::Vertex,
    attributes: &wgpu::vertex_attr_array![0 => Float32x3, 1 => Float32x3, 2 => Unorm8x4, 3 => Float32x2, 4 => Float32],
};
