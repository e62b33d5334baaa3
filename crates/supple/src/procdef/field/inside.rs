//! Interpolation in the body: harmonic or biharmonic functions on the tets.
//!
//! # Method
//!
//! The stiffness matrix `L` of linear elements. *Harmonic*: `L f = 0` off the constrained vertices, by conjugate gradients
//! with Jacobi's preconditioner; never outside the range of what is known where the mesh is well shaped, but a single
//! vertex becomes a spike. *Biharmonic*: `L M⁻¹ L f = 0`, smooth through single points, factorised directly.
//!
//! # Limits
//!
//! Constraints act at the vertex nearest to them. Parts of a body where nothing is known keep the mean of what is.

use glam::DVec3;

use super::Known;
use crate::Run;
use crate::mesh::TetMesh;
use crate::sparse::{Analysis, Entry, Matrix, dissection};

/// Residual at which conjugate gradients stop, over that of the start.
const TOLERANCE: f64 = 1e-7;
/// Most iterations.
const MOST_ITERATIONS: usize = 5000;

/// How a field goes through the body.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Smoothness {
    /// Least slope: right for painted regions and sections.
    Harmonic,
    /// Least bending: right for points and strokes.
    Biharmonic,
}

/// The stiffness matrix of linear elements, by rows: the off-diagonal entries, and the diagonal.
struct Stiffness {
    starts: Vec<u32>,
    columns: Vec<u32>,
    values: Vec<f64>,
    diagonal: Vec<f64>,
    masses: Vec<f64>,
}

impl Stiffness {
    fn new(mesh: &TetMesh, run: &Run<'_>) -> Self {
        let count = mesh.positions.len();
        let (mut diagonal, mut masses) = (vec![0.0; count], vec![0.0; count]);
        // Three entries a corner of a tet, row by row.
        let mut ends = vec![0_u32; count + 1];
        mesh.tets.iter().flatten().for_each(|&v| ends[v as usize + 1] += 3);
        for i in 0..count {
            ends[i + 1] += ends[i];
        }
        let mut next = ends.clone();
        let mut entries = vec![(u32::MAX, 0.0); ends[count] as usize];
        for (t, tet) in mesh.tets.iter().enumerate() {
            let x = mesh.corners_of(t).map(|p| p.as_dvec3());
            let volume = mesh.volume_of(t).abs();
            let size = x[1..].iter().map(|p| (*p - x[0]).length_squared()).fold(0.0, f64::max);
            // A sliver's cotangents are beyond all bounds; it hardly belongs to the body.
            if volume <= 1e-9 * size * size.sqrt() {
                continue;
            }
            let gradients = hat_gradients(&x);
            for (i, &v) in tet.iter().enumerate() {
                let v = v as usize;
                masses[v] += 0.25 * volume;
                diagonal[v] += volume * gradients[i].length_squared();
                for j in (0..4).filter(|&j| j != i) {
                    entries[next[v] as usize] = (tet[j], volume * gradients[i].dot(gradients[j]));
                    next[v] += 1;
                }
            }
        }
        let rows = run.map(count, |i| summed(&entries[ends[i] as usize..next[i] as usize]));
        let mut stiffness =
            Self { starts: vec![0], columns: Vec::new(), values: Vec::new(), diagonal, masses };
        for row in rows {
            stiffness.columns.extend(row.iter().map(|e| e.0));
            stiffness.values.extend(row.iter().map(|e| e.1));
            stiffness.starts.push(stiffness.columns.len() as u32);
        }
        stiffness
    }

    fn row(&self, i: usize) -> impl Iterator<Item = (usize, f64)> + '_ {
        let range = self.starts[i] as usize..self.starts[i + 1] as usize;
        self.columns[range.clone()]
            .iter()
            .map(|&c| c as usize)
            .zip(self.values[range].iter().copied())
    }

    fn times(&self, x: &[f64], run: &Run<'_>) -> Vec<f64> {
        run.map(x.len(), |i| {
            self.diagonal[i] * x[i] + self.row(i).map(|(j, v)| v * x[j]).sum::<f64>()
        })
    }
}

/// The entries of a row by column, those of one column added up.
fn summed(entries: &[(u32, f64)]) -> Vec<(u32, f64)> {
    let mut sorted = entries.to_vec();
    sorted.sort_by_key(|e| e.0);
    let sum = |group: &[(u32, f64)]| (group[0].0, group.iter().map(|e| e.1).sum());
    sorted.chunk_by(|a, b| a.0 == b.0).map(sum).collect()
}

/// The gradients of the four linear functions that are 1 at one corner.
pub(in crate::procdef) fn hat_gradients(x: &[DVec3; 4]) -> [DVec3; 4] {
    let [a, b, c] = [x[1] - x[0], x[2] - x[0], x[3] - x[0]];
    let det = a.cross(b).dot(c);
    let [g1, g2, g3] = [b.cross(c) / det, c.cross(a) / det, a.cross(b) / det];
    [-(g1 + g2 + g3), g1, g2, g3]
}

/// A field over the vertices of a mesh.
#[must_use]
pub fn interpolate(
    mesh: &TetMesh,
    known: &[Known<1>],
    smoothness: Smoothness,
    run: &Run<'_>,
) -> Vec<f64> {
    let fixed = fix(mesh, known, run);
    let stiffness = Stiffness::new(mesh, run);
    match smoothness {
        Smoothness::Harmonic => harmonic(&stiffness, &fixed, run),
        Smoothness::Biharmonic => {
            biharmonic(&stiffness, &fixed, run).unwrap_or_else(|| harmonic(&stiffness, &fixed, run))
        }
    }
}

/// The mean of what is known at each vertex that is nearest to something known.
fn fix(mesh: &TetMesh, known: &[Known<1>], run: &Run<'_>) -> Vec<Option<f64>> {
    let mut sums = vec![(0.0, 0.0); mesh.positions.len()];
    let mut used = vec![false; mesh.positions.len()];
    mesh.tets.iter().flatten().for_each(|&v| used[v as usize] = true);
    let nearest = run.map_tasks(known.len(), |k| {
        let mut best = (f64::INFINITY, None);
        for (v, p) in mesh.positions.iter().enumerate() {
            let square = p.as_dvec3().distance_squared(known[k].at);
            if square < best.0 && used[v] {
                best = (square, Some(v));
            }
        }
        best.1
    });
    for (k, v) in known.iter().zip(nearest) {
        if let Some(v) = v {
            sums[v].0 += k.value[0];
            sums[v].1 += 1.0;
        }
    }
    sums.into_iter().map(|(sum, n)| (n > 0.0).then(|| sum / n)).collect()
}

fn mean(fixed: &[Option<f64>]) -> f64 {
    let (sum, n) = fixed.iter().flatten().fold((0.0, 0.0), |(s, n), v| (s + v, n + 1.0));
    if n > 0.0 { sum / n } else { 0.0 }
}

fn harmonic(stiffness: &Stiffness, fixed: &[Option<f64>], run: &Run<'_>) -> Vec<f64> {
    run.install(|| conjugate_gradients(stiffness, fixed, run))
}

fn conjugate_gradients(stiffness: &Stiffness, fixed: &[Option<f64>], run: &Run<'_>) -> Vec<f64> {
    let count = fixed.len();
    let middle = mean(fixed);
    let mut x: Vec<f64> = fixed.iter().map(|f| f.unwrap_or(middle)).collect();
    let free = |i: usize, value: f64| if fixed[i].is_some() { 0.0 } else { value };
    let scale =
        |i: usize| if stiffness.diagonal[i] > 0.0 { 1.0 / stiffness.diagonal[i] } else { 0.0 };
    let start = stiffness.times(&x, run);
    let mut r: Vec<f64> = (0..count).map(|i| free(i, -start[i])).collect();
    let mut p: Vec<f64> = (0..count).map(|i| scale(i) * r[i]).collect();
    let mut rz = run.sum(count, |i| r[i] * scale(i) * r[i]);
    let enough = TOLERANCE * TOLERANCE * rz;
    for _ in 0..MOST_ITERATIONS {
        if rz <= enough {
            break;
        }
        let ap = stiffness.times(&p, run);
        let bend = run.sum(count, |i| p[i] * free(i, ap[i]));
        if bend <= 0.0 {
            break;
        }
        let step = rz / bend;
        for i in 0..count {
            x[i] += step * p[i];
            r[i] -= step * free(i, ap[i]);
        }
        let next = run.sum(count, |i| r[i] * scale(i) * r[i]);
        let share = next / rz;
        rz = next;
        (0..count).for_each(|i| p[i] = scale(i) * r[i] + share * p[i]);
    }
    x
}

/// Nothing where the matrix cannot be factorised.
fn biharmonic(stiffness: &Stiffness, fixed: &[Option<f64>], run: &Run<'_>) -> Option<Vec<f64>> {
    let count = fixed.len();
    let known = fixed.iter().flatten().count();
    let linear = known < 3;
    if known == 0 || linear {
        return None;
    }
    let mut place = vec![u32::MAX; count];
    let free: Vec<usize> =
        (0..count).filter(|&i| fixed[i].is_none() && stiffness.masses[i] > 0.0).collect();
    free.iter().enumerate().for_each(|(k, &i)| place[i] = k as u32);
    let mut entries = Vec::new();
    let mut right = vec![0.0; free.len()];
    let mut row: Vec<(usize, f64)> = Vec::new();
    for k in (0..count).filter(|&k| stiffness.masses[k] > 0.0) {
        row.clear();
        row.push((k, stiffness.diagonal[k]));
        row.extend(stiffness.row(k));
        let weight = 1.0 / stiffness.masses[k];
        for &(i, a) in row.iter().filter(|(i, _)| place[*i] != u32::MAX) {
            for &(j, b) in &row {
                let value = weight * a * b;
                match fixed[j] {
                    Some(f) => right[place[i] as usize] -= value * f,
                    None if place[j] <= place[i] => {
                        entries.push(Entry { row: place[i], column: place[j], value });
                    }
                    None => {}
                }
            }
        }
    }
    let matrix = Matrix::new(free.len(), &entries).ok()?;
    let order = dissection::from_graph(&matrix.graph(), run);
    let factor = Analysis::new(&matrix, &order).ok()?.factorise(&matrix).ok()?;
    factor.solve(&mut right, run);
    let middle = mean(fixed);
    let value = |i: usize| match fixed[i] {
        Some(f) => f,
        None if place[i] == u32::MAX => middle,
        None => right[place[i] as usize],
    };
    Some((0..count).map(value).collect())
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::zoo::tet_bodies;

    #[test]
    fn a_harmonic_field_between_two_ends_is_linear() {
        let bar = tet_bodies::build("bar", Some(525)).unwrap();
        let end = |p: &&glam::Vec3| p.x.abs() > 2.49;
        let known: Vec<Known<1>> = bar
            .positions
            .iter()
            .filter(end)
            .map(|p| Known { at: p.as_dvec3(), value: [f64::from(p.x)] })
            .collect();
        let field = interpolate(&bar, &known, Smoothness::Harmonic, &Run::default());
        let off = field.iter().zip(&bar.positions).map(|(f, p)| (f - f64::from(p.x)).abs());
        let off = off.fold(0.0, f64::max);
        assert!(off < 1e-4, "{off}");
    }

    #[test]
    fn scattered_points_are_met_better_with_least_bending() {
        let bar = tet_bodies::build("bar", Some(525)).unwrap();
        let exact = |p: &glam::Vec3| libm::sin(f64::from(p.x)) + 0.5 * f64::from(p.y);
        let some = bar.positions.iter().step_by(9);
        let known: Vec<Known<1>> =
            some.map(|p| Known { at: p.as_dvec3(), value: [exact(p)] }).collect();
        let error = |smoothness: Smoothness| {
            let field = interpolate(&bar, &known, smoothness, &Run::default());
            let off = field.iter().zip(&bar.positions).map(|(f, p)| (f - exact(p)).powi(2));
            (off.sum::<f64>() / field.len() as f64).sqrt()
        };
        let (bent, flat) = (error(Smoothness::Biharmonic), error(Smoothness::Harmonic));
        assert!(bent < 0.7 * flat && bent < 0.1, "biharmonic {bent}, harmonic {flat}");
    }

    /// The ends of the S are close to each other in space; phase must follow the bowel.
    #[test]
    fn phase_painted_on_the_ends_of_the_bowel_is_arc_length_in_the_body_alone() {
        let bowel = tet_bodies::build("bowel", None).unwrap();
        let along = |v: usize| (v % 44) as f64 / 43.0;
        assert_eq!(bowel.positions.len() % 44, 0, "44 vertices along");
        let ends = (0..bowel.positions.len()).filter(|&v| matches!(v % 44, 0 | 43));
        let known: Vec<Known<1>> =
            ends.map(|v| Known { at: bowel.positions[v].as_dvec3(), value: [along(v)] }).collect();
        let error = |field: &dyn Fn(usize) -> f64| {
            (0..bowel.positions.len()).map(|v| (field(v) - along(v)).abs()).fold(0.0, f64::max)
        };
        let body = interpolate(&bowel, &known, Smoothness::Harmonic, &Run::default());
        let inside = error(&|v| body[v]);
        assert!(inside < 0.03, "in the body: {inside}");
        let space = super::super::space::Interpolant::new(&known, &Run::default()).unwrap();
        let outside = error(&|v| space.at(bowel.positions[v].as_dvec3())[0]);
        assert!(outside > 0.1, "in space: {outside}");
    }
}
