//! Self-intersecting triangle pairs, exactly.
