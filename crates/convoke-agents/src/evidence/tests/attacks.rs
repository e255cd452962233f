//! One table of calls, from the agent's arguments to what rules say: what must be allowed, what must be asked, what is denied.

use std::fs;
use std::os::unix::fs::symlink;
use std::path::Path;

use convoke_core::id::RuleId;
use convoke_core::rule::{Effect, Matcher, Rule, Ruling, Subject, decide, proposals};
use convoke_core::time::Timestamp;
use serde_json::{Value, json};

use super::{Call, named, of_call, resolve};

const ALLOWED: &str = "allowed";
const ASKED: &str = "asked";
const DENIED: &str = "denied";

/// Commands of a tool `Bash`, and what must happen to them.
const COMMANDS: &[(&str, &str)] = &[
    // What the rules are for.
    ("cargo test", ALLOWED),
    ("cargo test parser", ALLOWED),
    ("cargo  test\tparser  ", ALLOWED),
    ("cargo test 'two words' \"more words\"", ALLOWED),
    ("cargo test '$(rm -rf /)'", DENIED),
    ("cargo test '$HOME'", ALLOWED),
    ("git status", ALLOWED),
    ("git status && cargo test", ALLOWED),
    ("git status; cargo test\nls src", ALLOWED),
    ("git log --oneline main | ls", ALLOWED),
    ("ls || cargo test a b c", ALLOWED),
    ("npm run build", ALLOWED),
    // Lists with something else in them.
    ("cargo test && touch x", ASKED),
    ("cargo test; touch x", ASKED),
    ("cargo test | sh", ASKED),
    ("cargo test || touch x", ASKED),
    ("cargo test\ntouch x", ASKED),
    ("cargo test & touch x", ASKED),
    ("cargo test &", ASKED),
    ("touch x && cargo test", ASKED),
    ("cargo test |& tee x", ASKED),
    ("cargo test;;touch x", ASKED),
    // Expansions and substitutions.
    ("cargo test $(touch x)", ASKED),
    ("cargo test \"$(touch x)\"", ASKED),
    ("cargo test `touch x`", ASKED),
    ("cargo test \"`touch x`\"", ASKED),
    ("cargo test <(touch x)", ASKED),
    ("cargo test >(touch x)", ASKED),
    ("cargo test $HOME", ASKED),
    ("cargo test ${IFS}x", ASKED),
    ("cargo test \"$X\"", ASKED),
    ("cargo test $'\\x41'", ASKED),
    ("cargo test *", ASKED),
    ("cargo test [a-z]", ASKED),
    ("cargo test {--config,x}", ASKED),
    ("cargo test ~/x", ASKED),
    ("ca* test", ASKED),
    ("cargo test !!", ASKED),
    ("cargo test \"!touch\"", ASKED),
    ("cargo test =sh", ASKED),
    // Redirections.
    ("cargo test > ~/.ssh/authorized_keys", ASKED),
    ("cargo test >> .bashrc", ASKED),
    ("cargo test 2>&1", ASKED),
    ("cargo test < /etc/passwd", ASKED),
    ("cargo test <<EOF\ntouch x\nEOF", ASKED),
    ("cargo test <<< x", ASKED),
    // Compound commands.
    ("(cargo test)", ASKED),
    ("{ cargo test; }", ASKED),
    ("if cargo test; then ls; fi", ASKED),
    ("for x in a; do cargo test; done", ASKED),
    ("while cargo test; do ls; done", ASKED),
    ("case a in a) ls;; esac", ASKED),
    ("function cargo { touch x; }\ncargo test", ASKED),
    ("cargo() { touch x; }; cargo test", ASKED),
    ("! cargo test", ASKED),
    ("[[ a ]] && cargo test", ASKED),
    ("coproc cargo test", ASKED),
    // What runs something else, or changes what is run.
    ("env X=1 cargo test", ASKED),
    ("X=1 cargo test", ASKED),
    ("PATH=/tmp:$PATH cargo test", ASKED),
    ("RUSTC_WRAPPER=evil cargo test", ASKED),
    ("sudo cargo test", ASKED),
    ("ls | xargs cargo test", ASKED),
    ("find . -exec cargo test", ASKED),
    ("sh -c 'cargo test'", ASKED),
    ("bash -lc 'cargo test'", ASKED),
    ("eval cargo test", ASKED),
    ("exec cargo test", ASKED),
    ("command cargo test", ASKED),
    ("builtin cargo test", ASKED),
    ("nice cargo test", ASKED),
    ("time cargo test", ASKED),
    ("timeout 5 cargo test", ASKED),
    (". ./env.sh && cargo test", ASKED),
    ("source env.sh; cargo test", ASKED),
    ("alias cargo=evil; cargo test", ASKED),
    ("export PATH=/tmp; cargo test", ASKED),
    ("cd /tmp/evil && cargo test", ASKED),
    ("cd .. ; cargo test", ASKED),
    ("pushd /tmp; cargo test", ASKED),
    ("set -- x; cargo test", ASKED),
    ("trap 'touch x' EXIT; cargo test", ASKED),
    // Options and settings that are not in the rule.
    ("cargo test --config target.runner=sh", ASKED),
    ("cargo test '--config' x", ASKED),
    ("cargo test --manifest-path /tmp/Cargo.toml", ASKED),
    ("cargo test -- --nocapture", ASKED),
    ("cargo test a -q", ASKED),
    ("cargo --config x test", ASKED),
    ("cargo +nightly test", ASKED),
    ("cargo test +nightly", ASKED),
    ("cargo test X=1", ASKED),
    ("git -c core.pager=evil status", ASKED),
    ("git -C /tmp status", ASKED),
    ("git status --porcelain", ASKED),
    ("git status x", ASKED),
    ("git log --oneline --output=x", ASKED),
    ("git log --output=x --oneline", ASKED),
    ("npm run evil", ASKED),
    ("npm run", ASKED),
    ("npm exec build", ASKED),
    // Other programs that look the same.
    ("/tmp/cargo test", ASKED),
    ("./cargo test", ASKED),
    ("Cargo test", ASKED),
    ("cargo Test", ASKED),
    ("cargotest", ASKED),
    ("cargo", ASKED),
    ("cargo tes", ASKED),
    ("c\u{430}rgo test", ASKED),
    ("cargo\u{a0}test", ASKED),
    ("cargo test\u{200b}", ASKED),
    ("cargo test \u{202e}x", ASKED),
    ("cargo test\r touch x", ASKED),
    ("cargo test\0", ASKED),
    ("\u{1b}[2Kcargo test", ASKED),
    // Quotes and escapes.
    ("'cargo' test", ASKED),
    ("\"cargo test\"", ASKED),
    ("c\\argo test", ASKED),
    ("cargo te\\st", ASKED),
    ("cargo test 'x", ASKED),
    ("cargo test \"x", ASKED),
    ("cargo test \\\ntouch x", ASKED),
    ("cargo test 'x\ntouch y'", ASKED),
    ("cargo test # ls", ASKED),
    ("", ASKED),
    ("  \n ", ASKED),
    // What is denied, wherever it is hidden.
    ("rm -rf /", DENIED),
    ("rm", DENIED),
    ("cargo test && rm x", DENIED),
    ("ls; cargo test; rm -rf /; ls", DENIED),
    ("cargo test | rm x", DENIED),
    ("cargo test $(rm x)", DENIED),
    ("cargo test `rm x`", DENIED),
    ("X=1 rm x", DENIED),
    ("sudo rm x", DENIED),
    ("sudo -n rm x", DENIED),
    ("env X=1 rm x", DENIED),
    ("/bin/rm x", DENIED),
    ("r\\m x", DENIED),
    ("r''m x", DENIED),
    ("sh -c 'rm -rf /'", DENIED),
    ("if true; then rm x; fi", DENIED),
    ("git push", DENIED),
    ("git push --force origin", DENIED),
    ("cargo test && git push", DENIED),
    // What may be something denied is asked, also where it would be allowed.
    ("git -C . push", ASKED),
    ("ls rm", ASKED),
    ("echo cm0gLXJmIC8= | base64 -d | sh", ASKED),
    ("R=rm; $R x", ASKED),
];

fn rules(project: &Path) -> Vec<Rule> {
    let command = |line: &str| Matcher::command(line).unwrap();
    let (edit, read) = (
        |glob: &str| Matcher::Edit { glob: glob.to_owned() },
        |glob: String| Matcher::Read { glob },
    );
    let fetch = |domain: &str| Matcher::Fetch { domain: domain.to_owned() };
    let tool =
        |tool: &str| Matcher::Tool { server: Some("github".to_owned()), tool: tool.to_owned() };
    let outside = project.parent().unwrap().join("outside/shared/**").display().to_string();
    let allowed = [
        command("cargo test …"),
        command("git status"),
        command("git log --oneline …"),
        command("ls …"),
        command("npm run build …"),
        edit("src/**"),
        read("docs/**".to_owned()),
        read(outside),
        fetch("docs.rs"),
        tool("list_issues"),
        Matcher::Tool { server: None, tool: "WebSearch".to_owned() },
    ];
    let denied = [
        command("rm …"),
        command("git push"),
        edit("src/secret/**"),
        fetch("evil.test"),
        tool("delete_repo"),
    ];
    let rule = |(number, (effect, matcher)): (usize, (Effect, Matcher))| {
        matcher.check(effect).unwrap();
        Rule {
            user: None,
            id: RuleId::from_random([u8::try_from(number).unwrap(); 16]),
            effect,
            matcher,
            agent: None,
            project_id: None,
            created_at: Timestamp::from_millis(0),
            request_id: None,
            session_id: None,
            used_count: 0,
            last_used_at: None,
        }
    };
    let allowed = allowed.into_iter().map(|matcher| (Effect::Allow, matcher));
    let denied = denied.into_iter().map(|matcher| (Effect::Deny, matcher));
    allowed.chain(denied).enumerate().map(rule).collect()
}

/// A project with links in it, next to a folder that is not its own.
fn make(folder: &Path) {
    for name in ["project/src/secret", "project/docs", "project/.git/hooks", "outside/shared"] {
        fs::create_dir_all(folder.join(name)).unwrap();
    }
    for name in ["project/src/a.rs", "project/docs/a.md", "outside/file", "outside/shared/a.h"] {
        fs::write(folder.join(name), "").unwrap();
    }
    let project = folder.join("project");
    symlink(folder.join("outside"), project.join("src/out")).unwrap();
    symlink(folder.join("outside/file"), project.join("src/link.rs")).unwrap();
    symlink(folder.join("outside/new"), project.join("src/dangling.rs")).unwrap();
    symlink("secret", project.join("src/plain")).unwrap();
    symlink(folder.join("outside/file"), project.join("docs/link.md")).unwrap();
    symlink("docs", project.join("same")).unwrap();
}

/// Calls of other tools: the tool, its kind, its arguments, and what must happen.
fn calls(folder: &Path) -> Vec<(&'static str, &'static str, Value, &'static str)> {
    let write = |path: &str| json!({"file_path": path, "content": "x"});
    let read = |path: &str| json!({"file_path": path});
    let fetch = |url: &str| json!({"url": url});
    let at = |path: &str| folder.join(path).display().to_string();
    let cargo = |more: Value| {
        let mut args = json!({"command": "cargo test"});
        args.as_object_mut().unwrap().extend(more.as_object().unwrap().clone());
        args
    };
    vec![
        ("Write", "", write("src/a.rs"), ALLOWED),
        ("Write", "", write("src/new/b.rs"), ALLOWED),
        ("Write", "", write("./src/../src/a.rs"), ALLOWED),
        ("Write", "", write(&at("project/src/a.rs")), ALLOWED),
        ("Write", "", write("Cargo.toml"), ASKED),
        ("Write", "", write("src/../Cargo.toml"), ASKED),
        ("Write", "", write("src/../../outside/file"), ASKED),
        ("Write", "", write("src/out/file"), ASKED),
        ("Write", "", write("src/out/new/file"), ASKED),
        ("Write", "", write("src/out/../a.rs"), ASKED),
        ("Write", "", write("src/link.rs"), ASKED),
        ("Write", "", write("src/dangling.rs"), ASKED),
        ("Write", "", write("src/.git/hooks/pre-commit"), ASKED),
        ("Write", "", write("src/.vscode/tasks.json"), ASKED),
        ("Write", "", write("~/src/a.rs"), ASKED),
        ("Write", "", write("src/a\nb"), ASKED),
        ("Write", "", write(""), ASKED),
        ("Write", "", write("src/secret/key"), DENIED),
        ("Write", "", write("src/../src/secret/key"), DENIED),
        ("Write", "", write("src/plain/key"), DENIED),
        ("", "delete", json!({"path": "src/secret/key"}), ASKED),
        ("", "delete", json!({"path": "src/a.rs"}), ASKED),
        ("Read", "", read("docs/a.md"), ALLOWED),
        ("Read", "", read("same/a.md"), ALLOWED),
        ("Read", "", read(&at("outside/shared/a.h")), ALLOWED),
        ("Read", "", read("src/a.rs"), ASKED),
        ("Read", "", read("docs/link.md"), ASKED),
        ("Read", "", read("docs/../../outside/file"), ASKED),
        ("Read", "", read(&at("outside/shared/../file")), ASKED),
        ("Read", "", read("/etc/passwd"), ASKED),
        ("", "read", json!({"paths": ["docs/a.md", "/etc/passwd"]}), ASKED),
        ("WebFetch", "", fetch("https://docs.rs/serde"), ALLOWED),
        ("WebFetch", "", fetch("https://static.docs.rs/x?u=https://evil"), ALLOWED),
        ("WebFetch", "", fetch("https://docs.rs.evil.example/"), ASKED),
        ("WebFetch", "", fetch("https://docs.rs@evil.example/"), ASKED),
        ("WebFetch", "", fetch("https://docs.rs:8080/"), ASKED),
        ("WebFetch", "", fetch("https://evildocs.rs/"), ASKED),
        ("WebFetch", "", fetch("https://docs.rs\\@evil.example"), ASKED),
        ("WebFetch", "", fetch("https://d\u{43e}cs.rs/"), ASKED),
        ("WebFetch", "", fetch("file:///etc/passwd"), ASKED),
        ("WebFetch", "", fetch("https://a.evil.test/"), DENIED),
        ("WebFetch", "", fetch("https://docs.rs@evil.test/"), ASKED),
        ("mcp__github__list_issues", "", json!({"repo": "x"}), ALLOWED),
        ("mcp__github__delete_repo", "", json!({}), DENIED),
        ("mcp__github__list_issues2", "", json!({}), ASKED),
        ("mcp__evil__list_issues", "", json!({}), ASKED),
        ("list_issues", "", json!({"server": "github"}), ASKED),
        ("mcp__github__list_issues", "", json!({"q": "rm -rf /"}), ASKED),
        ("WebSearch", "", json!({"query": "x"}), ALLOWED),
        ("WebSearch", "", json!({"query": "x", "command": "touch x"}), ASKED),
        // The same command with more to it, or in another shape.
        ("Bash", "", cargo(json!({"description": "List files", "timeout": 9})), ALLOWED),
        ("Bash", "", cargo(json!({"cwd": at("project")})), ALLOWED),
        ("Bash", "", cargo(json!({"cwd": at("outside")})), ASKED),
        ("Bash", "", cargo(json!({"cwd": at("project/src/out")})), ASKED),
        ("Bash", "", cargo(json!({"env": {"LD_PRELOAD": "/tmp/x.so"}})), ASKED),
        ("Bash", "", cargo(json!({"dangerouslyDisableSandbox": true})), ASKED),
        ("Bash", "", json!({"cmd": "cargo test"}), ASKED),
        ("Bash", "", json!({"description": "cargo test"}), ASKED),
        ("Bash", "", json!({"description": "cargo test", "command": "touch x"}), ASKED),
        ("", "execute", json!({"command": ["bash", "-lc", "cargo test"]}), ALLOWED),
        ("", "execute", json!({"command": ["cargo", "test"]}), ALLOWED),
        ("", "execute", json!({"command": ["cargo", "test", "; touch x"]}), ALLOWED),
        ("", "execute", json!({"command": ["bash", "-lc", "cargo test; touch x"]}), ASKED),
        ("", "execute", json!({"command": ["/tmp/bash", "-lc", "cargo test"]}), ASKED),
        ("", "execute", json!({"command": ["bash", "-ic", "cargo test"]}), ASKED),
        ("", "execute", json!({"command": "cargo test", "shell": "/tmp/evil"}), ASKED),
    ]
}

#[test]
fn p2_the_table_of_attacks() {
    let folder = tempfile::tempdir().unwrap();
    let folder = folder.path().canonicalize().unwrap();
    make(&folder);
    let project = folder.join("project");
    let rules = rules(&project);
    let commands =
        COMMANDS.iter().map(|(line, expected)| ("Bash", "", json!({"command": line}), *expected));
    let rows: Vec<_> = commands.chain(calls(&folder)).collect();
    let mut wrong = Vec::new();
    for (tool, kind, args, expected) in &rows {
        let evidence = of_call(Call { tool: named(tool), kind: named(kind), args, diffs: &[] });
        let paths =
            evidence.as_ref().map(|evidence| resolve(evidence, &project)).unwrap_or_default();
        let subject = Subject { evidence: evidence.as_ref(), paths: &paths };
        let ruling = match decide(&rules, subject) {
            Ruling::Allowed(_) => ALLOWED,
            Ruling::Denied(_) => DENIED,
            Ruling::Doubtful(_) | Ruling::Silent => ASKED,
        };
        if ruling != *expected {
            wrong.push(format!("{tool}{kind} {args}: {ruling}, not {expected}"));
        }
        // What is offered for it is no more than a rule for this very call.
        for proposal in proposals(subject, &rules, "harbour") {
            proposal.matcher.check(Effect::Allow).unwrap();
        }
    }
    assert_eq!(wrong, Vec::<String>::new());
    let count = |wanted: &str| rows.iter().filter(|(.., expected)| *expected == wanted).count();
    assert!(count(ASKED) >= 60 && count(ALLOWED) >= 20 && count(DENIED) >= 15, "{}", rows.len());
}
