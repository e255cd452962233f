//! `${VAR}` and `${VAR:-default}` in texts, and `$${` for a literal `${`.

use super::mistake::Problem;
use super::tree::{Made, Text};
use crate::environment::Environment;

/// Replaces every reference in `source`; a bare `$` or `$VAR` stays as it is.
pub(super) fn expand(source: &str, environment: &Environment) -> Result<Text, Problem> {
    let mut text = String::new();
    let mut made = Made::Literally;
    let mut rest = source;
    while let Some((before, after)) = rest.split_once("${") {
        if let Some(before) = before.strip_suffix('$') {
            text.push_str(before);
            text.push_str("${");
            rest = after;
            continue;
        }
        let Some((reference, after)) = after.split_once('}') else {
            return Err(unfinished());
        };
        text.push_str(before);
        text.push_str(&resolve(reference, environment)?);
        made = Made::FromVariables;
        rest = after;
    }
    text.push_str(rest);
    Ok(Text { text, made })
}

/// The value of `NAME` or `NAME:-default`. As in a shell, the default is also used for an empty
/// variable.
fn resolve(reference: &str, environment: &Environment) -> Result<String, Problem> {
    let (name, default) = match reference.split_once(":-") {
        Some((name, default)) => (name, Some(default)),
        None => (reference, None),
    };
    if !is_name(name) {
        let text = format!("`${{{reference}}}` does not name an environment variable");
        return Err(Problem::new(text)
            .hint("write `${NAME}` or `${NAME:-default}`; `$${` is a literal `${`"));
    }
    if default.is_some_and(|default| default.contains("${")) {
        let text = format!("the default of `${{{name}:-…}}` refers to another variable");
        return Err(Problem::new(text).hint("references cannot be nested; write the default out"));
    }
    let value = match environment.get(name) {
        None => None,
        Some(value) => Some(value.to_str().ok_or_else(|| not_text(name))?),
    };
    match (value, default) {
        (Some(value), None) => Ok(value.to_owned()),
        (Some(value), Some(_)) if !value.is_empty() => Ok(value.to_owned()),
        (_, Some(default)) => Ok(default.to_owned()),
        (None, None) => Err(unset(name)),
    }
}

fn is_name(name: &str) -> bool {
    let letter = |c: char| c == '_' || c.is_ascii_alphabetic();
    name.starts_with(letter) && name.chars().all(|c| letter(c) || c.is_ascii_digit())
}

fn unfinished() -> Problem {
    Problem::new("`${` without its `}`").hint("close it, or write `$${` for a literal `${`")
}

fn unset(name: &str) -> Problem {
    Problem::new(format!("the environment variable {name} is not set"))
        .hint(format!("set it, or give a default: `${{{name}:-…}}`"))
}

fn not_text(name: &str) -> Problem {
    Problem::new(format!("the environment variable {name} is not valid UTF-8"))
        .hint(format!("set {name} to valid UTF-8"))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn expanded(source: &str) -> String {
        let environment = Environment::from_iter([("USER", "ann"), ("EMPTY", ""), ("A1_b", "ü$")]);
        match expand(source, &environment) {
            Ok(Text { text, made: Made::Literally }) => text,
            Ok(Text { text, made: Made::FromVariables }) => format!("made: {text}"),
            Err(problem) => format!("error: {}", problem.text),
        }
    }

    #[test]
    fn references_are_replaced_and_everything_else_is_left_alone() {
        let cases = [
            ("", ""),
            ("plain $USER $ {USER} }", "plain $USER $ {USER} }"),
            ("${USER}", "made: ann"),
            ("a${USER}b${A1_b}c", "made: aannbü$c"),
            ("${EMPTY}", "made: "),
            ("${EMPTY:-x}", "made: x"),
            ("${NONE:-}", "made: "),
            ("${NONE:-a:-b $c}", "made: a:-b $c"),
            ("${USER:-x}", "made: ann"),
            ("$${USER}", "${USER}"),
            ("$${USER} ${USER}", "made: ${USER} ann"),
            ("$$${USER}", "$${USER}"),
        ];
        for (source, expected) in cases {
            assert_eq!(expanded(source), expected, "{source}");
        }
    }

    #[test]
    fn a_broken_reference_is_an_error() {
        let cases = [
            ("${NONE}", "error: the environment variable NONE is not set"),
            ("a ${USER", "error: `${` without its `}`"),
            ("${}", "error: `${}` does not name an environment variable"),
            ("${:-x}", "error: `${:-x}` does not name an environment variable"),
            ("${1A}", "error: `${1A}` does not name an environment variable"),
            ("${A-B}", "error: `${A-B}` does not name an environment variable"),
            ("${A:-${B}}", "error: the default of `${A:-…}` refers to another variable"),
        ];
        for (source, expected) in cases {
            assert_eq!(expanded(source), expected, "{source}");
        }
    }
}
