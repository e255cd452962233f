// <convoke-log>: the conversation. Follows the newest text until the reader scrolls away.

import { isTyping } from "../lib/keys.js";
import { folds, related, rowsOf } from "../lib/rows.js";
import { component, h, icon, iconButton, keyed, on } from "../ui/dom.js";
import { copyCode } from "../ui/markdown.js";
import { makeActions } from "./actions.js";
import { makeRun } from "./run-view.js";
import { views } from "./views.js";

/** This close to the end counts as the end, and this close to the beginning loads older entries. */
const NEAR_END = 48;
const NEAR_BEGINNING = 1200;

/** @type {(options: LogOptions) => Log} */
export const makeLog = component("convoke-log", (element, options) => {
	const shown = /** @type {Map<string, View>} */ (new Map());
	/** The run of every call that folds. */
	const runs = /** @type {Map<string, Run>} */ (new Map());
	const actions = makeActions(options);
	const older = h("div.older", { hidden: true }, h("span.spinner"), "Loading earlier messages…");
	const entries = h("div");
	const pending = h("div");
	const column = h("div.column", older, entries, pending);
	const scroller = h("div.scroller", { tabIndex: 0, role: "region", label: "Conversation" }, column);
	const down = iconButton("down", "Newest message", () => (toEnd(), scroller.focus({ preventScroll: true })), { className: "to-end", hidden: true });
	const newest = h("button.button.newest", { hidden: true, onclick: () => options.onnewest() }, icon("down"), "Newest messages");
	let following = true;
	let [lastTop, lastHeight] = [0, 0];

	const make = (/** @type {SpokenEntry} */ entry) => {
		const view = views.of(entry, options);
		view.element.dataset.key = entry.entryId;
		view.element.tabIndex = -1;
		shown.set(entry.entryId, view);
		return view.element;
	};

	/** @param {SpokenEntry[]} row */
	function makeRow(row) {
		if (!folds(row[0])) return make(row[0]);
		const run = makeRun(make);
		run.element.tabIndex = -1;
		showRun(run, row);
		return run.element;
	}

	/** @param {Run} run @param {SpokenEntry[]} row */
	function showRun(run, row) {
		for (const { entryId } of row) runs.set(entryId, run);
		run.show(/** @type {ToolEntry[]} */ (row));
	}

	/** The key of a row: that of the run that has some of it already, so that a run stays when it grows at either end. @param {SpokenEntry[]} row */
	const keyOf = (row) => row.map(({ entryId }) => runs.get(entryId)?.element.dataset.key).find(Boolean) ?? (folds(row[0]) ? `run-${row[0].entryId}` : row[0].entryId);

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
		down.hidden = following || !newest.hidden;
		if (nearBeginning()) options.onolder();
	}

	const nearBeginning = () => !older.hidden && scroller.scrollTop < NEAR_BEGINNING;

	function toEnd() {
		following = true;
		settle();
		options.onend();
	}

	/** @param {HTMLElement} entry */
	function focus(entry, block = /** @type {ScrollLogicalPosition} */ ("nearest")) {
		entry.focus({ preventScroll: true });
		entry.scrollIntoView({ block });
	}

	/** Opens or closes an entry that folds. @param {HTMLElement} entry */
	function toggle(entry) {
		const run = [...runs.values()].find((known) => known.element === entry);
		const details = entry.querySelector("details");
		if (run) run.toggle();
		else if (details) details.open = !details.open;
		return Boolean(run ?? details);
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
	// Browsers also report `pointerover` when the layout moves below a resting pointer; that must not take the bar from the message with the focus.
	for (const event of /** @type {const} */ (["pointermove", "focusin"])) on(entries, event, ({ target }) => {
		const at = /** @type {HTMLElement | null} */ (target.closest(".user[data-key], .assistant[data-key]"));
		if (!at || at === actions.element.parentElement) return;
		const entry = options.entries().find(({ entryId }) => entryId === at.dataset.key);
		if (entry?.type === "user" || entry?.type === "assistant") actions.show(at, entry);
	});
	on(element, "keydown", (event) => {
		if (isTyping(event.target) || event.altKey || event.ctrlKey || event.metaKey) return;
		if (event.key === "Enter" && event.target.matches(".entry") && toggle(event.target)) return event.preventDefault();
		const step = { j: 1, k: -1, End: 0 }[event.key];
		if (step === undefined) return;
		event.preventDefault();
		if (!step) return toEnd();
		const all = /** @type {HTMLElement[]} */ ([...entries.querySelectorAll(".entry:not(.single)")]).filter((entry) => entry.offsetHeight > 0);
		const at = all.indexOf(/** @type {any} */ (document.activeElement?.closest(".entry")));
		const next = all[at < 0 ? (step > 0 ? 0 : all.length - 1) : at + step];
		if (next) focus(next);
	});
	// Runs after layout and before paint, whatever changed the size.
	const watcher = new ResizeObserver(settle);
	watcher.observe(column);
	watcher.observe(scroller);
	element.append(scroller, down, newest);

	/** Updates an entry, and those whose look depends on it. @param {SpokenEntry} entry */
	function put(entry) {
		// The kind of a call may arrive later than the call.
		if (folds(entry) !== runs.has(entry.entryId)) return log.show(options.entries());
		runs.get(entry.entryId)?.put(/** @type {ToolEntry} */ (entry));
		// The others first: an answered request passes the focus on to its call, which was hidden until now.
		for (const other of related(options.entries(), entry)) if (other) shown.get(other.entryId)?.update(other);
		shown.get(entry.entryId)?.update(entry);
	}

	/** @type {Omit<Log, keyof HTMLElement>} */
	const log = {
		get following() { return following && newest.hidden && scroller.clientHeight > 0; },
		get nearBeginning() { return nearBeginning(); },
		reset(all) {
			shown.clear();
			runs.clear();
			entries.replaceChildren();
			keyed(entries, rowsOf(all), keyOf, makeRow);
			toEnd();
		},
		show(all) {
			// Keep the visible entries in place when older ones are added or removed.
			const anchor = entries.lastElementChild;
			const before = anchor?.getBoundingClientRect().top ?? 0;
			keyed(entries, rowsOf(all), keyOf, makeRow, (_, row) => {
				const run = runs.get(row[0].entryId) ?? runs.get(row.at(-1)?.entryId ?? "");
				if (run) showRun(run, row);
			});
			const kept = new Set(all.map(({ entryId }) => entryId));
			for (const id of [...shown.keys()]) if (!kept.has(id)) shown.delete(id);
			for (const id of [...runs.keys()]) if (!kept.has(id)) runs.delete(id);
			// A page may have brought the call of a permission.
			for (const entry of all) if (entry.type === "permission") put(entry);
			if (anchor?.isConnected) scroller.scrollTop += anchor.getBoundingClientRect().top - before;
			remember();
		},
		add(entry) {
			const last = /** @type {HTMLElement | null} */ (entries.lastElementChild);
			const run = folds(entry) ? [...runs.values()].findLast((known) => known.element === last) : undefined;
			if (run) {
				runs.set(entry.entryId, run);
				run.add(/** @type {ToolEntry} */ (entry));
			} else {
				const key = keyOf([entry]);
				const made = makeRow([entry]);
				made.dataset.key = key;
				entries.append(made);
			}
			for (const other of related(options.entries(), entry)) if (other) shown.get(other.entryId)?.update(other);
		},
		put,
		extend: (chunk) => shown.get(chunk.entryId)?.append?.(chunk),
		pend: (elements) => pending.replaceChildren(...elements),
		setMore: (more) => void (older.hidden = !more),
		setNewer: (newer) => void (newest.hidden = !newer),
		toEnd,
		reveal(entryId, block = "center") {
			const run = runs.get(entryId);
			if (run && !run.isSingle) run.toggle(true);
			const found = shown.get(entryId)?.element;
			if (!found) return;
			if (block === "center") {
				following = false;
				entries.querySelector(".found")?.classList.remove("found");
				found.classList.add("found");
			}
			focus(found, block);
		},
		tick: () => shown.forEach(({ tick }) => tick?.()),
	};
	return log;
});
