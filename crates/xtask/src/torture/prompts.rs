//! Prompts: sent, sent again when the answer was lost, and changed while they wait in the queue.

use std::hash::{DefaultHasher, Hash as _, Hasher as _};
use std::thread;

use convoke_testkit::bench::random::Random;
use serde_json::{Value, json};

use super::clients::{PAUSE, World, text_of};
use super::http::{Answer, Endpoint, Outcome, Wait};
use super::ledger::{Ack, Prompt, PromptPosition, QueueChange};
use super::script::TRICKS;

/// How often a request was sent.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Sent {
    Once,
    /// The first response was lost, so a prompt that was refused the second time may have been
    /// stored the first time.
    Twice,
}

impl World<'_> {
    /// Prompts any session, and records the result.
    pub(super) fn prompt(&self, endpoint: &Endpoint, random: &mut Random) {
        let Some(session) = self.any_session(random) else { return };
        let trick = if random.below(3) == 0 { TRICKS.get(random.below(7) as usize) } else { None };
        let text = self.text(trick.copied().unwrap_or("hello"));
        let made = (random.below(4) > 0).then(|| self.message_id(&text));
        let wait = if random.below(10) == 0 { Wait::No } else { Wait::ForResponse };
        let path = format!("/api/sessions/{session}/prompt");
        let mut body = json!({"text": text});
        if let (Some(id), Some(fields)) = (&made, body.as_object_mut()) {
            fields.insert("messageId".to_owned(), json!(id));
        }
        let mut outcome = endpoint.call_with("POST", &path, Some(&body), wait);
        let mut sent = Sent::Once;
        if matches!(outcome, Outcome::NotSent) {
            // The daemon is away.
            return thread::sleep(PAUSE);
        }
        if matches!(outcome, Outcome::Unknown) && made.is_some() && random.below(2) == 0 {
            sent = Sent::Twice;
            // The daemon may have been restarted meanwhile.
            if let Some(endpoint) = self.endpoint(random) {
                outcome = endpoint.call("POST", &path, Some(&body));
            }
        }
        let mut prompt = self.recorded(session, made.as_deref(), sent, &outcome);
        if let Some(place) = prompt.place.as_ref().filter(|place| place.seq.is_none())
            && sent == Sent::Once
            && random.below(3) == 0
        {
            prompt.change = Some(change_queue(endpoint, place, &text, random));
        }
        self.ledger.records().prompts.insert(text, prompt);
    }

    /// Records the response to a prompt.
    fn recorded(
        &self,
        session: String,
        made: Option<&str>,
        sent: Sent,
        outcome: &Outcome,
    ) -> Prompt {
        match outcome {
            Outcome::Answered(Answer { status: 202, body }) => {
                let message_id = text_of(body, "messageId");
                let seq = body.get("seq").and_then(Value::as_u64);
                if made.is_some_and(|made| made != message_id) {
                    self.ledger.complain(format!("the prompt {made:?} got the id {message_id}"));
                }
                if body.get("queued") != Some(&Value::Bool(seq.is_none())) {
                    self.ledger.complain(format!("queued and seq contradict each other: {body}"));
                }
                Prompt::unchanged(Ack::Done, Some(PromptPosition { session, message_id, seq }))
            }
            Outcome::Answered(Answer { status: 400..=499, .. }) if sent == Sent::Once => {
                Prompt::unchanged(Ack::Refused, None)
            }
            Outcome::Answered(Answer { status, body }) => {
                if *status == 500 {
                    self.ledger.complain(format!("a prompt was answered with 500: {body}"));
                }
                Prompt::unchanged(Ack::Unknown, None)
            }
            Outcome::Unknown | Outcome::NotSent => Prompt::unchanged(Ack::Unknown, None),
        }
    }

    /// The client's id for the message of a prompt: a UUID of version 4.
    fn message_id(&self, text: &str) -> String {
        let mut hasher = DefaultHasher::new();
        (self.seed, text).hash(&mut hasher);
        let bits = u128::from_be_bytes(Random::new(hasher.finish()).bytes());
        let bits = bits & !(0xf << 76) & !(0b11 << 62) | 4 << 76 | 0b10 << 62;
        format!(
            "{:08x}-{:04x}-{:04x}-{:04x}-{:012x}",
            bits >> 96,
            bits >> 80 & 0xffff,
            bits >> 64 & 0xffff,
            bits >> 48 & 0xffff,
            bits & 0xffff_ffff_ffff
        )
    }
}

/// Edits, removes or sends a prompt that waits.
fn change_queue(
    endpoint: &Endpoint,
    place: &PromptPosition,
    text: &str,
    random: &mut Random,
) -> (QueueChange, Ack) {
    let path = format!("/api/sessions/{}/queue/{}", place.session, place.message_id);
    let (change, outcome) = match random.below(3) {
        0 => {
            let text = format!("{text}, edited");
            let outcome = endpoint.call("PATCH", &path, Some(&json!({"text": text})));
            (QueueChange::Edit(text), outcome)
        }
        1 => (QueueChange::Remove, endpoint.call("DELETE", &path, None)),
        _ => (QueueChange::Send, endpoint.call("POST", &format!("{path}/send"), None)),
    };
    let ack = match outcome {
        Outcome::Answered(Answer { status: 200..=299, .. }) => Ack::Done,
        Outcome::Answered(Answer { status: 400..=499, .. }) | Outcome::NotSent => Ack::Refused,
        Outcome::Answered(_) | Outcome::Unknown => Ack::Unknown,
    };
    (change, ack)
}
