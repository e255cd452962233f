//! Every call: what is asked, and that the answer is understood.

use convoke_api::bodies::{Answer, NewRepo, NewSession, Prompt, Rejection, SessionPatch};
use convoke_api::{Client, Result, SearchQuery, SessionQuery};
use convoke_core::session::QueueChoice;
use serde_json::{Value, json};

use crate::scripted::Scripted;

const ID: &str = "00000000-0000-4000-8000-000000000001";
const AT: &str = "2026-11-15T10:00:00.000Z";

/// Makes a call against an answer, and tells what was asked.
async fn asked<T>(body: impl ToString, call: impl AsyncFnOnce(&Client) -> Result<T>) -> String {
    let server = Scripted::answering(200, "application/json", &body.to_string()).await;
    let client = Client::connect(&server.url, "secret").unwrap();
    call(&client).await.unwrap();
    let request = server.asked().await;
    assert!(request.contains("authorization: Bearer secret\r\n"), "{request}");
    let (head, body) = request.split_once("\r\n\r\n").unwrap();
    let line = head.lines().next().unwrap().trim_end_matches(" HTTP/1.1");
    format!("{line} {body}").trim_end().to_owned()
}

fn session() -> Value {
    json!({
        "id": ID, "repoId": ID, "agent": "demo", "agentSessionId": "1", "title": "New Session",
        "status": "active", "acceptsPrompts": true, "archived": false, "createdAt": AT,
        "updatedAt": AT, "lastActiveAt": AT,
        "messageCount": 0, "metadata": {}, "activity": "idle", "attention": "idle", "unseen": false,
    })
}

fn new_session() -> NewSession {
    let agent = Some("demo".to_owned());
    NewSession { repo_id: ID.to_owned(), agent, ..NewSession::default() }
}

#[tokio::test]
async fn s8_every_call_asks_what_it_says() {
    let repo = json!({"id": ID, "name": "web", "path": "/home/me/web", "addedAt": AT});
    // The messages come last, so that a caller that only needs the session need not read them.
    let session_text = session().to_string();
    let fields = session_text.trim_end_matches('}');
    let detail = format!("{fields},\"repo\":{repo},\"messages\":[]}}");
    let status = json!({"version": "0", "pid": 1, "uptimeMs": 1, "url": "u", "home": "h", "activeSessions": 0, "processes": 0, "busy": 0, "waiting": 0, "inbox": 0});
    let prompted = json!({"accepted": true, "messageId": ID, "seq": 1, "queued": false, "rev": 9});
    let new_repo = NewRepo { path: "/home/me/web".to_owned(), name: None };
    let new_session = new_session();
    let hello = Prompt { text: "hello\n".to_owned(), ..Prompt::default() };
    let patch = SessionPatch { archived: Some(true), ..SessionPatch::default() };
    let yes = Answer::Option { option_id: "yes".to_owned(), rule: Some(0) };
    let no = Rejection { reason: Some("not now".to_owned()) };
    let sessions = SessionQuery { limit: Some(3), ..SessionQuery::default() };
    let words = SearchQuery { text: "a word".to_owned(), ..SearchQuery::default() };
    let groups = json!({"needsYou": [], "working": [], "finished": [], "failed": [], "recent": []});
    let config = json!({"path": "/home/me/.convoke/config.toml", "settings": []});
    let lines = [
        asked(json!({"status": "ok"}), async |it| it.health().await).await,
        asked(status, async |it| it.status().await).await,
        asked(json!({"agents": []}), async |it| it.agents().await).await,
        asked(json!({"repos": [repo]}), async |it| it.repos().await).await,
        asked(repo.clone(), async |it| it.add_repo(&new_repo).await).await,
        asked(json!({}), async |it| it.remove_repo("0000").await).await,
        asked(json!({"sessions": [session()], "total": 1, "limit": 3, "offset": 0}), async |it| {
            it.sessions(&sessions).await
        })
        .await,
        asked(session(), async |it| it.create_session(&new_session).await).await,
        asked(detail, async |it| it.transcript("demo:1/2").await).await,
        asked(prompted, async |it| it.prompt("0000", &hello).await).await,
        asked(session(), async |it| it.cancel_turn("0000", QueueChoice::Send).await).await,
        asked(session(), async |it| it.move_queued("0000", "1111", 0).await).await,
        asked(json!({}), async |it| it.see("0000").await).await,
        asked(json!({}), async |it| it.erase("0000").await).await,
        asked(groups, async |it| it.home().await).await,
        asked(config, async |it| it.config().await).await,
        asked(session(), async |it| it.complete("0000").await).await,
        asked(session(), async |it| it.cancel("0000").await).await,
        asked(session(), async |it| it.resume("0000").await).await,
        asked(session(), async |it| it.change_session("0000", &patch).await).await,
        asked(json!({"items": []}), async |it| it.inbox().await).await,
        asked(json!({}), async |it| it.answer("0000", &yes).await).await,
        asked(json!({}), async |it| it.reject("0000", &no).await).await,
        asked(json!({"hits": []}), async |it| it.search(&words).await).await,
        asked(json!({"rules": []}), async |it| it.rules(None).await).await,
        asked(json!({"rules": []}), async |it| it.rules(Some("0000")).await).await,
        asked(json!({}), async |it| it.remove_rule("0000").await).await,
    ];
    insta::assert_snapshot!(lines.join("\n"), @r#"
    GET /healthz
    GET /api/status
    GET /api/agents
    GET /api/repos
    POST /api/repos {"path":"/home/me/web"}
    DELETE /api/repos/0000
    GET /api/sessions?limit=3
    POST /api/sessions {"repoId":"00000000-0000-4000-8000-000000000001","agent":"demo"}
    GET /api/sessions/demo%3A1%2F2
    POST /api/sessions/0000/prompt {"text":"hello\n"}
    POST /api/sessions/0000/cancel {"queue":"send"}
    PATCH /api/sessions/0000/queue/1111 {"position":0}
    POST /api/sessions/0000/seen
    POST /api/sessions/0000/erase
    GET /api/home
    GET /api/config
    POST /api/sessions/0000/complete
    DELETE /api/sessions/0000
    POST /api/sessions/0000/resume
    PATCH /api/sessions/0000 {"archived":true}
    GET /api/inbox
    POST /api/inbox/0000/answer {"optionId":"yes","rule":0}
    POST /api/inbox/0000/reject {"reason":"not now"}
    GET /api/search?q=a%20word
    GET /api/rules
    GET /api/rules?repoId=0000
    DELETE /api/rules/0000
    "#);
}
