//! When a team pair's conversation has grown so long that its agent should compact it.

use crate::time::Timestamp;

/// More messages than this always call for compaction.
const MESSAGES_MANY: u64 = 500;
/// More messages than this call for it once the conversation is old.
const MESSAGES_SOME: u64 = 100;
/// Older than this is old: seven days.
const AGE_MILLIS: i64 = 7 * 24 * 60 * 60 * 1000;

/// Whether a conversation of this many messages, begun at `created_at`, should be compacted.
pub fn is_due(messages: u64, created_at: Timestamp, now: Timestamp) -> bool {
    messages > MESSAGES_MANY
        || (messages > MESSAGES_SOME && now.millis_since(created_at) > AGE_MILLIS)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn t8_compaction_is_due_for_many_messages_or_some_that_are_old() {
        let now = Timestamp::from_millis(1_800_000_000_000);
        let due = |messages, age: i64| {
            is_due(messages, Timestamp::from_millis(now.as_millis() - age), now)
        };
        let cases = [
            ((500, 0), false),
            ((501, 0), true),
            ((501, AGE_MILLIS * 9), true),
            ((100, AGE_MILLIS * 9), false),
            ((101, AGE_MILLIS), false),
            ((101, AGE_MILLIS + 1), true),
            ((500, AGE_MILLIS + 1), true),
            ((0, AGE_MILLIS * 9), false),
        ];
        for ((messages, age), expected) in cases {
            assert_eq!(due(messages, age), expected, "{messages} messages, {age} ms old");
        }
    }
}
