//! Questions that an agent asks in its own format: forms (`elicitation/create`), and qwen's
//! permissions with embedded questions. Both become ordinary questions, and the answers are
//! returned in the agent's format.

use convoke_core::question::{Answer, Choice, Limits, Question, check_questions};
use serde_json::{Map, Value, json};

/// Above the agents' own limits, which may change; the user interfaces must handle this many.
const LIMITS: Limits = Limits { questions_max: 16, options_max: 32 };
/// The suffix of fields that take free text beside a choice.
const CUSTOM: &str = "_custom";

/// Questions, and the format of their answers.
#[derive(Debug, Clone, PartialEq)]
pub(super) struct Form {
    pub(super) questions: Vec<Question>,
    format: AnswerFormat,
}

#[derive(Debug, Clone, PartialEq)]
enum AnswerFormat {
    /// The fields of a form, in the order of the questions.
    Fields(Vec<Field>),
    /// The option of a permission that submits the answers, which are keyed by question number.
    Option(String),
}

#[derive(Debug, Clone, PartialEq)]
struct Field {
    name: String,
    /// The field for free text, if there is one.
    custom: Option<String>,
    /// The values of the options, by label.
    values: Vec<(String, Value)>,
}

impl Form {
    /// The questions in a form; `None` if it asks for something else, such as numbers or secrets.
    pub(super) fn of_elicitation(params: &Value) -> Option<Self> {
        if params.get("mode").and_then(Value::as_str).is_some_and(|mode| mode != "form") {
            return None;
        }
        let properties = params.pointer("/requestedSchema/properties")?.as_object()?;
        let message = params.get("message").and_then(Value::as_str).unwrap_or_default();
        let (mut questions, mut fields) = (Vec::new(), Vec::new());
        for (name, schema) in properties.iter().filter(|(name, _)| !is_custom(name, properties)) {
            let (question, values) = question(name, schema, message)?;
            let custom = format!("{name}{CUSTOM}");
            let custom = properties.contains_key(&custom).then_some(custom);
            questions.push(question);
            fields.push(Field { name: name.clone(), custom, values });
        }
        check_questions(&questions, LIMITS).ok()?;
        Some(Self { questions, format: AnswerFormat::Fields(fields) })
    }

    /// The questions in a permission request of qwen.
    pub(super) fn of_permission(params: &Value) -> Option<Self> {
        let meta = params.pointer("/toolCall/_meta")?;
        let asked = meta.get("qwenQuestions")?.as_array()?;
        let word = |value: &Value, name: &str| {
            value.get(name).and_then(Value::as_str).unwrap_or_default().to_owned()
        };
        let question = |asked: &Value| {
            let options = asked.get("options").and_then(Value::as_array);
            let choice = |option: &Value| Choice {
                label: word(option, "label"),
                description: option.get("description").and_then(Value::as_str).map(str::to_owned),
            };
            Question {
                prompt: word(asked, "question"),
                title: word(asked, "header"),
                options: options.into_iter().flatten().map(choice).collect(),
                multi_select: asked.get("multiSelect").and_then(Value::as_bool) == Some(true),
            }
        };
        let questions: Vec<Question> = asked.iter().map(question).collect();
        check_questions(&questions, LIMITS).ok()?;
        let options = params.get("options")?.as_array()?;
        let submit = options.iter().find(|option| word(option, "kind") == "allow_once")?;
        Some(Self { questions, format: AnswerFormat::Option(word(submit, "optionId")) })
    }

    /// The agent's result for these answers.
    pub(super) fn answered(&self, answers: &[Answer]) -> Value {
        match &self.format {
            AnswerFormat::Fields(fields) => {
                let mut content = Map::new();
                for answer in answers {
                    let field = fields.get(answer.question_index);
                    let question = self.questions.get(answer.question_index);
                    if let (Some(field), Some(question)) = (field, question) {
                        field.fill(question, answer, &mut content);
                    }
                }
                json!({"action": "accept", "content": content})
            }
            AnswerFormat::Option(option_id) => {
                let words = |answer: &Answer| {
                    let custom = answer.custom_text.as_deref().filter(|text| !text.is_empty());
                    let said: Vec<&str> = selected(answer).into_iter().chain(custom).collect();
                    (answer.question_index.to_string(), Value::from(said.join(", ")))
                };
                let answers: Map<String, Value> = answers.iter().map(words).collect();
                let outcome = json!({"outcome": "selected", "optionId": option_id});
                json!({"outcome": outcome, "answers": answers})
            }
        }
    }

    /// The agent's result if the human declines.
    pub(super) fn declined(&self) -> Value {
        match &self.format {
            AnswerFormat::Fields(_) => json!({"action": "decline"}),
            AnswerFormat::Option(_) => json!({"outcome": {"outcome": "cancelled"}}),
        }
    }

    /// The agent's result if the request is cancelled.
    pub(super) fn cancelled(&self) -> Value {
        match &self.format {
            AnswerFormat::Fields(_) => json!({"action": "cancel"}),
            AnswerFormat::Option(_) => json!({"outcome": {"outcome": "cancelled"}}),
        }
    }
}

impl Field {
    fn fill(&self, question: &Question, answer: &Answer, content: &mut Map<String, Value>) {
        let value = |label: &str| {
            let known = self.values.iter().find(|(known, _)| known == label);
            known.map_or_else(|| Value::from(label), |(_, value)| value.clone())
        };
        let chosen: Vec<Value> = selected(answer).into_iter().map(value).collect();
        let custom = answer.custom_text.as_deref().filter(|text| !text.is_empty());
        if question.multi_select && !chosen.is_empty() {
            content.insert(self.name.clone(), chosen.into());
        } else if let Some(one) = chosen.into_iter().next() {
            content.insert(self.name.clone(), one);
        }
        match (custom, &self.custom) {
            (Some(text), Some(field)) => {
                content.insert(field.clone(), text.into());
            }
            // A form without a field for it takes it as the value.
            (Some(text), None) => {
                content.entry(self.name.clone()).or_insert_with(|| text.into());
            }
            (None, _) => {}
        }
    }
}

fn selected(answer: &Answer) -> Vec<&str> {
    match &answer.selected_options {
        Some(labels) => labels.iter().map(String::as_str).collect(),
        None => answer.selected_option.as_deref().filter(|it| !it.is_empty()).into_iter().collect(),
    }
}

fn is_custom(name: &str, properties: &Map<String, Value>) -> bool {
    name.strip_suffix(CUSTOM).is_some_and(|of| properties.contains_key(of))
}

/// One field of a form as a question, and the values of its options.
fn question(name: &str, schema: &Value, message: &str) -> Option<(Question, Vec<(String, Value)>)> {
    let text = |field: &str| schema.get(field).and_then(Value::as_str).unwrap_or_default();
    let is_list = text("type") == "array";
    let (one, items) = (schema, schema.get("items"));
    let of = if is_list { items? } else { one };
    let offered = of.get("oneOf").or_else(|| of.get("anyOf")).or_else(|| of.get("enum"));
    let values = match (offered.and_then(Value::as_array), text("type")) {
        (Some(options), _) => options.iter().map(option).collect::<Option<Vec<_>>>()?,
        (None, "boolean") => {
            let choice = |label: &str, value: bool| (label.to_owned(), None, Value::from(value));
            vec![choice("Yes", true), choice("No", false)]
        }
        // A question needs options.
        (None, _) => return None,
    };
    let prompt = [text("description"), message, text("title"), name];
    let prompt = prompt.into_iter().find(|text| !text.trim().is_empty())?.to_owned();
    let choice = |(label, description, _): &(String, Option<String>, Value)| Choice {
        label: label.clone(),
        description: description.clone(),
    };
    let options = values.iter().map(choice).collect();
    let title = text("title").to_owned();
    let values = values.into_iter().map(|(label, _, value)| (label, value)).collect();
    Some((Question { prompt, title, options, multi_select: is_list }, values))
}

/// An option: its label, its description and its value.
fn option(option: &Value) -> Option<(String, Option<String>, Value)> {
    if let Some(label) = option.as_str() {
        return Some((label.to_owned(), None, option.clone()));
    }
    let value = option.get("const")?;
    let label = option.get("title").and_then(Value::as_str).or_else(|| value.as_str())?;
    let description = option.get("description").and_then(Value::as_str).map(str::to_owned);
    Some((label.to_owned(), description, value.clone()))
}

#[cfg(test)]
mod tests {
    use convoke_core::time::Timestamp;

    use super::*;

    fn answer(question_index: usize, labels: &[&str], custom: Option<&str>) -> Answer {
        Answer {
            question_index,
            selected_option: None,
            selected_options: Some(labels.iter().map(ToString::to_string).collect()),
            custom_text: custom.map(str::to_owned),
            timestamp: Timestamp::from_millis(0),
        }
    }

    /// As claude-agent-acp sends them.
    #[test]
    fn l1_a_form_of_an_agent_becomes_questions_and_is_filled_in() {
        let form = Form::of_elicitation(&json!({
            "mode": "form", "sessionId": "s", "toolCallId": "t", "message": "Which colour?",
            "requestedSchema": {"type": "object", "properties": {
                "question_0": {"type": "string", "title": "Colour", "oneOf": [
                    {"const": "Red", "title": "Red", "description": "like roses"}, {"const": "Blue", "title": "Blue"}]},
                "question_0_custom": {"type": "string", "title": "Other"},
                "question_1": {"type": "array", "description": "Which sizes?", "items": {"anyOf": [
                    {"const": "S", "title": "Small"}, {"const": "L", "title": "Large"}]}},
            }},
        }))
        .unwrap();
        let prompts: Vec<&str> = form.questions.iter().map(|it| it.prompt.as_str()).collect();
        assert_eq!(prompts, ["Which colour?", "Which sizes?"]);
        assert_eq!(form.questions[0].options[0].description.as_deref(), Some("like roses"));
        assert!(form.questions[1].multi_select);
        let answers = [answer(0, &["Red"], Some("dark")), answer(1, &["Small", "Large"], None)];
        assert_eq!(
            form.answered(&answers),
            json!({"action": "accept", "content": {
                "question_0": "Red", "question_0_custom": "dark", "question_1": ["S", "L"]}})
        );
        assert_eq!(form.declined(), json!({"action": "decline"}));
    }

    #[test]
    fn l1_a_form_that_asks_for_anything_but_choices_is_not_shown() {
        let form = |properties: Value| {
            Form::of_elicitation(
                &json!({"message": "?", "requestedSchema": {"properties": properties}}),
            )
        };
        assert!(form(json!({"password": {"type": "string"}})).is_none());
        assert!(form(json!({})).is_none());
        assert!(form(json!({"sure": {"type": "boolean", "title": "Sure?"}})).is_some());
        assert!(Form::of_elicitation(&json!({"mode": "url", "url": "https://x.test"})).is_none());
    }

    #[test]
    fn l1_the_questions_of_qwen_are_answered_by_number() {
        let form = Form::of_permission(&json!({
            "options": [{"optionId": "proceed_once", "name": "Submit", "kind": "allow_once"},
                {"optionId": "cancel", "name": "Cancel", "kind": "reject_once"}],
            "toolCall": {"toolCallId": "c1", "title": "Ask user 1 question", "_meta": {
                "toolName": "ask_user_question", "qwenInteractionKind": "user_question",
                "qwenQuestions": [{"question": "Which?", "header": "Choice", "multiSelect": false, "options": [
                    {"label": "A", "description": "first"}, {"label": "B", "description": "second"}]}]}},
        }))
        .unwrap();
        assert_eq!(form.questions[0].prompt, "Which?");
        assert_eq!(
            form.answered(&[answer(0, &["B"], Some("soon"))]),
            json!({"outcome": {"outcome": "selected", "optionId": "proceed_once"}, "answers": {"0": "B, soon"}})
        );
        assert!(Form::of_permission(&json!({"toolCall": {"toolCallId": "x"}})).is_none());
    }
}
