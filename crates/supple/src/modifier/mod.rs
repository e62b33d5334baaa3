//! What modifiers share: how their parameters are declared and read.

pub mod read;
