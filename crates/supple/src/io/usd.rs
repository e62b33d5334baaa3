//! USD ascii layers.
