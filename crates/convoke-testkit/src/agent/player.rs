//! Plays a script over a pair of streams.

use std::collections::VecDeque;
use std::io;
use std::pin::Pin;

use serde_json::{Value, json};
use tokio::io::{AsyncBufReadExt, AsyncRead, AsyncWrite, AsyncWriteExt, BufReader, Lines};

use super::acp::Acp;
use super::claude::Claude;
use super::dialect::{ClientMessage, ClientRequest, Dialect};
use super::process;
use super::script::{Ask, Ignored, Protocol, Script, Step, Turn};

/// The size of one piece of a flood.
const FLOOD_PIECE_BYTES: usize = 4 << 10;

/// The result for a permission that was not decided.
const CANCELLED: &str = "cancelled";

/// How a scripted agent ended.
#[derive(Debug)]
pub enum Ending {
    /// Its client disconnected.
    Closed,
    /// The script demands this exit code.
    Exit(u8),
    /// The script demands death by this signal.
    Die(i32),
    /// Its pipes broke, or the protocol cannot express a step of the script.
    Failed(io::Error),
}

impl From<io::Error> for Ending {
    fn from(error: io::Error) -> Self {
        Self::Failed(error)
    }
}

/// Plays a script until its client disconnects or the script ends it.
pub async fn serve(
    protocol: Protocol,
    script: Script,
    input: impl AsyncRead + Send + Unpin + 'static,
    output: impl AsyncWrite + Send + 'static,
) -> Ending {
    let dialect: Box<dyn Dialect> = match protocol {
        Protocol::Acp => Box::new(Acp {
            session: script.session.clone(),
            capabilities: script.capabilities.clone(),
        }),
        Protocol::Claude => Box::new(Claude::new(script.session.clone())),
    };
    let input: Box<dyn AsyncRead + Send + Unpin> = Box::new(input);
    let lines = BufReader::new(input).lines();
    let mut player = Player { script, dialect, lines, output: Box::pin(output), asked: 0 };
    loop {
        if let Err(ending) = player.handle_message().await {
            return ending;
        }
    }
}

struct Player {
    script: Script,
    dialect: Box<dyn Dialect>,
    lines: Lines<BufReader<Box<dyn AsyncRead + Send + Unpin>>>,
    output: Pin<Box<dyn AsyncWrite + Send>>,
    /// How many requests it has made; real agents begin with 0.
    asked: u64,
}

/// The result of a wait.
enum Outcome {
    Answered { choice: String, whole: Value },
    Cancelled,
}

/// The result of a step.
enum Next {
    GoOn,
    /// The request is answered; there may be more to do all the same.
    Answered,
    /// Run these steps first.
    Insert(Vec<Step>),
    /// The turn was cancelled.
    GiveUp,
}

type Played<T = ()> = Result<T, Ending>;

impl Player {
    /// Handles the next message of the client.
    async fn handle_message(&mut self) -> Played {
        match self.next_message().await? {
            ClientMessage::Request(request) => self.play(request).await,
            // It was too late to stop anything.
            ClientMessage::Cancel { receipt } => self.send_all(receipt).await,
            ClientMessage::Answer { .. } | ClientMessage::Other => Ok(()),
        }
    }

    /// Runs the steps for a request, and answers it.
    async fn play(&mut self, request: ClientRequest) -> Played {
        let mut steps: VecDeque<Step> = self.steps_for(&request).into();
        let mut is_answered = false;
        while let Some(step) = steps.pop_front() {
            match self.act(step, &request).await? {
                Next::GoOn => {}
                Next::Answered => is_answered = true,
                Next::Insert(more) => more.into_iter().rev().for_each(|it| steps.push_front(it)),
                Next::GiveUp if is_answered => return Ok(()),
                Next::GiveUp => {
                    let messages = self.dialect.cancelled(&request);
                    return self.send_all(messages).await;
                }
            }
        }
        if is_answered {
            return Ok(());
        }
        let messages = self.dialect.proper_answer(&request);
        self.send_all(messages).await
    }

    async fn act(&mut self, step: Step, request: &ClientRequest) -> Played<Next> {
        match step {
            Step::Say(_)
            | Step::Stream(_)
            | Step::Think(_)
            | Step::Plan(_)
            | Step::Call(_)
            | Step::Update(_)
            | Step::Tell(_)
            | Step::LongLine(_)
            | Step::Echo => self.send_step(&step, request).await?,
            Step::Count(last) => {
                for number in 1..=last {
                    self.send_step(&Step::Say(format!("{number} ")), request).await?;
                }
            }
            Step::Flood(bytes) => {
                let piece = Step::Say("x".repeat(FLOOD_PIECE_BYTES));
                for _ in 0..bytes.div_ceil(FLOOD_PIECE_BYTES) {
                    self.send_step(&piece, request).await?;
                }
            }
            Step::Ask(ask) => return self.ask(ask).await,
            Step::AskInVain(ask) => {
                let id = ask.request.clone().unwrap_or_else(|| self.next_id());
                let messages = [self.dialect.ask(&id, &ask), self.dialect.withdraw(&id)];
                self.send_all(messages).await?;
            }
            Step::Request { method, params } => return self.request(&method, &params).await,
            Step::Send(message) => self.send(&message).await?,
            Step::Print(line) => self.print(&line).await?,
            Step::Complain(bytes) => process::complain(bytes).await?,
            Step::Answer(result) => {
                let messages = self.dialect.answer(request, result);
                self.send_all(messages).await?;
                return Ok(Next::Answered);
            }
            Step::Fail { code, message } => {
                let messages = self.dialect.fail(request, code, &message);
                self.send_all(messages).await?;
                return Ok(Next::Answered);
            }
            Step::Hang => {
                self.wait(None).await?;
                return Ok(Next::GiveUp);
            }
            Step::Spawn(file) => process::spawn_sleeper(&file)?,
            Step::Exit(code) => return Err(Ending::Exit(code)),
            Step::Die(signal) => return Err(Ending::Die(signal)),
        }
        Ok(Next::GoOn)
    }

    async fn send_step(&mut self, step: &Step, request: &ClientRequest) -> Played {
        let Some(messages) = self.dialect.encode(step, request) else {
            return Err(io::Error::other(format!("this protocol cannot say {step:?}")).into());
        };
        self.send_all(messages).await
    }

    async fn ask(&mut self, mut ask: Ask) -> Played<Next> {
        let id = ask.request.take().unwrap_or_else(|| self.next_id());
        let message = self.dialect.ask(&id, &ask);
        self.send(&message).await?;
        let choice = match self.wait(Some(&id)).await? {
            Outcome::Answered { choice, .. } => choice,
            Outcome::Cancelled => CANCELLED.to_owned(),
        };
        Ok(match ask.then.remove(&choice) {
            Some(steps) => Next::Insert(steps),
            None if choice == CANCELLED => Next::GiveUp,
            None => Next::GoOn,
        })
    }

    async fn request(&mut self, method: &str, params: &Value) -> Played<Next> {
        let id = self.next_id();
        let message = self.dialect.request(&id, method, params);
        self.send(&message).await?;
        Ok(match self.wait(Some(&id)).await? {
            Outcome::Answered { whole, .. } => {
                Next::Insert(vec![Step::Say(outcome_of(&whole).to_string())])
            }
            Outcome::Cancelled => Next::GiveUp,
        })
    }

    /// Waits for an answer, or only for being cancelled. Other requests are answered as they should be.
    async fn wait(&mut self, id: Option<&Value>) -> Played<Outcome> {
        loop {
            match self.next_message().await? {
                ClientMessage::Answer { id: answered, choice, whole } if Some(&answered) == id => {
                    return Ok(Outcome::Answered { choice, whole });
                }
                ClientMessage::Cancel { .. } if self.ignores(Ignored::Cancel) => {}
                ClientMessage::Cancel { receipt } => {
                    self.send_all(receipt).await?;
                    return Ok(Outcome::Cancelled);
                }
                ClientMessage::Request(request) => {
                    let messages = self.dialect.proper_answer(&request);
                    self.send_all(messages).await?;
                }
                ClientMessage::Answer { .. } | ClientMessage::Other => {}
            }
        }
    }

    /// The steps for a request. Turns are used up.
    fn steps_for(&mut self, request: &ClientRequest) -> Vec<Step> {
        let Some(prompt) = &request.prompt else {
            return self.script.on.get(&request.method).cloned().unwrap_or_default();
        };
        let fits = |turn: &Turn| turn.when.as_ref().is_none_or(|words| prompt.contains(words));
        match self.script.turns.iter().position(fits) {
            Some(place) => self.script.turns.remove(place).steps,
            None => vec![Step::Say(prompt.clone())],
        }
    }

    async fn next_message(&mut self) -> Played<ClientMessage> {
        let Some(line) = self.lines.next_line().await? else { return Err(Ending::Closed) };
        let line = serde_json::from_str(&line).map_err(io::Error::other)?;
        Ok(self.dialect.decode(line))
    }

    fn ignores(&self, what: Ignored) -> bool {
        self.script.ignores.contains(&what)
    }

    fn next_id(&mut self) -> Value {
        let id = self.dialect.id(self.asked);
        self.asked += 1;
        id
    }

    async fn send_all(&mut self, messages: impl IntoIterator<Item = Value>) -> Played {
        for message in messages {
            self.send(&message).await?;
        }
        Ok(())
    }

    async fn send(&mut self, message: &Value) -> Played {
        self.print(&message.to_string()).await
    }

    async fn print(&mut self, line: &str) -> Played {
        self.output.write_all(format!("{line}\n").as_bytes()).await?;
        self.output.flush().await?;
        Ok(())
    }
}

/// A short summary of the response.
fn outcome_of(answer: &Value) -> Value {
    match answer.get("error") {
        None => json!({"result": answer["result"]}),
        Some(error) => json!({"error": error.get("code").unwrap_or(error)}),
    }
}
