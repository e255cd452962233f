//! An engine in the middle of everything, for tests that kill it: `engine_until_killed FOLDER`.
//!
//! It says the id of its session once a turn runs, two prompts wait and a question is open. It stops in order when its
//! input ends.

use std::io::{Read as _, Write as _};
use std::path::Path;

use convoke_engine::Asker;

#[expect(dead_code, clippy::unwrap_used, reason = "it belongs to the tests, which use all of it")]
#[path = "../tests/it/asked.rs"]
mod asked;

#[expect(dead_code, reason = "the tests use all of it")]
#[expect(clippy::indexing_slicing, clippy::panic, clippy::unwrap_used, reason = "it is a test")]
#[path = "../tests/it/log.rs"]
mod log;
#[expect(dead_code, reason = "the tests use all of it")]
#[expect(clippy::panic, clippy::unwrap_used, reason = "it is a test")]
#[path = "../tests/it/world.rs"]
mod world;

#[tokio::main]
async fn main() -> Result<(), Box<dyn std::error::Error>> {
    let folder = std::env::args().nth(1).ok_or("usage: engine_until_killed FOLDER")?;
    let mut world = world::World::at(Path::new(&folder));
    world.find_agent(world::AGENT);
    let mut scene = world.begin().await;
    scene.prompt("work").await;
    scene.log.until("agent: working").await;
    scene.prompt("two").await;
    scene.prompt("three").await;
    let asker = Asker::Session(scene.session);
    let asked = scene.engine.ask(asker, vec![asked::question()]).await?;
    writeln!(std::io::stdout(), "{}", scene.session)?;
    tokio::task::spawn_blocking(|| std::io::stdin().read_to_end(&mut Vec::new())).await??;
    scene.engine.stop().await;
    asked.leave();
    Ok(())
}
