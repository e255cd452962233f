//! Notes without an issue, placeholders and ignored tests are found.

use xtask::tidy::unfinished::check;

use crate::support::{passes_here, said};

#[test]
fn this_tree_passes() {
    passes_here(check);
}

#[test]
fn a_note_needs_an_issue() {
    let files = [
        ("a.rs", "// TODO(#12): fine\n/*\n TODO: later\n*/\nconst TODO: &str = \"TODO\";\n"),
        ("b.sql", "-- TODO(#x) nobody knows\n-- FIXME\n"),
        ("c.md", "Write `TODO(#12)`, not\n`TODO`.\nTODO\n"),
        ("run", "#!/bin/sh\n# TODO\n"),
    ];
    let expected = [
        "a.rs:3: a TODO without an issue — open an issue and write `TODO(#number)`",
        "b.sql:1: a TODO without an issue — open an issue and write `TODO(#number)`",
        "b.sql:2: a FIXME — mend it now, or open an issue and write `TODO(#number)`",
        "c.md:3: a TODO without an issue — open an issue and write `TODO(#number)`",
        "run:2: a TODO without an issue — open an issue and write `TODO(#number)`",
    ];
    assert_eq!(said(check, &files), expected);
}

#[test]
fn nothing_may_pretend_to_be_there() {
    let source = "fn a() { todo!() }\nfn b() { unimplemented!(\"x\") }\n#[test]\n#[ignore = \"slow\"]\nfn c() { skip(ignore) }\n";
    let expected = [
        "a.rs:1: a todo! in the code — write it, or leave the whole item out until it is written",
        "a.rs:2: a unimplemented! in the code — write it, or leave the whole item out until it is written",
        "a.rs:4: an ignored test \
         — mend the test or delete it; one that needs a special machine asks for it and says so",
    ];
    assert_eq!(said(check, &[("a.rs", source)]), expected);
}
