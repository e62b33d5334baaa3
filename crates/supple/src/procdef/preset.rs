//! Ways of moving that fit any body, written out in full from the body's own axes.
//!
//! Each preset makes marks, strokes and a chart that an artist can edit. Lengths come from the body, and gravity is scaled
//! with it, so that a fish of 300 units swims as one of 0.3 does.

use std::f64::consts::TAU;

use glam::{DVec3, Vec3};
use serde::{Deserialize, Serialize};

use super::chart::{Chart, Volume};
use super::design::{Arrow, Axis, Design, Mark, Painted, Rule, Within, axes};
use super::{Friction, Ground, Motion, Passes, Water};

/// Gravity on a body of length 1, in its lengths a second squared.
const GRAVITY: f64 = 9.81;

/// The cosine above which a direction is along another.
const UPRIGHT: f64 = 0.8;

/// A way of moving.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Preset {
    /// Swims by waves from side to side.
    Eel,
    /// Glides over the ground by waves from side to side.
    Snake,
    /// Crawls by waves of contraction.
    Worm,
    /// Swims by contracting rings.
    Jellyfish,
    /// Beats: fibres that spiral from the inner to the outer wall.
    Heart,
    /// A contracted ring travels along the body.
    Bowel,
    /// Contracts everywhere at once, and lets go.
    Twitch,
    /// Contracts from where it is touched.
    Touch,
}

impl Preset {
    /// All of them.
    pub const ALL: [Self; 8] = [
        Self::Eel,
        Self::Snake,
        Self::Worm,
        Self::Jellyfish,
        Self::Heart,
        Self::Bowel,
        Self::Twitch,
        Self::Touch,
    ];

    /// What it is called in commands.
    #[must_use]
    pub fn name(self) -> &'static str {
        match self {
            Self::Eel => "eel",
            Self::Snake => "snake",
            Self::Worm => "worm",
            Self::Jellyfish => "jellyfish",
            Self::Heart => "heart",
            Self::Bowel => "bowel",
            Self::Twitch => "twitch",
            Self::Touch => "touch",
        }
    }

    /// The preset of a name.
    #[must_use]
    pub fn named(name: &str) -> Option<Self> {
        Self::ALL.into_iter().find(|p| p.name() == name)
    }
}

/// How a body lies in space.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Pose {
    /// The middle of its bounds along the axes below.
    pub center: DVec3,
    /// Towards its head.
    pub head: DVec3,
    /// Upwards, across the head's direction.
    pub up: DVec3,
    /// To its side.
    pub side: DVec3,
    /// Half its extent along head, up and side.
    pub half: DVec3,
}

impl Pose {
    /// The pose of a body: along its longest axis, upwards along y, unless told otherwise. A body that stands upright lies
    /// on its flattest side.
    #[must_use]
    pub fn of(positions: &[Vec3], head: Option<DVec3>, up: Option<DVec3>) -> Self {
        let own = axes(positions);
        let head = head.unwrap_or(own[0]).normalize_or(DVec3::X);
        let upright = |up: &DVec3| head.dot(*up).abs() > UPRIGHT;
        let up = up.map_or(DVec3::Y, |up| up.normalize_or(DVec3::Y));
        let up = if upright(&up) { own[2] } else { up };
        let up = if upright(&up) { own[1] } else { up };
        let up = (up - up.dot(head) * head).normalize_or(head.any_orthonormal_vector());
        let side = head.cross(up);
        let along = |axis: DVec3| {
            let d = positions.iter().map(|p| p.as_dvec3().dot(axis));
            d.fold([f64::INFINITY, f64::NEG_INFINITY], |[low, high], d| [low.min(d), high.max(d)])
        };
        let [h, u, s] = [along(head), along(up), along(side)];
        let middle = |r: [f64; 2]| 0.5 * (r[0] + r[1]);
        Self {
            center: middle(h) * head + middle(u) * up + middle(s) * side,
            head,
            up,
            side,
            half: 0.5 * DVec3::new(h[1] - h[0], u[1] - u[0], s[1] - s[0]),
        }
    }

    /// A place by shares of the half extents.
    fn at(&self, head: f64, up: f64, side: f64) -> [f64; 3] {
        let Self { half, .. } = self;
        (self.center
            + head * half.x * self.head
            + up * half.y * self.up
            + side * half.z * self.side)
            .to_array()
    }

    fn two(&self, from: [f64; 3], low: f64, high: f64) -> Painted {
        let [h, u, s] = from;
        let marks = vec![
            Mark::Point { at: self.at(-h, -u, -s), value: low },
            Mark::Point { at: self.at(h, u, s), value: high },
        ];
        Painted { marks, within: Within::Space }
    }

    /// 0 on the axis along `up` or `head`, 1 on rings around it.
    fn tubes(&self, upright: bool) -> Painted {
        let line = |t: f64| if upright { self.at(0.0, t, 0.0) } else { self.at(t, 0.0, 0.0) };
        let mut marks = vec![Mark::Stroke { points: vec![line(-1.0), line(1.0)], value: 0.0 }];
        for t in [-1.0, -0.5, 0.0, 0.5, 1.0] {
            for k in 0..8 {
                let angle = TAU * f64::from(k) / 8.0;
                let (a, b) = (libm::cos(angle), libm::sin(angle));
                let at = if upright { self.at(a, t, b) } else { self.at(t, a, b) };
                marks.push(Mark::Point { at, value: 1.0 });
            }
        }
        Painted { marks, within: Within::Space }
    }
}

/// A preset written out for a body.
#[derive(Clone, Debug, PartialEq)]
pub struct Starter {
    /// Fields.
    pub design: Design,
    /// Chart.
    pub chart: Chart,
    /// Motion.
    pub motion: Motion,
    /// Where the body is touched, if it waits for that.
    pub touched: Option<[f64; 3]>,
}

impl Preset {
    /// The preset for a body.
    #[must_use]
    pub fn starter(self, pose: &Pose) -> Starter {
        let length = 2.0 * pose.half.x;
        let motion = match self {
            Self::Eel => {
                // A stout body turns about itself rather than swim, unless its waves are short and the water holds it.
                let normal_drag = 2.0 + 2.0 * stoutness(pose) as f32;
                let water = Water { normal_drag, ..Water::default() };
                Motion { damping: 0.0, water: Some(water), ..Motion::default() }
            }
            Self::Snake => {
                let friction = Friction { forward: 0.1, backward: 0.1, sideways: 1.0 };
                Motion { damping: 0.0, ..on_ground(pose, length, friction) }
            }
            Self::Worm => {
                let friction = Friction { forward: 0.2, backward: 1.0, sideways: 0.6 };
                // Stout bodies on thin legs need to be firm, or they sink down and turn.
                let passes = Passes::Accelerated(12);
                Motion { passes, ..on_ground(pose, length, friction) }
            }
            Self::Jellyfish => Motion {
                passes: Passes::Accelerated(3),
                water: Some(Water::default()),
                ..Motion::default()
            },
            Self::Heart | Self::Bowel | Self::Twitch | Self::Touch => Motion::default(),
        };
        let touched = (self == Self::Touch).then(|| pose.at(1.0, 0.0, 0.0));
        Starter { design: self.design(pose), chart: self.chart(pose), motion, touched }
    }

    fn design(self, pose: &Pose) -> Design {
        let along = Design {
            layer: pose.two([0.0, 1.0, 0.0], 0.0, 1.0),
            arrows: vec![Arrow { points: vec![pose.at(-1.0, 0.0, 0.0), pose.at(1.0, 0.0, 0.0)] }],
            phase: pose.two([1.0, 0.0, 0.0], 1.0, 0.0),
            ..Design::default()
        };
        let ring = |axis: DVec3, inside: f64| {
            Some(Rule { axis: Axis::Fixed(axis.to_array()), inside, outside: -inside })
        };
        match self {
            Self::Eel | Self::Snake => {
                Design { amplitude: pose.two([0.0, 0.0, 1.0], -1.0, 1.0), ..along }
            }
            Self::Worm => along,
            Self::Jellyfish => Design {
                layer: pose.tubes(true),
                rule: ring(pose.up, 0.0),
                amplitude: pose.two([0.0, 1.0, 0.0], 1.0, 0.0),
                phase: pose.two([0.0, 1.0, 0.0], 1.0, 0.0),
                ..Design::default()
            },
            Self::Heart => {
                Design { layer: pose.tubes(true), rule: ring(pose.up, 60.0), ..Design::default() }
            }
            Self::Bowel => Design {
                layer: pose.tubes(false),
                rule: ring(pose.head, 0.0),
                phase: pose.two([1.0, 0.0, 0.0], 1.0, 0.0),
                ..Design::default()
            },
            Self::Twitch | Self::Touch => Design { phase: Painted::default(), ..along },
        }
    }

    fn chart(self, pose: &Pose) -> Chart {
        // A body bends by 2 ln c times its length over its width: stout ones need more of it.
        let width = pose.half.z / pose.half.x;
        let stout = stoutness(pose);
        let rate = |least: f64| {
            libm::exp(((6.75 + 3.25 * stout) * width).clamp(libm::log(least), 1.0 + 0.3 * stout))
        };
        let pulse = |[down, up]: [f64; 2], least: f64, volume: Volume| Chart {
            primary: vec![[0.0, 1.0], [down, least], [up, 1.0]],
            volume,
            ..Chart::default()
        };
        match self {
            Self::Eel => {
                let speed = 1.0 / (1.0 + 0.5 * stout);
                Chart { volume: Volume::Free, speed, ..Chart::wave(rate(1.5), 1.0) }
            }
            Self::Snake => {
                Chart { volume: Volume::Free, speed: 0.5, ..Chart::wave(rate(2.0), 2.0) }
            }
            Self::Worm => Chart::wave(1.4, 1.0),
            Self::Jellyfish => {
                Chart { speed: 2.0, ..pulse([0.25, 0.9], 1.0 / 1.5, Volume::Secondary) }
            }
            Self::Heart => Chart { speed: 1e3, ..pulse([0.35, 0.7], 1.0 / 1.4, Volume::Secondary) },
            Self::Bowel => Chart { speed: 0.5, ..pulse([0.15, 0.3], 1.0 / 1.6, Volume::Both) },
            Self::Twitch => Chart { cycle: 4.0, ..pulse([0.1, 0.25], 1.0 / 1.3, Volume::Both) },
            Self::Touch => Chart { cycle: 0.6, speed: 1.5, ..pulse([0.3, 0.8], 0.8, Volume::Both) },
        }
    }
}

/// 0 for a body less than a tenth as wide as long, 1 for one more than three tenths.
fn stoutness(pose: &Pose) -> f64 {
    ((pose.half.z / pose.half.x - 0.1) / 0.2).clamp(0.0, 1.0)
}

fn on_ground(pose: &Pose, length: f64, friction: Friction) -> Motion {
    let height = (pose.center - pose.half.y * pose.up).dot(pose.up);
    let ground = Ground { normal: pose.up, height, friction };
    Motion { gravity: -GRAVITY * length * pose.up, ground: Some(ground), ..Motion::default() }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::Run;
    use crate::procdef::{Body, Drive, Played, State, Stretches, TICK_SECS, Tissue, Work};
    use crate::zoo::tet_bodies;

    /// Lengths a cycle along the head's direction.
    fn way(preset: Preset, scale: f32) -> f64 {
        let mut mesh = tet_bodies::build("worm", None).unwrap();
        mesh.attributes = crate::mesh::Attributes::default();
        mesh.positions.iter_mut().for_each(|p| *p *= scale);
        let pose = Pose::of(&mesh.positions, None, None);
        let Starter { design, chart, motion, .. } = preset.starter(&pose);
        let body = Body::new(&mesh).unwrap();
        let fields = design.fields(&mesh, &Run::default()).unwrap().fields;
        let directions: Vec<_> = fields.fibers.iter().map(|f| f.directions[0].as_vec3()).collect();
        let (tissue, chart) = (Tissue::new(&body, &fields), chart.sampled().unwrap());
        let (mut state, mut work, mut stretches) =
            (State::at_rest(&body), Work::default(), Stretches::ones(&body));
        let mut start = body.center(&state);
        let cycles = 3.0;
        let ticks = |cycles: f64| (cycles * chart.cycle / TICK_SECS).round() as u32;
        for tick in 1..=ticks(cycles + 2.0) {
            let played = [Played { chart: &chart, share: 1.0 }];
            tissue.stretch(&played, (&chart, &[]), f64::from(tick) * TICK_SECS, &mut stretches);
            let drive = Drive { directions: &directions, ..Drive::by(&stretches) };
            body.tick(&motion, &drive, &mut state, &mut work, &Run::default());
            if tick == ticks(2.0) {
                start = body.center(&state);
            }
        }
        (body.center(&state) - start).dot(pose.head) / cycles / (2.0 * pose.half.x)
    }

    #[test]
    fn presets_move_a_body_of_any_size_towards_its_head() {
        for (preset, least) in [(Preset::Eel, 0.2), (Preset::Worm, 0.15)] {
            let ways = [0.3, 300.0].map(|scale| way(preset, scale));
            assert!(ways[0] > least, "{preset:?}: {ways:?} lengths a cycle");
            assert!((ways[1] / ways[0] - 1.0).abs() < 0.01, "{preset:?}: {ways:?} at any size");
        }
    }

    #[test]
    fn names_lead_to_presets() {
        assert!(Preset::ALL.into_iter().all(|p| Preset::named(p.name()) == Some(p)), "all of them");
        assert_eq!(Preset::named("whale"), None);
    }
}
