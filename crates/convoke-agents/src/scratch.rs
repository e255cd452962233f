//! A folder for tests that confined programs can see: the system's temporary folder is hidden from
//! them.

use tempfile::TempDir;

/// Makes a folder in `tmp` of the build folder, where tests of the whole program have theirs.
pub(crate) fn folder() -> TempDir {
    let test = std::env::current_exe().unwrap();
    // The path ends with the profile, `deps` and the test.
    let target = test.ancestors().nth(3).unwrap();
    let folder = target.join("tmp");
    std::fs::create_dir_all(&folder).unwrap();
    tempfile::tempdir_in(folder).unwrap()
}
