// One comparison: a row for each agent, with what it changed, spent and took, and how its test ended.

import { canKeep, entryState, testText, WAYS } from "../lib/trees.js";
import { duration, money, plural, timeAgo } from "../lib/words.js";
import { fill, h, setText } from "../ui/dom.js";
import { me } from "../ui/me.js";
import { rest } from "../ui/rest.js";
import { finishTree, tellFinished, trees } from "../trees/acts.js";
import { askFinish } from "../trees/finish.js";
import { makeMark, paintMark, paintSums } from "./marks.js";

/** @type {[key: string, title: string][]} */
const COLUMNS = [["agent", "Agent"], ["state", "State"], ["changes", "Changes"], ["cost", "Cost"], ["time", "Time"], ["test", "Test"]];

/** @param {PlaceOptions & { changed(comparison: Api.Comparison): void }} options */
export function makeComparison({ store, handlers, changed }) {
	const prompt = h("h3");
	const about = h("p.muted");
	const test = h("p.muted.tested");
	const body = h("tbody");
	const element = h("section.comparison", prompt, about, test, h("div.table-scroller", h("table", h("thead", h("tr", ...COLUMNS.map(([, title]) => h("th", { scope: "col" }, title)), h("th", h("span.away", "Actions")))), body)));
	let shown = "";

	/** @param {Api.Comparison} comparison @param {Api.Session} session */
	async function keepOne(comparison, session) {
		const others = comparison.entries.filter((entry) => entry.session && entry.session.id !== session.id).length;
		const { branch = "", base } = session.worktree ?? {};
		const intro = [h("p", others ? `The ${others > 1 ? `other ${others} are` : "other one is"} discarded after a snapshot, and can be restored.` : "There is no other one to discard.")];
		const found = await askFinish({
			heading: "Keep this one", intro, title: session.title, branch, base, restore: () => trees.restore(session.id), ways: WAYS.filter((how) => how !== "discard"),
			async send(body) {
				const { finished, comparison: after } = await rest(`/api/comparisons/${comparison.id}/keep`, "POST", { sessionId: session.id, ...body });
				changed(after);
				return finished;
			},
		});
		if (found) tellFinished(...found);
	}

	/** Discards a candidate that remained when another one was kept. @param {Api.Session} session @param {() => void} again */
	async function discard(session, again) {
		const { branch = "", base } = session.worktree ?? {};
		const found = await askFinish({ heading: "Discard this one", intro: [], title: session.title, branch, base, restore: () => trees.restore(session.id), ways: ["discard"], send: (body) => finishTree(session.id, body) });
		if (found) tellFinished(...found);
		again();
	}

	/** @param {Api.Comparison} comparison @param {Api.ComparisonEntry} entry */
	function actions(comparison, { session, agent = "" }, at = 0) {
		if (!session) return [];
		const { worktree, id } = session;
		const name = `agent ${at + 1}, ${store.agent(agent).title}`;
		const button = (words = "", onclick = () => {}) => h("button.button.small", { label: `${words} (${name})`, onclick }, words);
		const again = () => rest(`/api/comparisons/${comparison.id}`).then(changed, () => {});
		return [
			button("Open", () => handlers.openById(id)),
			button("Changes", () => handlers.openChanges(id)),
			...(!me.may("member", comparison.repoId) ? [] : [worktree?.removed && comparison.kept !== id && button("Restore", () => trees.restore(id).then(again)),
			comparison.kept && comparison.kept !== id && worktree && !worktree.removed && button("Discard…", () => discard(session, again)),
			canKeep(comparison) && worktree && !worktree.removed && button("Keep this one…", () => keepOne(comparison, session))]),
		];
	}

	/** @param {Api.ComparisonEntry} entry @returns {Child[]} */
	function testOf({ test, state }) {
		if (!test) return [state === "testing" ? "Running…" : "–"];
		const isGood = test.exitCode === 0;
		const words = h(isGood ? "span.good" : "span.bad", testText(test));
		if (!test.output.trim()) return [words];
		return [h("details.test", h("summary", words), h("pre", { tabIndex: 0, label: "Output of the test", role: "group" }, test.output))];
	}

	/** @param {Api.Comparison} comparison @param {Api.ComparisonEntry} entry */
	function row(comparison, entry, at = 0) {
		const { session, model, durationMs } = entry;
		const [words, mark] = entryState(entry, comparison.kept);
		const dot = makeMark();
		paintMark(dot, mark);
		const sums = h("span.sums");
		if (session) paintSums(sums, /** @type {any} */ (session), true);
		const took = durationMs ?? (session?.runningSince ? Date.now() - Date.parse(session.runningSince) : undefined);
		/** @type {Record<string, Child[]>} */
		const cells = {
			agent: [h("b", store.agent(entry.agent ?? "").title), model && h("span.muted", ` ${model}`)],
			state: [h("span.entry-state", dot, words)],
			changes: [session?.changes?.files ? sums : "–"],
			cost: [session?.cost ? money(session.cost) : "–"],
			time: [took === undefined ? "–" : duration(took)],
			test: testOf(entry),
		};
		const isKept = comparison.kept !== undefined && session?.id === comparison.kept;
		return [
			h(isKept ? "tr.kept" : "tr", ...COLUMNS.map(([key, title]) => h("td", { "data-title": title, "data-cell": key }, ...cells[key])), h("td.row-buttons", ...actions(comparison, entry, at))),
			entry.error && h("tr.entry-error", h("td", { colSpan: COLUMNS.length + 1 }, entry.error)),
		];
	}

	/** Builds the rows again; open ones stay open, and the focus is kept. @param {Api.Comparison} comparison */
	function paint(comparison) {
		const open = [...body.querySelectorAll("details")].map((one) => one.open);
		const focused = body.contains(document.activeElement) ? document.activeElement?.ariaLabel : null;
		fill(body, ...comparison.entries.flatMap((entry, at) => row(comparison, entry, at)));
		body.querySelectorAll("details").forEach((one, at) => (one.open = open[at] ?? false));
		if (focused) [...body.querySelectorAll("button")].find(({ ariaLabel }) => ariaLabel === focused)?.focus();
	}

	return Object.assign(element, {
		tick,
		/** @param {Api.Comparison} comparison */
		show(comparison) {
			const project = store.projects.find(({ id }) => id === comparison.repoId)?.name;
			setText(prompt, comparison.prompt);
			setText(about, [project, plural(comparison.entries.length, "agent"), timeAgo(comparison.createdAt, Date.now())].filter(Boolean).join(" · "));
			test.title = comparison.test ?? "";
			test.hidden = !comparison.test;
			fill(test, "Test: ", h("code", comparison.test ?? ""));
			const wanted = JSON.stringify(comparison);
			if (wanted === shown) return;
			shown = wanted;
			paint(comparison);
		},
	});

	/** How long the agents have been working. @param {Api.Comparison} comparison */
	function tick({ entries }) {
		const rows = [...body.querySelectorAll("tr:not(.entry-error)")];
		entries.forEach(({ durationMs, session }, at) => {
			if (durationMs === undefined && session?.runningSince) setText(/** @type {Element} */ (rows[at].querySelector("[data-cell=time]")), duration(Date.now() - Date.parse(session.runningSince)));
		});
	}
}
