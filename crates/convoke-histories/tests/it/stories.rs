//! One small store an agent, written by hand after its format, with what is peculiar to it.

use convoke_histories::Agent;

use crate::scene::Scene;

/// The agent's store.
pub(crate) fn story(agent: Agent) -> Scene {
    let scene = Scene::new(agent);
    match agent {
        Agent::Claude => claude(&scene),
        Agent::Codex => codex(&scene),
        Agent::Gemini => gemini(&scene),
        Agent::Opencode => opencode(&scene),
        Agent::Goose => goose(&scene),
        Agent::Qwen => qwen(&scene),
        Agent::Copilot => copilot(&scene),
        Agent::Cline => cline(&scene),
        Agent::Kimi => kimi(&scene),
        Agent::Vibe => vibe(&scene),
        Agent::Droid => droid(&scene),
    }
    scene
}

/// The agents whose stores are files of lines, with the file.
pub(crate) const LINES: [(Agent, &str); 8] = [
    (Agent::Claude, CLAUDE),
    (Agent::Codex, CODEX),
    (Agent::Gemini, GEMINI),
    (Agent::Qwen, QWEN),
    (Agent::Copilot, COPILOT),
    (Agent::Kimi, KIMI),
    (Agent::Vibe, VIBE),
    (Agent::Droid, DROID),
];

const CLAUDE: &str = "projects/-p/11111111-1111-4111-8111-111111111111.jsonl";

fn claude(scene: &Scene) {
    scene.lines(CLAUDE, &[
        r#"{"type":"queue-operation","operation":"enqueue","content":"fix it"}"#,
        r#"{"type":"user","uuid":"u1","parentUuid":null,"isSidechain":false,"cwd":"/p","sessionId":"11111111-1111-4111-8111-111111111111","timestamp":"2026-11-01T10:00:00.000Z","message":{"role":"user","content":[{"type":"text","text":"<ide_opened_file>a.rs</ide_opened_file>"},{"type":"text","text":"fix it<system-reminder>be nice</system-reminder>"},{"type":"image","source":{"data":"AAAA"}}]}}"#,
        r#"{"type":"user","uuid":"u2","parentUuid":"u1","isMeta":true,"timestamp":"2026-11-01T10:00:00.100Z","message":{"role":"user","content":"not said"}}"#,
        r#"{"type":"user","uuid":"s1","parentUuid":"u1","isSidechain":true,"timestamp":"2026-11-01T10:00:00.200Z","message":{"role":"user","content":"a sidechain"}}"#,
        r#"{"type":"assistant","uuid":"a1","parentUuid":"u1","timestamp":"2026-11-01T10:00:01.000Z","message":{"id":"m1","role":"assistant","model":"opus","content":[{"type":"thinking","thinking":"let me","signature":"x"}],"usage":{"input_tokens":10,"output_tokens":1,"cache_read_input_tokens":5}}}"#,
        r#"{"type":"assistant","uuid":"a2","parentUuid":"a1","timestamp":"2026-11-01T10:00:01.500Z","message":{"id":"m1","role":"assistant","model":"opus","content":[{"type":"thinking","thinking":"let me see","signature":"x"}],"usage":{"input_tokens":10,"output_tokens":4,"cache_read_input_tokens":5}}}"#,
        r#"{"type":"assistant","uuid":"a3","parentUuid":"a2","timestamp":"2026-11-01T10:00:02.000Z","message":{"id":"m1","role":"assistant","model":"opus","content":[{"type":"tool_use","id":"t1","name":"Write","input":{"file_path":"/p/a.txt","content":"new"}}],"usage":{"input_tokens":10,"output_tokens":9,"cache_read_input_tokens":5}}}"#,
        r#"{"type":"assistant","uuid":"a4","parentUuid":"a3","timestamp":"2026-11-01T10:00:02.100Z","message":{"id":"m1","role":"assistant","model":"opus","content":[{"type":"tool_use","id":"t2","name":"TodoWrite","input":{"todos":[{"content":"look","status":"completed"},{"content":"leap","status":"in_progress"}]}}],"usage":{"input_tokens":10,"output_tokens":9}}}"#,
        r#"{"type":"user","uuid":"u3","parentUuid":"a3","timestamp":"2026-11-01T10:00:03.000Z","toolUseResult":{"type":"update","filePath":"/p/a.txt","originalFile":"old"},"message":{"role":"user","content":[{"type":"tool_result","tool_use_id":"t1","content":[{"type":"text","text":"done"}]},{"type":"tool_result","tool_use_id":"t2","content":"ok"}]}}"#,
        r#"{"type":"system","subtype":"compact_boundary","uuid":"c1","timestamp":"2026-11-01T10:00:04.000Z","content":"Conversation compacted"}"#,
        r#"{"type":"user","uuid":"u4","parentUuid":"c1","isCompactSummary":true,"timestamp":"2026-11-01T10:00:04.100Z","message":{"role":"user","content":"This session is being continued: it was fixed"}}"#,
        r#"{"type":"user","uuid":"u5","parentUuid":"u4","timestamp":"2026-11-01T10:00:05.000Z","message":{"role":"user","content":"<command-name>/review</command-name>\n<command-message>review</command-message>\n<command-args>all of it</command-args>"}}"#,
        r#"{"type":"attachment","uuid":"q1","parentUuid":"u5","timestamp":"2026-11-01T10:00:05.500Z","attachment":{"type":"queued_command","prompt":"and quickly","commandMode":"prompt"}}"#,
        r#"{"type":"assistant","uuid":"a5","parentUuid":"u5","timestamp":"2026-11-01T10:00:06.000Z","message":{"id":"m2","role":"assistant","model":"opus","content":[{"type":"tool_use","id":"t3","name":"Bash","input":{"command":"false"}}],"usage":{"input_tokens":20,"output_tokens":2}}}"#,
        r#"{"type":"user","uuid":"u6","parentUuid":"a5","timestamp":"2026-11-01T10:00:07.000Z","message":{"role":"user","content":[{"type":"tool_result","tool_use_id":"t3","is_error":true,"content":"<tool_use_error>no</tool_use_error>"}]}}"#,
        r#"{"type":"user","uuid":"u7","parentUuid":"u4","timestamp":"2026-11-01T10:00:08.000Z","message":{"role":"user","content":"something else"}}"#,
        r#"{"type":"assistant","uuid":"a6","parentUuid":"u7","timestamp":"2026-11-01T10:00:09.000Z","message":{"id":"m3","role":"assistant","model":"opus","content":[{"type":"tool_use","id":"t4","name":"Task","input":{"prompt":"look"}}],"usage":{"input_tokens":30,"output_tokens":3}}}"#,
        r#"{"type":"ai-title","aiTitle":"Fixing it"}"#,
        r#"{"type":"from-the-future","x":1}"#,
        r#"{"type":"cost-state","totalCostUSD":0.5}"#,
    ]);
}

const CODEX: &str =
    "sessions/2026/11/01/rollout-2026-11-01T10-00-00-019a0000-0000-7000-8000-000000000001.jsonl";

fn codex(scene: &Scene) {
    scene.lines(CODEX, &[
        r#"{"timestamp":"2026-11-01T10:00:00.000Z","type":"session_meta","payload":{"id":"019a0000-0000-7000-8000-000000000001","timestamp":"2026-11-01T10:00:00.000Z","cwd":"/p","source":"cli"}}"#,
        r##"{"timestamp":"2026-11-01T10:00:00.100Z","type":"response_item","payload":{"type":"message","role":"user","content":[{"type":"input_text","text":"# AGENTS.md instructions for /p"},{"type":"input_text","text":"<environment_context>x</environment_context>"}]}}"##,
        r#"{"timestamp":"2026-11-01T10:00:00.200Z","type":"turn_context","payload":{"cwd":"/p","model":"gpt"}}"#,
        r#"{"timestamp":"2026-11-01T10:00:01.000Z","type":"response_item","payload":{"type":"message","role":"user","content":[{"type":"input_text","text":"some context\nfix it"}]}}"#,
        r#"{"timestamp":"2026-11-01T10:00:01.000Z","type":"event_msg","payload":{"type":"user_message","message":"fix it"}}"#,
        r#"{"timestamp":"2026-11-01T10:00:02.000Z","type":"response_item","payload":{"type":"reasoning","summary":[{"type":"summary_text","text":"let me see"}],"encrypted_content":"x"}}"#,
        r#"{"timestamp":"2026-11-01T10:00:02.000Z","type":"event_msg","payload":{"type":"agent_reasoning","text":"let me see"}}"#,
        r#"{"timestamp":"2026-11-01T10:00:03.000Z","type":"response_item","payload":{"type":"function_call","name":"shell","arguments":"{\"command\":[\"bash\",\"-lc\",\"make\"]}","call_id":"c1"}}"#,
        r#"{"timestamp":"2026-11-01T10:00:04.000Z","type":"response_item","payload":{"type":"function_call_output","call_id":"c1","output":"{\"output\":\"no rule\\n\",\"metadata\":{\"exit_code\":2}}"}}"#,
        r#"{"timestamp":"2026-11-01T10:00:05.000Z","type":"response_item","payload":{"type":"custom_tool_call","name":"apply_patch","input":"*** Begin Patch\n*** Add File: a.txt\n+hi\n*** End Patch","call_id":"c2"}}"#,
        r#"{"timestamp":"2026-11-01T10:00:06.000Z","type":"event_msg","payload":{"type":"patch_apply_end","call_id":"c2","stdout":"Success","success":true,"changes":{"/p/a.txt":{"add":{"content":"hi\n"}},"/p/b.txt":{"update":{"unified_diff":"@@ -1 +1 @@\n-old\n+new\n"}}}}}"#,
        r#"{"timestamp":"2026-11-01T10:00:06.100Z","type":"response_item","payload":{"type":"custom_tool_call_output","call_id":"c2","output":"Success"}}"#,
        r#"{"timestamp":"2026-11-01T10:00:07.000Z","type":"response_item","payload":{"type":"function_call","name":"update_plan","arguments":"{\"plan\":[{\"step\":\"look\",\"status\":\"completed\"}]}","call_id":"c3"}}"#,
        r#"{"timestamp":"2026-11-01T10:00:07.100Z","type":"response_item","payload":{"type":"function_call_output","call_id":"c3","output":"Plan updated"}}"#,
        r#"{"timestamp":"2026-11-01T10:00:08.000Z","type":"event_msg","payload":{"type":"token_count","info":{"total_token_usage":{"input_tokens":100,"cached_input_tokens":40,"output_tokens":10},"last_token_usage":{"input_tokens":60,"output_tokens":5,"total_tokens":65},"model_context_window":1000}}}"#,
        r#"{"timestamp":"2026-11-01T10:00:09.000Z","type":"compacted","payload":{"message":"it was fixed"}}"#,
        r#"{"timestamp":"2026-11-01T10:00:10.000Z","type":"response_item","payload":{"type":"message","role":"user","content":[{"type":"input_text","text":"thanks"}]}}"#,
        r#"{"timestamp":"2026-11-01T10:00:11.000Z","type":"event_msg","payload":{"type":"agent_message","message":"welcome"}}"#,
        r#"{"timestamp":"2026-11-01T10:00:11.000Z","type":"response_item","payload":{"type":"message","role":"assistant","content":[{"type":"output_text","text":"welcome"}]}}"#,
        r#"{"timestamp":"2026-11-01T10:00:12.000Z","type":"event_msg","payload":{"type":"turn_aborted","reason":"interrupted"}}"#,
        r#"{"timestamp":"2026-11-01T10:00:13.000Z","type":"from_the_future","payload":{}}"#,
    ]);
    scene.sql("state_5.sqlite", "CREATE TABLE threads (id TEXT, title TEXT, cwd TEXT, name TEXT); INSERT INTO threads VALUES ('019a0000-0000-7000-8000-000000000001', 'fix it', '/p', 'The fix');");
}

const GEMINI: &str = "tmp/p/chats/session-2026-11-01T10-00-aaaaaaaa.jsonl";

fn gemini(scene: &Scene) {
    scene.write("projects.json", r#"{"projects":{"/other":"o","/p":"p"}}"#);
    scene.lines(GEMINI, &[
        r#"{"sessionId":"aaaaaaaa-0000-4000-8000-000000000000","projectHash":"x","startTime":"2026-11-01T10:00:00.000Z","lastUpdated":"2026-11-01T10:00:00.000Z","kind":"main"}"#,
        r#"{"$set":{"messages":[{"id":"g0","timestamp":"2026-11-01T10:00:00.000Z","type":"user","content":[{"text":"<session_context>\nfor the model"}]}]}}"#,
        r#"{"id":"g1","timestamp":"2026-11-01T10:00:01.000Z","type":"user","content":[{"text":"fix it"}]}"#,
        r#"{"id":"g2","timestamp":"2026-11-01T10:00:02.000Z","type":"gemini","content":"","thoughts":[{"subject":"Plan","description":"look first"}],"toolCalls":[{"id":"t1","name":"replace","args":{"file_path":"/p/a","old_string":"x","new_string":"y"},"status":"executing","timestamp":"2026-11-01T10:00:02.000Z"}],"model":"flash"}"#,
        r#"{"id":"g2","timestamp":"2026-11-01T10:00:02.000Z","type":"gemini","content":"Fixed","thoughts":[{"subject":"Plan","description":"look first"}],"toolCalls":[{"id":"t1","name":"replace","args":{"file_path":"/p/a","old_string":"x","new_string":"y"},"status":"success","timestamp":"2026-11-01T10:00:03.000Z","result":[{"functionResponse":{"id":"t1","response":{"output":"ok"}}}],"resultDisplay":{"fileName":"a","filePath":"/p/a","originalContent":"1x2","newContent":"1y2"}}],"tokens":{"input":100,"output":7,"cached":30,"thoughts":3,"tool":0,"total":110},"model":"flash"}"#,
        r#"{"id":"g3","timestamp":"2026-11-01T10:00:03.100Z","type":"user","content":[{"functionResponse":{"id":"t1","response":{"output":"ok"}}}]}"#,
        r#"{"id":"g2","timestamp":"2026-11-01T10:00:02.000Z","type":"gemini","content":"Fixed!","tokens":{"input":100,"output":7,"cached":30,"thoughts":3},"model":"flash"}"#,
        r#"{"$set":{"summary":"A fix","lastUpdated":"2026-11-01T10:00:04.000Z"}}"#,
        r#"{"id":"g4","timestamp":"2026-11-01T10:00:05.000Z","type":"error","content":"quota"}"#,
        r#"{"$rewindTo":"g1"}"#,
        r#"{"id":"g5","timestamp":"2026-11-01T10:00:06.000Z","type":"user","content":"again"}"#,
        r#"{"id":"g6","timestamp":"2026-11-01T10:00:07.000Z","type":"from_the_future","content":"?"}"#,
    ]);
}

const QWEN: &str = "projects/-p/chats/22222222-2222-4222-8222-222222222222.jsonl";

fn qwen(scene: &Scene) {
    scene.lines(QWEN, &[
        r#"{"uuid":"q1","parentUuid":null,"sessionId":"22222222-2222-4222-8222-222222222222","timestamp":"2026-11-01T10:00:00.000Z","type":"user","provenance":"real_user","cwd":"/p","message":{"role":"user","parts":[{"text":"fix it"}]}}"#,
        r#"{"uuid":"q2","parentUuid":"q1","timestamp":"2026-11-01T10:00:01.000Z","type":"assistant","message":{"role":"model","parts":[{"text":"an answer that was taken back"}]},"usageMetadata":{"promptTokenCount":1000,"candidatesTokenCount":1}}"#,
        r#"{"uuid":"q3","parentUuid":"q1","timestamp":"2026-11-01T10:00:02.000Z","type":"system","subtype":"ui_telemetry","systemPayload":{"uiEvent":{"response_text":"telemetry"}}}"#,
        r#"{"uuid":"q4","parentUuid":"q3","timestamp":"2026-11-01T10:00:03.000Z","type":"assistant","model":"coder","message":{"role":"model","parts":[{"text":"hm","thought":true},{"text":"Looking"},{"functionCall":{"id":"t1","name":"edit","args":{"file_path":"/p/a","old_string":"x","new_string":"y"}}}]},"usageMetadata":{"promptTokenCount":100,"candidatesTokenCount":7,"cachedContentTokenCount":60}}"#,
        r#"{"uuid":"q5","parentUuid":"q4","timestamp":"2026-11-01T10:00:04.000Z","type":"tool_result","message":{"role":"user","parts":[{"functionResponse":{"id":"t1","name":"edit","response":{"output":"ok"}}}]},"toolCallResult":{"resultDisplay":{"fileName":"a","originalContent":"1x","newContent":"1y"}}}"#,
        r#"{"uuid":"q6","parentUuid":"q5","timestamp":"2026-11-01T10:00:05.000Z","type":"user","provenance":"notification","message":{"role":"user","parts":[{"text":"not said"}]}}"#,
        r#"{"uuid":"q7","parentUuid":"q6","timestamp":"2026-11-01T10:00:06.000Z","type":"system","subtype":"custom_title","systemPayload":{"customTitle":"The fix"}}"#,
        r#"{"uuid":"q8","parentUuid":"q7","timestamp":"2026-11-01T10:00:07.000Z","type":"system","subtype":"chat_compression","systemPayload":{}}"#,
        r#"{"uuid":"q9","parentUuid":"q8","timestamp":"2026-11-01T10:00:08.000Z","type":"from_the_future"}"#,
    ]);
}

const COPILOT: &str = "session-state/33333333-3333-4333-8333-333333333333/events.jsonl";

fn copilot(scene: &Scene) {
    scene.write(
        "session-state/33333333-3333-4333-8333-333333333333/workspace.yaml",
        "id: 33333333-3333-4333-8333-333333333333\ncwd: /p\nname: \"The \\\"fix\\\"\"\nuser_named: true\ncreated_at: 2026-11-01T10:00:00.000Z\n",
    );
    scene.lines(COPILOT, &[
        r#"{"type":"session.start","data":{"startTime":"2026-11-01T10:00:00.000Z","context":{"cwd":"/p"}},"id":"e1","timestamp":"2026-11-01T10:00:00.000Z"}"#,
        r#"{"type":"user.message","data":{"content":"fix it","transformedContent":"<current_datetime>x</current_datetime> fix it"},"id":"e2","timestamp":"2026-11-01T10:00:01.000Z"}"#,
        r#"{"type":"user.message","data":{"content":"not said","source":"skill"},"id":"e3","timestamp":"2026-11-01T10:00:01.100Z"}"#,
        r#"{"type":"assistant.message","data":{"content":"Looking","reasoningText":"hm","model":"gpt","toolRequests":[{"toolCallId":"t1","name":"create","arguments":{"path":"/p/a","file_text":"hi"}},{"toolCallId":"t2","name":"bash","arguments":{"command":"false"}}]},"id":"e4","timestamp":"2026-11-01T10:00:02.000Z"}"#,
        r#"{"type":"tool.execution_start","data":{"toolCallId":"t1","toolName":"create","arguments":{"path":"/p/a","file_text":"hi"}},"id":"e5","timestamp":"2026-11-01T10:00:02.100Z"}"#,
        r#"{"type":"tool.execution_complete","data":{"toolCallId":"t1","success":true,"result":{"content":"Created"}},"id":"e6","timestamp":"2026-11-01T10:00:03.000Z"}"#,
        r#"{"type":"tool.execution_complete","data":{"toolCallId":"t2","success":true,"shellExecution":{"exitCode":1},"result":{"content":"bad\n<shellId: 0 completed with exit code 1>"}},"id":"e7","timestamp":"2026-11-01T10:00:04.000Z"}"#,
        r#"{"type":"assistant.message","data":{"content":"a subagent's","parentToolCallId":"t9"},"id":"e8","timestamp":"2026-11-01T10:00:05.000Z"}"#,
        r#"{"type":"session.usage_record","data":{"usage":{"inputTokens":100,"outputTokens":7,"cacheReadTokens":40,"maxPromptTokens":1000,"cost":1}},"id":"e9","timestamp":"2026-11-01T10:00:06.000Z"}"#,
        r#"{"type":"session.compaction_complete","data":{"summaryContent":"it was fixed"},"id":"e10","timestamp":"2026-11-01T10:00:07.000Z"}"#,
        r#"{"type":"from.the.future","data":{},"id":"e11","timestamp":"2026-11-01T10:00:08.000Z"}"#,
    ]);
}

pub(crate) const CLINE: &str = "sessions/1793527200000_abc_cli/1793527200000_abc_cli.messages.json";

fn cline(scene: &Scene) {
    scene.write(
        "sessions/1793527200000_abc_cli/1793527200000_abc_cli.json",
        r#"{"session_id":"1793527200000_abc_cli","cwd":"/p","model":"gpt","started_at":"2026-11-01T10:00:00.000Z","metadata":{"title":"<user_input mode=\"act\">fix it</user_input>","totalCost":0.25}}"#,
    );
    scene.write(CLINE, r#"{"version":1,"updated_at":"2026-11-01T10:00:09.000Z","sessionId":"1793527200000_abc_cli","messages":[
{"id":"m1","role":"user","ts":1793527201000,"content":[{"type":"text","text":"<user_input mode=\"act\">fix it</user_input>"},{"type":"text","text":"<environment_details>x</environment_details>"}]},
{"id":"m2","role":"assistant","ts":1793527202000,"content":[{"type":"thinking","thinking":"hm"},{"type":"text","text":"Looking"},{"type":"tool_use","id":"t1","name":"run_commands","input":{"commands":["make","make test"]}},{"type":"tool_use","id":"t2","name":"editor","input":{"path":"/p/a","old_text":"x","new_text":"y"}}],"metrics":{"inputTokens":100,"outputTokens":7,"cacheReadTokens":5,"cacheWriteTokens":6}},
{"id":"m3","role":"user","ts":1793527203000,"content":[{"type":"tool_result","tool_use_id":"t1","content":[{"query":"make","result":"ok\n","success":true},{"query":"make test","error":"failed","success":false}]},{"type":"tool_result","tool_use_id":"t2","content":"{\"query\":\"edit\",\"result\":\"edited\",\"success\":true}"}]}
],"system_prompt":"not shown"}"#);
}

const KIMI: &str = "sessions/wd_p_0/session_44444444/agents/main/wire.jsonl";

fn kimi(scene: &Scene) {
    scene.write(
        "sessions/wd_p_0/session_44444444/state.json",
        r#"{"id":"session_44444444","cwd":"/p","createdAt":1793527200000,"title":"The fix","isCustomTitle":true}"#,
    );
    scene.lines(KIMI, &[
        r#"{"type":"metadata","protocol_version":"1.5","created_at":1793527200000}"#,
        r#"{"type":"turn.prompt","input":[{"type":"text","text":"fix it"}],"origin":{"kind":"user"},"promptId":"p1","time":1793527201000}"#,
        r#"{"type":"turn.prompt","input":[{"type":"text","text":"not said"}],"origin":{"kind":"cron"},"promptId":"p2","time":1793527201100}"#,
        r#"{"type":"context.append_loop_event","event":{"type":"content.part","uuid":"k1","part":{"type":"think","think":"hm"}},"time":1793527202000}"#,
        r#"{"type":"context.append_loop_event","event":{"type":"content.part","uuid":"k2","part":{"type":"text","text":"Looking"}},"time":1793527202100}"#,
        r#"{"type":"context.append_loop_event","event":{"type":"tool.call","uuid":"k3","toolCallId":"t1","name":"StrReplaceFile","args":{"path":"/p/a","edits":[{"old_string":"x","new_string":"y"}]}},"time":1793527203000}"#,
        r#"{"type":"context.append_loop_event","event":{"type":"tool.result","toolCallId":"t1","result":{"output":"ok"}},"time":1793527204000}"#,
        r#"{"type":"context.append_loop_event","event":{"type":"tool.call","uuid":"k4","toolCallId":"t2","name":"Bash","args":{"command":"false"}},"time":1793527205000}"#,
        r#"{"type":"context.append_loop_event","event":{"type":"tool.result","toolCallId":"t2","result":{"isError":true,"output":"bad"}},"time":1793527206000}"#,
        r#"{"type":"usage.record","model":"kimi","usage":{"inputOther":60,"output":7,"inputCacheRead":40,"inputCacheCreation":0},"time":1793527207000}"#,
        r#"{"type":"full_compaction.complete","summary":"it was fixed","time":1793527208000}"#,
        r#"{"type":"from.the.future","time":1793527209000}"#,
    ]);
}

const VIBE: &str = "logs/session/session_20261101_100000_55555555/messages.jsonl";

fn vibe(scene: &Scene) {
    scene.write(
        "logs/session/session_20261101_100000_55555555/meta.json",
        r#"{"session_id":"55555555-5555-4555-8555-555555555555","parent_session_id":"44444444-4444-4444-8444-444444444444","start_time":"2026-11-01T10:00:00+00:00","end_time":"2026-11-01T10:00:09+00:00","environment":{"working_directory":"/p"},"title":"The fix","title_source":"auto","config":{"active_model":"devstral"},"stats":{"session_prompt_tokens":1000,"session_completion_tokens":100,"context_tokens":500,"last_turn_prompt_tokens":400,"last_turn_completion_tokens":10,"input_price_per_million":1000,"output_price_per_million":10000}}"#,
    );
    scene.lines(VIBE, &[
        r#"{"role":"user","content":"fix it","message_id":"v1"}"#,
        r#"{"role":"user","content":"not said","injected":true,"message_id":"v2"}"#,
        r#"{"role":"assistant","content":"Looking","reasoning_content":"hm","message_id":"v3","tool_calls":[{"id":"t1","index":0,"function":{"name":"edit","arguments":"{\"file_path\":\"/p/a\",\"old_string\":\"x\",\"new_string\":\"y\"}"},"type":"function"},{"id":"t2","function":{"name":"todo","arguments":"{\"action\":\"write\",\"todos\":[{\"id\":\"1\",\"content\":\"look\",\"status\":\"pending\",\"priority\":\"high\"}]}"}}]}"#,
        r#"{"role":"tool","content":"ok","name":"edit","tool_call_id":"t1"}"#,
        r#"{"role":"tool","content":"written","name":"todo","tool_call_id":"t2"}"#,
        r#"{"role":"assistant","content":"","tool_calls":[{"id":"t3","function":{"name":"bash","arguments":"{\"command\":\"false\"}"}}]}"#,
        r#"{"role":"tool","content":"<tool_error>bash failed</tool_error>","name":"bash","tool_call_id":"t3"}"#,
        r#"{"role":"from_the_future","content":"?"}"#,
    ]);
}

const DROID: &str = "sessions/-p/66666666-6666-4666-8666-666666666666.jsonl";

fn droid(scene: &Scene) {
    scene.write(
        "sessions/-p/66666666-6666-4666-8666-666666666666.settings.json",
        r#"{"model":"claude","tokenUsage":{"inputTokens":100,"outputTokens":50,"cacheCreationTokens":20,"cacheReadTokens":10,"thinkingTokens":5}}"#,
    );
    scene.lines(DROID, &[
        r#"{"type":"session_start","id":"66666666-6666-4666-8666-666666666666","title":"The fix","owner":"me","cwd":"/p"}"#,
        r#"{"type":"message","id":"d1","timestamp":"2026-11-01T10:00:01.000Z","message":{"role":"user","content":[{"type":"text","text":"<system-reminder>x</system-reminder>"},{"type":"text","text":"fix it"}]}}"#,
        r#"{"type":"message","id":"d2","timestamp":"2026-11-01T10:00:02.000Z","message":{"role":"assistant","content":[{"type":"thinking","thinking":"hm"},{"type":"text","text":"Looking"},{"type":"tool_use","id":"t1","name":"ApplyPatch","input":{"input":"*** Begin Patch\n*** Update File: /p/a\n@@\n-x\n+y\n*** End Patch"}}]}}"#,
        r#"{"type":"message","id":"d3","timestamp":"2026-11-01T10:00:03.000Z","message":{"role":"user","content":[{"type":"tool_result","tool_use_id":"t1","content":"ok"}]}}"#,
        r#"{"type":"todo_state","id":"d4","timestamp":"2026-11-01T10:00:04.000Z","todos":{"todos":"1. [completed] look\n2. [in_progress] leap"}}"#,
        r#"{"type":"compaction_state","id":"d5","timestamp":"2026-11-01T10:00:05.000Z","summaryText":"it was fixed"}"#,
        r#"{"type":"from_the_future","id":"d6"}"#,
    ]);
}

pub(crate) const OPENCODE: &str = "opencode.db";

fn opencode(scene: &Scene) {
    scene.sql(OPENCODE, "
CREATE TABLE session (id TEXT PRIMARY KEY, parent_id TEXT, directory TEXT NOT NULL, title TEXT NOT NULL, cost REAL NOT NULL DEFAULT 0, tokens_input INTEGER DEFAULT 0 NOT NULL, tokens_output INTEGER DEFAULT 0 NOT NULL, tokens_reasoning INTEGER DEFAULT 0 NOT NULL, tokens_cache_read INTEGER DEFAULT 0 NOT NULL, tokens_cache_write INTEGER DEFAULT 0 NOT NULL, time_created INTEGER NOT NULL, time_updated INTEGER NOT NULL);
CREATE TABLE message (id TEXT PRIMARY KEY, session_id TEXT NOT NULL, time_created INTEGER NOT NULL, time_updated INTEGER NOT NULL, data TEXT NOT NULL);
CREATE TABLE part (id TEXT PRIMARY KEY, message_id TEXT NOT NULL, session_id TEXT NOT NULL, time_created INTEGER NOT NULL, time_updated INTEGER NOT NULL, data TEXT NOT NULL);
CREATE INDEX part_session_idx ON part (session_id);
CREATE TABLE credential (id TEXT PRIMARY KEY, value TEXT NOT NULL);
INSERT INTO session VALUES ('ses_1', NULL, '/p', 'The fix', 0.75, 100, 10, 1, 5, 6, 1793527200000, 1793527209000);
INSERT INTO message VALUES ('msg_1', 'ses_1', 1793527201000, 1793527201000, '{\"role\":\"user\",\"time\":{\"created\":1793527201000}}');
INSERT INTO part VALUES ('prt_1', 'msg_1', 'ses_1', 1793527201000, 1793527201000, '{\"type\":\"text\",\"text\":\"fix it\"}');
INSERT INTO part VALUES ('prt_2', 'msg_1', 'ses_1', 1793527201000, 1793527201000, '{\"type\":\"text\",\"synthetic\":true,\"text\":\"not said\"}');
INSERT INTO message VALUES ('msg_2', 'ses_1', 1793527202000, 1793527203000, '{\"role\":\"assistant\",\"modelID\":\"glm\",\"tokens\":{\"input\":100,\"output\":10,\"reasoning\":1,\"cache\":{\"read\":5,\"write\":6}},\"time\":{\"created\":1793527202000}}');
INSERT INTO part VALUES ('prt_3', 'msg_2', 'ses_1', 1793527202000, 1793527202000, '{\"type\":\"step-start\"}');
INSERT INTO part VALUES ('prt_4', 'msg_2', 'ses_1', 1793527202000, 1793527202000, '{\"type\":\"reasoning\",\"text\":\"hm\",\"time\":{\"start\":1793527202100}}');
INSERT INTO part VALUES ('prt_5', 'msg_2', 'ses_1', 1793527202000, 1793527203000, '{\"type\":\"tool\",\"tool\":\"edit\",\"callID\":\"t1\",\"state\":{\"status\":\"completed\",\"input\":{\"filePath\":\"/p/a\",\"oldString\":\"x\",\"newString\":\"y\"},\"output\":\"ok\",\"metadata\":{\"filediff\":{\"file\":\"/p/a\",\"before\":\"1x\",\"after\":\"1y\"}},\"time\":{\"start\":1793527202200,\"end\":1793527203000}}}');
INSERT INTO part VALUES ('prt_6', 'msg_2', 'ses_1', 1793527202000, 1793527203000, '{\"type\":\"tool\",\"tool\":\"bash\",\"callID\":\"t2\",\"state\":{\"status\":\"error\",\"input\":{\"command\":\"false\"},\"error\":\"bad\",\"time\":{\"start\":1793527202300,\"end\":1793527203000}}}');
INSERT INTO part VALUES ('prt_7', 'msg_2', 'ses_1', 1793527202000, 1793527203000, '{\"type\":\"from_the_future\"}');
INSERT INTO part VALUES ('prt_8', 'msg_2', 'ses_1', 1793527202000, 1793527203000, '{broken');
INSERT INTO session VALUES ('ses_2', 'ses_1', '/p', 'New session - 2026', 0, 0, 0, 0, 0, 0, 1793527204000, 1793527205000);
INSERT INTO message VALUES ('msg_3', 'ses_2', 1793527204000, 1793527204000, '{\"role\":\"user\",\"time\":{\"created\":1793527204000}}');
INSERT INTO part VALUES ('prt_9', 'msg_3', 'ses_2', 1793527204000, 1793527204000, '{\"type\":\"text\",\"text\":\"look around\"}');
");
}

pub(crate) const GOOSE: &str = "sessions/sessions.db";

fn goose(scene: &Scene) {
    scene.sql(GOOSE, "
CREATE TABLE sessions (id TEXT PRIMARY KEY, name TEXT NOT NULL DEFAULT '', description TEXT NOT NULL DEFAULT '', user_set_name BOOLEAN DEFAULT FALSE, session_type TEXT NOT NULL DEFAULT 'user', working_dir TEXT NOT NULL, created_at TIMESTAMP, updated_at TIMESTAMP, total_tokens INTEGER, input_tokens INTEGER, output_tokens INTEGER, accumulated_input_tokens INTEGER, accumulated_output_tokens INTEGER, accumulated_cost REAL);
CREATE TABLE messages (id INTEGER PRIMARY KEY AUTOINCREMENT, session_id TEXT NOT NULL, role TEXT NOT NULL, content_json TEXT NOT NULL, created_timestamp INTEGER NOT NULL, metadata_json TEXT);
CREATE TABLE usage_ledger (id INTEGER PRIMARY KEY, session_id TEXT NOT NULL, cost REAL);
INSERT INTO sessions VALUES ('20261101_1', 'The fix', '', 1, 'user', '/p', '2026-11-01 10:00:00', '2026-11-01 10:00:09', 110, 100, 10, 300, 30, NULL);
INSERT INTO sessions VALUES ('20261101_2', 'Hidden', '', 0, 'hidden', '/p', '2026-11-01 10:00:00', '2026-11-01 10:00:09', 0, 0, 0, 0, 0, NULL);
INSERT INTO usage_ledger VALUES (1, '20261101_1', 0.25), (2, '20261101_1', 0.5);
INSERT INTO messages (session_id, role, content_json, created_timestamp, metadata_json) VALUES
('20261101_1', 'user', '[{\"type\":\"text\",\"text\":\"fix it\"}]', 1793527201, '{\"userVisible\":true,\"agentVisible\":true}'),
('20261101_1', 'user', '[{\"type\":\"text\",\"text\":\"not said\"}]', 1793527201, '{\"userVisible\":false,\"agentVisible\":true}'),
('20261101_1', 'assistant', '[{\"type\":\"thinking\",\"thinking\":\"hm\",\"signature\":\"\"},{\"type\":\"text\",\"text\":\"Looking\"},{\"type\":\"toolRequest\",\"id\":\"t1\",\"toolCall\":{\"status\":\"success\",\"value\":{\"name\":\"developer__edit\",\"arguments\":{\"path\":\"/p/a\",\"before\":\"x\",\"after\":\"y\"}}}}]', 1793527202, NULL),
('20261101_1', 'user', '[{\"type\":\"toolResponse\",\"id\":\"t1\",\"toolResult\":{\"status\":\"success\",\"value\":{\"content\":[{\"type\":\"text\",\"text\":\"ok\"}],\"isError\":false}}}]', 1793527203, NULL),
('20261101_1', 'assistant', '[{\"type\":\"toolRequest\",\"id\":\"t2\",\"toolCall\":{\"status\":\"success\",\"value\":{\"name\":\"shell\",\"arguments\":{\"command\":\"false\"}}}}]', 1793527204, NULL),
('20261101_1', 'user', '[{\"type\":\"toolResponse\",\"id\":\"t2\",\"toolResult\":{\"status\":\"error\",\"error\":\"bad\"}}]', 1793527205, NULL),
('20261101_1', 'assistant', '[{\"type\":\"conversationCompacted\",\"msg\":\"\"},{\"type\":\"from_the_future\"}]', 1793527206, NULL),
('20261101_1', 'assistant', 'broken', 1793527207, NULL);
");
}
