//! Files of a workspace, and all the ways out of it that are none.

use std::fs;
use std::os::unix::fs::{MetadataExt as _, PermissionsExt, symlink};

use tempfile::TempDir;

use std::os::fd::AsFd;

use super::*;
use crate::acp::tests::scene::count;
use crate::process::open_workspace;

/// A workspace beside a folder with secrets.
struct Place {
    _root: TempDir,
    path: PathBuf,
    secrets: PathBuf,
    files: Files,
}

fn place() -> Place {
    let root = tempfile::tempdir().unwrap();
    let (path, secrets) = (root.path().join("w"), root.path().join("secrets"));
    fs::create_dir(&path).unwrap();
    fs::create_dir(&secrets).unwrap();
    fs::write(secrets.join("key"), "secret").unwrap();
    let path = path.canonicalize().unwrap();
    let files = Files::open(&path, open_workspace(&path).unwrap().as_fd(), &[], count).unwrap();
    Place { _root: root, path, secrets, files }
}

impl Place {
    fn read(&self, path: impl AsRef<Path>) -> Result<String, Fault> {
        Ok(self.files.read(&self.path.join(path), Lines::ALL)?)
    }

    fn write(&self, path: impl AsRef<Path>, text: &str) -> Result<(), Fault> {
        match self.files.write(&self.path.join(path), text)? {
            Written::Done => Ok(()),
            Written::Protected(change) => Err(Fault::new(0, format!("asks for {}", change.call))),
        }
    }

    fn protected(&self, path: impl AsRef<Path>, text: &str) -> ProtectedChange {
        match self.files.write(&self.path.join(path), text).unwrap() {
            Written::Protected(change) => change,
            Written::Done => panic!("a protected file was written"),
        }
    }
}

#[test]
fn what_is_written_can_be_read_and_folders_are_made() {
    let place = place();
    place.write("a/b/c.txt", "hello\n").unwrap();
    assert_eq!(place.read("a/b/c.txt").unwrap(), "hello\n");
    place.write("a/b/c.txt", "").unwrap();
    assert_eq!(place.files.read(Path::new("a/./b/../b/c.txt"), Lines::ALL).unwrap(), "");
    let left: Vec<_> = fs::read_dir(place.path.join("a/b")).unwrap().collect();
    assert_eq!(left.len(), 1);
}

#[test]
fn some_lines_can_be_read() {
    let place = place();
    place.write("a.txt", "one\ntwo\nthree").unwrap();
    let lines =
        |first, count| place.files.read(&place.path.join("a.txt"), Lines { first, count }).unwrap();
    assert_eq!(lines(1, 2), "one\ntwo\n");
    assert_eq!(lines(2, u64::MAX), "two\nthree");
    assert_eq!(lines(0, 1), "one\n");
    assert_eq!(lines(4, 1), "");
    assert_eq!(lines(u64::MAX, 1), "");
    assert_eq!(lines(1, 0), "");
}

#[test]
fn s6_nothing_outside_of_the_workspace_is_read_or_written() {
    let place = place();
    symlink(&place.secrets, place.path.join("out")).unwrap();
    symlink("../secrets/key", place.path.join("key")).unwrap();
    symlink("../secrets/new", place.path.join("dangling")).unwrap();
    symlink("/proc/self/root", place.path.join("root")).unwrap();
    let evil = PathBuf::from(format!("{}-evil/x", place.path.display()));
    let ways = [
        place.secrets.join("key"),
        evil,
        place.path.join("../secrets/key"),
        place.path.join("new/../../secrets/key"),
        place.path.join("out/key"),
        place.path.join("out/new"),
        place.path.join("key"),
        place.path.join("root/etc/passwd"),
        PathBuf::from("../secrets/key"),
        PathBuf::from("/etc/passwd"),
        PathBuf::from("/"),
    ];
    for way in ways {
        let read = place.files.read(&way, Lines::ALL).unwrap_err();
        assert!(matches!(read, FileError::Outside(_)), "{read}");
        let written = place.files.write(&way, "mine").unwrap_err();
        assert!(matches!(written, FileError::Outside(_)), "{written}");
    }
    place.write("dangling", "mine").unwrap_err();
    assert_eq!(fs::read_to_string(place.secrets.join("key")).unwrap(), "secret");
    assert_eq!(fs::read_dir(&place.secrets).unwrap().count(), 1);
}

#[test]
fn s6_links_inside_of_the_workspace_are_followed_and_stay() {
    let place = place();
    place.write("real/a.txt", "old").unwrap();
    symlink("real", place.path.join("folder")).unwrap();
    symlink("real/a.txt", place.path.join("file")).unwrap();
    assert_eq!(place.read("folder/a.txt").unwrap(), "old");
    place.write("file", "new").unwrap();
    assert_eq!(place.read("real/a.txt").unwrap(), "new");
    assert!(place.path.join("file").is_symlink());
    place.write("folder/b.txt", "b").unwrap();
    assert_eq!(place.read("real/b.txt").unwrap(), "b");
}

#[test]
fn s6_what_is_hidden_stays_hidden_inside_of_the_workspace() {
    let place = place();
    place.write("home/.convoke/token", "t").unwrap();
    symlink("home/.convoke", place.path.join("way")).unwrap();
    let hidden = [place.path.join("home/.convoke"), place.path.join("missing")];
    let files =
        Files::open(&place.path, open_workspace(&place.path).unwrap().as_fd(), &hidden, count)
            .unwrap();
    for way in ["home/.convoke/token", "home/.convoke/new", "way/token", "home/.convoke/a/b"] {
        assert!(matches!(
            files.read(Path::new(way), Lines::ALL),
            Err(FileError::Outside(_) | FileError::Missing(_))
        ));
        assert!(matches!(files.write(Path::new(way), "x"), Err(FileError::Outside(_))));
    }
    files.write(Path::new("home/other"), "x").unwrap();
    assert_eq!(place.read("home/.convoke/token").unwrap(), "t");
}

#[test]
fn only_plain_text_files_of_a_reasonable_size_are_read() {
    let place = place();
    fs::write(place.path.join("binary"), b"\xff\xfe").unwrap();
    fs::write(place.path.join("large"), vec![b'x'; (10 << 20) + 1]).unwrap();
    fs::write(place.path.join("most"), vec![b'x'; 10 << 20]).unwrap();
    rustix::fs::mknodat(
        rustix::fs::CWD,
        place.path.join("pipe"),
        rustix::fs::FileType::Fifo,
        0o600.into(),
        0,
    )
    .unwrap();
    fs::create_dir(place.path.join("folder")).unwrap();
    let reported = |fault: Fault| {
        format!("{} {}", fault.code, fault.message.replace(&*place.path.to_string_lossy(), ""))
    };
    let names = ["binary", "large", "pipe", "folder", "", "missing", "binary/below"];
    let reported: Vec<String> =
        names.iter().map(|name| reported(place.read(name).unwrap_err())).collect();
    insta::assert_snapshot!(reported.join("\n"), @r"
    -32602 /binary is not UTF-8 text
    -32602 /large is larger than 10 MiB
    -32602 /pipe is not a regular file
    -32602 /folder is not a regular file
    -32602 / is a folder
    -32002 /missing does not exist
    -32603 /binary/below: Not a directory (os error 20)
    ");
    assert_eq!(place.read("most").unwrap().len(), 10 << 20);
    let written = place.write("new", &"x".repeat((10 << 20) + 1)).unwrap_err();
    assert!(written.message.ends_with("would be larger than 10 MiB"));
    for name in ["pipe", "folder", ""] {
        place.write(name, "x").unwrap_err();
    }
}

#[test]
fn a_replaced_file_keeps_its_mode() {
    let place = place();
    place.write("run.sh", "old").unwrap();
    fs::set_permissions(place.path.join("run.sh"), fs::Permissions::from_mode(0o755)).unwrap();
    place.write("run.sh", "new").unwrap();
    let mode = fs::metadata(place.path.join("run.sh")).unwrap().permissions().mode();
    assert_eq!(mode & 0o777, 0o755);
}

#[test]
fn k10_files_of_a_repository_are_protected_whatever_the_name_of_its_folder() {
    let place = place();
    for folder in [".bare/objects", ".bare/refs", "src/hooks"] {
        fs::create_dir_all(place.path.join(folder)).unwrap();
    }
    for name in [".bare/config", ".bare/hooks/pre-commit", ".bare/commondir"] {
        place.protected(name, "evil");
    }
    place.write(".bare/description", "mine").unwrap();
    place.write("src/hooks/use.ts", "mine").unwrap();
    place.write("src/config", "mine").unwrap();
}

/// A link that leads to a free folder while it is looked at, and to a protected one when it is opened.
#[test]
fn k10_a_protected_file_is_not_written_through_a_link_that_is_swapped() {
    use std::sync::atomic::{AtomicBool, Ordering};

    let place = place();
    for name in [".git", "plain"] {
        fs::create_dir(place.path.join(name)).unwrap();
    }
    fs::write(place.path.join(".git/config"), "mine").unwrap();
    place.protected(".git/config", "evil");
    for (name, target) in [("link", "plain"), ("other", ".git")] {
        symlink(target, place.path.join(name)).unwrap();
    }
    let done = AtomicBool::new(false);
    std::thread::scope(|scope| {
        scope.spawn(|| {
            while !done.load(Ordering::Relaxed) {
                let flags = rustix::fs::RenameFlags::EXCHANGE;
                let [link, other] = ["link", "other"].map(|name| place.path.join(name));
                rustix::fs::renameat_with(rustix::fs::CWD, link, rustix::fs::CWD, other, flags)
                    .unwrap();
            }
        });
        let written = (0..2_000).filter(|_| place.write("link/config", "evil").is_ok()).count();
        done.store(true, Ordering::Relaxed);
        assert!(written > 0, "the link never led to the free folder");
    });
    assert_eq!(fs::read_to_string(place.path.join(".git/config")).unwrap(), "mine");
}

#[test]
fn k10_a_protected_file_is_written_only_as_the_user_saw_it() {
    let place = place();
    fs::create_dir_all(place.path.join(".git/hooks")).unwrap();
    symlink(".git/hooks", place.path.join("link")).unwrap();
    let created = place.protected("link/pre-commit", "#!/bin/sh\n");
    assert_eq!(created.inside, Path::new(".git/hooks/pre-commit"));
    assert_eq!(created.old, None);
    place.files.write_protected(&created).unwrap();
    let changed = place.protected(".git/hooks/pre-commit", "two");
    assert_eq!(changed.old.as_deref(), Some("#!/bin/sh\n"));
    // The file is another one by the time that the user has decided; so is where the path leads.
    fs::write(place.path.join(".git/hooks/pre-commit"), "mine").unwrap();
    let error = place.files.write_protected(&changed).unwrap_err().to_string();
    assert!(error.contains("was changed by something else"), "{error}");
    let through_link = place.protected("link/pre-commit", "two");
    fs::remove_file(place.path.join("link")).unwrap();
    symlink(".git", place.path.join("link")).unwrap();
    place.files.write_protected(&through_link).unwrap_err();
    assert_eq!(fs::read_to_string(place.path.join(".git/hooks/pre-commit")).unwrap(), "mine");
    // What cannot be shown whole cannot be allowed.
    let huge = "x".repeat(PROTECTED_BYTES_MAX + 1);
    assert!(place.write(".git/config", &huge).unwrap_err().message.contains("too large"));
    fs::write(place.path.join(".git/config"), [0xff]).unwrap();
    assert!(place.write(".git/config", "x").unwrap_err().message.contains("not text"));
}

/// The agent's read-only mount is one of the inode, which a rename over it would detach.
#[test]
fn k10_a_protected_file_is_written_in_place() {
    use std::os::unix::fs::MetadataExt;

    let place = place();
    fs::create_dir(place.path.join(".git")).unwrap();
    let config = place.path.join(".git/config");
    fs::write(&config, "a long old text").unwrap();
    fs::set_permissions(&config, fs::Permissions::from_mode(0o640)).unwrap();
    let before = fs::metadata(&config).unwrap();
    for text in ["short", "a text that is longer than all of the others", ""] {
        place.files.write_protected(&place.protected(".git/config", text)).unwrap();
        assert_eq!(fs::read_to_string(&config).unwrap(), text);
    }
    let after = fs::metadata(&config).unwrap();
    assert_eq!((after.ino(), after.mode()), (before.ino(), before.mode()));
    // The request would not show that another file is changed with it.
    fs::hard_link(&config, place.path.join("other")).unwrap();
    let error = place.write(".git/config", "x").unwrap_err();
    assert!(error.message.contains("hard link"), "{}", error.message);
}

#[test]
fn k10_a_protected_file_that_appears_while_the_user_is_asked_is_not_written() {
    let place = place();
    for name in [".envrc", ".vscode"] {
        let created = place.protected(name, "one");
        symlink("target", place.path.join(name)).unwrap();
        let error = place.files.write_protected(&created).unwrap_err().to_string();
        assert!(error.contains("was changed by something else"), "{error}");
    }
    assert!(!place.path.join("target").exists());
    let created = place.protected(".profile", "one");
    fs::write(place.path.join(".profile"), "mine").unwrap();
    place.files.write_protected(&created).unwrap_err();
    assert_eq!(fs::read_to_string(place.path.join(".profile")).unwrap(), "mine");
    let changed = place.protected(".profile", "two");
    fs::remove_file(place.path.join(".profile")).unwrap();
    let error = place.files.write_protected(&changed).unwrap_err().to_string();
    assert!(error.contains("was changed by something else"), "{error}");
    assert!(!place.path.join(".profile").exists());
}

#[test]
fn k10_a_hidden_file_in_the_workspace_is_neither_read_nor_replaced() {
    let mut place = place();
    let hidden = place.path.join(".env");
    fs::write(&hidden, "secret").unwrap();
    let found = fs::metadata(&hidden).unwrap();
    Arc::get_mut(&mut place.files.inner).unwrap().hidden.push((found.dev(), found.ino()));
    place.files.read(Path::new(".env"), Lines::ALL).unwrap_err();
    place.files.write(Path::new(".env"), "evil").unwrap_err();
    assert_eq!(fs::read_to_string(&hidden).unwrap(), "secret");
}
