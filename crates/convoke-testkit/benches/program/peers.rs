//! Other programs that do some of the same, on the same data: `scripts/peers` installs them.

mod asking;

use std::fs;
use std::path::{Path, PathBuf};
use std::process::{Command, ExitCode, Stdio};

use convoke_testkit::agent;
use convoke_testkit::bench::measure::{Samples, in_turn};
use convoke_testkit::bench::{Bench, Result, Row, Unit, histories};

use crate::import::User;
use crate::start::run;

pub(crate) const ROWS: [&str; 5] = [
    "peer: import 1,000 Claude histories of 16 kB, until the search index is complete",
    "peer: import again, no file changed",
    "peer: search for a word from the command line, 20 hits",
    "peer: prompt a running session from the command line, until its answer",
    "peer: answer a question, until the agent's call returns",
];

const AGENTSVIEW: &str = "agentsview 0.46.1";
const ACPX: &str = "acpx 0.19.1";
const FEEDBACK: &str = "mcp-feedback-enhanced 2.8.5";
/// Conversations. A tenth of what `import` measures, because the other program takes minutes for those.
const HISTORIES: (usize, usize) = (1_000, 20);
/// A word of every prompt.
const WORD: &str = "please";
const TIMES: (usize, usize) = (20, 2);
/// Questions, each asked by a new process.
const QUESTIONS: (usize, usize) = (5, 1);

/// The agent of both clients; it echoes every prompt. `script` is the file of a script without a turn.
pub(crate) fn serve_agent(script: &str) -> Result<ExitCode> {
    let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build()?;
    let words = ["--protocol", "acp", script].map(str::to_owned);
    Ok(runtime.block_on(agent::main(words.into_iter()))?)
}

pub(crate) fn measure(bench: &mut Bench, program: &Path) -> Result<()> {
    if !bench.wants(&ROWS) {
        return Ok(());
    }
    bench.progress("installing other programs")?;
    let Some(peers) = install()? else {
        return bench.progress("they cannot be installed here, and are left out");
    };
    let [import, again, search, prompt, answer] = ROWS;
    if bench.wants(&[import, again, search]) {
        bench.progress(import)?;
        measure_histories(bench, program, &peers.join("python/bin/agentsview"))?;
    }
    if bench.wants(&[prompt]) {
        bench.progress(prompt)?;
        measure_prompts(bench, program, &peers.join("node_modules/.bin/acpx"))?;
    }
    if bench.wants(&[answer]) {
        bench.progress(answer)?;
        let rounds = bench.size(QUESTIONS.0, QUESTIONS.1);
        let feedback = peers.join("python/bin/mcp-feedback-enhanced");
        let (ours, theirs) = asking::measure(rounds, program, &feedback)?;
        bench.add(compared(answer, &ours, FEEDBACK, &theirs))?;
    }
    Ok(())
}

/// The folder of the programs; `None` where they cannot be installed.
fn install() -> Result<Option<PathBuf>> {
    let script = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../scripts/peers");
    let output = Command::new(script).stderr(Stdio::inherit()).output()?;
    let folder = String::from_utf8(output.stdout)?;
    Ok(output.status.success().then(|| folder.trim_end().into()))
}

fn measure_histories(bench: &mut Bench, program: &Path, agentsview: &Path) -> Result<()> {
    let [import, again, search, ..] = ROWS;
    let count = bench.size(HISTORIES.0, HISTORIES.1);
    let user = User::new(program, |root| histories::write_many(root, count))?;
    let began = std::time::Instant::now();
    user.import(program)?;
    user.wait_for_index(program)?;
    let ours = began.elapsed().as_secs_f64();
    // It reads the files of every agent that it finds in the home, where only Claude Code has some.
    let home = user.home.path();
    let peer = |words: &[&str]| {
        let mut command = Command::new(agentsview);
        command.args(words).env_clear().env("HOME", home).stderr(Stdio::null());
        command
    };
    let sync = || run(peer(&["sync"]).env("AGENTSVIEW_NO_DAEMON", "1"));
    let theirs = sync()?;
    bench.add(Row::new(import, Unit::Seconds, ours).against(AGENTSVIEW, theirs))?;
    let times = bench.size(TIMES.0, TIMES.1);
    let (ours, theirs) = in_turn(times, || user.import(program), sync)?;
    bench.add(compared(again, &ours, AGENTSVIEW, &theirs))?;
    // It searches only by way of its daemon.
    let daemon = PeerDaemon { stop: peer(&["daemon", "stop"]) };
    run(&mut peer(&["daemon", "start"]))?;
    let words = ["session", "search", WORD, "--fts", "--limit", "20", "--json"];
    let (ours, theirs) = in_turn(
        times,
        || run(user.command(program).args(["search", WORD, "--limit", "20", "--json"])),
        || run(&mut peer(&words)),
    )?;
    drop(daemon);
    bench.add(compared(search, &ours, AGENTSVIEW, &theirs))
}

fn measure_prompts(bench: &mut Bench, program: &Path, acpx: &Path) -> Result<()> {
    let [.., prompt, _] = ROWS;
    let agent = std::env::current_exe()?;
    let user = User::new(program, |root| {
        let home = root.parent().ok_or("no home")?;
        configure(home, &agent)
    })?;
    let home = user.home.path();
    let (project, script) = (home.join("project"), home.join("script.json"));
    let mut new = user.command(program);
    new.args(["session", "new", "--agent", "bench", "--json", "--project"]).arg(&project);
    let created: serde_json::Value = serde_json::from_slice(&new.output()?.stdout)?;
    let session = created.get("id").and_then(|id| id.as_str()).ok_or("no session")?.to_owned();
    let peer = |words: &[&str]| {
        let mut command = Command::new(acpx);
        let agent = format!("{} --subtask {}", agent.display(), script.display());
        command.args(["--agent", &agent, "--format", "quiet", "--ttl", "60", "--cwd"]);
        command.arg(&project).args(words).env("HOME", home).stderr(Stdio::null());
        command
    };
    run(&mut peer(&["sessions", "new"]))?;
    let daemon = PeerDaemon { stop: peer(&["sessions", "close"]) };
    let (ours, theirs) = in_turn(
        bench.size(TIMES.0, TIMES.1),
        || run(user.command(program).args(["session", "send", &session, "hello", "--wait"])),
        || run(&mut peer(&["hello"])),
    )?;
    drop(daemon);
    bench.add(compared(prompt, &ours, ACPX, &theirs))
}

/// Writes a project, the script of the agent, and the configuration of a daemon with it.
fn configure(home: &Path, agent: &Path) -> Result<()> {
    let script = home.join("script.json");
    fs::create_dir(home.join("project"))?;
    fs::write(&script, "{}")?;
    let config = format!(
        "[sessions]\nworkspace_root = {home:?}\n\
         [agents.bench]\nprotocol = \"acp\"\ncommand = {agent:?}\nargs = [\"--subtask\", {script:?}]\nsandbox = \"off\"\n"
    );
    fs::create_dir(home.join("convoke"))?;
    Ok(fs::write(home.join("convoke/config.toml"), config)?)
}

fn compared(name: &'static str, ours: &Samples, peer: &'static str, theirs: &Samples) -> Row {
    Row::new(name, Unit::Seconds, ours.median()).against(peer, theirs.median())
}

/// What another program left running, stopped when this is dropped.
struct PeerDaemon {
    stop: Command,
}

impl Drop for PeerDaemon {
    fn drop(&mut self) {
        // Its home is removed in any case.
        run(&mut self.stop).ok();
    }
}
