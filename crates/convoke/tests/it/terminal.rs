//! What is different on a terminal: colours, and questions.

use crate::convoke::Convoke;

#[test]
fn a_terminal_gets_colours_unless_they_are_unwanted() {
    let coloured =
        |machine: &Convoke, line: &str| machine.run_on_terminal(line, "").0.contains('\x1b');
    let lines = ["--help", "doctor", "nonsense", "db status --home x"];
    for line in lines {
        let plain = Convoke::new();
        assert!(coloured(&plain, line), "{line}");
        assert!(!coloured(&plain.env("NO_COLOR", "1"), line), "{line} with NO_COLOR");
        assert!(!coloured(&Convoke::new().env("TERM", "dumb"), line), "{line} on a dumb terminal");
    }
}

#[test]
fn a_rollback_asks_first_and_takes_no_for_an_answer() {
    let machine = Convoke::new().env("NO_COLOR", "1");
    machine.run("db migrate");
    let before = machine.run("db status");
    for keys in ["n\n", "\n", "\u{4}"] {
        let (screen, code) = machine.run_on_terminal("db rollback", keys);
        assert_eq!(code, 4, "{screen}");
        assert!(screen.contains("error: nothing was rolled back"), "{screen}");
    }
    assert_eq!(machine.run("db status"), before);
}

#[test]
fn a_rollback_asks_first_and_then_does_it() {
    let machine = Convoke::new().env("NO_COLOR", "1");
    machine.run("db migrate");
    let (screen, code) = machine.run_on_terminal("db rollback", "y\n");
    assert_eq!(code, 0, "{screen}");
    // The terminal echoes the keys whenever it likes, so the screen is not compared as a whole.
    let question = "Roll back 8 users in [tmp]/.convoke/convoke.db, and lose what it holds? [y/N] ";
    assert!(screen.contains(question) && screen.contains("rolled back 8 users"), "{screen}");
}

#[test]
fn a_long_text_goes_through_the_pager_of_the_user() {
    let machine = Convoke::new().env("PAGER", "sed 's/^/paged /'");
    let (told, code) = machine.run_on_terminal("config show", "");
    assert_eq!(code, 0);
    assert!(told.contains("paged "), "{told}");
    let (told, _) = machine.run_on_terminal("project --help", "");
    assert!(!told.contains("paged "), "{told}");
}

#[test]
fn the_program_alone_in_a_terminal_is_the_terminal_ui() {
    let machine = Convoke::new().file("config.toml", "[server]\nlisten = \"127.0.0.1:0\"\n");
    let mut terminal = machine.on_terminal("");
    terminal.sees("Home");
    terminal.types("q");
    terminal.ends();
    let told = machine.run("stop");
    assert!(told.starts_with("exit 0"), "{told}");
}
