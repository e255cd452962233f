//! Agents that a configuration changes and adds.

use super::{load_with, shown};

#[test]
fn an_agents_table_changes_a_built_in_agent_field_by_field() {
    let loaded =
        load_with("[agents.gemini]\ncommand = '~/bin/gemini'\nsandbox = 'off'", &[], &[]).unwrap();
    let gemini = loaded.config.agents.iter().find(|agent| agent.badge == "GM").unwrap();
    assert_eq!(
        (&*gemini.command, &*gemini.args),
        ("/home/ann/bin/gemini", &["--acp".to_owned()][..])
    );
    assert_eq!(shown(&loaded, "agents.gemini.sandbox"), "\"off\" (config.toml:3)");
    assert_eq!(shown(&loaded, "agents.gemini.protocol"), "\"acp\" (default)");
}

#[test]
fn l1_variables_of_an_agents_table_come_on_top_of_the_catalogues() {
    let loaded = load_with("[agents.cline]\nenv = { LEVEL = 'high' }", &[], &[]).unwrap();
    let cline = loaded.config.agents.iter().find(|agent| agent.name.as_str() == "cline").unwrap();
    assert_eq!(
        (&*cline.env["LEVEL"], &*cline.env["CLINE_SESSION_BACKEND_MODE"]),
        ("high", "local")
    );
}

#[test]
fn an_agents_table_adds_an_agent() {
    let file = r#"
        [agents.my-agent]
        command = "my-agent"
        args = ["--workspace", "{workspace}"]
        env = { LEVEL = "high", API_KEY = "literal", SEED = "${SEED:-7}" }
        writable = ["~/.my-agent"]
    "#;
    let loaded = load_with(file, &[], &[]).unwrap();
    insta::assert_debug_snapshot!(loaded.config.agents.last().unwrap(), @r#"
    Agent {
        name: AgentName(
            "my-agent",
        ),
        like: None,
        title: "my-agent",
        badge: "MA",
        protocol: Acp,
        command: "my-agent",
        args: [
            "--workspace",
            "{workspace}",
        ],
        env: {
            "API_KEY": "literal",
            "LEVEL": "high",
            "SEED": "7",
        },
        sandbox: Workspace,
        writable: [
            "/home/ann/.my-agent",
        ],
        readable: [],
        protected: [],
        nested_sandbox: None,
        domains: [],
        unnested_env: {},
        limits: Limits {
            memory_bytes: None,
            tasks: None,
            temp_bytes: None,
        },
        resume: Native,
        tools: Stdio,
        mentions: Link,
        weight: Light,
        login: None,
        install: None,
    }
    "#);
    assert_eq!(
        shown(&loaded, "agents.my-agent.env"),
        r#"{"API_KEY":"***","LEVEL":"high","SEED":"***"} (config.toml:5)"#
    );
}
