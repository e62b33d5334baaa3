//! A flow and the surfaces in it, with what nobody asked for chosen.

use anyhow::{Context as _, bail};
use glam::{DVec3, Vec3};
use supple::Run;
use supple::flow::Flow;
use supple::flow::analytic::{self, Analytic};
use supple::smoke::{Params, SeedLine, Streak};

use super::Args;
use crate::shell::Shell;

/// A flow and the surfaces in it, before their first step.
pub(super) struct Cast {
    flow: Flow,
    streaks: Vec<Streak>,
    colors: Vec<[f32; 3]>,
    chosen: Vec<String>,
    /// Mean direction of the flow at the seeds, and of the first seed line.
    axes: [Vec3; 2],
}

impl Cast {
    pub(super) fn new(args: &Args, shell: &Shell) -> anyhow::Result<Self> {
        let run = shell.quiet_run();
        let mut chosen = Vec::new();
        let (flow, formula) = open(&args.flow)?;
        let lines: Vec<Vec<[f64; 3]>> = if args.seed.is_empty() {
            let (ends, _) = formula.seed();
            chosen.push(format!("--seed {}", ends.map(comma).join(":")));
            vec![ends.to_vec()]
        } else {
            args.seed.iter().map(|line| line.0.clone()).collect()
        };
        let start = args.start.unwrap_or(0.0);
        let mean = mean_velocity(&flow, &lines[0], start, &run)?;
        let dt = match args.dt {
            Some(dt) => dt,
            None => square_step(&lines[0], args.rows, mean)?,
        };
        if args.dt.is_none() {
            chosen.push(format!("--dt {dt}"));
        }
        let dt = if args.backward { -dt } else { dt };
        let streak = |points: &Vec<[f64; 3]>| {
            let seeds = vec![SeedLine { points: points.clone(), ..SeedLine::default() }];
            let (columns, rows, opacity) = (args.columns, args.rows, args.look.terms());
            Streak::new(&Params { columns, rows, dt, start, seeds, opacity }, &flow, &run)
        };
        let streaks = lines.iter().map(streak).collect::<Result<Vec<_>, _>>()?;
        let along = streaks.iter().map(Streak::along).fold(0.0, f64::max);
        if along > 0.5 {
            let what = format!(
                "the flow runs along {:.0} % of a seed line: no sheet comes from there; turn the line across the flow",
                100.0 * along
            );
            shell.warn("smoke", &[what]);
        }
        let colors = (0..lines.len()).map(|i| color_of(args, i)).collect();
        let ends = [lines[0][0], lines[0][lines[0].len() - 1]].map(DVec3::from);
        let axes = [mean, ends[1] - ends[0]].map(|v| v.as_vec3().normalize_or_zero());
        Ok(Self { flow, streaks, colors, chosen, axes })
    }

    pub(super) fn flow(&self) -> &Flow {
        &self.flow
    }

    pub(super) fn streaks(&self) -> &[Streak] {
        &self.streaks
    }

    pub(super) fn colors(&self) -> &[[f32; 3]] {
        &self.colors
    }

    /// What was chosen, as the flags that change it.
    pub(super) fn chosen(&self) -> &[String] {
        &self.chosen
    }

    /// Directions of the stream and of the seed line.
    pub(super) fn axes(&self) -> [Vec3; 2] {
        self.axes
    }
}

fn open(names: &[String]) -> anyhow::Result<(Flow, Analytic)> {
    let [name] = names else { bail!("one flow at a time; {} were named", names.len()) };
    let known = analytic::ALL.map(|known| known.0).join(", ");
    let formula = Analytic::named(name)
        .with_context(|| format!("there is no flow '{name}'; there are {known}"))?;
    Ok((Flow::Analytic(formula), formula))
}

fn color_of(args: &Args, i: usize) -> [f32; 3] {
    const WHITE: [f32; 3] = [0.95, 0.95, 0.95];
    args.color.get(i).copied().unwrap_or(WHITE)
}

fn comma(point: [f64; 3]) -> String {
    point.map(|c| c.to_string()).join(",")
}

/// Over the corners of a line.
fn mean_velocity(flow: &Flow, line: &[[f64; 3]], t: f64, run: &Run<'_>) -> anyhow::Result<DVec3> {
    const PLACES: u32 = 16;
    let between =
        |ends: &[[f64; 3]], s: f64| [0, 1, 2].map(|c| ends[0][c] + s * (ends[1][c] - ends[0][c]));
    let places: Vec<[f64; 3]> = line
        .windows(2)
        .flat_map(|ends| (0..=PLACES).map(move |k| between(ends, f64::from(k) / f64::from(PLACES))))
        .collect();
    let velocities = flow.velocities(&places, t, run)?;
    let fluid: f64 = velocities.iter().map(|v| v[3]).sum();
    let sum = velocities.iter().map(|v| v[3] * DVec3::new(v[0], v[1], v[2])).sum::<DVec3>();
    Ok(sum / fluid.max(1e-9))
}

/// The step in which the flow crosses a cell as long as it is wide, to two digits.
fn square_step(line: &[[f64; 3]], rows: usize, mean: DVec3) -> anyhow::Result<f64> {
    let length: f64 =
        line.windows(2).map(|ends| DVec3::from(ends[0]).distance(DVec3::from(ends[1]))).sum();
    let step = length / rows.saturating_sub(1).max(1) as f64 / mean.length();
    if !(step > 0.0 && step.is_finite()) {
        bail!("nothing moves at the seed line; give the step with --dt, or another --seed");
    }
    let digit = 10.0_f64.powf(step.log10().floor() - 1.0);
    // Divided, so that 0.05 is written so.
    Ok((step / digit).round() / (1.0 / digit))
}
