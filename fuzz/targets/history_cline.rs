//! A file of Cline's store with arbitrary content.
#![no_main]

use convoke_fuzz::history::read;
use convoke_histories::Agent;
use libfuzzer_sys::fuzz_target;

fuzz_target!(|file: &[u8]| {
    read(Agent::Cline, "sessions/1_abc_cli/1_abc_cli.messages.json", file);
});
