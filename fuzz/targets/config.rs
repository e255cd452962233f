//! `config.toml`: it is accepted, or every mistake in it is reported.
#![no_main]

use std::sync::OnceLock;

use convoke::fuzzing::read_config;
use convoke_fuzz::{folder, write};
use libfuzzer_sys::fuzz_target;
use tempfile::TempDir;

fuzz_target!(|file: &[u8]| {
    static FOLDER: OnceLock<TempDir> = OnceLock::new();
    let path = write(FOLDER.get_or_init(folder).path(), "config.toml", file);
    if let Err(mistakes) = read_config(&path) {
        assert!(!mistakes.is_empty());
    }
});
