//! A file of Kimi's store with arbitrary content.
#![no_main]

use convoke_fuzz::history::read;
use convoke_histories::Agent;
use libfuzzer_sys::fuzz_target;

fuzz_target!(|file: &[u8]| {
    read(Agent::Kimi, "sessions/wd_p_0/session_4/agents/main/wire.jsonl", file);
});
