//! A bounding-volume hierarchy over triangles.
