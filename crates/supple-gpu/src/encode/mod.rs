//! Pictures and animations as files.

pub mod png;
