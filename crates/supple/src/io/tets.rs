//! Tetrahedral meshes: one way in and one way out for all their formats, by the ending of the file's name.
//!
//! Whatever a file holds, what is read is sound: tets of the wrong orientation are turned, flat ones and vertices in no
//! tet left out, and each is said.

use std::path::{Path, PathBuf};

use glam::DVec3;

use super::{
    Malformed, Place, ReadError, Warning, WriteError, dolfin, gmsh, gzip, inputs, medit, save,
    tetgen, vtk_tets,
};
use crate::mesh::tet::{EDGES, signed_volume};
use crate::mesh::{Attributes, TetMesh};

/// A kind of file with tets.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum TetFormat {
    /// Gmsh, `.msh`.
    Gmsh,
    /// MEDIT, `.mesh`.
    Medit,
    /// TetGen, `.node` and `.ele` beside each other.
    TetGen,
    /// VTK legacy with an unstructured grid, `.vtk`.
    Vtk,
    /// VTK XML with an unstructured grid, `.vtu`.
    Vtu,
    /// DOLFIN of legacy `FEniCS`, `.h5`; read only.
    Dolfin,
}

impl TetFormat {
    /// The format a file's name ends with, in any case. VTK files may hold something else: see [`is_tets`].
    #[must_use]
    pub fn of(path: &Path) -> Option<Self> {
        let name = path.file_name()?.to_str()?.to_ascii_lowercase();
        let name = name.strip_suffix(".gz").unwrap_or(&name);
        Some(match name.rsplit_once('.')?.1 {
            "msh" => Self::Gmsh,
            "mesh" => Self::Medit,
            "node" | "ele" => Self::TetGen,
            "vtk" => Self::Vtk,
            "vtu" => Self::Vtu,
            "h5" => Self::Dolfin,
            _ => return None,
        })
    }

    /// The endings of formats that can be written, for a message.
    #[must_use]
    pub fn written() -> &'static str {
        "msh, mesh, node, ele, vtk, vtu"
    }

    /// The endings of all formats, for a message.
    #[must_use]
    pub fn known() -> &'static str {
        "msh, mesh, node, ele, vtk, vtu, h5"
    }
}

/// A body, and what had to be mended or left out.
#[derive(Clone, Debug, PartialEq)]
pub struct LoadedTets {
    /// The tets.
    pub mesh: TetMesh,
    /// What was mended or left out.
    pub warnings: Vec<Warning>,
}

/// True if a file holds a body of tets: by its name, or by what is in it where the name leaves that open.
#[must_use]
pub fn is_tets(path: &Path) -> bool {
    match TetFormat::of(path) {
        Some(TetFormat::Vtk | TetFormat::Vtu) => {
            contents(path).is_ok_and(|bytes| vtk_tets::is_body(&bytes))
        }
        found => found.is_some(),
    }
}

/// Reads a file with tets, compressed or not.
///
/// # Errors
///
/// [`ReadError`] if the file cannot be opened, is of no known kind, or makes no sense.
pub fn read_tets(path: &Path) -> Result<LoadedTets, ReadError> {
    let unknown =
        || ReadError::UnknownFormat { path: path.to_owned(), known: TetFormat::known().to_owned() };
    let format = TetFormat::of(path).ok_or_else(unknown)?;
    let mut warnings = Vec::new();
    let found = match format {
        TetFormat::Gmsh => gmsh::read(&contents(path)?, &mut warnings),
        TetFormat::Medit => medit::read(&contents(path)?, &mut warnings),
        TetFormat::Vtk | TetFormat::Vtu => vtk_tets::read(&contents(path)?, &mut warnings),
        TetFormat::Dolfin => dolfin::read(contents(path)?, &mut warnings),
        TetFormat::TetGen => {
            let [node, ele] = pair(path);
            tetgen::read(&contents(&node)?, &contents(&ele)?, &mut warnings)
        }
    };
    let mut mesh =
        found.map_err(|source| ReadError::Malformed { path: path.to_owned(), source })?;
    if mesh.name.is_empty() {
        mesh.name = path.file_stem().map(|s| s.to_string_lossy().into_owned()).unwrap_or_default();
    }
    Ok(LoadedTets { mesh, warnings })
}

fn contents(path: &Path) -> Result<Vec<u8>, ReadError> {
    let io_error = |source| ReadError::Io { path: path.to_owned(), source };
    let bytes = inputs::read(path).map_err(io_error)?;
    inputs::remember(path);
    if !gzip::is_gzip(&bytes) {
        return Ok(bytes);
    }
    let malformed = |source| ReadError::Malformed { path: path.to_owned(), source };
    gzip::decompress(&bytes).map_err(malformed)
}

/// The files that a name stands for: that of TetGen for two.
#[must_use]
pub fn files_of(path: &Path) -> Vec<PathBuf> {
    match TetFormat::of(path) {
        Some(TetFormat::TetGen) => pair(path).to_vec(),
        _ => vec![path.to_owned()],
    }
}

/// The two files of TetGen.
fn pair(path: &Path) -> [PathBuf; 2] {
    ["node", "ele"].map(|ending| path.with_extension(ending))
}

/// Writes tets in the format a name ends with; says what that format cannot hold.
///
/// # Errors
///
/// [`WriteError`] if the file cannot be written, or its kind is unknown.
pub fn write_tets(path: &Path, mesh: &TetMesh) -> Result<Vec<Warning>, WriteError> {
    let unknown = || WriteError::UnknownFormat {
        path: path.to_owned(),
        known: TetFormat::written().to_owned(),
    };
    let is_compressed = path.extension().is_some_and(|e| e.eq_ignore_ascii_case("gz"));
    let format = TetFormat::of(path).filter(|_| !is_compressed).ok_or_else(unknown)?;
    let io_error = |path: &Path, source| WriteError::Io { path: path.to_owned(), source };
    let mut lost = Vec::new();
    match format {
        TetFormat::Gmsh => save(path, |out| {
            gmsh::write(mesh, gmsh::Version::default(), gmsh::Encoding::default(), out)
        }),
        TetFormat::Medit => {
            lost.extend(mesh.attributes.iter().map(|a| a.name.clone()));
            save(path, |out| medit::write(mesh, out))
        }
        TetFormat::Vtk => save(path, |out| vtk_tets::write_legacy(mesh, out)),
        TetFormat::Vtu => save(path, |out| vtk_tets::write_xml(mesh, out)),
        TetFormat::Dolfin => return Err(unknown()),
        TetFormat::TetGen => {
            let [node, ele] = pair(path);
            save(&node, |out| tetgen::write_node(mesh, out))
                .map_err(|source| io_error(&node, source))?;
            save(&ele, |out| tetgen::write_ele(mesh, out))
        }
    }
    .map_err(|source| io_error(path, source))?;
    let say =
        |name: String| format!("the values of '{name}' left out: MEDIT has no place for that");
    Ok(lost.into_iter().map(|name| Warning::new(Place::File, say(name))).collect())
}

/// What every reader does last: checks the vertices, turns tets that are inside out, leaves out what is flat or in no
/// tet, and says so. The reader has checked that tets name vertices that exist and that attributes are as many.
pub(super) fn finish_tets(
    mut mesh: TetMesh,
    warnings: &mut Vec<Warning>,
) -> Result<TetMesh, Malformed> {
    if let Some(bad) = mesh.positions.iter().position(|p| !p.is_finite()) {
        let what = format!("vertex {bad} is not finite: {}", mesh.positions[bad]);
        return Err(Malformed::new(Place::File, what, "correct it, or export the file again"));
    }
    let flat = leave_out_flat(&mut mesh);
    let turned = mesh.orient();
    if mesh.tets.is_empty() {
        let (what, fix) = if flat > 0 {
            ("all tets are flat", "give the body thickness, or export the file again")
        } else {
            ("there is no tet in the file", "make some from a surface: supple tetrahedralize")
        };
        return Err(Malformed::new(Place::File, what, fix));
    }
    let unused = leave_out_unused(&mut mesh);
    for (count, one, many) in [
        (flat, "tet is flat; it is left out", "tets are flat; they are left out"),
        (turned, "tet was inside out; it is turned", "tets were inside out; they are turned"),
        (
            unused,
            "vertex is in no tet; it is left out",
            "vertices are in no tet; they are left out",
        ),
    ] {
        if count > 0 {
            let what = format!("{count} {}", if count == 1 { one } else { many });
            warnings.push(Warning::new(Place::File, what));
        }
    }
    let mut not_finite = 0;
    for (_, values) in mesh.attributes.values_mut() {
        for x in values.as_floats_mut().iter_mut().filter(|x| !x.is_finite()) {
            *x = 0.0;
            not_finite += 1;
        }
    }
    if not_finite > 0 {
        let what = format!("{not_finite} values at vertices are not finite; they became 0");
        warnings.push(Warning::new(Place::File, what));
    }
    Ok(mesh)
}

/// Leaves out tets that are flat as far as rounding can tell; how many there were.
fn leave_out_flat(mesh: &mut TetMesh) -> usize {
    let before = mesh.tets.len();
    let positions = &mesh.positions;
    mesh.tets.retain(|tet| !is_flat(tet.map(|v| positions[v as usize].as_dvec3())));
    before - mesh.tets.len()
}

/// Whether a tet could have no volume, or the other sign, with its corners in another order: below 7 ε of the product of
/// three of its edges the rounding of [`signed_volume`] decides, and its longest edge bounds them all.
fn is_flat(corners: [DVec3; 4]) -> bool {
    let length = |[i, j]: [usize; 2]| (corners[i] - corners[j]).length_squared();
    let longest = EDGES.into_iter().map(length).fold(0.0, f64::max).sqrt();
    signed_volume(corners).abs() <= 8.0 * f64::EPSILON * longest.powi(3)
}

/// Leaves out vertices in no tet, with their values; how many there were.
fn leave_out_unused(mesh: &mut TetMesh) -> usize {
    let mut is_used = vec![false; mesh.positions.len()];
    mesh.tets.as_flattened().iter().for_each(|&v| is_used[v as usize] = true);
    let kept: Vec<u32> = (0..is_used.len() as u32).filter(|&v| is_used[v as usize]).collect();
    let unused = mesh.positions.len() - kept.len();
    if unused == 0 {
        return 0;
    }
    let mut names = vec![0; is_used.len()];
    for (name, &v) in (0..).zip(&kept) {
        names[v as usize] = name;
    }
    mesh.tets.as_flattened_mut().iter_mut().for_each(|v| *v = names[*v as usize]);
    mesh.positions = kept.iter().map(|&v| mesh.positions[v as usize]).collect();
    let mut gathered = Attributes::default();
    for attribute in &mesh.attributes {
        gathered.set(attribute.name.clone(), attribute.values.gather(&kept));
    }
    mesh.attributes = gathered;
    unused
}

#[cfg(test)]
mod tests;
