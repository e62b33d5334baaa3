//! Another version of the scene while it plays, and input that becomes part of it.
//!
//! # Method
//!
//! What was prepared is kept as long as what it was prepared from is the same: a body with its source, solid, placement,
//! motion and `rest` list, a modifier with its entry besides. A modifier whose parameters changed may be adapted
//! ([`Modifier::adapt`](crate::modifier::Modifier::adapt)), which saves work and changes no result. What was kept goes
//! on with its state, what is new begins at the present tick, warmed up.
//!
//! States on the way are forgotten, and none is kept until the scene is played from its start again: from there on
//! the player is bit for bit a new one.
//!
//! # Limits
//!
//! Files are not read again as long as their names stay. The [`fingerprint`](Player::fingerprint) of an updated player is its
//! own: frames stored under it are not those of a new player.

use super::{
    Arc, Arena, Cast, Clock, Folder, Load, Memo, Mutex, Noted, Opening, Player, PlayerError, Run,
    Scene, Snapshots, Source, begun,
};
use crate::scene::Ease;

/// A track that input cannot be written to.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum RecordError {
    /// The scene has none of that name.
    #[error("there is no track '{0}': add [track.{0}] to the scene")]
    NoTrack(String),
    /// Its keys are connected: one more would change what was before it.
    #[error("the track '{0}' goes from key to key: give it interpolation = \"step\"")]
    NotStep(String),
    /// The value is no number.
    #[error("the value for track '{0}' is not finite")]
    NotFinite(String),
}

impl Player {
    /// Plays another version of the scene from the present tick on; on an error the player is as it was. What is new is
    /// loaded as in [`new`](Self::new).
    ///
    /// # Errors
    ///
    /// As [`new`](Self::new).
    pub fn update(
        &mut self,
        scene: &Scene,
        folder: &Folder<'_>,
        load: Load<'_>,
        run: &Run<'_>,
    ) -> Result<(), PlayerError> {
        let files = Mutex::default();
        let folder = &folder.noting(&files);
        let (memo, flows, before) = (&Memo::default(), Mutex::default(), Some(&self.scene));
        let opening = Opening { scene, registry: &self.registry, folder, memo, flows, before, run };
        let mut sources = self.sources.clone();
        let mut load = |source: &Source| load(source).inspect(|asset| sources.add(asset));
        let mut cast = Vec::with_capacity(scene.assets.len());
        for actor in &scene.assets {
            run.check()?;
            let renewed = match self.cast.iter().find(|c| c.actor.name == actor.name) {
                Some(old) => old.renewed(actor, &opening, &mut load)?,
                None => None,
            };
            cast.push(match renewed {
                Some(renewed) => renewed,
                None => Cast::new(actor, &opening, &mut load)?,
            });
        }
        let arena = match self.is_arena_of(scene, &cast) {
            true => Arc::clone(&self.arena),
            false => Arc::new(Arena::new(scene, &cast, folder, &mut load)?),
        };
        let noted: Noted = files.into_inner().unwrap_or_default();
        sources.noted.files.extend(noted.files);
        sources.noted.levels.extend(noted.levels);
        let clock = Clock { start: scene.time.start, fps: scene.time.fps };
        let start = begun(scene, (&cast, &arena), 0, run);
        let mut state = start.clone();
        if self.state.tick > 0 {
            state = begun(scene, (&cast, &arena), self.state.tick, run);
            for (cast, body) in cast.iter().zip(&mut state.bodies) {
                let Some(o) = self.cast.iter().position(|c| c.actor.name == cast.actor.name) else {
                    continue;
                };
                cast.keep(&self.cast[o], &self.state.bodies[o], body);
            }
            if Arc::ptr_eq(&arena, &self.arena) {
                state.contacts = self.state.contacts.clone();
            }
        }
        self.is_edited = state.tick > 0;
        (self.scene, self.clock, self.sources) = (scene.clone(), clock, sources);
        (self.cast, self.arena, self.state) = (cast, arena, state);
        (self.snapshots, self.next, self.ahead) = (Snapshots::new(start), None, None);
        Ok(())
    }

    /// Whether all that can touch is as it was.
    fn is_arena_of(&self, scene: &Scene, cast: &[Cast]) -> bool {
        let is_same = |(a, b): (&Cast, &Cast)| {
            let same_asset = a.actor.name == b.actor.name && a.actor.contact == b.actor.contact;
            let same_nature = a.lends() == b.lends() && a.is_driven() == b.is_driven();
            same_asset && same_nature && Arc::ptr_eq(&a.body, &b.body)
        };
        self.scene.colliders == scene.colliders
            && self.cast.len() == cast.len()
            && self.cast.iter().zip(cast).all(is_same)
    }

    /// Live input: from the next tick on a track has this value, until another is recorded. It is part of the scene
    /// ([`scene`](Self::scene)), which replays it to the bit; what the track had later is gone.
    ///
    /// # Errors
    ///
    /// [`RecordError`] if the track is not there, or its keys are not steps: what lies between two of them would look
    /// ahead.
    pub fn record(&mut self, track: &str, value: f64) -> Result<(), RecordError> {
        let secs = self.clock.tick_secs(self.state.tick + 1);
        let name = || track.to_owned();
        let known = self.scene.tracks.get_mut(track).ok_or_else(|| RecordError::NoTrack(name()))?;
        if !value.is_finite() {
            return Err(RecordError::NotFinite(name()));
        }
        if known.interpolation != Ease::Step && known.keys.len() > 1 {
            return Err(RecordError::NotStep(name()));
        }
        known.interpolation = Ease::Step;
        // The first key holds for all before it, and so must stay.
        let kept = known.keys.partition_point(|k| k[0] < secs).max(1);
        known.keys.truncate(kept);
        if known.keys.first().is_some_and(|k| k[0] >= secs) {
            known.keys[0][0] = self.clock.start.min(secs - 1.0);
        }
        known.keys.push([secs, value]);
        self.snapshots.forget_after(self.state.tick);
        (self.ahead, self.next) = (None, None);
        Ok(())
    }
}
