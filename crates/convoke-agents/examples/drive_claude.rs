//! Drives a real `claude` from the terminal: prints what it reports, and reads orders from standard input.
//!
//! `drive_claude PROGRAM WORKSPACE [SESSION]` resumes a session, or starts one. A line is a prompt, unless it is one of
//! `/cancel`, `/mode MODE`, `/model MODEL`, `/reply OPTION` (to the last request) and `/stop`.

#![expect(clippy::print_stdout, reason = "this is what it is for")]

use std::path::PathBuf;
use std::time::Duration;

use convoke_agents::catalogue::Protocol;
use convoke_agents::driver::{self, Confinement, Launch, Order, REPORTS_MAX, Start};
use convoke_core::id::RequestId;
use convoke_core::message::Seq;
use convoke_core::session::{Reply, Report};
use tokio::io::{AsyncBufReadExt, BufReader, stdin};
use tokio::sync::mpsc;

#[tokio::main(flavor = "current_thread")]
async fn main() -> Result<(), Box<dyn std::error::Error>> {
    let mut args = std::env::args().skip(1);
    let (Some(program), Some(workspace)) = (args.next(), args.next()) else {
        return Err("usage: drive_claude PROGRAM WORKSPACE [SESSION]".into());
    };
    let new = || Start::New { id: RequestId::from_random(random()).to_string() };
    let launch = Launch {
        protocol: Protocol::Claude,
        program: PathBuf::from(program),
        args: Vec::new(),
        environment: std::env::vars_os().collect(),
        workspace: PathBuf::from(workspace).canonicalize()?,
        confinement: Confinement::Off,
        missing: Vec::new(),
        own_sandbox: driver::OwnSandbox::None,
        mentions: convoke_agents::catalogue::Mentions::Link,
        tools: convoke_agents::catalogue::Tools::Stdio,
        temp: None,
        mcp_servers: Vec::new(),
        start: args.next().map_or_else(new, |agent_session| Start::Resume { agent_session }),
        start_timeout: Duration::from_secs(30),
        leftovers: None,
        lease: None,
        gate: None,
    };
    let (sender, mut reports) = mpsc::channel(REPORTS_MAX);
    let (driver, started) = driver::start(launch, random, sender).await?;
    println!("{started:?}");
    let mut lines = BufReader::new(stdin()).lines();
    let (mut turn, mut asked) = (Seq::START, None);
    loop {
        tokio::select! {
            report = reports.recv() => {
                let Some(report) = report else { break };
                if let Report::Asked(request) = &report {
                    asked = Some(request.id());
                }
                println!("{report:?}");
            }
            line = lines.next_line() => match line? {
                Some(line) if line == "/stop" => break,
                Some(line) => {
                    turn = turn.next();
                    driver.send(order(&line, turn, asked)).await?;
                }
                None => break,
            },
        }
    }
    println!("{:?}", driver.stop().await);
    Ok(())
}

fn order(line: &str, turn: Seq, asked: Option<RequestId>) -> Order {
    match (line.split_once(' ').unwrap_or((line, "")), asked) {
        (("/cancel", _), _) => Order::Cancel,
        (("/mode", mode), _) => Order::SetMode { mode: mode.to_owned() },
        (("/model", choice), _) => {
            Order::SetSetting { setting: "model".to_owned(), choice: choice.to_owned() }
        }
        (("/reply", option), Some(request)) => {
            Order::Reply { request, reply: Reply::Chosen { option_id: option.to_owned() } }
        }
        _ => Order::Prompt { turn, text: line.to_owned(), attachments: Vec::new() },
    }
}

/// Good enough for ids that live as long as this program.
fn random() -> [u8; 16] {
    use std::hash::{BuildHasher, RandomState};
    u128::from(RandomState::new().hash_one(0)).to_le_bytes()
}
