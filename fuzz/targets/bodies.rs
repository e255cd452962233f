//! Bodies of REST and inputs of tools: what is understood comes back as it was.
#![no_main]

use convoke_api::bodies::{
    Answer, NewRepo, NewSession, Prompt, QueuePatch, Rejection, SessionPatch, TeamCancel,
    TeamMessage, TeamQuestion,
};
use convoke_core::message::Message;
use convoke_core::question::{Question, check_answers, format_answers};
use convoke_core::state::SessionState;
use convoke_core::time::Timestamp;
use convoke_fuzz::comes_back;
use libfuzzer_sys::fuzz_target;

/// What answers are held against.
const QUESTIONS: &str = r#"[
    {"prompt": "Which?", "title": "W", "options": [{"label": "A"}, {"label": "B"}]},
    {"prompt": "Which ones?", "title": "O", "options": [{"label": "X"}, {"label": "Y"}], "multiSelect": true}
]"#;

fuzz_target!(|body: &[u8]| {
    comes_back::<NewRepo>(body);
    comes_back::<NewSession>(body);
    comes_back::<Prompt>(body);
    comes_back::<QueuePatch>(body);
    comes_back::<SessionPatch>(body);
    comes_back::<Rejection>(body);
    comes_back::<TeamQuestion>(body);
    comes_back::<TeamMessage>(body);
    comes_back::<TeamCancel>(body);
    comes_back::<Message>(body);
    comes_back::<SessionState>(body);
    if let Some(Answer::Answers(answers)) = comes_back::<Answer>(body) {
        let questions: Vec<Question> = serde_json::from_str(QUESTIONS).expect("questions");
        let answers = answers.at(Timestamp::from_millis(0));
        if check_answers(&questions, &answers).is_ok() {
            assert!(format_answers(&questions, &answers).is_ok());
        }
    }
});
