//! The ways to log in to an agent, as instructions for people.

use std::path::Path;

use serde_json::Value;

/// The ways to log in that an agent's `authMethods` offer. `program` is the agent's.
pub(super) fn ways(methods: &Value, program: &Path) -> Vec<String> {
    let methods = methods.as_array().map(Vec::as_slice).unwrap_or_default();
    methods.iter().filter_map(|method| way(method, program)).collect()
}

/// One login method: its name, its description, and the command or variable, if the agent names
/// one.
fn way(method: &Value, program: &Path) -> Option<String> {
    let field = |name: &str| method.get(name).and_then(Value::as_str);
    let mut way = field("name").or_else(|| field("id"))?.to_owned();
    let parts = [field("description").map(str::to_owned), to_do(method, program)];
    for part in parts.into_iter().flatten() {
        way.push_str(if way.contains(": ") { "; " } else { ": " });
        way.push_str(part.trim_end_matches('.'));
    }
    Some(way)
}

fn to_do(method: &Value, program: &Path) -> Option<String> {
    let meta = method.get("_meta").unwrap_or(&Value::Null);
    if let Some(terminal) = meta.get("terminal-auth") {
        let command = terminal.get("command")?.as_str()?;
        return Some(run(command, terminal));
    }
    let of_sort = |sort: &str| {
        [method, meta].into_iter().find(|it| it.get("type").and_then(Value::as_str) == Some(sort))
    };
    if let Some(terminal) = of_sort("terminal") {
        return Some(run(&program.to_string_lossy(), terminal));
    }
    let variables = of_sort("env_var")?.get("vars")?.as_array()?.iter();
    let names: Vec<&str> = variables.filter_map(|it| it.get("name")?.as_str()).collect();
    Some(format!("set {}", names.join(", ")))
}

fn run(command: &str, terminal: &Value) -> String {
    let args = terminal.get("args").and_then(Value::as_array).map(Vec::as_slice);
    let args = args.unwrap_or_default().iter().filter_map(Value::as_str);
    let line: Vec<&str> = std::iter::once(command).chain(args).collect();
    format!("run `{}` in a terminal", line.join(" "))
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    /// The methods of kimi, codex by Zed, qwen, cline and copilot.
    #[test]
    fn every_way_to_log_in_says_what_to_do() {
        let methods = json!([
            {"id": "login", "type": "terminal", "name": "Login with Kimi account", "description": "Open the device-code login flow in a terminal.", "args": ["--login"],
             "_meta": {"terminal-auth": {"command": "/opt/kimi", "args": ["login"], "label": "Login"}}},
            {"type": "env_var", "id": "codex-api-key", "name": "Use CODEX_API_KEY", "vars": [{"name": "CODEX_API_KEY"}]},
            {"id": "openai", "name": "Use OpenAI API key", "_meta": {"type": "terminal", "args": ["--auth-type=openai"]}},
            {"id": "cline", "name": "Sign in with Cline"},
            {"id": "copilot-login", "description": "Run `copilot login` in the terminal"},
            {"nothing": "useful"},
        ]);
        let ways = ways(&methods, Path::new("/opt/agent"));
        insta::assert_snapshot!(ways.join("\n"), @r"
        Login with Kimi account: Open the device-code login flow in a terminal; run `/opt/kimi login` in a terminal
        Use CODEX_API_KEY: set CODEX_API_KEY
        Use OpenAI API key: run `/opt/agent --auth-type=openai` in a terminal
        Sign in with Cline
        copilot-login: Run `copilot login` in the terminal
        ");
    }
}
