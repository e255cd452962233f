//! Hints for a team that is configured wrongly, or does not answer.

use convoke_engine::Error;

use super::Code;
use crate::commands::team::TeamError;
use crate::config::teams::TeamsError;

/// The code and the hint of an error, if it is about teams.
pub(super) fn advice(cause: &(dyn std::error::Error + 'static)) -> Option<(Code, Option<String>)> {
    if let Some(error) = cause.downcast_ref::<TeamsError>() {
        return Some((Code::AskedWrongly, Some(teams_hint(error))));
    }
    match cause.downcast_ref::<TeamError>()? {
        TeamError::TimedOut { way_out, .. } => Some((Code::TimedOut, Some(way_out.clone()))),
        TeamError::NotYet { .. } => Some((Code::TimedOut, Some("try again later".to_owned()))),
        TeamError::Failed { .. } => Some((Code::CouldNot, None)),
        TeamError::Unasked { way_out, .. } => Some((Code::CouldNot, Some(way_out.clone()))),
        TeamError::NotATime { .. } => Some((
            Code::AskedWrongly,
            Some("write it as 2026-11-15, 2026-11-15T10:00:00Z, or 12h, 7d, 2w ago".to_owned()),
        )),
    }
}

fn teams_hint(error: &TeamsError) -> String {
    match error {
        TeamsError::Read { path, .. } => {
            format!("check its permissions: `ls -ld '{}'`", path.display())
        }
        TeamsError::Wrong { .. } => {
            r#"the format is {"teams": {"NAME": {"path": "/absolute/path"}}}"#.to_owned()
        }
        TeamsError::Range { .. } => "times are in milliseconds".to_owned(),
        TeamsError::Team(_) => "fix it in teams.json; nothing was started".to_owned(),
    }
}

/// The hint for a team that does not start.
pub(super) fn serve_hint(error: &Error) -> Option<String> {
    // Several callers may have waited for the same one.
    if let Error::Shared(error) = error {
        return serve_hint(error);
    }
    if let Error::Invalid(_) = error {
        return Some("fix it in teams.json; nothing was started".to_owned());
    }
    let Error::TeamProcess { source, .. } = error else { return None };
    let alone = "find the cause with `convoke agent check`, which checks all agents";
    super::agent_hint(source).or_else(|| Some(alone.to_owned()))
}
