//! `supple demo`: built-in scenes, from nothing to files other programs open.

mod page;
mod remeshed;
mod scenes;

use std::io::Write as _;
use std::path::{Path, PathBuf};
use std::process::ExitCode;

use anyhow::{Context as _, bail};
use serde::Serialize;
use supple::bake::{self, Summary};
use supple::scene::{Folder, Scene};
use supple_gpu::Renderer;
use supple_gpu::sheet::spread_frames;

use self::scenes::{DEMOS, Demo};
use super::bake::bake_scene;
use super::render::played::PlayedScene;
use super::render::{self, Behind, Look, Sheet};
use crate::shell::Shell;

/// Play the built-in scenes: each gives a GLB that any viewer opens, a picture and a report
///
/// One page, index.html, holds the pictures with the reports.
#[derive(clap::Args, Debug)]
pub(crate) struct Args {
    /// Which scene; all of them if not given
    name: Option<String>,
    /// Folder to write to
    #[arg(short, long, value_name = "DIR", default_value = "supple-demo")]
    output: PathBuf,
}

/// How many frames of a scene its picture shows.
const PICTURED: usize = 4;

/// What came of a demo, under the names it has in JSON.
#[derive(Debug, Serialize)]
struct Played {
    demo: &'static str,
    part: &'static str,
    what: &'static str,
    files: Vec<PathBuf>,
    picture: Option<PathBuf>,
    frames: u32,
    triangles: usize,
    bodies: Vec<Summary>,
    /// Anything else worth a line.
    notes: Vec<String>,
}

pub(crate) fn run(args: &Args, shell: &Shell) -> anyhow::Result<ExitCode> {
    let wanted = |demo: &&Demo| {
        let short = demo.name.strip_prefix("procdef-");
        args.name.as_deref().is_none_or(|name| name == demo.name || Some(name) == short)
    };
    let demos: Vec<_> = DEMOS.iter().filter(wanted).collect();
    let remesh = args.name.as_deref().is_none_or(|name| name == remeshed::NAME);
    if demos.is_empty() && !remesh {
        let mut names: Vec<_> = DEMOS.iter().map(|demo| demo.name).collect();
        names.push(remeshed::NAME);
        bail!("no demo '{}'; there are {}", args.name.as_deref().unwrap_or(""), names.join(", "));
    }
    std::fs::create_dir_all(&args.output)
        .with_context(|| format!("cannot make the folder {}", args.output.display()))?;
    let mut renderer = match Renderer::new() {
        Ok(renderer) => Some(renderer),
        Err(error) => {
            shell.warn("no pictures", &[error]);
            None
        }
    };
    let mut played = Vec::new();
    for demo in demos {
        played.push(play(demo, &args.output, renderer.as_mut(), shell)?);
    }
    if remesh {
        played.push(remeshed::play(&args.output, renderer.as_mut(), shell)?);
    }
    let page = args.output.join("index.html");
    page::write(&page, &played)?;
    shell.say(format!("all of it on one page: {}", page.display()));
    Ok(ExitCode::SUCCESS)
}

/// Writes the scene, bakes it, takes its picture, and tells what came of it.
fn play(
    demo: &Demo,
    output: &Path,
    renderer: Option<&mut Renderer>,
    shell: &Shell,
) -> anyhow::Result<Played> {
    let folder = Folder::new(output);
    let scene = Scene::parse(demo.document, Some(&folder))
        .map_err(|problem| anyhow::anyhow!("scene {}: {problem}", demo.name))?;
    let document = output.join(format!("{}.toml", demo.name));
    supple::io::save(&document, |out| out.write_all(demo.document.as_bytes()))
        .with_context(|| format!("cannot write {}", document.display()))?;
    let (baked, player) = bake_scene(&scene, &folder, output, &bake::Options::default(), shell)?;
    let mut played = PlayedScene::of(player, shell);
    let picture = match renderer {
        Some(renderer) => Some(picture(demo, &mut played, output, renderer, shell)?),
        None => None,
    };
    let meshes = played.player().cast().iter().map(|cast| cast.rest.meshes[0].triangles.len());
    let played = Played {
        demo: demo.name,
        part: demo.part,
        what: demo.what,
        files: [vec![document], baked.files].concat(),
        picture,
        frames: baked.frames.len() as u32,
        triangles: meshes.sum(),
        bodies: baked.bodies,
        notes: baked.warnings,
    };
    tell(&played, shell)?;
    Ok(played)
}

/// A few frames of the scene on one sheet.
fn picture(
    demo: &Demo,
    played: &mut PlayedScene,
    output: &Path,
    renderer: &mut Renderer,
    shell: &Shell,
) -> anyhow::Result<PathBuf> {
    let look = Look {
        size: demo.size,
        show: demo.show.to_vec(),
        // Everything is to be seen: the scene's camera only says from where.
        from: played.camera().map(|camera| camera.back()),
        // White smoke is seen on dark ground.
        backdrop: if demo.part == "Smoke" { Behind::Dark } else { Behind::default() },
        ..Look::default()
    };
    let frames = demo.frames.start..demo.frames.end.min(played.frames());
    let frames: Vec<u32> = spread_frames(frames.len(), PICTURED)
        .into_iter()
        .map(|i| frames.start + i as u32)
        .collect();
    let columns = if demo.size[1] > demo.size[0] { PICTURED as u32 } else { 0 };
    let layout = Sheet { frames: &frames, columns };
    let sheet = render::sheet_of(played, &layout, &look, renderer, shell)?;
    let path = output.join(format!("{}.png", demo.name));
    render::write(&sheet, &path)?;
    Ok(path)
}

fn tell(played: &Played, shell: &Shell) -> anyhow::Result<()> {
    if shell.options().json {
        return shell.print_json(played);
    }
    shell.say(format!("{}: {}", played.demo, played.what));
    shell.say(format!("  {} frames of {} triangles", played.frames, played.triangles));
    for file in played.files.iter().chain(&played.picture) {
        shell.say(format!("  {}", file.display()));
    }
    Ok(())
}
