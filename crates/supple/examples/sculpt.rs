//! Pushes a tool into a ball, twists a bar, and writes both: `cargo run --release -p supple --example sculpt`.

#![expect(clippy::print_stdout, reason = "a program that tells what it found")]

use std::path::Path;

use glam::Vec3;
use supple::sculpt::{self, Move, Op, Params, Twist};
use supple::{Asset, Run, io, zoo};

fn main() -> Result<(), Box<dyn std::error::Error>> {
    let run = Run::default();
    let params = Params { exact_volume: true, ..Params::default() };
    let push = Move {
        center: 1.4 * Vec3::Z,
        by: vec![-1.2 * Vec3::Z],
        inner: 0.3,
        outer: 1.2,
        ..Move::default()
    };
    let twist = Twist { axis: Vec3::X, degrees: 180.0, from: -2.0, to: 2.0, ..Twist::default() };
    for (name, op) in [("ball", Op::Move(push)), ("bar", Op::Twist(twist))] {
        let mut mesh = zoo::build(name, &zoo::Size::default(), &run)?.meshes.remove(0);
        let done = sculpt::apply(&mut mesh.positions, &mesh.triangles, &[op], &params, &run)?;
        let error = done.report.volume_error();
        println!("{name}: {} vertices moved, volume off by {error:.1e}", done.report.moved);
        io::write(Path::new(&format!("{name}.ply")), &Asset::from_mesh(mesh))?;
    }
    Ok(())
}
