//! Exit codes and hints for all known errors.

mod daemon;
mod server;
mod spawn;
mod team;

use convoke_core::id::short;
use convoke_engine::backup;

use super::{Code, Ended};
use crate::browser::BrowserError;
use crate::commands::agent::{AddError, UnknownAgent};
use crate::commands::ask::AskError;
use crate::commands::db::RollbackError;
use crate::commands::questions::NotAnswers;
use crate::commands::restore::DaemonRuns;
use crate::commands::sandbox_exec::NoProgram;
use crate::commands::serve::ServeError;
use crate::environment::McpEndpointError;
use crate::home;

/// The exit code and the hint of an error, by the first known cause.
pub(super) fn advice(error: &anyhow::Error) -> (Code, Option<String>) {
    for cause in error.chain() {
        if let Some(error) = cause.downcast_ref::<home::Error>() {
            let (code, hint) = home_advice(error);
            return (code, Some(hint));
        }
        if let Some(error) = cause.downcast_ref::<convoke_store::Error>() {
            return (Code::CouldNot, store_hint(error));
        }
        if let Some(error) = cause.downcast_ref::<ServeError>() {
            return (serve_code(error), serve_hint(error));
        }
        if let Some(advice) = team::advice(cause) {
            return advice;
        }
        if let Some(advice) = daemon::advice(cause) {
            return advice;
        }
        if let Some(advice) = spawn::advice(cause) {
            return advice;
        }
        if let Some(ended) = cause.downcast_ref::<Ended>() {
            return ended_advice(ended);
        }
        if let Some(convoke_tui::Error::NoTerminal) = cause.downcast_ref() {
            let way_out = "without a terminal, see `convoke questions answer --help` or `convoke session --help`";
            return (Code::AskedWrongly, Some(way_out.to_owned()));
        }
        if let Some(error) = cause.downcast_ref::<convoke_files::Error>() {
            return files_advice(error);
        }
        if let Some(error) = cause.downcast_ref::<AskError>() {
            return ask_advice(error);
        }
        if cause.is::<DaemonRuns>() {
            return (Code::CouldNot, Some("stop the daemon first: `convoke stop`".to_owned()));
        }
        if cause.is::<NoProgram>() {
            return (Code::NoProgram, None);
        }
        if let Some(error) = cause.downcast_ref::<convoke_agents::Error>() {
            return (Code::CouldNot, agent_hint(error));
        }
        if cause.is::<BrowserError>() {
            let hint = "run `convoke open --print`, and open the link in a browser yourself";
            return (Code::CouldNot, Some(hint.to_owned()));
        }
        if cause.is::<McpEndpointError>() {
            return (Code::AskedWrongly, Some("set both of them, or none".to_owned()));
        }
        if cause.is::<UnknownAgent>() {
            return (Code::CouldNot, Some("see `convoke agent list`".to_owned()));
        }
        if let Some(error) = cause.downcast_ref::<AddError>() {
            return add_advice(error);
        }
        if cause.is::<NotAnswers>() {
            let form = r#"the format is '{"0": {"selectedOption": "A"}}'; see `--help`"#;
            return (Code::AskedWrongly, Some(form.to_owned()));
        }
        if let Some(error) = cause.downcast_ref::<backup::Error>() {
            return (Code::CouldNot, backup_hint(error));
        }
        match cause.downcast_ref::<RollbackError>() {
            Some(RollbackError::Declined) => return (Code::Rejected, None),
            Some(RollbackError::NoTerminal) => {
                return (Code::AskedWrongly, Some("add `--yes` to confirm".to_owned()));
            }
            None => {}
        }
    }
    (Code::CouldNot, None)
}

fn add_advice(error: &AddError) -> (Code, Option<String>) {
    let (code, hint) = match error {
        AddError::Unregistered { .. } => (
            Code::CouldNot,
            "see `convoke agent list --registry`; `convoke agent refresh` reads a newer one"
                .to_owned(),
        ),
        AddError::BuiltIn { install, .. } => {
            (Code::AskedWrongly, format!("there is nothing to add; install it with `{install}`"))
        }
        AddError::Exists { .. } => (Code::AskedWrongly, "add `--replace` to replace it".to_owned()),
        AddError::Download { .. } => (
            Code::CouldNot,
            "download it in another way, and give the file: `convoke agent refresh FILE`"
                .to_owned(),
        ),
    };
    (code, Some(hint))
}

fn backup_hint(error: &backup::Error) -> Option<String> {
    use backup::Error;
    let hint = match error {
        Error::Running { pid: Some(pid) } => format!("wait for process {pid}, which is making it"),
        Error::Running { pid: None } => "wait for it to end".to_owned(),
        Error::NoRoom { folder, .. } => {
            format!(
                "free some space (`df -h '{}'`), or choose another disk with `--to`",
                folder.display()
            )
        }
        Error::NotABackup { .. } => {
            "give the folder of one backup, with manifest.json in it, or a database file".to_owned()
        }
        Error::Damaged { .. } => "nothing was changed; try an older backup".to_owned(),
        Error::Io { path, .. } => {
            format!(
                "check free space and permissions: `df -h '{0}'`; `ls -ld '{0}'`",
                path.display()
            )
        }
        Error::Store(error) => return store_hint(error),
        Error::Lock(_) => return None,
    };
    Some(hint)
}

fn serve_hint(error: &ServeError) -> Option<String> {
    use convoke_engine::Error;
    match error {
        ServeError::Running { .. } => Some("use it, or stop it with `convoke stop`".to_owned()),
        ServeError::Bind { source, .. } if source.kind() == std::io::ErrorKind::AddrInUse => {
            Some("let it pick a free port: `--listen 127.0.0.1:0`".to_owned())
        }
        ServeError::Bind { .. } => {
            Some("listen on this machine: `--listen 127.0.0.1:0`".to_owned())
        }
        ServeError::Open(Error::Store(error)) => store_hint(error),
        ServeError::Open(_) => None,
        ServeError::Team(error) => team::serve_hint(error),
    }
}

/// An invalid team configuration is a usage error; an agent that does not start is not.
fn serve_code(error: &ServeError) -> Code {
    use convoke_engine::Error;
    match error {
        ServeError::Team(Error::Invalid(_)) => Code::AskedWrongly,
        ServeError::Running { .. }
        | ServeError::Bind { .. }
        | ServeError::Open(_)
        | ServeError::Team(_) => Code::CouldNot,
    }
}

fn agent_hint(error: &convoke_agents::Error) -> Option<String> {
    use convoke_agents::Error;
    match error {
        Error::NotInstalled { install: Some(install), .. } => {
            Some(format!("install it with `{install}`"))
        }
        Error::NotInstalled { install: None, .. } | Error::NotFound { .. } => {
            Some("`convoke agent list` shows how to install it".to_owned())
        }
        Error::AuthRequired { methods, .. } if !methods.is_empty() => {
            Some(format!("log in with the agent itself first: {}", methods.join("; ")))
        }
        Error::AuthRequired { .. } => Some("log in with the agent itself first".to_owned()),
        Error::Timeout { .. } | Error::SessionTimeout { .. } => {
            Some("try again, or start the agent by hand to see what it waits for".to_owned())
        }
        Error::NoRoom { .. } => {
            Some("try again later, or raise pool.max_processes in config.toml".to_owned())
        }
        Error::Exposed { .. } => {
            Some("work in a folder that does not contain Convoke's home".to_owned())
        }
        Error::NoLandlock => {
            Some("set sandbox = \"off\" for the agent, if it may write everywhere you can".to_owned())
        }
        Error::Redirected { .. } => Some("remove it yourself".to_owned()),
        Error::LayerMissing { .. } => {
            Some("see `convoke doctor`, or remove the layer from sandbox.require".to_owned())
        }
        Error::NetworkNotHeld { .. } => Some(
            "install bubblewrap and see `convoke doctor`, or set sandbox.network = \"open\" in config.toml"
                .to_owned(),
        ),
        Error::Temporary { path, .. } => {
            Some(format!("check free space and permissions: `df -h '{}'`", path.display()))
        }
        Error::Spawn { .. }
        | Error::Workspace { .. }
        | Error::Confine { .. }
        | Error::Landlock(_)
        | Error::Exited(_)
        | Error::CannotResume { .. }
        | Error::IdTaken { .. }
        | Error::Protocol { .. }
        | Error::Refused { .. }
        | Error::Settings(_)
        | Error::Gone
        | Error::Io(_) => None,
    }
}

fn ended_advice(ended: &Ended) -> (Code, Option<String>) {
    match ended {
        Ended::Rejected => (Code::Rejected, None),
        Ended::TimedOut => (Code::TimedOut, None),
        Ended::Abandoned | Ended::Invalid => (Code::CouldNot, None),
        Ended::Interrupted { id } => {
            let way_out = format!(
                "they can still be answered; wait again with `convoke questions wait {id}`"
            );
            (Code::CouldNot, Some(way_out))
        }
        Ended::Incomplete { .. } => (Code::CouldNot, Some("see the log for the cause".to_owned())),
    }
}

fn ask_advice(error: &AskError) -> (Code, Option<String>) {
    let way_out = match error {
        AskError::NoInput | AskError::NotQuestions { .. } => {
            "see `convoke ask --help` for the format"
        }
        AskError::Unreadable { .. } => "give a file that can be read, or - for standard input",
    };
    (Code::AskedWrongly, Some(way_out.to_owned()))
}

fn files_advice(error: &convoke_files::Error) -> (Code, Option<String>) {
    use convoke_files::Error;
    let (code, hint) = match error {
        Error::Write { path, .. } => {
            let folder = path.parent().unwrap_or(path).display();
            (
                Code::CouldNot,
                format!(
                    "check free space and permissions: `df -h '{folder}'`; `ls -ld '{folder}'`"
                ),
            )
        }
        Error::Read { path, .. } => {
            (Code::CouldNot, format!("check its permissions: `ls -ld '{}'`", path.display()))
        }
        Error::Damaged { path, .. } => {
            let folder = path.parent().unwrap_or(path).display();
            (
                Code::CouldNot,
                format!(
                    "inspect it, and delete the session if you do not need it: `rm -r '{folder}'`"
                ),
            )
        }
        Error::Locked { .. } | Error::Watch { .. } => {
            (Code::CouldNot, "try again in a few seconds".to_owned())
        }
        Error::Invalid(_) => {
            (Code::AskedWrongly, "give an id, or at least its first four characters".to_owned())
        }
        Error::NotFound { .. } => (Code::CouldNot, "see `convoke questions list`".to_owned()),
        Error::Ambiguous { .. } => {
            (Code::AskedWrongly, "give more characters of the id".to_owned())
        }
        Error::Settled { id, .. } => {
            (Code::CouldNot, format!("see `convoke questions show {}`", short(*id)))
        }
        Error::Questions(_) => (
            Code::AskedWrongly,
            "see `convoke ask --help` for the format and `convoke config show` for the limits"
                .to_owned(),
        ),
        Error::TooLong { .. } => (
            Code::AskedWrongly,
            "put long text into a file, and refer to that file instead".to_owned(),
        ),
        Error::Answers(_) => (
            Code::AskedWrongly,
            "see the options with `convoke questions show`; the session can still be answered"
                .to_owned(),
        ),
        Error::TooMany { .. } => (
            Code::CouldNot,
            "answer some of them with `convoke answer`, or raise questions.max_sessions".to_owned(),
        ),
    };
    (code, Some(hint))
}

fn home_advice(error: &home::Error) -> (Code, String) {
    match error {
        home::Error::Unknown => (
            Code::AskedWrongly,
            "set HOME, CONVOKE_HOME or `--home` to an absolute path".to_owned(),
        ),
        home::Error::Empty { origin } | home::Error::Relative { origin, .. } => {
            let way_out = match origin {
                home::Origin::Default => "set HOME to an absolute path",
                home::Origin::Variable => "set CONVOKE_HOME to an absolute path, or unset it",
                home::Origin::Flag => "give `--home` an absolute path",
            };
            (Code::AskedWrongly, way_out.to_owned())
        }
        home::Error::Foreign { origin, .. } => {
            let chosen = match origin {
                home::Origin::Default | home::Origin::Flag => "`--home`",
                home::Origin::Variable => "CONVOKE_HOME",
            };
            (Code::AskedWrongly, format!("set {chosen} to a new or an empty folder"))
        }
        home::Error::NotAFolder { path } => {
            let way_out = format!("choose another home than {} with `--home`", path.display());
            (Code::CouldNot, way_out)
        }
        home::Error::Create { .. } => {
            (Code::CouldNot, "choose another home with `--home` or CONVOKE_HOME".to_owned())
        }
        home::Error::Unwritable { path, .. } => {
            // No hint about chown or chmod: the folder may be one of the system's, given by
            // mistake.
            let path = path.display();
            let way_out = format!(
                "choose another home with `--home`, or check its permissions: `ls -ld '{path}'`"
            );
            (Code::CouldNot, way_out)
        }
    }
}

fn store_hint(error: &convoke_store::Error) -> Option<String> {
    use convoke_store::Error;
    if let Some(hint) = server::hint(error) {
        return Some(hint);
    }
    let hint = match error {
        Error::Newer { .. } => "a newer Convoke wrote it; install that version again".to_owned(),
        Error::Corrupt { path, .. } => {
            let folder = path.parent().unwrap_or(path).display();
            let path = path.display();
            format!(
                "nothing was changed; restore a backup (`ls '{folder}/backups'`, then `convoke restore PATH`), or recover what can be read: `sqlite3 '{path}' .recover | sqlite3 recovered.db`, \
                 then `convoke restore recovered.db`; `convoke db check` lists all damage"
            )
        }
        Error::Lost { rescued: Some(rescued), .. } => format!(
            "restart the daemon (`convoke stop`, `convoke serve`): all stored data is in '{}' and will be used then",
            rescued.display()
        ),
        Error::Lost { rescued: None, .. } => {
            "keep the daemon running and free space on the disk of its home, until `convoke status` reports that the data is rescued"
                .to_owned()
        }
        Error::Rescued { path, rescued } => {
            let (path, rescued) = (path.display(), rescued.display());
            format!(
                "use the rescued one, and set the other aside: `convoke restore '{rescued}'`; or keep {path}: `mv '{rescued}' '{rescued}.old'`"
            )
        }
        Error::NotADatabase { path } | Error::ForeignDatabase { path } => {
            let path = path.display();
            format!("move it away (`mv '{path}' '{path}.other'`), or choose another home with `--home`")
        }
        Error::NotAFile { path } => {
            let path = path.display();
            format!("move it away: `mv '{path}' '{path}.other'`")
        }
        Error::ReadOnly { path } | Error::Denied { path, .. } => {
            format!("check its permissions: `ls -l '{}'`", path.display())
        }
        Error::OtherContents { .. } => "copy into an empty database".to_owned(),
        Error::DiskFull { path } => format!("free some space: `df -h '{}'`", path.display()),
        Error::InUse { pid: Some(pid), .. } => {
            format!("stop the daemon first: `convoke stop`; or see what process {pid} is: `ps -p {pid}`")
        }
        Error::InUse { pid: None, .. } => "wait for the other Convoke to end".to_owned(),
        Error::Changed { .. } => {
            "a released migration was edited; run the Convoke that made this database".to_owned()
        }
        Error::UnknownProject { .. }
        | Error::UnknownSession { .. }
        | Error::UnknownPair { .. }
        | Error::UnknownNode { .. }
        | Error::OtherNode { .. }
        | Error::Fenced
        | Error::Unreachable { .. }
        | Error::Untrusted { .. }
        | Error::NodesRun { .. }
        | Error::NodeRuns { .. }
        | Error::NodeNameTaken { .. }
        | Error::ProjectExists { .. }
        | Error::SessionExists { .. }
        | Error::PairExists { .. }
        | Error::OutOfOrder { .. }
        | Error::UnknownMessage { .. }
        | Error::Misuse { .. }
        | Error::Closed
        | Error::Internal { .. } => return None,
    };
    Some(hint)
}
