//! Streams that behave well, badly and not at all.

use std::future::poll_fn;
use std::task::Poll;

use serde_json::json;
use tokio::io::{AsyncReadExt, DuplexStream, duplex, repeat};

use super::*;

/// All lines of a stream.
async fn read(stream: impl AsyncRead + Send + Unpin + 'static) -> Vec<Line> {
    let mut reader = Reader::new(stream);
    let mut lines = Vec::new();
    while let Some(line) = reader.next().await.unwrap() {
        lines.push(line);
    }
    assert_eq!(reader.next().await.unwrap(), None, "the end stays the end");
    lines
}

fn junk(text: &str) -> Line {
    Line::Junk(text.to_owned())
}

/// Polls once, and returns whether the future was ready; then it is dropped.
async fn cancelled<T>(future: impl Future<Output = T>) -> bool {
    let mut future = std::pin::pin!(future);
    poll_fn(|context| Poll::Ready(future.as_mut().poll(context).is_pending())).await
}

#[tokio::test]
async fn lines_end_in_any_way_and_empty_ones_are_skipped() {
    let stream = b"{\"a\":1}\n\r\n{\"b\":2}\r\n  \n\n[3]\n\"last\"".as_slice();
    assert_eq!(
        read(stream).await,
        [json!({"a": 1}), json!({"b": 2}), json!([3]), json!("last")].map(Line::Json)
    );
    assert_eq!(read(b"".as_slice()).await, []);
}

#[tokio::test]
async fn what_is_not_json_is_handed_on_in_short_and_ends_nothing() {
    let stream = b"npm warn deprecated\n{\"half\":\n\xff\xfe\n{\"text\":\"\xff\"}\n{}".as_slice();
    assert_eq!(
        read(stream).await,
        [
            junk("npm warn deprecated"),
            junk("{\"half\":"),
            junk("\u{fffd}\u{fffd}"),
            junk("{\"text\":\"\u{fffd}\"}"),
            Line::Json(json!({})),
        ]
    );
}

#[tokio::test]
async fn junk_is_cut_to_200_characters_of_any_width() {
    let stream = format!("{}\n{}", "ü".repeat(300), "😀".repeat(200));
    let lines = read(std::io::Cursor::new(stream)).await;
    assert_eq!(lines, [junk(&"ü".repeat(200)), junk(&"😀".repeat(200))]);
}

#[tokio::test]
async fn a_line_that_is_too_long_is_skipped_to_its_end() {
    let bytes = LINE_BYTES_MAX as u64 + 1;
    let flood = repeat(b'x').take(bytes).chain(b"\n{\"after\":1}\n".as_slice());
    let flood = flood.chain(repeat(b'y').take(bytes + 70_000));
    let mut reader = Reader::new(flood);
    assert_eq!(reader.next().await.unwrap(), Some(Line::TooLong { bytes }));
    assert_eq!(reader.next().await.unwrap(), Some(Line::Json(json!({"after": 1}))));
    assert!(reader.lines.read_buffer().capacity() < 2 * LINE_BYTES_MAX + READ_BYTES);
    assert_eq!(reader.next().await.unwrap(), Some(Line::TooLong { bytes: bytes + 70_000 }));
    assert_eq!(reader.next().await.unwrap(), None);
    assert!(reader.lines.read_buffer().capacity() <= BUFFER_BYTES_KEPT, "the room is given back");
}

#[tokio::test]
async fn the_longest_line_that_is_allowed_is_read() {
    let text = "x".repeat(LINE_BYTES_MAX - 2);
    let lines = read(std::io::Cursor::new(format!("\"{text}\"\n"))).await;
    assert!(lines == [Line::Json(Value::String(text))]);
}

#[tokio::test]
async fn k4_a_line_of_too_many_values_is_skipped_before_it_is_parsed() {
    let many = format!("[{}0]", "0,".repeat(VALUES_MAX));
    let nested = "[".repeat(VALUES_MAX + 1);
    let text = format!("\"{}\"", ",:[{\\\"".repeat(VALUES_MAX));
    let lines = read(std::io::Cursor::new(format!("{many}\n{nested}\n{text}\n"))).await;
    let too_long = |line: &str| Line::TooLong { bytes: line.len() as u64 };
    let read = serde_json::from_str(&text).unwrap();
    assert!(lines == [too_long(&many), too_long(&nested), Line::Json(read)]);
}

#[tokio::test]
async fn a_cancelled_read_loses_nothing() {
    let (mut agent, ours) = duplex(64);
    let mut reader = Reader::new(ours);
    for piece in ["{\"te", "xt\":", "\"ok\"}"] {
        agent.write_all(piece.as_bytes()).await.unwrap();
        assert!(cancelled(reader.next()).await);
    }
    agent.write_all(b"\n{}\n").await.unwrap();
    assert_eq!(reader.next().await.unwrap(), Some(Line::Json(json!({"text": "ok"}))));
    assert_eq!(reader.next().await.unwrap(), Some(Line::Json(json!({}))));
}

#[tokio::test]
async fn a_cancelled_write_tears_no_line() {
    let (agent, ours) = duplex(8);
    let mut writer = Writer::new(ours);
    assert!(cancelled(writer.send(&json!({"first": "longer than the pipe"}))).await);
    let reading = tokio::spawn(read(agent));
    writer.send(&json!({"second": 2})).await.unwrap();
    writer.close().await;
    let expected = [json!({"first": "longer than the pipe"}), json!({"second": 2})];
    assert_eq!(reading.await.unwrap(), expected.map(Line::Json));
}

#[tokio::test]
async fn text_with_newlines_stays_one_line() {
    let (agent, ours) = duplex(1024);
    let mut writer = Writer::new(ours);
    writer.send(&json!({"text": "a\nb\r\nc"})).await.unwrap();
    writer.close().await;
    assert_eq!(read(agent).await, [Line::Json(json!({"text": "a\nb\r\nc"}))]);
}

#[tokio::test]
async fn writing_to_a_reader_that_is_gone_fails() {
    let (agent, ours): (DuplexStream, DuplexStream) = duplex(8);
    drop(agent);
    let mut writer = Writer::new(ours);
    let error = writer.send(&json!({})).await.unwrap_err();
    assert_eq!(error.kind(), io::ErrorKind::BrokenPipe);
}
