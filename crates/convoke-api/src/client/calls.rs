//! One method for each call. Sessions, projects and requests can be named by a unique prefix of their ids.

use convoke_core::message::Seq;
use convoke_core::session::QueueChoice;
use hyper::{Method, StatusCode};

use super::query::segment;
use super::{Call, Client, Events, EventsSince, SearchQuery, SessionQuery, Text, Transcript};
use crate::bodies::{
    Agents, Answer, Backups, CancelTurn, Comparison, Comparisons, Config, CreatedSession, FileDiff,
    FileMatches, FinishWorktree, FinishedWorktree, Fork, Health, HistoryImport, Hits, Home, Import,
    Imported, Inbox, KeepEntry, KeptEntry, MoveSession, MovedSession, NewBackup, NewComparison,
    NewHistoryImport, NewRepo, NewRule, NewSession, Nodes, Prompt, Prompted, QueuePatch, Rejection,
    Repo, Repos, Restore, Restored, Revert, Rule, Rules, Session, SessionChanges, SessionPatch,
    Sessions, StateOfSession, Status, StoredAttachment, Undo, Worktrees,
};
use crate::error::Result;

impl Client {
    /// Whether the daemon is healthy. A daemon that is not still responds, with its problems.
    pub async fn health(&self) -> Result<Health> {
        self.fetch(Call::get("/healthz").also(StatusCode::SERVICE_UNAVAILABLE)).await
    }

    /// Starts a backup.
    pub async fn begin_backup(&self, new: &NewBackup) -> Result<Backups> {
        self.fetch(Call::post("/api/backups").json(new)).await
    }

    /// The progress of the running backup, and the result of the last one.
    pub async fn backups(&self) -> Result<Backups> {
        self.fetch(Call::get("/api/backups")).await
    }

    /// The state of the daemon.
    pub async fn status(&self) -> Result<Status> {
        self.fetch(Call::get("/api/status")).await
    }

    /// All agents.
    pub async fn agents(&self) -> Result<Agents> {
        self.fetch(Call::get("/api/agents")).await
    }

    /// All projects.
    pub async fn repos(&self) -> Result<Repos> {
        self.fetch(Call::get("/api/repos")).await
    }

    /// All projects, and folders that only imported sessions name.
    pub async fn found_repos(&self) -> Result<Repos> {
        self.fetch(Call::get("/api/repos?found=true")).await
    }

    /// Adds a project.
    pub async fn add_repo(&self, new: &NewRepo) -> Result<Repo> {
        self.fetch(Call::post("/api/repos").json(new)).await
    }

    /// Removes a project; its sessions stay readable.
    pub async fn remove_repo(&self, id: &str) -> Result<()> {
        self.done(Call::new(Method::DELETE, format!("/api/repos/{}", segment(id)))).await
    }

    /// The daemons that share the database.
    pub async fn nodes(&self) -> Result<Nodes> {
        self.fetch(Call::get("/api/nodes")).await
    }

    /// All rules, or those that hold in a project.
    pub async fn rules(&self, repo: Option<&str>) -> Result<Rules> {
        let query = repo.map(|repo| format!("?repoId={}", segment(repo))).unwrap_or_default();
        self.fetch(Call::get(format!("/api/rules{query}"))).await
    }

    /// Makes a rule.
    pub async fn add_rule(&self, new: &NewRule) -> Result<Rule> {
        self.fetch(Call::post("/api/rules").json(new)).await
    }

    /// Revokes a rule.
    pub async fn remove_rule(&self, id: &str) -> Result<()> {
        self.done(Call::new(Method::DELETE, format!("/api/rules/{}", segment(id)))).await
    }

    /// A page of sessions, newest first.
    pub async fn sessions(&self, query: &SessionQuery) -> Result<Sessions> {
        self.fetch(Call::get(format!("/api/sessions{}", query.encoded()))).await
    }

    /// A page of sessions as JSON text, for callers that pass it on without parsing it.
    pub async fn sessions_text(&self, query: &SessionQuery) -> Result<Text> {
        let call = Call::get(format!("/api/sessions{}", query.encoded()));
        Ok(Text::new(self.clone(), self.open(call).await?))
    }

    /// Creates a session.
    pub async fn create_session(&self, new: &NewSession) -> Result<CreatedSession> {
        self.fetch(Call::post("/api/sessions").json(new).patient()).await
    }

    /// Imports turns of a transcript into its session.
    pub async fn import(&self, import: &Import) -> Result<Imported> {
        self.fetch(Call::post("/api/imports").json(import).patient()).await
    }

    /// Starts an import of histories.
    pub async fn import_histories(&self, new: &NewHistoryImport) -> Result<HistoryImport> {
        self.fetch(Call::post("/api/histories/import").json(new)).await
    }

    /// The import that runs, or the last one.
    pub async fn history_import(&self) -> Result<HistoryImport> {
        self.fetch(Call::get("/api/histories/import")).await
    }

    /// A session with its project, and a reader of its messages.
    pub async fn transcript(&self, id: &str) -> Result<Transcript> {
        let body = self.open(Call::get(session_path(id, ""))).await?;
        Transcript::read(self.clone(), body).await
    }

    /// Sends a prompt to a session's agent.
    pub async fn prompt(&self, id: &str, prompt: &Prompt) -> Result<Prompted> {
        self.fetch(Call::post(session_path(id, "/prompt")).json(prompt)).await
    }

    /// Stores a file, to be attached to a prompt.
    pub async fn store_attachment(&self, name: &str, bytes: Vec<u8>) -> Result<StoredAttachment> {
        let path = format!("/api/blobs?name={}", segment(name));
        self.fetch(Call::post(path).bytes(bytes).patient()).await
    }

    /// The files and folders of a project that match some letters.
    pub async fn files(&self, project: &str, query: &str) -> Result<FileMatches> {
        let path = format!("/api/repos/{}/files?query={}", segment(project), segment(query));
        self.fetch(Call::get(path)).await
    }

    /// Changes a queued prompt.
    pub async fn edit_queued(&self, id: &str, prompt: &str, text: &str) -> Result<Session> {
        let path = session_path(id, "/queue/") + &segment(prompt);
        let patch = QueuePatch { text: Some(text.to_owned()), ..QueuePatch::default() };
        self.fetch(Call::new(Method::PATCH, path).json(&patch)).await
    }

    /// Moves a queued prompt to another place in the queue.
    pub async fn move_queued(&self, id: &str, prompt: &str, position: u32) -> Result<Session> {
        let path = session_path(id, "/queue/") + &segment(prompt);
        let patch = QueuePatch { position: Some(position), ..QueuePatch::default() };
        self.fetch(Call::new(Method::PATCH, path).json(&patch)).await
    }

    /// Removes a queued prompt.
    pub async fn remove_queued(&self, id: &str, prompt: &str) -> Result<Session> {
        let path = session_path(id, "/queue/") + &segment(prompt);
        self.fetch(Call::new(Method::DELETE, path)).await
    }

    /// Moves a queued prompt to the front, and cancels the running turn for it.
    pub async fn send_queued(&self, id: &str, prompt: &str) -> Result<Session> {
        let path = session_path(id, "/queue/") + &segment(prompt) + "/send";
        self.fetch(Call::post(path)).await
    }

    /// The state of a session that is not conversation.
    pub async fn session_state(&self, id: &str) -> Result<StateOfSession> {
        self.fetch(Call::get(session_path(id, "/state"))).await
    }

    /// Follows a session: what changed since a cursor, then further changes as they happen.
    pub async fn events(&self, id: &str, since: &EventsSince) -> Result<Events> {
        let query = match since {
            EventsSince::Beginning => String::new(),
            EventsSince::Revision(rev) => format!("?after={rev}"),
            EventsSince::Cursor(cursor) => format!("?cursor={}", segment(&cursor.to_string())),
        };
        let path = session_path(id, "/events") + &query;
        Ok(Events::new(self.clone(), self.open(Call::get(path)).await?))
    }

    /// Cancels the running turn; the session stays active.
    pub async fn cancel_turn(&self, id: &str, queue: QueueChoice) -> Result<Session> {
        let cancel = CancelTurn { queue: Some(queue) };
        self.fetch(Call::post(session_path(id, "/cancel")).json(&cancel)).await
    }

    /// Records that a human has looked at a session.
    pub async fn see(&self, id: &str) -> Result<()> {
        self.done(Call::post(session_path(id, "/seen"))).await
    }

    /// Deletes a session with its messages.
    pub async fn erase(&self, id: &str) -> Result<()> {
        self.done(Call::post(session_path(id, "/erase"))).await
    }

    /// The changes of a session, or of one of its turns.
    pub async fn changes(&self, id: &str, turn: Option<Seq>) -> Result<SessionChanges> {
        let query = turn.map(|turn| format!("?turn={turn}")).unwrap_or_default();
        self.fetch(Call::get(session_path(id, "/changes") + &query).patient()).await
    }

    /// The diff of one changed file.
    pub async fn changed_file(&self, id: &str, path: &str, turn: Option<Seq>) -> Result<FileDiff> {
        let turn = turn.map(|turn| format!("&turn={turn}")).unwrap_or_default();
        let query = format!("/changes/file?path={}{turn}", segment(path));
        self.fetch(Call::get(session_path(id, &query)).patient()).await
    }

    /// Restores files or conversation to their state before a turn.
    pub async fn restore(&self, id: &str, restore: &Restore) -> Result<Restored> {
        self.fetch(Call::post(session_path(id, "/restore")).json(restore).patient()).await
    }

    /// Undoes the last restore.
    pub async fn undo(&self, id: &str, undo: &Undo) -> Result<Restored> {
        self.fetch(Call::post(session_path(id, "/undo")).json(undo).patient()).await
    }

    /// Reverts a changed file, or one hunk of it.
    pub async fn revert(&self, id: &str, revert: &Revert) -> Result<Restored> {
        self.fetch(Call::post(session_path(id, "/revert")).json(revert).patient()).await
    }

    /// Forks a session at a turn.
    pub async fn fork(&self, id: &str, fork: &Fork) -> Result<Session> {
        self.fetch(Call::post(session_path(id, "/fork")).json(fork).patient()).await
    }

    /// Moves a session to another node.
    pub async fn move_session(&self, id: &str, to: &MoveSession) -> Result<MovedSession> {
        self.fetch(Call::post(session_path(id, "/move")).json(to).patient()).await
    }

    /// Finishes the work tree of a session.
    pub async fn finish(&self, id: &str, finish: &FinishWorktree) -> Result<FinishedWorktree> {
        self.fetch(Call::post(session_path(id, "/finish")).json(finish).patient()).await
    }

    /// The work trees of all sessions.
    pub async fn worktrees(&self) -> Result<Worktrees> {
        self.fetch(Call::get("/api/worktrees")).await
    }

    /// Restores the removed work tree of a session.
    pub async fn restore_worktree(&self, id: &str) -> Result<Session> {
        let path = format!("/api/worktrees/{}/restore", segment(id));
        self.fetch(Call::post(path).patient()).await
    }

    /// Removes the folder of a session's work tree; with `force` also files that no snapshot holds.
    pub async fn remove_worktree(&self, id: &str, force: bool) -> Result<Session> {
        let query = if force { "?force=true" } else { "" };
        let path = format!("/api/worktrees/{}{query}", segment(id));
        self.fetch(Call::new(Method::DELETE, path).patient()).await
    }

    /// Sends one prompt to several agents.
    pub async fn begin_comparison(&self, new: &NewComparison) -> Result<Comparison> {
        self.fetch(Call::post("/api/comparisons").json(new).patient()).await
    }

    /// All comparisons.
    pub async fn comparisons(&self) -> Result<Comparisons> {
        self.fetch(Call::get("/api/comparisons")).await
    }

    /// A comparison in its current state.
    pub async fn comparison(&self, id: &str) -> Result<Comparison> {
        self.fetch(Call::get(format!("/api/comparisons/{}", segment(id)))).await
    }

    /// Keeps one session of a comparison, and discards the others.
    pub async fn keep_entry(&self, id: &str, keep: &KeepEntry) -> Result<KeptEntry> {
        let path = format!("/api/comparisons/{}/keep", segment(id));
        self.fetch(Call::post(path).json(keep).patient()).await
    }

    /// What waits for the human, what is in progress, and what ended.
    pub async fn home(&self) -> Result<Home> {
        self.fetch(Call::get("/api/home")).await
    }

    /// All settings.
    pub async fn config(&self) -> Result<Config> {
        self.fetch(Call::get("/api/config")).await
    }

    /// Completes a session.
    pub async fn complete(&self, id: &str) -> Result<Session> {
        self.fetch(Call::post(session_path(id, "/complete"))).await
    }

    /// Cancels a session for good.
    pub async fn cancel(&self, id: &str) -> Result<Session> {
        self.fetch(Call::new(Method::DELETE, session_path(id, ""))).await
    }

    /// Reopens an ended session.
    pub async fn resume(&self, id: &str) -> Result<Session> {
        self.fetch(Call::post(session_path(id, "/resume")).patient()).await
    }

    /// Renames or archives a session.
    pub async fn change_session(&self, id: &str, patch: &SessionPatch) -> Result<Session> {
        self.fetch(Call::new(Method::PATCH, session_path(id, "")).json(patch)).await
    }

    /// All that waits for the human.
    pub async fn inbox(&self) -> Result<Inbox> {
        self.fetch(Call::get("/api/inbox")).await
    }

    /// Answers a permission or questions.
    pub async fn answer(&self, id: &str, answer: &Answer) -> Result<()> {
        self.done(Call::post(format!("/api/inbox/{}/answer", segment(id))).json(answer)).await
    }

    /// Rejects a permission or questions.
    pub async fn reject(&self, id: &str, rejection: &Rejection) -> Result<()> {
        self.done(Call::post(format!("/api/inbox/{}/reject", segment(id))).json(rejection)).await
    }

    /// Searches messages, newest first.
    pub async fn search(&self, query: &SearchQuery) -> Result<Hits> {
        self.fetch(Call::get(format!("/api/search{}", query.encoded()))).await
    }
}

fn session_path(id: &str, rest: &str) -> String {
    format!("/api/sessions/{}{rest}", segment(id))
}
