//! A file of Qwen's store with arbitrary content.
#![no_main]

use convoke_fuzz::history::read;
use convoke_histories::Agent;
use libfuzzer_sys::fuzz_target;

fuzz_target!(|file: &[u8]| {
    read(Agent::Qwen, "projects/-p/chats/22222222-2222-4222-8222-222222222222.jsonl", file);
});
