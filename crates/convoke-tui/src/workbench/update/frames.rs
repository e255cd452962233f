//! Frames of the daemon, and the state of the connection.

use convoke_api::Cursor;
use convoke_api::frames::{ClientFrame, Envelope, ServerFrame, SessionItem};
use convoke_core::id::{ProjectId, SessionId};
use convoke_core::message::Seq;

use super::{changes, comparisons, fresh, home, inbox, rules, search, session};
use crate::workbench::chat::{Chat, Phase};
use crate::workbench::list::ListFilter;
use crate::workbench::message::{Effect, InFlight};
use crate::workbench::model::{Link, Model, Overlay, Tab};
use crate::workbench::refusal::{CallRefusal, RefusalReason};
use crate::workbench::search::State;

/// Handles a new connection: requests everything that may have changed meanwhile.
pub(super) fn linked(model: &mut Model) {
    let was_down = matches!(model.link, Link::Down(_));
    model.link = Link::Up;
    if was_down {
        model.notify("Reconnected to the daemon.");
    }
    model.send(InFlight::List, ClientFrame::AgentList {});
    model.send(InFlight::List, ClientFrame::ProjectList {});
    model.send(InFlight::List, ClientFrame::InboxList {});
    model.effects.push(Effect::FetchNodes);
    session::follow(model);
    match model.tab {
        Tab::Teams => model.effects.push(Effect::FetchTeams),
        Tab::Rules => rules::ask(model),
        Tab::Compare => comparisons::ask(model),
        Tab::Home | Tab::Sessions => {}
    }
}

/// Handles a lost connection: pending requests will not be answered.
pub(super) fn unlinked(model: &mut Model, words: &str) {
    let in_flight = model.take_in_flight();
    if model.link == Link::Up || model.link == Link::Opening {
        model.link = Link::Down(model.now);
        model.notify(format!("{words}; reconnecting."));
    }
    for request in in_flight {
        if let InFlight::Send(..) = request {
            model.refuse("The connection was lost: check whether your last message arrived.");
        }
        fail(model, request);
    }
}

/// Handles a frame of the daemon.
pub(super) fn take(model: &mut Model, envelope: Envelope<ServerFrame>) {
    let request = model.take_request(envelope.request_id.as_deref());
    if let ServerFrame::Error { message, hint } = envelope.frame {
        let (files, reason) = (Vec::new(), RefusalReason::Other);
        return refused(model, request, CallRefusal { why: message, hint, files, reason });
    }
    let created = Created::of(&envelope.frame);
    handle(model, envelope.frame);
    if let Some(request) = request {
        done(model, request, &created);
    }
}

/// Handles an error response, for a pending request if there is one.
fn refused(model: &mut Model, request: Option<InFlight>, refusal: CallRefusal) {
    // The search text is probably incomplete.
    if let Some(InFlight::Search(query)) = &request {
        return search::fail(model, query, &refusal.why);
    }
    let is_creating = matches!(request, Some(InFlight::Create(_)));
    if let Some(request) = request {
        fail_with(model, request, &refusal.why);
    }
    if is_creating && refusal.hint.is_some() && model.overlay.is_none() {
        // Error and hint are too long for one line.
        model.notices.clear();
        model.overlay = Some(Overlay::Refused { title: "The session was not started", refusal });
    } else {
        model.refuse(refusal.line());
    }
}

/// What a frame says that was created.
enum Created {
    Session(SessionId),
    Project(ProjectId),
    Nothing,
}

impl Created {
    fn of(frame: &ServerFrame) -> Self {
        if let ServerFrame::SessionCreated { uid, .. } = frame {
            Self::Session(*uid)
        } else if let ServerFrame::ProjectAdded { project } = frame {
            Self::Project(project.id)
        } else {
            Self::Nothing
        }
    }
}

#[expect(clippy::too_many_lines, reason = "one arm per frame; each arm is a single call")]
fn handle(model: &mut Model, frame: ServerFrame) {
    match frame {
        ServerFrame::ProjectList { projects, .. } => {
            model.list.projects = projects;
            model.list.clear();
            ask_for_sessions(model);
        }
        ServerFrame::ProjectAdded { project } => model.list.put_project(project),
        ServerFrame::ProjectRemoved { project_id } => {
            model.list.remove_project(project_id);
            // It has the sessions of removed projects, too.
            model.send(InFlight::List, ClientFrame::HomeList {});
        }
        ServerFrame::FolderCompletions { path, folders } => fresh::complete(model, &path, folders),
        ServerFrame::FileCompletions { query, files, .. } => model.take_matches(&query, files),
        ServerFrame::AgentList { agents } => model.agents = agents,
        ServerFrame::SessionList { project_id, sessions } => model.list.take(project_id, sessions),
        ServerFrame::SessionCreated { session, refused, .. } => created(model, session, refused),
        ServerFrame::SessionUnarchived { session, .. } => model.list.put(session),
        ServerFrame::SessionErased { uid, .. } => erased(model, uid),
        ServerFrame::SessionSeen { uid, .. } => {
            model.list.change(uid, |session| session.unseen = false);
        }
        ServerFrame::SessionChanged { session } => model.list.learn(session),
        ServerFrame::SessionArchived { uid, .. } => {
            model.list.change(uid, |session| session.archived = true);
        }
        ServerFrame::SessionTitleUpdated { uid, title, .. } => {
            model.list.change(uid, |session| session.title = title);
        }
        ServerFrame::SessionHistory {
            uid, rev, generation, entries, more, newer, session, ..
        } => {
            let cursor = Cursor { generation, rev };
            with_chat(model, uid, |chat| {
                chat.replace(entries, cursor, more.into());
                chat.end_at(newer.then(|| Seq::new(session.message_count)));
            });
            model.list.learn(session);
            session::send_again(model);
        }
        ServerFrame::SessionOpened { uid, rev, generation, .. } => {
            with_chat(model, uid, |chat| chat.opened(Cursor { generation, rev }));
        }
        ServerFrame::SessionPage { uid, entries, more, .. } => {
            with_chat(model, uid, |chat| chat.take_page(entries, more.into()));
        }
        ServerFrame::SessionUpdate { uid, entry, .. } => {
            with_chat(model, uid, |chat| chat.upsert(entry));
        }
        ServerFrame::SessionChunk { uid, rev, entry_id, content, .. } => {
            with_chat(model, uid, |chat| chat.append(&entry_id, &content, rev));
        }
        ServerFrame::SessionComplete { uid, rev, .. } => {
            with_chat(model, uid, |chat| chat.reach(rev));
        }
        ServerFrame::SessionError { uid, message, .. } => {
            with_chat(model, uid, |chat| chat.phase = Phase::Failed(message));
        }
        ServerFrame::InboxList { items } => inbox::take(model, items),
        ServerFrame::InboxChanged { .. } => {
            model.send(InFlight::List, ClientFrame::InboxList {});
        }
        ServerFrame::SearchHits { query, hits, incomplete, .. } => {
            let state = if incomplete { State::Incomplete } else { State::Answered };
            search::take(model, &query, hits, state);
        }
        ServerFrame::HomeList { working, finished, failed, recent, .. } => {
            let all = [working, finished, failed, recent].into_iter().flatten();
            model.list.put_others(all);
        }
        ServerFrame::HistoryImport { import } if !import.running => ask_for_sessions(model),
        ServerFrame::RuleList { rules } => rules::take(model, rules),
        ServerFrame::RuleChanged {} if model.tab == Tab::Rules => rules::ask(model),
        ServerFrame::ComparisonChanged { .. } => comparisons::ask_if_shown(model),
        ServerFrame::TeamChanged {} if model.tab == Tab::Teams => {
            model.effects.push(Effect::FetchTeams);
        }
        ServerFrame::ChangesUpdated { uid, changes, .. } => changes::updated(model, uid, changes),
        ServerFrame::RuleChanged {}
        | ServerFrame::TeamChanged {}
        | ServerFrame::InboxSettled { .. }
        | ServerFrame::AgentStatus { .. }
        | ServerFrame::SessionCancelled { .. }
        | ServerFrame::SessionClosed { .. }
        | ServerFrame::SessionSent { .. }
        | ServerFrame::RuleAdded { .. }
        | ServerFrame::RuleRemoved { .. }
        | ServerFrame::FileOpened { .. }
        | ServerFrame::HistoryImport { .. }
        | ServerFrame::Config(_)
        | ServerFrame::Pong {}
        | ServerFrame::Error { .. } => {}
    }
}

/// There is a new session; its prompt may have been refused.
fn created(model: &mut Model, session: SessionItem, refused: Option<String>) {
    model.list.put(session);
    if let Some(why) = refused {
        model.refuse(format!("The session was created, but the prompt was not sent: {why}"));
    }
}

/// Handles an erased session; its conversation is closed.
fn erased(model: &mut Model, id: SessionId) {
    model.list.remove(id);
    if model.chat.as_ref().is_some_and(|chat| chat.id == id) {
        model.chat = None;
        model.focus = super::key::resting(model);
    }
}

/// Requests the sessions of all projects under the current filter.
pub(super) fn ask_for_sessions(model: &mut Model) {
    let archived = (model.list.filter == ListFilter::Archived).then_some(true);
    let projects: Vec<String> = model.list.projects.iter().map(|it| it.id.to_string()).collect();
    for project_id in projects {
        model.send(InFlight::List, ClientFrame::SessionList { project_id, archived });
    }
    if model.list.filter == ListFilter::Current {
        // The newest sessions of folders that are no projects.
        model.send(InFlight::List, ClientFrame::HomeList {});
    }
}

fn with_chat(model: &mut Model, id: SessionId, change: impl FnOnce(&mut Chat)) {
    if let Some(chat) = model.chat.as_mut().filter(|chat| chat.id == id) {
        change(chat);
    }
}

/// A request succeeded.
fn done(model: &mut Model, request: InFlight, created: &Created) {
    match request {
        InFlight::Archive(id, title) => {
            model.archived = Some(id);
            model.notify(format!("Archived: {title}. u undoes it."));
        }
        InFlight::Unarchive(_, title) => model.notify(format!("Restored: {title}")),
        InFlight::Rename => model.notify("Renamed."),
        InFlight::Choose(what) => model.notify(what),
        InFlight::Stop => model.notify("Asked the agent to stop."),
        InFlight::Revoke => model.notify("Revoked the rule."),
        InFlight::Resume => model.notify("Resumed the session."),
        InFlight::Settle(id) => inbox::settled(model, id),
        InFlight::Create(_) => {
            if let Created::Session(id) = created {
                home::begun(model, *id);
            }
        }
        InFlight::AddProject => {
            if let Created::Project(id) = created {
                fresh::chosen(model, *id);
            }
        }
        InFlight::Open(_)
        | InFlight::Page(_)
        | InFlight::Send(..)
        | InFlight::Complete
        | InFlight::CompleteFile
        | InFlight::Search(_)
        | InFlight::Queue
        | InFlight::List => {}
    }
}

/// A request was refused.
fn fail_with(model: &mut Model, request: InFlight, message: &str) {
    if let InFlight::Open(id) = &request {
        with_chat(model, *id, |chat| chat.phase = Phase::Failed(message.to_owned()));
    } else if !matches!(request, InFlight::Page(_)) {
        // A refused page counts as requested, so that it is not requested in a loop.
        fail(model, request);
    }
}

/// A request failed: the model goes back to its earlier state.
fn fail(model: &mut Model, request: InFlight) {
    match request {
        InFlight::Send(id, text, review) => session::give_back(model, id, &text, review),
        InFlight::Settle(id) => inbox::reopen(model, id),
        InFlight::Create(text) => home::give_back(model, &text),
        InFlight::Open(id) | InFlight::Page(id) => with_chat(model, id, Chat::stop_paging),
        InFlight::AddProject
        | InFlight::Complete
        | InFlight::CompleteFile
        | InFlight::Rename
        | InFlight::Archive(..)
        | InFlight::Unarchive(..)
        | InFlight::Choose(_)
        | InFlight::Stop
        | InFlight::Resume
        | InFlight::Search(_)
        | InFlight::Revoke
        | InFlight::Queue
        | InFlight::List => {}
    }
}
