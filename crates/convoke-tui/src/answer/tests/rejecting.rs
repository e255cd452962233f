//! Saying no to a whole set.

use super::stage::{Stage, id, late, shop, tea};
use crate::answer::message::{Effect, Outcome};

#[test]
fn q19_a_set_is_rejected_with_a_reason_after_a_second_question() {
    let mut stage = Stage::with([shop(), tea()]);
    stage.keys("r").types("not now,").keys("alt-enter").types("ask Bob");
    insta::assert_snapshot!(stage.screen());
    stage.keys("enter enter");
    assert_eq!(stage.effects, []);
    insta::assert_snapshot!(stage.screen());
    stage.keys("y");
    let reason = Some("not now,\nask Bob".to_owned());
    assert_eq!(stage.effects, [Effect::Reject { id: id(1), reason }]);
    stage.settle(1, Outcome::Rejected);
    insta::assert_snapshot!(stage.screen());
}

#[test]
fn a_set_is_rejected_without_a_reason() {
    let mut stage = Stage::with([late()]);
    stage.keys("r enter y");
    assert_eq!(stage.effects, [Effect::Reject { id: id(3), reason: None }]);
}

#[test]
fn the_way_back_leads_to_where_it_began_and_keeps_the_reason() {
    let mut stage = Stage::with([shop()]);
    stage.keys("tab r").types("because").keys("enter esc");
    assert_eq!(stage.set(0).page, crate::sheet::Page::Question(1));
    stage.keys("s r");
    assert_eq!(stage.set(0).reason.text(), "because");
    stage.keys("esc");
    assert_eq!(stage.effects, []);
}
