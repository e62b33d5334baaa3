//! PC2 point caches.
