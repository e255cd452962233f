// A run of read-only calls, folded into one line. A single call is shown by itself.

import { runTitle } from "../lib/rows.js";
import { visible } from "../lib/words.js";
import { h, icon, keyed, setText } from "../ui/dom.js";

/** @param {(entry: SpokenEntry) => HTMLElement} make @returns {Run} */
export function makeRun(make) {
	let calls = /** @type {ToolEntry[]} */ ([]);
	let isOpen = false;
	const title = h("span.run-title");
	const now = h("span.run-now");
	const spinner = h("span.spinner");
	const head = h("button.run-head", { ariaExpanded: "false", onclick: () => run.toggle() }, icon("search"), title, now, spinner, icon("chevron"));
	const body = h("div.run-body");
	const element = h("div.entry.run", head, body);

	function paint() {
		const isSingle = calls.length < 2;
		const running = calls.findLast(({ status }) => status === "running");
		element.classList.toggle("single", isSingle);
		element.classList.toggle("failed-some", calls.some(({ status }) => status === "error"));
		head.hidden = isSingle;
		head.ariaExpanded = String(isOpen);
		spinner.hidden = !running;
		setText(title, runTitle(calls));
		setText(now, visible(running?.title));
		body.hidden = !isSingle && !isOpen;
		// The calls are built when they are first shown.
		if (!body.hidden) keyed(body, calls, ({ entryId }) => entryId, make);
	}

	/** @type {Run} */
	const run = {
		element,
		get isSingle() { return calls.length < 2; },
		show(next) {
			calls = next;
			paint();
		},
		add(call) {
			calls = [...calls, call];
			paint();
		},
		put(call) {
			calls = calls.map((known) => (known.entryId === call.entryId ? call : known));
			paint();
		},
		toggle(open = !isOpen) {
			isOpen = open;
			paint();
		},
	};
	return run;
}
