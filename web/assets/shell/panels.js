// The panels: one per open tab, created when the tab is first shown. A session is a frame, a place an element.

import { h } from "../ui/dom.js";

/** Panels that stay loaded; the least recently shown is evicted first, and its draft is kept. */
const ALIVE_MAX = 8;

/** @param {HTMLElement} parent @param {(uid: string) => HTMLElement | null} placeOf @returns {Panels} */
export function makePanels(parent, placeOf) {
	const panels = /** @type {Map<string, HTMLElement>} */ (new Map());
	/** The message at which a session is to be opened. */
	const places = /** @type {Map<string, number>} */ (new Map());
	/** Sessions whose changes are to be shown once they are loaded. */
	const withChanges = /** @type {Set<string>} */ (new Set());
	/** Sessions whose pages have answered. */
	const loaded = /** @type {Set<string>} */ (new Set());
	let wanted = "";
	let before = document.activeElement;
	const frameOf = (uid = "") => /** @type {HTMLIFrameElement | null | undefined} */ (panels.get(uid)?.querySelector(":scope > iframe"));
	const addressOf = (uid = "") => {
		const at = places.get(uid);
		places.delete(uid);
		return `/s/${encodeURIComponent(uid)}${at ? `?at=${at}` : ""}`;
	};
	const post = (uid = "", convoke = "", fields = {}) => frameOf(uid)?.contentWindow?.postMessage({ convoke, ...fields }, location.origin);

	return {
		show({ tabs, active, recent }) {
			for (const [uid, panel] of panels) {
				if (recent.slice(0, ALIVE_MAX).includes(uid)) continue;
				panel.remove();
				panels.delete(uid);
				loaded.delete(uid);
			}
			if (active && !panels.has(active)) {
				const inside = placeOf(active) ?? h("iframe", { src: addressOf(active) });
				const panel = h("div.panel", { role: "tabpanel", id: `panel-${active}`, "aria-labelledby": `tab-${active}` }, inside);
				panels.set(active, panel);
				parent.append(panel);
			}
			for (const [uid, panel] of panels) {
				panel.hidden = uid !== active;
				const frame = frameOf(uid);
				if (frame) frame.title = tabs.find((tab) => tab.uid === uid)?.title ?? "";
			}
			// What is read only on screen catches up.
			document.dispatchEvent(new Event("tab-shown"));
		},
		jump(uid, at) {
			if (loaded.has(uid)) post(uid, "at", { at });
			else if (!panels.has(uid)) places.set(uid, at);
			else /** @type {HTMLIFrameElement} */ (frameOf(uid)).src = `/s/${encodeURIComponent(uid)}?at=${at}`;
		},
		write: (uid, text) => post(uid, "write", { text }),
		changes(uid, wants) {
			if (wants && !loaded.has(uid)) withChanges.add(uid);
			else post(uid, "changes", { wants });
		},
		finish: (uid) => post(uid, "finish"),
		request: (uid) => post(uid, "request"),
		focus(uid) {
			wanted = uid;
			before = document.activeElement;
			const place = /** @type {any} */ (panels.get(uid)?.firstElementChild);
			// Applies pending styles: a frame that was hidden or behind a dialog takes no focus before.
			place?.getBoundingClientRect();
			if (place?.focusFirst) place.focusFirst();
			else post(uid, "focus");
		},
		ready(uid) {
			loaded.add(uid);
			if (withChanges.delete(uid)) post(uid, "changes", { wants: true });
			// Do not steal the focus if it moved meanwhile.
			const here = document.activeElement;
			if (uid === wanted && (here === before || here === document.body)) post(uid, "focus");
			wanted = "";
		},
		receive(frame) {
			for (const panel of panels.values()) /** @type {any} */ (panel.firstElementChild)?.receive?.(frame);
		},
		sessionOf: (source) => [...panels.keys()].find((uid) => frameOf(uid)?.contentWindow === source),
	};
}
