//! Fields of a time folder: values of cells, and of the faces of patches.

use super::lexer::Foam;
use super::mesh::PolyMesh;
use crate::dataset::Grid;
use crate::io::Malformed;
use crate::io::text::quote;

/// One value for all, or one each.
#[derive(Debug)]
enum Values {
    Uniform(Vec<f64>),
    Each(Vec<f64>),
}

/// A field of cells.
#[derive(Debug)]
pub(super) struct CellValues {
    components: usize,
    cells: Vec<f32>,
    /// Patches by name, and what they are set to.
    patches: Vec<(String, Values)>,
}

impl CellValues {
    /// Reads a `volScalarField` or `volVectorField` of so many cells.
    pub(super) fn read(
        foam: &mut Foam<'_>,
        cells: usize,
        components: usize,
    ) -> Result<Self, Malformed> {
        let mut field = Self { components, cells: Vec::new(), patches: Vec::new() };
        let mut found = false;
        while let Some(key) = foam.word() {
            match key {
                b"internalField" => {
                    field.cells = match values(foam, components)? {
                        Values::Uniform(one) => {
                            one.iter().map(|&x| x as f32).collect::<Vec<_>>().repeat(cells)
                        }
                        Values::Each(all) => all.iter().map(|&x| x as f32).collect(),
                    };
                    found = true;
                }
                b"boundaryField" => field.boundary(foam)?,
                _ => skip_entry(foam)?,
            }
        }
        if !found || field.cells.len() != cells * components {
            let n = field.cells.len() / components;
            return Err(foam.problem(format!("the field has {n} values, the mesh {cells} cells")));
        }
        Ok(field)
    }

    fn boundary(&mut self, foam: &mut Foam<'_>) -> Result<(), Malformed> {
        foam.expect(b"{")?;
        loop {
            let name = foam.word().ok_or_else(|| foam.problem("the boundary is cut off"))?;
            if name == b"}" {
                return Ok(());
            }
            let name = String::from_utf8_lossy(name).trim_matches('"').to_owned();
            if foam.peek() != Some(b"{") {
                skip_entry(foam)?;
                continue;
            }
            foam.expect(b"{")?;
            if let Some(value) = patch(foam, self.components)? {
                self.patches.push((name, value));
            }
        }
    }

    /// Values of points: of the cells around, or of the patch they belong to.
    pub(super) fn at_points(&self, mesh: &PolyMesh, grid: &Grid) -> Result<Vec<f32>, String> {
        let n = self.components;
        let mut values = grid.to_points(n, &self.cells);
        let points = grid.point_count();
        let mut sums = vec![0.0_f64; points * n];
        let mut counts = vec![0_u32; points];
        for patch in &mesh.patches {
            let set = self.patches.iter().find(|(name, _)| *name == patch.name);
            let all = || self.patches.iter().find(|(name, _)| name == ".*");
            let Some((_, set)) = set.or_else(all) else { continue };
            if let Values::Each(each) = set
                && each.len() != patch.count * n
            {
                let found = each.len() / n;
                return Err(format!(
                    "patch '{}' has {found} values for {} faces",
                    patch.name, patch.count
                ));
            }
            for k in 0..patch.count {
                let value = match set {
                    Values::Uniform(one) => &one[..],
                    Values::Each(each) => &each[k * n..(k + 1) * n],
                };
                for &point in &mesh.faces[patch.first + k] {
                    let point = point as usize;
                    counts[point] += 1;
                    sums[point * n..].iter_mut().zip(value).for_each(|(s, x)| *s += x);
                }
            }
        }
        for (point, &count) in counts.iter().enumerate().filter(|(_, c)| **c > 0) {
            for c in 0..n {
                values[point * n + c] = (sums[point * n + c] / f64::from(count)) as f32;
            }
        }
        Ok(values)
    }
}

/// `uniform (1 0 0);` or `nonuniform List<vector> N ( … );`
fn values(foam: &mut Foam<'_>, components: usize) -> Result<Values, Malformed> {
    let word = foam.word().unwrap_or_default();
    let found = match word {
        b"uniform" => Values::Uniform(foam.tuple(components)?),
        b"nonuniform" => {
            // The type of the list; left out if it is empty.
            if foam.peek().is_some_and(|w| w.starts_with(b"List")) {
                let _ = foam.word();
            }
            Values::Each(foam.scalars(components)?)
        }
        other => {
            let what = format!("{} is neither uniform nor nonuniform", quote(other));
            return Err(foam.problem(what));
        }
    };
    foam.expect(b";")?;
    Ok(found)
}

/// The value of a patch, if it has one.
fn patch(foam: &mut Foam<'_>, components: usize) -> Result<Option<Values>, Malformed> {
    let mut found = None;
    let mut fixed = None;
    loop {
        match foam.word().ok_or_else(|| foam.problem("a patch is cut off"))? {
            b"}" => return Ok(fixed.or(found)),
            b"type" => {
                if foam.word() == Some(b"noSlip") {
                    fixed = Some(Values::Uniform(vec![0.0; components]));
                }
                foam.expect(b";")?;
            }
            b"value" => found = Some(values(foam, components)?),
            _ => skip_entry(foam)?,
        }
    }
}

/// Skips what follows a key: up to its semicolon, or a whole dictionary.
fn skip_entry(foam: &mut Foam<'_>) -> Result<(), Malformed> {
    let mut depth = 0_usize;
    let mut first = true;
    loop {
        match foam.word().ok_or_else(|| foam.problem("an entry is cut off"))? {
            b";" if depth == 0 => return Ok(()),
            b"nonuniform" => {
                // Numbers may look like anything in binary.
                let kind = foam.peek().unwrap_or_default().to_vec();
                if kind.starts_with(b"List") {
                    let _ = foam.word();
                }
                let components = if kind == b"List<vector>" { 3 } else { 1 };
                foam.scalars(components)?;
            }
            b"{" => depth += 1,
            b"}" if depth == 0 => return Err(foam.problem("a bracket too many")),
            b"}" => {
                depth -= 1;
                if depth == 0 && !first {
                    return Ok(());
                }
            }
            _ => {}
        }
        first = false;
    }
}
