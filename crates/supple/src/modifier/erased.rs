//! The erased twin of [`Modifier`]: the same without its types, made for every modifier by one implementation.

use std::any::Any;
use std::fmt;
use std::sync::Arc;

use glam::{DAffine3, Mat4, Vec3};
use serde::{Deserialize, Deserializer, Serialize, Serializer, ser};

use super::{
    Halt, Marker, Modifier, Moment, Nature, OnItsWay, Overlay, Posed, Report, Stateless, Substeps,
    Tracks, registry,
};
use crate::contact::Lent;
use crate::contact::flesh::Pressure;
use crate::mesh::Shape;

/// What a modifier remembers, whatever its type. Cloning it copies nothing; the first tick after that copies what it
/// changes.
///
/// One that was read from a file is bytes until the player that knows its type takes it
/// ([`Player::restore`](crate::player::Player::restore)).
#[derive(Clone)]
pub struct AnyState(Form);

#[derive(Clone)]
enum Form {
    Live(Arc<dyn Remembered>),
    Saved(Arc<[u8]>),
}

/// A state of any type.
trait Remembered: Any + Send + Sync {
    fn save(&self) -> Result<Vec<u8>, postcard::Error>;
}

impl<S: Serialize + Send + Sync + 'static> Remembered for S {
    fn save(&self) -> Result<Vec<u8>, postcard::Error> {
        postcard::to_stdvec(self)
    }
}

impl AnyState {
    /// That of a modifier that has not begun.
    pub(crate) fn none() -> Self {
        Self::new(Stateless {})
    }

    fn new<S: Serialize + Send + Sync + 'static>(state: S) -> Self {
        Self(Form::Live(Arc::new(state)))
    }

    /// As what it is; `None` for one of another type, or one that was read from a file.
    #[must_use]
    pub fn get<S: 'static>(&self) -> Option<&S> {
        let Form::Live(state) = &self.0 else { return None };
        let any: &dyn Any = &**state;
        any.downcast_ref()
    }

    /// As [`get`](Self::get), to change it: copied first if a snapshot shares it.
    fn own<S: Clone + Serialize + Send + Sync + 'static>(&mut self) -> Option<&mut S> {
        let shared = self.get::<S>()?;
        let Form::Live(state) = &self.0 else { return None };
        if Arc::strong_count(state) > 1 {
            *self = Self::new(shared.clone());
        }
        let Form::Live(state) = &mut self.0 else { return None };
        let any: &mut dyn Any = Arc::get_mut(state)?;
        any.downcast_mut()
    }

    fn save(&self) -> Result<Vec<u8>, postcard::Error> {
        match &self.0 {
            Form::Live(state) => state.save(),
            Form::Saved(bytes) => Ok(bytes.to_vec()),
        }
    }
}

impl PartialEq for AnyState {
    fn eq(&self, other: &Self) -> bool {
        if let (Form::Live(a), Form::Live(b)) = (&self.0, &other.0)
            && Arc::ptr_eq(a, b)
        {
            return true;
        }
        self.save().is_ok_and(|a| other.save().is_ok_and(|b| a == b))
    }
}

impl fmt::Debug for AnyState {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match &self.0 {
            Form::Live(_) => f.write_str("AnyState"),
            Form::Saved(bytes) => write!(f, "AnyState of {} bytes", bytes.len()),
        }
    }
}

impl Serialize for AnyState {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        let bytes = self.save().map_err(ser::Error::custom)?;
        serializer.serialize_bytes(&bytes)
    }
}

impl<'de> Deserialize<'de> for AnyState {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        Ok(Self(Form::Saved(Vec::<u8>::deserialize(deserializer)?.into())))
    }
}

/// A modifier without its types.
pub(crate) trait Erased: fmt::Debug + Send + Sync {
    fn kind(&self) -> &'static str;
    fn nature(&self) -> &Nature;
    /// The [`Ready`] modifier, as what it is.
    fn ready(&self) -> &dyn Any;
    /// The same with other parameters, if that saves work.
    fn adapt(&self, to: &toml::Table) -> Option<Arc<dyn Erased>>;
    fn markers(&self) -> Vec<Marker>;
    fn weigh(&self, secs: f64, tracks: &Tracks, weights: &mut [f32]);
    fn joints(&self, state: &AnyState) -> Vec<Mat4>;
    fn begin_tick(
        &self,
        state: &AnyState,
        dt_secs: f64,
    ) -> Option<Box<dyn Substeps<AnyState> + '_>>;
    fn begin(&self, now: &Moment<'_>) -> AnyState;
    fn tick(&self, now: &Moment<'_>, state: &mut AnyState) -> Result<(), Halt>;
    fn lend(&self, now: &Moment<'_>, state: &AnyState, lent: &mut Lent) -> bool;
    fn settle(&self, now: &Moment<'_>, state: &mut AnyState, lent: &Lent);
    fn map(&self, now: &Moment<'_>, state: &AnyState) -> Option<DAffine3>;
    fn carry(&self, now: &Moment<'_>, state: &AnyState, markers: &mut [OnItsWay<'_>]);
    fn skin(&self, posed: Posed<'_>, report: &mut Report) -> Result<Vec<Vec3>, Halt>;
    fn deform(
        &self,
        now: &Moment<'_>,
        state: &AnyState,
        shape: &mut Shape,
        report: &mut Report,
    ) -> Result<(), Halt>;
    fn overlays(&self, now: &Moment<'_>, state: &AnyState, out: &mut Vec<Overlay>);
    fn take_back(&self, shape: Shape);
    /// Bytes of a state; `None` for one of another type or size.
    fn size(&self, state: &AnyState) -> Option<usize>;
    /// The state as this modifier's own, if it is one; bytes are read.
    fn adopt(&self, state: &AnyState) -> Option<AnyState>;
}

/// A modifier with its parameters.
pub(crate) struct Ready<M: Modifier> {
    pub(crate) modifier: M,
    pub(crate) params: M::Params,
    pub(super) nature: Nature,
}

impl<M: Modifier> fmt::Debug for Ready<M> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(M::KIND)
    }
}

impl<M: Modifier> Ready<M> {
    fn of(state: &AnyState) -> &M::State {
        // The player takes no state that `adopt` has not seen.
        state.get().expect("a modifier is given its own state")
    }
}

/// A tick under way, without the type of its state.
struct Begun<'a, S>(Box<dyn Substeps<S> + 'a>);

impl<S: Clone + Serialize + Send + Sync + 'static> Substeps<AnyState> for Begun<'_, S> {
    fn substep(
        &mut self,
        secs: f64,
        pressures: &[Pressure],
        state: &mut AnyState,
    ) -> Result<(), Halt> {
        let state = state.own().expect("a modifier is given its own state");
        self.0.substep(secs, pressures, state)
    }
}

impl<M: Modifier> Erased for Ready<M> {
    fn kind(&self) -> &'static str {
        M::KIND
    }

    fn nature(&self) -> &Nature {
        &self.nature
    }

    fn ready(&self) -> &dyn Any {
        self
    }

    fn adapt(&self, to: &toml::Table) -> Option<Arc<dyn Erased>> {
        let to: M::Params = registry::read(to).ok()?;
        registry::ready(self.modifier.adapt(&self.params, &to)?, to).ok()
    }

    fn markers(&self) -> Vec<Marker> {
        self.modifier.markers(&self.params)
    }

    fn weigh(&self, secs: f64, tracks: &Tracks, weights: &mut [f32]) {
        self.modifier.weigh(&self.params, secs, tracks, weights);
    }

    fn joints(&self, state: &AnyState) -> Vec<Mat4> {
        self.modifier.joints(&self.params, Self::of(state))
    }

    fn begin_tick(
        &self,
        state: &AnyState,
        dt_secs: f64,
    ) -> Option<Box<dyn Substeps<AnyState> + '_>> {
        let begun = self.modifier.begin_tick(&self.params, Self::of(state), dt_secs)?;
        Some(Box::new(Begun(begun)))
    }

    fn begin(&self, now: &Moment<'_>) -> AnyState {
        AnyState::new(self.modifier.begin(&self.params, now))
    }

    fn tick(&self, now: &Moment<'_>, state: &mut AnyState) -> Result<(), Halt> {
        let state = state.own().expect("a modifier is given its own state");
        self.modifier.tick(&self.params, now, state)
    }

    fn lend(&self, now: &Moment<'_>, state: &AnyState, lent: &mut Lent) -> bool {
        self.modifier.lend(&self.params, now, Self::of(state), lent)
    }

    fn settle(&self, now: &Moment<'_>, state: &mut AnyState, lent: &Lent) {
        // The tick before it has made the state its own: nothing is copied here.
        let state = state.own().expect("a modifier is given its own state");
        self.modifier.settle(&self.params, now, state, lent);
    }

    fn map(&self, now: &Moment<'_>, state: &AnyState) -> Option<DAffine3> {
        self.modifier.map(&self.params, now, Self::of(state))
    }

    fn carry(&self, now: &Moment<'_>, state: &AnyState, markers: &mut [OnItsWay<'_>]) {
        self.modifier.carry(&self.params, now, Self::of(state), markers);
    }

    fn skin(&self, posed: Posed<'_>, report: &mut Report) -> Result<Vec<Vec3>, Halt> {
        self.modifier.skin(&self.params, posed, report)
    }

    fn deform(
        &self,
        now: &Moment<'_>,
        state: &AnyState,
        shape: &mut Shape,
        report: &mut Report,
    ) -> Result<(), Halt> {
        self.modifier.deform(&self.params, now, Self::of(state), shape, report)
    }

    fn overlays(&self, now: &Moment<'_>, state: &AnyState, out: &mut Vec<Overlay>) {
        self.modifier.overlays(&self.params, now, Self::of(state), out);
    }

    fn take_back(&self, shape: Shape) {
        self.modifier.take_back(shape);
    }

    fn size(&self, state: &AnyState) -> Option<usize> {
        self.modifier.size(state.get()?)
    }

    fn adopt(&self, state: &AnyState) -> Option<AnyState> {
        let state = match &state.0 {
            Form::Live(_) => state.clone(),
            Form::Saved(bytes) => {
                let (state, rest) = postcard::take_from_bytes::<M::State>(bytes).ok()?;
                rest.is_empty().then(|| AnyState::new(state))?
            }
        };
        self.size(&state).map(|_| state)
    }
}
