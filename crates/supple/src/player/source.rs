//! Where assets come from: files beside the scene, and the zoo.
//!
//! ```
//! use supple::Run;
//! use supple::player::load;
//! use supple::scene::{Folder, Source};
//!
//! let ball = Source::Zoo { zoo: "ball".to_owned(), triangles: Some(80) };
//! let here = Folder::new(".".as_ref());
//! let asset = load(&ball, &here, &mut Vec::new(), &Run::default())?;
//! assert_eq!(asset.meshes[0].triangles.len(), 80);
//! # Ok::<(), supple::player::SourceError>(())
//! ```

use std::sync::Arc;

use crate::flow::Flow;
use crate::flow::analytic::{self, Analytic};
use crate::flow::recorded::{self, NoFlow};
use crate::flow::recording::{Options, Recording, RecordingError};
use crate::flow::sampled::Sampled;
use crate::io::uri::{FetchError, Policy};
use crate::io::{self, ReadError, ReadOptions};
use crate::mesh::TetMesh;
use crate::mesh::tetrahedralize::{self, fill};
use crate::modifier::{FlowEntry, NamedFlow};
use crate::run::Cancelled;
use crate::scene::{Folder, Source};
use crate::zoo::lattice::{self, Obstacle};
use crate::{Asset, Run, TriMesh, zoo};

/// Why an asset could not be had.
#[derive(Debug, thiserror::Error)]
pub enum SourceError {
    /// The file may not be opened or is not there.
    #[error(transparent)]
    Fetch(#[from] FetchError),
    /// The file makes no sense.
    #[error(transparent)]
    Read(#[from] ReadError),
    /// The zoo has no such model.
    #[error(transparent)]
    Zoo(#[from] zoo::Error),
    /// A surface cannot be filled.
    #[error(transparent)]
    Fill(#[from] tetrahedralize::Error),
    /// A recorded flow cannot be opened.
    #[error(transparent)]
    Recording(#[from] RecordingError),
    /// What was recorded is no flow.
    #[error(transparent)]
    NoFlow(#[from] NoFlow),
    /// The caller asked to stop.
    #[error(transparent)]
    Cancelled(#[from] Cancelled),
    /// Nothing in this library makes that.
    #[error("{what}: {fix}")]
    Unknown {
        /// What was asked for.
        what: String,
        /// What there is.
        fix: String,
    },
}

/// Cells along an axis that a wake needs at the least.
const LEAST_CELLS: usize = 8;
/// What a simulated flow may take in memory.
const MOST_GIGABYTES: f64 = 16.0;

/// Reads the tetrahedral mesh a scene names.
///
/// # Errors
///
/// [`SourceError`] if there is no such file, or it cannot be read.
pub fn load_tets(file: &str, folder: &Folder<'_>) -> Result<TetMesh, SourceError> {
    let path = folder.resolve(file)?;
    folder.note(io::tets::files_of(&path));
    Ok(io::read_tets(&path)?.mesh)
}

/// Fills a closed surface with tetrahedra whose edges are about as long as `spacing`.
///
/// # Errors
///
/// [`SourceError`] if the surface has no inside.
pub fn fill_tets(surface: &TriMesh, spacing: f64, run: &Run<'_>) -> Result<TetMesh, SourceError> {
    let params = fill::Params { spacing: Some(spacing as f32) };
    Ok(fill(surface, &params, run)?.mesh)
}

/// Opens a flow that a scene names: a [`Flow`]. One that is open already is taken as it is.
///
/// # Errors
///
/// [`SourceError`] if there is no such flow, or it cannot be read.
pub fn open_flow(
    name: &str,
    entry: &FlowEntry,
    folder: &Folder<'_>,
    run: &Run<'_>,
) -> Result<NamedFlow, SourceError> {
    let named = |flow: Arc<Flow>| {
        let (name, start, speed) = (name.to_owned(), entry.start, entry.speed);
        NamedFlow { name, start, speed, flow }
    };
    if let Some(flow) = folder.flows().and_then(|open| open.get(name)) {
        return Ok(named(Arc::clone(flow)));
    }
    let unknown = |what: &str, fix: String| {
        let what = format!("flow '{name}': {what}");
        SourceError::Unknown { what, fix }
    };
    let flow = match &entry.source {
        Source::Zoo { zoo, .. } => match (Analytic::named(zoo), Obstacle::named(zoo)) {
            (Some(formula), _) => Flow::Analytic(formula),
            (None, Some(obstacle)) => {
                let params =
                    lattice_of(obstacle, entry).map_err(|(what, fix)| unknown(&what, fix))?;
                Sampled::simulated(&params, entry.looped, run)?
            }
            (None, None) => {
                let formulas = analytic::ALL.map(|known| known.0);
                let known = [&formulas[..], &lattice::NAMES[..]].concat().join(", ");
                return Err(unknown(&format!("the zoo has no '{zoo}'"), format!("it has {known}")));
            }
        },
        Source::File { file } => {
            let axis = |a: char| entry.periodic.contains(a);
            if let Some(other) = entry.periodic.chars().find(|a| !"xyz".contains(*a)) {
                let what = format!("'{other}' is no axis");
                return Err(unknown(&what, "periodic names axes: \"xz\"".to_owned()));
            }
            let options = Options {
                velocity: entry.velocity.clone(),
                scalars: entry.scalars.clone(),
                times: entry.times.map(|[start, step]| (start, step)),
                periodic: [axis('x'), axis('y'), axis('z')],
                allow_outside: folder.policy == Policy::AllowOutside,
                ..Options::default()
            };
            let recording = Recording::open(&[folder.resolve(file)?], &options)?;
            folder.note_levels(recording.files());
            recorded::flow(recording, entry.looped)?
        }
        Source::Empty { .. } => return Err(unknown("nothing", "name a zoo flow".to_owned())),
    };
    Ok(named(Arc::new(flow)))
}

/// A wake for the zoo's solver, if it has cells and they fit into memory; else what is wrong with it and what to do.
fn lattice_of(obstacle: Obstacle, entry: &FlowEntry) -> Result<lattice::Params, (String, String)> {
    let mut params = lattice::Params::of(obstacle);
    if let Some(size) = entry.size {
        params = params.resized(size.map(|n| n as usize));
    }
    params.levels = entry.levels.map_or(params.levels, |levels| levels as usize);
    // Nineteen densities twice and a kind in the solver, four numbers in each level.
    let cells: f64 = params.size.iter().map(|&n| n as f64).product();
    let gigabytes = 1e-9 * cells * (153.0 + 16.0 * params.levels as f64);
    let size = params.size.map(|n| n.to_string()).join(" × ");
    if params.size.iter().any(|&n| n < LEAST_CELLS) || params.levels == 0 {
        let what = format!("there is no wake on {size} cells in {} levels", params.levels);
        return Err((
            what,
            format!("give {LEAST_CELLS} cells or more along each axis, and a level"),
        ));
    }
    if gigabytes > MOST_GIGABYTES {
        let what =
            format!("{size} cells in {} levels take {gigabytes:.0} GB of memory", params.levels);
        return Err((what, "give a smaller size or fewer levels".to_owned()));
    }
    Ok(params)
}

/// Reads or builds the asset a scene names; what had to be mended in a file is added to `warnings`.
///
/// # Errors
///
/// [`SourceError`] if there is no such file or model, or the file cannot be read.
pub fn load(
    source: &Source,
    folder: &Folder<'_>,
    warnings: &mut Vec<String>,
    run: &Run<'_>,
) -> Result<Asset, SourceError> {
    match source {
        Source::File { file } => {
            let path = folder.resolve(file)?;
            let options = ReadOptions { allow_outside: folder.policy == Policy::AllowOutside };
            let loaded = io::read(&path, &options)?;
            warnings.extend(loaded.warnings.iter().map(|w| format!("{file}: {w}")));
            Ok(loaded.asset)
        }
        Source::Zoo { zoo, triangles } => {
            let size = zoo::Size { triangles: triangles.map(|t| t as usize) };
            Ok(zoo::build(zoo, &size, run)?)
        }
        Source::Empty { .. } => Ok(Asset::from_mesh(TriMesh::default())),
    }
}
