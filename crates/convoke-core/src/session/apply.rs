//! How a change modifies a session. No other code does.

use crate::content::Content;
use crate::message::{Draft, Message, Role, Seq};
use crate::notice::{Event, LifecycleEvent};
use crate::request::{Request, Status as RequestStatus};
use crate::state::{SessionState, StateKind};
use crate::time::Timestamp;
use crate::title;
use crate::turn::Turn;

use super::work::LastLine;
use super::{Asked, Change, EndReason, Running, Session, Status};

impl Session {
    /// Applies a change with its time. It gets the next revision, but for `Seen` and `Described`.
    pub fn apply(&mut self, change: &Change, at: Timestamp) {
        match change {
            // Not a part of the conversation: readers have nothing to fetch, so there is no new revision.
            Change::Seen => return self.summary.work.seen_rev = self.summary.rev,
            Change::Described { title, active_at } => {
                if title.is_some() {
                    self.summary.title.clone_from(title);
                }
                return self.active_at(*active_at);
            }
            Change::Begin(_)
            | Change::Append { .. }
            | Change::Close { .. }
            | Change::Replace { .. }
            | Change::Turn { .. }
            | Change::State(_) => {}
        }
        self.summary.rev = self.summary.rev.next();
        self.summary.updated_at = self.summary.updated_at.max(at);
        match change {
            Change::Begin(draft) => self.begin(draft, at),
            Change::Append { seq, text } => {
                self.output.append(*seq, text.len());
                if self.output.is_answer(*seq) {
                    self.line.push(text);
                }
            }
            Change::Close { seq } => {
                if self.output.is_answer(*seq) {
                    self.summary.work.answered(std::mem::take(&mut self.line).get());
                }
                self.output.close(*seq);
            }
            Change::Replace { seq, content } => {
                self.output.replace(*seq, content);
                if let Content::Plan { steps } = content {
                    self.summary.work.planned(steps);
                }
                if let Some(request) = Request::of(content) {
                    self.apply_request(*seq, request);
                }
            }
            Change::Turn { seq, turn } => self.apply_turn(*seq, turn, at),
            Change::State(state) => self.apply_state(state, at),
            Change::Seen | Change::Described { .. } => {}
        }
        if self.running.is_none() && self.is_queue_quiet() && self.output.is_quiet() {
            self.output.clear();
            self.summary.settled_seq = self.summary.last_seq;
        }
    }

    fn begin(&mut self, draft: &Draft, at: Timestamp) {
        let seq = self.summary.last_seq.next();
        self.summary.last_seq = seq;
        match (&draft.content, draft.role) {
            (Content::Text { text, review, .. }, Role::User) => {
                self.title_from(text);
                review.iter().for_each(|comment| self.title_from(&comment.comment));
                self.active_at(at);
                if let Some(turn) = draft.turn.clone().filter(|turn| !turn.is_over()) {
                    self.running = Some(Running { prompt: seq, turn });
                    self.summary.work.turn_began(at, self.summary.rev);
                }
            }
            (Content::Text { text, partial, .. }, Role::Agent | Role::System) => {
                self.output.begin(seq, &draft.content);
                self.line = LastLine::of(text);
                if !partial {
                    self.summary.work.answered(std::mem::take(&mut self.line).get());
                }
            }
            (Content::Plan { steps }, _) => {
                self.output.begin(seq, &draft.content);
                self.summary.work.planned(steps);
            }
            (Content::Notice(notice), _) => {
                if let Event::Lifecycle(event) = &notice.event {
                    self.apply_event(event);
                }
                self.output.begin(seq, &draft.content);
            }
            (content, _) => {
                self.output.begin(seq, content);
                if let Some(request) = Request::of(content) {
                    self.apply_request(seq, request);
                }
            }
        }
    }

    fn title_from(&mut self, prompt: &str) {
        if self.summary.title.is_none() && !prompt.trim().is_empty() {
            self.summary.title = Some(title::from_prompt(prompt));
        }
    }

    pub(super) fn apply_request(&mut self, seq: Seq, request: Request) {
        self.pending.retain(|pending| pending.request.id() != request.id());
        if request.status() == RequestStatus::Pending {
            self.pending.push(Asked { seq, request });
        }
    }

    fn apply_turn(&mut self, seq: Seq, turn: &Turn, at: Timestamp) {
        let Some(running) = self.running.as_mut().filter(|running| running.prompt == seq) else {
            return;
        };
        running.turn = turn.clone();
        if let Some(stop) = turn.stop() {
            self.summary.work.turn_ended(stop, self.summary.rev);
            self.running = None;
            self.output.clear();
            self.active_at(at);
        }
    }

    fn apply_state(&mut self, state: &SessionState, at: Timestamp) {
        match state {
            SessionState::Queue { prompts, held } => {
                if prompts.len() > self.queue.len() {
                    self.active_at(at);
                    self.summary.work.seen_rev = self.summary.rev;
                }
                self.queue = prompts.iter().cloned().collect();
                self.is_held = *held;
            }
            SessionState::Usage(usage) => {
                if usage.cost.is_some() {
                    self.summary.work.cost.clone_from(&usage.cost);
                }
                self.state.insert(state.kind(), state.clone());
            }
            SessionState::Commands { .. }
            | SessionState::Modes { .. }
            | SessionState::Settings { .. } => {
                self.state.insert(state.kind(), state.clone());
            }
        }
    }

    fn apply_event(&mut self, event: &LifecycleEvent) {
        match event {
            LifecycleEvent::Completed { reason } => self.ended(Status::Completed, Some(reason)),
            LifecycleEvent::Cancelled { reason } => self.ended(Status::Cancelled, Some(reason)),
            LifecycleEvent::Failed { .. } => self.ended(Status::Error, None),
            LifecycleEvent::Imported { turns, .. } => {
                self.ended(Status::Completed, Some(&EndReason::Imported));
                turns.iter().for_each(|turn| self.active_at(turn.timestamp));
            }
            LifecycleEvent::ImportedFrom { parent, .. } => {
                self.ended(Status::Completed, Some(&EndReason::Imported));
                self.summary.archived |= parent.is_some();
            }
            LifecycleEvent::Reopened => self.ended(Status::Active, None),
            LifecycleEvent::Renamed { title } => self.summary.title = Some(title.clone()),
            LifecycleEvent::Archived => self.summary.archived = true,
            LifecycleEvent::Unarchived => self.summary.archived = false,
            LifecycleEvent::Continues { .. }
            | LifecycleEvent::ContinuedIn { .. }
            | LifecycleEvent::Moved(_) => {}
        }
    }

    fn ended(&mut self, status: Status, reason: Option<&EndReason>) {
        self.summary.status = status;
        self.summary.reason = reason.cloned();
    }

    fn active_at(&mut self, at: Timestamp) {
        self.summary.last_active_at = self.summary.last_active_at.max(at);
    }

    /// Restores an open message.
    pub(super) fn restore_open(&mut self, message: &Message) {
        if let Some(turn) = message.turn.clone().filter(|turn| !turn.is_over()) {
            self.running = Some(Running { prompt: message.seq, turn });
            return;
        }
        self.output.begin(message.seq, &message.content);
        if let Content::Text { text, .. } = &message.content {
            self.line = LastLine::of(text);
        }
        if let Some(request) = Request::of(&message.content) {
            self.apply_request(message.seq, request);
        }
    }

    /// Restores state.
    pub(super) fn restore_state(&mut self, state: SessionState) {
        match state {
            SessionState::Queue { prompts, held } => {
                self.queue = prompts.into();
                self.is_held = held;
            }
            state @ (SessionState::Commands { .. }
            | SessionState::Modes { .. }
            | SessionState::Settings { .. }
            | SessionState::Usage(_)) => {
                self.state.insert(state.kind(), state);
            }
        }
    }

    /// The current state of a kind, except the queue.
    pub fn state(&self, kind: StateKind) -> Option<&SessionState> {
        self.state.get(&kind)
    }
}
