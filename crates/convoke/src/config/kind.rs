//! Kinds of values: what is accepted, and the field that is set.

use std::fmt;
use std::net::SocketAddr;
use std::ops::RangeInclusive;
use std::path::{Path, PathBuf};
use std::time::Duration;

use convoke_agents::sandbox::{Domain, NotADomain};
use convoke_server::{NotAPublicUrl, PublicUrl};
use convoke_store::location::{Passwords, Server};
use serde_json::json;

use super::mistake::Problem;
use super::tree::{Node, Origin, Text, Value};
use super::{Config, Sources};

/// A kind of value with its default and its field, which the compiler holds together.
pub(super) enum Kind {
    /// A whole number in a range.
    Whole { default: u64, range: RangeInclusive<u64>, field: fn(&mut Config) -> &mut u64 },
    /// Minutes in a range, with fractions.
    Minutes { default: f64, range: RangeInclusive<f64>, field: fn(&mut Config) -> &mut Duration },
    /// `true` or `false`.
    Switch { default: bool, field: fn(&mut Config) -> &mut bool },
    /// An IP address and a port.
    Address { default: &'static str, field: fn(&mut Config) -> &mut SocketAddr },
    /// One of several words.
    Word {
        default: &'static str,
        choices: &'static [&'static str],
        field: fn(&mut Config) -> &mut String,
    },
    /// Several of some words.
    Words {
        default: &'static [&'static str],
        choices: &'static [&'static str],
        field: fn(&mut Config) -> &mut Vec<String>,
    },
    /// Hosts to connect to; none by default.
    Domains { field: fn(&mut Config) -> &mut Vec<Domain> },
    /// Files and folders, absolute or below `~`; none by default.
    Paths { field: fn(&mut Config) -> &mut Vec<PathBuf> },
    /// A program with its arguments; none by default.
    Command { field: fn(&mut Config) -> &mut Vec<String> },
    /// Any text.
    Text { default: &'static str, field: fn(&mut Config) -> &mut String },
    /// The origin of a page; none by default.
    PageUrl { field: fn(&mut Config) -> &mut Option<PublicUrl> },
    /// The URL of a database on a server; none by default. Its password is not shown.
    Database { field: fn(&mut Config) -> &mut String },
    /// How often something is done, such as `24h`; or `off`.
    Interval { default: &'static str, field: fn(&mut Config) -> &mut Option<Duration> },
    /// A folder, absolute or below `~`; by default none, so that the program chooses.
    Folder { field: fn(&mut Config) -> &mut Option<PathBuf> },
    /// A file or folder.
    Path { default: &'static str, base: Base, field: fn(&mut Config) -> &mut PathBuf },
}

/// What a relative path is relative to.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Base {
    /// Convoke's home.
    Home,
    /// Nothing: only an absolute path will do.
    Nothing,
}

/// The kind as text, as in "expected a whole number".
impl fmt::Display for Kind {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::Whole { .. } => "a whole number",
            Self::Minutes { .. } => "a number of minutes",
            Self::Switch { .. } => "true or false",
            Self::Address { .. } => "an IP address and a port",
            Self::Word { .. } => "a word",
            Self::Words { .. } => "a list of words",
            Self::Domains { .. } => "a list of domains",
            Self::Paths { .. } => "a list of absolute paths",
            Self::Command { .. } => "a list with a program and its arguments",
            Self::Text { .. } => "a string",
            Self::PageUrl { .. } => "a URL such as \"https://convoke.example.org\"",
            Self::Database { .. } => "a URL such as \"postgres://user@host/database\"",
            Self::Interval { .. } => "a time such as \"24h\" (s, m, h, d), or \"off\"",
            Self::Folder { .. } => "an absolute path",
            Self::Path { base: Base::Home, .. } => "a path",
            Self::Path { base: Base::Nothing, .. } => "an absolute path",
        })
    }
}

impl Kind {
    /// The default, in the form of a parsed value.
    pub(super) fn default_value(&self) -> Value {
        match self {
            Self::Whole { default, .. } => Value::Whole((*default).try_into().unwrap_or(i64::MAX)),
            Self::Minutes { default, .. } => Value::Fraction(*default),
            Self::Switch { default, .. } => Value::Switch(*default),
            Self::Address { default, .. }
            | Self::Interval { default, .. }
            | Self::Path { default, .. }
            | Self::Text { default, .. }
            | Self::Word { default, .. } => Value::literal(default),
            Self::Folder { .. } | Self::PageUrl { .. } | Self::Database { .. } => {
                Value::literal("")
            }
            Self::Words { default, .. } => {
                let node =
                    |word: &&str| Node { origin: Origin::Default, value: Value::literal(word) };
                Value::List(default.iter().map(node).collect())
            }
            Self::Domains { .. } | Self::Paths { .. } | Self::Command { .. } => {
                Value::List(Vec::new())
            }
        }
    }

    /// The default, as one would write it in the file.
    pub(super) fn default_toml(&self) -> String {
        match self {
            Self::Whole { default, .. } => default.to_string(),
            Self::Minutes { default, .. } => default.to_string(),
            Self::Switch { default, .. } => default.to_string(),
            Self::Address { default, .. }
            | Self::Interval { default, .. }
            | Self::Path { default, .. }
            | Self::Text { default, .. }
            | Self::Word { default, .. } => format!("\"{default}\""),
            Self::Words { default, .. } => json!(default).to_string(),
            Self::Folder { .. } | Self::PageUrl { .. } | Self::Database { .. } => "\"\"".to_owned(),
            Self::Domains { .. } | Self::Paths { .. } | Self::Command { .. } => "[]".to_owned(),
        }
    }

    /// The range as text; empty for kinds without one.
    pub(super) fn range(&self) -> String {
        match self {
            Self::Whole { range, .. } => format!(" from {} to {}", range.start(), range.end()),
            Self::Minutes { range, .. } => format!(" from {} to {}", range.start(), range.end()),
            Self::Word { choices, .. } | Self::Words { choices, .. } => {
                format!(" out of {}", choices.join(", "))
            }
            Self::Switch { .. }
            | Self::Address { .. }
            | Self::Domains { .. }
            | Self::Paths { .. }
            | Self::Command { .. }
            | Self::Text { .. }
            | Self::PageUrl { .. }
            | Self::Database { .. }
            | Self::Interval { .. }
            | Self::Folder { .. }
            | Self::Path { .. } => String::new(),
        }
    }

    /// Parses the text of a variable or flag.
    pub(super) fn read_text(&self, text: &str) -> Value {
        let value = match self {
            Self::Whole { .. } => text.parse().ok().map(Value::Whole),
            Self::Minutes { .. } => text.parse().ok().map(Value::Fraction),
            Self::Switch { .. } => text.parse().ok().map(Value::Switch),
            Self::Address { .. }
            | Self::Path { .. }
            | Self::Folder { .. }
            | Self::Word { .. }
            | Self::Words { .. }
            | Self::Domains { .. }
            | Self::Paths { .. }
            | Self::Command { .. }
            | Self::Text { .. }
            | Self::PageUrl { .. }
            | Self::Database { .. }
            | Self::Interval { .. } => None,
        };
        value.unwrap_or_else(|| Value::literal(text))
    }

    /// Checks a value, sets its field, and returns it in the form in which it is shown.
    pub(super) fn set(
        &self,
        node: &Node,
        sources: &Sources<'_>,
        config: &mut Config,
    ) -> Result<serde_json::Value, Problem> {
        match (self, &node.value) {
            (Self::Whole { range, field, .. }, Value::Whole(found)) => {
                let number = u64::try_from(*found).ok().filter(|number| range.contains(number));
                *field(config) = number.ok_or_else(|| self.refuse(found))?;
                Ok(json!(found))
            }
            (Self::Minutes { range, field, .. }, Value::Whole(_) | Value::Fraction(_)) => {
                let minutes = as_fraction(&node.value);
                if !range.contains(&minutes) {
                    return Err(self.refuse(minutes));
                }
                *field(config) = Duration::from_secs_f64(minutes * 60.0);
                // Half an hour is shown as 30, as people write it, and not as 30.0.
                Ok(if minutes.fract() == 0.0 { json!(minutes as u64) } else { json!(minutes) })
            }
            (Self::Switch { field, .. }, Value::Switch(switch)) => {
                *field(config) = *switch;
                Ok(json!(switch))
            }
            (Self::Address { field, .. }, Value::Text(text)) => {
                let address = text.text.parse::<SocketAddr>();
                let address = address.map_err(|_| self.refuse(format!("`{}`", text.text)))?;
                *field(config) = address;
                Ok(json!(address.to_string()))
            }
            (Self::Word { choices, .. }, Value::Text(text))
                if !choices.contains(&text.text.as_str()) =>
            {
                Err(self.refuse(format!("`{}`", text.text)))
            }
            (Self::Words { choices, field, .. }, Value::List(_)) => {
                let words: Vec<String> = node.texts()?.iter().map(|it| it.text.clone()).collect();
                if let Some(odd) = words.iter().find(|word| !choices.contains(&word.as_str())) {
                    return Err(self.refuse(format!("`{odd}`")));
                }
                field(config).clone_from(&words);
                Ok(json!(words))
            }
            (Self::Domains { field }, Value::List(_)) => set_domains(field(config), node),
            (Self::Paths { field }, Value::List(_)) => {
                let resolved = node.texts()?.into_iter();
                let resolved = resolved.map(|text| resolve(&text.text, Base::Nothing, sources));
                *field(config) = resolved.collect::<Result<_, _>>()?;
                Ok(json!(field(config)))
            }
            (Self::Command { field }, Value::List(_)) => {
                let words: Vec<String> = node.texts()?.iter().map(|it| it.text.clone()).collect();
                if words.first().is_some_and(String::is_empty) {
                    return Err(self.refuse("an empty program name"));
                }
                field(config).clone_from(&words);
                Ok(json!(words))
            }
            (Self::Text { field, .. } | Self::Word { field, .. }, Value::Text(text)) => {
                field(config).clone_from(&text.text);
                Ok(json!(text.text))
            }
            (Self::PageUrl { field }, Value::Text(text)) => set_page_url(field(config), text),
            (Self::Database { field }, Value::Text(text)) => set_database(field(config), text),
            (Self::Interval { field, .. }, Value::Text(text)) => {
                let interval = read_interval(&text.text);
                *field(config) = interval.ok_or_else(|| self.refuse(format!("`{}`", text.text)))?;
                Ok(json!(text.text))
            }
            (Self::Folder { field }, Value::Text(text)) => {
                let path = match text.text.as_str() {
                    "" => None,
                    given => Some(resolve(given, Base::Nothing, sources)?),
                };
                let shown = json!(path.as_deref().unwrap_or(Path::new("")).to_string_lossy());
                *field(config) = path;
                Ok(shown)
            }
            (Self::Path { base, field, .. }, Value::Text(text)) => {
                let path = resolve(&text.text, *base, sources)?;
                let shown = json!(path.to_string_lossy());
                *field(config) = path;
                Ok(shown)
            }
            _ => Err(Problem::wrong_type(&self.to_string(), node)),
        }
    }

    /// The right type, but not a value that will do.
    fn refuse(&self, found: impl fmt::Display) -> Problem {
        Problem::new(format!("expected {self}{}, found {found}", self.range()))
    }
}

/// A whole number of seconds, minutes, hours or days, at least a second and at most a year; `off` is none.
fn read_interval(text: &str) -> Option<Option<Duration>> {
    const YEAR: u64 = 365 * 24 * 60 * 60;
    if text == "off" {
        return Some(None);
    }
    let (number, factor) = [("s", 1), ("m", 60), ("h", 60 * 60), ("d", 24 * 60 * 60)]
        .into_iter()
        .find_map(|(unit, factor)| Some((text.strip_suffix(unit)?, factor)))?;
    let seconds = number.parse::<u64>().ok()?.checked_mul(factor)?;
    (1..=YEAR).contains(&seconds).then(|| Some(Duration::from_secs(seconds)))
}

/// Reads a list of hosts.
pub(super) fn set_domains(
    domains: &mut Vec<Domain>,
    node: &Node,
) -> Result<serde_json::Value, Problem> {
    let read = |text: &Text| {
        text.text.parse().map_err(|error: NotADomain| Problem::new(error.to_string()))
    };
    *domains = node.texts()?.into_iter().map(read).collect::<Result<_, _>>()?;
    Ok(json!(domains))
}

fn set_page_url(field: &mut Option<PublicUrl>, text: &Text) -> Result<serde_json::Value, Problem> {
    let refuse = |error: NotAPublicUrl| Problem::new(format!("{error}, found `{}`", text.text));
    *field = match text.text.as_str() {
        "" => None,
        url => Some(url.parse().map_err(refuse)?),
    };
    Ok(json!(text.text))
}

fn set_database(field: &mut String, text: &Text) -> Result<serde_json::Value, Problem> {
    let url = text.text.as_str();
    if !url.is_empty() {
        let parsed = Server::parse(url, &Passwords::default());
        parsed.map_err(|error| Problem::new(error.to_string()))?;
    }
    url.clone_into(field);
    Ok(json!(without_password(url)))
}

/// A URL with its password masked.
fn without_password(url: &str) -> String {
    let (address, query) = url.split_once('?').unwrap_or((url, ""));
    let mut shown = match address.split_once("://").zip(address.rsplit_once('@')) {
        Some(((scheme, _), (named, host))) if named.len() > scheme.len() => {
            let user = named.split_once("://").map_or("", |(_, user)| user);
            match user.split_once(':') {
                Some((user, _)) => format!("{scheme}://{user}:***@{host}"),
                None => address.to_owned(),
            }
        }
        Some(_) | None => address.to_owned(),
    };
    let parameters = query.split('&').filter(|parameter| !parameter.is_empty());
    for (at, parameter) in parameters.enumerate() {
        shown.push(if at == 0 { '?' } else { '&' });
        shown.push_str(if parameter.starts_with("password=") { "password=***" } else { parameter });
    }
    shown
}

fn as_fraction(value: &Value) -> f64 {
    match value {
        Value::Whole(number) => *number as f64,
        Value::Fraction(number) => *number,
        Value::Switch(_)
        | Value::Text(_)
        | Value::Moment
        | Value::List(_)
        | Value::Table(_)
        | Value::Broken => f64::NAN,
    }
}

/// Parses a path: `~` is the user's home, and relative paths are relative to `base`.
pub(super) fn resolve(text: &str, base: Base, sources: &Sources<'_>) -> Result<PathBuf, Problem> {
    if text.is_empty() {
        return Err(Problem::new("expected a path, found an empty string"));
    }
    let Some(path) = sources.environment.expand_tilde(Path::new(text)) else {
        return Err(Problem::new(format!(
            "cannot expand `{text}`: HOME is not set to an absolute path"
        ))
        .hint("set HOME, or write an absolute path"));
    };
    // Otherwise `~bob/x` would quietly become a folder of that name.
    if path.to_string_lossy().starts_with('~') {
        return Err(Problem::new(format!("cannot expand `{text}`"))
            .hint("only `~` and `~/` are expanded; write an absolute path"));
    }
    match base {
        Base::Home => Ok(sources.home.join(path)),
        Base::Nothing if path.is_absolute() => Ok(path),
        Base::Nothing => Err(Problem::new(format!("expected an absolute path, found `{text}`"))),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn k8_an_interval_is_a_number_with_a_unit_or_off() {
        let seconds = |text| read_interval(text).map(|it| it.map(|it| it.as_secs()));
        assert_eq!(
            ["1s", "90m", "24h", "7d"].map(seconds),
            [1, 5400, 86_400, 604_800].map(|s| Some(Some(s)))
        );
        assert_eq!(seconds("off"), Some(None));
        for wrong in ["", "0s", "24", "h", "-1h", "1.5h", "400d", "1 h", "never"] {
            assert_eq!(seconds(wrong), None, "{wrong}");
        }
    }
}
