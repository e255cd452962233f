// One comparison: a row for each agent, with what it changed, spent and took, and how its test ended.

import { canKeep, entryState, testText, WAYS } from "../lib/trees.js";
import { duration, money, plain, plural, timeAgo } from "../lib/words.js";
import { h, keyed, part, refill, setText } from "../ui/dom.js";
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
	let now = /** @type {Api.Comparison | null} */ (null);
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

	/** @param {Api.Comparison} comparison */
	function actions(comparison, at = 0) {
		const { session, agent = "" } = comparison.entries[at];
		if (!session) return [];
		const { worktree, id } = session;
		/** The buttons stay while others change. @param {(comparison: Api.Comparison, session: Api.Session) => void} act */
		const later = (act) => () => now && act(now, now.entries[at].session ?? session);
		const name = `agent ${at + 1}, ${store.agent(agent).title}`;
		const button = (words = "", onclick = () => {}) => h("button.button.small", { label: `${words} (${name})`, onclick }, words);
		const again = () => rest(`/api/comparisons/${comparison.id}`).then(changed, () => {});
		return [
			button("Open", () => handlers.openById(id)),
			button("Changes", () => handlers.openChanges(id)),
			...(!me.may("member", comparison.repoId) ? [] : [worktree?.removed && comparison.kept !== id && button("Restore", () => trees.restore(id).then(again)),
			comparison.kept && comparison.kept !== id && worktree && !worktree.removed && button("Discard…", later((_, one) => discard(one, again))),
			canKeep(comparison) && worktree && !worktree.removed && button("Keep this one…", later(keepOne))]),
		];
	}

	/** @param {Api.ComparisonEntry} entry @returns {Child[]} */
	function testOf({ test, state }) {
		if (!test) return [state === "testing" ? "Running…" : "–"];
		const isGood = test.exitCode === 0;
		const words = h(isGood ? "span.good" : "span.bad", testText(test));
		if (!test.output.trim()) return [words];
		return [h("details.test", h("summary", words), h("pre", { tabIndex: 0, label: "Output of the test", role: "group" }, plain(test.output)))];
	}

	/** @typedef {{ key: string, at: number, error?: string }} Line */
	/** The row of an agent, and one below it for an error. @param {Api.Comparison} comparison @returns {Line[]} */
	const linesOf = ({ entries }) => entries.flatMap(({ error }, at) => [{ key: `${at}`, at }, ...(error ? [{ key: `${at} error`, at, error }] : [])]);

	/** @param {Line} line */
	const make = ({ error }) => (error ? h("tr.entry-error", h("td", { colSpan: COLUMNS.length + 1 })) : h("tr", ...COLUMNS.map(([key, title]) => h("td", { "data-title": title, "data-cell": key })), h("td.row-buttons")));

	/** Makes only the cells again that look different: an output stays open where it is read. @param {HTMLElement} line @param {Api.Comparison} comparison @param {Line} which */
	function paintLine(line, comparison, { at, error }) {
		const cells = [...line.children];
		if (error) return setText(cells[0], error);
		const { session } = comparison.entries[at];
		line.classList.toggle("kept", comparison.kept !== undefined && session?.id === comparison.kept);
		[...cellsOf(comparison, comparison.entries[at]), actions(comparison, at)].forEach((inside, place) => refill(cells[place], ...inside));
	}

	/** What is in each column. @param {Api.Comparison} comparison @param {Api.ComparisonEntry} entry @returns {Child[][]} */
	function cellsOf(comparison, entry) {
		const { session, model, durationMs } = entry;
		const [words, mark] = entryState(entry, comparison.kept);
		const dot = makeMark();
		paintMark(dot, mark);
		const sums = h("span.sums");
		if (session) paintSums(sums, /** @type {any} */ (session), true);
		const took = durationMs ?? (session?.runningSince ? Date.now() - Date.parse(session.runningSince) : undefined);
		return [
			[h("b", store.agent(entry.agent ?? "").title), model && h("span.muted", ` ${model}`)],
			[h("span.entry-state", dot, words)],
			[session?.changes?.files ? sums : "–"],
			[session?.cost ? money(session.cost) : "–"],
			[took === undefined ? "–" : duration(took)],
			testOf(entry),
		];
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
			refill(test, "Test: ", h("code", comparison.test ?? ""));
			now = comparison;
			const wanted = JSON.stringify(comparison);
			if (wanted === shown) return;
			shown = wanted;
			keyed(body, linesOf(comparison), ({ key }) => key, make, (line, which) => paintLine(line, comparison, which));
		},
	});

	/** How long the agents have been working. @param {Api.Comparison} comparison */
	function tick({ entries }) {
		const rows = [...body.querySelectorAll("tr:not(.entry-error)")];
		entries.forEach(({ durationMs, session }, at) => {
			if (durationMs === undefined && session?.runningSince) refill(part(rows[at], "[data-cell=time]"), duration(Date.now() - Date.parse(session.runningSince)));
		});
	}
}
