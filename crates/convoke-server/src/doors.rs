//! Who may come in: by their token or cookie, and by the Host and Origin that they name.
//!
//! A page of somebody else's in the same browser can send requests here, and can make a name of its own point here.
//! The Origin tells of the first, the Host of the second; the token stops everybody else.

mod host;
mod secret;
mod slowness;

use std::net::{IpAddr, SocketAddr};
use std::sync::{Mutex, PoisonError};
use std::time::Duration;

use axum::http::header::{AUTHORIZATION, COOKIE, HOST, ORIGIN};
use axum::http::{HeaderMap, HeaderValue, Uri};

use host::Hosts;
use secret::Secret;
use slowness::Slowness;
use tokio::time::Instant;

pub use secret::Token;

/// How long the browser keeps the cookie. Whoever has not looked for so long gets a new link from the command line.
const COOKIE_SECONDS: u32 = 30 * 24 * 60 * 60;

/// How long a link that was made for a browser opens the page.
const LINK_LIFE: Duration = Duration::from_secs(60);

/// The doors of one daemon.
pub(crate) struct Doors {
    hosts: Hosts,
    token: Secret,
    cookie: Secret,
    /// What the browser is handed for the token.
    cookie_value: String,
    cookie_name: String,
    /// A token that opens the page once, and until when.
    once: Mutex<Option<(Secret, Instant)>>,
    slowness: Slowness,
}

/// What somebody shows at the door.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Shown<'a> {
    /// The daemon's own token or cookie.
    Right,
    /// A token that is not the daemon's own.
    Other(&'a str),
    /// Nothing.
    Nothing,
}

/// A request that is turned away by where it comes from.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) enum Foreign {
    /// It names a Host that is not ours.
    Host(String),
    /// It comes from a page that is not ours.
    Origin(String),
}

impl Doors {
    /// The doors of a daemon that listens at this address.
    pub(crate) fn new(address: SocketAddr, token: &Token) -> Self {
        let cookie_value = token.cookie();
        Self {
            hosts: Hosts::new(address),
            token: Secret::new(token.as_str()),
            cookie: Secret::new(&cookie_value),
            cookie_value,
            // Cookies do not keep the ports of a machine apart, and there may be a daemon on each.
            cookie_name: format!("convoke-{}", address.port()),
            once: Mutex::new(None),
            slowness: Slowness::new(),
        }
    }

    /// Lets this token open the page, once and soon: it is for a command line, which others on the machine can read.
    pub(crate) fn open_once(&self, token: &Token) {
        let until = Instant::now() + LINK_LIFE;
        *self.once() = Some((Secret::new(token.as_str()), until));
    }

    fn once(&self) -> std::sync::MutexGuard<'_, Option<(Secret, Instant)>> {
        // One value, which is there or not, whoever panicked with it.
        self.once.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Turns away what names a foreign Host or comes from a foreign page.
    pub(crate) fn check_origin(&self, uri: &Uri, headers: &HeaderMap) -> Result<(), Foreign> {
        let hosts = headers.get_all(HOST).iter().map(HeaderValue::as_bytes);
        let named: Vec<&[u8]> =
            hosts.chain(uri.authority().map(|it| it.as_str().as_bytes())).collect();
        let foreign = named.iter().find(|host| !self.hosts.admits(host));
        match (foreign, named.is_empty()) {
            (Some(host), _) => return Err(Foreign::Host(shown(host))),
            (None, true) => return Err(Foreign::Host(String::new())),
            (None, false) => {}
        }
        let mut origins = headers.get_all(ORIGIN).iter().map(HeaderValue::as_bytes);
        match origins.find(|origin| !self.hosts.admits_origin(origin)) {
            Some(origin) => Err(Foreign::Origin(shown(origin))),
            None => Ok(()),
        }
    }

    /// What a request shows: a token in its header, else a cookie.
    pub(crate) fn shown<'a>(&self, headers: &'a HeaderMap) -> Shown<'a> {
        if let Some(token) = headers.get(AUTHORIZATION).and_then(bearer) {
            return self.judge(token);
        }
        let cookies = headers.get_all(COOKIE).iter().filter_map(|value| value.to_str().ok());
        let mut ours = cookies
            .flat_map(|cookies| cookies.split(';'))
            .filter_map(|cookie| cookie.trim().split_once('='))
            .filter(|(name, _)| *name == self.cookie_name);
        match ours.next() {
            Some((_, value)) if self.cookie.is(value) => Shown::Right,
            Some((_, value)) => Shown::Other(value),
            None => Shown::Nothing,
        }
    }

    /// Whether a link to the page has a token that opens it.
    pub(crate) fn judge_link<'a>(&self, token: &'a str) -> Shown<'a> {
        let mut once = self.once();
        let is_it = once
            .as_ref()
            .is_some_and(|(secret, until)| Instant::now() < *until && secret.is(token));
        if is_it {
            *once = None;
            return Shown::Right;
        }
        self.judge(token)
    }

    /// Whether a token is the daemon's own.
    pub(crate) fn judge<'a>(&self, token: &'a str) -> Shown<'a> {
        if self.token.is(token) { Shown::Right } else { Shown::Other(token) }
    }

    /// The cookie that stands for the token in a browser from now on. It is not the token: what a browser keeps may
    /// be read by others, and must not open the API for programs.
    pub(crate) fn cookie(&self) -> String {
        format!(
            "{}={}; Path=/; HttpOnly; SameSite=Strict; Max-Age={COOKIE_SECONDS}",
            self.cookie_name, self.cookie_value
        )
    }

    /// Counts a wrong token; says how long its bearer is to wait for the answer.
    pub(crate) fn refused(&self, peer: IpAddr) -> Duration {
        self.slowness.refused(peer)
    }
}

fn bearer(value: &HeaderValue) -> Option<&str> {
    let (scheme, token) = value.to_str().ok()?.split_once(' ')?;
    scheme.eq_ignore_ascii_case("bearer").then_some(token.trim())
}

/// What a stranger sent, short enough for a log line.
fn shown(bytes: &[u8]) -> String {
    const CHARS: usize = 200;
    String::from_utf8_lossy(bytes).chars().take(CHARS).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn doors() -> (Doors, Token) {
        let token = Token::from_random([7; 32]);
        (Doors::new(([127, 0, 0, 1], 7717).into(), &token), token)
    }

    fn headers(pairs: &[(&'static str, &str)]) -> HeaderMap {
        let pair = |(name, value): &(&'static str, &str)| {
            (axum::http::HeaderName::from_static(name), HeaderValue::from_str(value).unwrap())
        };
        pairs.iter().map(pair).collect()
    }

    #[test]
    fn the_token_and_the_cookie_open_and_nothing_else_does() {
        let (doors, token) = doors();
        let shown = |name, value: &str| match doors.shown(&headers(&[(name, value)])) {
            Shown::Right => "right".to_owned(),
            Shown::Other(text) => format!("other {text}"),
            Shown::Nothing => "nothing".to_owned(),
        };
        let cookie = doors.cookie();
        let (cookie, _) = cookie.split_once(';').unwrap();
        assert_eq!(shown("authorization", &format!("Bearer {}", token.as_str())), "right");
        assert_eq!(shown("authorization", &format!("bearer  {}", token.as_str())), "right");
        assert_eq!(shown("cookie", &format!("a=b; {cookie}; c=d")), "right");
        assert_eq!(shown("authorization", "Bearer x"), "other x");
        assert_eq!(shown("authorization", token.as_str()), "nothing");
        assert_eq!(shown("cookie", "convoke-7717=x"), "other x");
        assert_eq!(shown("cookie", &cookie.replace("7717", "7718")), "nothing");
        assert_eq!(shown("accept", "*/*"), "nothing");
    }

    #[tokio::test(start_paused = true)]
    async fn a_link_for_a_browser_opens_once_and_soon() {
        let (doors, token) = doors();
        let link = Token::from_random([8; 32]);
        doors.open_once(&link);
        assert_eq!(
            doors.judge(link.as_str()),
            Shown::Other(link.as_str()),
            "of no use for programs"
        );
        assert_eq!(doors.judge_link(link.as_str()), Shown::Right);
        assert_eq!(doors.judge_link(link.as_str()), Shown::Other(link.as_str()));
        doors.open_once(&link);
        tokio::time::advance(LINK_LIFE).await;
        assert_eq!(doors.judge_link(link.as_str()), Shown::Other(link.as_str()));
        assert_eq!(doors.judge_link(token.as_str()), Shown::Right);
    }

    #[test]
    fn what_a_browser_keeps_is_not_the_token() {
        let (doors, token) = doors();
        assert!(!doors.cookie().contains(token.as_str()));
        let (_, value) = doors.cookie_value.split_at(0);
        assert_eq!(doors.judge(value), Shown::Other(value));
    }

    #[test]
    fn a_foreign_host_or_origin_is_turned_away() {
        let (doors, _) = doors();
        let check = |uri: &str, pairs: &[(&'static str, &str)]| {
            doors.check_origin(&uri.parse().unwrap(), &headers(pairs))
        };
        let ours = ("host", "localhost:7717");
        assert_eq!(check("/", &[ours]), Ok(()));
        assert_eq!(check("/", &[ours, ("origin", "http://127.0.0.1:7717")]), Ok(()));
        assert_eq!(check("/", &[]), Err(Foreign::Host(String::new())));
        let evil = Foreign::Host("evil.example:7717".to_owned());
        assert_eq!(check("/", &[("host", "evil.example:7717")]), Err(evil.clone()));
        assert_eq!(check("http://evil.example:7717/", &[ours]), Err(evil));
        for origin in
            ["null", "http://evil.example", "http://localhost:7718", "https://localhost:7717"]
        {
            let foreign = Foreign::Origin(origin.to_owned());
            assert_eq!(check("/", &[ours, ("origin", origin)]), Err(foreign));
        }
    }
}
