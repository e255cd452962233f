//! Folders full of question sessions, in the format that all programs share, made without waiting for the disk.

use std::fs;
use std::path::Path;

use convoke_core::id::RequestId;
use convoke_core::time::Timestamp;
use serde_json::{Value, json};

use super::Result;
use super::random::Random;

/// The time at which the generated sessions were asked.
pub fn asked_at() -> Timestamp {
    Timestamp::from_millis(1_794_736_800_000)
}

/// The questions in all of them.
pub fn questions() -> Value {
    json!([{
        "prompt": "Which database should the service use?",
        "title": "Database",
        "options": [
            {"label": "SQLite", "description": "One file, no server"},
            {"label": "PostgreSQL", "description": "A server, many writers"},
        ],
        "multiSelect": false,
    }])
}

/// The answers.
pub fn answers(id: RequestId) -> Value {
    let at = asked_at();
    let answer = json!({"questionIndex": 0, "selectedOption": "SQLite", "timestamp": at});
    json!({"sessionId": id, "answers": [answer], "timestamp": at})
}

/// Writes this many answered sessions into a folder.
pub fn fill(folder: &Path, count: usize) -> Result<()> {
    let mut random = Random::new(1);
    for _ in 0..count {
        let id = RequestId::from_random(random.bytes());
        let session = folder.join(id.to_string());
        fs::create_dir_all(&session)?;
        let file = |name: &str, value: &Value| -> Result<()> {
            Ok(fs::write(session.join(name), serde_json::to_vec_pretty(value)?)?)
        };
        file("request.json", &request(id))?;
        file("status.json", &status(id))?;
        file("answers.json", &answers(id))?;
    }
    Ok(())
}

/// Opens and reads the `status.json` of every session of a folder, one after the other, and returns their bytes.
pub fn read_statuses(folder: &Path) -> Result<usize> {
    let mut bytes = 0;
    for session in fs::read_dir(folder)? {
        bytes += fs::read(session?.path().join("status.json"))?.len();
    }
    Ok(bytes)
}

/// A session's `request.json`.
pub fn request(id: RequestId) -> Value {
    json!({
        "sessionId": id,
        "questions": questions(),
        "status": "pending",
        "timestamp": asked_at(),
        "workingDirectory": "/home/me/project",
        "askedBy": "a benchmark",
    })
}

/// A session's `status.json`.
pub fn status(id: RequestId) -> Value {
    json!({
        "sessionId": id,
        "status": "completed",
        "createdAt": asked_at(),
        "lastModified": asked_at(),
        "totalQuestions": 1,
        "rejectionReason": null,
        "workingDirectory": "/home/me/project",
    })
}
