//! An asset as one mesh bound to one palette of joints: what the player moves.
