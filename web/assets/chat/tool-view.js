// A tool call: one line while folded; arguments, output and changes when opened.

import { diff } from "../lib/diff.js";
import { keep, kept } from "../lib/kept.js";
import { duration, fold, plain, plural } from "../lib/words.js";
import { copy, fill, h, icon, iconButton, on, setText } from "../ui/dom.js";

/** @type {Record<string, string>} */
const KIND_ICONS = { read: "file", edit: "edit", delete: "trash", move: "file", search: "search", execute: "execute", think: "think", fetch: "fetch" };
const STATUS_WORDS = { running: "running", complete: "done", error: "failed" };
/** Arguments that describe a call, most specific first. */
const SUBJECTS = ["command", "cmd", "file_path", "filePath", "path", "pattern", "query", "url", "description", "prompt"];
/** Changes up to this many lines are expanded by default. */
const SMALL_CHANGE = 60;

/** @param {ToolEntry} entry @param {string} root the project's path @returns {View} */
export function toolView(entry, root) {
	/** The content of the body, so that it is rebuilt only when that changes. */
	let built = "";
	let isTouched = false;
	const [kind, title, subject, count, time, status, error, body] = ["icon", "title", "subject", "count", "time", "status", "error", "body"].map((name) => h(`span.tool-${name}`));
	status.role = "img";
	const details = h("details", h("summary", { onclick: () => (isTouched = true) }, kind, title, subject, count, time, status, icon("chevron")), body);
	const element = h("div.entry.tool", details, error);

	function build() {
		const { args, result, diffs: changes = [], error: why } = entry;
		error.hidden = details.open || !error.textContent;
		if (!details.open) return;
		const wanted = JSON.stringify([args, result, changes, why]);
		if (wanted === built) return;
		built = wanted;
		// The arguments of an edit repeat its diff.
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
			status.ariaLabel = STATUS_WORDS[entry.status];
			fill(status, entry.status === "running" ? h("span.spinner") : icon(entry.status === "complete" ? "check" : "close"));
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

/** A text, collapsed when it is long. */
function output(label = "", raw = "") {
	const text = plain(raw);
	const { shown, left } = fold(text);
	const pre = h("pre", { tabIndex: 0 }, shown);
	const unfold = h("button.link.unfold", { onclick: () => ((pre.textContent = text), unfold.remove(), pre.focus()) }, `Show ${left}`);
	return h("div.output", h("div.output-head", label, iconButton("copy", `Copy ${label}`, () => copy(text))), pre, left && unfold);
}

/** Lines of a diff that are shown before the rest is collapsed. */
const SHOWN = 40;

/** All diffs on the page share one setting. */
const choice = new EventTarget();
const isSplit = () => kept("diff") === "split";

/** @type {DiffViews} */
export const diffs = {
	shortPath: (path, root) => (root && path.startsWith(`${root}/`) ? path.slice(root.length + 1) : path),
	counts: (added, removed) => [h("span.plus", `+${added}`), h("span.minus", `−${removed}`)],
	of({ path, oldText, newText }, root) {
		const lines = diff.lines(oldText, newText);
		const hunks = diff.hunks(lines);
		const total = hunks.flat().length;
		let limit = total > SHOWN ? SHOWN : total;
		const body = h("div.diff-body", { tabIndex: 0, role: "region", label: `Changes to ${path}` });
		const toggle = h("button.icon-button", { onclick: () => (keep("diff", isSplit() ? "unified" : "split"), choice.dispatchEvent(new Event("change"))) });
		const paint = () => {
			const split = isSplit();
			fill(toggle, icon(split ? "rows" : "columns"));
			toggle.ariaLabel = toggle.title = split ? "Show in one column" : "Show side by side";
			let room = limit;
			const rows = hunks.flatMap((hunk, at) => {
				const shown = hunk.slice(0, room);
				room -= shown.length;
				return [at > 0 && shown.length > 0 && h("tr.gap", h("td", { colSpan: 4 }, "⋯")), ...(split ? diffs.split(shown) : diffs.unified(shown))];
			});
			fill(body, h(`table.${split ? "split" : "unified"}`, h("tbody", ...rows)), limit < total && h("button.link.unfold", { onclick: () => ((limit = total), paint()) }, `Show all ${plural(total, "line")}`));
		};
		paint();
		const { added, removed } = diff.count(lines);
		const head = h("div.diff-head", h("span.path", { title: path }, diffs.shortPath(path, root)), typeof oldText !== "string" && h("span.tag", "new"), ...diffs.counts(added, removed), toggle);
		const element = h("div.diff", head, total ? body : h("p.muted.none", "No difference."));
		choice.addEventListener("change", () => element.isConnected && paint());
		return element;
	},
	unified(lines) {
		const parts = /** @type {Map<any, Span>} */ (new Map());
		for (const pair of diff.pairs(lines)) {
			const part = diffs.inner(pair);
			if (part) parts.set(pair.before, part.before).set(pair.after, part.after);
		}
		return lines.map((line) => h("tr", diffs.number(line.kind !== "added" && line.before), diffs.number(line.kind !== "removed" && line.after), diffs.words(line, parts.get(line))));
	},
	split: (lines) => diff.pairs(lines).map((pair) => {
		const { before, after } = pair;
		const part = diffs.inner(pair);
		return h("tr", diffs.number(before?.before), diffs.words(before, part?.before), diffs.number(after?.after), diffs.words(after, part?.after));
	}),
	number: (value) => h("td.number", value ? String(value) : ""),
	words(line, [from, to] = [0, 0]) {
		if (!line) return h("td.blank");
		const { kind, text } = line;
		return h(`td.text.${kind}`, text.slice(0, from), to > from && h("mark", text.slice(from, to)), text.slice(to));
	},
	inner: ({ before, after }) => (before && after && before !== after ? diff.changedPart(before.text, after.text) : null),
};
