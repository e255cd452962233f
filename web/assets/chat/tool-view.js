// A tool call: one line while folded; arguments, output and changes when opened. Its permission is part of it.

import { verdictOf } from "../lib/choices.js";
import { diff } from "../lib/diff.js";
import { shortPath } from "../lib/paths.js";
import { me } from "../ui/me.js";
import { asksHuman, exitCode, permissionOf, tail } from "../lib/rows.js";
import { duration, fold, plain, visible } from "../lib/words.js";
import { commandView, counts, diffView } from "../ui/code-view.js";
import { copy, fill, h, icon, iconButton, keyed, on, setText } from "../ui/dom.js";
import { setOutput } from "../ui/markdown.js";

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
	/** The content of the parts of the body, and how often it has changed. @type {Map<string, { content?: string, number: number }>} */
	const made = new Map();
	let isTouched = false;
	let asked = /** @type {Entry<"permission"> | undefined} */ (undefined);
	const [kind, title, subject, exit, verdict, count, time, status, body] = ["icon", "title", "subject", "exit", "verdict", "count", "time", "status", "body"].map((name) => h(`span.tool-${name}`));
	const error = h("pre.tool-error", { tabIndex: 0, role: "group", label: "End of the output" });
	const reason = h("q.tool-reason");
	status.role = "img";
	const details = h("details", h("summary", { onclick: () => (isTouched = true) }, kind, title, subject, exit, count, verdict, time, status, icon("chevron")), body);
	const element = h("div.entry.tool", details, reason, error);
	const place = { ...around.place, wide: true };

	/** A part that has changed has another key, and is made anew; output stays the same element while it grows. @param {ToolPart} part */
	function keyOf({ name, content }) {
		const known = made.get(name) ?? { content, number: 0 };
		made.set(name, { content, number: known.number + Number(known.content !== content) });
		return `${name} ${made.get(name)?.number}`;
	}

	function build() {
		const { args, result, diffs = [], error: why, html } = entry;
		error.hidden = details.open || !error.textContent;
		if (!details.open) return;
		// The arguments of an edit repeat its diff.
		const first = diffs.length ? diffs.map((change, at) => fixed(`change ${at}`, change, () => diffView(change, place))) : argumentsOf(args);
		const parts = [...first, ...output("Output", result, html?.result), ...output("Error", why, html?.error)];
		const nothing = entry.status === "running" ? "Nothing to show yet." : "No output.";
		keyed(body, parts.length ? parts : [fixed("none", nothing, () => h("p.muted.none", nothing))], keyOf, ({ make }) => make(), (element, { text, html }) => element.show?.(text, html));
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
		setOutput(error, isFailed ? tail(plain(entry.error)) : "", isFailed ? tail(entry.html?.error) : "");
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

/** A part of a call that does not change while it runs, as a rule. @param {string} name @param {any} content @param {() => HTMLElement} make @returns {ToolPart} */
const fixed = (name, content, make) => ({ name, content: JSON.stringify(content), make });

/** @param {any} args @returns {ToolPart[]} */
function argumentsOf(args) {
	if (!args) return [];
	if (typeof args !== "object") return output("Arguments", String(args));
	return Object.entries(args).flatMap(([name, value]) => {
		if (COMMANDS.includes(name) && typeof value === "string") return [fixed(`argument ${name}`, value, () => h("div.output", head(name, () => value), commandView(value)))];
		return output(name, typeof value === "string" ? value : (JSON.stringify(value, null, 2) ?? ""), "", "argument");
	});
}

/** A text that may grow; none where it is empty, but for arguments. @returns {ToolPart[]} */
const output = (label = "", text = "", html = "", kind = "") => (text || kind ? [{ name: `${kind} ${label}`, make: () => makeOutput(label), text: plain(text), html }] : []);

const head = (label = "", text = () => "") => h("div.output-head", visible(label), iconButton("copy", `Copy ${label}`, () => copy(text())));

/** A text, collapsed when it is long; with terminal colours where it has them. What is copied is the text itself. */
function makeOutput(label = "") {
	let [text, html, isWhole] = ["", "", false];
	const pre = h("pre", { tabIndex: 0, role: "group", label });
	const unfold = h("button.link.unfold", { onclick: () => ((isWhole = true), paint(), pre.focus()) });
	const paint = () => {
		const { shown, left } = fold(html || text);
		const part = isWhole ? html || text : shown;
		setOutput(pre, part, html && part);
		unfold.hidden = isWhole || !left;
		setText(unfold, `Show ${left}`);
	};
	return Object.assign(h("div.output", head(label, () => text), pre, unfold), {
		show(next = "", rendered = "") {
			[text, html] = [next, rendered];
			paint();
		},
	});
}
