//! A chunk of a session of Vibe 3 and, after an empty line, its journal, with arbitrary content.
#![no_main]

use convoke_fuzz::history::read_journal;
use libfuzzer_sys::fuzz_target;

fuzz_target!(|files: &[u8]| {
    let end = files.windows(2).position(|feeds| feeds == b"\n\n").unwrap_or(files.len());
    let (chunk, journal) = files.split_at(end);
    read_journal(chunk, journal);
});
