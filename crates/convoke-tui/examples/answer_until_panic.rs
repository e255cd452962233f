//! Answers the questions in a folder until the clock breaks, which is at once: `answer_until_panic DIR`.

use std::error::Error;
use std::path::PathBuf;
use std::sync::atomic::{AtomicU32, Ordering};

use convoke_core::question::Limits;
use convoke_core::time::Timestamp;
use convoke_files::questions::{Questions, Settings};
use convoke_tui::{AnswerOptions, Arrival, Colour, answer};

#[tokio::main(flavor = "current_thread")]
async fn main() -> Result<(), Box<dyn Error>> {
    let dir = std::env::args().nth(1).ok_or("usage: answer_until_panic DIR")?;
    let limits = Limits { questions_max: 5, options_max: 5 };
    let questions = Questions::new(PathBuf::from(dir), Settings { sessions_max: 100, limits });
    let (clock, colour, arrival) = (clock, Colour::Off, Arrival::Bell);
    Ok(answer(questions, None, AnswerOptions { clock, colour, arrival, user_folder: None }).await?)
}

/// How often the clock is read before the first key is.
const BEFORE_THE_FIRST_KEY: u32 = 2;

#[expect(clippy::panic, reason = "what happens then is what this example shows")]
fn clock() -> Timestamp {
    static READ: AtomicU32 = AtomicU32::new(0);
    if READ.fetch_add(1, Ordering::SeqCst) >= BEFORE_THE_FIRST_KEY {
        panic!("the clock is broken");
    }
    Timestamp::from_millis(0)
}
