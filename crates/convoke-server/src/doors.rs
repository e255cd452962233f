//! Who may come in: by a token or a browser session, and by the Host and Origin that a request names.
//!
//! A foreign page in the same browser can send requests here, and can make a name of its own point here. The Origin tells
//! of the first, the Host of the second. A page on another port of this host even gets our cookie sent: so the cookie
//! alone opens nothing.

mod browsers;
mod host;
mod links;
mod secret;
mod slowness;

use std::net::{IpAddr, SocketAddr};
use std::path::Path;
use std::time::Duration;

use axum::http::header::{AUTHORIZATION, COOKIE, HOST, ORIGIN};
use axum::http::{HeaderMap, HeaderName, HeaderValue, Uri};
use convoke_core::time::Timestamp;

use host::Hosts;
use secret::Digest;
use slowness::Slowness;

pub(crate) use browsers::{Browsers, Pair, Revoked, Visit};
pub(crate) use links::{LINK_LIFE, Links, Spent};
pub use secret::Token;

/// Where the page sends the second secret of its browser session.
pub(crate) const BROWSER_SECRET: HeaderName = HeaderName::from_static("x-convoke-browser");
/// Where browsers say which site a request comes from; pages cannot forge it.
const FETCH_SITE: HeaderName = HeaderName::from_static("sec-fetch-site");

/// The doors of one daemon.
pub(crate) struct Doors {
    pub(crate) links: Links,
    pub(crate) browsers: Browsers,
    hosts: Hosts,
    token: Digest,
    cookie_name: String,
    slowness: Slowness,
}

/// What doors are made of.
#[derive(Clone, Copy)]
pub(crate) struct Frame<'a> {
    /// Where the daemon listens.
    pub(crate) address: SocketAddr,
    /// The daemon's own token.
    pub(crate) token: &'a Token,
    /// The folder for what outlives the daemon, and for redirect files.
    pub(crate) folder: &'a Path,
    pub(crate) clock: fn() -> Timestamp,
}

/// What a request shows at the door.
pub(crate) enum Shown<'a> {
    /// The daemon's own token.
    Token,
    /// A cookie and the secret that belongs to it.
    Browser(Visit),
    /// The cookie of a browser that is signed in, and no secret.
    Cookie,
    /// A secret that does not belong to the cookie.
    WrongSecret,
    /// A token that is not the daemon's own.
    Other(&'a str),
    /// Nothing.
    Nothing,
}

/// A request that is refused by where it comes from.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) enum Foreign {
    /// It names a Host that is not ours.
    Host(String),
    /// It comes from a page that is not ours.
    Origin(String),
    /// The browser says that it comes from another origin, such as another port of this host.
    Site(String),
}

impl Doors {
    /// The doors of a daemon.
    pub(crate) fn open(frame: Frame<'_>) -> Self {
        let Frame { address, token, folder, clock } = frame;
        Self {
            links: Links::open(folder.join("open")),
            browsers: Browsers::open(folder.join("browser-sessions.json"), clock),
            hosts: Hosts::new(address),
            token: Digest::of(token.as_str()),
            // Cookies do not keep the ports of a machine apart, and there may be a daemon on each.
            cookie_name: format!("convoke-{}", address.port()),
            slowness: Slowness::new(),
        }
    }

    /// Refuses what names a foreign Host or comes from a foreign page.
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

    /// Refuses what a browser sends for a page of another origin, with or without an Origin.
    pub(crate) fn check_site(headers: &HeaderMap) -> Result<(), Foreign> {
        let mut sites = headers.get_all(FETCH_SITE).iter().map(HeaderValue::as_bytes);
        match sites.find(|site| !matches!(*site, b"same-origin" | b"none")) {
            Some(site) => Err(Foreign::Site(shown(site))),
            None => Ok(()),
        }
    }

    /// What a request shows: a token in its header, else a secret and a cookie.
    pub(crate) fn shown<'a>(&self, headers: &'a HeaderMap) -> Shown<'a> {
        if let Some(token) = headers.get(AUTHORIZATION).and_then(bearer) {
            let is_ours = Digest::of(token) == self.token;
            return if is_ours { Shown::Token } else { Shown::Other(token) };
        }
        match headers.get(BROWSER_SECRET).and_then(|secret| secret.to_str().ok()) {
            Some(secret) => match self.browsers.visit(self.cookies(headers), secret) {
                Some(visit) => Shown::Browser(visit),
                None => Shown::WrongSecret,
            },
            None if self.browsers.knows(self.cookies(headers)) => Shown::Cookie,
            None => Shown::Nothing,
        }
    }

    /// The values of our cookie. There can be several: another port of this host may set cookies of the same name for
    /// other paths, and must not keep ours from being found.
    pub(crate) fn cookies<'a>(&self, headers: &'a HeaderMap) -> impl Iterator<Item = &'a str> {
        let cookies = headers.get_all(COOKIE).iter().filter_map(|value| value.to_str().ok());
        cookies
            .flat_map(|cookies| cookies.split(';'))
            .filter_map(|cookie| cookie.trim().split_once('='))
            .filter(|(name, _)| *name == self.cookie_name)
            .map(|(_, value)| value)
    }

    /// The cookie of a browser session, as it is set.
    pub(crate) fn cookie(&self, value: &Token) -> String {
        let (name, value, age) = (&self.cookie_name, value.as_str(), browsers::IDLE_MAX.as_secs());
        format!("{name}={value}; Path=/; HttpOnly; SameSite=Strict; Max-Age={age}")
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

    struct Scene {
        doors: Doors,
        _folder: tempfile::TempDir,
    }

    const TOKEN: [u8; 32] = [7; 32];

    fn scene() -> Scene {
        let folder = tempfile::tempdir().unwrap();
        let doors = Doors::open(Frame {
            address: ([127, 0, 0, 1], 7717).into(),
            token: &Token::from_random(TOKEN),
            folder: folder.path(),
            clock: || Timestamp::from_millis(0),
        });
        Scene { doors, _folder: folder }
    }

    fn headers(pairs: &[(&'static str, &str)]) -> HeaderMap {
        let pair = |(name, value): &(&'static str, &str)| {
            (axum::http::HeaderName::from_static(name), HeaderValue::from_str(value).unwrap())
        };
        pairs.iter().map(pair).collect()
    }

    #[tokio::test]
    async fn k6_the_token_or_a_whole_pair_opens_and_half_of_a_pair_does_not() {
        let Scene { doors, _folder } = scene();
        let shown = |pairs: &[(&'static str, &str)]| match doors.shown(&headers(pairs)) {
            Shown::Token => "token".to_owned(),
            Shown::Browser(visit) => format!("browser {}", visit.id),
            Shown::Cookie => "cookie".to_owned(),
            Shown::WrongSecret => "wrong secret".to_owned(),
            Shown::Other(text) => format!("other {text}"),
            Shown::Nothing => "nothing".to_owned(),
        };
        let token = Token::from_random(TOKEN);
        let (cookie, secret) = (Token::from_random([1; 32]), Token::from_random([2; 32]));
        let pair = Pair { id: "a".to_owned(), cookie: &cookie, secret: &secret, user_agent: "" };
        doors.browsers.add(pair).await;
        let set = doors.cookie(&cookie);
        let (set, rest) = set.split_once("; ").unwrap();
        assert_eq!(rest, "Path=/; HttpOnly; SameSite=Strict; Max-Age=2592000");
        let other_port = set.replace("7717", "7718");
        let tossed = format!("convoke-7717=x; {set}");
        let (cookie, secret) = (cookie.as_str(), secret.as_str());
        let bearer = |token: &str| format!("Bearer {token}");
        assert_eq!(shown(&[("authorization", &bearer(token.as_str()))]), "token");
        assert_eq!(shown(&[("authorization", &bearer("x"))]), "other x");
        assert_eq!(shown(&[("authorization", token.as_str())]), "nothing");
        assert_eq!(shown(&[("authorization", &bearer(secret))]), format!("other {secret}"));
        assert_eq!(shown(&[("cookie", set)]), "cookie");
        assert_eq!(shown(&[("cookie", "convoke-7717=x")]), "nothing");
        assert_eq!(shown(&[("x-convoke-browser", secret)]), "wrong secret");
        assert_eq!(shown(&[("cookie", set), ("x-convoke-browser", cookie)]), "wrong secret");
        assert_eq!(
            shown(&[("cookie", &other_port), ("x-convoke-browser", secret)]),
            "wrong secret"
        );
        assert_eq!(shown(&[("cookie", set), ("x-convoke-browser", secret)]), "browser a");
        assert_eq!(shown(&[("cookie", &tossed), ("x-convoke-browser", secret)]), "browser a");
        assert_eq!(shown(&[("accept", "*/*")]), "nothing");
    }

    #[test]
    fn k6_another_port_of_this_host_is_another_origin() {
        let check = |site: &str| Doors::check_site(&headers(&[("sec-fetch-site", site)]));
        assert_eq!((check("same-origin"), check("none")), (Ok(()), Ok(())));
        assert_eq!(Doors::check_site(&headers(&[])), Ok(()));
        for site in ["same-site", "cross-site", "nonsense"] {
            assert_eq!(check(site), Err(Foreign::Site(site.to_owned())));
        }
    }

    #[test]
    fn a_foreign_host_or_origin_is_turned_away() {
        let Scene { doors, _folder } = scene();
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
