//! What agents may do without asking.

use convoke_core::id::AgentName;
use convoke_store::Rule;

use crate::world::{World, add_project, at};

#[tokio::test]
async fn a_rule_holds_for_one_tool_of_one_agent_in_one_project_until_it_is_forgotten() {
    let mut world = World::new().await;
    let elsewhere = add_project(&world.store, "/srv/other").await;
    let [claude, codex] = ["claude-code", "codex"].map(|name| name.parse::<AgentName>().unwrap());
    let rule = Rule {
        project_id: world.project,
        agent: claude.clone(),
        tool: "Bash".to_owned(),
        made_at: at(1),
    };
    world.store.add_rule(rule.clone()).await.unwrap();
    world.store.add_rule(Rule { made_at: at(2), ..rule.clone() }).await.unwrap();
    world.reopen().await;
    assert!(world.store.has_rule(world.project, &claude, "Bash").await.unwrap());
    assert!(!world.store.has_rule(world.project, &claude, "Write").await.unwrap());
    assert!(!world.store.has_rule(world.project, &codex, "Bash").await.unwrap());
    assert!(!world.store.has_rule(elsewhere, &claude, "Bash").await.unwrap());
    assert_eq!(world.store.rules(world.project).await.unwrap(), std::slice::from_ref(&rule));
    world.store.remove_rule(rule).await.unwrap();
    assert_eq!(world.store.rules(world.project).await.unwrap(), []);
}
