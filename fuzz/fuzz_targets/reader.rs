//! Any bytes as a file of the format this target is named after: refused with a reason, or read as something sound.
#![no_main]

use libfuzzer_sys::fuzz_target;
use supple::hostile::Reader;

fuzz_target!(|bytes: &[u8]| {
    let reader = Reader::named(env!("CARGO_BIN_NAME")).expect("every target is a reader");
    let _ = reader.read(bytes);
});
