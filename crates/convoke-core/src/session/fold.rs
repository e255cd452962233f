//! How a message changes a session. This is the only place where a session changes.

use crate::content::Content;
use crate::message::{Message, Role, Seq};
use crate::notice::Event;
use crate::request::{Request, Status as RequestStatus};
use crate::title;
use crate::turn::Turn;

use super::{Running, Session, Status};

impl Session {
    /// Folds the next message of the log into the session.
    pub fn apply(&mut self, message: &Message) {
        self.summary.last_seq = message.seq;
        self.summary.updated_at = self.summary.updated_at.max(message.timestamp);
        match &message.content {
            Content::Text { text, .. } if message.role == Role::User => {
                self.prompted(text, message);
            }
            Content::Permission(record) => {
                self.apply_request(Request::Permission(record.clone()));
            }
            Content::Question(record) => self.apply_request(Request::Questions(record.clone())),
            Content::Notice(notice) => self.happened(&notice.event, message),
            content @ (Content::Text { .. }
            | Content::Thinking { .. }
            | Content::Plan { .. }
            | Content::Tool(_)
            | Content::Usage(_)) => self.output.apply(content),
        }
        if self.running.is_none() && self.queue.is_empty() && self.output.is_quiet() {
            self.output.clear();
            self.summary.settled_seq = message.seq;
        }
    }

    fn prompted(&mut self, text: &str, message: &Message) {
        if self.summary.title.is_none() && !text.trim().is_empty() {
            self.summary.title = Some(title::from_prompt(text));
        }
        self.active_at(message);
        match self.running {
            None => self.running = Some(Running { prompt: message.seq, turn: Turn::Running }),
            Some(_) => self.queue.push_back(message.seq),
        }
    }

    fn apply_request(&mut self, request: Request) {
        self.pending.retain(|pending| pending.id() != request.id());
        if request.status() == RequestStatus::Pending {
            self.pending.push(request);
        }
    }

    fn happened(&mut self, event: &Event, message: &Message) {
        match event {
            Event::TurnEnded { turn, .. } => self.turn_ended_at(*turn, message),
            Event::CancelAsked { .. } => {
                if let Some(running) = &mut self.running {
                    running.turn = Turn::Cancelling;
                }
            }
            Event::Completed { reason } => self.ended(Status::Completed, Some(reason)),
            Event::Cancelled { reason } => self.ended(Status::Cancelled, Some(reason)),
            Event::Failed { .. } => self.ended(Status::Error, None),
            Event::Imported { .. } => {
                self.ended(Status::Completed, Some(&"imported".to_owned()));
            }
            Event::Reopened => self.ended(Status::Active, None),
            Event::Renamed { title } => self.summary.title = Some(title.clone()),
            Event::Archived => self.summary.archived = true,
            Event::Unarchived => self.summary.archived = false,
            Event::Resumed { .. }
            | Event::ProcessExited { .. }
            | Event::TurnLimit { .. }
            | Event::Compacted
            | Event::Commands { .. }
            | Event::Modes { .. }
            | Event::Settings { .. }
            | Event::Waiting { .. }
            | Event::Unconfined
            | Event::RuleMade { .. }
            | Event::RuleApplied { .. }
            | Event::RuleDropped { .. }
            | Event::Continues { .. }
            | Event::ContinuedIn { .. }
            | Event::Advice { .. }
            | Event::Unknown { .. } => {}
        }
    }

    fn turn_ended_at(&mut self, prompt: Seq, message: &Message) {
        self.active_at(message);
        self.queue.retain(|queued| *queued != prompt);
        if self.running() == Some(prompt) {
            self.output.clear();
            let next = self.queue.pop_front();
            self.running = next.map(|prompt| Running { prompt, turn: Turn::Running });
        }
    }

    fn ended(&mut self, status: Status, reason: Option<&String>) {
        self.summary.status = status;
        self.summary.reason = reason.cloned();
    }

    fn active_at(&mut self, message: &Message) {
        self.summary.last_active_at = self.summary.last_active_at.max(message.timestamp);
    }
}
