//! Any text as a scene: refused, or a scene whose own document gives it back.
#![no_main]

use libfuzzer_sys::fuzz_target;
use supple::scene::Scene;

fuzz_target!(|text: &str| {
    if let Ok(scene) = Scene::parse(text, None) {
        let again = Scene::parse(&scene.to_toml(), None);
        assert!(again.is_ok(), "{again:?}");
    }
});
