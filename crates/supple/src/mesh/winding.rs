//! Generalised winding numbers: is a point inside?
