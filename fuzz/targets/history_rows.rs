//! Arbitrary JSON in rows of opencode's and goose's databases.
#![no_main]

use convoke_fuzz::history::read_rows;
use libfuzzer_sys::fuzz_target;

fuzz_target!(|json: &[u8]| {
    read_rows(&String::from_utf8_lossy(json));
});
