//! A module of `convoke` for the fuzz targets: reads files that people write as every command reads them.
//!
//! Compiled with `--cfg fuzzing` only.

use std::collections::BTreeMap;
use std::path::Path;

use crate::config::{self, Sources, teams};
use crate::environment::Environment;

/// Reads a `config.toml`; returns the number of values in effect, or every mistake as people would read it.
pub fn read_config(file: &Path) -> Result<usize, String> {
    let environment: Environment = [("HOME", "/home/ann"), ("NAME", "value")].into_iter().collect();
    let sources = Sources {
        home: Path::new("/home/ann/.convoke"),
        file,
        environment: &environment,
        flags: BTreeMap::new(),
        program: Path::new("/usr/bin/convoke"),
    };
    match config::load(&sources) {
        Ok(loaded) => Ok(loaded.effective.len()),
        Err(mistakes) => Err(mistakes.list.iter().map(|it| mistakes.describe(it)).collect()),
    }
}

/// Reads a `teams.json`; returns the number of teams, or what is wrong.
pub fn read_teams(file: &Path) -> Result<usize, String> {
    let limits =
        config::Teams { max_hops: 4, max_chain_messages: 20, max_pair_messages_per_hour: 60 };
    match teams::read(file, &limits) {
        Ok(read) => Ok(read.teams.teams.len()),
        Err(error) => Err(error.to_string()),
    }
}
