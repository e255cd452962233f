//! What rules say, which ones are offered, and that the ones that are offered fit.

use proptest::prelude::*;
use serde_json::json;

use super::*;
use crate::evidence::Evidence;

fn rule(number: u8, effect: Effect, matcher: Matcher) -> Rule {
    Rule {
        id: RuleId::from_random([number; 16]),
        effect,
        matcher,
        agent: None,
        project_id: None,
        user: None,
        created_at: Timestamp::from_millis(0),
        request_id: None,
        session_id: None,
        used_count: 0,
        last_used_at: None,
    }
}

fn inside(path: &str) -> Option<ResolvedPath> {
    let real = std::path::Path::new("/srv/harbour").join(path);
    Some(ResolvedPath {
        real,
        inside: Some(path.into()),
        is_protected: path.contains(".git/hooks"),
    })
}

/// The rules that are offered for a request, as labels.
fn offered(evidence: &Evidence, paths: &[Option<ResolvedPath>], rules: &[Rule]) -> Vec<String> {
    let subject = Subject { evidence: Some(evidence), paths };
    let offered = proposals(subject, rules, "harbour");
    for proposal in &offered {
        proposal.matcher.check(Effect::Allow).unwrap();
        let mut rules = rules.to_vec();
        rules.push(rule(200, Effect::Allow, proposal.matcher.clone()));
        assert!(matches!(decide(&rules, subject), Ruling::Allowed(_)), "{}", proposal.label);
        rules.push(rule(201, Effect::Deny, proposal.matcher.clone()));
        assert!(matches!(decide(&rules, subject), Ruling::Denied(_)), "{}", proposal.label);
    }
    offered.into_iter().map(|proposal| proposal.label).collect()
}

fn for_command(line: &str) -> String {
    offered(&Evidence::command(line.to_owned()), &[], &[]).join(", ")
}

#[test]
fn p2_the_narrowest_rule_is_offered_first() {
    insta::assert_snapshot!(for_command("cargo test"), @"`cargo test` in harbour, `cargo test …` in harbour, `cargo test …` everywhere");
    insta::assert_snapshot!(for_command("cargo test --all foo"), @"`cargo test --all foo` in harbour, `cargo test --all …` in harbour, `cargo test --all …` everywhere");
    insta::assert_snapshot!(for_command("ls -la 'a b'"), @"`ls -la 'a b'` in harbour, `ls -la …` in harbour, `ls -la …` everywhere");
    insta::assert_snapshot!(for_command("npm run build"), @"`npm run build` in harbour, `npm run build …` in harbour, `npm run build …` everywhere");
    insta::assert_snapshot!(for_command("./test p2"), @"`./test p2` in harbour, `./test p2 …` in harbour, `./test p2 …` everywhere");
    let fetch =
        Evidence::Fetch { url: "https://doc.rust-lang.org/std".to_owned(), omitted_bytes: 0 };
    insta::assert_snapshot!(offered(&fetch, &[], &[]).join(", "), @"fetches from `doc.rust-lang.org` in harbour, fetches from `doc.rust-lang.org` everywhere");
    let tool = |server: Option<&str>| Evidence::Tool {
        server: server.map(str::to_owned),
        tool: "list_issues".to_owned(),
        args: json!({"command": "x"}),
        omitted_bytes: 0,
    };
    insta::assert_snapshot!(offered(&tool(Some("github")), &[], &[]).join(", "), @"`list_issues` of `github` in harbour, `list_issues` of `github` everywhere");
    assert_eq!(offered(&tool(None), &[], &[]), Vec::<String>::new());
}

#[test]
fn p2_programs_that_run_others_are_offered_as_exact_lines_only() {
    for line in [
        "sudo ls",
        "env ls",
        "sh -c 'rm -rf /'",
        "python3 -c pass",
        "xargs rm",
        "find . -delete",
        "cd /tmp",
        "rm a",
        "git config a b",
        "uv run python",
        "timeout 5 cargo test",
    ] {
        assert_eq!(for_command(line), format!("`{line}` in harbour"), "{line}");
    }
    for line in ["ls > a", "ls; rm a", "ls $x", "X=1 ls", "ls &", "echo é"] {
        assert_eq!(for_command(line), "", "{line}");
    }
}

#[test]
fn p2_of_a_list_the_only_command_without_a_rule_is_offered() {
    let ls = Matcher::command("ls ...").unwrap();
    let rules = [rule(1, Effect::Allow, ls)];
    let list = |line: &str| offered(&Evidence::command(line.to_owned()), &[], &rules);
    assert_eq!(list("ls a && git status | ls").first().unwrap(), "`git status` in harbour");
    assert_eq!(list("ls a && git status; git log"), Vec::<String>::new());
}

#[test]
fn p2_files_are_offered_by_path_by_folder_and_by_project() {
    let changes = Evidence::Changes { diffs: Vec::new(), omitted_bytes: 0 };
    let labels = |paths: &[&str]| {
        let paths: Vec<_> = paths.iter().map(|path| inside(path)).collect();
        offered(&changes, &paths, &[]).join(", ")
    };
    insta::assert_snapshot!(labels(&["src/a/b.rs"]), @"changes to `src/a/b.rs` in harbour, changes to `src/a/**` in harbour, changes to `**` in harbour");
    insta::assert_snapshot!(labels(&["src/a/b.rs", "src/c.rs"]), @"changes to `src/**` in harbour, changes to `**` in harbour");
    insta::assert_snapshot!(labels(&["Cargo.toml"]), @"changes to `Cargo.toml` in harbour, changes to `**` in harbour");
    assert_eq!(labels(&[".git/hooks/pre-commit"]), "");
    assert_eq!(labels(&["src/*.rs"]), "");
    let read = Evidence::Read { paths: vec!["/etc/hosts".to_owned()], omitted_bytes: 0 };
    let outside = ResolvedPath { real: "/etc/hosts".into(), inside: None, is_protected: false };
    assert_eq!(offered(&read, &[Some(outside)], &[]), ["reading `/etc/hosts` in harbour"]);
    assert_eq!(offered(&read, &[None], &[]), Vec::<String>::new());
}

#[test]
fn p2_what_is_cut_is_neither_offered_nor_allowed_and_denied_only_if_that_is_sure() {
    let cut = Evidence::Command {
        command: "ls".to_owned(),
        working_directory: None,
        arguments: None,
        omitted_bytes: 1,
    };
    assert_eq!(offered(&cut, &[], &[]), Vec::<String>::new());
    let ruling = |effect, line: &str, evidence: Option<&Evidence>| {
        let rules = [rule(1, effect, Matcher::command(line).unwrap())];
        match decide(&rules, Subject { evidence, paths: &[] }) {
            Ruling::Allowed(_) => "allowed",
            Ruling::Denied(_) => "denied",
            Ruling::Doubtful(_) => "doubtful",
            Ruling::Silent => "silent",
        }
    };
    assert_eq!(ruling(Effect::Allow, "ls ...", Some(&cut)), "silent");
    assert_eq!(ruling(Effect::Deny, "ls", Some(&cut)), "denied");
    assert_eq!(ruling(Effect::Deny, "rm", Some(&cut)), "doubtful");
    assert_eq!(ruling(Effect::Deny, "rm", None), "doubtful");
    assert_eq!(ruling(Effect::Allow, "ls", None), "silent");
}

#[test]
fn p2_rules_are_said_in_words_and_nonsense_is_refused_with_a_reason() {
    let mut made = rule(1, Effect::Deny, Matcher::command("git push …").unwrap());
    assert_eq!(made.text(None), "Deny `git push …` everywhere");
    made.agent = Some("codex".parse().unwrap());
    assert_eq!(made.text(Some("harbour")), "Deny `git push …` in harbour for codex");
    let refused = |effect, matcher: Matcher| matcher.check(effect).unwrap_err().to_string();
    let glob = |glob: &str| Matcher::Edit { glob: glob.to_owned() };
    let refusals = [
        Matcher::command("ls; rm").unwrap_err().to_string(),
        Matcher::command("…").unwrap_err().to_string(),
        refused(Effect::Allow, Matcher::command("sudo …").unwrap()),
        refused(Effect::Allow, Matcher::command("git …").unwrap()),
        refused(Effect::Allow, Matcher::Command { words: Vec::new(), more: true }),
        refused(Effect::Deny, glob("../a")),
        refused(Effect::Allow, Matcher::Tool { server: None, tool: "Bash".to_owned() }),
        refused(Effect::Allow, Matcher::Fetch { domain: "localhost".to_owned() }),
    ];
    insta::assert_snapshot!(refusals.join("\n"));
    Matcher::command("sudo …").unwrap().check(Effect::Deny).unwrap();
}

#[test]
fn rules_hold_for_their_agent_and_project_only() {
    let [claude, codex] = ["claude-code", "codex"].map(|name| name.parse::<AgentName>().unwrap());
    let [here, there] = [1, 2].map(|number| ProjectId::from_random([number; 16]));
    let any = rule(1, Effect::Allow, Matcher::command("ls").unwrap());
    let narrow = Rule { agent: Some(claude.clone()), project_id: Some(here), ..any.clone() };
    let ada: UserName = "ada".parse().unwrap();
    let hers = Rule { user: Some(ada.clone()), ..any.clone() };
    for user in [None, Some(&ada)] {
        assert!(any.holds_for(here, &claude, user) && any.holds_for(there, &codex, user));
        assert!(narrow.holds_for(here, &claude, user));
        assert!(!narrow.holds_for(there, &claude, user) && !narrow.holds_for(here, &codex, user));
        assert_eq!(hers.holds_for(here, &claude, user), user.is_some());
    }
    assert!(!hers.holds_for(here, &claude, Some(&"bob".parse().unwrap())));
}

proptest! {
    #[test]
    fn p2_an_allowed_line_is_made_of_allowed_commands_only(
        parts in prop::collection::vec("(cargo test|rm -rf /|ls|a|&&|;|\\||\\$\\(|`|'|\"|\\\\|-x|x=1|>|\n| ){0,3}", 0..6)
    ) {
        let line = parts.concat();
        let rules = [rule(1, Effect::Allow, Matcher::command("cargo test …").unwrap())];
        let evidence = Evidence::command(line.clone());
        let ruling = decide(&rules, Subject { evidence: Some(&evidence), paths: &[] });
        if matches!(ruling, Ruling::Allowed(_)) && !line.contains(['\'', '"']) {
            // A second, cruder reading must find nothing but the allowed command.
            for segment in line.split(['&', ';', '|', '\n']).map(str::trim).filter(|part| !part.is_empty()) {
                prop_assert!(segment.starts_with("cargo test"), "{line:?}");
                prop_assert!(!segment.contains(['$', '`', '>', '\\']), "{line:?}");
            }
        }
    }

    #[test]
    fn p2_no_text_breaks_the_comparison(text in any::<String>(), glob in any::<String>()) {
        let deny = rule(1, Effect::Deny, Matcher::command("rm").unwrap());
        let path = rule(2, Effect::Allow, Matcher::Edit { glob });
        let evidence = Evidence::command(text.clone());
        let subject = Subject { evidence: Some(&evidence), paths: &[] };
        let (rules, paths) = ([deny, path], [inside(&text)]);
        decide(&rules, subject);
        proposals(subject, &rules, &text);
        let changes = Evidence::Changes { diffs: Vec::new(), omitted_bytes: 0 };
        decide(&rules, Subject { evidence: Some(&changes), paths: &paths });
    }
}
