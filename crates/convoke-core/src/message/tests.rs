//! The contract: the JSON of every variant is pinned here, and what is written is read back unchanged.

mod generated;
mod samples;

use proptest::prelude::*;
use serde_json::json;

use super::*;
use crate::state::SessionState;
use crate::turn::Stop;

/// One message a line, as it is stored and sent.
fn lines(contents: &[Content]) -> String {
    contents.iter().map(|content| format!("{}\n", json!(content))).collect()
}

#[test]
fn s7_words_plans_and_tools_keep_their_shape() {
    insta::assert_snapshot!(lines(&samples::words_plans_and_tools()), @r#"
    {"text":"user's prompt","type":"text"}
    {"partial":true,"text":"agent's response","type":"text"}
    {"text":"so be it","type":"thinking"}
    {"partial":true,"text":"hm","type":"thinking"}
    {"steps":[{"content":"read","priority":"high","status":"completed"},{"content":"write","priority":"medium","status":"in_progress"},{"content":"rest","priority":"low","status":"pending"},{"content":"dream","status":"pending"}],"type":"plan"}
    {"args":{},"status":"running","tool":"Bash","toolCallId":"call_1","type":"tool"}
    {"args":{"path":"a.txt"},"kind":"edit","result":{"diffs":[{"newText":"b","oldText":"a","path":"a.txt"},{"newText":"c","path":"new.txt"}],"text":"done"},"status":"complete","title":"Edit a.txt","tool":"write","toolCallId":"call_2","type":"tool"}
    {"args":{},"result":{"error":"no such file"},"status":"error","tool":"read","toolCallId":"call_3","type":"tool"}
    "#);
}

#[test]
fn requests_to_a_human_keep_their_shape() {
    insta::assert_snapshot!(lines(&samples::requests()), @r#"
    {"evidence":{"command":"cargo test","kind":"command"},"options":[{"kind":"allow_once","name":"Allow","optionId":"1"},{"kind":"allow_always","name":"Always","optionId":"2"},{"kind":"reject_once","name":"Deny","optionId":"3"},{"kind":"reject_always","name":"Never","optionId":"4"}],"requestId":"00000000-0000-4000-8000-000000000000","rules":[{"label":"`cargo test …` in harbour","matcher":{"kind":"command","more":true,"words":["cargo","test"]}},{"everywhere":true,"label":"fetches from `docs.rs` everywhere","matcher":{"domain":"docs.rs","kind":"fetch"}}],"status":"pending","title":"Run tests","tool":"Bash","toolCallId":"call_1","type":"permission"}
    {"optionId":"1","options":[],"requestId":"00000000-0000-4000-8000-000000000000","status":"answered","title":"Run tests","type":"permission"}
    {"options":[],"reason":null,"requestId":"00000000-0000-4000-8000-000000000000","status":"rejected","title":"Run tests","type":"permission"}
    {"questions":[{"multiSelect":true,"options":[{"label":"A"},{"description":"second","label":"B"}],"prompt":"Which?","title":"Which"}],"requestId":"00000000-0000-4000-8000-000000000000","status":"pending","type":"question"}
    {"answers":[{"customText":"C","questionIndex":0,"selectedOptions":["A","B"],"timestamp":"2026-11-15T10:00:00.000Z"},{"questionIndex":0,"selectedOption":"A","timestamp":"2026-11-15T10:00:00.000Z"}],"questions":[],"requestId":"00000000-0000-4000-8000-000000000000","status":"answered","type":"question"}
    {"questions":[],"reason":"not now","requestId":"00000000-0000-4000-8000-000000000000","status":"rejected","type":"question"}
    {"questions":[],"requestId":"00000000-0000-4000-8000-000000000000","status":"timed_out","type":"question"}
    {"questions":[],"requestId":"00000000-0000-4000-8000-000000000000","status":"abandoned","type":"question"}
    "#);
}

#[test]
fn every_event_is_read_back_into_its_group() {
    for notice in samples::notices() {
        assert_eq!(serde_json::from_value::<Content>(json!(notice)).unwrap(), notice);
    }
    // A reason that only another version knows.
    let notice =
        json!({"type": "notice", "event": "completed", "reason": "retired", "text": "Over."});
    let read: Content = serde_json::from_value(notice.clone()).unwrap();
    assert_eq!(json!(read), notice);
    let unheard = json!({"type": "notice", "event": "ended_somehow", "text": "Over."});
    assert!(serde_json::from_value::<Content>(unheard).is_err());
}

#[test]
fn notices_keep_their_shape() {
    insta::assert_snapshot!(lines(&samples::notices()), @r#"
    {"event":"turn_ended","stopReason":"end_turn","text":"The turn ended.","turn":3,"type":"notice"}
    {"event":"turn_ended","stopReason":"cancelled","text":"The turn was cancelled.","turn":3,"type":"notice"}
    {"event":"turn_ended","stopReason":"refusal","text":"The model refused to continue.","turn":3,"type":"notice"}
    {"event":"turn_ended","stopReason":"max_tokens","text":"The model reached its token limit.","turn":3,"type":"notice"}
    {"event":"turn_ended","stopReason":"max_turn_requests","text":"The turn reached its maximum number of steps.","turn":3,"type":"notice"}
    {"detail":"boom","event":"turn_ended","stopReason":"failed","text":"The turn failed: boom","turn":3,"type":"notice","why":"interrupted"}
    {"detail":"boom","event":"turn_ended","stopReason":"failed","text":"The turn failed: boom","turn":3,"type":"notice","why":"process_exited"}
    {"detail":"boom","event":"turn_ended","stopReason":"failed","text":"The turn failed: boom","turn":3,"type":"notice","why":"agent_error"}
    {"detail":"boom","event":"turn_ended","stopReason":"failed","text":"The turn failed: boom","turn":3,"type":"notice","why":"not_started"}
    {"detail":"boom","event":"turn_ended","stopReason":"failed","text":"The turn failed: boom","turn":3,"type":"notice","why":"internal"}
    {"event":"resumed","how":"native","text":"The agent resumed its own session.","type":"notice"}
    {"event":"resumed","how":"replay","text":"The agent was restarted with the transcript of this conversation.","type":"notice"}
    {"event":"resumed","how":"summary","text":"The agent was restarted with a summary of this conversation.","type":"notice"}
    {"event":"resumed","how":"afresh","text":"The agent was restarted without any memory of this conversation.","type":"notice"}
    {"event":"resumed","how":"forked","text":"This conversation may be open in another program, so the agent continues a copy of its session. What is said here does not appear there.","type":"notice"}
    {"event":"resumed","how":"forked_replay","text":"This conversation may be open in another program, so the agent continues in a new session with its transcript. What is said here does not appear there.","type":"notice"}
    {"event":"process_exited","text":"The agent's process ended: for an unknown reason.","type":"notice"}
    {"event":"process_exited","exitCode":1,"stderrTail":"panicked","text":"The agent's process ended: exit code 1, last output: panicked.","type":"notice"}
    {"event":"process_exited","signal":9,"text":"The agent's process ended: signal 9.","type":"notice"}
    {"event":"compacted","text":"The agent compacted its context.","type":"notice"}
    {"event":"rule_dropped","text":"An older rule allowed every use of Bash in this project. It was removed: rules now name commands, paths, domains or MCP tools. Run `convoke rule list` to see them.","tool":"Bash","type":"notice"}
    {"event":"turn_limit","max":67108864,"text":"The turn was stopped: the agent sent more than 67108864 bytes. Its further output in this turn is dropped. Raise limits.turn_bytes in config.toml if it should be allowed to send more.","type":"notice"}
    {"event":"prompt_refused","prompt":"go on","text":"A prompt that waited for this machine was refused when it was back: the session is completed. It was: go on","type":"notice","why":"the session is completed"}
    {"error":"git is not installed","event":"checkpoint_failed","text":"No checkpoint of the project could be made, so these changes cannot be shown or undone: git is not installed","type":"notice"}
    {"event":"files_restored","number":2,"removed":1,"text":"The files were restored to what they were before turn 2: 2 written, 1 removed. Run `convoke session undo` to take it back.","turn":3,"type":"notice","written":2}
    {"event":"files_restored","removed":0,"text":"The restore was undone: 1 file written, 0 removed.","type":"notice","written":1}
    {"event":"restore_completed","files":3,"left":1,"text":"A restore was interrupted, and is complete now: 3 files restored. Changed since then, and left alone: 1 file.","type":"notice"}
    {"branch":"convoke/fix","copied":2,"event":"worktree_made","leftOut":["big.bin"],"path":"/data/app/fix","text":"This session has a work tree of its own: /data/app/fix, branch convoke/fix. Copied to it: 2 files; not copied: 1.","type":"notice"}
    {"code":0,"command":"npm ci","event":"worktree_set_up","output":"done\n","text":"The work tree was set up with `npm ci`.","type":"notice"}
    {"code":1,"command":"npm ci","event":"worktree_set_up","output":"done\n","text":"Setting up the work tree failed: `npm ci` ended with exit code 1.","type":"notice"}
    {"command":"npm ci","event":"worktree_set_up","output":"done\n","text":"Setting up the work tree failed: `npm ci` did not end by itself.","type":"notice"}
    {"event":"folder_shared","git":true,"session":"00000000-0000-4000-8000-000000000000","text":"Session 00000000-0000-4000-8000-000000000000 works in the same folder. Run `convoke session new --worktree` to give a session a work tree of its own.","type":"notice"}
    {"base":"main","branch":"convoke/fix","event":"worktree_removed","how":"merge","text":"The branch convoke/fix was merged into main, and the work tree was removed. `convoke worktree restore` brings it back.","type":"notice"}
    {"base":"main","branch":"convoke/fix","event":"worktree_removed","how":"squash","text":"The changes of convoke/fix became one commit of main, and the work tree was removed. `convoke worktree restore` brings it back.","type":"notice"}
    {"base":"main","branch":"convoke/fix","event":"worktree_removed","how":"rebase","text":"The commits of convoke/fix were put on top of main, and the work tree was removed. `convoke worktree restore` brings it back.","type":"notice"}
    {"base":"main","branch":"convoke/fix","event":"worktree_removed","how":"keep","text":"The branch convoke/fix was kept, and the work tree was removed. `convoke worktree restore` brings it back.","type":"notice"}
    {"branch":"convoke/fix","event":"worktree_removed","how":"discard","text":"The branch convoke/fix was discarded, and the work tree was removed. `convoke worktree restore` brings it back.","type":"notice"}
    {"base":"main","branch":"convoke/fix","event":"worktree_removed","how":"remove","text":"The branch convoke/fix stays, and the work tree was removed. `convoke worktree restore` brings it back.","type":"notice"}
    {"event":"worktree_restored","path":"/data/app/fix","text":"The work tree is there again: /data/app/fix.","type":"notice"}
    {"event":"worktree_recovered","text":"Merging was interrupted and undone.","type":"notice","what":"Merging was interrupted and undone."}
    {"event":"completed","reason":"idle_timeout","text":"The session was completed: it was idle.","type":"notice"}
    {"event":"cancelled","reason":"user","text":"The session was cancelled.","type":"notice"}
    {"error":"no such program","event":"failed","text":"The agent cannot continue: no such program","type":"notice"}
    {"event":"reopened","text":"The session was resumed.","type":"notice"}
    {"event":"renamed","text":"The session was renamed to “Parser”.","title":"Parser","type":"notice"}
    {"event":"archived","text":"The session was archived.","type":"notice"}
    {"event":"unarchived","text":"The session was restored from the archive.","type":"notice"}
    {"event":"waiting","place":2,"text":"All agent processes are busy; this turn is number 2 in the queue.","type":"notice"}
    {"event":"unconfined","text":"This system cannot sandbox the agent: it can write everywhere you can.","type":"notice"}
    {"event":"rule_made","rule":"Allow `cargo test …` in harbour","ruleId":"00000000-0000-4000-8000-000000000000","text":"New rule: Allow `cargo test …` in harbour.","type":"notice"}
    {"event":"rule_applied","rule":"Allow `cargo test …` in harbour","ruleId":"00000000-0000-4000-8000-000000000000","text":"Allowed without asking: cargo test. The rule: Allow `cargo test …` in harbour.","type":"notice","what":"cargo test"}
    {"event":"rule_denied","rule":"Deny `rm` everywhere","ruleId":"00000000-0000-4000-8000-000000000000","text":"Denied without asking: rm -rf /. The rule: Deny `rm` everywhere.","type":"notice","what":"rm -rf /"}
    {"event":"continues","session":"00000000-0000-4000-8000-000000000000","text":"This session continues session 00000000-0000-4000-8000-000000000000, with a summary of it.","type":"notice"}
    {"event":"continued_in","session":"00000000-0000-4000-8000-000000000000","text":"This conversation continues in session 00000000-0000-4000-8000-000000000000, with a summary of this one.","type":"notice"}
    {"by":"ada","event":"moved","files":{"outcome":"written","removed":1,"written":2},"from":"laptop","leftBehind":["big.bin"],"memory":{"by":"record"},"text":"Moved from laptop to server by ada. The files were brought along: 2 written, 1 removed; `convoke session undo` takes that back. Not brought along: big.bin. The agent resumes its own session.","to":"server","type":"notice"}
    {"event":"moved","files":{"outcome":"same"},"from":"laptop","memory":{"by":"record"},"text":"Moved from laptop to server. The project has the same files here. The agent resumes its own session.","to":"server","type":"notice"}
    {"event":"moved","files":{"outcome":"kept","why":"laptop was away"},"from":"laptop","memory":{"by":"record"},"text":"Moved from laptop to server. The files were brought along as a checkpoint and not written, because laptop was away; `convoke session undo --force` writes them. The agent resumes its own session.","to":"server","type":"notice"}
    {"event":"moved","files":{"branch":"convoke/3fa8/work","outcome":"worktree","path":"/home/me/trees/web/3fa8"},"from":"laptop","memory":{"by":"record"},"text":"Moved from laptop to server. The work tree was brought along: /home/me/trees/web/3fa8, on the branch convoke/3fa8/work. The agent resumes its own session.","to":"server","type":"notice"}
    {"event":"moved","files":{"outcome":"stayed","path":"/home/me/trees/web/3fa8","why":"the commit 1a2b is missing"},"from":"laptop","memory":{"by":"record"},"text":"Still on server, in /home/me/trees/web/3fa8: laptop could not create the work tree, because the commit 1a2b is missing.","to":"server","type":"notice"}
    {"by":"ada","event":"moved","files":{"outcome":"stayed","path":"/home/me/trees/web/3fa8"},"from":"laptop","leftBehind":["big.bin"],"memory":{"by":"record"},"text":"Moved back to server by ada before it had arrived elsewhere. The work tree /home/me/trees/web/3fa8 is as it was.","to":"server","type":"notice"}
    {"event":"moved","files":{"outcome":"left","why":"laptop was away"},"from":"laptop","memory":{"by":"transcript","why":"laptop was away"},"text":"Moved from laptop to server. No files were brought along: laptop was away. The agent is given the transcript with the next prompt, because laptop was away.","to":"server","type":"notice"}
    {"after":0,"event":"imported","forkedFrom":"00000000-0000-4000-8000-000000000000","text":"This session is a fork of session 00000000-0000-4000-8000-000000000000.","transcript":"00000000-0000-4000-8000-000000000000","turns":[],"type":"notice"}
    {"after":2,"event":"imported","text":"Turns 3 to 3 of the transcript try-out were imported.","transcript":"try-out","turns":[{"seq":4,"timestamp":"1970-01-01T00:00:00.000Z","tokens":7}],"type":"notice"}
    {"agent":"Claude Code","before":"00000000-0000-4000-8000-000000000000","event":"imported_from","file":"/home/me/.claude/projects/-p/a.jsonl","parent":"a0","text":"Imported from Claude Code: /home/me/.claude/projects/-p/a.jsonl. The file was rewritten; what it said before is session 00000000-0000-4000-8000-000000000000.","type":"notice"}
    {"event":"advice","severity":"warning","text":"The agent reports: warning.","type":"notice"}
    {"event":"unknown","kind":"sparkle","payload":{"glitter":1},"text":"The agent sent an update of an unknown kind: sparkle.","type":"notice"}
    "#);
}

#[test]
fn m2_states_keep_their_shape() {
    let lines: String =
        samples::states().iter().map(|state| format!("{}\n", json!(state))).collect();
    insta::assert_snapshot!(lines, @r#"
    {"kind":"queue","prompts":[{"id":"07070707-0707-4707-8707-070707070707","text":"next","timestamp":"1970-01-01T00:00:00.000Z"}]}
    {"held":true,"kind":"queue","prompts":[{"id":"07070707-0707-4707-8707-070707070707","text":"next","timestamp":"1970-01-01T00:00:00.000Z"}]}
    {"commands":[{"description":"make room","hint":"[focus]","name":"compact"}],"kind":"commands"}
    {"available":[{"description":"think first","id":"plan","name":"Plan"}],"current":"plan","kind":"modes"}
    {"kind":"settings","settings":[{"category":"model","choices":[{"description":"think first","id":"plan","name":"Plan"}],"current":"plan","id":"model","name":"Model"}]}
    {"kind":"usage"}
    {"contextSize":200000,"contextUsed":1234,"cost":{"amount":0.14,"currency":"USD"},"inputTokens":10,"kind":"usage","outputTokens":20}
    "#);
}

#[test]
fn s2_a_message_has_id_session_place_role_content_and_time() {
    let [id, session] = [[7; 16], [8; 16]];
    let at = Timestamp::from_millis(1_794_739_200_007);
    let message = Message {
        id: MessageId::from_random(id),
        session_id: SessionId::from_random(session),
        seq: Seq::new(1),
        rev: Rev::new(3),
        role: Role::User,
        content: Content::text("hello".to_owned()),
        turn: Some(Turn::Ended(Stop::EndTurn)),
        timestamp: at,
        updated_at: at,
    };
    insta::assert_snapshot!(serde_json::to_string_pretty(&message).unwrap(), @r#"
    {
      "id": "07070707-0707-4707-8707-070707070707",
      "sessionId": "08080808-0808-4808-8808-080808080808",
      "seq": 1,
      "rev": 3,
      "role": "user",
      "content": {
        "type": "text",
        "text": "hello"
      },
      "turn": {
        "status": "ended",
        "stopReason": "end_turn"
      },
      "timestamp": "2026-11-15T10:40:00.007Z",
      "updatedAt": "2026-11-15T10:40:00.007Z"
    }
    "#);
}

#[test]
fn only_decisions_of_people_are_decisions() {
    let decided = |contents: Vec<Content>| -> Vec<bool> {
        contents.iter().map(Content::is_decision).collect()
    };
    assert_eq!(decided(samples::requests()), [false, true, true, false, true, true, false, false],);
    assert!(decided(samples::words_plans_and_tools()).iter().all(|decision| !decision));
    let notices = samples::notices();
    let event = |notice: &Content| json!(notice)["event"].as_str().unwrap().to_owned();
    let decided: Vec<String> =
        notices.iter().filter(|notice| notice.is_decision()).map(event).collect();
    insta::assert_snapshot!(decided.join(" "), @"completed cancelled failed reopened renamed archived unarchived rule_made continues continued_in moved moved moved moved moved moved moved imported imported imported_from");
}

proptest! {
    #[test]
    fn what_is_written_is_read_back_unchanged(content in generated::content()) {
        let written = serde_json::to_string(&content).unwrap();
        prop_assert_eq!(serde_json::from_str::<Content>(&written).unwrap(), content);
    }

    #[test]
    fn state_that_is_written_is_read_back_unchanged(state in generated::state_of_session()) {
        let written = serde_json::to_string(&state).unwrap();
        prop_assert_eq!(serde_json::from_str::<SessionState>(&written).unwrap(), state);
    }
}
