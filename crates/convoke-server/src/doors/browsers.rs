//! Browser sessions: each is a pair of a cookie and a second secret, and neither opens anything alone.
//!
//! Cookies do not keep the ports of a host apart: the browser sends ours to any other server on this machine. The
//! second secret lies in the page's storage, which belongs to the origin with its port. Only digests of both are kept,
//! in a file of the home, so that a page in a browser outlives the daemon.

use std::path::PathBuf;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::Duration;

use convoke_api::bodies::BrowserSession;
use convoke_core::time::Timestamp;
use convoke_files::atomic;
use serde::{Deserialize, Serialize};
use tokio_util::sync::CancellationToken;

use super::secret::{Digest, Token};

/// A browser that was not used for so long must sign in again.
pub(super) const IDLE_MAX: Duration = Duration::from_secs(30 * 24 * 60 * 60);
/// How old the file's word on the last use of a browser may be.
const USE_GRAIN: Duration = Duration::from_secs(60 * 60);
/// Browsers that are signed in at once; one more takes the place of the one that was not used for longest.
const BROWSERS_MAX: usize = 32;
/// Characters of what a browser calls itself.
const USER_AGENT_CHARS: usize = 200;

/// The browsers that may use the page. Cheap to clone; all clones are the same browsers.
#[derive(Clone)]
pub(crate) struct Browsers {
    shared: Arc<Shared>,
}

struct Shared {
    file: PathBuf,
    clock: fn() -> Timestamp,
    browsers: Mutex<Vec<Browser>>,
    /// Held while the file is written, so that an older state never replaces a newer one.
    writing: Mutex<()>,
}

/// A signed-in browser.
struct Browser {
    record: Record,
    /// When the file was last told of its use.
    written_at: Timestamp,
    revoked: CancellationToken,
}

/// A signed-in browser as the file has it.
#[derive(Debug, Clone, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
struct Record {
    id: String,
    cookie: Digest,
    secret: Digest,
    created_at: Timestamp,
    last_used_at: Timestamp,
    user_agent: String,
}

/// The whole file.
#[derive(Debug, Default, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
struct File {
    browser_sessions: Vec<Record>,
}

/// A visit of a browser that is signed in.
#[derive(Clone)]
pub(crate) struct Visit {
    /// The browser session.
    pub(crate) id: String,
    /// Cancelled when the browser session is revoked.
    pub(crate) revoked: CancellationToken,
}

/// What a new browser session is made of.
pub(crate) struct Pair<'a> {
    pub(crate) id: String,
    pub(crate) cookie: &'a Token,
    pub(crate) secret: &'a Token,
    pub(crate) user_agent: &'a str,
}

impl Browsers {
    /// Reads who is signed in. With a file that cannot be read all browsers must sign in again.
    pub(super) fn open(file: PathBuf, clock: fn() -> Timestamp) -> Self {
        let File { browser_sessions } = read(&file);
        let browsers = browser_sessions.into_iter().take(BROWSERS_MAX).map(Browser::from).collect();
        let shared =
            Shared { file, clock, browsers: Mutex::new(browsers), writing: Mutex::new(()) };
        Self { shared: Arc::new(shared) }
    }

    /// What time it is.
    pub(crate) fn now(&self) -> Timestamp {
        (self.shared.clock)()
    }

    /// Signs a browser in. On a full disk this lasts until the daemon ends, and the log says so.
    pub(crate) async fn add(&self, pair: Pair<'_>) {
        let now = self.now();
        let record = Record {
            id: pair.id,
            cookie: Digest::of(pair.cookie.as_str()),
            secret: Digest::of(pair.secret.as_str()),
            created_at: now,
            last_used_at: now,
            user_agent: pair.user_agent.chars().take(USER_AGENT_CHARS).collect(),
        };
        {
            let mut browsers = self.shared.current();
            if browsers.len() >= BROWSERS_MAX {
                let oldest = browsers.iter().enumerate();
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

    /// Whether one of these cookies belongs to a browser that is signed in. That alone opens nothing.
    pub(crate) fn knows<'a>(&self, cookies: impl IntoIterator<Item = &'a str>) -> bool {
        let browsers = self.shared.current();
        let is_known = |cookie| browsers.iter().any(|it| it.record.cookie == Digest::of(cookie));
        cookies.into_iter().any(is_known)
    }

    /// Takes note that a browser is still there.
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

    /// Those that are signed in, the last used first.
    pub(crate) fn list(&self) -> Vec<BrowserSession> {
        let shown = |browser: &Browser| BrowserSession {
            id: browser.record.id.clone(),
            created_at: browser.record.created_at,
            last_used_at: browser.record.last_used_at,
            user_agent: browser.record.user_agent.clone(),
        };
        let mut listed: Vec<BrowserSession> = self.shared.current().iter().map(shown).collect();
        listed.sort_by_key(|browser| std::cmp::Reverse(browser.last_used_at));
        listed
    }

    /// Signs a browser out; its sockets are closed. Fails when the file still has it: a restart would let it in again.
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

    /// Writes the file in the background; a failure is logged, and costs no more than a last use that is too old.
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

/// What became of a browser that is to be signed out.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Revoked {
    /// It is.
    Done,
    /// There is no such browser.
    Unknown,
}

impl Shared {
    /// The browsers, without those that were not used for too long.
    fn current(&self) -> MutexGuard<'_, Vec<Browser>> {
        let now = (self.clock)();
        // Browsers are added and removed whole, also by a thread that panicked.
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
        // Texts and numbers can always be written.
        atomic::write(&self.file, &serde_json::to_vec_pretty(&file).unwrap_or_default())
    }
}

impl Browser {
    fn visit(&self) -> Visit {
        Visit { id: self.record.id.clone(), revoked: self.revoked.clone() }
    }

    /// Notes a use; tells whether the file should hear of it.
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
