//! Interpolation in the body: harmonic or biharmonic functions on the tets.
//!
//! # Method
//!
//! The stiffness matrix `L` of linear elements. *Harmonic*: `L f = 0` off the constrained vertices, by conjugate gradients
//! with Jacobi's preconditioner and, for large bodies, a coarse problem beside it; never outside the range of what is known where the mesh is well shaped, but a single
//! vertex becomes a spike. *Biharmonic*: `L M⁻¹ L f = 0`, smooth through single points, factorised directly.
//!
//! # Limits
//!
//! Constraints act at the vertex nearest to them. Parts of a body where nothing is known keep the mean of what is.

use glam::DVec3;

use super::Known;
use crate::Run;
use crate::mesh::TetMesh;
use crate::sparse::{Analysis, Entry, Factor, Matrix, dissection};

/// Residual at which conjugate gradients stop, over that of the start.
const TOLERANCE: f64 = 1e-7;
/// Vertices of a patch of the coarse problem.
const PATCH: usize = 256;
/// With fewer vertices than this there is no coarse problem.
const COARSE_FROM: usize = 4096;
/// By how much the diagonal of the coarse matrix is raised, as a share of it.
const SINGULAR: f64 = 1e-9;
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
    let preconditioner = Preconditioner::new(stiffness, fixed, run);
    let start = stiffness.times(&x, run);
    let mut r: Vec<f64> = (0..count).map(|i| free(i, -start[i])).collect();
    let mut z = preconditioner.times(&r, run);
    let mut p = z.clone();
    let mut rz = run.sum(count, |i| r[i] * z[i]);
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
        run.for_each(&mut x, |i, x| *x += step * p[i]);
        run.for_each(&mut r, |i, r| *r -= step * free(i, ap[i]));
        z = preconditioner.times(&r, run);
        let next = run.sum(count, |i| r[i] * z[i]);
        let share = next / rz;
        rz = next;
        run.for_each(&mut p, |i, p| *p = z[i] + share * *p);
    }
    x
}

/// Jacobi's preconditioner and, for what it leaves to many iterations, a coarse problem: constants on patches of the graph
/// (Nicolaides).
struct Preconditioner {
    /// One over the diagonal; 0 at what is fixed.
    scales: Vec<f64>,
    coarse: Option<Coarse>,
}

/// The matrix for functions that are constant on each patch.
struct Coarse {
    /// The patch of each vertex; none where it is fixed.
    of: Vec<u32>,
    /// The vertices of all patches, and where those of each begin.
    members: Vec<u32>,
    starts: Vec<u32>,
    factor: Factor,
}

impl Preconditioner {
    fn new(stiffness: &Stiffness, fixed: &[Option<f64>], run: &Run<'_>) -> Self {
        let scale = |(f, d): (&Option<f64>, &f64)| match f {
            None if *d > 0.0 => 1.0 / d,
            _ => 0.0,
        };
        let scales: Vec<f64> = fixed.iter().zip(&stiffness.diagonal).map(scale).collect();
        let is_large = fixed.len() >= COARSE_FROM;
        let coarse = is_large.then(|| Coarse::new(stiffness, &scales, run)).flatten();
        Self { scales, coarse }
    }

    fn times(&self, r: &[f64], run: &Run<'_>) -> Vec<f64> {
        let Some(coarse) = &self.coarse else {
            return run.map(r.len(), |i| self.scales[i] * r[i]);
        };
        let steps = coarse.solve(r, run);
        run.map(r.len(), |i| {
            let step = steps.get(coarse.of[i] as usize).copied().unwrap_or(0.0);
            self.scales[i] * r[i] + step
        })
    }
}

impl Coarse {
    /// `None` if the coarse matrix cannot be factorised.
    fn new(stiffness: &Stiffness, scales: &[f64], run: &Run<'_>) -> Option<Self> {
        let (of, members, starts) = patches(stiffness, scales);
        let count = starts.len() - 1;
        let rows = run.map_tasks(count, |a| {
            let mut row: Vec<(u32, f64)> = Vec::new();
            for &i in &members[starts[a] as usize..starts[a + 1] as usize] {
                row.push((a as u32, stiffness.diagonal[i as usize]));
                row.extend(stiffness.row(i as usize).map(|(j, value)| (of[j], value)));
            }
            row.retain(|(b, _)| *b as usize <= a);
            summed(&row)
        });
        let mut entries = Vec::new();
        for (a, row) in (0_u32..).zip(rows) {
            for (b, value) in row {
                // A part of the body where nothing is fixed has constants that cost nothing.
                let value = if a == b { (1.0 + SINGULAR) * value } else { value };
                entries.push(Entry { row: a, column: b, value });
            }
        }
        let matrix = Matrix::new(count, &entries).ok()?;
        let order = dissection::from_graph(&matrix.graph(), run);
        let factor = Analysis::new(&matrix, &order).ok()?.factorise(&matrix).ok()?;
        Some(Self { of, members, starts, factor })
    }

    fn solve(&self, r: &[f64], run: &Run<'_>) -> Vec<f64> {
        let mut sums = run.map(self.starts.len() - 1, |a| {
            let members = &self.members[self.starts[a] as usize..self.starts[a + 1] as usize];
            members.iter().map(|&i| r[i as usize]).sum::<f64>()
        });
        self.factor.solve(&mut sums, run);
        sums
    }
}

/// Patches of up to [`PATCH`] free vertices that hang together, grown ring by ring: the patch of each vertex, the members of
/// all and where those of each begin.
fn patches(stiffness: &Stiffness, scales: &[f64]) -> (Vec<u32>, Vec<u32>, Vec<u32>) {
    let mut of = vec![u32::MAX; scales.len()];
    let (mut members, mut starts) = (Vec::new(), vec![0_u32]);
    for seed in 0..scales.len() {
        if scales[seed] == 0.0 || of[seed] != u32::MAX {
            continue;
        }
        let (first, patch) = (members.len(), starts.len() as u32 - 1);
        of[seed] = patch;
        members.push(seed as u32);
        let mut next = first;
        while next < members.len() && members.len() < first + PATCH {
            for (j, _) in stiffness.row(members[next] as usize) {
                if of[j] == u32::MAX && scales[j] > 0.0 && members.len() < first + PATCH {
                    of[j] = patch;
                    members.push(j as u32);
                }
            }
            next += 1;
        }
        starts.push(members.len() as u32);
    }
    (of, members, starts)
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

    /// A long bar that only its ends hold: large enough for a coarse problem, with a part that hangs together with nothing.
    #[test]
    fn a_coarse_problem_changes_the_way_and_not_the_field() {
        let mut bar = tet_bodies::build("bar", Some(6000)).unwrap();
        let known: Vec<Known<1>> = bar
            .positions
            .iter()
            .filter(|p| p.x.abs() > 2.49)
            .map(|p| Known { at: p.as_dvec3(), value: [f64::from(p.x)] })
            .collect();
        let (count, apart) =
            (bar.positions.len() as u32, tet_bodies::build("bar", Some(225)).unwrap());
        bar.positions.extend(apart.positions.iter().map(|p| *p + 100.0 * glam::Vec3::Y));
        bar.tets.extend(apart.tets.iter().map(|t| t.map(|v| v + count)));
        let fixed = fix(&bar, &known, &Run::default());
        let stiffness = Stiffness::new(&bar, &Run::default());
        assert!(Preconditioner::new(&stiffness, &fixed, &Run::default()).coarse.is_some());
        let field = interpolate(&bar, &known, Smoothness::Harmonic, &Run::default());
        for (f, p) in field.iter().zip(&bar.positions) {
            let wanted = if p.y > 50.0 { 0.0 } else { f64::from(p.x) };
            assert!((f - wanted).abs() < 1e-4, "{f} at {p}");
        }
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
