//! Progress notifications for waiting calls.

use std::convert::Infallible;
use std::time::Duration;

use rmcp::RoleServer;
use rmcp::model::ProgressNotificationParam;
use rmcp::service::RequestContext;

/// The interval between progress notifications.
const PROGRESS: Duration = Duration::from_secs(5);

/// Sends progress notifications to a client that asked for them.
pub(super) async fn report(context: &RequestContext<RoleServer>, whom: &str) -> Infallible {
    let Some(token) = context.meta.get_progress_token() else {
        return std::future::pending().await;
    };
    let mut ticks = tokio::time::interval_at(tokio::time::Instant::now() + PROGRESS, PROGRESS);
    let mut waited = 0.0;
    loop {
        ticks.tick().await;
        waited += PROGRESS.as_secs_f64();
        let said = format!("waiting for {whom}, {waited:.0} s so far");
        let progress = ProgressNotificationParam::new(token.clone(), waited).with_message(said);
        if let Err(error) = context.peer.notify_progress(progress).await {
            tracing::debug!("the progress cannot be sent to the client: {error}");
        }
    }
}
