//! Recorded and analytic velocity over space and time.

pub mod dataset;
