//! Browser sessions over time and over restarts.

use std::cell::Cell;
use std::fs;
use std::os::unix::fs::PermissionsExt as _;

use super::*;

thread_local! {
    /// The current time of this test.
    static NOW: Cell<i64> = const { Cell::new(1_000_000_000_000) };
}

const DAY: i64 = 24 * 60 * 60 * 1000;

fn now() -> Timestamp {
    Timestamp::from_millis(NOW.get())
}

fn pass(millis: i64) {
    NOW.set(NOW.get() + millis);
}

fn token(byte: u8) -> Token {
    Token::from_random([byte; 32])
}

/// Signs browser number `byte` in, with cookie `byte` and secret `byte + 100`.
async fn add(browsers: &Browsers, byte: u8) {
    let (cookie, secret) = (token(byte), token(byte + 100));
    let pair = NewBrowser {
        user: None,
        id: byte.to_string(),
        cookie: &cookie,
        secret: &secret,
        user_agent: &"Firefox".repeat(100),
    };
    browsers.add(pair).await;
}

fn visit(browsers: &Browsers, byte: u8) -> Option<String> {
    let (cookie, secret) = (token(byte), token(byte + 100));
    browsers.visit([cookie.as_str()], secret.as_str()).map(|visit| visit.id)
}

fn ids(browsers: &Browsers) -> Vec<String> {
    browsers.list().into_iter().map(|browser| browser.id).collect()
}

#[tokio::test]
async fn k6_the_file_survives_a_restart_and_holds_no_secrets() {
    let folder = tempfile::tempdir().unwrap();
    let file = folder.path().join("browsers.json");
    let browsers = Browsers::open(file.clone(), now);
    add(&browsers, 1).await;
    assert_eq!(fs::metadata(&file).unwrap().permissions().mode() & 0o777, 0o600);
    let text = fs::read_to_string(&file).unwrap();
    for secret in [token(1), token(101)] {
        assert!(!text.contains(secret.as_str()), "{text}");
    }
    let again = Browsers::open(file.clone(), now);
    assert_eq!(again.list(), browsers.list());
    assert_eq!(again.list()[0].user_agent.len(), USER_AGENT_CHARS);
    assert_eq!(visit(&again, 1).as_deref(), Some("1"));
    assert_eq!(again.revoke("1").await.unwrap(), Revoked::Done);
    assert_eq!(again.revoke("1").await.unwrap(), Revoked::Unknown);
    assert_eq!(
        ids(&Browsers::open(file.clone(), now)),
        [""; 0],
        "a revoked one does not come back"
    );
    fs::write(&file, "{").unwrap();
    assert_eq!(ids(&Browsers::open(file, now)), [""; 0]);
}

#[tokio::test]
async fn k6_a_browser_that_is_not_used_for_thirty_days_is_signed_out() {
    let folder = tempfile::tempdir().unwrap();
    let browsers = Browsers::open(folder.path().join("browsers.json"), now);
    add(&browsers, 1).await;
    add(&browsers, 2).await;
    let idle = browsers.visit([token(2).as_str()], token(102).as_str()).unwrap();
    pass(29 * DAY);
    assert_eq!(visit(&browsers, 1).as_deref(), Some("1"));
    pass(DAY);
    assert_eq!(ids(&browsers), ["1"]);
    assert!(idle.revoked.is_cancelled());
    assert_eq!(visit(&browsers, 2), None);
    pass(28 * DAY);
    browsers.touch("1");
    pass(29 * DAY);
    assert_eq!(visit(&browsers, 1).as_deref(), Some("1"), "an open page is a use");
}

#[tokio::test]
async fn one_browser_too_many_takes_the_place_of_the_longest_unused() {
    let folder = tempfile::tempdir().unwrap();
    let browsers = Browsers::open(folder.path().join("browsers.json"), now);
    for byte in 0..32 {
        add(&browsers, byte).await;
        pass(1);
    }
    assert_eq!(visit(&browsers, 0).as_deref(), Some("0"));
    add(&browsers, 32).await;
    assert_eq!(browsers.list().len(), BROWSERS_MAX);
    assert_eq!((visit(&browsers, 0).as_deref(), visit(&browsers, 1)), (Some("0"), None));
}

#[tokio::test]
async fn a_revocation_that_cannot_be_written_is_an_error_and_holds_until_the_restart() {
    let folder = tempfile::tempdir().unwrap();
    let browsers = Browsers::open(folder.path().join("run/browsers.json"), now);
    add(&browsers, 1).await;
    assert_eq!(visit(&browsers, 1).as_deref(), Some("1"), "in memory, as the folder is missing");
    assert!(browsers.revoke("1").await.is_err());
    assert_eq!(visit(&browsers, 1), None);
}
