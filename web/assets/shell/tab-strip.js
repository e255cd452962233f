// <convoke-tabs>: Home, then the open sessions and places, ordered by dragging or with the keyboard.

import { component, h, icon, keyed, on, part, setText } from "../ui/dom.js";
import { makeMark, paintMarkOf } from "./marks.js";

/** A press becomes a drag when the pointer has moved this far. */
const DRAG_FROM = 5;

/** Home in the list of tabs; it is neither closed nor moved. */
const HOME = { uid: "", title: "Home", projectId: "" };

/** @type {(handlers: TabStripHandlers) => TabStrip} */
export const makeTabStrip = component("convoke-tabs", (element, handlers) => {
	const list = h("div.tabs", { role: "tablist", label: "Open tabs" });
	let state = /** @type {TabsState | null} */ (null);

	/** @param {Tab} tab */
	function make({ uid, title }) {
		if (!uid) return h("div.tab.home", { role: "tab", id: "tab-home", "aria-controls": "home", title: "Home (Alt+0)", onclick: () => handlers.activate(null, "press") }, icon("home"), h("span.title", title));
		// The cross is for pointers only: with the keyboard Delete closes, and inside a tab there may be no button.
		const tab = h("div.tab", { role: "tab", id: `tab-${uid}`, "aria-controls": `panel-${uid}` }, makeMark(), h("span.title"), h("span.tab-close", { ariaHidden: "true", title: "Close (Delete)" }, icon("close")));
		on(tab, "click", ({ target }) => (target.closest(".tab-close") ? handlers.close(uid) : handlers.activate(uid, "press")));
		on(tab, "auxclick", ({ button }) => button === 1 && handlers.close(uid));
		on(tab, "pointerdown", (event) => event.button === 0 && !event.target.closest(".tab-close") && drag(event, tab));
		return tab;
	}

	/** @param {PointerEvent} down @param {HTMLElement} tab */
	function drag(down, tab) {
		const release = new AbortController();
		on(tab, "pointermove", ({ clientX }) => {
			if (!tab.matches(".dragged") && Math.abs(clientX - down.clientX) < DRAG_FROM) return;
			// Captured, so that the frames below do not receive the pointer events.
			tab.setPointerCapture(down.pointerId);
			tab.classList.add("dragged");
			const others = [...list.children].filter((other) => other !== tab && !other.matches(".home"));
			const to = others.filter((other) => other.getBoundingClientRect().left + other.clientWidth / 2 < clientX).length;
			if (list.children[to + 1] !== tab) handlers.move(tab.dataset.key ?? "", to);
		}, release);
		for (const event of ["pointerup", "pointercancel"]) addEventListener(event, () => (tab.classList.remove("dragged"), release.abort()), release);
	}

	on(list, "keydown", (event) => {
		const all = [HOME, ...(state?.tabs ?? [])];
		const uid = event.target.dataset.key ?? "";
		const at = all.findIndex((tab) => tab.uid === uid);
		if (at < 0 || event.altKey || event.metaKey) return;
		const to = { ArrowRight: at + 1, ArrowLeft: at - 1, Home: 0, End: -1 }[event.key];
		const place = ((to ?? 0) + all.length) % all.length;
		if (to !== undefined && (event.ctrlKey || event.shiftKey)) handlers.move(uid, place - 1);
		else if (to !== undefined) {
			handlers.activate(all[place].uid || null, "walk");
			/** @type {HTMLElement} */ (list.children[place]).focus();
		} else if (event.key === "Delete") handlers.close(uid);
		else if (event.key === "Enter" || event.key === " ") handlers.activate(uid || null, "press");
		else return;
		event.preventDefault();
	});
	element.append(list);

	const activeTab = () => /** @type {HTMLElement | null} */ (list.querySelector("[aria-selected=true]"));
	const reveal = () => activeTab()?.scrollIntoView({ block: "nearest", inline: "nearest" });
	// The strip narrows when the sidebar closes, after the tab was opened from there.
	new ResizeObserver(reveal).observe(list);

	return {
		show(next, sessionOf) {
			const hasMoved = state?.active !== next.active;
			const hadFocus = list.contains(document.activeElement);
			state = next;
			keyed(list, [HOME, ...next.tabs], ({ uid }) => uid, make, (tab, { uid, title }) => {
				const isActive = (uid || null) === next.active;
				tab.ariaSelected = String(isActive);
				tab.tabIndex = isActive ? 0 : -1;
				if (!uid) return;
				const session = sessionOf(uid);
				tab.title = title;
				setText(part(tab, ".title"), title);
				paintMarkOf(part(tab, ".dot"), session);
				tab.classList.toggle("unseen", session?.unseen ?? false);
			});
			if (hasMoved) reveal();
			// After a tab was closed with the keyboard, focus the active one.
			if (hadFocus && document.activeElement === document.body) activeTab()?.focus();
		},
	};
});
