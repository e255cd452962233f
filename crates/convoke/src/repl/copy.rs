//! `/export` and `/import`: copies of a conversation as JSON lines, JSON or Markdown.

use std::fmt;
use std::fs;
use std::io::{self, BufWriter, Write};
use std::os::unix::fs::{MetadataExt, OpenOptionsExt};
use std::path::Path;

use anyhow::{Context, bail};
use convoke_core::time::Timestamp;
use convoke_files::transcripts::{
    self, BadLine, Found, Id, Metadata, Record, Records, Role, Transcripts, Turn, Turns, estimate,
};
use serde::Deserialize;

use crate::clock;
use crate::written::Form;

/// Writes a conversation to a file that does not exist yet; returns the number of turns.
pub(super) fn export(transcripts: &Transcripts, id: &Id, path: &Path) -> anyhow::Result<u64> {
    let folder = path.parent().filter(|folder| !folder.as_os_str().is_empty());
    let folder = folder.unwrap_or(Path::new("."));
    let fail = || format!("cannot write {}", path.display());
    // Opened here, since errors of `tempfile` would name the temporary file.
    let create =
        |path: &Path| fs::File::options().write(true).create_new(true).mode(0o600).open(path);
    let temp = tempfile::Builder::new().prefix(".convoke-").make_in(folder, create);
    let temp = temp.with_context(fail)?;
    let mut output = BufWriter::new(temp.as_file());
    let count = write(transcripts, id, Form::of(path), &mut output).with_context(fail)?;
    output.flush().with_context(fail)?;
    drop(output);
    match temp.persist_noclobber(path) {
        Ok(_) => Ok(count),
        Err(error) if error.error.kind() == io::ErrorKind::AlreadyExists => {
            bail!("{} exists already; choose another name", path.display())
        }
        Err(error) => Err(error.error).with_context(fail),
    }
}

fn write(
    transcripts: &Transcripts,
    id: &Id,
    form: Form,
    output: &mut impl Write,
) -> anyhow::Result<u64> {
    match form {
        // A transcript holds more than turns.
        Form::Jsonl => {
            io::copy(&mut fs::File::open(transcripts.path(id))?, output)?;
            return Ok(transcripts.turns(id)?.count() as u64);
        }
        Form::Markdown => {
            let Metadata { agent, created_at, .. } = transcripts.recall(id, 0)?.metadata;
            write!(output, "# Conversation with {agent}\n\nSession {id}, begun {created_at}.\n")?;
        }
        Form::Json => {}
    }
    let mut count = 0;
    for turn in transcripts.turns(id)? {
        output.write_all(form.turn(turn?, count)?.as_bytes())?;
        count += 1;
    }
    output.write_all(form.end(count).as_bytes())?;
    Ok(count)
}

/// A turn as other programs may write it.
#[derive(Deserialize)]
struct ForeignTurn {
    role: Role,
    content: String,
    timestamp: Option<Timestamp>,
    tokens: Option<u64>,
}

impl From<ForeignTurn> for Turn {
    fn from(ForeignTurn { role, content, timestamp, tokens }: ForeignTurn) -> Self {
        let tokens = tokens.unwrap_or_else(|| estimate(&content));
        Self { role, content, timestamp: timestamp.unwrap_or_else(clock::now), tokens }
    }
}

/// The turns of a file that is imported.
pub(super) struct Import {
    /// Its turns, at least one.
    pub(super) turns: Box<dyn Iterator<Item = transcripts::Result<Turn>>>,
    /// The lines that cannot be read and are left out, if there are any.
    pub(super) left_out: Option<LeftOut>,
}

/// Lines that are left out.
#[derive(Default)]
pub(super) struct LeftOut {
    first: Vec<BadLine>,
    count: usize,
}

/// Lines that are listed; the others are only counted.
const NAMED_MAX: usize = 3;

impl fmt::Display for LeftOut {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let lines = if self.count == 1 { "line is" } else { "lines are" };
        let named: Vec<String> = self.first.iter().map(ToString::to_string).collect();
        let end = if self.count > named.len() { "; and so on" } else { "" };
        write!(f, "{} {lines} left out: {}{end}", self.count, named.join("; "))
    }
}

/// Reads the turns of a file, which must not be `own`, the transcript that they are added to.
pub(super) fn import(path: &Path, own: &Path) -> anyhow::Result<Import> {
    let fail = || format!("cannot read {}", path.display());
    let (file, own) = (fs::metadata(path).with_context(fail)?, fs::metadata(own)?);
    if (file.dev(), file.ino()) == (own.dev(), own.ino()) {
        bail!("{} is this very session", path.display());
    }
    // Opening a pipe would block until it has a writer.
    if !file.is_file() {
        bail!("{} is not a plain file", path.display());
    }
    match Form::of(path) {
        Form::Json => import_list(path),
        Form::Jsonl | Form::Markdown => import_lines(&path.canonicalize().with_context(fail)?),
    }
}

fn import_lines(path: &Path) -> anyhow::Result<Import> {
    let (mut is_empty, mut left_out) = (true, LeftOut::default());
    for found in Records::open(path)? {
        match found? {
            Found::Record(record) => is_empty &= !matches!(record, Record::Turn(_)),
            Found::Bad(line) => {
                left_out.count += 1;
                if left_out.first.len() < NAMED_MAX {
                    left_out.first.push(line);
                }
            }
        }
    }
    if is_empty {
        bail!("there are no turns in {}", path.display());
    }
    let left_out = Some(left_out).filter(|left_out| left_out.count > 0);
    Ok(Import { turns: Box::new(Turns::open(path)?), left_out })
}

fn import_list(path: &Path) -> anyhow::Result<Import> {
    let text =
        fs::read_to_string(path).with_context(|| format!("cannot read {}", path.display()))?;
    let turns: Vec<ForeignTurn> = serde_json::from_str(&text)
        .with_context(|| format!("{} is not a list of turns", path.display()))?;
    if turns.is_empty() {
        bail!("there are no turns in {}", path.display());
    }
    let turns = Box::new(turns.into_iter().map(|turn| Ok(Turn::from(turn))));
    Ok(Import { turns, left_out: None })
}

#[cfg(test)]
mod tests {
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
        let told = format!("{error:#}").replace(folder.path().to_str().unwrap(), "[tmp]");
        assert_eq!(told, "cannot write [tmp]/no/talk.md: No such file or directory (os error 2)");
    }

    #[test]
    fn what_was_written_for_programs_is_read_back() {
        let (folder, transcripts, id) = talk();
        let own = folder.path().join("own");
        fs::write(&own, "").unwrap();
        for name in ["talk.json", "talk.jsonl"] {
            let path = folder.path().join(name);
            export(&transcripts, &id, &path).unwrap();
            let Import { turns, left_out } = import(&path, &own).unwrap();
            let said: Vec<String> = turns.map(|turn| turn.unwrap().content).collect();
            assert_eq!(said, ["hello", "# Hi\n\nthere\n"], "{name}");
            assert!(left_out.is_none(), "{name}");
        }
    }

    #[test]
    fn lines_that_are_left_out_are_named() {
        let (folder, transcripts, id) = talk();
        let (own, path) = (transcripts.path(&id), folder.path().join("torn.jsonl"));
        let text = fs::read_to_string(&own).unwrap();
        let left_out = |bad: &str| {
            fs::write(&path, format!("{text}{bad}")).unwrap();
            let Import { turns, left_out } = import(&path, &own).unwrap();
            assert_eq!(turns.count(), 2);
            left_out.unwrap().to_string()
        };
        assert_eq!(left_out("[]\n"), "1 line is left out: line 4: a list instead of an object");
        let named = "line 4: a list instead of an object; line 5: a list instead of an object; \
            line 6: a list instead of an object";
        assert_eq!(left_out("[]\n[]\n[]\n"), format!("3 lines are left out: {named}"));
        let four = left_out("[]\n[]\n[]\n[]\n");
        assert_eq!(four, format!("4 lines are left out: {named}; and so on"));
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
        fs::write(folder.path().join("none.json"), "[]").unwrap();
        let pipe = folder.path().join("pipe.json");
        rustix::fs::mkfifoat(rustix::fs::CWD, &pipe, rustix::fs::Mode::RWXU).unwrap();
        assert_eq!(told(&own), "[tmp]/sessions/s.jsonl is this very session");
        assert_eq!(told(&folder.path().join("none.jsonl")), "cannot read [tmp]/none.jsonl");
        assert_eq!(told(&pipe), "[tmp]/pipe.json is not a plain file");
        assert_eq!(told(folder.path()), "[tmp] is not a plain file");
        assert_eq!(told(&folder.path().join("none.json")), "there are no turns in [tmp]/none.json");
        assert_eq!(told(&folder.path().join("page.md")), "there are no turns in [tmp]/page.md");
        assert_eq!(
            told(&folder.path().join("list.json")),
            "[tmp]/list.json is not a list of turns"
        );
    }
}
