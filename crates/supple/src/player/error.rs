//! Why a scene cannot be played, or not on.

use std::path::PathBuf;

use crate::io::uri::FetchError;
use crate::rig::body::BodyError;
use crate::rig::keyframes::ClipError;
use crate::run::Cancelled;
use crate::scene::PathError;

/// Why a scene cannot be played.
#[derive(Debug, thiserror::Error)]
pub enum PlayerError {
    /// An asset could not be loaded.
    #[error("asset '{asset}': {source}")]
    Load {
        /// Which asset.
        asset: String,
        /// Why.
        source: Box<dyn std::error::Error + Send + Sync>,
    },
    /// An asset has nothing that can be moved.
    #[error("asset '{asset}': {source}")]
    Body {
        /// Which asset.
        asset: String,
        /// Why.
        source: BodyError,
    },
    /// The clip the scene names is not in the asset.
    #[error("asset '{asset}' has no clip {clip} ({fix})")]
    NoClip {
        /// Which asset.
        asset: String,
        /// The clip as the scene names it.
        clip: String,
        /// The clips it has.
        fix: String,
    },
    /// A clip does not fit its asset.
    #[error("asset '{asset}': {source}")]
    Clip {
        /// Which asset.
        asset: String,
        /// What is wrong with it.
        source: ClipError,
    },
    /// A recorded path could not be read.
    #[error("asset '{asset}', its recorded path: {source}")]
    PathFile {
        /// Which asset.
        asset: String,
        /// Why.
        source: FetchError,
    },
    /// A recorded path makes no sense.
    #[error("asset '{asset}': {path}: {source}", path = path.display())]
    Path {
        /// Which asset.
        asset: String,
        /// Which file; empty for keys in the scene itself.
        path: PathBuf,
        /// What is wrong with it.
        source: PathError,
    },
    /// A collider makes no sense.
    #[error(transparent)]
    Collider(#[from] crate::contact::collider::ColliderError),
    /// A collider rides on a joint that is not there.
    #[error("collider '{collider}': asset '{asset}' has no joint '{joint}'; it has {known}")]
    Ride {
        /// Which collider.
        collider: String,
        /// What it rides on.
        asset: String,
        /// Which joint it names.
        joint: String,
        /// The joints there are.
        known: String,
    },
    /// A painted layer cannot be had.
    #[error("asset '{asset}', painted layer '{layer}': {what}")]
    Paint {
        /// Which asset.
        asset: String,
        /// Which of its layers.
        layer: String,
        /// Why, with the name of its file.
        what: String,
    },
    /// A modifier does not fit its asset.
    #[error("asset '{asset}', modifier {number} ({kind}): {what}")]
    Modifier {
        /// Which asset.
        asset: String,
        /// Which of its modifiers, counted from 1.
        number: usize,
        /// What kind of modifier.
        kind: String,
        /// What does not fit.
        what: String,
    },
    /// The caller asked to stop.
    #[error(transparent)]
    Cancelled(#[from] Cancelled),
    /// A frame that had to be looked at cannot be played.
    #[error(transparent)]
    Unreadable(Box<Unreadable>),
}

/// Why there is no frame.
#[derive(Clone, Debug, PartialEq, thiserror::Error)]
pub enum FrameError {
    /// The caller asked to stop; the player can be used again.
    #[error(transparent)]
    Cancelled(#[from] Cancelled),
    /// Something that a modifier reads on the way could not be read.
    #[error(transparent)]
    Unreadable(Box<Unreadable>),
}

/// What could not be read while playing.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("asset '{asset}', modifier {number} ({kind}): {what}")]
pub struct Unreadable {
    /// Which asset.
    pub asset: String,
    /// Which of its modifiers, counted from 1.
    pub number: usize,
    /// What kind of modifier.
    pub kind: String,
    /// What, and why.
    pub what: String,
}

impl From<FrameError> for PlayerError {
    fn from(error: FrameError) -> Self {
        match error {
            FrameError::Cancelled(cancelled) => Self::Cancelled(cancelled),
            FrameError::Unreadable(unreadable) => Self::Unreadable(unreadable),
        }
    }
}
