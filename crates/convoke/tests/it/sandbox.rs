//! `convoke sandbox-exec`: real attacks by real programs, as this user and, where this is root, as another one.

use std::fs;
use std::os::unix::fs::{PermissionsExt, symlink};
use std::os::unix::net::UnixListener;
use std::path::{Path, PathBuf};
use std::process::Command;

use convoke_agents::sandbox::secret_places;

use crate::sandbox_scene::{Machine, User, attack, combinations, users};

#[test]
fn s6_a_confined_program_works_freely_in_its_workspace() {
    let script = r#"
        mkdir -p a/b && echo one > a/b/file && echo two >> a/b/file && mv a/b/file file
        ln -s file link && ln file hard && mkfifo pipe && chmod +x file
        printf '#!/bin/sh\necho ran $1' > program && chmod +x program && ./program well
        : > hard && rm -r a hard link pipe program && ls
        echo gone > /dev/null && head -c 4 /dev/urandom > /dev/null && mktemp > /dev/null
    "#;
    for user in users() {
        for layers in combinations() {
            assert_eq!(Machine::new(user).done(&layers, script), "ran well\nfile\n", "{layers}");
        }
    }
}

#[test]
fn k1_a_confined_program_writes_nowhere_else() {
    let scripts = [
        "cp /dev/null ../neighbour/new",
        "ln -s ../neighbour link && cp /dev/null link/new",
        "cp /dev/null $HOME/new",
        "echo more >> ../neighbour/file",
        "truncate -s 0 $HOME/neighbour/file",
        "rm ../neighbour/file",
        "mkdir ../neighbour/folder",
        "mv ../neighbour/file mine",
        "touch mine && mv mine ../neighbour/mine",
        "ln ../neighbour/file mine",
        "sh -c 'sh -c \"cp /dev/null ../neighbour/new\"'",
        "(nohup cp /dev/null ../neighbour/new) & wait $!",
        "cp /dev/null /proc/self/root/$HOME/neighbour/new",
        "cp /dev/null /proc/$$/cwd/../neighbour/new",
    ];
    for user in users() {
        scripts.iter().for_each(|script| attack(user, &["bwrap", "landlock"], script));
    }
}

#[test]
fn k1_a_confined_program_does_not_read_convokes_home() {
    let scripts = [
        "grep token ../.convoke/run/daemon.json",
        "ln -s ../.convoke link && grep token link/run/daemon.json",
        "grep token /proc/self/root/$HOME/.convoke/run/daemon.json",
        "cd ../.convoke/run && grep token daemon.json",
        "cp ../.convoke/run/daemon.json mine",
        "ln ../.convoke/run/daemon.json mine && grep token mine",
        "mv ../.convoke/run ../.convoke/away",
    ];
    for user in users() {
        scripts.iter().for_each(|script| attack(user, &["bwrap", "landlock"], script));
    }
}

/// A file system that is mounted twice shows a hidden folder under another name.
#[test]
fn k1_a_second_mount_of_convokes_home_does_not_expose_it() {
    for layers in combinations() {
        let machine = Machine::new(User::Me);
        let [home, second] = [".convoke", "second"].map(|name| machine.path(name));
        fs::create_dir(&second).unwrap();
        let mount = format!("mount --bind {} {}", home.display(), second.display());
        let read = format!("grep token {}/run/daemon.json", second.display());
        let namespace: &[&str] = match rustix::process::geteuid().is_root() {
            true => &["--mount"],
            false => &["--mount", "--user", "--map-current-user", "--keep-caps"],
        };
        let run = |script: String| {
            let mut command = machine.command("unshare");
            command.args(namespace).args(["/bin/sh", "-c", &script]).output().unwrap()
        };
        let free = run(format!("{mount} && {read}"));
        assert!(free.status.success(), "unconfined: {free:?}");
        let convoke = env!("CARGO_BIN_EXE_convoke");
        let workspace = machine.path("workspace");
        let confined = run(format!(
            "{mount} && {convoke} sandbox-exec --layers {layers} --write {} --hide {} -- {read}",
            workspace.display(),
            home.display(),
        ));
        if layers != "seccomp" {
            assert!(!confined.status.success(), "{layers}: {confined:?}");
            assert!(confined.stdout.is_empty(), "{layers}: {confined:?}");
        }
    }
}

/// Modes are out of Landlock's reach; the daemon puts them back.
#[test]
fn k1_modes_and_owners_outside_cannot_be_changed() {
    for user in users() {
        attack(user, &["bwrap"], "chmod 777 ../.convoke");
        attack(user, &["bwrap"], "chmod 000 ../neighbour/file");
        attack(user, &["bwrap"], "touch -d yesterday ../neighbour/file");
    }
}

#[test]
fn k10_secrets_cannot_be_read_unless_they_are_opened_by_name() {
    for user in users() {
        for layers in combinations() {
            let machine = Machine::new(user);
            let home = machine.path("");
            let places = secret_places(Some(&home));
            let places: Vec<&PathBuf> = places.iter().filter(|it| it.starts_with(&home)).collect();
            assert!(places.len() > 100);
            // Some of them are files, some are folders, some lie in others of the list.
            let mut files = Vec::new();
            for place in &places {
                let is_around = places.iter().any(|it| it.starts_with(place) && it != place);
                let is_file = place.extension().is_some() && !is_around;
                let file = if is_file { (*place).clone() } else { place.join("inside") };
                fs::create_dir_all(file.parent().unwrap()).unwrap();
                fs::write(&file, "secret-content").unwrap();
                files.push(file);
            }
            machine.hand_over();
            let script = "for file in \"$@\"; do cat \"$file\" 2>/dev/null; done; true";
            let files = files.iter().map(|file| file.to_str().unwrap());
            let program: Vec<&str> =
                ["/bin/sh", "-c", script, "sh"].into_iter().chain(files).collect();
            let output = machine.command("/bin/sh").args(&program[1..]).output().unwrap();
            let said = String::from_utf8_lossy(&output.stdout).into_owned();
            assert_eq!(said.matches("secret-content").count(), places.len(), "unconfined");
            if layers != "seccomp" {
                let output = machine.exec(&layers, &[], &program);
                let said = String::from_utf8_lossy(&output.stdout).into_owned();
                assert_eq!(said, "", "{layers} as {user:?}");
            }
        }
    }
}

/// What the user's own programs run later, outside of any sandbox.
#[test]
fn k10_what_users_run_later_is_not_writable() {
    let plants = [
        "echo evil > .git/hooks/pre-commit",
        "echo evil > .git/hooks/pre-commit.sample",
        "git config core.pager evil",
        "echo evil >> .git/config",
        "mv .git away && cp -r away .git && echo evil > .git/hooks/pre-commit",
        "rm -rf .git/hooks && mkdir .git/hooks",
        "rm .git/config",
        "echo evil > .vscode/tasks.json",
        "mv .vscode away && mkdir .vscode",
        "echo evil > .envrc",
        "rm .envrc && echo evil > .envrc",
        "ln -sf /dev/null .envrc",
        "echo evil > vendor/lib/.git/hooks/post-checkout",
    ];
    for user in users() {
        let machine = || {
            let machine = Machine::new(user);
            let git = machine.free(
                "git init -q . && mkdir .vscode && echo mine > .vscode/tasks.json && echo mine > .envrc &&
                 git init -q vendor/lib && git config user.email me@example.org && git config user.name Me",
            );
            assert!(git.status.success(), "{git:?}");
            machine
        };
        for script in plants {
            let free = machine().free(script);
            assert!(free.status.success(), "unconfined: {script}: {free:?}");
            for layers in ["bwrap", "bwrap,landlock,seccomp"] {
                let machine = machine();
                let output = machine.sh(layers, script);
                assert!(!output.status.success(), "{layers} as {user:?}: {script}: {output:?}");
                assert!(machine.path("workspace/.git/hooks").is_dir(), "{script}");
                assert_eq!(fs::read_to_string(machine.path("workspace/.envrc")).unwrap(), "mine\n");
            }
        }
        // This name cannot be held, as it does not exist; it is gone before the user can run git.
        let lead =
            "mkdir evil && echo ../evil > there && ln -s /proc/self/cwd/there .git/commondir";
        let machine_with_lead = machine();
        assert!(machine_with_lead.free(lead).status.success());
        assert!(machine_with_lead.path("workspace/.git/commondir").is_symlink());
        let machine_without = machine();
        // Killed for it, unless it ends before.
        machine_without.sh("bwrap,landlock,seccomp", lead);
        assert!(machine_without.path("workspace/evil").is_dir(), "the script did not run");
        assert!(!machine_without.path("workspace/.git/commondir").is_symlink());
        // And work goes on.
        let work = "git add .envrc && git commit -qm one && git switch -qc topic && git log --oneline | wc -l";
        assert_eq!(machine().done("bwrap,landlock,seccomp", work).trim(), "1");
    }
}

/// Links that an agent left in its workspace must not lead a mount of the next start elsewhere, nor the supervisor.
#[test]
fn k10_links_among_protected_names_lead_nowhere() {
    for user in users() {
        for options in [&[][..], &["--nested"]] {
            let machine = Machine::new(user);
            machine.write("neighbour/git/config", "theirs");
            machine.write("neighbour/commondir", "theirs");
            for name in [".config", ".local", ".git"] {
                symlink(machine.path("neighbour"), machine.path("workspace").join(name)).unwrap();
            }
            machine.hand_over();
            let script = "chmod 777 ../neighbour/file; echo mine > .config/file; echo mine > .git/file; true";
            let program = ["/bin/sh", "-c", script];
            let output = machine.exec("bwrap,landlock,seccomp", options, &program);
            assert!(output.status.success(), "{options:?}: {output:?}");
            let file = machine.path("neighbour/file");
            assert_eq!(fs::read_to_string(&file).unwrap(), "theirs", "{options:?} as {user:?}");
            assert_eq!(fs::metadata(&file).unwrap().permissions().mode() & 0o777, 0o644);
            assert!(machine.path("neighbour/commondir").exists(), "{options:?}");
        }
    }
}

/// A descriptor that the daemon was started with is not its agents'.
#[test]
fn k1_no_inherited_descriptor_reaches_the_program() {
    for layers in combinations() {
        let machine = Machine::new(User::Me);
        let convoke = env!("CARGO_BIN_EXE_convoke");
        let [workspace, home] = ["workspace", ".convoke"].map(|name| machine.path(name));
        let read = "grep token <&9";
        let open = format!("exec 9< {}/run/daemon.json", home.display());
        assert!(machine.free(&format!("{open}; {read}")).status.success());
        let output = machine.free(&format!(
            "{open}; {convoke} sandbox-exec --layers {layers} --write {} --hide {} -- sh -c '{read}'",
            workspace.display(),
            home.display(),
        ));
        assert!(!output.status.success() && output.stdout.is_empty(), "{layers}: {output:?}");
    }
}

/// As root, sysctls are files that need no right but to be root. The kernel itself keeps others from them.
#[test]
fn k1_root_cannot_change_the_kernel_through_proc() {
    let script =
        "name=/proc/sys/kernel/core_pattern; value=$(cat $name) && echo \"$value\" > $name";
    if rustix::process::geteuid().is_root() {
        return attack(User::Me, &["bwrap", "landlock"], script);
    }
    for layers in combinations() {
        let output = Machine::new(User::Me).sh(&layers, script);
        assert!(!output.status.success(), "{layers}: {output:?}");
    }
}

/// Perl makes any system call, and every Debian has it.
fn perl(script: &str) -> String {
    format!("perl -MSocket -e '{script}'")
}

#[test]
fn k1_sockets_of_other_programs_cannot_be_reached() {
    for user in users() {
        let scene = || {
            let machine = Machine::new(user);
            let socket = machine.path("agent.sock");
            let listener = UnixListener::bind(&socket).unwrap();
            machine.hand_over();
            (machine, socket, listener)
        };
        let connect = |socket: &Path| {
            let script = "socket(S, AF_UNIX, SOCK_STREAM, 0); connect(S, pack_sockaddr_un($ARGV[0])) or die \"$!\\n\"";
            format!("{} {}", perl(script), socket.display())
        };
        let (machine, socket, _listener) = scene();
        assert!(machine.free(&connect(&socket)).status.success());
        for layers in ["bwrap", "bwrap,landlock,seccomp"] {
            let (machine, socket, _listener) = scene();
            let output = machine.sh(layers, &connect(&socket));
            assert!(!output.status.success(), "{layers}: {output:?}");
            let allowed = ["--socket", socket.to_str().unwrap()];
            let output = machine.exec(layers, &allowed, &["/bin/sh", "-c", &connect(&socket)]);
            assert!(output.status.success(), "{layers}, allowed by name: {output:?}");
        }
        // Abstract ones have no path; Landlock keeps them out from its sixth generation on.
        let name = format!("convoke-test-{}-{user:?}", std::process::id());
        let address = <std::os::unix::net::SocketAddr as std::os::linux::net::SocketAddrExt>::from_abstract_name(&name);
        let _abstract = UnixListener::bind_addr(&address.unwrap()).unwrap();
        let script = format!(
            "socket(S, AF_UNIX, SOCK_STREAM, 0); connect(S, pack(\"Sa*\", AF_UNIX, \"\\0{name}\")) or die \"$!\\n\""
        );
        let generation = convoke_agents::sandbox::landlock_generation();
        if generation >= Some(6) {
            attack(user, &["landlock"], &perl(&script));
        }
    }
}

#[test]
fn k1_terminals_and_shared_memory_of_the_user_are_out_of_reach() {
    use portable_pty::{PtySize, native_pty_system};
    let pair = native_pty_system().openpty(PtySize::default()).unwrap();
    let terminal = pair.master.tty_name().unwrap();
    let terminal = terminal.display();
    attack(User::Me, &["bwrap", "landlock"], &format!("echo typed > {terminal}"));
    attack(User::Me, &["bwrap", "landlock"], &format!("exec 3< {terminal}"));
    let shared = format!("/dev/shm/convoke-test-{}", std::process::id());
    fs::write(&shared, "theirs").unwrap();
    attack(
        User::Me,
        &["bwrap", "landlock"],
        &format!("grep theirs {shared} && echo mine > {shared}"),
    );
    fs::remove_file(shared).unwrap();
    let temp = tempfile::NamedTempFile::new().unwrap();
    attack(User::Me, &["bwrap"], &format!("cat {}", temp.path().display()));
}

#[test]
fn k1_processes_outside_are_neither_seen_nor_signalled() {
    let mut outside =
        Command::new("sleep").arg("1000").env("SECRET", "in-environment").spawn().unwrap();
    let pid = outside.id();
    attack(User::Me, &["bwrap", "landlock"], &format!("kill -0 {pid}"));
    attack(User::Me, &["bwrap"], &format!("grep -a in-environment /proc/{pid}/environ"));
    outside.kill().unwrap();
    outside.wait().unwrap();
    for layers in combinations() {
        let script = "sleep 1000 & kill $! && wait $!; echo $?";
        assert_eq!(Machine::new(User::Me).done(&layers, script), "143\n", "{layers}");
    }
}

/// A system call that must fail with something else than this error.
#[cfg(target_arch = "x86_64")]
fn is_not(numbers: &str, error: i32) -> String {
    perl(&format!("my $none = \"/none\"; syscall({numbers}); $! + 0 != {error} or die \"$!\\n\""))
}

/// Numbers of system calls differ between architectures.
#[cfg(target_arch = "x86_64")]
#[test]
fn k2_system_calls_that_lead_out_fail_with_an_error() {
    let call = |numbers: &str| perl(&format!("syscall({numbers}) >= 0 or die \"$!\\n\""));
    for user in users() {
        // keyctl(GET_KEYRING_ID, session), unshare(CLONE_NEWUSER)
        attack(user, &["seccomp"], &call("250, 0, -3, 1"));
        attack(user, &["seccomp"], &call("272, 0x10000000"));
        // io_uring_setup(0, NULL) and clone3(NULL, 0): refused with something else than "not implemented"
        attack(user, &["seccomp"], &is_not("425, 0, 0", 38));
        attack(user, &["seccomp"], &is_not("435, 0, 0", 38));
        // umount2 of what is not there: refused with something else than "not permitted"
        attack(user, &["seccomp"], &is_not("166, $none, 0", 1));
        // The same calls by their numbers in the x32 range, where the kernel would have them.
        let machine = Machine::new(user);
        let output = machine.sh("seccomp", &is_not("0x40000000 + 425, 0, 0", 38));
        assert!(!output.status.success(), "{output:?}");
    }
}

/// The kernel itself keeps others than root from it, and root, too, where it is set up so.
#[test]
fn k2_root_does_not_type_into_terminals() {
    use portable_pty::{PtySize, native_pty_system};
    let pair = native_pty_system().openpty(PtySize::default()).unwrap();
    let terminal = pair.master.tty_name().unwrap();
    let script = r#"open(F, "+<", "TERMINAL") or die "$!\n"; ioctl(F, 0x5412, "x") or die "$!\n""#;
    let script = perl(&script.replace("TERMINAL", terminal.to_str().unwrap()));
    if Machine::new(User::Me).free(&script).status.success() {
        return attack(User::Me, &["bwrap", "landlock", "seccomp"], &script);
    }
    for layers in combinations() {
        let output = Machine::new(User::Me).sh(&layers, &script);
        assert!(!output.status.success(), "{layers}: {output:?}");
    }
}

#[test]
fn k2_a_sandbox_inside_of_the_sandbox_works_only_where_that_is_allowed() {
    let inner = "bwrap --unshare-user --ro-bind / / --dev /dev --unshare-pid sh -c 'cp /dev/null ../neighbour/new; echo inside'";
    for user in users() {
        let machine = Machine::new(user);
        let strict = machine.sh("bwrap,landlock,seccomp", inner);
        assert!(!strict.status.success(), "{strict:?}");
        let program = ["/bin/sh", "-c", inner];
        let nested = machine.exec("bwrap,landlock,seccomp", &["--nested"], &program);
        assert_eq!(String::from_utf8(nested.stdout).unwrap(), "inside\n", "{user:?}");
        assert!(!machine.path("neighbour/new").exists());
    }
}

#[test]
fn k9_without_a_network_there_is_none() {
    let listener = std::net::TcpListener::bind("127.0.0.1:0").unwrap();
    let port = listener.local_addr().unwrap().port();
    let script = format!(
        "socket(S, AF_INET, SOCK_STREAM, 0); connect(S, pack_sockaddr_in({port}, inet_aton(\"127.0.0.1\"))) or die \"$!\\n\""
    );
    for user in users() {
        let machine = Machine::new(user);
        let open = machine.sh("bwrap,landlock,seccomp", &perl(&script));
        assert!(open.status.success(), "{open:?}");
        let program = ["/bin/sh", "-c", &perl(&script)];
        let off = machine.exec("bwrap,landlock,seccomp", &["--network", "off"], &program);
        assert!(!off.status.success(), "{off:?}");
    }
}

#[test]
fn s6_interpreters_and_terminals_of_their_own_work() {
    let python = "import pty, os; os._exit(pty.spawn(['true']) >> 8)";
    let node = "try { fs.writeFileSync('../neighbour/new', '') } catch (e) { console.log(e.code) }";
    let cases: [(&[&str], &str); 3] = [
        (&["bash", "-c", "echo no > ../neighbour/new; echo $?"], "1\n"),
        (&["python3", "-c", python], ""),
        (&["node", "-e", node], "EROFS\n"),
    ];
    for (program, expected) in cases {
        let output = Machine::new(User::Me).exec("bwrap,landlock,seccomp", &[], program);
        // Not every machine has every one of them.
        if output.status.code() != Some(127) {
            assert!(output.status.success(), "{output:?}");
            assert_eq!(String::from_utf8(output.stdout).unwrap(), expected, "{program:?}");
        }
    }
}

#[test]
fn s6_state_folders_are_made_and_state_files_are_written_in_place() {
    for layers in ["bwrap", "landlock", "bwrap,landlock,seccomp"] {
        let machine = Machine::new(User::Me);
        machine.write("state.json", "old");
        let [folder, file, missing] = ["deep/state", "state.json", "missing.json"]
            .map(|name| machine.path(name).into_os_string().into_string().unwrap());
        let options = ["--write", &folder, "--write", &file, "--write", &missing];
        let script = "
            echo kept > ../deep/state/file && echo new > ../state.json && cat ../state.json
            mv ../deep/state/file ../state.json 2>/dev/null; cp /dev/null ../missing.json 2>/dev/null
            test -e ../missing.json || echo not made
        ";
        let output = machine.exec(layers, &options, &["/bin/sh", "-c", script]);
        assert_eq!(String::from_utf8(output.stdout).unwrap(), "new\nnot made\n", "{layers}");
        let said = String::from_utf8(output.stderr).unwrap();
        let said = said.replace(machine.path("").to_str().unwrap(), "[tmp]/");
        insta::allow_duplicates! {
            insta::assert_snapshot!(said, @"convoke: warning: [tmp]/missing.json does not exist, and a sandboxed program cannot create it");
        }
        assert_eq!(fs::metadata(folder).unwrap().permissions().mode() & 0o777, 0o700);
    }
}

#[test]
fn s6_a_link_that_an_agent_left_behind_grants_nothing_to_the_next() {
    for layers in ["bwrap", "landlock", "bwrap,landlock,seccomp"] {
        let machine = Machine::new(User::Me);
        symlink(machine.path("neighbour"), machine.path("workspace/state")).unwrap();
        let state = machine.path("workspace/state").into_os_string().into_string().unwrap();
        let output = machine.exec(layers, &["--write", &state], &["cp", "/dev/null", "state/new"]);
        assert!(!output.status.success(), "{layers}: {output:?}");
    }
}

#[test]
fn s6_what_is_to_be_hidden_cannot_lie_in_what_is_to_be_written() {
    let machine = Machine::new(User::Me);
    let around = machine.path("").into_os_string().into_string().unwrap();
    let around = around.trim_end_matches('/');
    let output = machine.exec("landlock", &["--write", around], &["true"]);
    let said = String::from_utf8(output.stderr).unwrap();
    insta::assert_snapshot!(said.replace(around, "[tmp]"), @r#"
    error: [tmp]/.convoke is to be hidden, and lies in [tmp], which is to be written
    hint: work in a folder that does not contain Convoke's home
    "#);
    assert_eq!(output.status.code(), Some(1));
}

#[test]
fn s6_the_program_takes_over_with_its_arguments_environment_and_exit_code() {
    for layers in combinations() {
        let machine = Machine::new(User::Me);
        let program = ["/bin/sh", "-c", "echo $TMPDIR $0 $1; exit 7", "--json", "-v"];
        let output = machine.exec(&layers, &[], &program);
        assert_eq!(output.status.code(), Some(7));
        let expected = format!("{} --json -v\n", machine.path("temp").display());
        assert_eq!(String::from_utf8(output.stdout).unwrap(), expected);
        let code = |program: &str| machine.exec(&layers, &[], &[program]).status.code();
        assert_eq!(code("/bin/there-is-no-such-program"), Some(127));
        assert_eq!(code("/etc/passwd"), Some(126));
        assert_eq!(machine.sh(&layers, "kill -TERM $$").status.code(), Some(143));
    }
}
