//! `skinning`: the skeleton moves the body without taking volume away.
//!
//! Takes the place of plain skinning; see [`crate::skinning`]. How joints are blended is said by the motion's `skinning`.
//!
//! ```
//! use supple::scene::Scene;
//! use supple::skinning::Params;
//!
//! let scene = Scene::parse(r#"
//!     supple = 2
//!     [[asset]]
//!     zoo = "arm"
//!     [asset.motion]
//!     kind = "keyframes"
//!     clip = "bend"
//!     [[asset.pose]]
//!     kind = "skinning"
//!     step = "20 deg"
//! "#, None)?;
//! let params: Params = scene.assets[0].pose[0].read()?;
//! assert_eq!(params.step_degrees, 20.0);
//! # Ok::<(), Box<dyn std::error::Error>>(())
//! ```

use glam::Vec3;

use super::neighbours::{Place, Takes};
use super::{Instant, Params, Solver, Take, warnings};
use crate::mesh::Shape;
use crate::modifier::{Halt, Inputs, Modifier, Moment, Nature, Posed, Report, Stage, Stateless};

/// Skinning that keeps the volume of a body, and what is known of its take.
#[derive(Debug)]
pub struct Skinning {
    solver: Solver,
    takes: Takes,
}

impl Skinning {
    /// What was prepared: it measures what came of a pose.
    #[must_use]
    pub fn solver(&self) -> &Solver {
        &self.solver
    }
}

impl Modifier for Skinning {
    const KIND: &'static str = "skinning";
    const STAGES: &'static [Stage] = &[Stage::Pose];
    type Params = Params;
    type State = Stateless;

    fn prepare(params: &Params, from: &Inputs<'_>) -> Result<Self, String> {
        if from.body.parts.iter().all(|p| !p.skinned) {
            return Err("no part of the asset has a skin: there is nothing to correct".to_owned());
        }
        let solver = Solver::new(from.body, params, from.run).map_err(|e| e.to_string())?;
        let (span, morphs) = ([from.start_secs, from.end_secs], !from.body.morphs.is_empty());
        Ok(Self { solver, takes: Takes::new(span, from.fps, from.round_secs, morphs) })
    }

    fn nature(&self, _: &Params) -> Nature {
        Nature { skins: true, ..Nature::default() }
    }

    fn begin(&self, _: &Params, _: &Moment<'_>) -> Stateless {
        Stateless {}
    }

    fn skin(&self, _: &Params, posed: Posed<'_>, report: &mut Report) -> Result<Vec<Vec3>, Halt> {
        let Posed { body, bound, joints, skinning, secs, at, run } = posed;
        let skinned = if let Some(at) = at.filter(|_| self.takes.is_take()) {
            let instants = |number: i64| {
                let secs = Some(self.takes.secs(number)).filter(|secs| self.takes.has(*secs))?;
                let (bound, matrices) = at(secs);
                Some(Instant { bound, matrices })
            };
            let take = Take { body, skinning, instants: &instants, memo: &self.takes.memo };
            let now = Instant { bound, matrices: joints.to_vec() };
            let Place { number, part } = self.takes.place(secs);
            self.solver.between(&take, (number, part), &now, run)?
        } else {
            // Inside the pool from the first to the last: a pose is many small pieces of work.
            run.install(|| self.solver.pose_bound(body, bound, joints, skinning, run))?
        };
        report.warnings.extend(warnings(&self.solver, &skinned.report));
        report.detail(skinned.report);
        Ok(skinned.positions)
    }

    fn deform(
        &self,
        _: &Params,
        _: &Moment<'_>,
        _: &Stateless,
        _: &mut Shape,
        _: &mut Report,
    ) -> Result<(), Halt> {
        Ok(())
    }
}
