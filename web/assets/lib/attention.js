// What needs attention: the mark of a session, the groups of Home, and the icon of the window.

import { plain, visible } from "./words.js";

/** The marks, gravest first, each in words. @type {Record<Mark, string>} */
export const MARKS = {
	needs_you: "needs your answer",
	failed: "failed",
	working: "working",
	finished: "finished, not seen yet",
	ended: "ended",
	idle: "idle",
};

/** @param {Session} session @returns {Mark} */
export const markOf = ({ attention, unseen }) => (unseen && (attention === "idle" || attention === "ended") ? "finished" : attention);

/** The gravest of the marks that ask for a look. @param {Session[]} sessions @returns {Mark | undefined} */
export function gravest(sessions) {
	const marks = new Set(sessions.filter(({ attention, unseen }) => unseen || attention !== "failed").map(markOf));
	return /** @type {Mark[]} */ (["needs_you", "failed", "working", "finished"]).find((mark) => marks.has(mark));
}

/** Whether an agent or a program waits for the answer. @param {Api.InboxItem} item */
const isWaitedFor = ({ status }) => status === "pending";

/** Sessions shown as recent. */
const RECENT_MAX = 8;

/**
 * The groups of Home, newest first. Requests stay oldest first: one that arrives must not move another under the pointer.
 * @param {Pick<Store, "sessions" | "inbox">} store @returns {Groups}
 */
export function groupsOf({ sessions, inbox }) {
	const newest = [...sessions.values()].sort((a, b) => b.lastActiveAt.localeCompare(a.lastActiveAt));
	const working = newest.filter((session) => markOf(session) === "working");
	const finished = newest.filter((session) => markOf(session) === "finished");
	const failed = newest.filter((session) => session.attention === "failed" && session.unseen);
	const shown = new Set([...working, ...finished, ...failed]);
	const recent = newest.filter((session) => !shown.has(session) && session.attention !== "needs_you").slice(0, RECENT_MAX);
	const [needsYou, left] = [inbox.filter(isWaitedFor), inbox.filter((item) => !isWaitedFor(item))];
	return { needsYou, left, working, finished, failed, recent };
}

/**
 * The active session that was idle longest: it neither works nor asks. Completing it makes room for another one.
 * @param {Iterable<Session>} sessions @returns {Session | undefined}
 */
export function idleLongest(sessions) {
	const idle = [...sessions].filter(({ status, attention }) => status === "active" && attention !== "working" && attention !== "needs_you");
	return idle.sort((a, b) => a.lastActiveAt.localeCompare(b.lastActiveAt))[0];
}

/** Why a turn failed, in words. @type {Record<string, string>} */
const REASONS = {
	interrupted: "Convoke was restarted while the agent worked",
	process_exited: "The agent's process ended",
	agent_error: "The agent reported an error",
	not_started: "The agent could not be started",
	internal: "Convoke failed",
};

/** Why a turn failed in a sentence, and the last output of the agent. @param {Session["failure"]} failure */
export function failureOf(failure) {
	const detail = visible(plain(failure?.detail)).trim();
	// The daemon puts both into one text.
	const [told, ...output] = detail.split(", last output: ");
	if (output.length) return { reason: told[0].toUpperCase() + told.slice(1), output: output.join(", last output: ") };
	const reason = REASONS[failure?.why ?? ""] ?? "The turn failed";
	// A line of detail completes the sentence; a stop of Convoke needs none.
	if (!detail || failure?.why === "interrupted") return { reason, output: "" };
	return detail.includes("\n") ? { reason, output: detail } : { reason: `${reason}: ${detail}`, output: "" };
}

/** The badge of the icon for each kind of event: distinguished by shape as well as by colour. @type {Record<string, string>} */
const CORNERS = {
	needs_you: '<path d="M22 11l10 10.5L22 32 12 21.5z" fill="#ffb224" stroke="#1b1300" stroke-width="2.5"/>',
	failed: '<rect x="12.5" y="12.5" width="19" height="19" rx="3" fill="#c4302b" stroke="#fff" stroke-width="2"/><path d="M18 18l8 8M26 18l-8 8" stroke="#fff" stroke-width="3"/>',
	finished: '<circle cx="22.5" cy="22.5" r="8.5" fill="#1f8f52" stroke="#fff" stroke-width="2.5"/>',
};

/** The address of the window's icon. */
export function iconFor(news = "") {
	if (!CORNERS[news]) return "/assets/icon.svg";
	const plain = '<rect width="32" height="32" rx="8" fill="#4a52c9"/><path d="M21.5 11.200a7.3 7.3 0 1 0 0 9.6" fill="none" stroke="#fff" stroke-width="3" stroke-linecap="round"/>';
	return `data:image/svg+xml,${encodeURIComponent(`<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 32 32">${plain}${CORNERS[news]}</svg>`)}`;
}
