//! The mesh of a case: faces between cells.

use std::path::Path;

use glam::DVec3;

use super::lexer::{Foam, of_processor};
use super::read_bytes;
use crate::dataset::{CellType, Cells, Grid};
use crate::io::{Malformed, Place, ReadError};

/// Faces of the boundary that belong together.
#[derive(Debug)]
pub(super) struct Patch {
    pub(super) name: String,
    pub(super) first: usize,
    pub(super) count: usize,
}

/// Points, faces, and the cells on their two sides.
#[derive(Debug)]
pub(super) struct PolyMesh {
    points: Vec<DVec3>,
    pub(super) faces: Vec<Vec<u32>>,
    owner: Vec<u32>,
    neighbour: Vec<u32>,
    pub(super) cells: usize,
    pub(super) patches: Vec<Patch>,
}

/// The files of a mesh.
const FILES: [&str; 5] = ["points", "faces", "owner", "neighbour", "boundary"];

impl PolyMesh {
    /// Reads the files of a `polyMesh` folder, those of one processor.
    pub(super) fn read(folder: &Path, processor: usize) -> Result<Self, ReadError> {
        Self::of(folder, |path, _| {
            let malformed = |source| ReadError::Malformed { path: path.to_owned(), source };
            of_processor(read_bytes(path)?, processor).map_err(malformed)
        })
    }

    /// The same from wherever files come.
    pub(super) fn of(
        folder: &Path,
        fetch: impl Fn(&Path, usize) -> Result<Vec<u8>, ReadError>,
    ) -> Result<Self, ReadError> {
        let files: Vec<Vec<u8>> =
            (0..FILES.len()).map(|k| fetch(&folder.join(FILES[k]), k)).collect::<Result<_, _>>()?;
        let within =
            |k: usize| move |source| ReadError::Malformed { path: folder.join(FILES[k]), source };
        let foam = |k: usize| Foam::new(&files[k]).map_err(within(k));
        let flat = foam(0)?.scalars(3).map_err(within(0))?;
        let faces = foam(1)?.faces().map_err(within(1))?;
        let owner = foam(2)?.labels().map_err(within(2))?;
        let neighbour = foam(3)?.labels().map_err(within(3))?;
        let patches = boundary(&mut foam(4)?).map_err(within(4))?;
        let points: Vec<DVec3> =
            flat.as_chunks::<3>().0.iter().map(|&p| DVec3::from_array(p)).collect();
        let bad = |file: &str, what: String| {
            let source = Malformed::new(Place::File, what, "the mesh is damaged; write it again");
            ReadError::Malformed { path: folder.join(file), source }
        };
        if owner.len() != faces.len() || neighbour.len() > faces.len() {
            let what = format!("{} owners of {} faces", owner.len(), faces.len());
            return Err(bad("owner", what));
        }
        if let Some(point) = faces.iter().flatten().find(|&&p| p as usize >= points.len()) {
            return Err(bad("faces", format!("a face names point {point} of {}", points.len())));
        }
        let cells = owner.iter().chain(&neighbour).max().map_or(Some(0), |&c| c.checked_add(1));
        // Every cell has at least four sides: more cells than that are a lie.
        let cells = cells.and_then(|n| usize::try_from(n).ok()).filter(|&n| n <= faces.len());
        let cells = cells
            .ok_or_else(|| bad("owner", "a face names a cell that is not there".to_owned()))?;
        let narrow = |list: &[i64]| {
            list.iter().map(|&c| u32::try_from(c).ok()).collect::<Option<Vec<u32>>>()
        };
        let (Some(owner), Some(neighbour)) = (narrow(&owner), narrow(&neighbour)) else {
            return Err(bad("owner", "a cell has a negative number".to_owned()));
        };
        if patches.iter().any(|p| p.first.saturating_add(p.count) > faces.len()) {
            return Err(bad("boundary", "a patch has faces that are not there".to_owned()));
        }
        Ok(Self { points, faces, owner, neighbour, cells, patches })
    }

    /// The cells as polyhedra.
    pub(super) fn grid(&self) -> Grid {
        let mut sides: Vec<Vec<u32>> = vec![Vec::new(); self.cells];
        for (cells, face) in [&self.owner, &self.neighbour].into_iter().map(|c| (c, 0..)) {
            cells.iter().zip(face).for_each(|(&cell, face)| sides[cell as usize].push(face));
        }
        let mut cells = Cells::default();
        let mut corners = Vec::new();
        for faces in &sides {
            let faces: Vec<&[u32]> =
                faces.iter().map(|&f| self.faces[f as usize].as_slice()).collect();
            corners.clear();
            corners.extend(faces.iter().copied().flatten());
            corners.sort_unstable();
            corners.dedup();
            cells.push(CellType::Polyhedron, &corners, &faces);
        }
        Grid::Unstructured { points: self.points.clone(), cells }
    }
}

/// `N ( name { nFaces 20; startFace 760; … } … )`
fn boundary(foam: &mut Foam<'_>) -> Result<Vec<Patch>, Malformed> {
    let count = foam.count()?;
    foam.expect(b"(")?;
    let mut patches = Vec::new();
    for _ in 0..count {
        let name = String::from_utf8_lossy(foam.word().unwrap_or_default()).into_owned();
        let mut patch = Patch { name, first: 0, count: 0 };
        foam.expect(b"{")?;
        loop {
            match foam.word() {
                Some(b"}") => break,
                Some(b"nFaces") => patch.count = foam.whole()?,
                Some(b"startFace") => patch.first = foam.whole()?,
                Some(_) => {}
                None => return Err(foam.problem("the list of patches is cut off")),
            }
        }
        patches.push(patch);
    }
    Ok(patches)
}
