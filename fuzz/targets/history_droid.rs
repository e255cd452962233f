//! A file of Droid's store with arbitrary content.
#![no_main]

use convoke_fuzz::history::read;
use convoke_histories::Agent;
use libfuzzer_sys::fuzz_target;

fuzz_target!(|file: &[u8]| {
    read(Agent::Droid, "sessions/-p/66666666-6666-4666-8666-666666666666.jsonl", file);
});
