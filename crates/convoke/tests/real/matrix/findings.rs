//! What driving agents showed once, with the programs themselves: none of it may come back.

use std::fs;
use std::net::{Ipv4Addr, TcpListener};
use std::process::{Command, Output};
use std::sync::{MutexGuard, PoisonError};
use std::time::Duration;

use convoke_testkit::model::Model;
use convoke_testkit::wait;
use serde_json::json;
use tokio::runtime::Runtime;

use super::agents::{ALL, Agent};
use super::cells::{Answers, Scene};
use super::{TURN, installed};

/// How long an agent may take for what is waited for here.
const TIMEOUT: Duration = Duration::from_secs(120);

/// The model, the runtime that it runs on, and the turn among all tests with agents.
struct Mind {
    model: Model,
    _runtime: Runtime,
    _turn: MutexGuard<'static, ()>,
}

impl Mind {
    fn new() -> Self {
        let turn = TURN.lock().unwrap_or_else(PoisonError::into_inner);
        let runtime = Runtime::new().unwrap();
        let model = runtime.block_on(Model::start()).unwrap();
        Self { model, _runtime: runtime, _turn: turn }
    }
}

/// An agent as it begins by itself; none if it is not installed.
fn agent(name: &str) -> Option<Agent> {
    let mut agent = *ALL.iter().find(|agent| agent.name == name).unwrap();
    agent.version(&installed())?;
    agent.asking_mode = None;
    Some(agent)
}

fn was_notified(scene: &Scene<'_>, session: &str, text: &str) -> bool {
    let messages = scene.daemon.messages(session);
    messages.iter().any(|it| it["content"]["text"].as_str().is_some_and(|it| it.contains(text)))
}

/// Codex confines its commands by a bubblewrap of its own, which cannot work inside of Landlock. Where ours is there, it
/// takes the place of Landlock; where it is not, Codex runs commands without its own, and a notice says so.
#[test]
fn l1_codex_runs_commands_with_bubblewrap_and_without() {
    let (Some(codex), mind) = (agent("codex"), Mind::new()) else { return };
    for (more, is_nested) in
        [("", true), ("[sandbox]\nlayers = [\"landlock\", \"seccomp\"]\n", false)]
    {
        let scene = Scene::with(&codex, &mind.model, &installed(), more);
        let session = scene.begin().unwrap();
        let outside = scene.outside.clone();
        let line =
            format!("echo made > made.txt; cat made.txt; echo out > '{}'", outside.display());
        let text = format!("[[tool exec_command {}]]", json!({"cmd": line}));
        let turn = scene.turn(&session, &text, Answers::Deny).unwrap();
        let made = fs::read_to_string(scene.workspace().join("made.txt"));
        assert_eq!(made.as_deref().ok(), Some("made\n"), "nested {is_nested}: {}", turn.said);
        assert!(!outside.exists(), "nested {is_nested}: {}", turn.said);
        assert_eq!(turn.asked, [""; 0], "nested {is_nested}");
        let is_said = was_notified(&scene, &session, "it runs commands without asking");
        assert_eq!(is_said, !is_nested, "{:?}", scene.daemon.messages(&session));
    }
}

/// The daemon that Cline shares among all programs of a user, outside of any sandbox; it ends with this.
struct Hub<'a> {
    scene: &'a Scene<'a>,
    /// Not the usual one, where a hub of the machine's user may be.
    port: u16,
}

impl<'a> Hub<'a> {
    fn start(scene: &'a Scene<'a>) -> Self {
        let free = TcpListener::bind((Ipv4Addr::LOCALHOST, 0)).unwrap();
        let hub = Self { scene, port: free.local_addr().unwrap().port() };
        drop(free);
        let started = hub.order("start");
        let said = String::from_utf8_lossy(&started.stdout);
        assert!(said.contains(&format!("ws://127.0.0.1:{}/", hub.port)), "{started:?}");
        hub
    }

    fn order(&self, order: &str) -> Output {
        let home = self.scene.daemon.machine.path();
        let mut command = Command::new(self.scene.agent.program(&self.scene.installed));
        command.args(["hub", order]).env_clear().env("CLINE_HUB_PORT", self.port.to_string());
        command.envs(self.scene.agent.configure(home, &self.scene.model.url()));
        command.env("HOME", home).env("PATH", &self.scene.path).current_dir(home).output().unwrap()
    }
}

impl Drop for Hub<'_> {
    fn drop(&mut self) {
        self.order("stop");
    }
}

/// A confined Cline that finds its user's hub has its commands run there, unless a variable of the catalogue keeps it
/// from that.
#[test]
fn l1_cline_stays_in_its_sandbox_beside_the_hub_of_its_user() {
    let (Some(cline), mind) = (agent("cline"), Mind::new()) else { return };
    let mut scene = Scene::new(&cline, &mind.model, &installed());
    {
        let _hub = Hub::start(&scene);
        assert_eq!(scene.outside().as_deref(), Ok("denied"));
        scene.clear().unwrap();
    }
    // The proof that there was a way out.
    scene.set("CLINE_SESSION_BACKEND_MODE", "hub");
    let _hub = Hub::start(&scene);
    let escaped = scene.outside();
    assert_eq!(escaped.unwrap_err(), "it wrote outside of its workspace");
}

/// Without a log-in opencode takes a model of its makers', and where that cannot be reached it tries again for ever. It
/// is said at the beginning, and the turn can be cancelled.
#[test]
fn l1_opencode_without_a_log_in_says_so_and_can_be_cancelled() {
    let (Some(opencode), mind) = (agent("opencode"), Mind::new()) else { return };
    let off = "[sandbox]\nnetwork = \"off\"\n";
    let scene = Scene::with(&opencode, &mind.model, &installed(), off);
    let home = scene.daemon.machine.path();
    fs::remove_file(home.join(".config/opencode/opencode.json")).unwrap();
    let session = scene.begin().unwrap();
    let advice = "opencode is not logged in: run `opencode auth login`";
    wait::within(TIMEOUT, advice, || was_notified(&scene, &session, advice));
    let prompt = scene.send(&session, &json!({"text": "hello there"})).unwrap();
    let log = home.join(".local/share/opencode/log/opencode.log");
    let failures = || fs::read_to_string(&log).unwrap_or_default().matches("stream error").count();
    wait::within(TIMEOUT, "it has tried again", || failures() > 2);
    let messages = scene.daemon.messages(&session);
    let message = messages.iter().find(|it| it["id"] == *prompt).unwrap();
    assert_ne!(message["turn"]["status"], "ended", "it gives up by itself now: {message}");
    let turn = scene.cancel(&session, &prompt).unwrap();
    assert_eq!(turn.stop, "cancelled", "{}", turn.said);
}
