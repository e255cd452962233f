// <convoke-comparisons>: what several agents made of one prompt, the newest comparison first.

import { component, fill, h, keyed, setText } from "../ui/dom.js";
import { problem } from "../ui/parts.js";
import { rest } from "../ui/rest.js";
import { styles } from "../ui/styles.js";
import { makeComparison } from "./comparison.js";

/** How often comparisons that run are read again: no frame says that a test has ended. */
const AGAIN_MS = 2000;
/** Frames that change a row come in bursts. */
const SOON_MS = 150;

styles("trees").catch(() => {});

/** @type {(place: PlaceOptions) => PlaceView} */
export const makeComparisons = component("convoke-comparisons", (element, options) => {
	const list = h("div.comparisons");
	const told = h("p.muted", { role: "status" }, "Loading…");
	let comparisons = /** @type {Api.Comparison[]} */ ([]);
	let timer = 0;
	const view = { ...options, changed: replace };

	function paint() {
		keyed(list, comparisons, ({ id }) => id, () => makeComparison(view), (section, comparison) => section.show(comparison));
		setText(told, comparisons.length ? "" : "No comparisons yet. “Compare several agents…” in the menu of agents on Home begins one.");
		const isRunning = comparisons.some(({ done, kept }) => !done && !kept);
		clearTimeout(timer);
		if (isRunning && element.isConnected) timer = setTimeout(refresh, AGAIN_MS);
	}

	/** @param {Api.Comparison} comparison */
	function replace(comparison) {
		comparisons = comparisons.map((one) => (one.id === comparison.id ? comparison : one));
		paint();
	}

	async function load() {
		try {
			({ comparisons } = await rest("/api/comparisons"));
			paint();
		} catch (error) {
			setText(told, problem(error));
		}
	}

	/** Reads those again that can still change; not while another tab is shown. */
	async function refresh() {
		const open = comparisons.filter(({ kept }) => !kept);
		const found = element.offsetParent ? await Promise.all(open.map(({ id }) => rest(`/api/comparisons/${id}`).catch(() => null))) : [];
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
			if (frame.type === "project:list") load();
			if (!["session:changed", "changes:updated", "session:erased"].includes(frame.type) || !concerns(frame)) return;
			clearTimeout(timer);
			timer = setTimeout(refresh, SOON_MS);
		},
		focusFirst() {
			/** @type {HTMLElement} */ (element.querySelector(".comparison button, .page-title")).focus();
			// No frame says that a comparison has begun.
			load();
		},
	};
});
