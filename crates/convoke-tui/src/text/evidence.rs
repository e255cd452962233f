//! The evidence of a permission: the command as code, the changes as a diff, paths, the address, or
//! the arguments.

use convoke_core::content::Diff;
use convoke_core::evidence::Evidence;
use ratatui::style::Style;
use ratatui::text::{Line, Span};
use serde_json::Value;

use super::line_buffer::LineBuffer;
use super::{clean, code, diff};
use crate::palette::Palette;

/// The prefix of code.
const MARGIN: &str = "│ ";

/// The question in one line, which does not repeat the evidence.
pub(crate) fn question(evidence: Option<&Evidence>, title: &str) -> String {
    clean::line(&match evidence {
        None => title.to_owned(),
        Some(Evidence::Command { .. }) => "Run this command?".to_owned(),
        Some(Evidence::Changes { diffs, .. }) => match diffs.as_slice() {
            [Diff { path, old_text: None, .. }] => format!("Create {path}?"),
            [Diff { path, .. }] => format!("Change {path}?"),
            _ => format!("Change {} files?", diffs.len()),
        },
        Some(Evidence::Read { paths, .. }) => match paths.as_slice() {
            [_] => "Read this file?".to_owned(),
            _ => format!("Read {} files?", paths.len()),
        },
        Some(Evidence::Fetch { .. }) => "Fetch this address?".to_owned(),
        Some(Evidence::Tool { server: Some(server), tool, .. }) => {
            format!("Use {tool} of {server}?")
        }
        Some(Evidence::Tool { server: None, tool, .. }) => format!("Use {tool}?"),
    })
}

/// All of the evidence, in lines that fit.
pub(crate) fn lines(evidence: &Evidence, width: usize, palette: Palette) -> Vec<Line<'static>> {
    let mut line_buffer = LineBuffer::new(width, palette);
    let omitted = match evidence {
        Evidence::Command { command, working_directory, arguments, omitted_bytes } => {
            for line in code::lines("sh", command.trim_end(), palette) {
                line_buffer.row(MARGIN, MARGIN, palette.faint(), &line);
            }
            if let Some(folder) = working_directory {
                line_buffer.text("  in ", "  ", folder, palette.faint(), palette.code());
            }
            arguments.iter().for_each(|arguments| fields(&mut line_buffer, arguments));
            *omitted_bytes
        }
        Evidence::Changes { diffs, omitted_bytes } => {
            for change in diffs {
                if diffs.len() > 1 {
                    diff::summary(&mut line_buffer, change);
                }
                diff::hunks(&mut line_buffer, change);
            }
            *omitted_bytes
        }
        Evidence::Read { paths, omitted_bytes } => {
            for path in paths {
                line_buffer.text(MARGIN, MARGIN, path, palette.faint(), palette.code());
            }
            *omitted_bytes
        }
        Evidence::Fetch { url, omitted_bytes } => {
            line_buffer.text(MARGIN, MARGIN, url, palette.faint(), palette.code());
            *omitted_bytes
        }
        Evidence::Tool { args, omitted_bytes, .. } => {
            fields(&mut line_buffer, args);
            *omitted_bytes
        }
    };
    if omitted > 0 {
        let words = format!("… {omitted} more bytes are not shown: they were left out");
        line_buffer.text("  ", "  ", &words, palette.news(), palette.news());
    }
    line_buffer.lines
}

/// Arguments, one per line; nested values as JSON.
fn fields(line_buffer: &mut LineBuffer, args: &Value) {
    let palette = line_buffer.palette;
    let Value::Object(fields) = args else {
        let text = args.as_str().map_or_else(|| args.to_string(), str::to_owned);
        return line_buffer.text(MARGIN, MARGIN, &text, palette.faint(), palette.code());
    };
    for (name, value) in fields {
        let text = value.as_str().map_or_else(|| value.to_string(), str::to_owned);
        let mut rows = clean::block(&text);
        rows.truncate(rows.trim_end().len());
        for (index, row) in rows.split('\n').enumerate() {
            let name = if index == 0 { format!("{}: ", clean::line(name)) } else { String::new() };
            let spans =
                [Span::styled(name, palette.faint()), Span::styled(row.to_owned(), Style::new())];
            line_buffer.row(MARGIN, MARGIN, palette.faint(), &spans);
        }
    }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;
    use crate::Colour;

    fn shown(evidence: &Evidence) -> String {
        let palette = Palette { colour: Colour::Off };
        let lines = lines(evidence, 40, palette);
        let rows: Vec<String> =
            lines.iter().map(|it| it.to_string().trim_end().to_owned()).collect();
        format!("{}\n{}", question(Some(evidence), "a title"), rows.join("\n"))
    }

    #[test]
    fn p1_a_command_is_code_that_is_broken_between_words() {
        let command = "cargo test --workspace --all-targets --no-fail-fast\u{1b}[2J -- upload\nls";
        let evidence = Evidence::Command {
            command: command.to_owned(),
            working_directory: Some("/srv/harbour".to_owned()),
            arguments: None,
            omitted_bytes: 12,
        };
        insta::assert_snapshot!(shown(&evidence), @r"
        Run this command?
        │ cargo test --workspace --all-targets
        │ --no-fail-fast␛[2J -- upload
        │ ls
          in /srv/harbour
          … 12 more bytes are not shown: they
          were left out
        ");
    }

    #[test]
    fn p1_changes_are_a_diff() {
        let change = |path: &str, old: Option<&str>, new: &str| Diff {
            path: path.to_owned(),
            old_text: old.map(str::to_owned),
            new_text: new.to_owned(),
        };
        let diffs = vec![change(
            "src/upload.rs",
            Some("let a = 1;\nlet b = 2;\n"),
            "let a = 1;\nlet b = 3;\n",
        )];
        insta::assert_snapshot!(shown(&Evidence::Changes { diffs, omitted_bytes: 0 }), @r"
        Change src/upload.rs?
          │ @@ -1,2 +1,2 @@
          │  let a = 1;
          │ -let b = 2;
          │ +let b = 3;
        ");
        let diffs = vec![change("a.txt", None, "one\n"), change("b.txt", Some("x\n"), "")];
        insta::assert_snapshot!(shown(&Evidence::Changes { diffs, omitted_bytes: 0 }), @r"
        Change 2 files?
          a.txt +1 −0
          │ @@ -0,0 +1 @@
          │ +one
          b.txt +0 −1
          │ @@ -1 +0,0 @@
          │ -x
        ");
    }

    #[test]
    fn p1_paths_addresses_and_arguments_are_shown() {
        let paths = vec!["/etc/passwd".to_owned()];
        let fetch =
            Evidence::Fetch { url: "https://example.org/a?b=c".to_owned(), omitted_bytes: 0 };
        let tool = Evidence::Tool {
            server: Some("tracker".to_owned()),
            tool: "create_issue".to_owned(),
            args: json!({"title": "Broken", "body": "one\ntwo", "labels": ["a", "b"]}),
            omitted_bytes: 0,
        };
        let all = [Evidence::Read { paths, omitted_bytes: 0 }, fetch, tool].map(|it| shown(&it));
        insta::assert_snapshot!(all.join("\n\n"), @r#"
        Read this file?
        │ /etc/passwd

        Fetch this address?
        │ https://example.org/a?b=c

        Use create_issue of tracker?
        │ body: one
        │ two
        │ labels: ["a","b"]
        │ title: Broken
        "#);
    }
}
