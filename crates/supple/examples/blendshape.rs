//! Blends a bar to a bent one, along straight lines and as springs: `cargo run --release -p supple --example blendshape`.

#![expect(clippy::print_stdout, reason = "a program that tells what it found")]

use glam::Vec3;
use supple::blendshape::{History, Params, Shapes, Solver};
use supple::mesh::volume::volume;
use supple::{Run, zoo};

fn main() -> Result<(), Box<dyn std::error::Error>> {
    let run = Run::default();
    let bar = zoo::build("bar", &zoo::Size { triangles: Some(1500) }, &run)?.meshes.remove(0);
    let bent: Vec<Vec3> = bar.positions.iter().map(|x| bend(*x, 150.0)).collect();
    let shapes = Shapes::of_surface(&bar.triangles, &bar.positions, vec![&bent]);
    let solver = Solver::new(&shapes, &Params::default(), &run)?;
    let rest = volume(&bar.positions, &bar.triangles, &run);
    let percent = |x: &[Vec3]| 100.0 * (volume(x, &bar.triangles, &run) / rest - 1.0);
    let mut history = History::default();
    for weight in [0.25, 0.5, 0.75, 1.0] {
        let blend = solver.solve(&[weight], &mut history, &run)?;
        let pairs = bar.positions.iter().zip(&bent);
        let straight: Vec<Vec3> = pairs.map(|(a, b)| a.lerp(*b, weight as f32)).collect();
        println!(
            "{weight}: volume {:+.2} % as springs, {:+.2} % along straight lines",
            percent(&blend.positions),
            percent(&straight)
        );
    }
    Ok(())
}

/// Bends the x axis, from −2 to 2, to an arc.
fn bend(x: Vec3, degrees: f32) -> Vec3 {
    let radius = 4.0 / degrees.to_radians();
    let angle = x.x / radius;
    Vec3::new((radius - x.y) * angle.sin(), radius - (radius - x.y) * angle.cos(), x.z)
}
