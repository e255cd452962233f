//! A file of Claude's store with arbitrary content.
#![no_main]

use convoke_fuzz::history::read;
use convoke_histories::Agent;
use libfuzzer_sys::fuzz_target;

fuzz_target!(|file: &[u8]| {
    read(Agent::Claude, "projects/-p/11111111-1111-4111-8111-111111111111.jsonl", file);
});
