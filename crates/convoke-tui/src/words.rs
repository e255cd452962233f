//! Phrases that several pages share.

use convoke_core::content::{Cost, Usage};
use convoke_core::time::{Timestamp, relative};

use crate::sheet::{Asker, OpenRequest};
use crate::text::{clean, wrap};

/// Money, in its currency.
pub(crate) fn cost(cost: &Cost) -> String {
    format!("{:.2} {}", cost.amount, clean::line(&cost.currency))
}

/// A span of time, from milliseconds.
pub(crate) fn took(millis: u64) -> String {
    let seconds = millis / 1000;
    match seconds {
        0..60 => format!("{seconds}.{} s", millis % 1000 / 100),
        60..3600 => format!("{}m {:02}s", seconds / 60, seconds % 60),
        _ => format!("{}h {:02}m", seconds / 3600, seconds % 3600 / 60),
    }
}

/// The used part of the context, and the cost of the conversation.
pub(crate) fn usage(usage: &Usage) -> String {
    let mut parts = Vec::new();
    if let (Some(used), Some(size)) = (usage.context_used, usage.context_size)
        && size > 0
    {
        parts.push(format!("{}% of context", used * 100 / size));
    }
    let tokens = usage.input_tokens.unwrap_or_default() + usage.output_tokens.unwrap_or_default();
    if tokens > 0 {
        parts.push(format!("{} tokens", short(tokens)));
    }
    parts.extend(usage.cost.as_ref().map(cost));
    parts.join(" · ")
}

/// A number in a few letters.
pub(crate) fn short(number: u64) -> String {
    match number {
        0..1000 => number.to_string(),
        1000..1_000_000 => format!("{}k", number / 1000),
        _ => format!("{}.{}M", number / 1_000_000, number % 1_000_000 / 100_000),
    }
}

/// Who asks.
pub(crate) fn asker(asked: &OpenRequest) -> String {
    let name = asked.asked_by.as_deref().map(str::trim).filter(|name| !name.is_empty());
    clean::line(name.unwrap_or("someone"))
}

/// A folder, with the user's own one as `~`.
pub(crate) fn folder(user_folder: Option<&str>, path: &str) -> String {
    let inside = user_folder.and_then(|home| path.strip_prefix(home));
    let short = match inside {
        Some(rest) if rest.is_empty() || rest.starts_with('/') => format!("~{rest}"),
        Some(_) | None => path.to_owned(),
    };
    clean::line(&short)
}

/// How long ago something was.
pub(crate) fn ago(then: Timestamp, now: Timestamp) -> String {
    match relative(then, now).as_str() {
        "now" => "just now".to_owned(),
        age => format!("{age} ago"),
    }
}

/// The asker, its folder and the age, in at most this many cells.
pub(crate) fn origin(
    asked: &OpenRequest,
    user_folder: Option<&str>,
    now: Timestamp,
    max: usize,
) -> String {
    let age = ago(asked.created_at, now);
    let asker = wrap::shorten(&asker(asked), max / 2);
    let left = max.saturating_sub(wrap::width(&asker) + wrap::width(&age) + 6);
    match asked.working_directory.as_deref().filter(|path| !path.is_empty()) {
        // The end of a path is more useful than its beginning.
        Some(path) if left >= FOLDER_MIN => {
            let path = tail(&folder(user_folder, path), left);
            format!("{asker} · {path} · {age}")
        }
        Some(_) | None => wrap::shorten(&format!("{asker} · {age}"), max),
    }
}

/// The end of a path that fits, cut between folders if it must be cut.
pub(crate) fn tail(path: &str, max: usize) -> String {
    let short = wrap::shorten_start(path, max);
    match short.strip_prefix('…').and_then(|cut| cut.find('/').and_then(|at| cut.get(at..))) {
        Some(whole) => format!("…{whole}"),
        None => short,
    }
}

/// Minimum cells for a useful part of a path.
const FOLDER_MIN: usize = 6;

/// The consequence if the asker no longer waits.
pub(crate) fn left(asker: Asker) -> Option<&'static str> {
    match asker {
        Asker::Waits => None,
        Asker::TimedOut => Some("timed out"),
        Asker::Abandoned => Some("abandoned"),
    }
}
