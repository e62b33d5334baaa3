//! How soft flesh is: measured on the clips of its body.
//!
//! # Method
//!
//! Every clip is played through the masses, two rounds of those that close. In a steady swing the stretch goes with
//! one over the stiffness, so a few rounds find the stiffness at which the mean stretch is a tenth of the radius
//! where the played clip is liveliest: between 1.5 and 12 Hz for the largest set. A set that any clip stretches by more
//! than half its radius gets a stiffer spring of its own, and its mirror image the same: a foot that is thrown about does
//! not make the belly stiff. Where a wild clip would make the played one stiff to the eye it is not counted, and cut
//! instead: [`Params::max_stretch`] is half a radius, so that the bound holds in every clip, this one and those a
//! person changes to.
//!
//! Flesh should be seen: if it moves by less than 0.2 % of the body's size, springs are made softer, down to 0.4 Hz,
//! which sways with the breath of an idle; if that is not enough the report says so and why. What suits one clip does
//! not suit another: the stiffness of each is found, for a person who plays that one instead.

use std::f64::consts::TAU;

use glam::{DAffine3, DVec3, Mat4, Vec3};

use super::placement::{other_side, rounded};
use super::{Flesh, Frame, Params, Placed, Preset, State, Step, Wishes};
use crate::Run;
use crate::lengths::Lengths as _;
use crate::modifier::Marker;
use crate::rig::{Body, Clip, Pose, Skinning};

/// Mean stretch over radius that can be seen but does not flap.
const LIVELY: f64 = 0.1;
/// No set is stretched farther than this share of its radius; springs aim at a little less.
const MOST_STRETCH: f64 = 0.5;
const AIM: f64 = 0.45;
/// Flesh that moves by less, over the diagonal of the body, is not seen.
const SEEN_REL_BBOX: f64 = 0.002;
/// Frequencies of the largest set to choose from, in hertz.
const HERTZ: [f64; 2] = [1.5, 12.0];
/// The least where flesh would not be seen otherwise, and the most of a single set.
const SOFTEST_HERTZ: f64 = 0.4;
const STIFFEST_HERTZ: f64 = 24.0;
/// Rounds of looking for a stiffness.
const ROUNDS: usize = 4;
/// Steps of a clip that are played, each so long, and clips.
const DT_SECS: f64 = 1.0 / 60.0;
const MOST_STEPS: f64 = 600.0;
const MOST_CLIPS: usize = 40;
/// Clips beside the played one for which a stiffness is found.
const MOST_SUITED: usize = 12;
/// Mean stretch over radius, with the softest springs, below which nothing moves but for rounding.
const NOTHING: f64 = 1e-3;
/// What a clip does to the masses.
#[derive(Clone, Debug, Default)]
struct Swung {
    /// The largest mean of the stretches over their radii, each counted up to what it may be.
    mean: f64,
    /// The largest stretch of each set over its radius.
    most: Vec<f64>,
    /// The pose and the masses where the mean is largest.
    at: Option<(Pose, State)>,
}

impl Swung {
    /// The largest stretch of any set over its radius.
    fn most(&self) -> f64 {
        self.most.iter().copied().fold(0.0, f64::max)
    }
}

/// A clip, and whether it closes.
type Played<'a> = (&'a Clip, bool);

/// The clips that flesh is to suit.
struct Clips<'a> {
    body: &'a Body,
    all: Vec<Played<'a>>,
    /// How large the body is.
    size: f64,
}

/// Flesh that suits a clip.
struct Suited {
    params: Params,
    swung: Swung,
    /// How far it moves, over the size of the body.
    moved: f64,
}

impl Suited {
    fn is_seen(&self) -> bool {
        self.moved >= SEEN_REL_BBOX
    }
}

impl Clips<'_> {
    /// What a clip does.
    fn own(&self, played: Played<'_>, params: &Params) -> Swung {
        swing(self.body, played.0, played.1, params)
    }

    /// The largest stretch of each set in the clip that is played, or in any.
    fn most(&self, played: Played<'_>, params: &Params, in_any: bool) -> Vec<f64> {
        let mut most = self.own(played, params).most;
        for &clip in self.all.iter().filter(|_| in_any) {
            let found = self.own(clip, params).most;
            most.iter_mut().zip(found).for_each(|(most, found)| *most = most.max(found));
        }
        most
    }

    /// With springs of their own for the sets that a clip would stretch too far.
    fn held(&self, played: Played<'_>, params: &Params, stiffness: f64, in_any: bool) -> Params {
        let mut params = Params { stiffness: Some(rounded(stiffness)), ..params.clone() };
        params.sets.iter_mut().for_each(|set| set.stiffness = None);
        for _ in 0..ROUNDS {
            let most = self.most(played, &params, in_any);
            if most.iter().all(|&m| m <= MOST_STRETCH) {
                break;
            }
            for (set, most) in params.sets.iter_mut().zip(most) {
                if most > AIM {
                    let (now, mass) = (set.stiffness.unwrap_or(stiffness), set.mass.unwrap_or(1.0));
                    let largest = stiffness.max(mass * hertz(STIFFEST_HERTZ));
                    set.stiffness = Some(rounded((now * most / AIM).min(largest)));
                }
            }
            // A part and its mirror image are alike.
            let known: Vec<(String, Option<f64>)> =
                params.sets.iter().map(|s| (s.name.clone(), s.stiffness)).collect();
            for set in &mut params.sets {
                let Some(other) = other_side(&set.name) else { continue };
                let twin = known.iter().find(|k| k.0 == other).and_then(|k| k.1);
                set.stiffness = match (set.stiffness, twin) {
                    (Some(own), Some(twin)) => Some(own.max(twin)),
                    (own, twin) => own.or(twin),
                };
            }
        }
        params
    }

    /// The springs at which a clip is lively and flesh is seen to move.
    fn suit(&self, played: Played<'_>, params: &Params, run: &Run<'_>) -> Suited {
        let mut stiffness = softest(params, |params| self.own(played, params).mean / LIVELY);
        let measured = |stiffness: f64, in_any: bool| {
            let params = self.held(played, params, stiffness, in_any);
            let swung = self.own(played, &params);
            let moved = moved(self.body, &params, &swung, run) / self.size;
            Suited { params, swung, moved }
        };
        let mut best = measured(stiffness, true);
        if !best.is_seen() {
            // A wild clip makes this one stiff to the eye: it is cut instead.
            best = measured(stiffness, false);
        }
        for _ in 0..ROUNDS {
            if best.is_seen() || stiffness <= hertz(SOFTEST_HERTZ) {
                break;
            }
            // A little more than just enough.
            let less = (0.85 * best.moved / SEEN_REL_BBOX).clamp(0.25, 0.9);
            stiffness = (less * stiffness).max(hertz(SOFTEST_HERTZ));
            best = measured(stiffness, false);
        }
        best
    }
}

/// Chooses stiffness and the largest stretch, and measures what they do.
pub(super) fn fit(body: &Body, wishes: &Wishes<'_>, placed: &mut Placed, size: f64, run: &Run<'_>) {
    placed.params.max_stretch = MOST_STRETCH;
    let Some(clip) = wishes.clips.get(wishes.played) else {
        placed.stretch = MOST_STRETCH;
        return;
    };
    let with_end = |clip| (clip, body.closes(clip, run));
    let all = wishes.clips.iter().take(MOST_CLIPS).map(with_end).collect();
    let clips = Clips { body, all, size };
    let played = with_end(clip);
    let others = clips.all.iter().take(MOST_SUITED);
    placed.stiffness_of_clips = others
        .map(|&other| clips.suit(other, &placed.params, run).params.stiffness.unwrap_or_default())
        .collect();
    let suited = clips.suit(played, &placed.params, run);
    let others = clips.most(played, &suited.params, true).into_iter().fold(0.0, f64::max);
    if others > MOST_STRETCH {
        placed.notes.push(format!(
            "a clip would stretch flesh by {others:.2} radii and is cut at {MOST_STRETCH}: take the stiffness listed \
             beside it if it is that clip you play"
        ));
    }
    if !suited.is_seen() {
        placed.notes.push(format!(
            "flesh moves by {:.2} % of the size in '{}': {}",
            100.0 * suited.moved,
            clip.name,
            why_unseen(&suited.swung)
        ));
    }
    placed.stretch = suited.swung.most().max(others).min(MOST_STRETCH);
    (placed.params, placed.moved_rel_bbox) = (suited.params, suited.moved);
}

/// Why flesh is not seen to move, though its springs are the softest there are.
fn why_unseen(swung: &Swung) -> &'static str {
    match swung.mean {
        mean if mean < NOTHING => "nothing it hangs on moves in this clip",
        _ if swung.most() >= AIM => {
            "a set is at the largest stretch already; the others hang on what moves little"
        }
        _ => "what it hangs on moves slowly or little",
    }
}

/// The stiffness at which a mass of one swings so many times a second.
fn hertz(hertz: f64) -> f64 {
    (TAU * hertz).powi(2)
}

/// The least stiffness at which `excess` is no more than one.
fn softest(params: &Params, excess: impl Fn(&Params) -> f64) -> f64 {
    let [softest, stiffest] = HERTZ.map(hertz);
    let mut stiffness = Preset::default().stiffness();
    for _ in 0..ROUNDS {
        let found = excess(&Params { stiffness: Some(stiffness), ..params.clone() });
        if !found.is_finite() {
            break;
        }
        stiffness = (stiffness * found).clamp(softest, stiffest);
    }
    stiffness
}

/// Plays a clip through the masses.
fn swing(body: &Body, clip: &Clip, closes: bool, params: &Params) -> Swung {
    let mut swung = Swung::default();
    let flesh = Flesh::new(body, &DAffine3::IDENTITY, params);
    let (Ok(flesh), Some((first, last))) = (flesh, clip.span()) else { return swung };
    let length = f64::from(last - first);
    let rounds = if closes { 2.0 } else { 1.0 };
    let steps = (rounds * length / DT_SECS).min(MOST_STEPS) as u32;
    let mut pose = body.rest_pose().clone();
    let anchors = flesh.anchors();
    let at = |k: u32, pose: &mut Pose| -> (Vec<Mat4>, Vec<DVec3>) {
        let secs = f64::from(k) * DT_SECS;
        let secs = if closes { secs.rem_euclid(length.max(DT_SECS)) } else { secs.min(length) };
        clip.sample(first + secs as f32, pose);
        let joints = body.matrices(pose);
        let shifts = match body.morphs.is_empty() {
            true => Vec::new(),
            false => {
                let weights = body.morph_weights(pose);
                let shift = |anchor: &Marker| anchor.posed(DVec3::ZERO, &weights, &joints);
                anchors.iter().map(shift).collect()
            }
        };
        (joints, shifts)
    };
    let (joints, shifts) = at(0, &mut pose);
    let mut state = flesh.begin_at(&joints, &shifts);
    swung.most = vec![0.0; state.swings.len()];
    for k in 1..=steps {
        let (joints, shifts) = at(k, &mut pose);
        let step = Step { joints: &joints, hands: &[], shifts: &shifts, dt_secs: DT_SECS };
        flesh.step(&mut state, &step);
        let radii = flesh.radii(&joints);
        let stretches: Vec<f64> = (state.swings.iter().zip(radii))
            .map(|(s, radius)| {
                (s.mass.position - s.mass.anchor).norm() / radius.max(f64::MIN_POSITIVE)
            })
            .collect();
        let counted = stretches.iter().map(|s| s.min(AIM));
        let mean = counted.sum::<f64>() / stretches.len().max(1) as f64;
        swung.most.iter_mut().zip(&stretches).for_each(|(most, s)| *most = most.max(*s));
        if mean > swung.mean {
            swung.mean = mean;
            swung.at = Some((pose.clone(), state.clone()));
        }
    }
    swung
}

/// The root mean square way of the vertices that flesh moves, where it is liveliest.
fn moved(body: &Body, params: &Params, swung: &Swung, run: &Run<'_>) -> f64 {
    let Some((pose, state)) = &swung.at else { return 0.0 };
    let Ok(flesh) = Flesh::new(body, &DAffine3::IDENTITY, params) else { return 0.0 };
    let joints = body.matrices(pose);
    let before: Vec<Vec3> = body.pose(pose, Skinning::Linear, run);
    let mut after = before.clone();
    flesh.deform(state, &Frame { joints: &joints, eye: None, amount: 1.0 }, &mut after, run);
    let ways = before.iter().zip(&after).map(|(a, b)| f64::from(a.distance_squared(*b)));
    let (sum, count) =
        ways.filter(|way| *way > 0.0).fold((0.0, 0.0), |(sum, n), way| (sum + way, n + 1.0));
    if count > 0.0 { (sum / count).sqrt() } else { 0.0 }
}
