//! Frames of a blend, one after the other.

use std::time::Instant;

use anyhow::{Context as _, bail};
use glam::{DVec3, Vec3};
use supple::Run;
use supple::blendshape::contact::{Interaction, Pull, Touch, World};
use supple::blendshape::obstacle::Obstacle;
use supple::blendshape::{Combination, Error, History, Params, Shapes, Solver};
use supple::mesh::{adjacency, volume};
use supple::rig::{Clip, Skinning};

use super::inputs::{Combined, Inputs, obstacle};
use super::{Args, How, Results};
use crate::commands::folds::Watch;
use crate::commands::one_shot;
use crate::shell::Shell;

/// What is played: the weights of each frame.
pub(super) struct Player<'a> {
    inputs: &'a Inputs,
    solver: Option<Solver>,
    interaction: Option<Interaction>,
    obstacles: Vec<Obstacle>,
    pulls: Vec<Pull>,
    args: &'a Args,
    run: Run<'a>,
    history: History,
    touch: Touch,
    body: Option<supple::rig::Body>,
    times: Vec<f64>,
    edges: Edges,
    /// Looks for folds in what is written.
    watch: Watch,
    pub(super) told: Results,
    pub(super) frames: Vec<Frame>,
}

/// One moment.
#[derive(Clone, Debug)]
pub(super) struct Frame {
    pub(super) weights: Vec<f64>,
    /// Moment of the clip that is played.
    pub(super) secs: Option<f32>,
}

impl<'a> Player<'a> {
    pub(super) fn new(
        args: &'a Args,
        inputs: &'a Inputs,
        shell: &'a Shell,
    ) -> anyhow::Result<Self> {
        let run = shell.quiet_run();
        let frames = frames(args, inputs)?;
        let solver = match args.mode {
            How::Linear => None,
            How::Springs | How::Rotations => Some(prepare(args, inputs, &run)?),
        };
        let obstacles = args
            .obstacle
            .iter()
            .map(|p| obstacle(p, shell, &run))
            .collect::<anyhow::Result<Vec<_>>>()?;
        let pulls = args.pull.iter().map(|text| pull(text)).collect::<anyhow::Result<Vec<_>>>()?;
        for (k, pull) in pulls.iter().enumerate() {
            if pulls[..k].iter().any(|other| other.vertex == pull.vertex) {
                bail!("--pull names vertex {} twice", pull.vertex);
            }
        }
        let touches = !obstacles.is_empty() || !pulls.is_empty();
        let interaction = match &solver {
            Some(solver) if touches => Some(Interaction::new(solver, &run)?),
            _ => None,
        };
        if touches && interaction.is_none() {
            bail!("a linear blend touches nothing: use --mode springs with --obstacle and --pull");
        }
        let told = Results {
            file: args.output.clone(),
            frames: frames.len() as u32,
            targets: inputs.names.clone(),
            network: solver.as_ref().map(Solver::counts).unwrap_or_default(),
            held_vertices: solver.as_ref().map_or(0, Solver::held),
            ..Results::default()
        };
        let body = inputs.rig.as_ref().map(|rig| rig.body.clone());
        let (history, touch, times) = (History::default(), Touch::default(), Vec::new());
        Ok(Self {
            inputs,
            solver,
            interaction,
            obstacles,
            pulls,
            args,
            run,
            history,
            touch,
            body,
            times,
            edges: Edges::new(inputs),
            watch: Watch::new(&inputs.base, &inputs.asset.meshes[0].triangles),
            told,
            frames,
        })
    }

    /// Where the vertices are in a frame; frames are asked for in order.
    pub(super) fn at(&mut self, frame: usize) -> anyhow::Result<Vec<Vec3>> {
        let Frame { weights, secs } = self.frames[frame].clone();
        let start = Instant::now();
        let blended = self.blend(&weights)?;
        self.times.push(1000.0 * start.elapsed().as_secs_f64());
        self.times.sort_by(f64::total_cmp);
        self.told.milliseconds = self.times[self.times.len() / 2];
        self.measure(&weights, &blended);
        self.posed(blended, secs)
    }

    /// A frame is written.
    pub(super) fn writes(&mut self, frame: usize, positions: &[Vec3]) {
        self.watch.see(frame as u32, positions);
    }

    /// All frames are written: what there is to tell.
    pub(super) fn finish(self, shell: &Shell) -> anyhow::Result<Results> {
        let watch = self.watch;
        let folds = shell.with_progress("self-intersections", |run| watch.finish(run))?;
        Ok(Results { folds: Some(folds), ..self.told })
    }

    fn blend(&mut self, weights: &[f64]) -> anyhow::Result<Vec<Vec3>> {
        let Some(solver) = &self.solver else { return Ok(linear(self.inputs, weights)) };
        let blend = match &self.interaction {
            None => solver.solve(weights, &mut self.history, &self.run)?,
            Some(interaction) => {
                let world = World {
                    obstacles: &self.obstacles,
                    pulls: &self.pulls,
                    friction: self.args.friction,
                    response: self.args.response(),
                };
                let state = (&mut self.touch, &mut self.history);
                let blend = interaction.solve(solver, weights, &world, state, &self.run);
                match blend {
                    Err(Error::ObstacleAround { obstacle }) => bail!(
                        "the whole body is inside {}: there is no side to push it out to; move the obstacle, or make it smaller",
                        self.args.obstacle[obstacle].display()
                    ),
                    other => other?,
                }
            }
        };
        self.told.add(&blend.report);
        Ok(blend.positions)
    }

    /// Edges against blended lengths, and the volume against what lies between the shapes' own.
    fn measure(&mut self, weights: &[f64], blended: &[Vec3]) {
        let plain = linear(self.inputs, weights);
        let [error, error_linear] = [blended, &plain].map(|x| self.edges.error(weights, x));
        self.told.edge_error = self.told.edge_error.max(error);
        self.told.edge_error_linear = self.told.edge_error_linear.max(error_linear);
        let triangles = &self.inputs.asset.meshes[0].triangles;
        let volume = |x: &[Vec3]| volume::volume(x, triangles, &self.run);
        let base = volume(&self.inputs.base);
        let between = base
            + weights
                .iter()
                .zip(&self.inputs.targets)
                .filter(|(w, _)| **w != 0.0)
                .map(|(w, t)| w * (volume(t) - base))
                .sum::<f64>();
        if between == 0.0 || between.is_nan() {
            return;
        }
        let error = volume(blended) / between - 1.0;
        let plain = volume(&plain) / between - 1.0;
        let larger =
            |now: f64, known: Option<f64>| known.filter(|k| k.abs() >= now.abs()).unwrap_or(now);
        self.told.volume_error = Some(larger(error, self.told.volume_error));
        self.told.volume_error_linear = Some(larger(plain, self.told.volume_error_linear));
    }

    /// Moved on by the skeleton of the file.
    fn posed(&mut self, blended: Vec<Vec3>, secs: Option<f32>) -> anyhow::Result<Vec<Vec3>> {
        let (Some(body), Some(rig)) = (&mut self.body, &self.inputs.rig) else {
            return Ok(blended);
        };
        let mut pose = body.rest_pose().clone();
        if let (Some(secs), Some(clip)) = (secs, clip(self.args, self.inputs)?) {
            clip.sample(secs, &mut pose);
        }
        body.morphs.clear();
        body.mesh.positions = blended;
        let matrices = rig.body.matrices(&pose);
        Ok(body.skin(&pose, &matrices, Skinning::Linear, &self.run))
    }
}

/// The edges of the surface and their lengths: in the base, and how much longer each target makes them.
struct Edges {
    ends: Vec<[u32; 2]>,
    rest: Vec<f64>,
    longer: Vec<Vec<f32>>,
}

impl Edges {
    fn new(inputs: &Inputs) -> Self {
        let ends = adjacency::edges(inputs.base.len(), &inputs.asset.meshes[0].triangles);
        let rest: Vec<f64> = ends.iter().map(|e| length(&inputs.base, e)).collect();
        let longer = |x: &Vec<Vec3>| -> Vec<f32> {
            ends.iter().zip(&rest).map(|(e, r)| (length(x, e) - r) as f32).collect()
        };
        let longer = inputs.targets.iter().map(longer).collect();
        Self { ends, rest, longer }
    }

    /// Mean error of those that move at all against blended lengths.
    fn error(&self, weights: &[f64], x: &[Vec3]) -> f64 {
        let (mut sum, mut count) = (0.0, 0.0);
        for (e, (ends, &rest)) in self.ends.iter().zip(&self.rest).enumerate() {
            let more = weights.iter().zip(&self.longer).map(|(w, l)| w * f64::from(l[e]));
            let (wanted, now) = (rest + more.sum::<f64>(), length(x, ends));
            if wanted > 0.0 && (wanted != rest || (now - rest).abs() > 1e-6 * rest) {
                sum += (now / wanted - 1.0).abs();
                count += 1.0;
            }
        }
        if count > 0.0 { sum / count } else { 0.0 }
    }
}

fn length(x: &[Vec3], [i, j]: &[u32; 2]) -> f64 {
    f64::from(x[*i as usize].distance(x[*j as usize]))
}

pub(super) fn prepare<'a>(
    args: &Args,
    inputs: &'a Inputs,
    run: &Run<'_>,
) -> anyhow::Result<Solver> {
    let params = Params {
        mode: args.mode(),
        hold: inputs.hold.clone(),
        anchor: inputs.anchor.clone(),
        anchors: inputs.anchors.clone(),
        ..Params::default()
    };
    let targets = inputs.targets.iter().map(Vec::as_slice).collect();
    let mut shapes = Shapes::of_surface(&inputs.asset.meshes[0].triangles, &inputs.base, targets);
    shapes.stiffness = inputs.stiffness.as_deref();
    shapes.tets = &inputs.tets;
    let combined = |c: &'a Combined| Combination { of: c.of.clone(), positions: &c.positions };
    shapes.combinations = inputs.combinations.iter().map(combined).collect();
    Ok(Solver::new(&shapes, &params, run)?)
}

/// `b⁰ + Σ w (b − b⁰)`.
pub(super) fn linear(inputs: &Inputs, weights: &[f64]) -> Vec<Vec3> {
    let mut x = inputs.base.clone();
    for (&w, target) in weights.iter().zip(&inputs.targets).filter(|(w, _)| **w != 0.0) {
        x.iter_mut()
            .zip(target)
            .zip(&inputs.base)
            .for_each(|((x, t), b)| *x += w as f32 * (*t - *b));
    }
    for Combined { of, positions } in &inputs.combinations {
        let w = of.iter().map(|&t| weights[t] as f32).product::<f32>();
        for (v, x) in x.iter_mut().enumerate() {
            let base = inputs.base[v];
            let alone: Vec3 = of.iter().map(|&t| inputs.targets[t][v] - base).sum();
            *x += w * (positions[v] - base - alone);
        }
    }
    x
}

fn frames(args: &Args, inputs: &Inputs) -> anyhow::Result<Vec<Frame>> {
    let towards = |weights: &[f64], part: f64| Frame {
        weights: weights.iter().map(|w| part * w).collect(),
        secs: None,
    };
    let last = match &args.weights {
        Some(text) => Some(inputs.weights(text, args.additive)?),
        None => None,
    };
    match (args.steps, last) {
        (Some(steps), last) => {
            let to = last.unwrap_or_else(|| {
                let mut one = vec![0.0; inputs.targets.len()];
                if let Some(end) = one.last_mut() {
                    *end = 1.0;
                }
                one
            });
            Ok((0..=steps).map(|k| towards(&to, f64::from(k) / f64::from(steps))).collect())
        }
        (None, Some(last)) => Ok(vec![towards(&last, 1.0)]),
        (None, None) => played(args, inputs),
    }
}

/// The frames of a file's own clip.
fn played(args: &Args, inputs: &Inputs) -> anyhow::Result<Vec<Frame>> {
    let Some(rig) = &inputs.rig else {
        bail!("say what to blend: --weights, --steps, or both");
    };
    let rest = |pose: &supple::rig::Pose, secs: Option<f32>| {
        let weight = |of: &Vec<usize>| {
            let morph = &rig.body.morphs[of[0]];
            pose.morph_weights[morph.node as usize].get(morph.index).map_or(0.0, |w| f64::from(*w))
        };
        Frame { weights: rig.morphs.iter().map(weight).collect(), secs }
    };
    let mut pose = rig.body.rest_pose().clone();
    let Some(clip) = clip(args, inputs)? else { return Ok(vec![rest(&pose, None)]) };
    let (first, last) = clip.span().unwrap_or_default();
    let count = (f64::from(last - first) * args.fps + 1e-6).floor().clamp(0.0, 1e6) as u32 + 1;
    let mut frames = Vec::new();
    for k in 0..count {
        let secs = first + (f64::from(k) / args.fps) as f32;
        clip.sample(secs, &mut pose);
        frames.push(rest(&pose, Some(secs)));
    }
    Ok(frames)
}

fn clip<'a>(args: &Args, inputs: &'a Inputs) -> anyhow::Result<Option<&'a Clip>> {
    let Some(rig) = &inputs.rig else { return Ok(None) };
    let number = one_shot::clip(args.clip.as_deref(), &rig.file)
        .with_context(|| args.inputs[0].display().to_string())?;
    let clip = number.map(|number| &rig.file.clips[number]);
    clip.map_or(Ok(()), |clip| clip.check(&rig.file))?;
    Ok(clip)
}

fn pull(text: &str) -> anyhow::Result<Pull> {
    let wrong = || format!("--pull '{text}': give a vertex and a place, as in 17:0,0.5,1");
    let (vertex, to) = text.split_once(':').with_context(wrong)?;
    let vertex = vertex.trim().parse().with_context(wrong)?;
    let to: Vec<f64> =
        to.split(',').map(|x| x.trim().parse()).collect::<Result<_, _>>().with_context(wrong)?;
    match to[..] {
        [x, y, z] if to.iter().all(|x| x.is_finite()) => {
            Ok(Pull { vertex, to: DVec3::new(x, y, z), amount: 1.0 })
        }
        _ => bail!(wrong()),
    }
}
