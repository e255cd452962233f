//! Hosts in addresses and in rules, compared as names of the DNS.
//!
//! Only addresses that every parser reads the same way have a host here: no user, no port but the usual one, ASCII only.

/// The longest name of a host.
const NAME_BYTES_MAX: usize = 253;

/// The host of an address in lower case, if it is a name and nothing about the address is ambiguous.
pub(super) fn of_url(url: &str) -> Option<String> {
    let is_plain = |byte: u8| matches!(byte, b'!'..=b'~') && byte != b'\\';
    if !url.bytes().all(is_plain) {
        return None;
    }
    let (scheme, rest) = url.split_once("://")?;
    let port = match scheme.to_ascii_lowercase().as_str() {
        "https" => "443",
        "http" => "80",
        _ => return None,
    };
    let authority = rest.split(['/', '?', '#']).next()?;
    let host = match authority.split_once(':') {
        Some((host, given)) if given == port => host,
        Some(_) => return None,
        None => authority,
    };
    let host = host.to_ascii_lowercase();
    fault(&host).is_none().then_some(host)
}

/// Why a text is no domain, or `None` if it is one: letters, digits and hyphens, with a dot, and no address of numbers.
pub(super) fn fault(domain: &str) -> Option<&'static str> {
    let is_label = |label: &str| {
        let is_fit = |byte: u8| byte.is_ascii_lowercase() || byte.is_ascii_digit() || byte == b'-';
        (1..=63).contains(&label.len())
            && label.bytes().all(is_fit)
            && !label.starts_with('-')
            && !label.ends_with('-')
    };
    if domain.len() > NAME_BYTES_MAX || !domain.split('.').all(is_label) {
        return Some(
            "it must be letters, digits, hyphens and dots (a name in another script in its `xn--` form)",
        );
    }
    let Some((_, last)) = domain.rsplit_once('.') else { return Some("it must have a dot") };
    // Browsers read `0x7f.1` and `127.1` as addresses.
    last.starts_with(|first: char| first.is_ascii_digit())
        .then_some("it must be a name, not an address of numbers")
}

/// Whether a host is the domain or below it.
pub(super) fn is_in(host: &str, domain: &str) -> bool {
    let above = host.strip_suffix(domain);
    above.is_some_and(|above| above.is_empty() || above.ends_with('.'))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn p2_an_address_has_a_host_only_if_every_parser_finds_the_same() {
        for (url, host) in [
            ("https://docs.rs/serde?q=1#x", Some("docs.rs")),
            ("HTTPS://Docs.RS", Some("docs.rs")),
            ("http://docs.rs:80/", Some("docs.rs")),
            ("https://docs.rs:443", Some("docs.rs")),
            ("https://docs.rs?x=@evil.com", Some("docs.rs")),
            ("https://docs.rs:8443/", None),
            ("https://docs.rs:80/", None),
            ("https://docs.rs@evil.com/", None),
            ("https://docs.rs:443@evil.com/", None),
            ("https://docs.rs\\@evil.com/", None),
            ("https://evil.com\\.docs.rs/", None),
            ("https://docs.rs%2eevil.com/", None),
            ("https://docs.rs\t.evil.com/", None),
            ("https://docs.rs /", None),
            ("https:///docs.rs", None),
            ("https:/docs.rs", None),
            ("//docs.rs", None),
            ("docs.rs", None),
            ("ftp://docs.rs", None),
            ("file://docs.rs/etc/passwd", None),
            ("https://d\u{43e}cs.rs/", None),
            ("https://docs.rs./", None),
            ("https://docs..rs/", None),
            ("https://localhost/", None),
            ("https://127.0.0.1/", None),
            ("https://0x7f.1/", None),
            ("https://[::1]/", None),
            ("https://-docs.rs/", None),
        ] {
            assert_eq!(of_url(url).as_deref(), host, "{url}");
        }
        assert!(is_in("docs.rs", "docs.rs") && is_in("a.docs.rs", "docs.rs"));
        assert!(!is_in("evildocs.rs", "docs.rs") && !is_in("docs.rs.evil.com", "docs.rs"));
        assert!(!is_in("rs", "docs.rs"));
    }
}
