//! A text frame of the WebSocket: it is understood and comes back as it was, or is refused with words.
#![no_main]

use convoke_api::frames::{ClientFrame, Envelope, ServerFrame};
use libfuzzer_sys::fuzz_target;

fuzz_target!(|text: &str| {
    let Envelope { request_id, frame } = ClientFrame::read(text);
    match frame {
        Ok(frame) => {
            let written = Envelope { request_id: request_id.clone(), frame: frame.clone() }.to_text();
            let again = ClientFrame::read(&written.expect("a frame can be written"));
            assert_eq!(again.request_id, request_id);
            assert_eq!(again.frame.ok(), Some(frame));
        }
        Err(malformed) => assert!(!malformed.to_string().is_empty()),
    }
    // What a daemon says is read by programs of ours.
    if let Ok(said) = Envelope::<ServerFrame>::read(text) {
        let written = said.to_text().expect("a frame can be written");
        assert_eq!(Envelope::<ServerFrame>::read(&written).expect("a frame can be read"), said);
    }
});
