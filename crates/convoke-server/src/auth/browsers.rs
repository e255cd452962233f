//! Browser sessions: each is a pair of a cookie and a second secret, and both are needed.
//!
//! Browsers send cookies to every port of a host, so any other server on this machine receives
//! them. The second secret is in the page's local storage, which is separate for each origin
//! including its port. A file in the home stores digests of both, so that browsers stay signed in
//! when the daemon restarts.

use std::path::PathBuf;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::Duration;

use convoke_api::bodies::BrowserSession;
use convoke_core::time::Timestamp;
use convoke_core::user::UserName;
use convoke_files::atomic;
use serde::{Deserialize, Serialize};
use tokio_util::sync::CancellationToken;

use super::secret::{Digest, Token};

/// A browser that was not used for this long must sign in again.
pub(super) const IDLE_MAX: Duration = Duration::from_secs(30 * 24 * 60 * 60);
/// A use is written to the file only if the stored time is older than this.
const USE_GRAIN: Duration = Duration::from_secs(60 * 60);
/// Browsers of the owner, and of users, that may be signed in; one more evicts the least recently used of its kind.
const BROWSERS_MAX: usize = 32;
/// Characters of a `User-Agent` that are stored.
const USER_AGENT_CHARS: usize = 200;

/// The signed-in browsers. Cheap to clone; clones share the list.
#[derive(Clone)]
pub(crate) struct Browsers {
    shared: Arc<Shared>,
}

struct Shared {
    file: PathBuf,
    clock: fn() -> Timestamp,
    browsers: Mutex<Vec<Browser>>,
    /// Held while the file is written, so that an older state cannot overwrite a newer one.
    writing: Mutex<()>,
}

/// A signed-in browser.
struct Browser {
    record: Record,
    /// The time of the last use that is in the file.
    written_at: Timestamp,
    revoked: CancellationToken,
}

/// A signed-in browser in the file.
#[derive(Debug, Clone, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
struct Record {
    id: String,
    cookie: Digest,
    secret: Digest,
    created_at: Timestamp,
    last_used_at: Timestamp,
    user_agent: String,
    /// The user, unless it is the owner's.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    user: Option<BrowserUser>,
}

/// The user of a browser.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub(crate) struct BrowserUser {
    pub(crate) name: UserName,
    /// The user's epoch when the browser signed in; a browser with another one is signed out.
    pub(crate) epoch: i64,
}

/// The whole file.
#[derive(Debug, Default, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
struct File {
    browser_sessions: Vec<Record>,
}

/// The browser session that authenticated a request.
#[derive(Clone)]
pub(crate) struct Visit {
    /// The id of the browser session.
    pub(crate) id: String,
    /// Cancelled when the browser session is revoked.
    pub(crate) revoked: CancellationToken,
    /// The user, unless it is the owner's.
    pub(crate) user: Option<BrowserUser>,
}

/// The arguments of `Browsers::add`.
pub(crate) struct NewBrowser<'a> {
    pub(crate) id: String,
    pub(crate) cookie: &'a Token,
    pub(crate) secret: &'a Token,
    pub(crate) user_agent: &'a str,
    pub(crate) user: Option<BrowserUser>,
}

impl Browsers {
    /// Reads the file. If it cannot be read, all browsers must sign in again.
    pub(super) fn open(file: PathBuf, clock: fn() -> Timestamp) -> Self {
        let File { browser_sessions } = read(&file);
        let browsers =
            browser_sessions.into_iter().take(2 * BROWSERS_MAX).map(Browser::from).collect();
        let shared =
            Shared { file, clock, browsers: Mutex::new(browsers), writing: Mutex::new(()) };
        Self { shared: Arc::new(shared) }
    }

    /// The current time.
    pub(crate) fn now(&self) -> Timestamp {
        (self.shared.clock)()
    }

    /// Signs a browser in. If the file cannot be written, this lasts until the daemon stops; that is logged.
    pub(crate) async fn add(&self, new: NewBrowser<'_>) {
        let now = self.now();
        let record = Record {
            id: new.id,
            cookie: Digest::of(new.cookie.as_str()),
            secret: Digest::of(new.secret.as_str()),
            created_at: now,
            last_used_at: now,
            user_agent: new.user_agent.chars().take(USER_AGENT_CHARS).collect(),
            user: new.user,
        };
        {
            let mut browsers = self.shared.current();
            // Browsers of users never sign out the owner's.
            let is_user = |browser: &Browser| browser.record.user.is_some();
            let alike = |browser: &Browser| is_user(browser) == record.user.is_some();
            if browsers.iter().filter(|it| alike(it)).count() >= BROWSERS_MAX {
                let oldest = browsers.iter().enumerate().filter(|(_, it)| alike(it));
                let oldest = oldest.min_by_key(|(_, browser)| browser.record.last_used_at);
                if let Some(at) = oldest.map(|(at, _)| at) {
                    browsers.remove(at).revoked.cancel();
                }
            }
            browsers.push(record.into());
        }
        if let Err(error) = self.write().await {
            tracing::warn!("a browser must sign in again after a restart: {error}");
        }
    }

    /// The browser that one of these cookies and the secret belong to.
    pub(crate) fn visit<'a>(
        &self,
        cookies: impl IntoIterator<Item = &'a str>,
        secret: &str,
    ) -> Option<Visit> {
        let secret = Digest::of(secret);
        let now = self.now();
        let (visit, is_due) = {
            let mut browsers = self.shared.current();
            let browser = browsers.iter_mut().find(|browser| browser.record.secret == secret)?;
            if !cookies.into_iter().any(|cookie| Digest::of(cookie) == browser.record.cookie) {
                return None;
            }
            (browser.visit(), browser.touch(now))
        };
        if is_due {
            self.write_later();
        }
        Some(visit)
    }

    /// Whether one of these cookies belongs to a signed-in browser. This does not authenticate a request.
    pub(crate) fn knows<'a>(&self, cookies: impl IntoIterator<Item = &'a str>) -> bool {
        let browsers = self.shared.current();
        let is_known = |cookie| browsers.iter().any(|it| it.record.cookie == Digest::of(cookie));
        cookies.into_iter().any(is_known)
    }

    /// Records that a browser session was used.
    pub(crate) fn touch(&self, id: &str) {
        let now = self.now();
        let mut browsers = self.shared.current();
        let browser = browsers.iter_mut().find(|browser| browser.record.id == id);
        let is_due = browser.is_some_and(|browser| browser.touch(now));
        drop(browsers);
        if is_due {
            self.write_later();
        }
    }

    /// The signed-in browsers, most recently used first.
    pub(crate) fn list(&self) -> Vec<BrowserSession> {
        let shown = |browser: &Browser| BrowserSession {
            id: browser.record.id.clone(),
            created_at: browser.record.created_at,
            last_used_at: browser.record.last_used_at,
            user_agent: browser.record.user_agent.clone(),
            user: browser.record.user.as_ref().map(|user| user.name.clone()),
        };
        let mut listed: Vec<BrowserSession> = self.shared.current().iter().map(shown).collect();
        listed.sort_by_key(|browser| std::cmp::Reverse(browser.last_used_at));
        listed
    }

    /// Signs a browser out and closes its sockets. Fails if the file cannot be written: a restart would restore the
    /// session.
    pub(crate) async fn revoke(&self, id: &str) -> Result<Revoked, convoke_files::Error> {
        let browser = {
            let mut browsers = self.shared.current();
            let at = browsers.iter().position(|browser| browser.record.id == id);
            at.map(|at| browsers.remove(at))
        };
        let Some(browser) = browser else { return Ok(Revoked::Unknown) };
        browser.revoked.cancel();
        self.write().await?;
        Ok(Revoked::Done)
    }

    /// Writes the file in the background. A failure is logged; only the times of last use are then out of date.
    fn write_later(&self) {
        let browsers = self.clone();
        tokio::spawn(async move {
            if let Err(error) = browsers.write().await {
                tracing::warn!("cannot note the use of a browser: {error}");
            }
        });
    }

    async fn write(&self) -> Result<(), convoke_files::Error> {
        let shared = Arc::clone(&self.shared);
        let written = tokio::task::spawn_blocking(move || shared.write()).await;
        written.unwrap_or_else(|error| {
            let source = std::io::Error::other(error);
            let path = self.shared.file.clone();
            Err(convoke_files::Error::Write { path, step: "writing", source })
        })
    }
}

/// The result of `Browsers::revoke`.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Revoked {
    /// The browser is signed out.
    Done,
    /// There is no such browser.
    Unknown,
}

impl Shared {
    /// The signed-in browsers; removes those that were idle for too long.
    fn current(&self) -> MutexGuard<'_, Vec<Browser>> {
        let now = (self.clock)();
        // Browsers are added and removed in one step, so the list is consistent after a panic.
        let mut browsers = self.browsers.lock().unwrap_or_else(PoisonError::into_inner);
        let idle_max = i64::try_from(IDLE_MAX.as_millis()).unwrap_or(i64::MAX);
        browsers.retain(|browser| {
            let is_used = now.millis_since(browser.record.last_used_at) < idle_max;
            if !is_used {
                browser.revoked.cancel();
            }
            is_used
        });
        browsers
    }

    fn write(&self) -> Result<(), convoke_files::Error> {
        let _writing = self.writing.lock().unwrap_or_else(PoisonError::into_inner);
        let file = {
            let mut browsers = self.current();
            for browser in browsers.iter_mut() {
                browser.written_at = browser.record.last_used_at;
            }
            File { browser_sessions: browsers.iter().map(|it| it.record.clone()).collect() }
        };
        // Serialising strings and numbers cannot fail.
        atomic::write(&self.file, &serde_json::to_vec_pretty(&file).unwrap_or_default())
    }
}

impl Browser {
    fn visit(&self) -> Visit {
        let (id, user) = (self.record.id.clone(), self.record.user.clone());
        Visit { id, revoked: self.revoked.clone(), user }
    }

    /// Records a use; returns whether the file should be written.
    fn touch(&mut self, now: Timestamp) -> bool {
        self.record.last_used_at = now;
        let grain = i64::try_from(USE_GRAIN.as_millis()).unwrap_or(i64::MAX);
        let is_due = now.millis_since(self.written_at) >= grain;
        if is_due {
            self.written_at = now;
        }
        is_due
    }
}

impl From<Record> for Browser {
    fn from(record: Record) -> Self {
        let written_at = record.last_used_at;
        Self { record, written_at, revoked: CancellationToken::new() }
    }
}

fn read(path: &std::path::Path) -> File {
    let text = match std::fs::read(path) {
        Ok(text) => text,
        Err(error) if error.kind() == std::io::ErrorKind::NotFound => return File::default(),
        Err(error) => {
            tracing::warn!("browsers must sign in again: cannot read {}: {error}", path.display());
            return File::default();
        }
    };
    serde_json::from_slice(&text).unwrap_or_else(|error| {
        tracing::warn!("browsers must sign in again: {} is damaged: {error}", path.display());
        File::default()
    })
}

#[cfg(test)]
mod tests;
