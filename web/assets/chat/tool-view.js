// A tool call: one line while folded; arguments, output and changes when opened.

import { diff } from "../lib/diff.js";
import { duration, fold, plain } from "../lib/words.js";
import { copy, fill, h, iconButton, on, setText } from "../ui/dom.js";
import { icon } from "../ui/icons.js";
import { diffs } from "./diff-view.js";

/** @type {Record<string, string>} */
const KIND_ICONS = { read: "file", edit: "edit", delete: "trash", move: "file", search: "search", execute: "execute", think: "think", fetch: "fetch" };
const STATUS_WORDS = { running: "running", complete: "done", error: "failed" };
/** The argument that says what a call is about, the most telling first. */
const SUBJECTS = ["command", "cmd", "file_path", "filePath", "path", "pattern", "query", "url", "description", "prompt"];
/** Changes up to this many lines are shown without being asked for. */
const SMALL_CHANGE = 60;

/** @param {ToolEntry} entry @param {string} root the project's path @returns {View} */
export function toolView(entry, root) {
	/** What the body shows, so that it is built again only when that changes. */
	let built = "";
	let isTouched = false;
	const [kind, title, subject, count, time, status, error, body] = ["icon", "title", "subject", "count", "time", "status", "error", "body"].map((name) => h(`span.tool-${name}`));
	const details = h("details", h("summary", { onclick: () => (isTouched = true) }, kind, title, subject, count, time, status, icon("chevron")), body);
	const element = h("div.entry.tool", details, error);

	function build() {
		const { args, result, diffs: changes = [], error: why } = entry;
		const wanted = JSON.stringify([args, result, changes, why]);
		error.hidden = details.open || !error.textContent;
		if (!details.open || wanted === built) return;
		built = wanted;
		// The arguments of an edit say once more what the change shows.
		const first = changes.length ? changes.map((change) => diffs.of(change, root)) : argumentsOf(args);
		const parts = [...first, result && output("Output", result), why && output("Error", why)];
		fill(body, ...(parts.some(Boolean) ? parts : [h("p.muted.none", entry.status === "running" ? "Nothing to show yet." : "No output.")]));
	}

	function tick() {
		const ms = Date.now() - new Date(entry.timestamp).getTime();
		setText(time, entry.status === "running" && ms > 2000 ? duration(ms) : "");
	}

	on(details, "toggle", build);
	return {
		element,
		tick,
		update(next) {
			entry = next;
			const name = entry.title || entry.name;
			const key = SUBJECTS.find((key) => typeof entry.args?.[key] === "string");
			const about = key ? diffs.shortPath(entry.args[key], root) : "";
			fill(kind, icon(KIND_ICONS[entry.kind ?? ""] ?? "tool"));
			setText(title, name);
			setText(subject, name.includes(about) ? "" : about);
			element.dataset.status = entry.status;
			fill(status, h("span.away", STATUS_WORDS[entry.status]), entry.status === "running" ? h("span.spinner") : icon(entry.status === "complete" ? "check" : "close"));
			setText(error, entry.status === "error" ? plain(entry.error).trim().split("\n", 1)[0] : "");
			if (entry.diffs?.length) {
				const { added, removed } = diff.count(entry.diffs.flatMap(({ oldText, newText }) => diff.lines(oldText, newText)));
				fill(count, ...diffs.counts(added, removed));
				if (!isTouched) details.open = added + removed <= SMALL_CHANGE;
			}
			tick();
			build();
		},
	};
}

/** @param {any} args */
function argumentsOf(args) {
	if (!args) return [];
	if (typeof args !== "object") return [output("Arguments", String(args))];
	return Object.entries(args).map(([name, value]) => output(name, typeof value === "string" ? value : JSON.stringify(value, null, 2)));
}

/** A piece of text, folded when it is long. */
function output(label = "", raw = "") {
	const text = plain(raw);
	const { shown, left } = fold(text);
	const pre = h("pre", { tabIndex: 0 }, shown);
	const unfold = h("button.link.unfold", { onclick: () => ((pre.textContent = text), unfold.remove(), pre.focus()) }, `Show ${left}`);
	return h("div.output", h("div.output-head", label, iconButton("copy", `Copy ${label}`, () => copy(text))), pre, left && unfold);
}
