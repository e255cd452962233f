//! Conversations that Convoke and another program both write: nothing is there twice, and nothing is lost.

use std::fs::{self, OpenOptions};
use std::io::Write as _;
use std::path::Path;

use convoke_testkit::postgres;

use crate::histories::{ID, line, until};
use crate::moving::{clones, move_to};

fn append(file: &Path, text: &str) {
    let mut file = OpenOptions::new().append(true).open(file).unwrap();
    file.write_all(text.as_bytes()).unwrap();
}

#[test]
fn h2_n8_the_file_of_a_session_that_was_moved_away_does_not_end_an_import() {
    let database = postgres::database();
    let (here, _there) = clones(&database);
    let folder = here.machine.path().join(".claude/projects/-web");
    fs::create_dir_all(&folder).unwrap();
    let web = here.web().canonicalize().unwrap();
    let said = |uuid, text| line(uuid, "user", text, 1).replace("/gone/app", web.to_str().unwrap());
    let file = folder.join(format!("{ID}.jsonl"));
    fs::write(&file, said("u1", "about the walnut")).unwrap();
    here.run("import --all");
    let listed = here.machine.json("session list --json");
    let session = listed["sessions"][0]["id"].as_str().unwrap().to_owned();
    let moved = move_to(&here, &session, "workstation");
    assert!(moved.contains("Moved from laptop to workstation."), "{moved}");
    append(&file, &said("u2", "about the hazelnut"));
    for number in 0..5 {
        let id = format!("22222222-2222-4222-8222-{number:012}");
        let talk = said("u1", &format!("almond {number}")).replace(ID, &id);
        fs::write(folder.join(format!("{id}.jsonl")), talk).unwrap();
    }
    let imported = here.run("import --all");
    assert!(imported.starts_with("exit 0"), "{imported}");
    let count = |pattern: &str| {
        let sql = format!("SELECT count(*) FROM messages WHERE content LIKE '%{pattern}%'");
        database.value(&sql).unwrap()
    };
    until(|| (count("almond") == "5").then_some(()));
    assert_eq!(count("hazelnut"), "0");
}
