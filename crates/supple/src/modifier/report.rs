//! What a modifier tells about a frame: figures that say how they add up over a take, and warnings.
//!
//! ```
//! use supple::modifier::{Fold, Report};
//!
//! let mut report = Report::default();
//! report.tell("stretch", "", Fold::Largest, 0.25);
//! report.warn("the solver stopped early");
//! assert_eq!((report.figures.len(), report.warnings.len()), (1, 1));
//! ```

use std::any::Any;
use std::borrow::Cow;
use std::fmt;
use std::sync::Arc;

use serde::{Deserialize, Serialize};

/// How a figure adds up over the frames of a take.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Fold {
    /// The value farthest from zero, with its sign.
    Largest,
    /// The sum.
    Sum,
    /// That of the last frame.
    Last,
}

impl Fold {
    /// What comes of a figure when a frame adds `next` to `so_far`.
    #[must_use]
    pub fn add(self, so_far: f64, next: f64) -> f64 {
        match self {
            Self::Sum => so_far + next,
            Self::Last => next,
            Self::Largest => {
                if next.abs() > so_far.abs() {
                    next
                } else {
                    so_far
                }
            }
        }
    }
}

/// One number about a frame or a take.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Figure {
    /// Which body of the scene, counted from 0.
    pub body: usize,
    /// Which of its modifiers, counted from 1.
    pub modifier: usize,
    /// The kind of that modifier.
    pub kind: Cow<'static, str>,
    /// What it is.
    pub name: Cow<'static, str>,
    /// Its unit, or empty.
    pub unit: Cow<'static, str>,
    /// How it adds up over frames.
    pub fold: Fold,
    /// How much.
    pub value: f64,
}

impl fmt::Display for Figure {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Self { kind, name, unit, value, .. } = self;
        let whole = value.fract() == 0.0 && value.abs() < 1e9;
        match (whole, (1e-3..1e5).contains(&value.abs())) {
            (true, _) => write!(f, "{kind} {name} {value}")?,
            (false, true) => write!(f, "{kind} {name} {value:.3}")?,
            (false, false) => write!(f, "{kind} {name} {value:.2e}")?,
        }
        if unit.is_empty() { Ok(()) } else { write!(f, " {unit}") }
    }
}

/// What modifiers tell of a frame that no figure can say, each as its own type. It goes with the frame and is not stored.
#[derive(Clone, Default)]
pub struct Details(Vec<(usize, Arc<dyn Any + Send + Sync>)>);

impl Details {
    /// What modifiers of a body tell as this type.
    pub fn of<T: Any>(&self, body: usize) -> impl Iterator<Item = &T> {
        self.0.iter().filter(move |d| d.0 == body).filter_map(|d| d.1.downcast_ref())
    }

    /// Adds those of another list.
    pub(crate) fn append(&mut self, other: &mut Self) {
        self.0.append(&mut other.0);
    }
}

impl PartialEq for Details {
    /// They follow from what else is in a frame, and are not there when it was stored: no reason to tell two frames apart.
    fn eq(&self, _: &Self) -> bool {
        true
    }
}

impl fmt::Debug for Details {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{} details", self.0.len())
    }
}

/// What one modifier tells about one frame.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Report {
    /// Its figures.
    pub figures: Vec<Figure>,
    /// What the person should know.
    pub warnings: Vec<String>,
    /// The volume before it moved the body, if how that changed is worth telling: the player, which mostly measures the
    /// volume anyway, adds the figure `volume change`.
    pub volume_before: Option<f64>,
    /// What no figure can say.
    pub(crate) details: Details,
    body: usize,
    modifier: usize,
    kind: &'static str,
}

impl Report {
    /// An empty one for the modifier `modifier`, from 1, of the body `body`, from 0.
    pub(crate) fn of(body: usize, modifier: usize, kind: &'static str) -> Self {
        Self { body, modifier, kind, ..Self::default() }
    }

    /// Tells a figure.
    pub fn tell(
        &mut self,
        name: &'static str,
        unit: &'static str,
        fold: Fold,
        value: impl Into<f64>,
    ) {
        let Self { body, modifier, kind, .. } = *self;
        let (kind, name, unit) = (kind.into(), name.into(), unit.into());
        self.figures.push(Figure { body, modifier, kind, name, unit, fold, value: value.into() });
    }

    /// Tells what no figure can say: [`player::Report::details`](crate::player::Report) hands it to who knows the type.
    pub fn detail(&mut self, value: impl Any + Send + Sync) {
        self.details.0.push((self.body, Arc::new(value)));
    }

    /// Tells how the volume changed, to what it is after the modifier.
    pub(crate) fn tell_volume(&mut self, after: f64) {
        if let Some(before) = self.volume_before.take() {
            self.tell("volume change", "", Fold::Largest, after / before - 1.0);
        }
    }

    /// Tells what the person should know.
    pub fn warn(&mut self, what: impl Into<String>) {
        self.warnings.push(what.into());
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn figures_fold_as_they_say() {
        let over = |fold: Fold| [-3.0, 2.0].iter().fold(1.0, |a, &b| fold.add(a, b));
        assert_eq!([Fold::Largest, Fold::Sum, Fold::Last].map(over), [-3.0, 0.0, 2.0]);
    }

    #[test]
    fn details_are_found_by_body_and_type() {
        let mut report = Report::of(1, 1, "smoke");
        report.detail("seeds");
        report.detail(7_u8);
        assert_eq!(report.details.of::<u8>(1).collect::<Vec<_>>(), [&7]);
        assert_eq!(report.details.of::<&str>(0).count(), 0);
    }

    #[test]
    fn a_figure_reads_well() {
        let mut report = Report::of(0, 2, "smoke");
        report.tell("vertices", "", Fold::Largest, 1200);
        report.tell("age", "s", Fold::Last, 0.12345);
        report.tell("residual", "", Fold::Largest, 3.2e-7);
        let lines: Vec<String> = report.figures.iter().map(ToString::to_string).collect();
        assert_eq!(lines, ["smoke vertices 1200", "smoke age 0.123 s", "smoke residual 3.20e-7"]);
    }
}
