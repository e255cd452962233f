//! `convoke team report`: the answer to a question, even if no caller waited for it.

use convoke_api::bodies::{ReportStatus, TeamReport};
use convoke_api::{Client, TeamReportQuery};
use convoke_core::id::MessageId;
use convoke_core::message::Seq;

use super::TeamError;
use super::ask::Speaker;
use crate::args::number;
use crate::output::{Format, Output, aside, plain};

/// Print the answer to the last question, even if the caller did not wait for it
///
/// Exits with 0 if there is an answer, with 5 while the team is working on it, and with 1 if there
/// is none.
#[derive(Debug, clap::Args)]
#[command(after_help = "Examples:
  convoke team report backend
  convoke team report backend --from frontend --seq 12")]
pub(super) struct ReportArgs {
    /// Team that was asked
    team: String,
    #[command(flatten)]
    speaker: Speaker,
    /// Question, by the id printed when it was asked [default: the last one]
    #[arg(long, value_name = "ID")]
    message: Option<MessageId>,
    /// Question, by its seq in the session
    #[arg(long, value_name = "N", value_parser = number(1_u64..), conflicts_with = "message")]
    seq: Option<u64>,
}

pub(super) async fn run(client: &Client, args: &ReportArgs, output: &Output) -> anyhow::Result<()> {
    let query = TeamReportQuery {
        from: args.speaker.from.clone(),
        thread: args.speaker.thread.clone(),
        seq: args.seq.map(Seq::new),
        message_id: args.message,
    };
    let report = client.team_report(&args.team, &query).await?;
    if output.format == Format::Json {
        output.show(&report, |_, _| String::new())?;
    }
    let team = report.team.to_string();
    match report.status {
        ReportStatus::Answered => match output.format {
            Format::Human => output.line(plain(&report.response).trim_end()),
            Format::Json => Ok(()),
        },
        ReportStatus::Working | ReportStatus::Queued => {
            so_far(&report, output);
            Err(TeamError::NotYet { team }.into())
        }
        ReportStatus::Failed => {
            so_far(&report, output);
            let reason = report.error.unwrap_or_else(|| "it gave no reason".to_owned());
            Err(TeamError::Failed { team, reason: plain(&reason) }.into())
        }
        ReportStatus::Unasked => {
            let way_out = format!("ask it with `convoke team ask {team} TEXT`");
            Err(TeamError::Unasked { team, way_out }.into())
        }
    }
}

/// Prints a partial response that is no answer.
fn so_far(report: &TeamReport, output: &Output) {
    if output.format == Format::Human && !report.response.trim().is_empty() {
        aside(&format!("{} has said so far:\n{}", report.team, plain(&report.response).trim_end()));
    }
}
