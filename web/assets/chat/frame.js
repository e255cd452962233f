// The frame of a conversation: the header above it; below it the running turn, queued prompts, and how it ended.

import { nodeName, nodeText } from "../lib/nodes.js";
import { duration } from "../lib/words.js";
import { fill, h, icon, setText } from "../ui/dom.js";
import { menuButton, toastError } from "../ui/parts.js";
import { styles } from "../ui/styles.js";

/** @param {HeaderHandlers} handlers @param {HTMLElement} changes @returns {Header} */
export function makeHeader(handlers, changes) {
	const rename = () => import("../ui/edit-title.js").then(({ editTitle }) => editTitle(title, title.textContent ?? "", handlers.rename), toastError);
	const title = h("button.title-button", { title: "Rename", onclick: rename });
	const badge = h("span.badge");
	const place = h("span.muted.place");
	const machine = h("span.title");
	const where = h("span.muted.node", { hidden: true }, icon("system"), machine);
	const branch = h("span.title");
	const tree = h("span.muted.branch", { hidden: true }, icon("branch"), h("span.away", "Branch "), branch);
	const finish = h("button.button.small.finish-button", { hidden: true, title: "Finish the work tree (Alt+M)", onclick: handlers.finish }, "Finish…");
	return {
		element: h("header.chat-head", h("a.icon-button.home", { href: "/", label: "All sessions", title: "All sessions" }, icon("back")), badge, h("h1", title), place, where, tree, finish, changes, menuButton("Session menu", handlers.items)),
		rename: () => title.disabled || rename(),
		show(session, project, agent, node, canAct) {
			const { worktree } = session;
			setText(title, session.title);
			title.disabled = !canAct;
			title.title = canAct ? "Rename" : session.title;
			where.hidden = !node;
			where.classList.toggle("gone", node?.away === true);
			setText(machine, nodeName(node));
			where.title = node ? nodeText(node, Date.now()) : "";
			setText(badge, agent.badge);
			badge.title = agent.title;
			setText(place, project?.name ?? "");
			place.title = project?.path ?? "";
			tree.hidden = !worktree;
			tree.title = worktree ? `${worktree.branch}\n${worktree.removed ? "The work tree was removed" : worktree.path}` : "";
			tree.classList.toggle("gone", worktree?.removed !== undefined);
			setText(branch, worktree?.branch ?? "");
			finish.hidden = !canAct || !worktree || worktree.removed !== undefined;
		},
	};
}

/** The queued prompts. Most conversations have none, so the module that lists them is loaded with the first. @param {QueueHandlers} handlers @returns {QueueView} */
export function makeWaiting(handlers) {
	const element = h("div");
	let view = /** @type {QueueView | null} */ (null);
	let loading = /** @type {Promise<void> | null} */ (null);
	let last = /** @type {[Api.QueuedEntry[], boolean, boolean]} */ ([[], false, true]);
	return {
		element,
		show(prompts, held, canAct) {
			last = [prompts, held, canAct];
			if (view) view.show(prompts, held, canAct);
			else if (prompts.length) loading ??= Promise.all([import("./queue-view.js"), styles("queue")]).then(([{ makeQueue }]) => {
				view = makeQueue(handlers);
				element.append(view.element);
				view.show(...last);
			}, () => void (loading = null));
		},
	};
}

/** That a session has ended, and why if it ended by itself. @type {Record<string, string>} */
const ENDS = { idle_timeout: "This session ended after a time without activity.", made_room: "This session ended to make room for another one.", imported: "Imported. The agent's own file stays as it is; a prompt goes on with the conversation here." };

/** @param {StripHandlers} handlers @returns {Strip} */
export function makeStrip({ onresume, onunarchive, onask, onrestore, queue }) {
	const text = h("span.strip-text");
	const show = h("button.link", { hidden: true, title: "Go to the request (Alt+A)", onclick: onask }, "Show");
	const time = h("span");
	const hint = h("span.stop-hint", { role: "status" });
	const running = h("div.running", { hidden: true }, h("span.pulse"), text, show, time, hint);
	const ended = h("div.ended", { hidden: true });
	let began = 0;
	let shown = "active true";
	let isWaiting = false;
	// While a turn waits for the human, the agent's time stops.
	const tick = () => setText(time, !isWaiting && Date.now() - began > 2000 ? duration(Date.now() - began) : "");
	return {
		element: h("div.strip", ended, running, queue),
		tick,
		showTurn(since, doing, waits) {
			running.hidden = !doing;
			isWaiting = waits;
			show.hidden = !waits;
			running.classList.toggle("waiting", waits);
			began = new Date(since).getTime();
			setText(text, doing);
			tick();
		},
		showHint: (words) => setText(hint, words),
		showSession({ status, reason = "", archived, worktree }, canAct) {
			const state = archived ? "archived" : worktree?.removed ? "removed" : status;
			if (`${state} ${canAct}` === shown) return;
			shown = `${state} ${canAct}`;
			/** @type {Record<string, [string, string, string?, (() => void)?]>} */
			const words = {
				archived: ["archive", "This session is archived.", "Restore", onunarchive],
				removed: ["branch", "The work tree of this session is removed. A snapshot has its files.", "Restore work tree", onrestore],
				completed: ["check", ENDS[reason] ?? "This session has ended.", "Resume", onresume],
				error: ["warning", "The agent failed.", "Try again", onresume],
				cancelled: ["close", "This session was cancelled. It can be read, but not resumed."],
			};
			const [name, what, label, onclick] = words[state] ?? ["", ""];
			ended.hidden = !what;
			fill(ended, icon(name), h("span", what), canAct && label && h("button.button.small", { onclick }, label));
		},
	};
}
