//! Makes what was said findable: prompts, whole answers, questions. Thoughts, tools and notices are not searched.

use std::borrow::Cow;
use std::fmt::Write as _;

use convoke_core::content::Content;
use convoke_core::request::{QuestionRecord, State};
use convoke_core::review::ReviewComment;

use crate::db::{Db, PostgresSession, params};
use crate::error::Fault;
use crate::search::{MATCH_END, MATCH_START, project_scope, session_scope};

/// How much of one text is searched; the rest of a longer one is not.
const TEXT_BYTES_MAX: usize = 1024 * 1024;

/// The same for PostgreSQL, whose vectors of words end at a megabyte.
const VECTOR_BYTES_MAX: usize = 256 * 1024;

/// The text by which a message is found, if it is searched.
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

/// The words of a prompt, and of its comments on changes. The code that these quote is not searched.
fn with_comments<'a>(text: &'a str, review: &[ReviewComment]) -> Cow<'a, str> {
    if review.is_empty() {
        return text.into();
    }
    let comments = review.iter().map(|it| format!("\n{}: {}", it.path, it.comment));
    (text.to_owned() + &comments.collect::<String>()).trim_start().to_owned().into()
}

/// Puts a message into the index, in place of what is there of it.
pub(crate) fn put(db: Db<'_>, session: i64, message: i64, text: &str) -> Result<(), Fault> {
    let project: String = db
        .prepare_cached("SELECT project_id FROM agent_sessions WHERE n = ?1")?
        .query_row([session], |row| row.get(0))?;
    let scope = [session_scope(session), project_scope(&project)];
    match db {
        Db::Sqlite(_) => {
            let sql =
                "INSERT OR REPLACE INTO message_search (rowid, text, scope) VALUES (?1, ?2, ?3)";
            db.prepare_cached(sql)?.execute(params![message, text, scope.join(" ")])?;
        }
        Db::Postgres(session) => put_vector(db, session, &scope, message, text)?,
    }
    Ok(())
}

/// Puts a new message into the index, with the words of its session and project.
pub(crate) fn add(db: Db<'_>, scope: &[String; 2], message: i64, text: &str) -> Result<(), Fault> {
    match db {
        Db::Sqlite(_) => {
            let sql = "INSERT INTO message_search (rowid, text, scope) VALUES (?1, ?2, ?3)";
            db.prepare_cached(sql)?.execute(params![message, text, scope.join(" ")])?;
        }
        Db::Postgres(session) => put_vector(db, session, scope, message, text)?,
    }
    Ok(())
}

fn put_vector(
    db: Db<'_>,
    session: &PostgresSession,
    scope: &[String],
    message: i64,
    text: &str,
) -> Result<(), Fault> {
    let text = text.get(..text.floor_char_boundary(VECTOR_BYTES_MAX)).unwrap_or(text);
    let vector = session.tokenizer()?.vector(text, scope)?;
    db.prepare_cached(
        "INSERT INTO message_search (rowid, vector)
         VALUES (?1, CAST(CAST(?2 AS TEXT) AS tsvector))
         ON CONFLICT (rowid) DO UPDATE SET vector = excluded.vector",
    )?
    .execute(params![message, vector])?;
    Ok(())
}

/// What is asked and can be chosen, and what the human said to it.
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

/// The marks around matches must not be in the text itself.
fn clean(text: &str) -> String {
    text.replace([MATCH_START, MATCH_END], " ")
}
