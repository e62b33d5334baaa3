//! From stored frames to files.

use std::borrow::Cow;
use std::cell::Cell;
use std::fs::{self, File};
use std::io::{self, BufWriter};
use std::ops::Range;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use glam::Vec3;

use super::cache::Cache;
use super::names::{Names, file_name};
use super::{BakeError, Baked};
use crate::io::{Take, gltf, mdd, obj, pc2, ply, save, usd};
use crate::mesh::attribute::COLOR;
use crate::mesh::surface_frames::SurfaceFrames;
use crate::mesh::{Group, Topology, TriMesh, Values};
use crate::player::{Cast, Player};
use crate::rig::asset::{Alpha, Material, UvOrigin};
use crate::scene::TakeFormat;
use crate::{Asset, Run};

/// How a format is written.
#[derive(Clone, Copy, Debug)]
pub enum Writer {
    /// One file for all bodies: `NAME.glb`.
    Together(fn(&mut [Take<'_>], &mut BufWriter<File>) -> io::Result<()>),
    /// One file a body: `NAME.pc2`, or `NAME.BODY.pc2` if there are several.
    Each(fn(&mut Take<'_>, &mut BufWriter<File>) -> io::Result<()>),
    /// One file a frame and body: `NAME.0001.ply`, or `NAME.BODY.0001.ply`; in formats that count
    /// texture coordinates from the bottom.
    Sequence(fn(&TriMesh, &mut BufWriter<File>) -> io::Result<()>),
}

/// How every format is written.
pub const WRITERS: [(TakeFormat, Writer); 6] = [
    (TakeFormat::Glb, Writer::Together(gltf::write_takes)),
    (TakeFormat::Usda, Writer::Each(usd::write_take)),
    (TakeFormat::Pc2, Writer::Each(pc2::write)),
    (TakeFormat::Mdd, Writer::Each(mdd::write)),
    (TakeFormat::Ply, Writer::Sequence(ply::write)),
    (TakeFormat::Obj, Writer::Sequence(obj::write)),
];

/// How one frame is written in formats that hold a take with one connectivity: what a body gets whose connectivity
/// changes.
const STILLS: [(TakeFormat, Still); 2] =
    [(TakeFormat::Glb, write_still_glb), (TakeFormat::Usda, usd::write)];

type Still = fn(&TriMesh, &mut BufWriter<File>) -> io::Result<()>;

/// A mesh whose vertices may be seen through.
fn write_still_glb(mesh: &TriMesh, out: &mut BufWriter<File>) -> io::Result<()> {
    let mut asset = Asset::from_mesh(mesh.clone());
    if matches!(mesh.attributes.get(COLOR), Some(Values::Vec4(c)) if c.iter().any(|c| c.w < 1.0)) {
        let material = Material { alpha: Alpha::Blend, double_sided: true, ..Material::default() };
        asset.materials = vec![material];
        let triangles = mesh.triangles.len() as u32;
        let (name, material) = (String::new(), Some(0));
        asset.meshes[0].groups = vec![Group { name, triangles: 0..triangles, material }];
    }
    gltf::write_glb(&asset, out)
}

/// A surface without positions.
fn surface(name: &str, topology: &Topology) -> TriMesh {
    let mesh = TriMesh::new(Vec::new(), topology.triangles().to_vec());
    TriMesh { name: name.to_owned(), ..mesh }
}

/// What the frames of a body are like.
#[derive(Clone, Debug, Default)]
pub(super) struct Kept {
    /// Whether its topology is not that of its rest shape.
    changes: bool,
    /// The channels of any frame.
    channels: Vec<String>,
}

/// The files of one bake.
pub(super) struct Outputs<'a> {
    pub(super) player: &'a Player,
    pub(super) cache: &'a Cache,
    pub(super) frames: Range<u32>,
    pub(super) run: &'a Run<'a>,
    /// Work in all, for progress.
    pub(super) total: u64,
    pub(super) names: Names,
}

impl Outputs<'_> {
    /// What the stored frames are like.
    pub(super) fn survey(&self) -> Result<Vec<Kept>, BakeError> {
        let mut kept = vec![Kept::default(); self.player.cast().len()];
        for frame in self.frames.clone() {
            self.run.check()?;
            let path = self.names.folder();
            let io = |source| BakeError::Io { path: path.to_owned(), source };
            for (kept, layout) in kept.iter_mut().zip(&*self.cache.layouts(frame).map_err(io)?) {
                kept.changes |= layout.topology.is_some();
                let channels = layout.channels.iter().map(|c| &c.0);
                let new: Vec<_> =
                    channels.filter(|c| !kept.channels.contains(c)).cloned().collect();
                kept.channels.extend(new);
            }
        }
        Ok(kept)
    }

    /// Writes the files of one format, the `number`th.
    pub(super) fn write(
        &mut self,
        format: TakeFormat,
        writer: &Writer,
        (number, kept): (u64, &[Kept]),
        baked: &mut Baked,
    ) -> Result<(), BakeError> {
        let (ending, files) = (format.ending(), &mut baked.files);
        let done = Cell::new(0);
        let (changing, keeping): (Vec<usize>, Vec<usize>) =
            (0..self.player.cast().len()).partition(|&body| kept[body].changes);
        match writer {
            Writer::Together(write) if !keeping.is_empty() => {
                let path = self.names.together(ending);
                self.save(&path, |out| {
                    self.with_takes(&keeping, number, &done, |t| write(t, out))
                })?;
                files.push(path);
            }
            Writer::Together(_) => {}
            Writer::Each(write) => {
                for &body in &keeping {
                    let path = self.names.of_body(body, ending);
                    self.save(&path, |out| {
                        self.with_takes(&[body], number, &done, |t| write(&mut t[0], out))
                    })?;
                    files.push(path);
                }
            }
            Writer::Sequence(write) => {
                for body in 0..self.player.cast().len() {
                    self.write_sequence(body, ending, number, *write, files)?;
                }
                return Ok(());
            }
        }
        for body in changing {
            match STILLS.iter().find(|still| still.0 == format) {
                Some((_, write)) => self.write_sequence(body, ending, number, *write, files)?,
                None => baked.warnings.push(self.not_in(body, ending, "its topology changes")),
            }
        }
        for &body in keeping.iter().filter(|&&body| !kept[body].channels.is_empty()) {
            let channels = kept[body].channels.join("', '");
            let why = format!("of its channels '{channels}' nothing");
            baked.warnings.push(self.not_in(body, ending, &why));
        }
        Ok(())
    }

    /// What a format cannot hold, and which can.
    fn not_in(&self, body: usize, ending: &str, why: &str) -> String {
        let name = &self.player.cast()[body].actor.name;
        format!("asset '{name}': {why} fits into {ending} files; ply files have all of it")
    }

    fn write_sequence(
        &self,
        body: usize,
        ending: &str,
        number: u64,
        write: fn(&TriMesh, &mut BufWriter<File>) -> io::Result<()>,
        files: &mut Vec<PathBuf>,
    ) -> Result<(), BakeError> {
        let cast = &self.player.cast()[body];
        let rest = Cow::Borrowed(&cast.rest.meshes[0]);
        let rest = cast.rest.uv_origin.convert(UvOrigin::Bottom, rest).into_owned();
        let frames = SurfaceFrames::of(&rest);
        for frame in self.frames.clone() {
            let path = self.names.of_frame(body, frame, ending);
            let shape = self
                .cache
                .shape(frame, body, self.run)
                .map_err(|source| self.stopped(BakeError::Io { path: path.clone(), source }))?;
            let is_own = Arc::ptr_eq(&shape.topology, cast.topology());
            let mut mesh = if is_own { rest.clone() } else { surface(&rest.name, &shape.topology) };
            match is_own {
                true => frames.place(&mut mesh, shape.positions, self.run),
                false => mesh.positions = shape.positions,
            }
            for channel in &shape.channels {
                mesh.attributes.set(channel.name.clone(), channel.values.clone());
            }
            self.save(&path, |out| write(&mesh, out))?;
            files.push(path);
            self.report(number, u64::from(frame - self.frames.start) + 1);
        }
        Ok(())
    }

    /// Hands takes of some bodies to a writer.
    fn with_takes(
        &self,
        bodies: &[usize],
        number: u64,
        done: &Cell<u64>,
        write: impl FnOnce(&mut [Take<'_>]) -> io::Result<()>,
    ) -> io::Result<()> {
        let fetch = |body: usize| {
            move |i: u32, positions: &mut [Vec3]| {
                if i >= self.frames.end - self.frames.start {
                    return Err(io::Error::other(format!("there is no frame {i}")));
                }
                self.cache.positions(self.frames.start + i, body, positions, self.run)?;
                done.set(done.get().max(u64::from(i) + 1));
                self.report(number, done.get());
                Ok(())
            }
        };
        let mut fetchers: Vec<_> = bodies.iter().map(|&b| fetch(b)).collect();
        let mut takes = Vec::with_capacity(bodies.len());
        for (fetch, &body) in fetchers.iter_mut().zip(bodies) {
            takes.push(self.take(&self.player.cast()[body], fetch));
        }
        write(&mut takes)
    }

    fn take<'t>(
        &'t self,
        cast: &'t Cast,
        positions: &'t mut dyn FnMut(u32, &mut [Vec3]) -> io::Result<()>,
    ) -> Take<'t> {
        Take {
            asset: &cast.rest,
            fps: self.player.scene().time.fps,
            first_frame: self.names.shown().start,
            frames: self.frames.end - self.frames.start,
            positions,
        }
    }

    /// Writes one whole file, or leaves none.
    fn save(
        &self,
        path: &Path,
        write: impl FnOnce(&mut BufWriter<File>) -> io::Result<()>,
    ) -> Result<(), BakeError> {
        self.run.check()?;
        let io = |source| self.stopped(BakeError::Io { path: path.to_owned(), source });
        save(path, write).map_err(io)
    }

    /// An error of a writer that was stopped by the caller is not the writer's.
    fn stopped(&self, error: BakeError) -> BakeError {
        self.run.check().map_or_else(BakeError::from, |()| error)
    }

    fn report(&self, number: u64, frames: u64) {
        let all = u64::from(self.frames.end - self.frames.start);
        self.run.report(number * all + frames, self.total);
    }
}

/// Removes temporary files of a scene that a killed run left in its folder.
pub(super) fn clear_temporaries(folder: &Path, scene: &str) {
    let begins = format!("{}.", file_name(scene));
    let ours = |n: &str| n.starts_with(&begins) && n.ends_with(".supple-tmp");
    for entry in fs::read_dir(folder).into_iter().flatten().flatten() {
        if entry.file_name().to_str().is_some_and(ours) {
            // A leftover is only untidy: the bake goes on.
            let _ = fs::remove_file(entry.path());
        }
    }
}
