//! The tools by which any agent can ask teams: through the daemon, which is started when the first of them is used.

use convoke_api::bodies::{TeamCancel, TeamQuestion};
use convoke_api::mcp::teams::{
    self, AskTeam, CancelTeam, ListTeams, Manner, ReportOfTeam, SendToTeam, StatusOfTeam, Told,
};
use convoke_api::{Client, TeamReportQuery};
use rmcp::model::{Tool, ToolAnnotations};
use serde_json::Value;

use super::parse;
use crate::commands::World;
use crate::daemon::{self, Autostart};
use crate::home::Home;

/// The way to the daemon.
#[derive(Debug)]
pub(crate) struct Teams {
    home: Home,
    world: World,
}

/// The tools in the words of the library that speaks the protocol.
pub(super) fn all() -> impl Iterator<Item = Tool> {
    teams::team_tools().into_iter().map(|(tool, manner)| {
        let annotations = ToolAnnotations::new()
            .read_only(manner == Manner::Looks)
            .destructive(false)
            .open_world(false);
        Tool::new(tool.name, tool.description, tool.schema)
            .with_title(tool.title)
            .with_annotations(annotations)
    })
}

/// Whether a tool is one of these.
pub(super) fn is_one(name: &str) -> bool {
    teams::team_tools().iter().any(|(tool, _)| tool.name == name)
}

impl Teams {
    /// Reaches the daemon of this home.
    pub(crate) fn new(home: Home, world: &World) -> Self {
        Self { home, world: world.copied() }
    }

    /// Calls a tool.
    pub(super) async fn call(&self, name: &str, arguments: Value) -> anyhow::Result<Told> {
        match name {
            teams::TEAMS_ASK => self.ask(parse::<AskTeam>(arguments)?.into()).await,
            teams::TEAMS_SEND => self.ask(parse::<SendToTeam>(arguments)?.into()).await,
            teams::TEAMS_LIST => {
                let ListTeams {} = parse(arguments)?;
                Ok(Told::Result(teams::list(&self.client().await?.teams().await?.teams)))
            }
            teams::TEAMS_STATUS => self.status(parse(arguments)?).await,
            teams::TEAMS_REPORT => {
                let ReportOfTeam { team, from_team, thread, message_id } = parse(arguments)?;
                let query = TeamReportQuery { from: from_team, thread, seq: None, message_id };
                Ok(teams::report(&self.client().await?.team_report(&team, &query).await?))
            }
            teams::TEAMS_CANCEL => {
                let CancelTeam { team, from_team, thread } = parse(arguments)?;
                let cancel = TeamCancel { from_team, thread };
                let session = self.client().await?.cancel_team(&team, &cancel).await?;
                Ok(Told::Result(teams::cancelled(&session)))
            }
            other => anyhow::bail!("unknown tool: {other}"),
        }
    }

    async fn ask(&self, (team, question): (String, TeamQuestion)) -> anyhow::Result<Told> {
        Ok(teams::answer(&self.client().await?.ask_team(&team, &question).await?))
    }

    async fn status(&self, StatusOfTeam { team }: StatusOfTeam) -> anyhow::Result<Told> {
        let client = self.client().await?;
        let names = match team {
            Some(team) => vec![team],
            None => {
                let all = client.teams().await?.teams;
                all.into_iter().map(|team| team.name.to_string()).collect()
            }
        };
        let mut statuses = Vec::new();
        for name in names {
            statuses.push(client.team_status(&name).await?);
        }
        Ok(Told::Result(teams::statuses(&statuses)))
    }

    async fn client(&self) -> anyhow::Result<Client> {
        daemon::reach(&self.home, &self.world, Autostart::Allowed).await
    }
}
