// A list of files in a dialog.

import { plural, visibleName } from "../lib/words.js";
import { h } from "./dom.js";

/** Files that are listed before the rest is counted. */
const LISTED = 12;

/** Paths, each with its note; a long list is cut. @param {[path: string, words?: string][]} files */
export const pathList = (files) => h("ul.paths",
	...files.slice(0, LISTED).map(([path, words]) => h("li", h("code", visibleName(path)), words && h("span.muted", words))),
	files.length > LISTED && h("li.muted", `and ${plural(files.length - LISTED, "other file")}`));
