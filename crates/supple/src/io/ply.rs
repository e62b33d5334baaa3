//! PLY, the polygon file format.
