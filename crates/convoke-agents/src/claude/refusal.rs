//! Classifies why `claude` exited before it was ready, by its last output.

use convoke_core::process::Exit;

use crate::Error;

/// Messages that mean that a login is needed.
const LOGIN: [&str; 5] = [
    "Please run /login",
    "Not logged in",
    "Invalid API key",
    "OAuth token",
    "authentication_error",
];

/// Translates an exit into an error; `id` is the session that was to be created or resumed.
pub(super) fn sort_out(exit: Exit, id: &str) -> Error {
    let said = exit.stderr_tail.clone().unwrap_or_default();
    // Only a new session can collide with an old one: the agent checks whether its file exists.
    if said.contains("is already in use") {
        return Error::IdTaken { id: id.to_owned() };
    }
    if said.contains("No conversation found") {
        return Error::CannotResume { detail: said };
    }
    if LOGIN.iter().any(|words| said.contains(words)) {
        return Error::AuthRequired { methods: vec!["claude /login".to_owned()], detail: said };
    }
    Error::Exited(exit)
}
