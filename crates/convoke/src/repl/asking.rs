//! Permissions and questions that the user answers at the keyboard, by number or with free text.

use convoke_core::evidence::Evidence;
use convoke_core::question::{Answer, Question};
use convoke_core::request::{
    Answers, Choice, PermissionKind, PermissionOption, PermissionRecord, QuestionRecord, Request,
    Verdict,
};
use convoke_core::time::Timestamp;

use crate::colour::Colour;
use crate::evidence;
use crate::output::plain;

/// A request that is being answered.
#[derive(Debug)]
pub(super) struct Asking {
    request: Request,
    /// The answers to the first of its questions.
    answers: Vec<Answer>,
}

/// The result of an answer.
#[derive(Debug, PartialEq, Eq)]
pub(super) enum Next {
    /// The answer is invalid, for this reason; the question is asked again.
    Again(String),
    /// There is one more question.
    More,
    /// The request is answered.
    Done(Verdict),
}

impl Asking {
    pub(super) const fn new(request: Request) -> Self {
        Self { request, answers: Vec::new() }
    }

    pub(super) const fn request(&self) -> &Request {
        &self.request
    }

    /// The question, its evidence and its options, for the screen.
    pub(super) fn text(&self, colour: Colour) -> String {
        let text = match &self.request {
            Request::Permission(PermissionRecord { title, options, evidence, .. }) => {
                let rows = options.iter().map(|option| (option.name.as_str(), None));
                let options = plain(&numbered(rows));
                // The evidence is sanitised, and has Convoke's colours.
                return match evidence {
                    Some(evidence) => {
                        format!("{}\n{}{options}", purpose(evidence), painted(evidence, colour))
                    }
                    None => format!("The agent asks for permission: {}\n{options}", plain(title)),
                };
            }
            Request::Questions(record) => match self.question(record) {
                Some(question) => {
                    let rows = question
                        .options
                        .iter()
                        .map(|option| (option.label.as_str(), option.description.as_deref()));
                    let place = match record.questions.len() {
                        0 | 1 => String::new(),
                        count => format!(" ({} of {count})", self.answers.len() + 1),
                    };
                    format!("The agent asks{place}: {}\n{}", question.prompt, numbered(rows))
                }
                None => String::new(),
            },
        };
        plain(&text)
    }

    /// The text before the cursor.
    pub(super) fn prompt(&self) -> String {
        match &self.request {
            Request::Permission(record) => {
                format!("1 to {}, or no and why: ", record.options.len())
            }
            Request::Questions(record) => match self.question(record) {
                Some(question) if question.multi_select => {
                    format!("numbers up to {} (1,2), or your own words: ", question.options.len())
                }
                Some(question) => format!("1 to {}, or your own words: ", question.options.len()),
                None => String::new(),
            },
        }
    }

    /// Handles a typed line.
    pub(super) fn take_line(&mut self, line: &str, now: Timestamp) -> Next {
        let line = line.trim();
        match &self.request {
            Request::Permission(record) => permission(&record.options, line),
            Request::Questions(record) => {
                let Some(question) = self.question(record) else {
                    return Next::Done(Verdict::Reject { reason: None });
                };
                match answer(question, self.answers.len(), line, now) {
                    Ok(answer) => self.answers.push(answer),
                    Err(why) => return Next::Again(why),
                }
                if self.question(record).is_some() {
                    return Next::More;
                }
                let answers = std::mem::take(&mut self.answers);
                Next::Done(Verdict::Answer(Answers { answers }))
            }
        }
    }

    /// The question that is not answered yet.
    fn question<'a>(&self, record: &'a QuestionRecord) -> Option<&'a Question> {
        record.questions.get(self.answers.len())
    }
}

/// The subject of a request, in one line.
pub(super) fn subject(request: &Request) -> String {
    let text = match request {
        Request::Permission(record) => record.title.clone(),
        Request::Questions(record) => {
            record.questions.first().map_or(String::new(), |question| question.prompt.clone())
        }
    };
    text.split_whitespace().collect::<Vec<_>>().join(" ")
}

/// The purpose of a request, in a line that does not repeat the evidence.
const fn purpose(evidence: &Evidence) -> &'static str {
    match evidence {
        Evidence::Command { .. } => "The agent asks for permission to run:",
        Evidence::Changes { .. } => "The agent asks for permission to change files:",
        Evidence::Read { .. } => "The agent asks for permission to read files:",
        Evidence::Fetch { .. } => "The agent asks for permission to fetch:",
        Evidence::Tool { .. } => "The agent asks for permission to use a tool:",
    }
}

/// The evidence, with the lines of changes in their colours.
fn painted(evidence: &Evidence, colour: Colour) -> String {
    let text = evidence::text(evidence);
    let Evidence::Changes { .. } = evidence else { return text };
    let line = |line: &str| {
        let words = line.trim_start();
        if words.starts_with("+++") || words.starts_with("---") || words.starts_with("@@") {
            colour.faint(line)
        } else if words.starts_with('+') {
            colour.good(line)
        } else if words.starts_with('-') {
            colour.removed(line)
        } else {
            line.to_owned()
        }
    };
    text.lines().map(|it| line(it) + "\n").collect()
}

fn numbered<'a>(rows: impl Iterator<Item = (&'a str, Option<&'a str>)>) -> String {
    let row = |(index, (label, description)): (usize, (&str, Option<&str>))| {
        let description = description.map_or(String::new(), |text| format!(" — {text}"));
        format!("  {}. {label}{description}\n", index + 1)
    };
    rows.enumerate().map(row).collect()
}

fn permission(options: &[PermissionOption], line: &str) -> Next {
    if let Some(reason) = denied(line) {
        return Next::Done(Verdict::Reject { reason: Some(reason) });
    }
    let of_kind = |kind| options.iter().find(|option: &&PermissionOption| option.kind == kind);
    let chosen = match line.to_lowercase().as_str() {
        "y" | "yes" => of_kind(PermissionKind::AllowOnce),
        "n" | "no" => of_kind(PermissionKind::RejectOnce),
        word => pick(options, word)
            .or_else(|| options.iter().find(|option| option.name.to_lowercase() == word)),
    };
    match chosen {
        Some(option) => {
            let option_id = option.option_id.clone();
            Next::Done(Verdict::Choose(Choice { option_id }))
        }
        None => Next::Again(format!("choose a number from 1 to {}", options.len())),
    }
}

/// The text after a no.
fn denied(line: &str) -> Option<String> {
    let (no, why) = line.split_once([' ', ',', ':'])?;
    let is_no = matches!(no.to_lowercase().as_str(), "n" | "no");
    let why = why.trim().trim_start_matches([',', ':']).trim();
    (is_no && !why.is_empty()).then(|| why.to_owned())
}

/// The item with this number, counted from 1.
fn pick<'a, T>(things: &'a [T], word: &str) -> Option<&'a T> {
    things.get(word.parse::<usize>().ok()?.checked_sub(1)?)
}

fn answer(
    question: &Question,
    question_index: usize,
    line: &str,
    timestamp: Timestamp,
) -> Result<Answer, String> {
    let blank = Answer {
        question_index,
        selected_option: None,
        selected_options: None,
        custom_text: None,
        timestamp,
    };
    if line.is_empty() {
        return Err("an answer is needed; Ctrl-D rejects the question".to_owned());
    }
    let words: Vec<&str> = line.split([',', ' ']).filter(|word| !word.is_empty()).collect();
    let are_numbers = words.iter().all(|word| word.parse::<usize>().is_ok());
    if !are_numbers {
        return Ok(Answer { custom_text: Some(line.to_owned()), ..blank });
    }
    let labels: Option<Vec<String>> =
        words.iter().map(|word| Some(pick(&question.options, word)?.label.clone())).collect();
    let Some(mut labels) = labels else {
        return Err(format!("choose from 1 to {}", question.options.len()));
    };
    if question.multi_select {
        return Ok(Answer { selected_options: Some(labels), ..blank });
    }
    match (labels.pop(), labels.is_empty()) {
        (Some(label), true) => Ok(Answer { selected_option: Some(label), ..blank }),
        (Some(_) | None, _) => Err("choose one".to_owned()),
    }
}

#[cfg(test)]
mod tests {
    use convoke_core::id::RequestId;
    use convoke_core::request::State;
    use serde_json::json;

    use super::*;

    fn now() -> Timestamp {
        Timestamp::from_millis(0)
    }

    fn permission_asked() -> Asking {
        let option = |id: &str, kind| PermissionOption {
            option_id: id.to_owned(),
            name: format!("{id} it"),
            kind,
        };
        Asking::new(Request::Permission(PermissionRecord {
            by: None,
            request_id: RequestId::from_random([1; 16]),
            tool_call_id: None,
            tool: None,
            evidence: None,
            rules: Vec::new(),
            title: "Write \u{1b}[2Jnotes.txt".to_owned(),
            options: vec![
                option("Allow", PermissionKind::AllowOnce),
                option("Always", PermissionKind::AllowAlways),
                option("Reject", PermissionKind::RejectOnce),
            ],
            state: State::Pending,
        }))
    }

    fn questions_asked() -> Asking {
        let questions = json!([
            {"prompt": "Which?", "options": [{"label": "A", "description": "first"}, {"label": "B"}]},
            {"prompt": "Which ones?", "options": [{"label": "X"}, {"label": "Y"}], "multiSelect": true},
        ]);
        Asking::new(Request::Questions(QuestionRecord {
            by: None,
            request_id: RequestId::from_random([2; 16]),
            questions: serde_json::from_value(questions).unwrap(),
            state: State::Pending,
        }))
    }

    #[test]
    fn a_permission_is_chosen_by_number_name_or_yes_and_no() {
        insta::assert_snapshot!(permission_asked().text(Colour::Off), @"
        The agent asks for permission: Write �[2Jnotes.txt
          1. Allow it
          2. Always it
          3. Reject it
        ");
        assert_eq!(permission_asked().prompt(), "1 to 3, or no and why: ");
        let choose = |line: &str| match permission_asked().take_line(line, now()) {
            Next::Done(Verdict::Choose(Choice { option_id })) => option_id,
            next @ (Next::Again(_) | Next::More | Next::Done(_)) => format!("{next:?}"),
        };
        assert_eq!(
            ["1", "2", " 3 ", "always it", "y", "NO"].map(choose),
            ["Allow", "Always", "Reject", "Always", "Allow", "Reject"]
        );
        for line in ["", "0", "4", "maybe", "1 2"] {
            assert_eq!(choose(line), "Again(\"choose a number from 1 to 3\")");
        }
    }

    #[test]
    fn p1_p12_a_permission_is_asked_with_its_evidence_and_declined_with_a_note() {
        let diff = convoke_core::content::Diff {
            path: "a.rs".to_owned(),
            old_text: Some("one\n".to_owned()),
            new_text: "two\n".to_owned(),
        };
        let mut asking = permission_asked();
        let Request::Permission(record) = &mut asking.request else { panic!() };
        record.evidence = Some(Evidence::Changes { diffs: vec![diff], omitted_bytes: 0 });
        insta::assert_snapshot!(asking.text(Colour::Off), @"
        The agent asks for permission to change files:
            --- a.rs
            +++ a.rs
            @@ -1 +1 @@
            -one
            +two
          1. Allow it
          2. Always it
          3. Reject it
        ");
        let coloured = asking.text(Colour::On);
        assert!(coloured.contains("\x1b[31m    -one\x1b[0m"), "{coloured}");
        let reason = Some("use main.rs".to_owned());
        assert_eq!(
            asking.take_line("no, use main.rs", now()),
            Next::Done(Verdict::Reject { reason })
        );
    }

    #[test]
    fn questions_are_answered_one_after_the_other_by_numbers_or_in_own_words() {
        let mut asking = questions_asked();
        insta::assert_snapshot!(asking.text(Colour::Off), @"
        The agent asks (1 of 2): Which?
          1. A — first
          2. B
        ");
        assert_eq!(asking.take_line("3", now()), Next::Again("choose from 1 to 2".to_owned()));
        assert_eq!(asking.take_line("1,2", now()), Next::Again("choose one".to_owned()));
        assert!(matches!(asking.take_line("", now()), Next::Again(_)));
        assert_eq!(asking.take_line("neither of 2", now()), Next::More);
        assert_eq!(asking.prompt(), "numbers up to 2 (1,2), or your own words: ");
        let next = asking.take_line("2, 1", now());
        let Next::Done(Verdict::Answer(Answers { answers })) = next else { panic!() };
        assert_eq!(answers[0].custom_text.as_deref(), Some("neither of 2"));
        assert_eq!(answers[1].selected_options, Some(vec!["Y".to_owned(), "X".to_owned()]));
        let Asking { request: Request::Questions(record), .. } = questions_asked() else {
            panic!()
        };
        convoke_core::question::check_all_answered(&record.questions, &answers).unwrap();
    }
}
