//! Permissions, questions, and what people may change.

use super::play;

/// A permission as it is asked for in the middle of a turn.
const ASKING: &str = r#"
    prompt make x
    {"type":"assistant","message":{"id":"m","content":[{"type":"tool_use","id":"toolu_1","name":"Bash","input":{"command":"touch x"}}]},"parent_tool_use_id":null}
    {"type":"control_request","request_id":"3f25","request":{"subtype":"can_use_tool","tool_name":"Bash","display_name":"Bash","input":{"command":"touch x"},"description":"make x","permission_suggestions":[{"type":"addRules","rules":[{"toolName":"Bash","ruleContent":"touch x *"}],"behavior":"allow","destination":"localSettings"},{"type":"addDirectories","directories":["/w"],"destination":"session"},{"type":"setMode","mode":"acceptEdits","destination":"session"}],"blocked_path":"/w/x","tool_use_id":"toolu_1"}}
"#;

/// What follows after a permission was asked for.
fn play_on(script: &str) -> String {
    let reported = play(&format!("{ASKING}{script}"));
    reported.lines().skip(3).collect::<Vec<_>>().join("\n")
}

#[test]
fn k7_the_agents_own_suggestions_for_good_are_neither_offered_nor_passed_on() {
    insta::assert_snapshot!(play(ASKING), @r#"
    > {"message":{"content":"make x","role":"user"},"parent_tool_use_id":null,"session_id":"","type":"user","uuid":"$1"}
    tool toolu_1 args={"command":"touch x"} kind="execute" status="running" title="touch x" tool="Bash"
    asked {"kind":"permission","requestId":"$2","toolCallId":"toolu_1","tool":"Bash","title":"Bash: touch x","evidence":{"kind":"command","command":"touch x"},"options":[{"optionId":"allow","name":"Allow","kind":"allow_once"},{"optionId":"deny","name":"Deny","kind":"reject_once"}],"status":"pending"}
    "#);
}

#[test]
fn every_reply_to_a_permission_has_its_answer() {
    insta::assert_snapshot!(play_on("reply $2 choose allow"), @r#"> {"response":{"request_id":"3f25","response":{"behavior":"allow","updatedInput":{"command":"touch x"}},"subtype":"success"},"type":"control_response"}"#);
    insta::assert_snapshot!(play_on("reply $2 choose allow_always"), @r#"> {"response":{"request_id":"3f25","response":{"behavior":"deny","message":"The user denied this."},"subtype":"success"},"type":"control_response"}"#);
    insta::assert_snapshot!(play_on("reply $2 choose deny"), @r#"> {"response":{"request_id":"3f25","response":{"behavior":"deny","message":"The user denied this."},"subtype":"success"},"type":"control_response"}"#);
    insta::assert_snapshot!(play_on("reply $2 choose something else"), @r#"> {"response":{"request_id":"3f25","response":{"behavior":"deny","message":"The user denied this."},"subtype":"success"},"type":"control_response"}"#);
    insta::assert_snapshot!(play_on("reply $2 reject use mkdir"), @r#"> {"response":{"request_id":"3f25","response":{"behavior":"deny","message":"use mkdir"},"subtype":"success"},"type":"control_response"}"#);
    insta::assert_snapshot!(play_on("reply $2 reject"), @r#"> {"response":{"request_id":"3f25","response":{"behavior":"deny","message":"The user does not want this."},"subtype":"success"},"type":"control_response"}"#);
    insta::assert_snapshot!(play_on("reply $2 timeout"), @r#"> {"response":{"request_id":"3f25","response":{"behavior":"deny","message":"The user did not answer in time. This is not a refusal: do something else that needs no permission, or end your turn and say what you are waiting for."},"subtype":"success"},"type":"control_response"}"#);
    insta::assert_snapshot!(play_on("reply $2 cancelled"), @r#"> {"response":{"request_id":"3f25","response":{"behavior":"deny","interrupt":true,"message":"The request was cancelled."},"subtype":"success"},"type":"control_response"}"#);
    insta::assert_snapshot!(play_on("reply $2 answer B"), @r#"> {"response":{"request_id":"3f25","response":{"behavior":"deny","message":"The user's answer does not fit the request."},"subtype":"success"},"type":"control_response"}"#);
}

#[test]
fn a_reply_counts_once() {
    let reported = play_on("reply $2 choose deny\nreply $2 choose allow");
    assert_eq!(reported.lines().count(), 1);
}

#[test]
fn an_interrupt_takes_the_open_permission_off_the_screen() {
    let reported = play_on(
        r#"
        cancel
        {"type":"control_cancel_request","request_id":"3f25"}
        {"type":"control_response","response":{"subtype":"success","request_id":"convoke-1","response":{"still_queued":[]}}}
        reply $2 cancelled
        {"type":"user","message":{"role":"user","content":[{"type":"tool_result","content":"The user doesn't want to proceed with this tool use.","is_error":true,"tool_use_id":"toolu_1"}]},"parent_tool_use_id":null,"tool_use_result":"User rejected tool use"}
        {"type":"user","message":{"role":"user","content":[{"type":"text","text":"[Request interrupted by user for tool use]"}]},"parent_tool_use_id":null}
        {"stop_reason":"tool_use","terminal_reason":"aborted_tools","is_error":true,"subtype":"error_during_execution","errors":["[ede_diagnostic]"],"type":"result","user_message_uuids":["$1"]}
        {"type":"control_cancel_request","request_id":"3f25"}
        "#,
    );
    insta::assert_snapshot!(reported, @r#"
    > {"request":{"subtype":"interrupt"},"request_id":"convoke-1","type":"control_request"}
    withdrew $2
    tool toolu_1 result={"error":"The user doesn't want to proceed with this tool use."} status="error"
    ended 1: The turn was cancelled.
    "#);
}

#[test]
fn a_permission_that_is_cancelled_by_us_cancels_its_turn() {
    let reported = play_on(
        r#"
        reply $2 cancelled
        {"terminal_reason":"aborted_tools","is_error":true,"subtype":"error_during_execution","type":"result","user_message_uuids":["$1"]}
        "#,
    );
    insta::assert_snapshot!(reported, @r#"
    > {"response":{"request_id":"3f25","response":{"behavior":"deny","interrupt":true,"message":"The request was cancelled."},"subtype":"success"},"type":"control_response"}
    ended 1: The turn was cancelled.
    "#);
}

#[test]
fn a_permission_outside_of_our_turns_is_denied_without_an_interrupt() {
    let reported = play(
        r#"
        {"type":"control_request","request_id":"a1","request":{"subtype":"can_use_tool","tool_name":"Deploy","input":{},"description":"to the moon","tool_use_id":"t9"}}
        reply $1 cancelled
        "#,
    );
    insta::assert_snapshot!(reported, @r#"
    tool t9 args={} kind="other" status="running" tool="Deploy"
    asked {"kind":"permission","requestId":"$1","toolCallId":"t9","tool":"Deploy","title":"Deploy: to the moon","evidence":{"kind":"tool","tool":"Deploy","args":{}},"options":[{"optionId":"allow","name":"Allow","kind":"allow_once"},{"optionId":"deny","name":"Deny","kind":"reject_once"}],"status":"pending"}
    > {"response":{"request_id":"a1","response":{"behavior":"deny","message":"The request was cancelled."},"subtype":"success"},"type":"control_response"}
    "#);
}

#[test]
fn permissions_beyond_the_limit_are_denied() {
    let ask = r#"{"type":"control_request","request_id":"a","request":{"subtype":"can_use_tool","tool_name":"X","input":{}}}"#;
    let reported = play(&[ask; 33].join("\n"));
    assert_eq!(reported.matches("asked").count(), 32);
    insta::assert_snapshot!(reported.lines().last().unwrap(), @r#"> {"response":{"request_id":"a","response":{"behavior":"deny","message":"Too many requests wait for the user already."},"subtype":"success"},"type":"control_response"}"#);
}

#[test]
fn questions_are_asked_as_questions_and_answered_by_their_text() {
    let asking = r#"
        {"type":"control_request","request_id":"dc90","request":{"subtype":"can_use_tool","tool_name":"AskUserQuestion","display_name":"AskUserQuestion","input":{"questions":[{"question":"Which?","header":"Pick","options":[{"label":"A","description":"the a"},{"label":"B"}],"multiSelect":false}]},"tool_use_id":"t","requires_user_interaction":true}}
    "#;
    insta::assert_snapshot!(play(&format!("{asking}\nreply $1 answer B")), @r#"
    tool t args={"questions":[{"header":"Pick","multiSelect":false,"options":[{"description":"the a","label":"A"},{"label":"B"}],"question":"Which?"}]} kind="other" status="running" tool="AskUserQuestion"
    asked {"kind":"questions","requestId":"$1","questions":[{"prompt":"Which?","title":"Pick","options":[{"label":"A","description":"the a"},{"label":"B"}],"multiSelect":false}],"status":"pending"}
    > {"response":{"request_id":"dc90","response":{"behavior":"allow","updatedInput":{"answers":{"Which?":"B"},"questions":[{"header":"Pick","multiSelect":false,"options":[{"description":"the a","label":"A"},{"label":"B"}],"question":"Which?"}]}},"subtype":"success"},"type":"control_response"}
    "#);
    insta::assert_snapshot!(play(&format!("{asking}\nreply $1 reject")).lines().last().unwrap(), @r#"> {"response":{"request_id":"dc90","response":{"behavior":"deny","message":"The user does not want this."},"subtype":"success"},"type":"control_response"}"#);
    insta::assert_snapshot!(play(&format!("{asking}\nreply $1 choose allow")).lines().last().unwrap(), @r#"> {"response":{"request_id":"dc90","response":{"behavior":"deny","message":"The user's answer does not fit the request."},"subtype":"success"},"type":"control_response"}"#);
}

#[test]
fn questions_that_cannot_be_answered_become_a_permission() {
    let reported = play(
        r#"
        {"type":"control_request","request_id":"dc91","request":{"subtype":"can_use_tool","tool_name":"AskUserQuestion","input":{"questions":[{"question":""}]}}}
        "#,
    );
    insta::assert_snapshot!(reported, @r#"asked {"kind":"permission","requestId":"$1","tool":"AskUserQuestion","title":"AskUserQuestion","evidence":{"kind":"tool","tool":"AskUserQuestion","args":{"questions":[{"question":""}]}},"options":[{"optionId":"allow","name":"Allow","kind":"allow_once"},{"optionId":"deny","name":"Deny","kind":"reject_once"}],"status":"pending"}"#);
}

#[test]
fn a_request_of_an_unknown_kind_is_answered_with_an_error() {
    let reported = play(
        r#"
        {"type":"control_request","request_id":"h1","request":{"subtype":"hook_callback","callback_id":"x"}}
        {"type":"control_request","request_id":"h2"}
        "#,
    );
    insta::assert_snapshot!(reported, @r#"
    > {"response":{"error":"Convoke does not take requests of the kind `hook_callback`","request_id":"h1","subtype":"error"},"type":"control_response"}
    > {"response":{"error":"Convoke does not take requests of the kind ``","request_id":"h2","subtype":"error"},"type":"control_response"}
    "#);
}

#[test]
fn the_handshake_reports_the_offers_of_claude() {
    let reported = play(
        r#"
        greet
        {"type":"system","subtype":"status","status":null,"permissionMode":"plan"}
        {"type":"control_response","response":{"subtype":"success","request_id":"convoke-1","response":{"commands":[{"name":"compact","description":"Clear conversation history but keep a summary","argumentHint":"[instructions]","builtin":true},{"name":"__remote-workflow","description":"x"},{"description":"nameless"}],"agents":[],"models":[{"value":"default","resolvedModel":"claude-opus-5-5","displayName":"Default (recommended)","description":"Opus 5.5"},{"value":"opus","resolvedModel":"claude-opus-5-5","displayName":"Opus"},{"value":"sonnet","resolvedModel":"claude-sonnet-5-5","displayName":"Sonnet"}],"account":{"apiKeySource":"ANTHROPIC_API_KEY"},"pid":1,"claude_code_version":"2.1.325","current_permission_mode":"default"}}}
        {"type":"system","subtype":"init","session_id":"ses","model":"claude-opus-5-5","permissionMode":"default"}
        {"type":"system","subtype":"init","session_id":"ses","model":"claude-sonnet-5-5","permissionMode":"default"}
        {"type":"system","subtype":"init","session_id":"ses","model":"claude-next","permissionMode":"default"}
        "#,
    );
    insta::assert_snapshot!(reported, @r#"
    > {"request":{"hooks":null,"subtype":"initialize"},"request_id":"convoke-1","type":"control_request"}
    state {"kind":"commands","commands":[{"name":"compact","description":"Clear conversation history but keep a summary","hint":"[instructions]"}]}
    state {"kind":"settings","settings":[{"id":"model","name":"Model","category":"model","current":"default","choices":[{"id":"default","name":"Default (recommended)","description":"Opus 5.5"},{"id":"opus","name":"Opus"},{"id":"sonnet","name":"Sonnet"}]}]}
    state {"kind":"modes","current":"default","available":[{"id":"default","name":"Default","description":"Asks before it changes or runs anything"},{"id":"acceptEdits","name":"Accept edits","description":"Edits files in the workspace without asking"},{"id":"plan","name":"Plan","description":"Reads and plans, and changes nothing"},{"id":"dontAsk","name":"Don't ask","description":"Does what is allowed already, and refuses the rest without asking"}]}
    state {"kind":"settings","settings":[{"id":"model","name":"Model","category":"model","current":"sonnet","choices":[{"id":"default","name":"Default (recommended)","description":"Opus 5.5"},{"id":"opus","name":"Opus"},{"id":"sonnet","name":"Sonnet"}]}]}
    state {"kind":"settings","settings":[{"id":"model","name":"Model","category":"model","current":"claude-next","choices":[{"id":"default","name":"Default (recommended)","description":"Opus 5.5"},{"id":"opus","name":"Opus"},{"id":"sonnet","name":"Sonnet"}]}]}
    "#);
}

#[test]
fn modes_and_models_change_when_claude_agrees() {
    let reported = play(
        r#"
        greet
        {"type":"control_response","response":{"subtype":"success","request_id":"convoke-1","response":{"models":[{"value":"default"},{"value":"sonnet"}]}}}
        mode acceptEdits
        {"type":"control_response","response":{"subtype":"success","request_id":"convoke-2","response":{"mode":"acceptEdits"}}}
        {"type":"system","subtype":"status","status":null,"permissionMode":"acceptEdits"}
        mode bypassPermissions
        {"type":"control_response","response":{"subtype":"error","request_id":"convoke-3","error":"the session was not launched with --dangerously-skip-permissions","error_code":"bypass_not_launched"}}
        setting model sonnet
        {"type":"user","message":{"role":"user","content":"<local-command-stdout>Set model to `sonnet (claude-sonnet-5-5)`</local-command-stdout>"},"isReplay":true}
        {"type":"control_response","response":{"subtype":"success","request_id":"convoke-4","response":{"model":"claude-sonnet-5-5"}}}
        setting effort max
        {"type":"control_response","response":{"subtype":"success","request_id":"convoke-4","response":{}}}
        {"type":"control_response","response":{"subtype":"success","request_id":"somebody else's"}}
        "#,
    );
    insta::assert_snapshot!(reported, @r#"
    > {"request":{"hooks":null,"subtype":"initialize"},"request_id":"convoke-1","type":"control_request"}
    state {"kind":"settings","settings":[{"id":"model","name":"Model","category":"model","current":"default","choices":[{"id":"default","name":"default"},{"id":"sonnet","name":"sonnet"}]}]}
    state {"kind":"modes","current":"default","available":[{"id":"default","name":"Default","description":"Asks before it changes or runs anything"},{"id":"acceptEdits","name":"Accept edits","description":"Edits files in the workspace without asking"},{"id":"plan","name":"Plan","description":"Reads and plans, and changes nothing"},{"id":"dontAsk","name":"Don't ask","description":"Does what is allowed already, and refuses the rest without asking"}]}
    > {"request":{"mode":"acceptEdits","subtype":"set_permission_mode"},"request_id":"convoke-2","type":"control_request"}
    state {"kind":"modes","current":"acceptEdits","available":[]}
    > {"request":{"mode":"bypassPermissions","subtype":"set_permission_mode"},"request_id":"convoke-3","type":"control_request"}
    notice {"event":"advice","severity":"warning"}: The mode is not changed to bypassPermissions: the session was not launched with --dangerously-skip-permissions
    > {"request":{"model":"sonnet","subtype":"set_model"},"request_id":"convoke-4","type":"control_request"}
    state {"kind":"settings","settings":[{"id":"model","name":"Model","category":"model","current":"sonnet","choices":[{"id":"default","name":"default"},{"id":"sonnet","name":"sonnet"}]}]}
    notice {"event":"advice","severity":"warning"}: Claude has no setting “effort”.
    "#);
}
