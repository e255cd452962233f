//! Switching off the programs that a project's configuration names.

use std::collections::BTreeSet;
use std::ffi::OsString;
use std::os::unix::ffi::OsStringExt;

use super::{Filters, Project};
use crate::{Limits, Result};

/// The settings for each filter: no command, and no failure without one.
const FILTER: [&[u8]; 4] = [b".clean=", b".smudge=", b".process=", b".required=false"];

/// The built-in merge, for drivers that would run a program.
const MERGE: [&[u8]; 1] = [b".driver=git merge-file %A %O %B"];

impl Project {
    /// Settings that overrule every filter and merge driver which the configuration has now.
    ///
    /// A driver that appears later runs inside of the sandbox; it is not possible to forbid all at once.
    pub(super) fn switch_off(&self, limits: &Limits) -> Result<Vec<OsString>> {
        if self.filters == Filters::Run {
            return Ok(Vec::new());
        }
        let command = self.command("config").args(["--list", "--null", "--name-only"]);
        let output = command.run(limits)?;
        let names = output.stdout.split(|byte| *byte == 0);
        let mut sections: BTreeSet<(&[u8], &[&[u8]])> = BTreeSet::new();
        for name in names {
            // `section.name.key`, where the name may have dots of its own.
            let Some(end) = name.iter().rposition(|byte| *byte == b'.') else { continue };
            let section = name.get(..end).unwrap_or_default();
            if section.starts_with(b"filter.") {
                sections.insert((section, &FILTER));
            } else if section.starts_with(b"merge.") && name.ends_with(b".driver") {
                sections.insert((section, &MERGE));
            }
        }
        let settings = sections.into_iter().flat_map(|(section, keys)| {
            keys.iter().map(move |key| OsString::from_vec([section, key].concat()))
        });
        Ok(settings.collect())
    }
}
