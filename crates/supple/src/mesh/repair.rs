//! Welding and repair, as explicit operations.
