//! The head of a request to the proxy, and the part that is forwarded.

use super::Target;

/// Header fields between the client and the proxy only, or that the proxy sets itself.
const OWN_FIELDS: [&str; 5] =
    ["host", "connection", "keep-alive", "proxy-connection", "proxy-authorization"];
/// The port of a URL without one.
const HTTP_PORT: u16 = 80;

/// A client's request to the proxy.
#[derive(Debug, PartialEq, Eq)]
pub(super) struct Head {
    pub(super) target: Target,
    pub(super) kind: Kind,
}

#[derive(Debug, PartialEq, Eq)]
pub(super) enum Kind {
    /// A tunnel for bytes in both directions.
    Tunnel,
    /// A plain request.
    Request {
        /// Its head as it is sent to the server.
        forwarded: Vec<u8>,
    },
}

impl Head {
    /// Reads a whole head, with the empty line at its end.
    pub(super) fn read(bytes: &[u8]) -> Option<Self> {
        let text = std::str::from_utf8(bytes).ok()?;
        let mut lines = text.strip_suffix("\r\n\r\n")?.split("\r\n");
        let line = lines.next()?;
        let mut words = line.split(' ');
        let (method, url, version) = (words.next()?, words.next()?, words.next()?);
        let is_line = words.next().is_none() && version.starts_with("HTTP/1.");
        let is_clean = text.replace("\r\n", "").bytes().all(|byte| !b"\r\n\0".contains(&byte));
        if !is_line || !is_clean || method.is_empty() {
            return None;
        }
        if method == "CONNECT" {
            return Some(Self { target: Target::read(url, None)?, kind: Kind::Tunnel });
        }
        let (scheme, rest) = url.split_once("://")?;
        if !scheme.eq_ignore_ascii_case("http") {
            return None;
        }
        let path_at = rest.find(['/', '?', '#']).unwrap_or(rest.len());
        let (authority, path) = rest.split_at_checked(path_at)?;
        let target = Target::read(authority, Some(HTTP_PORT))?;
        let slash = if path.starts_with('/') { "" } else { "/" };
        let mut forwarded = format!(
            "{method} {slash}{path} {version}\r\nhost: {authority}\r\nconnection: close\r\n"
        );
        for field in lines {
            let (name, _) = field.split_once(':')?;
            if !OWN_FIELDS.iter().any(|own| name.trim().eq_ignore_ascii_case(own)) {
                forwarded.push_str(field);
                forwarded.push_str("\r\n");
            }
        }
        forwarded.push_str("\r\n");
        Some(Self { target, kind: Kind::Request { forwarded: forwarded.into_bytes() } })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn read(head: &str) -> Option<(String, Option<String>)> {
        let head = Head::read(format!("{head}\r\n\r\n").as_bytes())?;
        let forwarded = match head.kind {
            Kind::Tunnel => None,
            Kind::Request { forwarded } => Some(String::from_utf8(forwarded).unwrap()),
        };
        Some((head.target.to_string(), forwarded))
    }

    #[test]
    fn k9_the_host_that_is_sent_on_is_the_one_that_was_checked() {
        let head = "POST http://A.test:8080?q=1 HTTP/1.1\r\nHost: other.test\r\nX: 1\r\n\
                    Proxy-Authorization: secret\r\nConnection: keep-alive\r\nContent-Length: 2";
        let (target, forwarded) = read(head).unwrap();
        assert_eq!(target, "a.test:8080");
        assert_eq!(
            forwarded.unwrap(),
            "POST /?q=1 HTTP/1.1\r\nhost: A.test:8080\r\nconnection: close\r\nX: 1\r\nContent-Length: 2\r\n\r\n"
        );
        assert_eq!(
            read("CONNECT a.test:443 HTTP/1.1\r\nHost: b.test"),
            Some(("a.test:443".to_owned(), None))
        );
    }

    #[test]
    fn heads_that_are_not_for_a_proxy_are_refused() {
        for head in [
            "GET / HTTP/1.1\r\nHost: a.test",
            "GET https://a.test/ HTTP/1.1",
            "GET http://user@a.test/ HTTP/1.1",
            "GET http:///path HTTP/1.1",
            "CONNECT a.test HTTP/1.1",
            "CONNECT a.test:99999 HTTP/1.1",
            "GET http://a.test/ HTTP/2",
            "GET http://a.test/ HTTP/1.1\r\nX: a\nHost: b.test",
            "GET http://a.test/ HTTP/1.1\r\nno field",
            "",
        ] {
            assert_eq!(read(head), None, "{head}");
        }
    }
}
