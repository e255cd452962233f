// Made from the types of convoke-api: UPDATE_TYPES=1 cargo nextest run -p convoke-api typescript

declare namespace Api {
  /** What a session does now. */
  type Activity = "idle" | "running" | "waiting";

  /** What the agent reported about itself. */
  type AgentEvent =
    /** The agent made room in its context. */
    | { event: "compacted" }
    /** Something the agent wants people to know. */
    | {
      event: "advice";
      /** `info`, `warning` or `error`, in the agent's words. */
      severity: string;
    }
    /** An update of a kind that Convoke does not know, kept as it came. */
    | {
      event: "unknown";
      /** The kind the agent named. */
      kind: string;
      /** The whole update. */
      payload: any;
    };

  /** An agent that sessions can be begun with. */
  type AgentItem = {
    /** Its name in the catalogue. */
    cliType: string;
    /** What people call it. */
    title: string;
    /** Two letters for lists. */
    badge: string;
    /** Whether it can be started here. */
    installed: boolean;
    /** Whether the user has logged in at it, as far as that shows without asking it. */
    login: AgentLogin;
    /** How to install it, when that is known. */
    install?: string;
    /** The mode that it begins with. */
    mode?: string;
    /** The model that it begins with. */
    model?: string;
    /** The models that it offered when it was last started. */
    models?: OfferedChoice[];
    /** The modes that it offered when it was last started; none as long as it never was. */
    modes?: OfferedChoice[];
    /** What it calls its version, when that is known. */
    version?: string;
  };

  /** Whether the user has logged in at an agent. */
  type AgentLogin = {
    /** As far as it shows. */
    state: AgentLoginState;
    /** How to log in, for people, when that is known. */
    hint?: string;
  };

  /** Whether a key or a log-in of an agent is there. */
  type AgentLoginState = "logged_in" | "logged_out" | "unknown" | "not_needed";

  /** How a process of an agent's fares. */
  type AgentState = "starting" | "ready" | "exited";

  /** One question of a set. */
  type AskedQuestion = {
    /** The question in full. */
    prompt: string;
    /** The question in a word or two. */
    title: string;
    /** What can be chosen; free text is always possible besides. */
    options: QuestionOption[];
    /** Whether several options may be chosen. */
    multiSelect: boolean;
    /** The prompt as sanitised HTML, for clients that opened the session with `render`. */
    html?: string;
  };

  /** A file that is stored by its hash and referred to by messages. */
  type Attachment = {
    /** SHA-256 of its bytes, in lower-case hexadecimal digits. */
    hash: string;
    /** What people call it. */
    name: string;
    /** What its bytes are, such as `image/png`. */
    mediaType: string;
    /** How many bytes it has. */
    size: number;
  };

  /** What a session wants of its human. */
  type Attention = "needs_you" | "working" | "failed" | "idle" | "ended";

  /** The audit trail: `GET /api/audit`. */
  type Audit = {
    /** The newest first. */
    entries: AuditEntry[];
    /** `before` for older ones, if there are any. */
    next?: number;
  };

  /** Something that a human did. */
  type AuditEntry = {
    /** When. */
    at: string;
    /** The device and the address. */
    from: string;
    /** What was done, such as `prompt` or `answer request`. */
    action: string;
    /** What it was about, such as the title of a permission and the option that was chosen. */
    subject: string;
    /** The daemon, if several share the database. */
    node?: string;
    /** The project that it concerned. */
    repoId?: string;
    /** The request that it decided. */
    requestId?: string;
    /** The session that it concerned. */
    sessionId?: string;
    /** The user; absent for the owner of the daemon. */
    user?: string;
  };

  /** Files that were changed while no turn ran. */
  type BetweenTurns = {
    /** How many there are. */
    files: number;
    /** The paths of the first 100. */
    paths: string[];
  };

  /** A file that a restore left alone. */
  type BlockedFile = {
    /** Its path in the project. */
    path: string;
    /** What is in the way. */
    why: string;
  };

  /** How much the turns of a session have changed. */
  type ChangeTotals = {
    /** How many files. */
    files: number;
    /** Lines that were added. */
    added: number;
    /** Lines that were removed. */
    removed: number;
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

  /** How a rendered entry changes. */
  type ChunkHtml = {
    /** The entry's top-level elements from this one on are dropped. */
    from: number;
    /** What is appended in their place. */
    html: string;
  };

  /** A frame from a client, tagged by `type`. A session is named by its canonical id or its own. */
  type ClientFrame =
    /** Wants all projects. */
    | { type: "project:list" }
    /** Adds a project. */
    | {
      type: "project:add";
      /** Its folder. */
      path: string;
      /** What to call it. */
      name?: string;
    }
    /** Removes a project; its sessions stay readable. */
    | {
      type: "project:remove";
      /** Which one. */
      projectId: string;
    }
    /** Wants the folders whose paths begin so. */
    | {
      type: "folder:complete";
      /** The beginning of a path. */
      path: string;
    }
    /** Wants the files and folders of a project that match some letters. */
    | {
      type: "file:complete";
      /** Of which project. */
      projectId: string;
      /** The letters. */
      query: string;
      /** How many at most; 20, by default. */
      limit?: number;
    }
    /** Opens a file in the user's editor, with the command of the settings. */
    | {
      type: "file:open";
      /** Its path, absolute. */
      path: string;
      /** The column; the first, by default. */
      column?: number;
      /** The line; the first, by default. */
      line?: number;
    }
    /** Wants all agents. */
    | { type: "agent:list" }
    /** Wants the sessions of a project. */
    | {
      type: "session:list";
      /** Which one. */
      projectId: string;
      /** Whether only archived ones are wanted, or only the others. */
      archived?: boolean;
    }
    /** Begins a session. */
    | {
      type: "session:create";
      /** In which project. */
      projectId: string;
      /** Files that were uploaded, to go with it. */
      attachments?: GivenAttachment[];
      /** With which agent; by default the configured one. */
      cliType?: string;
      /** Files and folders of the project that the words mention, relative to it. */
      files?: string[];
      /** The mode that the agent is to be in, by its id or name; by default the agent's own. */
      mode?: string;
      /** The model that the agent is to use, by its id or name; by default the agent's own. */
      model?: string;
      /** The first prompt, which is sent in the same step. */
      prompt?: string;
      /** A work tree that the session is to have for itself; by default it works in the project's folder. */
      worktree?: NewWorktree;
    }
    /** Wants to see a session, and to follow it. */
    | {
      type: "session:open";
      /** Which one. */
      sessionId: string;
      /** The revision up to which the client has everything; it gets what changed after. */
      after?: number;
      /** The place of a message that the entries are to end a little after, instead of at the newest one. */
      at?: number;
      /** What that revision belongs to; with another one than the daemon's the client gets everything anew. */
      generation?: string;
      /** How many entries are enough to begin with. */
      limit?: number;
      /** Whether entries are to carry `html`. */
      render?: boolean;
    }
    /** Wants older entries. */
    | {
      type: "session:page";
      /** Of which session. */
      sessionId: string;
      /** Older than the entry that began here. */
      before: number;
      /** How many are enough. */
      limit?: number;
      /** Whether entries are to carry `html`. */
      render?: boolean;
    }
    /** Follows a session no longer. */
    | {
      type: "session:close";
      /** Which one. */
      sessionId: string;
    }
    /** Says something to the agent. */
    | {
      type: "session:send";
      /** In which session. */
      sessionId: string;
      /** The words. */
      content: string;
      /** Files that were uploaded, to go with it. */
      attachments?: GivenAttachment[];
      /** Files and folders of the project that the words mention, relative to it. */
      files?: string[];
      /** The id of the message that it becomes, made by the client; the same one is accepted once. */
      messageId?: string;
      /** Comments on lines of changed files. */
      review?: GivenComment[];
    }
    /** Changes a prompt that waits. */
    | {
      type: "queue:edit";
      /** In which session. */
      sessionId: string;
      /** Which prompt. */
      messageId: string;
      /** The words. */
      content: string;
    }
    /** Removes a prompt that waits. */
    | {
      type: "queue:remove";
      /** In which session. */
      sessionId: string;
      /** Which prompt. */
      messageId: string;
    }
    /** Moves a prompt that waits to another place in the queue. */
    | {
      type: "queue:move";
      /** In which session. */
      sessionId: string;
      /** Which prompt. */
      messageId: string;
      /** Its new place, counted from 0; beyond the end is the end. */
      to: number;
    }
    /** Sends a prompt that waits next, and stops the running turn for it. */
    | {
      type: "queue:send";
      /** In which session. */
      sessionId: string;
      /** Which prompt. */
      messageId: string;
    }
    /** Stops the running turn. */
    | {
      type: "session:cancel";
      /** Of which session. */
      sessionId: string;
      /** What becomes of the prompts that wait; by default the next one is sent. */
      queue?: QueueChoice;
    }
    /** Its human has looked at a session. */
    | {
      type: "session:seen";
      /** Which one. */
      sessionId: string;
    }
    /** Deletes a session with its messages. */
    | {
      type: "session:erase";
      /** Which one. */
      sessionId: string;
    }
    /** Hides a session from lists. */
    | {
      type: "session:archive";
      /** Which one. */
      sessionId: string;
    }
    /** Shows a session in lists again. */
    | {
      type: "session:unarchive";
      /** Which one. */
      sessionId: string;
    }
    /** Gives a session another title. */
    | {
      type: "session:rename";
      /** Which one. */
      sessionId: string;
      /** What to call it. */
      title: string;
    }
    /** Lets an ended session accept prompts again. */
    | {
      type: "session:resume";
      /** Which one. */
      sessionId: string;
    }
    /** Ends a session. */
    | {
      type: "session:end";
      /** Which one. */
      sessionId: string;
      /** Well, or for good. */
      how: EndHow;
    }
    /** Puts the agent into another of its modes. */
    | {
      type: "session:mode";
      /** In which session. */
      sessionId: string;
      /** The mode's id. */
      mode: string;
    }
    /** Chooses another value of one of the agent's settings. */
    | {
      type: "session:setting";
      /** In which session. */
      sessionId: string;
      /** The setting's id. */
      setting: string;
      /** The id of the value. */
      choice: string;
    }
    /** Answers a permission. */
    | {
      type: "permission:answer";
      /** Which one. */
      permissionId: string;
      /** The option that is chosen. */
      optionId: string;
      /** The same as `rule: 0`. */
      remember?: boolean;
      /** The rule that the answer makes, of those that the permission offers, counted from 0. */
      rule?: number;
    }
    /** Wants all rules. */
    | { type: "rule:list" }
    /** Makes a rule. */
    | {
      type: "rule:add";
      /** What it does. */
      effect: RuleEffect;
      /** What it is about. */
      matcher: RuleMatcher;
      /** The agent that it holds for; all without one. */
      agent?: string;
      /** The project that it holds in; everywhere without one. */
      projectId?: string;
    }
    /** Revokes a rule. */
    | {
      type: "rule:remove";
      /** Which one. */
      ruleId: string;
    }
    /** Answers questions. */
    | {
      type: "question:answer";
      /** Which set. */
      questionId: string;
      /** The answers, by the number of their question. */
      answers: Record<string, GivenAnswer>;
    }
    /** Will not answer questions, or a permission. */
    | {
      type: "question:reject";
      /** Which of them. */
      questionId: string;
      /** Why. */
      reason?: string;
    }
    /** Wants all that waits for the human. */
    | { type: "inbox:list" }
    /** Lists what waits for the human, what is running, and what ended. */
    | { type: "home:list" }
    /** Searches what was said. */
    | {
      type: "search";
      /** Words and filters, such as `roof agent:codex since:2026-11-01`; with `order:best`, the most relevant hits of the newest 10,000 come first. */
      query: string;
      /** Only the hits that follow: `next` of the hits before. */
      before?: number;
      /** How many hits at most. */
      limit?: number;
    }
    /** Wants all settings. */
    | { type: "config:get" }
    /** Changes settings in `config.toml`. */
    | {
      type: "config:set";
      /** The new values by their dotted keys; `null` removes a setting from the file. */
      changes: object;
    }
    /** Keeps the connection alive. */
    | { type: "ping" };

  /** A comparison as it is now. */
  type Comparison = {
    /** Its id. */
    id: string;
    /** The project. */
    repoId: string;
    /** What the agents were told. */
    prompt: string;
    /** When it began. */
    createdAt: string;
    /** Whether every entry is done, with its test. */
    done: boolean;
    /** The agents, in the order in which they were given. */
    entries: ComparisonEntry[];
    /** The session that was kept. */
    kept?: string;
    /** The line of shell that tests their work. */
    test?: string;
  };

  /** What one agent made of the prompt. */
  type ComparisonEntry = {
    /** What it does. */
    state: ComparisonState;
    /** The agent. */
    agent?: string;
    /** How long the turn took, in milliseconds. */
    durationMs?: number;
    /** Why it could not be begun, or not be discarded. */
    error?: string;
    /** The model that was asked for. */
    model?: string;
    /** Its session, with `changes`, `cost` and `worktree`. */
    session?: Session;
    /** The result of the test. */
    test?: TestResult;
  };

  /** What an entry of a comparison does. */
  type ComparisonState = "working" | "waiting" | "testing" | "ended" | "failed";

  /** Comparisons: `GET /api/comparisons`. */
  type Comparisons = {
    /** Those, newest first. */
    comparisons: Comparison[];
  };

  /** All settings: `GET /api/config`. */
  type Config = {
    /** The file. */
    path: string;
    /** The settings, in the order of the documentation. */
    settings: ConfigSetting[];
  };

  /** One setting. */
  type ConfigSetting = {
    /** Its dotted key, such as `sessions.max_active`. */
    key: string;
    /** Its value in the file and in what overrides the file; `restart` says whether the daemon uses it already. */
    value: any;
    /** Its value when nothing sets it. */
    default: any;
    /** What sets it: `default`, the line of the file, the variable or the flag. */
    source: string;
    /** What sort of value it takes. */
    kind: SettingKind;
    /** What it is for. */
    description: string;
    /** Whether a change takes effect only when the daemon is restarted. */
    restart: boolean;
    /** The values that it accepts, where they are a fixed set. */
    choices?: string[];
  };

  /** What one side did to a file. */
  type ConflictSide = "changed" | "deleted";

  /** An amount of money. */
  type Cost = {
    /** How much. */
    amount: number;
    /** ISO 4217, such as `USD`. */
    currency: string;
  };

  /** Something that a user is signed in with. */
  type Device = {
    /** Its id, which is no secret. */
    id: string;
    /** What it is. */
    kind: DeviceKind;
    /** What a browser calls itself; what a token is for. */
    label: string;
    /** When it signed in or was made. */
    createdAt: string;
    /** When it was last used. */
    lastUsedAt?: string;
  };

  /** What a device is. */
  type DeviceKind = "browser" | "token";

  /** A change to one file. */
  type Diff = {
    /** The file's path as the agent gave it. */
    path: string;
    /** The text after. */
    newText: string;
    /** The text before; absent for a new file. */
    oldText?: string;
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

  /** One of the two versions that a diff compares. */
  type DiffSide = "old" | "new";

  /** How a session is to end. */
  type EndHow = "complete" | "cancel";

  /** One thing that people see of a session. */
  type Entry = {
    /** Its name within the session: the id of its message, or the kind of state. */
    entryId: string;
    /** The place of its message in the conversation; 0 for state. */
    seq: number;
    /** The session's revision at its newest change. */
    rev: number;
    /** When it began. */
    timestamp: string;
  } & (
    /** What the human said. */
    | PromptedEntry & { type: "user" }
    /** What the agent said. */
    | Words & { type: "assistant" }
    /** What the agent thought aloud. */
    | Words & { type: "thinking" }
    /** A tool call as it stands. */
    | ToolCall & { type: "tool-call" }
    /** The plan of a turn as it stands. */
    | {
      type: "plan";
      /** The steps, first to last. */
      steps: PlanStep[];
    }
    /** A permission asked of the human. */
    | Permission & { type: "permission" }
    /** Questions asked of the human. */
    | QuestionSet & { type: "question" }
    /** A fact about the session. */
    | Notice & { type: "notice" }
    /** Not part of the conversation: the prompts that wait for the running turn to end. */
    | {
      type: "queue";
      /** First to last. */
      prompts: QueuedEntry[];
      /** Whether they wait for the next prompt, or until one of them is sent. */
      held?: boolean;
    }
    /** Not part of the conversation: the commands that the agent offers. */
    | {
      type: "commands";
      /** All of them. */
      commands: OfferedCommand[];
    }
    /** Not part of the conversation: the modes that the agent offers. */
    | {
      type: "modes";
      /** The id of the current mode. */
      current: string;
      /** All modes. */
      available: OfferedChoice[];
    }
    /** Not part of the conversation: the settings that the agent offers. */
    | {
      type: "settings";
      /** All of them. */
      settings: OfferedSetting[];
    }
    /** Not part of the conversation: what it has cost so far. */
    | Usage & { type: "usage" });

  /** What a permission is about, tagged by `kind`. */
  type Evidence =
    /** A command for a shell. */
    | {
      kind: "command";
      /** The command, which may have many lines. */
      command: string;
      /** Arguments of the call that change how the command runs, such as `env`. No rule allows such a call. */
      arguments?: any;
      /** How many bytes are left out at the end. */
      omittedBytes?: number;
      /** Where it is to run, if the agent says so. */
      workingDirectory?: string;
    }
    /** Changes to files, and new files. */
    | {
      kind: "changes";
      /** One for each change. */
      diffs: Diff[];
      /** How many bytes are left out at the end. */
      omittedBytes?: number;
    }
    /** Files to read. */
    | {
      kind: "read";
      /** Their paths as the agent gave them. */
      paths: string[];
      /** How many bytes are left out at the end. */
      omittedBytes?: number;
    }
    /** An address to fetch. */
    | {
      kind: "fetch";
      /** The address. */
      url: string;
      /** How many bytes are left out at the end. */
      omittedBytes?: number;
    }
    /** A call of any other tool. */
    | {
      kind: "tool";
      /** The tool. */
      tool: string;
      /** The arguments; a text with their beginning if they are too long. */
      args: any;
      /** How many bytes are left out at the end. */
      omittedBytes?: number;
      /** The MCP server that has the tool. */
      server?: string;
    };

  /** A conversation, or a line of it, that could not be read. */
  type FailedHistory = {
    /** The file. */
    file: string;
    /** Why. */
    error: string;
    /** The line, if only that could not be read. */
    line?: number;
  };

  /** Why a turn broke off. */
  type Failure = {
    /** What sort of failure. */
    why: FailureKind;
    /** What exactly, for people. */
    detail: string;
  };

  /** What sort of failure ended a turn. */
  type FailureKind = "interrupted" | "process_exited" | "agent_error" | "not_started" | "internal";

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

  /** What happened to the files of the project, by Convoke. */
  type FilesEvent =
    /** No checkpoint could be made, so the turn's changes cannot be shown or undone. Told once. */
    | {
      event: "checkpoint_failed";
      /** Why. */
      error: string;
    }
    /** Files were restored to what they were before a turn. */
    | {
      event: "files_restored";
      /** How many files were written. */
      written: number;
      /** How many files were removed. */
      removed: number;
      /** The number of that turn among all turns of the session, from 1. */
      number?: number;
      /** The place of the turn's prompt; absent when a restore was undone. */
      turn?: number;
    }
    /** A restore was interrupted, and completed when Convoke started again. */
    | {
      event: "restore_completed";
      /** How many files were still to be written or removed. */
      files: number;
      /** Files that were left alone, since they were changed after the interruption. */
      left: number;
    }
    /** The session has a work tree of its own. */
    | {
      event: "worktree_made";
      /** Its folder. */
      path: string;
      /** Its branch. */
      branch: string;
      /** Files that `.worktreeinclude` names, and that were copied there. */
      copied: number;
      /** Files that it names, and that were not. */
      leftOut?: string[];
    }
    /** The project's set-up command has run in the work tree. */
    | {
      event: "worktree_set_up";
      /** The command. */
      command: string;
      /** The end of what it printed. */
      output: string;
      /** Its exit code; absent when it did not end by itself. */
      code?: number;
    }
    /** Another active session works in the same folder. */
    | {
      event: "folder_shared";
      /** That session. */
      session: string;
      /** Whether the project is a git repository, so that a session can have a work tree of its own. */
      git: boolean;
    }
    /** The work tree is finished, or its folder was removed. */
    | {
      event: "worktree_removed";
      /** On which occasion. */
      how: Removal;
      /** Its branch. */
      branch: string;
      /** The branch that got its commits. */
      base?: string;
    }
    /** A removed work tree is there again. */
    | {
      event: "worktree_restored";
      /** Its folder. */
      path: string;
    }
    /** Finishing or removing the work tree was interrupted, and undone or completed when Convoke started again. */
    | {
      event: "worktree_recovered";
      /** What was done, in a sentence. */
      what: string;
    };

  /** Whether a work tree is finished. */
  type FinishOutcome = "finished" | "pull_request" | "conflicts";

  /** How a work tree ends. */
  type FinishWay = "merge" | "squash" | "rebase" | "pr" | "keep" | "discard";

  /** What is to become of a work tree: `POST /api/sessions/:id/finish`. */
  type FinishWorktree = {
    /** How it ends. */
    how: FinishWay;
    /** Whether files are deleted that no snapshot holds. */
    force?: boolean;
    /** The message of commits, and the title and body of a pull request; by default the session's title. */
    message?: string;
    /** Whether the agent is prompted to resolve conflicts. */
    resolve?: boolean;
  };

  /** What became of a work tree. */
  type FinishedWorktree = {
    /** Whether it is finished. */
    outcome: FinishOutcome;
    /** The session after it. */
    session: Session;
    /** Files that base and branch changed differently; nothing was done then. */
    conflicts: WorktreeConflict[];
    /** The branch that has its commits now, that the pull request goes to, or that is in conflict; absent when the branch was kept or discarded. */
    base?: string;
    /** The last commit of its branch, which the base has now. */
    commit?: string;
    /** The prompt to resolve conflicts, if that was asked for. */
    prompt?: Prompted;
    /** The address of the pull request. */
    pullRequest?: string;
  };

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

  /** A part of an excerpt. */
  type Fragment = {
    /** The words. */
    text: string;
    /** Whether they were searched for. */
    matched: boolean;
  };

  type GivenAnswer = { customText?: string; selectedOption?: string; selectedOptions?: string[] };

  /** A stored file that a prompt refers to. What `POST /api/blobs` answered may be given as it is. */
  type GivenAttachment = {
    /** Its hash. */
    hash: string;
    /** What people call it. */
    name: string;
    /** Of no effect: what the bytes are is looked up. */
    mediaType?: string;
    /** Of no effect. */
    size?: number;
  };

  /** A comment on lines of a changed file. */
  type GivenComment = {
    /** The file, relative to the project. */
    path: string;
    /** The version that the lines are of. */
    side: DiffSide;
    /** The first line, from 1. */
    startLine: number;
    /** The last line. */
    endLine: number;
    /** The lines. */
    quote: string;
    /** What is said about them. */
    comment: string;
  };

  /** What there is to import: `GET /api/histories`. Nothing of what was said is read for it. */
  type Histories = {
    /** The setting `history.import`. */
    import: HistoryImportMode;
    /** The agents with at least one conversation, in the order of lists. */
    agents: FoundAgent[];
    /** Folders of imported sessions that are no projects and are inside the workspace root; `POST /api/repos` with its path adds one. At most 1000. */
    projects: FoundRepo[];
    /** The import that runs, or the last one since the daemon started. */
    run?: HistoryImport;
  };

  /** An import that runs, or the last one: `GET /api/histories/import`, and the frame `history:import`. */
  type HistoryImport = {
    /** Its number since the daemon started; 0 if there was none. */
    number: number;
    /** Whether it still runs. */
    running: boolean;
    /** How far it is with each source. */
    sources: SourceImport[];
    /** Conversations and lines that could not be read, at most 100. */
    failed: FailedHistory[];
    /** Why it ended early, if it did; what was imported before stays, and the next import continues there. */
    error?: string;
  };

  /** The setting `history.import`. */
  type HistoryImportMode = "ask" | "always" | "never";

  /** A message in which the words are. */
  type Hit = {
    /** Its session. */
    sessionId: string;
    /** The same, as a list of hits shows it. */
    session: HitSession;
    /** Its id. */
    messageId: string;
    /** Its place there. */
    seq: number;
    /** Who said it. */
    role: Role;
    /** When it was stored. */
    timestamp: string;
    /** The surroundings of the match, in order. */
    excerpt: Fragment[];
  };

  /** What a list of hits shows of a session. */
  type HitSession = {
    /** Its canonical id; its own id as long as there is none. */
    id: string;
    /** Its own id, which never changes. */
    uid: string;
    /** “New Session” until something was said in it or it was named. */
    title: string;
    /** Its agent. */
    agent: string;
    /** Its project. */
    projectId: string;
    /** The name of its project. */
    project: string;
    /** Whether lists hide it. */
    archived: boolean;
  };

  /** What a transcript says of a turn, and its message cannot. */
  type ImportedTurn = {
    /** The place of its message. */
    seq: number;
    /** When it was said. */
    timestamp: string;
    /** How long it is for a model. */
    tokens: number;
  };

  /** One thing that waits for the human. */
  type InboxItem = {
    /** The request's id. */
    id: string;
    /** What is asked for. */
    kind: InboxKind;
    /** What it is about, in a line. */
    title: string;
    /** When it was asked. */
    createdAt: string;
    /** Where it stands. */
    status: RequestStatus;
    /** The agent that asks. */
    agent?: string;
    /** The program that asks, if it is not the agent of a session. */
    askedBy?: string;
    /** The permission, if it is one. */
    permission?: Permission;
    /** The name of the project in which it asks. */
    project?: string;
    /** That project's id. */
    projectId?: string;
    /** The questions, if they are. */
    questions?: AskedQuestion[];
    /** The session whose agent asks: its own id, on the WebSocket its canonical id. */
    sessionId?: string;
    /** The session's own id. */
    uid?: string;
    /** The folder in which that program works. */
    workingDirectory?: string;
  };

  /** What is asked of a human. */
  type InboxKind = "permission" | "questions";

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
  type LeftOutReason = "too_large" | "unreadable" | "name" | "worktree" | "hidden";

  /** What happened to the session as a whole. These events, and no others, change what lists show of it. */
  type LifecycleEvent =
    /** The session ended well. */
    | {
      event: "completed";
      /** Why. */
      reason: string;
    }
    /** The session was cancelled. */
    | {
      event: "cancelled";
      /** Why. */
      reason: string;
    }
    /** The session's agent can be neither started nor resumed. */
    | {
      event: "failed";
      /** What went wrong. */
      error: string;
    }
    /** The session accepts prompts again. */
    | { event: "reopened" }
    /** The session has a new title. */
    | {
      event: "renamed";
      /** The title. */
      title: string;
    }
    /** The session is hidden from lists. */
    | { event: "archived" }
    /** The session is shown in lists again. */
    | { event: "unarchived" }
    /** The next turns come from a transcript, and the session is completed with them. */
    | {
      event: "imported";
      /** What the transcript is called. */
      transcript: string;
      /** How many of its turns came before these. */
      after: number;
      /** These turns, each a message of its own. */
      turns: ImportedTurn[];
      /** The session that has these turns, too, if this one is a fork of it. */
      forkedFrom?: string;
    }
    /** The session is a copy of a conversation that another program keeps, and is completed with it. */
    | {
      event: "imported_from";
      /** What people call the program. */
      agent: string;
      /** The file or database that holds the conversation. */
      file: string;
      /** The session with what the file said before it was rewritten. */
      before?: string;
      /** The agent's own id of the session whose subagent this is; lists hide a subagent's session. */
      parent?: string;
    }
    /** The session continues where another one grew too long, with a summary of it. */
    | {
      event: "continues";
      /** The one before. */
      session: string;
    }
    /** The session grew too long, and another one continues with a summary of it. */
    | {
      event: "continued_in";
      /** The one after. */
      session: string;
    }
    /** The session is on another machine now. */
    | SessionMove & { event: "moved" };

  /** A session's work tree in a list. */
  type ListedWorktree = {
    /** The session. */
    sessionId: string;
    /** Its title. */
    title: string;
    /** Where the session is in its life. */
    status: SessionStatus;
    /** The project. */
    repoId: string;
    /** The project's name. */
    repo: string;
    /** Its folder. */
    path: string;
    /** Its branch. */
    branch: string;
    /** Whether it is there. */
    state: WorktreeState;
    /** The branch that gets its commits in the end. */
    base?: string;
    /** How it was removed. */
    removed?: RemovedWorktree;
  };

  /** Who asks: `GET /api/me`. */
  type Me = {
    /** What they may do, unless a project says otherwise. */
    role: UserRole;
    /** Their roles in single projects. */
    projects: ProjectRole[];
    /** The user; absent for the owner of the daemon. */
    name?: string;
  };

  /** A node to which a session may move, or why it may not. */
  type MoveTarget = {
    /** The node. */
    node: string;
    /** What people call it. */
    name: string;
    /** Whether it is away. */
    away: boolean;
    /** The projects there with the same git remote. */
    repos: Repo[];
    /** The other projects there, which must be named. */
    others: Repo[];
    /** Why it cannot move there without naming a project, or at all. */
    reason?: string;
  };

  /** The nodes to which a session may move: `GET /api/sessions/:id/move`. */
  type MoveTargets = {
    /** All nodes but the session's own, by name. */
    targets: MoveTarget[];
  };

  /** What became of the files of a session that moved. */
  type MovedFiles =
    /** They were written into the project's folder, after a checkpoint of what was there. */
    | {
      outcome: "written";
      /** Files that were written. */
      written: number;
      /** Files that were removed. */
      removed: number;
    }
    /** The project's folder had the same files. */
    | { outcome: "same" }
    /** They are in a checkpoint, and the project's folder is as it was. */
    | {
      outcome: "kept";
      /** Why they were not written. */
      why: string;
    }
    /** The session has its work tree on the new machine, with its branch and its files. */
    | {
      outcome: "worktree";
      /** The folder. */
      path: string;
      /** The branch. */
      branch: string;
    }
    /** The session is where it was, with its work tree as it was: it did not arrive elsewhere. */
    | {
      outcome: "stayed";
      /** The folder of the work tree. */
      path: string;
      /** Why the other machine, which is `from`, could not create the work tree; absent if the session was taken back before that machine had tried. */
      why?: string;
    }
    /** They did not go along. */
    | {
      outcome: "left";
      /** Why. */
      why: string;
    };

  /** What the agent of a session that moved will remember. */
  type MovedMemory =
    /** The agent's own record of the conversation went along. */
    | { by: "record" }
    /** It is given the transcript with the next prompt. */
    | {
      by: "transcript";
      /** Why its own record did not go along. */
      why: string;
    };

  /** A work tree that a new session is to have for itself. */
  type NewWorktree = {
    /** A branch that exists and is checked out nowhere, or the name of a new one; by default Convoke names a new one. */
    branch?: string;
  };

  /** A daemon that shares a database with others. */
  type Node = {
    /** Its id. */
    id: string;
    /** What people call it. */
    name: string;
    /** The version of its program. */
    version: string;
    /** When it was started. */
    startedAt: string;
    /** When it was last known to run. */
    seenAt: string;
    /** Whether it does not run, or cannot reach the database. */
    away: boolean;
    /** Whether it is the one that answers. */
    own: boolean;
  };

  /** All nodes: `GET /api/nodes`. */
  type Nodes = {
    /** By name; none if the database is a file. */
    nodes: Node[];
  };

  /** A fact about the session, with a sentence for people. */
  type Notice = {
    /** The fact in a sentence, so that no reader needs wording of its own. */
    text: string;
  } & (TurnEvent | ProcessEvent | LifecycleEvent | RuleEvent | FilesEvent | AgentEvent);

  /** One value that can be chosen. */
  type OfferedChoice = {
    /** What the agent calls it. */
    id: string;
    /** What people read. */
    name: string;
    /** What it means. */
    description?: string;
  };

  /** A command that people may type. */
  type OfferedCommand = {
    /** Without the slash. */
    name: string;
    /** What it does. */
    description: string;
    /** What may follow it. */
    hint?: string;
  };

  /** A setting with its choices. */
  type OfferedSetting = {
    /** What the agent calls it. */
    id: string;
    /** What people read. */
    name: string;
    /** The id of the chosen one. */
    current: string;
    /** All choices. */
    choices: OfferedChoice[];
    /** What sort of setting it is (`model`, `mode`, `thought_level`, …), where the agent says so. */
    category?: string;
  };

  /** The work tree that a session has for itself. */
  type OwnWorktree = {
    /** Its folder. */
    path: string;
    /** The branch that was checked out when it was made. */
    branch: string;
    /** The branch that it was made from, which gets its commits in the end; absent where none was checked out. */
    base?: string;
    /** What became of its folder; absent as long as it is used. */
    removed?: RemovedWorktree;
  };

  /** A permission asked of the human, and what became of it. */
  type Permission = {
    /** The request's id. */
    permissionId: string;
    /** What the agent wants to do. */
    title: string;
    /** What the human may choose. */
    options: PermissionOption[];
    /** Where it stands. */
    status: RequestStatus;
    /** The user who decided it; absent for the owner of the daemon, and for a rule. */
    by?: string;
    /** What it is about: the command, the changes, the paths, the address or the arguments. */
    evidence?: Evidence;
    /** The option that was chosen. */
    optionId?: string;
    /** Why it was rejected, in the human's words. */
    reason?: string;
    /** The rules that an answer can make, the narrowest first; empty once it is settled. */
    rules?: RuleProposal[];
    /** The tool that the call is of. */
    tool?: string;
    /** The tool call that needs it. */
    toolCallId?: string;
  };

  /** What choosing an option means. */
  type PermissionKind = "allow_once" | "allow_always" | "reject_once" | "reject_always";

  /** One way to answer a permission. */
  type PermissionOption = {
    /** What the agent calls it. */
    optionId: string;
    /** What people read. */
    name: string;
    /** What it means. */
    kind: PermissionKind;
  };

  /** How much a step matters. */
  type PlanPriority = "high" | "medium" | "low";

  /** How far a step is. */
  type PlanStatus = "pending" | "in_progress" | "completed";

  /** One step of a plan. */
  type PlanStep = {
    /** What is to be done. */
    content: string;
    /** How far it is. */
    status: PlanStatus;
    /** How much it matters, where the agent says so. */
    priority?: PlanPriority;
  };

  /** What happened to the agent's process. */
  type ProcessEvent =
    /** A new process resumed the conversation. */
    | {
      event: "resumed";
      /** What the process knows of it. */
      how: Resumed;
    }
    /** The agent's process ended by itself. */
    | {
      event: "process_exited";
      /** Its exit code, when it ended by itself. */
      exitCode?: number;
      /** The signal that ended it. */
      signal?: number;
      /** The last lines of its stderr. */
      stderrTail?: string;
    }
    /** The kernel cannot confine the agent. */
    | { event: "unconfined" };

  /** A role in one project, in place of the general one. */
  type ProjectRole = {
    /** The project. */
    repoId: string;
    /** Its name. */
    project: string;
    /** What they may do there. */
    role: UserRole;
  };

  /** How far the agent is with a prompt. */
  type PromptState = "running" | "done";

  /** A prompt that was taken. */
  type Prompted = {
    /** Always true; what is not taken is a problem. */
    accepted: boolean;
    /** The message that the prompt became. */
    messageId: string;
    /** Its place in the conversation; `null` as long as it waits. */
    seq: number | null;
    /** Whether it waits behind a running turn. */
    queued: boolean;
    /** The session's revision when it was accepted: all that comes of it is newer. */
    rev: number;
    /** The node that it waits for, which is away. */
    waitsFor?: string;
  };

  /** What the human said, and how far the agent is with it. */
  type PromptedEntry = {
    /** The words. */
    content: string;
    /** How far the agent is. */
    state: PromptState;
    /** The files that are attached. */
    attachments?: Attachment[];
    /** The user who said it; absent for the owner of the daemon. */
    by?: string;
    /** Files and folders of the project that it mentions, relative to it. */
    files?: string[];
    /** The words as sanitised HTML, for clients that opened the session with `render`. */
    html?: string;
    /** The comments on lines of changed files that it carries. */
    review?: ReviewComment[];
  };

  /** The human's answer to one question. */
  type QuestionAnswer = {
    /** Which question, counted from 0. */
    questionIndex: number;
    /** When it was given. */
    timestamp: string;
    /** Free text. */
    customText?: string;
    /** The label of the one chosen option. */
    selectedOption?: string;
    /** The labels of all chosen options. */
    selectedOptions?: string[];
  };

  /** One option of a question. */
  type QuestionOption = {
    /** What is chosen. */
    label: string;
    /** What it means. */
    description?: string;
  };

  /** Questions asked of the human, and what became of them. */
  type QuestionSet = {
    /** The request's id. */
    questionId: string;
    /** What is asked. */
    questions: AskedQuestion[];
    /** Where it stands. */
    status: RequestStatus;
    /** The human's answers. */
    answers?: QuestionAnswer[];
    /** The user who answered; absent for the owner of the daemon, and for a rule. */
    by?: string;
    /** Why they were rejected, in the human's words. */
    reason?: string;
  };

  /** What becomes of the queued prompts when the running turn is cancelled. */
  type QueueChoice = "send" | "keep" | "discard";

  /** A prompt that waits. */
  type QueuedEntry = {
    /** The id of the message that it becomes. */
    id: string;
    /** The words. */
    content: string;
    /** When it was sent. */
    timestamp: string;
    /** The files that are attached. */
    attachments?: Attachment[];
    /** The user who said it; absent for the owner of the daemon. */
    by?: string;
    /** Files and folders of the project that it mentions, relative to it. */
    files?: string[];
    /** The words as sanitised HTML, for clients that opened the session with `render`. */
    html?: string;
    /** The comments on lines of changed files that it carries. */
    review?: ReviewComment[];
    /** The node that it waits for, which is away. */
    waitsFor?: string;
  };

  /** On which occasion a work tree was removed. */
  type Removal = "merge" | "squash" | "rebase" | "keep" | "discard" | "remove";

  /** How a work tree was removed. Its files are in a snapshot, and its commits are kept. */
  type RemovedWorktree = {
    /** On which occasion. */
    how: Removal;
    /** When. */
    at: string;
    /** The last commit of its branch. */
    commit?: string;
  };

  /** A project: a folder in which agents work. */
  type Repo = {
    /** Its id. */
    id: string;
    /** What people call it. */
    name: string;
    /** The folder, with all links resolved. */
    path: string;
    /** When it was added. */
    addedAt: string;
    /** The node that it belongs to, as `GET /api/nodes` lists it; absent if the database is a file. */
    node?: string;
  };

  /** The state of a request without what was said. */
  type RequestStatus = "pending" | "answered" | "rejected" | "timed_out" | "abandoned";

  /** What was restored. */
  type Restored = {
    /** Files that were written. */
    written: string[];
    /** Files that were removed. */
    removed: string[];
    /** Files that differ and were left alone. */
    blocked: BlockedFile[];
    /** The session with the conversation up to there, if that was restored. */
    session?: Session;
  };

  /** What a process that resumed a conversation knows of it. */
  type Resumed = "native" | "replay" | "summary" | "afresh" | "forked" | "forked_replay";

  /** A comment on lines of a changed file. */
  type ReviewComment = {
    /** The file, relative to the project. */
    path: string;
    /** The version that the lines are of. */
    side: DiffSide;
    /** The first line, from 1. */
    startLine: number;
    /** The last line. */
    endLine: number;
    /** The lines. */
    quote: string;
    /** What is said about them. */
    comment: string;
  };

  /** Who speaks. */
  type Role = "user" | "agent" | "system";

  /** A rule. */
  type Rule = {
    /** Its id. */
    id: string;
    /** What it does. */
    effect: RuleEffect;
    /** What it is about. */
    matcher: RuleMatcher;
    /** The whole rule in words. */
    text: string;
    /** When it was made. */
    createdAt: string;
    /** How many requests it has decided. */
    usedCount: number;
    /** The agent that it holds for; all without one. */
    agent?: string;
    /** When it decided the last one. */
    lastUsedAt?: string;
    /** That project's name. */
    project?: string;
    /** The project that it holds in; everywhere without one. */
    projectId?: string;
    /** The request whose answer made it. */
    requestId?: string;
    /** The session of that request; it may be deleted. */
    sessionId?: string;
    /** The user for whose prompts it holds; for everyone's without one. */
    user?: string;
  };

  /** What a rule does. */
  type RuleEffect = "allow" | "deny";

  /** What happened to a rule. */
  type RuleEvent =
    /** An answer made a rule. */
    | {
      event: "rule_made";
      /** The rule in words. */
      rule: string;
      /** The rule; absent in what older versions stored. */
      ruleId?: string;
    }
    /** The agent was allowed to do this without asking, by a rule. */
    | {
      event: "rule_applied";
      /** The rule in words. */
      rule: string;
      /** The call in a line. */
      what: string;
      /** The rule; absent for a team that may do everything, and in what older versions stored. */
      ruleId?: string;
    }
    /** The agent was denied this without asking, by a rule. */
    | {
      event: "rule_denied";
      /** The rule. */
      ruleId: string;
      /** The rule in words. */
      rule: string;
      /** The call in a line. */
      what: string;
    }
    /** A rule of an older version, which held for every use of a tool, was removed instead of applied. */
    | {
      event: "rule_dropped";
      /** The tool. */
      tool: string;
    };

  /** What a rule is about, tagged by `kind`. */
  type RuleMatcher =
    /** Commands by their first words. */
    | {
      kind: "command";
      /** The words, exactly. */
      words: string[];
      /** Whether further words may follow that begin with neither `-` nor `+` and have no `=`. */
      more?: boolean;
    }
    /** Changes to files, and new files. */
    | {
      kind: "edit";
      /** A path pattern with `*`, `**` and `?`: relative to the project's folder, or absolute. */
      glob: string;
    }
    /** Reading files. */
    | {
      kind: "read";
      /** A path pattern with `*`, `**` and `?`: relative to the project's folder, or absolute. */
      glob: string;
    }
    /** A tool by its name. */
    | {
      kind: "tool";
      /** The tool. */
      tool: string;
      /** The MCP server that has it. */
      server?: string;
    }
    /** Fetching from a domain and those below it. */
    | {
      kind: "fetch";
      /** The domain in lower case; of other scripts its `xn--` form. */
      domain: string;
    };

  /** A rule that an answer can make. */
  type RuleProposal = {
    /** What stands after “Always allow” and “Always deny”. */
    label: string;
    /** What it is about. */
    matcher: RuleMatcher;
    /** Whether it holds in every project. */
    everywhere?: boolean;
  };

  /** A frame from the server, tagged by `type`. `sessionId` is canonical, `uid` the session's own id. */
  type ServerFrame =
    /** All projects. */
    | {
      type: "project:list";
      /** The projects, in the order in which they were added. */
      projects: Repo[];
      /** The setting `editor.open`, if there is one: how paths are opened in the user's editor. */
      editor?: string;
    }
    /** A project was added. */
    | {
      type: "project:added";
      /** The project. */
      project: Repo;
    }
    /** A project was removed. */
    | {
      type: "project:removed";
      /** Which one. */
      projectId: string;
    }
    /** Folders whose paths begin so. */
    | {
      type: "folder:completions";
      /** What was asked for. */
      path: string;
      /** Whole paths. */
      folders: string[];
    }
    /** Files and folders of a project that match some letters. */
    | {
      type: "file:completions";
      /** Of which project. */
      projectId: string;
      /** What was asked for. */
      query: string;
      /** Paths relative to the project, the best match first; a folder ends with `/`. */
      files: string[];
    }
    /** The editor was started with a file. */
    | {
      type: "file:opened";
      /** Its path, absolute. */
      path: string;
    }
    /** All agents. */
    | {
      type: "agent:list";
      /** The agents of the catalogue. */
      agents: AgentItem[];
    }
    /** How a process of an agent's fares. */
    | {
      type: "agent:status";
      /** The agent. */
      cliType: string;
      /** How it fares. */
      status: AgentState;
      /** Its session. */
      sessionId?: string;
      /** Its session's own id. */
      uid?: string;
    }
    /** The sessions of a project, last active first. */
    | {
      type: "session:list";
      /** The project. */
      projectId: string;
      /** Its sessions. */
      sessions: SessionItem[];
    }
    /** A session began. */
    | {
      type: "session:created";
      /** Its canonical id. */
      sessionId: string;
      /** Its own id. */
      uid: string;
      /** Its project. */
      projectId: string;
      /** The session. */
      session: SessionItem;
      /** Why the first prompt was not accepted, if one was given. The session is there nevertheless. */
      refused?: string;
    }
    /** Something about a session that lists show has changed. */
    | {
      type: "session:changed";
      /** The session as it is now. */
      session: SessionItem;
    }
    /** The client has all of a session up to here, and gets what comes. */
    | {
      type: "session:opened";
      /** Its canonical id. */
      sessionId: string;
      /** Its own id. */
      uid: string;
      /** The revision up to which the client has everything. */
      rev: number;
      /** What the revision belongs to; a revision of another generation means nothing. */
      generation: string;
    }
    /** The newest entries of a session; they replace everything that the client has of it. */
    | {
      type: "session:history";
      /** Its canonical id. */
      sessionId: string;
      /** Its own id. */
      uid: string;
      /** The revision up to which it has everything. */
      rev: number;
      /** What the revision belongs to. */
      generation: string;
      /** The entries by place, and then those of state. */
      entries: Entry[];
      /** Whether there are older ones. */
      more: boolean;
      /** The session. */
      session: SessionItem;
      /** Whether there are newer ones, since the session was opened at a place. */
      newer?: boolean;
    }
    /** Older entries. */
    | {
      type: "session:page";
      /** The session's canonical id. */
      sessionId: string;
      /** Its own id. */
      uid: string;
      /** The entries, first to last. */
      entries: Entry[];
      /** Whether there are still older ones. */
      more: boolean;
    }
    /** Put the entry in place of the one with its `entryId`, or where it belongs by its place. */
    | {
      type: "session:update";
      /** The session's canonical id. */
      sessionId: string;
      /** Its own id. */
      uid: string;
      /** The revision of the change. */
      rev: number;
      /** The entry. */
      entry: Entry;
    }
    /** Append words to an entry. */
    | {
      type: "session:chunk";
      /** The session's canonical id. */
      sessionId: string;
      /** Its own id. */
      uid: string;
      /** The revision of the newest words in it; an entry that has them already is left as it is. */
      rev: number;
      /** The entry. */
      entryId: string;
      /** The words. */
      content: string;
      /** The change of the rendered entry, for clients that opened the session with `render`. */
      html?: ChunkHtml;
    }
    /** A turn has ended. */
    | {
      type: "session:complete";
      /** The session's canonical id. */
      sessionId: string;
      /** Its own id. */
      uid: string;
      /** The revision of the change. */
      rev: number;
      /** The entry of the turn's prompt. */
      entryId: string;
      /** How it ended, in a word. */
      stopReason: StopReason;
      /** Why it broke off, if it did. */
      failure?: Failure;
    }
    /** A client asked to stop the running turn. */
    | {
      type: "session:cancelled";
      /** The session's canonical id. */
      sessionId: string;
      /** Its own id. */
      uid: string;
    }
    /** The session cannot be followed any more. */
    | {
      type: "session:error";
      /** The session's canonical id. */
      sessionId: string;
      /** Its own id. */
      uid: string;
      /** Why. */
      message: string;
    }
    /** No more updates of a session come. */
    | {
      type: "session:closed";
      /** The session as the client named it. */
      sessionId: string;
    }
    /** A prompt was taken. */
    | {
      type: "session:sent";
      /** The session's canonical id. */
      sessionId: string;
      /** Its own id. */
      uid: string;
      /** The id of its message. */
      messageId: string;
      /** Whether it waits behind a running turn. */
      queued: boolean;
      /** Its place; absent as long as it waits. */
      seq?: number;
      /** The node that it waits for, which is away. */
      waitsFor?: string;
    }
    /** A human has looked at a session. */
    | {
      type: "session:seen";
      /** Its canonical id. */
      sessionId: string;
      /** Its own id. */
      uid: string;
    }
    /** A session was deleted with its messages. */
    | {
      type: "session:erased";
      /** Its canonical id. */
      sessionId: string;
      /** Its own id. */
      uid: string;
    }
    /** A session is hidden from lists. */
    | {
      type: "session:archived";
      /** Its canonical id. */
      sessionId: string;
      /** Its own id. */
      uid: string;
    }
    /** A session is shown in lists again. */
    | {
      type: "session:unarchived";
      /** Its canonical id. */
      sessionId: string;
      /** Its own id. */
      uid: string;
      /** The session. */
      session: SessionItem;
    }
    /** A checkpoint of a session was made, or its files were restored: its changes are to be read again. */
    | {
      type: "changes:updated";
      /** Its canonical id. */
      sessionId: string;
      /** Its own id. */
      uid: string;
      /** What the session changed altogether. */
      changes?: ChangeTotals;
      /** The turn that ended, by the seq of its prompt; absent after a restore. */
      turn?: number;
    }
    /** A session has another title. */
    | {
      type: "session:title-updated";
      /** Its canonical id. */
      sessionId: string;
      /** Its own id. */
      uid: string;
      /** The title. */
      title: string;
    }
    /** All that waits for the human. */
    | {
      type: "inbox:list";
      /** Oldest first. */
      items: InboxItem[];
    }
    /** What waits for the human, what is running, and what ended. Each group has the newest first, at most 50. */
    | {
      type: "home:list";
      /** The requests that an agent or a program waits for. */
      needsYou: InboxItem[];
      /** Sessions with a running turn. */
      working: SessionItem[];
      /** Sessions with a turn that ended and was not seen. */
      finished: SessionItem[];
      /** Sessions with a turn that failed and was not seen. */
      failed: SessionItem[];
      /** The other sessions. */
      recent: SessionItem[];
    }
    /** What was found, newest first or best first. */
    | {
      type: "search:hits";
      /** What was searched for. */
      query: string;
      /** The hits. */
      hits: Hit[];
      /** Whether the search index is still being filled, after an update or a large import, so that hits may be missing. */
      incomplete?: boolean;
      /** What to say as `before` for those that follow, if there are any. */
      next?: number;
    }
    /** All settings. */
    | Config & { type: "config" }
    /** Something waits for the human that did not, or the other way round. */
    | {
      type: "inbox:changed";
      /** How much waits now. */
      count: number;
    }
    /** A request was answered or rejected. */
    | {
      type: "inbox:settled";
      /** Which one. */
      id: string;
    }
    /** All rules. */
    | {
      type: "rule:list";
      /** The newest first. */
      rules: Rule[];
    }
    /** A rule was made. */
    | {
      type: "rule:added";
      /** The rule. */
      rule: Rule;
    }
    /** A rule was revoked. */
    | {
      type: "rule:removed";
      /** Which one. */
      ruleId: string;
    }
    /** How far an import of histories is, some times a second while it runs, and once at its end. After the end the lists of sessions are to be asked for again: imported sessions are not announced one by one. */
    | {
      type: "history:import";
      /** The import. */
      import: HistoryImport;
    }
    /** A rule was made or revoked by any client. */
    | { type: "rule:changed" }
    /** A comparison began, a test of it began or ended, or one of its sessions was kept. What its sessions do comes in their own frames. */
    | {
      type: "comparison:changed";
      /** Which one. */
      comparisonId: string;
    }
    /** Something changed about teams. */
    | { type: "team:changed" }
    /** The answer to `ping`. */
    | { type: "pong" }
    /** What was asked for could not be done; the socket stays open. */
    | {
      type: "error";
      /** Why. */
      message: string;
      /** What to do about it. */
      hint?: string;
    };

  /** A session: a durable conversation of one agent in one project. */
  type Session = {
    /** Its id, which never changes. */
    id: string;
    /** The project in which its agent works. */
    repoId: string;
    /** The agent's name in the catalogue. */
    agent: string;
    /** What the agent itself calls the session now; `null` until it was started. */
    agentSessionId: string | null;
    /** “New Session” until something was said in it or it was named. */
    title: string;
    /** Where it is in its life. */
    status: SessionStatus;
    /** Whether a prompt is accepted: by an active session, and by one that was imported or that Convoke completed itself (because it was idle, or to make room), which the prompt resumes. Another session must be resumed first. */
    acceptsPrompts: boolean;
    /** Whether lists hide it. */
    archived: boolean;
    /** When it was created. */
    createdAt: string;
    /** When anything last happened in it. */
    updatedAt: string;
    /** When a prompt last came or a turn last ended. */
    lastActiveAt: string;
    /** How many messages it has; also the seq of the newest. */
    messageCount: number;
    /** What else is known of it. */
    metadata: SessionMetadata;
    /** What it does now. */
    activity: Activity;
    /** What it wants of its human. */
    attention: Attention;
    /** Whether a turn ended that no human has looked at. */
    unseen: boolean;
    /** What its turns changed in its project. */
    changes?: ChangeTotals;
    /** Money spent on it. */
    cost?: Cost;
    /** Why the last turn failed, if it did. */
    failure?: Failure;
    /** The last line of the newest answer, as plain text. */
    lastLine?: string;
    /** The node that it belongs to, as `GET /api/nodes` lists it; absent if the database is a file. */
    node?: string;
    /** When the running turn began. */
    runningSince?: string;
    /** The step of the plan that is in progress. */
    step?: string;
    /** The work tree that it has for itself. */
    worktree?: OwnWorktree;
  };

  /** What a session, or one of its turns, changed: `GET /api/sessions/:id/changes`. */
  type SessionChanges = {
    /** The turns that have checkpoints, by the seqs of their prompts. */
    turns: number[];
    /** The number of each of these turns among all turns of the session, from 1, for people. */
    numbers: number[];
    /** The files, in order of their paths. */
    files: ChangedFile[];
    /** All of them together. */
    totals: ChangeTotals;
    /** Whether `files` has all of them; if not, their lines are not counted. */
    complete: boolean;
    /** Files that the checkpoints do not hold: too large, or not readable. */
    leftOut: LeftOutFile[];
    /** Files that were changed between the turns, by others or by a command that a turn left running: the diff does not have these changes. Absent if there are none. */
    between?: BetweenTurns;
    /** The turn that the files are of; absent for the whole session. */
    turn?: number;
  };

  /** A session in a list. */
  type SessionItem = {
    /** Its canonical id; its own id as long as there is none. */
    id: string;
    /** Its own id, which never changes. */
    uid: string;
    /** Its project. */
    projectId: string;
    /** Its agent. */
    cliType: string;
    /** “New Session” until something was said in it or it was named. */
    title: string;
    /** When a prompt last came or a turn last ended. */
    lastActiveAt: string;
    /** When it was created. */
    createdAt: string;
    /** Where it is in its life. */
    status: SessionStatus;
    /** Whether a prompt is accepted, as in `Session`. */
    acceptsPrompts: boolean;
    /** Whether lists hide it. */
    archived: boolean;
    /** What it does now. */
    activity: Activity;
    /** How many messages its log has. */
    messageCount: number;
    /** What it wants of its human. */
    attention: Attention;
    /** Whether a turn ended that no human has looked at. */
    unseen: boolean;
    /** What its turns changed in its project. */
    changes?: ChangeTotals;
    /** Money spent on it. */
    cost?: Cost;
    /** Why the last turn failed, if it did. */
    failure?: Failure;
    /** The last line of the newest answer, as plain text. */
    lastLine?: string;
    /** The node that it belongs to, as `GET /api/nodes` lists it; absent if the database is a file. */
    node?: string;
    /** Why it ended. */
    reason?: string;
    /** When the running turn began. */
    runningSince?: string;
    /** The step of the plan that is in progress. */
    step?: string;
    /** The work tree that it has for itself. */
    worktree?: OwnWorktree;
  };

  /** Further facts about a session. */
  type SessionMetadata = {
    /** Why it ended: `user`, `idle_timeout`, `made_room`, … */
    reason?: string;
  };

  /** From which machine to which a session moved, and what went along. */
  type SessionMove = {
    /** The name of the machine that it was on. */
    from: string;
    /** The name of the machine that it is on. */
    to: string;
    /** What became of the files. */
    files: MovedFiles;
    /** What the agent will remember of the conversation. */
    memory: MovedMemory;
    /** The user who moved it; absent for the owner of the daemon. */
    by?: string;
    /** Files that checkpoints do not hold, such as large ones, and that stayed behind; the first of them. */
    leftBehind?: string[];
  };

  /** The state of a session; `cancelled` is final. */
  type SessionStatus = "active" | "completed" | "cancelled" | "error";

  /** What sort of value a setting takes. */
  type SettingKind = "switch" | "number" | "text" | "choice" | "list";

  /** How far an import is with a source. */
  type SourceImport = {
    /** The source. */
    source: string;
    /** What people call the agent. */
    name: string;
    /** Conversations that are new or have changed. */
    total: number;
    /** Those of them that were looked at. */
    done: number;
    /** New sessions, those of subagents included. */
    added: number;
    /** Sessions that got more messages. */
    grown: number;
    /** New sessions of files that were rewritten; the former sessions stay. */
    rewritten: number;
    /** Conversations that are not imported: empty ones, those outside of the folder, those that were deleted here, and those that agents of Convoke wrote. */
    skipped: number;
    /** Messages that were added or changed. */
    messages: number;
    /** Lines that could not be read. */
    brokenLines: number;
    /** Lines of unknown kinds, which are kept as they are. */
    unknownLines: number;
    /** Conversations that could not be read. */
    failed: number;
  };

  /** How a turn ended, in a word. */
  type StopReason = "end_turn" | "cancelled" | "refusal" | "max_tokens" | "max_turn_requests" | "failed";

  /** A project that others can ask. */
  type Team = {
    /** Its name. */
    name: string;
    /** Its folder. */
    path: string;
    /** The agent that answers for it. */
    agent: string;
    /** What it is for. */
    description: string | null;
    /** The colour it is shown in, such as `#E91E63`. */
    color: string | null;
    /** Whether its agent acts without asking. */
    skipPermissions: boolean;
    /** The conversations in which it is asked. */
    sessions: number;
    /** How many of them have a process. */
    processes: number;
    /** How many of them work on something. */
    busy: number;
    /** Questions that wait. */
    queued: number;
    /** The node that has its folder, as `GET /api/nodes` lists it; absent if the database is a file. */
    node?: string;
    /** How many milliseconds its sessions may take to begin, where that is not as for all. */
    sessionInitTimeout?: number;
  };

  /** The messages and tokens of a pair in one interval. */
  type TeamActivity = {
    /** Who asked; `null` is a caller from outside. */
    fromTeam: string | null;
    /** Who answered. */
    toTeam: string;
    /** In which thread. */
    thread: string | null;
    /** When the interval began. */
    start: string;
    /** Questions in it. */
    prompts: number;
    /** Turns that failed in it. */
    failures: number;
    /** Times that room was made in the context. */
    compactions: number;
  };

  /** Everything that is known of how teams talk. */
  type TeamAnalytics = {
    /** The start of the reported activity. */
    since: string;
    /** Counted over all conversations. */
    stats: TeamStats;
    /** All conversations, the last used first. */
    sessions: TeamSession[];
    /** The messages and tokens of each interval, the newest first. */
    activity: TeamActivity[];
    /** What it has cost. */
    usage: TeamUsage[];
  };

  /** An amount of money. */
  type TeamCost = {
    /** How much. */
    amount: number;
    /** ISO 4217, such as `USD`. */
    currency: string;
  };

  /** A lasting conversation of two teams. */
  type TeamSession = {
    /** Its number. */
    id: number;
    /** Who asks; `null` is a caller from outside. */
    fromTeam: string | null;
    /** Who answers. */
    toTeam: string;
    /** A named thread beside the main conversation. */
    thread: string | null;
    /** The session in which they talk. */
    sessionId: string;
    /** What the agent calls it. */
    agentSessionId: string | null;
    /** When it was created. */
    createdAt: string;
    /** When it was last used. */
    lastUsedAt: string;
    /** Messages since it was created or last compacted. */
    messageCount: number;
    /** Where it stands. */
    status: TeamSessionStatus;
    /** What went wrong, if it did. */
    error?: string;
    /** The node that has the folder of the team that answers; absent if the database is a file. */
    node?: string;
  };

  /** The status of a pair. */
  type TeamSessionStatus = "active" | "idle" | "compact_pending" | "compacting" | "archived" | "error" | "migrating";

  /** Counted over all conversations: `GET /api/teams/stats`. */
  type TeamStats = {
    /** How many there are. */
    total: number;
    /** Those in working order, with a process or without. */
    active: number;
    /** Those that should be compacted. */
    compactPending: number;
    /** Those kept for reference only. */
    archived: number;
    /** Messages of all of them since they were last compacted. */
    totalMessages: number;
  };

  /** What a pair has cost. */
  type TeamUsage = {
    /** The number of the conversation. */
    id: number;
    /** Tokens that models read, where agents say so. */
    inputTokens: number;
    /** Tokens that models wrote, where agents say so. */
    outputTokens: number;
    /** Money, by currency. */
    cost: TeamCost[];
  };

  /** All teams: `GET /api/teams`. */
  type Teams = {
    /** By name. */
    teams: Team[];
  };

  /** The result of a test. */
  type TestResult = {
    /** The end of what it printed. */
    output: string;
    /** How long it took, in milliseconds. */
    durationMs: number;
    /** Its exit code; absent when it did not end by itself, or could not be started. */
    exitCode?: number;
  };

  /** A tool call as it stands. */
  type ToolCall = {
    /** The agent's id of the call. */
    toolCallId: string;
    /** The tool's name. */
    name: string;
    /** How far the call is. */
    status: ToolStatus;
    /** The arguments as far as they are known. */
    args: any;
    /** The files it changed. */
    diffs?: Diff[];
    /** Why it failed. */
    error?: string;
    /** What of it has terminal colours, for clients that opened the session with `render`. */
    html?: ToolHtml;
    /** What sort of tool it is, in the agent's words. */
    kind?: string;
    /** What the tool printed. */
    result?: string;
    /** What the agent calls this call. */
    title?: string;
  };

  /** Output with terminal colours as sanitised HTML, one line of it a line. */
  type ToolHtml = {
    /** Why it failed, if that has colours. */
    error?: string;
    /** What the tool printed, if it has colours. */
    result?: string;
  };

  /** How far a tool call is; nothing leaves `complete` and `error`. */
  type ToolStatus = "running" | "complete" | "error";

  /** What happened to a turn. */
  type TurnEvent =
    /** The turn that began with prompt `turn` has ended otherwise than by a whole answer. */
    | {
      event: "turn_ended";
      /** The place of the turn's prompt. */
      turn: number;
    } & (
      /** The agent ended the turn. */
      | { stopReason: "end_turn" }
      /** A human stopped it. */
      | { stopReason: "cancelled" }
      /** The model refused. */
      | { stopReason: "refusal" }
      /** The model reached its token limit. */
      | { stopReason: "max_tokens" }
      /** The agent took as many steps as it may in one turn. */
      | { stopReason: "max_turn_requests" }
      /** It broke off. */
      | Failure & { stopReason: "failed" })
    /** The turn waits, because as many agents as may run at once are busy. */
    | {
      event: "waiting";
      /** Its place in the queue, from 1. */
      place: number;
    }
    /** A prompt that had been accepted for this session's machine while that was away was refused when it was back. */
    | {
      event: "prompt_refused";
      /** The prompt. */
      prompt: string;
      /** Why. */
      why: string;
    }
    /** The agent sent more in one turn than it may, so the turn is stopped. */
    | {
      event: "turn_limit";
      /** How many bytes it may send. */
      max: number;
    };

  /** What the conversation has cost so far; every agent reports some of it. */
  type Usage = {
    /** Tokens that the context window holds. */
    contextSize?: number;
    /** Tokens that now fill the context window. */
    contextUsed?: number;
    /** Money spent on the session. */
    cost?: Cost;
    /** Tokens read by the model in the last turn. */
    inputTokens?: number;
    /** Tokens written by the model in the last turn. */
    outputTokens?: number;
  };

  /** A user. */
  type User = {
    /** Their name. */
    name: string;
    /** What they may do, unless a project says otherwise. */
    role: UserRole;
    /** Their roles in single projects. */
    projects: ProjectRole[];
    /** Their tokens, and their browsers that are signed in at this daemon. */
    devices: Device[];
    /** When they were added. */
    createdAt: string;
  };

  /** What a user may do. Each role includes those before it. */
  type UserRole = "viewer" | "member" | "owner";

  /** All users: `GET /api/users`. */
  type Users = {
    /** By name. The owner of the daemon is not among them. */
    users: User[];
  };

  /** Words of the agent's. */
  type Words = {
    /** The words so far. */
    content: string;
    /** Whether more may come. */
    partial: boolean;
    /** The words as sanitised HTML, for clients that opened the session with `render`. */
    html?: string;
  };

  /** A file that two branches changed differently. */
  type WorktreeConflict = {
    /** The file, relative to the work tree. */
    path: string;
    /** What the base did to it. */
    base: ConflictSide;
    /** What the branch did to it. */
    branch: ConflictSide;
  };

  /** Whether a work tree is there. */
  type WorktreeState = "ready" | "missing" | "removed";

  /** The work trees of all sessions: `GET /api/worktrees`. */
  type Worktrees = {
    /** Those, of the newest session first. */
    worktrees: ListedWorktree[];
  };
}
