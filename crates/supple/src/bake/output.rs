//! From stored frames to files.

use std::borrow::Cow;
use std::cell::Cell;
use std::fs::{self, File};
use std::io::{self, BufWriter};
use std::ops::Range;
use std::path::{Path, PathBuf};

use glam::Vec3;

use super::BakeError;
use super::cache::Cache;
use super::names::{Names, file_name};
use crate::Run;
use crate::asset::UvOrigin;
use crate::io::{Take, gltf, mdd, obj, pc2, ply, save, usd};
use crate::mesh::attribute::NORMAL;
use crate::mesh::normals::vertex_normals;
use crate::mesh::{TriMesh, Values};
use crate::player::{Cast, Player};
use crate::scene::Format;

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
pub const WRITERS: [(Format, Writer); 6] = [
    (Format::Glb, Writer::Together(gltf::write_takes)),
    (Format::Usda, Writer::Each(usd::write_take)),
    (Format::Pc2, Writer::Each(pc2::write)),
    (Format::Mdd, Writer::Each(mdd::write)),
    (Format::Ply, Writer::Sequence(ply::write)),
    (Format::Obj, Writer::Sequence(obj::write)),
];

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
    /// Writes the files of one format, the `number`th.
    pub(super) fn write(
        &mut self,
        format: Format,
        writer: &Writer,
        number: u64,
        files: &mut Vec<PathBuf>,
    ) -> Result<(), BakeError> {
        let ending = format.ending();
        let done = Cell::new(0);
        match writer {
            Writer::Together(write) => {
                let path = self.names.together(ending);
                let bodies: Vec<usize> = (0..self.player.cast().len()).collect();
                self.save(&path, |out| self.with_takes(&bodies, number, &done, |t| write(t, out)))?;
                files.push(path);
            }
            Writer::Each(write) => {
                for body in 0..self.player.cast().len() {
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
            }
        }
        Ok(())
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
        let mut mesh = cast.rest.uv_origin.convert(UvOrigin::Bottom, rest).into_owned();
        let has_normals = mesh.attributes.normals().is_some();
        // Split normals of the rest shape do not fit the moving one.
        mesh.corners.retain(|c| c.name != NORMAL);
        for frame in self.frames.clone() {
            let path = self.names.of_frame(body, frame, ending);
            self.cache
                .positions(frame, body, &mut mesh.positions, self.run)
                .map_err(|source| self.stopped(BakeError::Io { path: path.clone(), source }))?;
            if has_normals {
                let normals = vertex_normals(&mesh.positions, &mesh.triangles, self.run);
                mesh.attributes.set(NORMAL, Values::Vec3(normals));
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
