//! Makes the folder of an imported session a project when the session is resumed: its agent works there from then on.
//!
//! The folder is the one that the transcript names, and agents can write transcripts.

use std::ffi::OsStr;
use std::path::{Path, PathBuf};

use convoke_core::session::EndReason;
use convoke_core::user::{Role, UserName};
use convoke_store::{NewProject, StoredSession};

use super::Sessions;
use crate::error::{Kind, Result};
use crate::projects::inside_root;
use crate::view::Change;

/// The owner of Convoke's home, in errors.
const CONVOKE: &str = "Convoke's";

/// Why the folder of an imported session does not become a project.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum AdoptionError {
    /// The folder is no project, and the user may not add projects.
    #[error("the session's folder {} is no project, and only an owner can add it", path.display())]
    NeedsOwner {
        /// The folder.
        path: PathBuf,
    },
    /// The folder contains the user's home or Convoke's: it is a project only if it is added as one.
    #[error("the session's folder {} contains {whose} home, and is no project", path.display())]
    ContainsHome {
        /// The folder.
        path: PathBuf,
        /// Whose home it contains.
        whose: &'static str,
    },
    /// The folder holds the user's secrets or settings, or was replaced by a link to it.
    #[error("the session's folder {} may hold your secrets or settings, and is no project", path.display())]
    Private {
        /// The folder.
        path: PathBuf,
    },
}

impl AdoptionError {
    /// The kind of this error.
    pub(crate) const fn kind(&self) -> Kind {
        match self {
            Self::NeedsOwner { .. } | Self::ContainsHome { .. } | Self::Private { .. } => {
                Kind::Forbidden
            }
        }
    }

    /// What helps.
    pub fn hint(&self) -> String {
        match self {
            Self::NeedsOwner { path } => {
                format!("ask an owner to add it: `convoke project add {}`", path.display())
            }
            Self::ContainsHome { whose: CONVOKE, .. } => {
                "the conversation stays readable; agents work only in folders that do not contain it"
                    .to_owned()
            }
            Self::ContainsHome { path, .. } | Self::Private { path } => format!(
                "if agents may work in all of it, add it first: `convoke project add {}`",
                path.display()
            ),
        }
    }
}

/// Makes the folder of an imported session a project, for an owner.
pub(super) async fn adopt_project(
    shared: &Sessions,
    session: &StoredSession,
    by: Option<UserName>,
) -> Result<()> {
    if session.summary.reason != Some(EndReason::Imported) {
        return Ok(());
    }
    let project = shared.store.project(session.project_id).await?;
    let Some(project) = project.filter(|project| project.removed_at.is_some()) else {
        return Ok(());
    };
    if !is_owner(shared, by).await? {
        return Err(AdoptionError::NeedsOwner { path: project.path }.into());
    }
    let stored = project.path.clone();
    let path = inside_root(project.path, &shared.settings.workspace_root).await?;
    if let Some(whose) = contained_home(shared, &path) {
        return Err(AdoptionError::ContainsHome { path, whose }.into());
    }
    if path != stored || is_private(shared, &path) {
        return Err(AdoptionError::Private { path }.into());
    }
    let new = NewProject { id: project.id, name: project.name, path, added_at: shared.now() };
    match shared.store.add_project(new).await {
        Ok(project) => shared.publish(Change::ProjectAdded(project)),
        Err(convoke_store::Error::ProjectExists { .. }) => {}
        Err(error) => return Err(error.into()),
    }
    Ok(())
}

/// Whether this is the owner of the daemon (`None`), or a user who is an owner in general.
async fn is_owner(shared: &Sessions, by: Option<UserName>) -> Result<bool> {
    let Some(name) = by else { return Ok(true) };
    let user = shared.store.user(name).await?;
    Ok(user.is_some_and(|user| user.role >= Role::Owner))
}

/// Whether a resolved folder holds secrets or settings of the user: it is in a secret place, or in a folder of the home
/// that begins with a dot.
fn is_private(shared: &Sessions, folder: &Path) -> bool {
    let home = shared.host.environment.get(OsStr::new("HOME")).map(Path::new);
    let home = home.map(|home| home.canonicalize().unwrap_or_else(|_| home.to_owned()));
    let in_home = home.as_ref().and_then(|home| folder.strip_prefix(home).ok());
    let first = in_home.and_then(|path| path.components().next());
    first.is_some_and(|name| name.as_os_str().as_encoded_bytes().starts_with(b"."))
        || shared.snapshots.hidden_paths().iter().any(|hidden| folder.starts_with(hidden))
}

/// Whose home a resolved folder is or contains.
fn contained_home(shared: &Sessions, folder: &Path) -> Option<&'static str> {
    let own = shared.host.environment.get(OsStr::new("HOME")).map(Path::new);
    let homes = [(Some(&*shared.host.home), CONVOKE), (own, "your")];
    homes.into_iter().find_map(|(home, whose)| {
        let home = home?;
        let resolved = home.canonicalize().unwrap_or_else(|_| home.to_owned());
        resolved.starts_with(folder).then_some(whose)
    })
}
