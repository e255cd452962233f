//! A file of Gemini's store with arbitrary content.
#![no_main]

use convoke_fuzz::history::read;
use convoke_histories::Agent;
use libfuzzer_sys::fuzz_target;

fuzz_target!(|file: &[u8]| {
    read(Agent::Gemini, "tmp/p/chats/session-2026-11-01T10-00-aaaaaaaa.jsonl", file);
});
