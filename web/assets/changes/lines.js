// The lines of one file's diff: in one column or two, with comments below the lines that they are about.

import { colouring, numberOf, placeOf, rowsOf, sideOf } from "../lib/changes.js";
import { colours, pieces } from "../lib/lexer.js";
import { visible } from "../lib/words.js";
import { h, iconButton } from "../ui/dom.js";
import { chunksOf } from "./chunks.js";

/** The height of a line, as in the style sheet, and the width of a character of it. */
const LINE = 20;
const CHARACTER = 7.6;

/** @param {LinesOptions} options @returns {Lines} */
export function makeLines({ path, hunks, split, watcher, width, comments, handlers, isReverted }) {
	const rows = rowsOf(hunks, split);
	const coloursOf = colouring(rows, (text) => colours(path, text));
	/** The elements below a row: comments, and the one that is being written. @type {Map<number, HTMLElement[]>} */
	let below = new Map();
	/** The comments that have a place here. @type {Set<HTMLElement>} */
	const places = new Set();
	let selected = /** @type {LineRange | null} */ (null);

	const cells = Math.max(20, Math.floor((width - (split ? 120 : 110)) / CHARACTER / (split ? 2 : 1)));
	const linesIn = (/** @type {DiffRow} */ { before, after }) => Math.max(...[before, after].map((line) => Math.ceil((line?.text.length ?? 1) / cells) || 1));
	const estimate = (from = 0, to = 0) => rows.slice(from, to).reduce((sum, row) => sum + (row.head ? LINE + 12 : LINE * linesIn(row)), 0);

	/** @param {DiffRow} row */
	function headRow({ head = "", hunk }) {
		return h("div.hunk", { "data-hunk": hunk }, h("span.title", { title: head }, head), isReverted(hunk) ? h("span.tag", "reverted") : handlers.may() && iconButton("undo", "Revert this change", () => handlers.revert(hunk), { title: "Revert this change in the file" }));
	}

	/** @param {ShownLine | undefined} line */
	function text(line, isOld = false) {
		if (!line) return h("span.src.blank");
		const found = pieces(line.text, coloursOf(line, isOld), line.marks);
		const nodes = /** @type {Child[]} */ ([]);
		let mark = /** @type {HTMLElement | null} */ (null);
		for (const { text, name, isMarked } of found) {
			const inner = name ? h(`span.${name}`, text) : text;
			if (!isMarked) mark = null;
			else if (!mark) nodes.push((mark = h("mark")));
			if (mark) mark.append(inner);
			else nodes.push(inner);
		}
		return h(`span.src.${line.kind}`, ...nodes, line.noNewline && h("span.no-newline", { title: "No line break at the end of the file" }, "⏎̸"));
	}

	/** The number of a line; pressing it begins a comment. @param {number | undefined} value */
	const number = (value, side = "") => h("span.no", value ? { "data-side": side, "data-n": value } : {});

	/** @param {number} at */
	function lineRow(at) {
		const { before, after } = rows[at];
		const line = after ?? before;
		const inside = split
			? [number(before?.before, "old"), text(before, true), number(after?.after, "new"), text(after)]
			: [number(before?.before, "old"), number(after?.after, "new"), text(line, !after)];
		const row = h(`div.row${split ? ".pair" : `.${line?.kind}`}`, { tabIndex: -1, "data-at": at }, ...inside);
		if (selected && isIn(at)) row.classList.add("selected");
		return row;
	}

	const isIn = (at = 0) => {
		if (!selected) return false;
		const number = numberOf(rows[at], selected.side);
		return number >= selected.from && number <= selected.to;
	};

	/** @param {number} from @param {number} to */
	const make = (from, to) => rows.slice(from, to).flatMap((row, offset) => {
		const at = from + offset;
		return [row.head ? headRow(row) : lineRow(at), ...(below.get(at) ?? [])];
	});
	const chunks = chunksOf(rows.length, make, estimate);
	const element = h("div.lines", { className: `lines ${split ? "split" : "unified"}` }, ...chunks.map((chunk) => chunk.element));
	for (const chunk of chunks) watcher.add(chunk);

	const chunkAt = (at = 0) => chunks.find(({ from, to }) => at >= from && at < to);
	/** The row of a line. @param {DiffSide} side */
	const rowOf = (side, number = 0) => rows.findIndex((row) => !row.head && numberOf(row, side) === number);

	/** The element of a row, which is filled where it is not. */
	function elementAt(at = 0) {
		const chunk = chunkAt(at);
		chunk?.fill();
		return /** @type {HTMLElement | null | undefined} */ (chunk?.element.querySelector(`[data-at="${at}"]`));
	}

	/** Shows the current comments. */
	function showComments() {
		const before = below;
		below = new Map();
		places.clear();
		let written = /** @type {Chunk | undefined} */ (undefined);
		for (const comment of comments()) {
			const line = placeOf(hunks, comment);
			const at = line ? rowOf(comment.side, line) : -1;
			if (at < 0) continue;
			below.set(at, [...(below.get(at) ?? []), comment.element]);
			places.add(comment.element);
			if (comment.form) written = chunkAt(at);
		}
		// A comment may be written while the agent works: unchanged rows are left alone.
		const isOther = (at = 0) => (before.get(at) ?? []).length !== (below.get(at) ?? []).length || below.get(at)?.some((one, place) => one !== before.get(at)?.[place]);
		const changed = new Set([...before.keys(), ...below.keys()].filter(isOther).map(chunkAt));
		for (const chunk of changed) chunk?.again();
		// What is being written is on the page, also when it is far from the window.
		written?.fill();
	}
	showComments();

	/** @param {LineRange | null} next */
	function select(next) {
		selected = next;
		for (const row of /** @type {NodeListOf<HTMLElement>} */ (element.querySelectorAll(".row"))) row.classList.toggle("selected", isIn(Number(row.dataset.at)));
		return selected;
	}

	return {
		element,
		places,
		showComments,
		select,
		get selected() { return selected; },
		rowAt: (target) => {
			const row = target.closest(".row");
			return row && element.contains(row) ? Number(/** @type {HTMLElement} */ (row).dataset.at) : -1;
		},
		sideAt(at, target) {
			const cell = /** @type {HTMLElement | null} */ (target?.closest?.(".no, .src"));
			const index = cell ? [...(cell.parentElement?.children ?? [])].indexOf(cell) : -1;
			const { before, after } = rows[at];
			if (split && index >= 0) return index < 2 ? (before ? "old" : "new") : after ? "new" : "old";
			return sideOf(rows[at]);
		},
		rowOf,
		numberAt: (at, side) => numberOf(rows[at], side),
		hunkAt: (at) => rows[at].hunk,
		/** Puts the focus on a row, or on the next one in a direction that is a line. */
		focus(at, step = 1) {
			let to = at;
			while (rows[to]?.head) to += step;
			const found = rows[to] && elementAt(to);
			if (!found) return -1;
			found.focus({ preventScroll: true });
			found.scrollIntoView({ block: "nearest" });
			const { before, after } = rows[to];
			const kind = before && after && before === after ? "" : after && before ? ", changed" : after ? ", added" : ", removed";
			found.role = "group";
			found.ariaLabel = visible(`Line ${after?.after ?? before?.before}${kind}: ${(after ?? before)?.text}`);
			return to;
		},
		/** Rows on which hunks begin. */
		heads: rows.flatMap(({ head }, at) => (head ? [at] : [])),
		drop: () => chunks.forEach(watcher.drop),
	};
}
