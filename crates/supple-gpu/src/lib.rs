//! Pictures and video without a window.
//!
//! A [`View`](view::View) says what is in a picture, as plain data; a [`Renderer`] takes it. On a
//! machine without a GPU, Mesa's software Vulkan stands in for one.
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

pub mod camera;
pub mod colormap;
mod device;
mod draws;
pub mod encode;
mod frame;
mod geometry;
mod ground;
mod occlusion;
pub mod overlay;
pub mod picture;
mod renderer;
mod shadow;
mod surface;
pub mod texture;
mod tonemap;
mod transparent;
pub mod view;

pub use device::OpenError;
pub use geometry::Unfit;
pub use picture::Image;
pub use renderer::{MAX_PIXELS, RenderError, Renderer};
pub use view::View;

#[cfg(test)]
mod shaders {
    /// Every shader as it is given to the driver, with its name.
    const ALL: [(&str, &str); 8] = [
        ("shadow", crate::shadow::SHADER),
        ("surface", crate::surface::SHADER),
        ("occlusion", crate::occlusion::OCCLUDE),
        ("smooth", crate::occlusion::SMOOTH),
        ("transparent, many samples", crate::transparent::MANY),
        ("transparent, one sample", crate::transparent::ONE),
        ("tonemap", crate::tonemap::SHADER),
        ("overlay", crate::overlay::SHADER),
    ];

    #[test]
    fn every_shader_is_valid() {
        for (name, source) in ALL {
            let module = naga::front::wgsl::parse_str(source)
                .unwrap_or_else(|e| panic!("{name}: {}", e.emit_to_string(source)));
            let capabilities = naga::valid::Capabilities::MULTISAMPLED_SHADING;
            naga::valid::Validator::new(naga::valid::ValidationFlags::all(), capabilities)
                .validate(&module)
                .unwrap_or_else(|e| panic!("{name}: {}", e.emit_to_string(source)));
        }
    }
}
