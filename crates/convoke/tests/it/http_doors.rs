//! Who is let in, and what the log keeps of those who are not.

use std::os::unix::fs::symlink;

use convoke_testkit::agent::Script;
use serde_json::json;

use crate::serve_scene::Daemon;

#[test]
fn strangers_are_turned_away_and_written_down() {
    let daemon = Daemon::new(&Script::new());
    let address = daemon.address();
    let (_, port) = address.split_once(':').unwrap();
    let ask = |host: &str, more: &str| {
        daemon.send(&format!("GET /api/sessions HTTP/1.1\r\nhost: {host}\r\n{more}"), "").status
    };
    let token = format!("authorization: Bearer {}\r\n", daemon.token());
    assert_eq!(ask(address, &token), 200);
    assert_eq!(ask(&format!("localhost:{port}"), &token), 200);
    assert_eq!(ask(address, ""), 401);
    assert_eq!(ask(address, "authorization: Bearer wrong\r\n"), 401);
    assert_eq!(ask(&format!("evil.example:{port}"), &token), 403);
    assert_eq!(ask("127.0.0.1", &token), 403, "another port");
    assert_eq!(ask(address, &format!("{token}origin: http://evil.example\r\n")), 403);
    let upgrade = "connection: upgrade\r\nupgrade: websocket\r\nsec-websocket-version: 13\r\n\
                   sec-websocket-key: AAAAAAAAAAAAAAAAAAAAAA==\r\n";
    let head = format!(
        "GET /ws HTTP/1.1\r\nhost: {address}\r\n{token}{upgrade}origin: http://evil.example\r\n"
    );
    assert_eq!(daemon.send(&head, "").status, 403);
    let told: Vec<String> = daemon
        .logged("\"security\"")
        .iter()
        .map(|line| {
            assert_eq!(line["span"]["name"], "request", "{line}");
            assert!(line["span"]["id"].is_string(), "{line}");
            let fields = &line["fields"];
            let more =
                ["host", "origin", "path"].map(|name| fields[name].as_str().unwrap_or_default());
            format!(
                "{}: {}",
                fields["message"].as_str().unwrap(),
                more.concat().replace(port, "[port]")
            )
        })
        .collect();
    insta::assert_snapshot!(told.join("\n"), @r"
    refused a token: /api/sessions
    refused a foreign Host: evil.example:[port]
    refused a foreign Host: 127.0.0.1
    refused a foreign Origin: http://evil.example
    refused a foreign Origin: http://evil.example
    ");
    assert!(daemon.logged(daemon.token()).is_empty(), "the token is in the log");
}

#[test]
fn n7_a_proxy_serves_the_page_under_its_own_name_and_links_for_people_lead_there() {
    let config = "[server]\npublic_url = \"https://convoke.example.org\"\n";
    let daemon = Daemon::with(&Script::new(), config);
    let token = format!("authorization: Bearer {}\r\n", daemon.token());
    let ask = |host: &str, more: &str| {
        let head = format!("GET /api/sessions HTTP/1.1\r\nhost: {host}\r\n{token}{more}");
        daemon.send(&head, "").status
    };
    assert_eq!(ask("convoke.example.org", "origin: https://convoke.example.org\r\n"), 200);
    assert_eq!(ask(daemon.address(), ""), 200, "and its own address");
    assert_eq!(ask("evil.example", ""), 403);
    assert_eq!(ask("convoke.example.org", "origin: http://convoke.example.org\r\n"), 403);
    assert_eq!(ask("convoke.example.org", "origin: https://evil.example\r\n"), 403);

    daemon.machine.json("user add ada --json");
    let url = daemon.machine.json("user link ada --json")["url"].clone();
    let (page, link) = url.as_str().unwrap().split_once("/#link=").unwrap();
    assert_eq!(page, "https://convoke.example.org");
    let body = json!({"link": link}).to_string();
    let head = "POST /api/browser-sessions HTTP/1.1\r\nhost: convoke.example.org\r\n\
                origin: https://convoke.example.org\r\ncontent-type: application/json\r\n";
    let signed_in = daemon.send(head, &body);
    assert_eq!(signed_in.status, 201, "{signed_in:?}");
    let cookie = signed_in.header("set-cookie").unwrap();
    assert!(cookie.ends_with("; Secure"), "{cookie}");
}

#[test]
fn s5_a_way_out_of_the_workspace_root_is_refused_and_written_down() {
    let daemon = Daemon::new(&Script::new());
    let machine = daemon.machine.path();
    symlink(machine.join("root-evil"), machine.join("root/link")).unwrap();
    for path in ["root-evil", "root/../root-evil", "root/link", "../../../../etc"] {
        let path = machine.join(path);
        let refused = daemon.post("/api/repos", &json!({"path": path}));
        assert_eq!((refused.status, &refused.json()["code"]), (403, &json!("outside_workspace")));
        let logged = daemon.logged("outside of the workspace root");
        assert_eq!(logged.last().unwrap()["fields"]["path"], path.to_str().unwrap());
        assert_eq!(logged.last().unwrap()["target"], "security");
    }
    assert_eq!(daemon.get("/api/repos").json(), json!({"repos": []}));
}
