//! Agents' records: mutated at random, for every reader. None panics; what grows is read as what was whole from the start.
#![no_main]

#[path = "../../it/session/hostile.rs"]
mod hostile;

use libfuzzer_sys::fuzz_target;

fuzz_target!(|data: &[u8]| {
    let dir = tempfile::tempdir().unwrap();
    let _ = hostile::check(data, dir.path());
});
