//! Histories of other programs as bodies.

use convoke_api::bodies::{
    FailedHistory, FoundAgent, FoundRepo, Histories, HistoryImport, ImportMode, SourceImport,
};
use convoke_engine::{AgentRun, FoundHistories, HistoryAgent, ImportRun};

/// What was found.
pub(crate) fn histories(found: FoundHistories, run: ImportRun) -> Histories {
    let agent = |found: convoke_engine::FoundAgent| FoundAgent {
        source: found.agent.as_str().to_owned(),
        name: found.agent.name().to_owned(),
        found: found.found,
        imported: found.imported,
        newest: found.newest,
        followed: found.is_followed,
    };
    let repo = |(project, sessions): (convoke_engine::FoundProject, u64)| FoundRepo {
        id: project.id,
        name: project.name,
        path: project.path.display().to_string(),
        sessions,
    };
    Histories {
        import: match found.mode {
            convoke_engine::ImportMode::Ask => ImportMode::Ask,
            convoke_engine::ImportMode::Always => ImportMode::Always,
            convoke_engine::ImportMode::Never => ImportMode::Never,
        },
        agents: found.agents.into_iter().map(agent).collect(),
        projects: found.projects.into_iter().map(repo).collect(),
        run: (run.number > 0).then(|| history_import(run)),
    }
}

/// How far an import is.
pub(crate) fn history_import(run: ImportRun) -> HistoryImport {
    let failed = |failed: convoke_engine::FailedHistory| FailedHistory {
        file: failed.file.display().to_string(),
        line: failed.line,
        error: failed.error,
    };
    HistoryImport {
        number: run.number,
        running: run.is_running,
        sources: run.agents.into_iter().map(source).collect(),
        failed: run.failed.into_iter().map(failed).collect(),
        error: run.error,
    }
}

fn source((agent, run): (HistoryAgent, AgentRun)) -> SourceImport {
    SourceImport {
        source: agent.as_str().to_owned(),
        name: agent.name().to_owned(),
        total: run.total,
        done: run.done,
        added: run.added,
        grown: run.grown,
        rewritten: run.rewritten,
        skipped: run.skipped,
        messages: run.messages,
        broken_lines: run.broken_lines,
        unknown_lines: run.unknown_lines,
        failed: run.failed,
    }
}
