//! Processes under a supervisor: what it kills, what it reports, and what a race for the workspace gains.

use convoke_testkit::host::example;
use convoke_testkit::tools::search_path;

use super::*;
use crate::sandbox::{Available, Layer, Layers, Limits, Policy, Seccomp, Use};

pub(crate) fn supervised(policy: Policy) -> Confinement {
    // Convoke itself, as far as it supervises.
    Confinement::Supervised { helper: example("agents_convoke"), policy: Box::new(policy) }
}

/// All layers that work here.
pub(crate) fn all_layers() -> Layers {
    let available = Available::detect(Some(search_path().as_ref()));
    let on = |layer| if available.lacks(layer).is_none() { Use::On } else { Use::Off };
    Layers {
        landlock: on(Layer::Landlock),
        seccomp: if on(Layer::Seccomp) == Use::On { Seccomp::Strict } else { Seccomp::Off },
        bubblewrap: available.bubblewrap.ok(),
    }
}

/// A pipe in a folder whose end is the end of every process that holds it open for writing.
pub(crate) struct Held(std::thread::JoinHandle<()>);

impl Held {
    /// Begins to read; `name` appears in the folder.
    pub(crate) fn new(folder: &Path, name: &str) -> Self {
        let path = folder.join(name);
        let made = std::process::Command::new("mkfifo").arg(&path).status().unwrap();
        assert!(made.success());
        Self(std::thread::spawn(move || {
            let mut pipe = fs::File::open(path).unwrap();
            std::io::copy(&mut pipe, &mut std::io::sink()).unwrap();
        }))
    }

    pub(crate) async fn released(self, how: &str) {
        until(how, || self.0.is_finished()).await;
    }
}

/// A process that calls `setsid` leaves its group, but not its supervisor.
#[tokio::test]
async fn k3_a_supervisor_ends_whatever_the_process_started() {
    let escape = "setsid sh -c 'exec 3>held; echo 1; exec sleep 1000' & read line; exit 5";
    for layers in [Layers::NONE, all_layers()] {
        for ending in ["stopped", "killed", "dropped", "ended by itself"] {
            let folder = tempfile::tempdir().unwrap();
            let held = Held::new(folder.path(), "held");
            let launch = Launch {
                confinement: supervised(Policy { layers: layers.clone(), ..Policy::unconfined() }),
                ..launch(folder.path(), escape)
            };
            let (mut child, mut pipes) = Child::spawn(&launch).await.unwrap();
            assert_eq!(printed_pid(&mut pipes).await, 1);
            assert!(!held.0.is_finished());
            match ending {
                "stopped" => drop(child.stop(pipes.input).await),
                "killed" => {
                    child.kill();
                    assert_eq!(child.exited().await.signal, Some(9));
                }
                "dropped" => drop(child),
                _ => {
                    pipes.input.close().await;
                    assert_eq!(child.exited().await.exit_code, Some(5), "{ending}");
                }
            }
            held.released(&format!("{ending} with {layers:?}")).await;
        }
    }
}

/// A process swaps the workspace for a link to another folder, over and over, while agents are started in it.
#[tokio::test]
async fn k1_a_workspace_that_is_swapped_for_a_link_opens_nothing_else() {
    use std::sync::atomic::{AtomicBool, Ordering};

    for layers in [Layers::NONE, all_layers()] {
        let folder = crate::scratch::folder();
        let root = folder.path().canonicalize().unwrap();
        for name in ["project", "private"] {
            fs::create_dir(root.join(name)).unwrap();
        }
        std::os::unix::fs::symlink(root.join("private"), root.join("link")).unwrap();
        let launch = Launch {
            confinement: supervised(Policy { layers: layers.clone(), ..Policy::unconfined() }),
            ..launch(&root.join("project"), "echo x > \"$(mktemp -u ./XXXXXXXX)\"")
        };
        let (stop, place) = (AtomicBool::new(false), root.clone());
        let (refused, fooled) = std::thread::scope(|scope| {
            scope.spawn(|| {
                while !stop.load(Ordering::Relaxed) {
                    let swap = |from: &str, to: &str| fs::rename(place.join(from), place.join(to));
                    swap("project", "away").unwrap();
                    swap("link", "project").unwrap();
                    swap("project", "link").unwrap();
                    swap("away", "project").unwrap();
                }
            });
            let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build();
            let counts = scope.spawn(|| {
                runtime.unwrap().block_on(async {
                    let (mut refused, mut fooled) = (0, 0);
                    for _ in 0..60 {
                        match Child::spawn(&launch).await {
                            Ok((mut child, _pipes)) => drop(child.exited().await),
                            Err(_) => refused += 1,
                        }
                        // The control: this is how often a path alone leads to the other folder.
                        let looked = fs::canonicalize(root.join("project"));
                        fooled += usize::from(looked.is_ok_and(|real| real.ends_with("private")));
                    }
                    (refused, fooled)
                })
            });
            let counts = counts.join().unwrap();
            stop.store(true, Ordering::Relaxed);
            counts
        });
        let inside = fs::read_dir(root.join("private")).unwrap().count();
        assert_eq!(inside, 0, "{refused} starts were refused, {fooled} looks were fooled");
        assert!(refused > 0 || fooled > 0, "the attack was never in time");
    }
}

#[tokio::test]
async fn k3_a_supervised_process_reports_its_exit_status() {
    for layers in [Layers::NONE, all_layers()] {
        let cases = [
            ("exit 3", exit(Some(3), None, None)),
            ("kill -SEGV $$", exit(None, Some(11), None)),
            ("echo oops >&2; exit 0", exit(Some(0), None, Some("oops"))),
        ];
        for (script, expected) in cases {
            let folder = tempfile::tempdir().unwrap();
            let launch = Launch {
                confinement: supervised(Policy { layers: layers.clone(), ..Policy::unconfined() }),
                ..launch(folder.path(), script)
            };
            let (mut child, _pipes) = Child::spawn(&launch).await.unwrap();
            assert_eq!(child.exited().await, expected, "{script} with {layers:?}");
        }
    }
}

#[tokio::test]
async fn k4_a_process_that_uses_too_much_is_killed_with_the_reason() {
    let limits = |memory, tasks, temp| Limits { memory_bytes: memory, tasks, temp_bytes: temp };
    let cases = [
        (limits(Some(64 << 20), None, None), "head -c 200000000 /dev/zero | tail", "memory_max"),
        (
            limits(None, Some(20), None),
            "for i in $(seq 40); do sleep 1000 & done; wait",
            "tasks_max",
        ),
        (
            limits(None, None, Some(1 << 20)),
            "head -c 9000000 /dev/urandom > $TMPDIR/x; sleep 1000",
            "temp_max",
        ),
    ];
    for (limits, script, setting) in cases {
        let folder = tempfile::tempdir().unwrap();
        let temp = TempFolder::create(folder.path(), [1; 16]).unwrap();
        let mut launch = launch(folder.path(), script);
        launch.environment.insert("TMPDIR".into(), temp.path().into());
        let temp = Some(temp.path().to_owned());
        launch.confinement = supervised(Policy { limits, temp, ..Policy::unconfined() });
        let (mut child, _pipes) = Child::spawn(&launch).await.unwrap();
        let exit = child.exited().await;
        assert_eq!(exit.signal, Some(9), "{setting}");
        assert!(exit.stderr_tail.unwrap().contains(setting), "{setting}");
    }
}
