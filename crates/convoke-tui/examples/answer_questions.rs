//! Answers the questions in a folder: `answer_questions DIR`.

use std::error::Error;
use std::path::PathBuf;
use std::time::{SystemTime, UNIX_EPOCH};

use convoke_core::question::Limits;
use convoke_core::time::Timestamp;
use convoke_files::questions::{Questions, Settings};
use convoke_tui::{AnswerOptions, Arrival, Colour, answer};

#[tokio::main(flavor = "current_thread")]
async fn main() -> Result<(), Box<dyn Error>> {
    let dir = std::env::args().nth(1).ok_or("usage: answer_questions DIR")?;
    let limits = Limits { questions_max: 5, options_max: 5 };
    let questions = Questions::new(PathBuf::from(dir), Settings { sessions_max: 100, limits });
    let variable = |name: &str| std::env::vars().find(|(known, _)| known == name);
    let options = AnswerOptions {
        clock: now,
        colour: if variable("NO_COLOR").is_some() { Colour::Off } else { Colour::On },
        arrival: Arrival::Bell,
        user_folder: variable("HOME").map(|(_, folder)| PathBuf::from(folder)),
    };
    Ok(answer(questions, None, options).await?)
}

fn now() -> Timestamp {
    let since_1970 = SystemTime::now().duration_since(UNIX_EPOCH).unwrap_or_default();
    Timestamp::from_millis(i64::try_from(since_1970.as_millis()).unwrap_or(i64::MAX))
}
