//! The life of a request, told as data.

use proptest::collection::vec;
use proptest::prelude::*;
use proptest::sample::select;
use serde_json::json;

use super::*;

fn permission() -> Request {
    let value = json!({
        "kind": "permission",
        "requestId": "11111111-1111-4111-8111-111111111111",
        "title": "Run `rm -r build`",
        "options": [
            {"optionId": "yes", "name": "Allow", "kind": "allow_once"},
            {"optionId": "no", "name": "Deny", "kind": "reject_once"},
        ],
        "status": "pending",
    });
    serde_json::from_value(value).unwrap()
}

fn questions() -> Request {
    let value = json!({
        "kind": "questions",
        "requestId": "22222222-2222-4222-8222-222222222222",
        "questions": [{"prompt": "Which?", "title": "Which", "options": [
            {"label": "A", "description": "first"}, {"label": "B"}
        ], "multiSelect": false}],
        "status": "pending",
    });
    serde_json::from_value(value).unwrap()
}

fn choose(option_id: &str) -> Verdict {
    Verdict::Choose(Choice { option_id: option_id.to_owned() })
}

fn answer(label: &str) -> Verdict {
    let answers = json!({"answers": [
        {"questionIndex": 0, "selectedOption": label, "timestamp": "2026-11-15T10:00:00.000Z"}
    ]});
    Verdict::Answer(serde_json::from_value(answers).unwrap())
}

/// Plays verdicts against a request and writes down every status and delivery.
fn play(mut request: Request, script: &str) -> String {
    let mut lines = Vec::new();
    for word in script.split_whitespace() {
        let verdict = match word {
            "yes" | "perhaps" => choose(word),
            "A" | "Z" => answer(word),
            "reject" => Verdict::Reject { reason: Some("not now".to_owned()) },
            "timeout" => Verdict::TimeOut,
            "abandon" => Verdict::Abandon,
            other => panic!("unknown word {other}"),
        };
        match request.handle(verdict) {
            Ok((next, delivery)) => {
                lines.push(format!("{word}: {} → {delivery:?}", next.status()));
                request = next;
            }
            Err(refusal) => lines.push(format!("{word}: {refusal}")),
        }
    }
    lines.join("\n")
}

#[test]
fn q4_the_first_answer_wins_and_nothing_leaves_it() {
    insta::assert_snapshot!(play(questions(), "A A reject timeout abandon"), @r"
    A: answered → Asker
    A: the request is already answered
    reject: the request is already answered
    timeout: the request is already answered
    abandon: the request is already answered
    ");
    insta::assert_snapshot!(play(permission(), "reject yes"), @r"
    reject: rejected → Asker
    yes: the request is already rejected
    ");
}

#[test]
fn q4_a_late_answer_is_kept_and_goes_to_the_next_turn() {
    insta::assert_snapshot!(play(questions(), "timeout abandon A A"), @r"
    timeout: timed_out → Asker
    abandon: the request is already timed_out
    A: answered → NextTurn
    A: the request is already answered
    ");
    insta::assert_snapshot!(play(permission(), "abandon timeout yes"), @r"
    abandon: abandoned → None
    timeout: the request is already abandoned
    yes: answered → NextTurn
    ");
    insta::assert_snapshot!(play(permission(), "abandon reject"), @r"
    abandon: abandoned → None
    reject: rejected → None
    ");
}

#[test]
fn q15_an_answer_that_does_not_fit_leaves_the_request_open() {
    insta::assert_snapshot!(play(questions(), "Z yes A Z"), @r"
    Z: Answer for question 0 references non-existent option: Z
    yes: the request is for answers to questions
    A: answered → Asker
    Z: the request is already answered
    ");
    insta::assert_snapshot!(play(permission(), "perhaps A yes"), @r"
    perhaps: the permission has no option `perhaps`
    A: the request is for a permission
    yes: answered → Asker
    ");
}

#[test]
fn a_late_answer_quotes_the_question() {
    let late = |request: Request, verdict| request.handle(verdict).unwrap().0.late_answer();
    insta::assert_snapshot!(late(questions(), answer("A")).unwrap(), @r#"You asked the user earlier, and the call ended before the answer came. Your questions and the user's answers, quoted as one JSON text: "Here are the user's answers:\n\n1. Which?\n→ A — first""#);
    insta::assert_snapshot!(late(permission(), choose("no")).unwrap(), @r#"
    You asked for permission earlier, and the call ended before the answer came.

    You asked (quoted as JSON): "Run `rm -r build`"
    The user chose (quoted as JSON): "Deny"
    "#);
    assert_eq!(late(permission(), Verdict::Abandon), None);
}

#[test]
fn a_status_reads_as_it_is_written() {
    for status in Status::ALL {
        assert_eq!(serde_json::to_value(status).unwrap(), json!(status.as_str()));
    }
}

proptest! {
    #[test]
    fn nothing_leaves_answered_and_rejected(verdicts in vec(select(vec![
        choose("yes"),
        choose("perhaps"),
        answer("A"),
        answer("Z"),
        Verdict::Reject { reason: None },
        Verdict::TimeOut,
        Verdict::Abandon,
    ]), 0..20)) {
        for mut request in [permission(), questions()] {
            for verdict in verdicts.clone() {
                let next = request.handle(verdict);
                if let status @ (Status::Answered | Status::Rejected) = request.status() {
                    prop_assert_eq!(next, Err(Refusal::Settled(Settled { status })));
                } else if let Ok((next, _)) = next {
                    prop_assert_ne!(next.status(), Status::Pending);
                    request = next;
                }
            }
        }
    }
}
