//! Pictures against what must be true of them.
//!
//! They need a graphics adapter, or Mesa's software one.

mod studio;

use std::slice::from_ref;
use std::sync::Arc;

use glam::{Mat4, Vec2, Vec3};
use supple::TriMesh;
use supple::asset::Alpha;
use supple::mesh::Values;
use supple_gpu::camera::{Camera, Framing, Projection};
use supple_gpu::colormap::Colormap;
use supple_gpu::compare::{Comparison, before_after};
use supple_gpu::overlay::Overlay;
use supple_gpu::texture::Texture;
use supple_gpu::view::{Backdrop, Body, NormalSource, Paint, Scalars, View, Wireframe};
use supple_gpu::{Image, Quality, RenderError, Renderer};

use studio::{renderer, sphere, square, take};

/// Looks along −z without perspective, level with the floor, so that no floor is drawn.
fn level(height: f32) -> Camera {
    Camera {
        eye: Vec3::new(0.0, 0.0, 10.0),
        target: Vec3::ZERO,
        up: Vec3::Y,
        projection: Projection::Orthographic { height },
    }
}

fn clear<'a>(bodies: Vec<Body<'a>>, height: f32, size: [u32; 2]) -> View<'a> {
    View { bodies, backdrop: Backdrop::Clear, ..View::through(level(height), size) }
}

fn see_through(mesh: &TriMesh, paint: Paint, opacity: f32) -> Body<'_> {
    Body { paint, opacity, ..Body::new(mesh) }
}

fn brightness(pixel: [u8; 4]) -> u32 {
    pixel[..3].iter().map(|&c| u32::from(c)).sum::<u32>() / 3
}

/// Share of colour values that differ by more than `step`.
fn share_off(a: &Image, b: &Image, step: u8) -> f32 {
    let off = a.rgba.iter().zip(&b.rgba).filter(|(x, y)| x.abs_diff(**y) > step).count();
    off as f32 / a.rgba.len() as f32
}

#[test]
fn drafts_are_close_to_pictures_and_their_edges_are_soft() {
    let mesh = sphere(Vec3::ZERO, 1.0, 48);
    let view = clear(vec![Body::new(&mesh)], 3.0, [150, 120]);
    let still = take(&view);
    let mut renderer = Renderer::with(Quality::DRAFT).expect("there is an adapter");
    let mut draft = |view: &View<'_>| renderer.render(view).expect("the view can be drawn");
    let first = draft(&view);
    assert_eq!(first.rgba, draft(&view).rgba, "a body that is known is drawn as before");
    let partly = |image: &Image| {
        image.rgba.iter().skip(3).step_by(4).filter(|a| (1..255).contains(*a)).count()
    };
    // The silhouette is 250 pixels long; a step at every one of them leaves none.
    assert!(partly(&first) > 120 && partly(&still) > 120, "{} {}", partly(&first), partly(&still));
    assert!(share_off(&still, &first, 24) < 0.02, "{}", share_off(&still, &first, 24));
    let moved: Vec<Vec3> = mesh.positions.iter().map(|p| *p * Vec3::new(1.0, 0.5, 1.0)).collect();
    let flat = Body { positions: Some(&moved), ..Body::new(&mesh) };
    let flat = draft(&clear(vec![flat], 3.0, [150, 120]));
    assert!(share_off(&first, &flat, 24) > 0.1, "a body that moved is not the one that is known");
}

#[test]
fn the_silhouette_of_a_sphere_has_its_area() {
    let mesh = sphere(Vec3::ZERO, 1.0, 96);
    let image = take(&clear(vec![Body::new(&mesh)], 3.0, [150, 120]));
    let covered: f64 = image.rgba.iter().skip(3).step_by(4).map(|&a| f64::from(a) / 255.0).sum();
    let expected = std::f64::consts::PI * (120.0_f64 / 3.0).powi(2);
    assert!((covered / expected - 1.0).abs() < 4e-3, "{covered} pixels in place of {expected}");
}

/// The lights go with the camera: turning scene and camera together changes nothing.
#[test]
fn turning_scene_and_camera_together_gives_the_same_picture() {
    let (a, b) = (sphere(Vec3::ZERO, 1.0, 24), sphere(Vec3::new(1.4, -0.4, 0.3), 0.6, 24));
    let mut framing = Framing::three_quarter(Vec3::Y, 1.5);
    framing.add(&a.positions);
    framing.add(&b.positions);
    let camera = framing.camera();
    let picture = |angle: f32| {
        let turn = Mat4::from_rotation_y(angle);
        let bodies = [&a, &b].map(|mesh| Body { transform: turn, ..Body::new(mesh) }).to_vec();
        let turned = Camera {
            eye: turn.transform_point3(camera.eye),
            target: turn.transform_point3(camera.target),
            ..camera
        };
        take(&View { bodies, ..View::through(turned, [180, 120]) })
    };
    let (still, turned) = (picture(0.0), picture(2.1));
    let off = share_off(&still, &turned, 6);
    assert!(off < 4e-3, "{off} of the values differ");
}

#[test]
fn the_same_view_gives_the_same_bytes() {
    let (mesh, other) = (sphere(Vec3::ZERO, 1.0, 16), square(Vec3::ZERO));
    let view = View::of(
        vec![Body::new(&mesh), see_through(&other, Paint::srgb(200, 40, 40), 0.5)],
        [160, 90],
    );
    let first = take(&view);
    take(&View::of(vec![Body::new(&other)], [64, 200]));
    assert!(first == take(&view), "the second picture differs");
}

#[test]
fn backs_are_lit_like_fronts() {
    let front = square(Vec3::ZERO);
    let mut back = front.clone();
    back.triangles.iter_mut().for_each(|t| t.swap(1, 2));
    let with_normals = |sign: f32| {
        let mut mesh = front.clone();
        mesh.attributes.set("normal", Values::Vec3(vec![sign * Vec3::Z; 4]));
        mesh
    };
    let mirrored = Mat4::from_scale(Vec3::new(-1.0, 1.0, 1.0));
    let (outward, inward) = (with_normals(1.0), with_normals(-1.0));
    let middle = |body: Body<'_>| take(&clear(vec![body], 4.0, [32, 32])).pixel(16, 16);
    let expected = middle(Body::new(&front));
    assert!(brightness(expected) > 120, "the front is dark: {expected:?}");
    let others = [
        Body::new(&back),
        Body::new(&outward),
        Body::new(&inward),
        Body { shading: NormalSource::Flat, ..Body::new(&back) },
        Body { transform: mirrored, ..Body::new(&front) },
        Body { transform: mirrored, ..Body::new(&inward) },
    ];
    for (i, body) in others.into_iter().enumerate() {
        let found = middle(body);
        assert!(
            brightness(found).abs_diff(brightness(expected)) < 3,
            "{i}: {found:?}, not {expected:?}"
        );
    }
}

/// A small ball is brightest where it faces the key light: no point of it is in its own shadow there.
#[test]
fn a_distant_ball_throws_no_shadow_on_its_lit_side() {
    let mesh = sphere(Vec3::ZERO, 1.0, 48);
    let eye = 12.0 * Vec3::new(0.83, 0.3, 0.5);
    let projection = Projection::Perspective { fov_y: 0.42 };
    let camera = Camera { eye, target: Vec3::ZERO, up: Vec3::Y, projection };
    let view = View { bodies: vec![Body::new(&mesh)], ..View::through(camera, [240, 200]) };
    let image = take(&view);
    let at = |towards: Vec3| {
        let (pixel, _) = camera.pixel_of(towards.normalize_or_zero(), view.size).unwrap();
        let start = 4 * (pixel.y as usize * 240 + pixel.x as usize);
        brightness([0, 1, 2, 3].map(|k| image.rgba[start + k]))
    };
    let (right, away) = (camera.right(), Vec3::Y.cross(camera.right()));
    // Towards the key light, and from there up to the left.
    for (left, up, front) in [(0.62, 1.0, 0.62), (0.8, 1.0, 0.4), (0.5, 1.2, 0.3)] {
        let lit = at(-left * right + up * Vec3::Y - front * away);
        let side = at(0.9 * right - 0.4 * away);
        assert!(lit > side + 60, "the lit side has {lit}, the other {side}");
    }
}

/// Where coordinates are coarse, the light must not be.
#[test]
fn a_scene_far_from_the_origin_looks_the_same() {
    let there = Vec3::new(65536.0, -32768.0, 131_072.0);
    let eye = Vec3::new(3.0, 1.5, 4.0);
    let picture = |place: Vec3| {
        let mut mesh = sphere(Vec3::ZERO, 1.0, 24);
        // On a grid that is there in both places.
        mesh.positions.iter_mut().for_each(|p| *p = place + (64.0 * *p).round() / 64.0);
        let camera = Camera { eye: place + eye, target: place, ..Camera::default() };
        take(&View { bodies: vec![Body::new(&mesh)], ..View::through(camera, [160, 120]) })
    };
    let (near, far) = (picture(Vec3::ZERO), picture(there));
    let off = share_off(&near, &far, 3);
    assert!(off < 0.002, "{off} of the picture is different");
}

/// A camera of a file says which way its picture is up, not the scene.
#[test]
fn a_camera_that_looks_down_has_a_floor() {
    let mesh = sphere(Vec3::ZERO, 1.0, 24);
    let upright = Camera { eye: Vec3::new(0.0, 4.0, 7.0), ..Camera::default() };
    let held = Camera { up: upright.picture_up(), ..upright };
    let picture = |camera: Camera| {
        let bodies = vec![Body::new(&mesh)];
        take(&View { bodies, up: Some(Vec3::Y), ..View::through(camera, [160, 120]) })
    };
    let (a, b) = (picture(upright), picture(held));
    let off = share_off(&a, &b, 2);
    assert!(off < 0.001, "{off} of the picture is different");
}

#[test]
fn nothing_in_a_lit_scene_is_black() {
    let mesh = sphere(Vec3::ZERO, 1.0, 24);
    let hollow =
        TriMesh::new(mesh.positions.clone(), mesh.triangles[..mesh.triangles.len() / 2].to_vec());
    let image = take(&View::of(vec![Body::new(&hollow)], [120, 120]));
    let darkest = image.rgba.chunks(4).map(|p| brightness([p[0], p[1], p[2], p[3]])).min();
    assert!(darkest > Some(25), "darkest pixel {darkest:?}");
}

#[test]
fn two_sheets_cover_as_their_alphas_say() {
    let sheets = [square(Vec3::new(0.0, 0.0, 1.0)), square(Vec3::new(0.0, 0.0, -1.0))];
    let bodies = |opacity: [f32; 2]| {
        let paint = |i: usize| Paint::srgb(if i == 0 { 220 } else { 20 }, 40, 40);
        (0..2).map(|i| see_through(&sheets[i], paint(i), opacity[i])).collect::<Vec<_>>()
    };
    let image = take(&clear(bodies([0.5, 0.25]), 4.0, [32, 32]));
    let expected = 1.0 - 0.5 * 0.75;
    let found = f32::from(image.pixel(16, 16)[3]) / 255.0;
    assert!((found - expected).abs() < 0.006, "covers {found}, not {expected}");
    let full = f32::from(image.pixel(1, 1)[3]);
    assert!(full < 1.0, "nothing is there, but it covers {full}");
}

#[test]
fn transparent_bodies_may_come_in_any_order() {
    let meshes: Vec<TriMesh> = (0..4)
        .map(|i| sphere(Vec3::new(0.3 * i as f32, 0.1 * i as f32, -0.2 * i as f32), 1.0, 12))
        .collect();
    let bodies: Vec<Body<'_>> = meshes
        .iter()
        .enumerate()
        .map(|(i, mesh)| see_through(mesh, Paint::palette(i + 1), 0.3 + 0.1 * i as f32))
        .collect();
    let forward = take(&View::of(bodies.clone(), [140, 90]));
    let reversed_meshes: Vec<TriMesh> = meshes
        .iter()
        .map(|m| TriMesh::new(m.positions.clone(), m.triangles.iter().rev().copied().collect()))
        .collect();
    let backward: Vec<Body<'_>> = bodies
        .iter()
        .zip(&reversed_meshes)
        .rev()
        .map(|(body, mesh)| Body { mesh, ..body.clone() })
        .collect();
    let camera = View::of(bodies, [140, 90]).camera;
    let backward = take(&View { bodies: backward, ..View::through(camera, [140, 90]) });
    let off = share_off(&forward, &backward, 1);
    assert!(off < 2e-4, "{off} of the values depend on the order");
}

/// Many sheets: more than there is room for at first.
#[test]
fn a_stack_of_sheets_is_drawn_whole() {
    let sheets: Vec<TriMesh> =
        (0..40).map(|i| square(Vec3::new(0.0, 0.0, 0.02 * i as f32))).collect();
    let bodies = sheets.iter().map(|s| see_through(s, Paint::default(), 0.05)).collect();
    let image = take(&clear(bodies, 2.0, [40, 40]));
    let (found, expected) = (f32::from(image.pixel(20, 20)[3]) / 255.0, 1.0 - 0.95_f32.powi(40));
    assert!((found - expected).abs() < 0.01, "covers {found}, not {expected}");
}

/// More sheets than are sorted: those behind are drawn as one that covers as much, and counted.
#[test]
fn sheets_behind_the_sorted_ones_cover_as_much() {
    let sheets: Vec<TriMesh> =
        (0..100).map(|i| square(Vec3::new(0.0, 0.0, 0.02 * i as f32))).collect();
    let mut renderer = renderer();
    let mut take = |count: usize, opacity: f32| {
        let bodies = sheets[..count].iter().map(|s| see_through(s, Paint::default(), opacity));
        let image = renderer.render(&clear(bodies.collect(), 2.0, [40, 40])).unwrap();
        (image.pixel(20, 20), renderer.crowded_pixels())
    };
    let (few, crowded) = take(50, 1.0 - 0.98_f32.powi(2));
    assert_eq!(crowded, 0, "50 sheets are sorted");
    let (many, crowded) = take(100, 0.02);
    assert!((1..=1600).contains(&crowded), "{crowded} pixels have too many sheets");
    for (a, b) in few.iter().zip(many) {
        assert!(a.abs_diff(b) < 6, "{many:?} where half as many of twice the cover give {few:?}");
    }
}

/// What lies on the floor is seen through as what stands above it.
#[test]
fn the_floor_hides_nothing_that_lies_on_it() {
    let lying = TriMesh::new(
        vec![Vec3::ZERO, Vec3::Z, Vec3::X, Vec3::new(1.0, 0.0, 1.0)],
        vec![[0, 1, 2], [1, 3, 2]],
    );
    let paint = Paint::srgb(200, 30, 30);
    let image = take(&View::of(vec![see_through(&lying, paint, 0.5)], [80, 60]));
    let [r, g, _, _] = image.pixel(40, 30);
    assert!(r > g + 30, "the sheet is not seen: {r} {g}");
}

/// The floor is the backdrop, less what the body keeps away; a tinted sheet keeps away less.
#[test]
fn the_floor_takes_shadows() {
    let mesh = sphere(Vec3::ZERO, 1.0, 32);
    let view = |opacity: f32, backdrop: Backdrop| View {
        backdrop,
        ..View::of(vec![see_through(&mesh, Paint::srgb(210, 40, 30), opacity)], [240, 160])
    };
    let opaque = take(&view(1.0, Backdrop::Studio));
    let plain = take(&view(1.0, Backdrop::Plain));
    let tinted = take(&view(0.4, Backdrop::Studio));
    assert_eq!(opaque.pixel(4, 4), plain.pixel(4, 4));
    let shaded = |image: &Image| -> Vec<(u32, u32)> {
        let darker = |&(x, y): &(u32, u32)| {
            brightness(plain.pixel(x, y)) > 10 + brightness(image.pixel(x, y))
        };
        // Right of the sphere, where its shadow falls.
        (150..238).flat_map(|x| (90..155).map(move |y| (x, y))).filter(darker).collect()
    };
    let (dark, light) = (shaded(&opaque), shaded(&tinted));
    assert!(dark.len() > 300, "{} pixels in shadow", dark.len());
    let mean = |image: &Image, c: usize| {
        dark.iter().map(|&(x, y)| u32::from(image.pixel(x, y)[c])).sum::<u32>() / dark.len() as u32
    };
    assert!(mean(&tinted, 0) > 15 + mean(&opaque, 0), "a tinted shadow is lighter");
    assert!(mean(&tinted, 0) > 3 + mean(&tinted, 2), "and has a tint; {} pixels", light.len());
}

#[test]
fn a_field_has_its_colours_and_a_legend() {
    let mesh = square(Vec3::ZERO);
    let values: Vec<f32> = mesh.positions.iter().map(|p| p.x).collect();
    let field = Scalars { colormap: Some(Colormap::Diverging), ..Scalars::new("x", &values) };
    let body = Body { field: Some(field), ..Body::new(&mesh) };
    let image = take(&View { bodies: vec![body], ..View::through(level(2.4), [320, 200]) });
    let (left, right) = (image.pixel(90, 100), image.pixel(230, 100));
    assert!(left[2] > left[0] + 40, "low values are blue: {left:?}");
    assert!(right[0] > right[2] + 40, "high values are red: {right:?}");
    let [r, g, b] = Colormap::Diverging.srgb(1.0);
    let top = image.rgba.chunks(4).filter(|p| p[..3] == [r, g, b]).count();
    assert!(top >= 3, "{top} pixels of the legend have the last colour");
}

#[test]
fn a_texture_lies_where_its_coordinates_say() {
    let mut mesh = square(Vec3::ZERO);
    let uv = [[0.0, 1.0], [1.0, 1.0], [1.0, 0.0], [0.0, 0.0]].map(Vec2::from).to_vec();
    mesh.attributes.set("uv", Values::Vec2(uv));
    let mut picture = Image::filled(2, 1, [230, 20, 20, 255]);
    picture.paste(&Image::filled(1, 1, [20, 20, 230, 255]), 1, 0);
    let paint = Paint {
        color: [1.0; 4],
        texture: Some(Arc::new(Texture::new(picture))),
        ..Paint::default()
    };
    let image = take(&clear(vec![Body { paint, ..Body::new(&mesh) }], 2.0, [64, 64]));
    let (left, right) = (image.pixel(14, 32), image.pixel(50, 32));
    assert!(left[0] > 2 * left[2] && right[2] > 2 * right[0], "left {left:?}, right {right:?}");
}

#[test]
fn holes_of_a_cut_out_texture_are_holes() {
    let mesh = square(Vec3::ZERO);
    let texture = Some(Arc::new(Texture::new(Image::filled(1, 1, [200, 200, 200, 60]))));
    let paint = Paint { texture, alpha: Alpha::Mask(0.5), ..Paint::default() };
    let image = take(&clear(vec![Body { paint, ..Body::new(&mesh) }], 4.0, [32, 32]));
    assert_eq!(image.pixel(16, 16)[3], 0);
}

#[test]
fn wireframes_darken_the_edges() {
    let mesh = square(Vec3::ZERO);
    let wired = Body {
        wireframe: Some(Wireframe { width_px: 3.0, ..Wireframe::default() }),
        ..Body::new(&mesh)
    };
    let plain = take(&clear(vec![Body::new(&mesh)], 2.4, [96, 96]));
    let image = take(&clear(vec![wired], 2.4, [96, 96]));
    // On the diagonal, and away from it.
    let at = |image: &Image, x, y| brightness(image.pixel(x, y));
    assert!(at(&image, 48, 47) + 40 < at(&plain, 48, 47), "the diagonal is drawn");
    assert!(at(&image, 30, 40).abs_diff(at(&plain, 30, 40)) < 3, "the rest is as before");
}

#[test]
fn overlays_are_exact_in_front_and_faint_behind() {
    let mesh = square(Vec3::ZERO);
    let dot = |z: f32| Overlay::Dots {
        points: vec![Vec3::new(0.0, 0.0, z)],
        color: [0, 0, 255, 255],
        width_px: 20.0,
    };
    let picture = |overlays: Vec<Overlay>| {
        take(&View { overlays, ..clear(vec![Body::new(&mesh)], 4.0, [64, 64]) }).pixel(31, 31)
    };
    let bare = picture(vec![]);
    let (front, behind) = (picture(vec![dot(0.5)]), picture(vec![dot(-0.5)]));
    assert!(front[0] < 40 && front[2] > 200, "in front: {front:?}");
    assert!(
        behind[0] + 15 < bare[0] && behind[0] > front[0] + 60,
        "behind: {behind:?} over {bare:?}"
    );
}

/// A translucent polyline has no darker dots where its pieces meet.
#[test]
fn curves_have_no_seams() {
    let points = (0..=8).map(|i| Vec3::new(-1.0 + 0.25 * i as f32, 0.0, 0.0)).collect();
    let curve = Overlay::Curve { points, closed: false, color: [0, 0, 0, 128], width_px: 5.0 };
    let view = View {
        overlays: vec![curve],
        backdrop: Backdrop::Plain,
        ..View::through(level(2.4), [96, 96])
    };
    let image = take(&view);
    let row: Vec<u32> = (20..76).map(|x| brightness(image.pixel(x, 48))).collect();
    let (low, high) = (row.iter().min().unwrap(), row.iter().max().unwrap());
    assert!(high - low < 12, "brightness along the curve: {row:?}");
}

#[test]
fn before_and_after_stand_side_by_side() {
    let mesh = sphere(Vec3::ZERO, 1.0, 12);
    let moved: Vec<Vec3> = mesh.positions.iter().map(|p| *p * Vec3::new(1.0, 1.4, 1.0)).collect();
    let (before, after) = (Body::new(&mesh), Body { positions: Some(&moved), ..Body::new(&mesh) });
    let mut renderer = renderer();
    let how = Comparison { panel: [90, 120], ..Comparison::default() };
    let mut picture = |before: &Body<'_>, after: &Body<'_>| {
        let image = before_after(&mut renderer, from_ref(before), from_ref(after), &how).unwrap();
        assert_eq!((image.width, image.height), (184, 120));
        image
    };
    let told = picture(&before, &after);
    // Another number of vertices: the same panels, without colours of how far they moved.
    let finer = sphere(Vec3::ZERO, 1.0, 13);
    let untold = picture(&before, &Body::new(&finer));
    let colorful = |image: &Image| {
        let vivid = |p: &&[u8]| p[..3].iter().max().unwrap() - p[..3].iter().min().unwrap() > 90;
        image.rgba.chunks_exact(4).filter(vivid).count()
    };
    assert!(colorful(&told) > 100 && colorful(&untold) == 0, "{}", colorful(&untold));
}

#[test]
fn what_cannot_be_drawn_is_an_error() {
    let mut renderer = renderer();
    let good = square(Vec3::ZERO);
    let mut nan = good.clone();
    nan.positions[2].y = f32::NAN;
    let mut out_of_range = good.clone();
    out_of_range.triangles[0][1] = 99;
    for bad in [&nan, &out_of_range] {
        let error = renderer
            .render(&clear(vec![Body::new(&good), Body::new(bad)], 2.0, [8, 8]))
            .unwrap_err();
        assert!(matches!(error, RenderError::Body { body: 1, .. }), "{error}");
    }
    let short = [Vec3::ZERO];
    let body = Body { positions: Some(&short), ..Body::new(&good) };
    assert!(renderer.render(&clear(vec![body], 2.0, [8, 8])).is_err(), "too few positions");
    let positions_nan = [Vec3::NAN; 4];
    let body = Body { positions: Some(&positions_nan), ..Body::new(&good) };
    assert!(
        renderer.render(&clear(vec![body], 2.0, [8, 8])).is_err(),
        "positions that are no numbers"
    );
    for size in [[0, 8], [8, 0], [70_000, 8], [16_000, 16_000]] {
        assert!(renderer.render(&clear(vec![], 2.0, size)).is_err(), "{size:?}");
    }
    let lens = Projection::Perspective { fov_y: f32::NAN };
    let view = View::through(Camera { projection: lens, ..Camera::default() }, [8, 8]);
    assert!(matches!(renderer.render(&view), Err(RenderError::Camera(_))), "no lens");
}

#[test]
fn odd_scenes_are_drawn() {
    let mut renderer = renderer();
    let empty = TriMesh::default();
    let point = TriMesh::new(vec![Vec3::ONE; 3], vec![[0, 1, 2], [0, 0, 0]]);
    let huge = sphere(Vec3::splat(1e12), 1e11, 8);
    let tiny = sphere(Vec3::ZERO, 1e-9, 8);
    for mesh in [&empty, &point, &huge, &tiny] {
        let view = View::of(vec![Body::new(mesh)], [48, 32]);
        let image = renderer.render(&view).unwrap();
        assert_eq!(image.rgba.len(), 4 * 48 * 32);
    }
    let above = Camera { eye: Vec3::Y * 5.0, ..Camera::default() };
    let inside = Camera { eye: Vec3::ZERO, target: Vec3::ZERO, ..Camera::default() };
    let mesh = sphere(Vec3::ZERO, 1.0, 8);
    for camera in [above, inside] {
        renderer
            .render(&View { bodies: vec![Body::new(&mesh)], ..View::through(camera, [48, 32]) })
            .unwrap();
    }
}
