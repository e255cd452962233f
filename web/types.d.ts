// Types for the checker only; the page never loads this file.
// First the page's names for what the daemon sends (types.generated.d.ts), then what its modules offer each other.

type Project = Api.Repo;
type Agent = Api.AgentItem;
type Session = Api.SessionItem;
type Entry<Kind extends Api.Entry["type"]> = Extract<Api.Entry, { type: Kind }>;
type ToolEntry = Entry<"tool-call">;
type PlanEntry = Entry<"plan">;
type NoticeEntry = Entry<"notice">;
type StateEntry = Entry<"queue" | "commands" | "modes" | "settings" | "usage">;
type SpokenEntry = Exclude<Api.Entry, StateEntry>;
/** State by kind. */
type SessionState = { [Kind in StateEntry["type"]]?: Entry<Kind> };
/** A frame of the daemon; which fields it has depends on `type`. */
type Frame = Api.ServerFrame & { requestId?: string };
type FrameOf<Type extends Frame["type"]> = Extract<Frame, { type: Type }>;
/** What to do with the frames of some types. */
type FrameHandlers = { [Type in Frame["type"]]?: (frame: FrameOf<Type>) => unknown };
type RequestType = Api.ClientFrame["type"];
type FieldsOf<Type extends RequestType> = Omit<Extract<Api.ClientFrame, { type: Type }>, "type">;
/** The frames that answer requests, as far as the page reads them. */
type Answers = {
  "config:get": "config";
  "config:set": "config";
  "file:complete": "file:completions";
  "folder:complete": "folder:completions";
  "home:list": "home:list";
  "project:add": "project:added";
  "rule:list": "rule:list";
  "search": "search:hits";
  "session:create": "session:created";
  "session:list": "session:list";
  "session:page": "session:page";
  "session:send": "session:sent";
};
type AnswerTo<Type extends RequestType> = Type extends keyof Answers ? FrameOf<Answers[Type]> : Frame;

// The pure modules.

/** What became of an entry; `ignored`: what is here is newer, or it is older than what is loaded. */
type Upserted = "added" | "changed" | "state" | "ignored";
type Entries = {
  /** The conversation, by place. */
  readonly list: SpokenEntry[];
  readonly state: SessionState;
  /** The revision up to which everything is in here, and what it belongs to: the cursor. */
  readonly rev: number;
  readonly generation: string;
  /** Whether the server has older entries. */
  readonly more: boolean;
  /** The place before which the next older page ends. */
  readonly oldest: number;
  /** Whether there are newer entries that are not kept: the history was opened at a place before the end. */
  readonly newer: boolean;
  /** The prompts that wait, first to last. */
  readonly queue: Api.QueuedEntry[];
  /** Whether they wait until they are sent by hand, or until the next prompt. */
  readonly held: boolean;
  get(entryId: string): SpokenEntry | undefined;
  /** Begins anew with what the frame has. */
  history(frame: FrameOf<"session:history">): void;
  /** Everything up to the frame's revision has come. */
  opened(frame: FrameOf<"session:opened">): void;
  /** Puts an entry in place of the one that is here, or where it belongs. */
  update(frame: FrameOf<"session:update">): Upserted;
  /** Appends words to an entry, unless it has them already or is not here; returns whether it did. */
  chunk(frame: FrameOf<"session:chunk">): boolean;
  /** Takes an older page; returns those of its entries that were here already. */
  page(frame: FrameOf<"session:page">): SpokenEntry[];
  /** Forgets the oldest entries beyond `keep` that cannot change any more. */
  trim(keep: number): void;
  /** What the human said here, oldest first, without repetitions in a row. */
  prompts(): string[];
  /** The user's entry whose turn runs now. */
  running(): SpokenEntry | undefined;
};

type Tab = { uid: string; title: string; projectId: string };
type TabsState = { tabs: Tab[]; active: string | null; recent: string[] };
/** Every function returns a new value and leaves the old one alone. */
type TabsModule = {
  open(state: TabsState, tab: Tab): TabsState;
  /** `null` is Home. */
  activate(state: TabsState, uid: string | null): TabsState;
  /** The one that was active before takes over. */
  close(state: TabsState, uid: string): TabsState;
  /** Moves a tab to a place, counted without it. */
  move(state: TabsState, uid: string, to: number): TabsState;
  /** The tab that many places further, around the ends. */
  neighbour(state: TabsState, steps: number): string | null;
  rename(state: TabsState, uid: string, title: string): TabsState;
  /** Reads a state that was stored as JSON; what is not whole is left out. */
  read(text: string | null | undefined): TabsState;
};

type Drafts = {
  get(key: string): any;
  /** Keeps a draft; an empty one is forgotten. */
  set(key: string, value: any): void;
  /** Drops what is too old or too much. */
  prune(): void;
};

/** The labels chosen, the words written, and, where several may be chosen, whether choosing none is meant. */
type AnswerDraft = { chosen: string[]; text: string; none: boolean };
type AnswersModule = {
  /** A label without the mark that recommends it. */
  labelOf(label: string): { text: string; recommended: boolean };
  /** Those that were kept, as far as they still fit, else fresh ones with the recommended options chosen. */
  drafts(questions: Api.AskedQuestion[], kept: any): AnswerDraft[];
  /** Chooses an option, or takes the choice back. */
  toggle(question: Api.AskedQuestion, draft: AnswerDraft, label: string): AnswerDraft;
  isAnswered(question: Api.AskedQuestion, draft: AnswerDraft): boolean;
  /** The answers as the server takes them. */
  given(questions: Api.AskedQuestion[], drafts: AnswerDraft[]): Record<string, Api.GivenAnswer>;
  /** What was answered to each question, as lines for people. */
  said(set: Api.QuestionSet): string[][];
};

type DiffKind = "same" | "removed" | "added";
type DiffLine = { kind: DiffKind; text: string; before: number; after: number };
type DiffPair = { before?: DiffLine; after?: DiffLine };
type Span = [from: number, to: number];
type DiffModule = {
  lines(before: string | null | undefined, after: string): DiffLine[];
  /** Changes with the lines around them. */
  hunks(lines: DiffLine[]): DiffLine[][];
  /** Side by side: what was removed beside what was added in its place. */
  pairs(lines: DiffLine[]): DiffPair[];
  /** The words in which two lines differ; `null` when they have too little in common. */
  changedParts(before: string, after: string): { before: Span[]; after: Span[] } | null;
  count(lines: DiffLine[]): { added: number; removed: number };
};

/** A line of a diff as it is shown. */
type ShownLine = DiffLine & { marks?: Span[]; noNewline?: boolean };
/** A row of a diff: the beginning of a hunk, or a line on either side or both. */
type DiffRow = { hunk: number; head?: string; before?: ShownLine; after?: ShownLine };
/** A row of the tree of changed files: a folder, or a file. */
type TreeRow = { depth: number; name: string; path: string; file?: Api.ChangedFile; isClosed?: boolean };
/** The version of a file that a line is of. */
type DiffSide = Api.DiffSide;
type LineRange = { side: DiffSide; from: number; to: number };
/** A comment on lines of a changed file. */
type ReviewComment = Api.ReviewComment;
/** A comment that was not sent yet. */
type PendingComment = ReviewComment & { id: string };
/** A comment and its element; `form`: it is being written. */
type ShownComment = ReviewComment & { element: HTMLElement; form?: boolean };

type LineState = { phase: "connecting" | "open" | "waiting" | "denied"; since: number; retryAt?: number };
/** What the outside world does for the line. */
type World = {
  open(): WebSocket;
  /** What the line sends first; without it there is none. */
  secret(): string | null;
  onphase(phase: LineState["phase"]): void;
  /** Why a connection could not be made. */
  probe(): Promise<"denied" | "fine" | "unreachable">;
  now(): number;
  random(): number;
  later(action: () => void, ms: number): any;
  cancel(timer: any): void;
};
type Line = {
  readonly state: LineState;
  readonly isOpen: boolean;
  onframe(frame: Frame): void;
  onstate(state: LineState): void;
  /** Connects, and again whenever the line breaks. */
  start(): void;
  /** Hangs up for good. */
  stop(): void;
  /** The person is back, or the network is: try now, and see whether an open line still lives. */
  wake(): void;
  /** Asks for something; fails at once when the line is down. The answer also goes to `onframe`, like a push. */
  request<Type extends RequestType>(type: Type, fields?: FieldsOf<Type>): Promise<AnswerTo<Type>>;
  /** The same for what concerns only the one who asks. */
  query<Type extends RequestType>(type: Type, fields?: FieldsOf<Type>): Promise<AnswerTo<Type>>;
};
/** A request on its way; `tell`: its answer also goes to `onframe`. */
type Asked = { resolve(frame: any): void; reject(error: Error): void; tell: boolean };
type Send = <Type extends RequestType>(type: Type, fields: FieldsOf<Type>) => Promise<unknown>;

/** A span of a line and the class of its colour. */
type Coloured = [from: number, to: number, name: string];
type Piece = { text: string; name: string; isMarked: boolean };

/** One answer to a permission; `name` is what the agent calls it. */
type Choice = { optionId: string; label: string; name: string };
/** An answer that also makes a rule. */
type Rule = { optionId: string; rule: number; label: string };
type Choices = { allow: Choice[]; deny: Choice[]; always: Rule[]; never: Rule[] };

type Store = {
  readonly projects: Project[];
  /** Folders with sessions that are no projects, or no longer. */
  readonly folders: Project[];
  setFolders(folders: Project[]): void;
  /** The project or other folder of a session. */
  folderOf(id: string | undefined): Project | undefined;
  /** Sessions by their own id, archived ones left out. */
  readonly sessions: Map<string, Session>;
  readonly agents: Agent[];
  readonly inbox: Api.InboxItem[];
  /** The user's editor, as configured. */
  readonly editor: string;
  /** Projects whose sessions have been received. */
  readonly listed: Set<string>;
  /** Applies a frame; returns whether the store handles frames of its type. */
  apply(frame: Frame): boolean;
  /** The own id of the session that a frame or an item speaks of. */
  uidOf(frame: { uid?: string; sessionId?: string; [field: string]: unknown }): string;
  /** A project's sessions, last active first. */
  sessionsOf(projectId: string): Session[];
  /** An agent by name; of an unknown one only what follows from its name. */
  agent(cliType: string): { badge: string; title: string };
};

/** What goes with the words of a prompt: files that were uploaded, and those of the project that it mentions. */
type Enclosed = { attachments?: Api.Attachment[]; files?: string[]; review?: ReviewComment[] };
/** A message on its way. `answered`: the daemon has accepted it, at the place `seq` unless it waits. */
type Letter = Enclosed & { id: string; text: string; answered: boolean; seq?: number; /** The node that it waits for. */ waitsFor?: string };
type Outbox = {
  post(text: string, enclosed?: Enclosed): Letter;
  drop(letter: Letter): void;
  /** Those that neither the conversation nor the queue has. */
  pending(entries: Entries): Letter[];
  /** After everything that was missed has come: those to be sent again. The others are forgotten. */
  unanswered(entries: Entries): Letter[];
};

type PeopleModule = {
  /** The owner of the daemon. */
  owner: Api.Me;
  /** Whether someone has this role or a higher one; in a project the role there counts. */
  may(me: Api.Me, needed: Api.UserRole, projectId?: string): boolean;
  maySomewhere(me: Api.Me, needed: Api.UserRole): boolean;
  /** Who did something, as they are named to someone else; empty for those who did it themselves. */
  who(me: Api.Me, by: string | undefined): string;
  /** The same behind a text: “Allowed by ada”. */
  by(me: Api.Me, text: string, by: string | undefined): string;
};
/** Who is signed in at this browser. */
type Myself = {
  readonly name: string | undefined;
  readonly role: Api.UserRole;
  may(role: Api.UserRole, projectId?: string): boolean;
  maySomewhere(role: Api.UserRole): boolean;
  who(by?: string): string;
  by(text: string, by?: string): string;
  /** What is said where nothing can be done. */
  readonly words: string;
  /** Asks the daemon. */
  load(): Promise<void>;
  onchange(run: () => void): void;
};
type OtherNodes = {
  /** The other machine that something belongs to; none for this one, and as long as it is not known. */
  of(id: string | undefined): Api.Node | undefined;
  onchange(run: () => void): void;
};

type Recall = {
  /** The one before, or `null` to leave the box alone. */
  back(text: string, said: () => string[]): string | null;
  /** The one after; past the newest the box is empty again. */
  forward(text: string): string | null;
};

type Shortcut = { action: string; number?: number };

// The parts of the page.

type Child = Node | string | null | undefined | false;
type Props = {
  onclick?: (event: MouseEvent) => any; oninput?: (event: Event) => any; onchange?: (event: Event) => any;
  onkeydown?: (event: KeyboardEvent) => any; onpointerdown?: (event: PointerEvent) => any;
  onsubmit?: (event: Event) => any; onfocusin?: (event: FocusEvent) => any; onfocusout?: (event: FocusEvent) => any;
  [name: string]: any;
};
type TagOf<Spec extends string> = Spec extends `${infer Tag}.${string}` ? Tag : Spec;
type ElementOf<Spec extends string> =
  TagOf<Spec> extends keyof HTMLElementTagNameMap ? HTMLElementTagNameMap[TagOf<Spec>] : HTMLElement;
type Dom = {
  /**
   * Makes an element: `h("div.card", {…}, …children)`; the properties may be left out. Those that begin with "on" are
   * listeners, `label` is for screen readers, the rest are properties where the element has them, else attributes.
   */
  h<Spec extends string>(spec: Spec, props?: Props | Child, ...children: Child[]): ElementOf<Spec>;
  on<E extends HTMLElement, K extends keyof HTMLElementEventMap>(
    element: E, events: K, run: (event: HTMLElementEventMap[K] & { target: HTMLElement }) => any, options?: AddEventListenerOptions): void;
  /** Runs when an element is hovered or focused: for texts that are slow to make and rarely seen. */
  onLook(element: HTMLElement, run: () => void): void;
  /** Puts children in place of those that are there. */
  fill(parent: Element, ...children: Child[]): void;
  /** The same, unless they look like those of the last call: focus, selection and scroll positions stay. */
  refill(parent: Element, ...children: Child[]): void;
  /**
   * Runs a change of what is in an element. What has the focus keeps it with its selection; if it is gone, an element of
   * the same name gets it, else the parent where it can.
   */
  keepingFocus(parent: HTMLElement, change: () => void): void;
  /** Writes text where it differs, so that nothing is painted or announced in vain. */
  setText(element: Element, text: string): void;
  /** The first element inside another that fits; it is there. */
  part(parent: ParentNode, selector: string): HTMLElement;
  /** An icon that says nothing to a screen reader. */
  icon(name: string): Element;
  iconButton(icon: string, label: string, run: (event: MouseEvent) => any, props?: Props): HTMLButtonElement;
  /** Defines a custom element whose inside is a closure; returns what makes one. */
  component<Options extends any[], Whole extends HTMLElement>(
    name: string, setup: (element: HTMLElement, ...options: Options) => Omit<Whole, keyof HTMLElement>): (...options: Options) => Whole;
  /** Makes the children of an element follow a list: elements with the same key stay the same elements. */
  keyed<Item>(parent: Element, items: Item[], keyOf: (item: Item) => string,
    make: (item: Item) => HTMLElement, update?: (element: any, item: Item) => void): void;
  /** A text in which what stands between backticks is code. */
  quoted(text: string): Child[];
  /** Copies a text and says so. */
  copy(text: string): Promise<boolean>;
};
type MenuItem = [label: string, icon: string, run: () => void];
type DialogModule = {
  /** Opens a modal dialog, closed by Escape and by a press beside it; the focus goes back where it was. */
  open(title: string, body: (dialog: HTMLDialogElement) => Child[]): HTMLDialogElement;
  isOpen(): boolean;
  /** Asks before something that cannot be taken back easily. */
  confirm(title: string, text: string, action: string, run: () => void): void;
  /** The list of keyboard shortcuts. */
  help(): void;
};

type Listbox<Item> = {
  element: HTMLElement;
  /** Whether something is offered. */
  readonly isOpen: boolean;
  readonly picked: Item | undefined;
  offer(items: Item[]): void;
  /** Moves through what is offered; returns whether it handled the key. */
  walk(event: KeyboardEvent): boolean;
};

type View = {
  element: HTMLElement;
  update(entry: any): void;
  append?(chunk: FrameOf<"session:chunk">): void;
  tick?(): void;
};
/** Where paths lead: the project's folder and the user's editor; `wide`: a diff may have two columns. */
type Place = { root?: string; editor?: string; wide?: boolean };
type PermissionPlace = Place & { send: Send; /** Whether it can be answered here. */ may(): boolean };
/** What views need from the page. */
type Surroundings = {
  place: { root: string; editor: string };
  drafts: Drafts;
  send: Send;
  entries(): SpokenEntry[];
  /** Whether the signed-in user may act here. */
  may(): boolean;
  /** Sends the prompt of a turn again. */
  retry(turn: number): void;
  focusOn(entryId: string): void;
  rules: { has(ruleId: string): boolean; remove(ruleId: string): void };
  /** Undoes the last restore of files. */
  undo(): void;
  /** Goes to another session. */
  open(uid: string): void;
};
/** What can be done with a message. */
type MessageHandlers = {
  /** The source of a message. */
  source(entryId: string): string;
  canSend(): boolean;
  /** Puts a text into the message box. */
  edit(text: string, enclosed: Enclosed): void;
  resend(text: string, enclosed: Enclosed): void;
  link(seq: number): string;
  /** Whether the session has checkpoints. */
  canRestore(): boolean;
  /** Asks what to restore to before a prompt. */
  restore(seq: number): void;
  canFork(seq: number): boolean;
  /** Begins another session with what was said up to the end of a message's turn. */
  fork(seq: number): void;
};
/** A run of calls that fold. */
type Run = {
  element: HTMLElement;
  readonly isSingle: boolean;
  show(calls: ToolEntry[]): void;
  add(call: ToolEntry): void;
  put(call: ToolEntry): void;
  toggle(open?: boolean): void;
};
/** A part of what a call shows when it is opened: `content`, which does not change as a rule, or a text that grows. */
type ToolPart = { name: string; content?: string; make(): HTMLElement; text?: string; html?: string };
type Card<Asked> = HTMLElement & { show(asked: Asked): void };
type CardFrame = {
  /** Sends the verdict; when that fails, the card can be tried again. */
  settle<Type extends RequestType>(type: Type, fields: FieldsOf<Type>): Promise<void>;
  /** Shows what became of it; `beside` stands in its line, `below` under it. */
  tell(asked: { status: string; reason?: string | null },
    words: { refused?: boolean; title?: Child; outcome?: string; beside?: Child; below?: Child }): void;
};
/** How each kind of entry looks. */
type Views = {
  of(entry: SpokenEntry, around: Surroundings): View;
  make(entry: SpokenEntry, around: Surroundings): View;
  text(type: "user" | "assistant" | "thinking"): View;
  plan(): View;
  permission(around: Surroundings): View;
  question(around: Surroundings): View;
  /** What a conversation has used: a ring for the context window, and money where the agent reports it. */
  usage(usage?: Api.Usage): Child;
};
type Log = HTMLElement & {
  readonly following: boolean;
  readonly nearBeginning: boolean;
  /** Shows other entries than before. */
  reset(entries: SpokenEntry[]): void;
  /** Makes what is shown follow the list, without moving what is being read. */
  show(entries: SpokenEntry[]): void;
  /** Puts a new entry at the end. */
  add(entry: SpokenEntry): void;
  /** Shows what changed in an entry, if it is shown. */
  put(entry: SpokenEntry): void;
  /** Appends the words of a chunk. */
  extend(chunk: FrameOf<"session:chunk">): void;
  /** Messages on their way, below everything. */
  pend(elements: HTMLElement[]): void;
  setMore(more: boolean): void;
  /** Whether newer entries are not shown. */
  setNewer(newer: boolean): void;
  /** Puts the focus on an entry, unfolds it, and marks it when it was looked for. */
  reveal(entryId: string, block?: "center" | "nearest"): void;
  toEnd(): void;
  tick(): void;
};
type LogOptions = Surroundings & MessageHandlers & {
  /** The reader comes near the beginning of what is loaded. */
  onolder(): void;
  /** The reader is back at the end. */
  onend(): void;
  /** The reader leaves a window that does not reach the end. */
  onnewest(): void;
};
type PickerKind = "mode" | "setting";
type Picker = { kind: PickerKind; id: string; name: string; current: string; choices: Api.OfferedChoice[] };
/** Files and folders of a project that match some letters, the best first. */
type FindFiles = (query: string, limit: number) => Promise<string[]>;
/** What a completion puts in place of what was `typed` before the caret. */
type Completed = { typed: string; text: string; shows: Child[]; file?: string };
type CompletionOptions = { commands(): Api.OfferedCommand[]; find: FindFiles; write(text: string): void };
type CompletionList = {
  element: HTMLElement;
  close(): void;
  /** The text has changed. */
  changed(): void;
  /** Whether the list handled the key. */
  took(event: KeyboardEvent): boolean;
  /** The files that the text mentions. */
  files(): string[];
  /** These files are in the project. */
  know(files?: string[]): void;
  /** The project is another one. */
  forget(): void;
};
type AttachOptions = { frame: HTMLElement; box: HTMLTextAreaElement; drafts: Drafts; onchange(): void };
/** Takes files for a message. */
type Attach = {
  /** The chips of what was taken. */
  element: HTMLElement;
  button: HTMLButtonElement;
  readonly isEmpty: boolean;
  /** Whether everything is uploaded. */
  readonly isReady: boolean;
  readonly stored: Api.Attachment[];
  /** Takes what is uploaded out. */
  take(): Api.Attachment[];
  /** Puts in what was uploaded before. */
  put(attachments: Api.Attachment[] | undefined): void;
  /** Keeps them under a key, and restores those that are. */
  restore(key: string): void;
  /** The daemon can be reached again. */
  wake(): void;
};
type Chip = { id: string; name: string; size: number; problem: string; /** How much is uploaded, from 0 to 1. */ part: number; canRetry: boolean; file?: File; stored?: Api.Attachment; request?: XMLHttpRequest };
type Tray = {
  readonly count: number;
  readonly isReady: boolean;
  readonly stored: Api.Attachment[];
  add(files: File[]): void;
  put(attachments: Api.Attachment[]): void;
  /** Uploads again what could not be. */
  retry(): void;
  clear(): void;
};
type Composer = HTMLElement & {
  /** Puts in what goes with the words that are put in. */
  enclose(enclosed: Enclosed | undefined): void;
  text: string;
  commands: Api.OfferedCommand[];
  /** Restores the draft that was kept under a key. */
  restore(key: string): void;
  show(state: { ready: boolean; running: boolean; placeholder: string; disabled: boolean }): void;
  showPickers(pickers: Picker[]): void;
  showUsage(usage: Child): void;
};
type ComposerOptions = {
  drafts: Drafts;
  said(): string[];
  find: FindFiles;
  onsend(text: string, enclosed: Enclosed): void;
  onstop(): void;
  onpick(kind: PickerKind, id: string, choice: string): void;
};
type StopHandlers = {
  isRunning(): boolean;
  /** How many prompts wait. */
  waiting(): number;
  cancel(queue?: Api.QueueChoice): void;
  hint(words: string): void;
};
type StripHandlers = { onresume(): void; onunarchive(): void; onask(): void; /** Restores the work tree. */ onrestore(): void; queue: HTMLElement };
type Strip = {
  element: HTMLElement;
  /** What the agent does, since when, and whether it waits for the human; nothing when `doing` is empty. */
  showTurn(since: string, doing: string, waits: boolean): void;
  /** A short hint beside it. */
  showHint(words: string): void;
  showSession(session: Session, canAct: boolean): void;
  tick(): void;
};
type QueueHandlers = {
  edit(id: string, text: string): void;
  /** To a place counted without it. */
  move(id: string, to: number): void;
  remove(id: string): void;
  send(id: string): void;
  /** An edit whose prompt was sent meanwhile. */
  lost(text: string): void;
};
type QueueView = { element: HTMLElement; show(prompts: Api.QueuedEntry[], held: boolean, canAct: boolean): void };
type SessionMenuHandlers = {
  isEmbedded: boolean;
  hasTree: boolean;
  ask(type: "session:erase" | "session:archive" | "session:unarchive"): void;
  rename(): void;
  finish(): void;
  isRunning(): boolean;
  tellShell(convoke: string, fields?: object): void;
};
type HeaderHandlers = { rename(title: string): void; items(): MenuItem[]; /** Asks how the work tree ends. */ finish(): void };
type Header = { element: HTMLElement; rename(): void; show(session: Session, project: Project | undefined, agent: { badge: string; title: string }, node: Api.Node | undefined, canAct: boolean): void };

// The changes of a session.

type ChangesOptions = {
  drafts: Drafts;
  place: { root: string; editor: string };
  uid(): string;
  /** The prompts that are loaded. */
  prompts(): { seq: number; text: string }[];
  /** The comments that loaded prompts carry. */
  sent(): { seq: number; comment: ReviewComment }[];
  canSend(): boolean;
  /** Whether changes can be commented on and reverted. */
  may(): boolean;
  /** Resolves to `false` when they are refused. */
  send(text: string, review: ReviewComment[]): Promise<boolean | undefined>;
  close(): void;
};
type ChangesPanel = HTMLElement & {
  /** Reads the changes again. */
  refresh(): void;
  /** Something that the panel shows of the conversation is different. */
  paint(): void;
  focusFirst(): void;
  /** Takes back what was begun; returns whether there was something. */
  escape(): boolean;
};
/** The panel from outside, whether it is loaded or not. */
type Beside = {
  button: HTMLElement;
  toggle(wants?: boolean): void;
  show(changes: Api.ChangeTotals | undefined): void;
  refresh(): void;
  paint(): void;
  /** Closes it, or what is open in it; returns whether there was something. */
  escape(): boolean;
};
type RevertWhat = { path: string; turn?: number; hunk?: number };
/** `open` goes on in another session, and says why. */
type ChangeActs = {
  /** Returns whether it was done. */
  revert(uid: string, what: RevertWhat, name: string): Promise<boolean>;
  confirmRevert(uid: string, what: RevertWhat): Promise<boolean>;
  undo(uid: string): Promise<boolean>;
  restore(uid: string, turn: number, open: (uid: string, said: string) => void): void;
  fork(uid: string, turn: number, open: (uid: string, said: string) => void): Promise<void>;
};
// Work trees.

/** How a way to finish is offered, and what is said afterwards. */
type Way = { title: string; text: string; action: string; done: string };
type FinishOptions = {
  heading: string;
  /** What is to be known before. */
  intro: Child[];
  title: string;
  branch: string;
  base?: string;
  ways: Api.FinishWay[];
  send(body: Api.FinishWorktree): Promise<Api.FinishedWorktree>;
  /** Restores the work tree, whose folder was deleted by hand; returns whether it was done. */
  restore(): Promise<boolean>;
};
type TreeActs = {
  /** Asks how the work tree of a session ends, and does it. */
  finish(session: { uid: string; title: string; worktree?: Api.OwnWorktree; changes?: Api.ChangeTotals }): Promise<void>;
  /** Returns whether it was done. */
  restore(uid: string): Promise<boolean>;
  /** Asks before the folder of a work tree is removed; returns whether it was. */
  remove(tree: Api.ListedWorktree): Promise<boolean>;
};
/** An agent of a comparison that is to begin. */
type Rival = { agent: string; model: string };

/** Some rows of a long list. */
type Chunk = {
  element: HTMLElement;
  from: number;
  to: number;
  readonly isFilled: boolean;
  fill(): void;
  /** Leaves its height alone. */
  empty(): void;
  /** Makes its rows again. */
  again(): void;
};
type ChunkWatcher = { add(chunk: Chunk): void; drop(chunk: Chunk): void };
type LinesOptions = {
  path: string;
  hunks: Api.DiffHunk[];
  split: boolean;
  watcher: ChunkWatcher;
  width: number;
  comments(): ShownComment[];
  isReverted(hunk: number): boolean;
  handlers: { may(): boolean; revert(hunk: number): void };
};
/** The lines of a file's diff; a row is named by its place among all of them. */
type Lines = {
  element: HTMLElement;
  /** Comments that have a line here, on screen or not. */
  places: Set<HTMLElement>;
  showComments(): void;
  select(range: LineRange | null): LineRange | null;
  readonly selected: LineRange | null;
  /** The row of an element, or -1. */
  rowAt(target: Element): number;
  sideAt(at: number, target: Element | null): DiffSide;
  rowOf(side: DiffSide, number: number): number;
  numberAt(at: number, side: DiffSide): number;
  hunkAt(at: number): number;
  /** Puts the focus on a line, the next one in the direction where this is none; returns which, or -1. */
  focus(at: number, step?: 1 | -1): number;
  /** The rows with which hunks begin. */
  heads: number[];
  drop(): void;
};
type FileOptions = {
  path: string;
  watcher: ChunkWatcher;
  place: Place;
  width(): number;
  isSplit(): boolean;
  load(path: string): Promise<Api.FileDiff>;
  comments(path: string): ShownComment[];
  handlers: { may(): boolean; viewed(path: string, wants: boolean): void; /** It was opened or closed by hand. */ toggled(path: string, isOpen: boolean): void; loaded(path: string): void; revert(path: string, hunk?: number, digest?: string): void; isReverted(path: string, digest: string): boolean };
};
type FileView = {
  element: HTMLElement;
  path: string;
  body: HTMLElement;
  readonly file: Api.ChangedFile;
  readonly isOpen: boolean;
  readonly lines: Lines | null;
  readonly hunks: Api.DiffHunk[];
  /** A short name of its content, once that is loaded. */
  readonly digest: string;
  show(file: Api.ChangedFile): void;
  setViewed(isViewed: boolean): void;
  open(wanted: boolean): void;
  /** Shows its lines again, in as many columns as are wanted now. */
  paint(): void;
  showComments(): void;
  focus(): void;
  drop(): void;
};
type FileTree = { element: HTMLElement; show(files: Api.ChangedFile[]): void; paint(): void; mark(path: string): void };
type PointingOptions = {
  fileAt(target: Element): FileView | undefined;
  files(): FileView[];
  begin(path: string, range: LineRange): void;
  /** Whether comments can be written here. */
  may(): boolean;
  isWriting(): boolean;
  viewed(path: string): void;
};
type ReviewOptions = {
  drafts: Drafts;
  key(): string;
  sent(): { seq: number; comment: ReviewComment }[];
  fileOf(path: string): FileView | undefined;
  /** A comment on a file is being written. */
  begun(path: string): void;
  /** The comments on a file are others. */
  changed(path: string): void;
  go(id: string): void;
  canSend(): boolean;
  /** Resolves to `false` when they are refused. */
  send(text: string, review: ReviewComment[]): Promise<boolean | undefined>;
};
type Review = {
  /** The tray. */
  element: HTMLElement;
  paint(): void;
  begin(path: string, range: LineRange, text?: string, quote?: string): void;
  /** Whether a comment is being written, and can be seen. */
  readonly isWriting: boolean;
  /** A file is not shown any more. */
  gone(path: string): void;
  countOn(path: string): number;
  on(path: string): ShownComment[];
  get(id: string): PendingComment | undefined;
  elementOf(id: string): HTMLElement | undefined;
};

type Row = HTMLElement & {
  link: HTMLElement;
  show(session: Session, agent: { badge: string; title: string }, isActive: boolean, node: Api.Node | undefined, /** Whether its project is on another machine. */ isElsewhere: boolean): void;
};
type RowHandlers = { may(role: Api.UserRole): boolean; open(): void; archive(): void; erase(): void; rename(title: string): void };
/** The inside of the sidebar. */
type SidebarInside = {
  paint(): void;
  makeProject(project: Project): HTMLElement;
  paintProject(section: HTMLElement, project: Project): void;
  makeFolder(folder: Project): HTMLElement;
  paintFolder(section: HTMLElement, folder: Project): void;
  /** Folders that are no projects, below the projects. */
  paintFolders(): void;
  makeSessions(id: string): HTMLElement;
  paintSessions(section: HTMLElement, id: string, isFolded: boolean): void;
  makeRow(session: Session): Row;
  paintRow(row: Row, session: Session): void;
  /** What the arrow keys go through. */
  stops(): HTMLElement[];
  /** One of the many can be reached by Tab: the one with the focus, else the active one, else the first. */
  rove(): void;
};
type SidebarHandlers = {
  may: Myself["may"];
  open(session: Session): void;
  archive(session: Session): void;
  erase(session: Session): void;
  rename(session: Session, title: string): void;
  create(project: Project): void;
  remove(project: Project): void;
  /** Reads the sessions of a folder that is no project. */
  list(folder: Project): void;
};
type Sidebar = HTMLElement & {
  /** Paints everything; the session is the one that is looked at. */
  show(active: string | null): void;
};
type TabStrip = HTMLElement & { show(state: TabsState, sessionOf: (uid: string) => Session | undefined): void };
type TabStripHandlers = {
  activate(uid: string | null, how: "press" | "walk"): void;
  close(uid: string): void;
  move(uid: string, to: number): void;
};
type Panels = {
  show(state: TabsState): void;
  /** Opens a session at a message, now or when its panel is made. */
  jump(uid: string, at: number): void;
  /** Puts words before those in the message box of a session. */
  write(uid: string, text: string): void;
  /** Opens or closes the changes of a session; with `wants` they are open in any case, as soon as it is loaded. */
  changes(uid: string, wants?: boolean): void;
  /** Asks how the work tree of a session ends. */
  finish(uid: string): void;
  /** Puts the focus on what a session asks. */
  request(uid: string): void;
  /** Puts the focus into the message box of a session, or into a place. */
  focus(uid: string): void;
  /** A frame has its session on the page. */
  ready(uid: string): void;
  /** Passes a frame of the daemon on to the places. */
  receive(frame: Frame): void;
  /** The session of the frame that a message came from. */
  sessionOf(source: MessageEventSource | null): string | undefined;
};

/** What a session's mark says; `finished`: a turn ended that no human has looked at. */
type Mark = Session["attention"] | "finished";
type Groups = { needsYou: Api.InboxItem[]; /** Questions that can still be answered, although their asker has left. */ left: Api.InboxItem[]; working: Session[]; finished: Session[]; failed: Session[]; recent: Session[] };
type Opened = { uid: string; title: string; projectId: string };
/** What is asked before a session is deleted. */
type Erasable = { uid: string; title: string; messageCount: number };
type BoardHandlers = {
  open(session: Session): void;
  openById(uid: string): void;
  seen(session: Session): void;
  /** Sends the last prompt of a failed turn again. */
  retry(session: Session): void;
};
type BoardOptions = { store: Store; drafts: Drafts; send: Send; handlers: BoardHandlers; recent?: boolean };
type Board = HTMLElement & {
  paint(): void;
  /** Puts the focus on the first thing that can be answered or opened; returns whether there is one. */
  focusFirst(): boolean;
};
type StartOptions = { store: Store; line: Line; drafts: Drafts; oncreated(session: Session): void; onadd(): void; /** Shows the comparisons. */ oncompare(): void };
/** Where a new session works. */
type TreeChip = {
  chip: HTMLElement;
  /** That another session works in the same folder. */
  note: HTMLElement;
  /** The work tree to ask for, if one is wanted. */
  readonly wanted: Api.NewWorktree | undefined;
  /** Its branch is used up. */
  used(): void;
  paint(): void;
};
type CompareOptions = { store: Store; project: Project; prompt: string; hasFiles: boolean; onstarted(): void; onlist(): void };
type Start = HTMLElement & {
  paint(): void;
  /** Asks which agents are to be compared. */
  compare(): void;
  /** Puts the focus into the prompt of a new session, in this project if one is given. */
  write(projectId?: string): void;
};
/** What shows conversations of other programs. */
/** `isEmpty`: whether there is no project yet. */
type OfferOptions = { line: Line; settings(): void; isEmpty(): boolean };
type HistoryView = { element: HTMLElement; receive(frame: Frame): void };
type Home = HTMLElement & { compare(): void; offer(): Promise<void>; receive(frame: Frame): void; paint(): void; tick(): void; write(projectId?: string): void; focusFirst(): boolean };
type Inbox = HTMLElement & { paint(): void; focusFirst(): void };
type News = {
  /** Title, icon and counts; `place` is what the window shows. */
  paintTitle(place?: string): void;
  /** Announces and notifies of what is new since the last call. */
  tell(): void;
};
type PlaceOptions = {
  store: Store;
  line: Line;
  handlers: { open(session: Opened): void; openById(uid: string): void; /** Opens a session with its changes beside it. */ openChanges(uid: string): void; erase(session: Erasable): void; setTheme(theme: string): void };
};
/** The inside of a tab that is not a session. */
type PlaceView = HTMLElement & { receive(frame: Frame): void; focusFirst(): void };
type PlaceKind = { title: string; icon: string; frame?: string; load?(): Promise<(options: PlaceOptions) => PlaceView> };
type Query = { words: string; filters: Record<string, string> };
type PaletteRow = { shows: Child[]; run(): void };
type PaletteCommand = [label: string, icon: string, run: () => void, keys?: string];
type PaletteOptions = { store: Store; line: Line; may: Myself["may"]; commands: PaletteCommand[]; /** Those of the agent in the open tab. */ slash: { name: string; description: string }[]; onslash(name: string): void; open(session: Opened, at?: number): void; create(projectId: string): void };
type Config = {
  /** What is wrong with the file as a whole. */
  trouble: HTMLElement;
  path: HTMLElement;
  load(): Promise<void>;
  /** Shows only the settings with these words. */
  filter(words: string): void;
  /** A list of the settings whose keys are wanted. */
  fields(isWanted: (key: string) => boolean): HTMLElement;
};
type Layout = { readonly isShown: boolean; /** Whether the inbox covers the conversation. */ readonly isTight: boolean; toggle(): void; reveal(): void; close(): void };
type ShellDialogs = {
  /** Asks for a path, completed folder by folder. */
  addProject(line: Line, onadded: (project: Project) => void): void;
  /** Asks before a session is deleted for good, and says what goes. */
  erase(line: Line, session: Erasable): void;
};
/** The shell; what it can be asked to do. */
type Shell = {
  /** Returns whether it was done. */
  ask<Type extends RequestType>(type: Type, fields?: FieldsOf<Type>): Promise<boolean>;
  /** Has everything anew; after a break this is also how what was missed is found. */
  load(): Promise<void>;
  loadFolders(): Promise<void>;
  receive(frame: Frame): void;
  /** Follows `/?open=ID&at=SEQ`, once. */
  followLink(): void;
  paint(): void;
  /** Leaves out what the one who is signed in may not do. */
  paintRole(): void;
  open(session: Opened, at?: number): void;
  /** Opens a session or a place. */
  openById(uid: string, at?: number): Promise<void>;
  setTabs(next: TabsState): void;
  showInbox(isShown: boolean): void;
  create(projectId?: string): void;
  /** Asks on Home which agents are to be compared. */
  compare(): void;
  /** Opens a session with its changes beside it. */
  openChanges(uid: string): Promise<void>;
  addProject(): void;
  archive(session: Session): Promise<void>;
  retry(session: Session): Promise<void>;
  /** Goes to a tab and puts the focus into it; `null` is Home. */
  go(uid: string | null | undefined): void;
  palette(): void;
  commands(): PaletteCommand[];
  act(shortcut: Shortcut): void;
  nextTheme(): void;
  setTheme(theme: string): void;
  paintTheme(): void;
};

type TimeBar = { start: number; prompts: number; failures: number; compactions: number };
type Matrix = { askers: (string | null)[]; answerers: string[]; rows: number[][]; most: number };
type Figures = {
  /** Who asks, in words. */
  asker(team: string | null): string;
  pairName(pair: { fromTeam: string | null; toTeam: string; thread: string | null }): string;
  /** Conversations in which something was said. */
  spoken(sessions: Api.TeamSession[]): Api.TeamSession[];
  sum<What extends string>(all: Record<What, number>[], what: What): number;
  /** Who asks whom how much. */
  matrix(activity: Api.TeamActivity[], teams: string[]): Matrix;
  /** What was said in every stretch, also in those without a word. */
  timeline(activity: Api.TeamActivity[], since: string, stretch: "hour" | "day", now: number): TimeBar[];
  /** The pairs that asked most. */
  busiest(activity: Api.TeamActivity[], count: number): [string, number][];
  /** How long a conversation has lasted so far. */
  life(session: Api.TeamSession): number;
  /** How many conversations lasted how long. */
  lives(sessions: Api.TeamSession[]): [string, number][];
  /** Everything that was spent. */
  spent(usage: Api.TeamUsage[]): { input: number; output: number; money: Record<string, number> };
};
type Charts = {
  matrix(askers: string[], matrix: Matrix): HTMLElement;
  time(bars: TimeBar[], when: (start: number) => string): HTMLElement;
  bars(rows: [string, number][], label: string): HTMLElement;
};
