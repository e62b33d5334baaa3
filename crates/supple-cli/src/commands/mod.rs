//! The subcommands, one file each.

pub(crate) mod bake;
pub(crate) mod blend;
pub(crate) mod check;
pub(crate) mod completions;
pub(crate) mod convert;
pub(crate) mod deform;
pub(crate) mod demo;
pub(crate) mod flow;
mod folds;
pub(crate) mod info;
pub(crate) mod new;
mod number;
mod one_shot;
pub(crate) mod procdef;
pub(crate) mod remesh;
pub(crate) mod render;
pub(crate) mod schema;
pub(crate) mod skin;
pub(crate) mod smoke;
pub(crate) mod tetrahedralize;
pub(crate) mod zoo;

use std::path::Path;

use anyhow::Context as _;
use clap::{Parser, Subcommand};
use supple::io::{self, ReadOptions};
use supple::mesh::folding::Folding;
use supple::{Asset, TriMesh};

pub(crate) use self::number::number;
use crate::bench;
use crate::shell::{GlobalArgs, Shell};

/// Deformation that keeps volume: for characters, shapes and flows
#[derive(Debug, Parser)]
#[command(name = "supple", version, propagate_version = true, max_term_width = 100)]
pub(crate) struct Cli {
    #[command(flatten)]
    pub(crate) global: GlobalArgs,
    #[command(subcommand)]
    pub(crate) command: Command,
}

/// What to do.
#[derive(Debug, Subcommand)]
pub(crate) enum Command {
    Demo(demo::Args),
    New(new::Args),
    Bake(bake::Args),
    Deform(deform::Args),
    Remesh(remesh::Args),
    Tetrahedralize(tetrahedralize::Args),
    Skin(skin::Args),
    Blend(blend::Args),
    Smoke(smoke::Args),
    Procdef(procdef::Args),
    Info(info::Args),
    Check(check::Args),
    Render(render::Args),
    Convert(convert::Args),
    Zoo(zoo::Args),
    Schema(schema::Args),
    Bench(bench::Args),
    Completions(completions::Args),
}

/// Reads a file and tells of its warnings.
pub(crate) fn read(path: &Path, shell: &Shell) -> anyhow::Result<Asset> {
    let options = ReadOptions { allow_outside: shell.options().allow_outside };
    let loaded = io::read(path, &options)?;
    shell.warn(&path.display().to_string(), &loaded.warnings);
    Ok(loaded.asset)
}

/// Counts the self-intersections before and after an operation.
pub(crate) fn folding(before: &TriMesh, after: &TriMesh, shell: &Shell) -> anyhow::Result<Folding> {
    let shapes = [before, after].map(|mesh| (&mesh.positions[..], &mesh.triangles[..]));
    let [before, after] = shapes;
    Ok(shell.with_progress("self-intersections", |run| Folding::between(before, after, run))?)
}

/// The whole asset as one mesh, in the pose its file gives it; a point cloud is a mesh without
/// triangles.
pub(crate) fn rest_mesh(path: &Path, asset: Asset, shell: &Shell) -> anyhow::Result<TriMesh> {
    let mesh = asset.with_clouds_as_meshes().into_rest_mesh(&shell.quiet_run());
    mesh.with_context(|| path.display().to_string())
}
