//! The demo agent as a separate program: `demo_agent STATE_FOLDER`, ACP on standard input and output.

use std::path::PathBuf;

#[tokio::main(flavor = "current_thread")]
async fn main() -> Result<(), Box<dyn std::error::Error>> {
    let state = std::env::args().nth(1).ok_or("usage: demo_agent STATE_FOLDER")?;
    let random = || *uuid::Uuid::from_u128(u128::from(std::process::id()) << 64 | 7).as_bytes();
    convoke_agents::demo::serve(
        tokio::io::stdin(),
        tokio::io::stdout(),
        &PathBuf::from(state),
        random,
    )
    .await?;
    Ok(())
}
