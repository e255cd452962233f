// <convoke-comparisons>: the results of several agents for one prompt, the newest comparison first.

import { component, fill, h, keyed, setText } from "../ui/dom.js";
import { showProblem } from "../ui/parts.js";
import { makeRereading } from "../ui/rereading.js";
import { rest } from "../ui/rest.js";
import { styles } from "../ui/styles.js";
import { makeComparison } from "./comparison.js";

/** How often the times of agents that work are shown anew. */
const TICK_MS = 1000;

styles("trees").catch(() => {});

/** @type {(place: PlaceOptions) => PlaceView} */
export const makeComparisons = component("convoke-comparisons", (element, options) => {
	const list = h("div.comparisons");
	const told = h("p.muted", { role: "status" }, "Loading…");
	let comparisons = /** @type {Api.Comparison[]} */ ([]);
	let clock = 0;
	/** What to load again. */
	let stale = /** @type {"" | "open" | "all"} */ ("");
	const view = { ...options, changed: replace };

	function paint() {
		keyed(list, comparisons, ({ id }) => id, () => makeComparison(view), (section, comparison) => section.show(comparison));
		setText(told, comparisons.length ? "" : "No comparisons yet. “Compare several agents…” in the menu of agents on Home begins one.");
		clearTimeout(clock);
		tick();
	}

	const isRunning = () => comparisons.some(({ done, kept }) => !done && !kept);

	function tick() {
		comparisons.forEach((comparison, at) => /** @type {ReturnType<typeof makeComparison>} */ (list.children[at]).tick(comparison));
		if (isRunning() && element.isConnected) clock = setTimeout(tick, TICK_MS);
	}

	/** @param {Api.Comparison} comparison */
	function replace(comparison) {
		comparisons = comparisons.map((one) => (one.id === comparison.id ? comparison : one));
		paint();
	}

	let asked = 0;

	async function load() {
		const mine = (asked += 1);
		try {
			const found = await rest("/api/comparisons");
			if (mine !== asked) return;
			({ comparisons } = found);
			paint();
			// Tests that a stop of the daemon cut off begin again when their comparison is read.
			if (isRunning()) await refresh();
		} catch (error) {
			showProblem(told, error);
		}
	}

	/** @param {"open" | "all"} what */
	function readSoon(what) {
		if (stale !== "all") stale = what;
		reread();
	}

	const reread = makeRereading(element, () => {
		const read = stale === "all" ? load : refresh;
		stale = "";
		return read();
	});

	/** Reads those again that can still change. */
	async function refresh() {
		const mine = (asked += 1);
		const open = comparisons.filter(({ kept }) => !kept);
		const found = await Promise.all(open.map(({ id }) => rest(`/api/comparisons/${id}`).catch(() => null)));
		if (mine !== asked) return;
		const news = new Map(found.filter(Boolean).map((one) => [one.id, one]));
		comparisons = comparisons.map((one) => news.get(one.id) ?? one);
		paint();
	}

	/** @param {Frame} frame */
	function concerns(frame) {
		const uid = "session" in frame ? frame.session.uid : options.store.uidOf(/** @type {any} */ (frame));
		return comparisons.some(({ entries }) => entries.some(({ session }) => session?.id === uid));
	}

	fill(element, h("div.page.wide-page", h("h2.page-title", { tabIndex: -1 }, "Comparisons"), told, list));
	load();
	return {
		receive(frame) {
			// The connection is back.
			if (frame.type === "project:list") return void load();
			if (frame.type === "comparison:changed") readSoon(comparisons.some(({ id, kept }) => id === frame.comparisonId && !kept) ? "open" : "all");
			else if (["session:changed", "changes:updated", "session:erased"].includes(frame.type) && concerns(frame)) readSoon("open");
		},
		focusFirst() {
			/** @type {HTMLElement} */ (element.querySelector(".comparison button, .page-title")).focus();
		},
	};
});
