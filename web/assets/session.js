// A session as a separate page, or as a portlet inside the shell.

import { makeComposer, pickersOf } from "./chat/composer.js";
import { makeHeader, makeStrip } from "./chat/frame.js";
import { makeLog } from "./chat/log.js";
import { planProgress, views } from "./chat/views.js";
import { makeEntries } from "./lib/entries.js";
import { makeDrafts } from "./lib/kept.js";
import { isTyping, shellAction } from "./lib/keys.js";
import { LineBroken } from "./lib/socket.js";
import { handlerOf, makeStore } from "./lib/store.js";
import { sessionOfPath, windowTitle } from "./lib/words.js";
import { makeOutbox } from "./lib/writing.js";
import { copy, fill, h, part } from "./ui/dom.js";
import { connect, lineStatus } from "./ui/line.js";
import { announce, dialogs, toast, toastError } from "./ui/parts.js";

/** Entries that a session opens with, enough to fill the window, and entries per older page. */
const NEWEST = 24;
const PAGE = 20;
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
const log = makeLog({ drafts, send, onolder, onend: trim, get root() { return project()?.path ?? ""; } });
const header = makeHeader((title) => ask("session:rename", { title }), menu);
const strip = makeStrip(() => ask("session:resume"), () => ask("session:unarchive"));
const composer = makeComposer({
	drafts,
	said: () => {
		const loaded = entries.prompts();
		return [...saidHere().filter((text) => !loaded.includes(text)), ...loaded];
	},
	onsend: post,
	onstop,
	onpick: (kind, id, choice) => (kind === "mode" ? ask("session:mode", { mode: choice }) : ask("session:setting", { setting: id, choice })).then(paint),
});
let session = /** @type {Session | null} */ (null);
let [isFollowing, isPaging, isStopping, isPainted] = [false, false, false, false];
let painting = 0;

/** The session id for requests. */
const sessionId = () => session?.uid ?? sessionOfPath(location.pathname);
const project = () => store.projects.find(({ id }) => id === session?.projectId);

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
	const cursor = session ? { after: entries.rev, generation: entries.generation } : {};
	try {
		await line.request("session:open", { sessionId: sessionId(), ...cursor, render: true, limit: NEWEST });
	} catch (/** @type {any} */ error) {
		if (error instanceof LineBroken) return;
		if (session) return toastError(error);
		return fill(main, h("div.centre", h("h1", error.message), h("p.muted", error.hint || "It may have been removed."), h("a.button", { href: "/", target: "_top" }, "All sessions")));
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
		log.reset(entries.list);
		log.setMore(entries.more);
		if (isFirst) assemble(frame.uid);
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
		if ("status" in entry && entry.status === "pending") announce(entry.type === "permission" ? `Permission required: ${entry.title}` : "The agent has a question.");
		if (log.following) trim();
	},
	"session:complete": ({ stopReason }) => {
		isStopping = false;
		announce(stopReason === "end_turn" ? "The agent has finished." : stopReason === "cancelled" ? "The agent was stopped." : "The turn failed.");
	},
	"session:cancelled": () => void (isStopping = session?.activity !== "idle" || entries.running() !== undefined),
	"session:error": ({ message }) => {
		isFollowing = false;
		toast(message, "Reload", open);
	},
};

/** Builds the page once the history has arrived. */
function assemble(uid = "") {
	drafts.prune();
	fill(main, header.element, !isEmbedded && lineStatus(line), log, h("div.foot", strip.element, composer));
	composer.restore(`message.${uid}`);
	if (isEmbedded) tellShell("ready");
	else composer.focus();
}

async function onolder() {
	if (isPaging || !isPainted || !entries.more || !line.isOpen) return;
	isPaging = true;
	try {
		const frame = await line.query("session:page", { sessionId: sessionId(), before: entries.oldest, render: true, limit: PAGE });
		entries.page(frame).forEach(log.put);
		log.show(entries.list);
		log.setMore(entries.more);
		// After a page of short entries the beginning may still be visible, and no scroll event would load the next page.
		if (log.nearBeginning) requestAnimationFrame(onolder);
	} catch (error) {
		if (!(error instanceof LineBroken)) toastError(error);
	}
	isPaging = false;
}

function trim() {
	if (entries.list.length <= ENTRIES_MAX) return;
	entries.trim(ENTRIES_KEPT);
	log.show(entries.list);
	log.setMore(entries.more);
}

/** Messages sent from this browser; they may be older than the loaded entries. @returns {string[]} */
const saidHere = () => drafts.get(`said.${session?.uid}`) ?? [];

function post(text = "") {
	drafts.set(`said.${session?.uid}`, [...saidHere(), text].slice(-SAID_MAX));
	log.toEnd();
	deliver(outbox.post(text));
}

/** Sends a message. If the connection breaks before the response, it is sent again; the daemon accepts an id once. @param {Letter} letter */
async function deliver(letter) {
	paint();
	try {
		const { seq } = await line.query("session:send", { sessionId: sessionId(), content: letter.text, messageId: letter.id });
		Object.assign(letter, { answered: true, seq });
	} catch (error) {
		if (error instanceof LineBroken) return;
		outbox.drop(letter);
		giveBack(letter.text);
		toastError(error);
	}
	paint();
}

/** Puts unsent text back into the box. */
const giveBack = (text = "") => (composer.text = [text, composer.text].filter(Boolean).join("\n"));

async function onstop() {
	isStopping = true;
	paint();
	if (!(await ask("session:cancel"))) isStopping = false;
	paint();
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
	header.show(session, project(), agent);
	document.title = windowTitle(activity === "waiting" ? 1 : 0, title);
	composer.commands = entries.state.commands?.commands ?? [];
	composer.showPickers(pickersOf(entries.state));
	composer.showUsage(views.usage(entries.state.usage));
	log.pend(outbox.pending(entries).map(({ text }) => h("article.entry.user.sending", { label: "You" }, h("div.md.plain", text), h("span.when", "Sending…"))));

	const running = entries.running();
	const isBusy = running !== undefined || activity !== "idle";
	const isWaiting = activity === "waiting";
	const plan = entries.list.findLast(({ type, seq }) => type === "plan" && seq > (running?.seq ?? 0));
	const doing = isStopping ? "Stopping…" : isWaiting ? "Needs your answer" : planProgress(plan) || "Working";
	strip.showTurn(running?.timestamp ?? lastActiveAt, isBusy ? doing : "");
	strip.element.classList.toggle("waiting", isWaiting);
	strip.showQueue(entries.queue);
	strip.showSession(session);
	const takesMessages = acceptsPrompts && !archived;
	composer.show({
		ready: isFollowing,
		running: isBusy && !isStopping && status === "active",
		disabled: !takesMessages,
		placeholder: !takesMessages ? "This session does not accept messages" : !isFollowing ? "Not connected; you can keep writing" : isBusy ? "Write the next message; it is queued until the turn ends" : `Message ${agent.title}`,
	});
}

/** @returns {MenuItem[]} */
function menu() {
	if (!session) return [];
	const { id, uid, status, archived } = session;
	const end = (/** @type {Api.EndHow} */ how) => ask("session:end", { how });
	const cancel = () => dialogs.confirm("Cancel this session?", "The agent is stopped, and the session cannot be resumed. It stays readable.", "Cancel the session", () => end("cancel"));
	/** @type {[unknown, ...MenuItem][]} */
	const items = [
		[true, "Rename", "edit", header.rename],
		[true, "Copy id", "copy", () => copy(id).then(() => toast("Copied."))],
		[isEmbedded, "Open in a new page", "open", () => window.open(`/s/${uid}`, "_blank", "noopener")],
		[status === "active", "Complete", "check", () => end("complete")],
		[status === "active", "Cancel session…", "trash", cancel],
		[archived, "Restore", "archive", () => ask("session:unarchive")],
		// The shell offers to undo it.
		[!archived, "Archive", "archive", () => (isEmbedded ? tellShell("archive") : ask("session:archive"))],
		[isEmbedded, "Close tab", "close", () => tellShell("key", { action: "tab-close" })],
	];
	return items.flatMap(([isOffered, ...item]) => (isOffered ? [item] : []));
}

line.onstate = ({ phase }) => {
	isFollowing = false;
	if (phase === "open") {
		// First, so that they are known when the history comes.
		for (const type of /** @type {const} */ (["project:list", "agent:list"])) line.request(type).catch(() => {});
		// What became of the session meanwhile is not in what was said.
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
	if (isOurs) handlerOf(frames, frame)?.(frame);
	if (session) session = store.sessions.get(session.uid) ?? { ...session, archived: session.archived || frame.type === "session:archived" };
	paint();
};
addEventListener("message", ({ origin, source, data }) => {
	if (origin !== location.origin || source !== parent || data?.convoke !== "focus") return;
	// Keep the focus inside this portlet if there is one; else focus the message box.
	const active = /** @type {HTMLElement | null} */ (document.activeElement);
	(active && active !== document.body ? active : composer).focus();
	// A session that accepts no messages gets the focus on its log.
	if (document.activeElement === document.body) part(log, ".scroller").focus();
});
addEventListener("keydown", (event) => {
	const isText = isTyping(event.target);
	const wish = shellAction(event, isText);
	if ((event.ctrlKey || event.metaKey) && event.key === ".") onstop();
	else if (event.key === "Escape" && !isText && !document.querySelector("dialog[open], :popover-open")) composer.focus();
	else if (wish && isEmbedded) tellShell("key", wish);
	else if (wish?.action === "help") dialogs.help();
	else return;
	event.preventDefault();
});
setInterval(() => (log.tick(), strip.tick()), 1000);
start();
