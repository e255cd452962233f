//! Stands in for Convoke's own program where it confines agents, for tests of the engine:
//! `engine_convoke sandbox-exec --own-session [--write PATH]… [--hide PATH]… -- PROGRAM [ARGUMENT]…`.

use std::os::unix::process::CommandExt as _;
use std::process::Command;

use convoke_agents::sandbox::{self, Rules};

fn main() -> Result<(), Box<dyn std::error::Error>> {
    let mut rules = Rules { writable: Vec::new(), hidden: Vec::new() };
    let mut args = std::env::args_os().skip(1);
    while let Some(arg) = args.next() {
        match arg.to_str() {
            Some("sandbox-exec") => {}
            Some("--own-session") => sandbox::leave_terminal()?,
            Some("--write") => rules.writable.extend(args.next().map(Into::into)),
            Some("--hide") => rules.hidden.extend(args.next().map(Into::into)),
            Some("--") => break,
            Some(_) | None => return Err(format!("what is {}?", arg.display()).into()),
        }
    }
    sandbox::confine(&rules)?;
    Err(Command::new(args.next().ok_or("no program")?).args(args).exec().into())
}
