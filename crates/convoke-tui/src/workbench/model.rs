//! All that the screen shows. Changed by `update` alone.

use std::collections::HashMap;

use convoke_api::bodies::{GivenComment, Node, Rule, TeamSession, TeamStats};
use convoke_api::frames::{AgentItem, ClientFrame, Envelope, SessionItem};
use convoke_core::id::{AgentName, NodeId, RuleId, SessionId};
use convoke_core::time::Timestamp;
use ratatui::layout::Size;

use super::attachment_drafts::AttachmentDrafts;
use super::changes::Changes;
use super::chat::Chat;
use super::comparisons::Comparisons;
use super::finish::Finish;
use super::home::{Home, Row};
use super::list::List;
use super::message::{Effect, InFlight};
use super::offers::{Offer, offers};
use super::refusal::CallRefusal;
use super::request::Request;
use super::search::Search;
use crate::Colour;
use crate::editor::Editor;
use crate::notice::{NoticeKind, Notices};
use crate::palette::Palette;
use crate::text::clean;

/// The state of the screen and of the human's drafts.
#[derive(Debug)]
pub struct Model {
    /// The user's own folder, which is shown as `~`.
    pub(crate) user_folder: Option<String>,
    /// The folder in which the program was started, where a new project may be.
    pub(crate) folder: String,
    pub(crate) palette: Palette,
    pub(crate) size: Size,
    pub(crate) now: Timestamp,
    pub(crate) link: Link,
    pub(crate) tab: Tab,
    pub(crate) focus: Focus,
    pub(crate) list: List,
    pub(crate) agents: Vec<AgentItem>,
    /// The names of the nodes, if several share the database.
    pub(crate) nodes: HashMap<NodeId, String>,
    pub(crate) chat: Option<Chat>,
    /// The unsent drafts, by session.
    pub(crate) drafts: HashMap<SessionId, Editor>,
    /// Comments on changed lines that are not sent, by session.
    pub(crate) reviews: HashMap<SessionId, Vec<GivenComment>>,
    /// All that waits for the human, oldest first.
    pub(crate) inbox: Vec<Request>,
    /// Whether the inbox was loaded; requests that exist at the start ring no bell.
    pub(crate) has_inbox: bool,
    pub(crate) home: Home,
    pub(crate) teams: Teams,
    pub(crate) rules: Rules,
    pub(crate) comparisons: Comparisons,
    pub(crate) overlay: Option<Overlay>,
    /// The changes that were shown before the keys were, and are again after them.
    pub(crate) behind: Option<Box<Changes>>,
    pub(crate) notices: Notices,
    /// Whether the human was asked to confirm leaving.
    pub(crate) is_leaving: bool,
    /// When Esc was pressed last while a turn ran: pressed again at once, it stops the turn.
    pub(crate) escaped_at: Option<Timestamp>,
    /// The session whose last prompt is sent again as soon as it is loaded.
    pub(crate) retrying: Option<SessionId>,
    /// The session that was archived last, which can be undone.
    pub(crate) archived: Option<SessionId>,
    in_flight: HashMap<u64, InFlight>,
    last_request: u64,
    /// The effects of the current message.
    pub(crate) effects: Vec<Effect>,
    /// The attachments of the prompts that are being written.
    pub(crate) attachment_drafts: AttachmentDrafts,
}

/// The connection to the daemon.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) enum Link {
    Opening,
    Up,
    /// Lost since then.
    Down(Timestamp),
}

/// One of the tabs.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Tab {
    Home,
    Sessions,
    Teams,
    Rules,
    Compare,
}

impl Tab {
    pub(crate) const ALL: [Self; 5] =
        [Self::Home, Self::Sessions, Self::Teams, Self::Rules, Self::Compare];
}

/// The focus of the keys.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Focus {
    /// The list of the view.
    List,
    /// Writing the first prompt of a new session.
    Composer,
    /// Reading the open session.
    Chat,
    /// The request card.
    Card,
    /// Writing to the open session.
    Input,
}

/// How teams talk.
#[derive(Debug, Default)]
pub(crate) struct Teams {
    /// Last used first.
    pub(crate) sessions: Vec<TeamSession>,
    /// `None` until they are loaded.
    pub(crate) stats: Option<TeamStats>,
    pub(crate) cursor: usize,
}

/// What agents may do without asking, and may not.
#[derive(Debug, Default)]
pub(crate) struct Rules {
    /// `None` until they are loaded.
    pub(crate) all: Option<Vec<Rule>>,
    pub(crate) cursor: Option<RuleId>,
    /// The rule that the next same key revokes.
    pub(crate) revoking: Option<RuleId>,
}

/// An overlay over the page.
#[derive(Debug)]
pub(crate) enum Overlay {
    /// The keys, from a line on.
    Help { scroll: usize },
    /// The choices for the next session.
    New(NewSession),
    /// Sessions and messages.
    Search(Search),
    /// The queued prompts; one of them may be edited.
    Queue { cursor: usize, edited: Option<Editor> },
    /// What to do with the queued prompts when the turn is cancelled.
    Stop { id: SessionId },
    /// What the agent offers.
    Offers { cursor: usize },
    /// The changes of the open session.
    Changes(Box<Changes>),
    /// The dialog that finishes a work tree.
    Finish(Box<Finish>),
    /// Something that was not done, and why.
    Refused { title: &'static str, refusal: CallRefusal },
    /// Another title for a session.
    Rename { id: SessionId, title: Editor },
}

/// A new session in the making.
#[derive(Debug)]
pub(crate) enum NewSession {
    /// In which project? The row after the last is for another folder.
    Project { cursor: usize },
    /// In which folder?
    Folder { path: Editor, found: Vec<String> },
    /// With which agent?
    Agent { cursor: usize },
    /// In which of its modes, and with which model?
    Choices { cursor: usize },
    /// In the project's folder, or in a work tree?
    Place { cursor: usize },
    /// On which branch is the work tree?
    Branch { name: Editor },
    /// The agents to compare. The models of one of them may be expanded.
    Candidates { cursor: usize, unfolded: Option<AgentName> },
    /// Which line of shell tests their work?
    Test { line: Editor },
}

impl Model {
    /// An empty screen, whose size is not known yet.
    pub fn new(
        folder: String,
        user_folder: Option<String>,
        colour: Colour,
        now: Timestamp,
    ) -> Self {
        Self {
            user_folder,
            folder,
            palette: Palette { colour },
            size: Size::ZERO,
            now,
            link: Link::Opening,
            tab: Tab::Home,
            focus: Focus::List,
            list: List::default(),
            agents: Vec::new(),
            nodes: HashMap::new(),
            chat: None,
            drafts: HashMap::new(),
            reviews: HashMap::new(),
            inbox: Vec::new(),
            has_inbox: false,
            home: Home::default(),
            teams: Teams::default(),
            rules: Rules::default(),
            comparisons: Comparisons::default(),
            overlay: None,
            behind: None,
            notices: Notices::default(),
            is_leaving: false,
            escaped_at: None,
            retrying: None,
            archived: None,
            in_flight: HashMap::new(),
            last_request: 0,
            effects: Vec::new(),
            attachment_drafts: AttachmentDrafts::default(),
        }
    }

    /// Sends a request to the daemon, or shows that it is not connected.
    pub(crate) fn send(&mut self, request: InFlight, frame: ClientFrame) -> Sent {
        if self.link != Link::Up {
            self.refuse("Not connected to the daemon: nothing was done.");
            return Sent::No;
        }
        self.last_request += 1;
        self.in_flight.insert(self.last_request, request);
        let request_id = Some(self.last_request.to_string());
        self.effects.push(Effect::SendFrame(Envelope { request_id, frame }));
        Sent::Yes
    }

    /// Takes the request of a response.
    pub(crate) fn take_request(&mut self, request_id: Option<&str>) -> Option<InFlight> {
        self.in_flight.remove(&request_id?.parse().ok()?)
    }

    /// Removes and returns the requests that will not be answered, because the connection was lost.
    pub(crate) fn take_in_flight(&mut self) -> Vec<InFlight> {
        self.in_flight.drain().map(|(_, request)| request).collect()
    }

    /// The open session, as lists show it.
    pub(crate) fn open_session(&self) -> Option<&SessionItem> {
        self.list.session(self.chat.as_ref()?.id)
    }

    /// The choices in the open session.
    pub(crate) fn offers(&self) -> Vec<Offer<'_>> {
        self.chat.as_ref().map(|chat| offers(chat.entries().state())).unwrap_or_default()
    }

    /// The request that the keys of a card are for: of the open session, or at the cursor of the
    /// start screen.
    pub(crate) fn request_position(&self) -> Option<usize> {
        match self.tab {
            Tab::Sessions => {
                let open = self.chat.as_ref()?.id;
                self.inbox.iter().position(|request| request.item.uid == Some(open))
            }
            Tab::Home => match self.home_row()? {
                Row::Request(id) => self.inbox.iter().position(|request| request.item.id == id),
                Row::Session(_) => None,
            },
            Tab::Teams | Tab::Rules | Tab::Compare => None,
        }
    }

    pub(crate) fn request(&self) -> Option<&Request> {
        self.inbox.get(self.request_position()?)
    }

    pub(crate) fn request_mut(&mut self) -> Option<&mut Request> {
        let at = self.request_position()?;
        self.inbox.get_mut(at)
    }

    /// The draft for the open session.
    pub(crate) fn draft(&self) -> Option<&Editor> {
        self.drafts.get(&self.chat.as_ref()?.id)
    }

    /// The draft for the open session, mutable.
    pub(crate) fn draft_mut(&mut self) -> Option<&mut Editor> {
        let id = self.chat.as_ref()?.id;
        Some(self.drafts.entry(id).or_default())
    }

    /// Agents, those that are installed first.
    pub(crate) fn agents_offered(&self) -> Vec<&AgentItem> {
        let mut agents: Vec<&AgentItem> = self.agents.iter().collect();
        agents.sort_by_key(|agent| !agent.installed);
        agents
    }

    /// The name of a node, if several share the database.
    pub(crate) fn node(&self, id: Option<NodeId>) -> Option<String> {
        id.and_then(|id| self.nodes.get(&id)).map(|name| clean::line(name))
    }

    /// Sets the nodes that share the database. A single one is not shown.
    pub(crate) fn take_nodes(&mut self, nodes: Vec<Node>) {
        let several = nodes.len() > 1;
        let names = nodes.into_iter().filter(|_| several).map(|node| (node.id, node.name));
        self.nodes = names.collect();
    }

    /// The two letters of an agent.
    pub(crate) fn badge(&self, name: &AgentName) -> String {
        let known = self.agents.iter().find(|agent| agent.cli_type == *name);
        known.map_or_else(
            || name.as_str().chars().take(2).collect::<String>().to_uppercase(),
            |agent| agent.badge.clone(),
        )
    }

    /// Shows a notice.
    pub(crate) fn notify(&mut self, text: impl Into<String>) {
        self.notices.show(text, NoticeKind::News, self.now);
    }

    /// Shows a refusal.
    pub(crate) fn refuse(&mut self, text: impl Into<String>) {
        self.notices.show(text, NoticeKind::Refusal, self.now);
    }
}

/// Whether a request was sent to the daemon.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Sent {
    Yes,
    No,
}
