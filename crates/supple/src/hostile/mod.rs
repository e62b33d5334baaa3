//! Readers under attack: files that were altered at random, by seed, through every reader, in this process.
//!
//! # Method
//!
//! Each reader has a few sound files, small ones. A mutation takes one of them and alters it once to four
//! times: bytes, words and numbers of text, or values of a document that stays a document (glTF, scenes, VTK XML):
//! references, enumerants, whole pieces of it or of another file. What a mutation is depends on the seed and its
//! number alone, so that a find can be had again. The reader must return, in time, and what it accepts must be
//! sound. [`scenes`] does the same to the player.
//!
//! A new format joins by one line of [`READERS`].
//!
//! # Example
//!
//! ```
//! use supple::hostile::{READERS, attack};
//!
//! let report = attack(&READERS[0], 7, 0..100);
//! assert_eq!(report.tried, 100);
//! assert!(report.finds.is_empty(), "{:?}", report.finds);
//! ```

mod document;
mod mutate;
mod samples;
pub mod scenes;
mod xml;

use std::ops::Range;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::path::Path;
use std::time::Instant;

use glam::Vec3;

use crate::Asset;
use crate::dataset::{Dataset, Select};
use crate::io::{
    Malformed, amira, dolfin, ensight, gltf, gmsh, gzip, makehuman, medit, netcdf, nrrd, obj, off,
    openfoam, pc2, piv, ply, raw, stl, tetgen, uri, vtk, vtk_tets, vtk_xml, vtkhdf, xdmf,
};
use crate::mesh::TetMesh;
use crate::scene::{RigidPath, Scene};

/// A reader that takes longer than this for a small file has no end.
const LONGEST_SECS: f64 = 10.0;
/// The same for a small scene that is played and baked a dozen times.
const LONGEST_SCENE_SECS: f64 = 120.0;

/// A reader, and sound files for it.
#[derive(Clone, Copy, Debug)]
pub struct Reader {
    /// The format.
    pub name: &'static str,
    /// How its files are altered beside their bytes.
    kind: Kind,
    samples: fn() -> Vec<Vec<u8>>,
    read: fn(&[u8]) -> Result<(), String>,
}

/// What a file is made of.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Kind {
    Bytes,
    Text,
    /// glTF: a JSON document, alone or in a binary container.
    Gltf,
    Toml,
    /// Elements with attributes.
    Xml,
}

impl Reader {
    /// The reader of a format.
    #[must_use]
    pub fn named(name: &str) -> Option<&'static Self> {
        READERS.iter().find(|reader| reader.name == name)
    }

    /// Reads a file; why it was refused, if it was.
    ///
    /// # Errors
    ///
    /// The words of the refusal.
    ///
    /// # Panics
    ///
    /// If what was read is unsound, or the refusal does not say what to do: the reader has a bug.
    pub fn read(&self, bytes: &[u8]) -> Result<(), String> {
        (self.read)(bytes)
    }
}

/// All readers.
pub const READERS: [Reader; 28] = [
    Reader { name: "obj", kind: Kind::Text, samples: samples::obj, read: |b| sound(obj::read, b) },
    Reader { name: "ply", kind: Kind::Text, samples: samples::ply, read: |b| sound(ply::read, b) },
    Reader { name: "stl", kind: Kind::Bytes, samples: samples::stl, read: |b| sound(stl::read, b) },
    Reader { name: "off", kind: Kind::Text, samples: samples::off, read: |b| sound(off::read, b) },
    Reader { name: "vtk", kind: Kind::Text, samples: samples::vtk, read: |b| sound(vtk::read, b) },
    Reader { name: "gltf", kind: Kind::Gltf, samples: samples::gltf, read: read_gltf },
    Reader {
        name: "vtk_xml",
        kind: Kind::Xml,
        samples: samples::vtk_xml,
        read: |b| fitting(vtk_xml::read(b, Select::All, &vtk_xml::no_files)),
    },
    Reader {
        name: "vtk_flow",
        kind: Kind::Text,
        samples: samples::vtk_flow,
        read: |b| fitting(vtk::read_dataset(b, Select::All)),
    },
    Reader {
        name: "netcdf",
        kind: Kind::Bytes,
        samples: samples::netcdf,
        read: |b| fitting(netcdf::read(b.to_vec(), Select::All)),
    },
    Reader {
        name: "amira",
        kind: Kind::Text,
        samples: samples::amira,
        read: |b| fitting(amira::read(b, Select::All)),
    },
    Reader {
        name: "nrrd",
        kind: Kind::Text,
        samples: samples::nrrd,
        read: |b| fitting(nrrd::read(b, Select::All, &vtk_xml::no_files)),
    },
    Reader {
        name: "piv",
        kind: Kind::Text,
        samples: samples::piv,
        read: |b| fitting(piv::read(b, Select::All)),
    },
    Reader {
        name: "openfoam",
        kind: Kind::Text,
        samples: samples::openfoam,
        read: |b| fitting(openfoam::read(b)),
    },
    Reader {
        name: "raw",
        kind: Kind::Text,
        samples: samples::raw,
        read: |b| fitting(raw::read(b, Select::All, &|_: &str| Ok(vec![1; 4096]))),
    },
    Reader {
        name: "gmsh",
        kind: Kind::Text,
        samples: samples::gmsh,
        read: |b| solid(gmsh::read(b, &mut Vec::new())),
    },
    Reader {
        name: "medit",
        kind: Kind::Text,
        samples: samples::medit,
        read: |b| solid(medit::read(b, &mut Vec::new())),
    },
    Reader { name: "tetgen", kind: Kind::Text, samples: samples::tetgen, read: read_tetgen },
    Reader {
        name: "vtk_tets",
        kind: Kind::Text,
        samples: samples::vtk_tets,
        read: |b| solid(vtk_tets::read(b, &mut Vec::new())),
    },
    Reader {
        name: "dolfin",
        kind: Kind::Bytes,
        samples: samples::dolfin,
        read: |b| solid(dolfin::read(b.to_vec(), &mut Vec::new())),
    },
    Reader {
        name: "makehuman",
        kind: Kind::Text,
        samples: samples::makehuman,
        read: |b| places(makehuman::read_target(b, 8)),
    },
    Reader {
        name: "pc2",
        kind: Kind::Bytes,
        samples: samples::pc2,
        read: |b| places(pc2::read(b).map(|frames| frames.concat())),
    },
    Reader {
        name: "vtkhdf",
        kind: Kind::Bytes,
        samples: samples::vtkhdf,
        read: |b| fitting(vtkhdf::read(b.to_vec(), Select::All)),
    },
    Reader {
        name: "xdmf",
        kind: Kind::Xml,
        samples: samples::xdmf,
        read: |b| fitting(xdmf::read(b, Select::All)),
    },
    Reader {
        name: "ensight",
        kind: Kind::Text,
        samples: samples::ensight,
        read: |b| fitting(ensight::read(b)),
    },
    Reader { name: "pvd", kind: Kind::Xml, samples: samples::pvd, read: read_series },
    Reader { name: "gzip", kind: Kind::Bytes, samples: samples::gzip, read: read_gzip },
    Reader { name: "scene", kind: Kind::Toml, samples: samples::scene, read: read_scene },
    Reader { name: "path", kind: Kind::Text, samples: samples::path, read: read_path },
];

/// What an attack on one reader found.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Report {
    /// Mutations that were tried.
    pub tried: u64,
    /// How many were read as sound files.
    pub accepted: u64,
    /// The longest that one took, in seconds.
    pub longest_secs: f64,
    /// What went wrong.
    pub finds: Vec<Find>,
}

/// A file that did harm.
#[derive(Clone, Debug, PartialEq)]
pub struct Find {
    /// Which mutation of the seed.
    pub number: u64,
    /// What happened.
    pub what: String,
    /// The file.
    pub file: Vec<u8>,
}

/// The mutation of a seed with a number.
#[must_use]
pub fn mutation(reader: &Reader, seed: u64, number: u64) -> Vec<u8> {
    mutate::mutated(&(reader.samples)(), reader.kind, seed, number)
}

/// Reads the mutations of a seed with these numbers. Ends early after ten finds.
#[must_use]
pub fn attack(reader: &Reader, seed: u64, numbers: Range<u64>) -> Report {
    let samples = (reader.samples)();
    let file = |number| mutate::mutated(&samples, reader.kind, seed, number);
    watched(numbers, LONGEST_SECS, file, |_, file| Ok((reader.read)(file).is_ok()))
}

/// Plays the random scenes of these numbers, in folders inside `scratch`. Ends early after ten finds.
#[must_use]
pub fn attack_player(scratch: &Path, seed: u64, numbers: Range<u64>) -> Report {
    // Far from the scenes of other seeds.
    let number_of = |number: u64| seed.wrapping_mul(1 << 32).wrapping_add(number);
    let file = |number| scenes::document(number_of(number)).into_bytes();
    watched(numbers, LONGEST_SCENE_SECS, file, |number, _| {
        scenes::check(number_of(number), &scratch.join(number.to_string())).map(|()| true)
    })
}

/// Tries files until ten did harm: a panic, an error, too long a time.
fn watched(
    numbers: Range<u64>,
    longest_secs: f64,
    file: impl Fn(u64) -> Vec<u8>,
    try_file: impl Fn(u64, &[u8]) -> Result<bool, String>,
) -> Report {
    let mut report = Report::default();
    for number in numbers {
        let file = file(number);
        let attempt = || {
            let start = Instant::now();
            let result = catch_unwind(AssertUnwindSafe(|| try_file(number, &file)));
            (result, start.elapsed().as_secs_f64())
        };
        let (result, mut secs) = attempt();
        if secs > longest_secs {
            // The machine may have been busy, or this program stopped: what is slow is slow again.
            secs = secs.min(attempt().1);
        }
        report.tried += 1;
        report.longest_secs = report.longest_secs.max(secs);
        let what = match result {
            Err(_) => "it panicked".to_owned(),
            Ok(_) if secs > longest_secs => format!("it took {secs:.1} s"),
            Ok(Err(what)) => what,
            Ok(Ok(accepted)) => {
                report.accepted += u64::from(accepted);
                continue;
            }
        };
        report.finds.push(Find { number, what, file });
        if report.finds.len() >= 10 {
            break;
        }
    }
    report
}

/// What a reader of meshes accepts is sound, and what it refuses it explains.
fn sound(
    read: fn(&[u8], &mut Vec<crate::io::Warning>) -> Result<Asset, Malformed>,
    bytes: &[u8],
) -> Result<(), String> {
    check(read(bytes, &mut Vec::new()))
}

/// The words of a refusal, which say what is wrong and what to do.
fn explained(error: Malformed) -> String {
    assert!(!error.fix.is_empty() && !error.what.is_empty(), "a refusal says what to do");
    error.to_string()
}

fn read_gltf(bytes: &[u8]) -> Result<(), String> {
    check(gltf::read(bytes, &uri::no_folder, &mut Vec::new()))
}

fn check(result: Result<Asset, Malformed>) -> Result<(), String> {
    let asset = result.map_err(explained)?;
    for mesh in &asset.meshes {
        assert_eq!(mesh.validate(), Ok(()), "what is read is sound");
    }
    Ok(())
}

/// The arrays of a dataset fit its grid.
fn fitting(result: Result<Dataset, Malformed>) -> Result<(), String> {
    let dataset = result.map_err(explained)?;
    assert_eq!(dataset.validate(), Ok(()), "arrays fit their grid");
    Ok(())
}

/// What is read as tets has no tet inside out.
fn solid(result: Result<TetMesh, Malformed>) -> Result<(), String> {
    let mesh = result.map_err(explained)?;
    assert!((0..mesh.tets.len()).all(|t| mesh.volume_of(t) > 0.0), "tets have volume");
    Ok(())
}

/// What is read as positions or ways is somewhere.
fn places(result: Result<Vec<Vec3>, Malformed>) -> Result<(), String> {
    let places = result.map_err(explained)?;
    assert!(places.iter().all(|p| p.is_finite()), "numbers are finite");
    Ok(())
}

/// Every entry of a series has a time and a name.
fn read_series(bytes: &[u8]) -> Result<(), String> {
    let entries = vtk_xml::read_series(bytes).map_err(explained)?;
    assert!(entries.iter().all(|(time, name)| time.is_finite() && !name.is_empty()), "entries");
    Ok(())
}

/// What a compressed file becomes is in proportion to it.
fn read_gzip(bytes: &[u8]) -> Result<(), String> {
    let whole = gzip::decompress(bytes).map_err(explained)?;
    assert!(whole.len() <= (1 << 20) + 2000 * bytes.len(), "{} bytes", whole.len());
    Ok(())
}

/// Both files of a body in one, the second behind the first zero.
fn read_tetgen(bytes: &[u8]) -> Result<(), String> {
    let end = bytes.iter().position(|&b| b == 0).unwrap_or(bytes.len());
    let (node, ele) = bytes.split_at(end);
    solid(tetgen::read(node, ele.get(1..).unwrap_or_default(), &mut Vec::new()))
}

fn read_scene(bytes: &[u8]) -> Result<(), String> {
    let text = String::from_utf8_lossy(bytes);
    let scene = Scene::parse(&text, None).map_err(|problem| problem.to_string())?;
    let again = Scene::parse(&scene.to_toml(), None);
    assert!(again.is_ok_and(|again| again == scene), "a scene's own document is that scene");
    Ok(())
}

fn read_path(bytes: &[u8]) -> Result<(), String> {
    let path = RigidPath::from_csv(&String::from_utf8_lossy(bytes)).map_err(|e| e.what)?;
    let (first, last) = path.span();
    let middle = path.at(0.5 * first + 0.5 * last).0;
    assert!(middle.is_finite(), "a path is somewhere");
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_sample_is_sound() {
        for reader in &READERS {
            let samples = (reader.samples)();
            assert!(!samples.is_empty(), "{}", reader.name);
            for (i, sample) in samples.iter().enumerate() {
                assert_eq!((reader.read)(sample), Ok(()), "{} {i}", reader.name);
                assert!(sample.len() < 20_000, "{} {i}: {} bytes", reader.name, sample.len());
            }
        }
    }

    #[test]
    fn every_reader_is_a_fuzz_target_and_the_other_way_round() {
        let manifest = include_str!("../../../../fuzz/Cargo.toml");
        let manifest: toml::Table = toml::from_str(manifest).expect("a manifest cargo can read");
        let targets = manifest["bin"].as_array().expect("targets");
        let names: Vec<_> = targets.iter().filter_map(|t| t["name"].as_str()).collect();
        assert_eq!(names.len(), READERS.len());
        for reader in &READERS {
            assert!(names.contains(&reader.name), "{} has no target", reader.name);
        }
    }

    #[test]
    fn a_mutation_is_known_by_its_seed_and_number() {
        let altered = |reader: &Reader, number| mutation(reader, 3, number);
        for reader in &READERS {
            let samples = (reader.samples)();
            assert_eq!(altered(reader, 5), altered(reader, 5));
            let fresh = (0..200).filter(|&n| !samples.contains(&altered(reader, n))).count();
            assert!(fresh > 150, "{}: {fresh} of 200 differ from all samples", reader.name);
        }
    }

    /// A harness that finds nothing must be able to find something.
    #[test]
    fn panics_and_unsound_files_are_found() {
        let picky = Reader {
            name: "picky",
            kind: Kind::Text,
            samples: samples::obj,
            read: |bytes| {
                assert!(!bytes.contains(&b'#'), "this reader hates comments");
                Err("no".to_owned())
            },
        };
        let report = attack(&picky, 1, 0..5_000);
        assert!(!report.finds.is_empty(), "{report:?}");
        let find = &report.finds[0];
        assert_eq!(mutation(&picky, 1, find.number), find.file, "it can be had again");
    }

    #[test]
    fn what_is_slow_once_was_the_machine_and_twice_is_a_find() {
        use std::sync::atomic::{AtomicU32, Ordering};
        use std::time::Duration;
        let slow = |times: u32| {
            let left = AtomicU32::new(times);
            let try_file = |_, _: &[u8]| {
                let is_slow =
                    left.fetch_update(Ordering::Relaxed, Ordering::Relaxed, |n| n.checked_sub(1));
                std::thread::sleep(Duration::from_millis(if is_slow.is_ok() { 400 } else { 0 }));
                Ok(true)
            };
            watched(0..1, 0.2, |_| Vec::new(), try_file)
        };
        let busy = slow(1);
        assert!(busy.finds.is_empty() && busy.longest_secs < 0.2, "{busy:?}");
        assert_eq!(slow(2).finds.len(), 1);
    }

    /// The checks' share of the hunt; `supple bench fuzz --minutes 60` goes on.
    #[test]
    fn two_hundred_thousand_mutations_do_no_harm() {
        let each = 200_000 / READERS.len() as u64;
        for reader in &READERS {
            let report = attack(reader, 20_261_118, 0..each);
            let finds: Vec<_> = report.finds.iter().map(|f| (f.number, &f.what)).collect();
            assert!(finds.is_empty(), "{}: {finds:?}", reader.name);
            assert_eq!(report.tried, each);
            let some = 0 < report.accepted && report.accepted < each;
            assert!(some, "{}: {} of {each} accepted", reader.name, report.accepted);
        }
    }
}
