//! What a blend is written as: a shape, a take, a sequence, a picture or a video.

use std::fs::File;
use std::io::{self as stdio, BufWriter};
use std::path::Path;

use anyhow::{Context as _, bail};
use clap::Parser as _;
use glam::Vec3;
use supple::Asset;
use supple::bake::{WRITERS, Writer};
use supple::io::{self, Take};
use supple::mesh::attribute::NORMAL;
use supple::mesh::normals::vertex_normals;
use supple::mesh::tangents;
use supple::mesh::{TetMesh, TriMesh, Values};
use supple::scene::Format;

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
        return shape(&args.output, inputs, positions, shell);
    }
    let format = Format::ALL.iter().find(|f| f.0 == ending).map(|f| f.1);
    match WRITERS.iter().find(|w| Some(w.0) == format).map(|w| w.1) {
        Some(writer @ (Writer::Together(_) | Writer::Each(_))) => {
            take(&args.output, writer, args.fps, inputs, player, shell)
        }
        _ => sequence(&args.output, inputs, player, shell),
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
    let before = std::mem::replace(&mut mesh.positions, positions);
    tangents::follow(mesh, &before);
    if mesh.attributes.normals().is_some() {
        let normals = vertex_normals(&mesh.positions, &mesh.triangles, &supple::Run::default());
        mesh.attributes.set(NORMAL, Values::Vec3(normals));
    }
    // Split normals of the base do not fit the blend.
    mesh.corners.retain(|c| c.name != NORMAL);
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
            let numbered = path.with_extension(format!("{k:04}.{ending}"));
            shape(&numbered, inputs, positions, shell)?;
            run.report(k as u64 + 1, frames as u64);
        }
        Ok(())
    })
}

fn take(
    path: &Path,
    writer: Writer,
    fps: f64,
    inputs: &Inputs,
    player: &mut Player<'_>,
    shell: &Shell,
) -> anyhow::Result<()> {
    let frames = player.frames.len();
    // Writers may ask for frames twice, but a blend that touches depends on the one before: play once.
    let all = shell.with_progress("blending", |run| {
        let mut all = Vec::with_capacity(frames);
        for k in 0..frames {
            all.push(player.at(k)?);
            run.report(k as u64 + 1, frames as u64);
        }
        anyhow::Ok(all)
    })?;
    let (asset, nodes) = if inputs.tets.is_empty() {
        (inputs.asset.clone(), Vec::new())
    } else {
        (moved(inputs, inputs.base.clone()), skin_nodes(inputs))
    };
    let mut positions = |i: u32, to: &mut [Vec3]| {
        let all = &all[i as usize];
        if nodes.is_empty() {
            to.copy_from_slice(all);
        } else {
            to.iter_mut().zip(&nodes).for_each(|(to, &v)| *to = all[v as usize]);
        }
        Ok(())
    };
    let take = Take {
        asset: &asset,
        fps,
        first_frame: 0,
        frames: frames as u32,
        positions: &mut positions,
    };
    let mut takes = [take];
    let write = |out: &mut BufWriter<File>| match writer {
        Writer::Together(write) => write(&mut takes, out),
        Writer::Each(write) => write(&mut takes[0], out),
        Writer::Sequence(_) => Err(stdio::Error::other("not a format of takes")),
    };
    io::save(path, write).with_context(|| format!("cannot write {}", path.display()))
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
        let writer = WRITERS
            .iter()
            .find(|w| Some(w.0) == Format::ALL.iter().find(|f| f.0 == "glb").map(|f| f.1));
        match writer {
            Some((_, writer)) => take(&file, *writer, args.fps, inputs, player, shell),
            None => bail!("there is no writer for .glb"),
        }
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
