//! Scripted agents spoken to over pipes in memory.

use std::fmt::Write as _;

use serde_json::{Value, json};
use tokio::io::{AsyncReadExt, AsyncWriteExt, duplex, split};

use super::*;

/// What an agent says when it hears these lines, one after the other, and then the end of its input.
async fn said(protocol: Protocol, script: Script, lines: &[Value]) -> (Vec<Value>, Ending) {
    let (ours, theirs) = duplex(1 << 20);
    let (input, output) = split(theirs);
    let agent = tokio::spawn(serve(protocol, script, input, output));
    let (mut reader, mut writer) = split(ours);
    let mut text = String::new();
    for line in lines {
        writeln!(text, "{line}").unwrap();
    }
    writer.write_all(text.as_bytes()).await.unwrap();
    writer.shutdown().await.unwrap();
    let mut said = String::new();
    reader.read_to_string(&mut said).await.unwrap();
    let said = said.lines().map(|line| serde_json::from_str(line).unwrap()).collect();
    (said, agent.await.unwrap())
}

fn prompt(text: &str) -> Value {
    json!({"id": 1, "method": "session/prompt", "params": {"sessionId": "s1", "prompt": [{"type": "text", "text": text}]}})
}

fn asking() -> Script {
    let ask = Ask::new(Tool::bare("t1"), &[("yes", "allow_once"), ("no", "reject_once")])
        .request(json!("odd"))
        .then("yes", [Step::say("thanks")])
        .then("no", [Step::stop("refusal"), Step::say("late")]);
    Script::new().turn([Step::Ask(ask)])
}

fn texts(said: &[Value]) -> Vec<String> {
    let text = |line: &Value| match line["params"]["update"]["content"]["text"].as_str() {
        Some(text) => text.to_owned(),
        None => line["result"]["stopReason"]
            .as_str()
            .or(line["method"].as_str())
            .unwrap_or("?")
            .to_owned(),
    };
    said.iter().map(text).collect()
}

#[tokio::test]
async fn a_prompt_without_a_turn_is_echoed() {
    let (said, ending) = said(Protocol::Acp, Script::new(), &[prompt("hello")]).await;
    assert_eq!(texts(&said), ["hello", "end_turn"]);
    assert!(matches!(ending, Ending::Closed), "{ending:?}");
}

#[tokio::test]
async fn what_follows_depends_on_the_answer() {
    for (option, follows) in [("yes", vec!["thanks", "end_turn"]), ("no", vec!["refusal", "late"])]
    {
        let answer = json!({"id": "odd", "result": {"outcome": {"outcome": "selected", "optionId": option}}});
        let (said, _) = said(Protocol::Acp, asking(), &[prompt("go"), answer]).await;
        assert_eq!(texts(&said)[0], "session/request_permission");
        assert_eq!(texts(&said)[1..], follows);
    }
    let cancel = json!({"method": "session/cancel", "params": {"sessionId": "s1"}});
    let (said, _) = said(Protocol::Acp, asking(), &[prompt("go"), cancel]).await;
    assert_eq!(texts(&said)[1..], ["cancelled"]);
}

#[tokio::test]
async fn turns_are_found_by_their_words_and_played_once() {
    let script = Script::new().when("weather", [Step::say("sunny")]).turn([Step::say("any")]);
    let lines = [prompt("the weather?"), prompt("the weather?"), prompt("the weather?")];
    let (said, _) = said(Protocol::Acp, script, &lines).await;
    assert_eq!(texts(&said), ["sunny", "end_turn", "any", "end_turn", "the weather?", "end_turn"]);
}

#[tokio::test]
async fn claude_says_a_message_in_pieces_and_then_as_a_whole() {
    let script = Script::new().turn([Step::Stream(vec!["a".to_owned(), "b".to_owned()])]);
    let prompt = json!({"type": "user", "uuid": "u1", "message": {"content": "go"}});
    let (said, _) = said(Protocol::Claude, script, &[prompt]).await;
    let kinds = said.iter().map(|it| it["event"]["type"].as_str().or(it["type"].as_str()).unwrap());
    let expected = "message_start content_block_start content_block_delta content_block_delta \
                    assistant content_block_stop message_delta message_stop result";
    assert_eq!(kinds.collect::<Vec<_>>().join(" "), expected);
}

#[tokio::test]
async fn claude_fails_and_calls_it_a_success() {
    let script = Script::new().turn([Step::fail(400, "API Error: 400")]);
    let prompt =
        json!({"type": "user", "uuid": "u1", "message": {"role": "user", "content": "go"}});
    let (said, _) = said(Protocol::Claude, script, &[prompt]).await;
    let frame = &said[0];
    assert_eq!(
        [&frame["subtype"], &frame["is_error"], &frame["result"]],
        [&json!("success"), &json!(true), &json!("API Error: 400")]
    );
}

#[test]
fn a_script_is_json() {
    let text = r#"{"session": "ses_1", "on": {"initialize": ["hang"]}, "ignores": ["cancel"],
        "turns": [{"when": "x", "steps": [{"say": "hi"}, {"fail": {"code": 400, "message": "no"}}, {"exit": 3}]}]}"#;
    let script = Script::new()
        .session("ses_1")
        .on("initialize", [Step::Hang])
        .ignoring(Ignored::Cancel)
        .when("x", [Step::say("hi"), Step::fail(400, "no"), Step::Exit(3)]);
    assert_eq!(serde_json::from_str::<Script>(text).unwrap(), script);
    let again = serde_json::to_string(&script).unwrap();
    assert_eq!(serde_json::from_str::<Script>(&again).unwrap(), script);
}
