//! The outcome of a permission, in the words that the page, the command line and the terminal UI share.
//!
//! The page has them in `lib/choices.js`.

use convoke_core::request::{PermissionOption, Status};
use convoke_core::rule::Effect;

use super::Permission;

/// The outcome of a permission, in a word or two.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Verdict {
    /// The agent may do it.
    Allowed(String),
    /// The agent may not do it: by an option of the agent, or without one.
    Denied(String),
    /// It ended without an answer.
    Unanswered(&'static str),
}

impl Verdict {
    /// The words.
    pub fn text(&self) -> &str {
        match self {
            Self::Allowed(text) | Self::Denied(text) => text,
            Self::Unanswered(text) => text,
        }
    }
}

impl Permission {
    /// The outcome; `None` while it waits.
    pub fn verdict(&self) -> Option<Verdict> {
        match self.status {
            Status::Pending => None,
            Status::Answered => Some(self.chosen()),
            Status::Rejected => Some(Verdict::Denied("denied".to_owned())),
            Status::TimedOut => Some(Verdict::Unanswered("not answered in time")),
            Status::Abandoned => Some(Verdict::Unanswered("no longer needed")),
        }
    }

    fn chosen(&self) -> Verdict {
        let is_chosen = |it: &&PermissionOption| Some(&it.option_id) == self.option_id.as_ref();
        let Some(chosen) = self.options.iter().find(is_chosen) else {
            return Verdict::Allowed("answered".to_owned());
        };
        // Names tell options of one kind apart.
        let is_only = self.options.iter().filter(|it| it.kind == chosen.kind).count() < 2;
        let text =
            |word: &str| if is_only { word.to_owned() } else { format!("{word}: {}", chosen.name) };
        match chosen.kind.effect() {
            Effect::Allow => Verdict::Allowed(text("allowed")),
            Effect::Deny => Verdict::Denied(text("denied")),
        }
    }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    fn verdict(status: &str, option_id: &str) -> Option<Verdict> {
        let option = |id: &str, kind: &str| json!({"optionId": id, "name": id, "kind": kind});
        let permission: Permission = serde_json::from_value(json!({
            "permissionId": "00000000-0000-4000-8000-000000000001",
            "title": "Run it",
            "options": [
                option("yes", "allow_once"),
                option("no", "reject_once"),
                option("edits", "allow_always"),
                option("all", "allow_always"),
            ],
            "status": status,
            "optionId": option_id,
        }))
        .unwrap();
        permission.verdict()
    }

    #[test]
    fn a_denial_reads_the_same_with_an_option_and_without_one() {
        let denied = Some(Verdict::Denied("denied".to_owned()));
        assert_eq!(verdict("answered", "no"), denied);
        assert_eq!(verdict("rejected", ""), denied);
    }

    #[test]
    fn several_options_of_a_kind_keep_their_names() {
        let found = ["yes", "edits", "gone"].map(|id| verdict("answered", id).unwrap());
        let allowed = ["allowed", "allowed: edits", "answered"];
        assert_eq!(found, allowed.map(|text| Verdict::Allowed(text.to_owned())));
    }

    #[test]
    fn a_request_that_ended_without_an_answer_is_neither_allowed_nor_denied() {
        assert_eq!(verdict("pending", ""), None);
        assert_eq!(verdict("timed_out", ""), Some(Verdict::Unanswered("not answered in time")));
        assert_eq!(verdict("abandoned", ""), Some(Verdict::Unanswered("no longer needed")));
    }
}
