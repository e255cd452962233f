//! A file of Vibe's store with arbitrary content.
#![no_main]

use convoke_fuzz::history::read;
use convoke_histories::Agent;
use libfuzzer_sys::fuzz_target;

fuzz_target!(|file: &[u8]| {
    read(Agent::Vibe, "logs/session/session_20261101_100000_5/messages.jsonl", file);
});
