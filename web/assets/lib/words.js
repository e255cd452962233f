// Times and amounts for people. The current time is always a parameter.

import { attempt } from "./kept.js";

/** How long ago a time was: now, 2m, 1h, 2d, 1w. */
export function relativeTime(iso = "", now = 0) {
	const minutes = Math.floor((now - new Date(iso).getTime()) / 60_000);
	for (const [unit, length] of /** @type {const} */ ([["w", 10_080], ["d", 1440], ["h", 60], ["m", 1]])) {
		if (minutes >= length) return Math.floor(minutes / length) + unit;
	}
	// Also for an invalid time, and when the server's clock is ahead.
	return "now";
}

/** The same in a sentence: now, 2m ago. */
export const timeAgo = (iso = "", now = 0) => relativeTime(iso, now).replace(/\d$|\d\w$/, "$& ago");

/** A length of time: 12s, 3m 05s, 1h 02m. */
export function duration(ms = 0) {
	const seconds = Math.max(0, Math.floor(ms / 1000));
	const minutes = Math.floor(seconds / 60);
	if (!minutes) return `${seconds}s`;
	const [big, small, units] = minutes < 60 ? [minutes, seconds % 60, "ms"] : [Math.floor(minutes / 60), minutes % 60, "hm"];
	return `${big}${units[0]} ${String(small).padStart(2, "0")}${units[1]}`;
}

/** A number of tokens: 870, 4.2k, 128k, 1.5M. */
export function tokens(count = 0) {
	if (count < 1000) return String(count);
	const [value, unit] = count < 999_500 ? [count / 1000, "k"] : [count / 1_000_000, "M"];
	return `${value < 10 ? value.toFixed(1).replace(".0", "") : Math.round(value)}${unit}`;
}

/** An amount of data: 870 bytes, 4.2 kB, 1.5 MB. */
export function bytes(count = 0) {
	if (count < 1000) return plural(count, "byte");
	const [value, unit] = count < 999_500 ? [count / 1000, "kB"] : [count / 1_000_000, "MB"];
	return `${value < 10 ? value.toFixed(1).replace(".0", "") : Math.round(value)} ${unit}`;
}

/** An amount of money; small ones keep significant digits. */
export function money({ amount = 0, currency = "" }) {
	const digits = amount !== 0 && Math.abs(amount) < 0.1 ? 4 : 2;
	// The currency comes from the agent and may be invalid.
	return attempt(() => new Intl.NumberFormat("en", { style: "currency", currency, maximumFractionDigits: digits }).format(amount)) ?? `${amount.toFixed(digits)} ${currency}`;
}

/** A count with its noun. Grouping digits with `Intl` would delay the first paint. */
export const plural = (count = 0, word = "") => `${String(count).replace(/\B(?=(\d{3})+$)/g, ",")} ${word}${count === 1 ? "" : "s"}`;

/** A message of the daemon as a sentence. What begins with a name such as `server.listen` keeps its letters. */
export const sentence = (text = "") => `${text.replace(/^[a-z](?=[a-z]*[ ,])/, (letter) => letter.toUpperCase())}${/[.!?…:]$/.test(text) ? "" : "."}`;

/** A change of files in a sentence. @param {Api.ChangeTotals} totals */
export const totalsText = ({ files, added, removed }) => `${plural(files, "file")}, ${plural(added, "line")} added, ${removed} removed`;

/** @param {{ name: string }[]} [attachments] */
export const namesOf = (attachments = []) => attachments.map(({ name }) => name).join(", ");

/** The session that an address `/s/<id>` names. */
export const sessionOfPath = (pathname = "") => attempt(() => decodeURIComponent(/^\/s\/([^/]+)\/?$/.exec(pathname)?.[1] ?? "")) ?? "";

/** The title of the window: how many requests are pending, turns failed and finished unseen; then the place. */
export const windowTitle = (waiting = 0, place = "", failed = 0, finished = 0) =>
	`${waiting ? `(${waiting}) ` : ""}${failed ? `✕${failed} ` : ""}${finished ? `●${finished} ` : ""}${place ? `${place} · ` : ""}Convoke`;

/** Lines above which a text is collapsed, lines that are then shown, and the maximum of characters. */
const FOLD_ABOVE = 24;
const SHOWN = 12;
const CHARACTERS_MAX = 6000;

/** The beginning of a long text, and how much is hidden. */
export function fold(text = "") {
	const lines = text.replace(/\n$/, "").split("\n");
	const shown = lines.length > FOLD_ABOVE ? lines.slice(0, SHOWN).join("\n") : text;
	if (shown.length > CHARACTERS_MAX) {
		return { shown: text.slice(0, CHARACTERS_MAX / 2), left: plural(text.length - CHARACTERS_MAX / 2, "more character") };
	}
	return { shown, left: shown === text ? "" : plural(lines.length - SHOWN, "more line") };
}

/** The approximate number of lines of a text, at ninety characters per line. */
export const lineCount = (text = "") => text.split("\n").reduce((sum, line) => sum + Math.ceil((line.length + 1) / 90), 0);

/** A piece of Markdown as people read it, without its marks. */
export const unmarked = (text = "") => text.replace(/!?\[([^\]\n]*)\]\([^)\s]*\)/g, "$1").replace(/(^|\n)[ \t]*(?:#{1,6}|>|[-*+])[ \t]+/g, "$1").replace(/`+|\*{2,}|~~/g, "").replace(/(^|[\s(])\*(?=\S)|(\S)\*(?=[\s).,;:!?]|$)/g, "$1$2");

/** The control pictures of Unicode are in the order of the characters that they show. */
const picture = (character = "") => String.fromCharCode(character.charCodeAt(0) + 0x2400);

/** Code as it is: control characters are visible, and so are those that would show the text around them in another order. Every character stays one character. */
export const visible = (text = "") => text.replace(/[\u0000-\u0008\u000b\u000c\u000e-\u001f]/g, picture).replace(/[\u007f-\u009f\u061c\u200e\u200f\u202a-\u202e\u2066-\u2069]/g, "\ufffd");

/** The name of a file in one line. */
export const visibleName = (text = "") => visible(text).replace(/[\t\n\r]/g, picture);

/** Removes terminal escape sequences. */
export const plain = (text = "") =>
	text.replace(/\u001b\[[0-9;?]*[ -/]*[@-~]|\u001b\][^\u0007\u001b]*(?:\u0007|\u001b\\)/g, "").replace(/\r\n?/g, "\n");
