//! Ways to show a surface (thesis §7.3): lines on it, nozzles, and what its colour means.
//!
//! A row of a streak surface is a streak line, a column is a time line: they are drawn by colouring vertices, and so is
//! the grid on a time surface, of which both are time lines. Nozzles are groups of rows with nothing between them: the
//! triangles between them do not exist, so that the groups part cleanly (hiding every other row alone makes tents, not
//! jets); the other way of §7.3.3, parts placed anywhere, is [`Params::parts`](super::Params::parts).

use glam::Vec4;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::{Growth, Opacity, Surface};
use crate::mesh::Values;
use crate::mesh::attribute::COLOR;

/// How a surface is made and shown.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub enum Style {
    /// Smoke.
    #[default]
    Smoke,
    /// Smoke with streak lines: every so many rows another colour (Figure 7.5a).
    Streaks,
    /// Smoke with time lines: every so many columns another colour (Figure 7.5b).
    Times,
    /// A time surface with a grid on it (Figure 7.6).
    Surface,
    /// Smoke from nozzles: groups of rows with gaps (Figure 7.7c).
    Nozzles,
    /// Wool tufts all over an obstacle, or over the walls of the data (Figure 7.10a).
    Tufts,
    /// A path surface.
    Path,
    /// A stream surface of the flow as it is at each moment.
    Stream,
}

impl Style {
    /// How such a surface grows.
    #[must_use]
    pub fn growth(self) -> Growth {
        match self {
            Self::Surface => Growth::Time,
            Self::Path => Growth::Path,
            Self::Stream => Growth::Stream,
            _ => Growth::Streak,
        }
    }

    /// Wool is dense; the others are as thin as was asked for.
    #[must_use]
    pub fn opacity(self, asked: Opacity) -> Opacity {
        match self {
            Self::Tufts => {
                Opacity { fresh: 1.0, shape: 0.0, curvature: 0.0, fade: 1.0, linear: false }
            }
            _ => asked,
        }
    }
}

/// What a style draws with.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Lines {
    /// Rows or columns from one line to the next.
    pub every: usize,
    /// Linear RGB of lines.
    pub color: [f32; 3],
}

impl Default for Lines {
    fn default() -> Self {
        Self { every: 8, color: [0.9, 0.1, 0.05] }
    }
}

/// Draws the lines of a style. `released` is how many columns were released, so that time lines stay on their columns.
pub fn apply(surface: &mut Surface, style: Style, lines: &Lines, released: u64) {
    let [columns, rows] = surface.size;
    let every = lines.every.max(2);
    // The number of the first column shown, counted from the first that was ever released.
    let first = released.saturating_sub(columns as u64);
    let of_time = |i: usize| (first + (i / rows) as u64).is_multiple_of(every as u64);
    let of_row = |i: usize| (i % rows).is_multiple_of(every);
    match style {
        Style::Streaks => tint(surface, lines.color, of_row),
        Style::Times => tint(surface, lines.color, of_time),
        Style::Surface => {
            // Lines at both ends of the patch, however many cells it has.
            let ends = |i: usize| i % rows + 1 == rows || i / rows + 1 == columns;
            let grid = |i: usize| of_row(i) || (i / rows).is_multiple_of(every) || ends(i);
            tint(surface, lines.color, grid);
        }
        Style::Smoke | Style::Nozzles | Style::Tufts | Style::Path | Style::Stream => {}
    }
}

fn tint(surface: &mut Surface, color: [f32; 3], is_line: impl Fn(usize) -> bool) {
    if let Some(Values::Vec4(colors)) = surface.shape.channels.get_mut(COLOR) {
        let lines = colors.iter_mut().enumerate().filter(|(i, _)| is_line(*i));
        lines.for_each(|(_, c)| *c = Vec4::new(color[0], color[1], color[2], c.w));
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::Run;
    use crate::flow::Flow;
    use crate::flow::analytic::Analytic;
    use crate::smoke::{Params, SeedLine, Streak};

    fn surface(steps: u32, nozzle: usize) -> (Surface, u64) {
        let flow = Flow::Analytic(Analytic::Uniform);
        let line = SeedLine { points: vec![[0.0; 3], [0.0, 1.0, 0.0]], ..SeedLine::default() };
        let seeds = vec![line];
        let params = Params { columns: 10, rows: 16, dt: 0.1, seeds, nozzle, ..Params::default() };
        let run = Run::default();
        let mut smoke = Streak::new(&params, &flow, &run).unwrap();
        for _ in 0..steps {
            smoke.step(&flow, &run).unwrap();
        }
        (smoke.surface(&flow, 0.0, &run).unwrap(), smoke.ring().released())
    }

    fn red(surface: &Surface) -> Vec<usize> {
        let Some(Values::Vec4(colors)) = surface.shape.channels.get(COLOR) else {
            panic!("colours")
        };
        (0..colors.len()).filter(|&i| colors[i].y < 0.5).collect()
    }

    #[test]
    fn streak_lines_are_rows_and_time_lines_travel_with_their_columns() {
        let lines = Lines { every: 5, ..Lines::default() };
        let (mut streaks, released) = surface(20, 0);
        apply(&mut streaks, Style::Streaks, &lines, released);
        assert!(red(&streaks).iter().all(|i| (i % 16) % 5 == 0), "rows");
        assert_eq!(red(&streaks).len(), 4 * 10);
        for steps in [20, 21, 23] {
            let (mut times, released) = surface(steps, 0);
            apply(&mut times, Style::Times, &lines, released);
            let columns: Vec<usize> = red(&times).iter().step_by(16).map(|i| i / 16).collect();
            // Column 15, the sixteenth release, was put out at step 15: its place from the end is its age.
            let aged = columns.iter().map(|c| steps as usize - (9 - c));
            assert!(aged.clone().all(|number| number % 5 == 0), "{columns:?}");
        }
    }

    /// Gaps have no say in the terms either: smoke at the rim of a nozzle is as dense as in its middle.
    #[test]
    fn nozzles_have_gaps_that_no_triangle_crosses() {
        let (nozzles, _) = surface(20, 8);
        let triangles = nozzles.shape.topology.triangles();
        let rows: Vec<usize> = triangles.iter().flatten().map(|&i| i as usize % 16).collect();
        assert!(rows.iter().all(|row| row % 8 < 4) && rows.contains(&11), "{rows:?}");
        assert_eq!(triangles.len(), 2 * 2 * 3 * 9);
        let Some(Values::Scalar(alpha)) = nozzles.shape.channels.get("alpha") else {
            panic!("alpha")
        };
        for (i, alpha) in alpha.iter().enumerate() {
            assert_eq!(*alpha > 0.0, i % 8 < 4, "row {}", i % 16);
        }
    }
}
