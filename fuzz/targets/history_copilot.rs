//! A file of Copilot's store with arbitrary content.
#![no_main]

use convoke_fuzz::history::read;
use convoke_histories::Agent;
use libfuzzer_sys::fuzz_target;

fuzz_target!(|file: &[u8]| {
    read(Agent::Copilot, "session-state/33333333-3333-4333-8333-333333333333/events.jsonl", file);
});
