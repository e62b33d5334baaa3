//! OFF, the Object File Format.
