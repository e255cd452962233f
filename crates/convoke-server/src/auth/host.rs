//! The host names under which this daemon may be reached.

use std::net::{IpAddr, Ipv4Addr, Ipv6Addr, SocketAddr};

use super::public::PublicUrl;

/// The port that browsers leave out.
const HTTP: u16 = 80;

/// Decides which hosts are this daemon.
pub(super) struct Hosts {
    address: SocketAddr,
    public: Option<PublicUrl>,
}

impl Hosts {
    /// The hosts of a daemon that listens at this address, and is served by a proxy under the other.
    pub(super) const fn new(address: SocketAddr, public: Option<PublicUrl>) -> Self {
        Self { address, public }
    }

    /// Whether the value of a `Host` header names this daemon.
    pub(super) fn admits(&self, host: &[u8]) -> bool {
        let named = std::str::from_utf8(host).ok().and_then(split);
        named.is_some_and(|(name, port)| self.is_own_address(name, port))
            || self.public_at(host).is_some()
    }

    /// Whether the value of an `Origin` header is this daemon's page.
    pub(super) fn admits_origin(&self, origin: &[u8]) -> bool {
        let Ok(origin) = std::str::from_utf8(origin) else { return false };
        let local = origin.strip_prefix("http://").and_then(split);
        local.is_some_and(|(name, port)| self.is_own_address(name, port))
            || self.public.as_ref().is_some_and(|it| it.to_string().eq_ignore_ascii_case(origin))
    }

    /// Whether a request with this `Host` header came over TLS.
    pub(super) fn is_secure(&self, host: &[u8]) -> bool {
        self.public_at(host).is_some_and(PublicUrl::is_secure)
    }

    fn public_at(&self, host: &[u8]) -> Option<&PublicUrl> {
        let (name, port) = std::str::from_utf8(host).ok().and_then(split)?;
        self.public.as_ref().filter(|public| public.is_at(name, port))
    }

    fn is_own_address(&self, name: &str, port: Option<u16>) -> bool {
        port.unwrap_or(HTTP) == self.address.port() && self.is_ours(name)
    }

    fn is_ours(&self, name: &str) -> bool {
        if name.eq_ignore_ascii_case("localhost") {
            return true;
        }
        let bare = name.strip_prefix('[').and_then(|rest| rest.strip_suffix(']'));
        let address = match bare {
            Some(inner) => inner.parse::<Ipv6Addr>().ok().map(IpAddr::V6),
            None => name.parse::<Ipv4Addr>().ok().map(IpAddr::V4),
        };
        let Some(address) = address else { return false };
        let ours = self.address.ip();
        // Only names can be made to resolve here by an attacker, so a daemon on all addresses accepts any address and
        // no name.
        ours.is_unspecified()
            || address == ours
            || address == Ipv4Addr::LOCALHOST
            || address == Ipv6Addr::LOCALHOST
    }
}

/// The name and the port of an authority.
pub(super) fn split(authority: &str) -> Option<(&str, Option<u16>)> {
    let end = match authority.strip_prefix('[') {
        Some(rest) => rest.find(']')? + 2,
        None => authority.find(':').unwrap_or(authority.len()),
    };
    let (name, rest) = authority.split_at_checked(end)?;
    match rest.strip_prefix(':') {
        Some(port) if port.bytes().all(|byte| byte.is_ascii_digit()) => {
            Some((name, Some(port.parse().ok()?)))
        }
        None if rest.is_empty() => Some((name, None)),
        Some(_) | None => None,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn admitted(address: &str, hosts: &[&'static str]) -> Vec<&'static str> {
        let known = Hosts::new(address.parse().unwrap(), None);
        hosts.iter().copied().filter(|host| known.admits(host.as_bytes())).collect()
    }

    #[test]
    fn only_loopback_with_our_port_is_us() {
        let asked = [
            "localhost:7717",
            "LocalHost:7717",
            "127.0.0.1:7717",
            "[::1]:7717",
            "localhost",
            "127.0.0.1",
            "127.0.0.1:80",
            "127.0.0.2:7717",
            "localhost.evil.example:7717",
            "evil.example:7717",
            "user@127.0.0.1:7717",
            "127.0.0.1:7717:7717",
            "127.0.0.1:+7717",
            "[::1]7717",
            "[::1:7717",
            "::1:7717",
            "192.168.1.5:7717",
            "",
            ":7717",
            "[",
            "é:7717",
        ];
        assert_eq!(
            admitted("127.0.0.1:7717", &asked),
            ["localhost:7717", "LocalHost:7717", "127.0.0.1:7717", "[::1]:7717"]
        );
    }

    #[test]
    fn the_configured_address_is_us_too() {
        let asked = ["192.168.1.5:80", "192.168.1.5", "192.168.1.6", "localhost", "convoke.lan"];
        assert_eq!(
            admitted("192.168.1.5:80", &asked),
            ["192.168.1.5:80", "192.168.1.5", "localhost"]
        );
    }

    #[test]
    fn a_daemon_on_all_addresses_accepts_any_address_and_no_name() {
        let asked = ["192.168.1.5:7717", "[fe80::1]:7717", "localhost:7717", "evil.example:7717"];
        assert_eq!(
            admitted("0.0.0.0:7717", &asked),
            ["192.168.1.5:7717", "[fe80::1]:7717", "localhost:7717"]
        );
    }

    #[test]
    fn n7_the_public_address_is_us_with_its_own_port_and_scheme() {
        let public = Some("https://convoke.example.org".parse().unwrap());
        let hosts = Hosts::new("127.0.0.1:7717".parse().unwrap(), public);
        for host in ["convoke.example.org", "Convoke.Example.Org:443", "127.0.0.1:7717"] {
            assert!(hosts.admits(host.as_bytes()), "{host}");
        }
        for host in [
            "convoke.example.org:7717",
            "convoke.example.org:80",
            "evil.convoke.example.org",
            "convoke.example.org.evil.example",
            "example.org",
        ] {
            assert!(!hosts.admits(host.as_bytes()), "{host}");
        }
        for origin in ["https://convoke.example.org", "http://127.0.0.1:7717"] {
            assert!(hosts.admits_origin(origin.as_bytes()), "{origin}");
        }
        for origin in [
            "http://convoke.example.org",
            "https://convoke.example.org:8443",
            "https://127.0.0.1:7717",
            "https://evil.example",
            "null",
        ] {
            assert!(!hosts.admits_origin(origin.as_bytes()), "{origin}");
        }
        assert!(hosts.is_secure(b"convoke.example.org") && !hosts.is_secure(b"127.0.0.1:7717"));
    }
}
