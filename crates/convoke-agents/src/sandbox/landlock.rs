//! The only module that uses the Landlock API.

use std::io;
use std::os::fd::{AsFd, BorrowedFd, OwnedFd};
use std::path::{Path, PathBuf};

use landlock::{
    ABI, Access, AccessFs, AccessNet, BitFlags, CompatLevel, Compatible, PathBeneath, Ruleset,
    RulesetAttr, RulesetCreated, RulesetCreatedAttr, RulesetError, RulesetStatus, Scope,
};
use rustix::fs::{FileType, OFlags, fstat};

use super::resolve::open_without_links;
use crate::{Error, Result};

/// The newest version of file rules: the ninth has one for sockets bound to paths.
const FILES: ABI = ABI::V9;
/// The version that scopes signals and abstract sockets: the agent reaches its children, but not
/// the daemon.
const SCOPES: ABI = ABI::V6;

/// Versions that brought a new kind of rule, newest first; those between them are equivalent here.
const GENERATIONS: [(u8, ABI); 7] = [
    (9, ABI::V9),
    (6, ABI::V6),
    (5, ABI::V5),
    (4, ABI::V4),
    (3, ABI::V3),
    (2, ABI::V2),
    (1, ABI::V1),
];

/// Harmless devices; others, such as disks, can be neither read nor written.
const DEVICES: [&str; 6] =
    ["/dev/full", "/dev/null", "/dev/random", "/dev/tty", "/dev/urandom", "/dev/zero"];

/// Terminals and shared memory, which are only the program's own if it has its own `/dev`.
const OWN_DEVICES: [&str; 2] = ["/dev/ptmx", "/dev/pts"];
const OWN_SHARED_MEMORY: &str = "/dev/shm";

/// Whose `/dev` the program sees.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Devices {
    /// Its own, made by bubblewrap.
    Own,
    /// The system's, with the user's terminals.
    Shared,
}

/// What the program is granted.
pub(super) struct Grants<'a> {
    /// For reading and executing.
    pub(super) readable: &'a [PathBuf],
    /// For writing as well.
    pub(super) writable: &'a [OwnedFd],
    /// For connecting, if the kernel has a rule for it.
    pub(super) sockets: &'a [PathBuf],
    pub(super) devices: Devices,
}

/// The newest supported version, found by building rule sets without applying them.
pub(super) fn newest_generation() -> Option<u8> {
    // The reason of a failure does not matter: an older version is tried next.
    GENERATIONS.iter().find(|(_, abi)| make_rules(*abi).is_ok()).map(|(number, _)| *number)
}

fn make_rules(abi: ABI) -> std::result::Result<(), RulesetError> {
    let mut rules = Ruleset::default()
        .set_compatibility(CompatLevel::HardRequirement)
        .handle_access(AccessFs::from_all(abi))?;
    // The crate refuses empty sets, which older versions have here.
    if abi >= ABI::V4 {
        rules = rules.handle_access(AccessNet::from_all(abi))?;
    }
    if abi >= ABI::V6 {
        rules = rules.scope(Scope::from_all(abi))?;
    }
    rules.create().map(drop)
}

/// Restricts the calling thread to what is listed, as far as the kernel's ABI version supports it.
pub(super) fn restrict(grants: &Grants<'_>) -> Result<()> {
    let handled = AccessFs::from_all(FILES);
    let scopes = Scope::from_all(SCOPES);
    let rules = Ruleset::default().handle_access(handled).and_then(|rules| rules.scope(scopes));
    let mut rules = rules.and_then(Ruleset::create).map_err(landlock)?;

    rules = grant_if_there(rules, Path::new("/"), AccessFs::ReadDir.into())?;
    for path in grants.readable {
        rules = grant_if_there(rules, path, AccessFs::from_read(FILES))?;
    }
    for opened in grants.writable {
        let kind = FileType::from_raw_mode(fstat(opened).map_err(std::io::Error::from)?.st_mode);
        rules = grant(rules, opened.as_fd(), kind, writing())?;
    }
    for path in grants.sockets {
        rules = grant_if_there(rules, path, AccessFs::ResolveUnix.into())?;
    }
    let own = match grants.devices {
        Devices::Own => OWN_DEVICES.as_slice(),
        Devices::Shared => &[],
    };
    // Systems lack some of these, and some are links to others.
    let devices = DEVICES.iter().chain(own).filter_map(|path| Path::new(path).canonicalize().ok());
    for device in devices {
        rules = grant_if_there(rules, &device, using_devices())?;
    }
    if grants.devices == Devices::Own {
        rules = grant_if_there(rules, Path::new(OWN_SHARED_MEMORY), writing())?;
    }

    match rules.restrict_self().map_err(landlock)?.ruleset {
        RulesetStatus::FullyEnforced | RulesetStatus::PartiallyEnforced => Ok(()),
        RulesetStatus::NotEnforced => Err(Error::NoLandlock),
    }
}

/// All writes in a folder, except creating devices: with a device node for the disk, root would
/// have access to everything.
fn writing() -> BitFlags<AccessFs> {
    let devices = AccessFs::MakeChar | AccessFs::MakeBlock | AccessFs::IoctlDev;
    AccessFs::from_all(FILES) & !devices
}

fn using_devices() -> BitFlags<AccessFs> {
    AccessFs::ReadFile | AccessFs::WriteFile | AccessFs::Truncate | AccessFs::IoctlDev
}

/// Grants rights on a path that may have been removed since it was listed.
fn grant_if_there(
    rules: RulesetCreated,
    path: &Path,
    rights: BitFlags<AccessFs>,
) -> Result<RulesetCreated> {
    match open(path) {
        Ok((opened, kind)) => grant(rules, opened.as_fd(), kind, rights),
        Err(_) => Ok(rules),
    }
}

fn grant(
    rules: RulesetCreated,
    opened: BorrowedFd<'_>,
    kind: FileType,
    rights: BitFlags<AccessFs>,
) -> Result<RulesetCreated> {
    let rights = match kind {
        FileType::Directory => rights,
        // A device that the user named may be used.
        FileType::CharacterDevice => using_devices(),
        FileType::RegularFile
        | FileType::Symlink
        | FileType::Fifo
        | FileType::Socket
        | FileType::BlockDevice
        | FileType::Unknown => rights & AccessFs::from_file(FILES),
    };
    rules.add_rule(PathBeneath::new(opened, rights)).map_err(landlock)
}

/// Opens a path for a rule. No link is followed: it may have been created after the path was
/// resolved.
fn open(path: &Path) -> io::Result<(OwnedFd, FileType)> {
    let opened = open_without_links(path, OFlags::empty())?;
    let kind = FileType::from_raw_mode(fstat(&opened)?.st_mode);
    Ok((opened, kind))
}

fn landlock(error: RulesetError) -> Error {
    Error::Landlock(Box::new(error))
}
