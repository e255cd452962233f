//! Asking the human on behalf of an agent: in its session's log, or in files for askers without a session.

use std::path::PathBuf;
use std::sync::Arc;

use convoke_agents::evidence::{Call, of_call};
use convoke_core::id::{RequestId, SessionId};
use convoke_core::question::{Answer, Choice, Question, check_questions};
use convoke_core::request::{
    PermissionKind, PermissionOption, PermissionRecord, QuestionRecord, Request as HumanRequest,
    State, Verdict,
};
use convoke_core::session::{Command, Reply};
use convoke_files::questions::{NewSet, Outcome as FileOutcome, PendingQuestions, Until};
use serde_json::Value;
use tokio::sync::oneshot;

use crate::blocking::blocking;
use crate::error::{Error, Result};
use crate::inbox::Inbox;
use crate::prefix::only;
use crate::session::{self, Request};
use crate::sessions::Sessions;

/// The labels of a permission that is asked in files.
const ALLOW: &str = "Allow";
const DENY: &str = "Deny";
/// Bytes of a tool's input that a permission shows.
const INPUT_BYTES_MAX: usize = 4000;

/// Who asks.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Asker {
    /// The agent of this session.
    Session(SessionId),
    /// A program that Convoke did not start.
    Outside {
        /// What it calls itself.
        name: Option<String>,
        /// Where it works.
        working_directory: Option<PathBuf>,
        /// The call that asks.
        call_id: Option<String>,
    },
}

/// The outcome of a request.
#[derive(Debug, Clone, PartialEq)]
pub enum Outcome {
    /// The human answered the questions.
    Answered(Vec<Answer>),
    /// The human allows it.
    Allowed,
    /// The human would not answer, or does not allow it.
    Rejected {
        /// Why, in their words.
        reason: Option<String>,
    },
    /// The human did not answer in time.
    TimedOut,
    /// The asker went away, or its session ended.
    Abandoned,
}

/// A request that was made. Dropping it before it is settled abandons it; it stays answerable.
#[derive(Debug)]
pub struct PendingRequest {
    shared: Arc<Sessions>,
    id: RequestId,
    questions: Vec<Question>,
    backend: Backend,
    is_waited_for: bool,
}

#[derive(Debug)]
enum Backend {
    Session { session: SessionId, reply: oneshot::Receiver<Reply>, options: Vec<PermissionOption> },
    Files { asked: PendingQuestions, call_id: Option<String>, kind: Kind },
}

/// What a set of questions in files was asked as.
#[derive(Debug, Clone, Copy)]
enum Kind {
    Questions,
    Permission,
}

impl Inbox {
    /// Puts questions to the human.
    pub async fn ask(&self, asker: Asker, questions: Vec<Question>) -> Result<PendingRequest> {
        let limits = self.settings.questions.limits;
        check_questions(&questions, limits).map_err(|fault| Error::Questions(fault.to_string()))?;
        match asker {
            Asker::Session(session) => {
                let record = QuestionRecord {
                    by: None,
                    request_id: self.new_request(),
                    questions: questions.clone(),
                    state: State::Pending,
                };
                let (request, options) = (HumanRequest::Questions(record), Vec::new());
                self.ask_in_session(session, request, questions, options).await
            }
            Asker::Outside { name, working_directory, call_id } => {
                let new = NewSet {
                    questions,
                    call_id,
                    working_directory: working_directory.map(|path| path.display().to_string()),
                    asked_by: name,
                };
                self.ask_in_files(new, Kind::Questions).await
            }
        }
    }

    /// Asks the human whether a tool may be used.
    pub async fn ask_permission(
        &self,
        asker: Asker,
        tool: String,
        input: &Value,
    ) -> Result<PendingRequest> {
        let shown = shown(input);
        match asker {
            Asker::Session(session) => {
                let options = permission_options();
                let call = Call { tool: Some(&tool), kind: None, args: input, diffs: &[] };
                let record = PermissionRecord {
                    by: None,
                    request_id: self.new_request(),
                    tool_call_id: None,
                    title: format!("{tool}: {shown}"),
                    evidence: of_call(call),
                    rules: Vec::new(),
                    tool: Some(tool),
                    options: options.clone(),
                    state: State::Pending,
                };
                let request = HumanRequest::Permission(record);
                self.ask_in_session(session, request, Vec::new(), options).await
            }
            Asker::Outside { name, working_directory, call_id } => {
                let who = name.as_deref().unwrap_or("An agent");
                let choice = |label: &str| Choice { label: label.to_owned(), description: None };
                let question = Question {
                    prompt: format!("{who} wants to use {tool}:\n\n```json\n{shown}\n```"),
                    title: "Permission".to_owned(),
                    options: vec![choice(ALLOW), choice(DENY)],
                    multi_select: false,
                };
                let new = NewSet {
                    questions: vec![question],
                    call_id,
                    working_directory: working_directory.map(|path| path.display().to_string()),
                    asked_by: name,
                };
                self.ask_in_files(new, Kind::Permission).await
            }
        }
    }

    /// A set of questions that was asked before, and its outcome if there is one.
    pub async fn asked(
        &self,
        asker: &Asker,
        text: &str,
    ) -> Result<(RequestId, Vec<Question>, Option<Outcome>)> {
        let session = match asker {
            Asker::Session(session) => *session,
            Asker::Outside { .. } => return self.asked_in_files(text).await,
        };
        let unknown = || Error::UnknownRequest { text: text.to_owned() };
        let found = self.store.requests_by_prefix(text, 100).await?;
        let own = found.into_iter().filter(|found| found.session_id == Some(session));
        let own = own.map(|found| found.request).collect();
        match only(text, own, |request| request.id().to_string(), unknown())? {
            HumanRequest::Questions(record) => {
                let outcome = outcome_of(&record.state, |answers| answers.answers.clone());
                Ok((record.request_id, record.questions, outcome))
            }
            HumanRequest::Permission(_) => Err(unknown()),
        }
    }

    /// Waits for the outcome of questions that were asked before, as long as they are pending.
    pub async fn asked_again(&self, asker: &Asker, id: RequestId) -> Result<Outcome> {
        let session = match asker {
            Asker::Session(session) => *session,
            Asker::Outside { .. } => {
                let outcome = self.questions.wait(id, None, Until::NotPending, None).await?;
                return Ok(outcome.map_or(Outcome::Abandoned, from_file));
            }
        };
        let mut changes = self.sessions.changes.subscribe();
        loop {
            let (_, _, outcome) = self.asked(asker, &id.to_string()).await?;
            if let Some(outcome) = outcome {
                return Ok(outcome);
            }
            tracing::trace!(session.id = %session, "waiting for {id}");
            tokio::select! {
                // Any change, even a lagged one, is a reason to read the state again.
                _ = changes.recv() => {}
                () = self.sessions.registry.stopped() => return Err(Error::Stopping),
            }
        }
    }

    fn new_request(&self) -> RequestId {
        RequestId::from_random((self.host.random)())
    }

    async fn ask_in_session(
        &self,
        session: SessionId,
        request: HumanRequest,
        questions: Vec<Question>,
        options: Vec<PermissionOption>,
    ) -> Result<PendingRequest> {
        let id = request.id();
        let reply = session::ask(&self.sessions, session, |reply| Request::Ask { request, reply });
        let backend = Backend::Session { session, reply: reply.await?, options };
        Ok(PendingRequest {
            shared: Arc::clone(&self.sessions),
            id,
            questions,
            backend,
            is_waited_for: true,
        })
    }

    async fn ask_in_files(&self, new: NewSet, kind: Kind) -> Result<PendingRequest> {
        let (id, clock) = (self.new_request(), self.host.clock);
        let (folder, call_id) = (self.questions.clone(), new.call_id.clone());
        let asked = blocking(move || folder.ask(id, new, clock)).await??;
        let (shared, questions) = (Arc::clone(&self.sessions), asked.questions().to_vec());
        let backend = Backend::Files { asked, call_id, kind };
        Ok(PendingRequest { shared, id, questions, backend, is_waited_for: true })
    }

    async fn asked_in_files(
        &self,
        text: &str,
    ) -> Result<(RequestId, Vec<Question>, Option<Outcome>)> {
        let (folder, text) = (self.questions.clone(), text.to_owned());
        let read = move || {
            let id = folder.find(&text)?;
            let (request, outcome) = folder.read(id)?;
            Ok::<_, convoke_files::Error>((id, request.questions, outcome))
        };
        let (id, questions, outcome) = blocking(read).await??;
        Ok((id, questions, outcome.map(from_file)))
    }
}

impl PendingRequest {
    /// Its id.
    pub const fn id(&self) -> RequestId {
        self.id
    }

    /// What was asked.
    pub fn questions(&self) -> &[Question] {
        &self.questions
    }

    /// Waits for the outcome, at most for the timeout of questions.
    pub async fn wait(&mut self) -> Result<Outcome> {
        let outcome = match &mut self.backend {
            Backend::Session { session, reply, options } => {
                in_session(&self.shared, *session, self.id, reply, options).await
            }
            Backend::Files { asked, call_id, kind } => {
                let timeout = self.shared.settings.question_timeout;
                let outcome = from_file(asked.wait(call_id.as_deref(), timeout).await?);
                Ok(match kind {
                    Kind::Questions => outcome,
                    Kind::Permission => as_permission(outcome),
                })
            }
        };
        self.is_waited_for = false;
        outcome
    }

    /// Leaves the request pending, and stops waiting for it.
    pub fn leave(mut self) {
        self.is_waited_for = false;
        match &mut self.backend {
            Backend::Session { .. } => {}
            Backend::Files { asked, .. } => asked.leave(),
        }
    }
}

impl Drop for PendingRequest {
    fn drop(&mut self) {
        if !self.is_waited_for {
            return;
        }
        let session = match &self.backend {
            Backend::Session { session, .. } => *session,
            // The file's own handle marks the request as abandoned when it is dropped.
            Backend::Files { .. } => return,
        };
        // Without a runtime no task can be spawned; recovery at the next start abandons the
        // request.
        let Ok(runtime) = tokio::runtime::Handle::try_current() else { return };
        let (shared, id) = (Arc::clone(&self.shared), self.id);
        runtime.spawn(async move { withdraw(&shared, session, id).await });
    }
}

async fn in_session(
    shared: &Arc<Sessions>,
    session: SessionId,
    id: RequestId,
    reply: &mut oneshot::Receiver<Reply>,
    options: &[PermissionOption],
) -> Result<Outcome> {
    if let Some(timeout) = shared.settings.question_timeout {
        match tokio::time::timeout(timeout, &mut *reply).await {
            Ok(reply) => return Ok(from_reply(reply.unwrap_or(Reply::Cancelled), options)),
            Err(_) => {
                let command = Command::Settle { request: id, verdict: Verdict::TimeOut };
                if let Err(error) = shared.send_command(session, command).await {
                    // An answer came at the same time; it is the reply.
                    tracing::debug!(session.id = %session, "a question did not time out: {error}");
                }
            }
        }
    }
    // A session that ends drops the reply channels of its askers.
    Ok(from_reply(reply.await.unwrap_or(Reply::Cancelled), options))
}

async fn withdraw(shared: &Arc<Sessions>, session: SessionId, id: RequestId) {
    let withdrawn = session::ask(shared, session, |reply| Request::Withdraw { request: id, reply });
    if let Err(error) = withdrawn.await {
        tracing::debug!(session.id = %session, "a question cannot be taken back: {error}");
    }
}

fn permission_options() -> Vec<PermissionOption> {
    let option = |option_id: &str, name: &str, kind| PermissionOption {
        option_id: option_id.to_owned(),
        name: name.to_owned(),
        kind,
    };
    vec![
        option("allow", ALLOW, PermissionKind::AllowOnce),
        option("deny", DENY, PermissionKind::RejectOnce),
    ]
}

fn from_reply(reply: Reply, options: &[PermissionOption]) -> Outcome {
    match reply {
        Reply::Answered(answers) => Outcome::Answered(answers),
        Reply::Chosen { option_id } => {
            let chosen = options.iter().find(|option| option.option_id == option_id);
            match chosen.map(|option| option.kind) {
                Some(PermissionKind::AllowOnce | PermissionKind::AllowAlways) => Outcome::Allowed,
                Some(PermissionKind::RejectOnce | PermissionKind::RejectAlways) | None => {
                    Outcome::Rejected { reason: None }
                }
            }
        }
        Reply::Rejected { reason } => Outcome::Rejected { reason },
        Reply::TimedOut => Outcome::TimedOut,
        Reply::Cancelled => Outcome::Abandoned,
    }
}

fn from_file(outcome: FileOutcome) -> Outcome {
    match outcome {
        FileOutcome::Answered(file) => Outcome::Answered(file.answers),
        FileOutcome::Rejected { reason } => Outcome::Rejected { reason },
        FileOutcome::TimedOut => Outcome::TimedOut,
        FileOutcome::Abandoned => Outcome::Abandoned,
    }
}

/// The outcome of a permission that was asked as a question: anything but `Allow` rejects it, with
/// free text as the reason.
fn as_permission(outcome: Outcome) -> Outcome {
    let Outcome::Answered(answers) = outcome else { return outcome };
    let answer = answers.into_iter().next();
    match answer {
        Some(answer) if answer.selected_option.as_deref() == Some(ALLOW) => Outcome::Allowed,
        Some(answer) => Outcome::Rejected { reason: answer.custom_text },
        None => Outcome::Rejected { reason: None },
    }
}

fn outcome_of<A>(state: &State<A>, answers: impl Fn(&A) -> Vec<Answer>) -> Option<Outcome> {
    match state {
        State::Pending => None,
        State::Answered(answered) => Some(Outcome::Answered(answers(answered))),
        State::Rejected { reason } => Some(Outcome::Rejected { reason: reason.clone() }),
        State::TimedOut => Some(Outcome::TimedOut),
        State::Abandoned => Some(Outcome::Abandoned),
    }
}

/// The input of a tool, formatted for people.
fn shown(input: &Value) -> String {
    let text = serde_json::to_string_pretty(input).unwrap_or_default();
    match text.char_indices().map(|(place, _)| place).find(|place| *place > INPUT_BYTES_MAX) {
        Some(end) => format!("{}…", text.get(..end).unwrap_or_default()),
        None => text,
    }
}
