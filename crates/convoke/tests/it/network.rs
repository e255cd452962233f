//! What agents reach over the network: attempts from inside of the sandbox, with real servers outside of it.

use std::io::{Read, Write};
use std::net::{TcpListener, UdpSocket};
use std::process::Output;

use convoke_testkit::agent::Script;
use convoke_testkit::host::example;
use convoke_testkit::tools::search_path;
use serde_json::{Value, json};

use crate::convoke::Convoke;
use crate::serve_scene::{Daemon, Prompt, has_ended, is_end_of, said};

/// A server on this machine that says `hello` to every request; tells its port.
fn server() -> u16 {
    let listener = TcpListener::bind("127.0.0.1:0").unwrap();
    let port = listener.local_addr().unwrap().port();
    std::thread::spawn(move || {
        for stream in listener.incoming() {
            let mut stream = stream.unwrap();
            let mut head = Vec::new();
            let mut byte = [0];
            while !head.ends_with(b"\r\n\r\n") && stream.read(&mut byte).unwrap_or(0) == 1 {
                head.extend(byte);
            }
            // A client that is gone needs no answer.
            write!(
                stream,
                "HTTP/1.1 200 OK\r\ncontent-length: 6\r\nconnection: close\r\n\r\nhello\n"
            )
            .ok();
        }
    });
    port
}

/// A daemon with an agent that runs lines of the shell, and with these settings.
fn daemon(machine: Convoke, sandbox: &str) -> Daemon {
    let agent = example("shell_agent");
    let config = format!("[agents.shell]\ncommand = {agent:?}\n[sandbox]\n{sandbox}\n");
    Daemon::on(machine, &Script::new(), &config)
}

/// Runs a line in a session of its own, and tells what it printed.
fn run(daemon: &Daemon, line: &str) -> String {
    let session = daemon.session_with("shell");
    let messages = daemon.turn(&session, line);
    daemon.post(&format!("/api/sessions/{session}/complete"), &json!({}));
    said(&messages)
}

/// Why the agent cannot be started.
fn refused(daemon: &Daemon) -> String {
    let begun =
        daemon.post("/api/sessions", &json!({"repoId": daemon.project(), "agent": "shell"}));
    assert_eq!(begun.status, 502, "{begun:?}");
    begun.json()["detail"].as_str().unwrap().to_owned()
}

/// Lets the agent try a line that must ask; tells the session, the turn and the request.
fn asked(daemon: &Daemon, line: &str) -> (String, Prompt, Value) {
    let session = daemon.session_with("shell");
    let turn = daemon.prompt(&session, line);
    let request = daemon.follow(&session, turn.rev).until(|message| {
        let content = &message["content"];
        assert!(!is_end_of(message, &turn), "it did not ask: {}", said(&daemon.messages(&session)));
        content["type"] == "permission" && content["status"] == "pending"
    });
    (session, turn, request["content"].clone())
}

/// Answers a request, and tells what the agent said in the whole turn.
fn answered(
    daemon: &Daemon,
    (session, turn, request): &(String, Prompt, Value),
    option: &str,
) -> String {
    let path = format!("/api/inbox/{}/answer", request["requestId"].as_str().unwrap());
    assert_eq!(daemon.post(&path, &json!({"optionId": option})).status, 204);
    finished(daemon, session, turn)
}

fn finished(daemon: &Daemon, session: &str, turn: &Prompt) -> String {
    daemon.follow(session, 0).until(|message| is_end_of(message, turn));
    said(&daemon.messages(session))
}

#[test]
fn k9_with_the_network_off_an_agent_reaches_nothing_on_this_machine_or_beyond() {
    let (tcp, udp) = (server(), UdpSocket::bind("127.0.0.1:0").unwrap());
    udp.set_nonblocking(true).unwrap();
    let heard = || udp.recv(&mut [0; 16]).is_ok();
    let try_tcp = format!("curl -sS --max-time 20 --noproxy '*' http://127.0.0.1:{tcp}/");
    let try_udp = format!("echo hi > /dev/udp/127.0.0.1/{}", udp.local_addr().unwrap().port());
    let open = daemon(Convoke::new(), "network = \"open\"");
    assert_eq!(run(&open, &try_tcp), "hello\n");
    run(&open, &try_udp);
    assert!(heard(), "without the policy, a datagram arrives");

    let off = daemon(Convoke::new(), "network = \"off\"");
    let told = run(&off, &try_tcp);
    assert!(told.contains("curl: (7)"), "{told}");
    run(&off, &try_udp);
    assert!(!heard());
    let devices = run(&off, "tail -n +3 /proc/net/dev | cut -d: -f1");
    assert_eq!(devices.trim(), "lo");
    let told = run(&off, "echo x > /dev/udp/192.0.2.1/53; echo x > /dev/tcp/192.0.2.1/443");
    for place in ["udp/192.0.2.1/53", "tcp/192.0.2.1/443"] {
        assert!(told.contains(&format!("/dev/{place}: Network is unreachable")), "{told}");
    }
    assert_eq!(
        run(&off, "ls /run/systemd/resolve; env | grep -i _proxy").matches("proxy").count(),
        0
    );
    // A command that Convoke runs for the agent is in the same place.
    let told = run(&off, &format!("terminal: {try_tcp} 2>&1"));
    assert!(told.contains("curl: (7)"), "{told}");
}

#[test]
fn k9_with_the_network_off_an_agent_still_has_the_tools_of_convoke() {
    let daemon = daemon(Convoke::new(), "network = \"off\"");
    let session = daemon.session_with("demo");
    daemon.prompt(&session, "/ask");
    let question = daemon.follow(&session, 0).until(|message| {
        message["content"]["type"] == "question" && message["content"]["status"] == "pending"
    });
    let label = question["content"]["questions"][0]["options"][0]["label"].as_str().unwrap();
    let path = format!("/api/inbox/{}/answer", question["content"]["requestId"].as_str().unwrap());
    let answers = json!({"answers": {"0": {"selectedOption": label}}});
    assert_eq!(daemon.post(&path, &answers).status, 204);
    daemon.follow(&session, 0).until(has_ended);
    let said = said(&daemon.messages(&session));
    assert!(said.contains(label), "{said}");
}

#[test]
fn k9_the_proxy_leads_to_what_is_listed_and_there_is_no_way_around_it() {
    let port = server();
    let machine = Convoke::new().hosts("127.0.0.1 localhost app.test\n");
    let listed =
        format!("network = \"proxy\"\ndomains = [\"app.test:{port}\", \"127.0.0.1:{port}\"]");
    let daemon = daemon(machine, &listed);
    let url = format!("http://app.test:{port}/");
    assert_eq!(run(&daemon, &format!("curl -sS {url}")), "hello\n");
    assert_eq!(run(&daemon, &format!("curl -sS --proxytunnel {url}")), "hello\n");
    assert_eq!(run(&daemon, &format!("terminal: curl -sS {url}")), "hello\n");
    let around =
        format!("curl -sS --max-time 20 --noproxy '*' {url}; echo x > /dev/tcp/127.0.0.1/{port}");
    let told = run(&daemon, &around);
    assert!(told.contains("curl: (7)") && told.contains("Connection refused"), "{told}");
    // Addresses of this machine are not asked about.
    let other = server();
    for place in
        [format!("127.0.0.1:{other}"), format!("localhost:{other}"), "169.254.169.254".to_owned()]
    {
        let told =
            run(&daemon, &format!("curl -sS --noproxy '' -w '%{{http_code}}' http://{place}/"));
        assert!(
            told.contains("must be listed in sandbox.domains") && told.ends_with("403"),
            "{told}"
        );
    }
}

#[test]
fn k9_a_host_that_is_not_listed_becomes_a_request_in_the_inbox() {
    let port = server();
    let machine = Convoke::new().hosts("127.0.0.1 localhost new.test other.test\n");
    // The address is listed, because it is this machine's; the names are not.
    let listed = format!("network = \"proxy\"\ndomains = [\"127.0.0.1:{port}\"]");
    let daemon = daemon(machine, &listed);
    let try_it = format!("curl -sS -w '%{{http_code}} ' http://new.test:{port}/");

    let twice = format!("({try_it}) & ({try_it}) & wait; {try_it}");
    let allowed = asked(&daemon, &twice);
    assert_eq!(allowed.2["title"], format!("Connect to new.test:{port}"));
    let items = daemon.get("/api/inbox").json()["items"].clone();
    assert_eq!(items.as_array().unwrap().len(), 1, "one host is one request: {items}");
    let names: Vec<&str> = allowed.2["options"]
        .as_array()
        .unwrap()
        .iter()
        .map(|it| it["name"].as_str().unwrap())
        .collect();
    assert_eq!(names, ["Allow for this turn", "Allow for this session", "Deny"]);
    assert_eq!(answered(&daemon, &allowed, "allow_turn").matches("hello").count(), 3);

    let denied = asked(&daemon, &format!("{try_it}; {try_it}"));
    let told = answered(&daemon, &denied, "deny");
    assert_eq!(told.matches("the user denied it\n403").count(), 2, "{told}");

    let terminal = asked(&daemon, &format!("terminal: {try_it}"));
    assert_eq!(answered(&daemon, &terminal, "allow_turn"), "hello\n200 ");

    let cancelled = asked(&daemon, &try_it);
    let path = format!("/api/sessions/{}/cancel", cancelled.0);
    assert!(daemon.post(&path, &json!({})).status < 300);
    let told = finished(&daemon, &cancelled.0, &cancelled.1);
    assert!(!told.contains("hello"), "{told}");
}

#[test]
fn k9_what_is_allowed_for_a_session_is_allowed_in_its_next_turn_and_in_no_other_session() {
    let port = server();
    let machine = Convoke::new().hosts("127.0.0.1 localhost new.test\n");
    let daemon = daemon(machine, &format!("network = \"proxy\"\ndomains = [\"127.0.0.1:{port}\"]"));
    let try_it = format!("curl -sS http://new.test:{port}/");
    let first = asked(&daemon, &try_it);
    assert_eq!(answered(&daemon, &first, "allow_session"), "hello\n");
    assert_eq!(said(&daemon.turn(&first.0, &try_it)), "hello\nhello\n");
    let second = asked(&daemon, &try_it);
    assert_eq!(second.2["title"], format!("Connect to new.test:{port}"));
    answered(&daemon, &second, "deny");
}

/// Runs a program by hand with a proxy in front of it, on a machine that knows `rebind.test`.
fn by_hand(options: &[&str], program: &[&str]) -> Output {
    let machine = Convoke::new().hosts("127.0.0.1 localhost rebind.test\n::1 rebind.test\n");
    let line = ["sandbox-exec", "--network", "proxy"].iter().chain(options).chain(&["--"]);
    let line: Vec<&str> = line.chain(program).copied().collect();
    machine.command(&line).env("PATH", search_path()).output().unwrap()
}

#[test]
fn k9_a_listed_name_that_resolves_to_this_machine_is_refused() {
    let port = server();
    let (name, address) = (format!("rebind.test:{port}"), format!("127.0.0.1:{port}"));
    let url = format!("http://rebind.test:{port}/");
    let told = |options: &[&str]| {
        let output = by_hand(options, &["curl", "-sS", "-w", "%{http_code}", &url]);
        String::from_utf8(output.stdout).unwrap()
    };
    assert_eq!(told(&["--domain", &name, "--domain", &address]), "hello\n200");
    let refused = told(&["--domain", &name]);
    assert!(refused.contains("the name resolves to") && refused.ends_with("403"), "{refused}");
    let unlisted = told(&[]);
    assert!(unlisted.contains("it is not on the list") && unlisted.ends_with("403"), "{unlisted}");
}

#[test]
fn k9_the_proxy_bounds_what_it_reads() {
    let script = r"
        exec 3<>/dev/tcp/${HTTP_PROXY#http://127.0.0.1:}
        (printf 'GET http://a.test/ HTTP/1.1\r\nx: '; head -c 300000 /dev/zero | tr '\0' a) >&3 2>/dev/null
        head -1 <&3
    ";
    let script = script.replace("${HTTP_PROXY#http://127.0.0.1:}", "127.0.0.1/${HTTP_PROXY##*:}");
    let output = by_hand(&[], &["/bin/bash", "-c", &script]);
    let told = String::from_utf8_lossy(&output.stdout);
    assert_eq!(told.trim(), "HTTP/1.1 431 Request Header Fields Too Large", "{output:?}");
}

#[test]
fn k9_a_policy_that_cannot_hold_keeps_the_agent_from_starting() {
    for network in ["off", "proxy"] {
        let daemon = daemon(
            Convoke::new(),
            &format!("network = \"{network}\"\nlayers = [\"landlock\", \"seccomp\"]"),
        );
        let why = refused(&daemon);
        let expected = format!(
            "sandbox.network = {network} needs bubblewrap, which does not work here: sandbox.layers does not include it"
        );
        assert!(why.ends_with(&expected), "{why}");
        let examined = daemon.machine.run("doctor");
        assert!(
            examined.contains("FAIL  network") || examined.contains("fail  network"),
            "{examined}"
        );
        let machine = Convoke::new().env("PATH", &search_path());
        let told = machine
            .run(&format!("sandbox-exec --network {network} --layers seccomp -- echo started"));
        assert!(told.starts_with("exit 1\n") && told.contains("needs bwrap"), "{told}");
    }
}

#[test]
fn k9_sockets_to_the_host_of_a_virtual_machine_are_closed_with_the_network() {
    let attempt = "import socket\ntry: print(socket.socket(40, 1).fileno() > 0)\nexcept OSError as e: print(e.errno)";
    let told = |network: &str| {
        let machine = Convoke::new().env("PATH", &search_path());
        let line = ["sandbox-exec", "--network", network, "--", "python3", "-c", attempt];
        let output = machine.command(&line).output().unwrap();
        // Not every machine has Python.
        output.status.success().then(|| String::from_utf8(output.stdout).unwrap())
    };
    let Some(open) = told("open") else { return };
    assert_ne!(open, "1\n");
    assert_eq!(told("off").unwrap(), "1\n");
}
