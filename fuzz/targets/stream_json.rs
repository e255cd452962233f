//! Everything that Claude Code prints, from the greeting to its last turn, and what a session makes of it.
#![no_main]

use convoke_agents::fuzzing::run_claude;
use convoke_fuzz::Conversation;
use libfuzzer_sys::fuzz_target;

fuzz_target!(|output: &[u8]| {
    let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build();
    let runtime = runtime.expect("a runtime");
    let (mut conversation, orders) = Conversation::begin();
    let ran = run_claude(output.to_vec(), || [7; 16], orders, |it| conversation.handle_report(it));
    // An agent that does not answer `initialize` is refused, which is an end like any other.
    runtime.block_on(ran).ok();
    conversation.check();
});
