//! Lightwave MDD point caches.
