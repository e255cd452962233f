//! `convoke user`: the users of this daemon besides its owner.

use convoke_api::Client;
use convoke_api::bodies::{
    Device, DeviceKind, NewToken, NewUser, RoleChange, TokenMade, User, UserLink, Users,
};
use convoke_core::time::relative;
use convoke_core::user::Role;
use serde::Serialize;

use super::World;
use super::project;
use crate::args::{GlobalArgs, one_of};
use crate::clock;
use crate::daemon::{self, DaemonArgs};
use crate::output::{Output, plain, table};

/// Half an hour in milliseconds.
const HALF_HOUR: i64 = 30 * 60 * 1000;

/// Add, list and remove people who may use this daemon
///
/// Viewers read everything. Members prompt agents and answer them, too. Owners manage projects, rules, settings and
/// users as you do. A role in a project holds there in place of the general one. What everyone did: convoke audit.
#[derive(Debug, clap::Args)]
#[command(
    arg_required_else_help = true,
    after_help = "Examples:
  convoke user add ada
  convoke user add grace --role viewer
  convoke user role grace member --project web
  convoke user sign-out ada"
)]
pub(crate) struct UserArgs {
    #[command(subcommand)]
    command: UserCommand,
    #[command(flatten)]
    daemon: DaemonArgs,
}

#[derive(Debug, clap::Subcommand)]
enum UserCommand {
    Add(AddArgs),
    List(ListArgs),
    Role(RoleArgs),
    Link(LinkArgs),
    Token(TokenArgs),
    SignOut(SignOutArgs),
    Remove(RemoveArgs),
}

/// Add a user, and print a link that signs in their first browser
///
/// The link works once, within a day. It signs in as that user: send it to them alone.
#[derive(Debug, clap::Args)]
#[command(after_help = "Examples:
  convoke user add ada
  convoke user add grace --role viewer --json | jq -r .url")]
struct AddArgs {
    /// Name: letters, digits, `-`, `_`, `.` and `@`
    name: String,
    /// What they may do
    #[arg(long, value_parser = one_of(Role::ALL, Role::as_str), default_value = "member")]
    role: Role,
}

/// List the users with their roles and devices
#[derive(Debug, clap::Args)]
#[command(after_help = "Examples:
  convoke user list
  convoke user list --json | jq -r '.users[].devices[].id'")]
struct ListArgs {}

/// Change what a user may do, in general or in one project
#[derive(Debug, clap::Args)]
#[command(after_help = "Examples:
  convoke user role grace member
  convoke user role grace viewer --project web
  convoke user role grace --project web --clear")]
struct RoleArgs {
    /// User
    name: String,
    /// What they may do
    #[arg(value_parser = one_of(Role::ALL, Role::as_str), required_unless_present = "clear", conflicts_with = "clear")]
    role: Option<Role>,
    /// Project that it is for: its name, its path, or a unique prefix of its id [default: all others]
    #[arg(long, value_name = "PROJECT")]
    project: Option<String>,
    /// Remove the role in the project, so that the general one holds there
    #[arg(long, requires = "project")]
    clear: bool,
}

/// Print another link that signs in a browser of a user
#[derive(Debug, clap::Args)]
#[command(after_help = "Examples:
  convoke user link ada
  convoke user link ada --json | jq -r .url")]
struct LinkArgs {
    /// User
    name: String,
}

/// Make a token with which programs act for a user, and print it once
#[derive(Debug, clap::Args)]
#[command(after_help = "Examples:
  convoke user token ada --label 'nightly script'
  curl -H \"Authorization: Bearer $TOKEN\" http://127.0.0.1:7717/api/sessions")]
struct TokenArgs {
    /// User
    name: String,
    /// What it is for
    #[arg(long)]
    label: String,
}

/// Sign all devices of a user out, or one of them
#[derive(Debug, clap::Args)]
#[command(after_help = "Examples:
  convoke user sign-out ada
  convoke user sign-out ada --device 3fa81c07")]
struct SignOutArgs {
    /// User
    name: String,
    /// Only this browser or token, by its id
    #[arg(long, value_name = "ID")]
    device: Option<String>,
}

/// Remove a user; what they did stays in the audit trail
#[derive(Debug, clap::Args)]
#[command(after_help = "Examples:
  convoke user remove ada")]
struct RemoveArgs {
    /// User
    name: String,
}

/// A user, or a device of theirs, that is signed out or removed. A contract with scripts.
#[derive(Serialize)]
struct Gone<'a> {
    name: &'a str,
    #[serde(skip_serializing_if = "Option::is_none")]
    device: Option<&'a str>,
}

pub(crate) fn run(
    args: &UserArgs,
    global: &GlobalArgs,
    world: &World,
    output: &Output,
) -> anyhow::Result<()> {
    daemon::with(world, global, &args.daemon, output, async |client, _| match &args.command {
        UserCommand::Add(AddArgs { name, role }) => {
            let new = NewUser { name: name.clone(), role: Some(*role) };
            show_link(&client.add_user(&new).await?, output)
        }
        UserCommand::List(ListArgs {}) => list(client, output).await,
        UserCommand::Role(args) => change_role(client, args, output).await,
        UserCommand::Link(LinkArgs { name }) => show_link(&client.user_link(name).await?, output),
        UserCommand::Token(TokenArgs { name, label }) => {
            let made = client.make_user_token(name, &NewToken { label: label.clone() }).await?;
            output.show(&made, |TokenMade { token, .. }, _| format!("{token}\n"))
        }
        UserCommand::SignOut(SignOutArgs { name, device }) => {
            match device {
                Some(device) => client.sign_device_out(name, device).await?,
                None => client.sign_user_out(name).await?,
            }
            let gone = Gone { name, device: device.as_deref() };
            output.show(&gone, |gone, _| {
                let device = gone.device.map_or("everywhere", |it| it);
                format!("signed {} out: {device}\n", gone.name)
            })
        }
        UserCommand::Remove(RemoveArgs { name }) => {
            client.remove_user(name).await?;
            output.show(&Gone { name, device: None }, |gone, _| format!("removed {}\n", gone.name))
        }
    })
}

fn show_link(link: &UserLink, output: &Output) -> anyhow::Result<()> {
    output.show(link, |UserLink { user, url, expires_at }, _| {
        let hours = (expires_at.millis_since(clock::now()) + HALF_HOUR) / (2 * HALF_HOUR);
        let local = match ["127.0.0.1", "[::1]", "localhost"].iter().any(|it| url.contains(it)) {
            true => "The link is for this machine; set server.public_url for links that work elsewhere.\n",
            false => "",
        };
        format!("{url}\n\nIt signs in one browser as {user}, once, for {hours} hours.\n{local}")
    })
}

async fn list(client: &Client, output: &Output) -> anyhow::Result<()> {
    let users = client.users().await?;
    output.show(&users, |Users { users }, _| {
        if users.is_empty() {
            return "No users: this daemon is yours alone. Add one with `convoke user add NAME`\n"
                .to_owned();
        }
        let row = |user: &User| {
            let projects =
                user.projects.iter().map(|it| format!("{} in {}", it.role, plain(&it.project)));
            let projects = projects.collect::<Vec<_>>().join(", ");
            let devices = user.devices.iter().map(device).collect::<Vec<_>>().join(", ");
            [user.name.to_string(), user.role.to_string(), projects, devices]
        };
        table(["USER", "ROLE", "IN PROJECTS", "DEVICES"], users.iter().map(row).collect())
    })
}

fn device(device: &Device) -> String {
    let kind = match device.kind {
        DeviceKind::Browser => "browser".to_owned(),
        DeviceKind::Token => format!("token for {}", plain(&device.label)),
    };
    let used = device.last_used_at.map(|at| format!(", used {}", relative(at, clock::now())));
    format!("{} ({kind}{})", device.id, used.unwrap_or_default())
}

async fn change_role(client: &Client, args: &RoleArgs, output: &Output) -> anyhow::Result<()> {
    let repo_id = match &args.project {
        Some(text) => Some(project::id_of(client, Some(text)).await?),
        None => None,
    };
    let change = RoleChange { role: args.role, repo_id };
    let user = client.change_user_role(&args.name, &change).await?;
    output.show(&user, |user, _| match (&args.project, args.role) {
        (Some(project), Some(role)) => format!("{} is a {role} in {project}\n", user.name),
        (Some(project), None) => format!("{} is a {} in {project}\n", user.name, user.role),
        (None, _) => format!("{} is a {}\n", user.name, user.role),
    })
}
