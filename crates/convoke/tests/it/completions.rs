//! `convoke completions` and `convoke man-pages`: what packages bring along.

use crate::convoke::Convoke;

#[test]
fn every_shell_gets_a_script_that_knows_the_commands() {
    let machine = Convoke::new();
    for shell in ["bash", "zsh", "fish", "powershell", "elvish"] {
        let told = machine.run(&format!("completions {shell}"));
        assert!(told.starts_with("exit 0\n--- stdout\n"), "{told}");
        for word in ["doctor", "rollback", "--json"] {
            let word = if shell == "fish" { word.trim_start_matches('-') } else { word };
            assert!(told.contains(word), "{shell} lacks {word}");
        }
        assert!(!told.contains("--- stderr"), "{told}");
    }
    assert!(!machine.home().exists());
}

#[test]
fn machines_get_the_script_in_a_json_string() {
    let script = Convoke::new().json("completions bash --json");
    assert_eq!(script["shell"], "bash");
    assert!(script["script"].as_str().unwrap().contains("complete -F _convoke"));
}

#[test]
fn every_command_that_people_see_has_a_page_in_the_manual() {
    let machine = Convoke::new();
    let folder = machine.path().join("man1");
    let told = machine.run_args(&["man-pages", folder.to_str().unwrap()]);
    assert!(told.starts_with("exit 0\n"), "{told}");
    let mut pages: Vec<String> = std::fs::read_dir(&folder)
        .unwrap()
        .map(|page| page.unwrap().file_name().into_string().unwrap())
        .collect();
    pages.sort();
    for page in ["convoke.1", "convoke-ask.1", "convoke-db-rollback.1"] {
        assert!(pages.iter().any(|it| it == page), "{pages:?} lack {page}");
    }
    assert!(!pages.iter().any(|page| page.contains("sandbox-exec")), "{pages:?}");
    let page = std::fs::read_to_string(folder.join("convoke-ask.1")).unwrap();
    assert!(page.contains(".TH convoke-ask 1"), "{page}");
}

#[test]
fn an_unknown_shell_is_asked_wrongly() {
    insta::assert_snapshot!(Convoke::new().run("completions tcsh"), @"
    exit 2
    --- stderr
    error: invalid value 'tcsh' for '<SHELL>'
      [possible values: bash, elvish, fish, powershell, zsh]

      tip: a similar value exists: 'zsh'

    For more information, try '--help'.
    ");
}
