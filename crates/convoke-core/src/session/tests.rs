//! Sessions played from scripts: every word is a command, and what follows from it is written down.

mod attention;
mod properties;
mod scene;

use scene::{play, play_from};

#[test]
fn s2_a_turn_is_a_prompt_pieces_of_an_answer_and_an_end() {
    insta::assert_snapshot!(play("prompt say think say say end"), @r#"
    prompt
      1 begins: user text "p", turn running
      ! StartTurn { turn: Seq(1) }
    say
      2 begins: agent text "s" partial
    think
      2 is whole
      3 begins: agent thinking "t" partial
    say
      3 is whole
      4 begins: agent text "s" partial
    say
      4 grows: "s"
    end
      4 is whole
      1 turn ended end_turn
    = active, settled at 4, titled p
    "#);
}

#[test]
fn a_second_prompt_waits_for_the_turn_to_end() {
    insta::assert_snapshot!(play("prompt prompt end end"), @r#"
    prompt
      1 begins: user text "p", turn running
      ! StartTurn { turn: Seq(1) }
    prompt
      queue of 1
    end
      1 turn ended end_turn
      queue of 0
      2 begins: user text "p", turn running
      ! StartTurn { turn: Seq(2) }
    end
      2 turn ended end_turn
    = active, settled at 2, titled p
    "#);
}

#[test]
fn a_prompt_that_waits_can_be_edited_removed_and_sent_at_once() {
    insta::assert_snapshot!(play("prompt prompt prompt edit send end remove remove end"), @r#"
    prompt
      1 begins: user text "p", turn running
      ! StartTurn { turn: Seq(1) }
    prompt
      queue of 1
    prompt
      queue of 2
    edit
      queue of 2
    send
      queue of 2
      1 turn cancelling
      ! CancelTurn { turn: Seq(1) }
    end
      1 turn ended end_turn
      queue of 1
      2 begins: user text "edited", turn running
      ! StartTurn { turn: Seq(2) }
    remove
      queue of 0
    remove
      refused: the prompt 6c6c6c6c-6c6c-4c6c-ac6c-6c6c6c6c6c6c is not in the queue; its turn may have begun
    end
      2 turn ended end_turn
    = active, settled at 2, titled p
    "#);
}

#[test]
fn a_full_queue_refuses_the_next_prompt() {
    let script = "prompt ".repeat(super::QUEUE_MAX + 2);
    let played = play(&script);
    assert!(played.contains("32 prompts are waiting already"), "{played}");
    assert!(played.ends_with("32 queued"), "{played}");
}

#[test]
fn an_empty_prompt_is_refused() {
    insta::assert_snapshot!(play("blank"), @r"
    blank
      refused: the prompt is empty
    = active, settled at 0
    ");
}

#[test]
fn s3_a_cancelled_turn_answers_its_permissions_and_leaves_the_session_active() {
    insta::assert_snapshot!(play("prompt ask question stop stop end stop"), @r#"
    prompt
      1 begins: user text "p", turn running
      ! StartTurn { turn: Seq(1) }
    ask
      2 begins: system permission pending
    question
      3 begins: system question pending
    stop
      1 turn cancelling
      2 is now: permission abandoned
      ! CancelTurn { turn: Seq(1) }
      ! Reply permission Cancelled
    stop
    end
      1 turn ended end_turn
    stop
      refused: no turn is running
    = active, settled at 3, titled p, 1 pending
    "#);
}

#[test]
fn s3_stopping_everything_empties_the_queue_too() {
    insta::assert_snapshot!(play("prompt prompt prompt stop-all end prompt"), @r#"
    prompt
      1 begins: user text "p", turn running
      ! StartTurn { turn: Seq(1) }
    prompt
      queue of 1
    prompt
      queue of 2
    stop-all
      queue of 0
      2 begins: user text "p", turn ended cancelled
      3 begins: user text "p", turn ended cancelled
      1 turn cancelling
      ! CancelTurn { turn: Seq(1) }
    end
      1 turn ended end_turn
    prompt
      4 begins: user text "p", turn running
      ! StartTurn { turn: Seq(4) }
    = active, settled at 3, titled p, running 4
    "#);
}

#[test]
fn s3_completing_ends_everything_and_can_be_resumed() {
    insta::assert_snapshot!(play("prompt say prompt ask complete prompt say resume prompt"), @r#"
    prompt
      1 begins: user text "p", turn running
      ! StartTurn { turn: Seq(1) }
    say
      2 begins: agent text "s" partial
    prompt
      queue of 1
    ask
      2 is whole
      3 begins: system permission pending
    complete
      3 is now: permission abandoned
      1 turn ended cancelled
      4 begins: system turn_ended 1 cancelled
      queue of 0
      5 begins: user text "p", turn ended cancelled
      6 begins: system completed user
      ! CancelTurn { turn: Seq(1) }
      ! Reply permission Cancelled
      ! StopProcess
    prompt
      refused: the session is completed
    say
    resume
      7 begins: system reopened
    prompt
      8 begins: user text "p", turn running
      ! StartTurn { turn: Seq(8) }
    = active, settled at 7, titled p, running 8
    "#);
}

#[test]
fn s3_cancelling_is_for_good() {
    insta::assert_snapshot!(play("cancel prompt complete cancel resume"), @"
    cancel
      1 begins: system cancelled user
      ! StopProcess
    prompt
      refused: the session is cancelled
    complete
      refused: the session is cancelled
    cancel
      refused: the session is cancelled
    resume
      refused: a cancelled session cannot be resumed
    = cancelled, settled at 1
    ");
}

#[test]
fn s3_a_crash_fails_its_turn_and_the_next_prompt_recovers() {
    insta::assert_snapshot!(play("prompt say tool prompt ask exit resumed end"), @r#"
    prompt
      1 begins: user text "p", turn running
      ! StartTurn { turn: Seq(1) }
    say
      2 begins: agent text "s" partial
    tool
      2 is whole
      3 begins: system tool read running
    prompt
      queue of 1
    ask
      4 begins: system permission pending
    exit
      3 is now: tool read error
      4 is now: permission abandoned
      5 begins: system process_exited
      1 turn ended failed process_exited
      6 begins: system turn_ended 1 failed process_exited
      queue of 0
      7 begins: user text "p", turn running
      ! StartTurn { turn: Seq(7) }
    resumed
      8 begins: system resumed native
    end
      7 turn ended end_turn
    = active, settled at 8, titled p
    "#);
}

#[test]
fn s3_an_agent_that_cannot_start_makes_the_session_an_error() {
    insta::assert_snapshot!(play("prompt prompt fail prompt resume"), @r#"
    prompt
      1 begins: user text "p", turn running
      ! StartTurn { turn: Seq(1) }
    prompt
      queue of 1
    fail
      1 turn ended failed not_started
      2 begins: system turn_ended 1 failed not_started
      queue of 0
      3 begins: user text "p", turn ended failed not_started
      4 begins: system failed
      ! StopProcess
    prompt
      refused: the session is error
    resume
      5 begins: system reopened
    = active, settled at 5, titled p
    "#);
}

#[test]
fn a_tool_that_is_known_bit_by_bit_ends_with_all_of_it() {
    insta::assert_snapshot!(play("prompt tool tool rename-tool finish-tool finish-tool end"), @r#"
    prompt
      1 begins: user text "p", turn running
      ! StartTurn { turn: Seq(1) }
    tool
      2 begins: system tool read running
    tool
    rename-tool
      2 is now: tool write running
    finish-tool
      2 is now: tool write complete
    finish-tool
    end
      1 turn ended end_turn
    = active, settled at 2, titled p
    "#);
}

#[test]
fn a_tool_that_never_finishes_ends_with_its_turn() {
    insta::assert_snapshot!(play("prompt tool end finish-tool"), @r#"
    prompt
      1 begins: user text "p", turn running
      ! StartTurn { turn: Seq(1) }
    tool
      2 begins: system tool read running
    end
      2 is now: tool read error
      1 turn ended end_turn
    finish-tool
      3 begins: system tool tool complete
    = active, settled at 3, titled p
    "#);
}

#[test]
fn a_human_answer_reaches_the_asker_once() {
    insta::assert_snapshot!(play("prompt ask allow allow question answer"), @r#"
    prompt
      1 begins: user text "p", turn running
      ! StartTurn { turn: Seq(1) }
    ask
      2 begins: system permission pending
    allow
      2 is now: permission answered
      ! Reply permission Chosen { option_id: "yes" }
    allow
      refused: the request 00000000-0000-4000-8000-000000000001 is not pending
    question
      3 begins: system question pending
    answer
      3 is now: question answered
      ! Reply question Answered
    = active, settled at 0, titled p, running 1
    "#);
}

#[test]
fn a_late_answer_becomes_the_next_turn() {
    insta::assert_snapshot!(play("prompt question exit late-answer end"), @r#"
    prompt
      1 begins: user text "p", turn running
      ! StartTurn { turn: Seq(1) }
    question
      2 begins: system question pending
    exit
      2 is now: question abandoned
      3 begins: system process_exited
      1 turn ended failed process_exited
      4 begins: system turn_ended 1 failed process_exited
    late-answer
      2 is now: question answered
      5 begins: user text "You asked the user earlier, and the call ended before the answer came. Your questions and the user's answers, quoted as one JSON text: "Here are the user's answers:\n\n1. Which?\n→ A"", turn running
      ! StartTurn { turn: Seq(5) }
    end
      5 turn ended end_turn
    = active, settled at 5, titled p
    "#);
}

#[test]
fn a_late_answer_to_an_ended_session_is_kept() {
    insta::assert_snapshot!(play("question complete late-answer"), @"
    question
      1 begins: system question pending
    complete
      1 is now: question abandoned
      2 begins: system completed user
      ! Reply question Cancelled
      ! StopProcess
    late-answer
      1 is now: question answered
    = completed, settled at 2
    ");
}

#[test]
fn an_asker_that_takes_its_request_back_is_not_answered() {
    insta::assert_snapshot!(play("prompt ask withdraw allow"), @r#"
    prompt
      1 begins: user text "p", turn running
      ! StartTurn { turn: Seq(1) }
    ask
      2 begins: system permission pending
    withdraw
      2 is now: permission abandoned
    allow
      refused: the request 00000000-0000-4000-8000-000000000001 is not pending
    = active, settled at 0, titled p, running 1
    "#);
}

#[test]
fn s1_what_was_cut_off_by_a_kill_ends_as_interrupted_and_the_queue_goes_on() {
    insta::assert_snapshot!(play("prompt say prompt ask recover end"), @r#"
    prompt
      1 begins: user text "p", turn running
      ! StartTurn { turn: Seq(1) }
    say
      2 begins: agent text "s" partial
    prompt
      queue of 1
    ask
      2 is whole
      3 begins: system permission pending
    recover
      3 is now: permission abandoned
      1 turn ended failed interrupted
      4 begins: system turn_ended 1 failed interrupted
      queue of 0
      5 begins: user text "p", turn running
      ! StartTurn { turn: Seq(5) }
    end
      5 turn ended end_turn
    = active, settled at 5, titled p
    "#);
    insta::assert_snapshot!(play("prompt end recover"), @r#"
    prompt
      1 begins: user text "p", turn running
      ! StartTurn { turn: Seq(1) }
    end
      1 turn ended end_turn
    recover
    = active, settled at 1, titled p
    "#);
}

#[test]
fn a_late_end_of_an_ended_turn_ends_no_other() {
    insta::assert_snapshot!(play("prompt exit prompt stale-end"), @r#"
    prompt
      1 begins: user text "p", turn running
      ! StartTurn { turn: Seq(1) }
    exit
      2 begins: system process_exited
      1 turn ended failed process_exited
      3 begins: system turn_ended 1 failed process_exited
    prompt
      4 begins: user text "p", turn running
      ! StartTurn { turn: Seq(4) }
    stale-end
    = active, settled at 3, titled p, running 4
    "#);
}

#[test]
fn w3_the_first_prompt_titles_a_session_once() {
    insta::assert_snapshot!(play_from(&["prompt:  first thing \n", "end", "prompt:second"]), @r#"
    prompt
      1 begins: user text "  first thing …", turn running
      ! StartTurn { turn: Seq(1) }
    end
      1 turn ended end_turn
    prompt
      2 begins: user text "second", turn running
      ! StartTurn { turn: Seq(2) }
    = active, settled at 1, titled first thing, running 2
    "#);
    insta::assert_snapshot!(play("rename prompt"), @r#"
    rename
      1 begins: system renamed
    prompt
      2 begins: user text "p", turn running
      ! StartTurn { turn: Seq(2) }
    = active, settled at 1, titled renamed, running 2
    "#);
}

#[test]
fn w2_archiving_twice_is_archiving_once() {
    insta::assert_snapshot!(play("archive archive unarchive unarchive archive"), @"
    archive
      1 begins: system archived
    archive
    unarchive
      2 begins: system unarchived
    unarchive
    archive
      3 begins: system archived
    = active, settled at 3, archived
    ");
}

#[test]
fn w4_activity_is_a_prompt_or_the_end_of_a_turn() {
    let active_at = |script: &str| scene::Scene::played(script).active_at();
    // Every message of a scene is stored a second after the one before.
    assert_eq!(active_at("archive rename"), 0);
    assert_eq!(active_at("prompt"), 1);
    assert_eq!(active_at("prompt say say"), 1);
    assert_eq!(active_at("prompt say end"), 4);
    assert_eq!(active_at("prompt say end archive"), 4);
    assert_eq!(active_at("prompt say prompt"), 3);
}

#[test]
fn s10_waiting_is_not_idle() {
    let idle = |script: &str| scene::Scene::played(script).session.is_idle();
    assert!(idle(""));
    assert!(!idle("prompt"));
    assert!(!idle("prompt ask"));
    assert!(!idle("prompt question end"));
    assert!(idle("prompt question end answer"));
    assert!(idle("prompt end"));
}

#[test]
fn m3_an_answer_between_turns_can_be_closed_and_one_of_a_turn_ends_with_it() {
    let is_settled = |script: &str| scene::Scene::played(script).session.summary().is_settled();
    assert!(!is_settled("prompt end say"));
    assert!(is_settled("prompt end say close"));
    assert!(!is_settled("prompt say close"));
}
