//! A process that is not our child: whether it lives, telling it to end, and waiting until it has.

use std::io;

use rustix::process::{Pid, Signal, kill_process, test_kill_process};

/// A process by its id.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Process(Pid);

impl Process {
    /// The process with this id; `None` for 0 and invalid ids.
    pub(crate) fn new(pid: u32) -> Option<Self> {
        i32::try_from(pid).ok().and_then(Pid::from_raw).map(Self)
    }

    /// Whether the process exists, whichever user it belongs to.
    pub(crate) fn is_alive(self) -> bool {
        match test_kill_process(self.0) {
            Ok(()) | Err(rustix::io::Errno::PERM) => true,
            Err(_) => false,
        }
    }

    /// Sends SIGTERM; succeeds if it has exited already.
    pub(crate) fn terminate(self) -> io::Result<()> {
        match kill_process(self.0, Signal::TERM) {
            Ok(()) | Err(rustix::io::Errno::SRCH) => Ok(()),
            Err(error) => Err(error.into()),
        }
    }

    /// Waits until it has ended.
    #[cfg(target_os = "linux")]
    pub(crate) async fn ended(self) -> io::Result<()> {
        use rustix::event::{PollFd, PollFlags, poll};
        use rustix::process::{PidfdFlags, pidfd_open};
        let descriptor = match pidfd_open(self.0, PidfdFlags::empty()) {
            Ok(descriptor) => descriptor,
            Err(rustix::io::Errno::SRCH) => return Ok(()),
            Err(error) => return Err(error.into()),
        };
        // The descriptor becomes readable when the process exits. If the caller stops waiting, the
        // thread remains.
        let wait = move || {
            let mut watched = [PollFd::new(&descriptor, PollFlags::IN)];
            rustix::io::retry_on_intr(|| poll(&mut watched, None))
        };
        tokio::task::spawn_blocking(wait).await??;
        Ok(())
    }

    /// Waits until it has exited. Only parents are notified on this system, so it is polled.
    #[cfg(not(target_os = "linux"))]
    pub(crate) async fn ended(self) -> io::Result<()> {
        const PAUSE: std::time::Duration = std::time::Duration::from_millis(20);
        while self.is_alive() {
            tokio::time::sleep(PAUSE).await;
        }
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[tokio::test]
    async fn a_process_is_alive_until_it_has_ended() {
        let mut child = std::process::Command::new("sleep").arg("60").spawn().unwrap();
        let process = Process::new(child.id()).unwrap();
        assert!(process.is_alive());
        process.terminate().unwrap();
        process.ended().await.unwrap();
        child.wait().unwrap();
        assert!(!process.is_alive());
        process.terminate().unwrap();
        process.ended().await.unwrap();
    }

    #[test]
    fn no_process_has_the_id_zero() {
        assert_eq!(Process::new(0), None);
        assert_eq!(Process::new(u32::MAX), None);
    }
}
