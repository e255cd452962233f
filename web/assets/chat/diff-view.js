// A change to a file, unified or side by side.

import { diff } from "../lib/diff.js";
import { plural } from "../lib/words.js";
import { fill, h } from "../ui/dom.js";
import { icon } from "../ui/icons.js";
import { keep, kept } from "../ui/kept.js";

/** Lines of a diff that are shown before it is folded. */
const SHOWN = 40;

/** Every diff on the page follows the same choice. */
const choice = new EventTarget();
const isSplit = () => kept("diff") === "split";

/** @type {DiffViews} */
export const diffs = {
	shortPath: (path, root) => (root && path.startsWith(`${root}/`) ? path.slice(root.length + 1) : path),
	counts: (added, removed) => [h("span.plus", `+${added}`), h("span.minus", `−${removed}`)],
	of({ path, oldText, newText }, root) {
		const lines = diff.lines(oldText, newText);
		const hunks = diff.hunks(lines);
		const total = hunks.flat().length;
		let limit = total > SHOWN ? SHOWN : total;
		const body = h("div.diff-body", { tabIndex: 0, role: "region", label: `Changes to ${path}` });
		const toggle = h("button.icon-button", { onclick: () => (keep("diff", isSplit() ? "unified" : "split"), choice.dispatchEvent(new Event("change"))) });
		const paint = () => {
			const split = isSplit();
			fill(toggle, icon(split ? "rows" : "columns"));
			toggle.ariaLabel = toggle.title = split ? "Show in one column" : "Show side by side";
			let room = limit;
			const rows = hunks.flatMap((hunk, at) => {
				const shown = hunk.slice(0, room);
				room -= shown.length;
				return [at > 0 && shown.length > 0 && h("tr.gap", h("td", { colSpan: 4 }, "⋯")), ...(split ? diffs.split(shown) : diffs.unified(shown))];
			});
			fill(body, h(`table.${split ? "split" : "unified"}`, h("tbody", ...rows)), limit < total && h("button.link.unfold", { onclick: () => ((limit = total), paint()) }, `Show all ${plural(total, "line")}`));
		};
		paint();
		const { added, removed } = diff.count(lines);
		const head = h("div.diff-head", h("span.path", { title: path }, diffs.shortPath(path, root)), typeof oldText !== "string" && h("span.tag", "new"), ...diffs.counts(added, removed), toggle);
		const element = h("div.diff", head, total ? body : h("p.muted.none", "No difference."));
		choice.addEventListener("change", () => element.isConnected && paint());
		return element;
	},
	unified(lines) {
		const parts = /** @type {Map<any, Span>} */ (new Map());
		for (const pair of diff.pairs(lines)) {
			const part = diffs.inner(pair);
			if (part) parts.set(pair.before, part.before).set(pair.after, part.after);
		}
		return lines.map((line) => h("tr", diffs.number(line.kind !== "added" && line.before), diffs.number(line.kind !== "removed" && line.after), diffs.words(line, parts.get(line))));
	},
	split: (lines) => diff.pairs(lines).map((pair) => {
		const { before, after } = pair;
		const part = diffs.inner(pair);
		return h("tr", diffs.number(before?.before), diffs.words(before, part?.before), diffs.number(after?.after), diffs.words(after, part?.after));
	}),
	number: (value) => h("td.number", value ? String(value) : ""),
	words(line, [from, to] = [0, 0]) {
		if (!line) return h("td.blank");
		const { kind, text } = line;
		return h(`td.text.${kind}`, text.slice(0, from), to > from && h("mark", text.slice(from, to)), text.slice(to));
	},
	inner: ({ before, after }) => (before && after && before !== after ? diff.changedPart(before.text, after.text) : null),
};
