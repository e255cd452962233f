//! Whether the files of a session are whole and agree.

use convoke_core::id::RequestId;
use convoke_core::question::check_answers;
use serde::de::DeserializeOwned;

use super::{ANSWERS, AnswersFile, Questions, REQUEST, RequestFile, STATUS, Status, StatusFile};
use crate::{Error, Result, read};

impl Questions {
    /// The problems of a session, in sentences; empty if there are none. Changes nothing.
    pub fn validate(&self, id: RequestId) -> Result<Vec<String>> {
        let mut issues = Vec::new();
        if let Err(Error::NotFound { .. }) = self.existing(id) {
            issues.push("Session directory does not exist".to_owned());
            return Ok(issues);
        }
        let request = self.part::<RequestFile>(id, REQUEST, &mut issues)?;
        let status = self.part::<StatusFile>(id, STATUS, &mut issues)?;
        let mut optional = Vec::new();
        let answers = self.part::<AnswersFile>(id, ANSWERS, &mut optional)?;
        optional.retain(|issue| !issue.starts_with(MISSING));
        issues.append(&mut optional);
        let ids = [
            (REQUEST, request.as_ref().map(|file| file.session_id)),
            (STATUS, status.as_ref().map(|file| file.session_id)),
            (ANSWERS, answers.as_ref().map(|file| file.session_id)),
        ];
        let foreign = ids.into_iter().filter(|(_, found)| found.is_some_and(|found| found != id));
        issues.extend(foreign.map(|(name, _)| format!("Session ID mismatch in {name}")));
        if let (Some(request), Some(status)) = (&request, &status) {
            compare(request, status, answers.as_ref(), &mut issues);
        }
        Ok(issues)
    }

    fn part<T: DeserializeOwned>(
        &self,
        id: RequestId,
        name: &str,
        issues: &mut Vec<String>,
    ) -> Result<Option<T>> {
        match read::json(&self.folder(id).join(name)) {
            Ok(Some(file)) => return Ok(Some(file)),
            Ok(None) => issues.push(format!("{MISSING}{name}")),
            Err(Error::Damaged { source, .. }) => {
                issues.push(format!("{name} is damaged: {source}"));
            }
            Err(error) => return Err(error),
        }
        Ok(None)
    }
}

const MISSING: &str = "Required file missing: ";

fn compare(
    request: &RequestFile,
    status: &StatusFile,
    answers: Option<&AnswersFile>,
    issues: &mut Vec<String>,
) {
    if status.total_questions != request.questions.len() {
        issues.push("Question count mismatch between status and request".to_owned());
    }
    match (status.status, answers) {
        (Status::Completed, None) => {
            issues.push("Completed, but answers.json is missing".to_owned());
        }
        (_, Some(answers)) => {
            let fault = check_answers(&request.questions, &answers.answers).err();
            issues.extend(fault.map(|fault| format!("answers.json is invalid: {fault}")));
        }
        (Status::Pending | Status::Rejected | Status::TimedOut | Status::Abandoned, None) => {}
    }
}
