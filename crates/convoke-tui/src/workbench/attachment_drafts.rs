//! The attachments of a prompt that is being written: mentioned files of the project, and attached
//! files.

use std::collections::{BTreeSet, HashMap};

use convoke_api::bodies::{GivenAttachment, StoredAttachment};
use convoke_api::frames::ClientFrame;
use convoke_core::id::{ProjectId, SessionId};
use convoke_core::state::OfferedCommand;
use convoke_files::mention;

use super::chat::Chat;
use super::message::{Effect, InFlight};
use super::model::{Focus, Link, Model};
use crate::editor::Editor;

/// Files that are offered at once.
const MATCHES: u32 = 8;

/// The attachments of the prompts that are being written.
#[derive(Debug, Default)]
pub(crate) struct AttachmentDrafts {
    /// The files that match the mention at the cursor.
    matches: Option<Matches>,
    /// The files that were completed: an `@` before any other word is just text.
    mentioned: BTreeSet<String>,
    /// The attached files, by session; `None` for a new one.
    attached: HashMap<Option<SessionId>, Vec<GivenAttachment>>,
}

#[derive(Debug)]
struct Matches {
    query: String,
    /// `None` until the daemon has answered.
    files: Option<Vec<String>>,
}

impl Model {
    /// The session that is written to; `None` for a new one.
    fn written_to(&self) -> Option<SessionId> {
        match self.focus {
            Focus::Composer => None,
            Focus::Input | Focus::List | Focus::Chat | Focus::Card => {
                self.chat.as_ref().map(|chat| chat.id)
            }
        }
    }

    fn written(&self) -> Option<&Editor> {
        match self.focus {
            Focus::Composer => Some(&self.home.composer.text),
            Focus::Input => self.draft(),
            Focus::List | Focus::Chat | Focus::Card => None,
        }
    }

    fn project_written_in(&self) -> Option<ProjectId> {
        match self.focus {
            Focus::Composer => self.composer_project(),
            Focus::Input | Focus::List | Focus::Chat | Focus::Card => {
                Some(self.open_session()?.project_id)
            }
        }
    }

    /// Requests the files that match the mention at the cursor.
    pub(crate) fn look_for_mention(&mut self) {
        let query = self.written().and_then(|editor| {
            mention::at(editor.text(), editor.cursor()).map(|(_, letters)| letters.to_owned())
        });
        let Some((query, project)) = query.zip(self.project_written_in()) else {
            self.attachment_drafts.matches = None;
            return;
        };
        if self.attachment_drafts.matches.as_ref().is_some_and(|matches| matches.query == query)
            || self.link != Link::Up
        {
            return;
        }
        self.attachment_drafts.matches = Some(Matches { query: query.clone(), files: None });
        let (project_id, limit) = (project.to_string(), Some(MATCHES));
        self.send(InFlight::CompleteFile, ClientFrame::FileComplete { project_id, query, limit });
    }

    /// The files that match, if they are still wanted.
    pub(crate) fn take_matches(&mut self, asked: &str, files: Vec<String>) {
        if let Some(matches) =
            self.attachment_drafts.matches.as_mut().filter(|it| it.query == asked)
        {
            matches.files = Some(files);
        }
    }

    /// The files that can be completed to now, best first.
    pub(crate) fn matching_files(&self) -> &[String] {
        let matches = self.attachment_drafts.matches.as_ref().and_then(|it| it.files.as_deref());
        matches.unwrap_or_default()
    }

    /// The agent's commands that what is written can be completed to: those that begin with it, then those that have it.
    pub(crate) fn matching_commands(&self) -> Vec<&OfferedCommand> {
        let written = self.written().filter(|_| self.focus == Focus::Input);
        let before = written.and_then(|editor| editor.text().get(..editor.cursor()));
        let Some(typed) = before.and_then(|text| text.strip_prefix('/')) else { return Vec::new() };
        if typed.contains(char::is_whitespace) {
            return Vec::new();
        }
        let typed = typed.to_lowercase();
        let commands = self.chat.as_ref().map(Chat::commands).unwrap_or_default();
        let place = |command: &OfferedCommand| command.name.to_lowercase().find(&typed);
        let mut fitting: Vec<&OfferedCommand> =
            commands.iter().filter(|command| place(command).is_some()).collect();
        fitting.sort_by_key(|command| (place(command) != Some(0), command.name.as_str()));
        fitting
    }

    /// Replaces what is written of a command by the best match; returns false if there is none.
    pub(crate) fn complete_command(&mut self) -> bool {
        let Some(name) = self.matching_commands().first().map(|command| command.name.clone())
        else {
            return false;
        };
        let Some(draft) = self.draft_mut() else { return false };
        draft.replace_back_to(0, &format!("/{name} "));
        true
    }

    /// Replaces the mention by the best match; returns false if there is none.
    pub(crate) fn complete_mention(&mut self) -> bool {
        let Some(file) = self.matching_files().first().cloned() else { return false };
        self.attachment_drafts.matches = None;
        let is_folder = file.ends_with('/');
        let editor = match self.focus {
            Focus::Composer => Some(&mut self.home.composer.text),
            Focus::Input => self.draft_mut(),
            Focus::List | Focus::Chat | Focus::Card => None,
        };
        let Some(editor) = editor else { return false };
        let place = mention::at(editor.text(), editor.cursor()).map(|(start, _)| start);
        let Some(start) = place else { return false };
        // After a folder, one of its files may follow.
        let after = if is_folder { "" } else { " " };
        editor.replace_back_to(start, &format!("@{file}{after}"));
        self.attachment_drafts.mentioned.insert(file);
        true
    }

    /// The completed files that a text still mentions.
    pub(crate) fn files_in(&self, text: &str) -> Vec<String> {
        let mentioned = mention::all(text);
        let is_mentioned = |file: &&String| {
            mentioned.iter().any(|it| it.trim_end_matches('/') == file.trim_end_matches('/'))
        };
        self.attachment_drafts.mentioned.iter().filter(is_mentioned).cloned().collect()
    }

    /// Attaches a pasted path of a file, as terminals paste dropped files.
    pub(crate) fn attach_pasted(&mut self, text: &str) -> bool {
        let path = text.trim().trim_matches('\'');
        let path = path.strip_prefix("file://").unwrap_or(path).replace("\\ ", " ");
        let is_path = path.starts_with('/') && !path.contains('\n') && path.len() > 1;
        if is_path && self.written().is_some() && self.link == Link::Up {
            let (to, text) = (self.written_to(), text.to_owned());
            self.effects.push(Effect::Attach { to, path, text });
        }
        is_path && self.written().is_some() && self.link == Link::Up
    }

    /// A file was stored, to be attached.
    pub(crate) fn attached(&mut self, to: Option<SessionId>, stored: StoredAttachment) {
        self.notify(format!("Attached {}; alt-d removes it.", stored.name));
        self.attachment_drafts.attached.entry(to).or_default().push(stored.into());
    }

    /// The names of the attachments of the current draft.
    pub(crate) fn attached_names(&self) -> Vec<&str> {
        let attached = self.attachment_drafts.attached.get(&self.written_to());
        attached.into_iter().flatten().map(|it| it.name.as_str()).collect()
    }

    /// Removes the last attachment of the current draft.
    pub(crate) fn detach(&mut self) {
        let to = self.written_to();
        if let Some(gone) = self.attachment_drafts.attached.get_mut(&to).and_then(Vec::pop) {
            self.notify(format!("Removed {}.", gone.name));
        }
    }

    /// The attachments of a prompt that is about to be sent.
    pub(crate) fn attachments_of(&self, to: Option<SessionId>) -> Vec<GivenAttachment> {
        self.attachment_drafts.attached.get(&to).cloned().unwrap_or_default()
    }

    /// Removes the attachments of a prompt that was sent.
    pub(crate) fn sent_attachments(&mut self, to: Option<SessionId>) {
        self.attachment_drafts.attached.remove(&to);
        self.attachment_drafts.matches = None;
    }
}
