//! Compares requests with rules.
//!
//! An allowance must match the whole request, and nothing of it may be left out; a denial is enough
//! if it matches any part. A request that only may match a denial is put to the human.

use std::path::{Path, PathBuf};

use serde_json::Value;

use super::{Effect, Matcher, Rule, glob, host, programs, shell};
use crate::evidence::Evidence;

/// Generic names and kinds of tools. Each covers many different operations, so no rule allows one
/// by its name.
const SORTS: [&str; 34] = [
    "bash",
    "computer",
    "create_file",
    "delete",
    "edit",
    "edit_file",
    "exec",
    "exec_command",
    "execute",
    "fetch",
    "move",
    "multiedit",
    "notebookedit",
    "other",
    "permissions",
    "python",
    "read",
    "read_file",
    "replace",
    "run",
    "run_command",
    "run_shell_command",
    "run_terminal_cmd",
    "search",
    "shell",
    "str_replace_editor",
    "switch_mode",
    "task",
    "terminal",
    "think",
    "web_fetch",
    "webfetch",
    "write",
    "write_file",
];
/// Arguments that say what is run.
const RUN_FIELDS: [&str; 5] = ["cmd", "code", "command", "commands", "script"];

/// Whether a tool's name is generic.
pub(super) fn is_sort(tool: &str) -> bool {
    SORTS.contains(&tool.to_ascii_lowercase().as_str())
}

/// A path of a request as the file system has it: links followed, `..` resolved.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ResolvedPath {
    /// The whole path.
    pub real: PathBuf,
    /// The path within the project's folder, empty for the folder itself; absent outside of it.
    pub inside: Option<PathBuf>,
    /// Whether programs outside of the sandbox obey such a file, so that no rule allows it.
    pub is_protected: bool,
}

/// What a request is about.
#[derive(Debug, Clone, Copy)]
pub struct Subject<'a> {
    /// What the agent wants to do; `None` if its arguments have no known shape.
    pub evidence: Option<&'a Evidence>,
    /// The paths of the evidence, in its order; `None` for one that cannot be resolved.
    pub paths: &'a [Option<ResolvedPath>],
}

/// What rules say about a request.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Ruling<'a> {
    /// It is allowed, by these rules together.
    Allowed(Vec<&'a Rule>),
    /// It is denied by this rule.
    Denied(&'a Rule),
    /// It may be what this rule denies: the human is asked, whatever else allows it.
    Doubtful(&'a Rule),
    /// The rules say nothing about it.
    Silent,
}

/// How sure a denial is.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Fit {
    Sure,
    Possible,
    None,
}

/// What rules say about a request. The rules are those that hold for its agent and project.
pub fn decide<'a>(rules: &'a [Rule], subject: Subject<'_>) -> Ruling<'a> {
    let mut doubtful = None;
    for rule in rules.iter().filter(|rule| rule.effect == Effect::Deny) {
        match denial(&rule.matcher, subject) {
            Fit::Sure => return Ruling::Denied(rule),
            Fit::Possible => doubtful = doubtful.or(Some(rule)),
            Fit::None => {}
        }
    }
    if let Some(rule) = doubtful {
        return Ruling::Doubtful(rule);
    }
    let allowing: Vec<&Rule> = rules.iter().filter(|rule| rule.effect == Effect::Allow).collect();
    allowance(&allowing, subject).map_or(Ruling::Silent, Ruling::Allowed)
}

/// The rules that allow all of a request, each once.
fn allowance<'a>(rules: &[&'a Rule], subject: Subject<'_>) -> Option<Vec<&'a Rule>> {
    let evidence = subject.evidence.filter(|evidence| evidence.is_whole())?;
    let first =
        |fits: &dyn Fn(&Matcher) -> bool| rules.iter().copied().find(|rule| fits(&rule.matcher));
    let found: Option<Vec<&Rule>> = match evidence {
        Evidence::Command { .. } => {
            let commands = comparable_commands(subject)?;
            commands.iter().map(|words| first(&|matcher| command_fits(matcher, words))).collect()
        }
        Evidence::Changes { .. } | Evidence::Read { .. } if subject.paths.is_empty() => None,
        Evidence::Changes { .. } => {
            let fits = |matcher: &Matcher, path: &ResolvedPath| matches!(matcher, Matcher::Edit { glob } if path_fits(glob, path));
            let paths = subject.paths.iter();
            paths
                .map(|path| first(&|matcher| path.as_ref().is_some_and(|path| fits(matcher, path))))
                .collect()
        }
        Evidence::Read { .. } => {
            let fits = |matcher: &Matcher, path: &ResolvedPath| matches!(matcher, Matcher::Read { glob } if path_fits(glob, path));
            let paths = subject.paths.iter();
            paths
                .map(|path| first(&|matcher| path.as_ref().is_some_and(|path| fits(matcher, path))))
                .collect()
        }
        Evidence::Fetch { url, .. } => {
            let host = host::of_url(url)?;
            let fits = |matcher: &Matcher| matches!(matcher, Matcher::Fetch { domain } if host::is_in(&host, domain));
            Some(vec![first(&fits)?])
        }
        Evidence::Tool { server, tool, args, .. } => {
            let runs = RUN_FIELDS.iter().any(|field| args.get(field).is_some());
            if server.is_none() && (is_sort(tool) || runs) {
                return None;
            }
            Some(vec![first(&|matcher| names_tool(matcher, server.as_deref(), tool))?])
        }
    };
    let mut used: Vec<&Rule> = Vec::new();
    for rule in found? {
        if !used.iter().any(|known| known.id == rule.id) {
            used.push(rule);
        }
    }
    Some(used)
}

/// The simple commands of a request that rules can be compared with.
pub(super) fn comparable_commands(subject: Subject<'_>) -> Option<Vec<Vec<String>>> {
    let Some(Evidence::Command { command, arguments: None, omitted_bytes: 0, .. }) =
        subject.evidence
    else {
        return None;
    };
    // The same words do something else in another folder.
    let is_project = |path: &Option<ResolvedPath>| {
        let inside = path.as_ref().and_then(|path| path.inside.as_deref());
        inside.is_some_and(|inside| inside.as_os_str().is_empty())
    };
    subject.paths.iter().all(is_project).then(|| shell::parse(command))?
}

/// Whether a rule allows a simple command.
pub(super) fn command_fits(matcher: &Matcher, command: &[String]) -> bool {
    let Matcher::Command { words, more } = matcher else { return false };
    let Some(further) = command.strip_prefix(words.as_slice()) else { return false };
    if words.is_empty() {
        return false;
    }
    match further {
        [] => true,
        further => {
            *more
                && programs::fault_of_more(words).is_none()
                && further.iter().all(|word| is_operand(word))
        }
    }
}

/// Whether a word may be matched by `…`: neither an option, nor a setting such as `SHELL=…` of
/// `make`.
pub(super) fn is_operand(word: &str) -> bool {
    !word.starts_with(['-', '+']) && !word.contains('=')
}

/// Whether a pattern of an allowance fits a path.
pub(super) fn path_fits(glob: &str, path: &ResolvedPath) -> bool {
    !path.is_protected && pattern_fits(glob, path)
}

fn pattern_fits(glob: &str, path: &ResolvedPath) -> bool {
    let path =
        if glob.starts_with('/') { Some(path.real.as_path()) } else { path.inside.as_deref() };
    path.and_then(Path::to_str).is_some_and(|path| glob::matches(glob, path))
}

fn names_tool(matcher: &Matcher, server: Option<&str>, tool: &str) -> bool {
    matches!(matcher, Matcher::Tool { server: own, tool: name } if own.as_deref() == server && name == tool)
}

/// Whether a rule denies a request, or may.
fn denial(matcher: &Matcher, subject: Subject<'_>) -> Fit {
    let Some(evidence) = subject.evidence else { return Fit::Possible };
    let fit = match (matcher, evidence) {
        (Matcher::Command { words, .. }, Evidence::Command { command, .. }) => {
            command_denied(words, command)
        }
        (Matcher::Edit { glob }, Evidence::Changes { .. })
        | (Matcher::Read { glob }, Evidence::Read { .. }) => {
            paths_denied(glob, evidence, subject.paths)
        }
        (Matcher::Fetch { domain }, Evidence::Fetch { url, .. }) => match host::of_url(url) {
            Some(host) if host::is_in(&host, domain) => Fit::Sure,
            Some(_) => Fit::None,
            None => Fit::Possible,
        },
        (Matcher::Tool { .. }, Evidence::Tool { server, tool, .. }) => {
            if names_tool(matcher, server.as_deref(), tool) { Fit::Sure } else { Fit::None }
        }
        // The effect of such a tool is unknown, but its arguments may show it.
        (
            Matcher::Command { .. }
            | Matcher::Edit { .. }
            | Matcher::Read { .. }
            | Matcher::Fetch { .. },
            Evidence::Tool { args, .. },
        ) => possible(strings(args).iter().any(|text| mentions(matcher, text))),
        (
            Matcher::Command { .. }
            | Matcher::Edit { .. }
            | Matcher::Read { .. }
            | Matcher::Fetch { .. }
            | Matcher::Tool { .. },
            Evidence::Command { .. }
            | Evidence::Changes { .. }
            | Evidence::Read { .. }
            | Evidence::Fetch { .. },
        ) => return Fit::None,
    };
    match fit {
        // What is left out may be what is denied.
        Fit::None if !evidence.is_whole() => Fit::Possible,
        Fit::Sure | Fit::Possible | Fit::None => fit,
    }
}

const fn possible(is_possible: bool) -> Fit {
    if is_possible { Fit::Possible } else { Fit::None }
}

fn command_denied(words: &[String], command: &str) -> Fit {
    let (segments, parsed) = (shell::segments(command), shell::parse(command));
    // A crude reading splits quoted words; where the strict one fits, it is the better one.
    let mut commands = segments.iter().chain(parsed.iter().flatten());
    if commands.any(|command| runs(command, words)) {
        return Fit::Sure;
    }
    let is_opaque =
        |command: &Vec<String>| command.first().is_none_or(|program| programs::is_opaque(program));
    let is_clear = parsed.is_some_and(|commands| !commands.iter().any(is_opaque));
    possible(!is_clear || segments.iter().any(|segment| occurs(segment, words)))
}

/// Whether a command, or what it runs behind assignments and wrappers, begins with denied words.
fn runs(segment: &[String], words: &[String]) -> bool {
    let mut rest = segment;
    let mut is_wrapped = false;
    while let Some((word, later)) = rest.split_first() {
        if begins(rest, words) {
            return true;
        }
        let is_runner = shell::is_reserved(word) || programs::is_opaque(word);
        let is_option = is_wrapped && word.starts_with('-');
        if !(is_runner || is_option || word.contains('=')) {
            return false;
        }
        is_wrapped |= is_runner;
        rest = later;
    }
    false
}

/// Whether a command begins with denied words, in whatever folder its program is.
fn begins(command: &[String], words: &[String]) -> bool {
    let (Some((program, arguments)), Some((denied, further))) =
        (command.split_first(), words.split_first())
    else {
        return false;
    };
    is_program(program, denied) && arguments.starts_with(further)
}

fn is_program(program: &str, denied: &str) -> bool {
    program == denied || program.rsplit('/').next() == Some(denied)
}

/// Whether the denied words occur anywhere in a command in their order.
fn occurs(segment: &[String], words: &[String]) -> bool {
    let mut rest = segment.iter();
    !words.is_empty() && words.iter().all(|wanted| rest.any(|word| is_program(word, wanted)))
}

fn paths_denied(glob: &str, evidence: &Evidence, paths: &[Option<ResolvedPath>]) -> Fit {
    if paths.iter().flatten().any(|path| pattern_fits(glob, path)) {
        return Fit::Sure;
    }
    let named = evidence.paths();
    if named.iter().any(|path| glob::matches(glob, path.trim_start_matches("./"))) {
        return Fit::Sure;
    }
    possible(paths.len() < named.len() || paths.iter().any(Option::is_none))
}

/// All texts in arguments.
fn strings(value: &Value) -> Vec<&str> {
    match value {
        Value::String(text) => vec![text],
        Value::Array(items) => items.iter().flat_map(strings).collect(),
        Value::Object(fields) => fields.values().flat_map(strings).collect(),
        Value::Null | Value::Bool(_) | Value::Number(_) => Vec::new(),
    }
}

/// Whether an argument could be about what a rule denies.
fn mentions(matcher: &Matcher, text: &str) -> bool {
    match matcher {
        Matcher::Command { words, .. } => {
            shell::segments(text).iter().any(|segment| occurs(segment, words))
        }
        Matcher::Edit { glob } | Matcher::Read { glob } => {
            // The end of an absolute path may be a path in the project.
            let parts: Vec<&str> = text.trim_start_matches("./").split('/').collect();
            let ends = (0..parts.len()).filter_map(|start| parts.get(start..));
            glob::matches(glob, text)
                || ends.take(64).any(|end| glob::matches(glob, &end.join("/")))
        }
        Matcher::Fetch { domain } => text.to_ascii_lowercase().contains(domain.as_str()),
        Matcher::Tool { .. } => false,
    }
}
