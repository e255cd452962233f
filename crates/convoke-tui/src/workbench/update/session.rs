//! Actions on a session.

use convoke_api::Cursor;
use convoke_api::bodies::GivenComment;
use convoke_api::entry::EntryBody;
use convoke_api::frames::ClientFrame;
use convoke_core::id::SessionId;
use convoke_core::message::Seq;
use convoke_core::session::{QueueChoice, Status};

use crate::editor::Editor;
use crate::workbench::chat::{Chat, MissingEntries, PAGE, Phase};
use crate::workbench::list::Row;
use crate::workbench::message::InFlight;
use crate::workbench::model::{Focus, Link, Model, Overlay, Sent, Tab};

/// Brings a session before the human.
pub(super) fn open(model: &mut Model, id: SessionId) {
    if switch_to(model, id) == WasOpen::No && model.link == Link::Up {
        follow(model);
    }
    model.focus = if model.request().is_some() { Focus::Card } else { Focus::Input };
}

/// Brings a message of a session before the human.
pub(super) fn open_at(model: &mut Model, id: SessionId, seq: Seq) {
    let was_open = switch_to(model, id);
    let Some(chat) = &mut model.chat else { return };
    model.focus = Focus::Chat;
    if was_open == WasOpen::Yes && chat.go_to(seq) {
        return;
    }
    // It is not in the window: the session is opened anew, around it.
    chat.aim_at(seq);
    let frame = ClientFrame::SessionOpen {
        session_id: id.to_string(),
        after: None,
        generation: None,
        render: None,
        limit: Some(PAGE),
        at: Some(seq),
    };
    model.send(InFlight::Open(id), frame);
}

/// Whether a session was open already.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum WasOpen {
    Yes,
    No,
}

fn switch_to(model: &mut Model, id: SessionId) -> WasOpen {
    model.tab = Tab::Sessions;
    model.list.cursor = Some(Row::Session(id));
    if model.chat.as_ref().is_some_and(|chat| chat.id == id) {
        return WasOpen::Yes;
    }
    close(model);
    model.chat = Some(Chat::new(id, model.palette));
    WasOpen::No
}

/// Marks the end of the open session as seen if it is visible.
pub(super) fn mark_seen(model: &mut Model) {
    let Some(chat) = model.chat.as_ref().filter(|chat| chat.is_following()) else { return };
    let id = chat.id;
    if model.link == Link::Up && model.list.session(id).is_some_and(|session| session.unseen) {
        model.list.change(id, |session| session.unseen = false);
        model.send(InFlight::List, ClientFrame::SessionSeen { session_id: id.to_string() });
    }
}

/// Sends the last prompt of a session again; opens the session first.
pub(super) fn retry(model: &mut Model, id: SessionId) {
    open(model, id);
    model.retrying = Some(id);
    send_again(model);
}

/// Sends the last prompt of the session whose turn is to be retried, once it is loaded.
pub(super) fn send_again(model: &mut Model) {
    let Some(chat) = model.chat.as_ref().filter(|chat| Some(chat.id) == model.retrying) else {
        return;
    };
    let (id, is_open) = (chat.id, chat.phase == Phase::Open);
    let prompts = chat.entries().conversation().iter().rev();
    let last = prompts.into_iter().find_map(|entry| {
        let EntryBody::User(prompted) = &entry.body else { return None };
        let review = prompted.review.iter().cloned().map(GivenComment::from);
        Some((prompted.content.clone(), review.collect()))
    });
    match last {
        Some((content, review)) => {
            model.retrying = None;
            send_prompt(model, id, content, review);
        }
        None if is_open => {
            model.retrying = None;
            model.refuse("The last prompt is too far back: send it again yourself.");
        }
        None => {}
    }
}

/// Follows the open session, from the known revision on.
pub(super) fn follow(model: &mut Model) {
    let Some(chat) = &model.chat else { return };
    let (id, cursor) = (chat.id, chat.entries().cursor().cloned());
    model.send(InFlight::Open(id), opening(id, cursor));
}

/// Requests entries that are not in the window.
pub(super) fn fetch(model: &mut Model, wanted: MissingEntries) {
    let Some(chat) = &mut model.chat else { return };
    chat.ask_for(wanted);
    let id = chat.id;
    let (request, frame) = match wanted {
        MissingEntries::Before(before) => (InFlight::Page(id), page(id, before)),
        MissingEntries::Upto(last) => (InFlight::Page(id), page(id, last.next())),
        MissingEntries::Newest => (InFlight::Open(id), opening(id, None)),
    };
    model.send(request, frame);
}

fn opening(id: SessionId, cursor: Option<Cursor>) -> ClientFrame {
    let (after, generation) = cursor.map(|cursor| (cursor.rev, cursor.generation)).unzip();
    let (session_id, limit) = (id.to_string(), Some(PAGE));
    ClientFrame::SessionOpen { session_id, after, generation, render: None, limit, at: None }
}

fn page(id: SessionId, before: Seq) -> ClientFrame {
    let (session_id, limit) = (id.to_string(), Some(PAGE));
    ClientFrame::SessionPage { session_id, before, render: None, limit }
}

/// Sends the draft.
pub(super) fn send(model: &mut Model) {
    let Some(id) = model.chat.as_ref().map(|chat| chat.id) else { return };
    let text = model.draft().map(|draft| draft.text().trim_end().to_owned()).unwrap_or_default();
    if text.trim().is_empty() && model.attachments_of(Some(id)).is_empty() {
        return;
    }
    deliver(model, id, text, Vec::new());
}

/// Sends comments on changed lines, with the draft.
pub(super) fn send_review(model: &mut Model, id: SessionId, review: Vec<GivenComment>) -> Sent {
    let text = model.drafts.get(&id).map(|draft| draft.text().trim_end().to_owned());
    deliver(model, id, text.unwrap_or_default(), review)
}

fn deliver(model: &mut Model, id: SessionId, text: String, review: Vec<GivenComment>) -> Sent {
    if let Some(session) = model.open_session().filter(|session| !session.accepts_prompts) {
        let refusal = match session.status {
            Status::Cancelled => "This session was cancelled and cannot be resumed.",
            Status::Active | Status::Completed | Status::Error => {
                "This session has ended: press esc, then R to resume."
            }
        };
        model.refuse(refusal);
        return Sent::No;
    }
    let sent = send_prompt(model, id, text, review);
    if sent == Sent::Yes {
        model.drafts.remove(&id);
    }
    sent
}

fn send_prompt(model: &mut Model, id: SessionId, text: String, review: Vec<GivenComment>) -> Sent {
    let frame = ClientFrame::SessionSend {
        session_id: id.to_string(),
        content: text.clone(),
        attachments: model.attachments_of(Some(id)),
        files: model.files_in(&text),
        review: review.clone(),
        message_id: None,
    };
    let sent = model.send(InFlight::Send(id, text, review), frame);
    if sent == Sent::Yes {
        model.sent_attachments(Some(id));
        super::chat::go_to_end(model);
    }
    sent
}

/// Puts the text of a refused prompt back into its draft, and its comments to those that are not sent.
pub(super) fn give_back(model: &mut Model, id: SessionId, text: &str, review: Vec<GivenComment>) {
    if !review.is_empty() {
        model.reviews.entry(id).or_default().splice(..0, review);
    }
    if text.trim().is_empty() {
        return;
    }
    let since = model.drafts.remove(&id);
    let mut draft = Editor::default();
    draft.paste(text);
    if let Some(since) = since.filter(|since| !since.is_blank()) {
        draft.paste("\n");
        draft.paste(since.text());
    }
    model.drafts.insert(id, draft);
}

/// Stops the running turn.
pub(super) fn stop(model: &mut Model, id: SessionId, queue: Option<QueueChoice>) {
    model.escaped_at = None;
    model.send(InFlight::Stop, ClientFrame::SessionCancel { session_id: id.to_string(), queue });
}

/// Resumes an ended session.
pub(super) fn resume(model: &mut Model, id: SessionId) {
    let status = model.list.session(id).map(|session| session.status);
    match status {
        Some(Status::Active) => model.refuse("This session is already active."),
        Some(Status::Cancelled) => {
            model.refuse("This session was cancelled and cannot be resumed.");
        }
        Some(Status::Completed | Status::Error) | None => {
            model.send(InFlight::Resume, ClientFrame::SessionResume { session_id: id.to_string() });
        }
    }
}

/// Hides a session, or shows it again where it is hidden.
pub(super) fn archive(model: &mut Model, id: SessionId) {
    let Some(session) = model.list.session(id) else { return };
    let (title, archived) = (session.title.clone(), session.archived);
    let session_id = id.to_string();
    // The cursor moves to the next session before this one is removed.
    if model.list.cursor.is_none_or(|row| row == Row::Session(id)) {
        step_away(model, id);
    }
    if archived {
        let request = InFlight::Unarchive(id, title);
        model.send(request, ClientFrame::SessionUnarchive { session_id });
    } else {
        model.send(InFlight::Archive(id, title), ClientFrame::SessionArchive { session_id });
    }
}

fn step_away(model: &mut Model, id: SessionId) {
    let rows = model.list.rows();
    let Some(at) = rows.iter().position(|row| *row == Row::Session(id)) else { return };
    let is_session = |row: &&Row| matches!(row, Row::Session(_));
    let next = rows.get(at + 1).filter(is_session);
    let before = at.checked_sub(1).and_then(|before| rows.get(before));
    model.list.cursor = next.or(before).copied();
}

/// Undoes the last archiving.
pub(super) fn undo(model: &mut Model) {
    let Some(id) = model.archived.take() else {
        model.refuse("There is nothing to undo.");
        return;
    };
    let title = model.list.session(id).map(|session| session.title.clone()).unwrap_or_default();
    let request = InFlight::Unarchive(id, title);
    model.send(request, ClientFrame::SessionUnarchive { session_id: id.to_string() });
}

/// Opens the editor for another title.
pub(super) fn rename(model: &mut Model, id: SessionId) {
    let Some(session) = model.list.session(id) else { return };
    let mut title = Editor::default();
    title.paste(&session.title);
    model.overlay = Some(Overlay::Rename { id, title });
}

/// Puts the open session away.
pub(super) fn close(model: &mut Model) {
    if let Some(chat) = model.chat.take()
        && model.link == Link::Up
    {
        let frame = ClientFrame::SessionClose { session_id: chat.id.to_string() };
        model.send(InFlight::List, frame);
    }
    model.drafts.retain(|_, draft| !draft.is_blank());
}
