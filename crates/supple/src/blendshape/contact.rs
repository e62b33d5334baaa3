//! Blends that touch the world: planes against obstacles, friction, and a hand that pulls.
//!
//! # Method
//!
//! From the free blend, surface nodes inside an obstacle get a plane at its nearest point that they must not pass
//! (inner nodes never do: they follow). The equilibrium with these planes is found, forces are learnt, planes are
//! laid anew, until none is missing and none pulls: a plane lets go by itself. Coulomb friction resists the way along
//! the plane since the last solve by μ times the plane's last force. Pulled vertices are points to be reached.
//!
//! # Where we differ from the paper
//!
//! The paper fixes every vertex that is inside in all directions: nothing slides, and twice as many are held
//! ([`Response::Stick`] does that). Planes hold along the normal only. An obstacle that moves is taken on in steps of
//! at most half its thickness from the last shape: in larger ones vertices end up on both sides.
//!
//! Where nothing is held, a dozen nodes about the anchor's centre are, for as long as something is touched or pulled.

use glam::DVec3;
use serde::{Deserialize, Serialize};

use super::Error;
use super::newton::Problem;
use super::obstacle::Obstacle;
use super::prepare::{Solver, factorise};
use super::solve::{Blend, Frame, Free, History, Report, Start};
use super::terms::Term;
use crate::Run;
use crate::sparse::VectorFactor;

/// Stiffness of planes and points, in mean constants of springs: more makes the matrix worse, less takes more rounds.
const STIFF: f64 = 100.0;

/// Rounds of laying planes and learning forces.
const ROUNDS: usize = 24;

/// Nodes that are held about the centre where nothing else is.
const GRIP: usize = 12;

/// Rounds whose movement is remembered within a solve.
const SOFT: usize = 3;

/// Below this part of the diagonal friction gives way smoothly.
const SLIP: f64 = 1e-3;

/// What happens to a vertex that is inside an obstacle.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Response {
    /// It is kept outside and may slide and leave.
    #[default]
    Slide,
    /// It is fixed where it comes out, as the paper does.
    Stick,
}

/// A vertex and where it is pulled to.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Pull {
    /// Which vertex.
    pub vertex: u32,
    /// Where to.
    pub to: DVec3,
    /// How much of the way there, from where the blend would have it: 1 for all of it.
    pub amount: f64,
}

/// What acts on a blend.
#[derive(Clone, Debug, Default)]
pub struct World<'a> {
    /// What must not be entered.
    pub obstacles: &'a [Obstacle],
    /// What is pulled.
    pub pulls: &'a [Pull],
    /// Coefficient of friction.
    pub friction: f64,
    /// What happens to vertices inside obstacles.
    pub response: Response,
}

impl World<'_> {
    /// How deep the deepest surface node is inside an obstacle at the end of its way.
    fn deepest(&self, solver: &Solver, x: &[DVec3]) -> f64 {
        let of_node = |x: &DVec3| {
            let depths =
                self.obstacles.iter().filter_map(|o| o.probe(*x, 1.0)).map(|p| -p.distance);
            depths.fold(0.0, f64::max)
        };
        x.iter()
            .zip(&solver.body.is_surface)
            .filter(|(_, s)| **s)
            .map(|(x, _)| of_node(x))
            .fold(0.0, f64::max)
    }

    /// An obstacle that everything is in.
    fn around(&self, x: &[DVec3]) -> Option<usize> {
        let swallows =
            |o: &Obstacle| x.iter().all(|x| o.probe(*x, 1.0).is_some_and(|p| p.distance < 0.0));
        self.obstacles.iter().position(swallows)
    }
}

/// What one solve hands to the next: shape, planes and their forces.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct Touch {
    x: Vec<DVec3>,
    terms: Vec<Term>,
    /// How far planes and hands moved each node off the free blend; none where nothing acted.
    #[serde(default)]
    moved: Vec<DVec3>,
    /// Whether an obstacle that moved pushed it here, and touches it still.
    #[serde(default)]
    is_driven: bool,
}

impl Touch {
    /// Planes that push.
    #[must_use]
    pub fn contacts(&self) -> usize {
        self.terms.iter().filter(|t| matches!(t, Term::Plane { force, .. } if *force > 0.0)).count()
    }

    /// Bytes it holds.
    #[must_use]
    pub fn size(&self) -> usize {
        24 * (self.x.len() + self.moved.len()) + 80 * self.terms.len()
    }
}

/// A solver whose blends touch the world.
#[derive(Clone, Debug)]
pub struct Interaction {
    is_held: Vec<bool>,
    free_piece: Vec<u32>,
    preconditioner: Option<VectorFactor>,
    kappa: f64,
}

impl Interaction {
    /// Prepares contact for a solver.
    ///
    /// # Errors
    ///
    /// [`Error::Sparse`] if its springs cannot be factorised.
    pub fn new(solver: &Solver, run: &Run<'_>) -> Result<Self, Error> {
        let body = &solver.body;
        let mut is_held = solver.is_held.clone();
        for (f, piece) in solver.free.iter().enumerate() {
            let mut near: Vec<u32> = (0..body.base.len() as u32)
                .filter(|&i| solver.free_piece[i as usize] as usize == f)
                .collect();
            let away = |i: &u32| (body.base[*i as usize] - piece.centre).length_squared();
            near.sort_by(|a, b| away(a).total_cmp(&away(b)).then(a.cmp(b)));
            near.iter().take(GRIP).for_each(|&i| is_held[i as usize] = true);
        }
        let preconditioner = if solver.free.is_empty() {
            None
        } else {
            Some(factorise(body, &is_held, &[], run)?.0)
        };
        let k = body.network.stiffness();
        let kappa = STIFF * k.iter().sum::<f64>() / k.len().max(1) as f64;
        Ok(Self { is_held, free_piece: vec![u32::MAX; body.base.len()], preconditioner, kappa })
    }

    /// The blend for weights, out of obstacles and pulled; as [`Solver::solve`] where neither acts.
    ///
    /// # Errors
    ///
    /// As [`Solver::solve`]; [`Error::NoSuchVertex`] and [`Error::PullsHeld`] for a pull.
    pub fn solve(
        &self,
        solver: &Solver,
        weights: &[f64],
        world: &World<'_>,
        (touch, history): (&mut Touch, &mut History),
        run: &Run<'_>,
    ) -> Result<Blend, Error> {
        solver.check_weights(weights)?;
        world.pulls.iter().try_for_each(|pull| self.check_pull(solver, pull.vertex))?;
        run.install(|| {
            let free = solver.free_blend(weights, history, run)?;
            self.touched(solver, world, free, touch, run)
        })
    }

    /// Checks that a vertex can be pulled.
    pub(super) fn check_pull(&self, solver: &Solver, vertex: u32) -> Result<(), Error> {
        let nodes = &solver.body.node_of;
        match nodes.get(vertex as usize) {
            None => Err(Error::NoSuchVertex { vertex, vertices: nodes.len() }),
            Some(&node) if self.is_held[node as usize] => Err(Error::PullsHeld { vertex }),
            Some(_) => Ok(()),
        }
    }

    fn touched(
        &self,
        solver: &Solver,
        world: &World<'_>,
        free: Free,
        touch: &mut Touch,
        run: &Run<'_>,
    ) -> Result<Blend, Error> {
        let Free { blend, frame, x } = free;
        // What was driven here stays before its obstacle when that stops.
        let moves = touch.is_driven || world.obstacles.iter().any(Obstacle::moves);
        let fits = touch.x.len() == x.len();
        let deepest = world.deepest(solver, &x);
        if world.pulls.is_empty() && deepest <= 0.0 && !(moves && fits) {
            *touch = Touch { x, ..Touch::default() };
            return Ok(blend);
        }
        if let Some(obstacle) = world.around(&x) {
            return Err(Error::ObstacleAround { obstacle });
        }
        let mut now =
            State { x: x.clone(), terms: std::mem::take(&mut touch.terms), from: x.clone() };
        if world.response == Response::Stick {
            now.terms.clear();
        }
        // A still obstacle is met from the free blend, moved on as the last one was; one that moves drives the last shape
        // before it.
        if moves && fits {
            now.x.clone_from(&touch.x);
            now.hold(&self.is_held, &x);
        } else if touch.moved.len() == x.len() && world.response == Response::Slide {
            now.x.iter_mut().zip(&touch.moved).for_each(|(x, moved)| *x += *moved);
            now.hold(&self.is_held, &x);
            now.press(world);
        }
        if fits {
            now.from.clone_from(&touch.x);
        }
        let mut report = Report { start: Start::Predictor, ..Report::default() };
        let steps = world.obstacles.iter().map(Obstacle::sub_steps).max().unwrap_or(1);
        for step in 1..=steps {
            let part = step as f64 / steps as f64;
            let surroundings = Surroundings { solver, frame: &frame, free: &x, world, part };
            self.settle(&surroundings, &mut now, &mut report, run)?;
        }
        report.depth_rel_diagonal = world.deepest(solver, &now.x) / solver.diagonal;
        (report.beyond, report.bent_off) = (blend.report.beyond, frame.bent_off);
        report.inverted_tets = solver.body.inverted(&now.x);
        let positions = solver.surface(&now.x)?;
        let moved = now.x.iter().zip(&x).map(|(now, free)| *now - *free).collect();
        *touch = Touch { x: now.x, terms: now.terms, moved, is_driven: false };
        report.contacts = touch.contacts();
        touch.is_driven = moves && report.contacts > 0;
        Ok(Blend { positions, report })
    }

    /// Lays planes, solves and learns forces until nothing changes.
    fn settle(
        &self,
        at: &Surroundings<'_>,
        now: &mut State,
        report: &mut Report,
        run: &Run<'_>,
    ) -> Result<(), Error> {
        let Surroundings { solver, frame, .. } = *at;
        let tolerance = solver.params.tolerance_rel_diagonal * solver.diagonal;
        // What the rounds moved lies where the body is soft.
        let mut soft: Vec<Vec<DVec3>> = Vec::new();
        let mut factor = None;
        for round in 0..ROUNDS {
            self.lay(at, now, round);
            // Planes change the curvature where they push: neither the constant matrix nor a factor without them knows.
            if round == 0 && solver.is_lagging() {
                let acting = (&now.terms[..], &self.is_held[..]);
                factor = solver.factor_with((&now.x, &frame.lengths), acting, run);
            }
            let problem = Problem {
                soft: &soft,
                lagged: factor.as_ref(),
                is_held: &self.is_held,
                free_piece: &self.free_piece,
                free_pieces: 0,
                preconditioner: self.preconditioner.as_ref().unwrap_or(&solver.preconditioner),
                ..solver.problem(&frame.lengths, &now.terms)
            };
            let before = now.x.clone();
            let outcome = problem.minimise(&mut now.x, run)?;
            report.newton_steps += outcome.newton;
            report.gradient_steps += outcome.gradients;
            report.clamped_steps += outcome.clamped;
            report.last_step_rel_diagonal = outcome.step / solver.diagonal;
            report.is_proved = outcome.is_proved;
            report.energy = outcome.energy;
            report.rounds += 1;
            let x = &now.x;
            let missed = now.terms.iter_mut().map(|t| t.learn(x)).fold(0.0, f64::max);
            let ways: Vec<DVec3> = x.iter().zip(&before).map(|(a, b)| *a - *b).collect();
            let moved = ways.iter().map(|way| way.length_squared()).fold(0.0, f64::max).sqrt();
            soft.insert(0, ways);
            soft.truncate(SOFT);
            if round > 0
                && missed <= tolerance
                && moved <= 2.0 * tolerance
                && !at.enters(now, tolerance)
            {
                break;
            }
        }
        Ok(())
    }

    /// Planes for what is inside or was, points for what is pulled, friction along planes.
    fn lay(&self, at: &Surroundings<'_>, now: &mut State, round: usize) {
        let Surroundings { solver, world, part, .. } = *at;
        let before = planned(&now.terms, now.x.len());
        let old = std::mem::take(&mut now.terms);
        let body = &solver.body;
        for i in (0..now.x.len()).filter(|&i| body.is_surface[i] && !self.is_held[i]) {
            let x = now.x[i];
            let deepest = world
                .obstacles
                .iter()
                .filter_map(|o| o.probe(x, part))
                .min_by(|a, b| a.distance.total_cmp(&b.distance));
            let Some(probe) = deepest else { continue };
            let known = before[i].map(|at| old[at]);
            let force = match known {
                Some(Term::Plane { force, .. }) => force,
                _ => 0.0,
            };
            // One that was let go and is outside needs no plane.
            if probe.distance >= 0.0 && force == 0.0 {
                continue;
            }
            let surface = x - probe.distance * probe.normal;
            let node = i as u32;
            if world.response == Response::Stick {
                if round == 0 || !matches!(known, Some(Term::Point { .. })) {
                    now.terms.push(Term::Point {
                        node,
                        at: surface,
                        kappa: self.kappa,
                        force: DVec3::ZERO,
                    });
                }
                continue;
            }
            let offset = probe.normal.dot(surface);
            now.terms.push(Term::Plane {
                node,
                normal: probe.normal,
                offset,
                kappa: self.kappa,
                force,
            });
            if world.friction > 0.0 && force > 0.0 {
                let width = SLIP * solver.diagonal;
                let force = world.friction * force;
                now.terms.push(Term::Friction {
                    node,
                    normal: probe.normal,
                    from: now.from[i],
                    force,
                    width,
                });
            }
        }
        self.lay_points(at, now, &old);
    }

    /// Points that are pulled to; those that stick stay from round to round.
    fn lay_points(&self, at: &Surroundings<'_>, now: &mut State, old: &[Term]) {
        let Surroundings { solver, world, free, .. } = *at;
        let mut pulled = vec![false; now.x.len()];
        for pull in world.pulls {
            let node = solver.body.node_of[pull.vertex as usize];
            if self.is_held[node as usize] || std::mem::replace(&mut pulled[node as usize], true) {
                continue;
            }
            let known = old.iter().find_map(|t| match t {
                Term::Point { node: n, force, .. } if *n == node => Some(*force),
                _ => None,
            });
            now.terms.retain(|t| t.node() != node as usize);
            now.terms.push(Term::Point {
                node,
                at: free[node as usize].lerp(pull.to, pull.amount),
                kappa: self.kappa,
                force: known.unwrap_or_default(),
            });
        }
        if world.response == Response::Stick {
            let has: Vec<bool> = {
                let mut has = vec![false; now.x.len()];
                now.terms.iter().for_each(|t| has[t.node()] = true);
                has
            };
            let kept = old
                .iter()
                .filter(|t| matches!(t, Term::Point { .. }) && !has[t.node()] && !pulled[t.node()]);
            now.terms.extend(kept);
        }
    }
}

/// For each node the place of its plane or point among the terms.
fn planned(terms: &[Term], nodes: usize) -> Vec<Option<usize>> {
    let mut at = vec![None; nodes];
    for (k, term) in terms.iter().enumerate() {
        if !matches!(term, Term::Friction { .. }) {
            at[term.node()] = Some(k);
        }
    }
    at
}

/// What one solve with contact sees.
#[derive(Clone, Copy)]
struct Surroundings<'a> {
    solver: &'a Solver,
    frame: &'a Frame,
    /// The nodes where nothing touches them.
    free: &'a [DVec3],
    world: &'a World<'a>,
    /// How far moving obstacles have come.
    part: f64,
}

impl Surroundings<'_> {
    /// Whether a surface node without a plane is inside.
    fn enters(&self, now: &State, tolerance: f64) -> bool {
        let planes = planned(&now.terms, now.x.len());
        let deep =
            |o: &Obstacle, x: DVec3| o.probe(x, self.part).is_some_and(|p| p.distance < -tolerance);
        let inside = |i: usize| {
            self.solver.body.is_surface[i]
                && planes[i].is_none()
                && self.world.obstacles.iter().any(|o| deep(o, now.x[i]))
        };
        (0..now.x.len()).any(inside)
    }
}

/// A shape on its way.
struct State {
    x: Vec<DVec3>,
    terms: Vec<Term>,
    /// Where nodes were at the last solve: friction counts from there.
    from: Vec<DVec3>,
}

impl State {
    /// Puts nodes that planes push onto their obstacle, where the push is what it was.
    fn press(&mut self, world: &World<'_>) {
        for term in &self.terms {
            let Term::Plane { node, force, .. } = *term else { continue };
            let x = &mut self.x[node as usize];
            let probes = world.obstacles.iter().filter_map(|o| o.probe(*x, 1.0));
            let nearest = probes.min_by(|a, b| a.distance.total_cmp(&b.distance));
            if let (Some(probe), true) = (nearest, force > 0.0) {
                *x -= probe.distance * probe.normal;
            }
        }
    }

    /// Puts held nodes where they belong.
    fn hold(&mut self, is_held: &[bool], x: &[DVec3]) {
        for ((to, from), held) in self.x.iter_mut().zip(x).zip(is_held) {
            if *held {
                *to = *from;
            }
        }
    }
}
