//! The host names under which this daemon may be reached.

use std::net::{IpAddr, Ipv4Addr, Ipv6Addr, SocketAddr};

/// Decides which hosts are this daemon.
pub(super) struct Hosts {
    address: SocketAddr,
}

impl Hosts {
    /// The hosts of a daemon that listens at this address.
    pub(super) const fn new(address: SocketAddr) -> Self {
        Self { address }
    }

    /// Whether the value of a `Host` header names this daemon.
    pub(super) fn admits(&self, host: &[u8]) -> bool {
        let Some((name, port)) = std::str::from_utf8(host).ok().and_then(split) else {
            return false;
        };
        port == self.address.port() && self.is_ours(name)
    }

    /// Whether the value of an `Origin` header is this daemon's page.
    pub(super) fn admits_origin(&self, origin: &[u8]) -> bool {
        origin.strip_prefix(b"http://").is_some_and(|host| self.admits(host))
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

/// The name and the port of an authority; 80 is the port that browsers leave out.
fn split(authority: &str) -> Option<(&str, u16)> {
    let end = match authority.strip_prefix('[') {
        Some(rest) => rest.find(']')? + 2,
        None => authority.find(':').unwrap_or(authority.len()),
    };
    let (name, rest) = authority.split_at_checked(end)?;
    match rest.strip_prefix(':') {
        Some(port) if port.bytes().all(|byte| byte.is_ascii_digit()) => {
            Some((name, port.parse().ok()?))
        }
        None if rest.is_empty() => Some((name, 80)),
        Some(_) | None => None,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn admitted(address: &str, hosts: &[&'static str]) -> Vec<&'static str> {
        let known = Hosts::new(address.parse().unwrap());
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
}
