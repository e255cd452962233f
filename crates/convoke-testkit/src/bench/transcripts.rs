//! Transcripts in the format that all programs share, and the bare cost of reading them.

use std::fs;
use std::io::{self, BufWriter, Write as _};
use std::path::Path;

use serde_json::json;

use super::Result;
use super::questions::asked_at;
use super::random::Random;

/// Writes a transcript with this many turns of this many words each.
pub fn write(path: &Path, turns: usize, words: u64) -> Result<()> {
    let at = asked_at();
    let mut file = BufWriter::new(fs::File::create(path)?);
    let metadata = json!({"type": "metadata", "session_id": "x", "agent": "demo", "created_at": at, "status": "active"});
    writeln!(file, "{metadata}")?;
    let mut random = Random::new(7);
    for number in 0..turns {
        let role = if number % 2 == 0 { "user" } else { "assistant" };
        let content = serde_json::to_string(&random.text(words))?;
        // As the program itself writes it.
        writeln!(
            file,
            r#"{{"type":"turn","role":"{role}","content":{content},"timestamp":"{at}","tokens":{words}}}"#
        )?;
    }
    Ok(file.flush()?)
}

/// Reads every file of a folder, one after the other, and returns the number of bytes.
pub fn read_all(folder: &Path) -> io::Result<usize> {
    let mut bytes = 0;
    for entry in fs::read_dir(folder)? {
        bytes += fs::read(entry?.path())?.len();
    }
    Ok(bytes)
}
