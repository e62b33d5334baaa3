//! Remeshing, which is no scene: a pulled shape before and after.

use std::path::Path;

use anyhow::Context as _;
use glam::Vec3;
use supple::asset::Asset;
use supple::mesh::remesh::{self, Params};
use supple::sculpt::{self, Move, Op};
use supple::{TriMesh, io, zoo};
use supple_gpu::Renderer;
use supple_gpu::compare::{Comparison, before_after};
use supple_gpu::view::{Body, Wireframe};

use super::{Played, tell};
use crate::commands::render;
use crate::shell::Shell;

pub(super) const NAME: &str = "remesh";

/// Pulls a ball out of shape, gives it even triangles, and takes a picture of both.
pub(super) fn play(
    output: &Path,
    renderer: Option<&mut Renderer>,
    shell: &Shell,
) -> anyhow::Result<Played> {
    let pulled = pulled(shell)?;
    let (even, report) = shell
        .with_progress("remeshing", |run| remesh::remesh(&pulled, &Params::default(), run))
        .context("remeshing")?;
    let files = ["remesh-before.ply", "remesh-after.ply"].map(|name| output.join(name));
    for (file, mesh) in files.iter().zip([&pulled, &even]) {
        io::write(file, &Asset::from_mesh(mesh.clone()))?;
    }
    let picture = match renderer {
        Some(renderer) => {
            let [before, after] = [&pulled, &even]
                .map(|mesh| Body { wireframe: Some(Wireframe::default()), ..Body::new(mesh) });
            let how = Comparison { panel: [800, 540], ..Comparison::default() };
            let image = before_after(renderer, &[before], &[after], &how)?;
            let path = output.join("remesh.png");
            render::write(&image, &path)?;
            Some(path)
        }
        None => None,
    };
    let played = Played {
        demo: NAME,
        part: "Meshes",
        what: "A ball pulled far out of shape, before and after it was given even triangles.",
        files: files.to_vec(),
        picture,
        frames: 1,
        triangles: report.triangles_after,
        bodies: Vec::new(),
        notes: vec![format!(
            "{} triangles before, {} after",
            report.triangles_before, report.triangles_after
        )],
    };
    tell(&played, shell)?;
    Ok(played)
}

/// A ball with a long horn.
fn pulled(shell: &Shell) -> anyhow::Result<TriMesh> {
    let run = shell.quiet_run();
    let size = zoo::Size { triangles: Some(20_480) };
    let mut ball = zoo::build("ball", &size, &run)?.meshes.remove(0);
    let horn = Move {
        center: 0.9 * Vec3::X,
        by: vec![Vec3::new(1.2, 0.4, 0.0)],
        inner: 0.3,
        outer: 1.0,
        ..Move::default()
    };
    let params = sculpt::Params::default();
    sculpt::apply(&mut ball.positions, &ball.triangles, &[Op::Move(horn)], &params, &run)?;
    Ok(ball)
}
