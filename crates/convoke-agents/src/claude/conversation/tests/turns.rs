//! How turns begin and end.

use super::play;

#[test]
fn an_interrupted_answer_is_a_cancelled_turn() {
    let reported = play(
        r#"
        prompt a long story
        {"type":"stream_event","event":{"type":"message_start","message":{"id":"msg_1"}},"parent_tool_use_id":null}
        {"type":"stream_event","event":{"type":"content_block_delta","index":0,"delta":{"type":"text_delta","text":"E"}},"parent_tool_use_id":null}
        cancel
        {"type":"control_response","response":{"subtype":"success","request_id":"convoke-1","response":{"still_queued":[]}}}
        {"type":"assistant","message":{"id":"msg_1","content":[{"type":"text","text":"E"}],"stop_reason":null},"parent_tool_use_id":null,"aborted":true}
        {"type":"user","message":{"role":"user","content":[{"type":"text","text":"[Request interrupted by user]"}]},"parent_tool_use_id":null}
        {"stop_reason":null,"total_cost_usd":0,"usage":{"input_tokens":0,"output_tokens":0},"modelUsage":{},"terminal_reason":"aborted_streaming","is_error":true,"num_turns":2,"subtype":"error_during_execution","errors":["[ede_diagnostic] result_type=user last_content_type=n/a stop_reason=null"],"type":"result","user_message_uuids":["$1"]}
        prompt next
        "#,
    );
    insta::assert_snapshot!(reported, @r#"
    > {"message":{"content":"a long story","role":"user"},"parent_tool_use_id":null,"session_id":"","type":"user","uuid":"$1"}
    said "E"
    > {"request":{"subtype":"interrupt"},"request_id":"convoke-1","type":"control_request"}
    state {"kind":"usage","cost":{"amount":0.0,"currency":"USD"}}
    ended 1: The turn was cancelled.
    > {"message":{"content":"next","role":"user"},"parent_tool_use_id":null,"session_id":"","type":"user","uuid":"$2"}
    "#);
}

#[test]
fn an_interrupt_that_comes_before_its_prompt_has_begun_is_sent_again() {
    let reported = play(
        r#"
        prompt a long story
        cancel
        {"type":"command_lifecycle","command_uuid":"$1","state":"queued"}
        {"type":"control_response","response":{"subtype":"success","request_id":"convoke-1","response":{"still_queued":["$1"]}}}
        {"type":"command_lifecycle","command_uuid":"$1","state":"started"}
        {"type":"control_response","response":{"subtype":"success","request_id":"convoke-2","response":{"still_queued":[]}}}
        {"type":"result","subtype":"error_during_execution","is_error":true,"terminal_reason":"aborted_streaming","user_message_uuids":["$1"]}
        "#,
    );
    insta::assert_snapshot!(reported, @r#"
    > {"message":{"content":"a long story","role":"user"},"parent_tool_use_id":null,"session_id":"","type":"user","uuid":"$1"}
    > {"request":{"subtype":"interrupt"},"request_id":"convoke-1","type":"control_request"}
    > {"request":{"subtype":"interrupt"},"request_id":"convoke-2","type":"control_request"}
    ended 1: The turn was cancelled.
    "#);
}

#[test]
fn a_second_prompt_in_a_turn_is_refused_because_claude_would_merge_them() {
    let reported = play(
        r#"
        prompt one
        prompt two
        {"type":"result","subtype":"success","is_error":false,"result":"1","user_message_uuids":["$1"]}
        prompt three
        "#,
    );
    insta::assert_snapshot!(reported, @r#"
    > {"message":{"content":"one","role":"user"},"parent_tool_use_id":null,"session_id":"","type":"user","uuid":"$1"}
    ended 2: The turn failed: another turn was still running
    said "1"
    ended 1: The turn ended.
    > {"message":{"content":"three","role":"user"},"parent_tool_use_id":null,"session_id":"","type":"user","uuid":"$2"}
    "#);
}

#[test]
fn an_error_of_the_model_fails_the_turn_though_claude_calls_it_a_success() {
    let reported = play(
        r#"
        prompt hello
        {"type":"assistant","message":{"id":"2e97","model":"<synthetic>","stop_reason":"stop_sequence","content":[{"type":"text","text":"API Error: 400 scripted HTTP 400"}]},"parent_tool_use_id":null,"error":"unknown","is_api_error_message":true,"api_error_status":400}
        {"stop_reason":"stop_sequence","total_cost_usd":0.25,"usage":{"input_tokens":0,"output_tokens":0},"terminal_reason":"api_error","is_error":true,"num_turns":1,"subtype":"success","api_error_status":400,"result":"API Error: 400 scripted HTTP 400","type":"result","user_message_uuids":["$1"]}
        "#,
    );
    insta::assert_snapshot!(reported, @r#"
    > {"message":{"content":"hello","role":"user"},"parent_tool_use_id":null,"session_id":"","type":"user","uuid":"$1"}
    state {"kind":"usage","cost":{"amount":0.25,"currency":"USD"}}
    ended 1: The turn failed: API Error: 400 scripted HTTP 400
    "#);
}

#[test]
fn every_way_to_end_has_its_stop_reason() {
    for (ending, sentence) in [
        (r#""subtype":"success","is_error":false,"stop_reason":"end_turn""#, "The turn ended."),
        (r#""subtype":"success","stop_reason":"refusal""#, "The model refused to continue."),
        (r#""subtype":"success","stop_reason":"max_tokens""#, "The model reached its token limit."),
        (
            r#""subtype":"error_max_turns","is_error":true,"terminal_reason":"max_turns","stop_reason":"tool_use""#,
            "The turn reached its maximum number of steps.",
        ),
        (
            r#""subtype":"error_during_execution","is_error":true,"terminal_reason":"aborted_tools","errors":["a","b"]"#,
            "The turn failed: a; b",
        ),
        (
            r#""subtype":"error_max_budget_usd","is_error":true"#,
            "The turn failed: error_max_budget_usd",
        ),
        (r#""is_error":true"#, "The turn failed: unknown error"),
        (
            r#""subtype":["?"],"is_error":"?","stop_reason":7,"usage":"?","modelUsage":3"#,
            "The turn ended.",
        ),
    ] {
        let reported = play(&format!("prompt x\n{{\"type\":\"result\",{ending}}}"));
        assert_eq!(reported.lines().last(), Some(&*format!("ended 1: {sentence}")), "{ending}");
    }
}

#[test]
fn a_turn_that_claude_begins_by_itself_ends_none_of_ours() {
    let reported = play(
        r#"
        prompt wait for it
        {"type":"result","subtype":"success","is_error":false,"result":"started","user_message_uuid":"$1","user_message_uuids":["$1"]}
        {"type":"system","subtype":"task_notification","task_id":"b","status":"completed","summary":"Background command \"bg\" completed (exit code 0)"}
        {"type":"assistant","message":{"id":"m","content":[{"type":"text","text":"it is done"}]},"parent_tool_use_id":null}
        prompt mine
        {"type":"result","subtype":"success","is_error":false,"result":"it is done","origin":{"kind":"task-notification","producer":"session-task"},"total_cost_usd":0.5}
        {"type":"result","subtype":"success","is_error":true,"result":"API Error: 529","origin":{"kind":"task-notification"}}
        {"type":"result","subtype":"success","is_error":false,"result":"another client's","user_message_uuids":["someone"]}
        {"type":"assistant","message":{"id":"n","content":[{"type":"text","text":"yours"}]},"parent_tool_use_id":null}
        {"type":"result","subtype":"success","is_error":false,"result":"yours","origin":{"kind":"task-notification"},"user_message_uuids":["$2"]}
        "#,
    );
    insta::assert_snapshot!(reported, @r#"
    > {"message":{"content":"wait for it","role":"user"},"parent_tool_use_id":null,"session_id":"","type":"user","uuid":"$1"}
    said "started"
    ended 1: The turn ended.
    said "it is done"
    > {"message":{"content":"mine","role":"user"},"parent_tool_use_id":null,"session_id":"","type":"user","uuid":"$2"}
    state {"kind":"usage","cost":{"amount":0.5,"currency":"USD"}}
    notice {"event":"advice","severity":"error"}: API Error: 529
    said "yours"
    ended 2: The turn ended.
    "#);
}

#[test]
fn compaction_is_a_prompt_that_ends_like_any_other() {
    let reported = play(
        r#"
        prompt /compact
        {"type":"system","subtype":"status","status":"compacting"}
        {"type":"system","subtype":"status","status":null,"compact_result":"success"}
        {"type":"system","subtype":"init","session_id":"ses","model":"","permissionMode":""}
        {"type":"system","subtype":"compact_boundary","compact_metadata":{"trigger":"manual","pre_tokens":14238,"post_tokens":2666}}
        {"type":"user","message":{"role":"user","content":"This session is being continued from a previous conversation"},"parent_tool_use_id":null,"isReplay":false,"isSynthetic":true}
        {"type":"user","message":{"role":"user","content":"<local-command-stdout>Compacted </local-command-stdout>"},"parent_tool_use_id":null,"isReplay":true}
        {"is_error":false,"num_turns":0,"stop_reason":null,"total_cost_usd":0.357274,"usage":{"input_tokens":0,"output_tokens":0},"subtype":"success","result":"","local_command":"compact","type":"result","user_message_uuids":["$1"]}
        "#,
    );
    insta::assert_snapshot!(reported, @r#"
    > {"message":{"content":"/compact","role":"user"},"parent_tool_use_id":null,"session_id":"","type":"user","uuid":"$1"}
    notice {"event":"compacted"}: The agent compacted its context.
    state {"kind":"usage","contextUsed":2666,"cost":{"amount":0.357274,"currency":"USD"}}
    ended 1: The turn ended.
    "#);
}

#[test]
fn the_output_of_a_local_command_is_reported_once() {
    let reported = play(
        r#"
        prompt /usage
        {"type":"assistant","message":{"id":"1476","model":"<synthetic>","content":[{"type":"text","text":"Total cost: $0.36"}]},"parent_tool_use_id":null,"local_command_source":"<local-command-stdout>Total cost: $0.36</local-command-stdout>"}
        {"is_error":false,"num_turns":0,"subtype":"success","result":"Total cost: $0.36","local_command":"usage","type":"result","user_message_uuids":["$1"]}
        prompt /usage of an older version
        {"type":"user","message":{"role":"user","content":"<local-command-stdout>Total cost: $0.36</local-command-stdout>"},"isReplay":true}
        {"type":"result","subtype":"success","is_error":false,"num_turns":0,"result":"Total cost: $0.36"}
        "#,
    );
    insta::assert_snapshot!(reported, @r#"
    > {"message":{"content":"/usage","role":"user"},"parent_tool_use_id":null,"session_id":"","type":"user","uuid":"$1"}
    said "Total cost: $0.36"
    ended 1: The turn ended.
    > {"message":{"content":"/usage of an older version","role":"user"},"parent_tool_use_id":null,"session_id":"","type":"user","uuid":"$2"}
    said "Total cost: $0.36"
    ended 2: The turn ended.
    "#);
}

#[test]
fn many_retries_are_reported_in_a_few_notices() {
    let retry = |attempt: u64| {
        format!(
            r#"{{"type":"system","subtype":"api_retry","attempt":{attempt},"max_retries":10,"retry_delay_ms":{},"error_status":401,"error":"authentication_failed"}}"#,
            533 << (attempt - 1)
        )
    };
    let storm: Vec<String> = (1..=10).map(retry).collect();
    let reported = play(&format!("prompt x\n{}", storm.join("\n")));
    insta::assert_snapshot!(reported, @r#"
    > {"message":{"content":"x","role":"user"},"parent_tool_use_id":null,"session_id":"","type":"user","uuid":"$1"}
    notice {"event":"advice","severity":"warning"}: retrying 1/10 in 1 s: 401 authentication_failed
    notice {"event":"advice","severity":"warning"}: retrying 2/10 in 2 s: 401 authentication_failed
    notice {"event":"advice","severity":"warning"}: retrying 4/10 in 5 s: 401 authentication_failed
    notice {"event":"advice","severity":"warning"}: retrying 8/10 in 69 s: 401 authentication_failed
    "#);
    let storms: Vec<String> = (0..100).map(|_| storm.join("\n")).collect();
    let reported = play(&format!("prompt x\n{}", storms.join("\n")));
    assert_eq!(reported.lines().count(), 1 + 8);
}

#[test]
fn limits_and_information_are_reported_when_they_change() {
    let reported = play(
        r#"
        {"type":"rate_limit_event","rate_limit_info":{"status":"allowed","rateLimitType":"five_hour"}}
        {"type":"rate_limit_event","rate_limit_info":{"status":"allowed_warning","rateLimitType":"five_hour"}}
        {"type":"rate_limit_event","rate_limit_info":{"status":"allowed_warning","rateLimitType":"five_hour"}}
        {"type":"rate_limit_event","rate_limit_info":{"status":"rejected"}}
        {"type":"system","subtype":"informational","content":"safeguards stopped the response above","level":"notice"}
        {"type":"system","subtype":"informational"}
        "#,
    );
    insta::assert_snapshot!(reported, @r#"
    notice {"event":"advice","severity":"warning"}: The limit of five_hour is nearly reached.
    notice {"event":"advice","severity":"error"}: The limit of usage is reached.
    notice {"event":"advice","severity":"notice"}: safeguards stopped the response above
    "#);
}

#[test]
fn a_conversation_that_claude_forgets_is_reported() {
    let reported = play(
        r#"
        prompt /clear
        {"type":"conversation_reset","new_conversation_id":"5890","trigger":"clear","user_message_uuid":"$1"}
        {"type":"system","subtype":"init","session_id":"other","model":"","permissionMode":""}
        {"is_error":false,"num_turns":0,"subtype":"success","result":"","local_command":"clear","total_cost_usd":0,"type":"result","user_message_uuids":["$1"]}
        {"type":"system","subtype":"init","session_id":"other","model":"","permissionMode":""}
        "#,
    );
    insta::assert_snapshot!(reported, @r#"
    > {"message":{"content":"/clear","role":"user"},"parent_tool_use_id":null,"session_id":"","type":"user","uuid":"$1"}
    notice {"event":"advice","severity":"warning"}: Claude forgot the conversation and began a new one, which it calls other.
    renewed other
    state {"kind":"usage","cost":{"amount":0.0,"currency":"USD"}}
    ended 1: The turn ended.
    "#);
}

#[test]
fn stopping_interrupts_the_turn_without_a_report() {
    insta::assert_snapshot!(play("leave"), @"");
    insta::assert_snapshot!(play("prompt x\nleave"), @r#"
    > {"message":{"content":"x","role":"user"},"parent_tool_use_id":null,"session_id":"","type":"user","uuid":"$1"}
    > {"request":{"subtype":"interrupt"},"request_id":"convoke-1","type":"control_request"}
    "#);
}
