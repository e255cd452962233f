// Lists of files: in a dialog, and folded beside other things.

import { plural, visibleName } from "../lib/words.js";
import { fill, h, icon, setText } from "./dom.js";

/** Files that are listed before the rest is counted. */
const LISTED = 12;

/** Paths, each with its note; a long list is cut. @param {[path: string, words?: string][]} files */
export const pathList = (files) => h("ul.paths",
	...files.slice(0, LISTED).map(([path, words]) => h("li", h("code", visibleName(path)), words && h("span.muted", words))),
	files.length > LISTED && h("li.muted", `and ${plural(files.length - LISTED, "other file")}`));

/** Files that a folded list shows before the rest is counted. */
const FOLDED = 100;

/** A folded list of files, which stays open when its files change. @param {string} about */
export function makeFoldedPaths(about) {
	const title = h("span");
	const list = h("ul.paths");
	return {
		element: h("details.folded-paths", { hidden: true }, h("summary", icon("info"), title, icon("chevron")), h("p.muted", about), list),
		/** Shows the first of `count` files. @param {string} words @param {[path: string, words?: string][]} files */
		show(words, files, count = files.length) {
			/** @type {HTMLElement} */ (list.parentElement).hidden = count === 0;
			setText(title, words);
			const shown = files.slice(0, FOLDED);
			fill(list, ...shown.map(([path, note]) => h("li", h("code", visibleName(path)), note && h("span.muted", ` ${note}`))), count > shown.length && h("li.muted", `and ${plural(count - shown.length, "other")}`));
		},
	};
}
