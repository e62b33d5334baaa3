//! STL, text and binary.
