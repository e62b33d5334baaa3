//! A body with its sets, prepared: stepped and deformed as often as asked.

use std::sync::Arc;

use glam::{DAffine3, DMat3, DMat4, DQuat, DVec3, Mat4, Vec3};
use serde::{Deserialize, Serialize};

use super::field::PosedSet;
use super::kernel::{self, Fields};
use super::layout::Layout;
use super::state::{State, Step, Swing};
use super::{Lag, Params, Segments, Set};
use crate::Run;
use crate::lengths::Lengths as _;
use crate::modifier::Marker;
use crate::rig::{Body, nearest_rotation};
use crate::spring::Spring;

/// From this `R/(t·d)` on a set acts in full; at 1 it is gone.
const FULL_DETAIL: f64 = 1.5;

/// A body with its sets.
#[derive(Clone, Debug)]
pub struct Flesh {
    roots: Vec<Root>,
    layout: Arc<Layout>,
    joints: usize,
    pub(super) gravity: DVec3,
    max_stretch: f64,
    max_turn_radians: f64,
    detail: f64,
}

/// Where a set is rooted.
#[derive(Clone, Debug)]
pub(super) struct Root {
    name: String,
    bone: usize,
    /// The anchor in the bone's bind space.
    bound: DVec3,
    /// From the asset's rest pose back to bind space.
    unrest: DMat4,
    /// The bone's matrix in the rest pose, placed.
    rest: Mat4,
    radius: f64,
    /// How far each morph target takes the anchor at weight one, in bind space; those that do not are left out.
    morphs: Vec<(usize, DVec3)>,
    pub(super) spring: Spring,
    pub(super) stretches: bool,
    pub(super) turns: bool,
    /// Which joints' flesh it moves.
    segments: Vec<usize>,
    /// Whether it acts before the large ones.
    is_local: bool,
}

/// Why sets do not fit a body.
#[derive(Clone, Debug, PartialEq, thiserror::Error)]
pub enum Error {
    /// A set names a bone that is not there.
    #[error("set {set}: there is no bone '{bone}' ({known})")]
    NoBone {
        /// Which set.
        set: String,
        /// What it names.
        bone: String,
        /// What there is.
        known: String,
    },
    /// A number makes no sense.
    #[error("set {set}: {what} is {value}; it must be a positive number")]
    BadNumber {
        /// Which set.
        set: String,
        /// Which number.
        what: &'static str,
        /// What it is.
        value: f64,
    },
    /// The painted attribute is missing.
    #[error("there is no painted vertex attribute '{name}' ({known})")]
    NoPaint {
        /// Its name.
        name: String,
        /// What there is.
        known: String,
    },
}

/// What a frame looks like.
#[derive(Clone, Copy, Debug)]
pub struct Frame<'a> {
    /// From bind to world, for each joint.
    pub joints: &'a [Mat4],
    /// Where the camera is, for the level of detail; without one everything is shown.
    pub eye: Option<DVec3>,
    /// How much of every stretch and turn: 0 is nothing, 1 all of it.
    pub amount: f64,
}

/// What a deformation did.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct Report {
    /// Vertices that moved.
    pub moved: u64,
    /// Runge–Kutta steps of the vertices that needed most.
    pub steps: u32,
    /// Sets that were stretched or turned beyond what is allowed, and cut.
    pub clamped: Vec<String>,
    /// How many sets did nothing: at rest, or too small to be seen.
    pub culled: u32,
    /// Mean of the stretches over their radii.
    pub mean_stretch: f64,
    /// The largest of them, as far as it is shown.
    pub most_stretch: f64,
    /// Volume divided by the volume before this deformation, minus one, where it was measured.
    pub volume_change: Option<f64>,
}

impl Flesh {
    /// Prepares the sets of a body that stands where `placement` puts its rest pose.
    ///
    /// # Errors
    ///
    /// [`Error`] if a set or the paint does not fit the body.
    pub fn new(body: &Body, placement: &DAffine3, params: &Params) -> Result<Self, Error> {
        let rest = body.matrices(body.rest_pose());
        let largest = params.sets.iter().map(|s| s.radius).fold(0.0, f64::max);
        let mut roots = Vec::with_capacity(params.sets.len());
        for (number, set) in params.sets.iter().enumerate() {
            let name = name(number, set);
            check(&name, set)?;
            let bone = match &set.bone {
                Some(bone) => find_bone(body, bone, &name)?,
                None => nearest_bone(body, &rest, set.anchor),
            };
            let unrest = inverse(&rest[bone].as_dmat4());
            let segments = segments(body, set, bone, &name)?;
            roots.push(Root {
                name,
                bone,
                bound: unrest.transform_point3(set.anchor),
                unrest,
                rest: placed(placement, &rest[bone]),
                radius: set.radius,
                morphs: Vec::new(),
                spring: spring(set, params, largest),
                stretches: set.lag != Lag::Turn,
                turns: set.lag != Lag::Stretch,
                segments,
                is_local: set.radius < params.local_below.unwrap_or(0.5 * largest),
            });
        }
        follow_morphs(body, params, &rest, &mut roots);
        let mut has_sets = vec![false; body.joints.len()];
        for &joint in roots.iter().flat_map(|r| &r.segments) {
            has_sets[joint] = true;
        }
        Ok(Self {
            layout: Arc::new(Layout::new(body, &has_sets, shares(body, params)?.as_deref())),
            roots,
            joints: body.joints.len(),
            gravity: params.gravity,
            max_stretch: params.max_stretch.max(0.0),
            max_turn_radians: params.max_turn.to_radians().max(0.0),
            detail: params.detail,
        })
    }

    /// The same sets with other springs, gravity and bounds: what else the parameters say must be as it was.
    #[must_use]
    pub fn tuned(&self, params: &Params) -> Self {
        let largest = params.sets.iter().map(|s| s.radius).fold(0.0, f64::max);
        let mut tuned = self.clone();
        for (root, set) in tuned.roots.iter_mut().zip(&params.sets) {
            root.spring = spring(set, params, largest);
        }
        Self {
            gravity: params.gravity,
            max_stretch: params.max_stretch.max(0.0),
            max_turn_radians: params.max_turn.to_radians().max(0.0),
            detail: params.detail,
            ..tuned
        }
    }

    /// How many sets there are.
    #[must_use]
    pub fn len(&self) -> usize {
        self.roots.len()
    }

    /// True if there are no sets.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.roots.is_empty()
    }

    /// How far each set reaches, with the joints where they are: for pictures.
    ///
    /// # Panics
    ///
    /// If there is not a matrix for each joint.
    pub fn radii(&self, joints: &[Mat4]) -> impl Iterator<Item = f64> {
        assert_eq!(joints.len(), self.joints, "a matrix for each joint");
        self.roots.iter().map(|root| root.radius * root.scale(joints))
    }

    /// All masses at rest on their anchors.
    ///
    /// # Panics
    ///
    /// If there is not a matrix for each joint.
    #[must_use]
    pub fn begin(&self, joints: &[Mat4]) -> State {
        self.begin_at(joints, &[])
    }

    /// All masses at rest on their anchors, where a deformation of the body takes them (see [`Step::shifts`]).
    ///
    /// # Panics
    ///
    /// If there is not a matrix for each joint.
    #[must_use]
    pub fn begin_at(&self, joints: &[Mat4], shifts: &[DVec3]) -> State {
        assert_eq!(joints.len(), self.joints, "a matrix for each joint");
        let shift = |i: usize| shifts.get(i).copied().unwrap_or_default();
        let begin = |(i, root)| Swing::begin(root, joints, shift(i));
        State { swings: self.roots.iter().enumerate().map(begin).collect() }
    }

    /// The anchors as points of the body: what takes them farther than their bones do is told by shifts
    /// ([`Step::shifts`]).
    #[must_use]
    pub fn anchors(&self) -> Vec<Marker> {
        let anchor = |root: &Root| Marker {
            joint: root.bone,
            bound: root.bound,
            rest: root.rest.as_dmat4().transform_point3(root.bound),
            morphs: root.morphs.clone(),
        };
        self.roots.iter().map(anchor).collect()
    }

    /// Advances the masses while the joints go straight to where the step ends.
    ///
    /// # Panics
    ///
    /// If there is not a matrix for each joint.
    pub fn step(&self, state: &mut State, step: &Step<'_>) {
        assert_eq!(step.joints.len(), self.joints, "a matrix for each joint");
        for (i, (swing, root)) in state.swings.iter_mut().zip(&self.roots).enumerate() {
            let hand = step.hands.get(i).copied().flatten();
            let shift = step.shifts.get(i).copied().unwrap_or_default();
            swing.step(self, root, (hand, shift), step);
        }
    }

    /// Moves vertices from where the body was posed to where the masses pull them.
    ///
    /// # Panics
    ///
    /// If there is not a matrix for each joint, or a position for each vertex.
    pub fn deform(
        &self,
        state: &State,
        frame: &Frame<'_>,
        positions: &mut [Vec3],
        run: &Run<'_>,
    ) -> Report {
        assert_eq!(frame.joints.len(), self.joints, "a matrix for each joint");
        assert_eq!(positions.len(), self.layout.vertices(), "a position for each vertex");
        let (fields, mut report) = self.fields(state, frame);
        if !fields.sets.is_empty() {
            let swept = kernel::deform(&self.layout, &fields, frame.joints, positions, run);
            report.moved = swept.vertices;
            report.steps = swept.steps;
        }
        report
    }

    /// True if no set would move anything: all at rest, or too small to be seen.
    #[must_use]
    pub fn is_still(&self, state: &State, frame: &Frame<'_>) -> bool {
        self.fields(state, frame).0.sets.is_empty()
    }

    /// The sets as they are now.
    fn fields(&self, state: &State, frame: &Frame<'_>) -> (Fields, Report) {
        let mut report = Report::default();
        let mut fields = Fields { sets: Vec::new(), felt: vec![Default::default(); self.joints] };
        for (root, swing) in self.roots.iter().zip(&state.swings) {
            let (set, was_clamped) = self.pose(root, swing, frame);
            let stretch = f64::from(set.stretch.norm() / set.radius);
            report.mean_stretch += stretch / self.roots.len() as f64;
            report.most_stretch = report.most_stretch.max(stretch);
            if was_clamped {
                report.clamped.push(root.name.clone());
            }
            if set.stretch == Vec3::ZERO && set.turn == Vec3::ZERO || !set.is_finite() {
                report.culled += 1;
                continue;
            }
            let index = fields.sets.len() as u32;
            for &joint in &root.segments {
                fields.felt[joint][usize::from(!root.is_local)].push(index);
            }
            fields.sets.push(set);
        }
        (fields, report)
    }

    /// A set as it is now, and whether it had to be cut.
    fn pose(&self, root: &Root, swing: &Swing, frame: &Frame<'_>) -> (PosedSet, bool) {
        let radius = root.radius * root.scale(frame.joints);
        let anchor = swing.mass.anchor;
        let (farthest, widest) = (self.max_stretch * radius, self.max_turn_radians);
        let stretch = swing.mass.position - anchor;
        let turn = swing.turning.map_or(DVec3::ZERO, |t| t.angle.position);
        let was_clamped = stretch.norm() > farthest || turn.norm() > widest;
        let shown = frame.amount * self.shown(radius, anchor, frame.eye);
        let set = PosedSet {
            anchor: anchor.as_vec3(),
            stretch: (shown * stretch.clamp_length_max(farthest)).as_vec3(),
            turn: (shown * turn.clamp_length_max(widest)).as_vec3(),
            radius: radius as f32,
        };
        (set, was_clamped)
    }

    /// How much of a set the camera shows: all of it near by, nothing far away.
    fn shown(&self, radius: f64, anchor: DVec3, eye: Option<DVec3>) -> f64 {
        let Some(eye) = eye else { return 1.0 };
        let least = self.detail * eye.distance_to(anchor);
        if least <= 0.0 {
            return 1.0;
        }
        let u = ((radius / least - 1.0) / (FULL_DETAIL - 1.0)).clamp(0.0, 1.0);
        u * u * (3.0 - 2.0 * u)
    }
}

impl Root {
    /// Where the anchor is.
    pub(super) fn anchor(&self, joints: &[Mat4]) -> DVec3 {
        joints[self.bone].as_dmat4().transform_point3(self.bound)
    }

    /// How the bone is turned against its placed rest pose.
    pub(super) fn frame(&self, joints: &[Mat4]) -> DQuat {
        let now = joints[self.bone];
        if now == self.rest {
            return DQuat::IDENTITY;
        }
        let (now, rest) =
            (DMat3::from_mat4(now.as_dmat4()), DMat3::from_mat4(self.rest.as_dmat4()));
        if rest.determinant() == 0.0 {
            return DQuat::IDENTITY;
        }
        nearest_rotation(&(now * rest.inverse()))
    }

    /// How much larger the bone's flesh is than in the asset's rest pose.
    fn scale(&self, joints: &[Mat4]) -> f64 {
        (joints[self.bone].as_dmat4() * self.unrest).determinant().abs().cbrt()
    }
}

impl PosedSet {
    fn is_finite(&self) -> bool {
        let usable = self.radius.is_finite() && self.radius > 0.0 && self.steepness().is_finite();
        usable && self.anchor.is_finite()
    }
}

fn name(number: usize, set: &Set) -> String {
    if set.name.is_empty() { (number + 1).to_string() } else { format!("'{}'", set.name) }
}

fn check(name: &str, set: &Set) -> Result<(), Error> {
    let positive = |what, value: f64| {
        if value > 0.0 && value.is_finite() {
            return Ok(());
        }
        Err(Error::BadNumber { set: name.to_owned(), what, value })
    };
    positive("the radius", set.radius)?;
    positive("the mass", set.mass.unwrap_or(1.0))?;
    let off = set.anchor.norm();
    if off.is_finite() {
        return Ok(());
    }
    Err(Error::BadNumber { set: name.to_owned(), what: "the anchor", value: off })
}

fn spring(set: &Set, params: &Params, largest: f64) -> Spring {
    let mass = set.mass.unwrap_or(set.radius / largest);
    let stiffness = set.stiffness.or(params.stiffness);
    let stiffness = stiffness.unwrap_or_else(|| params.preset.stiffness());
    let ratio = set.damping.or(params.damping).unwrap_or_else(|| params.preset.damping());
    Spring::new(mass, stiffness, 2.0 * ratio * (stiffness * mass).sqrt())
}

/// The first joint of a name.
fn find_bone(body: &Body, bone: &str, set: &str) -> Result<usize, Error> {
    let found = (0..body.joints.len()).find(|&j| body.joint_name(j) == bone);
    found.ok_or_else(|| {
        let names: Vec<String> =
            (0..body.joints.len().min(40)).map(|j| body.joint_name(j)).collect();
        let known = format!("known: {}", names.join(", "));
        Error::NoBone { set: set.to_owned(), bone: bone.to_owned(), known }
    })
}

/// The joint that moves most of the vertex nearest to a point of the rest pose.
fn nearest_bone(body: &Body, rest: &[Mat4], point: DVec3) -> usize {
    let Some(weights) = &body.mesh.skin_weights else { return 0 };
    let mut nearest = (f64::INFINITY, 0);
    for (vertex, x) in body.mesh.positions.iter().enumerate() {
        let strongest = weights.of(vertex).fold((0, 0.0_f32), |best, (joint, w)| {
            if w > best.1 { (usize::from(joint), w) } else { best }
        });
        let at = rest[strongest.0].transform_point3(*x).as_dvec3();
        let distance = at.distance_squared(point);
        if distance < nearest.0 {
            nearest = (distance, strongest.0);
        }
    }
    nearest.1
}

fn segments(body: &Body, set: &Set, bone: usize, name: &str) -> Result<Vec<usize>, Error> {
    let all = 0..body.joints.len();
    let same_node = |bone: usize| {
        let node = body.joints[bone].node;
        all.clone().filter(move |&j| body.joints[j].node == node)
    };
    Ok(match &set.segments {
        Segments::Own => same_node(bone).collect(),
        Segments::All => all.collect(),
        Segments::Named(names) => {
            let mut joints = Vec::new();
            for segment in names {
                joints.extend(same_node(find_bone(body, segment, name)?));
            }
            joints.sort_unstable();
            joints.dedup();
            joints
        }
    })
}

/// Lets anchors follow the morph targets: as far as these move the flesh around them, on the mean.
fn follow_morphs(body: &Body, params: &Params, rest: &[Mat4], roots: &mut [Root]) {
    if body.morphs.is_empty() {
        return;
    }
    let Some(weights) = &body.mesh.skin_weights else { return };
    for (root, set) in roots.iter_mut().zip(&params.sets) {
        let near = |v: usize| {
            let own = weights.of(v).filter(|(j, _)| root.segments.contains(&usize::from(*j)));
            let own: f64 = own.map(|(_, w)| f64::from(w)).sum();
            let at = rest[root.bone].transform_point3(body.mesh.positions[v]).as_dvec3();
            let fade = (1.0 - at.distance_squared(set.anchor) / set.radius.powi(2)).max(0.0);
            own * fade * fade
        };
        let shares: Vec<f64> = (0..body.mesh.positions.len()).map(near).collect();
        let all: f64 = shares.iter().sum();
        for (number, morph) in body.morphs.iter().enumerate().filter(|_| all > 0.0) {
            let start = morph.vertices.start as usize;
            let moved = morph.positions.iter().zip(&shares[start..]);
            let way = moved.map(|(d, share)| *share * d.as_dvec3()).sum::<DVec3>() / all;
            if way != DVec3::ZERO && way.is_finite() {
                root.morphs.push((number, way));
            }
        }
    }
}

/// How much of the effect each vertex takes: as painted, nothing on what is hard and near the ground. Copies of a
/// vertex take as much as the least of them. `None` if all take all of it.
fn shares(body: &Body, params: &Params) -> Result<Option<Vec<f32>>, Error> {
    let painted = paint(body, params)?;
    let hard = super::hardness::hard(body, params);
    let ground = super::hardness::near_ground(body, params);
    if painted.is_none() && hard.is_none() && ground.is_none() {
        return Ok(None);
    }
    let share = |v: usize| {
        let [hard, ground] = [&hard, &ground].map(|s| s.as_ref().map_or(1.0, |s| s[v]));
        painted.map_or(1.0, |s| s[v]) * hard * ground
    };
    let all: Vec<f32> = (0..body.mesh.positions.len()).map(share).collect();
    let welding = body.welding();
    Ok(Some(welding.spread(&welding.gather_least(&all))))
}

fn paint<'a>(body: &'a Body, params: &Params) -> Result<Option<&'a [f32]>, Error> {
    let Some(name) = &params.paint else { return Ok(None) };
    let attributes = &body.mesh.attributes;
    if let Some(values) = attributes.scalar(name) {
        return Ok(Some(values));
    }
    Err(Error::NoPaint { name: name.clone(), known: attributes.known_scalars() })
}

/// A matrix placed in the world, rounded as the player rounds it.
fn placed(placement: &DAffine3, matrix: &Mat4) -> Mat4 {
    if *placement == DAffine3::IDENTITY {
        return *matrix;
    }
    (DMat4::from(*placement) * matrix.as_dmat4()).as_mat4()
}

/// The inverse, or the identity for what has none.
fn inverse(matrix: &DMat4) -> DMat4 {
    let inverse = matrix.inverse();
    if inverse.is_finite() { inverse } else { DMat4::IDENTITY }
}
