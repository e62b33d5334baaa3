//! The scene: a document that names assets and what happens to them.
