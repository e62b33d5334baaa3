//! Angle-weighted vertex normals.
