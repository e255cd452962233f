//! The reference page of the settings, generated from the list of settings and compared with the
//! file in the repository.

use std::fmt::Write;
use std::fs;
use std::path::Path;

use super::agents::FIELDS;
use super::projects::KEYS;
use super::settings::SETTINGS;
use crate::environment::Environment;

const PAGE: &str = concat!(env!("CARGO_MANIFEST_DIR"), "/../../docs/configuration.md");

const INTRODUCTION: &str = "\
# Configuration

<!-- Made from the list of settings: UPDATE_DOCS=1 cargo nextest run -p convoke the_reference_page -->

Convoke keeps its conversations and settings in its home: `--home`, else `$CONVOKE_HOME`, else `~/.convoke`.
The settings are in `config.toml` there; every one of them is optional.
A running daemon reads `notify.command`, `editor.open` and `editor.command` again by itself; after any other change run `convoke stop`, and the next command starts it again.
Flags override environment variables, variables override the file, and the file overrides the defaults.
`convoke config show` prints every value with its source.

In strings, `${VAR}` is replaced by an environment variable, and `${VAR:-default}` by the default if the variable is not set or empty; `$${` is a literal `${`.
A path may start with `~` or `~/`.
An unknown key, a wrong type or a value out of range stops the program with an error that gives the file, the line and the accepted values.

| key | default | accepts | variable, flag | what it is for |
|---|---|---|---|---|
";

const AGENTS: &str = "
## Agents

A table `[agents.NAME]` changes a built-in agent field by field, or adds an agent, which then needs at least a `command`.

| key | what it is for |
|---|---|
";

const PROJECTS: &str = "
## Projects

A table `[projects.\"PATH\"]`, with the absolute path of a folder, holds for the agents that work there.

| key | what it is for |
|---|---|
";

#[test]
fn the_reference_page_says_what_the_list_of_settings_says() {
    let page = page();
    if Environment::of_this_process().get("UPDATE_DOCS").is_some() {
        fs::write(PAGE, &page).unwrap();
    }
    let written = fs::read_to_string(Path::new(PAGE)).unwrap();
    assert!(
        written == page,
        "docs/configuration.md is out of date; its second line says how to make it"
    );
}

fn page() -> String {
    let mut page = INTRODUCTION.to_owned();
    for setting in &SETTINGS {
        let others: Vec<String> = [setting.variable, setting.flag]
            .iter()
            .flatten()
            .map(|name| format!("`{name}`"))
            .collect();
        let (default, accepts) = (setting.kind.default_toml(), &setting.kind);
        let (range, others) = (setting.kind.range(), others.join(", "));
        writeln!(
            page,
            "| `{}` | `{default}` | {accepts}{range} | {others} | {} |",
            setting.key, setting.doc
        )
        .unwrap();
    }
    page.push_str(AGENTS);
    for field in &FIELDS {
        writeln!(page, "| `{}` | {} |", field.key, field.doc).unwrap();
    }
    page.push_str(PROJECTS);
    for (key, doc) in KEYS {
        writeln!(page, "| `{key}` | {doc} |").unwrap();
    }
    page
}
