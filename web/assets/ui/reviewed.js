// Comments on lines in a message: path, lines, quotation and text.

import { flush, linesText } from "../lib/changes.js";
import { colours, pieces } from "../lib/lexer.js";
import { plural, visibleName } from "../lib/words.js";
import { fill, h, icon } from "./dom.js";

/** Lines of a quotation that are shown. */
const QUOTED = 8;

/** @param {HTMLElement} element @param {ReviewComment[]} review */
export function showReview(element, review) {
	fill(element, h("div.reviewed-head", icon("comment"), `Review: ${plural(review.length, "comment")}`), h("ul", ...review.map((comment) => {
		const lines = flush(comment.quote.split("\n"));
		const coloured = colours(comment.path, lines.join("\n"));
		const shown = lines.slice(0, QUOTED).flatMap((line, at) => [...pieces(line, coloured[at]).map(({ text, name }) => (name ? h(`span.${name}`, text) : text)), "\n"]);
		return h("li", h("div.reviewed-place", h("code", visibleName(comment.path)), h("span.muted", linesText(comment))),
			comment.quote.trim() !== "" && h(`pre.${comment.side}`, { tabIndex: 0, role: "group", label: "Commented lines" }, ...shown, lines.length > QUOTED && h("span.muted", `and ${plural(lines.length - QUOTED, "more line")}`)),
			h("p", comment.comment));
	})));
}
