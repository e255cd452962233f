//! Making a question session.

use std::fs::{self, File};
use std::io::Write as _;
use std::path::Path;

use convoke_core::id::RequestId;
use convoke_files::questions::Verdict;
use convoke_testkit::bench::measure::{in_turn, seconds};
use convoke_testkit::bench::{Bench, Goal, Result, Row, Unit, questions};

use crate::OTHERS;
use crate::folder::{Folder, new_set};

pub(crate) const ROWS: [&str; 2] =
    ["ask: create a question session", "ask: create a question session, 10,000 other sessions"];

/// Sessions that are made.
const SESSIONS: (usize, usize) = (300, 20);

pub(crate) fn measure(bench: &mut Bench) -> Result<()> {
    let [alone, among] = ROWS;
    if bench.wants(&[alone]) {
        let row = measure_one(bench, alone, 0)?;
        bench.add(row.goal(Goal::RatioAtMost(2.0)))?;
    }
    if bench.wants(&[among]) {
        let row = measure_one(bench, among, bench.size(OTHERS.0, OTHERS.1))?;
        bench.add(row.goal(Goal::RatioAtMost(3.0)))?;
    }
    Ok(())
}

fn measure_one(bench: &Bench, name: &str, others: usize) -> Result<Row> {
    bench.progress(name)?;
    let (mut folder, mut bare) = (Folder::with_others(others)?, Folder::with_others(others)?);
    let new = new_set()?;
    let (time, bare_time) = in_turn(
        bench.size(SESSIONS.0, SESSIONS.1),
        || {
            let (id, new) = (folder.next_id(), new.clone());
            let taken = seconds(|| folder.questions.create(id, new, questions::asked_at()))?;
            leave(&folder, id, others)?;
            Ok(taken)
        },
        || {
            let id = bare.next_id();
            let session = bare.questions.folder(id);
            let request = serde_json::to_vec_pretty(&questions::request(id))?;
            let status = serde_json::to_vec_pretty(&questions::status(id))?;
            let taken = seconds(|| make(bare.questions.dir(), &session, &request, &status))?;
            fs::remove_dir_all(&session)?;
            Ok(taken)
        },
    )?;
    Ok(Row::new(name, Unit::Seconds, time.median())
        .against("writing and syncing 2 files and 2 folders", bare_time.median()))
}

/// Among others, a session stays and is rejected, as sessions do that are asked one after the other; alone, it goes.
fn leave(folder: &Folder, id: RequestId, others: usize) -> Result<()> {
    if others == 0 {
        return Ok(fs::remove_dir_all(folder.questions.folder(id))?);
    }
    let verdict = Verdict::Reject { reason: None };
    Ok(folder.questions.settle(id, verdict, questions::asked_at())?)
}

/// The least that leaves a session on disk for certain.
fn make(dir: &Path, session: &Path, request: &[u8], status: &[u8]) -> Result<()> {
    fs::create_dir_all(session)?;
    for (name, bytes) in [("request", request), ("status", status)] {
        let temporary = session.join(name).with_extension("tmp");
        let mut file = File::create(&temporary)?;
        file.write_all(bytes)?;
        file.sync_all()?;
        fs::rename(&temporary, temporary.with_extension("json"))?;
    }
    File::open(session)?.sync_all()?;
    Ok(File::open(dir)?.sync_all()?)
}
