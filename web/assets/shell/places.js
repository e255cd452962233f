// Places: tabs that are not sessions. Their modules are loaded when they are first opened.

import { h } from "../ui/dom.js";
import { toastError } from "../ui/parts.js";

/** Every place by the id of its tab: title, icon, and address where it is also a page. @type {Record<string, PlaceKind>} */
export const PLACES = {
	"@teams": { title: "Teams", icon: "people", frame: "/teams" },
	"@archive": { title: "Archive", icon: "archive", load: () => import("./archive.js").then(({ makeArchive }) => makeArchive) },
	"@worktrees": { title: "Work trees", icon: "branch", load: () => import("./worktrees.js").then(({ makeWorktrees }) => makeWorktrees) },
	"@comparisons": { title: "Comparisons", icon: "compare", load: () => import("./comparisons.js").then(({ makeComparisons }) => makeComparisons) },
	"@settings": { title: "Settings", icon: "sliders", load: () => import("./settings.js").then(({ makeSettings }) => makeSettings) },
};

/** The element of a place; its contents follow when its module is loaded. @param {PlaceOptions} options */
export function makePlace(uid = "", options) {
	const kind = PLACES[uid];
	if (!kind) return null;
	if (kind.frame) return h("iframe", { src: kind.frame });
	let inside = /** @type {PlaceView | null} */ (null);
	let wantsFocus = false;
	const element = h("div.place-view", { tabIndex: -1 });
	kind.load?.().then((make) => {
		inside = make(options);
		element.append(inside);
		if (wantsFocus) inside.focusFirst();
	}, toastError);
	return Object.assign(element, {
		/** @param {Frame} frame */
		receive: (frame) => inside?.receive(frame),
		focusFirst: () => (inside ? inside.focusFirst() : (wantsFocus = true)),
	});
}
