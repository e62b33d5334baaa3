//! DOLFIN `.h5`: tet meshes with functions on them, as legacy `FEniCS` writes them (`HDF5File`).
//!
//! The first group with `coordinates` and a `topology` of four corners is the mesh. Groups with `cell_dofs` and `vector_0`
//! are functions; piecewise linear ones, of one or three components, become values at the vertices under their own name
//! (`fiber`, `sheet` …). `FEniCS` numbers the corners of a cell in ascending order and its unknowns component by component.
//! Other functions and markers are left out, the functions with a warning.

use hdf5_reader::group::Group;
use hdf5_reader::{Dataset, Hdf5File, OpenOptions};

use super::tets::finish_tets;
use super::{Malformed, Place, Warning};
use crate::mesh::{TetMesh, Values};

/// Most bytes of one array.
const MOST_BYTES: usize = 1 << 31;
/// How many times as long as the file an array may be: no compression of HDF5 does better.
const MOST_RATIO: usize = 1032;
/// Most groups of a file.
const MOST_GROUPS: usize = 10_000;
/// How deep groups may lie in each other.
const DEEPEST: usize = 16;

/// Reads a mesh and its functions.
///
/// # Errors
///
/// [`Malformed`] if the file is no HDF5, or there are no tets in it.
pub fn read(data: Vec<u8>, warnings: &mut Vec<Warning>) -> Result<TetMesh, Malformed> {
    let most = data.len().saturating_mul(MOST_RATIO).min(MOST_BYTES);
    let options = OpenOptions::default().with_max_read_bytes(most);
    let file = Hdf5File::from_vec_with_options(data, options)
        .map_err(|e| broken(format!("it is no HDF5 file that can be read ({e})")))?;
    let root = file.root_group().map_err(|e| broken(format!("its root is unreadable ({e})")))?;
    let mut groups = Vec::new();
    collect(&root, 0, most, &mut groups)?;
    let mesh = groups.iter().find_map(Cells::of).ok_or_else(|| {
        let fix = "save the mesh with HDF5File.write(mesh, \"mesh\"), or convert it to .vtu";
        Malformed::new(Place::File, "there is no mesh of tets in it", fix)
    })?;
    let (cells, positions) = mesh?;
    let mut body = TetMesh::new(positions, cells.tets.clone());
    for group in &groups {
        if let Some(function) = function(group, &cells, body.positions.len()) {
            match function {
                Ok(values) => body.attributes.set(name_of(group), values),
                Err(why) => {
                    let what = format!("function '{}' left out: {why}", name_of(group));
                    warnings.push(Warning::new(Place::File, what));
                }
            }
        }
    }
    finish_tets(body, warnings)
}

fn broken(what: String) -> Malformed {
    Malformed::new(Place::File, what, "export the file again, or convert it to .vtu")
}

/// A group with its arrays.
struct Entry {
    group: Group,
    arrays: Vec<Dataset>,
}

impl Entry {
    fn array(&self, name: &str) -> Option<&Dataset> {
        let last = |d: &Dataset| d.name().rsplit('/').next() == Some(name);
        self.arrays.iter().find(|d| last(d))
    }
}

/// A group and all below it, parents first; no array may have more than so many bytes.
fn collect(
    group: &Group,
    depth: usize,
    most: usize,
    all: &mut Vec<Entry>,
) -> Result<(), Malformed> {
    if depth > DEEPEST || all.len() > MOST_GROUPS {
        return Err(broken("its groups lie too deep in each other, or are too many".to_owned()));
    }
    let (below, arrays) = group
        .members()
        .map_err(|e| broken(format!("the group '{}' is unreadable ({e})", group.name())))?;
    let is_huge = |a: &&Dataset| a.num_elements().is_ok_and(|n| n > most as u64 / 8);
    if let Some(array) = arrays.iter().find(is_huge) {
        let what = format!("the array '{}' claims more than the file can hold", array.name());
        return Err(broken(what));
    }
    all.push(Entry { group: group.clone(), arrays });
    below.iter().try_for_each(|group| collect(group, depth + 1, most, all))
}

/// The name that was given to a function, or that of its group.
fn name_of(entry: &Entry) -> String {
    let given = entry.group.attribute("name").ok().and_then(|a| a.read_string().ok());
    let own = entry.group.name().rsplit('/').next().unwrap_or_default().to_owned();
    given.map(|n| n.trim_matches('\0').to_owned()).filter(|n| !n.is_empty()).unwrap_or(own)
}

/// All numbers of an array, whatever their type.
fn numbers(array: &Dataset) -> Option<Vec<f64>> {
    let count = usize::try_from(array.num_elements().ok()?).ok()?;
    let mut floats = vec![0.0_f64; count];
    if array.read_into(&mut floats).is_ok() {
        return Some(floats);
    }
    let mut signed = vec![0_i64; count];
    if array.read_into(&mut signed).is_ok() {
        return Some(signed.into_iter().map(|n| n as f64).collect());
    }
    let mut whole = vec![0_u64; count];
    if array.read_into(&mut whole).is_ok() {
        return Some(whole.into_iter().map(|n| n as f64).collect());
    }
    let mut short = vec![0_i32; count];
    array.read_into(&mut short).ok()?;
    Some(short.into_iter().map(f64::from).collect())
}

/// Numbers as indices below a bound.
fn indices(array: &Dataset, below: usize) -> Option<Vec<usize>> {
    let index = |n: f64| (n >= 0.0 && n < below as f64 && n.fract() == 0.0).then_some(n as usize);
    numbers(array)?.into_iter().map(index).collect()
}

/// The tets of a mesh, and which of them a cell's number means.
struct Cells {
    tets: Vec<[u32; 4]>,
    of_number: Vec<usize>,
}

impl Cells {
    /// The mesh in a group, if it has one of tets.
    fn of(entry: &Entry) -> Option<Result<(Self, Vec<glam::Vec3>), Malformed>> {
        let (points, corners) = (entry.array("coordinates")?, entry.array("topology")?);
        let &[count, 3] = points.shape() else { return None };
        let &[_, 4] = corners.shape() else { return None };
        let wrong = |what: &str| broken(format!("{what} of the mesh '{}'", entry.group.name()));
        let Some(points) = numbers(points) else {
            return Some(Err(wrong("the coordinates are unreadable")));
        };
        let Some(corners) = indices(corners, count as usize) else {
            return Some(Err(wrong("a tet names a vertex that is not there, in the topology")));
        };
        let positions = points.chunks_exact(3);
        let positions = positions.map(|p| glam::DVec3::new(p[0], p[1], p[2]).as_vec3()).collect();
        let tets: Vec<[u32; 4]> =
            corners.chunks_exact(4).map(|c| std::array::from_fn(|k| c[k] as u32)).collect();
        let numbers = entry.array("cell_indices").and_then(|a| indices(a, tets.len()));
        let mut of_number: Vec<usize> = (0..tets.len()).collect();
        for (row, number) in numbers.into_iter().flatten().enumerate().take(tets.len()) {
            of_number[number] = row;
        }
        Some(Ok((Self { tets, of_number }, positions)))
    }
}

/// The values of a function at the vertices, or why it has none there; nothing for a group that is no function.
fn function(entry: &Entry, cells: &Cells, vertices: usize) -> Option<Result<Values, String>> {
    let (dofs, vector) = (entry.array("cell_dofs")?, entry.array("vector_0")?);
    let Some(vector) = numbers(vector) else {
        return Some(Err("its vector is unreadable".to_owned()));
    };
    let count = cells.tets.len();
    let dofs = indices(dofs, vector.len());
    let components = match &dofs {
        Some(dofs) if count > 0 && dofs.len() == 4 * count => 1,
        Some(dofs) if count > 0 && dofs.len() == 12 * count => 3,
        _ => {
            return Some(Err("only piecewise linear functions have values at vertices".to_owned()));
        }
    };
    let signature = entry.group.attribute("signature").ok().and_then(|a| a.read_string().ok());
    if signature.is_some_and(|s| !s.contains("Lagrange")) {
        return Some(Err("only Lagrange elements have values at vertices".to_owned()));
    }
    let numbers = entry.array("cells").and_then(|a| indices(a, count));
    let mut values = vec![0.0_f32; components * vertices];
    for (k, dofs) in dofs.unwrap_or_default().chunks_exact(4 * components).enumerate() {
        let number = numbers.as_ref().and_then(|n| n.get(k).copied()).unwrap_or(k);
        let mut corners = cells.tets[cells.of_number[number]];
        corners.sort_unstable();
        for (corner, &v) in corners.iter().enumerate() {
            for component in 0..components {
                let value = vector[dofs[4 * component + corner]] as f32;
                values[components * v as usize + component] = value;
            }
        }
    }
    let vectors = |v: &[f32]| v.chunks_exact(3).map(glam::Vec3::from_slice).collect();
    Some(Ok(if components == 1 { Values::Scalar(values) } else { Values::Vec3(vectors(&values)) }))
}
