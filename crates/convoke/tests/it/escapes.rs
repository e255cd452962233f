//! What agents say does not drive the terminal of those who read it.

use convoke_testkit::agent::{Script, Step};

use crate::serve_scene::Daemon;

/// Clears the screen, sets the window's title, rings, and turns the direction of writing.
const HOSTILE: &str = "before\u{1b}[2J\u{1b}]0;owned\u{7}\u{9b}31m\u{202e}after\r\u{8}";

#[test]
fn k7_an_export_as_markdown_has_no_control_characters_and_the_json_formats_have_all() {
    let daemon = Daemon::new(&Script::new().turn([Step::say(HOSTILE)]));
    let session = daemon.session();
    daemon.turn(&session, &format!("title {HOSTILE}"));
    let export = |format: &str| {
        let args = ["session", "export", &session, "--format", format];
        let output = daemon.machine.command(&args).output().unwrap();
        assert!(output.status.success(), "{output:?}");
        String::from_utf8(output.stdout).unwrap()
    };
    let markdown = export("markdown");
    let drives = |c: char| c != '\n' && (c.is_control() || c == '\u{202e}');
    assert!(!markdown.contains(drives), "{markdown:?}");
    assert!(markdown.contains("before\u{fffd}[2J") && markdown.contains("after"), "{markdown:?}");
    for format in ["json", "jsonl"] {
        let exact = serde_json::json!(HOSTILE).to_string();
        let exact = exact.trim_matches('"');
        assert!(export(format).contains(exact), "{format}");
    }
    // Lists show titles that agents and prompts made.
    for args in [["session", "list"].as_slice(), &["session", "show", &session]] {
        let output = daemon.machine.command(args).output().unwrap();
        let shown = String::from_utf8(output.stdout).unwrap();
        assert!(shown.contains("title") && !shown.contains(drives), "{args:?}: {shown:?}");
    }
}
