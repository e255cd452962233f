// Groups the entries of a conversation: runs of tool calls, calls with their permissions, crashes with their turns.

import { plural } from "./words.js";

/** Kinds of calls that only look; runs of them are folded. */
const LOOKING = ["read", "search"];

/** Whether a call folds with its neighbours. @param {SpokenEntry | undefined} entry @returns {entry is ToolEntry} */
export const folds = (entry) => entry?.type === "tool-call" && LOOKING.includes(entry.kind ?? "");

/** The rows of a conversation: runs of calls that fold, and every other entry alone. @param {SpokenEntry[]} list */
export function rowsOf(list) {
	const rows = /** @type {SpokenEntry[][]} */ ([]);
	for (const entry of list) {
		const last = rows.at(-1);
		if (last && folds(entry) && folds(last[0])) last.push(entry);
		else rows.push([entry]);
	}
	return rows;
}

/** What a run did: “Read 5 files, searched twice, 1 failed”. @param {ToolEntry[]} calls */
export function runTitle(calls) {
	const of = (kind = "") => calls.filter((call) => call.kind === kind).length;
	const [reads, searches] = LOOKING.map(of);
	const failed = calls.filter(({ status }) => status === "error").length;
	const times = ["", "once", "twice"][searches] ?? `${searches} times`;
	const text = [reads && `read ${plural(reads, "file")}`, searches && `searched ${times}`, failed && `${failed} failed`].filter(Boolean).join(", ");
	return text && text[0].toUpperCase() + text.slice(1);
}

/** The call that a permission is for: the last one before it, else the first one after. @param {SpokenEntry[]} list @param {SpokenEntry} asked @returns {ToolEntry | undefined} */
export function callOf(list, asked) {
	if (asked.type !== "permission" || !asked.toolCallId) return undefined;
	const isIts = (/** @type {SpokenEntry} */ entry) => entry.type === "tool-call" && entry.toolCallId === asked.toolCallId;
	const before = list.findLast((entry) => entry.seq < asked.seq && isIts(entry));
	return /** @type {ToolEntry | undefined} */ (before ?? list.find((entry) => entry.seq > asked.seq && isIts(entry)));
}

/** The newest permission that was asked for a call. @param {SpokenEntry[]} list @param {ToolEntry} call @returns {Entry<"permission"> | undefined} */
export function permissionOf(list, call) {
	const found = list.findLast((entry) => entry.type === "permission" && entry.toolCallId === call.toolCallId && callOf(list, entry)?.seq === call.seq);
	return /** @type {Entry<"permission"> | undefined} */ (found);
}

/** Whether a call waits for the answer to a question: the open one that follows it, without another call in between. @param {SpokenEntry[]} list @param {ToolEntry} call */
export function asksHuman(list, call) {
	if (call.status !== "running") return false;
	const next = list.find(({ type, seq }) => seq > call.seq && (type === "question" || type === "tool-call"));
	return next?.type === "question" && next.status === "pending";
}

/** The end of a turn that broke off because the agent's process ended, for the notice about that process. @param {SpokenEntry[]} list @param {SpokenEntry} notice */
export function brokenTurn(list, notice) {
	if (notice.type !== "notice" || notice.event !== "process_exited") return undefined;
	const next = list.slice(list.indexOf(notice) + 1).find(({ type }) => type === "notice" || type === "user");
	return isBroken(next) ? next : undefined;
}

/** The notice about the process whose exit ended a turn. @param {SpokenEntry[]} list @param {SpokenEntry} ended */
export function crashOf(list, ended) {
	if (!isBroken(ended)) return undefined;
	return list.slice(0, list.indexOf(ended)).findLast((entry) => entry.seq > ended.turn && entry.type === "notice" && entry.event === "process_exited");
}

/** @param {SpokenEntry | undefined} entry @returns {entry is NoticeEntry & {event: "turn_ended", turn: number}} */
const isBroken = (entry) => entry?.type === "notice" && entry.event === "turn_ended" && entry.stopReason === "failed" && entry.why === "process_exited";

/** Entries that look different because of another one. @param {SpokenEntry[]} list @param {SpokenEntry} entry */
export function related(list, entry) {
	if (entry.type === "permission") return [callOf(list, entry)];
	if (entry.type === "tool-call") return [permissionOf(list, entry)];
	if (entry.type === "question") return [list.slice(0, list.indexOf(entry)).findLast(({ type }) => type === "tool-call")];
	if (entry.type === "notice" && entry.event === "files_restored") return list.filter((other) => other !== entry && other.type === "notice" && other.event === "files_restored").slice(-1);
	if (entry.type === "notice") return [crashOf(list, entry)];
	// A failed turn offers a retry until the next message.
	return entry.type === "user" ? list.slice(0, list.indexOf(entry)).filter((other) => other.type === "notice").slice(-2) : [];
}

/** The exit code of a failed command; agents report it in the text. @param {ToolEntry} call */
export function exitCode({ status, error = "", result = "" }) {
	const text = error || result;
	if (status !== "error" || !text) return undefined;
	const ends = `${text.slice(0, 200)}\n${text.slice(-400)}`;
	const found = /\b(?:exit(?:ed)?(?: with)?(?: (?:code|status))?|exit_?code"?|status code)\s*[:=]?\s*(-?\d{1,4})\b/i.exec(ends);
	return found ? Number(found[1]) : undefined;
}

/** Lines of a failed command that are shown without opening it. */
const TAIL = 6;

/** The end of a text: its last lines that are not empty. */
export function tail(text = "", max = TAIL) {
	const lines = text.trimEnd().split("\n");
	return lines.slice(-max).join("\n");
}
