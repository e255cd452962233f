//! Files that are mentioned, and files that are attached.

use convoke_api::bodies::StoredAttachment;
use convoke_api::entry::EntryBody;
use convoke_api::frames::{ClientFrame, ServerFrame};
use convoke_core::state::OfferedCommand;

use super::stage::{Stage, prompt, shop, state};
use crate::workbench::message::{Effect, Message};

fn complete(query: &str) -> ClientFrame {
    let (project_id, limit) = (shop().id.to_string(), Some(8));
    ClientFrame::FileComplete { project_id, query: query.to_owned(), limit }
}

#[test]
fn l2_a_file_is_found_by_a_few_letters_and_sent_as_mentioned() {
    let mut stage = Stage::at_home(80, 16);
    stage.keys("n").types("Look at @pr");
    let said = stage.said();
    assert_eq!(said, ["", "p", "pr"].map(complete));
    let files = vec!["src/price.rs".to_owned(), "docs/prices.md".to_owned()];
    let query = "pr".to_owned();
    stage.answer(ServerFrame::FileCompletions { project_id: shop().id, query, files });
    insta::assert_snapshot!(stage.screen());
    stage.keys("tab").types("and @nobody").keys("enter");
    let said = stage.said();
    let Some(ClientFrame::SessionCreate { prompt, files, .. }) = said.last() else {
        panic!("{said:?}");
    };
    assert_eq!(prompt.as_deref(), Some("Look at @src/price.rs and @nobody"));
    assert_eq!(files, &["src/price.rs".to_owned()]);
}

#[test]
fn l3_a_file_that_is_dropped_on_the_terminal_is_attached() {
    let mut stage = Stage::at_home(80, 16);
    stage.keys("n");
    let (path, text) = ("/tmp/a shot.png".to_owned(), "'/tmp/a shot.png'".to_owned());
    stage.send(Message::Pasted(text.clone()));
    let effects = stage.effects();
    assert_eq!(effects, [Effect::Attach { to: None, path, text }]);
    let stored = StoredAttachment {
        hash: "0".repeat(64),
        name: "a shot.png".to_owned(),
        media_type: "image/png".to_owned(),
        size: 7,
    };
    stage.send(Message::Attached { to: None, stored });
    assert!(stage.screen().contains("[a shot.png]"), "{}", stage.screen());
    stage.keys("enter");
    let said = stage.said();
    let Some(ClientFrame::SessionCreate { attachments, prompt, .. }) = said.last() else {
        panic!("{said:?}");
    };
    assert_eq!((attachments.len(), prompt), (1, &None));
    assert!(!stage.screen().contains("[a shot.png]"), "it is sent once");
}

#[test]
fn l3_a_pasted_path_that_is_no_file_is_text() {
    let mut stage = Stage::at_home(80, 16);
    stage.keys("n");
    stage.send(Message::Pasted("/usr/bin is a folder\n".to_owned()));
    stage.send(Message::PastedText("/usr/bin is a folder".to_owned()));
    assert!(stage.screen().contains("/usr/bin is a folder"), "{}", stage.screen());
}

#[test]
fn commands_of_the_agent_are_listed_and_completed() {
    let mut stage = Stage::talking(80, 14, vec![prompt(1, "Hello")]);
    let command = |name: &str, description: &str| OfferedCommand {
        name: name.to_owned(),
        description: description.to_owned(),
        hint: None,
    };
    let commands = vec![command("explain", "say more"), command("plan", "make a plan")];
    stage.update(state("commands", 90, EntryBody::Commands { commands }));
    stage.types("/");
    assert!(stage.screen().contains("tab /explain  say more  /plan"), "{}", stage.screen());
    stage.types("pl");
    assert!(stage.screen().contains("tab /plan  make a plan  /explain"), "{}", stage.screen());
    stage.keys("tab").types("the roof");
    assert!(stage.screen().contains("❯ /plan the roof"), "{}", stage.screen());
    assert!(!stage.screen().contains("make a plan"), "{}", stage.screen());
    // A slash elsewhere is no command.
    stage.keys("ctrl-u").types("see /pl");
    assert!(!stage.screen().contains("make a plan"), "{}", stage.screen());
}
