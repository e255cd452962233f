//! Authentication: by token or browser session, after checks of the Host and Origin headers.
//!
//! A page of another site in the same browser can send requests to this daemon (the Origin check refuses them), and
//! its domain can resolve to this machine (the Host check refuses that). Browsers send the cookie to every port of
//! this host, so the cookie alone does not authenticate a request.

mod browsers;
mod host;
mod links;
mod public;
mod secret;
mod throttle;

use std::net::{IpAddr, SocketAddr};
use std::path::Path;
use std::time::Duration;

use axum::http::header::{AUTHORIZATION, COOKIE, HOST, ORIGIN};
use axum::http::{HeaderMap, HeaderName, HeaderValue, Uri};
use convoke_core::time::Timestamp;

use host::Hosts;
use secret::Digest;
use throttle::Throttle;

pub(crate) use browsers::{BrowserUser, Browsers, NewBrowser, Revoked, Visit};
pub(crate) use links::{LINK_LIFE, Links, Redeemed, USER_LINK_LIFE};
pub use public::{NotAPublicUrl, PublicUrl};
pub use secret::Token;
pub(crate) use secret::digest;

/// The header with the second secret of a browser session.
pub(crate) const BROWSER_SECRET: HeaderName = HeaderName::from_static("x-convoke-browser");
/// The header in which browsers report the site that sent a request; scripts cannot set it.
const FETCH_SITE: HeaderName = HeaderName::from_static("sec-fetch-site");

/// The credentials and host names of one daemon.
pub(crate) struct Auth {
    pub(crate) links: Links,
    pub(crate) browsers: Browsers,
    hosts: Hosts,
    token: Digest,
    cookie_name: String,
    throttle: Throttle,
}

/// The arguments of `Auth::open`.
#[derive(Clone, Copy)]
pub(crate) struct AuthSettings<'a> {
    /// The address that the daemon listens on.
    pub(crate) address: SocketAddr,
    /// The address under which a proxy serves it.
    pub(crate) public: Option<&'a PublicUrl>,
    /// The daemon's own token.
    pub(crate) token: &'a Token,
    /// The folder for the browser sessions, which survive a restart, and for redirect files.
    pub(crate) folder: &'a Path,
    pub(crate) clock: fn() -> Timestamp,
}

/// The credential that a request carries.
pub(crate) enum Credential<'a> {
    /// The daemon's own token.
    Token,
    /// A cookie and the secret that belongs to it.
    Browser(Visit),
    /// The cookie of a signed-in browser without a secret.
    Cookie,
    /// A secret that does not match the cookie.
    WrongSecret,
    /// Another token, which may be the key of a session.
    Other(&'a str),
    /// None.
    Nothing,
}

/// Why a request is refused before its credential is looked at.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) enum OriginError {
    /// The Host is not this daemon.
    Host(String),
    /// The Origin is not this daemon's page.
    Origin(String),
    /// `Sec-Fetch-Site` names another origin, such as another port of this host.
    Site(String),
}

impl Auth {
    /// Reads the stored browser sessions, and removes redirect files of an earlier daemon.
    pub(crate) fn open(settings: AuthSettings<'_>) -> Self {
        let AuthSettings { address, public, token, folder, clock } = settings;
        Self {
            links: Links::open(folder.join("open")),
            browsers: Browsers::open(folder.join("browser-sessions.json"), clock),
            hosts: Hosts::new(address, public.cloned()),
            token: Digest::of(token.as_str()),
            // Cookies are shared between the ports of a host, and each port may have a daemon.
            cookie_name: format!("convoke-{}", address.port()),
            throttle: Throttle::new(),
        }
    }

    /// Refuses a request with a foreign Host or Origin.
    pub(crate) fn check_origin(&self, uri: &Uri, headers: &HeaderMap) -> Result<(), OriginError> {
        let hosts = headers.get_all(HOST).iter().map(HeaderValue::as_bytes);
        let named: Vec<&[u8]> =
            hosts.chain(uri.authority().map(|it| it.as_str().as_bytes())).collect();
        let foreign = named.iter().find(|host| !self.hosts.admits(host));
        match (foreign, named.is_empty()) {
            (Some(host), _) => return Err(OriginError::Host(shown(host))),
            (None, true) => return Err(OriginError::Host(String::new())),
            (None, false) => {}
        }
        let mut origins = headers.get_all(ORIGIN).iter().map(HeaderValue::as_bytes);
        match origins.find(|origin| !self.hosts.admits_origin(origin)) {
            Some(origin) => Err(OriginError::Origin(shown(origin))),
            None => Ok(()),
        }
    }

    /// Refuses a request that a browser sent for a page of another origin, even without an Origin header.
    pub(crate) fn check_site(headers: &HeaderMap) -> Result<(), OriginError> {
        let mut sites = headers.get_all(FETCH_SITE).iter().map(HeaderValue::as_bytes);
        match sites.find(|site| !matches!(*site, b"same-origin" | b"none")) {
            Some(site) => Err(OriginError::Site(shown(site))),
            None => Ok(()),
        }
    }

    /// The credential of a request: the token in its header, else a browser secret and cookie.
    pub(crate) fn credential<'a>(&self, headers: &'a HeaderMap) -> Credential<'a> {
        if let Some(token) = headers.get(AUTHORIZATION).and_then(bearer) {
            let is_ours = Digest::of(token) == self.token;
            return if is_ours { Credential::Token } else { Credential::Other(token) };
        }
        match headers.get(BROWSER_SECRET).and_then(|secret| secret.to_str().ok()) {
            Some(secret) => match self.browsers.visit(self.cookies(headers), secret) {
                Some(visit) => Credential::Browser(visit),
                None => Credential::WrongSecret,
            },
            None if self.browsers.knows(self.cookies(headers)) => Credential::Cookie,
            None => Credential::Nothing,
        }
    }

    /// The values of this daemon's cookie. There can be several: another port of this host may have
    /// set cookies of the same name for other paths, which must not hide the right one.
    pub(crate) fn cookies<'a>(&self, headers: &'a HeaderMap) -> impl Iterator<Item = &'a str> {
        let cookies = headers.get_all(COOKIE).iter().filter_map(|value| value.to_str().ok());
        cookies
            .flat_map(|cookies| cookies.split(';'))
            .filter_map(|cookie| cookie.trim().split_once('='))
            .filter(|(name, _)| *name == self.cookie_name)
            .map(|(_, value)| value)
    }

    /// The `Set-Cookie` value for the session of a browser that sent these headers.
    pub(crate) fn cookie(&self, value: &Token, headers: &HeaderMap) -> String {
        let (name, value, age) = (&self.cookie_name, value.as_str(), browsers::IDLE_MAX.as_secs());
        let is_secure = headers.get(HOST).is_some_and(|host| self.hosts.is_secure(host.as_bytes()));
        let secure = if is_secure { "; Secure" } else { "" };
        format!("{name}={value}; Path=/; HttpOnly; SameSite=Strict; Max-Age={age}{secure}")
    }

    /// Counts a wrong token and returns how long to delay the response.
    pub(crate) fn record_failure(&self, peer: IpAddr) -> Duration {
        self.throttle.record_failure(peer)
    }
}

fn bearer(value: &HeaderValue) -> Option<&str> {
    let (scheme, token) = value.to_str().ok()?.split_once(' ')?;
    scheme.eq_ignore_ascii_case("bearer").then_some(token.trim())
}

/// The start of a header value, short enough for a log line.
fn shown(bytes: &[u8]) -> String {
    const CHARS: usize = 200;
    String::from_utf8_lossy(bytes).chars().take(CHARS).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    struct Scene {
        auth: Auth,
        _folder: tempfile::TempDir,
    }

    const TOKEN: [u8; 32] = [7; 32];

    fn scene() -> Scene {
        let folder = tempfile::tempdir().unwrap();
        let auth = Auth::open(AuthSettings {
            address: ([127, 0, 0, 1], 7717).into(),
            public: None,
            token: &Token::from_random(TOKEN),
            folder: folder.path(),
            clock: || Timestamp::from_millis(0),
        });
        Scene { auth, _folder: folder }
    }

    fn headers(pairs: &[(&'static str, &str)]) -> HeaderMap {
        let pair = |(name, value): &(&'static str, &str)| {
            (axum::http::HeaderName::from_static(name), HeaderValue::from_str(value).unwrap())
        };
        pairs.iter().map(pair).collect()
    }

    #[tokio::test]
    async fn k6_the_token_or_a_whole_pair_opens_and_half_of_a_pair_does_not() {
        let Scene { auth, _folder } = scene();
        let shown = |pairs: &[(&'static str, &str)]| match auth.credential(&headers(pairs)) {
            Credential::Token => "token".to_owned(),
            Credential::Browser(visit) => format!("browser {}", visit.id),
            Credential::Cookie => "cookie".to_owned(),
            Credential::WrongSecret => "wrong secret".to_owned(),
            Credential::Other(text) => format!("other {text}"),
            Credential::Nothing => "nothing".to_owned(),
        };
        let token = Token::from_random(TOKEN);
        let (cookie, secret) = (Token::from_random([1; 32]), Token::from_random([2; 32]));
        let pair = NewBrowser {
            user: None,
            id: "a".to_owned(),
            cookie: &cookie,
            secret: &secret,
            user_agent: "",
        };
        auth.browsers.add(pair).await;
        let set = auth.cookie(&cookie, &HeaderMap::new());
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
        let check = |site: &str| Auth::check_site(&headers(&[("sec-fetch-site", site)]));
        assert_eq!((check("same-origin"), check("none")), (Ok(()), Ok(())));
        assert_eq!(Auth::check_site(&headers(&[])), Ok(()));
        for site in ["same-site", "cross-site", "nonsense"] {
            assert_eq!(check(site), Err(OriginError::Site(site.to_owned())));
        }
    }

    #[test]
    fn a_foreign_host_or_origin_is_turned_away() {
        let Scene { auth, _folder } = scene();
        let check = |uri: &str, pairs: &[(&'static str, &str)]| {
            auth.check_origin(&uri.parse().unwrap(), &headers(pairs))
        };
        let ours = ("host", "localhost:7717");
        assert_eq!(check("/", &[ours]), Ok(()));
        assert_eq!(check("/", &[ours, ("origin", "http://127.0.0.1:7717")]), Ok(()));
        assert_eq!(check("/", &[]), Err(OriginError::Host(String::new())));
        let evil = OriginError::Host("evil.example:7717".to_owned());
        assert_eq!(check("/", &[("host", "evil.example:7717")]), Err(evil.clone()));
        assert_eq!(check("http://evil.example:7717/", &[ours]), Err(evil));
        for origin in
            ["null", "http://evil.example", "http://localhost:7718", "https://localhost:7717"]
        {
            let foreign = OriginError::Origin(origin.to_owned());
            assert_eq!(check("/", &[ours, ("origin", origin)]), Err(foreign));
        }
    }
}
