//! Smoke in the ABC flow, written as a mesh with its opacity: `cargo run --release -p supple --example smoke`.

#![expect(clippy::print_stdout, reason = "a program that tells what it found")]

use std::path::Path;

use supple::flow::{Flow, analytic::Analytic};
use supple::smoke::{Params, SeedLine, Streak};
use supple::{Asset, Run, io};

fn main() -> Result<(), Box<dyn std::error::Error>> {
    let run = Run::default();
    let flow = Flow::Analytic(Analytic::Abc);
    let line = SeedLine { points: vec![[1.0, 1.0, 1.0], [1.0, 5.0, 1.0]], ..SeedLine::default() };
    let params =
        Params { columns: 200, rows: 120, dt: 0.05, seeds: vec![line], ..Params::default() };
    let mut smoke = Streak::new(&params, &flow, &run)?;
    for _ in 0..120 {
        smoke.step(&flow, &run)?;
    }
    let mesh = smoke.surface(&flow, 0.0, &run)?.into_mesh();
    println!("{} vertices of smoke in smoke.ply", mesh.positions.len());
    io::write(Path::new("smoke.ply"), &Asset::from_mesh(mesh))?;
    Ok(())
}
