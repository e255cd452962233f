//! A machine with a home, a folder for projects and an agent, and a server that is called directly.

use std::fs;
use std::hash::{BuildHasher as _, Hasher as _, RandomState};
use std::net::SocketAddr;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::time::{Duration, SystemTime, UNIX_EPOCH};

use axum::Router;
use axum::body::Body;
use axum::http::{Method, Request, Response};
use convoke_core::question::Limits;
use convoke_core::time::Timestamp;
use convoke_engine::sandbox::Available;
use convoke_engine::{
    Agent, Checkpointing, HistorySettings, HostContext, Keys, McpEndpoint, PoolSettings,
    QuestionSettings, SandboxSettings, Settings, Spare,
};
use convoke_testkit::agent::{Ask, Script, Step, Tool};
use convoke_testkit::host::example;
use convoke_testkit::tools::search_path;
use futures_util::StreamExt as _;
use serde_json::{Value, json};
use tempfile::TempDir;
use tokio::net::TcpListener;
use tower::ServiceExt as _;

use crate::app::{App, router};
use crate::auth::Token;
use crate::listen;
use crate::server::{Server, ServerOptions};

/// Where the server believes to listen.
pub(super) const HOST: &str = "127.0.0.1:7717";
/// The agent that is installed.
pub(super) const AGENT: &str = "scripted";

/// A server on a machine of its own.
pub(super) struct Scene {
    pub(super) app: Arc<App>,
    pub(super) token: Token,
    /// The keys of agent processes; a test that plays the agent issues itself one.
    pub(super) keys: Keys,
    router: Router,
    folder: TempDir,
    address: SocketAddr,
}

/// What came back.
pub(super) struct Answer {
    pub(super) status: u16,
    pub(super) headers: axum::http::HeaderMap,
    pub(super) body: String,
}

impl Scene {
    /// A server whose agent echoes.
    pub(super) async fn new() -> Self {
        Self::with(&Script::new(), |_| {}).await
    }

    /// A server whose agent follows a script, with other settings.
    pub(super) async fn with(script: &Script, change: impl FnOnce(&mut Settings)) -> Self {
        Self::at(HOST.parse().unwrap(), script, change).await
    }

    /// A server that is reached through the network.
    pub(super) async fn listening(script: &Script) -> (Self, SocketAddr) {
        Self::listening_with(script, |_| {}).await
    }

    /// The same with other settings.
    pub(super) async fn listening_with(
        script: &Script,
        change: impl FnOnce(&mut Settings),
    ) -> (Self, SocketAddr) {
        let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
        let address = listener.local_addr().unwrap();
        let scene = Self::at(address, script, change).await;
        tokio::spawn(listen::serve(listener, scene.router.clone(), scene.app.stop.clone()));
        (scene, address)
    }

    async fn at(address: SocketAddr, script: &Script, change: impl FnOnce(&mut Settings)) -> Self {
        let folder = tempfile::tempdir().unwrap();
        let root = folder.path().canonicalize().unwrap();
        for name in ["home/run", "base/app", "base-evil"] {
            fs::create_dir_all(root.join(name)).unwrap();
        }
        fs::write(root.join("script.json"), serde_json::to_vec(script).unwrap()).unwrap();
        let mut settings = settings(&root);
        change(&mut settings);
        let token = Token::from_random([7; 32]);
        let keys = Keys::new(random);
        let options = ServerOptions {
            address,
            public_url: None,
            token: token.clone(),
            version: "1.2.3".to_owned(),
            settings,
            host: host(&root, keys.clone()),
            problems: crate::Problems::default(),
        };
        let app = Server::open(options).await.unwrap().app;
        Self { router: router(Arc::clone(&app)), app, token, keys, folder, address }
    }

    /// A path on the machine.
    pub(super) fn path(&self, name: &str) -> PathBuf {
        self.folder.path().canonicalize().unwrap().join(name)
    }

    /// Sends a request as it is, but for the Host.
    pub(super) async fn send(&self, request: Request<Body>) -> Response<Body> {
        let mut request = request;
        let host = axum::http::HeaderValue::from_str(&self.address.to_string()).unwrap();
        request.headers_mut().entry("host").or_insert(host);
        self.router.clone().oneshot(request).await.unwrap()
    }

    /// Sends a request with the token, and waits for the whole answer.
    pub(super) async fn call(&self, method: Method, path: &str, body: Option<Value>) -> Answer {
        let request = self.request(method, path);
        let request = match body {
            Some(body) => request
                .header("content-type", "application/json")
                .body(Body::from(body.to_string())),
            None => request.body(Body::empty()),
        };
        Answer::of(self.send(request.unwrap()).await).await
    }

    /// The beginning of a request with the token.
    pub(super) fn request(&self, method: Method, path: &str) -> axum::http::request::Builder {
        let token = format!("Bearer {}", self.token.as_str());
        Request::builder().method(method).uri(path).header("authorization", token)
    }

    pub(super) async fn get(&self, path: &str) -> Answer {
        self.call(Method::GET, path, None).await
    }

    pub(super) async fn post(&self, path: &str, body: Value) -> Answer {
        self.call(Method::POST, path, Some(body)).await
    }

    /// Adds the project that most tests have, and tells its id.
    pub(super) async fn project(&self) -> String {
        let path = self.path("base/app");
        let added = self.post("/api/repos", serde_json::json!({"path": path})).await;
        added.json()["id"].as_str().unwrap().to_owned()
    }

    /// Begins a session in a new project, and tells its id.
    pub(super) async fn session(&self) -> String {
        let project = self.project().await;
        let begun = self.post("/api/sessions", serde_json::json!({"repoId": project})).await;
        assert_eq!(begun.status, 201, "{}", begun.body);
        begun.json()["id"].as_str().unwrap().to_owned()
    }

    /// Prompts a session, and waits until the turn has ended. Tells all messages.
    pub(super) async fn turn(&self, session: &str, text: &str) -> Vec<Value> {
        let prompted = self
            .post(&format!("/api/sessions/{session}/prompt"), serde_json::json!({"text": text}))
            .await;
        assert_eq!(prompted.status, 202, "{}", prompted.body);
        let prompt = prompted.json()["messageId"].as_str().unwrap().to_owned();
        let id = session.parse().unwrap();
        let after = convoke_core::message::Rev::START;
        let mut watcher = self.app.engine.sessions().watch(id, after).await.unwrap();
        loop {
            let published = watcher.next().await.unwrap();
            let update: Value = serde_json::from_str(published.json()).unwrap();
            if update["id"] == prompt.as_str() && update["turn"]["status"] == "ended" {
                let all = self.get(&format!("/api/sessions/{session}/messages")).await.json();
                return all.as_array().unwrap().clone();
            }
        }
    }

    /// What came back, with everything left out that is another each time.
    pub(super) fn told(&self, answer: &Answer) -> String {
        let body = match serde_json::from_str::<Value>(&answer.body) {
            Ok(value) => serde_json::to_string_pretty(&value).unwrap(),
            Err(_) => answer.body.clone(),
        };
        let folder = self.path("");
        let folder = folder.to_str().unwrap().trim_end_matches('/');
        mask(format!("{}\n{body}", answer.status).replace(folder, "[tmp]").trim_end())
    }
}

impl Answer {
    pub(super) async fn of(response: Response<Body>) -> Self {
        let (parts, body) = response.into_parts();
        let mut pieces = body.into_data_stream();
        let mut bytes = Vec::new();
        while let Some(piece) = pieces.next().await {
            bytes.extend_from_slice(&piece.unwrap());
        }
        let body = String::from_utf8(bytes).unwrap();
        Self { status: parts.status.as_u16(), headers: parts.headers, body }
    }

    pub(super) fn json(&self) -> Value {
        serde_json::from_str(&self.body).unwrap_or_else(|_| panic!("not JSON: {}", self.body))
    }

    pub(super) fn header(&self, name: &str) -> &str {
        self.headers.get(name).map_or("", |value| value.to_str().unwrap())
    }

    /// The status, and the word that programs go by.
    pub(super) fn problem(&self) -> String {
        assert_eq!(self.header("content-type"), "application/problem+json", "{}", self.body);
        let problem = self.json();
        assert_eq!(problem["status"], self.status);
        format!(
            "{} {}: {}",
            self.status,
            problem["code"].as_str().unwrap(),
            problem["detail"].as_str().unwrap()
        )
    }
}

fn settings(root: &Path) -> Settings {
    let mut agent = Agent::named(AGENT.parse().unwrap());
    agent.command = example("server_agent").to_str().unwrap().to_owned();
    let script = root.join("script.json").to_str().unwrap().to_owned();
    agent.args = vec!["--protocol".to_owned(), "acp".to_owned(), script];
    Settings {
        sessions_max: 5,
        idle_timeout: Duration::from_secs(30 * 60),
        workspace_root: root.join("base"),
        pool: PoolSettings {
            processes_max: 10,
            idle_timeout: Duration::from_secs(5 * 60),
            health_interval: Duration::from_secs(30),
        },
        spare: Spare::None,
        checkpoints: Checkpointing::Off,
        worktrees: convoke_engine::WorktreeSettings::default(),
        questions_dir: root.join("home/questions"),
        questions: QuestionSettings {
            sessions_max: 100,
            limits: Limits { questions_max: 5, options_max: 5 },
        },
        limits: convoke_engine::Limits::default(),
        question_timeout: None,
        agents: vec![agent],
        sandbox: SandboxSettings::with(Available::detect(Some(search_path().as_ref()))),
        history: HistorySettings::default(),
        server: None,
        node: <(String, String)>::default(),
    }
}

fn host(root: &Path, keys: Keys) -> HostContext {
    let variables = [("PATH", Path::new("/usr/bin:/bin")), ("HOME", root)];
    HostContext {
        environment: variables.map(|(name, value)| (name.into(), value.into())).into(),
        program: example("server_agent"),
        home: root.join("home"),
        clock: now,
        random,
        mcp: Some(McpEndpoint { url: "http://127.0.0.1:1/mcp".to_owned(), keys }),
    }
}

fn now() -> Timestamp {
    let millis = SystemTime::now().duration_since(UNIX_EPOCH).unwrap().as_millis();
    Timestamp::from_millis(millis.try_into().unwrap())
}

fn random() -> [u8; 16] {
    let number = || u128::from(RandomState::new().build_hasher().finish());
    ((number() << 64) | number()).to_be_bytes()
}

/// An agent that asks to run the same command in each of three turns.
pub(super) fn asking() -> Script {
    let turn = || {
        let tool = Tool::named("t", "Bash", json!({"command": "cargo test"}));
        let ask = Ask::new(tool, &[("yes", "allow_once"), ("no", "reject_once")]);
        [Step::Ask(ask.then("yes", [Step::say("did it")]))]
    };
    Script::new().turn(turn()).turn(turn()).turn(turn())
}

/// Puts words where ids and moments stand.
pub(super) fn mask(text: &str) -> String {
    const SHAPES: [(&str, &str); 2] =
        [("xxxxxxxx-xxxx-xxxx-xxxx-xxxxxxxxxxxx", "[id]"), ("0000-00-00T00:00:00.000Z", "[time]")];
    let fits = |part: &str, shape: &str| {
        part.len() == shape.len()
            && part.chars().zip(shape.chars()).all(|(c, shape)| match shape {
                'x' => c.is_ascii_hexdigit(),
                '0' => c.is_ascii_digit(),
                _ => c == shape,
            })
    };
    let mut masked = String::new();
    let mut rest = text;
    while let Some(next) = rest.chars().next() {
        let found = SHAPES
            .iter()
            .find(|(shape, _)| rest.get(..shape.len()).is_some_and(|part| fits(part, shape)));
        let length = match found {
            Some((shape, word)) => {
                masked.push_str(word);
                shape.len()
            }
            None => {
                masked.push(next);
                next.len_utf8()
            }
        };
        rest = &rest[length..];
    }
    masked
}
