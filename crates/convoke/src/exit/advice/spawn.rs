//! Hints for errors of `convoke spawn`.

use std::error::Error as StdError;

use convoke_files::transcripts::Error;

use super::{Code, files_advice};
use crate::commands::import::{ImportIncomplete, NoSource};
use crate::commands::spawn::{CleanIncomplete, DeleteError, NoAgent};
use crate::repl::{HomeInside, Interrupted, ProfileError, StartInterrupted, TurnsFailed};

/// The code and the hint of an error of `convoke spawn`; `None` for any other.
pub(super) fn advice(cause: &(dyn StdError + 'static)) -> Option<(Code, Option<String>)> {
    if let Some(error) = cause.downcast_ref::<Error>() {
        return Some(transcript_advice(error));
    }
    if let Some(error) = cause.downcast_ref::<ProfileError>() {
        let code = match error {
            ProfileError::Unknown { .. } => Code::CouldNot,
            ProfileError::Unreadable { .. }
            | ProfileError::NoAgent { .. }
            | ProfileError::UnknownAgent { .. } => Code::AskedWrongly,
        };
        return Some((code, Some(profile_hint(error))));
    }
    if let Some(Interrupted { id }) = cause.downcast_ref() {
        let way_out = format!("it is saved; resume it with `convoke spawn --resume {id}`");
        return Some((Code::CouldNot, Some(way_out)));
    }
    if cause.is::<HomeInside>() {
        let way_out = "start it in the folder of a project (`cd`), choose another home with `--home`, \
                       or set `sandbox = \"off\"` for the agent";
        return Some((Code::CouldNot, Some(way_out.to_owned())));
    }
    if cause.is::<StartInterrupted>() || cause.is::<TurnsFailed>() {
        return Some((Code::CouldNot, None));
    }
    if cause.is::<NoAgent>() {
        return Some((Code::CouldNot, Some("see `convoke agent list`".to_owned())));
    }
    if cause.is::<NoSource>() {
        let way_out = "see what is there: `convoke import --dry-run`";
        return Some((Code::AskedWrongly, Some(way_out.to_owned())));
    }
    if cause.is::<ImportIncomplete>() {
        return Some((Code::CouldNot, Some("the skipped lines are listed above".to_owned())));
    }
    if cause.is::<CleanIncomplete>() {
        return Some((Code::CouldNot, Some("see the log for the cause".to_owned())));
    }
    match cause.downcast_ref::<DeleteError>()? {
        DeleteError::Declined => Some((Code::Rejected, None)),
        DeleteError::NoTerminal => {
            Some((Code::AskedWrongly, Some("add `--yes` to confirm".to_owned())))
        }
    }
}

fn transcript_advice(error: &Error) -> (Code, Option<String>) {
    let (code, hint) = match error {
        Error::Files(error) => return files_advice(error),
        Error::BadId { .. } => (
            Code::AskedWrongly,
            "use up to 128 letters, digits, `-`, `_` and `.`, beginning with a letter, a digit or `_`"
                .to_owned(),
        ),
        Error::NotFound { .. } => {
            (Code::CouldNot, "see `convoke spawn --list-sessions`".to_owned())
        }
        Error::Ambiguous { .. } => {
            (Code::AskedWrongly, "give more characters of the id".to_owned())
        }
        Error::Exists { id } => {
            (Code::CouldNot, format!("resume it with `convoke spawn --resume {id}`"))
        }
        Error::Open { holder: Some(pid), .. } => {
            (Code::CouldNot, format!("exit it there first, or see what it is: `ps -p {pid}`"))
        }
        Error::Open { holder: None, .. } => (Code::CouldNot, "exit it there first".to_owned()),
        Error::Damaged { .. } => (
            Code::CouldNot,
            "resume it on a terminal to choose, or send `recover` as the first line of the pipe: bad \
             lines are set aside, and nothing is lost"
                .to_owned(),
        ),
        Error::Deleted { .. } => {
            (Code::CouldNot, "copy what you need from the screen; it is not saved".to_owned())
        }
        Error::TooLong { .. } => (Code::CouldNot, "split it into several prompts".to_owned()),
    };
    (code, Some(hint))
}

fn profile_hint(error: &ProfileError) -> String {
    match error {
        ProfileError::Unknown { folders, .. } => {
            let mut places: Vec<String> =
                folders.iter().map(|folder| folder.display().to_string()).collect();
            // A project in the user's folder has its roles in the home.
            places.dedup();
            let places = places.join(" and ");
            format!("see `convoke agent list`; roles are looked for in {places}")
        }
        ProfileError::Unreadable { path, .. } => {
            format!("check its permissions: `ls -ld '{}'`", path.display())
        }
        ProfileError::NoAgent { .. } => {
            "start the file with `---`, `agent: claude-code` and `---`, each on its own line"
                .to_owned()
        }
        ProfileError::UnknownAgent { .. } => "see `convoke agent list`".to_owned(),
    }
}
