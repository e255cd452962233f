//! `convoke rule`: what agents may do without asking, and what they may not.

use serde_json::json;

use crate::daemon_scene::Scene;

#[test]
fn p2_rules_are_added_listed_and_removed() {
    let scene = Scene::new();
    scene.session();
    insta::assert_snapshot!(scene.run("rule list"), @r"
    exit 0
    --- stdout
    No rules: agents ask for everything. An answer makes one: `convoke inbox allow ID --always`
    ");
    let add = |args: &[&str]| scene.run_args(&[&["rule", "add"], args].concat());
    insta::assert_snapshot!(add(&["allow", "command", "cargo test …", "--project", "web"]), @r"
    exit 0
    --- stdout
    [the-id] Allow `cargo test …` in web
    ");
    insta::assert_snapshot!(add(&["deny", "fetch", "Evil.example.com", "--everywhere", "--agent", "demo"]), @r"
    exit 0
    --- stdout
    [the-id] Deny fetches from `evil.example.com` everywhere for demo
    ");
    add(&["allow", "edit", "src/**", "--project", "web"]);
    add(&["allow", "tool", "github/list_issues", "--everywhere"]);
    insta::assert_snapshot!(scene.run("rule list --project web"), @r"
    exit 0
    --- stdout
    RULE      WHAT                                                      MADE  USED
    [the-id]  Allow `list_issues` of `github` everywhere                now   0
    [the-id]  Allow changes to `src/**` in web                          now   0
    [the-id]  Deny fetches from `evil.example.com` everywhere for demo  now   0
    [the-id]  Allow `cargo test …` in web                               now   0
    ");
    let listed = scene.machine.json("rule list --json");
    let rules = listed["rules"].as_array().unwrap();
    assert_eq!(rules.len(), 4);
    let matchers: Vec<_> = rules.iter().map(|rule| rule["matcher"].clone()).collect();
    assert!(
        matchers.contains(&json!({"kind": "command", "words": ["cargo", "test"], "more": true}))
    );
    assert!(matchers.contains(&json!({"kind": "tool", "server": "github", "tool": "list_issues"})));
    for rule in rules {
        let id = rule["id"].as_str().unwrap();
        assert_eq!(scene.machine.json(&format!("rule remove {id} --json")), json!({"id": id}));
    }
    assert_eq!(scene.machine.json("rule list --json"), json!({"rules": []}));
}

#[test]
fn p2_a_rule_that_cannot_be_is_refused_with_what_to_do() {
    let scene = Scene::new();
    scene.session();
    let add = |args: &[&str]| scene.run_args(&[&["rule", "add", "--everywhere"], args].concat());
    let told = [
        add(&["allow", "command", "sudo …"]),
        add(&["allow", "command", "ls; rm"]),
        add(&["allow", "edit", "../x"]),
        add(&["allow", "tool", "Bash"]),
        add(&["allow", "fetch", "localhost"]),
        add(&["allow", "command", "ls", "--agent", "missing"]),
        scene.run_args(&["rule", "add", "allow", "command", "ls", "--project", "missing"]),
        scene.run("rule remove 0000"),
    ];
    insta::assert_snapshot!(told.join("\n"));
}
