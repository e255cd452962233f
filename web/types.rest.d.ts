// What the REST interface answers, as far as the page reads it: the bodies of convoke-api that no frame carries.

declare namespace Api {
  /** A file that a restore left alone. */
  type BlockedFile = {
    /** Its path in the project. */
    path: string;
    /** What is in the way. */
    why: string;
  };

  /** A file that changed. */
  type ChangedFile = {
    /** Its path in the project, now or before it was deleted. */
    path: string;
    /** What happened to it. */
    status: FileStatus;
    /** Whether it has no lines to show. */
    binary: boolean;
    /** Lines that were added; absent for binary files. */
    added?: number;
    /** Where it was, or what it is a copy of. */
    from?: string;
    /** What it is; absent when it is gone. */
    newMode?: FileMode;
    /** What it was; absent when it is new. */
    oldMode?: FileMode;
    /** Lines that were removed; absent for binary files. */
    removed?: number;
  };

  /** One place that differs, with the lines around it. */
  type DiffHunk = {
    /** Its first line in the old version, from 1. */
    oldStart: number;
    /** How many lines of the old version. */
    oldLines: number;
    /** Its first line in the new version, from 1. */
    newStart: number;
    /** How many lines of the new version. */
    newLines: number;
    /** The function or section that it is in. */
    heading: string;
    /** Its lines. */
    lines: DiffLine[];
  };

  /** A line of a hunk. */
  type DiffLine = {
    /** In which version it is. */
    kind: DiffLineKind;
    /** Its text without the newline; bytes that are no text are replaced. */
    text: string;
    /** The words that differ from the line that it replaces: begin and end, in UTF-16 code units of `text`. */
    marks?: [number, number][];
    /** Its number in the new version. */
    new?: number;
    /** Whether no newline follows it. */
    noNewline?: boolean;
    /** Its number in the old version. */
    old?: number;
  };

  /** In which version a line is. */
  type DiffLineKind = "context" | "added" | "removed";

  /** The diff of one file: `GET /api/sessions/:id/changes/file`. */
  type FileDiff = {
    /** Its path in the project, now or before it was deleted. */
    path: string;
    /** What happened to it. */
    status: FileStatus;
    /** Whether it has no lines to show. */
    binary: boolean;
    /** The places that differ, from top to bottom. */
    hunks: DiffHunk[];
    /** Whether these are all; a longer diff is cut off after about 2 MiB. */
    complete: boolean;
    /** Lines that were added; absent for binary files. */
    added?: number;
    /** Where it was, or what it is a copy of. */
    from?: string;
    /** What it is; absent when it is gone. */
    newMode?: FileMode;
    /** What it was; absent when it is new. */
    oldMode?: FileMode;
    /** Lines that were removed; absent for binary files. */
    removed?: number;
  };

  /** What a path holds. */
  type FileMode = "regular" | "executable" | "link" | "submodule";

  /** What happened to a file. */
  type FileStatus = "added" | "deleted" | "modified" | "type_changed" | "renamed" | "copied";

  /** The conversations of an agent. */
  type FoundAgent = {
    /** The source, as `POST /api/histories/import` names it: `claude`, `codex`, …. */
    source: string;
    /** What people call the agent. */
    name: string;
    /** How many conversations there are, those of subagents included. */
    found: number;
    /** Of how many something is stored here. */
    imported: number;
    /** Whether new ones are imported as they come. */
    followed: boolean;
    /** When the newest last changed. */
    newest?: string;
  };

  /** A folder that only imported sessions name. */
  type FoundRepo = {
    /** The id of its sessions' project, which it keeps when it is added. */
    id: string;
    /** The last part of its path. */
    name: string;
    /** The folder, which may be gone. */
    path: string;
    /** How many sessions it has. */
    sessions: number;
  };

  /** What there is to import: `GET /api/histories`. Nothing of what was said is read for it. */
  type Histories = {
    /** The setting `history.import`. */
    import: HistoryImportMode;
    /** The agents with at least one conversation, in the order of lists. */
    agents: FoundAgent[];
    /** Folders of imported sessions that are no projects; `POST /api/repos` with its path adds one. At most 1000. */
    projects: FoundRepo[];
    /** The import that runs, or the last one since the daemon started. */
    run?: HistoryImport;
  };

  /** The setting `history.import`. */
  type HistoryImportMode = "ask" | "always" | "never";

  /** A file that checkpoints do not hold. */
  type LeftOutFile = {
    /** Its path in the project. */
    path: string;
    /** Why. */
    reason: LeftOutReason;
    /** Its size, if it is too large. */
    bytes?: number;
  };

  /** Why checkpoints do not hold a file. */
  type LeftOutReason = "too_large" | "unreadable" | "name" | "worktree";

  /** What a session, or one of its turns, changed: `GET /api/sessions/:id/changes`. */
  type SessionChanges = {
    /** The turns that have checkpoints, by the seqs of their prompts. */
    turns: number[];
    /** The files, in order of their paths. */
    files: ChangedFile[];
    /** All of them together. */
    totals: ChangeTotals;
    /** Whether `files` has all of them; if not, their lines are not counted. */
    complete: boolean;
    /** Files that the checkpoints do not hold: too large, or not readable. */
    leftOut: LeftOutFile[];
    /** The turn that the files are of; absent for the whole session. */
    turn?: number;
  };

  /** What was restored. */
  type Restored = {
    /** Files that were written. */
    written: string[];
    /** Files that were removed. */
    removed: string[];
    /** Files that differ and were left alone. */
    blocked: BlockedFile[];
    /** The session with the conversation up to there, if that was restored. */
    session?: { id: string };
  };

  /** A session as REST answers with it, as far as the page reads it. */
  type FoundSession = {
    /** Its own id. */
    id: string;
    title: string;
    changes?: ChangeTotals;
    cost?: Cost;
    runningSince?: string;
    worktree?: OwnWorktree;
  };

  /** What a user may do: read, prompt and answer, or everything. */
  type UserRole = "viewer" | "member" | "owner";

  /** Who asks: `GET /api/me`. */
  type Me = {
    /** The user; absent for the owner of the daemon. */
    name?: string;
    role: UserRole;
    /** The projects in which another role holds. */
    projects: { repoId: string; project: string; role: UserRole }[];
  };

  /** A user: `GET /api/users`. */
  type User = {
    name: string;
    role: UserRole;
    /** The projects in which another role holds. */
    projects: { repoId: string; project: string; role: UserRole }[];
    devices: Device[];
    createdAt: string;
  };

  /** What a user is signed in with. */
  type Device = {
    id: string;
    kind: "browser" | "token";
    /** What a browser calls itself; what a token is for. */
    label: string;
    createdAt: string;
    lastUsedAt?: string;
  };

  /** Something that a human did: `GET /api/audit`. */
  type AuditEntry = {
    at: string;
    /** Absent for the owner of the daemon. */
    user?: string;
    /** The device and the address. */
    from: string;
    node?: string;
    action: string;
    subject: string;
    sessionId?: string;
  };

  /** A daemon that shares the database: `GET /api/nodes`. */
  type Node = {
    id: string;
    name: string;
    version: string;
    startedAt: string;
    seenAt: string;
    /** Whether it does not run, or cannot reach the database. */
    away: boolean;
    /** Whether it is the one that answers. */
    own: boolean;
  };

  /** The nodes to which a session may move. */
  type MoveTargets = { targets: MoveTarget[] };

  /** A node to which a session may move, or why it may not. */
  type MoveTarget = {
    node: string;
    name: string;
    away: boolean;
    /** The projects there with the same git remote. */
    repos: Repo[];
    /** The other projects there. */
    others: Repo[];
    /** Why it cannot move there without naming a project, or at all. */
    reason?: string;
  };

  /** How a work tree ends. */
  type FinishWay = "merge" | "squash" | "rebase" | "pr" | "keep" | "discard";

  /** What is to become of a work tree. */
  type FinishWorktree = {
    how: FinishWay;
    /** The message of commits, and the title and body of a pull request; by default the session's title. */
    message?: string;
    /** Whether files are deleted that no snapshot holds. */
    force?: boolean;
    /** Whether the agent is prompted to resolve conflicts. */
    resolve?: boolean;
  };

  /** What became of a work tree. */
  type FinishedWorktree = {
    outcome: "finished" | "pull_request" | "conflicts";
    session: FoundSession;
    /** The branch that has its commits now. */
    base?: string;
    commit?: string;
    /** Files that base and branch changed differently; nothing was done then. */
    conflicts: WorktreeConflict[];
    /** The address of the pull request. */
    pullRequest?: string;
    /** The prompt to resolve conflicts, if that was asked for. */
    prompt?: { messageId: string };
  };

  /** A file that two branches changed differently, and what each did to it. */
  type WorktreeConflict = { path: string; base: "changed" | "deleted"; branch: "changed" | "deleted" };

  /** A session's work tree in a list. */
  type ListedWorktree = {
    sessionId: string;
    title: string;
    status: SessionStatus;
    repoId: string;
    repo: string;
    path: string;
    branch: string;
    base?: string;
    /** `missing`: its folder was deleted by hand. */
    state: "ready" | "missing" | "removed";
    removed?: RemovedWorktree;
  };

  /** One prompt for several agents. */
  type Comparison = {
    id: string;
    repoId: string;
    prompt: string;
    /** A line of shell that runs in each work tree when its agent is done. */
    test?: string;
    createdAt: string;
    /** The session that was kept. */
    kept?: string;
    /** Whether every entry is done, with its test. */
    done: boolean;
    entries: ComparisonEntry[];
  };

  type ComparisonState = "working" | "waiting" | "testing" | "ended" | "failed";

  /** What one agent made of the prompt. */
  type ComparisonEntry = {
    agent?: string;
    /** The model that was asked for. */
    model?: string;
    state: ComparisonState;
    session?: FoundSession;
    /** Why it could not be begun, or not be discarded. */
    error?: string;
    durationMs?: number;
    test?: { exitCode?: number; output: string; durationMs: number };
  };
}
