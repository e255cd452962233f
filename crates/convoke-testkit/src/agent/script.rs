//! The script of an agent, as data.

use std::collections::BTreeMap;

use serde::{Deserialize, Serialize};
use serde_json::{Value, json};

/// Everything that an agent does.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase", deny_unknown_fields, default)]
pub struct Script {
    /// The id of the session that it opens; any text. Claude gets its session's id as an argument instead.
    pub session: String,
    /// Its capabilities, as ACP's `agentCapabilities`.
    pub capabilities: Value,
    /// Its steps on requests other than prompts: ACP's methods, or the subtypes of Claude's control
    /// requests.
    pub on: BTreeMap<String, Vec<Step>>,
    /// Its turns on prompts. A prompt that matches none is echoed.
    pub turns: Vec<Turn>,
    /// What it ignores.
    pub ignores: Vec<Ignored>,
}

/// The steps on one prompt. Every turn is played once.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub struct Turn {
    /// Text that the prompt must contain; without it any prompt matches.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub when: Option<String>,
    /// The steps, in order. Without an answer among them, the turn ends normally after the last.
    pub steps: Vec<Step>,
}

/// Something that a well-behaved agent reacts to.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Ignored {
    /// A request to cancel the turn.
    Cancel,
    /// SIGTERM, in a process.
    Terminate,
    /// The end of its input, in a process.
    EndOfInput,
}

/// One thing that an agent does.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Step {
    /// Says a piece of its answer.
    Say(String),
    /// Says one message in these pieces.
    Stream(Vec<String>),
    /// Sends the numbers from 1 to this one, each in its own chunk, separated by blanks.
    Count(u64),
    /// Says at least so many bytes, in pieces of 4 KiB.
    Flood(usize),
    /// Thinks aloud.
    Think(String),
    /// Makes a plan of these steps.
    Plan(Vec<String>),
    /// Calls a tool. The same call again, with the same id, is a duplicate.
    Call(Tool),
    /// Updates a call, perhaps with its end.
    Update(Tool),
    /// Asks for permission and continues with the steps for the answer.
    Ask(Ask),
    /// Asks for permission and takes that back before it is answered.
    AskInVain(Ask),
    /// Makes any request of the client, and says what comes back as JSON.
    Request {
        /// The method, or the subtype of Claude's control request.
        method: String,
        /// Its parameters.
        params: Value,
    },
    /// Sends any `update` of a session in ACP, such as usage, commands, modes and unknown kinds.
    Tell(Value),
    /// Says a word in a line of at least so many bytes.
    LongLine(usize),
    /// Repeats the prompt as a message of the user.
    Echo,
    /// Sends any JSON.
    Send(Value),
    /// Prints any line.
    Print(String),
    /// Prints so many bytes of complaints on standard error.
    Complain(usize),
    /// Answers the request with this result; for Claude, with these fields in the frame that ends the turn.
    Answer(Value),
    /// Answers the request with this error; Claude calls that a success with `is_error`.
    Fail {
        /// The code; some agents use HTTP's.
        code: i64,
        /// What it says.
        message: String,
    },
    /// Does nothing until it is cancelled.
    Hang,
    /// Starts `sleep` in the same group, which keeps the pipes open, and writes its number into this file.
    Spawn(String),
    /// Exits with this code.
    Exit(u8),
    /// Dies of this signal.
    Die(i32),
}

/// A tool call, as far as the agent says anything about it.
#[derive(Debug, Clone, PartialEq, Default, Serialize, Deserialize)]
#[serde(rename_all = "camelCase", deny_unknown_fields, default)]
pub struct Tool {
    /// The agent's id of the call.
    pub id: String,
    /// The tool's name.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub name: Option<String>,
    /// What the agent calls this call.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub title: Option<String>,
    /// What sort of tool it is.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub kind: Option<String>,
    /// The arguments.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub args: Option<Value>,
    /// Its status as in ACP. Claude knows only calls without a status, and those that ended.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub status: Option<String>,
    /// What the tool printed.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub output: Option<String>,
}

/// A request for permission.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub struct Ask {
    /// The id of the request, of any type; without it the agent counts.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub request: Option<Value>,
    /// What it is for: a call that was announced, one that was not, or a bare id.
    pub tool: Tool,
    /// What the human can choose from. Claude always offers `allow` and `deny`.
    #[serde(default)]
    pub choices: Vec<Choice>,
    /// The next steps, by the chosen option, by `cancelled` or by `failed`. Without them the agent continues, or ends
    /// its turn when it was cancelled.
    #[serde(default)]
    pub then: BTreeMap<String, Vec<Step>>,
}

/// An option of a permission.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Choice {
    /// The agent's id of it.
    pub id: String,
    /// Its kind as in ACP.
    pub kind: String,
}

/// The two protocols.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Protocol {
    /// The Agent Client Protocol, version 1.
    Acp,
    /// Claude's own frames.
    Claude,
}

impl Default for Script {
    fn default() -> Self {
        Self {
            session: "s1".to_owned(),
            capabilities: json!({"loadSession": true}),
            on: BTreeMap::new(),
            turns: Vec::new(),
            ignores: Vec::new(),
        }
    }
}

impl Script {
    /// An agent that does everything right and echoes its prompts.
    pub fn new() -> Self {
        Self::default()
    }

    /// The same with one more turn, for the next prompt that no other turn fits.
    #[must_use]
    pub fn turn(mut self, steps: impl Into<Vec<Step>>) -> Self {
        self.turns.push(Turn { when: None, steps: steps.into() });
        self
    }

    /// The same with one more turn, for a prompt that contains this text.
    #[must_use]
    pub fn when(mut self, words: &str, steps: impl Into<Vec<Step>>) -> Self {
        self.turns.push(Turn { when: Some(words.to_owned()), steps: steps.into() });
        self
    }

    /// The same with other manners on a request.
    #[must_use]
    pub fn on(mut self, method: &str, steps: impl Into<Vec<Step>>) -> Self {
        self.on.insert(method.to_owned(), steps.into());
        self
    }

    /// The same without a reaction to something.
    #[must_use]
    pub fn ignoring(mut self, what: Ignored) -> Self {
        self.ignores.push(what);
        self
    }

    /// The same with another id of the session.
    #[must_use]
    pub fn session(mut self, id: &str) -> Self {
        id.clone_into(&mut self.session);
        self
    }

    /// The same with other capabilities.
    #[must_use]
    pub fn capabilities(mut self, capabilities: Value) -> Self {
        self.capabilities = capabilities;
        self
    }
}

impl Step {
    /// Says something.
    pub fn say(text: &str) -> Self {
        Self::Say(text.to_owned())
    }

    /// Answers with an error.
    pub fn fail(code: i64, message: &str) -> Self {
        Self::Fail { code, message: message.to_owned() }
    }

    /// Ends the turn for this reason of ACP's.
    pub fn stop(reason: &str) -> Self {
        Self::Answer(json!({"stopReason": reason}))
    }
}

impl Tool {
    /// A call of which only the id is known.
    pub fn bare(id: &str) -> Self {
        Self { id: id.to_owned(), ..Self::default() }
    }

    /// A call of a tool.
    pub fn named(id: &str, name: &str, args: Value) -> Self {
        let (name, title) = (Some(name.to_owned()), Some(name.to_owned()));
        Self { id: id.to_owned(), name, title, args: Some(args), ..Self::default() }
    }

    /// The same, over and done.
    #[must_use]
    pub fn done(mut self, output: &str) -> Self {
        self.status = Some("completed".to_owned());
        self.output = Some(output.to_owned());
        self
    }
}

impl Ask {
    /// A request with these choices, each an id and a kind.
    pub fn new(tool: Tool, choices: &[(&str, &str)]) -> Self {
        let choice =
            |(id, kind): &(&str, &str)| Choice { id: (*id).to_owned(), kind: (*kind).to_owned() };
        let choices = choices.iter().map(choice).collect();
        Self { request: None, tool, choices, then: BTreeMap::new() }
    }

    /// The same with what is done on an answer.
    #[must_use]
    pub fn then(mut self, answer: &str, steps: impl Into<Vec<Step>>) -> Self {
        self.then.insert(answer.to_owned(), steps.into());
        self
    }

    /// The same with an id of any type.
    #[must_use]
    pub fn request(mut self, id: Value) -> Self {
        self.request = Some(id);
        self
    }
}
