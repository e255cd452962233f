//! Rules that an answer to a request can make, the narrowest first. Each of them fits the request itself.

use std::path::Path;

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::matching::{Subject, command_fits, comparable_commands, is_operand, path_fits};
use super::{Effect, Matcher, ResolvedPath, Rule, glob, host, programs};
use crate::evidence::Evidence;

/// The longest words or path of a rule that is offered: people must be able to read it on a button.
const OFFERED_BYTES_MAX: usize = 300;

/// A rule that an answer can make.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
#[schemars(rename = "RuleProposal")]
pub struct Proposal {
    /// What stands after “Always allow” and “Always deny”.
    pub label: String,
    /// What it is about.
    pub matcher: Matcher,
    /// Whether it holds in every project.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub everywhere: bool,
}

impl Proposal {
    fn here(matcher: Matcher, project: &str) -> Self {
        Self { label: matcher.label(Some(project)), matcher, everywhere: false }
    }

    fn everywhere(matcher: Matcher) -> Self {
        Self { label: matcher.label(None), matcher, everywhere: true }
    }
}

/// The rules that an answer to a request can make; `rules` are those that hold already, `project` is the project's name.
pub fn proposals(subject: Subject<'_>, rules: &[Rule], project: &str) -> Vec<Proposal> {
    let Some(evidence) = subject.evidence.filter(|evidence| evidence.is_whole()) else {
        return Vec::new();
    };
    let (matchers, wide) = match evidence {
        Evidence::Command { .. } => of_command(subject, rules),
        Evidence::Changes { .. } => (of_paths(subject.paths, |glob| Matcher::Edit { glob }), None),
        Evidence::Read { .. } => (of_paths(subject.paths, |glob| Matcher::Read { glob }), None),
        Evidence::Fetch { url, .. } => {
            let matcher = host::of_url(url).map(|domain| Matcher::Fetch { domain });
            (Vec::from_iter(matcher.clone()), matcher)
        }
        // A tool without a server may be anything; people can still write a rule for it.
        Evidence::Tool { server: None, .. } => (Vec::new(), None),
        Evidence::Tool { server, tool, .. } => {
            let matcher = Matcher::Tool { server: server.clone(), tool: tool.clone() };
            (vec![matcher.clone()], Some(matcher))
        }
    };
    let here = matchers.into_iter().map(|matcher| Proposal::here(matcher, project));
    here.chain(wide.map(Proposal::everywhere)).collect()
}

/// For a command, or for the only one in a list that no rule allows yet: its exact words, its first words, these everywhere.
fn of_command(subject: Subject<'_>, rules: &[Rule]) -> (Vec<Matcher>, Option<Matcher>) {
    let none = (Vec::new(), None);
    let Some(mut commands) = comparable_commands(subject) else { return none };
    if commands.len() > 1 {
        let allowing = || rules.iter().filter(|rule| rule.effect == Effect::Allow);
        commands.retain(|words| !allowing().any(|rule| command_fits(&rule.matcher, words)));
        commands.dedup();
    }
    let [words] = commands.as_slice() else { return none };
    if words.iter().map(String::len).sum::<usize>() > OFFERED_BYTES_MAX {
        return none;
    }
    let exact = Matcher::Command { words: words.clone(), more: false };
    match beginning(words) {
        Some(words) => {
            let wider = Matcher::Command { words, more: true };
            (vec![exact, wider.clone()], Some(wider))
        }
        None => (vec![exact], None),
    }
}

/// The words that a rule with `…` must name: the program, its command, and everything up to the last option.
fn beginning(words: &[String]) -> Option<Vec<String>> {
    let is_name = |word: &&String| {
        let is_fit =
            |byte: u8| byte.is_ascii_lowercase() || byte.is_ascii_digit() || b"-_:".contains(&byte);
        word.starts_with(|first: char| first.is_ascii_lowercase()) && word.bytes().all(is_fit)
    };
    let named = 1 + usize::from(words.get(1).filter(is_name).is_some());
    let fixed =
        words.iter().rposition(|word| !is_operand(word)).map_or(named, |last| named.max(last + 1));
    // `npm run` alone runs anything; `npm run build` does not.
    let lengths = fixed..=words.len().min(fixed + 1);
    let mut beginnings = lengths.filter_map(|length| words.get(..length));
    let beginning = beginnings.find(|beginning| programs::fault_of_more(beginning).is_none())?;
    Some(beginning.to_vec())
}

/// For a file its path, its folder, and all of the project; for several files what they have in common.
fn of_paths(paths: &[Option<ResolvedPath>], matcher: impl Fn(String) -> Matcher) -> Vec<Matcher> {
    let Some(paths) = paths.iter().map(Option::as_ref).collect::<Option<Vec<_>>>() else {
        return Vec::new();
    };
    let Some((first, others)) = paths.split_first() else { return Vec::new() };
    // In a rule, these characters would match other names, too.
    if paths.iter().any(|path| path.real.to_string_lossy().contains(['*', '?'])) {
        return Vec::new();
    }
    let inside: Option<Vec<&Path>> = paths.iter().map(|path| path.inside.as_deref()).collect();
    let mut globs = Vec::new();
    let is_one = others.iter().all(|other| other.real == first.real);
    match inside.as_deref() {
        Some(inside) => {
            if is_one {
                globs.extend(inside.first().and_then(|path| path.to_str()).map(str::to_owned));
            }
            let folder =
                common_folder(inside).and_then(Path::to_str).filter(|folder| !folder.is_empty());
            globs.extend(folder.map(|folder| format!("{folder}/**")));
            globs.push("**".to_owned());
        }
        None if is_one => globs.extend(first.real.to_str().map(str::to_owned)),
        None => {}
    }
    let fits = |glob: &String| {
        glob.len() <= OFFERED_BYTES_MAX
            && glob::fault(glob).is_none()
            && paths.iter().all(|path| path_fits(glob, path))
    };
    globs.into_iter().filter(fits).map(matcher).collect()
}

fn common_folder<'a>(paths: &[&'a Path]) -> Option<&'a Path> {
    let (first, others) = paths.split_first()?;
    let mut folders = first.ancestors().skip(1);
    folders.find(|folder| others.iter().all(|other| other.starts_with(folder)))
}
