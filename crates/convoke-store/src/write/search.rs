//! Maintains the search index: prompts, complete answers and questions. Thoughts, tools and notices
//! are not indexed.

use std::borrow::Cow;
use std::fmt::Write as _;
use std::rc::Rc;

use convoke_core::content::Content;
use convoke_core::request::{QuestionRecord, State};
use convoke_core::review::ReviewComment;

use crate::db::{Db, Optional as _, PostgresSession, params};
use crate::error::Fault;
use crate::search::frequent::{Measured, measure};
use crate::search::key::{KEYS, following, key_after, keys_of, keys_of_connection};
use crate::search::scope::{Scope, frequent_word};
use crate::search::{MATCH_END, MATCH_START};

/// How much of one text is indexed.
const TEXT_BYTES_MAX: usize = 1024 * 1024;

/// The same limit for PostgreSQL, whose `tsvector` is limited to a megabyte.
const VECTOR_BYTES_MAX: usize = 256 * 1024;

/// A message for the index.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Searched<'a> {
    /// The number of its row.
    pub(crate) n: i64,
    /// The name of its role.
    pub(crate) role: &'a str,
    /// In milliseconds.
    pub(crate) created_at: i64,
    pub(crate) text: &'a str,
}

/// The scope of a stored session.
fn scope_of(db: Db<'_>, session: i64) -> Result<Scope, Fault> {
    let mut statement =
        db.prepare_cached("SELECT project_id, agent FROM agent_sessions WHERE n = ?1")?;
    let (project, agent): (String, String) =
        statement.query_row([session], |row| Ok((row.get(0)?, row.get(1)?)))?;
    Ok(Scope::new(session, &project, &agent))
}

/// The searchable text of a message, if it has one.
pub(crate) fn text_of(content: &Content) -> Option<String> {
    let text = match content {
        Content::Text { text, review, .. } => clean(beginning(&with_comments(text, review))),
        Content::Question(record) => clean(beginning(&words_of(record))),
        Content::Thinking { .. }
        | Content::Plan { .. }
        | Content::Tool(_)
        | Content::Permission(_)
        | Content::Notice(_) => return None,
    };
    (!text.trim().is_empty()).then_some(text)
}

/// The searchable text of a stored message. An open message is not indexed yet, and one that cannot
/// be parsed never is.
pub(crate) fn stored_text(content: &str) -> Option<String> {
    // Most messages are tools and thoughts, which are recognised by their type without parsing.
    let kind = content.strip_prefix(r#"{"type":""#).and_then(|rest| rest.split_once('"'));
    if kind.is_some_and(|(kind, _)| kind != "text" && kind != "question") {
        return None;
    }
    let content = serde_json::from_str(content).ok()?;
    let is_partial = matches!(content, Content::Text { partial: true, .. });
    text_of(&content).filter(|_| !is_partial)
}

/// The text of a prompt and of its review comments. The quoted code is not indexed.
fn with_comments<'a>(text: &'a str, review: &[ReviewComment]) -> Cow<'a, str> {
    if review.is_empty() {
        return text.into();
    }
    let comments = review.iter().map(|it| format!("\n{}: {}", it.path, it.comment));
    (text.to_owned() + &comments.collect::<String>()).trim_start().to_owned().into()
}

/// Indexes a message, replacing its previous entry.
pub(crate) fn put(db: Db<'_>, session: i64, message: &Searched<'_>) -> Result<(), Fault> {
    let known = db
        .prepare_cached("SELECT key FROM searched_messages WHERE message = ?1")?
        .query_row([message.n], |row| row.get(0))
        .optional()?;
    let Some(key) = known else { return add_new(db, session, message) };
    db.prepare_cached("DELETE FROM message_search WHERE rowid = ?1")?.execute([key])?;
    let measured = measure(message.text);
    if measured.size.mark(key) != key {
        // On a server, a message of another size may have the key that differs only in its size.
        db.prepare_cached("DELETE FROM searched_messages WHERE key = ?1")?.execute([key])?;
        return add_new(db, session, message);
    }
    insert(db, key, &scope_of(db, session)?, message, &measured)
}

/// Indexes a message that was just stored.
pub(crate) fn add_new(db: Db<'_>, session: i64, message: &Searched<'_>) -> Result<(), Fault> {
    let key = free_key(db, message.created_at)?;
    add(db, key, &scope_of(db, session)?, message, &measure(message.text))?;
    Ok(())
}

/// Indexes new messages in the order of their times: FTS5 flushes its pending data whenever a key
/// is not greater than the one before it.
pub(crate) fn add_all(db: Db<'_>, messages: &mut [(Rc<Scope>, Searched<'_>)]) -> Result<(), Fault> {
    messages.sort_by_key(|(_, message)| (message.created_at, message.n));
    let mut last: Option<(i64, i64)> = None;
    for (scope, message) in messages {
        // A free key follows all keys of its millisecond, so the next one is free, too, unless
        // another connection to a server has taken it.
        let before = last.filter(|(at, _)| *at == message.created_at);
        let key = match before.and_then(|(_, key)| key_after(key)) {
            Some(key) => key,
            None => free_key(db, message.created_at)?,
        };
        let key = add(db, key, scope, message, &measure(message.text))?;
        last = Some((message.created_at, key));
    }
    Ok(())
}

/// Indexes a message that is not in the index yet; returns its key.
fn add(
    db: Db<'_>,
    key: i64,
    scope: &Scope,
    message: &Searched<'_>,
    measured: &Measured<'_>,
) -> Result<i64, Fault> {
    let mut key = measured.size.mark(key);
    // On a server, another connection may have taken the key since it was found to be free.
    let sql = "INSERT INTO searched_messages (key, message) VALUES (?1, ?2)
         ON CONFLICT (key) DO NOTHING";
    while db.prepare_cached(sql)?.execute([key, message.n])? == 0 {
        key = measured.size.mark(free_key(db, message.created_at)?);
    }
    insert(db, key, scope, message, measured)?;
    Ok(key)
}

/// The first key after those of all messages of the same millisecond. If all its keys are taken,
/// which only happens in conversations without times, the following keys are searched, in ranges
/// that double each time, so that long conversations need few queries.
fn free_key(db: Db<'_>, created_at: i64) -> Result<i64, Fault> {
    let mut keys = match db {
        Db::Sqlite(_) => keys_of(created_at),
        Db::Postgres(session) => keys_of_connection(created_at, session.backend()?),
    };
    // Always whole milliseconds: `add_all` uses the keys up to the end of one without a query.
    let mut count = KEYS;
    loop {
        let newest: Option<i64> = db
            .prepare_cached("SELECT max(key) FROM searched_messages WHERE key BETWEEN ?1 AND ?2")?
            .query_row([*keys.start(), *keys.end()], |row| row.get(0))?;
        match newest {
            None => return Ok(*keys.start()),
            Some(newest) if following(newest) < *keys.end() => return Ok(following(newest)),
            Some(newest) => {
                let first = following(newest);
                count *= 2;
                keys = first..=first + count - 1;
            }
        }
    }
}

fn insert(
    db: Db<'_>,
    key: i64,
    scope: &Scope,
    message: &Searched<'_>,
    Measured { frequent, .. }: &Measured<'_>,
) -> Result<(), Fault> {
    let scope = scope.words(message.role);
    match db {
        Db::Sqlite(_) => {
            let mut words = scope.join(" ");
            for word in frequent {
                words.extend([" ", &frequent_word(word)]);
            }
            let sql = "INSERT INTO message_search (rowid, text, scope) VALUES (?1, ?2, ?3)";
            db.prepare_cached(sql)?.execute(params![key, message.text, words])?;
        }
        Db::Postgres(session) => {
            let frequent = session.tokenizer()?.folded(&frequent.join(" "))?;
            let frequent = frequent.iter().map(|word| frequent_word(word));
            let scope: Vec<String> = scope.into_iter().chain(frequent).collect();
            let vector = vector_of(session, message.text, &scope)?;
            let sql = "INSERT INTO message_search (rowid, vector)
                 VALUES (?1, CAST(CAST(?2 AS TEXT) AS tsvector))";
            db.prepare_cached(sql)?.execute(params![key, vector])?;
        }
    }
    Ok(())
}

/// A text with its scope words as a `tsvector`.
pub(crate) fn vector_of(
    session: &PostgresSession,
    text: &str,
    scope: &[String],
) -> Result<String, Fault> {
    let text = text.get(..text.floor_char_boundary(VECTOR_BYTES_MAX)).unwrap_or(text);
    Ok(session.tokenizer()?.vector(text, scope)?)
}

/// The questions and options, and the human's answers.
fn words_of(record: &QuestionRecord) -> String {
    let mut words = String::new();
    let mut add = |text: &str| writeln!(words, "{text}").expect("writing to a string cannot fail");
    for question in &record.questions {
        add(&question.prompt);
        question.options.iter().for_each(|option| add(&option.label));
    }
    match &record.state {
        State::Answered(answers) => {
            for answer in &answers.answers {
                answer.custom_text.iter().for_each(|text| add(text));
            }
        }
        State::Rejected { reason } => reason.iter().for_each(|text| add(text)),
        State::Pending | State::TimedOut | State::Abandoned => {}
    }
    words
}

fn beginning(text: &str) -> &str {
    text.get(..text.floor_char_boundary(TEXT_BYTES_MAX)).unwrap_or(text)
}

/// Removes the marks of matches, which must not occur in the text itself.
fn clean(text: &str) -> String {
    text.replace([MATCH_START, MATCH_END], " ")
}
