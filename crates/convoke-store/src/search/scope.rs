//! Scope words: words in the index by which filters are evaluated. Every message has one for its
//! session and one for each combination of its project, agent and role, so that any filter needs a
//! single word: the index is slow at intersecting frequent words that rarely occur in the same
//! message.

use convoke_core::id::{AgentName, ProjectId};
use convoke_core::message::Role;

use crate::write::record::role_word;

/// The prefix of all scope words. The index has entries for prefixes of three and four letters;
/// scope words share theirs.
const MARK: &str = "zzzz";

/// The parts of a session's scope words.
#[derive(Debug)]
pub(crate) struct Scope {
    session: String,
    project: String,
    agent: String,
}

impl Scope {
    pub(crate) fn new(session: i64, project: &str, agent: &str) -> Self {
        let (project, agent) = (project_part(project), agent_part(agent));
        Self { session: session_word(session), project, agent }
    }

    /// The scope words of a message of this session.
    pub(crate) fn words(&self, role: &str) -> [String; 8] {
        let Self { session, project, agent } = self;
        let role = role_part(role);
        [
            session.clone(),
            format!("{MARK}{project}"),
            format!("{MARK}{agent}"),
            format!("{MARK}{role}"),
            format!("{MARK}{project}{agent}"),
            format!("{MARK}{project}{role}"),
            format!("{MARK}{agent}{role}"),
            format!("{MARK}{project}{agent}{role}"),
        ]
    }
}

/// The scope words of a message that change when its session gets another project.
pub(crate) fn project_words(project: &str, agent: &str, role: &str) -> [String; 4] {
    let (project, agent, role) = (project_part(project), agent_part(agent), role_part(role));
    [
        format!("{MARK}{project}"),
        format!("{MARK}{project}{agent}"),
        format!("{MARK}{project}{role}"),
        format!("{MARK}{project}{agent}{role}"),
    ]
}

/// The scope word of a session.
pub(super) fn session_word(n: i64) -> String {
    format!("{MARK}s{n}")
}

/// The scope word that marks a repeated word.
pub(crate) fn frequent_word(word: &str) -> String {
    format!("{MARK}f{word}")
}

/// The scope word of a filter; `None` if nothing is filtered.
pub(super) fn filter_word(
    project: Option<ProjectId>,
    agent: Option<&AgentName>,
    role: Option<Role>,
) -> Option<String> {
    let project = project.map(|project| project_part(&project.to_string()));
    let agent = agent.map(|agent| agent_part(agent.as_str()));
    let role = role.map(|role| role_part(role_word(role)));
    let parts: String = [project, agent, role].into_iter().flatten().collect();
    (!parts.is_empty()).then(|| format!("{MARK}{parts}"))
}

fn project_part(id: &str) -> String {
    format!("p{}", id.replace('-', ""))
}

/// The name in hexadecimal digits, since the tokenizer would split it at hyphens and ignore the
/// case.
fn agent_part(name: &str) -> String {
    let digits: Vec<String> = name.bytes().map(|byte| format!("{byte:02x}")).collect();
    format!("a{}", digits.concat())
}

fn role_part(role: &str) -> String {
    format!("r{}", role.get(..1).unwrap_or_default())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn p7_whatever_is_filtered_is_one_word_of_each_message_that_fits() {
        let project = ProjectId::from_random([7; 16]);
        let agent: AgentName = "claude-code".parse().unwrap();
        let words = Scope::new(3, &project.to_string(), agent.as_str()).words("agent");
        for at in 1..8 {
            let word = filter_word(
                (at & 1 > 0).then_some(project),
                (at & 2 > 0).then_some(&agent),
                (at & 4 > 0).then_some(Role::Agent),
            );
            assert!(words.contains(&word.unwrap()), "{at}");
        }
        assert_eq!(filter_word(None, None, None), None);
        assert!(!words.contains(&filter_word(None, None, Some(Role::User)).unwrap()));
        let of_project = project_words(&project.to_string(), agent.as_str(), "agent");
        assert!(of_project.iter().all(|word| words.contains(word)));
        assert!(words.contains(&session_word(3)));
        assert!(words.iter().all(|word| word.chars().all(|c| c.is_ascii_alphanumeric())));
    }
}
