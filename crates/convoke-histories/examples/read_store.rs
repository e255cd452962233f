//! Reads all conversations below a root and says how many messages they have: `read_store claude ~/.claude`.
//!
//! Tests run it under `strace`, and it shows what an import would find.

use std::io::{self, Write as _};
use std::path::PathBuf;

use convoke_histories::{Agent, Reading, Store};

fn main() -> Result<(), Box<dyn std::error::Error>> {
    let mut args = std::env::args_os().skip(1);
    let (Some(agent), Some(root)) = (args.next(), args.next().map(PathBuf::from)) else {
        return Err("usage: read_store AGENT ROOT".into());
    };
    let agent: Agent = agent.to_str().unwrap_or_default().parse()?;
    let Some(mut store) = Store::open_at(agent, &root)? else {
        return Err("there is no such folder".into());
    };
    let mut out = io::stdout().lock();
    for history in store.scan()? {
        let Reading::Whole(mut reader) = store.read(&history, None)? else { continue };
        let mut messages = 0;
        while let Some(batch) = reader.next_batch()? {
            messages += batch.items.len();
        }
        let identity = reader.identity();
        let title = identity.title.as_deref().unwrap_or("(untitled)");
        writeln!(out, "{messages:6} {} {title}", identity.id)?;
    }
    Ok(())
}
