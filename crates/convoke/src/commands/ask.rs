//! `convoke ask`: puts questions to the human and waits for the answers.

use std::fs;
use std::io::{self, IsTerminal, Read};
use std::path::{Path, PathBuf};

use convoke_api::mcp::{AskedQuestion, text};
use convoke_core::id::{RequestId, short};
use convoke_core::question::Question;
use convoke_files::questions::{Outcome, Status};
use serde::Serialize;

use super::{Access, World};
use crate::args::{GlobalArgs, number};
use crate::asking::{AskedSet, Asker, timeout_of};
use crate::exit::Ended;
use crate::logs::Verbosity;
use crate::output::{Output, aside_on_terminal, plain};
use crate::signals;

/// Ask the human and print the answers
///
/// The questions are JSON: a list of {"prompt", "title", "options": [{"label", "description"}],
/// "multiSelect"}, or an object with that list as "questions". Answer them with `convoke answer`,
/// in the browser, or with `convoke questions answer`. Works without the daemon. Exits with 4 if
/// the human rejects the questions and with 5 on timeout; a late answer is kept, and `convoke
/// questions wait` prints it.
#[derive(Debug, clap::Args)]
#[command(after_help = r#"Examples:
  convoke ask questions.json
  convoke ask --timeout-ms 60000 questions.json
  echo '[{"prompt": "Ship it?", "title": "Ship", "multiSelect": false,
          "options": [{"label": "Yes"}, {"label": "No"}]}]' | convoke ask -"#)]
pub(crate) struct AskArgs {
    /// File with the questions; - or nothing reads standard input
    #[arg(value_name = "FILE")]
    file: Option<PathBuf>,
    /// Milliseconds to wait; 0 waits without limit [default: questions.timeout_ms]
    #[arg(long, value_name = "N", value_parser = number(0_u64..))]
    timeout_ms: Option<u64>,
    /// Print the id of the session and do not wait
    #[arg(long)]
    non_blocking: bool,
    /// Name of this call, which the answers must carry
    #[arg(long, value_name = "ID")]
    call_id: Option<String>,
}

/// Why the questions could not be asked.
#[derive(Debug, thiserror::Error)]
pub(crate) enum AskError {
    /// A person typed the command and nothing else.
    #[error("no questions given: standard input is a terminal")]
    NoInput,
    /// The questions cannot be read.
    #[error("cannot read the questions from {from}")]
    Unreadable {
        /// The file, or standard input.
        from: String,
        /// Why.
        source: io::Error,
    },
    /// The questions are not JSON, or not questions.
    #[error("cannot parse the questions from {from}")]
    NotQuestions {
        /// The file, or standard input.
        from: String,
        /// What is wrong with them.
        source: serde_json::Error,
    },
}

/// The output of `ask --non-blocking --json`. A contract with scripts.
#[derive(Serialize)]
#[serde(rename_all = "camelCase")]
struct NotWaiting {
    session_id: RequestId,
    status: Status,
}

/// The output of a wait with `--json`. A contract with scripts.
#[derive(Serialize)]
#[serde(rename_all = "camelCase")]
struct Waited<'a> {
    session_id: RequestId,
    status: Status,
    #[serde(skip_serializing_if = "Option::is_none")]
    answers: Option<&'a [convoke_core::question::Answer]>,
    #[serde(skip_serializing_if = "Option::is_none")]
    rejection_reason: Option<&'a str>,
}

pub(crate) fn run(
    args: &AskArgs,
    global: &GlobalArgs,
    world: &World,
    output: &Output,
) -> anyhow::Result<()> {
    let questions = read(args.file.as_deref())?;
    let asking = world.asking(Access::Write, global, Verbosity::of(global), output)?;
    let asker = Asker {
        call_id: args.call_id.clone(),
        working_directory: std::env::current_dir().ok(),
        name: Some("convoke ask".to_owned()),
    };
    if args.non_blocking {
        let mut asked = asking.ask(questions, asker)?;
        asked.leave();
        let (id, status) = (asked.id(), Status::Pending);
        return output.show(&NotWaiting { session_id: id, status }, |_, _| format!("{id}\n"));
    }
    let timeout = args.timeout_ms.map_or(asking.timeout, timeout_of);
    signals::block_on(async {
        // Before anything is asked, so that a signal cannot leave a pending question that is never marked as abandoned.
        let signalled = signals::ended()?;
        let mut asked = asking.ask(questions.clone(), asker)?;
        let id = asked.id();
        print_how_to_answer(id);
        tokio::select! {
            outcome = asked.wait(args.call_id.as_deref(), timeout) => {
                print_outcome(id, &questions, &outcome?, output)
            }
            () = signalled => {
                asked.abandon();
                Err(Ended::Interrupted { id: short(id) }.into())
            }
        }
    })
}

/// Prints the outcome of questions, and ends with its exit code.
pub(super) fn print_outcome(
    id: RequestId,
    questions: &[Question],
    outcome: &Outcome,
    output: &Output,
) -> anyhow::Result<()> {
    let text = text::outcome(id, questions, &outcome.clone().into_state())?;
    let (answers, rejection_reason) = match outcome {
        Outcome::Answered(file) => (Some(file.answers.as_slice()), None),
        Outcome::Rejected { reason } => (None, reason.as_deref()),
        Outcome::TimedOut | Outcome::Abandoned => (None, None),
    };
    let waited = Waited { session_id: id, status: outcome.status(), answers, rejection_reason };
    output.show(&waited, |_, _| format!("{}\n", plain(&text)))?;
    match outcome {
        Outcome::Answered(_) => Ok(()),
        Outcome::Rejected { .. } => Err(Ended::Rejected.into()),
        Outcome::TimedOut => Err(Ended::TimedOut.into()),
        Outcome::Abandoned => Err(Ended::Abandoned.into()),
    }
}

/// Prints how to answer, on a terminal only.
fn print_how_to_answer(id: RequestId) {
    let id = short(id);
    aside_on_terminal(&format!("Waiting for an answer to {id}; answer with `convoke answer`"));
}

fn read(file: Option<&Path>) -> Result<Vec<Question>, AskError> {
    let (from, bytes) = match file.filter(|path| *path != Path::new("-")) {
        Some(path) => (path.display().to_string(), fs::read(path)),
        None if io::stdin().is_terminal() => return Err(AskError::NoInput),
        None => {
            let mut bytes = Vec::new();
            let read = io::stdin().lock().read_to_end(&mut bytes);
            ("standard input".to_owned(), read.map(|_| bytes))
        }
    };
    let bytes = bytes.map_err(|source| AskError::Unreadable { from: from.clone(), source })?;
    // The error of an untagged enum would not be helpful, so the first character decides on the
    // shape.
    let is_list = bytes.iter().find(|byte| !byte.is_ascii_whitespace()) == Some(&b'[');
    let questions = if is_list {
        serde_json::from_slice::<Vec<AskedQuestion>>(&bytes)
    } else {
        serde_json::from_slice::<AskedSet>(&bytes).map(|asked| asked.questions)
    };
    let questions = questions.map(|asked| asked.into_iter().map(Question::from).collect());
    questions.map_err(|source| AskError::NotQuestions { from, source })
}
