// Choosing lines of a diff: with the pointer on their numbers, or with the keyboard.

import { isTyping } from "../lib/keys.js";
import { on } from "../ui/dom.js";

/** @param {HTMLElement} scroller @param {PointingOptions} options */
export function makePointing(scroller, { fileAt, files, begin, may, isWriting, viewed }) {
	/** Where the range began. */
	let anchor = /** @type {{ file: FileView, side: DiffSide, number: number, hunk: number } | null} */ (null);

	/** Chooses from the anchor to a row. */
	function extend(at = 0) {
		const { lines } = anchor?.file ?? {};
		if (!anchor || !lines || lines.hunkAt(at) !== anchor.hunk) return;
		const number = lines.numberAt(at, anchor.side);
		if (number) lines.select({ side: anchor.side, from: Math.min(anchor.number, number), to: Math.max(anchor.number, number) });
	}

	/** @param {FileView} file @param {Element | null} target */
	function start(file, at = 0, target) {
		const { lines } = file;
		if (!lines) return;
		if (anchor && anchor.file !== file) anchor.file.lines?.select(null);
		const side = lines.sideAt(at, target);
		anchor = { file, side, number: lines.numberAt(at, side), hunk: lines.hunkAt(at) };
		extend(at);
	}

	on(scroller, "pointerdown", (down) => {
		const cell = down.target.closest(".no[data-n]");
		const file = cell ? fileAt(down.target) : undefined;
		const { lines } = file ?? {};
		if (!cell || !file || !lines || down.button !== 0 || isWriting() || !may()) return;
		const at = lines.rowAt(down.target);
		if (down.shiftKey && anchor?.file === file) extend(at);
		else start(file, at, down.target);
		// The text between must not be selected by the same movement.
		down.preventDefault();
		const release = new AbortController();
		const end = () => {
			release.abort();
			const range = file.lines?.selected;
			if (range) begin(file.path, range);
		};
		on(scroller, "pointermove", (move) => {
			const under = document.elementFromPoint(move.clientX, move.clientY);
			const to = under ? lines.rowAt(under) : -1;
			if (to >= 0) extend(to);
		}, release);
		addEventListener("pointerup", end, release);
		// A finger that scrolls chooses nothing.
		addEventListener("pointercancel", () => (release.abort(), lines.select(null)), release);
	});

	/** The next place of a kind in all files, from the one with the focus. @param {1 | -1} step */
	function nextHunk(step) {
		const all = files();
		const target = /** @type {HTMLElement} */ (document.activeElement);
		const file = fileAt(target);
		const at = file?.lines ? file.lines.rowAt(target) : -1;
		let index = file ? all.indexOf(file) : -1;
		const heads = file?.lines?.heads ?? [];
		const own = step > 0 ? heads.find((head) => head > at) : heads.findLast((head) => head < at - 1);
		if (file && own !== undefined) return file.lines?.focus(own + 1);
		for (index += step; index >= 0 && index < all.length; index += step) {
			const { lines } = all[index];
			if (!lines || !all[index].isOpen) continue;
			return lines.focus((step > 0 ? lines.heads[0] : /** @type {number} */ (lines.heads.at(-1))) + 1);
		}
		return undefined;
	}

	/** @param {1 | -1} step */
	function nextFile(step) {
		const all = files();
		const file = fileAt(/** @type {HTMLElement} */ (document.activeElement));
		const next = all[file ? all.indexOf(file) + step : 0];
		next?.element.scrollIntoView({ block: "start" });
		next?.focus();
	}

	/** The row from which a key moves: the one with the focus, else the first on screen. @param {FileView} file @param {HTMLElement} target */
	function rowFrom(file, target) {
		const { lines } = file;
		const at = lines?.rowAt(target) ?? -1;
		if (at >= 0 || !lines) return at;
		const { left, top } = scroller.getBoundingClientRect();
		const seen = document.elementFromPoint(left + 80, Math.max(file.body.getBoundingClientRect().top, top + 44) + 30);
		return (seen ? lines.rowAt(seen) : -1) - 1;
	}

	on(scroller, "keydown", (event) => {
		const file = fileAt(event.target);
		if (isTyping(event.target) || event.altKey || event.ctrlKey || event.metaKey) return;
		const isLine = event.target.matches(".row");
		const inLines = file?.lines && (isLine || event.target === file.body);
		const step = /** @type {1 | -1 | undefined} */ ({ ArrowDown: 1, ArrowUp: -1 }[event.key]);
		const key = event.key.toLowerCase();
		if (step && inLines && file.lines) {
			const from = rowFrom(file, event.target);
			if (event.shiftKey && !anchor && isLine) start(file, from, null);
			const to = file.lines.focus(Math.max(0, from + step), step);
			if (to < 0) return;
			if (event.shiftKey && anchor) extend(to);
			else clear();
		} else if (isLine && file?.lines && may() && (event.key === "Enter" || key === "c")) {
			const at = file.lines.rowAt(event.target);
			if (!file.lines.selected) start(file, at, null);
			if (file.lines.selected) begin(file.path, file.lines.selected);
		} else if (key === "j" || key === "k") nextFile(key === "j" ? 1 : -1);
		else if (key === "n" || key === "p") nextHunk(key === "n" ? 1 : -1);
		else if (key === "v" && file) {
			viewed(file.path);
			file.focus();
		} else return;
		event.preventDefault();
		event.stopPropagation();
	});

	function clear() {
		const { lines } = anchor?.file ?? {};
		const had = Boolean(lines?.selected);
		lines?.select(null);
		anchor = null;
		return had;
	}

	return {
		/** Clears a selection; returns whether there was one. */
		escape: () => (isWriting() ? true : clear()),
	};
}
