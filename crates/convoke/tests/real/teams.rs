//! Two teams of Claude Code, confined as they are by default, of which one asks the other.

use std::fs;
use std::thread;

use convoke_testkit::agent::Script;
use convoke_testkit::host::installed;
use convoke_testkit::model::Model;
use serde_json::{Value, json};
use tokio::runtime::Runtime;

use crate::convoke::Convoke;
use crate::serve_scene::Daemon;

/// A daemon with teams, and the model that they all think with.
struct Teams {
    daemon: Daemon,
    _model: Model,
    _runtime: Runtime,
}

impl Teams {
    fn open(names: &[&str]) -> Self {
        let runtime = Runtime::new().unwrap();
        let model = runtime.block_on(Model::start()).unwrap();
        let url = model.url();
        let variables = [
            ("ANTHROPIC_BASE_URL", url.as_str()),
            ("ANTHROPIC_API_KEY", "none"),
            ("CLAUDE_CODE_DISABLE_NONESSENTIAL_TRAFFIC", "1"),
            ("DISABLE_TELEMETRY", "1"),
            ("DISABLE_AUTOUPDATER", "1"),
            ("DISABLE_ERROR_REPORTING", "1"),
            ("LANG", "C.UTF-8"),
        ];
        let machine =
            variables.iter().fold(Convoke::new(), |it, (name, value)| it.env(name, value));
        let mut teams = json!({});
        for name in names {
            let folder = machine.path().join("root").join(name);
            fs::create_dir_all(&folder).unwrap();
            teams[name] = json!({"path": folder});
        }
        let machine = machine.file("teams.json", json!({"teams": teams}).to_string());
        let claude = installed().join("claude-code/node_modules/.bin/claude");
        let config = format!("[agents.claude-code]\ncommand = {claude:?}\n");
        let daemon = Daemon::on(machine, &Script::new(), &config);
        Self { daemon, _model: model, _runtime: runtime }
    }

    fn ask(&self, team: &str, question: &str) -> Value {
        self.daemon.post(&format!("/api/teams/{team}/ask"), &json!({"question": question})).json()
    }

    /// The conversation of a team with callers from outside.
    fn session_of(&self, team: &str) -> String {
        let path = format!("/api/teams/sessions?external=true&to={team}");
        let listed = self.daemon.get(&path).json();
        listed["sessions"][0]["sessionId"].as_str().unwrap_or_else(|| panic!("{listed}")).to_owned()
    }

    /// Allows the next thing that a session asks for.
    fn allow(&self, session: &str) {
        let asked = self.daemon.follow(session, 0).until(|message| {
            message["content"]["type"] == "permission" && message["content"]["status"] == "pending"
        });
        let (id, options) = (&asked["content"]["requestId"], &asked["content"]["options"]);
        let options = options.as_array().unwrap();
        let once = options.iter().find(|option| option["kind"] == "allow_once").unwrap();
        let path = format!("/api/inbox/{}/answer", id.as_str().unwrap());
        let answered = self.daemon.post(&path, &json!({"optionId": once["optionId"]}));
        assert_eq!(answered.status, 204, "{answered:?}");
    }

    /// The files that Claude keeps of sessions.
    fn files(&self) -> usize {
        let projects = self.daemon.machine.path().join(".claude/projects");
        let folders = fs::read_dir(projects).unwrap().map(|folder| folder.unwrap().path());
        let files = folders.flat_map(|folder| fs::read_dir(folder).unwrap());
        files.filter(|file| file.as_ref().unwrap().path().extension().is_some()).count()
    }
}

fn answer(answer: &Value) -> (&str, &str) {
    (answer["status"].as_str().unwrap(), answer["response"].as_str().unwrap())
}

#[test]
fn t3_t11_t13_a_team_of_real_claude_asks_another_and_both_remember_after_a_crash() {
    let mut teams = Teams::open(&["a", "b"]);
    assert_eq!(teams.files(), 2, "one ping made the session of each team");
    // The ping was the first turn that the model saw of it.
    assert_eq!(answer(&teams.ask("b", "hello")), ("answered", "ECHO turn=2: hello"));

    let arguments = json!({"team": "b", "question": "hello from a"});
    let question = format!("[[tool mcp__convoke__teams_ask {arguments}]]");
    let session = teams.session_of("a");
    let told = thread::scope(|scope| {
        let asking = scope.spawn(|| teams.ask("a", &question));
        teams.allow(&session);
        asking.join().unwrap()
    });
    // A conversation of its own: b heard of a for the first time.
    let said = "DONE turn=2: ECHO turn=2: hello from a";
    assert_eq!(answer(&told), ("answered", said), "{told}");
    assert_eq!(teams.files(), 3);

    teams.daemon.kill_and_start();
    assert_eq!(answer(&teams.ask("b", "again")), ("answered", "ECHO turn=3: again"));
    let from_a = json!({"question": "again", "fromTeam": "a"});
    let told = teams.daemon.post("/api/teams/b/ask", &from_a).json();
    assert_eq!(answer(&told), ("answered", "ECHO turn=3: again"), "{told}");
    assert_eq!(teams.files(), 3, "nothing was begun anew");
}
