//! What people would see of each agent's conversations: those that the agents themselves wrote, where they are at hand,
//! and those of `stories`.

use convoke_histories::{Agent, Environment, Store};

use crate::render::render_all;
use crate::scene::samples;
use crate::stories::story;

/// Every message, time, title and count of an agent's hand-written store.
fn check_story(agent: Agent) {
    insta::assert_snapshot!(format!("story_{agent}"), story(agent).render());
}

/// The same of what the agent itself wrote; Droid wrote nothing here. Without the samples the hand-written store
/// is checked.
fn check_sample(agent: Agent) {
    let home = samples().map(|samples| samples.join(agent.as_str())).filter(|home| home.is_dir());
    let Some(home) = home else { return check_story(agent) };
    let roots = Store::roots(agent, &Environment::new(home));
    let root = roots.iter().find(|root| root.is_dir()).expect("the sample's store");
    let text = render_all(agent, root);
    // The fake model answered a request for a title with the request.
    let text = text.lines().map(|line| match line.split_once("---BEGIN") {
        Some((start, _)) => format!("{start}…\n"),
        None => format!("{line}\n"),
    });
    insta::assert_snapshot!(format!("sample_{agent}"), text.collect::<String>());
}

#[test]
fn h1_claude_says_all_that_people_saw() {
    check_story(Agent::Claude);
}

#[test]
fn h1_codex_says_all_that_people_saw() {
    check_story(Agent::Codex);
}

#[test]
fn h1_gemini_says_all_that_people_saw() {
    check_story(Agent::Gemini);
}

#[test]
fn h1_opencode_says_all_that_people_saw() {
    check_story(Agent::Opencode);
}

#[test]
fn h1_goose_says_all_that_people_saw() {
    check_story(Agent::Goose);
}

#[test]
fn h1_qwen_says_all_that_people_saw() {
    check_story(Agent::Qwen);
}

#[test]
fn h1_copilot_says_all_that_people_saw() {
    check_story(Agent::Copilot);
}

#[test]
fn h1_cline_says_all_that_people_saw() {
    check_story(Agent::Cline);
}

#[test]
fn h1_kimi_says_all_that_people_saw() {
    check_story(Agent::Kimi);
}

#[test]
fn h1_vibe_says_all_that_people_saw() {
    check_story(Agent::Vibe);
}

#[test]
fn h1_droid_says_all_that_people_saw() {
    check_story(Agent::Droid);
}

#[test]
fn h1_claude_sample_says_all_that_people_saw() {
    check_sample(Agent::Claude);
}

#[test]
fn h1_codex_sample_says_all_that_people_saw() {
    check_sample(Agent::Codex);
}

#[test]
fn h1_gemini_sample_says_all_that_people_saw() {
    check_sample(Agent::Gemini);
}

#[test]
fn h1_opencode_sample_says_all_that_people_saw() {
    check_sample(Agent::Opencode);
}

#[test]
fn h1_goose_sample_says_all_that_people_saw() {
    check_sample(Agent::Goose);
}

#[test]
fn h1_qwen_sample_says_all_that_people_saw() {
    check_sample(Agent::Qwen);
}

#[test]
fn h1_copilot_sample_says_all_that_people_saw() {
    check_sample(Agent::Copilot);
}

#[test]
fn h1_cline_sample_says_all_that_people_saw() {
    check_sample(Agent::Cline);
}

#[test]
fn h1_kimi_sample_says_all_that_people_saw() {
    check_sample(Agent::Kimi);
}

#[test]
fn h1_vibe_sample_says_all_that_people_saw() {
    check_sample(Agent::Vibe);
}
