//! From the questions on disk to the answers on disk.

use serde_json::json;

use crate::folder::Folder;
use crate::person::Person;

#[test]
fn q19_a_person_answers_in_a_terminal_and_the_answers_are_in_the_file() {
    let folder = Folder::new();
    let id = folder.ask(
        1,
        json!([
            {"prompt": "Which **database**?", "title": "Database", "multiSelect": false, "options": [
                {"label": "SQLite", "description": "One file."}, {"label": "PostgreSQL (recommended)"}]},
            {"prompt": "What may be cached?", "title": "Caches", "multiSelect": true, "options": [
                {"label": "Prices"}, {"label": "Images"}, {"label": "Baskets"}]},
        ]),
    );
    let mut person = Person::starts("answer_questions", &folder);
    person
        .sees("Which database?")
        .sees("a test · /srv/shop")
        .sees("2 (•) PostgreSQL · recommended");
    person.types("\r");
    person.sees("Choose any number").types("j 3o");
    person.sees("esc to the options").types("日本 q");
    // As a terminal pastes: q and the line breaks are text.
    person.types("\x1b[200~\r\npasted\nq\x1b[201~");
    person.sees("pasted").types("\r");
    person.sees("→ Images").sees("→ Other: 日本 q").types("\r");
    person.sees("Sent: Database").sees("Nothing needs your answer.");
    let mut answers = folder.json(id, "answers.json");
    for answer in answers["answers"].as_array_mut().unwrap() {
        answer.as_object_mut().unwrap().remove("timestamp").unwrap();
    }
    assert_eq!(
        answers["answers"],
        json!([
            {"questionIndex": 0, "selectedOption": "PostgreSQL (recommended)"},
            {"questionIndex": 1, "selectedOptions": ["Images", "Baskets"],
             "customText": "日本 q\npasted\nq"},
        ])
    );
    assert_eq!(answers["callId"], "call-7");
    assert_eq!(folder.json(id, "status.json")["status"], "completed");
    person.types("q");
    person.sees("code 0").has_the_terminal_back();
}

#[test]
fn q19_a_person_rejects_in_a_terminal_and_the_reason_is_in_the_file() {
    let folder = Folder::new();
    let id = folder.ask_for_tea();
    let mut person = Person::starts("answer_questions", &folder);
    person.sees("Would you like tea?").types("r");
    person.sees("Your reason").types("never\r");
    person.sees("to reject, or Esc").types("y");
    person.sees("Rejected: Tea");
    let status = folder.json(id, "status.json");
    assert_eq!(
        (&status["status"], &status["rejectionReason"]),
        (&json!("rejected"), &json!("never"))
    );
}

#[test]
fn q19_questions_appear_when_they_are_asked_and_go_when_others_answer() {
    let folder = Folder::new();
    let mut person = Person::starts("answer_questions", &folder);
    person.sees("Nothing needs your answer.").sees("convoke ask");
    assert!(!person.got("\x07"), "nothing has happened yet");
    let tea = folder.ask_for_tea();
    person.sees("Would you like tea?");
    person.sees("1 of 1");
    assert!(person.got("\x07"), "the bell has rung");
    let options = json!([{"label": "Now"}, {"label": "Later"}]);
    let other = folder.ask(6, json!([{"prompt": "When?", "title": "Time", "options": options}]));
    person.sees("Needs your answer: Time").sees("1 of 2");
    folder.answer(other, "Now");
    person.sees("Answered elsewhere: Time").sees("1 of 1");
    person.types("ogreen");
    person.sees("│ green");
    folder.answer(tea, "No");
    person.sees("Someone else answered this set first.").sees("│ green").types("\r");
    person.sees("Nothing needs your answer.");
}

#[test]
fn q19_the_mouse_chooses() {
    let folder = Folder::new();
    folder.ask_for_tea();
    let mut person = Person::starts("answer_questions", &folder);
    person.sees("2 ( ) No");
    // A press of the left button in the tenth column of the eighth row.
    person.types("\x1b[<0;10;8M");
    person.sees("2 (•) No");
}

#[test]
fn q18_a_damaged_set_hides_no_other_and_is_mentioned() {
    let folder = Folder::new();
    let damaged =
        folder.ask(1, json!([{"prompt": "?", "options": [{"label": "A"}, {"label": "B"}]}]));
    std::fs::write(folder.questions.folder(damaged).join("request.json"), "{\"oops").unwrap();
    folder.ask_for_tea();
    let mut person = Person::starts("answer_questions", &folder);
    person.sees("Would you like tea?").types("l");
    person.sees("Damaged (1)").sees("request.json is damaged: EOF while parsing a string");
}
