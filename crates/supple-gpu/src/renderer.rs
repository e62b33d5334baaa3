//! Takes pictures: all passes in their order.

use std::sync::Arc;

use glam::Vec3;
use supple::TriMesh;

use crate::device::{Gpu, OpenError, uniform};
use crate::draws::{DrawList, Kind, Room, Store, Uploaded};
use crate::edges::EdgePass;
use crate::frame::{Extent, Frame, Window};
use crate::geometry::{self, Geometry, Unfit};
use crate::ground;
use crate::legend;
use crate::occlusion::{self, LIGHT, OcclusionPass};
use crate::overlay::{self, OverlayPass};
use crate::picture::Image;
use crate::quality::Quality;
use crate::shade::{self, PICTURE, ShadePass};
use crate::shadow::ShadowPass;
use crate::surface::{SurfacePass, SurfaceTargets};
use crate::transparent::{self, TransparentPass, TransparentTargets};
use crate::view::{Body, View};

/// Why a picture could not be taken.
#[derive(Debug, thiserror::Error)]
pub enum RenderError {
    /// A size of zero, or more than the adapter or memory can take.
    #[error(
        "cannot make a picture of {width} × {height} pixels: 1 to {largest} a side and at most {MAX_PIXELS} in all"
    )]
    Size {
        /// Asked width.
        width: u32,
        /// Asked height.
        height: u32,
        /// The most the adapter can do along one side.
        largest: u32,
    },
    /// A body cannot be drawn.
    #[error("body {body} cannot be drawn: {cause}")]
    Body {
        /// Which one.
        body: usize,
        /// What is wrong with it.
        cause: Unfit,
    },
    /// The bodies are more than the adapter can hold.
    #[error(
        "the bodies need a buffer of {needed} bytes, but the graphics adapter allows {allowed}"
    )]
    TooMuch {
        /// Bytes of the largest buffer.
        needed: u64,
        /// Most the adapter allows.
        allowed: u64,
    },
    /// So many transparent surfaces lie over each other that the adapter cannot hold them.
    #[error(
        "the transparent surfaces have {needed} fragments in a narrow band of the picture, but the \
         graphics adapter allows {allowed}: make the picture smaller"
    )]
    TooTransparent {
        /// Fragments of all pixels of a band.
        needed: u64,
        /// Most the adapter allows.
        allowed: u64,
    },
    /// More pixels than the adapter can keep lists of transparent surfaces for.
    #[error(
        "a picture with transparent surfaces can have {allowed} pixels on this graphics adapter, not \
         {pixels}: make it smaller, or its bodies opaque"
    )]
    TooLargeForLayers {
        /// Asked pixels.
        pixels: u64,
        /// Most the adapter allows.
        allowed: u64,
    },
    /// The camera has a coordinate that is not finite, or a lens that shows nothing.
    #[error("the camera is not usable: {0}")]
    Camera(String),
    /// The driver failed.
    #[error("the graphics driver failed: {0}")]
    Driver(String),
}

/// The most pixels in one picture: the buffers of a picture take about 120 bytes a pixel.
pub const MAX_PIXELS: u64 = 64 << 20;

/// An open adapter with everything that is prepared once; keep it for many pictures.
#[derive(Debug)]
pub struct Renderer {
    gpu: Gpu,
    frame_layout: wgpu::BindGroupLayout,
    frame_room: Room,
    store: Store,
    shadow: ShadowPass,
    surface: SurfacePass,
    occlusion: OcclusionPass,
    /// Made when the first transparent body comes.
    transparent: Option<TransparentPass>,
    shade: ShadePass,
    edges: EdgePass,
    /// Made when the first overlay comes.
    overlay: Option<OverlayPass>,
    targets: Option<Targets>,
    /// The bodies of the last picture, by what they were made of: a camera that moves prepares nothing anew.
    known: Vec<(u64, Arc<Geometry>)>,
    crowded_pixels: u64,
}

/// What is drawn on, for one size of picture.
#[derive(Debug)]
struct Targets {
    size: [u32; 2],
    surface: SurfaceTargets,
    /// The light that arrives at each pixel.
    light: wgpu::TextureView,
    transparent: Option<TransparentTargets>,
    /// The picture before its edges are softened, if they are.
    rough: Option<wgpu::TextureView>,
    picture: wgpu::TextureView,
    readback: wgpu::Buffer,
}

impl Targets {
    fn new(gpu: &Gpu, size: [u32; 2]) -> Self {
        Self {
            size,
            surface: SurfaceTargets::new(gpu, size),
            light: gpu.target(size.map(|s| s.div_ceil(gpu.quality.light_step)), LIGHT, 1),
            transparent: None,
            rough: gpu.quality.softens_edges.then(|| gpu.target(size, PICTURE, 1)),
            picture: gpu.target(size, PICTURE, 1),
            readback: gpu.device.create_buffer(&wgpu::BufferDescriptor {
                label: Some("readback"),
                size: u64::from(row_bytes(size[0])) * u64::from(size[1]) + COUNTS,
                usage: wgpu::BufferUsages::COPY_DST | wgpu::BufferUsages::MAP_READ,
                mapped_at_creation: false,
            }),
        }
    }
}

/// The size of the picture that makes the driver compile its shaders. No power of two, like most
/// pictures: the software driver has shaders of their own for textures of such sizes.
const WARM_UP_SIZE: [u32; 2] = [20, 12];

/// How far transparent bodies stand above the floor, as a share of the scene's radius. What lies in the
/// plane of an opaque surface is hidden by it: of a body on the floor, triangles here and there would be.
const GAP_REL_RADIUS: f32 = 0.0015;

/// What one picture is drawn from.
struct Prepared {
    extent: Extent,
    frame: Frame,
    bodies: Uploaded,
    window: Window,
}

/// Bytes after the rows of the readback buffer: what was counted of the transparent fragments.
const COUNTS: u64 = transparent::COUNTS_BYTES;

/// Bytes of a row in the readback buffer.
fn row_bytes(width: u32) -> u32 {
    (4 * width).next_multiple_of(wgpu::COPY_BYTES_PER_ROW_ALIGNMENT)
}

impl Renderer {
    /// Opens the best adapter there is and prepares it.
    ///
    /// # Errors
    ///
    /// [`OpenError::NoAdapter`] says what to install.
    pub fn new() -> Result<Self, OpenError> {
        Self::with(Quality::default())
    }

    /// As [`new`](Self::new), for pictures of a quality.
    ///
    /// # Errors
    ///
    /// As [`new`](Self::new).
    pub fn with(quality: Quality) -> Result<Self, OpenError> {
        Ok(Self::prepared(Gpu::open(quality)?))
    }

    /// On a device that is open already, such as a window's; renderers of several qualities may share one. What the
    /// device complains about goes to whoever opened it.
    #[must_use]
    pub fn on(
        device: wgpu::Device,
        queue: wgpu::Queue,
        info: wgpu::AdapterInfo,
        quality: Quality,
    ) -> Self {
        Self::prepared(Gpu::on(device, queue, info, quality))
    }

    fn prepared(gpu: Gpu) -> Self {
        let frame_layout = gpu.layout(&[uniform(false)]);
        let store = Store::new(&gpu);
        let mut renderer = Self {
            shadow: ShadowPass::new(&gpu, &frame_layout, &store.layout),
            surface: SurfacePass::new(&frame_layout, &store.layout),
            occlusion: OcclusionPass::new(&gpu, &frame_layout),
            transparent: None,
            shade: ShadePass::new(&gpu, &frame_layout),
            edges: EdgePass::new(&gpu),
            overlay: None,
            targets: None,
            known: Vec::new(),
            crowded_pixels: 0,
            frame_room: Room::new(wgpu::BufferUsages::UNIFORM),
            frame_layout,
            store,
            gpu,
        };
        renderer.warm_up();
        renderer
    }

    /// Lets the driver compile what nearly every picture needs while the bodies of the first one are still
    /// being loaded: it does so when it first draws, on a thread of its own.
    fn warm_up(&mut self) {
        // Closed, as most bodies are.
        let sides = vec![[0, 2, 1], [0, 1, 3], [1, 2, 3], [2, 0, 3]];
        let corner = TriMesh::new(vec![Vec3::ZERO, Vec3::X, Vec3::Y, Vec3::Z], sides);
        let view = View::of(vec![Body::new(&corner)], WARM_UP_SIZE);
        // It can be drawn; if not, the first picture will tell.
        if let Ok(prepared) = self.prepare(&view) {
            self.draw(&view, &prepared);
        }
    }

    /// What draws: the adapter and how it is reached, as `llvmpipe (LLVM 15.0.6, 256 bits), Vulkan`.
    #[must_use]
    pub fn adapter(&self) -> String {
        format!("{}, {:?}", self.gpu.info.name, self.gpu.info.backend)
    }

    /// True if no GPU is at work but the CPU in its place.
    #[must_use]
    pub fn is_software(&self) -> bool {
        self.gpu.info.device_type == wgpu::DeviceType::Cpu
    }

    /// The most pixels of a picture so far in which so many transparent layers lie over each other that only
    /// the nearest 64 are exact. The rest is drawn as one layer of their mean colour.
    #[must_use]
    pub fn crowded_pixels(&self) -> u64 {
        self.crowded_pixels
    }

    /// Takes a picture, with its legends and labels.
    ///
    /// # Errors
    ///
    /// If a body contradicts itself, or something is larger than the adapter can take.
    pub fn render(&mut self, view: &View<'_>) -> Result<Image, RenderError> {
        self.check(view)?;
        let moved = view.moved_near();
        let near = moved.as_ref().unwrap_or(view);
        let prepared = self.prepare(near)?;
        let frame = self.draw(near, &prepared);
        let mut image = loop {
            let (image, counted) = self.read_back()?;
            if self.has_room(counted.fragments)? {
                self.crowded_pixels = self.crowded_pixels.max(counted.crowded_pixels);
                break image;
            }
            let mut encoder = self.gpu.encoder();
            self.develop(near, &prepared, &frame, &mut encoder);
            self.gpu.queue.submit([encoder.finish()]);
        };
        legend::annotate(&mut image, view);
        Ok(image)
    }

    /// Brings what is drawn to the GPU.
    fn prepare(&mut self, view: &View<'_>) -> Result<Prepared, RenderError> {
        let mut list = DrawList::default();
        let mut known = Vec::with_capacity(view.bodies.len());
        for body in &view.bodies {
            let key = geometry::key(body);
            let kept = self.known.iter().find(|k| k.0 == key).map(|k| Arc::clone(&k.1));
            let geometry = kept.unwrap_or_else(|| Arc::new(Geometry::new(body)));
            list.add_body(body, &geometry);
            known.push((key, geometry));
        }
        self.known = known;
        let points = list.vertices.iter().map(|v| Vec3::from(v.position));
        let mut extent = Extent::of(view, points.clone());
        if list.draws.iter().any(|draw| draw.kind == Kind::Transparent) {
            extent.floor -= GAP_REL_RADIUS * extent.radius;
        }
        let frame =
            Frame::new(view, &extent, points.clone(), (&self.gpu.quality, self.gpu.samples));
        let overlays = view.overlays.iter().flat_map(|overlay| overlay.points());
        let floor = ground::sheet(view, &extent, points.clone().chain(overlays));
        let corners = floor.vertices.iter().map(|v| Vec3::from(v.position));
        let window = frame.window(points.chain(corners), view.size);
        list.add_ground(floor);
        let (needed, allowed) = (list.largest_buffer(), self.gpu.device.limits().max_buffer_size);
        if needed > allowed || list.indices.len() > u32::MAX as usize / 3 {
            return Err(RenderError::TooMuch { needed, allowed });
        }
        let bodies = self.store.upload(&self.gpu, list);
        let pixels = u64::from(view.size[0]) * u64::from(view.size[1]);
        let allowed = transparent::most_pixels(&self.gpu);
        if bodies.has(Kind::Transparent) && pixels > allowed {
            return Err(RenderError::TooLargeForLayers { pixels, allowed });
        }
        Ok(Prepared { extent, frame, bodies, window })
    }

    fn check(&self, view: &View<'_>) -> Result<(), RenderError> {
        let [width, height] = view.size;
        let largest = self.gpu.device.limits().max_texture_dimension_2d;
        let too_many = u64::from(width) * u64::from(height) > MAX_PIXELS;
        if width == 0 || height == 0 || width.max(height) > largest || too_many {
            return Err(RenderError::Size { width, height, largest });
        }
        // Before the camera, which may have been placed by what is wrong with a body.
        for (body, b) in view.bodies.iter().enumerate() {
            geometry::check(b).map_err(|cause| RenderError::Body { body, cause })?;
        }
        let c = &view.camera;
        let lens = match c.projection {
            crate::camera::Projection::Perspective { fov_y } => {
                fov_y > 0.0 && fov_y < std::f32::consts::PI
            }
            crate::camera::Projection::Orthographic { height } => {
                height > 0.0 && height.is_finite()
            }
        };
        if !(c.eye.is_finite() && c.target.is_finite() && c.up.is_finite() && lens) {
            return Err(RenderError::Camera(format!("{c:?}")));
        }
        Ok(())
    }

    /// Records and submits all passes, in one go: the software driver makes whoever submits more wait until
    /// it is done with what it has.
    fn draw(&mut self, view: &View<'_>, prepared: &Prepared) -> wgpu::BindGroup {
        let mut encoder = self.gpu.encoder();
        let frame = self.sketch(view, prepared, &mut encoder);
        self.develop(view, prepared, &frame, &mut encoder);
        self.gpu.queue.submit([encoder.finish()]);
        frame
    }

    /// The first half: what is seen, and how much light arrives there.
    fn sketch(
        &mut self,
        view: &View<'_>,
        prepared: &Prepared,
        encoder: &mut wgpu::CommandEncoder,
    ) -> wgpu::BindGroup {
        let Prepared { frame, bodies, window, .. } = prepared;
        let gpu = &self.gpu;
        if self.targets.as_ref().is_none_or(|t| t.size != view.size) {
            self.targets = None;
        }
        let targets = self.targets.get_or_insert_with(|| Targets::new(gpu, view.size));
        let frame = self.frame_room.group(gpu, &self.frame_layout, bytemuck::bytes_of(frame));
        let veiled = bodies.has(Kind::Transparent);
        self.shadow.prepare(gpu, veiled);
        self.surface.prepare(gpu, bodies);
        self.shadow.record(gpu, encoder, &frame, bodies);
        self.surface.record(encoder, &targets.surface, &frame, bodies);
        let seen = occlusion::Input {
            sketch: &targets.surface,
            shadow_map: &self.shadow.map,
            veil: &self.shadow.veil,
            passed: &self.shadow.passed,
            veiled,
            window: window.coarser(gpu.quality.light_step),
        };
        self.occlusion.record(gpu, encoder, &frame, &seen, &targets.light);
        frame
    }

    /// The second half: the picture.
    fn develop(
        &mut self,
        view: &View<'_>,
        prepared: &Prepared,
        frame: &wgpu::BindGroup,
        encoder: &mut wgpu::CommandEncoder,
    ) {
        let Prepared { extent, bodies, .. } = prepared;
        let gpu = &self.gpu;
        let targets = self.targets.as_mut().expect("sketched before");
        let veiled = bodies.has(Kind::Transparent);
        let mut veil = &self.shade.no_veil;
        if veiled {
            let pass = self.transparent.get_or_insert_with(|| {
                TransparentPass::new(gpu, &self.frame_layout, &self.store.layout)
            });
            let layers =
                targets.transparent.get_or_insert_with(|| TransparentTargets::new(gpu, view.size));
            let input = transparent::Input {
                targets: layers,
                sketch: &targets.surface,
                shadow_map: &self.shadow.map,
            };
            pass.record(gpu, encoder, frame, bodies, &input);
            veil = &layers.light;
        }
        let lit = shade::Input { sketch: &targets.surface, occlusion: &targets.light, veil };
        let shaded = targets.rough.as_ref().unwrap_or(&targets.picture);
        self.shade.record(gpu, encoder, frame, &lit, shaded);
        if let Some(rough) = &targets.rough {
            self.edges.record(gpu, encoder, rough, &targets.picture);
        }
        if !view.overlays.is_empty() {
            let pass =
                self.overlay.get_or_insert_with(|| OverlayPass::new(gpu, &self.frame_layout));
            let input = overlay::Input {
                overlays: &view.overlays,
                camera: &view.camera,
                size: view.size,
                extent,
                scene_depth: &targets.surface.depth,
                picture: &targets.picture,
            };
            pass.record(gpu, encoder, frame, &input);
        }
        copy_out(encoder, targets);
    }

    /// True if all transparent fragments had room; else there is room now, and the picture is to be
    /// drawn again.
    fn has_room(&mut self, fragments: u64) -> Result<bool, RenderError> {
        let Some(lists) = self.targets.as_mut().and_then(|t| t.transparent.as_mut()) else {
            return Ok(true);
        };
        if fragments <= lists.room() {
            return Ok(true);
        }
        if lists.grow(&self.gpu, fragments) {
            return Ok(false);
        }
        let allowed = transparent::most_fragments(&self.gpu);
        Err(RenderError::TooTransparent { needed: fragments, allowed })
    }

    /// Waits for the picture and takes it from the GPU, with what was counted.
    fn read_back(&self) -> Result<(Image, Counted), RenderError> {
        let driver = |e: &dyn std::fmt::Display| RenderError::Driver(e.to_string());
        let targets = self.targets.as_ref().expect("drawn before");
        let (sender, receiver) = std::sync::mpsc::channel();
        targets.readback.map_async(wgpu::MapMode::Read, .., move |result| {
            // The receiver is gone only if waiting failed already.
            let _ = sender.send(result);
        });
        self.gpu.device.poll(wgpu::PollType::wait_indefinitely()).map_err(|e| driver(&e))?;
        let complaints = self.gpu.take_complaints();
        if !complaints.is_empty() {
            return Err(RenderError::Driver(complaints.join("; ")));
        }
        receiver.recv().map_err(|e| driver(&e))?.map_err(|e| driver(&e))?;
        let [width, height] = targets.size;
        let mut rgba = Vec::with_capacity(4 * width as usize * height as usize);
        let counted = {
            let mapped = targets.readback.get_mapped_range(..).map_err(|e| driver(&e))?;
            let (rows, counts) = mapped.split_at(mapped.len() - COUNTS as usize);
            for row in rows.chunks(row_bytes(width) as usize) {
                rgba.extend_from_slice(&row[..4 * width as usize]);
            }
            Counted::new(counts)
        };
        targets.readback.unmap();
        Ok((Image { width, height, rgba }, counted))
    }
}

/// What was counted of the transparent fragments.
struct Counted {
    /// The most of one band.
    fragments: u64,
    /// Pixels with more than are sorted.
    crowded_pixels: u64,
}

impl Counted {
    fn new(bytes: &[u8]) -> Self {
        let number = |bytes: &[u8]| bytes.iter().rev().fold(0, |n, &b| n << 8 | u64::from(b));
        let (bands, crowded) = bytes.split_at(4 * transparent::MAX_BANDS as usize);
        let fragments = bands.chunks(4).map(number).max().unwrap_or(0);
        Self { fragments, crowded_pixels: number(crowded) }
    }
}

fn copy_out(encoder: &mut wgpu::CommandEncoder, targets: &Targets) {
    let [width, height] = targets.size;
    let from = wgpu::TexelCopyTextureInfo {
        texture: targets.picture.texture(),
        mip_level: 0,
        origin: wgpu::Origin3d::ZERO,
        aspect: wgpu::TextureAspect::All,
    };
    let to = wgpu::TexelCopyBufferInfo {
        buffer: &targets.readback,
        layout: wgpu::TexelCopyBufferLayout {
            offset: 0,
            bytes_per_row: Some(row_bytes(width)),
            rows_per_image: None,
        },
    };
    if let Some(lists) = &targets.transparent {
        let at = targets.readback.size() - COUNTS;
        encoder.copy_buffer_to_buffer(&lists.counts, 0, &targets.readback, at, COUNTS);
    }
    encoder.copy_texture_to_buffer(
        from,
        to,
        wgpu::Extent3d { width, height, depth_or_array_layers: 1 },
    );
}
