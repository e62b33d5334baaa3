//! Design backwards from a motion: a cyclic sequence of shapes becomes directions, amplitude, phase and charts.
//!
//! # Method
//!
//! In every frame each region has the logarithm `L(t)` of its right stretch (see [`target`](super::Body::stretches_for)). Its
//! directions are the eigenvectors of `Σ_t L²`; along them three curves remain. All regions are taken to play the same
//! three curves, each as strongly as its amplitude `a` says and as late as its phase `τ`:
//!
//! ```text
//! L(t) ≈ a Σ_k C_k(t − τ) d_k d_kᵀ
//! ```
//!
//! Curves are Fourier series over the cycle. Amplitude and phase of a region are where its curves agree best with the
//! common ones, the common ones are the mean of all curves moved to phase zero, weighted by amplitude; a few rounds of both
//! settle.
//!
//! Neighbouring regions average, so the stretches that a body shows are smoother and later than those that drive it. What
//! was learned is therefore played, and what is missing in what it shows is added to what drives it, a few times:
//! `L ← a C d dᵀ + (L_wanted − L_played)`, fitted again. The round that shows most of the motion is kept
//! (`a_bowel_is_learned_from_its_skin_alone` holds 95 %).
//!
//! # Limits
//!
//! Frames are cyclic: the whole sequence is one cycle, or several of equal length; its first frame is the scene's time 0.
//! Of a skin alone the motion inside is interpolated harmonically. Vertices that hardly move are taken to be held, nothing
//! else of the surroundings is known. What travels at a speed that changes, or changes its shape on the way, is explained
//! in part; [`Learned::explained`] says how much.
//!
//! # References
//!
//! The inverse design that Ijiri et al. 2009 name as future work.

use std::f64::consts::TAU;

use glam::{DMat3, DVec3, Vec3};

use super::chart::{Between, MOST_STRETCH, Volume};
use super::field::Known;
use super::field::inside::{self, Smoothness};
use super::orientation::{Alike, Fibers};
use super::replay::Wanted;
use super::rotation::jacobi;
use super::target::{logarithm, outer};
use super::tissue::Fields;
use super::{Body, Chart};
use crate::Run;
use crate::mesh::TetMesh;

/// Most harmonics of a curve.
const HARMONICS: usize = 12;
/// Rounds of fitting curves and fitting regions to them.
const ROUNDS: usize = 8;
/// The same, beginning with curves that were fitted before.
const FEWER_ROUNDS: usize = 2;
/// How often what was learned is played and corrected.
const CORRECTIONS: usize = 4;
/// Shifts that are tried for a region's phase.
const SHIFTS: usize = 192;
/// Control points of a learned curve.
const POINTS: usize = 24;
/// Two frames whose stretches differ by less than this share of the motion are the same moment of the cycle.
const SAME: f64 = 0.03;
/// Fewest frames of a cycle.
pub const FEWEST_FRAMES: usize = 6;

/// What a motion is made of.
#[derive(Clone, Debug)]
pub struct Learned {
    /// Directions, amplitude and phase at every vertex of the mesh.
    pub fields: Fields,
    /// The curves, `cycle` seconds long; phase travels once through the body in a cycle.
    pub chart: Chart,
    /// The share of the motion that is there again when they are played: of all vertices' ways from their mean places,
    /// squared; of a body that nothing holds, less its motion as a whole.
    pub explained: f64,
    /// The same share of all local stretching.
    pub stretching: f64,
    /// The vertices of the mesh that the motion holds still.
    pub held: Vec<u32>,
    /// Frames of a cycle.
    pub frames: usize,
}

/// Why nothing is learned.
#[derive(Clone, Debug, PartialEq, thiserror::Error)]
pub enum Error {
    /// The mesh cannot be moved.
    #[error(transparent)]
    Body(#[from] super::Error),
    /// Too few frames.
    #[error("{count} frames are too few: a cycle needs at least {FEWEST_FRAMES}")]
    Frames {
        /// How many.
        count: usize,
    },
    /// A frame does not fit.
    #[error("frame {frame} has {found} vertices, where the body has {expected}")]
    Count {
        /// Which frame.
        frame: usize,
        /// How many it has.
        found: usize,
        /// How many it should have.
        expected: usize,
    },
    /// A frame has no numbers.
    #[error("frame {frame} has a coordinate that is no number")]
    NotFinite {
        /// Which frame.
        frame: usize,
    },
    /// Nothing stretches.
    #[error("nothing stretches in this sequence: the body only moves as a whole, or not at all")]
    Still,
}

/// Learns from the positions of a mesh's vertices in frames of one cycle, or of several: then `cycle_frames` is the
/// length of one, or it is found here.
///
/// # Errors
///
/// For frames that are too few or do not fit, and for a motion without any stretching.
pub fn learn(
    mesh: &TetMesh,
    frames: &[Vec<Vec3>],
    (cycle_frames, fps): (Option<usize>, f64),
    run: &Run<'_>,
) -> Result<Learned, Error> {
    check(frames, mesh.positions.len())?;
    let body = Body::new(mesh)?;
    let logs: Vec<Vec<DMat3>> =
        run.map_tasks(frames.len(), |f| body.stretch_logarithms(&frames[f]));
    let period = cycle_frames.unwrap_or_else(|| period(&logs)).clamp(1, frames.len());
    if period < FEWEST_FRAMES {
        return Err(Error::Frames { count: period });
    }
    // The last whole cycles: what came before may still be getting going.
    let first = frames.len() - (frames.len() / period).min(3) * period;
    let cycle: Vec<Vec<DMat3>> = (0..period).map(|t| mean_of(&logs, (first, period), t)).collect();
    let last = |t: usize| (frames.len() - period..frames.len()).find(|k| k % period == t);
    let shown = (0..period).filter_map(last).map(|k| frames[k].clone()).collect();
    let wanted = Wanted::new(&mesh.positions, shown, fps);
    corrected(&body, &mesh.positions, (&cycle, &wanted), fps, run)
}

/// Fits, plays and corrects; what shows most of the motion.
fn corrected(
    body: &Body,
    rest: &[Vec3],
    (cycle, wanted): (&[Vec<DMat3>], &Wanted),
    fps: f64,
    run: &Run<'_>,
) -> Result<Learned, Error> {
    let mut driving = cycle.to_vec();
    let (mut common, mut best) = (None, None::<Learned>);
    for round in 0..=CORRECTIONS {
        let regions: Vec<Region> = run.map(body.regions.len(), |r| Region::new(&driving, r));
        let fit = Fit::new(&regions, common).ok_or(Error::Still)?;
        let (fields, chart) = (fit.fields(body, &regions), fit.chart(cycle.len() as f64 / fps));
        let Some(played) = wanted.played(body, (&fields, &chart), run) else { break };
        let logs: Vec<Vec<DMat3>> =
            run.map_tasks(played.len(), |f| body.stretch_logarithms(&played[f]));
        let explained = wanted.explained(rest, &played);
        if best.as_ref().is_none_or(|b| explained > b.explained) {
            let (stretching, held) = (agreement(cycle, &logs), wanted.held());
            best =
                Some(Learned { fields, chart, explained, stretching, held, frames: cycle.len() });
        }
        if round < CORRECTIONS {
            driving = fit.driving(&regions, (cycle, &logs), run);
        }
        common = Some(fit.common);
    }
    best.ok_or(Error::Still)
}

/// The share of stretching that another has in common with it.
fn agreement(wanted: &[Vec<DMat3>], played: &[Vec<DMat3>]) -> f64 {
    let pairs = || wanted.iter().flatten().zip(played.iter().flatten());
    let all: f64 = pairs().map(|(w, _)| square(*w)).sum();
    1.0 - pairs().map(|(w, p)| square(*w - *p)).sum::<f64>() / all
}

fn check(frames: &[Vec<Vec3>], expected: usize) -> Result<(), Error> {
    if frames.len() < FEWEST_FRAMES {
        return Err(Error::Frames { count: frames.len() });
    }
    for (frame, positions) in frames.iter().enumerate() {
        if positions.len() != expected {
            return Err(Error::Count { frame, found: positions.len(), expected });
        }
        if positions.iter().any(|p| !p.is_finite()) {
            return Err(Error::NotFinite { frame });
        }
    }
    Ok(())
}

/// The mean of the frames from one on that are `t` after the begin of a cycle; cycles begin with frame 0.
fn mean_of(logs: &[Vec<DMat3>], (first, period): (usize, usize), t: usize) -> Vec<DMat3> {
    let frames: Vec<&Vec<DMat3>> =
        (first..logs.len()).filter(|k| k % period == t).map(|k| &logs[k]).collect();
    let share = 1.0 / frames.len() as f64;
    let mean = |r: usize| frames.iter().fold(DMat3::ZERO, |sum, f| sum + f[r]) * share;
    (0..logs[t].len()).map(mean).collect()
}

/// The length of a cycle: the first after which all stretches are the same again; else all frames.
fn period(logs: &[Vec<DMat3>]) -> usize {
    let apart =
        |a: &[DMat3], b: &[DMat3]| a.iter().zip(b).map(|(a, b)| square(*a - *b)).sum::<f64>();
    let count = logs.len();
    let differ = |lag: usize| {
        let sum: f64 = (lag..count).map(|t| apart(&logs[t], &logs[t - lag])).sum();
        sum / (count - lag) as f64
    };
    let differences: Vec<f64> = (0..=count / 2).map(differ).collect();
    let most = differences.iter().copied().fold(0.0, f64::max);
    let is_least = |&lag: &usize| {
        let at = |k: usize| differences.get(k).copied().unwrap_or(f64::INFINITY);
        at(lag) < SAME * most && at(lag) <= at(lag - 1) && at(lag) <= at(lag + 1)
    };
    (FEWEST_FRAMES..differences.len()).find(is_least).unwrap_or(count)
}

/// The sum of the squares of all entries.
fn square(m: DMat3) -> f64 {
    m.x_axis.length_squared() + m.y_axis.length_squared() + m.z_axis.length_squared()
}

/// Cosine and sine parts of the harmonics, the constant first.
type Series = [[f64; 2]; HARMONICS + 1];

/// One region's motion.
struct Region {
    directions: [DVec3; 3],
    curves: [Series; 3],
    /// `Σ_t |L|²` over the number of frames.
    energy: f64,
}

impl Region {
    fn new(cycle: &[Vec<DMat3>], r: usize) -> Self {
        let mut moment = DMat3::ZERO;
        cycle.iter().for_each(|frame| moment += frame[r] * frame[r]);
        let mut entries: [[f64; 3]; 3] =
            std::array::from_fn(|i| std::array::from_fn(|j| moment.col(j)[i]));
        let vectors = jacobi(&mut entries);
        let mut order = [0, 1, 2];
        order.sort_by(|&a, &b| entries[b][b].total_cmp(&entries[a][a]));
        let axis = |k: usize| DVec3::new(vectors[0][k], vectors[1][k], vectors[2][k]);
        let (first, second) = (axis(order[0]), axis(order[1]));
        let directions = [first, second, first.cross(second)];
        let frames = cycle.len();
        let curves = directions.map(|d| {
            let value = |t: usize| d.dot(cycle[t][r] * d);
            series(&(0..frames).map(value).collect::<Vec<f64>>())
        });
        let energy = cycle.iter().map(|frame| square(frame[r])).sum::<f64>() / frames as f64;
        Self { directions, curves, energy }
    }
}

/// The Fourier series of samples over a cycle.
fn series(samples: &[f64]) -> Series {
    let count = samples.len();
    let mut out = [[0.0; 2]; HARMONICS + 1];
    let highest = HARMONICS.min((count - 1) / 2);
    for (h, [c, s]) in out.iter_mut().enumerate().take(highest + 1) {
        let scale = if h == 0 { 1.0 } else { 2.0 } / count as f64;
        for (t, sample) in samples.iter().enumerate() {
            let angle = TAU * (h * t % count) as f64 / count as f64;
            *c += scale * sample * libm::cos(angle);
            *s += scale * sample * libm::sin(angle);
        }
    }
    out
}

/// `f(t + shift)`, the shift in cycles.
fn advanced(f: &Series, shift: f64) -> Series {
    let mut out = *f;
    for (h, [c, s]) in out.iter_mut().enumerate() {
        let angle = TAU * h as f64 * shift;
        let (cos, sin) = (libm::cos(angle), libm::sin(angle));
        (*c, *s) = (*c * cos + *s * sin, *s * cos - *c * sin);
    }
    out
}

fn at(f: &Series, share: f64) -> f64 {
    let term = |(h, [c, s]): (usize, &[f64; 2])| {
        let angle = TAU * h as f64 * share;
        c * libm::cos(angle) + s * libm::sin(angle)
    };
    f.iter().enumerate().map(term).sum()
}

/// The mean of the product of two functions over the cycle.
fn product(f: &Series, g: &Series) -> f64 {
    let term = |(h, (f, g)): (usize, (&[f64; 2], &[f64; 2]))| {
        (f[0] * g[0] + f[1] * g[1]) * if h == 0 { 1.0 } else { 0.5 }
    };
    f.iter().zip(g).enumerate().map(term).sum()
}

fn products(f: &[Series; 3], g: &[Series; 3]) -> f64 {
    (0..3).map(|k| product(&f[k], &g[k])).sum()
}

/// Common curves, and what each region makes of them.
struct Fit {
    common: [Series; 3],
    amplitude: Vec<f64>,
    phase: Vec<f64>,
}

impl Fit {
    fn new(regions: &[Region], common: Option<[Series; 3]>) -> Option<Self> {
        let strongest = regions.iter().max_by(|a, b| a.energy.total_cmp(&b.energy))?;
        if strongest.energy <= 1e-12 {
            return None;
        }
        let count = regions.len();
        let rounds = if common.is_some() { FEWER_ROUNDS } else { ROUNDS };
        let mut fit = Self {
            common: common.unwrap_or(strongest.curves),
            amplitude: vec![0.0; count],
            phase: vec![0.0; count],
        };
        for _ in 0..rounds {
            fit.fit_regions(regions);
            fit.fit_curves(regions);
        }
        fit.fit_regions(regions);
        fit.tidy();
        Some(fit)
    }

    /// The shift and the amplitude at which the common curves come nearest to each region's.
    fn fit_regions(&mut self, regions: &[Region]) {
        let norm = products(&self.common, &self.common).max(f64::MIN_POSITIVE);
        let step = 1.0 / SHIFTS as f64;
        let shifted: Vec<[Series; 3]> = (0..SHIFTS)
            .map(|k| std::array::from_fn(|c| advanced(&self.common[c], -step * k as f64)))
            .collect();
        for (r, region) in regions.iter().enumerate() {
            let agree: Vec<f64> = shifted.iter().map(|s| products(s, &region.curves)).collect();
            let best = (0..SHIFTS).max_by(|&a, &b| agree[a].total_cmp(&agree[b])).unwrap_or(0);
            // The vertex of the parabola through the best shift and its neighbours.
            let [a, b, c] = [SHIFTS - 1, 0, 1].map(|k| agree[(best + k) % SHIFTS]);
            let bend = a - 2.0 * b + c;
            let off = if bend < 0.0 { (0.5 * (a - c) / bend).clamp(-0.5, 0.5) } else { 0.0 };
            self.phase[r] = (step * (best as f64 + off)).rem_euclid(1.0);
            self.amplitude[r] = (b - 0.25 * (a - c) * off) / norm;
        }
    }

    /// The mean of all curves, moved to phase zero, weighted by amplitude.
    fn fit_curves(&mut self, regions: &[Region]) {
        let mut sum = [[[0.0; 2]; HARMONICS + 1]; 3];
        let mut weight = 0.0;
        for (r, region) in regions.iter().enumerate() {
            let a = self.amplitude[r];
            weight += a * a;
            for (sum, curve) in sum.iter_mut().zip(&region.curves) {
                for (sum, part) in sum.iter_mut().zip(advanced(curve, self.phase[r])) {
                    (0..2).for_each(|j| sum[j] += a * part[j]);
                }
            }
        }
        if weight > 0.0 {
            self.common = sum.map(|f| f.map(|part| part.map(|p| p / weight)));
        }
    }

    /// Amplitudes up to 1, and phases that begin after the widest gap.
    fn tidy(&mut self) {
        let most = self.amplitude.iter().fold(0.0_f64, |m, a| m.max(a.abs()));
        let mut phases: Vec<f64> = (0..self.phase.len())
            .filter(|&r| self.amplitude[r].abs() > 0.2 * most)
            .map(|r| self.phase[r])
            .collect();
        phases.sort_by(f64::total_cmp);
        let gap = |k: usize| match phases.get(k + 1) {
            Some(next) => next - phases[k],
            None => phases[0] + 1.0 - phases[k],
        };
        let widest = (0..phases.len()).max_by(|&a, &b| gap(a).total_cmp(&gap(b)));
        let start = widest.map_or(0.0, |k| phases[(k + 1) % phases.len()]);
        self.phase.iter_mut().for_each(|p| *p = (*p - start).rem_euclid(1.0));
        self.common = std::array::from_fn(|k| advanced(&self.common[k], -start));
        if most > 0.0 {
            self.amplitude.iter_mut().for_each(|a| *a /= most);
            self.common = self.common.map(|f| f.map(|part| part.map(|p| p * most)));
        }
    }

    fn chart(&self, cycle: f64) -> Chart {
        let curve = |f: &Series| {
            let point = |k: usize| {
                let share = k as f64 / POINTS as f64;
                let stretch = libm::exp(at(f, share));
                [share, stretch.clamp(1.0 / MOST_STRETCH, MOST_STRETCH)]
            };
            (0..POINTS).map(point).collect()
        };
        let [primary, secondary, third] = [0, 1, 2].map(|k| curve(&self.common[k]));
        let (between, volume) = (Between::Smooth, Volume::Free);
        Chart { primary, secondary, third, between, volume, cycle, speed: 1.0 / cycle }
    }

    /// Directions, amplitude and phase at the vertices of the mesh.
    fn fields(&self, body: &Body, regions: &[Region]) -> Fields {
        let axes = Fibers { directions: [DVec3::X, DVec3::Y, DVec3::Z], alike: Alike::None };
        let count = body.vertex_count();
        let (mut fibers, mut amplitude, mut phase) =
            (vec![axes; count], vec![0.0; count], vec![0.0; count]);
        for (r, &v) in body.regions.vertices.iter().enumerate() {
            fibers[v as usize].directions = regions[r].directions;
            amplitude[v as usize] = self.amplitude[r] as f32;
            phase[v as usize] = self.phase[r] as f32;
        }
        Fields { fibers, amplitude, phase }
    }

    /// What drives the regions, and what is missing in what it shows.
    fn driving(
        &self,
        regions: &[Region],
        (wanted, played): (&[Vec<DMat3>], &[Vec<DMat3>]),
        run: &Run<'_>,
    ) -> Vec<Vec<DMat3>> {
        let frames = wanted.len();
        let one = |t: usize, r: usize| {
            let mut log = wanted[t][r] - played[t][r];
            for (d, curve) in regions[r].directions.iter().zip(&self.common) {
                let value = at(curve, t as f64 / frames as f64 - self.phase[r]);
                log += outer(self.amplitude[r] * value * *d, *d);
            }
            log
        };
        run.map_tasks(frames, |t| (0..regions.len()).map(|r| one(t, r)).collect())
    }
}

impl Body {
    /// The logarithms of the right stretches of all regions in a shape of the mesh.
    fn stretch_logarithms(&self, shape: &[Vec3]) -> Vec<DMat3> {
        let x: Vec<DVec3> =
            self.regions.vertices.iter().map(|&v| shape[v as usize].as_dvec3()).collect();
        (0..x.len()).map(|r| logarithm(self.gradient(&x, r))).collect()
    }
}

/// The positions of a mesh's vertices where only a skin in it is known: harmonic between the vertices next to the skin.
///
/// # Errors
///
/// For frames that do not fit the skin.
pub fn from_skin(
    mesh: &TetMesh,
    skin: &[Vec3],
    frames: &[Vec<Vec3>],
    run: &Run<'_>,
) -> Result<Vec<Vec<Vec3>>, Error> {
    for (frame, positions) in frames.iter().enumerate() {
        if positions.len() != skin.len() {
            return Err(Error::Count { frame, found: positions.len(), expected: skin.len() });
        }
    }
    let nearest = |p: &Vec3| {
        let distance = |v: &usize| mesh.positions[*v].distance_squared(*p);
        (0..mesh.positions.len()).min_by(|a, b| distance(a).total_cmp(&distance(b))).unwrap_or(0)
    };
    let nodes: Vec<usize> = run.map(skin.len(), |i| nearest(&skin[i]));
    let one = |positions: &Vec<Vec3>| {
        let mut sums = vec![(DVec3::ZERO, 0.0); mesh.positions.len()];
        for ((at, rest), &node) in positions.iter().zip(skin).zip(&nodes) {
            sums[node].0 += (*at - *rest).as_dvec3();
            sums[node].1 += 1.0;
        }
        let axis = |k: usize| {
            let known = sums.iter().enumerate().filter(|(_, s)| s.1 > 0.0);
            let known: Vec<Known<1>> = known
                .map(|(v, s)| Known { at: mesh.positions[v].as_dvec3(), value: [s.0[k] / s.1] })
                .collect();
            inside::interpolate(mesh, &known, Smoothness::Harmonic, &Run::default())
        };
        let moved = [axis(0), axis(1), axis(2)];
        let place = |v: usize| {
            let by = DVec3::new(moved[0][v], moved[1][v], moved[2][v]);
            (mesh.positions[v].as_dvec3() + by).as_vec3()
        };
        (0..mesh.positions.len()).map(place).collect()
    };
    Ok(run.map_tasks(frames.len(), |f| one(&frames[f])))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::procdef::design::{Axis, PhaseWord, Rule};
    use crate::procdef::{Design, Drive, Motion, Pin, Played, State, Stretches, Tissue, Work};
    use crate::zoo::tet_bodies;

    /// Three cycles of peristalsis, 24 frames each, the first at time 0; the ends are held.
    fn played(mesh: &TetMesh, fields: &Fields, chart: &Chart) -> Vec<Vec<Vec3>> {
        let body = Body::new(mesh).unwrap();
        let (tissue, chart) = (Tissue::new(&body, fields), chart.sampled().unwrap());
        let ends = (0..mesh.positions.len()).filter(|v| matches!(v % 44, 0 | 43));
        let pins: Vec<Pin> =
            ends.map(|v| Pin { vertex: v as u32, to: mesh.positions[v].as_dvec3() }).collect();
        let (mut state, mut work, mut stretches) =
            (State::at_rest(&body), Work::default(), Stretches::ones(&body));
        let mut frames = vec![mesh.positions.clone()];
        for tick in 1..=355_u32 {
            let secs = f64::from(tick) / 120.0;
            tissue.stretch(
                &[Played { chart: &chart, share: 1.0 }],
                (&chart, &[]),
                secs,
                &mut stretches,
            );
            let drive = Drive { pins: &pins, ..Drive::by(&stretches) };
            body.tick(&Motion::default(), &drive, &mut state, &mut work, &Run::default());
            if tick.is_multiple_of(5) {
                frames.push(body.positions(&state));
            }
        }
        frames
    }

    #[test]
    fn a_bowel_is_learned_from_its_skin_alone() {
        let mesh = tet_bodies::build("bowel", None).unwrap();
        let chart = Chart {
            primary: vec![[0.0, 1.0], [0.15, 1.0 / 1.6], [0.3, 1.0]],
            speed: 0.5,
            ..Chart::default()
        };
        let rule = Rule { axis: Axis::Phase(PhaseWord::Phase), inside: 0.0, outside: 0.0 };
        let design = Design { rule: Some(rule), ..Design::default() };
        let fields = design.fields(&mesh, &Run::default()).unwrap().fields;
        let shown = played(&mesh, &fields, &chart);
        let mut skin: Vec<u32> = mesh.boundary().iter().flatten().copied().collect();
        skin.sort_unstable();
        skin.dedup();
        let of = |x: &[Vec3]| skin.iter().map(|&v| x[v as usize]).collect::<Vec<Vec3>>();
        let seen: Vec<Vec<Vec3>> = shown.iter().map(|x| of(x)).collect();
        let nodes = from_skin(&mesh, &of(&mesh.positions), &seen, &Run::default()).unwrap();
        let learned = learn(&mesh, &nodes, (None, 24.0), &Run::default()).unwrap();
        assert_eq!(learned.frames, 24, "a cycle of a second");
        assert!(learned.stretching > 0.8, "stretching explained: {}", learned.stretching);
        assert!(learned.explained > 0.95, "motion explained: {}", learned.explained);
        let ends = (0..mesh.positions.len() as u32).filter(|v| matches!(v % 44, 0 | 43));
        assert_eq!(learned.held, ends.collect::<Vec<u32>>(), "the ends are held");
        // The wave runs as it did: 1/speed cycles from end to end.
        let middle = |i: usize| f64::from(learned.fields.phase[44 * 6 + i]);
        let late = (middle(33) - middle(11)).rem_euclid(1.0);
        let expected = (22.0 / 43.0 / 0.5_f64).rem_euclid(1.0);
        let off = (late - expected + 0.5).rem_euclid(1.0) - 0.5;
        assert!(off.abs() < 0.03, "{late} of a cycle later, not {expected}");
        // Played again, the motion is the same.
        let again = played(&mesh, &learned.fields, &learned.chart);
        let (mut wrong, mut all) = (0.0, 0.0);
        for v in 0..mesh.positions.len() {
            let mean = (0..24).map(|t| shown[48 + t][v]).sum::<Vec3>() / 24.0;
            for t in 0..24 {
                all += f64::from(shown[48 + t][v].distance_squared(mean));
                wrong += f64::from(shown[48 + t][v].distance_squared(again[48 + t][v]));
            }
        }
        let explained = 1.0 - wrong / all;
        assert!(explained > 0.95, "motion explained: {explained}");
    }

    #[test]
    fn what_cannot_be_learned_is_named() {
        let bar = tet_bodies::build("bar", Some(60)).unwrap();
        let still = vec![bar.positions.clone(); 8];
        let learned = |frames: &[Vec<Vec3>]| learn(&bar, frames, (None, 24.0), &Run::default());
        assert_eq!(learned(&still).unwrap_err(), Error::Still);
        assert_eq!(learned(&still[..3]).unwrap_err(), Error::Frames { count: 3 });
        let short = vec![vec![Vec3::ZERO; 3]; 8];
        assert!(matches!(learned(&short), Err(Error::Count { found: 3, .. })), "three vertices");
    }
}
