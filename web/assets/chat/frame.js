// The frame of a conversation: the header above it; below it the running turn, queued prompts, and how it ended.

import { duration, plural } from "../lib/words.js";
import { fill, h, icon, keyed, setText } from "../ui/dom.js";
import { editTitle, menuButton } from "../ui/parts.js";

/** @param {(title: string) => void} onrename @param {() => MenuItem[]} items @returns {Header} */
export function makeHeader(onrename, items) {
	const rename = () => editTitle(title, title.textContent ?? "", onrename);
	const title = h("button.title-button", { title: "Rename", onclick: rename });
	const badge = h("span.badge");
	const place = h("span.muted.place");
	return {
		element: h("header.chat-head", h("a.icon-button.home", { href: "/", label: "All sessions", title: "All sessions" }, icon("back")), badge, h("h1", title), place, menuButton("Session menu", items)),
		rename,
		show(session, project, agent) {
			setText(title, session.title);
			setText(badge, agent.badge);
			badge.title = agent.title;
			setText(place, project?.name ?? "");
			place.title = project?.path ?? "";
		},
	};
}

/** Why a session ended by itself. @type {Record<string, string>} */
const REASONS = { idle_timeout: " It was idle for too long.", made_room: " It was ended to make room for another session." };

/** @param {() => void} onresume @param {() => void} onunarchive @returns {Strip} */
export function makeStrip(onresume, onunarchive) {
	const text = h("span.strip-text");
	const time = h("span");
	const running = h("div.running", { hidden: true }, h("span.pulse"), text, time);
	const queue = h("ol.queue", { label: "Waiting prompts", hidden: true });
	const ended = h("div.ended", { hidden: true });
	let began = 0;
	let shown = "active";
	const tick = () => setText(time, Date.now() - began > 2000 ? duration(Date.now() - began) : "");
	return {
		element: h("div.strip", ended, running, queue),
		tick,
		showTurn(since, doing) {
			running.hidden = !doing;
			began = new Date(since).getTime();
			setText(text, doing);
			tick();
		},
		showQueue(queued) {
			queue.hidden = queued.length === 0;
			const lines = [{ id: "", content: `${plural(queued.length, "message")} waiting` }, ...queued];
			keyed(queue, lines, ({ id }) => id, ({ id }) => h(id ? "li" : "li.muted"), (line, { content }) => setText(line, content));
		},
		showSession({ status, reason = "", archived }) {
			const state = archived ? "archived" : status;
			if (state === shown) return;
			shown = state;
			/** @type {Record<string, [string, string, string?, (() => void)?]>} */
			const words = {
				archived: ["archive", "This session is archived.", "Restore", onunarchive],
				completed: ["check", `This session was completed.${REASONS[reason] ?? ""}`, "Resume", onresume],
				error: ["warning", "The agent failed.", "Try again", onresume],
				cancelled: ["close", "This session was cancelled. It can be read, but not resumed."],
			};
			const [name, what, label, onclick] = words[state] ?? ["", ""];
			ended.hidden = !what;
			fill(ended, icon(name), h("span", what), label && h("button.button.small", { onclick }, label));
		},
	};
}
