//! What a blend is written as: a shape, a take, a sequence, a picture or a video.

use std::io as stdio;
use std::path::Path;

use anyhow::{Context as _, bail};
use clap::Parser as _;
use glam::Vec3;
use supple::Asset;
use supple::bake::{TakeOf, holds_takes, write_take};
use supple::io;
use supple::mesh::surface_frames::SurfaceFrames;
use supple::mesh::{TetMesh, TriMesh};

use super::Args;
use super::inputs::Inputs;
use super::player::Player;
use crate::commands::{Cli, Command};
use crate::shell::Shell;

/// Endings that the renderer makes.
const PICTURES: [&str; 7] = ["png", "webp", "gif", "mp4", "mov", "mkv", "webm"];

pub(super) fn write(
    args: &Args,
    inputs: &Inputs,
    player: &mut Player<'_>,
    shell: &Shell,
) -> anyhow::Result<()> {
    let ending = args.output.extension().unwrap_or_default().to_string_lossy().to_lowercase();
    let is_last_only = args.weights.is_some();
    if PICTURES.contains(&ending.as_str()) {
        return picture(args, inputs, player, is_last_only, shell);
    }
    if is_last_only || player.frames.len() == 1 {
        let positions = last(player)?;
        player.writes(player.frames.len() - 1, &positions);
        return shape(&args.output, inputs, positions, shell);
    }
    match holds_takes(&args.output) {
        true => take(&args.output, args.fps, inputs, player, shell),
        false => sequence(&args.output, inputs, player, shell),
    }
}

/// All frames are played, the last is kept: what is touched depends on the way.
fn last(player: &mut Player<'_>) -> anyhow::Result<Vec<Vec3>> {
    let mut positions = Vec::new();
    for k in 0..player.frames.len() {
        positions = player.at(k)?;
    }
    Ok(positions)
}

/// The base with other positions.
pub(super) fn moved(inputs: &Inputs, positions: Vec<Vec3>) -> Asset {
    let mut asset = inputs.asset.clone();
    let mesh = &mut asset.meshes[0];
    if !inputs.tets.is_empty() {
        *mesh = skin(inputs, &positions);
        return asset;
    }
    SurfaceFrames::of(mesh).place(mesh, positions, &supple::Run::default());
    asset
}

/// The vertices of a body's surface: files of surfaces need no others.
fn skin_nodes(inputs: &Inputs) -> Vec<u32> {
    let mut nodes = inputs.asset.meshes[0].triangles.as_flattened().to_vec();
    nodes.sort_unstable();
    nodes.dedup();
    nodes
}

/// The surface of a body of tets.
fn skin(inputs: &Inputs, positions: &[Vec3]) -> TriMesh {
    let (mesh, nodes) = (&inputs.asset.meshes[0], skin_nodes(inputs));
    let name = |v: u32| nodes.binary_search(&v).unwrap_or_default() as u32;
    let positions = nodes.iter().map(|&v| positions[v as usize]).collect();
    let triangles = mesh.triangles.iter().map(|t| t.map(name)).collect();
    TriMesh { name: mesh.name.clone(), ..TriMesh::new(positions, triangles) }
}

fn shape(path: &Path, inputs: &Inputs, positions: Vec<Vec3>, shell: &Shell) -> anyhow::Result<()> {
    let is_body = !inputs.tets.is_empty() && io::TetFormat::of(path).is_some();
    let warnings = if is_body {
        let mesh = &inputs.asset.meshes[0];
        let (name, attributes) = (mesh.name.clone(), mesh.attributes.clone());
        let body = TetMesh::new(positions, inputs.tets.clone());
        io::write_tets(path, &TetMesh { name, attributes, ..body })?
    } else {
        io::write(path, &moved(inputs, positions))?
    };
    shell.warn(&path.display().to_string(), &warnings);
    Ok(())
}

/// `out/b.0000.obj, out/b.0001.obj, …`.
fn sequence(
    path: &Path,
    inputs: &Inputs,
    player: &mut Player<'_>,
    shell: &Shell,
) -> anyhow::Result<()> {
    let ending = path.extension().unwrap_or_default().to_string_lossy().into_owned();
    let frames = player.frames.len();
    if let Some(folder) = path.parent().filter(|f| !f.as_os_str().is_empty()) {
        std::fs::create_dir_all(folder)
            .with_context(|| format!("cannot make {}", folder.display()))?;
    }
    shell.with_progress("blending", |run| {
        for k in 0..frames {
            let positions = player.at(k)?;
            player.writes(k, &positions);
            let numbered = path.with_extension(format!("{k:04}.{ending}"));
            shape(&numbered, inputs, positions, shell)?;
            run.report(k as u64 + 1, frames as u64);
        }
        Ok(())
    })
}

fn take(
    path: &Path,
    fps: f64,
    inputs: &Inputs,
    player: &mut Player<'_>,
    shell: &Shell,
) -> anyhow::Result<()> {
    let frames = player.frames.len() as u32;
    let (asset, nodes) = if inputs.tets.is_empty() {
        (inputs.asset.clone(), Vec::new())
    } else {
        (moved(inputs, inputs.base.clone()), skin_nodes(inputs))
    };
    let written = shell.with_progress("blending", |run| {
        let mut make = |k: u32| {
            let all = player.at(k as usize).map_err(stdio::Error::other)?;
            player.writes(k as usize, &all);
            run.report(u64::from(k) + 1, u64::from(frames));
            let shown = nodes.iter().map(|&v| all[v as usize]).collect();
            Ok(if nodes.is_empty() { all } else { shown })
        };
        write_take(path, TakeOf { asset: &asset, fps, frames }, &mut make)
    });
    written.with_context(|| format!("cannot write {}", path.display()))
}

/// Through a take in a folder of its own, and the renderer.
fn picture(
    args: &Args,
    inputs: &Inputs,
    player: &mut Player<'_>,
    is_last_only: bool,
    shell: &Shell,
) -> anyhow::Result<()> {
    let folder = args.output.with_extension("blend-take");
    std::fs::create_dir_all(&folder)
        .with_context(|| format!("cannot make {}", folder.display()))?;
    let file = folder.join("blend.glb");
    let made = if is_last_only || player.frames.len() == 1 {
        last(player).and_then(|positions| shape(&file, inputs, positions, shell))
    } else {
        take(&file, args.fps, inputs, player, shell)
    };
    let rendered = made.and_then(|()| {
        let line = ["supple", "render"].map(std::ffi::OsString::from);
        let rest =
            [file.clone().into_os_string(), "-o".into(), args.output.clone().into_os_string()];
        match Cli::try_parse_from(line.into_iter().chain(rest))?.command {
            Command::Render(render) => crate::commands::render::run(&render, shell).map(drop),
            _ => bail!("not a picture"),
        }
    });
    // Best effort: what remains is one file beside the output.
    let _ = std::fs::remove_dir_all(&folder);
    rendered
}
