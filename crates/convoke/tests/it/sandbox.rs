//! `convoke sandbox-exec`: what a confined program can and cannot do, tried on this kernel.

use std::fs;
use std::os::unix::fs::{PermissionsExt, symlink};
use std::os::unix::process::CommandExt;
use std::path::PathBuf;
use std::process::Output;

use convoke_agents::sandbox::landlock_generation;

use crate::convoke::Convoke;

/// A machine with a workspace, a neighbour of it, a home of Convoke and a folder for temporary files.
struct Machine {
    convoke: Convoke,
}

impl Machine {
    /// `None` where the kernel confines nobody; there it is made sure that nothing is run.
    fn new() -> Option<Self> {
        let machine = Self { convoke: Convoke::new() };
        for folder in ["workspace", "neighbour", ".convoke/run"] {
            fs::create_dir_all(machine.path(folder)).unwrap();
        }
        fs::write(machine.path("neighbour/file"), "theirs").unwrap();
        fs::write(machine.path(".convoke/run/daemon.json"), "token").unwrap();
        if landlock_generation().is_none() {
            let output = machine.sh("echo ran");
            assert_eq!((output.status.code(), output.stdout), (Some(1), Vec::new()));
            return None;
        }
        Some(machine)
    }

    fn path(&self, name: &str) -> PathBuf {
        self.convoke.path().canonicalize().unwrap().join(name)
    }

    /// Runs a program with more arguments before it.
    fn exec(&self, options: &[&str], program: &[&str]) -> Output {
        let [workspace, temp, home] = ["workspace", "temp", ".convoke"]
            .map(|name| self.path(name).into_os_string().into_string().unwrap());
        let rules = ["--write", &workspace, "--write", &temp, "--hide", &home];
        let line = ["sandbox-exec"].iter().chain(&rules).chain(options).chain(&["--"]);
        self.convoke
            .command(&line.chain(program).collect::<Vec<_>>())
            .current_dir(&workspace)
            .env("PATH", "/usr/local/bin:/usr/bin:/bin")
            .env("TMPDIR", temp)
            .env("LC_ALL", "C")
            .output()
            .unwrap()
    }

    fn sh(&self, script: &str) -> Output {
        self.exec(&[], &["/bin/sh", "-c", script])
    }

    /// What a script says that must succeed.
    fn done(&self, script: &str) -> String {
        let output = self.sh(script);
        assert!(output.status.success(), "{script}: {output:?}");
        String::from_utf8(output.stdout).unwrap()
    }

    /// Runs commands one by one; tells which are refused, and with which words of the system.
    fn tell(&self, commands: &[&str]) -> String {
        let told = |command: &&str| {
            let output = self.sh(command);
            let said = String::from_utf8(output.stderr).unwrap();
            let reason = said.trim().rsplit(": ").next().unwrap_or_default();
            let outcome = if output.status.success() { "ok" } else { reason };
            format!("{command} → {outcome}")
        };
        commands.iter().map(told).collect::<Vec<_>>().join("\n")
    }
}

#[test]
fn s6_a_confined_program_works_freely_in_its_workspace() {
    let Some(machine) = Machine::new() else { return };
    let script = r#"
        mkdir -p a/b && echo one > a/b/file && echo two >> a/b/file && mv a/b/file file
        ln -s file link && ln file hard && mkfifo pipe && chmod +x file
        printf '#!/bin/sh\necho ran $1' > program && chmod +x program && ./program well
        : > hard && rm -r a hard link pipe program && ls
    "#;
    assert_eq!(machine.done(script), "ran well\nfile\n");
}

#[test]
fn s6_a_confined_program_writes_nowhere_else() {
    let Some(machine) = Machine::new() else { return };
    symlink(machine.path("neighbour"), machine.path("workspace/link")).unwrap();
    symlink(machine.path("neighbour/file"), machine.path("workspace/file-link")).unwrap();
    insta::assert_snapshot!(machine.tell(&[
        "cp /dev/null ../neighbour/new",
        "cp /dev/null link/new",
        "cp /dev/null $HOME/new",
        "cp /dev/null /tmp/convoke-was-not-confined",
        "tee -a ../neighbour/file",
        "tee file-link",
        "truncate -s 0 $HOME/neighbour/file",
        "rm ../neighbour/file",
        "mkdir ../neighbour/folder",
        "mv ../neighbour/file mine",
        "touch mine && mv mine ../neighbour/mine",
        "ln ../neighbour/file mine-too",
        "sh -c 'sh -c \"cp /dev/null ../neighbour/new\"'",
        "(nohup cp /dev/null ../neighbour/new) & wait $!",
    ]), @r#"
    cp /dev/null ../neighbour/new → Permission denied
    cp /dev/null link/new → Permission denied
    cp /dev/null $HOME/new → Permission denied
    cp /dev/null /tmp/convoke-was-not-confined → Permission denied
    tee -a ../neighbour/file → Permission denied
    tee file-link → Permission denied
    truncate -s 0 $HOME/neighbour/file → Permission denied
    rm ../neighbour/file → Permission denied
    mkdir ../neighbour/folder → Permission denied
    mv ../neighbour/file mine → Permission denied
    touch mine && mv mine ../neighbour/mine → Permission denied
    ln ../neighbour/file mine-too → Invalid cross-device link
    sh -c 'sh -c "cp /dev/null ../neighbour/new"' → Permission denied
    (nohup cp /dev/null ../neighbour/new) & wait $! → Permission denied
    "#);
    assert_eq!(fs::read_to_string(machine.path("neighbour/file")).unwrap(), "theirs");
    assert_eq!(fs::read_dir(machine.path("neighbour")).unwrap().count(), 1);
}

#[test]
fn s6_a_confined_program_reads_everything_but_what_is_hidden() {
    let Some(machine) = Machine::new() else { return };
    symlink(machine.path(".convoke"), machine.path("workspace/link")).unwrap();
    symlink(machine.path(".convoke"), machine.path("beside")).unwrap();
    insta::assert_snapshot!(machine.tell(&[
        "cat ../neighbour/file /etc/passwd",
        "ls / $HOME",
        "cat ../.convoke/run/daemon.json",
        "cat link/run/daemon.json",
        "cat $HOME/beside/run/daemon.json",
        "cat /proc/self/root/$HOME/.convoke/run/daemon.json",
        "cd ../.convoke/run && cat daemon.json",
        "cp /dev/null ../.convoke/run/daemon.json",
        "ln ../.convoke/run/daemon.json mine",
        "mv ../.convoke/run ../neighbour",
    ]), @r"
    cat ../neighbour/file /etc/passwd → ok
    ls / $HOME → ok
    cat ../.convoke/run/daemon.json → Permission denied
    cat link/run/daemon.json → Permission denied
    cat $HOME/beside/run/daemon.json → Permission denied
    cat /proc/self/root/$HOME/.convoke/run/daemon.json → Permission denied
    cd ../.convoke/run && cat daemon.json → Permission denied
    cp /dev/null ../.convoke/run/daemon.json → Permission denied
    ln ../.convoke/run/daemon.json mine → Invalid cross-device link
    mv ../.convoke/run ../neighbour → Permission denied
    ");
}

#[test]
fn s6_temporary_files_have_a_private_folder() {
    let Some(machine) = Machine::new() else { return };
    let made = machine.done("mktemp");
    assert!(made.starts_with(machine.path("temp").to_str().unwrap()), "{made}");
    let mode = fs::metadata(machine.path("temp")).unwrap().permissions().mode();
    assert_eq!(mode & 0o777, 0o700, "it was missing, and is made for its owner only");
}

#[test]
fn s6_devices_that_programs_need_are_there() {
    let Some(machine) = Machine::new() else { return };
    let script = "
        echo gone > /dev/null && head -c 4 /dev/urandom > /dev/null
        echo said > /dev/stderr && echo shared > /dev/shm/convoke-$$ && rm /dev/shm/convoke-$$
    ";
    let output = machine.sh(script);
    assert!(output.status.success(), "{output:?}");
    assert_eq!(String::from_utf8(output.stderr).unwrap(), "said\n");
}

#[test]
fn s6_interpreters_run_confined_too() {
    let Some(machine) = Machine::new() else { return };
    let write = "open('../neighbour/new', 'w')";
    let python = format!("try: {write}\nexcept PermissionError: print('denied')");
    let terminal = "import pty, os; os._exit(pty.spawn(['true']) >> 8)";
    let node = "try { fs.writeFileSync('../neighbour/new', '') } catch (e) { console.log(e.code) }";
    let cases: [(&[&str], &str); 4] = [
        (&["bash", "-c", "echo no > ../neighbour/new; echo $?"], "1\n"),
        (&["/usr/bin/python3", "-c", &python], "denied\n"),
        (&["/usr/bin/python3", "-c", terminal], ""),
        (&["node", "-e", node], "EACCES\n"),
    ];
    for (program, expected) in cases {
        let output = machine.exec(&[], program);
        // Not every machine has every one of them.
        if output.status.code() != Some(127) {
            assert!(output.status.success(), "{output:?}");
            assert_eq!(String::from_utf8(output.stdout).unwrap(), expected, "{program:?}");
        }
    }
}

#[test]
fn s6_signals_reach_children_and_nobody_outside() {
    let Some(machine) = Machine::new() else { return };
    assert_eq!(machine.done("sleep 1000 & kill $! && wait $!; echo $?"), "143\n");
    // Older kernels keep files, but not signals.
    if landlock_generation() >= Some(6) {
        let refused = format!("kill -0 {}", std::process::id());
        let told = machine.tell(&[&refused]);
        assert!(told.to_lowercase().ends_with("not permitted"), "{told}");
    }
}

#[test]
fn s6_a_confined_program_can_leave_the_terminal_also_when_it_leads_a_group() {
    let Some(machine) = Machine::new() else { return };
    for group in [None, Some(0)] {
        let mut command = machine.convoke.command(&["sandbox-exec", "--own-session", "--"]);
        command.args(["/bin/sh", "-c", "read -r stat < /proc/$$/stat; echo $stat"]);
        group.map(|group| command.process_group(group));
        let told = String::from_utf8(command.output().unwrap().stdout).unwrap();
        let fields: Vec<&str> = told.split_whitespace().collect();
        let [pid, _, _, _, group, session, ..] = fields[..] else { panic!("{told}") };
        assert_eq!((pid, pid), (group, session));
    }
}

#[test]
fn s6_state_folders_are_made_and_state_files_are_written_in_place() {
    let Some(machine) = Machine::new() else { return };
    fs::write(machine.path("state.json"), "old").unwrap();
    let [folder, file, missing] = ["deep/state", "state.json", "missing.json"]
        .map(|name| machine.path(name).into_os_string().into_string().unwrap());
    let options = ["--write", &folder, "--write", &file, "--write", &missing];
    let script = "
        echo kept > ../deep/state/file && echo new > ../state.json && cat ../state.json
        mv ../deep/state/file ../state.json; cp /dev/null ../missing.json
    ";
    let output = machine.exec(&options, &["/bin/sh", "-c", script]);
    assert_eq!(String::from_utf8(output.stdout).unwrap(), "new\n");
    let said = String::from_utf8(output.stderr).unwrap();
    let said = said.replace(machine.path("").to_str().unwrap(), "[tmp]/");
    insta::assert_snapshot!(said, @r"
    warning: [tmp]/missing.json does not exist, and a confined program cannot make it
    mv: cannot move '../deep/state/file' to '../state.json': Permission denied
    cp: cannot create regular file '../missing.json': Permission denied
    ");
    let mode = fs::metadata(folder).unwrap().permissions().mode();
    assert_eq!(mode & 0o777, 0o700);
}

#[test]
fn s6_a_link_that_an_agent_left_behind_grants_nothing_to_the_next() {
    let Some(machine) = Machine::new() else { return };
    symlink(machine.path("neighbour"), machine.path("workspace/state")).unwrap();
    let state = machine.path("workspace/state").into_os_string().into_string().unwrap();
    let output = machine.exec(&["--write", &state], &["cp", "/dev/null", "state/new"]);
    assert!(String::from_utf8(output.stderr).unwrap().contains("Permission denied"));
}

#[test]
fn s6_what_is_to_be_hidden_cannot_lie_in_what_is_to_be_written() {
    let Some(machine) = Machine::new() else { return };
    let around = machine.path("").into_os_string().into_string().unwrap();
    let output = machine.exec(&["--write", &around], &["true"]);
    let said = String::from_utf8(output.stderr).unwrap();
    insta::assert_snapshot!(said.replace(around.trim_end_matches('/'), "[tmp]"), @r#"
    error: [tmp]/.convoke is to be hidden, and lies in [tmp], which is to be written
    hint: set sandbox = "off" for the agent, if it may write wherever you may
    "#);
    assert_eq!(output.status.code(), Some(1));
}

#[test]
fn s6_the_program_takes_over_with_its_arguments_environment_and_exit_code() {
    let Some(machine) = Machine::new() else { return };
    let output =
        machine.exec(&[], &["/bin/sh", "-c", "echo $TMPDIR $0 $1; exit 7", "--json", "-v"]);
    assert_eq!(output.status.code(), Some(7));
    let expected = format!("{} --json -v\n", machine.path("temp").display());
    assert_eq!(String::from_utf8(output.stdout).unwrap(), expected);

    let code = |program: &str| machine.exec(&[], &[program]).status.code();
    assert_eq!(code("/bin/there-is-no-such-program"), Some(127));
    assert_eq!(code("/etc/passwd"), Some(126));
    assert!(machine.convoke.run("sandbox-exec").starts_with("exit 2\n"), "without a program");
}
