//! Recorded wakes of the zoo: a small lattice-Boltzmann solver.
//!
//! # Method
//!
//! D3Q19 populations `fᵢ` relax to equilibrium and move on by one cell a step:
//! `fᵢ(x + cᵢ, t + 1) = fᵢ − (fᵢ − fᵢᵉ)/τ`, `fᵢᵉ = wᵢ ρ (1 + 3 cᵢ·u + 9/2 (cᵢ·u)² − 3/2 u²)`. The relaxation time
//! `τ = ½ + 3ν` grows where the flow is sheared (Smagorinsky's subgrid viscosity, from the second moment of
//! `f − fᵉ` in closed form), which keeps coarse lattices stable. At obstacles populations are sent back; the stream comes in at the
//! left and through the far sides, and leaves at the right.
//!
//! Lengths are in diameters of the obstacle, velocities in those of the stream.
//!
//! # Limits
//!
//! Made to be looked at: obstacles are a dozen cells wide and the far sides are near. Steps are computed with additions,
//! multiplications, divisions and square roots in a fixed order: the same bits for any number of threads
//! (`threads_change_no_bits`) and on every machine.
//!
//! # References
//!
//! Qian, d'Humières, Lallemand, Lattice BGK models for Navier–Stokes equation, 1992; Hou et al., A lattice Boltzmann
//! subgrid model for high Reynolds number flows, 1996.

use crate::Run;
use crate::run::Cancelled;

/// Directions: none, along the axes, along the diagonals of faces; each after the one it is opposite to.
const C: [[i32; 3]; 19] = [
    [0, 0, 0],
    [1, 0, 0],
    [-1, 0, 0],
    [0, 1, 0],
    [0, -1, 0],
    [0, 0, 1],
    [0, 0, -1],
    [1, 1, 0],
    [-1, -1, 0],
    [1, -1, 0],
    [-1, 1, 0],
    [1, 0, 1],
    [-1, 0, -1],
    [1, 0, -1],
    [-1, 0, 1],
    [0, 1, 1],
    [0, -1, -1],
    [0, 1, -1],
    [0, -1, 1],
];

/// Speed of the stream, in cells a step: a sixth of the speed of sound.
const SPEED: f32 = 0.1;

/// Smagorinsky's constant, squared.
const SUBGRID: f32 = 0.01;

/// Populations of a cell.
type Cell = [f32; 19];

/// What stands in the stream.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Obstacle {
    /// A round cylinder across the stream.
    Cylinder,
    /// A square one, as in thesis §7.4.2.
    Square,
    /// A wing at 15° to the stream.
    Wing,
    /// The same with air blown along its upper side in pulses, as in thesis §7.4.3.
    WingExcited,
    /// A body on the ground with a slanted rear of 25°, as in thesis §7.4.4.
    Ramp,
}

/// Names of all.
pub const NAMES: [&str; 5] = ["cylinder", "square", "wing", "wing-excited", "ramp"];

impl Obstacle {
    /// The obstacle of that name.
    #[must_use]
    pub fn named(name: &str) -> Option<Self> {
        match name {
            "cylinder" => Some(Self::Cylinder),
            "square" => Some(Self::Square),
            "wing" => Some(Self::Wing),
            "wing-excited" => Some(Self::WingExcited),
            "ramp" => Some(Self::Ramp),
            _ => None,
        }
    }

    /// True inside, in diameters from the middle of the obstacle (or of its foot, on the ground).
    pub(super) fn holds(self, [x, y, z]: [f32; 3]) -> bool {
        match self {
            Self::Cylinder => x * x + y * y < 0.25,
            Self::Square => x.abs().max(y.abs()) < 0.5,
            Self::Wing | Self::WingExcited => {
                let [along, up] = on_chord(x, y);
                (0.0..=1.0).contains(&along) && up.abs() < thickness(along)
            }
            Self::Ramp => {
                // Three long, one high above a gap, 1.4 wide; the last 0.9 falls by 25°.
                let roof = 1.2 - 0.466_307_66 * (x - 0.6).max(0.0);
                x.abs() < 1.5 && z.abs() < 0.7 && y > 0.2 && y < roof
            }
        }
    }

    /// True where air is blown in: close above the wing behind its thickest part.
    fn blows(self, [x, y, _]: [f32; 3]) -> bool {
        let [along, up] = on_chord(x, y);
        let above = up - thickness(along.clamp(0.0, 1.0));
        self == Self::WingExcited && (0.25..0.4).contains(&along) && (0.0..0.05).contains(&above)
    }

    fn is_on_ground(self) -> bool {
        self == Self::Ramp
    }
}

/// Sine and cosine of the angle of the wing to the stream: 15°.
pub(super) const WING: [f32; 2] = [0.258_819_04, 0.965_925_8];

/// A place along and above a chord of three diameters, in chords.
fn on_chord(x: f32, y: f32) -> [f32; 2] {
    let [s, c] = WING;
    [(c * x - s * y) / 3.0 + 0.5, (s * x + c * y) / 3.0]
}

/// Half the thickness of a four-digit profile.
pub(super) fn thickness(t: f32) -> f32 {
    0.9 * (0.2969 * t.sqrt() - 0.126 * t - 0.3516 * t * t + 0.2843 * t * t * t
        - 0.1015 * t * t * t * t)
}

/// How fast air is blown in at most, in speeds of the stream, and pulses in the time the stream takes for a diameter.
const JET: f32 = 1.7;
const PULSES: f32 = 0.5;

/// What to simulate.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Params {
    /// What stands in the stream.
    pub obstacle: Obstacle,
    /// Cells along x, y and z.
    pub size: [usize; 3],
    /// Cells a diameter.
    pub diameter: f32,
    /// Reynolds number of stream, diameter and viscosity.
    pub reynolds: f32,
    /// Time of the first level and between levels, in diameters over the speed of the stream.
    pub times: [f32; 2],
    /// How many levels.
    pub levels: usize,
}

impl Params {
    /// A wake that takes a few minutes.
    #[must_use]
    pub fn of(obstacle: Obstacle) -> Self {
        let (size, diameter, reynolds) = match obstacle {
            Obstacle::Cylinder | Obstacle::Square => ([136, 56, 24], 8.0, 250.0),
            Obstacle::Wing | Obstacle::WingExcited => ([136, 56, 20], 8.0, 600.0),
            Obstacle::Ramp => ([112, 40, 44], 11.0, 2000.0),
        };
        Self { obstacle, size, diameter, reynolds, times: [0.0, 0.4], levels: 151 }
    }

    /// The same view on a lattice of another size: as finer as it is higher.
    #[must_use]
    pub fn resized(mut self, size: [usize; 3]) -> Self {
        self.diameter *= size[1] as f32 / self.size[1] as f32;
        self.size = size;
        self
    }

    /// Where the middle of the obstacle is, in cells.
    fn middle(&self) -> [f32; 3] {
        let [nx, ny, nz] = self.size.map(|n| n as f32);
        let y = if self.obstacle.is_on_ground() { 0.5 } else { 0.5 * (ny - 1.0) };
        [(0.2 * nx).max(2.0 * self.diameter), y, 0.5 * (nz - 1.0)]
    }

    /// The first node and the spacing, in diameters.
    #[must_use]
    pub fn grid(&self) -> ([f64; 3], f64) {
        let d = f64::from(self.diameter);
        (self.middle().map(|c| -f64::from(c) / d), 1.0 / d)
    }
}

/// Runs the solver; hands each level over with its time: velocity and 1 for fluid, x fastest, all zero in the
/// obstacle.
///
/// # Errors
///
/// Whatever `each` returns, and [`Cancelled`].
pub fn simulate<E: From<Cancelled>>(
    params: &Params,
    run: &Run<'_>,
    mut each: impl FnMut(f64, &[[f32; 4]]) -> Result<(), E>,
) -> Result<(), E> {
    let mut lattice = Lattice::new(params);
    let steps_a_unit = params.diameter / SPEED;
    let [first, spacing] = params.times;
    let mut done = 0_u64;
    let last =
        ((first + spacing * (params.levels.max(1) - 1) as f32) * steps_a_unit).round() as u64;
    for level in 0..params.levels {
        let due = ((first + spacing * level as f32) * steps_a_unit).round() as u64;
        while done < due {
            run.check()?;
            lattice.step(run);
            done += 1;
            run.report(done, last);
        }
        each(done as f64 / f64::from(steps_a_unit), &lattice.velocity(run))?;
    }
    Ok(())
}

/// What a cell is.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Kind {
    Fluid,
    Solid,
    /// The stream itself: inflow and far sides.
    Stream,
    /// Takes over what its neighbour upstream has.
    Outflow,
    /// Air blown in along a wing.
    Jet,
}

struct Lattice {
    size: [usize; 3],
    kinds: Vec<Kind>,
    cells: Vec<Cell>,
    next: Vec<Cell>,
    /// Relaxation time without shear.
    tau: f32,
    wraps_z: bool,
    /// Pulses a step, and steps so far.
    pulses: f32,
    steps: u32,
}

impl Lattice {
    fn new(params: &Params) -> Self {
        let [nx, ny, nz] = params.size;
        let (middle, d) = (params.middle(), params.diameter);
        let grounded = params.obstacle.is_on_ground();
        let mut kinds = vec![Kind::Fluid; nx * ny * nz];
        let mut cells = vec![[0.0; 19]; nx * ny * nz];
        for (i, (kind, cell)) in kinds.iter_mut().zip(&mut cells).enumerate() {
            let at = [i % nx, i / nx % ny, i / (nx * ny)];
            let [x, y, z] = [0, 1, 2].map(|a| (at[a] as f32 - middle[a]) / d);
            let side = at[1] + 1 == ny || (at[1] == 0 && !grounded);
            let end = grounded && (at[2] == 0 || at[2] + 1 == nz);
            *kind = if params.obstacle.holds([x, y, z]) || (grounded && at[1] == 0) {
                Kind::Solid
            } else if at[0] == 0 || side || end {
                Kind::Stream
            } else if at[0] + 1 == nx {
                Kind::Outflow
            } else if params.obstacle.blows([x, y, z]) {
                Kind::Jet
            } else {
                Kind::Fluid
            };
            // Uneven along the span and off the middle: else symmetry takes long to break.
            let ripple = 0.05 * wave(z + 0.3 * x) * wave(0.7 * y + 0.2);
            *cell = equilibrium(1.0, [SPEED, SPEED * ripple, SPEED * 0.5 * ripple]);
        }
        let tau = 0.5 + 3.0 * SPEED * d / params.reynolds;
        let (next, pulses) = (cells.clone(), PULSES * SPEED / d);
        let (size, wraps_z) = (params.size, !grounded);
        Self { size, kinds, next, cells, tau, wraps_z, pulses, steps: 0 }
    }

    fn step(&mut self, run: &Run<'_>) {
        let jet = self.jet();
        self.steps += 1;
        let Self { size: [nx, ny, nz], kinds, cells, next, tau, wraps_z, .. } = self;
        let (nx, ny, nz) = (*nx, *ny, *nz);
        let offsets =
            C.map(|c| c[0] as isize + nx as isize * (c[1] as isize + ny as isize * c[2] as isize));
        let stream = equilibrium(1.0, [SPEED, 0.0, 0.0]);
        run.for_each_piece(next, nx * ny, |start, plane| {
            let z = start / (nx * ny);
            for (k, out) in plane.iter_mut().enumerate() {
                let i = start + k;
                *out = match kinds[i] {
                    Kind::Solid => continue,
                    Kind::Stream => stream,
                    Kind::Jet => jet,
                    Kind::Outflow => cells[i - 1],
                    Kind::Fluid => {
                        let wrap = |c: i32| match z as i32 - c {
                            -1 if *wraps_z => (nx * ny * nz) as isize,
                            far if far == nz as i32 && *wraps_z => -((nx * ny * nz) as isize),
                            _ => 0,
                        };
                        collide(&pulled(cells, kinds, i, &offsets, wrap), *tau)
                    }
                };
            }
        });
        std::mem::swap(cells, next);
    }

    /// What is blown in at this step, along the chord.
    fn jet(&self) -> Cell {
        let ([s, c], pulse) = (WING, 0.5 + 0.5 * wave(self.pulses * self.steps as f32));
        let speed = SPEED * (1.0 + (JET - 1.0) * pulse);
        equilibrium(1.0, [speed * c, -speed * s, 0.0])
    }

    fn velocity(&self, run: &Run<'_>) -> Vec<[f32; 4]> {
        run.map(self.cells.len(), |i| {
            if self.kinds[i] == Kind::Solid {
                return [0.0; 4];
            }
            let (_, u) = moments(&self.cells[i]);
            [u[0] / SPEED, u[1] / SPEED, u[2] / SPEED, 1.0]
        })
    }
}

/// Between −1 and 1, without a function of the machine's.
fn wave(x: f32) -> f32 {
    let t = x - x.floor();
    16.0 * t * (1.0 - t) * (0.5 - t)
}

/// What arrives in a cell: from the neighbours, or its own sent back by a wall.
#[inline(always)]
fn pulled(
    cells: &[Cell],
    kinds: &[Kind],
    i: usize,
    offsets: &[isize; 19],
    wrap: impl Fn(i32) -> isize,
) -> Cell {
    let mut f = cells[i];
    for q in 1..19 {
        let from = (i as isize - offsets[q] + wrap(C[q][2])) as usize;
        // Opposite directions stand side by side.
        let opposite = if q % 2 == 1 { q + 1 } else { q - 1 };
        f[q] = if kinds[from] == Kind::Solid { cells[i][opposite] } else { cells[from][q] };
    }
    f
}

/// Density and velocity.
#[inline(always)]
fn moments(f: &Cell) -> (f32, [f32; 3]) {
    let mut rho = 0.0;
    let mut momentum = [0.0_f32; 3];
    for q in 0..19 {
        rho += f[q];
        for a in 0..3 {
            momentum[a] += C[q][a] as f32 * f[q];
        }
    }
    (rho, momentum.map(|m| m / rho))
}

#[inline(always)]
fn equilibrium(rho: f32, u: [f32; 3]) -> Cell {
    let square = 1.5 * (u[0] * u[0] + u[1] * u[1] + u[2] * u[2]);
    let mut f = [0.0; 19];
    for q in 0..19 {
        let along = C[q][0] as f32 * u[0] + C[q][1] as f32 * u[1] + C[q][2] as f32 * u[2];
        let weight = match q {
            0 => 1.0 / 3.0,
            1..=6 => 1.0 / 18.0,
            _ => 1.0 / 36.0,
        };
        f[q] = weight * rho * (1.0 + 3.0 * along + 4.5 * along * along - square);
    }
    f
}

/// Relaxation towards equilibrium, slower where the flow is sheared.
#[inline(always)]
fn collide(f: &Cell, tau: f32) -> Cell {
    let (rho, u) = moments(f);
    let rest = equilibrium(rho, u);
    // The second moment of what is off equilibrium: xx, yy, zz, xy, xz, yz.
    let mut stress = [0.0_f32; 6];
    for q in 1..19 {
        let off = f[q] - rest[q];
        let [x, y, z] = C[q].map(|c| c as f32);
        for (sum, product) in stress.iter_mut().zip([x * x, y * y, z * z, x * y, x * z, y * z]) {
            *sum += product * off;
        }
    }
    let [xx, yy, zz, xy, xz, yz] = stress;
    let norm = (xx * xx + yy * yy + zz * zz + 2.0 * (xy * xy + xz * xz + yz * yz)).sqrt();
    // 18 √2 C², with the norm of the stress.
    let eddy = (tau * tau + 25.455_844 * SUBGRID * norm / rho).sqrt();
    let rate = 2.0 / (tau + eddy);
    let mut next = [0.0; 19];
    for q in 0..19 {
        next[q] = f[q] - rate * (f[q] - rest[q]);
    }
    next
}

#[cfg(test)]
mod tests {
    use super::*;

    fn small(obstacle: Obstacle) -> Params {
        let reynolds = 100.0;
        Params {
            obstacle,
            size: [40, 24, 8],
            diameter: 4.0,
            reynolds,
            times: [0.0, 2.0],
            levels: 4,
        }
    }

    fn levels(params: &Params, run: &Run<'_>) -> Vec<Vec<[f32; 4]>> {
        let mut levels = Vec::new();
        simulate(params, run, |_, level| {
            levels.push(level.to_vec());
            Ok::<_, Cancelled>(())
        })
        .unwrap();
        levels
    }

    /// Equilibrium has the moments it is made from, and collisions keep mass and momentum.
    #[test]
    fn collisions_keep_mass_and_momentum() {
        let u = [0.08, -0.03, 0.05];
        let (rho, v) = moments(&equilibrium(1.1, u));
        assert!((rho - 1.1).abs() < 1e-5 && (0..3).all(|a| (u[a] - v[a]).abs() < 1e-6), "{v:?}");
        let mut f = equilibrium(1.0, u);
        f[3] += 0.02;
        f[12] += 0.01;
        let (before, after) = (moments(&f), moments(&collide(&f, 0.52)));
        assert!((before.0 - after.0).abs() < 1e-6, "{before:?} {after:?}");
        assert!((0..3).all(|a| (before.1[a] - after.1[a]).abs() < 1e-6), "{before:?} {after:?}");
    }

    #[test]
    fn directions_stand_beside_their_opposites() {
        for q in (1..19).step_by(2) {
            assert_eq!(C[q].map(|c| -c), C[q + 1]);
        }
        let weighted: i32 = C.iter().map(|c| c[0] * c[0]).sum();
        assert_eq!(weighted, 10);
    }

    /// Behind an obstacle the stream is slow, beside it faster; within it there is nothing.
    #[test]
    fn an_obstacle_makes_a_wake() {
        for obstacle in NAMES.map(|name| Obstacle::named(name).unwrap()) {
            let params = small(obstacle);
            let last = levels(&params, &Run::default()).pop().unwrap();
            assert!(
                last.iter().all(|v| v.iter().all(|c| c.is_finite() && c.abs() < 3.0)),
                "stable"
            );
            let [x, y, z] = params.middle().map(|c| c.round() as usize);
            let height = if obstacle == Obstacle::Ramp { 3 } else { y };
            let at = |x: usize, y: usize| last[(z * params.size[1] + y) * params.size[0] + x];
            assert_eq!(at(x, height)[3], 0.0, "{obstacle:?}: solid");
            let (behind, beside) = (at(x + 8, height)[0], at(x, params.size[1] - 5)[0]);
            assert!(behind < 0.8 && beside > 0.95, "{obstacle:?}: {behind} {beside}");
        }
    }

    #[test]
    fn threads_change_no_bits() {
        let params = small(Obstacle::Cylinder);
        let alone = levels(&params, &Run::default());
        let pool = rayon::ThreadPoolBuilder::new().num_threads(3).build().unwrap();
        assert!(levels(&params, &Run { threads: Some(&pool), ..Run::default() }) == alone);
    }
}
