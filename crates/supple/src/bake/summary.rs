//! What a take did to each body, over all its frames.

use std::fmt;

use serde::Serialize;

use super::Folds;
use crate::contact::flesh;
use crate::modifier::Figure;
use crate::player::Report;

/// The kind whose figures have keys of their own.
const FLESH: &str = "secondary";

/// One body over a take.
#[derive(Clone, Debug, Default, PartialEq, Serialize)]
pub struct Summary {
    /// The body's name in the scene.
    pub body: String,
    /// The volume error of the frame where it is largest, as a share of the volume at rest; `None` for
    /// what has no volume.
    pub volume_error: Option<f64>,
    /// What its `secondary` modifiers did, if it has any: their figures under the keys they had before there were
    /// figures.
    pub flesh: Option<Flesh>,
    /// What was done about contacts, if there were any.
    pub contact: Option<ContactSummary>,
    /// Whether it is folded, for what has triangles of its own.
    pub folds: Option<Folds>,
    /// What its modifiers told, each figure once, folded over the frames as it says.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub figures: Vec<Figure>,
}

/// Masses on springs over a take.
#[derive(Clone, Debug, Default, PartialEq, Serialize)]
pub struct Flesh {
    /// Stretch over radius, the mean over the sets, in the frame where it is largest.
    pub stretch: f64,
    /// Stretch over radius of the set that is stretched most, in any frame.
    pub most_stretch: f64,
    /// Most vertices that were moved in a frame.
    pub moved: u64,
    /// Most Runge–Kutta steps of a vertex in a frame.
    pub steps: u32,
    /// Frames in which a set was stretched farther than is allowed, and cut.
    pub cut_frames: u32,
}

/// Contacts over a take.
#[derive(Clone, Debug, Default, PartialEq, Serialize)]
pub struct ContactSummary {
    /// Frames in which something was touched.
    pub frames: u32,
    /// Deepest penetration that was found and undone, in scene units.
    pub deepest: f32,
    /// Vertices that fields left inside and that were projected, summed over the frames.
    pub projected: u32,
    /// The change of volume by contacts of the frame where it is largest.
    pub volume_change: f64,
}

impl Summary {
    /// Of a body before its first frame.
    pub(super) fn new(body: &str) -> Self {
        Self { body: body.to_owned(), ..Self::default() }
    }

    /// Takes in one frame, in which this body has the number `i`.
    pub(super) fn add(&mut self, i: usize, report: &Report) {
        if let Some(error) = report.volume_errors.get(i).copied().flatten() {
            self.volume_error = Some(larger(self.volume_error.unwrap_or(0.0), error));
        }
        if let Some(contact) = report.contacts.get(i).filter(|c| c.contacts > 0) {
            self.contact.get_or_insert_default().add(contact);
        }
        for figure in report.figures.iter().filter(|f| f.body == i) {
            let same = |f: &&mut Figure| f.modifier == figure.modifier && f.name == figure.name;
            match self.figures.iter_mut().find(same) {
                Some(known) => known.value = figure.fold.add(known.value, figure.value),
                None => self.figures.push(figure.clone()),
            }
        }
        self.flesh = Flesh::of(&self.figures);
    }
}

impl Flesh {
    /// What of the figures is about flesh.
    fn of(figures: &[Figure]) -> Option<Self> {
        let mut flesh = None;
        for Figure { name, value, .. } in figures.iter().filter(|f| f.kind == FLESH) {
            let flesh: &mut Self = flesh.get_or_insert_default();
            match name.as_ref() {
                "stretch" => flesh.stretch = flesh.stretch.max(*value),
                "most stretch" => flesh.most_stretch = flesh.most_stretch.max(*value),
                "moved" => flesh.moved = flesh.moved.max(*value as u64),
                "steps" => flesh.steps = flesh.steps.max(*value as u32),
                "cut short" => flesh.cut_frames += *value as u32,
                _ => {}
            }
        }
        flesh
    }
}

impl ContactSummary {
    fn add(&mut self, frame: &flesh::Report) {
        self.frames += 1;
        self.deepest = self.deepest.max(frame.deepest);
        self.projected += frame.projected;
        self.volume_change = larger(self.volume_change, frame.volume_change);
    }
}

/// That of larger size; the first if there is nothing between them.
fn larger(a: f64, b: f64) -> f64 {
    if b.abs() > a.abs() { b } else { a }
}

/// One line for people, without the name.
impl fmt::Display for Summary {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let volume = self.volume_error.map(|e| format!("volume error {}", percent(e)));
        let flesh = self.flesh.as_ref().map(ToString::to_string);
        let contact = self.contact.as_ref().map(ToString::to_string);
        let told = self.figures.iter().filter(|f| f.kind != FLESH).map(|f| Some(f.to_string()));
        let folds = self.folds.as_ref().map(ToString::to_string);
        let parts: Vec<_> =
            [volume, flesh, contact, folds].into_iter().chain(told).flatten().collect();
        if parts.is_empty() { f.write_str("no volume") } else { f.write_str(&parts.join("; ")) }
    }
}

impl fmt::Display for Flesh {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Self { stretch, moved, steps, cut_frames, .. } = self;
        write!(
            f,
            "flesh stretched up to {stretch:.2} radii, {}",
            counted(*moved, "vertex", "vertices")
        )?;
        write!(f, ", {}", counted(*steps, "step", "steps"))?;
        if *cut_frames > 0 {
            write!(f, ", cut short in {}", counted(*cut_frames, "frame", "frames"))?;
        }
        Ok(())
    }
}

impl fmt::Display for ContactSummary {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Self { frames, deepest, projected, volume_change } = self;
        write!(f, "in contact in {}, ", counted(*frames, "frame", "frames"))?;
        write!(f, "up to {deepest:.3} deep, ")?;
        write!(f, "which changed the volume by {}", percent(*volume_change))?;
        if *projected > 0 {
            write!(f, ", {} projected", counted(*projected, "vertex", "vertices"))?;
        }
        Ok(())
    }
}

fn counted(n: impl Into<u64>, one: &str, many: &str) -> String {
    let n = n.into();
    format!("{n} {}", if n == 1 { one } else { many })
}

/// With its sign, but for what is nothing to three digits.
fn percent(share: f64) -> String {
    let percent = 100.0 * share;
    if percent.abs() < 5e-4 { "below 0.001 %".to_owned() } else { format!("{percent:+.3} %") }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::modifier::Fold;

    fn frame(error: f64, stretch: f64, contacts: u32) -> Report {
        let figure = |name: &'static str, fold, value| Figure {
            body: 1,
            modifier: 1,
            kind: FLESH.into(),
            name: name.into(),
            unit: "".into(),
            fold,
            value,
        };
        let cut = f64::from(u8::from(stretch > 1.0));
        let figures =
            vec![figure("stretch", Fold::Largest, stretch), figure("cut short", Fold::Sum, cut)];
        let touch = flesh::Report { contacts, deepest: 0.1, ..Default::default() };
        Report {
            volume_errors: vec![None, Some(error)],
            figures,
            contacts: vec![flesh::Report::default(), touch],
            ..Report::default()
        }
    }

    #[test]
    fn a_take_is_told_by_its_worst_frames() {
        let mut bodies = [Summary::new("still"), Summary::new("cow")];
        for report in [frame(1e-3, 0.2, 0), frame(-2e-3, 1.3, 2), frame(1.5e-3, 0.1, 0)] {
            for (i, body) in bodies.iter_mut().enumerate() {
                body.add(i, &report);
            }
        }
        let [still, cow] = bodies;
        assert_eq!(still, Summary::new("still"), "nothing happened to it");
        assert_eq!(cow.volume_error, Some(-2e-3), "the largest, with its sign");
        let flesh = cow.flesh.clone().unwrap();
        assert_eq!((flesh.stretch, flesh.cut_frames), (1.3, 1), "one frame was too far");
        assert_eq!(cow.contact.clone().unwrap().frames, 1, "one frame touched");
        let line = cow.to_string();
        assert!(line.starts_with("volume error -0.200 %; flesh stretched up to 1.30"), "{line}");
        assert!(line.contains("cut short in 1 frame; in contact in 1 frame"), "{line}");
    }
}
