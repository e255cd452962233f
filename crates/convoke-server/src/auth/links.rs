//! One-time links: each signs in one browser, once, within a few minutes.
//!
//! A link that was used or has expired is useless, since it may stay in a browser's history.

use std::fs;
use std::os::unix::fs::DirBuilderExt as _;
use std::path::{Path, PathBuf};
use std::sync::{Mutex, MutexGuard, PoisonError};
use std::time::Duration;

use convoke_core::user::UserName;
use tokio::time::Instant;

use super::browsers::BrowserUser;
use super::secret::{Digest, Token};

/// How long a link is valid: long enough to switch windows, too short to be found later.
pub(crate) const LINK_LIFE: Duration = Duration::from_secs(5 * 60);
/// How long a link for a user is valid: it is sent to someone.
pub(crate) const USER_LINK_LIFE: Duration = Duration::from_secs(24 * 60 * 60);
/// Unused links of either kind; one more replaces the oldest.
const LINKS_MAX: usize = 16;

/// The unused links of a daemon.
pub(crate) struct Links {
    /// The folder for redirect files.
    folder: PathBuf,
    waiting: Mutex<Vec<Link>>,
}

struct Link {
    secret: Digest,
    until: Instant,
    /// The user whom it signs in, as of when the link was made; the owner without one.
    user: Option<BrowserUser>,
    _file: Option<RedirectFile>,
}

/// An HTML file that redirects to a link. Deleted on drop.
struct RedirectFile(PathBuf);

impl Links {
    /// Starts without links, and deletes the redirect files of a killed daemon.
    pub(super) fn open(folder: PathBuf) -> Self {
        match fs::remove_dir_all(&folder) {
            Ok(()) => {}
            Err(error) if error.kind() == std::io::ErrorKind::NotFound => {}
            Err(error) => tracing::warn!("cannot remove {}: {error}", folder.display()),
        }
        Self { folder, waiting: Mutex::default() }
    }

    /// Creates a link to the page at `url`, for the caller's own browser.
    pub(crate) fn make(&self, url: &str, token: &Token, user: Option<BrowserUser>) -> String {
        self.add(token, LINK_LIFE, None, user);
        address(url, token)
    }

    /// Creates a link that is sent to a user.
    pub(crate) fn make_for_user(&self, url: &str, token: &Token, user: BrowserUser) -> String {
        self.add(token, USER_LINK_LIFE, None, Some(user));
        address(url, token)
    }

    /// Removes the links of a user.
    pub(crate) fn drop_user(&self, name: &UserName) {
        self.waiting().retain(|link| link.user.as_ref().is_none_or(|user| user.name != *name));
    }

    /// Creates a link and a file that redirects a browser to it. Blocks while the file is written.
    pub(crate) fn make_file(
        &self,
        url: &str,
        token: &Token,
        name: &str,
        user: Option<BrowserUser>,
    ) -> convoke_files::Result<PathBuf> {
        let made = fs::DirBuilder::new().recursive(true).mode(0o700).create(&self.folder);
        made.map_err(|source| convoke_files::Error::Write {
            path: self.folder.clone(),
            step: "making its folder",
            source,
        })?;
        let path = self.folder.join(format!("{name}.html"));
        convoke_files::atomic::write(&path, redirect(&address(url, token)).as_bytes())?;
        self.add(token, LINK_LIFE, Some(RedirectFile(path.clone())), user);
        Ok(path)
    }

    fn add(
        &self,
        token: &Token,
        life: Duration,
        file: Option<RedirectFile>,
        user: Option<BrowserUser>,
    ) {
        let mut waiting = self.waiting();
        let alike = |link: &Link| link.user.is_some() == user.is_some();
        if waiting.iter().filter(|link| alike(link)).count() >= LINKS_MAX
            && let Some(oldest) = waiting.iter().position(alike)
        {
            waiting.remove(oldest);
        }
        let secret = Digest::of(token.as_str());
        waiting.push(Link { secret, until: Instant::now() + life, user, _file: file });
    }

    /// Consumes the link with this secret.
    pub(crate) fn redeem(&self, text: &str) -> Redeemed {
        self.expire();
        let secret = Digest::of(text);
        let mut waiting = self.waiting();
        match waiting.iter().position(|link| link.secret == secret) {
            Some(at) => Redeemed::Valid(waiting.remove(at).user),
            None => Redeemed::Invalid,
        }
    }

    /// Removes expired links and their files.
    pub(crate) fn expire(&self) {
        let now = Instant::now();
        self.waiting().retain(|link| now < link.until);
    }

    fn waiting(&self) -> MutexGuard<'_, Vec<Link>> {
        // Links are added and removed in one step, so the list is consistent after a panic.
        self.waiting.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

/// The result of redeeming a link.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) enum Redeemed {
    /// The link was valid, for this user or for the owner. The caller checks the user's epoch: another node may have
    /// removed the user or signed them out since.
    Valid(Option<BrowserUser>),
    /// The link was used before, has expired, or never existed.
    Invalid,
}

impl Drop for RedirectFile {
    fn drop(&mut self) {
        remove(&self.0);
    }
}

fn remove(path: &Path) {
    match fs::remove_file(path) {
        Ok(()) => {}
        Err(error) if error.kind() == std::io::ErrorKind::NotFound => {}
        Err(error) => tracing::warn!("cannot remove {}: {error}", path.display()),
    }
}

/// The secret is in the fragment, which browsers do not send to servers.
fn address(url: &str, token: &Token) -> String {
    format!("{url}/#link={}", token.as_str())
}

/// A page that redirects to the link with `location.replace`, so that the back button skips it.
fn redirect(address: &str) -> String {
    format!(
        "<!doctype html>\n<meta charset=\"utf-8\">\n<meta name=\"referrer\" content=\"no-referrer\">\n\
         <title>Convoke</title>\n<script>location.replace(\"{address}\")</script>\n\
         <noscript>The page of Convoke needs JavaScript.</noscript>\n"
    )
}

#[cfg(test)]
mod tests {
    use std::os::unix::fs::PermissionsExt as _;

    use super::*;

    fn links() -> (Links, tempfile::TempDir) {
        let folder = tempfile::tempdir().unwrap();
        (Links::open(folder.path().join("open")), folder)
    }

    fn token(byte: u8) -> Token {
        Token::from_random([byte; 32])
    }

    #[tokio::test(start_paused = true)]
    async fn k6_a_link_works_once_and_soon() {
        let (links, _folder) = links();
        let link = links.make("http://127.0.0.1:1", &token(1), None);
        assert_eq!(link, format!("http://127.0.0.1:1/#link={}", "01".repeat(32)));
        assert_eq!(links.redeem(token(2).as_str()), Redeemed::Invalid);
        assert_eq!(links.redeem(token(1).as_str()), Redeemed::Valid(None));
        assert_eq!(links.redeem(token(1).as_str()), Redeemed::Invalid, "used");
        links.make("http://127.0.0.1:1", &token(3), None);
        tokio::time::advance(LINK_LIFE).await;
        assert_eq!(links.redeem(token(3).as_str()), Redeemed::Invalid, "expired");
    }

    #[tokio::test(start_paused = true)]
    async fn k6_a_redirect_file_is_private_and_goes_with_its_link() {
        let (links, folder) = links();
        let make = |byte| links.make_file("http://127.0.0.1:1", &token(byte), "a", None).unwrap();
        let path = make(1);
        assert_eq!(fs::metadata(&path).unwrap().permissions().mode() & 0o777, 0o600);
        assert_eq!(
            fs::metadata(folder.path().join("open")).unwrap().permissions().mode() & 0o777,
            0o700
        );
        assert!(fs::read_to_string(&path).unwrap().contains(token(1).as_str()));
        assert_eq!(links.redeem(token(1).as_str()), Redeemed::Valid(None));
        assert!(!path.exists(), "used");
        let path = make(2);
        tokio::time::advance(LINK_LIFE).await;
        links.expire();
        assert!(!path.exists(), "expired");
        let path = make(3);
        drop(links);
        assert!(!path.exists(), "the daemon stopped");
        fs::write(&path, "left by a killed daemon").unwrap();
        Links::open(folder.path().join("open"));
        assert!(!path.exists());
    }

    #[tokio::test]
    async fn more_links_than_there_is_room_for_drop_the_oldest() {
        let (links, _folder) = links();
        for byte in 0..=16 {
            links.make("http://127.0.0.1:1", &token(byte), None);
        }
        assert_eq!(links.redeem(token(0).as_str()), Redeemed::Invalid);
        assert_eq!(links.redeem(token(1).as_str()), Redeemed::Valid(None));
    }
}
