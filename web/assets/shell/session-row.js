// One session in the sidebar.

import { nodeName, nodeText } from "../lib/nodes.js";
import { relativeTime } from "../lib/words.js";
import { h, onLook, setText } from "../ui/dom.js";
import { editTitle } from "../ui/edit-title.js";
import { menuButton } from "../ui/parts.js";
import { makeMark, paintMarkOf, paintSums } from "./marks.js";

/** @param {RowHandlers} handlers @returns {Row} */
export function makeRow(uid = "", handlers) {
	const title = h("span.title");
	const dot = makeMark();
	const badge = h("span.badge");
	const sums = h("span.sums");
	const where = h("span.node", { hidden: true });
	const time = h("time");
	let activeAt = "";
	onLook(time, () => (time.title = new Date(activeAt).toLocaleString()));
	const link = h("a.roving", {
		href: `/s/${encodeURIComponent(uid)}`,
		draggable: false,
		onclick: (event) => {
			// With a modifier the browser opens the session as a separate page.
			if (event.ctrlKey || event.metaKey || event.shiftKey) return;
			event.preventDefault();
			handlers.open();
		},
		onkeydown: ({ key }) => handlers.may("member") && (key === "F2" ? rename() : key === "Delete" && handlers.archive()),
	}, dot, title, h("span.meta", where, sums, badge, time));
	const rename = () => editTitle(link, title.textContent ?? "", handlers.rename);
	const menu = menuButton("", () => [
		["Rename (F2)", "edit", rename],
		["Archive (Delete)", "archive", handlers.archive],
		...(handlers.may("owner") ? [/** @type {MenuItem} */ (["Delete…", "trash", handlers.erase])] : []),
	]);
	// Only the menu of the focused row is in the tab order, not those of all rows.
	menu.tabIndex = -1;
	return Object.assign(h("li.session", { onfocusin: () => (menu.tabIndex = 0), onfocusout: () => (menu.tabIndex = -1) }, link, h("span.row-actions", menu)), {
		link,
		/** @type {Row["show"]} */
		show(session, agent, isActive, node, isElsewhere) {
			link.title = [session.title, session.worktree && `Branch ${session.worktree.branch}`, node && nodeText(node, Date.now())].filter(Boolean).join("\n");
			menu.hidden = !handlers.may("member");
			// Its project names the machine, as a rule.
			where.hidden = !node || !isElsewhere;
			where.classList.toggle("gone", node?.away === true);
			setText(where, nodeName(node));
			setText(title, session.title);
			setText(badge, agent.badge);
			const isImported = session.reason === "imported";
			badge.title = isImported ? `Imported from ${agent.title}` : agent.title;
			badge.classList.toggle("imported", isImported);
			paintSums(sums, session);
			activeAt = session.lastActiveAt;
			setText(time, relativeTime(activeAt, Date.now()));
			paintMarkOf(dot, session);
			link.classList.toggle("unseen", session.unseen);
			link.ariaCurrent = isActive ? "page" : null;
			menu.ariaLabel = menu.title = `Menu of ${session.title}`;
		},
	});
}
