// <convoke-log>: the conversation. Follows the newest text until the reader scrolls away.

import { isTyping } from "../lib/keys.js";
import { component, h, iconButton, keyed, on } from "../ui/dom.js";
import { copyCode } from "../ui/markdown.js";
import { views } from "./views.js";

/** This close to the end counts as the end, and this close to the beginning loads older entries. */
const NEAR_END = 48;
const NEAR_BEGINNING = 1200;

/** @type {(options: LogOptions) => Log} */
export const makeLog = component("convoke-log", (element, options) => {
	const shown = /** @type {Map<string, View>} */ (new Map());
	const older = h("div.older", { hidden: true }, h("span.spinner"), "Loading earlier messages…");
	const entries = h("div");
	const pending = h("div");
	const column = h("div.column", older, entries, pending);
	const scroller = h("div.scroller", { tabIndex: 0, role: "region", label: "Conversation" }, column);
	const down = iconButton("down", "Newest message", () => (toEnd(), scroller.focus({ preventScroll: true })), { className: "to-end", hidden: true });
	let following = true;
	let [lastTop, lastHeight] = [0, 0];

	const make = (/** @type {SpokenEntry} */ entry) => {
		const view = views.of(entry, options);
		view.element.dataset.key = entry.entryId;
		view.element.tabIndex = -1;
		shown.set(entry.entryId, view);
		return view.element;
	};

	/** After a change of size: stay at the end, if the reader is there. */
	function settle() {
		if (following) scroller.scrollTop = scroller.scrollHeight;
		remember();
	}

	function remember() {
		// In a hidden tab nothing has a size.
		if (!scroller.clientHeight) return;
		lastTop = scroller.scrollTop;
		lastHeight = scroller.scrollHeight;
		down.hidden = following;
		if (nearBeginning()) options.onolder();
	}

	const nearBeginning = () => !older.hidden && scroller.scrollTop < NEAR_BEGINNING;

	function toEnd() {
		following = true;
		settle();
		options.onend();
	}

	on(scroller, "scroll", () => {
		const { scrollTop, scrollHeight, clientHeight } = scroller;
		const was = following;
		if (scrollHeight - scrollTop - clientHeight < NEAR_END) following = true;
		// Only scrolling towards the beginning stops following: growth at the end does not scroll, and a shrinking log is not a choice of the reader.
		else if (scrollTop < lastTop - 1 && scrollHeight >= lastHeight) following = false;
		remember();
		if (following && !was) options.onend();
	}, { passive: true });
	on(element, "click", copyCode);
	on(element, "keydown", (event) => {
		if (isTyping(event.target) || event.altKey || event.ctrlKey || event.metaKey) return;
		const step = { j: 1, k: -1, End: 0 }[event.key];
		if (step === undefined) return;
		event.preventDefault();
		if (!step) return toEnd();
		const all = /** @type {HTMLElement[]} */ ([...entries.children]).filter((entry) => entry.offsetHeight > 0);
		const at = all.indexOf(/** @type {any} */ (document.activeElement?.closest(".entry")));
		const next = all[at < 0 ? (step > 0 ? 0 : all.length - 1) : at + step];
		next?.focus({ preventScroll: true });
		next?.scrollIntoView({ block: "nearest" });
	});
	// Runs after layout and before paint, whatever changed the size.
	const watcher = new ResizeObserver(settle);
	watcher.observe(column);
	watcher.observe(scroller);
	element.append(scroller, down);

	/** @type {Omit<Log, keyof HTMLElement>} */
	const log = {
		get following() { return following; },
		get nearBeginning() { return nearBeginning(); },
		reset(all) {
			shown.clear();
			entries.replaceChildren(...all.map(make));
			toEnd();
		},
		show(all) {
			// Keep the visible entries in place when older ones are added or removed.
			const anchor = entries.lastElementChild;
			const before = anchor?.getBoundingClientRect().top ?? 0;
			keyed(entries, all, ({ entryId }) => entryId, make);
			const kept = new Set(all.map(({ entryId }) => entryId));
			for (const id of [...shown.keys()]) if (!kept.has(id)) shown.delete(id);
			if (anchor?.isConnected) scroller.scrollTop += anchor.getBoundingClientRect().top - before;
			remember();
		},
		add: (entry) => entries.append(make(entry)),
		put: (entry) => shown.get(entry.entryId)?.update(entry),
		extend: (chunk) => shown.get(chunk.entryId)?.append?.(chunk),
		pend: (elements) => pending.replaceChildren(...elements),
		setMore: (more) => void (older.hidden = !more),
		toEnd,
		tick: () => shown.forEach(({ tick }) => tick?.()),
	};
	return log;
});
