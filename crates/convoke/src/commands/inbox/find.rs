//! Which request is meant, and which of its options.

use std::num::NonZeroUsize;

use convoke_api::bodies::{Answer, Inbox, InboxItem};
use convoke_api::entry::Permission;
use convoke_core::id::short;
use convoke_core::request::{PermissionKind, PermissionOption};

/// The shortest prefix of an id.
const PREFIX_MIN: usize = 4;

/// Why a request cannot be answered as it was meant.
#[derive(Debug, thiserror::Error)]
pub(crate) enum InboxError {
    /// It is too short.
    #[error("{text} is too short for a prefix of an id")]
    Short {
        /// What was given.
        text: String,
    },
    /// Nothing with such an id waits.
    #[error("no request in the inbox has an id that starts with {text}")]
    Unknown {
        /// What was given.
        text: String,
    },
    /// The prefix matches several ids.
    #[error("{text} matches several ids: {}", candidates.join(", "))]
    Ambiguous {
        /// What was given.
        text: String,
        /// All of them.
        candidates: Vec<String>,
    },
    /// It is a set of questions.
    #[error("{id} asks questions, not for permission")]
    Questions {
        /// The beginning of its id.
        id: String,
    },
    /// The agent offers no such option.
    #[error("{id} has no option `{option}`; its options are {}", offered.join(", "))]
    NoOption {
        /// The beginning of its id.
        id: String,
        /// What was asked for.
        option: String,
        /// What there is.
        offered: Vec<String>,
    },
    /// The agent offers no option to allow it.
    #[error("{id} has no option that allows it; its options are {}", offered.join(", "))]
    NoWayToAllow {
        /// The beginning of its id.
        id: String,
        /// What there is.
        offered: Vec<String>,
    },
    /// No rule can be made of it.
    #[error(
        "{id} offers no rules, because Convoke cannot tell what later requests would be the same"
    )]
    OnlyOnce {
        /// The beginning of its id.
        id: String,
    },
    /// It offers no rule with this number.
    #[error("{id} offers no rule {number}; it offers 1 to {offered}")]
    NoRule {
        /// The beginning of its id.
        id: String,
        /// What was asked for.
        number: NonZeroUsize,
        /// How many there are.
        offered: usize,
    },
    /// No rule can be made, because the agent has no option for a no.
    #[error("{id} has no option that denies it, so no rule can be made of the answer")]
    NoWayToDeny {
        /// The beginning of its id.
        id: String,
    },
}

/// The request with an id or a unique prefix of it.
pub(super) fn find<'a>(inbox: &'a Inbox, text: &str) -> Result<&'a InboxItem, InboxError> {
    if text.len() < PREFIX_MIN {
        return Err(InboxError::Short { text: text.to_owned() });
    }
    let prefix = text.to_ascii_lowercase();
    let begins = |item: &&InboxItem| item.id.to_string().starts_with(&prefix);
    let found: Vec<&InboxItem> = inbox.items.iter().filter(begins).collect();
    match found.as_slice() {
        [] => Err(InboxError::Unknown { text: text.to_owned() }),
        [item] => Ok(item),
        [..] => {
            let candidates = found.iter().map(|item| item.id.to_string()).collect();
            Err(InboxError::Ambiguous { text: text.to_owned(), candidates })
        }
    }
}

/// The answer that allows a permission: by the given option, or by the matching one; `always` is
/// the rule that it creates.
pub(super) fn allowing(
    item: &InboxItem,
    option: Option<&str>,
    always: Option<NonZeroUsize>,
) -> Result<Answer, InboxError> {
    let permission = permission(item)?;
    let id = || short(item.id);
    let chosen = match option {
        Some(text) => named(permission, text).ok_or_else(|| InboxError::NoOption {
            id: id(),
            option: text.to_owned(),
            offered: offered(permission),
        })?,
        None => of_kind(permission, PermissionKind::AllowOnce)
            .ok_or_else(|| InboxError::NoWayToAllow { id: id(), offered: offered(permission) })?,
    };
    Ok(chosen_with(chosen, rule(item, permission, always)?))
}

/// The answer that refuses a permission, if it has an option for that; else it is rejected.
pub(super) fn denying(
    item: &InboxItem,
    always: Option<NonZeroUsize>,
) -> Result<Option<Answer>, InboxError> {
    let permission = permission(item)?;
    let rule = rule(item, permission, always)?;
    match of_kind(permission, PermissionKind::RejectOnce) {
        Some(option) => Ok(Some(chosen_with(option, rule))),
        None if rule.is_some() => Err(InboxError::NoWayToDeny { id: short(item.id) }),
        None => Ok(None),
    }
}

/// The index of a requested rule, from 0.
fn rule(
    item: &InboxItem,
    permission: &Permission,
    always: Option<NonZeroUsize>,
) -> Result<Option<usize>, InboxError> {
    let Some(number) = always else { return Ok(None) };
    let (id, offered) = (short(item.id), permission.rules.len());
    match offered {
        0 => Err(InboxError::OnlyOnce { id }),
        offered if number.get() > offered => Err(InboxError::NoRule { id, number, offered }),
        _ => Ok(Some(number.get() - 1)),
    }
}

fn permission(item: &InboxItem) -> Result<&Permission, InboxError> {
    item.permission.as_ref().ok_or_else(|| InboxError::Questions { id: short(item.id) })
}

fn of_kind(permission: &Permission, kind: PermissionKind) -> Option<&PermissionOption> {
    permission.options.iter().find(|option| option.kind == kind)
}

/// An option by its id, or else by its name.
fn named<'a>(permission: &'a Permission, text: &str) -> Option<&'a PermissionOption> {
    let options = || permission.options.iter();
    let by_id = options().find(|option| option.option_id == text);
    by_id.or_else(|| options().find(|option| option.name.eq_ignore_ascii_case(text)))
}

fn chosen_with(option: &PermissionOption, rule: Option<usize>) -> Answer {
    Answer::Option { option_id: option.option_id.clone(), rule }
}

fn offered(permission: &Permission) -> Vec<String> {
    permission.options.iter().map(|option| option.option_id.clone()).collect()
}

#[cfg(test)]
mod tests {
    use serde_json::{Value, json};

    use super::*;

    fn inbox(tool: Option<&str>, kinds: &[&str]) -> Inbox {
        let options: Vec<Value> = kinds
            .iter()
            .map(|kind| json!({"optionId": format!("o-{kind}"), "name": format!("Name {kind}"), "kind": kind}))
            .collect();
        let id = "aaaa1111-0000-4000-8000-000000000001";
        let at = "2026-11-15T10:00:00.000Z";
        let mut permission =
            json!({"permissionId": id, "title": "Run", "options": options, "status": "pending"});
        if let Some(tool) = tool {
            permission["tool"] = json!(tool);
            let matcher = json!({"kind": "command", "words": ["ls"], "more": false});
            let rule = json!({"label": "`ls` in web", "matcher": matcher});
            permission["rules"] = json!([rule, rule]);
        }
        let question = json!({"id": "aaaa2222-0000-4000-8000-000000000001", "kind": "questions", "title": "Which", "createdAt": at, "status": "pending", "questions": []});
        let items = json!([
            {"id": id, "kind": "permission", "title": "Run", "createdAt": at, "status": "pending", "permission": permission},
            question,
        ]);
        serde_json::from_value(json!({"items": items})).unwrap()
    }

    fn told(answer: Result<Answer, InboxError>) -> String {
        match answer {
            Ok(answer) => json!(answer).to_string(),
            Err(error) => error.to_string(),
        }
    }

    #[test]
    fn a_permission_is_allowed_by_the_option_that_fits() {
        let all = inbox(Some("Bash"), &["allow_always", "allow_once", "reject_once"]);
        let nameless = inbox(None, &["allow_once", "reject_once"]);
        let never = inbox(Some("Bash"), &["allow_always", "reject_once"]);
        let allow = |inbox: &Inbox, option, rule| {
            told(allowing(&inbox.items[0], option, NonZeroUsize::new(rule)))
        };
        let lines = [
            allow(&all, None, 0),
            allow(&all, None, 1),
            allow(&all, None, 3),
            allow(&all, Some("o-allow_always"), 0),
            allow(&all, Some("name allow_once"), 2),
            allow(&all, Some("maybe"), 0),
            allow(&nameless, None, 0),
            allow(&nameless, None, 1),
            allow(&never, None, 0),
            told(allowing(&all.items[1], None, None)),
        ];
        insta::assert_snapshot!(lines.join("\n"), @r#"
        {"optionId":"o-allow_once"}
        {"optionId":"o-allow_once","rule":0}
        aaaa1111 offers no rule 3; it offers 1 to 2
        {"optionId":"o-allow_always"}
        {"optionId":"o-allow_once","rule":1}
        aaaa1111 has no option `maybe`; its options are o-allow_always, o-allow_once, o-reject_once
        {"optionId":"o-allow_once"}
        aaaa1111 offers no rules, because Convoke cannot tell what later requests would be the same
        aaaa1111 has no option that allows it; its options are o-allow_always, o-reject_once
        aaaa2222 asks questions, not for permission
        "#);
    }

    #[test]
    fn a_permission_is_denied_by_an_option_or_rejected() {
        let deny = |kinds: &[&str]| denying(&inbox(None, kinds).items[0], None).unwrap();
        assert_eq!(
            json!(deny(&["allow_once", "reject_once"])),
            json!({"optionId": "o-reject_once"})
        );
        assert_eq!(deny(&["allow_once", "reject_always"]), None);
    }

    #[test]
    fn a_request_is_found_by_the_start_of_its_id() {
        let inbox = inbox(None, &[]);
        let found = |text: &str| match find(&inbox, text) {
            Ok(item) => short(item.id),
            Err(error) => error.to_string(),
        };
        let lines =
            ["AAAA1", "aaaa2222-0000-4000-8000-000000000001", "aaaa", "aaa", "bbbb"].map(found);
        insta::assert_snapshot!(lines.join("\n"), @"
        aaaa1111
        aaaa2222
        aaaa matches several ids: aaaa1111-0000-4000-8000-000000000001, aaaa2222-0000-4000-8000-000000000001
        aaa is too short for a prefix of an id
        no request in the inbox has an id that starts with bbbb
        ");
    }
}
