//! What agents may do without asking, and what they may not.

use convoke_core::id::{AgentName, RequestId, RuleId, SessionId};
use convoke_core::rule::{Effect, Matcher, Rule};

use crate::world::{World, add_project, at};

#[tokio::test]
async fn p2_a_rule_is_kept_once_counted_and_deleted() {
    let mut world = World::new().await;
    let elsewhere = add_project(&world.store, "/srv/other").await;
    let rule = Rule {
        user: None,
        id: RuleId::from_random([1; 16]),
        effect: Effect::Allow,
        matcher: Matcher::command("cargo test …").unwrap(),
        agent: Some("codex".parse::<AgentName>().unwrap()),
        project_id: Some(world.project),
        created_at: at(1),
        request_id: Some(RequestId::from_random([2; 16])),
        session_id: Some(SessionId::from_random([3; 16])),
        used_count: 0,
        last_used_at: None,
    };
    let other = |number: u8| Rule { id: RuleId::from_random([number; 16]), ..rule.clone() };
    assert_eq!(world.store.add_rule(rule.clone()).await.unwrap(), rule);
    let again = Rule { created_at: at(9), ..other(4) };
    assert_eq!(world.store.add_rule(again).await.unwrap(), rule, "it says the same");
    let different = [
        Rule { effect: Effect::Deny, ..other(5) },
        Rule { project_id: Some(elsewhere), ..other(6) },
        Rule { project_id: None, request_id: None, session_id: None, ..other(7) },
        Rule { agent: None, ..other(8) },
        Rule { matcher: Matcher::Fetch { domain: "docs.rs".to_owned() }, ..other(9) },
    ];
    for rule in different.clone() {
        assert_eq!(world.store.add_rule(rule.clone()).await.unwrap(), rule);
    }
    world.reopen().await;
    let all = world.store.rules().await.unwrap();
    assert_eq!(all, [vec![rule.clone()], different.to_vec()].concat());
    world.store.count_uses(vec![rule.id, different[0].id], at(5)).await.unwrap();
    world.store.count_uses(vec![rule.id, RuleId::from_random([99; 16])], at(6)).await.unwrap();
    let used = Rule { used_count: 2, last_used_at: Some(at(6)), ..rule.clone() };
    assert_eq!(world.store.rules().await.unwrap()[0], used);
    assert!(world.store.remove_rule(rule.id).await.unwrap());
    assert!(!world.store.remove_rule(rule.id).await.unwrap());
    assert_eq!(world.store.rules().await.unwrap().len(), different.len());
}

#[tokio::test]
async fn p2_a_rule_for_every_use_of_a_tool_is_never_a_rule_again_and_dropped_once() {
    let world = World::new().await;
    let codex = "codex".parse::<AgentName>().unwrap();
    let project = world.project;
    let sql = format!("INSERT INTO permission_rules VALUES ('{project}', 'codex', 'execute', 1)");
    world.database.execute(&sql).unwrap();
    assert_eq!(world.store.rules().await.unwrap(), []);
    let drop = async |tool: &str| {
        world.store.drop_blanket_rule(world.project, &codex, tool).await.unwrap()
    };
    assert!(!drop("read").await);
    assert!(drop("execute").await);
    assert!(!drop("execute").await);
}
