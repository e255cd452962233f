//! Adds, changes and removes users and their tokens, and writes the audit trail.

use convoke_core::id::ProjectId;
use convoke_core::time::Timestamp;
use convoke_core::user::{Role, UserName};

use super::{Change, Durability};
use crate::db::{Db, params};
use crate::error::Fault;
use crate::users::{Act, UserToken};

/// Adds a user.
#[derive(Debug)]
pub(crate) struct AddUser {
    pub(crate) name: UserName,
    pub(crate) role: Role,
    pub(crate) at: Timestamp,
}

impl Change for AddUser {
    type Outcome = bool;

    fn durability(&self) -> Durability {
        Durability::Acknowledged
    }

    fn apply(&self, db: Db<'_>) -> Result<bool, Fault> {
        let at = self.at.as_millis();
        let mut statement = db.prepare_cached(
            "INSERT INTO users (name, role, created_at, epoch) VALUES (?1, ?2, ?3, ?3)
             ON CONFLICT DO NOTHING",
        )?;
        Ok(statement.execute(params![self.name.as_str(), self.role.as_str(), at])? > 0)
    }
}

/// Sets the role of a user, in general or in a project, or removes the one in a project.
#[derive(Debug)]
pub(crate) struct SetRole {
    pub(crate) name: UserName,
    pub(crate) project: Option<ProjectId>,
    pub(crate) role: Option<Role>,
}

impl Change for SetRole {
    type Outcome = bool;

    fn durability(&self) -> Durability {
        Durability::Acknowledged
    }

    fn apply(&self, db: Db<'_>) -> Result<bool, Fault> {
        let name = self.name.as_str();
        if !db.prepare_cached("SELECT 1 FROM users WHERE name = ?1")?.exists([name])? {
            return Ok(false);
        }
        let project = self.project.map(|id| id.to_string());
        match (project, self.role) {
            (None, None) => {}
            (None, Some(role)) => {
                let sql = "UPDATE users SET role = ?2 WHERE name = ?1";
                db.prepare_cached(sql)?.execute(params![name, role.as_str()])?;
            }
            (Some(project), None) => {
                let sql = "DELETE FROM user_roles WHERE user_name = ?1 AND project_id = ?2";
                db.prepare_cached(sql)?.execute(params![name, project])?;
            }
            (Some(project), Some(role)) => {
                let sql = "INSERT INTO user_roles (user_name, project_id, role) VALUES (?1, ?2, ?3)
                           ON CONFLICT (user_name, project_id) DO UPDATE SET role = excluded.role";
                db.prepare_cached(sql)?.execute(params![name, project, role.as_str()])?;
            }
        }
        Ok(true)
    }
}

/// Signs all devices of a user out.
#[derive(Debug)]
pub(crate) struct SignOut {
    pub(crate) name: UserName,
    pub(crate) at: Timestamp,
}

impl Change for SignOut {
    type Outcome = bool;

    fn durability(&self) -> Durability {
        Durability::Acknowledged
    }

    fn apply(&self, db: Db<'_>) -> Result<bool, Fault> {
        // Always increases, whatever the clocks of several machines say.
        let sql = "UPDATE users SET epoch = CASE WHEN epoch < ?2 THEN ?2 ELSE epoch + 1 END
                   WHERE name = ?1";
        let found =
            db.prepare_cached(sql)?.execute(params![self.name.as_str(), self.at.as_millis()])?;
        let sql = "DELETE FROM user_tokens WHERE user_name = ?1";
        db.prepare_cached(sql)?.execute([self.name.as_str()])?;
        Ok(found > 0)
    }
}

/// Removes a user with roles and tokens.
#[derive(Debug)]
pub(crate) struct RemoveUser {
    pub(crate) name: UserName,
}

impl Change for RemoveUser {
    type Outcome = bool;

    fn durability(&self) -> Durability {
        Durability::Acknowledged
    }

    fn apply(&self, db: Db<'_>) -> Result<bool, Fault> {
        let name = self.name.as_str();
        for sql in [
            "DELETE FROM user_tokens WHERE user_name = ?1",
            "DELETE FROM user_roles WHERE user_name = ?1",
            "DELETE FROM rules WHERE user_name = ?1",
        ] {
            db.prepare_cached(sql)?.execute([name])?;
        }
        Ok(db.prepare_cached("DELETE FROM users WHERE name = ?1")?.execute([name])? > 0)
    }
}

/// Adds a token.
#[derive(Debug)]
pub(crate) struct AddToken {
    pub(crate) token: UserToken,
    pub(crate) digest: String,
}

impl Change for AddToken {
    type Outcome = ();

    fn durability(&self) -> Durability {
        Durability::Acknowledged
    }

    fn apply(&self, db: Db<'_>) -> Result<(), Fault> {
        let UserToken { id, user, label, created_at, last_used_at } = &self.token;
        db.prepare_cached(
            "INSERT INTO user_tokens (id, user_name, label, digest, created_at, last_used_at)
             VALUES (?1, ?2, ?3, ?4, ?5, ?6)",
        )?
        .execute(params![
            id.as_str(),
            user.as_str(),
            label.as_str(),
            self.digest.as_str(),
            created_at.as_millis(),
            last_used_at.map(Timestamp::as_millis),
        ])?;
        Ok(())
    }
}

/// Records the use of a token.
#[derive(Debug)]
pub(crate) struct TouchToken {
    pub(crate) id: String,
    pub(crate) at: Timestamp,
}

impl Change for TouchToken {
    type Outcome = ();

    fn durability(&self) -> Durability {
        Durability::Soon
    }

    fn apply(&self, db: Db<'_>) -> Result<(), Fault> {
        let sql = "UPDATE user_tokens SET last_used_at = ?2 WHERE id = ?1";
        db.prepare_cached(sql)?.execute(params![self.id.as_str(), self.at.as_millis()])?;
        Ok(())
    }
}

/// Removes a token.
#[derive(Debug)]
pub(crate) struct RemoveToken {
    pub(crate) user: UserName,
    pub(crate) id: String,
}

impl Change for RemoveToken {
    type Outcome = bool;

    fn durability(&self) -> Durability {
        Durability::Acknowledged
    }

    fn apply(&self, db: Db<'_>) -> Result<bool, Fault> {
        let sql = "DELETE FROM user_tokens WHERE user_name = ?1 AND id = ?2";
        Ok(db.prepare_cached(sql)?.execute([self.user.as_str(), self.id.as_str()])? > 0)
    }
}

/// Adds an act to the audit trail.
#[derive(Debug)]
pub(crate) struct RecordAct(pub(crate) Act);

impl Change for RecordAct {
    type Outcome = ();

    fn durability(&self) -> Durability {
        Durability::Acknowledged
    }

    fn apply(&self, db: Db<'_>) -> Result<(), Fault> {
        let Act { at, user, origin, action, session_id, project_id, request_id, subject } = &self.0;
        db.prepare_cached(
            "INSERT INTO audit
                 (at, user_name, origin, action, session_id, project_id, request_id, subject)
             VALUES (?1, ?2, ?3, ?4, ?5, ?6, ?7, ?8)",
        )?
        .execute(params![
            at.as_millis(),
            user.as_ref().map(UserName::as_str),
            origin.as_str(),
            action.as_str(),
            session_id.map(|id| id.to_string()),
            project_id.map(|id| id.to_string()),
            request_id.map(|id| id.to_string()),
            subject.as_str(),
        ])?;
        Ok(())
    }
}
