//! Takes pictures: all passes in their order.

use glam::Vec3;
use supple::TriMesh;

use crate::device::{Gpu, OpenError, uniform};
use crate::draws::{DrawList, Kind, Room, Store, Uploaded};
use crate::frame::{Extent, Frame};
use crate::geometry::{self, Geometry, Unfit};
use crate::ground;
use crate::legend;
use crate::occlusion::{LIGHT, OcclusionPass};
use crate::overlay::{self, OverlayPass};
use crate::picture::Image;
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
    /// Made when the first overlay comes.
    overlay: Option<OverlayPass>,
    targets: Option<Targets>,
}

/// What is drawn on, for one size of picture.
#[derive(Debug)]
struct Targets {
    size: [u32; 2],
    surface: SurfaceTargets,
    /// The light that arrives at each pixel.
    light: wgpu::TextureView,
    transparent: Option<TransparentTargets>,
    picture: wgpu::TextureView,
    readback: wgpu::Buffer,
}

impl Targets {
    fn new(gpu: &Gpu, size: [u32; 2]) -> Self {
        Self {
            size,
            surface: SurfaceTargets::new(gpu, size),
            light: gpu.target(size, LIGHT, 1),
            transparent: None,
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

/// What one picture is drawn from.
struct Prepared {
    extent: Extent,
    frame: Frame,
    bodies: Uploaded,
}

/// Bytes after the rows of the readback buffer: the number of transparent fragments of each band.
const COUNTS: u64 = 4 * transparent::MAX_BANDS as u64;

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
        let gpu = Gpu::open()?;
        let frame_layout = gpu.layout(&[uniform(false)]);
        let store = Store::new(&gpu);
        let mut renderer = Self {
            shadow: ShadowPass::new(&gpu, &frame_layout, &store.layout),
            surface: SurfacePass::new(&frame_layout, &store.layout),
            occlusion: OcclusionPass::new(&gpu, &frame_layout),
            transparent: None,
            shade: ShadePass::new(&gpu, &frame_layout),
            overlay: None,
            targets: None,
            frame_room: Room::new(wgpu::BufferUsages::UNIFORM),
            frame_layout,
            store,
            gpu,
        };
        renderer.warm_up();
        Ok(renderer)
    }

    /// Lets the driver compile the first half of what nearly every picture needs while its bodies are
    /// still being prepared: it does so when it first draws, on a thread of its own.
    fn warm_up(&mut self) {
        let triangle = TriMesh::new(vec![Vec3::ZERO, Vec3::X, Vec3::Y], vec![[0, 1, 2]]);
        let view = View::of(vec![Body::new(&triangle)], WARM_UP_SIZE);
        // A triangle can be drawn; if not, the first picture will tell.
        if let Ok(prepared) = self.prepare(&view) {
            self.sketch(&view, &prepared);
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
        let mut image = loop {
            self.draw(near, &prepared);
            let (image, fragments) = self.read_back()?;
            if self.has_room(fragments)? {
                break image;
            }
        };
        legend::annotate(&mut image, view);
        Ok(image)
    }

    /// Brings what is drawn to the GPU.
    fn prepare(&mut self, view: &View<'_>) -> Result<Prepared, RenderError> {
        let mut list = DrawList::default();
        for body in &view.bodies {
            list.add_body(body, Geometry::new(body));
        }
        let points = list.vertices.iter().map(|v| Vec3::from(v.position));
        let extent = Extent::of(view, points.clone());
        let frame = Frame::new(view, &extent, points, self.gpu.samples);
        list.add_ground(ground::sheet(view, &extent));
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
        Ok(Prepared { extent, frame, bodies })
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

    /// Records and submits all passes, in two halves: a software driver fills the triangles of the
    /// first while it compiles the second.
    fn draw(&mut self, view: &View<'_>, prepared: &Prepared) {
        let frame = self.sketch(view, prepared);
        self.develop(view, prepared, &frame);
    }

    /// The first half: what is seen, and how much light arrives there.
    fn sketch(&mut self, view: &View<'_>, prepared: &Prepared) -> wgpu::BindGroup {
        let Prepared { frame, bodies, .. } = prepared;
        let gpu = &self.gpu;
        if self.targets.as_ref().is_none_or(|t| t.size != view.size) {
            self.targets = None;
        }
        let targets = self.targets.get_or_insert_with(|| Targets::new(gpu, view.size));
        let buffer = self.frame_room.write(gpu, bytemuck::bytes_of(frame));
        let frame = gpu.group(&self.frame_layout, &[buffer.as_entire_binding()]);
        self.shadow.prepare(gpu, bodies.has(Kind::Transparent));
        self.surface.prepare(gpu, bodies);
        let mut encoder = gpu.encoder();
        self.shadow.record(gpu, &mut encoder, &frame, bodies);
        self.surface.record(&mut encoder, &targets.surface, &frame, bodies);
        let inputs = (&targets.surface, &self.shadow);
        self.occlusion.record(gpu, &mut encoder, &frame, inputs, &targets.light);
        gpu.queue.submit([encoder.finish()]);
        frame
    }

    /// The second half: the picture.
    fn develop(&mut self, view: &View<'_>, prepared: &Prepared, frame: &wgpu::BindGroup) {
        let Prepared { extent, bodies, .. } = prepared;
        let gpu = &self.gpu;
        let targets = self.targets.as_mut().expect("sketched before");
        let veiled = bodies.has(Kind::Transparent);
        let mut encoder = gpu.encoder();
        let mut veil = &self.shadow.passed;
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
            pass.record(gpu, &mut encoder, frame, bodies, &input);
            veil = &layers.light;
        }
        let lit =
            shade::Input { sketch: &targets.surface, occlusion: &targets.light, veil, veiled };
        self.shade.record(gpu, &mut encoder, frame, &lit, &targets.picture);
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
            pass.record(gpu, &mut encoder, frame, &input);
        }
        copy_out(&mut encoder, targets);
        gpu.queue.submit([encoder.finish()]);
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

    /// Waits for the picture and takes it from the GPU, with the most transparent fragments of a band.
    fn read_back(&self) -> Result<(Image, u64), RenderError> {
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
        let fragments = {
            let mapped = targets.readback.get_mapped_range(..).map_err(|e| driver(&e))?;
            let (rows, counts) = mapped.split_at(mapped.len() - COUNTS as usize);
            for row in rows.chunks(row_bytes(width) as usize) {
                rgba.extend_from_slice(&row[..4 * width as usize]);
            }
            let count = |bytes: &[u8]| bytes.iter().rev().fold(0, |n, &b| n << 8 | u64::from(b));
            counts.chunks(4).map(count).max().unwrap_or(0)
        };
        targets.readback.unmap();
        Ok((Image { width, height, rgba }, fragments))
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
