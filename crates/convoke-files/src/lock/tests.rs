//! Locks that were left behind, forged, recycled and fought over.

use std::process::{Command, Stdio};

use convoke_testkit::wait;

use super::*;

fn scene() -> (tempfile::TempDir, PathBuf) {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("status.json.lock");
    (folder, path)
}

/// Leaves a lock file as another program would, without a lock of the operating system.
fn leave(path: &Path, text: &[u8], written_at: SystemTime) {
    fs::write(path, text).unwrap();
    File::options().write(true).open(path).unwrap().set_modified(written_at).unwrap();
}

fn holder(path: &Path) -> String {
    match Lock::try_acquire(path) {
        Ok(_) => "free".to_owned(),
        Err(error) => error.to_string().split(": ").last().unwrap().to_owned(),
    }
}

#[test]
fn q7_a_lock_names_its_holder_and_goes_with_it() {
    let (folder, path) = scene();
    let lock = Lock::acquire(&path).unwrap();
    assert_eq!(fs::read_to_string(&path).unwrap(), std::process::id().to_string());
    assert_eq!(holder(&path), format!("held by process {}", std::process::id()));
    drop(lock);
    assert_eq!(fs::read_dir(folder.path()).unwrap().count(), 0);
    assert_eq!(holder(&path), "free");
}

#[test]
fn q7_a_dead_holders_lock_is_cleared() {
    let (_folder, path) = scene();
    let mut child = Command::new("true").spawn().unwrap();
    let pid = child.id();
    child.wait().unwrap();
    leave(&path, pid.to_string().as_bytes(), SystemTime::now());
    assert_eq!(holder(&path), "free");
}

#[test]
fn q7_a_zombie_process_holds_no_lock() {
    let (_folder, path) = scene();
    let mut child = Command::new("true").stdout(Stdio::piped()).spawn().unwrap();
    // The end of its output is the end of the program; its PID stays until its parent reaps it.
    child.stdout.take().unwrap().read_to_end(&mut Vec::new()).unwrap();
    let stat = format!("/proc/{}/stat", child.id());
    wait::until("it is a zombie", || fs::read_to_string(&stat).unwrap().contains(") Z "));
    leave(&path, child.id().to_string().as_bytes(), SystemTime::now());
    assert_eq!(holder(&path), "free");
    child.wait().unwrap();
}

#[test]
fn q7_a_living_program_that_takes_no_system_lock_is_respected() {
    let (_folder, path) = scene();
    leave(&path, b"1", SystemTime::now());
    assert_eq!(holder(&path), "held by process 1");
    assert!(path.exists());
}

#[test]
fn q7_a_recycled_pid_does_not_wedge_the_lock() {
    let (_folder, path) = scene();
    // Process 1 lives, but it began long after this lock was written.
    leave(&path, b"1", SystemTime::UNIX_EPOCH + Duration::from_secs(1));
    assert_eq!(holder(&path), "free");
}

#[test]
fn q7_garbage_in_a_lock_file_does_not_wedge_the_lock() {
    let (_folder, path) = scene();
    for garbage in [&b""[..], b"\xff\xfe\x00", b"pid: 12", b"-1", b"99999999999999999999"] {
        leave(&path, garbage, SystemTime::UNIX_EPOCH + Duration::from_secs(1));
        assert_eq!(holder(&path), "free", "{garbage:?}");
        // Its writer may not have come to writing the PID yet.
        leave(&path, garbage, SystemTime::now());
        assert_eq!(holder(&path), "held by another program", "{garbage:?}");
        fs::remove_file(&path).unwrap();
    }
}

#[test]
fn q7_a_failed_attempt_leaves_the_holders_lock_alone() {
    let (_folder, path) = scene();
    let lock = Lock::acquire(&path).unwrap();
    for _ in 0..3 {
        Lock::try_acquire(&path).unwrap_err();
    }
    assert!(is_at(&lock.file, &path));
}

#[test]
fn q7_a_lock_that_another_process_replaced_is_not_removed() {
    let (_folder, path) = scene();
    let lock = Lock::acquire(&path).unwrap();
    fs::remove_file(&path).unwrap();
    fs::write(&path, "1").unwrap();
    drop(lock);
    assert_eq!(fs::read_to_string(&path).unwrap(), "1");
}

#[test]
fn q7_threads_hold_a_lock_one_at_a_time() {
    let (_folder, path) = scene();
    let inside = std::sync::atomic::AtomicUsize::new(0);
    let order = std::sync::atomic::Ordering::SeqCst;
    thread::scope(|scope| {
        for _ in 0..8 {
            scope.spawn(|| {
                for _ in 0..20 {
                    let lock = Lock::acquire(&path).unwrap();
                    assert_eq!(inside.fetch_add(1, order), 0);
                    inside.fetch_sub(1, order);
                    drop(lock);
                }
            });
        }
    });
    assert!(!path.exists());
}

#[test]
fn what_a_killed_holder_was_just_starting_is_waited_for() {
    let (_folder, path) = scene();
    let mut child = Command::new("true").spawn().unwrap();
    let dead = child.id();
    child.wait().unwrap();
    fs::write(&path, dead.to_string()).unwrap();
    // The child holds the lock, not the process that took it.
    let heir = File::open(&path).unwrap();
    heir.try_lock().unwrap();
    assert!(matches!(clear_if_stale(&path), Ok(Found::Inherited { pid }) if pid == Some(dead)));
    thread::scope(|scope| {
        let taking = scope.spawn(|| Lock::try_acquire(&path).map(drop));
        drop(heir);
        taking.join().unwrap().unwrap();
    });
    fs::write(&path, std::process::id().to_string()).unwrap();
    let holder = File::open(&path).unwrap();
    holder.try_lock().unwrap();
    assert!(matches!(clear_if_stale(&path), Ok(Found::Held { .. })), "it lives");
}
