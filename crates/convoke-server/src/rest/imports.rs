//! Transcripts that become sessions.

use axum::extract::State;
use axum::response::Response;
use convoke_api::bodies::{Import, ImportOutcome, Imported, TurnRole};
use convoke_engine::{ImportTurn, Speaker};

use super::Daemon;
use crate::failure::Failure;
use crate::json::{self, LongJson};
use crate::view;

/// The most turns in one request; longer transcripts take several.
const TURNS_MAX: usize = 1000;
/// Characters of a transcript's name.
const NAME_CHARS_MAX: usize = 200;

/// Import turns of a transcript
///
/// They become a session that can be read, searched and resumed; no agent is started.
#[utoipa::path(
    post,
    path = "/api/imports",
    operation_id = "importTranscript",
    tag = "sessions",
    request_body = Import,
    responses(
        (status = 200, description = "The result of the import", body = Imported),
        (status = 404, description = "There is no such project"),
        (status = 409, description = "Earlier turns are missing, or the prefix matches several projects"),
    )
)]
pub(super) async fn import(
    State(app): Daemon,
    LongJson(import): LongJson<Import>,
) -> Result<Response, Failure> {
    if import.turns.is_empty() || import.turns.len() > TURNS_MAX {
        return Err(Failure::invalid(format!("turns must have 1 to {TURNS_MAX} elements")));
    }
    if import.transcript.trim().is_empty() || import.transcript.chars().count() > NAME_CHARS_MAX {
        let detail = format!("transcript must be a name of 1 to {NAME_CHARS_MAX} characters");
        return Err(Failure::invalid(detail));
    }
    let project = app.engine.projects().find(&import.repo_id).await?;
    let agent = import.agent.parse().map_err(convoke_engine::Error::from)?;
    let turns = import.turns.into_iter().map(turn).collect();
    let imported = app.engine.sessions().import(convoke_engine::Import {
        project,
        transcript: import.transcript,
        agent,
        created_at: import.created_at,
        after: import.after,
        turns,
        forked_from: None,
    });
    let imported = imported.await?;
    Ok(json::ok(&Imported {
        session: view::session(imported.session),
        turns: imported.turns,
        added: imported.added,
        outcome: match imported.outcome {
            convoke_engine::ImportOutcome::Added => ImportOutcome::Added,
            convoke_engine::ImportOutcome::Known => ImportOutcome::Known,
            convoke_engine::ImportOutcome::Continued => ImportOutcome::Continued,
        },
    }))
}

fn turn(turn: convoke_api::bodies::ImportTurn) -> ImportTurn {
    ImportTurn {
        speaker: match turn.role {
            TurnRole::User => Speaker::Human,
            TurnRole::Assistant => Speaker::Agent,
        },
        content: turn.content,
        timestamp: turn.timestamp,
        tokens: turn.tokens,
    }
}
