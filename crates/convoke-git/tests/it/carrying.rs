//! Checkpoints that go from one machine's repository to another's.

use std::fs::File;
use std::io::{Seek as _, Write as _};
use std::os::unix::fs::symlink;

use convoke_git::{Carried, Checkpoints, Guard, Scope};

use crate::scene::{Scene, before, limits, odd_name, undo};

const MAX: u64 = 64 << 20;

fn packed(checkpoints: &Checkpoints, carried: &[Carried]) -> File {
    let mut file = tempfile::tempfile().unwrap();
    assert!(checkpoints.pack(carried, &file, MAX, &limits()).unwrap());
    file.rewind().unwrap();
    file
}

/// The session of all checkpoints of these tests.
fn session() -> String {
    before(1).session().to_owned()
}

#[test]
fn n8_checkpoints_are_the_same_on_another_machine_and_can_be_restored_there() {
    let (here, there) = (Scene::with_git(), Scene::with_git());
    here.write("dir/changed", "old");
    here.write(odd_name(), "odd");
    symlink("dir", here.path("link")).unwrap();
    let first = here.checkpoint(1);
    here.write("dir/changed", "new");
    here.write("dir/added", "added");
    let second = here.checkpoint(2);
    let carried = here.checkpoints().carried(&session(), &limits()).unwrap();
    let words: Vec<String> = carried.iter().map(|it| it.to_word().unwrap()).collect();
    let read: Vec<Carried> = words.iter().map(|word| Carried::parse(word).unwrap()).collect();
    assert_eq!(read, carried);
    let pack = packed(&here.checkpoints(), &carried);
    there.write("mine", "stays in a checkpoint");
    let checkpoints = there.checkpoints();
    for _ in 0..2 {
        (&pack).rewind().unwrap();
        checkpoints.unpack(&session(), &carried, &pack, &limits()).unwrap();
    }
    let found = |turn| checkpoints.find(&before(turn), &limits()).unwrap().unwrap();
    assert_eq!((found(1).tree, found(2).tree), (first.tree, second.tree));
    let restored =
        checkpoints.restore(&found(2), Scope::All, Guard::Force, &undo(1), &limits()).unwrap();
    assert_eq!(there.files(), here.files());
    checkpoints.restore(&restored.undo, Scope::All, Guard::Force, &undo(2), &limits()).unwrap();
    assert_eq!(there.read("mine"), "stays in a checkpoint");
}

#[test]
fn n8_a_pack_that_is_too_large_or_damaged_is_refused() {
    let (here, there) = (Scene::new(), Scene::new());
    here.write("large", vec![7; 100_000]);
    here.write("file", "text");
    here.checkpoint(1);
    let carried = here.checkpoints().carried(&session(), &limits()).unwrap();
    let file = tempfile::tempfile().unwrap();
    assert!(!here.checkpoints().pack(&carried, &file, 10, &limits()).unwrap());
    assert!(file.metadata().unwrap().len() <= 10);
    let mut pack = packed(&here.checkpoints(), &carried);
    let whole = pack.metadata().unwrap().len();
    pack.set_len(whole - 5).unwrap();
    assert!(there.checkpoints().unpack(&session(), &carried, &pack, &limits()).is_err());
    pack.rewind().unwrap();
    pack.write_all(b"nonsense").unwrap();
    pack.rewind().unwrap();
    assert!(there.checkpoints().unpack(&session(), &carried, &pack, &limits()).is_err());
    // A commit that is not in the pack is not kept.
    let missing = Carried::parse(&format!("1-before={}", "12".repeat(20))).unwrap();
    let pack = packed(&here.checkpoints(), &carried);
    assert!(there.checkpoints().unpack(&session(), &[missing], &pack, &limits()).is_err());
    assert!(there.checkpoints().list(&session()).unwrap().is_empty());
    for word in ["", "1-before", "1-before=xyz", "../x=0000", "1-other=00"] {
        assert_eq!(Carried::parse(word), None, "{word}");
    }
}
