//! Places masses in a boxer, plays his punches and says how much of him swings:
//! `cargo run --release -p supple --example secondary`.

#![expect(clippy::print_stdout, reason = "a program that tells what it found")]

use std::path::Path;

use supple::player::Player;
use supple::scene::{Folder, Scene, Source, starter};
use supple::{Run, zoo};

fn main() -> Result<(), Box<dyn std::error::Error>> {
    let run = Run::default();
    let boxer = zoo::build("boxer", &zoo::Size { triangles: Some(6000) }, &run)?;
    // The document that `supple new boxer.glb` writes.
    let scene = Scene::parse(&starter("boxer.glb", &boxer, &run), None)?;
    let mut load = |_: &Source| Ok(boxer.clone());
    let mut player = Player::new(&scene, &Folder::new(Path::new(".")), &mut load, &run)?;
    for i in 0..player.frames() {
        let frame = player.frame(i, &run)?;
        let moved: f64 = frame.report.figure(0, "secondary", "moved").sum();
        println!("{:5.2} s: {moved} vertices swing", frame.secs);
    }
    Ok(())
}
