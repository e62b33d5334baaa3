//! What bodies that are alike work out once.

use std::any::Any;
use std::collections::HashMap;
use std::fmt;
use std::sync::{Arc, Mutex, PoisonError};

/// What was worked out for the bodies of a scene, under the hash of what it was worked out from: a hundred copies of one
/// worm share it.
#[derive(Default)]
pub struct Memo(Mutex<HashMap<[u8; 32], Arc<dyn Any + Send + Sync>>>);

impl fmt::Debug for Memo {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let known = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        write!(f, "{} things known", known.len())
    }
}

impl Memo {
    /// What `make` makes of something, or made of it before. `key` is all that it depends on, its kind included.
    ///
    /// # Errors
    ///
    /// As `make`, which is asked again next time.
    pub fn get<T: Send + Sync + 'static>(
        &self,
        key: &[&[u8]],
        make: impl FnOnce() -> Result<T, String>,
    ) -> Result<Arc<T>, String> {
        let mut hasher = blake3::Hasher::new();
        for part in key {
            hasher.update(&(part.len() as u64).to_le_bytes());
            hasher.update(part);
        }
        let hash = *hasher.finalize().as_bytes();
        let lock = || self.0.lock().unwrap_or_else(PoisonError::into_inner);
        let known = lock().get(&hash).cloned();
        if let Some(known) = known.and_then(|known| known.downcast().ok()) {
            return Ok(known);
        }
        let made = Arc::new(make()?);
        lock().insert(hash, made.clone());
        Ok(made)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_same_is_made_once() {
        let memo = Memo::default();
        let a = memo.get(&[b"square", b"7"], || Ok(49)).unwrap();
        let b = memo.get::<i32>(&[b"square", b"7"], || Err("asked again".to_owned())).unwrap();
        assert!(Arc::ptr_eq(&a, &b));
        assert_eq!(*memo.get(&[b"squar", b"e7"], || Ok(0)).unwrap(), 0, "parts are told apart");
        assert!(memo.get::<i32>(&[b"wrong"], || Err("no".to_owned())).is_err());
        assert_eq!(*memo.get(&[b"wrong"], || Ok(1)).unwrap(), 1, "an error is not kept");
    }
}
