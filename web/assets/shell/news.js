// Notifies in the window itself: its title, its icon, the counts in the bar, and notifications.

import { groupsOf, iconFor } from "../lib/attention.js";
import { arrived } from "../lib/store.js";
import { windowTitle } from "../lib/words.js";
import { part, setText } from "../ui/dom.js";
import { announce } from "../ui/parts.js";
import { notify } from "./notify.js";

/** @param {Store} store @param {(uid: string) => void} onopen @returns {News} */
export function makeNews(store, onopen) {
	const icon = /** @type {HTMLLinkElement} */ (part(document, "link[rel=icon]"));
	let asked = groupsOf(store).needsYou;
	/** Sessions whose end was announced, or was known when the page was opened. */
	let told = /** @type {Set<string>} */ (new Set());
	let isNews = false;

	return {
		paintTitle(place) {
			const { needsYou, failed, finished } = groupsOf(store);
			const title = windowTitle(needsYou.length, place, failed.length, finished.length);
			if (document.title !== title) document.title = title;
			const address = iconFor(needsYou.length ? "needs_you" : failed.length ? "failed" : finished.length ? "finished" : "");
			if (icon.getAttribute("href") !== address) icon.setAttribute("href", address);
			for (const count of /** @type {NodeListOf<HTMLElement>} */ (document.querySelectorAll(".count"))) {
				count.hidden = needsYou.length === 0;
				setText(count, String(needsYou.length));
			}
		},
		tell() {
			const { needsYou, failed, finished } = groupsOf(store);
			const fresh = arrived(asked, needsYou);
			asked = needsYou;
			const over = [...failed, ...finished];
			const news = over.filter(({ uid }) => !told.has(uid));
			told = new Set(over.map(({ uid }) => uid));
			// Requests that existed when the page was opened are not announced.
			if (isNews && fresh.length) announce(`${fresh[0].title}: needs your answer.`);
			if (isNews) {
				for (const item of fresh) notify(item.title, [item.agent, item.project].filter(Boolean).join(" · "), item.id, () => onopen(store.uidOf(item)));
				for (const { uid, title, attention, lastLine } of news) notify(`${attention === "failed" ? "Failed" : "Finished"}: ${title}`, lastLine ?? "", uid, () => onopen(uid));
			}
			isNews ||= store.listed.size > 0;
		},
	};
}
