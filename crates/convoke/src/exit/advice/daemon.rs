//! Hints for a daemon that cannot be reached, or refuses.

use convoke_api::Error;
use convoke_api::bodies::{Problem, code};
use convoke_core::rule::InvalidRule;

use super::Code;
use crate::commands::compare::NotComparable;
use crate::commands::inbox::InboxError;
use crate::commands::project::ProjectError;
use crate::commands::session::{QueueError, SendError, SessionLimit};
use crate::commands::stop::NotStopped;
use crate::daemon::DaemonError;

/// The code and the hint of an error, if it is about the daemon.
pub(super) fn advice(cause: &(dyn std::error::Error + 'static)) -> Option<(Code, Option<String>)> {
    if let Some(error) = cause.downcast_ref::<DaemonError>() {
        return Some((Code::Unreachable, Some(daemon_hint(error))));
    }
    if let Some(error) = cause.downcast_ref::<Error>() {
        return Some(api_advice(error));
    }
    if let Some(limit) = cause.downcast_ref::<SessionLimit>() {
        return Some((Code::CouldNot, Some(limit.hint())));
    }
    match cause.downcast_ref::<NotComparable>() {
        Some(NotComparable::Alone | NotComparable::WithoutKeep) => {
            return Some((Code::AskedWrongly, None));
        }
        Some(NotComparable::Unknown { .. }) => {
            return Some((Code::AskedWrongly, Some("see `convoke agent list`".to_owned())));
        }
        None => {}
    }
    if let Some(error) = cause.downcast_ref::<ProjectError>() {
        return Some(project_advice(error));
    }
    if let Some(error) = cause.downcast_ref::<InboxError>() {
        return Some(inbox_advice(error));
    }
    if let Some(InvalidRule { .. }) = cause.downcast_ref() {
        let hint = "see the examples of `convoke rule add --help`";
        return Some((Code::AskedWrongly, Some(hint.to_owned())));
    }
    if let Some(error) = cause.downcast_ref::<QueueError>() {
        return Some(queue_advice(error));
    }
    if let Some(error) = cause.downcast_ref::<SendError>() {
        return Some((Code::CouldNot, send_hint(error)));
    }
    let NotStopped { pid } = cause.downcast_ref()?;
    Some((
        Code::CouldNot,
        Some(format!("inspect it with `ps -p {pid}`; kill it with `kill -9 {pid}`")),
    ))
}

fn daemon_hint(error: &DaemonError) -> String {
    match error {
        DaemonError::NotRunning => "start it with `convoke serve`".to_owned(),
        DaemonError::NotReady { .. } => {
            "preparing teams may take a while; wait, or stop it with `convoke stop`".to_owned()
        }
        DaemonError::Gone { .. } => {
            "no messages are lost; start it with `convoke serve`".to_owned()
        }
        DaemonError::Refused { source, .. } => {
            let hint = source.problem().and_then(problem_hint);
            hint.unwrap_or_else(|| "see why with `convoke status`".to_owned())
        }
        DaemonError::Unreadable { path, .. } => {
            let folder = path.ancestors().nth(2).unwrap_or(path).display();
            format!("restore your permissions: `chmod -R u+rwX '{folder}'`")
        }
        DaemonError::Silent { pid, .. } => {
            format!("inspect it with `ps -p {pid}`; `convoke stop` may stop it")
        }
        DaemonError::NotStarted { source } | DaemonError::TooSlow { source, .. } => format!(
            "run it in the foreground: `convoke serve`; its output is in {}",
            source.path.display()
        ),
        DaemonError::CannotStart { .. } => "run it in the foreground: `convoke serve`".to_owned(),
    }
}

fn api_advice(error: &Error) -> (Code, Option<String>) {
    match error {
        Error::Problem(problem) => (problem_code(problem), problem_hint(problem)),
        Error::Address { .. }
        | Error::Unreachable { .. }
        | Error::TimedOut { .. }
        | Error::Broken { .. } => {
            (Code::Unreachable, Some("check whether it is running: `convoke status`".to_owned()))
        }
        Error::Unexpected { .. } | Error::Malformed { .. } => (
            Code::CouldNot,
            Some(
                "if that daemon is of another version, run `convoke stop` and try again".to_owned(),
            ),
        ),
    }
}

fn problem_code(problem: &Problem) -> Code {
    match (problem.code.as_str(), problem.status) {
        (code::AMBIGUOUS, _) | (_, 400 | 422) => Code::AskedWrongly,
        (code::STOPPING, _) => Code::Unreachable,
        (_, _) => Code::CouldNot,
    }
}

/// The hint for the command line; the daemon's own hints are about its HTTP interface.
fn problem_hint(problem: &Problem) -> Option<String> {
    let hint = match problem.code.as_str() {
        code::SESSION_NOT_FOUND => {
            "see `convoke session list`, and the archived ones with `--archived`"
        }
        code::REPO_NOT_FOUND | code::REPO_EXISTS => "see `convoke project list`",
        code::REQUEST_NOT_FOUND | code::ALREADY_SETTLED => "see `convoke inbox list`",
        code::USER_EXISTS => {
            "see `convoke user list`; `convoke user link NAME` prints another link for a user"
        }
        code::RULE_NOT_FOUND => "see `convoke rule list`",
        code::INVALID_RULE => "see the examples of `convoke rule add --help`",
        code::UNKNOWN_AGENT => "see `convoke agent list`",
        code::UNKNOWN_TEAM => "see `convoke team list`",
        code::TEAM_SESSION_NOT_FOUND => "see `convoke team sessions`",
        // The daemon knows how to install the agent, or to log in.
        code::AGENT_FAILED if problem.hint.is_some() => return problem.hint.clone(),
        code::AGENT_FAILED => {
            "find the cause with `convoke agent check`; `convoke agent list` lists the agents"
        }
        code::SESSION_ENDED => "resume it first: `convoke session resume ID`",
        code::SESSION_CANCELLED => "create a new one: `convoke session new`",
        code::SESSION_ACTIVE => "send it a prompt: `convoke session send ID TEXT`",
        code::TOO_MANY_SESSIONS => {
            "end one with `convoke session complete ID`, or raise sessions.max_active"
        }
        code::INVALID_ANSWER => {
            "see what it asks with `convoke inbox list --json`; it can still be answered"
        }
        code::UNAUTHORIZED => {
            "if another program restarted the daemon, run `convoke stop` and try again"
        }
        code::STOPPING => "try again in a few seconds",
        _ => return problem.hint.clone(),
    };
    Some(hint.to_owned())
}

fn project_advice(error: &ProjectError) -> (Code, Option<String>) {
    let (code, hint) = match error {
        ProjectError::Unknown { .. } => (
            Code::CouldNot,
            "see `convoke project list`; a folder is added with `convoke project add PATH`",
        ),
        ProjectError::Ambiguous { .. } => {
            (Code::AskedWrongly, "give its path, or more characters of its id")
        }
        ProjectError::Nowhere { .. } => (
            Code::AskedWrongly,
            "name the project with `--project`, or add this folder: `convoke project add .`",
        ),
        ProjectError::AroundHome { .. } => (
            Code::AskedWrongly,
            "name a project with `--project`, or change to a folder of one; see `convoke project list`",
        ),
    };
    (code, Some(hint.to_owned()))
}

fn inbox_advice(error: &InboxError) -> (Code, Option<String>) {
    let (code, hint) = match error {
        InboxError::Unknown { .. } => {
            (Code::CouldNot, "see `convoke inbox list`; it may have been answered already")
        }
        InboxError::Short { .. } => (Code::AskedWrongly, "give at least four characters of the id"),
        InboxError::Ambiguous { .. } => (Code::AskedWrongly, "give more characters of the id"),
        InboxError::Questions { .. } => {
            (Code::AskedWrongly, "answer them with `convoke inbox answer ID --answers JSON`")
        }
        InboxError::NoOption { .. } | InboxError::NoWayToAllow { .. } => {
            (Code::AskedWrongly, "choose one of them with `--option`")
        }
        InboxError::OnlyOnce { .. } | InboxError::NoWayToDeny { .. } => {
            (Code::AskedWrongly, "leave `--always` out, or write a rule with `convoke rule add`")
        }
        InboxError::NoRule { .. } => (Code::AskedWrongly, "see them with `convoke inbox show ID`"),
    };
    (code, Some(hint.to_owned()))
}

fn queue_advice(error: &QueueError) -> (Code, Option<String>) {
    match error {
        QueueError::Unknown { session, .. } => {
            let hint = format!("it may have been sent; see `convoke session queue list {session}`");
            (Code::CouldNot, Some(hint))
        }
        QueueError::Short { .. } => {
            (Code::AskedWrongly, Some("give at least four characters of the id".to_owned()))
        }
        QueueError::Ambiguous { .. } => {
            (Code::AskedWrongly, Some("give more characters of the id".to_owned()))
        }
    }
}

fn send_hint(error: &SendError) -> Option<String> {
    match error {
        SendError::Ended { id, .. } => {
            Some(format!("resume it first: `convoke session resume {id}`"))
        }
        SendError::NotWell { .. } => None,
        SendError::Interrupted { id } => Some(format!(
            "follow it with `convoke session watch {id}`, cancel it with `convoke session cancel {id} --turn`"
        )),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn told(status: u16, code: &str) -> (u8, Option<String>) {
        let problem = Problem::new(status, code, "", "");
        let (code, hint) = api_advice(&Error::Problem(Box::new(problem)));
        (code as u8, hint)
    }

    #[test]
    fn exit_codes_of_refused_and_ambiguous_requests() {
        let codes = [
            told(409, code::AMBIGUOUS).0,
            told(422, code::EMPTY_PROMPT).0,
            told(400, code::INVALID).0,
            told(404, code::SESSION_NOT_FOUND).0,
            told(409, code::ALREADY_SETTLED).0,
            told(500, code::INTERNAL).0,
            told(503, code::STOPPING).0,
        ];
        assert_eq!(codes, [2, 2, 2, 1, 1, 1, 3]);
        assert_eq!(told(404, code::REPO_NOT_FOUND).1.unwrap(), "see `convoke project list`");
    }
}
