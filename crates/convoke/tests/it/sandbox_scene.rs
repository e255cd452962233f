//! Machines for attacks on `convoke sandbox-exec`: each attack is run without confinement first, and then under each layer
//! alone and all of them together.

use std::fs;
use std::path::PathBuf;
use std::process::{Command, Output, Stdio};

use convoke_agents::sandbox::{Available, Layer};
use convoke_testkit::tools::search_path;
use tempfile::TempDir;

/// A user who may do little.
const STRANGER: u32 = 65_534;

/// A user's folder with a workspace, a neighbour of it, Convoke's home and a folder for temporary files.
pub(crate) struct Machine {
    folder: TempDir,
    user: User,
}

/// Who runs the sandbox.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum User {
    Me,
    Stranger,
}

/// This user, and another one where this one can become it.
pub(crate) fn users() -> Vec<User> {
    match rustix::process::geteuid().is_root() {
        true => vec![User::Me, User::Stranger],
        false => vec![User::Me],
    }
}

impl Machine {
    pub(crate) fn new(user: User) -> Self {
        // Not in /tmp, of which a confined program has its own.
        let folder = tempfile::tempdir_in(env!("CARGO_TARGET_TMPDIR")).unwrap();
        let machine = Self { folder, user };
        for name in ["workspace", "neighbour", ".convoke/run", "temp"] {
            fs::create_dir_all(machine.path(name)).unwrap();
        }
        machine.write("neighbour/file", "theirs");
        machine.write(".convoke/run/daemon.json", "token");
        machine.hand_over();
        machine
    }

    pub(crate) fn path(&self, name: &str) -> PathBuf {
        self.folder.path().canonicalize().unwrap().join(name)
    }

    pub(crate) fn write(&self, name: &str, content: &str) {
        let path = self.path(name);
        fs::create_dir_all(path.parent().unwrap()).unwrap();
        fs::write(path, content).unwrap();
    }

    /// Everything in the folder belongs to the user who runs the sandbox.
    pub(crate) fn hand_over(&self) {
        if self.user == User::Stranger {
            let owner = format!("{STRANGER}:{STRANGER}");
            let status =
                Command::new("chown").args(["-R", &owner]).arg(self.folder.path()).status();
            assert!(status.unwrap().success());
        }
    }

    pub(crate) fn command(&self, program: &str) -> Command {
        let mut command = match self.user {
            User::Me => Command::new(program),
            User::Stranger => {
                let mut command = Command::new("setpriv");
                let id = STRANGER.to_string();
                command.args(["--reuid", &id, "--regid", &id, "--clear-groups", "--", program]);
                command
            }
        };
        command
            .env_clear()
            .env("HOME", self.path(""))
            .env("PATH", format!("/usr/local/bin:{}", search_path()))
            .env("TMPDIR", self.path("temp"))
            .env("LC_ALL", "C")
            .current_dir(self.path("workspace"))
            .stdin(Stdio::null());
        command
    }

    /// Runs a script without confinement.
    pub(crate) fn free(&self, script: &str) -> Output {
        self.command("/bin/sh").args(["-c", script]).output().unwrap()
    }

    /// Runs a script under these layers, with more options.
    pub(crate) fn exec(&self, layers: &str, options: &[&str], program: &[&str]) -> Output {
        let mut command = self.command(env!("CARGO_BIN_EXE_convoke"));
        command.args(["sandbox-exec", "--layers", layers]);
        command.arg("--write").arg(self.path("workspace"));
        command.arg("--temp").arg(self.path("temp"));
        command.arg("--hide").arg(self.path(".convoke"));
        command.args(options).arg("--").args(program).output().unwrap()
    }

    pub(crate) fn sh(&self, layers: &str, script: &str) -> Output {
        self.exec(layers, &[], &["/bin/sh", "-c", script])
    }

    /// What a script says that must succeed.
    pub(crate) fn done(&self, layers: &str, script: &str) -> String {
        let output = self.sh(layers, script);
        assert!(output.status.success(), "{layers} {script}: {output:?}");
        String::from_utf8(output.stdout).unwrap()
    }
}

/// Layers that work here, as the option takes them: each alone, and all together.
pub(crate) fn combinations() -> Vec<String> {
    let available = Available::detect(Some(search_path().as_ref()));
    let works = |layer: &Layer| available.lacks(*layer).is_none();
    let words: Vec<&str> =
        Layer::WORDS.iter().filter(|(_, layer)| works(layer)).map(|(word, _)| *word).collect();
    // `./test` installs bubblewrap, and every kernel of the last years has the others.
    assert_eq!(words, ["bwrap", "landlock", "seccomp"], "{available:?}");
    words.iter().map(ToString::to_string).chain([words.join(",")]).collect()
}

/// Runs an attack without confinement, where it must work, and under the layers that stop it, where it must not.
pub(crate) fn attack(user: User, holds: &[&str], script: &str) {
    let machine = Machine::new(user);
    let output = machine.free(script);
    assert!(output.status.success(), "the attack itself fails: {script}: {output:?}");
    for layers in combinations() {
        if layers.split(',').any(|layer| holds.contains(&layer)) {
            let machine = Machine::new(user);
            let output = machine.sh(&layers, script);
            assert!(!output.status.success(), "{layers} as {user:?}: {script}: {output:?}");
            assert!(!output.stderr.is_empty(), "{layers}: denied, and not told: {script}");
            assert_eq!(fs::read_to_string(machine.path("neighbour/file")).unwrap(), "theirs");
            assert_eq!(fs::read_dir(machine.path("neighbour")).unwrap().count(), 1);
        }
    }
}
