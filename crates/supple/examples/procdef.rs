//! A bar of tissue contracts along its length and lets go: `cargo run --release -p supple --example procdef`.

#![expect(clippy::print_stdout, reason = "a program that tells what it found")]

use glam::Vec3;
use supple::Run;
use supple::procdef::{Body, Drive, Motion, State, Stretches, Work};
use supple::zoo::tet_bodies;

fn main() -> Result<(), Box<dyn std::error::Error>> {
    let run = Run::default();
    let bar = tet_bodies::build("bar", None)?;
    let body = Body::new(&bar)?;
    let motion = Motion::default();
    let (mut state, mut work) = (State::at_rest(&body), Work::default());
    for tick in 0..240_u32 {
        // Half as long in the first second, as it was in the next.
        let along = if tick < 120 { 0.5 } else { 1.0 };
        let across = f32::sqrt(1.0 / along);
        let mut stretches = Stretches::ones(&body);
        for v in 0..bar.positions.len() {
            let axes = [Vec3::X, Vec3::Y, Vec3::Z];
            stretches.set(&body, v, axes, Vec3::new(along, across, across));
        }
        body.tick(&motion, &Drive::by(&stretches), &mut state, &mut work, &run);
        if tick % 24 == 23 {
            let x = body.positions(&state);
            let ends = x.iter().fold([f32::INFINITY, f32::NEG_INFINITY], |[low, high], p| {
                [low.min(p.x), high.max(p.x)]
            });
            println!("{:4.1} s: {:.3} long", f64::from(tick + 1) / 120.0, ends[1] - ends[0]);
        }
    }
    Ok(())
}
