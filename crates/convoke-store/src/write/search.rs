//! Makes what was said findable: prompts, whole answers, questions. Thoughts, tools and notices are not searched.

use std::fmt::Write as _;

use convoke_core::content::Content;
use convoke_core::message::{Message, Role, Seq};
use convoke_core::request::{QuestionRecord, State};
use rusqlite::{Connection, params};

use crate::error::Fault;
use crate::search::{MATCH_END, MATCH_START, project_scope, session_scope};

/// How much of one text is searched: the beginning of what people said, the end of an answer. Nobody reads a longer one,
/// and indexing it would hold up the writer.
const TEXT_BYTES_MAX: usize = 1024 * 1024;
/// How many pieces of one answer are looked at, so that many tiny ones cannot hold up the writer.
const ANSWER_PIECES_MAX: u32 = 64 * 1024;

/// What a message adds to the search.
#[derive(Debug)]
pub(super) enum Searchable {
    /// This text.
    Text(String),
    /// The answer that it closes. Words are split between pieces, so only the whole can be searched.
    Answer {
        /// The words of the closing piece itself.
        last: String,
    },
}

impl Searchable {
    pub(super) fn of(message: &Message) -> Option<Self> {
        match (&message.content, message.role) {
            (Content::Text { partial: Some(true), .. }, Role::Agent) => None,
            (Content::Text { text, partial: Some(false) }, Role::Agent) => {
                Some(Self::Answer { last: text.clone() })
            }
            (Content::Text { text, .. }, Role::User | Role::Agent | Role::System) => {
                Some(Self::Text(beginning(text).to_owned()))
            }
            (Content::Question(record), _) => {
                words_of(record).map(|words| Self::Text(beginning(&words).to_owned()))
            }
            (
                Content::Thinking { .. }
                | Content::Plan { .. }
                | Content::Tool(_)
                | Content::Permission(_)
                | Content::Usage(_)
                | Content::Notice(_),
                _,
            ) => None,
        }
    }

    /// Puts the text into the index, under the message's own number.
    pub(super) fn index(
        &self,
        db: &Connection,
        session: i64,
        seq: Seq,
        message: i64,
    ) -> Result<(), Fault> {
        let text = match self {
            Self::Text(text) => clean(text),
            Self::Answer { last } => clean(&whole_answer(db, session, seq, last)?),
        };
        if text.trim().is_empty() {
            return Ok(());
        }
        let project: String = db
            .prepare_cached("SELECT project_id FROM agent_sessions WHERE n = ?1")?
            .query_row([session], |row| row.get(0))?;
        let scope = format!("{} {}", session_scope(session), project_scope(&project));
        db.prepare_cached("INSERT INTO message_search (rowid, text, scope) VALUES (?1, ?2, ?3)")?
            .execute(params![message, text, scope])?;
        Ok(())
    }
}

/// What is asked, and what the human said to it. That nobody answered says nothing that could be searched.
fn words_of(record: &QuestionRecord) -> Option<String> {
    let mut words = String::new();
    let mut add = |text: &str| writeln!(words, "{text}").expect("writing to a string cannot fail");
    for question in &record.questions {
        add(&question.prompt);
        if record.state == State::Pending {
            question.options.iter().for_each(|option| add(&option.label));
        }
    }
    match &record.state {
        State::Pending => {}
        State::Answered(answers) => {
            for answer in &answers.answers {
                answer.selected_option.iter().for_each(|label| add(label));
                answer.selected_options.iter().flatten().for_each(|label| add(label));
                answer.custom_text.iter().for_each(|text| add(text));
            }
        }
        State::Rejected { reason } => reason.iter().for_each(|text| add(text)),
        State::TimedOut | State::Abandoned => return None,
    }
    Some(words)
}

/// Joins the pieces of the answer that ends at `end`.
fn whole_answer(db: &Connection, session: i64, end: Seq, last: &str) -> Result<String, Fault> {
    // Between the pieces lie messages of others: usage, notices, prompts that wait for their turn.
    let mut statement = db.prepare_cached(
        "SELECT content FROM agent_messages
         WHERE session = ?1 AND seq < ?2 AND role = 'agent'
         ORDER BY seq DESC LIMIT ?3",
    )?;
    let mut rows = statement.query(params![session, end.get(), ANSWER_PIECES_MAX])?;
    let (mut pieces, mut bytes) = (vec![last.to_owned()], last.len());
    while let Some(row) = rows.next()? {
        let content =
            serde_json::from_str(row.get_ref(0)?.as_str().map_err(rusqlite::Error::from)?);
        let Ok(Content::Text { text, partial: Some(true) }) = content else { break };
        bytes += text.len();
        if bytes > TEXT_BYTES_MAX {
            break;
        }
        pieces.push(text);
    }
    Ok(pieces.iter().rev().map(String::as_str).collect())
}

fn beginning(text: &str) -> &str {
    text.get(..text.floor_char_boundary(TEXT_BYTES_MAX)).unwrap_or(text)
}

/// The marks around matches must not be in the text itself.
fn clean(text: &str) -> String {
    text.replace([MATCH_START, MATCH_END], " ")
}
