// <convoke-archive>: all archived sessions, with search; restored or deleted from here.

import { matching } from "../lib/query.js";
import { plural, relativeTime } from "../lib/words.js";
import { component, fill, h, keyed, on, part, setText } from "../ui/dom.js";
import { me } from "../ui/me.js";
import { toastError } from "../ui/parts.js";

/** @type {(place: PlaceOptions) => PlaceView} */
export const makeArchive = component("convoke-archive", (element, { store, line, handlers }) => {
	const field = h("input.field", { type: "search", placeholder: "Search the archive by title or project", label: "Search the archive" });
	const list = h("ul.archive-list");
	const told = h("p.muted", { role: "status" }, "Loading…");
	let sessions = /** @type {Session[]} */ ([]);

	const projectName = (id = "") => store.projects.find((project) => project.id === id)?.name ?? "";

	/** @param {Session} session */
	function make(session) {
		const { uid: sessionId, title } = session;
		return h("li", h("button.link.name", { onclick: () => handlers.open(session) }, title), h("span.badge", store.agent(session.cliType).badge), h("span.muted.place"), h("time.muted"),
			me.may("member", session.projectId) && h("button.button.small", { label: `Restore ${title}`, onclick: () => line.request("session:unarchive", { sessionId }).catch(toastError) }, "Restore"),
			me.may("owner", session.projectId) && h("button.button.small", { label: `Delete ${title}`, onclick: () => handlers.erase(session) }, "Delete…"));
	}

	function paint() {
		const found = sessions.filter(({ title, projectId }) => matching(`${title} ${projectName(projectId)}`, field.value.trim()));
		keyed(list, found, ({ uid }) => uid, make, (row, { projectId, lastActiveAt }) => {
			setText(part(row, ".place"), projectName(projectId));
			setText(part(row, "time"), relativeTime(lastActiveAt, Date.now()));
		});
		setText(told, !sessions.length ? "No archived sessions. Archiving hides a session from the sidebar and keeps everything in it." : found.length ? plural(found.length, "session") : "No archived session matches.");
	}

	async function load() {
		const lists = await Promise.all(store.projects.map(({ id }) => line.query("session:list", { projectId: id, archived: true })));
		sessions = lists.flatMap((frame) => frame.sessions).sort((a, b) => b.lastActiveAt.localeCompare(a.lastActiveAt));
		paint();
	}

	on(field, "input", paint);
	fill(element, h("div.page", h("h2.page-title", "Archive"), field, told, list));
	load().catch(toastError);
	return {
		receive({ type }) {
			if (["project:list", "session:archived", "session:unarchived", "session:erased"].includes(type)) load().catch(() => {});
		},
		focusFirst: () => field.focus(),
	};
});
