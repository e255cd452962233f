//! `manifest.json` of a backup: its contents and their hashes. A contract: fields may be added.

use std::fs;
use std::path::{Component, Path, PathBuf};

use convoke_core::time::Timestamp;
use convoke_store::Contents;
use serde_json::{Value, json};

use super::{DATABASE, Error, Result, files, io_error};

/// The name of the file, which is written last.
pub(super) const NAME: &str = "manifest.json";
/// The format version. A backup of a later version is refused.
const FORMAT: u64 = 1;

/// The contents of a backup.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Manifest {
    /// The version of the program that made it.
    pub version: String,
    /// When it was made.
    pub created_at: Timestamp,
    /// The home that was backed up.
    pub home: PathBuf,
    /// What the database contained.
    pub database: Contents,
    /// The database, and the other files and folders that were backed up.
    pub entries: Vec<PathBuf>,
    /// Every file.
    pub files: Vec<BackedUpFile>,
}

/// One file of a backup.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct BackedUpFile {
    /// Its path, relative both to the home and to the backup.
    pub path: PathBuf,
    /// Its length.
    pub bytes: u64,
    /// Its SHA-256, in hexadecimal.
    pub sha256: String,
}

impl Manifest {
    /// The size of all files.
    pub fn bytes(&self) -> u64 {
        self.files.iter().map(|file| file.bytes).sum()
    }

    pub(super) fn write(&self, folder: &Path) -> Result<()> {
        let file = |file: &BackedUpFile| {
            json!({
                "path": file.path.to_string_lossy(),
                "bytes": file.bytes,
                "sha256": file.sha256,
            })
        };
        let text = json!({
            "format": FORMAT,
            "version": self.version,
            "createdAt": self.created_at.to_string(),
            "home": self.home.to_string_lossy(),
            "database": {
                "schema": self.database.schema,
                "sessions": self.database.sessions,
                "messages": self.database.messages,
            },
            "entries": self.entries.iter().map(|entry| entry.to_string_lossy()).collect::<Vec<_>>(),
            "files": self.files.iter().map(file).collect::<Vec<_>>(),
        });
        let path = folder.join(NAME);
        files::write(&path, format!("{text:#}\n").as_bytes())
    }

    /// Reads a manifest without checking the files.
    pub fn read(folder: &Path) -> Result<Self> {
        let path = folder.join(NAME);
        let not_one = |why: String| Error::NotABackup { path: folder.to_owned(), why };
        let text = match fs::read(&path) {
            Ok(text) => text,
            Err(error) if error.kind() == std::io::ErrorKind::NotFound => {
                return Err(not_one(format!("there is no {NAME} in it")));
            }
            Err(error) => return Err(io_error("read", &path)(error)),
        };
        let value: Value = serde_json::from_slice(&text)
            .map_err(|error| not_one(format!("its {NAME} cannot be parsed: {error}")))?;
        match value.get("format").and_then(Value::as_u64) {
            Some(FORMAT) => {}
            Some(later) => {
                return Err(not_one(format!(
                    "it has format {later}, and this program reads {FORMAT}"
                )));
            }
            None => return Err(not_one(format!("its {NAME} does not name its format"))),
        }
        parse(&value).ok_or_else(|| not_one(format!("its {NAME} is incomplete")))
    }

    /// Verifies every file of a backup, and every page of the database.
    pub fn verify(folder: &Path) -> Result<Self> {
        let manifest = Self::read(folder)?;
        let damaged = |what: String| Error::Damaged { path: folder.to_owned(), what };
        for file in &manifest.files {
            let name = file.path.display();
            let found = files::describe(folder, &file.path)
                .map_err(|error| damaged(format!("{name} cannot be read: {}", chain(&error))))?;
            if found.bytes != file.bytes {
                let what = format!("{name} has {} bytes, and not {}", found.bytes, file.bytes);
                return Err(damaged(what));
            }
            if found.sha256 != file.sha256 {
                return Err(damaged(format!("{name} does not match its SHA-256 sum")));
            }
        }
        let database = convoke_store::backup::verify(&folder.join(DATABASE))
            .map_err(|error| damaged(error.to_string()))?;
        if database != manifest.database {
            let what = format!("{DATABASE} holds {database:?}, and not {:?}", manifest.database);
            return Err(damaged(what));
        }
        Ok(manifest)
    }
}

fn parse(value: &Value) -> Option<Manifest> {
    let text = |value: &Value, name: &str| Some(value.get(name)?.as_str()?.to_owned());
    let number = |value: &Value, name: &str| value.get(name)?.as_u64();
    let database = value.get("database")?;
    let file = |value: &Value| {
        Some(BackedUpFile {
            path: inside(&text(value, "path")?)?,
            bytes: number(value, "bytes")?,
            sha256: text(value, "sha256")?,
        })
    };
    Some(Manifest {
        version: text(value, "version")?,
        created_at: text(value, "createdAt")?.parse().ok()?,
        home: text(value, "home")?.into(),
        database: Contents {
            schema: u32::try_from(number(database, "schema")?).ok()?,
            sessions: number(database, "sessions")?,
            messages: number(database, "messages")?,
        },
        entries: value
            .get("entries")?
            .as_array()?
            .iter()
            .map(|entry| inside(entry.as_str()?))
            .collect::<Option<_>>()?,
        files: value.get("files")?.as_array()?.iter().map(file).collect::<Option<_>>()?,
    })
}

/// A path without `..` or a root: the manifest may come from another machine.
fn inside(text: &str) -> Option<PathBuf> {
    let path = PathBuf::from(text);
    let is_plain = path.components().all(|part| matches!(part, Component::Normal(_)));
    (is_plain && !text.is_empty()).then_some(path)
}

fn chain(error: &dyn std::error::Error) -> String {
    match error.source() {
        Some(cause) => format!("{error}: {cause}"),
        None => error.to_string(),
    }
}
