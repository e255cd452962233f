//! Programs that run what their arguments say, or change what later commands mean.
//!
//! A rule for such a program holds for one exact line. The lists make rules narrower; they are not a boundary.

/// Programs that run another program, with the rest of their words as its command.
const WRAPPERS: [&str; 42] = [
    ".",
    "bunx",
    "builtin",
    "chroot",
    "chrt",
    "command",
    "dbus-run-session",
    "direnv",
    "doas",
    "env",
    "eval",
    "exec",
    "expect",
    "fakeroot",
    "find",
    "flock",
    "ionice",
    "nice",
    "nohup",
    "npx",
    "nsenter",
    "parallel",
    "pkexec",
    "pnpx",
    "proot",
    "runuser",
    "script",
    "setpriv",
    "setsid",
    "source",
    "ssh",
    "stdbuf",
    "strace",
    "su",
    "sudo",
    "systemd-run",
    "taskset",
    "timeout",
    "unshare",
    "uvx",
    "watch",
    "xargs",
];

/// Programs that run a program text from their arguments, or that start another program on an
/// option.
const INTERPRETERS: [&str; 45] = [
    "ash", "awk", "bash", "bun", "busybox", "csh", "dash", "deno", "ed", "emacs", "ex", "fish",
    "gawk", "gdb", "ghci", "irb", "jshell", "julia", "ksh", "less", "lua", "man", "mawk", "more",
    "mysql", "nano", "nawk", "node", "nvim", "perl", "php", "pip", "psql", "pwsh", "python",
    "ruby", "sed", "sh", "sqlite", "tclsh", "vi", "view", "vim", "zsh", "rscript",
];

/// Programs that change how the shell reads later commands, and those that a human should confirm
/// each time.
const EXACT_ONLY: [&str; 54] = [
    "alias",
    "at",
    "batch",
    "bg",
    "cd",
    "chmod",
    "chown",
    "cp",
    "crontab",
    "curl",
    "dd",
    "declare",
    "disown",
    "docker",
    "enable",
    "export",
    "fc",
    "fg",
    "gh",
    "hash",
    "history",
    "install",
    "kill",
    "kubectl",
    "ln",
    "local",
    "mkfs",
    "mount",
    "mv",
    "nc",
    "ncat",
    "openssl",
    "podman",
    "popd",
    "printf",
    "pushd",
    "read",
    "readonly",
    "rm",
    "rmdir",
    "rsync",
    "scp",
    "set",
    "sftp",
    "shopt",
    "shred",
    "socat",
    "systemctl",
    "tar",
    "tee",
    "trap",
    "typeset",
    "unset",
    "wget",
];

/// Programs that are many programs: a rule with `…` names one of their commands.
const FAMILIES: [&str; 20] = [
    "apt", "brew", "bundle", "cargo", "composer", "dotnet", "git", "go", "gradle", "hg", "jj",
    "mix", "mvn", "npm", "pnpm", "poetry", "rustup", "svn", "uv", "yarn",
];

/// Commands of such programs that run what the next word names.
const RUNNERS: [&str; 6] = ["dlx", "exec", "run", "run-script", "x", "tool"];

/// Commands of such programs that change what later ones do.
const SETTERS: [&str; 4] = ["alias", "config", "env", "set"];

/// Why a rule for a command that begins with these words and has more is refused.
pub(super) fn fault_of_more(words: &[String]) -> Option<&'static str> {
    let Some((program, rest)) = words.split_first() else { return Some("it names no command") };
    if is_exact_only(program) {
        return Some(
            "what such a command does depends on its further words: give the exact line, without `…`",
        );
    }
    match rest.first().map(String::as_str) {
        None if FAMILIES.contains(&name(program).as_str()) => {
            Some("it would hold for every command of the program: name one, such as `git status …`")
        }
        Some(command) if SETTERS.contains(&command) => {
            Some("such a command changes what later ones do: give the exact line, without `…`")
        }
        Some(command) if RUNNERS.contains(&command) => match rest.get(1) {
            Some(run) if !run.starts_with('-') && !is_exact_only(run) => None,
            Some(_) | None => Some("it would run any program: name the one that it may run"),
        },
        Some(_) | None => None,
    }
}

/// The name of a program without its folder and version: `python` for `/usr/bin/python3.12`.
fn name(program: &str) -> String {
    let name = program.rsplit('/').next().unwrap_or(program);
    let bare = name.trim_end_matches(|it: char| it.is_ascii_digit() || it == '.');
    // `.` and names of digits stay what they are.
    if bare.is_empty() { name.to_owned() } else { bare.to_ascii_lowercase() }
}

/// Whether a program runs another one that its words name.
pub(super) fn is_wrapper(program: &str) -> bool {
    WRAPPERS.contains(&name(program).as_str())
}

/// Whether what a program does cannot be told from its first words.
pub(super) fn is_opaque(program: &str) -> bool {
    is_wrapper(program) || INTERPRETERS.contains(&name(program).as_str())
}

/// Whether a rule for a program may hold for one exact line only.
pub(super) fn is_exact_only(program: &str) -> bool {
    is_opaque(program) || EXACT_ONLY.contains(&name(program).as_str())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn p2_programs_are_known_by_their_name_without_folder_and_version() {
        for program in [
            "sh",
            "/bin/sh",
            "python3.12",
            "/usr/bin/python3",
            ".",
            "env",
            "../../bin/ENV",
            "lua5.4",
        ] {
            assert!(is_opaque(program), "{program}");
        }
        let more = |line: &str| {
            let words: Vec<String> = line.split(' ').map(str::to_owned).collect();
            fault_of_more(&words).is_none()
        };
        for line in ["cargo test", "ls", "npm run build", "git log --oneline", "./test"] {
            assert!(more(line), "{line}");
        }
        for line in [
            "git",
            "rm",
            "sh",
            "env",
            "npm run",
            "npm exec sh",
            "uv run python3",
            "git config",
            "npm run -s",
        ] {
            assert!(!more(line), "{line}");
        }
        assert!(is_exact_only("cd") && !is_opaque("cd"));
        for program in ["cargo", "git", "ls", "shfmt", "./test", "7"] {
            assert!(!is_exact_only(program), "{program}");
        }
    }
}
