// Notices of a session: most are a muted line; a crash or a failed turn is shown once, with its actions.

import { brokenTurn, crashOf, tail } from "../lib/rows.js";
import { plain, plural } from "../lib/words.js";
import { h, icon, onLook, quoted, refill } from "../ui/dom.js";
import { me } from "../ui/me.js";

/** Lines of an agent's last output that are shown. */
const LAST_WORDS = 12;

/** Why a session ended by itself. @type {Record<string, string>} */
const ENDS = { idle_timeout: "Ended after a time without activity", made_room: "Ended to make room for another session" };

/** @param {Surroundings} around @returns {View} */
export function noticeView(around) {
	const element = h("div.entry.notice");
	let at = new Date(0);
	onLook(element, () => (element.title = at.toLocaleString()));
	return {
		element,
		update(/** @type {NoticeEntry} */ entry) {
			const list = around.entries();
			const broken = brokenTurn(list, entry);
			const turn = broken?.turn ?? (entry.event === "turn_ended" && entry.stopReason === "failed" ? entry.turn : undefined);
			// A crash is shown once: with the process, not again with its turn.
			element.hidden = crashOf(list, entry) !== undefined;
			const isFailure = turn !== undefined || isWarning(entry);
			element.classList.toggle("grave", isFailure);
			element.classList.toggle("failure", turn !== undefined);
			// Every update of a neighbour comes here, too.
			refill(element, isFailure && icon("warning"), h("div.notice-words", ...wordsOf(entry, broken !== undefined, around)), turn !== undefined && around.may() && isNewest(list, entry) && h("button.button.small", { onclick: () => around.retry(turn) }, icon("retry"), "Retry"));
			at = new Date(entry.timestamp);
		},
	};
}

/** Whether no later message makes a retry pointless. @param {SpokenEntry[]} list @param {SpokenEntry} entry */
const isNewest = (list, entry) => !list.some(({ type, seq }) => type === "user" && seq > entry.seq);

/** Whether undoing undoes this restore. @param {SpokenEntry[]} list @param {NoticeEntry} entry */
const isLastRestore = (list, entry) => "turn" in entry && list.findLast((other) => other.type === "notice" && other.event === "files_restored") === entry;

/** @param {NoticeEntry} entry @param {Surroundings} around @returns {Child[]} */
function wordsOf(entry, isCrash = false, around) {
	switch (entry.event) {
		case "rule_applied":
		case "rule_denied":
			// Older versions stored neither the call nor the rule.
			if (!entry.what) break;
			return [h("span", entry.event === "rule_applied" ? "Allowed without asking: " : "Denied without asking: ", h("code", around.place.root ? entry.what.replaceAll(`${around.place.root}/`, "") : entry.what)), ruleLine(entry, around)];
		case "rule_made":
			return [ruleLine(entry, around, "New rule: ")];
		case "process_exited": {
			const code = entry.exitCode !== undefined ? ` (exit code ${entry.exitCode})` : entry.signal !== undefined ? ` (signal ${entry.signal})` : "";
			const last = tail(entry.stderrTail ?? "", LAST_WORDS).trim();
			const what = isCrash ? `The agent crashed${code}.` : `The agent's process ended${code}. It starts again with the next message.`;
			return [h("span", what), last && lastWords(last, "Last output of the agent")];
		}
		case "worktree_made":
			// The server's text lists the files that could not be copied.
			if (entry.leftOut?.length) break;
			return [h("span", { title: entry.path }, "This session has a work tree on the branch ", h("code", entry.branch))];
		case "worktree_set_up": {
			const last = entry.code === 0 ? "" : tail(entry.output, LAST_WORDS).trim();
			return [h("span", ...quoted(entry.text)), last && lastWords(last, "Output of the set-up command")];
		}
		case "folder_shared":
			return [h("span", "Another session was working in the same folder when this one began. ", h("button.link", { onclick: () => around.open(entry.session) }, "Open it"))];
		case "files_restored":
			if (entry.turn === undefined) break;
			return [h("span", `Files were restored: ${plural(entry.written, "file")} written, ${entry.removed} removed. `), around.may() && isLastRestore(around.entries(), entry) && h("button.link", { onclick: around.undo }, "Undo")];
		case "turn_ended":
			if (entry.stopReason !== "cancelled") break;
			return [h("span", me.name ? "The agent was stopped." : "You stopped the agent.")];
		case "renamed":
			return [h("span", `Renamed to “${entry.title}”`)];
		case "completed":
			return [h("span", ENDS[entry.reason ?? ""] ?? "Ended")];
		case "reopened":
			return [h("span", "Resumed")];
		case "archived":
			return [h("span", "Archived")];
		case "unarchived":
			return [h("span", "Restored from the archive")];
	}
	return [h("span", ...quoted(entry.text))];
}

const lastWords = (text = "", label = "") => h("pre.last-words", { tabIndex: 0, role: "group", label }, plain(text));

/** The rule in words, and a link that revokes it as long as it exists. @param {{ruleId?: string, rule: string}} notice @param {Surroundings} around */
function ruleLine({ ruleId = "", rule }, { rules }, before = " · by the rule: ") {
	return h("span.rule", before, ...quoted(rule), rules.has(ruleId) && " ", rules.has(ruleId) && h("button.link", { onclick: () => rules.remove(ruleId) }, "Revoke"));
}

/** Whether a notice is about something that went wrong. @param {NoticeEntry} notice */
function isWarning(notice) {
	switch (notice.event) {
		case "failed":
		case "process_exited":
		case "unconfined":
			return true;
		case "worktree_set_up":
			return notice.code !== 0;
		case "turn_ended":
			return notice.stopReason !== "cancelled";
		case "resumed":
			return notice.how === "afresh";
		case "advice":
			return ["error", "warning"].includes(notice.severity);
		default:
			return false;
	}
}
