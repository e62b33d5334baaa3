//! The GPU, or the software that stands in for one.

use std::sync::{Arc, Mutex, PoisonError};

use crate::quality::Quality;

/// Why no picture can be made on this machine.
#[derive(Debug, thiserror::Error)]
pub enum OpenError {
    /// There is neither a GPU nor a software renderer.
    #[error(
        "no graphics adapter: {0}. Install a driver for the GPU, or a software renderer: \
         on Debian and Ubuntu `apt install mesa-vulkan-drivers`, on Fedora \
         `dnf install mesa-vulkan-drivers`, on Arch `pacman -S vulkan-swrast`"
    )]
    NoAdapter(#[from] wgpu::RequestAdapterError),
    /// The adapter gives no device.
    #[error("the graphics adapter '{adapter}' cannot be used: {cause}")]
    NoDevice {
        /// What the adapter calls itself.
        adapter: String,
        /// What the driver said.
        cause: wgpu::RequestDeviceError,
    },
}

/// An open device.
#[derive(Debug)]
pub(crate) struct Gpu {
    pub(crate) device: wgpu::Device,
    pub(crate) queue: wgpu::Queue,
    pub(crate) info: wgpu::AdapterInfo,
    pub(crate) quality: Quality,
    /// Samples a pixel: those of the quality, or 1 where the driver cannot be trusted with more.
    pub(crate) samples: u32,
    /// What the device complained about since it was last asked.
    complaints: Arc<Mutex<Vec<String>>>,
}

impl Gpu {
    /// Opens the best adapter; the environment variables of wgpu (`WGPU_BACKEND`) narrow the choice.
    pub(crate) fn open(quality: Quality) -> Result<Self, OpenError> {
        let adapter = best_adapter()?;
        let info = adapter.get_info();
        let wish = wgpu::DeviceDescriptor {
            label: Some("supple"),
            required_limits: adapter.limits(),
            ..Default::default()
        };
        let (device, queue) = pollster::block_on(adapter.request_device(&wish))
            .map_err(|cause| OpenError::NoDevice { adapter: info.name.clone(), cause })?;
        let complaints = Arc::<Mutex<Vec<String>>>::default();
        let heard = Arc::clone(&complaints);
        device.on_uncaptured_error(Arc::new(move |error| {
            heard.lock().unwrap_or_else(PoisonError::into_inner).push(error.to_string());
        }));
        Ok(Self { complaints, ..Self::on(device, queue, info, quality) })
    }

    /// A device that somebody else opened, and listens to.
    pub(crate) fn on(
        device: wgpu::Device,
        queue: wgpu::Queue,
        info: wgpu::AdapterInfo,
        quality: Quality,
    ) -> Self {
        // Mesa's OpenGL gives a black picture with four samples, and no error.
        let samples = if info.backend == wgpu::Backend::Gl { 1 } else { quality.samples };
        Self { device, queue, info, quality, samples, complaints: Arc::default() }
    }

    /// What the device complained about since the last call.
    pub(crate) fn take_complaints(&self) -> Vec<String> {
        std::mem::take(&mut *self.complaints.lock().unwrap_or_else(PoisonError::into_inner))
    }

    /// An empty list of commands.
    pub(crate) fn encoder(&self) -> wgpu::CommandEncoder {
        self.device.create_command_encoder(&wgpu::CommandEncoderDescriptor::default())
    }

    pub(crate) fn shader(&self, label: &str, source: &str) -> wgpu::ShaderModule {
        self.device.create_shader_module(wgpu::ShaderModuleDescriptor {
            label: Some(label),
            source: wgpu::ShaderSource::Wgsl(source.into()),
        })
    }

    /// A texture to draw on and to read in later passes.
    pub(crate) fn target(
        &self,
        size: [u32; 2],
        format: wgpu::TextureFormat,
        samples: u32,
    ) -> wgpu::TextureView {
        let texture = self.device.create_texture(&wgpu::TextureDescriptor {
            label: Some("target"),
            size: wgpu::Extent3d { width: size[0], height: size[1], depth_or_array_layers: 1 },
            mip_level_count: 1,
            sample_count: samples,
            dimension: wgpu::TextureDimension::D2,
            format,
            usage: wgpu::TextureUsages::RENDER_ATTACHMENT
                | wgpu::TextureUsages::TEXTURE_BINDING
                | if samples == 1 {
                    wgpu::TextureUsages::COPY_SRC
                } else {
                    wgpu::TextureUsages::empty()
                },
            view_formats: &[],
        });
        texture.create_view(&wgpu::TextureViewDescriptor::default())
    }

    /// A bind group of consecutive bindings from 0.
    pub(crate) fn group(
        &self,
        layout: &wgpu::BindGroupLayout,
        resources: &[wgpu::BindingResource<'_>],
    ) -> wgpu::BindGroup {
        let entries: Vec<_> = resources
            .iter()
            .enumerate()
            .map(|(i, r)| wgpu::BindGroupEntry { binding: i as u32, resource: r.clone() })
            .collect();
        self.device.create_bind_group(&wgpu::BindGroupDescriptor {
            label: None,
            layout,
            entries: &entries,
        })
    }

    /// A layout of consecutive bindings from 0.
    pub(crate) fn layout(&self, bindings: &[wgpu::BindingType]) -> wgpu::BindGroupLayout {
        let entries: Vec<_> = bindings
            .iter()
            .enumerate()
            .map(|(i, &ty)| wgpu::BindGroupLayoutEntry {
                binding: i as u32,
                visibility: visibility(&ty),
                ty,
                count: None,
            })
            .collect();
        self.device.create_bind_group_layout(&wgpu::BindGroupLayoutDescriptor {
            label: None,
            entries: &entries,
        })
    }
}

/// The best adapter. OpenGL is asked only if nothing else answers: it is slow to wake up.
fn best_adapter() -> Result<wgpu::Adapter, wgpu::RequestAdapterError> {
    let options = wgpu::RequestAdapterOptions {
        power_preference: wgpu::PowerPreference::HighPerformance,
        ..Default::default()
    };
    let ask = |unwanted: wgpu::Backends| {
        let mut settings = wgpu::InstanceDescriptor::new_without_display_handle_from_env();
        settings.flags = wgpu::InstanceFlags::empty();
        settings.backends -= unwanted;
        pollster::block_on(wgpu::Instance::new(settings).request_adapter(&options))
    };
    ask(wgpu::Backends::GL).or_else(|_| ask(wgpu::Backends::empty()))
}

/// A texture read pixel by pixel.
pub(crate) const LOADED: wgpu::BindingType = wgpu::BindingType::Texture {
    sample_type: wgpu::TextureSampleType::Float { filterable: false },
    view_dimension: wgpu::TextureViewDimension::D2,
    multisampled: false,
};

/// Lists that are written are for fragments only.
fn visibility(binding: &wgpu::BindingType) -> wgpu::ShaderStages {
    match binding {
        wgpu::BindingType::Buffer { ty: wgpu::BufferBindingType::Storage { .. }, .. } => {
            wgpu::ShaderStages::FRAGMENT
        }
        _ => wgpu::ShaderStages::VERTEX_FRAGMENT,
    }
}

/// A texture of several samples a pixel, read sample by sample. Depth is read this way too: OpenGL
/// knows no other.
pub(crate) fn loaded_samples(samples: u32) -> wgpu::BindingType {
    wgpu::BindingType::Texture {
        sample_type: wgpu::TextureSampleType::Float { filterable: false },
        view_dimension: wgpu::TextureViewDimension::D2,
        multisampled: samples > 1,
    }
}

/// The same for whole numbers.
pub(crate) fn loaded_whole_samples(samples: u32) -> wgpu::BindingType {
    wgpu::BindingType::Texture {
        sample_type: wgpu::TextureSampleType::Uint,
        view_dimension: wgpu::TextureViewDimension::D2,
        multisampled: samples > 1,
    }
}

/// A shader for textures of so many samples a pixel.
pub(crate) fn with_samples(samples: u32, shader: &str) -> String {
    let types = if samples > 1 {
        include_str!("samples_many.wgsl")
    } else {
        include_str!("samples_one.wgsl")
    };
    format!("{types}\n{shader}")
}

/// A shader for pictures with or without transparent bodies: those without need not wait until the
/// driver has compiled what belongs to them.
pub(crate) fn with_veil(veiled: bool, shader: &str) -> String {
    format!("const VEILED: bool = {veiled};\n{shader}")
}

/// A texture read between pixels.
pub(crate) const SAMPLED: wgpu::BindingType = wgpu::BindingType::Texture {
    sample_type: wgpu::TextureSampleType::Float { filterable: true },
    view_dimension: wgpu::TextureViewDimension::D2,
    multisampled: false,
};

pub(crate) const SAMPLER: wgpu::BindingType =
    wgpu::BindingType::Sampler(wgpu::SamplerBindingType::Filtering);

/// A block of numbers the same for a whole draw.
pub(crate) fn uniform(has_dynamic_offset: bool) -> wgpu::BindingType {
    wgpu::BindingType::Buffer {
        ty: wgpu::BufferBindingType::Uniform,
        has_dynamic_offset,
        min_binding_size: None,
    }
}

/// A list in memory.
pub(crate) fn storage(read_only: bool) -> wgpu::BindingType {
    wgpu::BindingType::Buffer {
        ty: wgpu::BufferBindingType::Storage { read_only },
        has_dynamic_offset: false,
        min_binding_size: None,
    }
}

/// What differs between pipelines; the rest is the same for all.
pub(crate) struct Recipe<'a> {
    pub(crate) label: &'a str,
    pub(crate) shader: &'a wgpu::ShaderModule,
    pub(crate) layouts: &'a [&'a wgpu::BindGroupLayout],
    pub(crate) vertex: &'a str,
    pub(crate) fragment: Option<&'a str>,
    pub(crate) buffers: &'a [Option<wgpu::VertexBufferLayout<'a>>],
    pub(crate) targets: &'a [Option<wgpu::ColorTargetState>],
    pub(crate) depth: Option<Depth>,
    pub(crate) samples: u32,
    /// Which triangles are left out.
    pub(crate) cull: Option<wgpu::Face>,
}

/// How a pipeline uses the depth buffer.
#[derive(Clone, Copy)]
pub(crate) struct Depth {
    pub(crate) write: bool,
    pub(crate) compare: wgpu::CompareFunction,
}

impl Depth {
    /// Nearer things hide farther ones.
    pub(crate) const NEARER: Self = Self { write: true, compare: wgpu::CompareFunction::Less };
}

pub(crate) const DEPTH_FORMAT: wgpu::TextureFormat = wgpu::TextureFormat::Depth32Float;

impl Gpu {
    /// A pipeline that works pixel by pixel over a whole picture: a fragment shader after `cover`.
    pub(crate) fn screen_pipeline(
        &self,
        [label, fragment]: [&str; 2],
        shader: &str,
        layouts: &[&wgpu::BindGroupLayout],
        target: Option<wgpu::ColorTargetState>,
    ) -> wgpu::RenderPipeline {
        self.pipeline(&Recipe {
            label,
            shader: &self.shader(label, shader),
            layouts,
            vertex: "cover",
            fragment: Some(fragment),
            buffers: &[],
            targets: &[target],
            depth: None,
            samples: 1,
            cull: None,
        })
    }

    pub(crate) fn pipeline(&self, recipe: &Recipe<'_>) -> wgpu::RenderPipeline {
        let layouts: Vec<_> = recipe.layouts.iter().map(|&l| Some(l)).collect();
        let layout = self.device.create_pipeline_layout(&wgpu::PipelineLayoutDescriptor {
            label: None,
            bind_group_layouts: &layouts,
            immediate_size: 0,
        });
        let depth_stencil = recipe.depth.map(|d| wgpu::DepthStencilState {
            format: DEPTH_FORMAT,
            depth_write_enabled: Some(d.write),
            depth_compare: Some(d.compare),
            stencil: wgpu::StencilState::default(),
            bias: wgpu::DepthBiasState::default(),
        });
        self.device.create_render_pipeline(&wgpu::RenderPipelineDescriptor {
            label: Some(recipe.label),
            layout: Some(&layout),
            vertex: wgpu::VertexState {
                module: recipe.shader,
                entry_point: Some(recipe.vertex),
                compilation_options: wgpu::PipelineCompilationOptions::default(),
                buffers: recipe.buffers,
            },
            primitive: wgpu::PrimitiveState { cull_mode: recipe.cull, ..Default::default() },
            depth_stencil,
            multisample: wgpu::MultisampleState { count: recipe.samples, ..Default::default() },
            fragment: recipe.fragment.map(|entry| wgpu::FragmentState {
                module: recipe.shader,
                entry_point: Some(entry),
                compilation_options: wgpu::PipelineCompilationOptions::default(),
                targets: recipe.targets,
            }),
            multiview_mask: None,
            cache: None,
        })
    }
}

/// A colour target that is overwritten.
pub(crate) fn replace(format: wgpu::TextureFormat) -> Option<wgpu::ColorTargetState> {
    Some(format.into())
}

/// A colour target that one triangle covers with what replaces it. Said as a blend with nothing: the
/// software driver compiles a shader that it knows to overwrite everything twice, for whole tiles and
/// for edges, and here that costs more than it saves.
pub(crate) const fn cover(format: wgpu::TextureFormat) -> Option<wgpu::ColorTargetState> {
    Some(wgpu::ColorTargetState {
        format,
        blend: Some(wgpu::BlendState::REPLACE),
        write_mask: wgpu::ColorWrites::ALL,
    })
}

/// A colour target that is not drawn on.
pub(crate) fn untouched(format: wgpu::TextureFormat) -> Option<wgpu::ColorTargetState> {
    let write_mask = wgpu::ColorWrites::empty();
    Some(wgpu::ColorTargetState { format, blend: None, write_mask })
}

/// Begins a pass over colour targets and a depth buffer.
pub(crate) fn begin<'e>(
    encoder: &'e mut wgpu::CommandEncoder,
    label: &str,
    colors: &[Option<wgpu::RenderPassColorAttachment<'_>>],
    depth: Option<(&wgpu::TextureView, wgpu::LoadOp<f32>)>,
) -> wgpu::RenderPass<'e> {
    encoder.begin_render_pass(&wgpu::RenderPassDescriptor {
        label: Some(label),
        color_attachments: colors,
        depth_stencil_attachment: depth.map(|(view, load)| {
            wgpu::RenderPassDepthStencilAttachment {
                view,
                depth_ops: Some(wgpu::Operations { load, store: wgpu::StoreOp::Store }),
                stencil_ops: None,
            }
        }),
        timestamp_writes: None,
        occlusion_query_set: None,
        multiview_mask: None,
    })
}

/// A colour target of a pass.
pub(crate) fn onto<'v>(
    view: &'v wgpu::TextureView,
    resolve_target: Option<&'v wgpu::TextureView>,
    load: wgpu::LoadOp<wgpu::Color>,
) -> Option<wgpu::RenderPassColorAttachment<'v>> {
    let ops = wgpu::Operations { load, store: wgpu::StoreOp::Store };
    Some(wgpu::RenderPassColorAttachment { view, depth_slice: None, resolve_target, ops })
}

/// Clears a colour target to four equal numbers.
pub(crate) fn clear(value: f64) -> wgpu::LoadOp<wgpu::Color> {
    wgpu::LoadOp::Clear(wgpu::Color { r: value, g: value, b: value, a: value })
}
