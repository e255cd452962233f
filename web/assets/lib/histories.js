// Texts about conversations of other programs: what was found, and the progress of an import.

import { plural } from "./words.js";

/** Names as people list them: a, b and c. @param {string[]} names */
export const listed = (names) => [names.slice(0, -1).join(", "), names.at(-1)].filter(Boolean).join(" and ");

const amount = (count = 0) => count.toLocaleString("en");

/** The agents with conversations that are not here yet, most first. @param {Api.FoundAgent[]} agents */
export const missing = (agents) => agents.filter(({ found, imported }) => found > imported).sort((a, b) => b.found - b.imported - (a.found - a.imported));

/** What was found: “412 conversations of Claude Code and 57 of Codex were found”. @param {Api.FoundAgent[]} agents */
export function foundText(agents) {
	const all = missing(agents);
	const total = all.reduce((sum, { found, imported }) => sum + found - imported, 0);
	const parts = all.map(({ name, found, imported }, at) => `${at ? amount(found - imported) : plural(found - imported, "conversation")} of ${name}`);
	return `${listed(parts)} ${total === 1 ? "was" : "were"} found on this machine.`;
}

/** Whether the page offers an import: none was made, and the setting allows one. @param {Api.Histories} histories */
export const isOffered = ({ import: mode, agents }) => mode === "ask" && agents.every(({ followed }) => !followed) && missing(agents).length > 0;

/** The progress of an import, from 0 to 1, and as text. @param {Api.HistoryImport} run */
export function progressOf({ sources }) {
	const sum = (/** @type {"total" | "done" | "messages"} */ what) => sources.reduce((all, source) => all + source[what], 0);
	const [total, done] = [sum("total"), sum("done")];
	const now = sources.find((source) => source.done < source.total)?.name;
	return { part: total ? done / total : 0, text: `${amount(done)} of ${plural(total, "conversation")}${now ? `, reading those of ${now}` : ""}` };
}

/** The result of an import. @param {Api.HistoryImport} run */
export function resultText({ sources, error }) {
	const sum = (/** @type {"added" | "grown" | "rewritten" | "skipped" | "failed" | "brokenLines" | "messages"} */ what) => sources.reduce((all, source) => all + source[what], 0);
	const added = sum("added") + sum("rewritten");
	const done = added || sum("grown") ? `${plural(added, "conversation")} imported, with ${plural(sum("messages"), "message")}${sum("grown") ? `; ${plural(sum("grown"), "other")} went on` : ""}.` : "Everything was here already.";
	const skipped = sum("skipped") ? ` ${plural(sum("skipped"), "conversation")} ${sum("skipped") === 1 ? "was" : "were"} skipped: empty, deleted here, or already a session.` : "";
	const failed = sum("failed") ? ` ${plural(sum("failed"), "conversation")} could not be read.` : "";
	const broken = sum("brokenLines") ? ` ${plural(sum("brokenLines"), "line")} could not be read and ${sum("brokenLines") === 1 ? "was" : "were"} skipped.` : "";
	return `${error ? `The import ended early: ${error}. ` : ""}${done}${skipped}${failed}${broken}`;
}
