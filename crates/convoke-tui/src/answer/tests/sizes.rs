//! Terminals of all sizes.

use super::stage::{Stage, one, set, shop, tea};

fn wordy() -> Stage {
    let prompt =
        "これはとても長い質問です。データベースを移行する前に、どの方法を選ぶか決めてください。"
            .repeat(4);
    let option = "A label that is so long that it cannot possibly stand on one row of a small terminal (recommended): \
                  And a description 説明 that goes on and on, with émoji 👩‍👩‍👧 and everything, over several rows.";
    let title = "A title that is long 長い題";
    let question = |title: &str| one(title, &prompt, &[option, "Short", option]);
    let mut asked = set(
        1,
        5,
        ["1", "2", "3", "4", "5"].map(|number| question(&format!("{title} {number}"))).into(),
    );
    asked.working_directory = Some("/home/ann/src/a/very/deep/folder/with/a/long/name".to_owned());
    asked.asked_by = Some("an agent with quite a long name 代理人".to_owned());
    Stage::with([asked, tea()])
}

#[test]
fn q19_sixty_by_sixteen_is_enough() {
    let mut stage = wordy().sized(60, 16);
    insta::assert_snapshot!(stage.screen());
    stage.keys("down down");
    insta::assert_snapshot!(stage.screen());
    stage.keys("o").types("日本語の答え").keys("alt-enter").types("and more");
    insta::assert_snapshot!(stage.screen());
    stage.keys("esc s");
    insta::assert_snapshot!(stage.screen());
    stage.keys("r").types("too much");
    insta::assert_snapshot!(stage.screen());
}

#[test]
fn a_large_screen_is_used_and_lines_stay_readable() {
    insta::assert_snapshot!(wordy().sized(120, 40).screen());
    insta::assert_snapshot!(Stage::with([shop()]).sized(200, 30).screen());
}

#[test]
fn a_terminal_that_is_too_small_says_so_and_changes_nothing() {
    let mut stage = Stage::with([tea()]).sized(40, 10);
    stage.keys("1 enter enter");
    assert_eq!(stage.effects, []);
    insta::assert_snapshot!(stage.screen());
    stage.resize(60, 15);
    insta::assert_snapshot!(stage.screen());
    stage.resize(60, 16);
    assert!(!stage.model.sets[0].card.is_touched());
}

#[test]
fn no_size_and_no_key_ever_breaks_the_picture() {
    let script = "down o x alt-enter y esc tab s up r z enter esc l down esc ? pgdn esc n";
    for (width, height) in
        [(0, 0), (1, 1), (59, 16), (60, 16), (61, 17), (99, 16), (100, 16), (300, 100)]
    {
        let mut stage = wordy().sized(width, height);
        for key in script.split(' ') {
            stage.keys(key);
            stage.screen();
        }
    }
}
