//! The address under which a proxy serves the daemon to other machines.

use std::fmt;
use std::str::FromStr;

use super::host::split;

/// The origin of the page in browsers that reach the daemon through a proxy, such as
/// `https://convoke.example.org`.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct PublicUrl {
    scheme: Scheme,
    /// In lower case.
    name: String,
    port: u16,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Scheme {
    Http,
    Https,
}

/// The text is no such address.
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
#[error("expected http:// or https://, a host name and perhaps a port, without a path")]
pub struct NotAPublicUrl;

impl Scheme {
    /// The port that browsers leave out.
    const fn port(self) -> u16 {
        match self {
            Self::Http => 80,
            Self::Https => 443,
        }
    }
}

impl PublicUrl {
    /// Whether a `Host` header with this name and port names it.
    pub(super) fn is_at(&self, name: &str, port: Option<u16>) -> bool {
        self.name.eq_ignore_ascii_case(name) && self.port == port.unwrap_or(self.scheme.port())
    }

    /// Whether browsers reach it over TLS.
    pub(super) const fn is_secure(&self) -> bool {
        matches!(self.scheme, Scheme::Https)
    }
}

impl FromStr for PublicUrl {
    type Err = NotAPublicUrl;

    fn from_str(text: &str) -> Result<Self, NotAPublicUrl> {
        let (scheme, authority) = match text.split_once("://").ok_or(NotAPublicUrl)? {
            ("http", rest) => (Scheme::Http, rest),
            ("https", rest) => (Scheme::Https, rest),
            _ => return Err(NotAPublicUrl),
        };
        let authority = authority.strip_suffix('/').unwrap_or(authority);
        let (name, port) = split(authority).ok_or(NotAPublicUrl)?;
        let bare = name.strip_prefix('[').and_then(|rest| rest.strip_suffix(']'));
        let is_name = match bare {
            Some(address) => address.parse::<std::net::Ipv6Addr>().is_ok(),
            None => {
                let may = |byte: u8| byte.is_ascii_alphanumeric() || b"-._".contains(&byte);
                !name.is_empty() && name.bytes().all(may)
            }
        };
        let port = port.unwrap_or(scheme.port());
        match is_name {
            true => Ok(Self { scheme, name: name.to_ascii_lowercase(), port }),
            false => Err(NotAPublicUrl),
        }
    }
}

/// As browsers write it in the `Origin` header.
impl fmt::Display for PublicUrl {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Self { scheme, name, port } = self;
        let words = match scheme {
            Scheme::Http => "http",
            Scheme::Https => "https",
        };
        write!(f, "{words}://{name}")?;
        if *port == scheme.port() { Ok(()) } else { write!(f, ":{port}") }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_origin_is_read_and_written_as_browsers_write_it() {
        for (text, shown) in [
            ("https://Convoke.Example.org", "https://convoke.example.org"),
            ("https://convoke.example.org:443/", "https://convoke.example.org"),
            ("https://convoke.example.org:8443", "https://convoke.example.org:8443"),
            ("http://convoke.lan:80", "http://convoke.lan"),
            ("https://[fd00::1]:8443", "https://[fd00::1]:8443"),
        ] {
            assert_eq!(text.parse::<PublicUrl>().unwrap().to_string(), shown);
        }
    }

    #[test]
    fn anything_else_is_refused() {
        for text in [
            "",
            "convoke.example.org",
            "ftp://convoke.example.org",
            "https://",
            "https://:443",
            "https://convoke.example.org/path",
            "https://convoke.example.org?x",
            "https://me:secret@convoke.example.org",
            "https://convoke.example.org:99999",
            "https://*.example.org",
            "https://con voke",
            "https://é.example",
            "https://[convoke]",
        ] {
            assert_eq!(text.parse::<PublicUrl>(), Err(NotAPublicUrl), "{text}");
        }
    }
}
