//! Any text as a recorded path: refused, or a path that can be asked for any time.
#![no_main]

use libfuzzer_sys::fuzz_target;
use supple::scene::RigidPath;

fuzz_target!(|text: &str| {
    if let Ok(path) = RigidPath::from_csv(text) {
        let (first, last) = path.span();
        let _ = path.at(0.5 * (first + last));
    }
});
