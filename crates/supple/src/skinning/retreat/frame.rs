//! One pose before anything is displaced: where plain skinning puts the skin, which way is out, and what each joint's
//! turn cost.
//!
//! The loss of a joint is measured under the blend itself. All bones first move as their root; then, parents first,
//! each subtree gets the move and the stretch of its joint, and then its turn. What the turn changes is the joint's
//! loss; what moves and stretches change is the artist's. The losses and that add up to what plain skinning changes
//! in all.

use glam::{DMat3, DMat4, DQuat, DVec3, Mat4, Vec3};

use super::super::STILL;
use super::super::bones::{Bone, Bones};
use super::super::motion::Motion;
use super::Skin;
use super::field::Joint;
use super::welded::Row;
use crate::Run;
use crate::lengths::Lengths as _;
use crate::rig::skin::nearest_rotation;
use crate::rig::{Body, Skinning};

/// Twists from where to where dual quaternions take over, in degrees.
const TWIST: [f64; 2] = [60.0, 120.0];

/// Twists from where to where what they do to edges comes to count as plain skinning does: below, edges are held to what
/// they are promised without them.
const COUNTS: [f64; 2] = [90.0, 120.0];

/// Twists from where to where triangles are held against them: plain skinning leaves a waist there that is no measure, and
/// one triangle drawn back would pull all of it shut.
const FACES: [f64; 2] = [160.0, 170.0];

/// Squares of lengths that a root scales alike but for this share are scaled evenly.
const EVEN: f64 = 1e-4;

/// Roots that leave less than this of a volume flatten it.
const FLAT: f64 = 1e-6;

/// Values of a joint's bump from which a vertex takes part in its twist whole.
const WHOLE: f64 = 0.2;

/// A pose.
#[derive(Clone, Debug)]
pub(super) struct Frame {
    /// The body as plain skinning moves it.
    pub(super) plain: Vec<Vec3>,
    /// The same of the welded vertices and the means of rims.
    pub(super) at: Vec<DVec3>,
    /// The way out of the skeleton at each vertex, as long as it is far from its bones.
    pub(super) out: Vec<DVec3>,
    pub(super) twist: Option<Twist>,
    /// Joints that turned, parents first.
    pub(super) turned: Vec<Turned>,
    /// Joints whose parent flattens all it carries.
    pub(super) flattened: Vec<usize>,
    /// The volume that plain skinning encloses, and that of the body moved as its roots.
    pub(super) volume: f64,
    pub(super) rest_volume: f64,
    /// How the root scales lengths.
    pub(super) scale: f64,
    /// How the roots stretch and shear what they carry.
    pub(super) roots: Roots,
}

/// What roots do to all they carry, where that is more than to turn, to move and to scale evenly.
///
/// A root that shears makes shears of the turns below it. All that asks for turns and for ways out is done where such a
/// root carries nothing, and carried by it in the end: volumes come out as many times as large, and triangles intersect
/// there if they do here.
#[derive(Clone, Debug)]
pub(super) struct Roots {
    /// For each bone what its root does; the identity for one that does no such thing.
    of_bone: Vec<DMat3>,
    /// Whether any does.
    any: bool,
}

impl Roots {
    fn new(bones: &Bones, matrices: &[Mat4]) -> Self {
        let linear = |b: u32| {
            let linear = DMat3::from_mat4(bones.bones[bones.root(b) as usize].matrix(matrices));
            if scales_evenly(&linear) { DMat3::IDENTITY } else { linear }
        };
        let of_bone: Vec<DMat3> = (0..bones.bones.len() as u32).map(linear).collect();
        let any = of_bone.iter().any(|l| *l != DMat3::IDENTITY);
        Self { of_bone, any }
    }

    /// As if all roots scaled evenly.
    fn even(bones: &Bones) -> Self {
        Self { of_bone: vec![DMat3::IDENTITY; bones.bones.len()], any: false }
    }

    /// What the root of a vertex' bones does.
    fn of_row(&self, row: &Row) -> DMat3 {
        row.first().map_or(DMat3::IDENTITY, |r| self.of_bone[r.0 as usize])
    }

    /// The same, if it does anything.
    pub(super) fn uneven(&self, row: &Row) -> Option<DMat3> {
        self.any.then(|| self.of_row(row)).filter(|l| *l != DMat3::IDENTITY)
    }

    /// Matrices of bones as they are without their roots' doing.
    fn without(&self, bone: usize, matrix: DMat4) -> DMat4 {
        match self.any {
            true => DMat4::from_mat3(self.of_bone[bone].inverse()) * matrix,
            false => matrix,
        }
    }
}

/// Whether a map turns and scales alone, or flattens and cannot be undone.
fn scales_evenly(linear: &DMat3) -> bool {
    let square = linear.transpose() * *linear;
    let mean = (square.x_axis.x + square.y_axis.y + square.z_axis.z) / 3.0;
    let off = (square - DMat3::from_diagonal(DVec3::splat(mean))).to_cols_array();
    let most = off.iter().fold(0.0_f64, |m, x| m.max(x.abs()));
    let is_flat = linear.determinant().abs() <= FLAT * mean.max(0.0).powf(1.5);
    is_flat || !most.is_finite() || most <= EVEN * mean
}

/// A joint that turned.
#[derive(Clone, Debug)]
pub(super) struct Turned {
    pub(super) joint: usize,
    pub(super) degrees: f64,
    pub(super) is_scaled: bool,
    /// The volume its turn adds; negative if it is lost.
    pub(super) lost: f64,
    /// Its share of what dual quaternions do to vertices.
    pub(super) twist: Vec<(u32, f64)>,
}

/// What dual quaternions do where joints twist far.
#[derive(Clone, Debug)]
pub(super) struct Twist {
    /// How far each vertex follows them.
    pub(super) by: Vec<DVec3>,
    /// How far they count as plain skinning there for edges, and for triangles, 0 to 1.
    pub(super) edges: Vec<f64>,
    pub(super) faces: Vec<f64>,
    /// The body as dual quaternions move it.
    pub(super) dual: Vec<Vec3>,
}

/// Where a bone carries things.
#[derive(Clone, Copy, Debug)]
struct Carry {
    matrix: DMat4,
    stretch: DMat3,
    turn: DQuat,
    dual: DQuat,
}

impl Carry {
    fn new(matrix: DMat4) -> Self {
        let linear = DMat3::from_mat4(matrix);
        let turn = nearest_rotation(&linear);
        let stretch = DMat3::from_quat(turn.conjugate()) * linear;
        let t = matrix.w_axis;
        let dual = DQuat::from_xyzw(t.x, t.y, t.z, 0.0) * turn * 0.5;
        Self { matrix, stretch, turn, dual }
    }
}

/// The turn in the middle of those of a vertex' bones, not of length one, with its dual part, and their mean stretch.
fn mean_motion(row: &Row, carries: &[Carry]) -> (DQuat, DQuat, DMat3) {
    let heaviest = row.iter().max_by(|a, b| a.1.total_cmp(&b.1));
    let side = heaviest.map_or(DQuat::IDENTITY, |r| carries[r.0 as usize].turn);
    let zero = DQuat::from_xyzw(0.0, 0.0, 0.0, 0.0);
    let (mut turn, mut dual, mut stretch) = (zero, zero, DMat3::ZERO);
    for &(bone, w) in row {
        let carry = &carries[bone as usize];
        let signed = if carry.turn.dot(side) < 0.0 { -w } else { w };
        turn += carry.turn * signed;
        dual += carry.dual * signed;
        stretch += carry.stretch * w;
    }
    (turn, dual, stretch)
}

/// Where a blend of bones carries a point.
fn blended(row: &Row, carries: &[Carry], skinning: Skinning, x: DVec3) -> DVec3 {
    match skinning {
        Skinning::Linear => {
            row.iter().map(|&(b, w)| w * carries[b as usize].matrix.transform_point3(x)).sum()
        }
        Skinning::DualQuaternion => {
            let (turn, dual, stretch) = mean_motion(row, carries);
            let inverse = turn.norm().recip();
            let (turn, dual) = (turn * inverse, dual * inverse);
            let moved = dual * turn.conjugate() * 2.0;
            turn * (stretch * x) + DVec3::new(moved.x, moved.y, moved.z)
        }
    }
}

/// A body to be posed: bound vertices, matrices of its joints, a way to blend.
#[derive(Clone, Copy, Debug)]
pub(in super::super) struct Posing<'a> {
    pub(in super::super) body: &'a Body,
    pub(in super::super) bound: &'a [Vec3],
    pub(in super::super) matrices: &'a [Mat4],
    pub(in super::super) skinning: Skinning,
}

impl Frame {
    pub(super) fn new(skin: &Skin, posing: &Posing<'_>, run: &Run<'_>) -> Self {
        let Posing { body, bound, matrices, skinning } = *posing;
        let plain = body.skin_bound(bound, matrices, skinning, run);
        let bones = &skin.bones.bones;
        let roots = match skinning {
            Skinning::Linear => Roots::new(&skin.bones, matrices),
            Skinning::DualQuaternion => Roots::even(&skin.bones),
        };
        let carry = |(i, b): (usize, &Bone)| Carry::new(roots.without(i, b.matrix(matrices)));
        let carries: Vec<Carry> = bones.iter().enumerate().map(carry).collect();
        let mut at: Vec<DVec3> =
            skin.welded.first.iter().map(|&v| plain[v as usize].as_dvec3()).collect();
        skin.welded.with_means(&mut at);
        let is_own = bound.as_ptr() == body.mesh.positions.as_ptr();
        let bound = match is_own {
            true => None,
            false => Some(skin.welded.bound(body, &skin.bones, bound)),
        };
        let bound = bound.as_ref().unwrap_or(&skin.welded.at);
        let rest_volume = rest_volume(skin, matrices, bound);
        let course = Course { skin, carries: &carries, roots: &roots, bound, skinning };
        let (mut turned, flattened) = course.turns();
        let out = course.out(run);
        let twist = twists(skin, &carries, &mut turned)
            .filter(|_| skinning == Skinning::Linear)
            .map(|[fade, edges, faces]| {
                let dual = dual(skin, posing, &roots, run);
                let by = |(v, f): (usize, &f64)| {
                    *f * (dual[skin.welded.first[v] as usize].as_dvec3() - at[v])
                };
                let by = fade.iter().enumerate().map(by).collect();
                Twist { by, edges, faces, dual }
            });
        let volume = super::volume(&skin.welded.closed, &at, run);
        let scale = skin.scale(matrices);
        Self { plain, at, out, twist, turned, flattened, volume, rest_volume, scale, roots }
    }

    /// Whether nothing turned that could be given back.
    pub(super) fn is_still(&self) -> bool {
        self.turned.is_empty()
    }
}

/// The volume of the body where its roots alone carry it.
fn rest_volume(skin: &Skin, matrices: &[Mat4], bound: &[DVec3]) -> f64 {
    let bones = &skin.bones.bones;
    let of_root = |b: u32| bones[skin.bones.root(b) as usize].matrix(matrices);
    let of_root: Vec<DMat4> = (0..bones.len() as u32).map(of_root).collect();
    let carried = |(row, x): (&Row, &DVec3)| match row.first() {
        Some(first) => of_root[first.0 as usize].transform_point3(*x),
        None => *x,
    };
    let mut at: Vec<DVec3> = skin.welded.rows.iter().zip(bound).map(carried).collect();
    skin.welded.with_means(&mut at);
    super::volume(&skin.welded.closed, &at, &Run::default())
}

/// The body as dual quaternions move it; what roots stretch and shear after that.
fn dual(skin: &Skin, posing: &Posing<'_>, roots: &Roots, run: &Run<'_>) -> Vec<Vec3> {
    let Posing { body, bound, matrices, .. } = *posing;
    if !roots.any {
        return body.skin_bound(bound, matrices, Skinning::DualQuaternion, run);
    }
    let mut without = matrices.to_vec();
    for (joint, bone) in skin.bones.of_joints() {
        let matrix = matrices[joint as usize].as_dmat4();
        without[joint as usize] = roots.without(bone as usize, matrix).as_mat4();
    }
    let mut dual = body.skin_bound(bound, &without, Skinning::DualQuaternion, run);
    for (x, &welded) in dual.iter_mut().zip(&skin.welded.of_vertex) {
        let row = skin.welded.rows.get(welded as usize);
        if let Some(linear) = row.and_then(|row| roots.uneven(row)) {
            *x = (linear * x.as_dvec3()).as_vec3();
        }
    }
    dual
}

/// The joints one after the other, where roots neither stretch nor shear.
struct Course<'a> {
    skin: &'a Skin,
    carries: &'a [Carry],
    roots: &'a Roots,
    bound: &'a [DVec3],
    skinning: Skinning,
}

impl Course<'_> {
    fn out(&self, run: &Run<'_>) -> Vec<DVec3> {
        let welded = &self.skin.welded;
        run.map(welded.len(), |v| {
            if !self.skin.live[v] {
                return DVec3::ZERO;
            }
            let row = &welded.rows[v];
            let (turn, _, stretch) = mean_motion(row, self.carries);
            let out = turn.unit_or_zero() * (stretch * self.skin.away[v]);
            let out = self.roots.uneven(row).map_or(out, |linear| linear * out);
            if out.is_finite() { out } else { DVec3::ZERO }
        })
    }

    /// The joints that turned, with what they lost, and those that cannot be told.
    fn turns(&self) -> (Vec<Turned>, Vec<usize>) {
        let bones = &self.skin.bones;
        let root = |b: u32| self.carries[bones.root(b) as usize];
        let mut stage: Vec<Carry> = (0..bones.bones.len() as u32).map(root).collect();
        let (mut turned, mut flattened) = (Vec::new(), Vec::new());
        for (number, joint) in self.skin.joints.iter().enumerate() {
            let bone = &bones.bones[joint.bone as usize];
            let Some(parent) = bone.parent else { continue };
            let (parent, to) =
                (self.carries[parent as usize].matrix, self.carries[joint.bone as usize]);
            // Where the parent carries nothing: one that shears would make shears of turns.
            let local = parent.inverse() * to.matrix;
            let motion = Motion::new(&DMat4::IDENTITY, &local, bone.at);
            if motion.is_err() && !joint.triangles.is_empty() {
                flattened.push(number);
            }
            let mut set = |carry: Carry| {
                joint.subtree.iter().for_each(|&b| stage[b as usize] = carry);
            };
            let Some(motion) = motion.ok().filter(|m| self.counts(joint, m)) else {
                set(to);
                continue;
            };
            set(Carry::new(parent * motion.without_turn()));
            let pivot = parent.transform_point3(motion.to);
            let before = self.cones(joint, &stage, pivot);
            joint.subtree.iter().for_each(|&b| stage[b as usize] = to);
            let larger = self.roots.of_bone[joint.bone as usize].determinant();
            let lost = larger * (self.cones(joint, &stage, pivot) - before);
            turned.push(Turned {
                joint: number,
                degrees: motion.angle.to_degrees(),
                is_scaled: motion.stretches(),
                lost: if lost.is_finite() { lost } else { 0.0 },
                twist: Vec::new(),
            });
        }
        (turned, flattened)
    }

    /// Whether a motion is more than rounding, at a joint that deforms or may displace something.
    fn counts(&self, joint: &Joint, motion: &Motion) -> bool {
        let size = self.skin.size;
        let matters = !joint.triangles.is_empty() || !joint.field.is_empty();
        matters && motion.displacement(size) > STILL * size
    }

    /// The volume of the cones from a point to the triangles that a joint deforms.
    fn cones(&self, joint: &Joint, stage: &[Carry], pivot: DVec3) -> f64 {
        let welded = &self.skin.welded;
        let place = |&p: &u32| match welded.rows.get(p as usize) {
            Some(row) if row.is_empty() => self.bound[p as usize] - pivot,
            Some(row) => blended(row, stage, self.skinning, self.bound[p as usize]) - pivot,
            None => DVec3::ZERO,
        };
        let mut at: Vec<DVec3> = joint.places.iter().map(place).collect();
        let index = |v: u32| joint.places.partition_point(|&p| p < v);
        for k in index(welded.len() as u32)..at.len() {
            let rim = &welded.rims[joint.places[k] as usize - welded.len()];
            at[k] = rim.iter().map(|&v| at[index(v)]).sum::<DVec3>() / rim.len() as f64;
        }
        let six = |&t: &u32| {
            let [a, b, c] = welded.closed[t as usize].map(|v| at[index(v)]);
            a.dot(b.cross(c))
        };
        joint.triangles.iter().map(six).sum::<f64>() / 6.0
    }
}

/// How far each vertex follows dual quaternions, if any joint twists far, and how far they count; each joint's share.
fn twists(skin: &Skin, carries: &[Carry], turned: &mut [Turned]) -> Option<[Vec<f64>; 3]> {
    let mut left = [(); 3].map(|()| vec![1.0; skin.welded.len()]);
    let mut sum = vec![0.0; skin.welded.len()];
    for t in turned.iter_mut() {
        let joint = &skin.joints[t.joint];
        let degrees = twist_degrees(skin, carries, joint);
        let fades = [TWIST, COUNTS, FACES].map(|range| faded(degrees, range));
        if fades[0] == 0.0 {
            continue;
        }
        for &(v, s) in &joint.blend {
            let part = (s / WHOLE).min(1.0);
            for (left, fade) in left.iter_mut().zip(fades) {
                left[v as usize] *= 1.0 - fade * part;
            }
            sum[v as usize] += fades[0] * part;
            t.twist.push((v, fades[0] * part));
        }
    }
    for t in turned.iter_mut() {
        t.twist.iter_mut().for_each(|(v, f)| *f /= sum[*v as usize]);
    }
    let any = sum.iter().any(|&s| s > 0.0);
    any.then(|| left.map(|l| l.into_iter().map(|l| 1.0 - l).collect()))
}

fn faded(degrees: f64, [from, to]: [f64; 2]) -> f64 {
    let x = ((degrees - from) / (to - from)).clamp(0.0, 1.0);
    x * x * (3.0 - 2.0 * x)
}

/// How far a joint turned about its own bone.
fn twist_degrees(skin: &Skin, carries: &[Carry], joint: &Joint) -> f64 {
    let bone = &skin.bones.bones[joint.bone as usize];
    let Some(parent) = bone.parent else { return 0.0 };
    let to_parent = || bone.at - skin.bones.bones[parent as usize].at;
    let along = bone.along().filter(|a| a.length_squared() > 0.0).unwrap_or_else(to_parent);
    let axis = (carries[parent as usize].turn * along).unit_or_zero();
    let turn = carries[joint.bone as usize].turn * carries[parent as usize].turn.conjugate();
    let about = DVec3::new(turn.x, turn.y, turn.z).dot(axis);
    2.0 * about.abs().atan2(turn.w.abs()).to_degrees()
}
