//! Monitors the home while the daemon runs: its permissions, and the free space on its disk.

use std::time::Duration;

use convoke_api::bodies::HealthProblem;
use convoke_server::Problems;
use tokio::task::AbortHandle;

use crate::home::{Depth, Home, Repair, free_bytes};

/// The interval of the checks. A check takes some tens of system calls.
const INTERVAL: Duration = Duration::from_secs(1);
/// With less left, messages may not be stored soon.
const LOW_BYTES: u64 = 16 << 20;
/// The disk space that a daemon needs to start: locks, its own file, and the database's WAL.
const START_BYTES: u64 = 2 << 20;

/// The monitoring task; it ends when this is dropped.
pub(super) struct Guard {
    task: AbortHandle,
}

impl Guard {
    /// Starts to monitor the home, and reports problems.
    pub(super) fn start(home: Home, problems: Problems) -> Self {
        let looking = async move {
            let mut clock = tokio::time::interval(INTERVAL);
            clock.set_missed_tick_behavior(tokio::time::MissedTickBehavior::Delay);
            loop {
                clock.tick().await;
                let (home, problems) = (home.clone(), problems.clone());
                let check = tokio::task::spawn_blocking(move || check_home(&home, &problems));
                if let Err(error) = check.await {
                    tracing::error!("cannot check the home: {error}");
                }
            }
        };
        Self { task: tokio::spawn(looking).abort_handle() }
    }
}

impl Drop for Guard {
    fn drop(&mut self) {
        self.task.abort();
    }
}

fn check_home(home: &Home, problems: &Problems) {
    let repairs = home.protect(Depth::Essential);
    problems.report("permissions", report_repairs(&repairs));
    problems.report("disk_full", check_disk(home));
}

/// Logs repaired permissions, and returns the problem if some could not be repaired. Without paths:
/// `/healthz` is public.
pub(super) fn report_repairs(repairs: &[Repair]) -> Option<HealthProblem> {
    repairs.iter().for_each(Repair::log);
    repairs.iter().any(|repair| repair.result.is_err()).then(|| HealthProblem {
        code: "permissions".to_owned(),
        text: "the permissions of files in the home were changed and cannot be restored".to_owned(),
        hint: Some("the log names them, with the target `security`".to_owned()),
    })
}

fn check_disk(home: &Home) -> Option<HealthProblem> {
    let problem = |text: String| {
        let hint = Some("free some space on the disk of the home".to_owned());
        Some(HealthProblem { code: "disk_full".to_owned(), text, hint })
    };
    let free = match free_bytes(home.path()) {
        Ok(free) => free,
        Err(error) => {
            return problem(format!("cannot read the free space on the disk of the home: {error}"));
        }
    };
    let filled = home.reserve().fill(free);
    if free < LOW_BYTES {
        let left = free / 1024;
        return problem(format!(
            "the disk of the home is full ({left} KiB are left): messages may not be stored; your answers and decisions still are"
        ));
    }
    filled.err().and_then(|error| {
        problem(format!("cannot reserve space for decisions on a full disk: {error}"))
    })
}

/// Releases the reserve for a daemon that starts on a full disk, as far as needed.
pub(super) fn make_room_to_start(home: &Home) {
    use convoke_files::reserve::Released;
    let is_short = || free_bytes(home.path()).is_ok_and(|free| free < START_BYTES);
    while is_short() && matches!(home.reserve().release(), Ok(Released::Some)) {}
}
