//! Questions and answers, told as data.

use serde_json::json;

use super::*;

fn questions() -> Vec<Question> {
    let value = json!([
        {"prompt": "Which database?", "title": "DB", "options": [
            {"label": "SQLite", "description": "One file"}, {"label": "PostgreSQL"}
        ], "multiSelect": false},
        {"prompt": "Which targets?", "title": "OS", "options": [
            {"label": "Linux", "description": "x86_64"}, {"label": "macOS"}, {"label": "BSD"}
        ], "multiSelect": true}
    ]);
    serde_json::from_value(value).unwrap()
}

/// Answers from `{"0": {…}}`, all with the same time.
fn answers(value: &serde_json::Value) -> Vec<Answer> {
    let given: GivenAnswers = serde_json::from_value(value.clone()).unwrap();
    given.at(Timestamp::from_millis(0))
}

fn formatted(value: &serde_json::Value) -> String {
    format_answers(&questions(), &answers(value)).unwrap_or_else(|fault| format!("! {fault}"))
}

#[test]
fn q14_answers_read_as_arrows_with_labels_and_descriptions() {
    insta::assert_snapshot!(formatted(&json!({
        "0": {"selectedOption": "SQLite"},
        "1": {"selectedOptions": ["Linux", "BSD"], "customText": "it's\n'mine'"},
    })), @r"
    Here are the user's answers:

    1. Which database?
    → SQLite — One file

    2. Which targets?
    → Linux — x86_64
    → BSD
    → Other: 'it\'s
    \'mine\''
    ");
}

#[test]
fn q14_nothing_selected_and_custom_text_have_their_own_lines() {
    insta::assert_snapshot!(formatted(&json!({
        "0": {"customText": "DuckDB"},
        "1": {"selectedOptions": []},
    })), @r"
    Here are the user's answers:

    1. Which database?
    → Other: 'DuckDB'

    2. Which targets?
    → (No selection)
    ");
}

#[test]
fn q14_a_question_without_an_answer_keeps_its_number_and_is_left_out() {
    insta::assert_snapshot!(formatted(&json!({"1": {"selectedOptions": ["macOS"]}})), @r"
    Here are the user's answers:

    2. Which targets?
    → macOS
    ");
}

#[test]
fn q15_answers_must_fit_their_questions() {
    let faults = [
        json!({}),
        json!({"2": {"selectedOption": "SQLite"}}),
        json!({"0": {}}),
        json!({"0": {"selectedOption": "", "customText": ""}}),
        json!({"0": {"selectedOption": "Oracle"}}),
        json!({"1": {"selectedOptions": ["Linux", "Windows"]}}),
        json!({"1": {"selectedOptions": ["Linux"], "selectedOption": "Windows"}}),
        json!({"0": {"selectedOptions": ["SQLite", "PostgreSQL"]}}),
    ]
    .map(|value| formatted(&value));
    insta::assert_snapshot!(faults.join("\n"), @r"
    ! No answers provided
    ! Answer references invalid question index: 2
    ! Answer for question 0 has neither selectedOption, selectedOptions, nor customText
    ! Answer for question 0 has neither selectedOption, selectedOptions, nor customText
    ! Answer for question 0 references non-existent option: Oracle
    ! Answer for question 1 references non-existent option: Windows
    ! Answer for question 1 references non-existent option: Windows
    ! Answer for question 0 selects 2 options, but only one may be chosen
    ");
}

#[test]
fn q15_a_full_set_of_answers_leaves_no_question_out() {
    let check = |value| check_all_answered(&questions(), &answers(&value));
    assert_eq!(
        check(json!({"0": {"selectedOption": "SQLite"}})),
        Err(AnswerFault::Missing { index: 1 })
    );
    let full = json!({"0": {"selectedOption": "SQLite"}, "1": {"customText": "Plan 9"}});
    assert_eq!(check(full), Ok(()));
}

#[test]
fn q3_q17_a_set_of_questions_keeps_within_its_limits() {
    let limits = Limits { questions_max: 2, options_max: 3 };
    let fault = |change: &dyn Fn(&mut Vec<Question>)| {
        let mut set = questions();
        change(&mut set);
        check_questions(&set, limits).map_or_else(|fault| fault.to_string(), |()| "fine".to_owned())
    };
    let said = [
        fault(&|_| {}),
        fault(&Vec::clear),
        fault(&|set| set.extend(questions())),
        fault(&|set| set[1].prompt = " \n".to_owned()),
        fault(&|set| set[0].options.truncate(1)),
        fault(&|set| {
            let more = set[1].options.clone();
            set[0].options.extend(more);
        }),
        fault(&|set| set[1].options[2].label = "Linux".to_owned()),
        fault(&|set| set[1].options[2].label = String::new()),
    ];
    insta::assert_snapshot!(said.join("\n"), @r"
    fine
    At least one question is required to create a session
    Too many questions: 4, at most 2 are allowed
    Question 1 has an empty prompt
    Question 0 has 1 options, between 2 and 3 are allowed
    Question 0 has 5 options, between 2 and 3 are allowed
    Question 1 has the option 'Linux' twice
    Question 1 has an option with an empty label
    ");
}

#[test]
fn typed_answers_are_numbered_and_hold_nothing_unknown() {
    let parse = |text: &str| serde_json::from_str::<GivenAnswers>(text).map_err(|e| e.to_string());
    assert!(parse(r#"{"1": {"selectedOptions": ["X"], "customText": "y"}}"#).is_ok());
    assert!(
        parse(r#"{"first": {"selectedOption": "A"}}"#).unwrap_err().contains("a number in quotes")
    );
    assert!(parse(r#"{"0": {"selected": "A"}}"#).unwrap_err().contains("unknown field `selected`"));
}
