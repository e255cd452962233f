//! Appends numbered turns to a transcript until it is killed: `write_transcript DIR ID COUNT`. Prints each number once
//! its turn is saved.

use std::error::Error;
use std::io::Write;
use std::path::PathBuf;

use convoke_core::time::Timestamp;
use convoke_files::transcripts::{Id, Record, Role, Transcripts, Turn};

fn main() -> Result<(), Box<dyn Error>> {
    let mut args = std::env::args().skip(1);
    let (Some(dir), Some(id), Some(count)) = (args.next(), args.next(), args.next()) else {
        return Err("usage: write_transcript DIR ID COUNT".into());
    };
    let (transcripts, id) = (Transcripts::new(PathBuf::from(dir)), id.parse::<Id>()?);
    let now = Timestamp::from_millis(1_800_000_000_000);
    let (mut writer, next) = if transcripts.path(&id).exists() {
        let opened = transcripts.open(&id, 1000)?;
        (opened.writer, opened.recall.turn_count)
    } else {
        (transcripts.create(&id, "demo", now)?, 0)
    };
    let mut output = std::io::stdout();
    for number in next..next + count.parse::<u64>()? {
        // Longer than a page now and then, so that a write is not over at once.
        let padding = "x".repeat(usize::try_from(number % 5)? * 5_000);
        let content = format!("{number} {padding}");
        writer.append(&Record::Turn(Turn {
            role: Role::User,
            content,
            timestamp: now,
            tokens: 1,
        }))?;
        writeln!(output, "{number}")?;
        output.flush()?;
    }
    writeln!(output, "done")?;
    // The session stays open until its user leaves.
    std::io::stdin().read_line(&mut String::new())?;
    Ok(())
}
