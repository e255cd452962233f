// The portlets: one frame for each open tab, made when it is first looked at.

import { h } from "../ui/dom.js";

/** Frames that stay alive; the one that was not looked at for the longest goes first, and loses nothing. */
const ALIVE_MAX = 8;

/** @param {HTMLElement} parent @returns {Panels} */
export function makePanels(parent) {
	const frames = /** @type {Map<string, HTMLIFrameElement>} */ (new Map());
	let wanted = "";
	const tell = (uid = "") => frames.get(uid)?.contentWindow?.postMessage({ convoke: "focus" }, location.origin);
	return {
		show({ tabs, active, recent }) {
			for (const [uid, frame] of frames) {
				if (recent.slice(0, ALIVE_MAX).includes(uid)) continue;
				frame.parentElement?.remove();
				frames.delete(uid);
			}
			if (active && !frames.has(active)) {
				const frame = h("iframe", { src: `/s/${encodeURIComponent(active)}` });
				frames.set(active, frame);
				parent.append(h("div.panel", { role: "tabpanel", id: `panel-${active}`, "aria-labelledby": `tab-${active}` }, frame));
			}
			for (const [uid, frame] of frames) {
				/** @type {HTMLElement} */ (frame.parentElement).hidden = uid !== active;
				frame.title = tabs.find((tab) => tab.uid === uid)?.title ?? "";
			}
		},
		focus: (uid) => tell((wanted = uid)),
		ready(uid) {
			if (uid === wanted) tell(uid);
			wanted = "";
		},
		sessionOf: (source) => [...frames.keys()].find((uid) => frames.get(uid)?.contentWindow === source),
	};
}
