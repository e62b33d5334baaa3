//! In-between morph targets, so that an engine that only blends linearly shows the better shape.
//!
//! For every weight w that is used, and grid points `w_k = k/(n + 1)`, a target holds what the blend at `w_k` has
//! beyond the linear one. Its weight is the polynomial over the grid points next to w that is one at `w_k` and zero at
//! the others, of degree five at most; keys stand so near to each other that straight lines between them will do. An
//! engine then goes through all grid points exactly, and between them it is off by the sixth power of their distance,
//! where hats would leave the second. Together, targets add up: what they do to each other is not in them.

use anyhow::{Context as _, bail};
use glam::Vec3;
use supple::bake::Folds;
use supple::blendshape::{History, Hold, Params, Shapes, Solver};
use supple::io;
use supple::mesh::{MorphTarget, TriMesh};
use supple::rig::{Channel, Clip, Interpolation, Track};
use supple::{Asset, Run};

use super::inputs::Inputs;
use super::{Args, Results};
use crate::commands::folds::Watch;
use crate::shell::Shell;

/// Times a second at which splines are sampled.
const RATE: f32 = 60.0;

/// Largest degree of the weights between grid points: higher ones swing.
const DEGREE: usize = 5;

/// Keys from one grid point to the next.
const KEYS: usize = 16;

pub(super) fn write(args: &Args, inputs: &Inputs, shell: &Shell) -> anyhow::Result<Results> {
    let Some(rig) = &inputs.rig else {
        bail!("--as correctives needs one file with morph targets");
    };
    if !inputs.combinations.is_empty() {
        bail!("--as correctives are made for each target by itself: leave --combine out");
    }
    let mut asset = rig.file.clone();
    spread(&mut asset);
    let mut told = Results {
        file: args.output.clone(),
        frames: 0,
        targets: inputs.names.clone(),
        ..Results::default()
    };
    let mut error: f64 = 0.0;
    for m in 0..asset.meshes.len() {
        if asset.meshes[m].morphs.is_empty() {
            continue;
        }
        let used = used(&asset, m);
        let between = args.between as usize;
        let made = shell.with_progress("correctives", |run| {
            Made::new(&asset.meshes[m], &used, between, args, run)
        });
        let made = made.with_context(|| {
            format!("{}: mesh {m} '{}'", args.inputs[0].display(), asset.meshes[m].name)
        })?;
        error = error.max(made.error);
        let worst = |f: &Folds| f.worst().map_or(0, |w| w.folding.added);
        if told.folds.as_ref().is_none_or(|f| worst(f) < worst(&made.folds)) {
            told.folds = Some(made.folds);
        }
        told.network = made.counts;
        told.frames += (used.len() * between) as u32;
        let targets = asset.meshes[m].morphs.len();
        asset.meshes[m].morphs.extend(made.targets);
        rekey(&mut asset, m, targets, &used, between);
    }
    told.correctives_error_rel_diagonal = Some(error);
    let warnings = io::write(&args.output, &asset)?;
    shell.warn(&args.output.display().to_string(), &warnings);
    Ok(told)
}

/// Sparse weights become plain ones: these are to be cut anew.
fn spread(asset: &mut Asset) {
    for channel in asset.clips.iter_mut().flat_map(|clip| &mut clip.channels) {
        if let Track::SparseWeights(weights) = &channel.track {
            channel.track = Track::Weights(weights.to_dense());
        }
    }
}

/// The targets whose weight a clip changes; all of them, if there is no such clip.
fn used(asset: &Asset, mesh: usize) -> Vec<usize> {
    let targets = asset.meshes[mesh].morphs.len();
    let mut is_used = vec![false; targets];
    for channel in asset.clips.iter().flat_map(|c| &c.channels) {
        let carries = asset.nodes[channel.node as usize].mesh == Some(mesh as u32);
        if let (true, Track::Weights(weights)) = (carries, &channel.track) {
            for (k, w) in weights.iter().enumerate() {
                is_used[k % targets] |= *w != 0.0;
            }
        }
    }
    if !is_used.contains(&true) {
        return (0..targets).collect();
    }
    (0..targets).filter(|&t| is_used[t]).collect()
}

/// The in-betweens of one mesh.
struct Made {
    targets: Vec<MorphTarget>,
    error: f64,
    /// Self-intersections of in-betweens.
    folds: Folds,
    counts: supple::blendshape::Counts,
}

impl Made {
    fn new(
        mesh: &TriMesh,
        used: &[usize],
        between: usize,
        args: &Args,
        run: &Run<'_>,
    ) -> anyhow::Result<Self> {
        let shape = |t: &MorphTarget| -> Vec<Vec3> {
            mesh.positions.iter().zip(&t.positions).map(|(x, d)| *x + *d).collect()
        };
        let shapes: Vec<Vec<Vec3>> = mesh.morphs.iter().map(shape).collect();
        let hold =
            if args.hold.as_deref() == Some("nothing") { Hold::Nothing } else { Hold::Agreeing };
        let params = Params { mode: args.mode(), hold, ..Params::default() };
        let given = Shapes::of_surface(
            &mesh.triangles,
            &mesh.positions,
            shapes.iter().map(Vec::as_slice).collect(),
        );
        let solver = Solver::new(&given, &params, run)?;
        let counts = solver.counts();
        let mut made = Self { targets: Vec::new(), error: 0.0, folds: Folds::default(), counts };
        let mut watch = Watch::new(&mesh.positions, &mesh.triangles);
        for (done, &t) in used.iter().enumerate() {
            let first = made.targets.len();
            let mut history = History::default();
            let mut at = |w: f64| -> anyhow::Result<Vec<Vec3>> {
                let mut weights = vec![0.0; shapes.len()];
                weights[t] = w;
                Ok(solver.solve(&weights, &mut history, run)?.positions)
            };
            // Grid points, and between them and between keys, where what an engine shows is measured.
            let cells = (between + 1) as f32;
            let places = [0.0, 0.25, 0.5, 0.75].map(|u| u + 0.5 / KEYS as f32);
            let mut path = vec![mesh.positions.clone()];
            let mut measured = Vec::new();
            for k in 0..=between {
                for u in places {
                    let w = (k as f32 + u) / cells;
                    measured.push((w, at(f64::from(w))?));
                }
                path.push(at((k + 1) as f64 / f64::from(cells))?);
            }
            let delta = &mesh.morphs[t].positions;
            let linear = |v: usize, w: f32| mesh.positions[v] + w * delta[v];
            for (k, shape) in path.iter().enumerate().take(between + 1).skip(1) {
                let w = k as f32 / cells;
                let beyond = shape.iter().enumerate().map(|(v, x)| *x - linear(v, w)).collect();
                watch.see((done * between + k - 1) as u32, shape);
                let name = format!("{}.{k}", mesh.morphs[t].name);
                let weight = share(mesh.morphs[t].weight, k, between);
                made.targets.push(MorphTarget { name, positions: beyond, normals: None, weight });
            }
            for (w, exact) in &measured {
                let played: Vec<f32> = (1..=between).map(|k| played(*w, k, between)).collect();
                let more = |v: usize| -> Vec3 {
                    let own = made.targets[first..].iter().zip(&played);
                    own.map(|(target, h)| *h * target.positions[v]).sum()
                };
                let away = |(v, x): (usize, &Vec3)| (linear(v, *w) + more(v)).distance(*x);
                let worst = exact.iter().enumerate().map(away).fold(0.0, f32::max);
                made.error = made.error.max(f64::from(worst) / solver.diagonal());
            }
            run.report(done as u64 + 1, used.len() as u64);
        }
        made.folds = watch.finish(run)?;
        Ok(made)
    }
}

/// The weight of in-between `k` of `between`: none outside 0 to 1.
fn share(weight: f32, k: usize, between: usize) -> f32 {
    let cells = between + 1;
    let s = weight * cells as f32;
    if s.is_nan() || s <= 0.0 || s >= cells as f32 {
        return 0.0;
    }
    let degree = DEGREE.min(cells);
    let first = (s as usize).saturating_sub(degree / 2).min(cells - degree);
    let stencil = first..=first + degree;
    if !stencil.contains(&k) {
        return 0.0;
    }
    let others = stencil.filter(|&j| j != k);
    others.map(|j| (s - j as f32) / (k as f32 - j as f32)).product()
}

/// The weight of in-between `k` as an engine plays it, from key to key.
fn played(weight: f32, k: usize, between: usize) -> f32 {
    let keys = (KEYS * (between + 1)) as f32;
    let (key, u) = ((weight * keys).floor(), (weight * keys).fract());
    (1.0 - u) * share(key / keys, k, between) + u * share((key + 1.0) / keys, k, between)
}

/// Gives the weight channels of a mesh the numbers of its in-betweens.
fn rekey(asset: &mut Asset, mesh: usize, targets: usize, used: &[usize], between: usize) {
    let carries: Vec<bool> = asset.nodes.iter().map(|n| n.mesh == Some(mesh as u32)).collect();
    for node in asset
        .nodes
        .iter_mut()
        .filter(|n| n.mesh == Some(mesh as u32) && n.morph_weights.len() == targets)
    {
        let now = node.morph_weights.clone();
        let more = used.iter().flat_map(|&t| (1..=between).map(move |k| (t, k)));
        node.morph_weights.extend(more.map(|(t, k)| share(now[t], k, between)));
    }
    for channel in asset.clips.iter_mut().flat_map(|c: &mut Clip| &mut c.channels) {
        if carries[channel.node as usize] && matches!(channel.track, Track::Weights(_)) {
            *channel = rekeyed(channel, targets, used, between);
        }
    }
}

fn rekeyed(channel: &Channel, targets: usize, used: &[usize], between: usize) -> Channel {
    let times = times(channel, targets, used, between);
    let mut weights = Vec::new();
    for &time in &times {
        let now = at(channel, targets, time);
        weights.extend_from_slice(&now);
        weights.extend(
            used.iter()
                .flat_map(|&t| (1..=between).map(move |k| (t, k)))
                .map(|(t, k)| share(now[t], k, between)),
        );
    }
    let interpolation = if channel.interpolation == Interpolation::Step {
        Interpolation::Step
    } else {
        Interpolation::Linear
    };
    Channel { node: channel.node, times, track: Track::Weights(weights), interpolation }
}

/// The weights of a channel at a time.
fn at(channel: &Channel, targets: usize, time: f32) -> Vec<f32> {
    let Track::Weights(values) = &channel.track else { return vec![0.0; targets] };
    let stride = if channel.interpolation == Interpolation::CubicSpline { 3 } else { 1 };
    let key = |k: usize, part: usize| {
        &values[(stride * k + part) * targets..(stride * k + part + 1) * targets]
    };
    let middle = stride / 2;
    let next = channel.times.partition_point(|t| *t <= time);
    if next == 0 || next == channel.times.len() {
        return key(next.saturating_sub(1).min(channel.times.len() - 1), middle).to_vec();
    }
    let (from, to) = (channel.times[next - 1], channel.times[next]);
    let (u, span) = ((time - from) / (to - from), to - from);
    let (a, b) = (key(next - 1, middle), key(next, middle));
    let value = |t: usize| match channel.interpolation {
        Interpolation::Step => a[t],
        Interpolation::Linear => a[t] + u * (b[t] - a[t]),
        Interpolation::CubicSpline => {
            let (out, into) = (key(next - 1, 2)[t] * span, key(next, 0)[t] * span);
            let (u2, u3) = (u * u, u * u * u);
            (2.0 * u3 - 3.0 * u2 + 1.0) * a[t]
                + (u3 - 2.0 * u2 + u) * out
                + (3.0 * u2 - 2.0 * u3) * b[t]
                + (u3 - u2) * into
        }
    };
    (0..targets).map(value).collect()
}

/// The keys, and the moments when a weight passes a grid point or a part of the way to the next; splines are sampled.
fn times(channel: &Channel, targets: usize, used: &[usize], between: usize) -> Vec<f32> {
    let mut times = channel.times.clone();
    for pair in channel.times.windows(2) {
        let (from, to) = (pair[0], pair[1]);
        match channel.interpolation {
            Interpolation::Step => {}
            Interpolation::CubicSpline => {
                let count = ((to - from) * RATE).ceil().clamp(1.0, 10_000.0) as u32;
                times.extend((1..count).map(|k| from + (to - from) * k as f32 / count as f32));
            }
            Interpolation::Linear => {
                let (a, b) = (at(channel, targets, from), at(channel, targets, to));
                for &t in used {
                    let keys = KEYS * (between + 1);
                    let grid = (0..=keys).map(|k| k as f32 / keys as f32);
                    let crossed = grid
                        .filter(|g| (a[t] < *g) != (b[t] < *g))
                        .map(|g| (g - a[t]) / (b[t] - a[t]));
                    times.extend(
                        crossed.filter(|u| (0.0..1.0).contains(u)).map(|u| from + u * (to - from)),
                    );
                }
            }
        }
    }
    times.sort_by(f32::total_cmp);
    // Keys must rise.
    times.dedup_by(|b, a| *b - *a <= 1e-6 * a.abs().max(1e-3));
    times
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn weights_are_one_at_their_own_grid_point_and_follow_polynomials() {
        for between in [1_usize, 2, 5, 12] {
            let cells = (between + 1) as f32;
            for k in 1..=between {
                for j in 0..=between + 1 {
                    let expected = f32::from(u8::from(j == k));
                    let found = share(j as f32 / cells, k, between);
                    assert!((found - expected).abs() < 1e-4, "{between}: {k} at {j}: {found}");
                }
                assert_eq!((share(-0.5, k, between), share(1.5, k, between)), (0.0, 0.0));
            }
            // What is zero at both ends and of the second degree is met everywhere.
            for w in [0.1_f32, 0.37, 0.5, 0.93] {
                let curve = |w: f32| w * (1.0 - w);
                let sum: f32 =
                    (1..=between).map(|k| share(w, k, between) * curve(k as f32 / cells)).sum();
                assert!((sum - curve(w)).abs() < 1e-5, "{between} at {w}: {sum}");
            }
        }
    }
}
