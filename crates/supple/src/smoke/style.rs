//! Ways to show a streak surface (thesis §7.3): lines on it, nozzles, and what its colour means.
//!
//! A row of a streak surface is a streak line, a column is a time line: they are drawn by colouring vertices. Nozzles are
//! groups of rows with nothing between them; the triangles between them are taken out, so that the groups part cleanly
//! (hiding every other row alone makes tents, not jets).

use glam::Vec4;
use serde::{Deserialize, Serialize};

use super::Surface;
use crate::mesh::Values;
use crate::mesh::attribute::COLOR;

/// How a surface is shown.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Style {
    /// Smoke.
    #[default]
    Smoke,
    /// Smoke with streak lines: every so many rows another colour (Figure 7.5a).
    Streaks,
    /// Smoke with time lines: every so many columns another colour (Figure 7.5b).
    Times,
    /// The surface itself, dense everywhere.
    Surface,
    /// Smoke from nozzles: groups of rows with gaps (Figure 7.7c).
    Nozzles,
}

/// What a style draws with.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Lines {
    /// Rows or columns from one line to the next; rows of a nozzle and its gap together.
    pub every: usize,
    /// Linear RGB of lines.
    pub color: [f32; 3],
}

impl Default for Lines {
    fn default() -> Self {
        Self { every: 8, color: [0.9, 0.1, 0.05] }
    }
}

/// Shows a surface in a style. `released` is how many columns were released, so that time lines stay on their columns.
pub fn apply(surface: &mut Surface, style: Style, lines: &Lines, released: u64) {
    let [columns, rows] = surface.size;
    let every = lines.every.max(2);
    // The number of the first column shown, counted from the first that was ever released.
    let first = released.saturating_sub(columns as u64);
    match style {
        Style::Smoke => {}
        Style::Streaks => tint(surface, lines.color, |i| (i % rows).is_multiple_of(every)),
        Style::Times => {
            tint(surface, lines.color, |i| {
                (first + (i / rows) as u64).is_multiple_of(every as u64)
            });
        }
        Style::Surface => dense(surface),
        Style::Nozzles => {
            let inside = |row: u32| (row as usize % rows) % every < every.div_ceil(2);
            let nozzle = |row: u32| (row as usize % rows) / every;
            surface.mesh.triangles.retain(|t| {
                t.iter().all(|&i| inside(i)) && t.iter().all(|&i| nozzle(i) == nozzle(t[0]))
            });
        }
    }
}

fn tint(surface: &mut Surface, color: [f32; 3], is_line: impl Fn(usize) -> bool) {
    for (name, values) in surface.mesh.attributes.values_mut() {
        if let (COLOR, Values::Vec4(colors)) = (name, values) {
            let lines = colors.iter_mut().enumerate().filter(|(i, _)| is_line(*i));
            lines.for_each(|(_, c)| *c = Vec4::new(color[0], color[1], color[2], c.w));
        }
    }
}

/// All terms one, where there is a triangle.
fn dense(surface: &mut Surface) {
    for (name, values) in surface.mesh.attributes.values_mut() {
        match (name, values) {
            ("alpha" | "density" | "shape" | "curvature" | "fade", Values::Scalar(values)) => {
                values.fill(1.0);
            }
            (COLOR, Values::Vec4(colors)) => colors.iter_mut().for_each(|c| c.w = 1.0),
            _ => {}
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::Run;
    use crate::flow::Flow;
    use crate::flow::analytic::Analytic;
    use crate::smoke::{Params, SeedLine, Streak};

    fn surface(steps: u32) -> (Surface, u64) {
        let flow = Flow::Analytic(Analytic::Uniform);
        let line = SeedLine { points: vec![[0.0; 3], [0.0, 1.0, 0.0]], ..SeedLine::default() };
        let params =
            Params { columns: 10, rows: 16, dt: 0.1, seeds: vec![line], ..Params::default() };
        let run = Run::default();
        let mut smoke = Streak::new(&params, &flow, &run).unwrap();
        for _ in 0..steps {
            smoke.step(&flow, &run).unwrap();
        }
        (smoke.surface(&flow, 0.0, &run).unwrap(), smoke.ring().released())
    }

    fn red(surface: &Surface) -> Vec<usize> {
        let Some(Values::Vec4(colors)) = surface.mesh.attributes.get(COLOR) else {
            panic!("colours")
        };
        (0..colors.len()).filter(|&i| colors[i].y < 0.5).collect()
    }

    #[test]
    fn streak_lines_are_rows_and_time_lines_travel_with_their_columns() {
        let lines = Lines { every: 5, ..Lines::default() };
        let (mut streaks, released) = surface(20);
        apply(&mut streaks, Style::Streaks, &lines, released);
        assert!(red(&streaks).iter().all(|i| (i % 16) % 5 == 0), "rows");
        assert_eq!(red(&streaks).len(), 4 * 10);
        for steps in [20, 21, 23] {
            let (mut times, released) = surface(steps);
            apply(&mut times, Style::Times, &lines, released);
            let columns: Vec<usize> = red(&times).iter().step_by(16).map(|i| i / 16).collect();
            // Column 15, the sixteenth release, was put out at step 15: its place from the end is its age.
            let aged = columns.iter().map(|c| steps as usize - (9 - c));
            assert!(aged.clone().all(|number| number % 5 == 0), "{columns:?}");
        }
    }

    #[test]
    fn nozzles_have_gaps_that_no_triangle_crosses() {
        let (mut nozzles, released) = surface(20);
        apply(&mut nozzles, Style::Nozzles, &Lines { every: 8, ..Lines::default() }, released);
        let rows: Vec<usize> =
            nozzles.mesh.triangles.iter().flatten().map(|&i| i as usize % 16).collect();
        assert!(rows.iter().all(|row| row % 8 < 4) && rows.contains(&11), "{rows:?}");
        assert_eq!(nozzles.mesh.triangles.len(), 2 * 2 * 3 * 9);
    }
}
