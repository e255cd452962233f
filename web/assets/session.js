// A session as a separate page, or as a portlet inside the shell.

import { choose, pendingRequest } from "./cards/request.js";
import { makeBeside } from "./chat/beside.js";
import { makeComposer, pickersOf } from "./chat/composer.js";
import { makeHeader, makeStrip, makeWaiting } from "./chat/frame.js";
import { makeLog } from "./chat/log.js";
import { menuOf } from "./chat/menu.js";
import { makeStop } from "./chat/stopping.js";
import { planProgress, views } from "./chat/views.js";
import { makeEntries } from "./lib/entries.js";
import { makeDrafts } from "./lib/kept.js";
import { isTyping, shellAction } from "./lib/keys.js";
import { waitsText } from "./lib/nodes.js";
import { LineBroken } from "./lib/socket.js";
import { handlerOf, makeStore } from "./lib/store.js";
import { namesOf, sentence, sessionOfPath, windowTitle } from "./lib/words.js";
import { makeOutbox } from "./lib/writing.js";
import { fill, h, isTouch, part, quoted } from "./ui/dom.js";
import { connect, lineStatus } from "./ui/line.js";
import { linkPaths } from "./ui/markdown.js";
import { me } from "./ui/me.js";
import { nodes } from "./ui/nodes.js";
import { announce, dialogs, toast, toastError } from "./ui/parts.js";

/** Entries that a session opens with, enough to fill the window, and entries per older page. */
const NEWEST = 24;
const PAGE = 20;
/** Pages grow to this while they leave the window unfilled: a run of a hundred calls is one line. */
const PAGE_MAX = 200;
/** Earlier messages that can be recalled although they are not loaded. */
const SAID_MAX = 20;
/** A conversation that grows beyond the first number is trimmed to the second while its end is shown. */
const ENTRIES_MAX = 900;
const ENTRIES_KEPT = 400;

const isEmbedded = parent !== window;
const main = part(document, "main");
const { line, start } = connect();
const store = makeStore();
const entries = makeEntries();
const outbox = makeOutbox();
const drafts = makeDrafts(localStorage, () => Date.now());
const place = { root: "", editor: "" };
/** Rules that exist, as far as notices speak of rules. */
let ruleIds = /** @type {Set<string>} */ (new Set());
const rules = {
	has: (id = "") => me.may("owner") && ruleIds.has(id),
	remove: (ruleId = "") => send("rule:remove", { ruleId }).then(() => toast("The rule is revoked. Agents ask again."), () => {}),
};
const log = makeLog({
	drafts, send, place, rules, retry, onolder, onnewest, onend, may,
	entries: () => entries.list,
	focusOn: (entryId) => log.reveal(entryId, "nearest"),
	source: (entryId) => /** @type {any} */ (entries.get(entryId))?.content ?? "",
	canSend: () => may() && session?.acceptsPrompts === true && !session.archived,
	canRestore: () => may() && session?.changes !== undefined,
	restore: (seq) => act(({ restore }) => restore(sessionId(), seq, goOn)),
	// The prompt of a long turn may not be loaded.
	canFork: (seq) => may() && turnOf(seq) > 0,
	fork: (seq) => act(({ fork }) => fork(sessionId(), turnOf(seq), goOn)),
	undo: () => act(({ undo }) => undo(sessionId())),
	open: (uid) => goOn(uid),
	edit: (text, enclosed) => (giveBack(text, enclosed), composer.focus()),
	resend: post,
	link: (seq) => `${location.origin}/?open=${encodeURIComponent(session?.uid ?? "")}&at=${seq}`,
});
const beside = makeBeside(main, {
	drafts, place, may,
	uid: () => sessionId(),
	prompts: () => entries.list.flatMap((entry) => (entry.type === "user" ? [{ seq: entry.seq, text: entry.content || (entry.review?.[0]?.comment ?? "") }] : [])),
	sent: () => entries.list.flatMap((entry) => (entry.type === "user" ? (entry.review ?? []).map((comment) => ({ seq: entry.seq, comment })) : [])),
	canSend: () => may() && isFollowing && session?.acceptsPrompts === true && !session.archived,
	send: (text, review) => post(text, { review }),
});
const header = makeHeader({ rename: (title) => ask("session:rename", { title }), items: () => menu(), finish }, beside.button);
const queue = makeWaiting({
	edit: (messageId, content) => ask("queue:edit", { messageId, content }),
	move: (messageId, to) => ask("queue:move", { messageId, to }),
	remove: (messageId) => ask("queue:remove", { messageId }),
	send: (messageId) => ask("queue:send", { messageId }),
	lost: (text) => (giveBack(text), toast("That message was sent before your edit was saved. Your text is in the message box.")),
});
const strip = makeStrip({ onresume: () => ask("session:resume"), onunarchive: () => ask("session:unarchive"), onask: focusRequest, onrestore: () => withTrees(({ restore }) => restore(sessionId())), queue: queue.element });
const composer = makeComposer({
	drafts,
	said: () => {
		const loaded = entries.prompts();
		return [...saidHere().filter((text) => !loaded.includes(text)), ...loaded];
	},
	find: (query, limit) => line.query("file:complete", { projectId: session?.projectId ?? "", query, limit }).then(({ files }) => files),
	onsend: post,
	onstop: () => stopping.stop(),
	onpick: (kind, id, choice) => (kind === "mode" ? ask("session:mode", { mode: choice }) : ask("session:setting", { setting: id, choice })).then(paint),
});
/** In place of the message box, for viewers. */
const reading = h("p.reading.muted", { hidden: true });
const stopping = makeStop({ isRunning: () => may() && isRunning(), cancel, waiting: () => (entries.held ? 0 : entries.queue.length), hint: strip.showHint });
let session = /** @type {Session | null} */ (null);
let [isFollowing, isPaging, isStopping, isPainted] = [false, false, false, false];
let painting = 0;
let pageSize = PAGE;
/** The seq to open the conversation at; 0 is its end. */
let wanted = Number(new URLSearchParams(location.search).get("at")) || 0;
/** The commands that the shell knows. */
let offered = "[]";
/** The last activity that was reported as seen. */
let seenAt = "";

/** The session id for requests. */
const sessionId = () => session?.uid ?? sessionOfPath(location.pathname);
/** Whether the signed-in user may prompt and answer here. */
function may() {
	return me.may("member", session?.projectId);
}
const project = () => store.projects.find(({ id }) => id === session?.projectId);

/** Loads the module for restores, forks and reverts. @param {(acts: ChangeActs) => void} run */
const act = (run) => void import("./changes/acts.js").then(({ acts }) => run(acts), toastError);

/** Loads the module that finishes and restores work trees. @param {(trees: TreeActs) => void} run */
const withTrees = (run) => void import("./trees/acts.js").then(({ trees }) => run(trees), toastError);

const hasTree = () => session?.worktree !== undefined && !session.worktree.removed;

/** Opens the dialog that finishes the work tree. */
function finish() {
	if (hasTree() && may()) withTrees((trees) => session && trees.finish(session));
	else toast("This session has no work tree.");
}

/** The turn of a message, as the seq of its prompt; 0 if that is not loaded. */
const turnOf = (seq = 0) => entries.list.findLast((entry) => entry.type === "user" && entry.seq <= seq)?.seq ?? 0;

/** Continues in another session. */
function goOn(uid = "", said = "") {
	if (isEmbedded) tellShell("open", { uid, said });
	else location.assign(`/s/${encodeURIComponent(uid)}`);
}

/** Posts a message to the shell around this portlet. */
const tellShell = (convoke = "", fields = {}) => parent.postMessage({ convoke, ...fields }, location.origin);

/** For cards: shows the error, and passes it on to the card. @type {Send} */
async function send(type, fields) {
	try {
		return await line.request(type, fields);
	} catch (error) {
		toastError(error);
		throw error;
	}
}

/**
 * Sends a request about this session; returns whether it succeeded.
 * @template {RequestType} Type
 * @param {Type} type @param {Omit<FieldsOf<Type>, "sessionId">} [fields]
 */
const ask = (type, fields) => send(type, /** @type {any} */ ({ sessionId: sessionId(), ...fields })).then(() => true, () => false);

async function open() {
	const isWindow = wanted > 0 || entries.newer;
	const cursor = wanted ? { at: wanted } : session && !isWindow ? { after: entries.rev, generation: entries.generation } : {};
	try {
		await line.request("session:open", { sessionId: sessionId(), ...cursor, render: true, limit: NEWEST });
	} catch (/** @type {any} */ error) {
		if (error instanceof LineBroken) return;
		if (session) return toastError(error);
		return showGone(error.message, sentence(error.hint || "It may have been removed"));
	}
	isFollowing = true;
	if (log.nearBeginning) onolder();
	outbox.unanswered(entries).forEach(deliver);
	paint();
}

/** @type {FrameHandlers} */
const frames = {
	"session:history": (frame) => {
		const isFirst = !session;
		session = frame.session;
		isPainted = false;
		entries.history(frame);
		setPlace();
		log.setNewer(entries.newer);
		log.reset(entries.list);
		log.setMore(entries.more);
		if (isFirst) assemble(frame.uid);
		if (wanted) showWanted();
		loadRules();
		// Load older entries once these are painted.
		requestAnimationFrame(() => setTimeout(() => {
			isPainted = true;
			if (log.nearBeginning) onolder();
		}));
	},
	"session:opened": entries.opened,
	"session:update": (frame) => {
		const done = entries.update(frame);
		if (done === "state" || done === "ignored") return;
		const entry = /** @type {SpokenEntry} */ (frame.entry);
		if (done === "changed") log.put(entry);
		else if (entry === entries.list.at(-1)) log.add(entry);
		else log.show(entries.list);
		if (ruleOf(entry) && !ruleIds.has(ruleOf(entry))) loadRules();
		if ("status" in entry && entry.status === "pending") announce(entry.type === "permission" ? `Permission required: ${entry.title}` : "The agent has a question.");
		if (log.following) trim();
	},
	"session:complete": ({ stopReason }) => {
		isStopping = false;
		announce(stopReason === "end_turn" ? "The agent has finished." : stopReason === "cancelled" ? "The agent was stopped." : "The turn failed.");
	},
	"changes:updated": () => void beside.refresh(),
	"session:cancelled": () => void (isStopping = session?.activity !== "idle" || entries.running() !== undefined),
	"session:erased": () => {
		session = null;
		showGone("This session was deleted.", "Its messages are gone.");
	},
	"session:error": ({ message }) => {
		isFollowing = false;
		toast(message, "Reload", open);
	},
};

const showGone = (title = "", why = "") => fill(main, h("div.centre", h("h1", title), h("p.muted", ...quoted(why)), h("a.button", { href: "/", target: "_top" }, "All sessions")));

/** Shows the entry with the wanted seq, or the one before it. */
function showWanted() {
	const found = entries.list.findLast(({ seq }) => seq <= wanted) ?? entries.list[0];
	if (found) log.reveal(found.entryId);
	if (!entries.newer) forgetWanted();
}

function forgetWanted() {
	wanted = 0;
	history.replaceState(history.state, "", location.pathname);
}

/** Leaves the window that a link opened. */
function onnewest() {
	forgetWanted();
	open().then(() => log.toEnd());
}

/** Opens the conversation at another seq. */
function goTo(at = 0) {
	wanted = at;
	if (entries.list.some(({ seq }) => seq === at)) showWanted();
	else open();
}

function setPlace() {
	// The editor is the owner's, and opens files on the daemon's own machine.
	const editor = me.may("owner") && !nodes.of(session?.node) ? store.editor : "";
	Object.assign(place, { root: session?.worktree?.path ?? project()?.path ?? "", editor });
	linkPaths(place.root, place.root && place.editor);
}

/** The rule that a notice speaks of. @param {any} entry @returns {string} */
const ruleOf = (entry) => (entry.type === "notice" && entry.ruleId) || "";

function loadRules() {
	if (!entries.list.some(ruleOf)) return;
	line.query("rule:list").then((frame) => {
		ruleIds = new Set(frame.rules.map(({ id }) => id));
		entries.list.filter(ruleOf).forEach(log.put);
	}, (error) => error instanceof LineBroken || toastError(error));
}

/** Builds the page once the history has arrived. */
function assemble(uid = "") {
	drafts.prune();
	fill(main, header.element, !isEmbedded && lineStatus(line), log, h("div.foot", strip.element, composer, reading));
	composer.restore(`message.${uid}`);
	if (isEmbedded) tellShell("ready");
	else if (!isTouch) composer.focus();
}

async function onolder() {
	if (isPaging || !isPainted || !entries.more || !line.isOpen) return;
	isPaging = true;
	try {
		const frame = await line.query("session:page", { sessionId: sessionId(), before: entries.oldest, render: true, limit: pageSize });
		entries.page(frame).forEach(log.put);
		log.show(entries.list);
		log.setMore(entries.more);
		// After a page of short entries the beginning may still be visible, and no scroll event would load the next page.
		pageSize = log.nearBeginning ? Math.min(pageSize * 2, PAGE_MAX) : PAGE;
		if (log.nearBeginning) requestAnimationFrame(onolder);
	} catch (error) {
		if (!(error instanceof LineBroken)) toastError(error);
	}
	isPaging = false;
}

/** The reader is at the end. */
function onend() {
	trim();
	look();
}

/** Marks the session as seen if its end is on screen, in a window that has the focus. */
function look() {
	const isLooking = document.visibilityState === "visible" && (isEmbedded ? parent : window).document.hasFocus();
	if (!session?.unseen || !may() || !isFollowing || !isLooking || !log.following || seenAt === session.lastActiveAt) return;
	seenAt = session.lastActiveAt;
	line.query("session:seen", { sessionId: sessionId() }).catch(() => (seenAt = ""));
}

function trim() {
	if (entries.list.length <= ENTRIES_MAX) return;
	entries.trim(ENTRIES_KEPT);
	log.show(entries.list);
	log.setMore(entries.more);
}

/** Messages sent from this browser; they may be older than the loaded entries. @returns {string[]} */
const saidHere = () => drafts.get(`said.${session?.uid}`) ?? [];

/** @param {Enclosed} [enclosed] */
function post(text = "", enclosed) {
	if (text.trim()) drafts.set(`said.${session?.uid}`, [...saidHere(), text].slice(-SAID_MAX));
	if (entries.newer) onnewest();
	log.toEnd();
	return deliver(outbox.post(text, enclosed));
}

/** Sends the prompt of a turn again. */
async function retry(turn = 0) {
	const isIts = (/** @type {Api.Entry} */ { type, seq }) => type === "user" && seq === turn;
	let found = /** @type {any} */ (entries.list.find(isIts));
	try {
		// The prompt of a long turn may not be loaded.
		found ??= (await line.query("session:page", { sessionId: sessionId(), before: turn + 1, limit: 1 })).entries.find(isIts);
		if (found) post(found.content, found);
	} catch (error) {
		toastError(error);
	}
}

/** Sends a message. If the connection breaks before the response, it is sent again; the daemon accepts an id once. Returns `false` when it is refused. @param {Letter} letter */
async function deliver(letter) {
	paint();
	try {
		const { id: messageId, text: content, attachments, files, review } = letter;
		const { seq, waitsFor } = await line.query("session:send", { sessionId: sessionId(), content, attachments, files, messageId, ...(review && { review }) });
		Object.assign(letter, { answered: true, seq, waitsFor });
	} catch (error) {
		if (error instanceof LineBroken) return;
		outbox.drop(letter);
		// Comments go back to where they were written.
		if (!letter.review) giveBack(letter.text, letter);
		toastError(error);
		paint();
		return false;
	}
	paint();
	return true;
}

/** Puts an unsent message back into the box. @param {Enclosed} [enclosed] */
function giveBack(text = "", enclosed) {
	composer.text = [text, composer.text].filter(Boolean).join("\n");
	composer.enclose(enclosed);
}

/** Whether a turn runs that can be stopped. */
function isRunning() {
	return !isStopping && session?.status === "active" && (entries.running() !== undefined || session.activity !== "idle");
}

/** @param {Api.QueueChoice} [queue] */
async function cancel(queue) {
	isStopping = true;
	paint();
	if (!(await ask("session:cancel", queue && { queue }))) isStopping = false;
	paint();
}

function focusRequest() {
	const card = pendingRequest(log);
	card?.scrollIntoView({ block: "nearest" });
	card?.focus();
}

/** Debounced: many frames may arrive at once. */
function paint() {
	painting ||= setTimeout(paintNow, 16);
}

function paintNow() {
	painting = 0;
	if (!session) return;
	const { cliType, activity, status, acceptsPrompts, archived, lastActiveAt, title } = session;
	const agent = store.agent(cliType);
	const canAct = may();
	const node = nodes.of(session.node);
	header.show(session, project(), agent, node, canAct);
	beside.show(session.changes);
	beside.paint();
	document.title = windowTitle(activity === "waiting" ? 1 : 0, title);
	composer.commands = entries.state.commands?.commands ?? [];
	offerCommands();
	composer.showPickers(pickersOf(entries.state));
	composer.showUsage(views.usage(entries.state.usage));
	log.pend(outbox.pending(entries).map(({ text, attachments, waitsFor }) => h("article.entry.user.sending", { label: "You" }, h("div.md.plain", text || namesOf(attachments)), h("span.when", waitsFor ? waitsText(waitsFor) : "Sending…"))));

	const running = entries.running();
	const isBusy = running !== undefined || activity !== "idle";
	const isWaiting = activity === "waiting";
	const plan = entries.list.findLast(({ type, seq }) => type === "plan" && seq > (running?.seq ?? 0));
	const doing = isStopping ? "Stopping…" : isWaiting ? (canAct ? "Needs your answer" : "Waits for an answer") : planProgress(plan) || "Working";
	strip.showTurn(running?.timestamp ?? lastActiveAt, isBusy ? doing : "", isWaiting);
	queue.show(entries.queue, entries.held, canAct);
	strip.showSession(session, canAct);
	look();
	const takesMessages = acceptsPrompts && !archived;
	composer.hidden = !canAct;
	reading.hidden = canAct;
	reading.textContent = me.words;
	composer.show({
		ready: isFollowing,
		running: isBusy && !isStopping && status === "active",
		disabled: !takesMessages,
		placeholder: !takesMessages ? "This session does not accept messages" : !isFollowing ? "Not connected; you can keep writing" : node?.away ? waitsText(node.name) : isBusy ? "Queue the next message" : `Message ${agent.title}`,
	});
}

/** Tells the shell which commands its palette can offer. */
function offerCommands() {
	const commands = (entries.state.commands?.commands ?? []).map(({ name, description }) => ({ name, description }));
	const wanted = JSON.stringify(may() && session?.acceptsPrompts && !session.archived ? commands : []);
	if (!isEmbedded || wanted === offered) return;
	offered = wanted;
	tellShell("commands", { commands: JSON.parse(wanted) });
}

/** @returns {MenuItem[]} */
const menu = () => (session ? menuOf(session, { isEmbedded, hasTree: hasTree(), ask, rename: header.rename, finish, isRunning, tellShell }) : []);

line.onstate = ({ phase }) => {
	isFollowing = false;
	if (phase === "open") {
		// First, so that they are known when the history comes.
		for (const type of /** @type {const} */ (["project:list", "agent:list"])) line.request(type).catch(() => {});
		// A change of the session itself meanwhile is not among the entries.
		if (session) line.request("session:list", { projectId: session.projectId }).catch(() => {});
		open();
	}
	paint();
};
line.onframe = (frame) => {
	store.apply(frame);
	const uid = "session" in frame ? frame.session.uid : store.uidOf(frame);
	const isOurs = frame.type === "session:history" || uid === session?.uid;
	if (isOurs && frame.type === "session:chunk") {
		if (entries.chunk(frame)) log.extend(frame);
		return;
	}
	if (frame.type === "rule:changed") loadRules();
	if (frame.type === "project:list") (setPlace(), entries.list.forEach(log.put));
	if (isOurs) handlerOf(frames, frame)?.(frame);
	if (session) session = store.sessions.get(session.uid) ?? { ...session, archived: session.archived || frame.type === "session:archived" };
	paint();
};
addEventListener("message", ({ origin, source, data }) => {
	if (origin !== location.origin || source !== parent) return;
	if (data?.convoke === "at") return goTo(Number(data.at) || 0);
	if (data?.convoke === "changes") return beside.toggle(data.wants);
	if (data?.convoke === "finish") return finish();
	if (data?.convoke === "request") return focusRequest();
	if (data?.convoke === "write") return (composer.text = `${data.text} ${composer.text}`), composer.focus();
	if (data?.convoke !== "focus" || wanted) return;
	// Keep the focus inside this portlet if there is one; else focus the message box.
	const active = /** @type {HTMLElement | null} */ (document.activeElement);
	if (active && active !== document.body) active.focus();
	else if (!isTouch) composer.focus();
	// A session that accepts no messages gets the focus on its log.
	if (document.activeElement === document.body) part(log, ".scroller").focus();
});
addEventListener("keydown", (event) => {
	const isText = isTyping(event.target);
	const shortcut = shellAction(event, isText);
	if ((event.ctrlKey || event.metaKey) && event.key === ".") stopping.stop();
	else if (event.key === "Escape" && !event.repeat && !document.querySelector("dialog[open], :popover-open")) beside.escape() || (composer.focus(), stopping.escape());
	else if (shortcut?.action === "changes") beside.toggle();
	else if (shortcut?.action === "finish") finish();
	else if (shortcut?.action === "request" && pendingRequest(log)) focusRequest();
	else if (shortcut && isEmbedded) tellShell("key", shortcut);
	else if (shortcut?.action === "help") dialogs.help();
	else if (dialogs.isOpen() || !choose(log, event)) return;
	event.preventDefault();
});
me.onchange(() => (setPlace(), entries.list.forEach(log.put), paint()));
nodes.onchange(() => (setPlace(), paint()));
for (const event of ["focus", "visibilitychange", "resize"]) addEventListener(event, look);
setInterval(() => (log.tick(), strip.tick(), look()), 1000);
start();
