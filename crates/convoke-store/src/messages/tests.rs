//! Turns that are read and written without serde.

use super::*;

#[test]
fn the_commonest_turn_is_what_serde_writes_and_reads() {
    let turn = Turn::Ended(Stop::EndTurn);
    assert_eq!(serde_json::to_string(&turn).unwrap(), END_TURN);
    assert_eq!(turn_of(END_TURN).unwrap(), turn);
    assert_eq!(turn_of(r#"{"status":"running"}"#).unwrap(), Turn::Running);
    assert!(turn_of("{}").is_err());
}
