//! The kinds `rigid` and `ragdoll`: a body as bones takes the place of its motion.

use glam::Mat4;

use super::{Params, Ragdoll, RigidState};
use crate::modifier::{Inputs, Modifier, Moment, Nature, PathKey, Stage, Substeps, Wrong};

/// A body that falls: as one, or with a bone for each of its joints.
#[derive(Debug)]
pub struct Falling<const AS_ONE: bool>(Ragdoll);

/// It falls and bounces as one rigid body.
pub type Rigid = Falling<true>;

/// Its bones fall and bounce, and return to the rest pose.
pub type Jointed = Falling<false>;

impl<const AS_ONE: bool> Falling<AS_ONE> {
    /// The bones that are simulated.
    #[must_use]
    pub fn ragdoll(&self) -> &Ragdoll {
        &self.0
    }
}

impl<const AS_ONE: bool> Modifier for Falling<AS_ONE> {
    const KIND: &'static str = if AS_ONE { "rigid" } else { "ragdoll" };
    const STAGES: &'static [Stage] = &[Stage::Pose];
    type Params = Params;
    type State = RigidState;

    fn check(params: &Params) -> Result<(), Wrong> {
        PathKey::check_all(&params.pull, "pull")
    }

    fn prepare(params: &Params, from: &Inputs<'_>) -> Result<Self, String> {
        let ragdoll = Ragdoll::new(from.body, from.joints, AS_ONE, params);
        ragdoll.map(Self).map_err(|e| e.to_string())
    }

    fn nature(&self, params: &Params) -> Nature {
        Nature { drives: Some(params.skinning), ..Nature::default() }
    }

    fn joints(&self, _: &Params, state: &RigidState) -> Vec<Mat4> {
        self.0.matrices(state)
    }

    fn begin_tick<'a>(
        &'a self,
        _: &'a Params,
        state: &RigidState,
        dt_secs: f64,
    ) -> Option<Box<dyn Substeps<RigidState> + 'a>> {
        Some(Box::new(self.0.begin_tick(state, dt_secs as f32)))
    }

    fn begin(&self, _: &Params, _: &Moment<'_>) -> RigidState {
        self.0.begin()
    }

    fn size(&self, state: &RigidState) -> Option<usize> {
        let bytes = size_of::<RigidState>() + size_of_val(&state.bones[..]);
        (state.bones.len() == self.0.bones()).then_some(bytes)
    }
}
