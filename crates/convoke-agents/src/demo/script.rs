//! The requests that the demo agent understands, in plain text or as commands.

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
pub(super) enum Request<'a> {
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

/// Words in a long answer without a given number.
const LONG: u32 = 200;

impl<'a> Request<'a> {
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
    // Emphasis ends with its paragraph, so every line has its own.
    let lines = prompt.trim().lines().map(|line| match line.trim() {
        "" => String::new(),
        line => format!("**{line}**"),
    });
    let said = lines.collect::<Vec<_>>().join("\n");
    format!(
        "You said: {said}\n\nI am the demo agent. No model is behind me, but everything around me is real: \
         this session is stored, can be stopped, resumed and watched from everywhere.\n\nTry one of these:\n\n{commands}\n\
         This was the demo agent: send it one of these, or anything else."
    )
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_prompt_is_understood_by_its_first_word() {
        assert_eq!(Request::of("/think hard"), Request::Think);
        assert_eq!(Request::of("  Plan something"), Request::Plan);
        assert_eq!(Request::of("/read src/main.rs please"), Request::Read("src/main.rs"));
        assert_eq!(
            Request::of("write a.txt two words"),
            Request::Write { path: "a.txt", text: "two words" }
        );
        assert_eq!(Request::of("/long 7"), Request::Long(7));
        assert_eq!(Request::of("long"), Request::Long(LONG));
        for chat in ["", "hello", "read", "write", "thinking"] {
            assert_eq!(Request::of(chat), Request::Chat, "{chat}");
        }
    }
}
