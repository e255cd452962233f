//! A file of Codex's store with arbitrary content.
#![no_main]

use convoke_fuzz::history::read;
use convoke_histories::Agent;
use libfuzzer_sys::fuzz_target;

fuzz_target!(|file: &[u8]| {
    read(Agent::Codex, "sessions/2026/11/01/rollout-2026-11-01T10-00-00-019a0000-0000-7000-8000-000000000001.jsonl", file);
});
