//! Enclosed volume.
