//! The pool with real processes: the demo agent as a separate program.

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};

use convoke_core::message::Seq;
use convoke_testkit::host::example;

use super::*;
use crate::catalogue::Protocol;
use crate::driver::{Confinement, OwnSandbox, REPORTS_MAX, Start};

/// A pool, and a folder for its agents.
struct Scene {
    pool: Pool,
    folder: tempfile::TempDir,
}

/// What a caller holds while it uses a process.
struct Guest {
    seat: Seat,
    reports: mpsc::Receiver<Report>,
}

const SETTINGS: Settings = Settings {
    processes_max: 2,
    idle_timeout: Duration::from_secs(600),
    health_interval: Duration::from_millis(5),
};

/// Sixteen bytes that are different every time within this process.
fn random() -> [u8; 16] {
    use std::sync::atomic::{AtomicU64, Ordering};
    static NEXT: AtomicU64 = AtomicU64::new(1);
    u128::from(NEXT.fetch_add(1, Ordering::Relaxed)).to_be_bytes()
}

impl Scene {
    fn new(processes_max: usize) -> Self {
        Self::with(Settings { processes_max, ..SETTINGS })
    }

    fn with(settings: Settings) -> Self {
        Self { pool: Pool::start(settings, random), folder: tempfile::tempdir().unwrap() }
    }

    fn launch(&self) -> Launch {
        self.launch_program(&example("demo_agent"))
    }

    fn launch_program(&self, program: &Path) -> Launch {
        Launch {
            protocol: Protocol::Acp,
            program: program.to_owned(),
            args: vec![self.folder.path().join("state").display().to_string()],
            environment: BTreeMap::new(),
            workspace: self.folder.path().to_owned(),
            confinement: Confinement::Off,
            missing: Vec::new(),
            own_sandbox: OwnSandbox::None,
            mentions: crate::catalogue::Mentions::Link,
            tools: crate::catalogue::Tools::Stdio,
            temp: None,
            mcp_servers: Vec::new(),
            start: Start::New { id: "11111111-1111-4111-8111-111111111111".to_owned() },
            start_timeout: Duration::from_secs(20),
            leftovers: None,
            lease: None,
            gate: None,
        }
    }

    async fn guest(&self, key: &str) -> Guest {
        let (to_session, reports) = mpsc::channel(REPORTS_MAX);
        let place = watch::Sender::new(0);
        let seat = self.pool.acquire(key, self.launch(), to_session, place).await.unwrap();
        Guest { seat, reports }
    }

    /// A caller that does not get a process at once, and its place in the queue.
    fn waiting(
        &self,
        key: &str,
    ) -> (tokio::task::JoinHandle<Result<Seat>>, watch::Receiver<usize>) {
        let (to_session, _) = mpsc::channel(REPORTS_MAX);
        let place = watch::Sender::new(0);
        let (reported, pool, key) = (place.subscribe(), self.pool.clone(), key.to_owned());
        let launch = self.launch();
        let caller =
            tokio::spawn(async move { pool.acquire(&key, launch, to_session, place).await });
        (caller, reported)
    }

    /// An agent that never becomes ready.
    fn stuck(&self) -> Launch {
        let args = ["-c", "exec sleep 1000"].map(str::to_owned).into();
        let start_timeout = Duration::from_secs(1000);
        Launch { args, start_timeout, ..self.launch_program(Path::new("/bin/sh")) }
    }

    /// A process that works in the scene's folder.
    fn process(&self) -> Option<rustix::process::Pid> {
        let folder = self.folder.path().canonicalize().unwrap();
        let works_there =
            |path: &Path| std::fs::read_link(path.join("cwd")).is_ok_and(|cwd| cwd == folder);
        let mut entries = std::fs::read_dir("/proc").unwrap().flatten();
        let process = entries.find(|entry| works_there(&entry.path()))?;
        let number = process.file_name().into_string().unwrap().parse().unwrap();
        rustix::process::Pid::from_raw(number)
    }

    /// Asks until so many processes are there.
    async fn has(&self, processes: usize) {
        while self.pool.counts().await.processes != processes {
            tokio::task::yield_now().await;
        }
    }
}

async fn placed(reported: &mut watch::Receiver<usize>, place: usize) {
    reported.wait_for(|reported| *reported == place).await.unwrap();
}

#[tokio::test]
async fn t10_a_process_is_kept_warm_and_reused() {
    let scene = Scene::new(2);
    let first = scene.guest("a->b").await;
    assert!(first.seat.started.is_some());
    drop(first);
    let second = scene.guest("a->b").await;
    assert!(second.seat.started.is_none(), "it had started before");
    assert_eq!(scene.pool.counts().await, PoolCounts { processes: 1, busy: 1, waiting: 0 });
}

#[tokio::test]
async fn t10_a_warm_process_is_taken_without_waiting_or_not_at_all() {
    let scene = Scene::new(2);
    let take = || async {
        let (to_session, reports) = mpsc::channel(REPORTS_MAX);
        let seat = scene.pool.take_warm("a->b", to_session).await?;
        Some(Guest { seat, reports })
    };
    assert!(take().await.is_none(), "there is none");
    let first = scene.guest("a->b").await;
    assert!(take().await.is_none(), "it is taken");
    drop(first);
    let mut second = loop {
        // The pool notices it a little later.
        if let Some(guest) = take().await {
            break guest;
        }
        tokio::task::yield_now().await;
    };
    second
        .seat
        .send(Order::Prompt { turn: Seq::new(1), text: "hi".to_owned(), attachments: Vec::new() })
        .await
        .unwrap();
    while !matches!(second.reports.recv().await.unwrap(), Report::TurnEnded { .. }) {}
    scene.pool.prepare("new", scene.launch()).await;
    scene.has(2).await;
    let (to_session, _reports) = mpsc::channel(REPORTS_MAX);
    assert!(scene.pool.take_warm("new", to_session).await.is_none(), "it was never used");
}

#[tokio::test]
async fn t10_a_full_pool_stops_the_one_that_was_idle_longest() {
    let scene = Scene::new(2);
    let (first, second) = (scene.guest("first").await, scene.guest("second").await);
    drop(first);
    // Idle in this order, once the pool has heard of it.
    while scene.pool.counts().await.busy != 1 {
        tokio::task::yield_now().await;
    }
    drop(second);
    let third = scene.guest("third").await;
    assert!(third.seat.started.is_some());
    let again = scene.guest("second").await;
    assert!(again.seat.started.is_none(), "the second one was kept");
}

#[tokio::test]
async fn t10_a_full_pool_of_busy_processes_queues_callers_with_their_place() {
    let scene = Scene::new(1);
    let busy = scene.guest("busy").await;
    let (second, mut second_place) = scene.waiting("second");
    placed(&mut second_place, 1).await;
    let (third, mut third_place) = scene.waiting("third");
    placed(&mut third_place, 2).await;
    assert_eq!(scene.pool.counts().await, PoolCounts { processes: 1, busy: 1, waiting: 2 });
    drop(busy);
    let seat = second.await.unwrap().unwrap();
    placed(&mut third_place, 1).await;
    drop(seat);
    third.await.unwrap().unwrap();
}

#[tokio::test]
async fn t10_who_waits_for_room_is_served_in_order() {
    let scene = Scene::new(1);
    let busy = scene.guest("busy").await;
    let (to_list, mut served) = mpsc::channel(8);
    let mut callers = Vec::new();
    for (place, name) in ["one", "two", "one", "three", "busy"].into_iter().enumerate() {
        let (caller, _) = scene.waiting(name);
        while scene.pool.counts().await.waiting != place + 1 {
            tokio::task::yield_now().await;
        }
        let to_list = to_list.clone();
        callers.push(tokio::spawn(async move {
            let seat = caller.await.unwrap().unwrap();
            to_list.send(name).await.unwrap();
            drop(seat);
        }));
    }
    drop((busy, to_list));
    let mut order = Vec::new();
    while let Some(name) = served.recv().await {
        order.push(name);
    }
    assert_eq!(order, ["one", "two", "one", "three", "busy"]);
}

#[tokio::test]
async fn t10_no_more_processes_go_than_there_are_callers_without_room() {
    let scene = Scene::new(3);
    let busy = scene.guest("busy").await;
    let (behind, _) = scene.waiting("busy");
    for name in ["older", "newer"] {
        drop(scene.guest(name).await);
        while scene.pool.counts().await.busy != 1 {
            tokio::task::yield_now().await;
        }
    }
    let (fourth, mut place) = scene.waiting("fourth");
    placed(&mut place, 1).await;
    // The pool looks at its queue again while the oldest one is on its way out.
    let (second, _) = scene.waiting("busy");
    fourth.await.unwrap().unwrap();
    assert!(scene.guest("newer").await.seat.started.is_none(), "it was not in the way");
    drop((busy, behind, second));
}

#[tokio::test]
async fn t10_two_callers_of_one_key_use_one_process_after_each_other() {
    let scene = Scene::new(2);
    let first = scene.guest("a->b").await;
    let (second, _) = scene.waiting("a->b");
    while scene.pool.counts().await.waiting != 1 {
        tokio::task::yield_now().await;
    }
    assert_eq!(scene.pool.counts().await.processes, 1);
    drop(first);
    assert!(second.await.unwrap().unwrap().started.is_none());
}

#[tokio::test]
async fn t10_an_idle_process_is_stopped_after_its_time() {
    let settings = Settings { idle_timeout: Duration::from_millis(20), ..SETTINGS };
    let scene = Scene::with(settings);
    let guest = scene.guest("a").await;
    assert_eq!(scene.pool.counts().await.processes, 1);
    drop(guest);
    scene.has(0).await;
}

#[tokio::test]
async fn a_process_that_crashes_is_reported_and_the_next_caller_gets_another() {
    let scene = Scene::new(1);
    let mut guest = scene.guest("a").await;
    guest
        .seat
        .send(Order::Prompt {
            turn: Seq::new(1),
            text: "crash".to_owned(),
            attachments: Vec::new(),
        })
        .await
        .unwrap();
    loop {
        if let Report::Exited(exit) = guest.reports.recv().await.unwrap() {
            assert_eq!(exit.signal, Some(6));
            break;
        }
    }
    drop(guest);
    scene.has(0).await;
    assert!(scene.guest("a").await.seat.started.is_some());
}

#[tokio::test]
async fn an_agent_that_does_not_start_is_reported_and_frees_its_room() {
    let scene = Scene::new(1);
    let launch = scene.launch_program(&PathBuf::from("/nowhere/agent"));
    let (to_session, _) = mpsc::channel(REPORTS_MAX);
    let place = watch::Sender::new(0);
    let error = scene.pool.acquire("a", launch, to_session, place).await.unwrap_err();
    assert_eq!(error.to_string(), "there is no program /nowhere/agent");
    assert!(scene.guest("a").await.seat.started.is_some());
}

#[tokio::test]
async fn a_prepared_process_is_used_and_takes_no_room() {
    let scene = Scene::new(1);
    scene.pool.prepare("next", scene.launch()).await;
    scene.has(1).await;
    let guest = scene.guest("next").await;
    assert!(guest.seat.started.is_some());
    assert_eq!(scene.pool.counts().await.processes, 1);
    // There is no room for another spare one.
    scene.pool.prepare("more", scene.launch()).await;
    assert_eq!(scene.pool.counts().await.processes, 1);
    drop(guest);
    assert!(scene.guest("other").await.seat.started.is_some());
}

#[tokio::test]
async fn a_released_process_is_gone_also_in_the_middle_of_a_turn() {
    let scene = Scene::new(1);
    let guest = scene.guest("a").await;
    guest
        .seat
        .send(Order::Prompt { turn: Seq::new(1), text: "long".to_owned(), attachments: Vec::new() })
        .await
        .unwrap();
    scene.pool.release("a").await;
    assert_eq!(scene.pool.counts().await.processes, 0);
    scene.pool.release("never there").await;
}

#[tokio::test]
async fn t12_a_process_that_only_starts_is_killed_when_it_is_released() {
    let scene = Scene::new(1);
    scene.pool.prepare("stuck", scene.stuck()).await;
    while scene.process().is_none() {
        tokio::task::yield_now().await;
    }
    scene.pool.release("stuck").await;
    assert_eq!(scene.pool.counts().await.processes, 0);
    while scene.process().is_some() {
        tokio::task::yield_now().await;
    }
    assert!(scene.guest("stuck").await.seat.started.is_some());
    // The same holds for all of them at once.
    scene.pool.prepare("again", scene.stuck()).await;
    scene.pool.stop().await;
    assert_eq!(scene.pool.counts().await.processes, 0);
}

#[tokio::test]
async fn t10_the_last_session_gets_a_report_when_its_idle_process_is_stopped() {
    let settings = Settings { idle_timeout: Duration::from_millis(20), ..SETTINGS };
    let scene = Scene::with(settings);
    let Guest { seat, mut reports } = scene.guest("a").await;
    drop(seat);
    while reports.recv().await.unwrap() != Report::Stopped {}
    scene.has(0).await;
}

#[tokio::test]
async fn t10_a_killed_process_is_noticed_and_replaced() {
    let scene = Scene::new(1);
    let mut guest = scene.guest("a").await;
    rustix::process::kill_process(scene.process().unwrap(), rustix::process::Signal::KILL).unwrap();
    loop {
        if let Report::Exited(exit) = guest.reports.recv().await.unwrap() {
            assert_eq!(exit.signal, Some(9));
            break;
        }
    }
    drop(guest);
    scene.has(0).await;
    assert!(scene.guest("a").await.seat.started.is_some());
}

#[tokio::test]
async fn a_stopped_pool_has_no_process_and_starts_none() {
    let scene = Scene::new(2);
    let guest = scene.guest("a").await;
    scene.pool.stop().await;
    assert_eq!(scene.pool.counts().await.processes, 0);
    guest.seat.closed().await;
    let (to_session, _reports) = tokio::sync::mpsc::channel(1);
    let (place, _) = tokio::sync::watch::channel(0);
    let refused = scene.pool.acquire("b", scene.launch(), to_session, place).await;
    assert_eq!(refused.unwrap_err().to_string(), "the agent is gone");
}
