//! The numbers of a session's turns as people read them: 1, 2, 3. Programs name a turn by the seq of its prompt.

use crate::message::{Message, Role, Seq};

/// The prompts of a session in order: each of them began a turn.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct TurnNumbers {
    prompts: Vec<Seq>,
}

impl TurnNumbers {
    /// Numbers the turns of these prompts, which are all of a session, in order.
    pub const fn new(prompts: Vec<Seq>) -> Self {
        Self { prompts }
    }

    /// Counts the next message of a conversation; returns the number of the turn that it begins, if it is a prompt.
    pub fn count(&mut self, message: &Message) -> Option<u64> {
        if message.role != Role::User {
            return None;
        }
        self.prompts.push(message.seq);
        Some(self.last())
    }

    /// The number of the turn with this prompt.
    pub fn number(&self, prompt: Seq) -> Option<u64> {
        self.prompts.binary_search(&prompt).ok().map(|index| index as u64 + 1)
    }

    /// The prompt of the turn with this number.
    pub fn prompt(&self, number: u64) -> Option<Seq> {
        let index = usize::try_from(number.checked_sub(1)?).ok()?;
        self.prompts.get(index).copied()
    }

    /// The number of the last turn; 0 without any.
    pub const fn last(&self) -> u64 {
        self.prompts.len() as u64
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn turns_are_numbered_from_one_by_their_prompts() {
        let turns = TurnNumbers::new([1, 6, 9].map(Seq::new).to_vec());
        assert_eq!(
            [1, 6, 7, 9].map(|seq| turns.number(Seq::new(seq))),
            [Some(1), Some(2), None, Some(3)]
        );
        assert_eq!(
            [0, 1, 3, 4].map(|number| turns.prompt(number).map(Seq::get)),
            [None, Some(1), Some(9), None]
        );
        assert_eq!((turns.last(), TurnNumbers::default().last()), (3, 0));
    }
}
