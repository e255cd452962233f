//! Decided and pending requests about connections.

use std::collections::{BTreeMap, BTreeSet};

use convoke_core::evidence::Evidence;
use convoke_core::id::RequestId;
use convoke_core::request::{PermissionKind, PermissionOption, PermissionRecord, Request, State};
use convoke_core::session::Reply;
use tokio::sync::oneshot;

use crate::driver::Random;
use crate::sandbox::{Ruling, Target};

/// Hosts with a pending request; connections to further ones are denied. The session would accept more
/// requests, but the agent needs room for its own.
const OPEN_MAX: usize = 16;
/// Connections that may wait for one decision; further ones are denied.
const WAITING_MAX: usize = 256;
/// Bytes of a human's reason that are passed to the program.
const REASON_BYTES_MAX: usize = 4 << 10;

/// Decisions that are stored in one turn; others are asked for again.
const DECIDED_MAX: usize = 1024;
const TOO_MANY: &str = "too many connections wait for a decision already";

const ALLOW_TURN: &str = "allow_turn";
const ALLOW_SESSION: &str = "allow_session";
const DENY: &str = "deny";

/// The decisions of one agent's process.
#[derive(Debug)]
pub(super) struct Decisions {
    random: Random,
    turn: Turn,
    /// Allowed as long as the process runs.
    allowed: BTreeSet<Target>,
    open: BTreeMap<RequestId, Open>,
}

#[derive(Debug)]
enum Turn {
    None,
    /// The decisions of the turn, so that a retry of the program does not ask again.
    Running(BTreeMap<Target, Ruling>),
}

/// A pending request.
#[derive(Debug)]
struct Open {
    target: Target,
    waiting: Vec<oneshot::Sender<Ruling>>,
}

fn deny(why: &str) -> Ruling {
    Ruling::Deny { why: why.to_owned() }
}

impl Decisions {
    pub(super) const fn new(random: Random) -> Self {
        Self { random, turn: Turn::None, allowed: BTreeSet::new(), open: BTreeMap::new() }
    }

    pub(super) fn turn_began(&mut self) {
        self.turn = Turn::Running(BTreeMap::new());
    }

    /// Denies pending requests; the session abandons them itself.
    pub(super) fn turn_ended(&mut self) {
        self.turn = Turn::None;
        for open in std::mem::take(&mut self.open).into_values() {
            open.answer(&deny("the turn ended before it was answered"));
        }
    }

    /// Answers at once if it is decided; else returns a new request, unless one is pending.
    pub(super) fn decide_or_ask(
        &mut self,
        target: Target,
        reply: oneshot::Sender<Ruling>,
    ) -> Option<Request> {
        if let Some(ruling) = self.known(&target) {
            // The program may have closed its connection.
            reply.send(ruling).ok();
            return None;
        }
        if let Some(open) = self.open.values_mut().find(|open| open.target == target) {
            if open.waiting.len() < WAITING_MAX {
                open.waiting.push(reply);
            } else {
                reply.send(deny(TOO_MANY)).ok();
            }
            return None;
        }
        if self.open.len() >= OPEN_MAX {
            reply.send(deny(TOO_MANY)).ok();
            return None;
        }
        let id = RequestId::from_random((self.random)());
        let request = request(id, &target);
        self.open.insert(id, Open { target, waiting: vec![reply] });
        Some(request)
    }

    /// The decision, if there is one.
    fn known(&self, target: &Target) -> Option<Ruling> {
        if self.allowed.contains(target) {
            return Some(Ruling::Allow);
        }
        match &self.turn {
            Turn::Running(decided) => decided.get(target).cloned(),
            Turn::None => {
                tracing::info!(%target, "a connection is denied, because no turn runs that could ask");
                Some(deny("it is not on the list, and the user is asked only while a turn runs"))
            }
        }
    }

    /// Handles the answer to a request; returns whether the request is one about a connection.
    pub(super) fn settle(&mut self, request: RequestId, reply: &Reply) -> bool {
        let Some(open) = self.open.remove(&request) else { return false };
        let ruling = ruling(reply);
        if let Reply::Chosen { option_id } = reply
            && option_id == ALLOW_SESSION
        {
            self.allowed.insert(open.target.clone());
        }
        if let Turn::Running(decided) = &mut self.turn
            && decided.len() < DECIDED_MAX
        {
            decided.insert(open.target.clone(), ruling.clone());
        }
        open.answer(&ruling);
        true
    }
}

impl Open {
    fn answer(self, ruling: &Ruling) {
        for waiting in self.waiting {
            // The program may have closed its connection.
            waiting.send(ruling.clone()).ok();
        }
    }
}

fn ruling(reply: &Reply) -> Ruling {
    match reply {
        Reply::Chosen { option_id }
            if [ALLOW_TURN, ALLOW_SESSION].contains(&option_id.as_str()) =>
        {
            Ruling::Allow
        }
        Reply::Chosen { .. } | Reply::Answered(_) => deny("the user denied it"),
        Reply::Rejected { reason } => match reason.as_deref().map(str::trim) {
            Some(reason) if !reason.is_empty() => {
                let end = reason.floor_char_boundary(REASON_BYTES_MAX);
                deny(&format!("the user denied it: {}", reason.get(..end).unwrap_or_default()))
            }
            Some(_) | None => deny("the user denied it"),
        },
        Reply::TimedOut => deny("the user did not answer in time"),
        Reply::Cancelled => deny("the request was cancelled"),
    }
}

/// The request as a permission to fetch. It names no tool, so that no rule about tools matches it.
fn request(id: RequestId, target: &Target) -> Request {
    let option = |option_id: &str, name: &str, kind| PermissionOption {
        option_id: option_id.to_owned(),
        name: name.to_owned(),
        kind,
    };
    Request::Permission(PermissionRecord {
        by: None,
        request_id: id,
        tool_call_id: None,
        tool: None,
        title: format!("Connect to {target}"),
        evidence: Some(Evidence::Fetch { url: target.url(), omitted_bytes: 0 }),
        rules: Vec::new(),
        options: vec![
            option(ALLOW_TURN, "Allow for this turn", PermissionKind::AllowOnce),
            option(ALLOW_SESSION, "Allow for this session", PermissionKind::AllowAlways),
            option(DENY, "Deny", PermissionKind::RejectOnce),
        ],
        state: State::Pending,
    })
}
