// The portlets: one frame per open tab, created when the tab is first shown.

import { h } from "../ui/dom.js";

/** Frames that stay loaded; the least recently shown is evicted first, and its draft is kept. */
const ALIVE_MAX = 8;

/** @param {HTMLElement} parent @returns {Panels} */
export function makePanels(parent) {
	const frames = /** @type {Map<string, HTMLIFrameElement>} */ (new Map());
	let wanted = "";
	let before = document.activeElement;
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
		focus(uid) {
			wanted = uid;
			before = document.activeElement;
			tell(uid);
		},
		ready(uid) {
			// Do not steal the focus if it moved meanwhile.
			const here = document.activeElement;
			if (uid === wanted && (here === before || here === document.body)) tell(uid);
			wanted = "";
		},
		sessionOf: (source) => [...frames.keys()].find((uid) => frames.get(uid)?.contentWindow === source),
	};
}
