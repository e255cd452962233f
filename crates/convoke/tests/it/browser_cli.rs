//! How a browser is let in from the command line: `serve`, `open`, `browser`.

use std::fs;
use std::io::{BufRead as _, BufReader, Read as _, Write as _};
use std::net::TcpStream;
use std::os::unix::fs::PermissionsExt as _;
use std::path::{Path, PathBuf};
use std::process::{Child, Stdio};
use std::time::Duration;

use convoke_testkit::tools::search_path;
use convoke_testkit::wait;
use serde_json::{Value, json};

use crate::convoke::Convoke;
use crate::daemon_scene::Scene;

/// How long anything may take.
const TIMEOUT: Duration = Duration::from_secs(20);

/// A machine with a desktop: what is opened there is noted in the file `opened`.
fn with_desktop(exit: u8) -> Convoke {
    let machine = Convoke::new();
    fs::create_dir(machine.path().join("bin")).unwrap();
    let opener = machine.path().join("bin/xdg-open");
    let opened = machine.path().join("opened");
    let script = format!(
        "#!/bin/sh\nprintf '%s\\n' \"$@\" > {0}.new && mv {0}.new {0}\nexit {exit}\n",
        opened.display()
    );
    fs::write(&opener, script).unwrap();
    fs::set_permissions(&opener, fs::Permissions::from_mode(0o755)).unwrap();
    let path = format!("{}:{}", machine.path().join("bin").display(), search_path());
    machine.env("PATH", &path)
}

fn wait_for(path: &Path) -> String {
    wait::until(&format!("{} exists", path.display()), || path.exists());
    fs::read_to_string(path).unwrap()
}

/// What the file of the running daemon says.
fn daemon(machine: &Convoke) -> Value {
    serde_json::from_slice(&fs::read(machine.home().join("run/daemon.json")).unwrap()).unwrap()
}

/// Signs in as the page does, and tells the status and what came back.
fn sign_in(link: &str) -> (u16, Value) {
    let (address, secret) = link.strip_prefix("http://").unwrap().split_once("/#link=").unwrap();
    let body = json!({"link": secret}).to_string();
    let mut stream = TcpStream::connect(address).unwrap();
    stream.set_read_timeout(Some(TIMEOUT)).unwrap();
    write!(
        stream,
        "POST /api/browser-sessions HTTP/1.1\r\nhost: {address}\r\norigin: http://{address}\r\n\
         user-agent: Test/1\r\nconnection: close\r\ncontent-type: application/json\r\n\
         content-length: {}\r\n\r\n{body}",
        body.len()
    )
    .unwrap();
    let mut text = String::new();
    stream.read_to_string(&mut text).unwrap();
    let (head, body) = text.split_once("\r\n\r\n").unwrap();
    (head.split(' ').nth(1).unwrap().parse().unwrap(), serde_json::from_str(body).unwrap())
}

/// The file that a browser was handed, and the link in it.
fn handed(machine: &Convoke) -> (PathBuf, String) {
    let words = wait_for(&machine.path().join("opened"));
    let file = PathBuf::from(words.trim());
    let page = fs::read_to_string(&file).unwrap();
    let link = page.split('"').find(|part| part.contains("#link=")).unwrap().to_owned();
    let (_, secret) = link.split_once("#link=").unwrap();
    assert!(!words.contains(secret), "others see the arguments of a process: {words}");
    assert_eq!(fs::metadata(&file).unwrap().permissions().mode() & 0o777, 0o600);
    (file, link)
}

/// A daemon in the foreground, killed with the test.
struct Foreground(Child);

impl Drop for Foreground {
    fn drop(&mut self) {
        self.0.kill().ok();
        self.0.wait().ok();
    }
}

fn serve(machine: &Convoke, args: &[&str]) -> (Foreground, String) {
    let mut words = vec!["serve", "--listen", "127.0.0.1:0"];
    words.extend(args);
    let mut command = machine.command(&words);
    let mut child = command.stdout(Stdio::piped()).stderr(Stdio::null()).spawn().unwrap();
    let mut lines = BufReader::new(child.stdout.take().unwrap());
    let mut said = String::new();
    while !said.contains("convoke open") && !said.ends_with("}\n") {
        assert_ne!(lines.read_line(&mut said).unwrap(), 0, "{said}");
    }
    (Foreground(child), said)
}

#[test]
fn k6_serve_prints_no_secret_into_a_file_or_a_pipe() {
    let machine = Convoke::new();
    let (_daemon, said) = serve(&machine, &[]);
    let told = daemon(&machine);
    let url = told["url"].as_str().unwrap();
    let expected = format!("Convoke is ready at {url}\nOpen the page with `convoke open`\n");
    assert_eq!(said, expected);
    let machine = Convoke::new();
    let (_daemon, said) = serve(&machine, &["--json"]);
    let told = daemon(&machine);
    let said: Value = serde_json::from_str(&said).unwrap();
    let expected = json!({"pid": told["pid"], "url": told["url"], "version": told["version"]});
    assert_eq!(said, expected, "and no token");
}

#[test]
fn k6_serve_prints_a_link_that_works_once_on_a_terminal() {
    let machine = Convoke::new().file("config.toml", "[server]\nlisten = \"127.0.0.1:0\"\n");
    let mut terminal = machine.on_terminal("serve");
    terminal.sees("`convoke open` makes another.");
    let screen = terminal.screen();
    let link = screen.lines().find_map(|line| line.trim().strip_prefix("Convoke is ready at "));
    let link = link.unwrap().trim().to_owned();
    assert!(!screen.contains(daemon(&machine)["token"].as_str().unwrap()), "{screen}");
    let ((first, _), (second, problem)) = (sign_in(&link), sign_in(&link));
    assert_eq!((first, second), (201, 403));
    assert_eq!(problem["detail"], "this link was used before, or has expired");
    terminal.types("\u{3}");
    assert_eq!(terminal.ends().1, 0);
}

#[test]
fn k6_serve_open_hands_the_browser_a_file_that_goes_with_its_link() {
    let machine = with_desktop(0);
    let (_daemon, _) = serve(&machine, &["--open"]);
    let (file, link) = handed(&machine);
    assert_eq!(sign_in(&link).0, 201);
    assert!(!file.exists(), "the link is spent");
}

#[test]
fn k6_open_starts_the_daemon_and_signs_a_browser_in_that_can_be_signed_out() {
    let scene = Scene::on(with_desktop(0));
    let told = scene.run("open");
    let url = daemon(&scene.machine)["url"].as_str().unwrap().to_owned();
    assert_eq!(told, format!("exit 0\n--- stdout\nOpened {url} in your browser.\n"));
    let (file, link) = handed(&scene.machine);
    assert!(file.starts_with(scene.machine.home().join("run")));
    let (status, signed_in) = sign_in(&link);
    assert_eq!((status, file.exists()), (201, false));
    let id = signed_in["id"].as_str().unwrap();
    insta::assert_snapshot!(scene.run("browser list"), @r"
    exit 0
    --- stdout
    BROWSER   USED  SIGNED IN  USER AGENT
    [the-id]  now   now        Test/1
    ");
    let json = scene.machine.json("browser list --json");
    assert_eq!(json["browserSessions"][0]["id"], id);
    let revoked = scene.run(&format!("browser revoke {id}"));
    insta::assert_snapshot!(revoked, @r"
    exit 0
    --- stdout
    signed out [the-id]
    ");
    insta::assert_snapshot!(scene.run("browser revoke abcd"), @r"
    exit 1
    --- stderr
    error: there is no browser session abcd
    hint: `convoke browser list` shows those that are signed in
    ");
    insta::assert_snapshot!(scene.run("browser list"), @r"
    exit 0
    --- stdout
    No browser is signed in. Sign one in with `convoke open`
    ");
}

#[test]
fn k6_open_prints_a_link_when_asked_to_and_says_so_when_there_is_no_browser() {
    let scene = Scene::on(with_desktop(3));
    insta::assert_snapshot!(scene.run("open"), @r"
    exit 1
    --- stderr
    error: cannot open a browser: xdg-open ended with exit status: 3
    hint: run `convoke open --print`, and open the link in a browser yourself
    ");
    let printed = scene.machine.run("open --print");
    let link = printed.strip_prefix("exit 0\n--- stdout\n").unwrap().trim();
    let (status, signed_in) = sign_in(link);
    assert_eq!(status, 201);
    let json = scene.machine.json("open --print --json");
    assert_eq!(sign_in(json["url"].as_str().unwrap()).0, 201);
    // A browser outlives the daemon.
    scene.run("stop");
    let listed = scene.machine.json("browser list --json");
    let ids: Vec<&Value> =
        listed["browserSessions"].as_array().unwrap().iter().map(|it| &it["id"]).collect();
    assert_eq!(ids.len(), 2);
    assert!(ids.contains(&&signed_in["id"]), "{ids:?}");
}
