//! `convoke db`: the database's schema: its status, migrations and rollbacks.

mod attachments;

use std::num::NonZeroUsize;
use std::path::PathBuf;

use convoke_core::count::counted;
use convoke_store::location::{Location, Passwords, Server};
use convoke_store::schema::{self, Migration};
use convoke_store::transfer;
use serde::Serialize;

use super::World;
use super::backup::Bar;
use crate::args::{GlobalArgs, number};
use crate::clock;
use crate::home::Home;
use crate::output::{Answer, Output, ask, table};

/// Inspect the database, and migrate or roll back its schema
#[derive(Debug, clap::Args)]
#[command(
    arg_required_else_help = true,
    after_help = "Examples:
  convoke db status
  convoke db migrate"
)]
pub(crate) struct DbArgs {
    #[command(subcommand)]
    command: DbCommand,
}

#[derive(Debug, clap::Subcommand)]
enum DbCommand {
    Status(StatusArgs),
    Check(CheckArgs),
    Migrate(MigrateArgs),
    Rollback(RollbackArgs),
    Copy(CopyArgs),
}

/// Show which migrations are applied; does not change the database
#[derive(Debug, clap::Args)]
#[command(after_help = "Examples:
  convoke db status
  convoke db status --json")]
struct StatusArgs {}

/// Read the whole database and report damage; does not change it
#[derive(Debug, clap::Args)]
#[command(after_help = "Examples:
  convoke db check
  convoke db check --json")]
struct CheckArgs {}

/// Apply the pending migrations; creates the database if there is none
#[derive(Debug, clap::Args)]
#[command(after_help = "Examples:
  convoke db migrate")]
struct MigrateArgs {}

/// Roll back the newest migrations, and lose the data in what they added
#[derive(Debug, clap::Args)]
#[command(after_help = "Examples:
  convoke db rollback
  convoke db rollback --steps 2 --yes")]
struct RollbackArgs {
    /// Number of migrations to roll back
    #[arg(long, value_name = "N", default_value = "1", value_parser = number(NonZeroUsize::MIN..))]
    steps: NonZeroUsize,
    /// Do not ask for confirmation
    #[arg(long)]
    yes: bool,
}

/// Copy everything to another database: from a file to a PostgreSQL server, or back
///
/// The daemons of both must be stopped, and the other database be empty. A copy that was cut off continues where it ended;
/// at the end, both are read and compared. What is copied to a server belongs to this machine. Attachments are in the folder
/// `blobs` beside a file, and on the server itself.
#[derive(Debug, clap::Args)]
#[command(after_help = "Examples:
  convoke db copy --from ~/.convoke/convoke.db --to postgres://me@db.example/convoke
  convoke db copy --from postgres://me@db.example/convoke --to ~/convoke.db

Passwords come from PGPASSWORD, ~/.pgpass or --password-file.")]
struct CopyArgs {
    /// Database to copy: a file, or a URL
    #[arg(long, value_name = "DATABASE")]
    from: String,
    /// Database to copy to: a file, or a URL
    #[arg(long, value_name = "DATABASE")]
    to: String,
    /// File with the password for the URL
    #[arg(long, value_name = "PATH")]
    password_file: Option<PathBuf>,
}

/// A password in the arguments, which every user of this machine can read in the list of processes.
#[derive(Debug, thiserror::Error)]
#[error("the password must not be in the URL: others can read the arguments of a command")]
pub(crate) struct ExposedPassword;

/// The source of a copy is not there.
#[derive(Debug, thiserror::Error)]
#[error("there is no database {}; `convoke db status` shows the path of yours", path.display())]
struct NoDatabase {
    path: PathBuf,
}

#[derive(Serialize)]
struct CopiedDatabase {
    from: String,
    to: String,
    tables: Vec<CopiedTable>,
    /// How many files are attached to the copied messages.
    attachments: u64,
}

#[derive(Serialize)]
struct CopiedTable {
    table: &'static str,
    rows: u64,
    checksum: String,
}

/// Why a rollback did not happen.
#[derive(Debug, thiserror::Error)]
pub(crate) enum RollbackError {
    /// The human said no.
    #[error("nothing was rolled back: it was not confirmed")]
    Declined,
    /// There is no human to ask.
    #[error("a rollback loses data, and there is no terminal to confirm it on")]
    NoTerminal,
}

#[derive(Serialize)]
#[serde(rename_all = "camelCase")]
struct ShownMigration {
    version: u32,
    name: String,
    applied_at: Option<String>,
}

#[derive(Serialize)]
struct Status {
    database: String,
    migrations: Vec<ShownMigration>,
}

#[derive(Serialize)]
struct Applied {
    database: String,
    applied: Vec<ShownMigration>,
}

#[derive(Serialize)]
#[serde(rename_all = "camelCase")]
struct RolledBack {
    database: String,
    rolled_back: Vec<ShownMigration>,
}

pub(crate) fn run(
    args: &DbArgs,
    global: &GlobalArgs,
    world: &World,
    output: &Output,
) -> anyhow::Result<()> {
    let home = world.open_home(global, output)?;
    if let DbCommand::Copy(args) = &args.command {
        return copy(args, &home, global, world, output);
    }
    let location = world.database(&home)?;
    match &args.command {
        DbCommand::Status(StatusArgs {}) => status(&location, output),
        DbCommand::Check(CheckArgs {}) => check(&location, output),
        DbCommand::Migrate(MigrateArgs {}) => migrate(&location, output),
        DbCommand::Rollback(args) => rollback(&location, args, output),
        DbCommand::Copy(_) => Ok(()),
    }
}

fn copy(
    args: &CopyArgs,
    home: &Home,
    global: &GlobalArgs,
    world: &World,
    output: &Output,
) -> anyhow::Result<()> {
    let variable = |name: &str| world.environment.get(name)?.to_str().map(str::to_owned);
    let passwords = Passwords::from_env(variable, args.password_file.clone());
    let located = |text: &str| -> anyhow::Result<Location> {
        if !Server::is_url(text) {
            return Ok(PathBuf::from(text).into());
        }
        if Server::parse(text, &Passwords::default())?.has_password() {
            return Err(ExposedPassword.into());
        }
        Ok(Server::parse(text, &passwords)?.into())
    };
    let (from, to) = (located(&args.from)?, located(&args.to)?);
    if let Location::File(path) = &from
        && !path.exists()
    {
        return Err(NoDatabase { path: path.clone() }.into());
    }
    let owner = super::serve::owner(home, world)?;
    let mut bar = Bar::new("copying", output, global);
    let copied = transfer::transfer(&from, &to, &owner, clock::now(), |step| {
        bar.show(step.done, step.total, |rows| counted(rows, "row"));
    });
    bar.clear();
    let copied = copied?;
    let attachments = attachments::copy(&from, &to)?;
    let tables = copied.into_iter().map(|it| CopiedTable {
        table: it.table,
        rows: it.rows,
        checksum: it.checksum,
    });
    let (from, to) = (from.to_string(), to.to_string());
    let copied = CopiedDatabase { from, to, tables: tables.collect(), attachments };
    output.show(&copied, |copied, _| {
        let rows = copied.tables.iter().map(|it| [it.table.to_owned(), it.rows.to_string()]);
        let rows = rows.chain([["attachments".to_owned(), copied.attachments.to_string()]]);
        let table = table(["TABLE", "ROWS"], rows.collect());
        format!("{table}{} is equal to {}\n", copied.to, copied.from)
    })
}

fn status(location: &Location, output: &Output) -> anyhow::Result<()> {
    let status =
        Status { database: location.to_string(), migrations: shown(&schema::status(location)?) };
    output.show(&status, |status, _| {
        let rows = status.migrations.iter().map(|migration| {
            let applied = migration.applied_at.clone().unwrap_or_else(|| "not yet".to_owned());
            [migration.version.to_string(), migration.name.clone(), applied]
        });
        table(["VERSION", "NAME", "APPLIED"], rows.collect())
    })
}

#[derive(Serialize)]
struct Checked {
    database: String,
    sound: bool,
}

fn check(location: &Location, output: &Output) -> anyhow::Result<()> {
    schema::check(location)?;
    let checked = Checked { database: location.to_string(), sound: true };
    output.show(&checked, |checked, _| format!("{} is sound\n", checked.database))
}

fn migrate(location: &Location, output: &Output) -> anyhow::Result<()> {
    let applied = schema::migrate(location, clock::now())?;
    tracing::info!(count = applied.len(), "migrated {}", location);
    let applied = Applied { database: location.to_string(), applied: shown(&applied) };
    output.show(&applied, |applied, _| match applied.applied.as_slice() {
        [] => format!("{} is up to date\n", applied.database),
        migrations => lines("applied", migrations),
    })
}

fn rollback(location: &Location, args: &RollbackArgs, output: &Output) -> anyhow::Result<()> {
    let mut newest = schema::status(location)?;
    newest.retain(|migration| migration.applied_at.is_some());
    newest.reverse();
    newest.truncate(args.steps.get());
    if !newest.is_empty() && !args.yes {
        confirm(location, &newest)?;
    }
    let rolled_back =
        if newest.is_empty() { Vec::new() } else { schema::rollback(location, args.steps.get())? };
    tracing::info!(count = rolled_back.len(), "rolled back {}", location);
    let rolled_back =
        RolledBack { database: location.to_string(), rolled_back: shown(&rolled_back) };
    output.show(&rolled_back, |rolled_back, _| match rolled_back.rolled_back.as_slice() {
        [] => format!("nothing to roll back in {}\n", rolled_back.database),
        migrations => lines("rolled back", migrations),
    })
}

fn confirm(location: &Location, migrations: &[Migration]) -> anyhow::Result<()> {
    let names: Vec<String> = migrations
        .iter()
        .map(|migration| format!("{} {}", migration.version, migration.name))
        .collect();
    let question =
        format!("Roll back {} in {}, and lose what it holds?", names.join(", "), location);
    match ask(&question)? {
        Answer::Yes => Ok(()),
        Answer::No => Err(RollbackError::Declined.into()),
        Answer::NoTerminal => Err(RollbackError::NoTerminal.into()),
    }
}

fn shown(migrations: &[Migration]) -> Vec<ShownMigration> {
    let shown = migrations.iter().map(|migration| ShownMigration {
        version: migration.version,
        name: migration.name.to_string(),
        applied_at: migration.applied_at.map(|time| time.to_string()),
    });
    shown.collect()
}

fn lines(done: &str, migrations: &[ShownMigration]) -> String {
    let line =
        |migration: &ShownMigration| format!("{done} {} {}\n", migration.version, migration.name);
    migrations.iter().map(line).collect()
}
