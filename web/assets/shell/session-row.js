// One session in the sidebar.

import { relativeTime } from "../lib/words.js";
import { h, iconButton, onLook, setText } from "../ui/dom.js";
import { editTitle } from "../ui/parts.js";

const ACTIVITY_WORDS = { idle: "idle", running: "running", waiting: "needs your answer" };

/** Shows the status of a session. @param {HTMLElement} dot @param {Session | undefined} session */
export function paintDot(dot, session) {
	const { status = "active", activity = "idle" } = session ?? {};
	dot.dataset.activity = status === "active" ? activity : "ended";
	dot.ariaLabel = status === "active" ? ACTIVITY_WORDS[activity] : status;
}

/** @param {RowWishes} wishes @returns {Row} */
export function makeRow(uid = "", wishes) {
	const title = h("span.title");
	const dot = h("span.dot", { role: "img" });
	const badge = h("span.badge");
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
			wishes.open();
		},
		onkeydown: ({ key }) => (key === "F2" ? rename() : key === "Delete" && wishes.archive()),
	}, dot, title, h("span.meta", badge, time));
	const rename = () => editTitle(link, title.textContent ?? "", wishes.rename);
	const buttons = [iconButton("edit", "Rename (F2)", rename), iconButton("archive", "Archive (Delete)", wishes.archive)];
	// Only the buttons of the focused row are in the tab order, not those of all rows.
	const reach = (tabIndex = 0) => buttons.forEach((button) => (button.tabIndex = tabIndex));
	reach(-1);
	return Object.assign(h("li.session", { onfocusin: () => reach(), onfocusout: () => reach(-1) }, link, h("span.row-actions", ...buttons)), {
		link,
		/** @type {Row["show"]} */
		show(session, agent, isActive) {
			link.title = session.title;
			setText(title, session.title);
			setText(badge, agent.badge);
			badge.title = agent.title;
			activeAt = session.lastActiveAt;
			setText(time, relativeTime(activeAt, Date.now()));
			paintDot(dot, session);
			link.ariaCurrent = isActive ? "page" : null;
			["Rename", "Archive"].forEach((verb, at) => (buttons[at].ariaLabel = `${verb} ${session.title}`));
		},
	});
}
