// Code on the page: commands, values, and changes line by line.

import { diff } from "../lib/diff.js";
import { keep, kept } from "../lib/kept.js";
import { colours, pieces } from "../lib/lexer.js";
import { fileLink, shortPath } from "../lib/paths.js";
import { plural, visibleName } from "../lib/words.js";
import { fill, h, icon } from "./dom.js";

/** @param {Piece[]} all @returns {Child[]} */
const painted = (all) => all.map(({ text, name, isMarked }) => {
	const inner = name ? h(`span.${name}`, text) : text;
	return isMarked ? h("mark", inner) : inner;
});

/** Lines of a script that are cut into words; a longer one scrolls. */
const LINES_MAX = 2000;

/** A command. It wraps at blanks alone: a browser would also break it after every hyphen. */
export function commandView(text = "") {
	const lines = text.split("\n");
	const coloured = colours("command.sh", text);
	const nodes = lines.flatMap((line, at) => {
		const end = at < lines.length - 1 ? "\n" : "";
		if (at >= LINES_MAX) return [line + end];
		const found = pieces(line, coloured[at], [...line.matchAll(/\S+/g)].map(({ index, 0: word }) => [index, index + word.length]));
		const words = /** @type {Child[]} */ ([]);
		let word = /** @type {HTMLElement | null} */ (null);
		for (const { text: piece, name, isMarked } of found) {
			const inner = name && isMarked ? h(`span.${name}`, piece) : piece;
			if (!isMarked) word = null;
			else if (!word) words.push((word = h("span.word")));
			if (word) word.append(inner);
			else words.push(inner);
		}
		return [...words, end];
	});
	return h("pre.command", { tabIndex: 0, role: "group", label: "Command" }, ...nodes);
}

/** A value as JSON. @param {any} value */
export function jsonView(value, label = "Arguments") {
	const text = typeof value === "string" ? value : (JSON.stringify(value, null, 2) ?? "");
	const coloured = typeof value === "string" ? [] : colours("value.json", text);
	const lines = text.split("\n");
	return h("pre.value", { tabIndex: 0, role: "group", label }, ...lines.flatMap((line, at) => [...painted(pieces(line, coloured[at])), at < lines.length - 1 ? "\n" : ""]));
}

/** A path, as a link to the editor where there is one. @param {string} path @param {Place} place */
export function pathView(path, { root = "", editor = "" }) {
	const href = fileLink(editor, root, path);
	const name = visibleName(shortPath(path, root));
	return href ? h("a.path", { href, target: "_top", title: `Open ${path}` }, name) : h("span.path", { title: path }, name);
}

/** Lines of a diff that are shown before the rest is collapsed. */
const SHOWN = 40;

/** All diffs on the page share one setting. */
const choice = new EventTarget();
/** Two columns need room for about fifty characters each. */
const room = matchMedia("(min-width: 940px)");
room.addEventListener("change", () => choice.dispatchEvent(new Event("change")));
const wantsSplit = () => kept("diff") === "split";

/** Numbers of added and removed lines. */
export const counts = (added = 0, removed = 0) => [h("span.plus", `+${added}`), h("span.minus", `−${removed}`)];

/** Changes to a file. @param {Api.Diff} change @param {Place} place */
export function diffView({ path, oldText, newText }, place) {
	const lines = diff.lines(oldText, newText);
	const hunks = diff.hunks(lines);
	const total = hunks.flat().length;
	let limit = total > SHOWN ? SHOWN : total;
	let coloured = /** @type {{before: Coloured[][], after: Coloured[][]} | null} */ (null);
	const body = h("div.diff-body", { tabIndex: 0, role: "group", label: `Changes to ${path}` });
	const toggle = h("button.icon-button", { onclick: () => (keep("diff", wantsSplit() ? "unified" : "split"), choice.dispatchEvent(new Event("change"))) });
	const paint = () => {
		coloured ??= { before: colours(path, oldText ?? ""), after: colours(path, newText) };
		const canSplit = room.matches && place.wide === true && typeof oldText === "string";
		const split = canSplit && wantsSplit();
		toggle.hidden = !canSplit;
		fill(toggle, icon(split ? "rows" : "columns"));
		toggle.ariaLabel = toggle.title = split ? "Show in one column" : "Show side by side";
		let left = limit;
		const rows = hunks.flatMap((hunk, at) => {
			const shown = hunk.slice(0, left);
			left -= shown.length;
			return [at > 0 && shown.length > 0 && h("tr.gap", h("td", { colSpan: 4 }, "⋯")), ...rowsOf(shown, coloured, split)];
		});
		fill(body, h(`table.${split ? "split" : "unified"}`, h("tbody", ...rows)), limit < total && h("button.link.unfold", { onclick: () => ((limit = total), paint(), body.focus()) }, `Show all ${plural(total, "line")}`));
	};
	paint();
	const { added, removed } = diff.count(lines);
	const head = h("div.diff-head", pathView(path, place), typeof oldText !== "string" && h("span.tag", "new"), ...counts(added, removed), toggle);
	const element = h("div.diff", head, total ? body : h("p.muted.none", "No difference."));
	choice.addEventListener("change", () => element.isConnected && paint());
	return element;
}

/** The rows of a hunk, in one column or two. @param {DiffLine[]} lines @param {any} coloured */
function rowsOf(lines, coloured, split = false) {
	const number = (/** @type {number | false | undefined} */ value) => h("td.number", value ? String(value) : "");
	const marks = /** @type {Map<any, Span[]>} */ (new Map());
	const pairs = diff.pairs(lines);
	for (const { before, after } of pairs) {
		const parts = before && after && before !== after ? diff.changedParts(before.text, after.text) : null;
		if (parts) marks.set(before, parts.before).set(after, parts.after);
	}
	const cell = (/** @type {DiffLine | undefined} */ line, isOld = false) => {
		if (!line) return h("td.blank");
		const found = isOld ? coloured.before[line.before - 1] : coloured.after[line.after - 1];
		return h(`td.text.${line.kind}`, ...painted(pieces(line.text, found, marks.get(line))));
	};
	if (split) return pairs.map(({ before, after }) => h("tr", number(before?.before), cell(before, true), number(after?.after), cell(after)));
	return lines.map((line) => h("tr", number(line.kind !== "added" && line.before), number(line.kind !== "removed" && line.after), cell(line, line.kind === "removed")));
}
