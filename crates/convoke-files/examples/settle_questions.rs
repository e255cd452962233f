//! Settles one question session and says what came of it: `settle_questions DIR ID answer|reject LABEL`.
//!
//! It waits for a line on standard input first, so that many can be let loose at once.

use std::error::Error;
use std::io;
use std::path::PathBuf;

use convoke_core::question::{Answer, Limits};
use convoke_core::time::Timestamp;
use convoke_files::questions::{Questions, Settings, Verdict};

#[expect(clippy::print_stdout, reason = "an example says what it does")]
fn main() -> Result<(), Box<dyn Error>> {
    let usage = "usage: settle_questions DIR ID answer|reject LABEL";
    let mut args = std::env::args().skip(1);
    let (Some(dir), Some(id), Some(verb), Some(label)) =
        (args.next(), args.next(), args.next(), args.next())
    else {
        return Err(usage.into());
    };
    let limits = Limits { questions_max: 5, options_max: 5 };
    let questions = Questions::new(PathBuf::from(dir), Settings { sessions_max: 100, limits });
    let timestamp = Timestamp::from_millis(1_800_000_000_000);
    let verdict = match verb.as_str() {
        "answer" => Verdict::Answer(vec![Answer {
            question_index: 0,
            selected_option: Some(label),
            selected_options: None,
            custom_text: None,
            timestamp,
        }]),
        "reject" => Verdict::Reject { reason: Some(label) },
        _ => return Err(usage.into()),
    };
    println!("ready");
    io::stdin().read_line(&mut String::new())?;
    match questions.settle(id.parse()?, verdict, timestamp) {
        Ok(()) => println!("won"),
        Err(error) => println!("{error}"),
    }
    Ok(())
}
