//! The command line and its help. The commands themselves are in `commands`.

use std::borrow::Cow;
use std::ffi::OsString;
use std::fmt::Display;
use std::io::{self, IsTerminal as _};
use std::ops::{Bound, RangeBounds};
use std::path::PathBuf;
use std::str::FromStr;

use clap::builder::{PossibleValuesParser, StyledStr, TypedValueParser};
use clap::error::ErrorKind;
use clap::{Args as ClapArgs, Parser, Subcommand};

use crate::commands::agent::AgentArgs;
use crate::commands::answer::AnswerArgs;
use crate::commands::ask::AskArgs;
use crate::commands::audit::AuditArgs;
use crate::commands::backup::BackupArgs;
use crate::commands::browser::BrowserArgs;
use crate::commands::compare::CompareArgs;
use crate::commands::completions::CompletionsArgs;
use crate::commands::config::ConfigArgs;
use crate::commands::db::DbArgs;
use crate::commands::demo_agent::DemoAgentArgs;
use crate::commands::doctor::DoctorArgs;
use crate::commands::export::ExportArgs;
use crate::commands::import::ImportArgs;
use crate::commands::inbox::InboxArgs;
use crate::commands::man_pages::ManPagesArgs;
use crate::commands::mcp::McpArgs;
use crate::commands::node::NodeArgs;
use crate::commands::open::OpenArgs;
use crate::commands::project::ProjectArgs;
use crate::commands::questions::QuestionsArgs;
use crate::commands::restore::RestoreArgs;
use crate::commands::rule::RuleArgs;
use crate::commands::sandbox_exec::SandboxExecArgs;
use crate::commands::search::SearchArgs;
use crate::commands::serve::ServeArgs;
use crate::commands::session::SessionArgs;
use crate::commands::spawn::SpawnArgs;
use crate::commands::status::StatusArgs;
use crate::commands::stop::StopArgs;
use crate::commands::team::TeamArgs;
use crate::commands::tui::TuiArgs;
use crate::commands::user::UserArgs;
use crate::commands::worktree::WorktreeArgs;
use crate::help;

/// What `--version` prints.
pub(crate) const VERSION: &str = concat!("convoke ", env!("CARGO_PKG_VERSION"));

/// Run, resume and review sessions with coding agents
#[derive(Debug, Parser)]
#[command(
    name = "convoke",
    version,
    arg_required_else_help = true,
    disable_help_subcommand = true,
    after_help = "Without a command, a terminal shows the terminal UI (convoke tui).

Examples:
  convoke open                       open the page, and start the daemon for it
  convoke session new --project .    create a session with an agent in this folder
  convoke session send ID 'Fix it'   send a prompt to its agent
  convoke inbox list                 list permissions and questions from agents
  convoke tui                        sessions, chat and inbox in the terminal
  convoke ask questions.json         ask the human and print the answers
  convoke answer                     answer questions as they arrive
  convoke doctor                     check whether this machine is ready"
)]
pub(crate) struct Args {
    #[command(flatten)]
    pub(crate) global: GlobalArgs,
    #[command(subcommand)]
    pub(crate) command: Command,
}

/// Options that every command takes.
#[derive(Debug, ClapArgs)]
pub(crate) struct GlobalArgs {
    /// Print the result as JSON, and errors as one JSON object on stderr
    #[arg(long, global = true)]
    pub(crate) json: bool,
    /// Folder with configuration, database and logs [default: $CONVOKE_HOME, then ~/.convoke]
    #[arg(long, global = true, value_name = "PATH")]
    pub(crate) home: Option<PathBuf>,
    /// Print more on stderr; repeat for even more
    #[arg(short, long, global = true, action = clap::ArgAction::Count)]
    pub(crate) verbose: u8,
    /// Print only errors on stderr
    #[arg(short, long, global = true, conflicts_with = "verbose")]
    pub(crate) quiet: bool,
}

/// The commands, in the order of the help.
#[derive(Debug, Subcommand)]
pub(crate) enum Command {
    Serve(ServeArgs),
    Open(OpenArgs),
    Browser(BrowserArgs),
    Stop(StopArgs),
    Status(StatusArgs),
    Tui(TuiArgs),
    Project(ProjectArgs),
    Session(SessionArgs),
    Worktree(WorktreeArgs),
    Compare(CompareArgs),
    Search(SearchArgs),
    Inbox(InboxArgs),
    Rule(RuleArgs),
    Team(TeamArgs),
    Node(NodeArgs),
    User(UserArgs),
    Audit(AuditArgs),
    Ask(AskArgs),
    Answer(AnswerArgs),
    Questions(QuestionsArgs),
    Mcp(McpArgs),
    Spawn(Box<SpawnArgs>),
    Import(ImportArgs),
    Export(ExportArgs),
    Agent(AgentArgs),
    Doctor(DoctorArgs),
    Config(ConfigArgs),
    Backup(BackupArgs),
    Restore(RestoreArgs),
    Db(DbArgs),
    Completions(CompletionsArgs),
    #[command(hide = true)]
    ManPages(ManPagesArgs),
    #[command(hide = true)]
    DemoAgent(DemoAgentArgs),
    #[command(hide = true)]
    SandboxExec(SandboxExecArgs),
}

/// A parsed command line.
#[derive(Debug)]
pub(crate) enum Invocation {
    /// The version, and nothing else.
    Version,
    /// This help text.
    Help(StyledStr),
    /// A command.
    Command(Box<Args>),
}

/// Where the program was started.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum At {
    /// By a person: input and output are a terminal.
    Terminal,
    /// By another program, or with its input or output redirected.
    Pipe,
}

impl At {
    /// Where this process was started.
    pub(crate) fn this_process() -> Self {
        let is_terminal = io::stdin().is_terminal() && io::stdout().is_terminal();
        if is_terminal { Self::Terminal } else { Self::Pipe }
    }
}

/// Parses a command line, with the program's name first. Without a command, a person at a terminal
/// gets the terminal UI, and a program the help.
pub(crate) fn read(words: &[OsString], at: At) -> Result<Invocation, clap::Error> {
    // Scripts ask for the version often; the parser need not be built for it.
    if let [_, word] = words
        && (word == "--version" || word == "-V")
    {
        return Ok(Invocation::Version);
    }
    let words = &*help::as_option(words);
    let words = &*behind_command(words);
    match Args::try_parse_from(words) {
        Ok(args) => Ok(Invocation::Command(Box::new(args))),
        Err(error) if error.kind() == ErrorKind::DisplayVersion => Ok(Invocation::Version),
        Err(error) if error.kind() == ErrorKind::DisplayHelp => {
            Ok(Invocation::Help(help::instead_of(error, words).render()))
        }
        Err(error) if is_without_command(&error) => match terminal_ui(words) {
            Some(args) if at == At::Terminal => Ok(Invocation::Command(Box::new(args))),
            Some(_) | None => Err(help::instead_of(error, words)),
        },
        Err(error) => Err(error),
    }
}

/// Parses the word of one of these values; the help lists the words.
pub(crate) fn one_of<T, const N: usize>(
    values: [T; N],
    word: fn(T) -> &'static str,
) -> impl TypedValueParser<Value = T>
where
    T: Copy + Send + Sync + 'static,
{
    PossibleValuesParser::new(values.map(word)).try_map(move |text| {
        let found = values.into_iter().find(|value| word(*value) == text);
        found.ok_or_else(|| format!("'{text}' is not known"))
    })
}

/// Parses a number of a range; the error states the range.
pub(crate) fn number<T>(
    range: impl RangeBounds<T> + Clone + Send + Sync + 'static,
) -> impl TypedValueParser<Value = T>
where
    T: FromStr + PartialOrd + Display + Clone + Send + Sync + 'static,
{
    move |text: &str| {
        let found = text.parse().ok().filter(|number| range.contains(number));
        found.ok_or_else(|| match (range.start_bound(), range.end_bound()) {
            (Bound::Included(first), Bound::Included(last)) => {
                format!("expected a number from {first} to {last}")
            }
            (Bound::Included(first), _) => format!("expected a number, at least {first}"),
            (_, _) => "expected a number".to_owned(),
        })
    }
}

/// Moves `--no-autostart` behind the command: only commands that need the daemon have it, and people write it in front
/// like the options of every command. A command without it refuses it by name.
fn behind_command(words: &[OsString]) -> Cow<'_, [OsString]> {
    let mut at = 1;
    while let Some(word) = words.get(at).and_then(|word| word.to_str()) {
        match word {
            "--home" => at += 2,
            "--no-autostart" => break,
            option if option.starts_with('-') && option != "--" => at += 1,
            _ => return Cow::Borrowed(words),
        }
    }
    let behind = |word: &&OsString| word.to_str().is_some_and(|it| !it.starts_with('-'));
    if at >= words.len() || !words.iter().skip(at).any(|word| behind(&word)) {
        return Cow::Borrowed(words);
    }
    let mut words = words.to_vec();
    let option = words.remove(at);
    let end = words.iter().position(|word| word == "--").unwrap_or(words.len());
    words.insert(end, option);
    Cow::Owned(words)
}

fn is_without_command(error: &clap::Error) -> bool {
    let kind = error.kind();
    kind == ErrorKind::DisplayHelpOnMissingArgumentOrSubcommand
        || kind == ErrorKind::MissingSubcommand
}

/// The arguments without a command: those of `tui`, if they have no other.
fn terminal_ui(words: &[OsString]) -> Option<Args> {
    let words: Vec<OsString> = words.iter().cloned().chain(["tui".into()]).collect();
    Args::try_parse_from(&*behind_command(&words))
        .ok()
        .filter(|args| matches!(args.command, Command::Tui(_)))
}
