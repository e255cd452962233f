//! The daemon's texts are about its HTTP interface; here they become those of the command line.

/// How the daemon says that an ended session can be resumed; the hint has the command.
const RESUME: &str = "; resume it first: POST /api/";
/// Between the name of a field and its option: `force` (`--force`).
const OR_OPTION: &str = "` (`--";

/// A text without paths and fields of the HTTP interface.
pub(super) fn for_command_line(text: &str) -> String {
    let mut rest = text.split_once(RESUME).map_or(text, |(before, _)| before);
    let mut words = String::new();
    while let Some((field, after)) = rest.split_once(OR_OPTION) {
        let Some((option, after)) = after.split_once("`)") else { break };
        // The field may have a value of its own: `files` `leave` (`--files leave`).
        let before = field.rsplit_once('`').map_or(field, |(before, _)| before);
        let pair = before.strip_suffix("` ").and_then(|it| it.rsplit_once('`'));
        let before = pair.map_or(before, |(before, _)| before);
        words.push_str(before);
        words.push_str(&format!("`--{option}`"));
        rest = after;
    }
    words + rest
}

#[cfg(test)]
mod tests {
    use super::for_command_line;

    #[test]
    fn fields_and_paths_become_options_and_commands() {
        let texts = [
            "look first; `force` (`--force`) overwrites them",
            "name the project: `project` (`--project PATH`); or wait",
            "push them: `files` `leave` (`--files leave`)",
            "the session is completed; resume it first: POST /api/sessions/3fa8/resume",
            "see `convoke agent list` (`demo` works at once)",
        ];
        insta::assert_snapshot!(texts.map(for_command_line).join("\n"), @"
        look first; `--force` overwrites them
        name the project: `--project PATH`; or wait
        push them: `--files leave`
        the session is completed
        see `convoke agent list` (`demo` works at once)
        ");
    }
}
