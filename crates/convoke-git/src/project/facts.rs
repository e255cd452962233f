//! The state of a repository for a header: branch, base, changes, and the operation in progress.

use std::path::PathBuf;

use super::{Operation, Project};
use crate::checkpoint::scan_path;
use crate::diff::Lines;
use crate::{Error, Limits, ObjectId, Result};

/// Facts about a work tree.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Facts {
    /// What is checked out.
    pub head: Head,
    /// The branch that it follows.
    pub upstream: Option<Upstream>,
    /// Where its branch left the default branch.
    pub base: Option<Base>,
    /// The operation in progress.
    pub operation: Option<Operation>,
    /// Uncommitted changes.
    pub dirty: DirtyFiles,
    /// Lines of uncommitted changes to tracked files.
    pub lines: Lines,
}

/// What is checked out.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Head {
    /// A branch.
    Branch {
        /// Its name.
        name: String,
        /// Its last commit.
        commit: ObjectId,
    },
    /// A commit, and no branch.
    Detached {
        /// The commit.
        commit: ObjectId,
    },
    /// A branch without commits.
    Unborn {
        /// Its name.
        name: String,
    },
}

/// The branch that another one follows.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Upstream {
    /// Its name, such as `origin/main`.
    pub name: String,
    /// Commits that it lacks; unknown if it was deleted.
    pub ahead: u64,
    /// Commits that only it has.
    pub behind: u64,
}

/// Where a branch left another one.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Base {
    /// The other branch.
    pub branch: String,
    /// The last commit of both.
    pub commit: ObjectId,
}

/// Uncommitted changes, as numbers of files.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct DirtyFiles {
    /// Changed in the index.
    pub staged: u64,
    /// Changed in the work tree.
    pub unstaged: u64,
    /// With conflicts.
    pub conflicted: u64,
    /// Unknown to git; a folder of them counts once.
    pub untracked: u64,
}

impl DirtyFiles {
    /// Whether there is none.
    pub fn is_clean(&self) -> bool {
        *self == Self::default()
    }
}

/// The output of `git status`.
#[derive(Debug, Default)]
struct StatusReport {
    branch: String,
    commit: Option<ObjectId>,
    upstream: Option<Upstream>,
    dirty: DirtyFiles,
}

impl Project {
    /// Gathers the facts.
    pub fn facts(&self, limits: &Limits) -> Result<Facts> {
        let report = self.status(limits)?;
        let head = match (report.branch.as_str(), report.commit) {
            (name, None) => Head::Unborn { name: name.to_owned() },
            ("(detached)", Some(commit)) => Head::Detached { commit },
            (name, Some(commit)) => Head::Branch { name: name.to_owned(), commit },
        };
        let (base, lines) = match &head {
            Head::Unborn { .. } => (None, Lines::default()),
            Head::Branch { .. } | Head::Detached { .. } => {
                (self.base(limits)?, self.uncommitted_lines(limits)?)
            }
        };
        let operation = self.operation();
        Ok(Facts { head, upstream: report.upstream, base, operation, dirty: report.dirty, lines })
    }

    /// The branch that is checked out.
    pub fn branch(&self, limits: &Limits) -> Result<Option<String>> {
        let command = self.command("symbolic-ref").args(["-q", "HEAD"]);
        let output = command.run_any(limits)?;
        let text = String::from_utf8_lossy(&output.stdout).trim_end().to_owned();
        Ok(text.strip_prefix("refs/heads/").map(str::to_owned))
    }

    /// What is in progress.
    pub fn operation(&self) -> Option<Operation> {
        Operation::find(&self.folder().own)
    }

    /// Tracked files with uncommitted changes, and untracked ones.
    pub(crate) fn dirty_files(&self, untracked: &str, limits: &Limits) -> Result<Vec<PathBuf>> {
        let command = self.command("status").args(["--porcelain=v1", "-z", "--no-renames"]);
        let command = command.args(["--ignore-submodules=dirty", untracked]);
        let output = command.run(limits)?;
        let records = output.stdout.split(|byte| *byte == 0).filter(|record| !record.is_empty());
        // Two letters and a space.
        Ok(records.map(|record| scan_path(record.get(3..).unwrap_or_default())).collect())
    }

    fn status(&self, limits: &Limits) -> Result<StatusReport> {
        let command = self.command("status").args(["--porcelain=v2", "--branch", "-z"]);
        let command = command.args(["--untracked-files=normal", "--ignore-submodules=dirty"]);
        let output = command.run(limits)?;
        let mut report = StatusReport::default();
        let mut records = output.stdout.split(|byte| *byte == 0);
        while let Some(record) = records.next() {
            match record.first() {
                Some(b'#') => report.read_header(&String::from_utf8_lossy(record))?,
                Some(b'1') => report.count(record),
                Some(b'2') => {
                    report.count(record);
                    // The path that it was renamed from.
                    records.next();
                }
                Some(b'u') => report.dirty.conflicted += 1,
                Some(b'?') => report.dirty.untracked += 1,
                Some(_) | None => {}
            }
        }
        Ok(report)
    }

    /// Where HEAD left the default branch: that of `origin`, else `main` or `master`.
    fn base(&self, limits: &Limits) -> Result<Option<Base>> {
        let command = self.command("symbolic-ref").args(["-q", "--short"]);
        let output = command.arg("refs/remotes/origin/HEAD").run_any(limits)?;
        let origin = String::from_utf8_lossy(&output.stdout).trim_end().to_owned();
        for branch in [origin.as_str(), "main", "master"].into_iter().filter(|it| !it.is_empty()) {
            let command = self.command("merge-base").args(["--end-of-options", "HEAD", branch]);
            let output = command.run_any(limits)?;
            if output.code == Some(0) {
                let commit = ObjectId::read(output.stdout.get(..).unwrap_or_default())?;
                return Ok(Some(Base { branch: branch.to_owned(), commit }));
            }
        }
        Ok(None)
    }

    fn uncommitted_lines(&self, limits: &Limits) -> Result<Lines> {
        let command = self.command("diff").args(["--numstat", "-z", "--no-renames"]);
        let command = command.args(["--no-ext-diff", "--no-textconv", "--ignore-submodules=dirty"]);
        let output = command.args(["HEAD", "--"]).run(limits)?;
        let mut lines = Lines::default();
        for record in output.stdout.split(|byte| *byte == 0) {
            let mut fields = record.splitn(3, |byte| *byte == b'\t').map(String::from_utf8_lossy);
            let mut number = || fields.next().and_then(|field| field.parse::<u64>().ok());
            lines.added += number().unwrap_or_default();
            lines.removed += number().unwrap_or_default();
        }
        Ok(lines)
    }
}

impl StatusReport {
    /// `# branch.oid …` and the like.
    fn read_header(&mut self, text: &str) -> Result<()> {
        let mut words = text.splitn(3, ' ').skip(1);
        let (Some(key), Some(value)) = (words.next(), words.next()) else { return Ok(()) };
        match key {
            "branch.oid" if value != "(initial)" => self.commit = Some(ObjectId::parse(value)?),
            "branch.head" => self.branch = value.to_owned(),
            "branch.upstream" => {
                self.upstream = Some(Upstream { name: value.to_owned(), ahead: 0, behind: 0 });
            }
            "branch.ab" => {
                let mut numbers =
                    value.split(' ').map(|it| it.trim_start_matches(['+', '-']).parse());
                if let (Some(upstream), Some(Ok(ahead)), Some(Ok(behind))) =
                    (&mut self.upstream, numbers.next(), numbers.next())
                {
                    (upstream.ahead, upstream.behind) = (ahead, behind);
                }
            }
            _ => {}
        }
        Ok(())
    }

    /// `1 XY …`: X for the index, Y for the work tree, `.` for unchanged.
    fn count(&mut self, record: &[u8]) {
        self.dirty.staged += u64::from(record.get(2).is_some_and(|letter| *letter != b'.'));
        self.dirty.unstaged += u64::from(record.get(3).is_some_and(|letter| *letter != b'.'));
    }
}

impl Project {
    /// Fails when something is in progress or a tracked file has uncommitted changes.
    pub(crate) fn check_clean(&self, untracked: &str, limits: &Limits) -> Result<()> {
        let path = self.work_tree().to_owned();
        if let Some(operation) = self.operation() {
            return Err(Error::InProgress { path, operation });
        }
        let files = self.dirty_files(untracked, limits)?;
        if files.is_empty() { Ok(()) } else { Err(Error::Dirty { path, files }) }
    }
}
