//! The bones of one body, stepped by the physics library.

use glam::{Mat3, Mat4, Quat, Vec3};
use rapier3d::dynamics::{
    IntegrationParameters, MotorModel, RigidBodyBuilder, RigidBodyHandle, SphericalJointBuilder,
};
use rapier3d::parry::mass_properties::MassProperties;
use rapier3d::pipeline::PhysicsWorld;
use rapier3d::prelude::JointAxis;

use super::{BoneState, Params, RigidError, RigidState};
use crate::contact::collider::{Isometry, convex};
use crate::contact::flesh::Pressure;
use crate::modifier::{Halt, RigidPath, SUBSTEPS, Substeps};
use crate::rig::Body;

/// Sweeps over the contacts of a bone.
const SWEEPS: usize = 4;

struct Bone {
    /// Centre of mass at rest, in the world.
    center: Vec3,
    /// Mass and inertia about that centre.
    mass: MassProperties,
    /// The bone it hangs on, and where, in the world at rest.
    hangs: Option<(usize, Vec3)>,
}

impl Bone {
    /// How many times its inertia about a point is that about its centre of mass.
    fn leverage(&self, about: Vec3) -> f32 {
        let own = self.mass.principal_inertia().max_element();
        let aside = self.mass.mass() * self.center.distance_squared(about);
        1.0 + aside / own.max(f32::MIN_POSITIVE)
    }

    /// The inverse of its inertia, in the world.
    fn inverse_inertia(&self, now: &BoneState) -> Mat3 {
        let axes = Mat3::from_quat(now.place.rotation * self.mass.principal_inertia_local_frame);
        axes * Mat3::from_diagonal(self.mass.inv_principal_inertia) * axes.transpose()
    }
}

/// A contact of a bone as a spring and a damper that act implicitly, so no stiffness is too high: the
/// impulse `λ ≥ 0` with `mobility λ + give λ + speed = wanted`.
struct Support {
    normal: Vec3,
    /// From the bone's centre of mass to the contact.
    arm: Vec3,
    /// Speed out of the obstacle that a unit impulse gives.
    mobility: f32,
    /// Speed that a unit impulse leaves unsatisfied.
    give: f32,
    /// Speed that takes the bone out.
    wanted: f32,
    impulse: f32,
}

/// A body as bones.
pub struct Ragdoll {
    params: Params,
    bones: Vec<Bone>,
    /// For each joint of the body, its bone.
    bone_of: Vec<usize>,
    /// From bind to the placed rest pose, for each joint.
    rest: Vec<Mat4>,
    total_mass: f32,
    /// What pulls the first bone.
    pull: Option<RigidPath>,
}

impl std::fmt::Debug for Ragdoll {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Ragdoll")
            .field("params", &self.params)
            .field("bones", &self.bones.len())
            .finish()
    }
}

impl Ragdoll {
    /// Makes bones of the joints of a body, or one bone of all of it; `rest` is from bind to the placed
    /// rest pose, for each joint.
    ///
    /// # Errors
    ///
    /// [`RigidError`] if it has no volume.
    pub fn new(body: &Body, rest: &[Mat4], one: bool, params: &Params) -> Result<Self, RigidError> {
        let points = own_points(body, rest, one);
        let mut bones = Vec::new();
        let mut bone_of_joint = vec![None; body.joints.len()];
        for (joint, points) in points.iter().enumerate() {
            let Some(mass) = mass_of(points, params.density) else { continue };
            bone_of_joint[joint] = Some(bones.len());
            let mut mass = mass;
            let center = std::mem::replace(&mut mass.local_com, Vec3::ZERO);
            bones.push(Bone { center, mass, hangs: None });
        }
        if bones.is_empty() {
            return Err(RigidError::NoMass);
        }
        let bone_of: Vec<usize> = (0..body.joints.len())
            .map(|j| nearest_bone(body, &bone_of_joint, Some(j)).unwrap_or(0))
            .collect();
        for (joint, bone) in bone_of_joint.iter().enumerate() {
            let Some(bone) = *bone else { continue };
            let parent = nearest_bone(body, &bone_of_joint, body.parent_joint(joint));
            let anchor = rest[joint] * body.joints[joint].inverse_bind.inverse();
            bones[bone].hangs = parent
                .or_else(|| (bone != 0).then_some(0))
                .filter(|p| *p != bone)
                .map(|p| (p, anchor.w_axis.truncate()));
        }
        let total_mass = bones.iter().map(|b| b.mass.mass()).sum();
        let (params, pull) = (params.clone(), RigidPath::new(params.pull.clone()));
        Ok(Self { params, bones, bone_of, rest: rest.to_vec(), total_mass, pull })
    }

    /// How many bones there are.
    #[must_use]
    pub fn bones(&self) -> usize {
        self.bones.len()
    }

    /// The rest pose, moving as the parameters say.
    #[must_use]
    pub fn begin(&self) -> RigidState {
        let spin = self.params.spin * (std::f32::consts::PI / 180.0);
        let middle =
            self.bones.iter().map(|b| b.mass.mass() * b.center).sum::<Vec3>() / self.total_mass;
        let bone = |b: &Bone| BoneState {
            place: Isometry { rotation: Quat::IDENTITY, translation: b.center },
            velocity: self.params.velocity + spin.cross(b.center - middle),
            spin,
        };
        RigidState { bones: self.bones.iter().map(bone).collect() }
    }

    /// From bind to world, for each joint.
    #[must_use]
    pub fn matrices(&self, state: &RigidState) -> Vec<Mat4> {
        let moved = |(joint, rest): (usize, &Mat4)| {
            let (bone, now) = (&self.bones[self.bone_of[joint]], &state.bones[self.bone_of[joint]]);
            let back = Mat4::from_translation(-bone.center);
            Mat4::from(now.place.affine()) * back * *rest
        };
        self.rest.iter().enumerate().map(moved).collect()
    }

    /// Kinetic energy and that of height, in the units of mass times squared speed.
    #[must_use]
    pub fn energy(&self, state: &RigidState) -> f64 {
        let one = |(bone, now): (&Bone, &BoneState)| {
            let mass = bone.mass.mass();
            let turned = (now.place.rotation * bone.mass.principal_inertia_local_frame).inverse();
            let inertia = bone.mass.principal_inertia();
            let local = turned * now.spin;
            let height = -self.params.gravity.dot(now.place.translation);
            f64::from(
                0.5 * mass * now.velocity.length_squared()
                    + 0.5 * local.dot(inertia * local)
                    + mass * height,
            )
        };
        self.bones.iter().zip(&state.bones).map(one).sum()
    }

    /// Begins a tick, or part of one.
    #[must_use]
    pub fn begin_tick(&self, state: &RigidState, dt_secs: f32) -> Stepper<'_> {
        let step_secs = dt_secs / SUBSTEPS as f32;
        let (world, handles) = self.world(state, step_secs);
        Stepper { ragdoll: self, world, handles, step_secs }
    }

    /// The bones as the physics library knows them.
    fn world(&self, state: &RigidState, dt_secs: f32) -> (PhysicsWorld, Vec<RigidBodyHandle>) {
        let mut world = PhysicsWorld {
            gravity: self.params.gravity,
            integration_parameters: IntegrationParameters { dt: dt_secs, ..Default::default() },
            ..PhysicsWorld::default()
        };
        let mut handles = Vec::with_capacity(self.bones.len());
        for (bone, now) in self.bones.iter().zip(&state.bones) {
            let pose = rapier3d::math::Pose::from_parts(now.place.translation, now.place.rotation);
            let body = RigidBodyBuilder::dynamic()
                .pose(pose)
                .linvel(now.velocity)
                .angvel(now.spin)
                .linear_damping(self.params.drag)
                .angular_damping(self.params.drag)
                .additional_mass_properties(bone.mass)
                .can_sleep(false);
            handles.push(world.insert_body(body));
        }
        let omega = std::f32::consts::TAU * self.params.joint_frequency;
        let damping = 2.0 * self.params.joint_damping * omega;
        for (i, bone) in self.bones.iter().enumerate() {
            let Some((parent, anchor)) = bone.hangs else { continue };
            // The motor knows the inertia about the centre of mass; the bone swings about the joint.
            let leverage = bone.leverage(anchor);
            let mut joint = SphericalJointBuilder::new()
                .local_anchor1(anchor - self.bones[parent].center)
                .local_anchor2(anchor - bone.center);
            for axis in [JointAxis::AngX, JointAxis::AngY, JointAxis::AngZ] {
                joint = joint.motor_model(axis, MotorModel::AccelerationBased).motor_position(
                    axis,
                    0.0,
                    leverage * omega * omega,
                    leverage * damping,
                );
            }
            world.insert_impulse_joint(handles[parent], handles[i], joint.build());
        }
        (world, handles)
    }

    /// The contacts of a bone that is now somewhere; `step_secs` is the time they act.
    fn supports<'a>(
        &self,
        bone: usize,
        now: &BoneState,
        pressed: impl Iterator<Item = &'a Pressure>,
        step_secs: f32,
    ) -> Vec<Support> {
        let omega = std::f32::consts::TAU * self.params.contact_frequency;
        let inverse = self.bones[bone].inverse_inertia(now);
        let inverse_mass = 1.0 / self.bones[bone].mass.mass();
        let support = |p: &Pressure| {
            let arm = p.point - now.place.translation;
            let lever = arm.cross(p.normal);
            let stiffness = self.total_mass * omega * omega * p.share;
            let damping = 2.0 * self.params.contact_damping * self.total_mass * omega * p.share;
            let firmness = damping + step_secs * stiffness;
            Support {
                normal: p.normal,
                arm,
                mobility: inverse_mass + lever.dot(inverse * lever),
                give: 1.0 / (step_secs * firmness).max(f32::MIN_POSITIVE),
                wanted: stiffness * p.depth / firmness.max(f32::MIN_POSITIVE),
                impulse: 0.0,
            }
        };
        pressed.map(support).collect()
    }

    /// Lets contacts act on a bone: its new velocity and spin, and the impulse of them all.
    fn press(&self, bone: usize, now: &mut BoneState, supports: &mut [Support]) -> f32 {
        let inverse = self.bones[bone].inverse_inertia(now);
        let inverse_mass = 1.0 / self.bones[bone].mass.mass();
        let apply = |now: &mut BoneState, impulse: Vec3, arm: Vec3| {
            now.velocity += inverse_mass * impulse;
            now.spin += inverse * arm.cross(impulse);
        };
        for _ in 0..SWEEPS {
            for s in supports.iter_mut() {
                let speed = (now.velocity + now.spin.cross(s.arm)).dot(s.normal);
                let short = s.wanted - speed - s.give * s.impulse;
                let impulse = (s.impulse + short / (s.mobility + s.give)).max(0.0);
                let change = (impulse - s.impulse) * s.normal;
                s.impulse = impulse;
                apply(now, change, s.arm);
            }
        }
        for s in supports.iter() {
            let velocity = now.velocity + now.spin.cross(s.arm);
            let slide = velocity - velocity.dot(s.normal) * s.normal;
            let Some(along) = slide.try_normalize() else { continue };
            let lever = s.arm.cross(along);
            let stop = slide.length() / (inverse_mass + lever.dot(inverse * lever));
            let hold = stop.min(self.params.friction * s.impulse);
            apply(now, -hold * along, s.arm);
        }
        supports.iter().map(|s| s.impulse).sum()
    }

    /// What a bone that is pressed loses of its spin: flesh that is flattened does not roll for long.
    fn rolling(&self, bone: usize, now: &BoneState, pressed: f32) -> Vec3 {
        let mass = &self.bones[bone].mass;
        let weight = mass.mass() * self.params.gravity.length().max(1.0);
        let rate = ROLLING * self.params.friction * (pressed / weight).min(1.0);
        -rate * mass.principal_inertia().max_element() * now.spin
    }

    /// Force and torque towards a place, critically damped.
    fn pull(&self, now: &BoneState, to: &Isometry) -> (Vec3, Vec3) {
        let omega = std::f32::consts::TAU * self.params.pull_frequency;
        let target = to.to_world(self.bones[0].center);
        let away = target - now.place.translation;
        let force = self.total_mass * (omega * omega * away - 2.0 * omega * now.velocity);
        let turn = to.rotation * now.place.rotation.inverse();
        let turn = if turn.w < 0.0 { -turn } else { turn };
        let inertia = self.bones[0].mass.principal_inertia().max_element();
        let torque = inertia * (omega * omega * turn.to_scaled_axis() - 2.0 * omega * now.spin);
        (force - self.total_mass * self.params.gravity, torque)
    }
}

/// A tick under way: [`SUBSTEPS`] substeps.
pub struct Stepper<'a> {
    ragdoll: &'a Ragdoll,
    world: PhysicsWorld,
    handles: Vec<RigidBodyHandle>,
    step_secs: f32,
}

impl std::fmt::Debug for Stepper<'_> {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Stepper").field("ragdoll", self.ragdoll).finish_non_exhaustive()
    }
}

impl Substeps<RigidState> for Stepper<'_> {
    fn substep(
        &mut self,
        secs: f64,
        pressures: &[Pressure],
        state: &mut RigidState,
    ) -> Result<(), Halt> {
        let pull = self.ragdoll.pull.as_ref().map(|path| {
            let (first, last) = path.span();
            Isometry::of(&path.affine(secs.clamp(first, last)))
        });
        for (bone, (handle, now)) in self.handles.iter().zip(&state.bones).enumerate() {
            let body = &mut self.world.bodies[*handle];
            body.reset_forces(true);
            body.reset_torques(true);
            let mine = pressures.iter().filter(|p| self.ragdoll.bone_of[p.joint] == bone);
            let mut supports = self.ragdoll.supports(bone, now, mine, self.step_secs);
            if !supports.is_empty() {
                let mut pressed = *now;
                let impulse = self.ragdoll.press(bone, &mut pressed, &mut supports);
                body.set_linvel(pressed.velocity, true);
                body.set_angvel(pressed.spin, true);
                let force = impulse / self.step_secs;
                body.add_torque(self.ragdoll.rolling(bone, &pressed, force), true);
            }
            if let (Some(pull), 0) = (&pull, bone) {
                let (force, torque) = self.ragdoll.pull(now, pull);
                body.add_force(force, true);
                body.add_torque(torque, true);
            }
        }
        self.world.step();
        let stepped = |handle: &RigidBodyHandle| {
            let body = &self.world.bodies[*handle];
            let pose = body.position();
            let place = Isometry { rotation: pose.rotation, translation: pose.translation };
            BoneState { place, velocity: body.linvel(), spin: body.angvel() }
        };
        let bones: Vec<BoneState> = self.handles.iter().map(stepped).collect();
        if !bones.iter().all(BoneState::is_finite) {
            return Err(Halt::NotFinite);
        }
        state.bones = bones;
        Ok(())
    }
}

/// Share of its spin that a bone loses in a second under its own weight, by unit of friction.
const ROLLING: f32 = 10.0;

/// The vertices that mainly follow each joint, in the placed rest pose; all with the first if `one`.
fn own_points(body: &Body, rest: &[Mat4], one: bool) -> Vec<Vec<Vec3>> {
    let mut points = vec![Vec::new(); body.joints.len()];
    let Some(weights) = &body.mesh.skin_weights else { return points };
    for (i, x) in body.mesh.positions.iter().enumerate() {
        let most = weights.of(i).max_by(|a, b| a.1.total_cmp(&b.1));
        let Some((joint, _)) = most else { continue };
        let joint = usize::from(joint);
        points[if one { 0 } else { joint }].push(rest[joint].transform_point3(*x));
    }
    points
}

fn mass_of(points: &[Vec3], density: f32) -> Option<MassProperties> {
    let (corners, triangles) = convex::hull_mesh(points)?;
    let mass = MassProperties::from_convex_polyhedron(density, &corners, &triangles);
    let sound = mass.mass().is_finite() && mass.mass() > 0.0 && mass.local_com.is_finite();
    sound.then_some(mass)
}

/// The joint itself or the nearest above it that has a bone.
fn nearest_bone(body: &Body, bones: &[Option<usize>], from: Option<usize>) -> Option<usize> {
    let mut joint = from;
    while let Some(j) = joint {
        if let Some(bone) = bones[j] {
            return Some(bone);
        }
        joint = body.parent_joint(j);
    }
    None
}
