//! Parameters and results of the tools.

use convoke_core::question::{Choice, Question};
use serde::{Deserialize, Serialize};
use serde_json::Value;

/// The parameters of `ask_user_questions`.
#[derive(Debug, Deserialize)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub struct Ask {
    /// The questions.
    pub questions: Vec<AskedQuestion>,
    /// Whether to return at once.
    #[serde(default)]
    pub non_blocking: bool,
}

/// A question as callers write it. Unknown fields are refused here, unlike in the files of other programs.
#[derive(Debug, Deserialize)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub struct AskedQuestion {
    prompt: String,
    #[serde(default)]
    title: String,
    options: Vec<AskedOption>,
    #[serde(default)]
    multi_select: bool,
}

#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
struct AskedOption {
    label: String,
    #[serde(default)]
    description: Option<String>,
}

impl From<AskedQuestion> for Question {
    fn from(asked: AskedQuestion) -> Self {
        let option = |AskedOption { label, description }| Choice { label, description };
        Self {
            prompt: asked.prompt,
            title: asked.title,
            options: asked.options.into_iter().map(option).collect(),
            multi_select: asked.multi_select,
        }
    }
}

/// The parameters of `get_answered_questions`.
#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Fetch {
    /// The session of the questions, or the first characters of its id.
    pub session_id: String,
    /// Whether to wait while they are pending.
    #[serde(default)]
    pub blocking: bool,
}

/// The parameters of `permissions__approve`. The contract is Claude's, and may be extended.
#[derive(Debug, Deserialize)]
pub struct Approve {
    /// The tool.
    pub tool_name: String,
    /// Its input.
    #[serde(default)]
    pub input: Value,
    /// The tool call.
    #[serde(default)]
    pub tool_use_id: Option<String>,
}

/// The result of `permissions__approve`, as text. The contract is Claude's.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(tag = "behavior", rename_all = "snake_case", rename_all_fields = "camelCase")]
pub enum Approval {
    /// The tool may be used.
    Allow {
        /// The input to use it with.
        updated_input: Value,
    },
    /// The tool may not be used.
    Deny {
        /// The reason, for the agent.
        message: String,
    },
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    #[test]
    fn an_approval_is_written_as_claude_reads_it() {
        let allowed = Approval::Allow { updated_input: json!({"command": "ls"}) };
        let denied = Approval::Deny { message: "not now".to_owned() };
        insta::assert_snapshot!(
            [allowed, denied].map(|it| serde_json::to_string(&it).unwrap()).join("\n"), @r#"
        {"behavior":"allow","updatedInput":{"command":"ls"}}
        {"behavior":"deny","message":"not now"}
        "#);
        let asked = json!({"tool_name": "Bash", "input": {"command": "ls"}, "tool_use_id": "t1", "more": 1});
        let asked: Approve = serde_json::from_value(asked).unwrap();
        assert_eq!((&*asked.tool_name, asked.tool_use_id.as_deref()), ("Bash", Some("t1")));
    }

    #[test]
    fn what_a_caller_misspells_is_refused() {
        let question =
            json!({"prompt": "Which?", "options": [{"label": "A"}, {"label": "B"}], "multi": true});
        let error = serde_json::from_value::<Ask>(json!({"questions": [question]})).unwrap_err();
        assert!(error.to_string().contains("unknown field `multi`"), "{error}");
        let error = serde_json::from_value::<Fetch>(json!({"sessionId": "1234"})).unwrap_err();
        assert!(error.to_string().contains("unknown field `sessionId`"), "{error}");
    }
}
