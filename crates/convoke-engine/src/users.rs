//! People who use the daemon besides its owner: their roles, their tokens, and the audit trail.

use std::sync::Arc;
use std::time::Duration;

use convoke_core::id::ProjectId;
use convoke_core::user::{Role, UserName};
use convoke_store::{Act, AuditEntry, AuditFilter, Store, User, UserToken};

use crate::error::Result;
use crate::settings::HostContext;

/// A use of a token is stored only if the last stored one is older than this.
const USE_GRAIN: Duration = Duration::from_secs(60);

/// Why something about a user cannot be done.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum UserError {
    /// There is no such user.
    #[error("there is no user {text}")]
    Unknown {
        /// The name that was given.
        text: String,
    },
    /// There is such a user already.
    #[error("there is a user {name} already")]
    Exists {
        /// The name.
        name: String,
    },
    /// The user has no such token.
    #[error("there is no token {text}")]
    UnknownToken {
        /// The id that was given.
        text: String,
    },
}

/// The users, their tokens, and the audit trail.
#[derive(Debug, Clone)]
pub struct Users {
    pub(crate) store: Store,
    pub(crate) host: Arc<HostContext>,
}

impl Users {
    /// Lists all users, by name.
    pub async fn list(&self) -> Result<Vec<User>> {
        Ok(self.store.users().await?)
    }

    /// Lists the tokens of all users, by user.
    pub async fn tokens(&self) -> Result<Vec<UserToken>> {
        Ok(self.store.user_tokens().await?)
    }

    /// Adds a user.
    pub async fn add(&self, name: UserName, role: Role) -> Result<User> {
        if !self.store.add_user(name.clone(), role, self.host.now()).await? {
            return Err(UserError::Exists { name: name.to_string() }.into());
        }
        self.get(name.as_str()).await
    }

    /// Finds a user; `None` if there is none of this name.
    pub async fn find(&self, name: UserName) -> Result<Option<User>> {
        Ok(self.store.user(name).await?)
    }

    /// Finds a user.
    pub async fn get(&self, text: &str) -> Result<User> {
        let unknown = || UserError::Unknown { text: text.to_owned() };
        let name = text.parse().map_err(|_| unknown())?;
        Ok(self.find(name).await?.ok_or_else(unknown)?)
    }

    /// Changes the general role of a user, or the one in a project, where `None` removes it.
    pub async fn set_role(
        &self,
        text: &str,
        project: Option<ProjectId>,
        role: Option<Role>,
    ) -> Result<User> {
        let name = self.get(text).await?.name;
        self.store.set_role(name, project, role).await?;
        self.get(text).await
    }

    /// Signs all browsers of a user out, and removes the tokens.
    pub async fn sign_out(&self, text: &str) -> Result<()> {
        let name = self.get(text).await?.name;
        self.store.sign_out_user(name, self.host.now()).await?;
        Ok(())
    }

    /// Removes a user with the tokens and rules that are theirs.
    pub async fn remove(&self, text: &str) -> Result<UserName> {
        let name = self.get(text).await?.name;
        self.store.remove_user(name.clone()).await?;
        Ok(name)
    }

    /// Stores a token of a user by its digest.
    pub async fn add_token(
        &self,
        text: &str,
        id: String,
        label: String,
        digest: String,
    ) -> Result<UserToken> {
        let user = self.get(text).await?.name;
        let created_at = self.host.now();
        let token = UserToken { id, user, label, created_at, last_used_at: None };
        self.store.add_user_token(token.clone(), digest).await?;
        Ok(token)
    }

    /// Removes a token of a user.
    pub async fn remove_token(&self, text: &str, id: &str) -> Result<()> {
        let user = self.get(text).await?.name;
        if !self.store.remove_user_token(user, id.to_owned()).await? {
            return Err(UserError::UnknownToken { text: id.to_owned() }.into());
        }
        Ok(())
    }

    /// Finds the user of a token by its digest, and notes that it was used.
    pub async fn of_token(&self, digest: String) -> Result<Option<(User, UserToken)>> {
        let Some((user, token)) = self.store.user_of_token(digest).await? else { return Ok(None) };
        let now = self.host.now();
        let grain = i64::try_from(USE_GRAIN.as_millis()).unwrap_or(i64::MAX);
        let is_noted = |at: convoke_core::time::Timestamp| now.as_millis() - at.as_millis() < grain;
        if !token.last_used_at.is_some_and(is_noted) {
            self.store.touch_user_token(token.id.clone(), now).await?;
        }
        Ok(Some((user, token)))
    }

    /// Adds to the audit trail.
    pub async fn record(&self, act: Act) -> Result<()> {
        Ok(self.store.record_act(act).await?)
    }

    /// Reads the audit trail, the newest first.
    pub async fn audit(&self, filter: AuditFilter, limit: u32) -> Result<Vec<AuditEntry>> {
        Ok(self.store.audit(filter, limit).await?)
    }
}
