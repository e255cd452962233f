//! Does one thing to a project, to be killed in the middle of it: `change_project ACTION REPOSITORY PROJECT [ARGS]`.
//!
//! Actions: `checkpoint`, `restore NAME`, `worktree PATH`, `finish MAIN`, `remove MAIN`.

use std::error::Error;
use std::ffi::OsStr;
use std::path::{Path, PathBuf};
use std::time::Duration;

use convoke_git::{
    Branch, CheckpointKind, Checkpoints, Discard, Filters, Finish, FinishRequest, Git, Guard,
    Launcher, Limits, Name, NewWorktree, Options, Project, Scope,
};

const SEARCH_PATH: &str = "/usr/local/bin:/usr/bin:/bin";

fn main() -> Result<(), Box<dyn Error>> {
    let args: Vec<String> = std::env::args().skip(1).collect();
    let [action, repository, project, rest @ ..] = args.as_slice() else {
        return Err("usage: change_project ACTION REPOSITORY PROJECT [ARGS]".into());
    };
    let rest = rest.first().map(String::as_str).unwrap_or_default();
    let limits = Limits::new(Duration::from_secs(60));
    let git = Git::open(Path::new("git"), OsStr::new(SEARCH_PATH), &limits)?;
    let open = |path: &str| {
        let home = Path::new(repository).with_file_name("home");
        let env = vec![("HOME".into(), home.into())];
        let launcher = Launcher { prefix: Vec::new(), env };
        Project::open(&git, Path::new(path), launcher, Filters::Off, &limits)
    };
    let (ours, here) = (Path::new(repository), Path::new(project));
    let checkpoints = || Checkpoints::open(&git, ours, here, Options::default(), &limits);
    match action.as_str() {
        "checkpoint" => {
            for turn in 0..u64::MAX {
                checkpoints()?
                    .checkpoint(&Name::new("loop", CheckpointKind::After(turn))?, &limits)?;
            }
        }
        "restore" => {
            let to = Name::new("s", CheckpointKind::Before(rest.parse()?))?;
            let checkpoints = checkpoints()?;
            let to = checkpoints.find(&to, &limits)?.ok_or("no such checkpoint")?;
            let undo = Name::new("s", CheckpointKind::Restore(1))?;
            checkpoints.restore(&to, Scope::All, Guard::Force, &undo, &limits)?;
        }
        "worktree" => {
            let branch = Branch::New { name: "side".to_owned(), from: "main".to_owned() };
            let new = NewWorktree { path: PathBuf::from(rest), branch };
            open(project)?.add_worktree(&new, &limits)?;
        }
        "finish" => {
            let (checkpoints, saved) =
                (checkpoints()?, Name::new("s", CheckpointKind::Removal(1))?);
            let request = FinishRequest {
                how: Finish::Rebase,
                branch: "side",
                base: "main",
                message: "finish",
                checkpoints: &checkpoints,
                saved: &saved,
            };
            open(project)?.finish(&open(rest)?, request, &limits)?;
        }
        "remove" => {
            let saved = Name::new("s", CheckpointKind::Removal(1))?;
            let discard = Discard::CapturedOnly;
            open(rest)?.remove_worktree(&checkpoints()?, &saved, discard, &limits)?;
        }
        other => return Err(format!("{other} is no action").into()),
    }
    Ok(())
}
