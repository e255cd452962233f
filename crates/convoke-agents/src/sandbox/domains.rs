//! The hosts that an agent may connect to: the configured list, and addresses that no name may
//! resolve to.
//!
//! Plain values; nothing here resolves a name or opens a connection.

use std::fmt;
use std::net::{IpAddr, Ipv4Addr, Ipv6Addr};
use std::str::FromStr;

use serde::{Deserialize, Serialize};

/// The longest name of a host.
const NAME_BYTES_MAX: usize = 253;
/// The ports of an entry that names none: HTTP and HTTPS.
const DEFAULT_PORTS: [u16; 2] = [80, 443];

/// An entry of `sandbox.domains`: `example.com`, `*.example.com`, `example.com:8443` or `10.0.0.7:5432`.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(try_from = "String", into = "String")]
pub struct Domain {
    hosts: Hosts,
    port: Option<u16>,
}

/// The hosts of an entry.
#[derive(Debug, Clone, PartialEq, Eq)]
enum Hosts {
    /// This one.
    One(Host),
    /// All below a domain, but not the domain itself.
    Below(String),
}

/// A host as a client names it.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub(crate) enum Host {
    /// In lower case, without a dot at its end.
    Name(String),
    Address(IpAddr),
}

/// The target of a connection.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
pub(crate) struct Target {
    pub(crate) host: Host,
    pub(crate) port: u16,
}

/// The status of a target in the list.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum DomainStatus {
    /// It is allowed.
    Listed,
    /// The human may be asked.
    Unlisted,
    /// It is on this machine or in a private network, which must be listed.
    Private,
}

/// A text that is not an entry of the list.
#[derive(Debug, thiserror::Error)]
#[error(
    "`{text}` is not a domain such as example.com, *.example.com, example.com:8443 or 10.0.0.7:5432"
)]
pub struct NotADomain {
    text: String,
}

impl FromStr for Domain {
    type Err = NotADomain;

    fn from_str(text: &str) -> Result<Self, NotADomain> {
        let wrong = || NotADomain { text: text.to_owned() };
        let (host, port) = split_port(text).ok_or_else(wrong)?;
        let hosts = match host.strip_prefix("*.") {
            Some(domain) => match Host::read(domain) {
                Some(Host::Name(domain)) if domain.contains('.') => Hosts::Below(domain),
                Some(Host::Name(_) | Host::Address(_)) | None => return Err(wrong()),
            },
            None => Hosts::One(Host::read(host).ok_or_else(wrong)?),
        };
        Ok(Self { hosts, port })
    }
}

impl TryFrom<String> for Domain {
    type Error = NotADomain;

    fn try_from(text: String) -> Result<Self, NotADomain> {
        text.parse()
    }
}

impl From<Domain> for String {
    fn from(domain: Domain) -> Self {
        domain.to_string()
    }
}

impl fmt::Display for Domain {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match &self.hosts {
            Hosts::One(host) => write!(f, "{host}")?,
            Hosts::Below(domain) => write!(f, "*.{domain}")?,
        }
        self.port.map_or(Ok(()), |port| write!(f, ":{port}"))
    }
}

impl Domain {
    /// Whether the entry includes this target.
    fn covers(&self, target: &Target) -> bool {
        let has_host = match (&self.hosts, &target.host) {
            (Hosts::One(listed), host) => listed == host,
            (Hosts::Below(domain), Host::Name(name)) => {
                name.strip_suffix(domain.as_str()).is_some_and(|rest| rest.ends_with('.'))
            }
            (Hosts::Below(_), Host::Address(_)) => false,
        };
        let has_port = match self.port {
            Some(port) => port == target.port,
            None => DEFAULT_PORTS.contains(&target.port),
        };
        has_host && has_port
    }
}

impl Host {
    /// Reads a name or an address, with or without the brackets of IPv6.
    fn read(text: &str) -> Option<Self> {
        let bare = text.strip_prefix('[').and_then(|rest| rest.strip_suffix(']'));
        if let Some(bare) = bare {
            return bare.parse().ok().map(|address| Self::Address(IpAddr::V6(address)));
        }
        if let Ok(address) = text.parse() {
            return Some(Self::Address(address));
        }
        let name = text.strip_suffix('.').unwrap_or(text).to_ascii_lowercase();
        let is_label = |label: &str| {
            let is_fit = |byte: u8| byte.is_ascii_alphanumeric() || b"-_".contains(&byte);
            !label.is_empty() && label.bytes().all(is_fit)
        };
        // Resolvers interpret names such as `2130706433` and `0x7f.1` as addresses, which people do
        // not recognise.
        let last = name.rsplit('.').next().unwrap_or_default();
        let is_number = last.starts_with("0x") || last.bytes().all(|byte| byte.is_ascii_digit());
        let is_name = name.len() <= NAME_BYTES_MAX && name.split('.').all(is_label) && !is_number;
        is_name.then_some(Self::Name(name))
    }

    /// Whether the name always means this machine.
    fn is_localhost(&self) -> bool {
        match self {
            Self::Name(name) => name == "localhost" || name.ends_with(".localhost"),
            Self::Address(_) => false,
        }
    }
}

impl fmt::Display for Host {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Name(name) => f.write_str(name),
            Self::Address(IpAddr::V4(address)) => write!(f, "{address}"),
            Self::Address(IpAddr::V6(address)) => write!(f, "[{address}]"),
        }
    }
}

impl fmt::Display for Target {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}:{}", self.host, self.port)
    }
}

impl Target {
    /// Reads `host:port`, or `host` where a port is given for that.
    pub(crate) fn read(authority: &str, default_port: Option<u16>) -> Option<Self> {
        let (host, port) = split_port(authority)?;
        Some(Self { host: Host::read(host)?, port: port.or(default_port)? })
    }

    /// The target as a URL; for a port that is neither HTTP's nor HTTPS's, without a known scheme.
    pub(crate) fn url(&self) -> String {
        match self.port {
            443 => format!("https://{}", self.host),
            80 => format!("http://{}", self.host),
            port => format!("tcp://{}:{port}", self.host),
        }
    }

    /// Its status in a list.
    pub(crate) fn status(&self, list: &[Domain]) -> DomainStatus {
        let is_private = match &self.host {
            Host::Name(_) => self.host.is_localhost(),
            Host::Address(address) => !is_public(*address),
        };
        match (list.iter().any(|domain| domain.covers(self)), is_private) {
            (true, _) => DomainStatus::Listed,
            (false, false) => DomainStatus::Unlisted,
            (false, true) => DomainStatus::Private,
        }
    }

    /// Whether a connection to the target may use this address, which its name resolved to.
    ///
    /// An address of this machine or of a private network must be listed itself, since any name can
    /// be made to resolve to it. `localhost` is listed with its addresses.
    pub(crate) fn may_lead_to(&self, address: IpAddr, list: &[Domain]) -> bool {
        let itself = Self { host: Host::Address(address), port: self.port };
        is_public(address)
            || itself.status(list) == DomainStatus::Listed
            || (self.host.is_localhost()
                && address.is_loopback()
                && self.status(list) == DomainStatus::Listed)
    }
}

/// Splits `host`, `host:port` or `[::1]:port`.
fn split_port(text: &str) -> Option<(&str, Option<u16>)> {
    let is_bare_ipv6 = !text.starts_with('[') && text.matches(':').count() > 1;
    let has_port = !is_bare_ipv6 && !text.ends_with(']');
    match text.rsplit_once(':').filter(|_| has_port) {
        Some((host, port)) => {
            let is_number = port.bytes().all(|byte| byte.is_ascii_digit());
            let port = port.parse().ok().filter(|port| is_number && *port != 0)?;
            Some((host, Some(port)))
        }
        None => Some((text, None)),
    }
}

/// Whether an address is certainly on the public internet.
pub(crate) fn is_public(address: IpAddr) -> bool {
    match address {
        IpAddr::V4(address) => is_public_v4(address),
        IpAddr::V6(address) => is_public_v6(address),
    }
}

fn is_public_v4(address: Ipv4Addr) -> bool {
    let is_special = match address.octets() {
        // "This network", and carrier-grade NAT, which includes the metadata server of one cloud.
        [0, ..] | [100, 64..=127, ..] => true,
        // Protocol assignments, the anycast of 6to4, benchmarks.
        [192, 0, 0, _] | [192, 88, 99, _] | [198, 18..=19, ..] => true,
        // Reserved, broadcast.
        [240..=255, ..] => true,
        _ => false,
    };
    !(is_special
        || address.is_private()
        || address.is_loopback()
        || address.is_link_local()
        || address.is_documentation()
        || address.is_multicast())
}

fn is_public_v6(address: Ipv6Addr) -> bool {
    let embedded = |high: u16, low: u16| {
        let [a, b] = high.to_be_bytes();
        let [c, d] = low.to_be_bytes();
        is_public_v4(Ipv4Addr::new(a, b, c, d))
    };
    match address.segments() {
        // IPv4 in IPv6: mapped, translated, tunnelled.
        [0, 0, 0, 0, 0, 0xffff, high, low] | [0x64, 0xff9b, 0, 0, 0, 0, high, low] => {
            embedded(high, low)
        }
        [0x2002, high, low, ..] => embedded(high, low),
        // Teredo and other assignments to protocols, documentation.
        [0x2001, 0..=0x1ff, ..] | [0x2001, 0xdb8, ..] | [0x3fff, 0..=0xfff, ..] => false,
        [first, ..] => (0x2000..0x4000).contains(&first),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn list(entries: &[&str]) -> Vec<Domain> {
        entries.iter().map(|entry| entry.parse().unwrap()).collect()
    }

    fn target(text: &str) -> Target {
        Target::read(text, Some(443)).unwrap_or_else(|| panic!("{text}"))
    }

    #[test]
    fn k9_a_list_covers_names_below_wildcards_and_ports_that_it_names() {
        let list =
            list(&["example.com", "*.Example.org.", "api.test:8443", "10.0.0.7:5432", "[::1]:1"]);
        let status = |text: &str| target(text).status(&list);
        for listed in [
            "example.com",
            "EXAMPLE.com.:80",
            "a.example.org",
            "a.b.example.org:443",
            "api.test:8443",
            "10.0.0.7:5432",
            "[::1]:1",
        ] {
            assert_eq!(status(listed), DomainStatus::Listed, "{listed}");
        }
        for unlisted in [
            "a.example.com",
            "example.org",
            "notexample.org",
            "example.com:22",
            "example.com.evil.test",
            "api.test",
            "93.184.216.34",
        ] {
            assert_eq!(status(unlisted), DomainStatus::Unlisted, "{unlisted}");
        }
        for private in ["10.0.0.7", "10.0.0.8:5432", "[::1]:2", "localhost", "x.localhost:80"] {
            assert_eq!(status(private), DomainStatus::Private, "{private}");
        }
    }

    #[test]
    fn k9_a_name_leads_to_no_private_address_unless_that_is_listed_too() {
        let list = list(&["rebind.test", "corp.test", "10.1.2.3", "localhost:8080"]);
        let may =
            |name: &str, address: &str| target(name).may_lead_to(address.parse().unwrap(), &list);
        assert!(may("rebind.test", "93.184.216.34") && may("rebind.test", "2606:4700::1"));
        assert!(may("corp.test", "10.1.2.3") && !may("corp.test:8080", "10.1.2.3"));
        assert!(may("localhost:8080", "127.0.0.1") && may("localhost:8080", "::1"));
        assert!(!may("localhost:8081", "127.0.0.1") && !may("localhost:8080", "10.0.0.1"));
        for private in [
            "127.0.0.1",
            "127.8.8.8",
            "0.0.0.0",
            "10.0.0.1",
            "172.16.0.1",
            "192.168.1.1",
            "169.254.169.254",
            "100.100.100.200",
            "224.0.0.1",
            "255.255.255.255",
            "::",
            "::1",
            "::ffff:127.0.0.1",
            "64:ff9b::a00:1",
            "2002:7f00:1::",
            "fc00::1",
            "fd00:ec2::254",
            "fe80::1",
            "ff02::1",
        ] {
            assert!(!may("rebind.test", private), "{private}");
        }
    }

    #[test]
    fn texts_that_are_no_domains_are_refused_and_others_are_kept() {
        for text in ["", "*", "*.com", "*.1.2.3.4", "a b", "http://a.test", "a.test:", "a.test:0"] {
            assert!(text.parse::<Domain>().is_err(), "{text}");
        }
        for text in ["a.test", "*.a.test:8443", "10.0.0.7", "[::1]:80", "localhost:3000"] {
            assert_eq!(text.parse::<Domain>().unwrap().to_string(), text);
        }
        assert_eq!("::1".parse::<Domain>().unwrap().to_string(), "[::1]");
        assert_eq!(Target::read("a.test", None), None);
        for odd in ["user@a.test:80", "2130706433:80", "127.1:80", "0x7f.0x1:80", "a..test:80"] {
            assert_eq!(Target::read(odd, None), None, "{odd}");
        }
    }
}
