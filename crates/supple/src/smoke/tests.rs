use super::opacity::{Shade, Sheet, Terms, shade};
use super::*;
use crate::flow::analytic::Analytic;
use crate::mesh::{TriMesh, Values};

fn line(from: [f64; 3], to: [f64; 3]) -> Vec<SeedLine> {
    vec![SeedLine { points: vec![from, to], ..SeedLine::default() }]
}

fn grown(params: &Params, flow: &Flow, steps: u32) -> Streak {
    let run = Run::default();
    let mut smoke = Streak::new(params, flow, &run).unwrap();
    for _ in 0..steps {
        smoke.step(flow, &run).unwrap();
    }
    smoke
}

fn values<'a>(mesh: &'a TriMesh, name: &str) -> &'a [f32] {
    match mesh.attributes.get(name) {
        Some(Values::Scalar(values)) => values,
        other => panic!("{name}: {other:?}"),
    }
}

/// A plane: density as asked for, square cells, no curvature, linear fade.
#[test]
fn smoke_in_a_uniform_stream_has_its_closed_form() {
    let flow = Flow::Analytic(Analytic::Uniform);
    let opacity = Opacity { fade: 0.0, ..Opacity::default() };
    let seeds = line([0.0; 3], [0.0, 1.0, 0.0]);
    let params = Params { columns: 30, rows: 11, dt: 0.1, seeds, opacity, ..Params::default() };
    // Round the ring more than once.
    let smoke = grown(&params, &flow, 75);
    let surface = smoke.surface(&flow, 0.0, &Run::default()).unwrap();
    assert_eq!(surface.size, [30, 11]);
    let mesh = &surface.into_mesh();
    assert_eq!(mesh.triangles.len(), 2 * 29 * 10);
    let shape = (2.0 / 6.0_f32.sqrt()).sqrt();
    for (i, x) in mesh.positions.iter().enumerate() {
        let age = x.x;
        assert!((values(mesh, "age")[i] - age).abs() < 1e-5, "{x}");
        let wanted =
            [("density", 0.35), ("shape", shape), ("curvature", 1.0), ("fade", 1.0 - age / 3.0)];
        for (name, wanted) in wanted {
            assert!(
                (values(mesh, name)[i] - wanted).abs() < 1e-6,
                "{name} at {x}: {}",
                values(mesh, name)[i]
            );
        }
        let alpha = 0.35 * shape * (1.0 - age / 3.0);
        assert!((values(mesh, ALPHA)[i] - alpha).abs() < 1e-6, "{x}");
    }
}

/// The strip at the seeds grows with its smoke in proportion, and says nothing of its shape.
#[test]
fn the_strip_at_the_seeds_does_not_flicker() {
    let flow = Flow::Analytic(Analytic::Uniform);
    let seeds = line([0.0; 3], [0.0, 1.0, 0.0]);
    let params = Params { columns: 30, rows: 11, dt: 0.1, seeds, ..Params::default() };
    let smoke = grown(&params, &flow, 40);
    for share in [0.01, 0.25, 0.5, 0.99] {
        let mesh = smoke.surface(&flow, share, &Run::default()).unwrap().into_mesh();
        assert_eq!(mesh.positions.len(), 31 * 11);
        for row in 0..11 {
            let i = 30 * 11 + row;
            assert_eq!(mesh.positions[i].x, 0.0);
            assert!(
                (values(&mesh, "density")[i] - 0.35).abs() < 1e-4,
                "{share}: {}",
                values(&mesh, "density")[i]
            );
        }
    }
}

/// A drawn seam would need triangles as long as the surface.
#[test]
fn nothing_joins_the_newest_column_to_the_oldest() {
    let flow = Flow::Analytic(Analytic::Uniform);
    let seeds = line([0.0; 3], [0.0, 1.0, 0.0]);
    let params = Params { columns: 7, rows: 5, dt: 0.25, seeds, ..Params::default() };
    for steps in [0, 1, 3, 6, 7, 8, 20] {
        let mesh =
            grown(&params, &flow, steps).surface(&flow, 0.0, &Run::default()).unwrap().into_mesh();
        let columns = 7.min(steps as usize + 1);
        assert_eq!(mesh.triangles.len(), 2 * 4 * (columns - 1), "after {steps}");
        for t in 0..mesh.triangles.len() {
            let [a, b, c] = mesh.corners_of(t);
            let longest = (a - b).length().max((b - c).length()).max((c - a).length());
            assert!(longest < 0.36, "after {steps}: {longest}");
        }
        let alpha = values(&mesh, ALPHA);
        assert!(
            columns < 2 || alpha[alpha.len() - 5..].iter().all(|&a| a > 0.2),
            "the newest is seen"
        );
    }
}

/// Below, the smoke of a line that crosses the cylinder of the wake, released inside and outside of it.
#[test]
fn what_leaves_the_fluid_is_in_no_triangle() {
    let flow = Flow::Analytic(Analytic::Wake);
    let seeds = line([0.0, -1.0, 0.0], [0.0, 1.0, 0.0]);
    let params = Params { columns: 12, rows: 41, dt: 0.05, seeds, ..Params::default() };
    let smoke = grown(&params, &flow, 20);
    let surface = smoke.surface(&flow, 0.0, &Run::default()).unwrap();
    assert!(surface.dead > 100, "{}", surface.dead);
    let mesh = &surface.into_mesh();
    let used: Vec<bool> = {
        let mut used = vec![false; mesh.positions.len()];
        mesh.triangles.iter().flatten().for_each(|&i| used[i as usize] = true);
        used
    };
    // The newest column is where it was put, its inner part is dead at the next step only.
    for (i, x) in mesh.positions.iter().enumerate().take(11 * 41) {
        let inside = x.x * x.x + x.y * x.y < 0.25 - 1e-6;
        assert!(!(inside && used[i]), "{x} is in a triangle");
        assert!(used[i] || values(mesh, ALPHA)[i] == 0.0, "{x} is seen without a triangle");
    }
}

/// Figure 7.4: the area of a triangle that runs into a saddle is constant, its shape says that it is cut.
#[test]
fn a_triangle_at_a_saddle_keeps_its_area_and_loses_its_shape() {
    let start = [[-0.25_f64, 2.0], [0.75, 2.0], [0.25, 2.0 + 3.0_f64.sqrt() / 2.0]];
    for (t, quality) in [(0.0_f64, 1.0), (0.5, 0.6205), (1.0, 0.2635), (1.5, 0.0992), (2.0, 0.0366)]
    {
        let [a, b, c] = start.map(|[x, y]| [x * t.exp(), y * (-t).exp()]);
        // Two columns of two rows: the second triangle of the cell is dead.
        let columns = [[a, b], [c, c]].map(|column| {
            let of = |k: usize| column.map(|p: [f64; 2]| p[k] as f32);
            let alive = if column[0] == column[1] { [1.0, 0.0] } else { [1.0, 1.0] };
            [of(0), of(1), [0.0; 2], alive].concat()
        });
        let sheet = Sheet {
            rows: 2,
            columns: columns.concat(),
            life: vec![0.0; 2],
            end_strips: [1.0; 2],
            joined: Vec::new(),
        };
        let opacity = Opacity { shape: 1.0, curvature: 0.0, ..Opacity::default() };
        let mut shaded = Shade::default();
        shade(&sheet, &opacity, 0.1, &mut shaded, &Run::default());
        for (column, row) in [(0, 0), (0, 1), (1, 0)] {
            let terms = shaded.at(column, row);
            assert!((f64::from(terms.shape) - quality).abs() < 1e-4, "{t}: {terms:?}");
            let density = 1.0 - (-0.1_f64 / 0.433_012_7).exp();
            assert!((f64::from(terms.density) - density).abs() < 1e-5, "{t}: {terms:?}");
        }
        assert_eq!(shaded.at(1, 1).alpha, 0.0);
    }
}

/// A plain loop over triangles, in f64.
fn terms_plainly(sheet: &Sheet, opacity: &Opacity, k: f64) -> Vec<Terms> {
    let (rows, count) = (sheet.rows, sheet.life.len());
    let at = |i: usize| {
        let block = &sheet.columns[4 * rows * (i / rows)..];
        glam::DVec3::from([0, 1, 2].map(|c| f64::from(block[c * rows + i % rows])))
    };
    let alive = |i: usize| sheet.columns[4 * rows * (i / rows) + 3 * rows + i % rows] > 0.0;
    let n = rows * count;
    // Squares of areas over their smoke, and inverse squares of shapes.
    let (mut areas, mut shapes) = (vec![Vec::new(); n], vec![Vec::new(); n]);
    let (mut normal, mut there) = (vec![glam::DVec3::ZERO; n], vec![false; n]);
    let mut edges = vec![Vec::new(); n];
    for column in 0..count - 1 {
        let smoke = if column + 2 == count { f64::from(sheet.end_strips[1]) } else { 1.0 };
        for j in 0..rows - 1 {
            let (a, b) = (column * rows + j, (column + 1) * rows + j);
            for t in [[a, a + 1, b], [b, a + 1, b + 1]] {
                if !t.iter().all(|&i| alive(i)) {
                    continue;
                }
                let [p, q, r] = t.map(at);
                let cross = (q - p).cross(r - p);
                let d = [(r - q).length(), (p - r).length(), (q - p).length()];
                let most = (d[0] * d[1]).max(d[1] * d[2]).max(d[2] * d[0]);
                let quality = 2.0 * cross.length() / (3.0_f64.sqrt() * most);
                for &i in &t {
                    areas[i].push((0.5 * cross.length() / smoke).powi(2));
                    shapes[i].extend((smoke == 1.0).then(|| quality.powi(-2)));
                    normal[i] += cross;
                    there[i] = true;
                    edges[i].extend(t.iter().filter(|&&o| o != i).map(|&o| at(o) - at(i)));
                }
            }
        }
    }
    let power = |x: &[f64], n: i32| x.iter().map(|x| x.powi(n)).sum::<f64>();
    let largest = |x: &[f64]| x.iter().copied().fold(0.0, f64::max);
    (0..n)
        .map(|i| {
            let area = (power(&areas[i], 5) / power(&areas[i], 4)).sqrt();
            let shape = if shapes[i].is_empty() { 1.0 } else { largest(&shapes[i]).powf(-0.5) };
            let unit = normal[i].normalize_or_zero();
            let bend = edges[i].iter().map(|e| unit.dot(e.normalize_or_zero()).abs());
            let bend = bend.fold(0.0, f64::max);
            let density =
                if opacity.linear { (k / area).min(1.0) } else { 1.0 - (-k / area).exp() };
            let curvature = (1.0 - f64::from(opacity.curvature) * bend).clamp(0.0, 1.0);
            let shape = shape.powf(f64::from(opacity.shape));
            let fade = f64::from(opacity.fade_at(sheet.life[i / rows]));
            let alpha = if there[i] { density * shape * curvature * fade } else { 0.0 };
            let [density, shape, curvature, fade, alpha] =
                [density, shape, curvature, fade, alpha].map(|x| x as f32);
            Terms { normal: unit.as_vec3().to_array(), density, shape, curvature, fade, alpha }
        })
        .collect()
}

/// A crumpled sheet with holes, for several sizes and settings.
#[test]
fn the_vector_code_agrees_with_a_plain_loop() {
    let mut state = 12_345_u64;
    let mut random = move || {
        state =
            state.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
        (state >> 40) as f32 / (1 << 24) as f32
    };
    let settings = [
        Opacity::default(),
        Opacity { linear: true, shape: 1.0, curvature: 2.0, fade: 0.0, fresh: 0.6 },
        Opacity { shape: 0.75, curvature: 0.0, fade: 1.0, ..Opacity::default() },
    ];
    for (count, rows, last_strip) in [(2, 2, 1.0), (5, 37, 0.5), (40, 19, 1.0)] {
        let mut columns = Vec::new();
        for i in 0..count {
            let mut block = vec![0.0; 4 * rows];
            for j in 0..rows {
                block[j] = i as f32 + 0.3 * random();
                block[rows + j] = j as f32 + 0.3 * random();
                block[2 * rows + j] = 0.8 * random();
                block[3 * rows + j] = if random() < 0.05 { 0.0 } else { 1.0 };
            }
            columns.extend(block);
        }
        let life = (0..count).map(|i| 1.0 - (i + 1) as f64 / count as f64).collect();
        let (end_strips, joined) = ([1.0, last_strip], Vec::new());
        let sheet = Sheet { rows, columns, life, end_strips, joined };
        for opacity in &settings {
            let mut fast = Shade::default();
            shade(&sheet, opacity, 0.2, &mut fast, &Run::default());
            for (i, plain) in terms_plainly(&sheet, opacity, 0.2).iter().enumerate() {
                let terms = fast.at(i / rows, i % rows);
                let off = [
                    terms.alpha - plain.alpha,
                    terms.normal[0] - plain.normal[0],
                    terms.normal[2] - plain.normal[2],
                ];
                assert!(off.iter().all(|d| d.abs() < 2e-5), "{i} of {rows}: {terms:?} {plain:?}");
            }
        }
    }
}

/// (7.7) on a cylinder of radius 1: 1 − b l / 2R with edges l across.
#[test]
fn curvature_of_a_cylinder_has_its_closed_form() {
    for l in [0.1_f64, 0.25, 0.5, 1.0] {
        let step = 2.0 * (l / 2.0).asin();
        let block = |i: i32| {
            let (s, c) = (step * f64::from(i)).sin_cos();
            [[c as f32; 5], [s as f32; 5], [0.0, 1.0, 2.0, 3.0, 4.0], [1.0; 5]].concat()
        };
        let columns: Vec<f32> = (-2..3).flat_map(block).collect();
        let sheet = Sheet {
            rows: 5,
            columns,
            life: vec![0.0; 5],
            end_strips: [1.0; 2],
            joined: Vec::new(),
        };
        let opacity = Opacity { curvature: 2.0, ..Opacity::default() };
        let mut shaded = Shade::default();
        shade(&sheet, &opacity, 0.1, &mut shaded, &Run::default());
        let found = f64::from(shaded.at(2, 2).curvature);
        assert!((found - (1.0 - l)).abs() < 1e-5, "{l}: {found}");
    }
}

/// The smoke of a steady flow is its stream surface: every row runs along one path, whatever was released when.
#[test]
fn streak_is_stream_in_a_steady_flow() {
    let flow = Flow::Analytic(Analytic::Hill);
    let seeds = line([-2.0, 0.1, -0.4], [-2.0, 0.3, 0.4]);
    let params = Params { columns: 40, rows: 9, dt: 0.04, seeds, ..Params::default() };
    let early = grown(&params, &flow, 40).surface(&flow, 0.0, &Run::default()).unwrap();
    let late = grown(&params, &flow, 97).surface(&flow, 0.0, &Run::default()).unwrap();
    for (a, b) in early.shape.positions.iter().zip(&late.shape.positions) {
        assert!((*a - *b).length() < 1e-6, "{a} {b}");
    }
    // And the oldest column is where a path of that length ends.
    let mut path = [crate::flow::advect::tracer([-2.0, 0.1, -0.4])];
    flow.advance([0.0, 39.0 * 0.04], &mut path, &Run::default()).unwrap();
    let end = early.shape.positions[0].as_dvec3();
    assert!((end - glam::DVec3::new(path[0][0], path[0][1], path[0][2])).length() < 1e-5, "{end}");
}

/// Twice and four times as fine in both directions: as much smoke at the same age.
#[test]
fn resolution_does_not_change_the_density() {
    let flow = Flow::Analytic(Analytic::Hill);
    let mut seen = Vec::new();
    for fine in [1, 2, 4] {
        let seeds = line([-2.0, 0.5, -0.4], [-2.0, 0.5, 0.4]);
        let dt = 0.04 / f64::from(fine);
        let (columns, rows) = (40 * fine as usize, 20 * fine as usize + 1);
        let params = Params { columns, rows, dt, seeds, ..Params::default() };
        let mesh = grown(&params, &flow, 39 * fine)
            .surface(&flow, 0.0, &Run::default())
            .unwrap()
            .into_mesh();
        // At age 0.8, in the middle of the column.
        let column = mesh.positions.len() / rows - 1 - 20 * fine as usize;
        seen.push(values(&mesh, "density")[column * rows + rows / 2]);
    }
    assert!(seen.iter().all(|d| (d - seen[2]).abs() < 0.01 * seen[2]), "{seen:?}");
}

#[test]
fn threads_and_resuming_change_no_bits() {
    let flow = Flow::Analytic(Analytic::Wake);
    let seeds = line([0.6, 0.1, 0.0], [0.6, 0.1, 4.0]);
    let params = Params { columns: 30, rows: 60, dt: 0.1, seeds, ..Params::default() };
    let smoke = grown(&params, &flow, 50);
    let alone = smoke.surface(&flow, 0.5, &Run::default()).unwrap().into_mesh();
    for threads in [1, 2, 8] {
        let pool = rayon::ThreadPoolBuilder::new().num_threads(threads).build().unwrap();
        let run = Run { threads: Some(&pool), ..Run::default() };
        let mut shared = Streak::new(&params, &flow, &run).unwrap();
        for step in 0..50 {
            shared.step(&flow, &run).unwrap();
            if step == 30 {
                // A look between two steps leaves nothing behind; a ring read back goes on as if it had not stopped.
                shared.surface(&flow, 0.3, &run).unwrap();
                let bytes = postcard::to_stdvec(shared.ring()).unwrap();
                let mut again = Streak::new(&params, &flow, &run).unwrap();
                again.resume(postcard::from_bytes(&bytes).unwrap()).unwrap();
                shared = again;
            }
        }
        assert!(
            shared.surface(&flow, 0.5, &run).unwrap().into_mesh() == alone,
            "{threads} threads"
        );
    }
}

#[test]
fn what_makes_no_smoke_is_refused() {
    let flow = Flow::Analytic(Analytic::Wake);
    let run = Run::default();
    let good = Params { seeds: line([0.6, 0.1, 0.0], [0.6, 0.1, 4.0]), ..Params::default() };
    let told = |params: Params| Streak::new(&params, &flow, &run).unwrap_err().to_string();
    assert!(told(Params { columns: 1, ..good.clone() }).contains("2 columns"));
    assert!(told(Params { columns: usize::MAX, ..good.clone() }).contains("vertices"));
    assert!(told(Params { dt: 0.0, ..good.clone() }).contains("not zero"));
    assert!(told(Params { seeds: Vec::new(), ..good.clone() }).contains("two points"));
    let inside = line([0.1, 0.1, 0.0], [0.1, 0.1, 4.0]);
    assert!(told(Params { seeds: inside, ..good.clone() }).contains("no seed lies in the fluid"));
    let smoke = Streak::new(&good, &flow, &run).unwrap();
    assert!(smoke.clone().resume(Ring::new(3, 3, 0.0)).is_err(), "another size");
}

/// What is released together, one after the other, or all at once in a flow that stands still: one surface.
#[test]
fn in_a_steady_flow_all_surfaces_are_one() {
    let flow = Flow::Analytic(Analytic::Hill);
    let seeds = line([-2.0, 0.1, -0.4], [-2.0, 0.3, 0.4]);
    let params = Params { columns: 40, rows: 9, dt: 0.04, seeds, ..Params::default() };
    let run = Run::default();
    let surfaces = [Growth::Streak, Growth::Path, Growth::Stream].map(|growth| {
        grown(&Params { growth, ..params.clone() }, &flow, 39).surface(&flow, 0.0, &run).unwrap()
    });
    for other in &surfaces[1..] {
        assert_eq!(other.size, [40, 9]);
        for (a, b) in surfaces[0].shape.positions.iter().zip(&other.shape.positions) {
            assert!((*a - *b).length() < 1e-6, "{a} {b}");
        }
    }
    // Between two steps the front of a path surface goes on.
    let path = Params { growth: Growth::Path, ..params };
    let part = grown(&path, &flow, 12).surface(&flow, 0.5, &run).unwrap();
    assert_eq!(part.size, [14, 9]);
    let mut front = [crate::flow::advect::tracer([-2.0, 0.1, -0.4])];
    flow.advance([0.0, 12.5 * 0.04], &mut front, &run).unwrap();
    let end = part.shape.positions[0].as_dvec3();
    assert!(
        (end - glam::DVec3::new(front[0][0], front[0][1], front[0][2])).length() < 1e-5,
        "{end}"
    );
}

/// Path lines, streak lines and stream lines of the oscillating stream (1, cos 2t, 0), each with its closed form.
#[test]
fn in_an_unsteady_flow_each_surface_has_its_own_closed_form() {
    let flow = Flow::Analytic(Analytic::Oscillating);
    let seeds = line([0.0; 3], [0.0, 0.0, 1.0]);
    let params = Params { columns: 60, rows: 3, dt: 0.05, start: 0.3, seeds, ..Params::default() };
    for (growth, steps) in [(Growth::Streak, 50), (Growth::Path, 50), (Growth::Stream, 50)] {
        let smoke = grown(&Params { growth, ..params.clone() }, &flow, steps);
        let now = smoke.time();
        let mesh = smoke.surface(&flow, 0.0, &Run::default()).unwrap().into_mesh();
        for (i, x) in mesh.positions.iter().enumerate() {
            let age = f64::from(values(&mesh, "age")[i]);
            let up = match growth {
                Growth::Streak => 0.5 * ((2.0 * now).sin() - (2.0 * (now - age)).sin()),
                Growth::Path => 0.5 * ((2.0 * (0.3 + age)).sin() - (2.0_f64 * 0.3).sin()),
                _ => (2.0 * now).cos() * age,
            };
            let off = (f64::from(x.x) - age).abs() + (f64::from(x.y) - up).abs();
            assert!(off < 2e-5, "{growth:?} at age {age}: {x}, {up}");
        }
    }
}

/// A patch in the turning flow: put in whole, put in anew when it is due, also between two steps.
#[test]
fn time_surfaces_are_put_in_whole_and_anew() {
    let flow = Flow::Analytic(Analytic::Oscillating);
    let corners = vec![[0.0; 3], [0.0, 0.0, 1.0], [2.0, 0.0, 1.0], [2.0, 0.0, 0.0]];
    let seeds = vec![SeedLine { points: corners, ..SeedLine::default() }];
    let opacity = Opacity { fade: 1.0, ..Opacity::default() };
    let growth = Growth::Time;
    let inject = Some(0.73);
    let params = Params {
        growth,
        columns: 21,
        rows: 11,
        dt: 0.1,
        seeds,
        inject,
        opacity,
        ..Params::default()
    };
    for (steps, share) in [(0, 0.0), (5, 0.25), (7, 0.0), (7, 0.5), (8, 0.0), (15, 0.9)] {
        let smoke = grown(&params, &flow, steps);
        let mesh = smoke.surface(&flow, share, &Run::default()).unwrap().into_mesh();
        assert_eq!(mesh.positions.len(), 21 * 11);
        let now = 0.1 * (f64::from(steps) + share);
        let born = 0.73 * (now / 0.73 + 1e-9).floor();
        let up = 0.5 * ((2.0 * now).sin() - (2.0 * born).sin());
        for (i, x) in mesh.positions.iter().enumerate() {
            let along = 0.1 * (i / 11) as f64 + now - born;
            let off = (f64::from(x.x) - along).abs() + (f64::from(x.y) - up).abs();
            assert!(off < 1e-5, "step {steps} + {share}: {x}");
            // Carried without being stretched, it has the density it was put in with.
            assert!(
                (values(&mesh, "density")[i] - 0.35).abs() < 1e-4,
                "{}",
                values(&mesh, "density")[i]
            );
            assert!((f64::from(values(&mesh, "born")[i]) - born).abs() < 1e-5, "step {steps}");
        }
    }
}

/// Smoke seen four times as high is the smoke of a flow four times as high.
#[test]
fn heights_are_scaled_in_the_mesh_alone() {
    let flow = Flow::Analytic(Analytic::Abc);
    let seeds = line([1.0, 1.0, 1.0], [1.0, 3.0, 2.0]);
    let params = Params { columns: 20, rows: 15, dt: 0.05, seeds, ..Params::default() };
    let run = Run::default();
    let flat = grown(&params, &flow, 30).surface(&flow, 0.0, &run).unwrap();
    let high = Params { vertical_scale: 4.0, ..params };
    let high = grown(&high, &flow, 30).surface(&flow, 0.0, &run).unwrap();
    for (a, b) in flat.shape.positions.iter().zip(&high.shape.positions) {
        assert!((*a * glam::Vec3::new(1.0, 1.0, 4.0) - *b).length() < 1e-5, "{a} {b}");
    }
    // Fresh smoke is as dense as was asked for in what is seen.
    let mesh = high.into_mesh();
    let density = values(&mesh, "density");
    let newest: Vec<f32> = density[density.len() - 15..].to_vec();
    assert!(newest.iter().all(|d| (0.15..0.6).contains(d)), "{newest:?}");
}

/// 1, 4 and 16 times the vertices: the opacity at a given age is within 1 %, also where the strain changes within a cell.
#[test]
fn resolution_does_not_change_the_opacity() {
    let flow = Flow::Analytic(Analytic::Hill);
    let opacity = Opacity { curvature: 0.0, ..Opacity::default() };
    for back in [4, 8, 14, 20, 26, 32] {
        let seen = [1, 2, 4].map(|fine: usize| {
            let seeds = line([-2.0, 0.6, -0.4], [-2.0, 0.6, 0.4]);
            let (columns, rows) = (40 * fine, 20 * fine + 1);
            let dt = 0.04 / fine as f64;
            let params = Params { columns, rows, dt, seeds, opacity, ..Params::default() };
            let steps = 39 * fine as u32;
            let mesh = grown(&params, &flow, steps).surface(&flow, 0.0, &Run::default());
            let mesh = mesh.unwrap().into_mesh();
            let column = mesh.positions.len() / rows - 1 - back * fine;
            values(&mesh, ALPHA)[column * rows + rows / 2]
        });
        assert!(seen.iter().all(|a| (a - seen[2]).abs() < 0.01 * seen[2]), "{back}: {seen:?}");
    }
}

/// The ring neither grows nor moves: after ten thousand releases it is as large as after a hundred.
#[test]
fn ten_thousand_frames_cost_what_a_hundred_cost() {
    let flow = Flow::Analytic(Analytic::Uniform);
    let seeds = line([0.0; 3], [0.0, 1.0, 0.0]);
    let params = Params { columns: 50, rows: 4, dt: 0.01, seeds, ..Params::default() };
    let run = Run::default();
    let mut smoke = Streak::new(&params, &flow, &run).unwrap();
    let mut bytes = Vec::new();
    for step in 1..=10_000 {
        smoke.step(&flow, &run).unwrap();
        if step == 100 || step == 10_000 {
            let surface = smoke.surface(&flow, 0.0, &run).unwrap();
            bytes.push((smoke.ring().bytes(), surface.shape.positions.len()));
            // Times come from the number of the release: no error adds up.
            let oldest = surface.shape.positions[0];
            assert!((oldest.x - 0.49).abs() < 1e-5, "{step}: {oldest}");
        }
    }
    assert_eq!(bytes[0], bytes[1]);
}
