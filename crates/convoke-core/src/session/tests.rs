//! Sessions played from scripts: every word is a command, and what follows from it is written down.

mod properties;
mod scene;

use scene::{play, play_from};

#[test]
fn s2_a_turn_is_a_prompt_pieces_of_an_answer_and_an_end() {
    insta::assert_snapshot!(play("prompt say think say say end"), @r#"
    prompt
      1 user text "p"
      ! StartTurn { turn: Seq(1) }
    say
      2 agent text "s" partial
    think
      3 agent text "" last
      4 agent thinking "t" partial
    say
      5 agent thinking "" last
      6 agent text "s" partial
    say
      7 agent text "s" partial
    end
      8 agent text "" last
      9 system turn_ended 1 end_turn
    = active, settled at 9, titled p
    "#);
}

#[test]
fn a_second_prompt_waits_for_the_turn_to_end() {
    insta::assert_snapshot!(play("prompt prompt end end"), @r#"
    prompt
      1 user text "p"
      ! StartTurn { turn: Seq(1) }
    prompt
      2 user text "p"
    end
      3 system turn_ended 1 end_turn
      ! StartTurn { turn: Seq(2) }
    end
      4 system turn_ended 2 end_turn
    = active, settled at 4, titled p
    "#);
}

#[test]
fn a_full_queue_refuses_the_next_prompt() {
    let script = "prompt ".repeat(super::QUEUE_MAX + 2);
    let played = play(&script);
    assert!(played.contains("32 prompts are waiting already"), "{played}");
    assert_eq!(played.matches("user text").count(), super::QUEUE_MAX + 1);
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
      1 user text "p"
      ! StartTurn { turn: Seq(1) }
    ask
      2 system permission pending
    question
      3 system question pending
    stop
      4 system cancel_asked 1
      5 system permission abandoned
      ! CancelTurn { turn: Seq(1) }
      ! Reply permission Cancelled
    stop
    end
      6 system turn_ended 1 end_turn
    stop
      refused: no turn is running
    = active, settled at 6, titled p, 1 pending
    "#);
}

#[test]
fn s3_stopping_everything_empties_the_queue_too() {
    insta::assert_snapshot!(play("prompt prompt prompt stop-all end prompt"), @r#"
    prompt
      1 user text "p"
      ! StartTurn { turn: Seq(1) }
    prompt
      2 user text "p"
    prompt
      3 user text "p"
    stop-all
      4 system turn_ended 2 cancelled
      5 system turn_ended 3 cancelled
      6 system cancel_asked 1
      ! CancelTurn { turn: Seq(1) }
    end
      7 system turn_ended 1 end_turn
    prompt
      8 user text "p"
      ! StartTurn { turn: Seq(8) }
    = active, settled at 7, titled p, running 8
    "#);
}

#[test]
fn s3_completing_ends_everything_and_can_be_resumed() {
    insta::assert_snapshot!(play("prompt say prompt ask complete prompt say resume prompt"), @r#"
    prompt
      1 user text "p"
      ! StartTurn { turn: Seq(1) }
    say
      2 agent text "s" partial
    prompt
      3 user text "p"
    ask
      4 agent text "" last
      5 system permission pending
    complete
      6 system permission abandoned
      7 system turn_ended 1 cancelled
      8 system turn_ended 3 cancelled
      9 system completed user
      ! CancelTurn { turn: Seq(1) }
      ! Reply permission Cancelled
      ! StopProcess
    prompt
      refused: the session is completed
    say
    resume
      10 system reopened
    prompt
      11 user text "p"
      ! StartTurn { turn: Seq(11) }
    = active, settled at 10, titled p, running 11
    "#);
}

#[test]
fn s3_cancelling_is_for_good() {
    insta::assert_snapshot!(play("cancel prompt complete cancel resume"), @r"
    cancel
      1 system cancelled user
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
      1 user text "p"
      ! StartTurn { turn: Seq(1) }
    say
      2 agent text "s" partial
    tool
      3 agent text "" last
      4 system tool read running
    prompt
      5 user text "p"
    ask
      6 system permission pending
    exit
      7 system tool read error
      8 system permission abandoned
      9 system process_exited
      10 system turn_ended 1 failed process_exited
      ! StartTurn { turn: Seq(5) }
    resumed
      11 system resumed native
    end
      12 system turn_ended 5 end_turn
    = active, settled at 12, titled p
    "#);
}

#[test]
fn s3_an_agent_that_cannot_start_makes_the_session_an_error() {
    insta::assert_snapshot!(play("prompt prompt fail prompt resume"), @r#"
    prompt
      1 user text "p"
      ! StartTurn { turn: Seq(1) }
    prompt
      2 user text "p"
    fail
      3 system turn_ended 1 failed not_started
      4 system turn_ended 2 failed not_started
      5 system failed
      ! StopProcess
    prompt
      refused: the session is error
    resume
      6 system reopened
    = active, settled at 6, titled p
    "#);
}

#[test]
fn a_tool_that_is_known_bit_by_bit_ends_with_all_of_it() {
    insta::assert_snapshot!(play("prompt tool tool rename-tool finish-tool finish-tool end"), @r#"
    prompt
      1 user text "p"
      ! StartTurn { turn: Seq(1) }
    tool
      2 system tool read running
    tool
    rename-tool
      3 system tool write running
    finish-tool
      4 system tool write complete
    finish-tool
    end
      5 system turn_ended 1 end_turn
    = active, settled at 5, titled p
    "#);
}

#[test]
fn a_tool_that_never_finishes_ends_with_its_turn() {
    insta::assert_snapshot!(play("prompt tool end finish-tool"), @r#"
    prompt
      1 user text "p"
      ! StartTurn { turn: Seq(1) }
    tool
      2 system tool read running
    end
      3 system tool read error
      4 system turn_ended 1 end_turn
    finish-tool
      5 system tool tool complete
    = active, settled at 5, titled p
    "#);
}

#[test]
fn a_human_answer_reaches_the_asker_once() {
    insta::assert_snapshot!(play("prompt ask allow allow question answer"), @r#"
    prompt
      1 user text "p"
      ! StartTurn { turn: Seq(1) }
    ask
      2 system permission pending
    allow
      3 system permission answered
      ! Reply permission Chosen { option_id: "yes" }
    allow
      refused: the request 00000000-0000-4000-8000-000000000001 is not pending
    question
      4 system question pending
    answer
      5 system question answered
      ! Reply question Answered
    = active, settled at 0, titled p, running 1
    "#);
}

#[test]
fn a_late_answer_becomes_the_next_turn() {
    insta::assert_snapshot!(play("prompt question exit late-answer end"), @r#"
    prompt
      1 user text "p"
      ! StartTurn { turn: Seq(1) }
    question
      2 system question pending
    exit
      3 system question abandoned
      4 system process_exited
      5 system turn_ended 1 failed process_exited
    late-answer
      6 system question answered
      7 user text "You asked the user earlier, and the call ended before the answer came. Your questions and the user's answers, quoted as one JSON text: "Here are the user's answers:\n\n1. Which?\n→ A""
      ! StartTurn { turn: Seq(7) }
    end
      8 system turn_ended 7 end_turn
    = active, settled at 8, titled p
    "#);
}

#[test]
fn a_late_answer_to_an_ended_session_is_kept() {
    insta::assert_snapshot!(play("question complete late-answer"), @r"
    question
      1 system question pending
    complete
      2 system question abandoned
      3 system completed user
      ! Reply question Cancelled
      ! StopProcess
    late-answer
      4 system question answered
    = completed, settled at 4
    ");
}

#[test]
fn an_asker_that_takes_its_request_back_is_not_answered() {
    insta::assert_snapshot!(play("prompt ask withdraw allow"), @r#"
    prompt
      1 user text "p"
      ! StartTurn { turn: Seq(1) }
    ask
      2 system permission pending
    withdraw
      3 system permission abandoned
    allow
      refused: the request 00000000-0000-4000-8000-000000000001 is not pending
    = active, settled at 0, titled p, running 1
    "#);
}

#[test]
fn s1_what_was_cut_off_by_a_kill_ends_as_interrupted_and_the_queue_goes_on() {
    insta::assert_snapshot!(play("prompt say prompt ask recover end"), @r#"
    prompt
      1 user text "p"
      ! StartTurn { turn: Seq(1) }
    say
      2 agent text "s" partial
    prompt
      3 user text "p"
    ask
      4 agent text "" last
      5 system permission pending
    recover
      6 system permission abandoned
      7 system turn_ended 1 failed interrupted
      ! StartTurn { turn: Seq(3) }
    end
      8 system turn_ended 3 end_turn
    = active, settled at 8, titled p
    "#);
    insta::assert_snapshot!(play("prompt end recover"), @r#"
    prompt
      1 user text "p"
      ! StartTurn { turn: Seq(1) }
    end
      2 system turn_ended 1 end_turn
    recover
    = active, settled at 2, titled p
    "#);
}

#[test]
fn a_late_end_of_an_ended_turn_ends_no_other() {
    insta::assert_snapshot!(play("prompt exit prompt stale-end"), @r#"
    prompt
      1 user text "p"
      ! StartTurn { turn: Seq(1) }
    exit
      2 system process_exited
      3 system turn_ended 1 failed process_exited
    prompt
      4 user text "p"
      ! StartTurn { turn: Seq(4) }
    stale-end
    = active, settled at 3, titled p, running 4
    "#);
}

#[test]
fn w3_the_first_prompt_titles_a_session_once() {
    insta::assert_snapshot!(play_from(&["prompt:  first thing \n", "end", "prompt:second"]), @r#"
    prompt
      1 user text "  first thing …"
      ! StartTurn { turn: Seq(1) }
    end
      2 system turn_ended 1 end_turn
    prompt
      3 user text "second"
      ! StartTurn { turn: Seq(3) }
    = active, settled at 2, titled first thing, running 3
    "#);
    insta::assert_snapshot!(play("rename prompt"), @r#"
    rename
      1 system renamed
    prompt
      2 user text "p"
      ! StartTurn { turn: Seq(2) }
    = active, settled at 1, titled renamed, running 2
    "#);
}

#[test]
fn w2_archiving_twice_is_archiving_once() {
    insta::assert_snapshot!(play("archive archive unarchive unarchive archive"), @r"
    archive
      1 system archived
    archive
    unarchive
      2 system unarchived
    unarchive
    archive
      3 system archived
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
