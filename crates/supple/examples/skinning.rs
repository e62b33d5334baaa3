//! Bends a bar by up to 150°, plainly and with its volume kept: `cargo run --release -p supple --example skinning`.

#![expect(clippy::print_stdout, reason = "a program that tells what it found")]

use glam::Quat;
use supple::mesh::volume::volume;
use supple::rig::{Body, Skinning, Transform};
use supple::{Run, skinning, zoo};

fn main() -> Result<(), Box<dyn std::error::Error>> {
    let run = Run::default();
    let bar = zoo::build("rigged-bar", &zoo::Size { triangles: Some(2000) }, &run)?;
    let body = Body::from_asset(&bar)?;
    let solver = skinning::Solver::new(&body, &skinning::Params::default(), &run)?;
    let mut pose = body.rest_pose().clone();
    let rest = volume(&body.mesh.positions, &body.mesh.triangles, &run);
    for degrees in [0.0_f32, 30.0, 60.0, 90.0, 120.0, 150.0] {
        if let Transform::Trs { rotation, .. } = &mut pose.locals[1] {
            *rotation = Quat::from_rotation_z(degrees.to_radians());
        }
        let matrices = body.matrices(&pose);
        let plain = body.skin(&pose, &matrices, Skinning::Linear, &run);
        let kept = solver.pose(&body, &pose, &matrices, Skinning::Linear, &run)?.positions;
        let change =
            |x: &[glam::Vec3]| 100.0 * (volume(x, &body.mesh.triangles, &run) / rest - 1.0);
        println!("{degrees:3}°: plain {:+.3} %, kept {:+.6} %", change(&plain), change(&kept));
    }
    Ok(())
}
