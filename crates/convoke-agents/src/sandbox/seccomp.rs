//! The system calls that are denied to a confined program. They fail with an error; the program is
//! not killed.
//!
//! ptrace is allowed, because agents use debuggers; Landlock and the PID namespace confine it.

use std::collections::BTreeMap;
use std::io;

use seccompiler::{
    BpfProgram, SeccompAction, SeccompCmpArgLen, SeccompCmpOp, SeccompCondition, SeccompFilter,
    SeccompRule, TargetArch,
};

use super::policy::{Network, Seccomp};

/// Types a character into a terminal.
const TIOCSTI: u64 = 0x5412;
/// Pastes into a Linux console, among other things.
const TIOCLINUX: u64 = 0x541C;
/// A new user namespace.
const CLONE_NEWUSER: u64 = 0x1000_0000;

/// Sockets between a virtual machine and its host, which a network namespace does not confine.
const AF_VSOCK: u64 = 40;

/// The errno for a denied call, and the one for an unsupported call, which makes programs fall
/// back.
const REFUSED: u32 = 1;
const MISSING: u32 = 38;

/// The numbers of the refused system calls of one architecture.
struct Numbers {
    arch: TargetArch,
    ioctl: i64,
    socket: i64,
    clone: i64,
    unshare: i64,
    /// Always denied: keyrings, the kernel's own interfaces, another root.
    always: &'static [i64],
    /// Denied unless a nested sandbox is allowed: mounting and entering namespaces.
    mounting: &'static [i64],
    /// Reported as unsupported, since their arguments cannot be filtered.
    missing: &'static [i64],
    /// Like `missing`, unless a nested sandbox is allowed.
    missing_unless_nested: &'static [i64],
    /// A second range of numbers for the same calls.
    second_range: Option<i64>,
    /// Calls whose number in the second range differs from the first.
    only_in_second_range: &'static [(i64, i64)],
}

#[cfg(target_arch = "x86_64")]
const NUMBERS: Numbers = Numbers {
    arch: TargetArch::x86_64,
    ioctl: 16,
    socket: 41,
    clone: 56,
    unshare: 272,
    // add_key, request_key, keyctl, kexec_load, kexec_file_load, init_module, finit_module, delete_module, bpf,
    // userfaultfd, open_by_handle_at, acct, swapon, swapoff, reboot, iopl, ioperm
    always: &[248, 249, 250, 246, 320, 175, 313, 176, 321, 323, 304, 163, 167, 168, 169, 172, 173],
    // mount, umount2, pivot_root, chroot, setns, open_tree, move_mount, fsopen, fsconfig, fsmount, fspick,
    // mount_setattr
    mounting: &[165, 166, 155, 161, 308, 428, 429, 430, 431, 432, 433, 442],
    // io_uring_setup, io_uring_enter, io_uring_register
    missing: &[425, 426, 427],
    // clone3
    missing_unless_nested: &[435],
    // x32, where two calls also have separate numbers: ioctl and kexec_load.
    second_range: Some(0x4000_0000),
    only_in_second_range: &[(16, 514), (246, 528)],
};

#[cfg(target_arch = "aarch64")]
const NUMBERS: Numbers = Numbers {
    arch: TargetArch::aarch64,
    ioctl: 29,
    socket: 198,
    clone: 220,
    unshare: 97,
    // The same calls as above; this architecture has neither iopl nor ioperm.
    always: &[217, 218, 219, 104, 294, 105, 273, 106, 280, 282, 265, 89, 224, 225, 142],
    mounting: &[40, 39, 41, 51, 268, 428, 429, 430, 431, 432, 433, 442],
    missing: &[425, 426, 427],
    missing_unless_nested: &[435],
    second_range: None,
    only_in_second_range: &[],
};

/// Whether this build knows the numbers of its architecture, and the kernel supports filters.
pub(super) fn is_available() -> bool {
    cfg!(any(target_arch = "x86_64", target_arch = "aarch64"))
        && std::fs::read_to_string("/proc/self/status").is_ok_and(|it| it.contains("Seccomp:"))
}

/// Applies the filter permanently to the calling thread and everything that it executes or starts.
pub(super) fn restrict(seccomp: Seccomp, network: Network) -> io::Result<()> {
    if seccomp == Seccomp::Off {
        return Ok(());
    }
    for program in programs(seccomp, network)? {
        seccompiler::apply_filter(&program).map_err(io::Error::other)?;
    }
    Ok(())
}

/// One filter for each errno.
#[cfg(any(target_arch = "x86_64", target_arch = "aarch64"))]
fn programs(seccomp: Seccomp, network: Network) -> io::Result<Vec<BpfProgram>> {
    let numbers = &NUMBERS;
    let (mut refused, mut missing) = (Calls::default(), Calls::default());
    // Only the low 32 bits of a request count in the kernel, so only they are compared.
    let argument = |index, operator, value| {
        SeccompCondition::new(index, SeccompCmpArgLen::Dword, operator, value)
            .and_then(|condition| SeccompRule::new(vec![condition]))
            .map_err(io::Error::other)
    };
    for request in [TIOCSTI, TIOCLINUX] {
        refused.add_if(numbers, numbers.ioctl, &argument(1, SeccompCmpOp::Eq, request)?);
    }
    if network != Network::Open {
        refused.add_if(numbers, numbers.socket, &argument(0, SeccompCmpOp::Eq, AF_VSOCK)?);
    }
    numbers.always.iter().for_each(|call| refused.add(numbers, *call));
    numbers.missing.iter().for_each(|call| missing.add(numbers, *call));
    if seccomp == Seccomp::Strict {
        let user = SeccompCmpOp::MaskedEq(CLONE_NEWUSER);
        for call in [numbers.clone, numbers.unshare] {
            refused.add_if(numbers, call, &argument(0, user.clone(), CLONE_NEWUSER)?);
        }
        numbers.mounting.iter().for_each(|call| refused.add(numbers, *call));
        numbers.missing_unless_nested.iter().for_each(|call| missing.add(numbers, *call));
    }
    Ok(vec![refused.program(numbers, REFUSED)?, missing.program(numbers, MISSING)?])
}

#[cfg(not(any(target_arch = "x86_64", target_arch = "aarch64")))]
fn programs(_seccomp: Seccomp, _network: Network) -> io::Result<Vec<BpfProgram>> {
    Err(io::ErrorKind::Unsupported.into())
}

/// System calls with the conditions under which a filter matches them.
#[derive(Default)]
struct Calls(BTreeMap<i64, Vec<SeccompRule>>);

impl Calls {
    fn add(&mut self, numbers: &Numbers, call: i64) {
        for number in numbers.of(call) {
            // A call without conditions always matches.
            self.0.insert(number, Vec::new());
        }
    }

    fn add_if(&mut self, numbers: &Numbers, call: i64, rule: &SeccompRule) {
        for number in numbers.of(call) {
            self.0.entry(number).or_default().push(rule.clone());
        }
    }

    fn program(self, numbers: &Numbers, error: u32) -> io::Result<BpfProgram> {
        let (otherwise, matched) = (SeccompAction::Allow, SeccompAction::Errno(error));
        let filter = SeccompFilter::new(self.0, otherwise, matched, numbers.arch);
        filter.and_then(BpfProgram::try_from).map_err(io::Error::other)
    }
}

impl Numbers {
    /// Every number that a call has.
    fn of(&self, call: i64) -> impl Iterator<Item = i64> + use<> {
        let other = self.only_in_second_range.iter().find(|(first, _)| *first == call);
        let second = [Some(call), other.map(|(_, second)| *second)];
        let range = self.second_range;
        std::iter::once(call)
            .chain(second.into_iter().flatten().filter_map(move |call| Some(range? | call)))
    }
}
