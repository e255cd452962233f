//! The back end of `convoke mcp`: asks the human in files, and teams through the daemon, which is
//! started when the first of their tools is used.

use std::path::PathBuf;

use convoke_api::bodies::{
    Team, TeamAnswer, TeamCancel, TeamQuestion, TeamReport, TeamSession, TeamStatus,
};
use convoke_api::mcp::teams::{CancelTeam, ReportOfTeam};
use convoke_api::mcp::{Approval, Approve};
use convoke_api::{Client, TeamReportQuery};
use convoke_core::id::RequestId;
use convoke_core::question::{Limits, Question};
use convoke_core::request::State;
use convoke_files::questions::{Outcome, PendingQuestions, RequestFile, Until};
use convoke_server::mcp::{Backend, Call, CallError, Found, Offer, Waiting};
use rmcp::ErrorData;
use tokio::sync::oneshot;
use tokio_util::task::TaskTracker;

use crate::asking::{Asker, Asking};
use crate::commands::World;
use crate::daemon::{self, Autostart};
use crate::home::Home;

/// The folder of questions, and the access to the daemon.
#[derive(Debug)]
pub(crate) struct FilesBackend {
    asking: Asking,
    home: Home,
    world: World,
    working_directory: Option<PathBuf>,
    creations: TaskTracker,
}

impl FilesBackend {
    /// Asks the human in this folder, and teams through the daemon of this home.
    pub(crate) fn new(asking: Asking, home: Home, world: &World) -> Self {
        let working_directory = std::env::current_dir().ok();
        Self {
            asking,
            home,
            world: world.copied(),
            working_directory,
            creations: TaskTracker::new(),
        }
    }

    /// The sets of questions that are being created. The process must not end before them: a set
    /// whose call was cancelled meanwhile is abandoned at the end of its creation.
    pub(crate) fn creations(&self) -> TaskTracker {
        self.creations.clone()
    }

    /// Creates a set of questions.
    async fn create(
        &self,
        asker: Asker,
        questions: Vec<Question>,
    ) -> Result<PendingQuestions, CallError> {
        let asking = self.asking.clone();
        let (sender, created) = oneshot::channel();
        self.creations.spawn_blocking(move || {
            // A call that was cancelled does not receive the set, which is then dropped here.
            drop(sender.send(asking.ask(questions, asker)));
        });
        let created = created.await.map_err(|error| CallError::Message(error.to_string()))?;
        created.map_err(said)
    }
}

impl Backend for FilesBackend {
    type Caller = Asker;

    fn limits(&self) -> Limits {
        self.asking.limits
    }

    fn offer(&self) -> Offer {
        Offer::Questions
    }

    fn caller(&self, call: &Call<'_>) -> Result<Asker, ErrorData> {
        Ok(Asker {
            call_id: Some(call.id()),
            working_directory: self.working_directory.clone(),
            name: call.client(),
        })
    }

    async fn ask(
        &self,
        asker: &Asker,
        questions: Vec<Question>,
        waiting: Waiting,
    ) -> Result<Found, CallError> {
        let mut asked = self.create(asker.clone(), questions.clone()).await?;
        let id = asked.id();
        let state = match waiting {
            // Programs that answer need not know of calls.
            Waiting::Yes => {
                let outcome = asked.wait(None, self.asking.timeout).await;
                outcome.map_err(said)?.into_state()
            }
            Waiting::No => {
                asked.leave();
                State::Pending
            }
        };
        Ok(Found { id, questions, state })
    }

    async fn asked(&self, _asker: &Asker, id: &str, waiting: Waiting) -> Result<Found, CallError> {
        let (folder, text) = (self.asking.questions.clone(), id.to_owned());
        let read = move || {
            let id = folder.find(&text)?;
            folder.read(id).map(|(request, outcome)| (id, request, outcome))
        };
        let (id, request, mut outcome): (RequestId, RequestFile, Option<Outcome>) =
            blocking(read).await?;
        if outcome.is_none() && waiting == Waiting::Yes {
            let waited = self.asking.questions.wait(id, None, Until::NotPending, None).await;
            outcome = waited.map_err(said)?;
        }
        let state = outcome.map_or(State::Pending, Outcome::into_state);
        Ok(Found { id, questions: request.questions, state })
    }

    async fn approve(&self, _asker: &Asker, _approve: Approve) -> Result<Approval, CallError> {
        Err(CallError::UnknownTool)
    }

    async fn ask_team(
        &self,
        _asker: &Asker,
        team: &str,
        question: TeamQuestion,
    ) -> Result<TeamAnswer, CallError> {
        self.client().await?.ask_team(team, &question).await.map_err(explained)
    }

    async fn teams(&self) -> Result<Vec<Team>, CallError> {
        Ok(self.client().await?.teams().await.map_err(explained)?.teams)
    }

    async fn team_statuses(&self, team: Option<&str>) -> Result<Vec<TeamStatus>, CallError> {
        let client = self.client().await?;
        let names = match team {
            Some(team) => vec![team.to_owned()],
            None => {
                let all = client.teams().await.map_err(explained)?.teams;
                all.into_iter().map(|team| team.name.to_string()).collect()
            }
        };
        let mut statuses = Vec::new();
        for name in names {
            statuses.push(client.team_status(&name).await.map_err(explained)?);
        }
        Ok(statuses)
    }

    async fn team_report(
        &self,
        _asker: &Asker,
        report: ReportOfTeam,
    ) -> Result<TeamReport, CallError> {
        let ReportOfTeam { team, from_team, thread, message_id } = report;
        let query = TeamReportQuery { from: from_team, thread, seq: None, message_id };
        self.client().await?.team_report(&team, &query).await.map_err(explained)
    }

    async fn cancel_team(
        &self,
        _asker: &Asker,
        cancel: CancelTeam,
    ) -> Result<TeamSession, CallError> {
        let CancelTeam { team, from_team, thread } = cancel;
        let cancel = TeamCancel { from_team, thread };
        self.client().await?.cancel_team(&team, &cancel).await.map_err(explained)
    }
}

impl FilesBackend {
    async fn client(&self) -> Result<Client, CallError> {
        daemon::reach(&self.home, &self.world, Autostart::Allowed).await.map_err(explained)
    }
}

/// Does something with files on a thread that may wait for them.
async fn blocking<T: Send + 'static>(
    work: impl FnOnce() -> convoke_files::Result<T> + Send + 'static,
) -> Result<T, CallError> {
    let done = tokio::task::spawn_blocking(work).await;
    done.map_err(|error| CallError::Message(error.to_string()))?.map_err(said)
}

/// An error with its causes, for the agent to read.
fn said(error: convoke_files::Error) -> CallError {
    CallError::Message(format!("{:#}", anyhow::Error::from(error)))
}

/// An error with the next step, for the agent to read.
fn explained(error: impl Into<anyhow::Error>) -> CallError {
    let (text, hint) = crate::exit::explain(&error.into());
    CallError::Message(hint.map_or(text.clone(), |hint| format!("{text}\n\n{hint}")))
}

#[cfg(test)]
mod tests {
    use convoke_core::question::Choice;
    use convoke_files::questions::{Questions, Settings, Status};
    use futures_util::FutureExt as _;

    use super::*;
    use crate::environment::Environment;

    #[tokio::test]
    async fn q4_questions_whose_call_ends_while_they_are_written_are_abandoned() {
        let folder = tempfile::tempdir().unwrap();
        let limits = Limits { questions_max: 4, options_max: 4 };
        let questions =
            Questions::new(folder.path().join("questions"), Settings { sessions_max: 10, limits });
        let asking =
            Asking { questions: questions.clone(), limits, timeout: None, retention: None };
        let home = Home::locate(Some(folder.path()), &Environment::default()).unwrap();
        let world = World::around(Environment::default()).unwrap();
        let backend = FilesBackend::new(asking, home, &world);

        let choice = |label: &str| Choice { label: label.to_owned(), description: None };
        let question = Question {
            prompt: "Ship it?".to_owned(),
            title: "Ship".to_owned(),
            options: vec![choice("Yes"), choice("No")],
            multi_select: false,
        };
        let asker = Asker::default();
        let call = backend.ask(&asker, vec![question], Waiting::Yes);
        assert!(call.now_or_never().is_none());
        backend.creations().close();
        backend.creations().wait().await;
        let listed = questions.list().unwrap();
        let statuses: Vec<Status> = listed.entries.iter().map(|entry| entry.status).collect();
        assert_eq!(statuses, [Status::Abandoned]);
    }
}
