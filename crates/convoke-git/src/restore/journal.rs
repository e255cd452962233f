//! The journal of a restore: the files to write and remove, on disk before the first file changes.

use std::fs::{self, File};
use std::io::{self, Write};
use std::path::Path;

use super::Step;
pub(super) use crate::checkpoint::lock::remove;
use crate::checkpoint::{decode, encode};
use crate::diff::{FileVersion, file_mode};
use crate::{Error, ObjectId, Result};

/// The first word of a journal; any other is from another version of this program.
const HEAD: &str = "restore-1";

/// The last line; without it, the journal was not complete when the process was killed, and nothing had changed.
const END: &str = "end";

/// Writes the journal and syncs it.
pub(super) fn write(path: &Path, undo: &ObjectId, steps: &[Step]) -> Result<()> {
    let mut text = format!("{HEAD} {undo}\n");
    for Step { path, old, new } in steps {
        let line = format!("{} {} {}\n", field(old.as_ref()), field(new.as_ref()), encode(path));
        text.push_str(&line);
    }
    text.push_str(END);
    let fail = |source| {
        // An incomplete journal cannot be used.
        fs::remove_file(path).ok();
        Error::io("write", path, source)
    };
    let mut file = File::create(path).map_err(fail)?;
    file.write_all(text.as_bytes()).and_then(|()| file.sync_all()).map_err(fail)?;
    sync_folder(path).map_err(fail)
}

/// Reads the journal; `None` when there is none, or none that was complete.
pub(super) fn read(path: &Path) -> Result<Option<(ObjectId, Vec<Step>)>> {
    let text = match fs::read_to_string(path) {
        Ok(text) => text,
        Err(error) if error.kind() == io::ErrorKind::NotFound => return Ok(None),
        Err(error) => return Err(Error::io("read", path, error)),
    };
    Ok(parse(&text))
}

fn parse(text: &str) -> Option<(ObjectId, Vec<Step>)> {
    let mut lines = text.strip_suffix(END)?.lines();
    let undo = lines.next()?.strip_prefix(HEAD)?.strip_prefix(' ')?;
    let undo = ObjectId::parse(undo).ok()?;
    let steps: Option<Vec<Step>> = lines.map(step).collect();
    Some((undo, steps?))
}

fn step(line: &str) -> Option<Step> {
    let mut fields = line.splitn(3, ' ');
    let (old, new) = (version(fields.next()?)?, version(fields.next()?)?);
    Some(Step { path: decode(fields.next()?)?, old, new })
}

fn field(version: Option<&FileVersion>) -> String {
    let Some(FileVersion { mode, id }) = version else { return "-".to_owned() };
    format!("{}:{id}", mode.as_str())
}

fn version(field: &str) -> Option<Option<FileVersion>> {
    if field == "-" {
        return Some(None);
    }
    let (mode, id) = field.split_once(':')?;
    let (mode, id) = (file_mode(mode).ok()??, ObjectId::parse(id).ok()?);
    Some(Some(FileVersion { mode, id }))
}

fn sync_folder(of: &Path) -> io::Result<()> {
    File::open(of.parent().unwrap_or(Path::new(".")))?.sync_all()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::diff::FileMode;

    #[test]
    fn c5_a_journal_is_read_as_it_was_written_and_half_a_one_is_none() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("journal");
        let id = ObjectId::empty_tree();
        let version = |mode| Some(FileVersion { mode, id: id.clone() });
        let steps = vec![
            Step { path: "a b\n".into(), old: None, new: version(FileMode::Executable) },
            Step {
                path: "%".into(),
                old: version(FileMode::Link),
                new: version(FileMode::Regular),
            },
        ];
        write(&path, &id, &steps).unwrap();
        assert_eq!(read(&path).unwrap(), Some((id, steps)));
        let text = fs::read(&path).unwrap();
        for length in 0..text.len() {
            fs::write(&path, &text[..length]).unwrap();
            assert_eq!(read(&path).unwrap(), None, "{length}");
        }
        remove(&path).unwrap();
        remove(&path).unwrap();
        assert_eq!(read(&path).unwrap(), None);
    }
}
