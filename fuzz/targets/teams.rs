//! `teams.json`: it is accepted, or the mistake is reported.
#![no_main]

use std::sync::OnceLock;

use convoke::fuzzing::read_teams;
use convoke_fuzz::{folder, write};
use libfuzzer_sys::fuzz_target;
use tempfile::TempDir;

fuzz_target!(|file: &[u8]| {
    static FOLDER: OnceLock<TempDir> = OnceLock::new();
    let path = write(FOLDER.get_or_init(folder).path(), "teams.json", file);
    if let Err(mistake) = read_teams(&path) {
        assert!(!mistake.is_empty());
    }
});
