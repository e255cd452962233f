//! The model server asked as agents ask it.

use tokio::io::{AsyncReadExt, AsyncWriteExt};

use super::*;

/// What the server answers to a request.
async fn post(path: &str, body: &Value) -> String {
    let model = Model::start().await.unwrap();
    let mut stream = TcpStream::connect(model.address).await.unwrap();
    let body = body.to_string();
    let head = format!("POST {path}?beta=true HTTP/1.1\r\nContent-Length: {}\r\n\r\n", body.len());
    stream.write_all(format!("{head}{body}").as_bytes()).await.unwrap();
    let mut answer = String::new();
    stream.read_to_string(&mut answer).await.unwrap();
    answer
}

fn user(text: &str) -> Value {
    json!({"role": "user", "content": [{"type": "text", "text": "<system-reminder>x</system-reminder>"}, {"type": "text", "text": text}]})
}

fn text_of(answer: &str) -> String {
    let body = answer.split_once("\r\n\r\n").unwrap().1;
    let body: Value = serde_json::from_str(body).unwrap();
    let text = body["content"][0]["text"].as_str();
    text.or_else(|| body["choices"][0]["message"]["content"].as_str()).unwrap().to_owned()
}

#[tokio::test]
async fn an_echo_counts_the_prompts() {
    let messages = json!([user("one"), {"role": "assistant", "content": "x"}, user("two")]);
    for path in ["/v1/messages", "/v1/chat/completions"] {
        let answer = post(path, &json!({"messages": messages})).await;
        assert_eq!(text_of(&answer), "ECHO turn=2: two");
    }
}

#[tokio::test]
async fn a_tool_is_called_and_its_result_is_returned() {
    let wish = user(r#"[[tool Bash {"command": "ls"}]]"#);
    let asked = json!({"messages": [wish], "tools": [{"name": "Bash", "function": {"name": "Bash"}}], "stream": true});
    for path in ["/v1/messages", "/v1/chat/completions"] {
        let answer = post(path, &asked).await;
        assert!(answer.contains(r#""name":"Bash""#) && answer.contains("ls"), "{answer}");
    }
    let result = json!({"role": "user", "content": [{"type": "tool_result", "content": "a.txt"}]});
    let answer = post("/v1/messages", &json!({"messages": [wish, result], "tools": [{}]})).await;
    assert_eq!(text_of(&answer), "DONE turn=1: a.txt");
    let result = json!({"role": "tool", "content": "b.txt"});
    let answer = post("/v1/chat/completions", &json!({"messages": [wish, result]})).await;
    assert_eq!(text_of(&answer), "DONE turn=1: b.txt");
}

#[tokio::test]
async fn a_stream_holds_the_whole_text() {
    let answer =
        post("/v1/messages", &json!({"messages": [user("hello there")], "stream": true})).await;
    let events = answer.lines().filter_map(|line| line.strip_prefix("data: "));
    let text: String = events
        .map(|event| serde_json::from_str::<Value>(event).unwrap())
        .filter_map(|event| event["delta"]["text"].as_str().map(str::to_owned))
        .collect();
    assert_eq!(text, "ECHO turn=1: hello there");
}

#[tokio::test]
async fn an_error_is_a_status() {
    let answer = post("/v1/messages", &json!({"messages": [user("[[error 418]]")]})).await;
    assert!(answer.starts_with("HTTP/1.1 418 "), "{answer}");
}
