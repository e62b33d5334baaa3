//! What picture tests share: one renderer, and shapes.

use std::f32::consts::{PI, TAU};
use std::sync::{Mutex, MutexGuard, OnceLock, PoisonError};

use glam::Vec3;
use supple::TriMesh;
use supple_gpu::{Image, Renderer, View};

/// One renderer for all tests, which take turns. Where there is no adapter pictures are not tested, and that must be seen.
pub(crate) fn renderer() -> MutexGuard<'static, Renderer> {
    static RENDERER: OnceLock<Result<Mutex<Renderer>, String>> = OnceLock::new();
    let open = || Renderer::new().map(Mutex::new).map_err(|error| error.to_string());
    match RENDERER.get_or_init(open) {
        Ok(renderer) => renderer.lock().unwrap_or_else(PoisonError::into_inner),
        Err(error) => panic!("{error} (Debian's software driver: mesa-vulkan-drivers, libvulkan1)"),
    }
}

pub(crate) fn take(view: &View<'_>) -> Image {
    renderer().render(view).expect("the view can be drawn")
}

pub(crate) fn sphere(center: Vec3, radius: f32, rings: u32) -> TriMesh {
    let around = 2 * rings;
    let mut positions = vec![center + radius * Vec3::Y, center - radius * Vec3::Y];
    for i in 1..rings {
        let (s, c) = (PI * i as f32 / rings as f32).sin_cos();
        positions.extend((0..around).map(|j| {
            let (sin, cos) = (TAU * j as f32 / around as f32).sin_cos();
            center + radius * Vec3::new(s * cos, c, -s * sin)
        }));
    }
    let at = |i: u32, j: u32| 2 + (i - 1) * around + j % around;
    let mut triangles = Vec::new();
    for j in 0..around {
        triangles.push([0, at(1, j), at(1, j + 1)]);
        triangles.push([1, at(rings - 1, j + 1), at(rings - 1, j)]);
        for i in 1..rings - 1 {
            triangles.push([at(i, j), at(i + 1, j), at(i + 1, j + 1)]);
            triangles.push([at(i, j), at(i + 1, j + 1), at(i, j + 1)]);
        }
    }
    TriMesh::new(positions, triangles)
}

/// A square of side 2 around `center`, facing +z.
pub(crate) fn square(center: Vec3) -> TriMesh {
    let corner = |x: f32, y: f32| center + Vec3::new(x, y, 0.0);
    let positions =
        vec![corner(-1.0, -1.0), corner(1.0, -1.0), corner(1.0, 1.0), corner(-1.0, 1.0)];
    TriMesh::new(positions, vec![[0, 1, 2], [0, 2, 3]])
}
