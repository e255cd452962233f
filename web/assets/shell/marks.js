// The mark of a session: its state in shape and colour, and in words for screen readers.

import { markOf, MARKS } from "../lib/attention.js";
import { h } from "../ui/dom.js";

export const makeMark = () => h("span.dot", { role: "img" });

/** @param {HTMLElement} dot @param {Mark | undefined} mark */
export function paintMark(dot, mark = "idle") {
	if (dot.dataset.mark === mark) return;
	dot.dataset.mark = mark;
	dot.ariaLabel = dot.title = MARKS[mark];
}

/** @param {HTMLElement} dot @param {Session | undefined} session */
export const paintMarkOf = (dot, session) => paintMark(dot, session && markOf(session));
