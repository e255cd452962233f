//! Replacing a file whole or not at all.

use std::fs::{self, File};
use std::io::{self, Read, Seek, Write};
use std::path::Path;

use crate::{Error, Result};

/// How the names of temporary files end; one that a killed writer left is recognised by it.
pub(crate) const TEMP_SUFFIX: &str = ".tmp";

/// Replaces a file: temporary file beside it, verified, synced, renamed, and the folder synced. Mode 0600.
pub fn write(path: &Path, bytes: &[u8]) -> Result<()> {
    let fail = |step| move |source| Error::Write { path: path.to_owned(), step, source };
    let folder = path.parent().unwrap_or(Path::new("."));
    // Beside the target, since a rename cannot cross file systems; dropped on failure, which deletes it.
    let mut temp = temporary(folder).map_err(fail("making a temporary file"))?;
    temp.write_all(bytes).map_err(fail("writing"))?;
    verify(temp.as_file_mut(), bytes).map_err(fail("verifying what was written"))?;
    temp.as_file().sync_all().map_err(fail("syncing"))?;
    temp.persist(path).map_err(|error| fail("renaming")(error.error))?;
    sync_folder(folder).map_err(fail("syncing its folder"))
}

/// A new file in `folder` with mode 0600 and a unique name.
pub(crate) fn temporary(folder: &Path) -> io::Result<tempfile::NamedTempFile> {
    tempfile::Builder::new().prefix(".").suffix(TEMP_SUFFIX).tempfile_in(folder)
}

/// Makes the names in a folder durable.
pub(crate) fn sync_folder(folder: &Path) -> io::Result<()> {
    File::open(folder)?.sync_all()
}

fn verify(file: &mut File, expected: &[u8]) -> io::Result<()> {
    let mut written = Vec::with_capacity(expected.len());
    file.rewind()?;
    file.read_to_end(&mut written)?;
    if written == expected {
        return Ok(());
    }
    Err(io::Error::other("the file does not hold what was written to it"))
}

/// Deletes the temporary files that a killed writer left in a folder.
///
/// The caller holds the folder's lock, so no other process writes there.
pub(crate) fn sweep(folder: &Path) {
    let Ok(entries) = fs::read_dir(folder) else { return };
    for entry in entries.flatten() {
        let name = entry.file_name();
        let name = name.to_string_lossy();
        if name.starts_with('.') && name.ends_with(TEMP_SUFFIX) {
            // A file that cannot be deleted now is left for the next sweep; it does no harm.
            fs::remove_file(entry.path()).ok();
        }
    }
}

#[cfg(test)]
mod tests {
    use std::os::unix::fs::PermissionsExt;

    use super::*;

    fn names(folder: &Path) -> Vec<String> {
        let entries = fs::read_dir(folder).unwrap();
        entries.map(|entry| entry.unwrap().file_name().into_string().unwrap()).collect()
    }

    #[test]
    fn q6_q2_a_file_is_replaced_whole_and_private() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("status.json");
        fs::write(&path, "old and longer").unwrap();
        write(&path, b"new").unwrap();
        assert_eq!(fs::read(&path).unwrap(), b"new");
        assert_eq!(fs::metadata(&path).unwrap().permissions().mode() & 0o777, 0o600);
        assert_eq!(names(folder.path()), ["status.json"]);
    }

    #[test]
    fn q6_a_failed_write_leaves_no_temporary_file_and_says_what_and_where() {
        let folder = tempfile::tempdir().unwrap();
        // A folder that is not empty cannot be replaced by a file.
        let path = folder.path().join("status.json");
        fs::create_dir_all(path.join("inside")).unwrap();
        let error = write(&path, b"new").unwrap_err();
        let text = format!("cannot write {}: renaming failed", path.display());
        assert_eq!(error.to_string(), text);
        assert_eq!(names(folder.path()), ["status.json"]);

        let nowhere = folder.path().join("missing/status.json");
        let error = write(&nowhere, b"new").unwrap_err();
        let text = format!("cannot write {}: making a temporary file failed", nowhere.display());
        assert_eq!(error.to_string(), text);
    }

    #[test]
    fn a_killed_writers_temporary_files_are_swept() {
        let folder = tempfile::tempdir().unwrap();
        temporary(folder.path()).unwrap().keep().unwrap();
        fs::write(folder.path().join("request.json"), "kept").unwrap();
        sweep(folder.path());
        assert_eq!(names(folder.path()), ["request.json"]);
    }
}
