//! Lines that the user types: prompts for the agent, and commands of the REPL.

use std::num::NonZero;
use std::path::PathBuf;

use convoke_core::state::OfferedCommand;

/// The commands: name, argument, description.
pub(super) const COMMANDS: [(&str, &str, &str); 9] = [
    ("help", "", "show this"),
    ("exit", "", "leave; the session can be resumed"),
    ("save", "[FILE]", "show where the session is saved, or save a copy as Markdown"),
    ("history", "[N]", "show the last N turns, 10 by default"),
    ("clear", "", "start the agent without context; the transcript keeps every turn"),
    ("stats", "", "show the length and the cost of the session"),
    ("agent", "[NAME]", "switch to another agent or role, or list them"),
    ("export", "FILE", "write the session as .md, .json or .jsonl"),
    ("import", "FILE", "add the turns of a .jsonl or .json file to this session"),
];

/// A line that was typed.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) enum Input {
    /// Nothing.
    Empty,
    /// A prompt for the agent.
    Prompt(String),
    /// One of the agent's own commands, which is sent unchanged.
    Pass(String),
    /// A command of the REPL.
    Command(Command),
    /// A command that is unknown or used wrongly, and why.
    Misunderstood(String),
}

/// A command of the REPL.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) enum Command {
    Help,
    Exit,
    Save(Option<PathBuf>),
    History(usize),
    Clear,
    Stats,
    Agent(Option<String>),
    Export(PathBuf),
    Import(PathBuf),
}

/// Turns that `/history` shows by default.
const HISTORY: usize = 10;

impl Input {
    /// Parses a line, given the commands that the agent offers.
    pub(super) fn of(line: &str, offered: &[OfferedCommand]) -> Self {
        let text = line.trim();
        if text.is_empty() {
            return Self::Empty;
        }
        let Some(rest) = text.strip_prefix('/') else { return Self::Prompt(text.to_owned()) };
        // A second slash sends a command to the agent even if the REPL has one of that name.
        if rest.starts_with('/') {
            return Self::Pass(rest.to_owned());
        }
        let (name, argument) = rest.split_once(char::is_whitespace).unwrap_or((rest, ""));
        // A path is no command.
        if name.is_empty() || name.contains('/') {
            return Self::Prompt(text.to_owned());
        }
        match own(name, argument.trim()) {
            Some(Ok(command)) => Self::Command(command),
            Some(Err(usage)) => Self::Misunderstood(usage),
            None if offered.iter().any(|command| command.name == name) => {
                Self::Pass(text.to_owned())
            }
            None => Self::Misunderstood(format!("unknown command /{name}; /help shows them all")),
        }
    }
}

/// A command of the REPL, or its usage.
fn own(name: &str, argument: &str) -> Option<Result<Command, String>> {
    let (_, follows, _) = COMMANDS.iter().find(|(known, _, _)| *known == name)?;
    let usage = || format!("usage: /{name} {follows}").trim_end().to_owned();
    let given = Some(argument).filter(|argument| !argument.is_empty());
    let file = || given.map(PathBuf::from).ok_or_else(usage);
    Some(match (name, given) {
        ("help", None) => Ok(Command::Help),
        ("exit", None) => Ok(Command::Exit),
        ("save", file) => Ok(Command::Save(file.map(PathBuf::from))),
        ("history", None) => Ok(Command::History(HISTORY)),
        ("history", Some(count)) => match count.parse::<NonZero<usize>>() {
            Ok(count) => Ok(Command::History(count.get())),
            Err(_) => Err(format!("{}; N must be 1 or more", usage())),
        },
        ("clear", None) => Ok(Command::Clear),
        ("stats", None) => Ok(Command::Stats),
        ("agent", name) => Ok(Command::Agent(name.map(str::to_owned))),
        ("export", _) => file().map(Command::Export),
        ("import", _) => file().map(Command::Import),
        (_, _) => Err(usage()),
    })
}

/// The text of `/help`.
pub(super) fn help(offered: &[OfferedCommand]) -> String {
    let ours = COMMANDS.iter().map(|(name, follows, what)| (format!("/{name} {follows}"), *what));
    let mut text = rows(&ours.collect::<Vec<_>>());
    let is_ours =
        |command: &OfferedCommand| COMMANDS.iter().any(|(name, ..)| *name == command.name);
    if !offered.is_empty() {
        text += "\nCommands of the agent:\n";
        let theirs = offered.iter().map(|command| {
            let slashes = if is_ours(command) { "//" } else { "/" };
            (format!("{slashes}{}", command.name), command.description.as_str())
        });
        text += &rows(&theirs.collect::<Vec<_>>());
    }
    text + "\nA line that ends with \\ continues on the next one. Ctrl-C stops the agent, Ctrl-D leaves.\n"
}

fn rows(rows: &[(String, &str)]) -> String {
    let width = rows.iter().map(|(left, _)| left.chars().count()).max().unwrap_or_default();
    rows.iter().map(|(left, right)| format!("  {left:width$}  {right}\n")).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn offered(name: &str) -> OfferedCommand {
        let description = format!("does {name}");
        OfferedCommand { name: name.to_owned(), description, hint: None }
    }

    #[test]
    fn a_line_is_a_prompt_or_a_command_and_an_unknown_command_is_said() {
        let offers = [offered("plan"), offered("clear")];
        let told: Vec<String> = [
            " ",
            "hello",
            "/help",
            "/help me",
            "/exit",
            "/save",
            "/save my talk.md",
            "/history",
            "/history 3",
            "/history all",
            "/history 0",
            "/clear",
            "/stats",
            "/agent",
            "/agent codex",
            "/export",
            "/export a.json",
            "/import x.jsonl",
            "/plan a trip",
            "//clear",
            "/frobnicate",
            "/etc/passwd is broken",
            "/",
            "a /b",
        ]
        .iter()
        .map(|line| format!("{line:?}: {:?}\n", Input::of(line, &offers)))
        .collect();
        insta::assert_snapshot!(told.concat(), @r#"
        " ": Empty
        "hello": Prompt("hello")
        "/help": Command(Help)
        "/help me": Misunderstood("usage: /help")
        "/exit": Command(Exit)
        "/save": Command(Save(None))
        "/save my talk.md": Command(Save(Some("my talk.md")))
        "/history": Command(History(10))
        "/history 3": Command(History(3))
        "/history all": Misunderstood("usage: /history [N]; N must be 1 or more")
        "/history 0": Misunderstood("usage: /history [N]; N must be 1 or more")
        "/clear": Command(Clear)
        "/stats": Command(Stats)
        "/agent": Command(Agent(None))
        "/agent codex": Command(Agent(Some("codex")))
        "/export": Misunderstood("usage: /export FILE")
        "/export a.json": Command(Export("a.json"))
        "/import x.jsonl": Command(Import("x.jsonl"))
        "/plan a trip": Pass("/plan a trip")
        "//clear": Pass("/clear")
        "/frobnicate": Misunderstood("unknown command /frobnicate; /help shows them all")
        "/etc/passwd is broken": Prompt("/etc/passwd is broken")
        "/": Prompt("/")
        "a /b": Prompt("a /b")
        "#);
    }

    #[test]
    fn the_help_shows_every_command_and_those_of_the_agent() {
        insta::assert_snapshot!(help(&[offered("plan"), offered("clear")]), @r"
          /help          show this
          /exit          leave; the session can be resumed
          /save [FILE]   show where the session is saved, or save a copy as Markdown
          /history [N]   show the last N turns, 10 by default
          /clear         start the agent without context; the transcript keeps every turn
          /stats         show the length and the cost of the session
          /agent [NAME]  switch to another agent or role, or list them
          /export FILE   write the session as .md, .json or .jsonl
          /import FILE   add the turns of a .jsonl or .json file to this session

        Commands of the agent:
          /plan    does plan
          //clear  does clear

        A line that ends with \ continues on the next one. Ctrl-C stops the agent, Ctrl-D leaves.
        ");
    }
}
