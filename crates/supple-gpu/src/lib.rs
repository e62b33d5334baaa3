//! Pictures and video without a window.
//!
//! A [`View`] says what is in a picture, as plain data; a [`Renderer`] takes it. On a
//! machine without a GPU, Mesa's software Vulkan stands in for one.
//!
#![doc = include_str!("../../../docs/pictures/render.md")]
//!
//! ```no_run
//! use supple::TriMesh;
//! use supple_gpu::view::{Body, View};
//! use supple_gpu::{Renderer, encode};
//!
//! let mesh = TriMesh::default();
//! let mut renderer = Renderer::new()?;
//! let picture = renderer.render(&View::of(vec![Body::new(&mesh)], [1280, 720]))?;
//! encode::png::write(&picture, "mesh.png".as_ref())?;
//! # Ok::<(), Box<dyn std::error::Error>>(())
//! ```

mod bodies;
pub mod camera;
pub mod colormap;
pub mod compare;
mod device;
mod draws;
mod edges;
pub mod encode;
mod frame;
mod geometry;
mod ground;
mod legend;
mod occlusion;
pub mod overlay;
pub mod picture;
mod quality;
mod renderer;
mod shade;
mod shadow;
pub mod sheet;
pub mod splat;
mod surface;
pub mod text;
pub mod texture;
mod transparent;
pub mod view;

pub use bodies::bodies_of;
pub use device::OpenError;
pub use geometry::{FARTHEST, Unfit};
pub use picture::Image;
pub use quality::Quality;
pub use renderer::{MAX_PIXELS, RenderError, Renderer};
pub use view::View;
/// For those who have a device already: [`Renderer::on`].
pub use wgpu;

#[cfg(test)]
mod shaders {
    use crate::device::{with_samples, with_veil};
    use crate::draws::Features;

    /// Every shader with its name.
    const ALL: [(&str, &str); 8] = [
        ("shadow", crate::shadow::SHADER),
        ("surface", crate::surface::SHADER),
        ("occlusion", crate::occlusion::SHADER),
        ("gather", crate::transparent::GATHER),
        ("resolve", crate::transparent::RESOLVE),
        ("shade", crate::shade::SHADER),
        ("overlay", crate::overlay::SHADER),
        ("edges", crate::edges::SHADER),
    ];

    /// As given to the driver: for one sample a pixel and for several, with transparent bodies and
    /// without.
    #[test]
    fn every_shader_is_valid() {
        for (name, shader) in ALL {
            for (samples, veiled) in [(1, false), (1, true), (4, false), (4, true)] {
                let source = Features::ALL.with(&with_veil(veiled, &with_samples(samples, shader)));
                let invalid = |what: &str| format!("{name}, {samples} samples, {veiled}: {what}");
                let module = naga::front::wgsl::parse_str(&source)
                    .unwrap_or_else(|e| panic!("{}", invalid(&e.emit_to_string(&source))));
                let capabilities = naga::valid::Capabilities::MULTISAMPLED_SHADING;
                naga::valid::Validator::new(naga::valid::ValidationFlags::all(), capabilities)
                    .validate(&module)
                    .unwrap_or_else(|e| panic!("{}", invalid(&e.emit_to_string(&source))));
            }
        }
    }
}
