// The mark of a session: its state in shape and colour, as text for screen readers; and its change totals.

import { markOf, MARKS } from "../lib/attention.js";
import { plural, tokens, totalsText } from "../lib/words.js";
import { fill, h } from "../ui/dom.js";

export const makeMark = () => h("span.dot", { role: "img" });

/** @param {HTMLElement} dot @param {Mark | undefined} mark */
export function paintMark(dot, mark = "idle") {
	if (dot.dataset.mark === mark) return;
	dot.dataset.mark = mark;
	dot.ariaLabel = dot.title = MARKS[mark];
}

/** @param {HTMLElement} dot @param {Session | undefined} session */
export const paintMarkOf = (dot, session) => paintMark(dot, session && markOf(session));

/** How many lines a session added and removed; on Home also in how many files. @param {HTMLElement} element @param {Session} session */
export function paintSums(element, { changes }, withFiles = false) {
	const wanted = changes?.files ? `${changes.files} ${changes.added} ${changes.removed}` : "";
	element.hidden = !wanted;
	if (!changes || element.dataset.sums === wanted) return;
	element.dataset.sums = wanted;
	element.title = totalsText(changes);
	fill(element, withFiles && h("span.muted", plural(changes.files, "file")), h("span.plus", `+${tokens(changes.added)}`), h("span.minus", `−${tokens(changes.removed)}`));
}
