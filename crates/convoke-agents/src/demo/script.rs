//! What the demo agent can be asked for, in plain words or by commands.

/// The commands, and what they do.
pub(super) const COMMANDS: [(&str, &str); 8] = [
    ("think", "think aloud before answering"),
    ("plan", "make a plan and tick it off"),
    ("read", "read a file of the workspace: /read README.md"),
    ("write", "write a file of the workspace, after asking: /write notes.txt hello"),
    ("ask", "ask you a question"),
    ("long", "give a long answer that you can stop: /long 500"),
    ("fail", "fail this turn"),
    ("crash", "end the process in the middle of the turn"),
];

/// What a prompt asks for.
#[derive(Debug, PartialEq, Eq)]
pub(super) enum Wish<'a> {
    Think,
    Plan,
    Read(&'a str),
    Write { path: &'a str, text: &'a str },
    Ask,
    Long(u32),
    Fail,
    Crash,
    Chat,
}

/// Words that a long answer has when nobody says how many.
const LONG: u32 = 200;

impl<'a> Wish<'a> {
    /// Understands a prompt: its first word, with or without a slash, is the command.
    pub(super) fn of(prompt: &'a str) -> Self {
        let prompt = prompt.trim();
        let (word, rest) = prompt.split_once(char::is_whitespace).unwrap_or((prompt, ""));
        let rest = rest.trim();
        let (first, last) = rest.split_once(char::is_whitespace).unwrap_or((rest, ""));
        match word.trim_start_matches('/').to_ascii_lowercase().as_str() {
            "think" => Self::Think,
            "plan" => Self::Plan,
            "read" if !first.is_empty() => Self::Read(first),
            "write" if !first.is_empty() => Self::Write { path: first, text: last.trim() },
            "ask" => Self::Ask,
            "long" => Self::Long(first.parse().unwrap_or(LONG)),
            "fail" => Self::Fail,
            "crash" => Self::Crash,
            _ => Self::Chat,
        }
    }
}

/// What it says to everything else.
pub(super) fn chat(prompt: &str) -> String {
    let commands: String = COMMANDS
        .iter()
        .map(|(name, description)| format!("- `/{name}`: {description}\n"))
        .collect();
    format!(
        "You said: **{}**\n\nI am the demo agent. No model is behind me, but everything around me is real: \
         this session is stored, can be stopped, resumed and watched from everywhere.\n\nTry one of these:\n\n{commands}",
        prompt.trim()
    )
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_prompt_is_understood_by_its_first_word() {
        assert_eq!(Wish::of("/think hard"), Wish::Think);
        assert_eq!(Wish::of("  Plan something"), Wish::Plan);
        assert_eq!(Wish::of("/read src/main.rs please"), Wish::Read("src/main.rs"));
        assert_eq!(
            Wish::of("write a.txt two words"),
            Wish::Write { path: "a.txt", text: "two words" }
        );
        assert_eq!(Wish::of("/long 7"), Wish::Long(7));
        assert_eq!(Wish::of("long"), Wish::Long(LONG));
        for chat in ["", "hello", "read", "write", "thinking"] {
            assert_eq!(Wish::of(chat), Wish::Chat, "{chat}");
        }
    }
}
