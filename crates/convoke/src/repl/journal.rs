//! The store of a conversation: its transcript, to which turns and facts about the agent are appended.

use std::collections::VecDeque;
use std::path::Path;

use convoke_files::transcripts::{
    AgentSession, Recall, Record, Result, Status, Transcripts, Turn, Window, Writer,
};

use crate::clock;

/// An open transcript.
pub(crate) struct Journal {
    pub(super) transcripts: Transcripts,
    pub(super) writer: Writer,
    /// How much of the conversation is given to an agent that does not know it.
    tokens_max: u64,
    /// How many turns are saved.
    pub(super) turn_count: u64,
    /// The agent's own session that has every turn, if there is one.
    agent_session: Option<AgentSession>,
    /// The turns for an agent that knows none, as they were read when the transcript was opened.
    window: Option<Window>,
}

impl Journal {
    /// A transcript that was just created, or opened with its contents.
    pub(crate) fn new(
        transcripts: Transcripts,
        writer: Writer,
        tokens_max: u64,
        recall: Option<Recall>,
    ) -> Self {
        let (agent_session, turn_count, window) = match recall {
            Some(recall) => (recall.agent_session, recall.turn_count, Some(recall.window)),
            None => (None, 0, None),
        };
        Self { transcripts, writer, tokens_max, turn_count, agent_session, window }
    }

    /// Saves turns: all of them or none.
    pub(super) fn save(&mut self, turns: &[Turn]) -> Result<()> {
        if turns.is_empty() {
            return Ok(());
        }
        let records = turns.iter().cloned().map(Record::Turn).map(Ok);
        self.turn_count += self.writer.append_all(records)?;
        // It does not have these turns.
        self.window = None;
        Ok(())
    }

    /// Records the status of the session.
    pub(super) fn mark(&mut self, status: Status) -> Result<()> {
        self.writer.append(&Record::Status { status, timestamp: clock::now() })
    }

    /// The id of the agent's own session, if it has every turn.
    pub(super) fn agent_session(&self, agent: &str) -> Option<String> {
        let known = self.agent_session.as_ref().filter(|known| known.agent == agent)?;
        Some(known.agent_session_id.clone())
    }

    /// Records that the agent's own session has every turn.
    pub(super) fn record_agent_session(&mut self, agent: &str, id: &str) -> Result<()> {
        if self.agent_session(agent).as_deref() == Some(id) {
            return Ok(());
        }
        let session = AgentSession {
            agent: agent.to_owned(),
            agent_session_id: id.to_owned(),
            timestamp: clock::now(),
        };
        self.writer.append(&Record::AgentSession(session.clone()))?;
        self.agent_session = Some(session);
        Ok(())
    }

    /// Records that another agent takes part, which does not know the conversation yet.
    pub(super) fn record_agent(&mut self, agent: &str) -> Result<()> {
        self.agent_session = None;
        self.writer.append(&Record::Agent { agent: agent.to_owned(), timestamp: clock::now() })
    }

    /// Records that the turns so far are no longer part of the conversation.
    pub(super) fn clear(&mut self) -> Result<()> {
        self.append_and_forget_agent_session(&Record::Cleared { timestamp: clock::now() })
    }

    /// Adds the turns of another file; returns their number.
    pub(super) fn import(
        &mut self,
        from: &Path,
        turns: impl Iterator<Item = Result<Turn>>,
    ) -> Result<u64> {
        let (from, timestamp) = (from.display().to_string(), clock::now());
        self.append_and_forget_agent_session(&Record::Imported { from, timestamp })?;
        let count = self.writer.append_all(turns.map(|turn| turn.map(Record::Turn)))?;
        self.turn_count += count;
        Ok(count)
    }

    /// The turns for an agent that knows none.
    pub(super) fn window(&mut self) -> Result<Window> {
        match self.window.take() {
            Some(window) => Ok(window),
            None => Ok(self.recall()?.window),
        }
    }

    /// The current contents of the transcript.
    pub(super) fn recall(&self) -> Result<Recall> {
        self.transcripts.recall(self.writer.id(), self.tokens_max)
    }

    /// The last turns.
    pub(super) fn last(&self, count: usize) -> Result<VecDeque<Turn>> {
        let mut last = VecDeque::new();
        for turn in self.transcripts.turns(self.writer.id())? {
            last.push_back(turn?);
            if last.len() > count {
                last.pop_front();
            }
        }
        Ok(last)
    }

    /// Deletes the transcript.
    pub(super) fn delete(self) -> Result<()> {
        let (transcripts, id) = (self.transcripts, self.writer.id().clone());
        drop(self.writer);
        transcripts.delete(&id)
    }

    /// Appends a record after which no session of the agent's own has every turn.
    fn append_and_forget_agent_session(&mut self, record: &Record) -> Result<()> {
        self.writer.append(record)?;
        self.agent_session = None;
        self.window = None;
        Ok(())
    }
}
