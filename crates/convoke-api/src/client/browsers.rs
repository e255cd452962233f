//! Browsers: links for them, and the list of signed-in ones.

use hyper::Method;

use super::query::segment;
use super::{Call, Client};
use crate::bodies::{BrowserLink, BrowserSessions, LinkForm, NewBrowserLink};
use crate::error::Result;

impl Client {
    /// Makes a one-time link that signs in a browser.
    pub async fn browser_link(&self, form: LinkForm) -> Result<BrowserLink> {
        self.fetch(Call::post("/api/browser-links").json(&NewBrowserLink { r#as: form })).await
    }

    /// The browsers that are signed in.
    pub async fn browser_sessions(&self) -> Result<BrowserSessions> {
        self.fetch(Call::get("/api/browser-sessions")).await
    }

    /// Signs a browser out.
    pub async fn revoke_browser_session(&self, id: &str) -> Result<()> {
        self.done(Call::new(Method::DELETE, format!("/api/browser-sessions/{}", segment(id)))).await
    }
}
