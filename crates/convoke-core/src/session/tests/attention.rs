//! What lists show of the work, what was seen, and what a stop does with the queue.

use super::scene::{Scene, play};
use crate::session::Attention;

fn shown(script: &str) -> (Attention, bool) {
    let scene = Scene::played(script);
    let summary = scene.session.summary();
    (summary.attention(scene.session.activity()), summary.is_unseen())
}

#[test]
fn p3_p4_what_a_session_shows_follows_from_what_happened_last() {
    use Attention::{Ended, Failed, Idle, NeedsYou, Working};
    let cases = [
        ("", (Idle, false)),
        ("prompt", (Working, false)),
        ("prompt ask", (NeedsYou, false)),
        ("prompt say end", (Idle, true)),
        ("prompt say end see", (Idle, false)),
        ("prompt end prompt", (Working, false)),
        ("prompt prompt end", (Working, false)),
        ("prompt prompt end end", (Idle, true)),
        ("prompt stop end", (Idle, true)),
        ("prompt exit", (Failed, true)),
        ("prompt exit see", (Failed, false)),
        ("prompt exit prompt end", (Idle, true)),
        ("prompt fail", (Failed, true)),
        ("prompt recover", (Failed, true)),
        ("prompt end complete", (Ended, true)),
        ("prompt exit complete", (Ended, true)),
    ];
    for (script, expected) in cases {
        assert_eq!(shown(script), expected, "{script}");
    }
}

#[test]
fn p5_a_stop_keeps_the_queue_until_a_prompt_is_sent() {
    insta::assert_snapshot!(play("prompt prompt prompt stop-keep end move send end"), @r#"
    prompt
      1 begins: user text "p", turn running
      ! StartTurn { turn: Seq(1) }
    prompt
      queue of 1
    prompt
      queue of 2
    stop-keep
      queue of 2, held
      1 turn cancelling
      ! CancelTurn { turn: Seq(1) }
    end
      1 turn ended end_turn
    move
      queue of 2, held
    send
      queue of 1
      2 begins: user text "p", turn running
      ! StartTurn { turn: Seq(2) }
    end
      2 turn ended end_turn
      queue of 0
      3 begins: user text "p", turn running
      ! StartTurn { turn: Seq(3) }
    = active, settled at 2, titled p, running 3
    "#);
}

#[test]
fn p5_a_new_prompt_goes_before_held_ones_which_then_follow() {
    insta::assert_snapshot!(play("prompt prompt stop-keep end prompt:now end"), @r#"
    prompt
      1 begins: user text "p", turn running
      ! StartTurn { turn: Seq(1) }
    prompt
      queue of 1
    stop-keep
      queue of 1, held
      1 turn cancelling
      ! CancelTurn { turn: Seq(1) }
    end
      1 turn ended end_turn
    prompt
      queue of 1
      2 begins: user text "now", turn running
      ! StartTurn { turn: Seq(2) }
    end
      2 turn ended end_turn
      queue of 0
      3 begins: user text "p", turn running
      ! StartTurn { turn: Seq(3) }
    = active, settled at 2, titled p, running 3
    "#);
}
