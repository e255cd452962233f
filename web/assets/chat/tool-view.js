// A tool call: one line while folded; arguments, output and changes when opened. Its permission is part of it.

import { verdictOf } from "../lib/choices.js";
import { diff } from "../lib/diff.js";
import { shortPath } from "../lib/paths.js";
import { me } from "../ui/me.js";
import { asksHuman, exitCode, permissionOf, tail } from "../lib/rows.js";
import { duration, fold, plain, visible } from "../lib/words.js";
import { commandView, counts, diffView } from "../ui/code-view.js";
import { copy, fill, h, icon, iconButton, on, setText } from "../ui/dom.js";
import { terminalNodes } from "../ui/markdown.js";

/** @type {Record<string, string>} */
const KIND_ICONS = { read: "file", edit: "edit", delete: "trash", move: "file", search: "search", execute: "execute", think: "think", fetch: "fetch" };
const STATUS_WORDS = { running: "running", complete: "done", error: "failed" };
/** Arguments that describe a call, most specific first. */
const SUBJECTS = ["command", "cmd", "file_path", "filePath", "path", "pattern", "query", "url", "description", "prompt"];
/** Arguments that are commands. */
const COMMANDS = ["command", "cmd"];
/** Changes up to this many lines are expanded by default. */
const SMALL_CHANGE = 60;

/** @param {ToolEntry} entry @param {Surroundings} around @returns {View} */
export function toolView(entry, around) {
	/** The content of the body, so that it is rebuilt only when that changes. */
	let built = "";
	let isTouched = false;
	let asked = /** @type {Entry<"permission"> | undefined} */ (undefined);
	const [kind, title, subject, exit, verdict, count, time, status, body] = ["icon", "title", "subject", "exit", "verdict", "count", "time", "status", "body"].map((name) => h(`span.tool-${name}`));
	const error = h("pre.tool-error", { tabIndex: 0, role: "group", label: "End of the output" });
	const reason = h("q.tool-reason");
	status.role = "img";
	const details = h("details", h("summary", { onclick: () => (isTouched = true) }, kind, title, subject, exit, count, verdict, time, status, icon("chevron")), body);
	const element = h("div.entry.tool", details, reason, error);
	const place = { ...around.place, wide: true };

	function build() {
		const { args, result, diffs = [], error: why, html } = entry;
		error.hidden = details.open || !error.textContent;
		if (!details.open) return;
		const wanted = JSON.stringify([args, result, diffs, why]);
		if (wanted === built) return;
		built = wanted;
		// The arguments of an edit repeat its diff.
		const first = diffs.length ? diffs.map((change) => diffView(change, place)) : argumentsOf(args);
		const parts = [...first, result && output("Output", result, html?.result), why && output("Error", why, html?.error)];
		fill(body, ...(parts.some(Boolean) ? parts : [h("p.muted.none", entry.status === "running" ? "Nothing to show yet." : "No output.")]));
	}

	const isWaiting = () => (asked?.status === "pending" && entry.status === "running") || asksHuman(around.entries(), entry);

	function tick() {
		const ms = Date.now() - new Date(entry.timestamp).getTime();
		setText(time, entry.status === "running" && !isWaiting() && ms > 2000 ? duration(ms) : "");
	}

	function showStatus() {
		const waits = isWaiting();
		element.dataset.status = waits ? "waiting" : entry.status;
		status.ariaLabel = waits ? "waits for your answer" : STATUS_WORDS[entry.status];
		fill(status, waits ? icon(asked ? "lock" : "question") : entry.status === "running" ? h("span.spinner") : icon(entry.status === "complete" ? "check" : "close"));
		// The permission card shows all of it while it is pending.
		element.hidden = waits && asked?.evidence !== undefined;
		const { isRefused, text } = asked && asked.status !== "pending" ? verdictOf(asked) : { isRefused: false, text: "" };
		setText(verdict, asked?.by ? me.by(text, asked.by) : text);
		verdict.classList.toggle("refused", isRefused);
		reason.hidden = !asked?.reason;
		setText(reason, asked?.reason ?? "");
	}

	function showFailure() {
		const isFailed = entry.status === "error";
		const code = exitCode(entry);
		exit.hidden = code === undefined;
		setText(exit, code === undefined ? "" : `exit ${code}`);
		const text = isFailed ? tail(visible(plain(entry.error))) : "";
		if (isFailed && entry.html?.error) fill(error, ...terminalNodes(tail(entry.html.error)));
		else setText(error, text);
	}

	on(details, "toggle", build);
	return {
		element,
		tick,
		update(next) {
			entry = next;
			asked = permissionOf(around.entries(), entry);
			const name = visible((entry.title || entry.name).replace(/^`([\s\S]*)`$/, "$1"));
			const key = SUBJECTS.find((key) => typeof entry.args?.[key] === "string");
			const about = key ? visible(shortPath(entry.args[key], place.root)) : "";
			fill(kind, icon(KIND_ICONS[entry.kind ?? ""] ?? "tool"));
			setText(title, name);
			title.classList.toggle("is-code", name === about && COMMANDS.includes(key ?? ""));
			setText(subject, name.includes(about) ? "" : about);
			showStatus();
			showFailure();
			if (entry.diffs?.length) {
				const { added, removed } = diff.count(entry.diffs.flatMap(({ oldText, newText }) => diff.lines(oldText, newText)));
				fill(count, ...counts(added, removed));
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
	return Object.entries(args).map(([name, value]) => {
		if (COMMANDS.includes(name) && typeof value === "string") return h("div.output", head(name, value), commandView(value));
		return output(name, typeof value === "string" ? value : JSON.stringify(value, null, 2));
	});
}

const head = (label = "", text = "") => h("div.output-head", label, iconButton("copy", `Copy ${label}`, () => copy(text)));

/** A text, collapsed when it is long; with terminal colours where it has them. */
function output(label = "", raw = "", html = "") {
	const text = visible(plain(raw));
	const { shown, left } = fold(html || text);
	const pre = h("pre", { tabIndex: 0, role: "group", label });
	const show = (part = "") => fill(pre, ...(html ? terminalNodes(part) : [part]));
	show(shown);
	const unfold = h("button.link.unfold", { onclick: () => (show(html || text), unfold.remove(), pre.focus()) }, `Show ${left}`);
	return h("div.output", head(label, text), pre, left && unfold);
}
