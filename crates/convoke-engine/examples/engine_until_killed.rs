//! An engine in the middle of everything, for tests that kill it: `engine_until_killed FOLDER [count [SESSION]]`.
//!
//! It says the id of its session once a turn runs, two prompts wait and a question is open. It stops in order when its
//! input ends. With `count` it says the id of its session and prompts it, and then the revision of every update of the
//! answer and how many bytes of the answer were read by then.

use std::io::{Read as _, Write as _};
use std::path::Path;

use convoke_core::content::Content;
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
    if std::env::args().nth(2).is_some_and(|what| what == "count") {
        return count(&world, std::env::args().nth(3)).await;
    }
    let mut scene = world.begin().await;
    scene.prompt("work").await;
    scene.log.until("agent: working").await;
    scene.prompt("two").await;
    scene.prompt("three").await;
    let asker = Asker::Session(scene.session);
    let asked = scene.engine.inbox().ask(asker, vec![asked::question()]).await?;
    writeln!(std::io::stdout(), "{}", scene.session)?;
    tokio::task::spawn_blocking(|| std::io::stdin().read_to_end(&mut Vec::new())).await??;
    scene.engine.stop().await;
    asked.leave();
    Ok(())
}

async fn count(
    world: &world::World,
    session: Option<String>,
) -> Result<(), Box<dyn std::error::Error>> {
    let mut scene = match session {
        Some(session) => world.begin_again(session.parse()?).await,
        None => world.begin().await,
    };
    scene.log.catch_up().await;
    let before = scene.log.last_seq();
    writeln!(std::io::stdout(), "{}", scene.session)?;
    scene.prompt("count").await;
    loop {
        scene.log.next().await;
        let messages = scene.log.messages();
        let answer = messages.last().filter(|message| message.seq > before);
        if let Some(Content::Text { text, partial: true, .. }) = answer.map(|it| &it.content) {
            writeln!(std::io::stdout(), "{} {}", scene.log.rev(), text.len())?;
        }
    }
}
