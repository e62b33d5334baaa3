//! Where the frames go.

use std::ops::Range;
use std::path::{Path, PathBuf};

use anyhow::bail;
use supple::mesh::Values;
use supple::mesh::attribute::COLOR;
use supple::smoke::style::{self, Lines};
use supple::smoke::{self, Streak, Surface};
use supple::{Asset, io};
use supple_gpu::Renderer;
use supple_gpu::encode::{self, Animation};

use super::Args;
use super::cast::Cast;
use super::picture::{Camerawork, Seen};
use crate::shell::Shell;

/// Frames a second of video.
const FPS: f32 = 24.0;

/// What the ending of the output asks for.
pub(super) enum Output {
    /// The last frame.
    Picture(PathBuf),
    Animation(PathBuf),
    /// A mesh a frame, and the list of them for `.pvd`.
    Meshes(PathBuf),
}

impl Output {
    /// Says what is wrong with a name before any work is done for it.
    pub(super) fn check(path: &Path) -> anyhow::Result<Self> {
        let ending = path.extension().unwrap_or_default().to_string_lossy().to_ascii_lowercase();
        let kind = match ending.as_str() {
            "png" => Self::Picture,
            "webp" | "gif" | "mp4" | "mov" | "mkv" | "webm" => Self::Animation,
            "ply" | "glb" | "obj" | "pvd" => Self::Meshes,
            _ => bail!(
                "{}: unknown kind of file; use .png, .webp, .gif, .mp4, .ply, .glb, .obj or .pvd",
                path.display()
            ),
        };
        if matches!(ending.as_str(), "mp4" | "mov" | "mkv" | "webm") {
            encode::check(path)?;
        }
        if let Some(folder) = path.parent().filter(|folder| !folder.as_os_str().is_empty()) {
            std::fs::create_dir_all(folder)?;
        }
        Ok(kind(path.to_owned()))
    }

    pub(super) fn write(
        &self,
        cast: &Cast,
        args: &Args,
        shell: &Shell,
    ) -> anyhow::Result<Vec<PathBuf>> {
        let frames = args.frames.clone().unwrap_or(0..cast.frames());
        match self {
            Self::Picture(path) => {
                let mut renderer = Renderer::new()?;
                let mut last = Vec::new();
                for_frames(cast, args, frames.end - 1..frames.end, shell, |_, surfaces| {
                    last = surfaces.to_vec();
                    Ok(())
                })?;
                let mut seen = Seen::default();
                seen.look(cast, args, &last, shell)?;
                let camera = Camerawork::new(cast, args, seen);
                encode::png::write(&camera.take(cast, &last, &mut renderer, shell)?, path)?;
                Ok(vec![path.clone()])
            }
            Self::Animation(path) => {
                let mut renderer = Renderer::new()?;
                let camera = Camerawork::of_take(cast, args, frames.clone(), shell)?;
                let mut animation = Animation::create(path, FPS)?;
                for_frames(cast, args, frames, shell, |_, surfaces| {
                    animation.push(&camera.take(cast, surfaces, &mut renderer, shell)?)?;
                    Ok(())
                })?;
                animation.finish()?;
                Ok(vec![path.clone()])
            }
            Self::Meshes(path) => meshes(path, cast, args, frames, shell),
        }
    }
}

/// Plays all surfaces side by side and hands over those of each frame of a range.
pub(super) fn for_frames(
    cast: &Cast,
    args: &Args,
    frames: Range<u32>,
    shell: &Shell,
    mut each: impl FnMut(u32, &[Surface]) -> anyhow::Result<()>,
) -> anyhow::Result<()> {
    shell.with_progress("smoke", |run| {
        let mut streaks: Vec<Streak> = cast.streaks().to_vec();
        for frame in 0..frames.end {
            run.check()?;
            if frame > 0 {
                for streak in &mut streaks {
                    streak.step(cast.flow(), run)?;
                }
            }
            if frames.contains(&frame) {
                let shown = |streak: &Streak| {
                    let mut surface = streak.surface(cast.flow(), 0.0, run)?;
                    let lines = Lines { every: args.every, ..Lines::default() };
                    style::apply(&mut surface, args.style.into(), &lines, streak.ring().released());
                    Ok::<_, smoke::Error>(surface)
                };
                let surfaces = streaks.iter().map(shown).collect::<Result<Vec<_>, _>>()?;
                each(frame, &surfaces)?;
            }
            run.report(u64::from(frame) + 1, u64::from(frames.end));
        }
        Ok(())
    })
}

/// `out/frame.ply` becomes `out/frame.0000.ply`; of several surfaces `out/frame.0.0000.ply`.
fn numbered(path: &Path, surface: Option<usize>, frame: u32, ending: &str) -> PathBuf {
    let stem = path.file_stem().unwrap_or_default().to_string_lossy();
    let of = surface.map_or_else(String::new, |i| format!(".{i}"));
    path.with_file_name(format!("{stem}{of}.{frame:04}.{ending}"))
}

fn meshes(
    path: &Path,
    cast: &Cast,
    args: &Args,
    frames: Range<u32>,
    shell: &Shell,
) -> anyhow::Result<Vec<PathBuf>> {
    let ending = path.extension().unwrap_or_default().to_string_lossy().to_ascii_lowercase();
    let listed = ending == "pvd";
    let ending = if listed { "vtp" } else { &ending };
    let (mut files, mut series) = (Vec::new(), Vec::new());
    for_frames(cast, args, frames, shell, |frame, surfaces| {
        for (i, surface) in surfaces.iter().enumerate() {
            let several = (surfaces.len() > 1).then_some(i);
            let file = numbered(path, several, frame, ending);
            let mut mesh = surface.mesh.clone();
            tint(&mut mesh, cast.colors()[i]);
            if listed {
                io::save(&file, |out| io::vtp::write(&mesh, out))?;
                let name = file.file_name().unwrap_or_default().to_string_lossy().into_owned();
                series.push((surface.time, name));
            } else {
                io::write(&file, &Asset::from_mesh(mesh))?;
            }
            files.push(file);
        }
        Ok(())
    })?;
    if listed {
        io::save(path, |out| io::vtp::write_series(&series, out))?;
        files.insert(0, path.to_owned());
    }
    Ok(files)
}

/// White times the colour of the surface.
pub(super) fn tint(mesh: &mut supple::TriMesh, [r, g, b]: [f32; 3]) {
    for (name, values) in mesh.attributes.values_mut() {
        if let (COLOR, Values::Vec4(colors)) = (name, values) {
            colors.iter_mut().for_each(|c| *c *= glam::Vec4::new(r, g, b, 1.0));
        }
    }
}
