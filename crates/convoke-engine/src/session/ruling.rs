//! Decides permissions by rules, and offers rules for those that the human decides.
//!
//! Rules are read when a permission is asked for. A rule that is made or revoked later does not
//! change a pending request: the human sees it already, and settles it.

use convoke_agents::evidence::resolve;
use convoke_core::evidence::Evidence;
use convoke_core::id::{RequestId, RuleId};
use convoke_core::notice::{Notice, RuleEvent};
use convoke_core::request::{
    Choice, PermissionKind, PermissionRecord, Request as HumanRequest, Verdict,
};
use convoke_core::rule::{Rule, Ruling, Subject, decide, proposals};
use convoke_core::session::{Command, Reply, Report, Status};
use convoke_core::user::UserName;
use convoke_store::SessionKind;
use tokio::sync::oneshot;

use super::task::Task;
use crate::blocking::blocking;
use crate::error::{Error, Result, no_request};
use crate::teams::Permissions;

/// The name under which agents know the server with Convoke's tools.
const OWN_SERVER: &str = "convoke";
/// Convoke's tools that ask the human, or read the human's answers.
const OWN_QUESTIONS: [&str; 2] = ["ask_user_questions", "get_answered_questions"];
/// The parameters of these tools.
const OWN_PARAMETERS: [&str; 3] = ["questions", "session_id", "blocking"];
/// ACP's kinds of tools, used in place of the name when an agent names no tool.
const SORTS: [&str; 10] = [
    "read",
    "edit",
    "delete",
    "move",
    "search",
    "execute",
    "think",
    "fetch",
    "switch_mode",
    "other",
];
/// The rule of a team whose agent may do everything, in words.
const TRUSTED: &str = "the team's skipPermissions";

/// What follows from rules when a permission is asked for.
#[derive(Debug, Default)]
pub(super) struct Ruled {
    /// The commands that settle the request without the human.
    pub(super) commands: Vec<Command>,
    /// The rules that decided it.
    pub(super) used: Vec<RuleId>,
}

impl Task {
    /// Asks the human on behalf of a tool, or lets a rule decide.
    pub(super) async fn ask(
        &mut self,
        mut request: HumanRequest,
    ) -> Result<oneshot::Receiver<Reply>> {
        let id = request.id();
        let (asker, answer) = oneshot::channel();
        // Inserted before the request is published, since the answer may come at once.
        self.askers.insert(id, asker);
        let ruled = self.rule_on(&mut request).await;
        let status = self.session.summary().status;
        let outcome = match status {
            Status::Active => self.handle_command(Command::Agent(Report::Asked(request))).await,
            Status::Completed | Status::Cancelled | Status::Error => {
                Err(Error::Ended { session: self.id, status, reason: None })
            }
        };
        if let Err(error) = outcome {
            self.askers.remove(&id);
            return Err(error);
        }
        for command in ruled.commands {
            self.handle_command(command).await?;
        }
        self.count_uses(ruled.used).await;
        Ok(answer)
    }

    /// Settles a request with the verdict of a human.
    pub(super) async fn settle(
        &mut self,
        id: RequestId,
        verdict: Verdict,
        by: Option<UserName>,
    ) -> Result<()> {
        // Only this task changes its requests, so the stored one is current.
        let stored = self.shared.store.request(id).await?.ok_or_else(|| no_request(id))?;
        let seq = stored.seq.ok_or_else(|| no_request(id))?;
        let message = self.shared.store.message(self.id, seq).await?;
        // A request that is no longer pending is closed; it is reopened for one more change.
        self.open.reopen(message.ok_or_else(|| no_request(id))?);
        let (request, stamp) = (stored.request, self.new_stamp(None));
        self.handle_command(Command::SettleLate { request, seq, verdict, by, stamp }).await?;
        Ok(())
    }

    /// Looks for rules about a request, and adds the rules to it that an answer can make.
    pub(super) async fn rule_on(&self, asked: &mut HumanRequest) -> Ruled {
        let HumanRequest::Permission(record) = asked else { return Ruled::default() };
        if is_own_question(record) {
            // The question itself asks the human, so its permission is not asked as well.
            return allowed(record, Vec::new(), Vec::new());
        }
        match self.rule_on_permission(record).await {
            Ok(ruled) => ruled,
            // A rule that cannot be read may be a denial, so the human is asked, even for a team
            // that may do everything.
            Err(error) => {
                tracing::warn!(session.id = %self.id, "cannot look for rules: {error}");
                Ruled::default()
            }
        }
    }

    async fn rule_on_permission(&self, record: &mut PermissionRecord) -> Result<Ruled> {
        let (project_id, agent) = (self.stored.project_id, &self.stored.agent);
        let mut rules = self.shared.store.rules().await?;
        let prompter = match rules.iter().any(|rule| rule.user.is_some()) {
            true => self.prompter().await?,
            false => None,
        };
        rules.retain(|rule| rule.holds_for(project_id, agent, prompter.as_ref()));
        let project = self.shared.store.project(project_id).await?;
        let name = project.map_or_else(|| project_id.to_string(), |project| project.name);
        let (evidence, workspace) = (record.evidence.clone(), self.workspace.clone());
        let resolved = blocking(move || {
            evidence.as_ref().map(|evidence| resolve(evidence, &workspace)).unwrap_or_default()
        });
        let paths = resolved.await?;
        let subject = Subject { evidence: record.evidence.as_ref(), paths: &paths };
        let offered = proposals(subject, &rules, &name);
        let what = record.evidence.as_ref().map_or_else(|| record.title.clone(), |it| it.line());
        let text = |rule: &Rule| rule.text(rule.project_id.is_some().then_some(name.as_str()));
        let ruled = match decide(&rules, subject) {
            Ruling::Denied(rule) => denied(record, rule, text(rule), what),
            Ruling::Allowed(rules) => {
                let events = rules.iter().map(|rule| RuleEvent::Applied {
                    rule_id: Some(rule.id),
                    rule: text(rule),
                    what: what.clone(),
                });
                let used = rules.iter().map(|rule| rule.id).collect();
                allowed(record, events.collect(), used)
            }
            Ruling::Doubtful(rule) => {
                tracing::info!(session.id = %self.id, rule.id = %rule.id, "asked: a rule may deny it");
                Ruled::default()
            }
            Ruling::Silent if self.is_trusted().await => {
                let event = RuleEvent::Applied { rule_id: None, rule: TRUSTED.to_owned(), what };
                allowed(record, vec![event], Vec::new())
            }
            Ruling::Silent => self.dropped(record).await?,
        };
        record.rules = offered;
        Ok(ruled)
    }

    /// The user whose prompt the agent works on; none for the owner of the daemon.
    async fn prompter(&self) -> Result<Option<UserName>> {
        let Some(turn) = self.session.running() else { return Ok(None) };
        let prompt = self.shared.store.message(self.id, turn).await?;
        Ok(prompt.and_then(|prompt| prompt.content.author().cloned()))
    }

    /// Counts that rules decided a request. A failed write only loses a count.
    pub(super) async fn count_uses(&self, rules: Vec<RuleId>) {
        if rules.is_empty() {
            return;
        }
        if let Err(error) = self.shared.store.count_uses(rules, self.shared.now()).await {
            tracing::warn!(session.id = %self.id, "cannot count the use of a rule: {error}");
        }
    }

    /// Removes a rule of an older version that held for every use of a tool. A notice in the
    /// session reports it once.
    async fn dropped(&self, record: &PermissionRecord) -> Result<Ruled> {
        let Some(tool) = &record.tool else { return Ok(Ruled::default()) };
        let (project, agent) = (self.stored.project_id, &self.stored.agent);
        if !self.shared.store.drop_blanket_rule(project, agent, tool).await? {
            return Ok(Ruled::default());
        }
        tracing::warn!(session.id = %self.id, tool, "a rule for every use of a tool is removed, not applied");
        let notice = Notice::new(RuleEvent::Dropped { tool: tool.clone() });
        Ok(Ruled { commands: vec![Command::Agent(Report::Noticed(notice))], used: Vec::new() })
    }

    /// Whether the configuration of the team allows its agent everything.
    async fn is_trusted(&self) -> bool {
        if self.stored.kind != SessionKind::Team {
            return false;
        }
        match self.shared.pair_of(self.id).await {
            Ok(Some((_, Some(team)))) => team.permissions == Permissions::Skip,
            Ok(Some((_, None)) | None) => false,
            Err(error) => {
                tracing::warn!(session.id = %self.id, "cannot look for the pair of a session: {error}");
                false
            }
        }
    }
}

/// Whether a permission is for a tool of Convoke's own that only asks the human or reads the
/// answers. It never applies to a command. The agent's program sets the name of a tool, but its
/// model may word a title: a title counts only if there is no name, and only with arguments that no
/// other tool takes.
fn is_own_question(record: &PermissionRecord) -> bool {
    let args = match &record.evidence {
        Some(Evidence::Tool { server: Some(server), tool, .. }) => {
            return server == OWN_SERVER && OWN_QUESTIONS.contains(&tool.as_str());
        }
        Some(Evidence::Tool { server: None, args, .. }) => match args.as_object() {
            Some(args) => Some(args),
            None => return false,
        },
        None => None,
        Some(
            Evidence::Command { .. }
            | Evidence::Changes { .. }
            | Evidence::Read { .. }
            | Evidence::Fetch { .. },
        ) => return false,
    };
    let is_own = |name: &String| OWN_PARAMETERS.contains(&name.as_str());
    match record.tool.as_deref().filter(|tool| !SORTS.contains(tool)) {
        Some(name) => is_own_name(name),
        None => is_own_title(&record.title) && args.is_none_or(|args| args.keys().all(is_own)),
    }
}

/// Whether a title is no more than the name of such a tool; Cline adds the arguments.
fn is_own_title(title: &str) -> bool {
    is_own_name(title.split_once(": {").map_or(title, |(name, _)| name))
}

/// How agents name the tools of servers: `mcp__server__tool` most, and some in a way of their own.
fn is_own_name(name: &str) -> bool {
    // Kimi Code writes the name twice.
    let name = match name.split_once(": Requesting approval to Approve ") {
        Some((first, second)) if first == second => first,
        Some(_) | None => name,
    };
    let own = |tool: &str| {
        let joined = ["___", "__", "_", "-", ".", "/", ": "].iter();
        let mut names = joined.map(|sign| format!("{OWN_SERVER}{sign}{tool}"));
        names.any(|own| own == name || format!("mcp__{own}") == name)
            || format!("mcp_{OWN_SERVER}.{tool}") == name
            || format!("{tool} ({OWN_SERVER} MCP Server)") == name
            || format!("{OWN_SERVER}: {}", tool.replace('_', " ")) == name
    };
    OWN_QUESTIONS.iter().any(|tool| own(tool))
}

/// Denies the request with the rule as the reason, and adds a notice.
fn denied(record: &PermissionRecord, rule: &Rule, text: String, what: String) -> Ruled {
    let reason = Some(format!("Denied by a rule of the user's: {text}"));
    let event = RuleEvent::Denied { rule_id: rule.id, rule: text, what };
    let notice = Command::Agent(Report::Noticed(Notice::new(event)));
    let verdict = Verdict::Reject { reason };
    let settle = Command::Settle { request: record.request_id, verdict };
    Ruled { commands: vec![notice, settle], used: vec![rule.id] }
}

/// Allows the request once, if the agent has an option for that.
fn allowed(record: &PermissionRecord, events: Vec<RuleEvent>, used: Vec<RuleId>) -> Ruled {
    let mut options = record.options.iter();
    let Some(once) = options.find(|option| option.kind == PermissionKind::AllowOnce) else {
        return Ruled::default();
    };
    let verdict = Verdict::Choose(Choice { option_id: once.option_id.clone() });
    let notices = events.into_iter().map(|event| Report::Noticed(Notice::new(event)));
    let mut commands: Vec<Command> = notices.map(Command::Agent).collect();
    commands.push(Command::Settle { request: record.request_id, verdict });
    Ruled { commands, used }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn l1_our_question_tool_is_known_by_every_agents_name_for_it() {
        for name in [
            "mcp__convoke__ask_user_questions",
            "convoke__ask_user_questions",
            "convoke___ask_user_questions",
            "mcp_convoke.ask_user_questions",
            "convoke_ask_user_questions",
            "convoke-ask_user_questions",
            "convoke/ask_user_questions",
            "ask_user_questions (convoke MCP Server)",
            "convoke: ask user questions",
            "mcp__convoke__ask_user_questions: Requesting approval to Approve mcp__convoke__ask_user_questions",
        ] {
            assert!(is_own_name(name), "{name}");
        }
        for name in [
            "ask_user_questions",
            "convoke_teams_ask",
            "evil_convoke_ask_user_questions",
            "mcp__convoke__ask_user_questions: Requesting approval to Approve Bash",
            "Bash",
        ] {
            assert!(!is_own_name(name), "{name}");
        }
    }

    fn is_own(tool: &str, title: &str, evidence: &serde_json::Value) -> bool {
        let record = serde_json::json!({"requestId": "00000000-0000-4000-8000-000000000000", "tool": tool,
            "title": title, "evidence": evidence, "options": [], "status": "pending"});
        is_own_question(&serde_json::from_value(record).unwrap())
    }

    /// A model can word the title of a tool that hands work to another agent.
    #[test]
    fn l1_no_other_tool_passes_for_our_question_tool() {
        let own = "convoke: ask user questions";
        let tool = |args: serde_json::Value| serde_json::json!({"kind": "tool", "tool": "other", "args": args});
        let questions = serde_json::json!({"questions": []});
        assert!(is_own("other", own, &tool(questions.clone())));
        let with_args = r#"convoke__ask_user_questions: {"questions":[]}"#;
        assert!(is_own("other", with_args, &tool(questions.clone())));
        assert!(!is_own("other", with_args, &tool(serde_json::json!({"commands": ["ls"]}))));
        assert!(!is_own("other", own, &tool(serde_json::json!("ls"))));
        assert!(!is_own("other", own, &tool(serde_json::json!({"prompt": "rm", "questions": []}))));
        // A name takes precedence over a title, in both directions.
        assert!(!is_own("agent", own, &tool(questions.clone())));
        assert!(is_own("mcp_convoke.ask_user_questions", "?", &tool(questions)));
        let command = serde_json::json!({"kind": "command", "command": own, "omittedBytes": 0});
        assert!(!is_own("execute", own, &command));
    }
}
