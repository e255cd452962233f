//! The store on a PostgreSQL server, beside bare SQL on the same server.

use std::time::Instant;

use ::postgres::{Client, NoTls};
use convoke_core::message::{Message, Seq};
use convoke_core::update::Update;
use convoke_store::Store;
use convoke_store::location::{Passwords, Server};
use convoke_testkit::bench::measure::Samples;
use convoke_testkit::bench::{Bench, Goal, Result, Row, Unit};
use convoke_testkit::postgres as testkit;

use crate::concurrent::append;
use crate::database::{add_projects, moment, new_session, session_id, session_number};
use crate::speech::{Said, Speaker, Talk};

pub(crate) const ROWS: [&str; 2] =
    ["postgres: append deltas, 64 writers", "postgres: read a page of 100 messages"];

const WRITERS: usize = 64;
/// Connections that write, as many as the store has.
const CONNECTIONS: usize = 4;
/// Pieces that a writer appends in a round.
const PIECES: (usize, usize) = (100, 10);
/// Rounds, of which the median counts.
const ROUNDS: (usize, usize) = (11, 1);
/// Messages of a page, and how often one is read.
const PAGE: u32 = 100;
const READS: (usize, usize) = (300, 10);

const DELTA: &str = "INSERT INTO deltas (session, rev, seq, at, text) VALUES ($1, $2, $3, $4, $5)";
const INSERT: &str = "INSERT INTO messages
        (session, seq, rev, id, role, content, turn, open, created_at, updated_at)
    VALUES ($1, $2, $3, $4, 'agent', $5, NULL, $6, $7, $8)";
const REPLACE: &str = "UPDATE messages SET rev = $3, content = $4, open = $5, updated_at = $6
    WHERE session = $1 AND seq = $2";
const FORGET: &str = "DELETE FROM deltas WHERE session = $1 AND seq = $2";
const PROGRESS: &str = "UPDATE agent_sessions
    SET last_seq = $2, settled_seq = $3, rev = $4, updated_at = $5 WHERE n = $1";
const SELECT: &str = "SELECT seq, rev, id, role, content, turn, open, created_at, updated_at
    FROM messages WHERE session = $1 AND seq > $2 ORDER BY seq LIMIT $3";

pub(crate) async fn measure(bench: &mut Bench) -> Result<()> {
    let [pieces, page] = ROWS;
    bench.progress("starting PostgreSQL")?;
    let server = tokio::task::spawn_blocking(|| testkit::Server::start(&["fsync=on"])).await??;
    // Two databases that grow alike.
    let (ours, theirs) = (server.database(), server.database());
    let (store, other) = (open(&ours.url).await?, open(&theirs.url).await?);
    other.close().await;
    let rounds = bench.size(ROUNDS.0, ROUNDS.1);
    let each = bench.size(PIECES.0, PIECES.1);
    bench.progress(pieces)?;
    let mut our_talks: Vec<Talk> = (0..WRITERS).map(Talk::new).collect();
    let mut their_talks: Vec<Talk> = (0..WRITERS).map(Talk::new).collect();
    let (mut rates, mut bare_rates, mut batches) = (Vec::new(), Vec::new(), Vec::new());
    // The first round warms up.
    for round in 0..=rounds {
        let before = store.age();
        let rate = append(&store, &mut our_talks, Speaker::Agent, each).await?;
        let commits = usize::try_from(store.age() - before)?.max(1);
        let batch = (WRITERS * each).div_ceil(commits);
        let speeches = their_talks.iter_mut().map(|talk| talk.say_many(Speaker::Agent, each));
        let speeches: Vec<Vec<Said>> = speeches.collect::<Result<_>>()?;
        let url = theirs.url.clone();
        let bare = tokio::task::spawn_blocking(move || append_bare(&url, &speeches, batch));
        let bare = bare.await??;
        if round > 0 {
            rates.push(rate);
            bare_rates.push(bare);
            batches.push(batch as f64);
        }
    }
    let median = |figures: Vec<f64>| figures.into_iter().collect::<Samples>().median();
    let reference = format!("bare SQL in the same batches of {}", median(batches));
    bench.add(
        Row::new(pieces, Unit::PerSecond, median(rates))
            .against(&reference, median(bare_rates))
            .goal(Goal::RatioAtLeast(0.7)),
    )?;
    bench.progress(page)?;
    measure_page(bench, &store, &ours.url).await?;
    store.close().await;
    tokio::task::spawn_blocking(move || drop((ours, theirs, server))).await?;
    Ok(())
}

async fn open(url: &str) -> Result<Store> {
    let server = Server::parse(url, &Passwords::default())?;
    let store = Store::open(server, moment(0)).await?;
    add_projects(&store).await?;
    for at in 0..WRITERS {
        store.create_session(new_session(at)?).await?;
    }
    Ok(store)
}

/// Appends the same rows on as many connections, so many rows in one transaction; updates per second.
fn append_bare(url: &str, speeches: &[Vec<Said>], batch: usize) -> Result<f64> {
    let rows: usize = speeches.iter().map(Vec::len).sum();
    let shares: Vec<Vec<&Said>> = (0..CONNECTIONS)
        .map(|share| {
            let own = || speeches.iter().skip(share).step_by(CONNECTIONS);
            let each = own().map(Vec::len).max().unwrap_or(0);
            (0..each).flat_map(|at| own().filter_map(move |speech| speech.get(at))).collect()
        })
        .collect();
    let mut clients = Vec::new();
    for _ in &shares {
        let mut client = Client::connect(url, NoTls)?;
        client.batch_execute("SET search_path = convoke")?;
        clients.push(client);
    }
    let start = Instant::now();
    std::thread::scope(|scope| {
        let mut running = Vec::new();
        for (share, mut client) in shares.into_iter().zip(clients) {
            running.push(scope.spawn(move || write(&mut client, &share, batch)));
        }
        running.into_iter().try_for_each(|thread| {
            thread.join().unwrap_or_else(|_| Err("a writer broke down".into()))
        })
    })?;
    Ok(rows as f64 / start.elapsed().as_secs_f64())
}

fn write(client: &mut Client, share: &[&Said], batch: usize) -> Result<()> {
    let statements = [DELTA, INSERT, REPLACE, FORGET, PROGRESS].map(|sql| client.prepare(sql));
    let [delta, insert, replace, forget, progress] = statements;
    let (delta, insert, replace, forget, progress) =
        (delta?, insert?, replace?, forget?, progress?);
    for said in share.chunks(batch) {
        client.batch_execute("BEGIN")?;
        for Said { at, update, summary, .. } in said {
            let n = session_number(*at)?;
            match update {
                Update::Delta(it) => {
                    let (rev, seq) = (number(it.rev.get())?, number(it.seq.get())?);
                    client.execute(&delta, &[&n, &rev, &seq, &it.at.as_millis(), &it.text])?;
                }
                Update::Message(message) => {
                    let Message { timestamp, updated_at, .. } = &**message;
                    let content = serde_json::to_string(&message.content)?;
                    let (rev, seq) = (number(message.rev.get())?, number(message.seq.get())?);
                    let (begun, changed) = (timestamp.as_millis(), updated_at.as_millis());
                    let open = i16::from(message.is_open());
                    if begun == changed {
                        let id = message.id.as_bytes().as_slice();
                        client.execute(
                            &insert,
                            &[&n, &seq, &rev, &id, &content, &open, &begun, &changed],
                        )?;
                    } else {
                        client.execute(&forget, &[&n, &seq])?;
                        client.execute(&replace, &[&n, &seq, &rev, &content, &open, &changed])?;
                    }
                }
                Update::State { .. } => return Err("no state is measured".into()),
            }
            let (last, settled) =
                (number(summary.last_seq.get())?, number(summary.settled_seq.get())?);
            let (rev, at) = (number(summary.rev.get())?, summary.updated_at.as_millis());
            client.execute(&progress, &[&n, &last, &settled, &rev, &at])?;
        }
        client.batch_execute("COMMIT")?;
    }
    Ok(())
}

fn number(number: u64) -> Result<i64> {
    Ok(i64::try_from(number)?)
}

/// Pages of a conversation, in turn with the statement alone.
async fn measure_page(bench: &mut Bench, store: &Store, url: &str) -> Result<()> {
    // A conversation with enough messages for many pages.
    let length = 3 * PAGE as usize;
    let store_url = url.to_owned();
    let fill = format!(
        "INSERT INTO messages (session, seq, rev, id, role, content, open, created_at, updated_at)
         SELECT {}, 10000 + i, 1000000 + i, decode(md5(CAST(i AS TEXT)), 'hex'), 'agent',
             '{{\"type\":\"text\",\"text\":\"' || repeat('word ', 20) || '\"}}', 0, 0, 0
         FROM generate_series(1, {length}) AS i",
        session_number(0)?
    );
    let filling = tokio::task::spawn_blocking(move || -> Result<Client> {
        let mut client = Client::connect(&store_url, NoTls)?;
        client.batch_execute("SET search_path = convoke")?;
        client.batch_execute(&fill)?;
        client.batch_execute("ANALYZE")?;
        Ok(client)
    });
    let mut client = filling.await??;
    let (mut ours, mut bare) = (Vec::new(), Vec::new());
    for read in 0..bench.size(READS.0, READS.1) {
        let after = 10_000 + u64::try_from(read)? % u64::from(PAGE);
        let start = Instant::now();
        let page = store.messages(session_id(0), Seq::new(after), PAGE).await?;
        ours.push(start.elapsed().as_secs_f64());
        if page.messages.len() != PAGE as usize {
            return Err(format!("a page has {} messages", page.messages.len()).into());
        }
        let selecting = tokio::task::spawn_blocking(move || -> Result<(Client, f64)> {
            let start = Instant::now();
            let statement = client.prepare(SELECT)?;
            let prepared = start.elapsed();
            let rows = client.query(&statement, &[&1_i64, &number(after)?, &i64::from(PAGE)])?;
            let taken = (start.elapsed() - prepared).as_secs_f64();
            if rows.len() != PAGE as usize {
                Err("the page is short".into())
            } else {
                Ok((client, taken))
            }
        });
        let (back, taken) = selecting.await??;
        client = back;
        bare.push(taken);
    }
    tokio::task::spawn_blocking(move || drop(client)).await?;
    let median = |figures: Vec<f64>| figures.into_iter().collect::<Samples>().median();
    bench.add(
        Row::new("postgres: read a page of 100 messages", Unit::Seconds, median(ours))
            .against("the bare SELECT", median(bare))
            .goal(Goal::RatioAtMost(2.0)),
    )
}
