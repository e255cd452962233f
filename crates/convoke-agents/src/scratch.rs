//! A folder for tests that confined programs can see: those in the system's temporary folder are hidden from them.

use tempfile::TempDir;

/// Makes a folder in `tmp` of the build folder, where tests of the whole program have theirs.
pub(crate) fn folder() -> TempDir {
    let test = std::env::current_exe().unwrap();
    // Below it the profile, `deps` and the test are.
    let target = test.ancestors().nth(3).unwrap();
    let folder = target.join("tmp");
    std::fs::create_dir_all(&folder).unwrap();
    tempfile::tempdir_in(folder).unwrap()
}
