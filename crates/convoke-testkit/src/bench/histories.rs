//! Conversations in the shape of Claude Code's, made up here.

use std::fs::{self, File};
use std::io::{BufRead as _, BufReader, BufWriter, Write};
use std::path::Path;

use super::Result;

/// Files in one project's folder.
const FILES_A_PROJECT: usize = 100;

/// Writes this many conversations of about 16 kB in the format and folder of Claude Code.
pub fn write_many(root: &Path, count: usize) -> Result<()> {
    for number in 0..count {
        let project = root.join(format!("projects/-p-{}", number / FILES_A_PROJECT));
        fs::create_dir_all(&project)?;
        let mut file = File::create(project.join(format!("{}.jsonl", id(number))))?;
        file.write_all(history(number, 16 << 10).as_bytes())?;
    }
    Ok(())
}

/// Writes one conversation of this size.
pub fn write_one(root: &Path, bytes: usize) -> Result<()> {
    let project = root.join("projects/-p");
    fs::create_dir_all(&project)?;
    let file = File::create(project.join(format!("{}.jsonl", id(0))))?;
    let mut file = BufWriter::new(file);
    let mut written = 0;
    for number in 0.. {
        if written >= bytes {
            break;
        }
        let piece = history(number, 256 << 10);
        file.write_all(piece.as_bytes())?;
        written += piece.len();
    }
    Ok(file.flush()?)
}

/// Reads all of them, and parses each line without understanding it; returns how many there are.
pub fn parse(root: &Path) -> Result<usize> {
    let mut lines = 0;
    for project in fs::read_dir(root.join("projects"))? {
        for file in fs::read_dir(project?.path())? {
            let mut file = BufReader::with_capacity(256 << 10, File::open(file?.path())?);
            let mut line = Vec::new();
            while file.read_until(b'\n', &mut line)? > 0 {
                let value: serde_json::Value = serde_json::from_slice(&line)?;
                lines += usize::from(value.is_object());
                line.clear();
            }
        }
    }
    Ok(lines)
}

fn id(number: usize) -> String {
    format!("{number:08x}-0000-4000-8000-000000000000")
}

/// Turns of a prompt, a thought, an edit and an answer, with the other lines that Claude Code
/// writes.
fn history(number: usize, bytes: usize) -> String {
    let mut text = String::new();
    let mut turn = 0;
    while text.len() < bytes {
        turn += 1;
        let key = format!("{number}-{turn}");
        let common = format!(
            r#""isSidechain":false,"userType":"external","entrypoint":"cli","cwd":"/home/me/src/project","sessionId":"{}","version":"2.1.0","gitBranch":"main","timestamp":"2026-11-01T10:{:02}:{:02}.000Z""#,
            id(number),
            turn / 60 % 60,
            turn % 60
        );
        let words = "the words of an answer, with \\\"quotes\\\" and\\nlines ".repeat(12);
        let code = "    let value = compute(&input)?;\\n".repeat(20);
        let usage = r#""usage":{"input_tokens":10,"cache_creation_input_tokens":200,"cache_read_input_tokens":3000,"output_tokens":40,"service_tier":"standard"}"#;
        let lines = [
            format!(
                r#"{{"parentUuid":"p{key}","type":"user","message":{{"role":"user","content":"please fix number {key}"}},"uuid":"u{key}",{common}}}"#
            ),
            format!(
                r#"{{"parentUuid":"u{key}","type":"attachment","attachment":{{"type":"skill_listing","content":"{words}"}},"uuid":"s{key}",{common}}}"#
            ),
            format!(
                r#"{{"parentUuid":"u{key}","message":{{"id":"m{key}","type":"message","role":"assistant","model":"opus","content":[{{"type":"thinking","thinking":"{words}","signature":"c2lnbmF0dXJl"}}],{usage}}},"type":"assistant","uuid":"a{key}",{common}}}"#
            ),
            format!(
                r#"{{"parentUuid":"a{key}","message":{{"id":"m{key}","type":"message","role":"assistant","model":"opus","content":[{{"type":"tool_use","id":"t{key}","name":"Edit","input":{{"file_path":"/home/me/src/project/a.rs","old_string":"{code}","new_string":"{code}changed"}}}}],{usage}}},"type":"assistant","uuid":"b{key}",{common}}}"#
            ),
            format!(
                r#"{{"parentUuid":"b{key}","type":"user","message":{{"role":"user","content":[{{"tool_use_id":"t{key}","type":"tool_result","content":"The file was updated"}}]}},"toolUseResult":{{"filePath":"/home/me/src/project/a.rs","originalFile":"{code}{code}","structuredPatch":[]}},"uuid":"r{key}",{common}}}"#
            ),
            format!(
                r#"{{"parentUuid":"r{key}","message":{{"id":"n{key}","type":"message","role":"assistant","model":"opus","content":[{{"type":"text","text":"{words}"}}],{usage}}},"type":"assistant","uuid":"c{key}",{common}}}"#
            ),
        ];
        for line in lines {
            text.push_str(&line);
            text.push('\n');
        }
    }
    text
}
