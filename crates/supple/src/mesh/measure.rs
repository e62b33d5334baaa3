//! Bounds, area, edge lengths.
