//! Keys that write, keys that turn pages, and words that stream in.

use convoke_testkit::bench::measure::{in_turn, seconds};
use convoke_testkit::bench::{Bench, Goal, Result, Row, Unit};
use crossterm::event::KeyCode;

use crate::session::Session;

pub(crate) const ROWS: [&str; 3] = [
    "tui: latency from typed letter to screen, session of 100,000 messages, p99",
    "tui: latency from Page Up to screen, session of 100,000 messages, p99",
    "tui: latency from streamed text to screen, session of 100,000 messages, p99",
];

/// Messages of the long session, and of one to try the benchmark out.
const LONG: (usize, usize) = (100_000, 1_000);
/// Messages of the session that it is compared with.
const SHORT: usize = 10;
/// Keys that are pressed.
const KEYS: (usize, usize) = (2_000, 50);
/// A sixtieth of a second.
const GOAL: f64 = 0.016;
const REFERENCE: &str = "session of 10 messages, p99";

pub(crate) fn measure(bench: &mut Bench) -> Result<()> {
    let [letters, pages, words] = ROWS;
    row(bench, letters, |session, turn| {
        // A line that is sent now and then, so that it does not grow for ever.
        let letter = char::from(b'a' + u8::try_from(turn % 26)?);
        session.press(KeyCode::Char(if turn % 7 == 0 { ' ' } else { letter }))
    })?;
    row(bench, pages, |session, turn| {
        // Up through thousands of entries, and down again.
        session.press(if turn % 200 < 150 { KeyCode::PageUp } else { KeyCode::PageDown })
    })?;
    row(bench, words, |session, _| session.stream("A few more words, and *some* of them `code`. "))
}

fn row(
    bench: &mut Bench,
    name: &str,
    mut act: impl FnMut(&mut Session, usize) -> Result<()>,
) -> Result<()> {
    bench.progress(name)?;
    let mut long = Session::open(bench.size(LONG.0, LONG.1))?;
    let mut short = Session::open(SHORT)?;
    let (mut long_turn, mut short_turn) = (0, 0);
    let act = std::cell::RefCell::new(&mut act);
    let (time, reference) = in_turn(
        bench.size(KEYS.0, KEYS.1),
        || {
            long_turn += 1;
            seconds(|| act.borrow_mut()(&mut long, long_turn))
        },
        || {
            short_turn += 1;
            seconds(|| act.borrow_mut()(&mut short, short_turn))
        },
    )?;
    bench.add(
        Row::new(name, Unit::Seconds, time.percentile(99.0))
            .against(REFERENCE, reference.percentile(99.0))
            .goal(Goal::AtMost(GOAL)),
    )
}
