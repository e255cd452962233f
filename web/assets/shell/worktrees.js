// <convoke-worktrees>: the work trees of sessions, also those that were removed; finished, removed and restored from here.

import { matching } from "../lib/query.js";
import { treeState } from "../lib/trees.js";
import { plural } from "../lib/words.js";
import { component, fill, h, keyed, on, setText } from "../ui/dom.js";
import { me } from "../ui/me.js";
import { showProblem } from "../ui/parts.js";
import { makeRereading } from "../ui/rereading.js";
import { rest } from "../ui/rest.js";
import { styles } from "../ui/styles.js";
import { trees } from "../trees/acts.js";

styles("trees").catch(() => {});

/** @type {(place: PlaceOptions) => PlaceView} */
export const makeWorktrees = component("convoke-worktrees", (element, { store, handlers }) => {
	const field = h("input.field", { type: "search", placeholder: "Search by title, branch or project", label: "Search the work trees" });
	const list = h("ul.archive-list.tree-list");
	const told = h("p.muted", { role: "status" }, "Loading…");
	let found = /** @type {Api.ListedWorktree[]} */ ([]);

	/** @param {Api.ListedWorktree} tree */
	function buttons(tree) {
		const { sessionId: uid, title, state, branch, base, path } = tree;
		const button = (words = "", label = "", onclick = () => {}) => h("button.button.small", { label: `${label} ${title}`, onclick }, words);
		const session = store.sessions.get(uid);
		const finish = () => trees.finish({ uid, title, changes: session?.changes, worktree: { path, branch, base } }).then(load);
		return me.may("member", tree.repoId) ? [
			state === "ready" && button("Finish…", "Finish the work tree of", finish),
			state !== "ready" && button("Restore", "Restore the work tree of", () => trees.restore(uid).then(load)),
			state !== "removed" && button("Remove…", "Remove the work tree of", () => trees.remove(tree).then(load)),
		] : [];
	}

	/** @param {HTMLElement} row @param {Api.ListedWorktree} tree */
	function paintRow(row, tree) {
		const { title, branch, base, repo, path, state, sessionId } = tree;
		const session = store.sessions.get(sessionId);
		const wanted = `${JSON.stringify(tree)} ${session?.cliType}`;
		if (row.dataset.shown === wanted) return;
		row.dataset.shown = wanted;
		fill(row,
			h("div.tree-text",
				h("div.tree-title", h("button.link.name", { onclick: () => handlers.openById(sessionId) }, title), session && h("span.badge", { title: store.agent(session.cliType).title }, store.agent(session.cliType).badge)),
				h("p.muted", { title: path }, h("code", branch), base ? ` from ${base}` : "", repo && ` · ${repo}`)),
			h("span.tree-state", { "data-state": state }, treeState(tree)),
			...buttons(tree));
	}

	function paint() {
		const words = field.value.trim();
		const shown = found.filter(({ title, branch, repo }) => matching(`${title} ${branch} ${repo}`, words));
		keyed(list, shown, ({ sessionId }) => sessionId, () => h("li"), paintRow);
		setText(told, !found.length ? "No work trees. To give one to a new session, choose “Work tree” below the message box on Home." : shown.length ? plural(shown.length, "work tree") : "No work tree matches.");
	}

	let asked = 0;

	async function load() {
		const mine = (asked += 1);
		try {
			const { worktrees } = await rest("/api/worktrees");
			if (mine !== asked) return;
			found = worktrees;
			paint();
		} catch (error) {
			showProblem(told, error);
		}
	}

	const readSoon = makeRereading(element, load);
	on(field, "input", paint);
	fill(element, h("div.page", h("h2.page-title", "Work trees"), h("p.muted", "A session with a work tree has its own copy of the project, on a branch of its own. What was removed can be restored from its snapshot."), field, told, list));
	load();
	return {
		receive(frame) {
			const isTree = "session" in frame && frame.session.worktree !== undefined;
			if (!isTree && !["project:list", "session:erased"].includes(frame.type)) return;
			readSoon();
		},
		focusFirst: () => field.focus(),
	};
});
