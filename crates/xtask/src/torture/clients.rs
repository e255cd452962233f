//! Clients of the daemon: they create sessions, cancel, complete, resume and answer, and record the responses.

use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::sync::{Mutex, PoisonError};
use std::thread;
use std::time::Duration;

use convoke_testkit::bench::random::Random;
use serde_json::{Value, json};

use super::http::{Answer, Endpoint, Outcome};
use super::ledger::{Ack, Ledger};
use super::machine::Machine;

/// Sessions that clients talk in; more would be more than the limit allows.
const SESSIONS_MAX: usize = 40;
/// How long a client that finds no daemon waits.
pub(super) const PAUSE: Duration = Duration::from_millis(30);

/// The state that all clients share.
#[derive(Debug)]
pub(super) struct World<'a> {
    /// The first of them.
    pub(super) machine: &'a Machine,
    /// The machines whose daemons share a database; one, if its database is a file.
    machines: &'a [Machine],
    pub(super) ledger: &'a Ledger,
    pub(super) over: AtomicBool,
    pub(super) seed: u64,
    repos: Vec<String>,
    sessions: Mutex<Vec<String>>,
    texts: AtomicU64,
}

impl<'a> World<'a> {
    /// A world without any prompts yet.
    pub(super) fn new(machine: &'a Machine, ledger: &'a Ledger, seed: u64) -> Self {
        Self::of_nodes(machine, std::slice::from_ref(machine), ledger, seed)
    }

    /// The same with several daemons on one database.
    pub(super) fn of_nodes(
        machine: &'a Machine,
        machines: &'a [Machine],
        ledger: &'a Ledger,
        seed: u64,
    ) -> Self {
        let add = |endpoint: &Endpoint, path: std::path::PathBuf| {
            let outcome = endpoint.call("POST", "/api/repos", Some(&json!({"path": path})));
            let Outcome::Answered(Answer { body, .. }) = outcome else { return None };
            Some(body.get("id")?.as_str()?.to_owned())
        };
        let mut repos = Vec::new();
        for machine in machines {
            let Some(endpoint) = machine.endpoint() else { continue };
            repos.extend(machine.projects().into_iter().filter_map(|path| add(&endpoint, path)));
        }
        let (over, sessions, texts) = (AtomicBool::new(false), Mutex::default(), AtomicU64::new(0));
        Self { machine, machines, ledger, over, seed, repos, sessions, texts }
    }

    /// The address of one of the daemons, if its file has one.
    pub(super) fn endpoint(&self, random: &mut Random) -> Option<Endpoint> {
        let drawn = random.below(self.machines.len().max(1) as u64) as usize;
        self.machines.get(drawn)?.endpoint()
    }

    pub(super) fn is_over(&self) -> bool {
        self.over.load(Ordering::SeqCst)
    }

    /// The random numbers of this client.
    pub(super) fn random(&self, client: u64) -> Random {
        Random::new(self.seed.wrapping_mul(1_000_003).wrapping_add(client))
    }

    /// A new text; its first word alone is unique.
    pub(super) fn text(&self, what: &str) -> String {
        format!("n{}n {what}", self.texts.fetch_add(1, Ordering::SeqCst))
    }

    /// A project.
    pub(super) fn repo(&self) -> Option<&String> {
        self.repos.first()
    }

    /// Adds an imported session to those that are used.
    pub(super) fn adopt(&self, endpoint: &Endpoint, imported: &Value) {
        let Some(session) = imported.get("session") else { return };
        let id = text_of(session, "id");
        endpoint.call("POST", &format!("/api/sessions/{id}/resume"), None);
        self.sessions.lock().unwrap_or_else(PoisonError::into_inner).push(id);
    }

    pub(super) fn any_session(&self, random: &mut Random) -> Option<String> {
        let sessions = self.sessions.lock().unwrap_or_else(PoisonError::into_inner);
        let drawn = random.below(sessions.len().max(1) as u64) as usize;
        sessions.get(drawn).cloned()
    }

    /// Begins a session, if there are not enough.
    pub(super) fn begin(&self, endpoint: &Endpoint, random: &mut Random) {
        let count = self.sessions.lock().unwrap_or_else(PoisonError::into_inner).len();
        let repo = self.repos.get(random.below(self.repos.len().max(1) as u64) as usize);
        let (Some(repo), true) = (repo, count < SESSIONS_MAX) else { return };
        let agent = if random.below(3) == 0 { "wilder" } else { "wild" };
        let new = json!({"repoId": repo, "agent": agent});
        if let Outcome::Answered(Answer { status: 201, body }) =
            endpoint.call("POST", "/api/sessions", Some(&new))
            && let Some(id) = body.get("id").and_then(Value::as_str)
        {
            self.sessions.lock().unwrap_or_else(PoisonError::into_inner).push(id.to_owned());
        }
    }
}

/// Sends prompts, and creates, ends and resumes sessions.
pub(super) fn prompter(world: &World<'_>, client: u64) {
    let mut random = world.random(client);
    while !world.is_over() {
        let Some(endpoint) = world.endpoint(&mut random) else {
            thread::sleep(PAUSE);
            continue;
        };
        match random.below(22) {
            20 | 21 if world.machines.len() > 1 => world.rename(&endpoint, &mut random),
            0 | 1 => world.begin(&endpoint, &mut random),
            2..=4 => world.disturb_session(&endpoint, &mut random),
            _ => world.prompt(&endpoint, &mut random),
        }
        thread::sleep(Duration::from_millis(random.below(60)));
    }
}

impl World<'_> {
    /// Cancels turns, ends sessions, and resumes them.
    fn disturb_session(&self, endpoint: &Endpoint, random: &mut Random) {
        let Some(session) = self.any_session(random) else { return };
        let what = match random.below(8) {
            0 => "complete",
            1 | 2 => "resume",
            _ => "cancel",
        };
        endpoint.call("POST", &format!("/api/sessions/{session}/{what}"), None);
    }
}

impl World<'_> {
    /// Renames a session to a unique title.
    fn rename(&self, endpoint: &Endpoint, random: &mut Random) {
        let Some(session) = self.any_session(random) else { return };
        let title = self.text("title");
        let path = format!("/api/sessions/{session}");
        let ack = match endpoint.call("PATCH", &path, Some(&json!({"title": title}))) {
            Outcome::Answered(Answer { status: 200..=299, .. }) => Ack::Done,
            Outcome::Answered(Answer { status: 400..=499, .. }) | Outcome::NotSent => Ack::Refused,
            Outcome::Answered(_) | Outcome::Unknown => Ack::Unknown,
        };
        self.ledger.records().renames.insert(title, (session, ack));
    }
}

/// Answers every permission request.
pub(super) fn human(world: &World<'_>) {
    let mut random = world.random(9_000);
    while !world.is_over() {
        thread::sleep(Duration::from_millis(100));
        let Some(endpoint) = world.endpoint(&mut random) else { continue };
        let inbox = endpoint.get("/api/inbox").unwrap_or_default();
        for item in inbox.get("items").and_then(Value::as_array).into_iter().flatten() {
            if item.get("kind").and_then(Value::as_str) == Some("permission") {
                settle(world, &endpoint, item, &mut random);
            }
        }
    }
}

fn settle(world: &World<'_>, endpoint: &Endpoint, item: &Value, random: &mut Random) {
    let id = text_of(item, "id");
    let options = item.pointer("/permission/options").and_then(Value::as_array);
    let option = options.and_then(|options| options.get(random.below(2) as usize));
    let Some(option) = option.map(|option| text_of(option, "optionId")) else { return };
    let path = format!("/api/inbox/{id}/answer");
    let outcome = endpoint.call("POST", &path, Some(&json!({"optionId": option})));
    if let Outcome::Answered(Answer { status: 200..=299, .. }) = outcome {
        world.ledger.records().verdicts.insert(id, option);
    }
}

/// A hundred clients at once, each with a prompt and a list.
pub(super) fn burst_of_clients(world: &World<'_>, at: u64) {
    thread::scope(|scope| {
        for client in 0..100 {
            scope.spawn(move || {
                let mut random = world.random(at.wrapping_mul(1000).wrapping_add(client));
                if let Some(endpoint) = world.endpoint(&mut random) {
                    world.prompt(&endpoint, &mut random);
                    endpoint.get("/api/sessions?limit=100");
                }
            });
        }
    });
}

/// A text of an object, or an empty one.
pub(super) fn text_of(value: &Value, key: &str) -> String {
    value.get(key).and_then(Value::as_str).unwrap_or_default().to_owned()
}
