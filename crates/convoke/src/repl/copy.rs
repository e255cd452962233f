//! Copies of a conversation: written for people or programs, and read back from what was written.

use std::fs;
use std::io::{self, BufWriter, Read, Write};
use std::os::unix::fs::MetadataExt;
use std::path::{Path, PathBuf};

use anyhow::{Context, bail};
use convoke_core::time::Timestamp;
use convoke_files::transcripts::{self, Id, Role, Transcripts, Turn, Turns, estimate};
use serde::Deserialize;

use crate::clock;

/// What a copy is written as.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Form {
    /// The transcript as it is.
    Lines,
    /// A list of turns.
    Json,
    /// A page for people.
    Markdown,
}

impl Form {
    /// By the ending of a file's name.
    fn of(path: &Path) -> Self {
        match path.extension().and_then(|ending| ending.to_str()) {
            Some("jsonl") => Self::Lines,
            Some("json") => Self::Json,
            Some(_) | None => Self::Markdown,
        }
    }
}

/// Writes a conversation to a file that does not exist yet, and tells how many turns it has.
pub(super) fn export(transcripts: &Transcripts, id: &Id, path: &Path) -> anyhow::Result<u64> {
    let folder = path.parent().filter(|folder| !folder.as_os_str().is_empty());
    let folder = folder.unwrap_or(Path::new("."));
    let fail = || format!("cannot write {}", path.display());
    let temp = tempfile::Builder::new().prefix(".convoke-").tempfile_in(folder);
    let mut output = BufWriter::new(temp.with_context(fail)?);
    let count = match Form::of(path) {
        Form::Lines => {
            let mut input = fs::File::open(transcripts.path(id)).with_context(fail)?;
            io::copy(&mut input, &mut output).with_context(fail)?;
            transcripts.turns(id)?.count() as u64
        }
        Form::Json => write_json(transcripts.turns(id)?, &mut output).with_context(fail)?,
        Form::Markdown => write_page(transcripts, id, &mut output).with_context(fail)?,
    };
    let temp = output.into_inner().map_err(io::IntoInnerError::into_error).with_context(fail)?;
    match temp.persist_noclobber(path) {
        Ok(_) => Ok(count),
        Err(error) if error.error.kind() == io::ErrorKind::AlreadyExists => {
            bail!("{} exists already; choose another name", path.display())
        }
        Err(error) => Err(error.error).with_context(fail),
    }
}

fn write_json(turns: Turns, output: &mut impl Write) -> anyhow::Result<u64> {
    let mut count = 0;
    output.write_all(b"[")?;
    for turn in turns {
        output.write_all(if count == 0 { b"\n" } else { b",\n" })?;
        serde_json::to_writer(&mut *output, &turn?)?;
        count += 1;
    }
    output.write_all(b"\n]\n")?;
    Ok(count)
}

fn write_page(transcripts: &Transcripts, id: &Id, output: &mut impl Write) -> anyhow::Result<u64> {
    let metadata = transcripts.recall(id, 0)?.metadata;
    writeln!(output, "# Conversation with {}\n", metadata.agent)?;
    writeln!(output, "Session {id}, begun {}.", metadata.created_at)?;
    let mut count = 0;
    for turn in transcripts.turns(id)? {
        let turn = turn?;
        let who = match turn.role {
            Role::User => "User",
            Role::Assistant => "Assistant",
        };
        writeln!(output, "\n## {who}, {}\n\n{}", turn.timestamp, turn.content.trim_end())?;
        count += 1;
    }
    Ok(count)
}

/// A turn as other programs may write it.
#[derive(Deserialize)]
struct Told {
    role: ToldRole,
    content: String,
    timestamp: Option<Timestamp>,
    tokens: Option<u64>,
}

#[derive(Deserialize)]
#[serde(rename_all = "snake_case")]
enum ToldRole {
    User,
    Assistant,
}

impl From<Told> for Turn {
    fn from(told: Told) -> Self {
        let role = match told.role {
            ToldRole::User => Role::User,
            ToldRole::Assistant => Role::Assistant,
        };
        let tokens = told.tokens.unwrap_or_else(|| estimate(&told.content));
        let timestamp = told.timestamp.unwrap_or_else(clock::now);
        Self { role, content: told.content, timestamp, tokens }
    }
}

/// The turns of a file that `own`, the transcript they are for, is not.
pub(super) fn import(
    path: &Path,
    own: &Path,
) -> anyhow::Result<Box<dyn Iterator<Item = transcripts::Result<Turn>>>> {
    let fail = || format!("cannot read {}", path.display());
    let place = |path: &Path| fs::metadata(path).map(|file| (file.dev(), file.ino()));
    if place(path).with_context(fail)? == place(own)? {
        bail!("{} is this very session", path.display());
    }
    if Form::of(path) != Form::Json {
        let path: PathBuf = path.canonicalize().with_context(fail)?;
        let is_empty = Turns::open(&path)?.next().transpose()?.is_none();
        if is_empty {
            bail!("there are no turns in {}", path.display());
        }
        return Ok(Box::new(Turns::open(&path)?));
    }
    let mut text = String::new();
    fs::File::open(path).and_then(|mut file| file.read_to_string(&mut text)).with_context(fail)?;
    let told: Vec<Told> = serde_json::from_str(&text)
        .with_context(|| format!("{} is not a list of turns", path.display()))?;
    Ok(Box::new(told.into_iter().map(|told| Ok(Turn::from(told)))))
}

#[cfg(test)]
mod tests {
    use convoke_files::transcripts::Record;

    use super::*;

    /// A folder with a transcript of two turns.
    fn talk() -> (tempfile::TempDir, Transcripts, Id) {
        let folder = tempfile::tempdir().unwrap();
        let transcripts = Transcripts::new(folder.path().join("sessions"));
        let (id, noon) = ("s".parse().unwrap(), Timestamp::from_millis(1_794_744_000_000));
        let mut writer = transcripts.create(&id, "demo", noon).unwrap();
        for (role, content) in [(Role::User, "hello"), (Role::Assistant, "# Hi\n\nthere\n")] {
            let turn = Turn { role, content: content.to_owned(), timestamp: noon, tokens: 3 };
            writer.append(&Record::Turn(turn)).unwrap();
        }
        (folder, transcripts, id)
    }

    #[test]
    fn a_conversation_is_written_for_people_and_for_programs() {
        let (folder, transcripts, id) = talk();
        let write = |name: &str| {
            let path = folder.path().join(name);
            assert_eq!(export(&transcripts, &id, &path).unwrap(), 2);
            fs::read_to_string(path).unwrap()
        };
        insta::assert_snapshot!(write("talk.md"), @"
        # Conversation with demo

        Session s, begun 2026-11-15T12:00:00.000Z.

        ## User, 2026-11-15T12:00:00.000Z

        hello

        ## Assistant, 2026-11-15T12:00:00.000Z

        # Hi

        there
        ");
        insta::assert_snapshot!(write("talk.json"), @r##"
        [
        {"role":"user","content":"hello","timestamp":"2026-11-15T12:00:00.000Z","tokens":3},
        {"role":"assistant","content":"# Hi\n\nthere\n","timestamp":"2026-11-15T12:00:00.000Z","tokens":3}
        ]
        "##);
        assert_eq!(write("talk.jsonl"), fs::read_to_string(transcripts.path(&id)).unwrap());
        let error = export(&transcripts, &id, &folder.path().join("talk.md")).unwrap_err();
        assert!(error.to_string().ends_with("exists already; choose another name"), "{error}");
        let error = export(&transcripts, &id, &folder.path().join("no/talk.md")).unwrap_err();
        assert!(error.to_string().starts_with("cannot write "), "{error}");
    }

    #[test]
    fn what_was_written_for_programs_is_read_back() {
        let (folder, transcripts, id) = talk();
        let own = folder.path().join("own");
        fs::write(&own, "").unwrap();
        for name in ["talk.json", "talk.jsonl"] {
            let path = folder.path().join(name);
            export(&transcripts, &id, &path).unwrap();
            let turns = import(&path, &own).unwrap();
            let said: Vec<String> = turns.map(|turn| turn.unwrap().content).collect();
            assert_eq!(said, ["hello", "# Hi\n\nthere\n"], "{name}");
        }
    }

    #[test]
    fn what_cannot_be_read_back_is_said() {
        let (folder, transcripts, id) = talk();
        let own = transcripts.path(&id);
        let told = |path: &Path| {
            let Err(error) = import(path, &own) else { panic!("{} was read", path.display()) };
            error.to_string().replace(folder.path().to_str().unwrap(), "[tmp]")
        };
        fs::write(folder.path().join("page.md"), "# Hi\n").unwrap();
        fs::write(folder.path().join("list.json"), "{}").unwrap();
        assert_eq!(told(&own), "[tmp]/sessions/s.jsonl is this very session");
        assert_eq!(told(&folder.path().join("none.jsonl")), "cannot read [tmp]/none.jsonl");
        assert_eq!(told(&folder.path().join("page.md")), "there are no turns in [tmp]/page.md");
        assert_eq!(
            told(&folder.path().join("list.json")),
            "[tmp]/list.json is not a list of turns"
        );
    }
}
