// <convoke-archive>: all archived sessions, with search; opened, restored or deleted from here.

import { matching } from "../lib/query.js";
import { plural, relativeTime } from "../lib/words.js";
import { component, fill, h, keyed, on, part, setText } from "../ui/dom.js";
import { me } from "../ui/me.js";
import { toastError } from "../ui/parts.js";
import { makeRereading } from "../ui/rereading.js";
import { rest } from "../ui/rest.js";

/** Sessions that are read; the daemon lists no more at once. */
const READ_MAX = 10_000;
/** Rows that are shown initially, and more with each click. */
const SHOWN = 200;

/** Frames after which others are archived, or in other projects. */
const CHANGES = ["project:list", "project:added", "project:removed", "session:archived", "session:unarchived", "session:erased"];

/** @type {(place: PlaceOptions) => PlaceView} */
export const makeArchive = component("convoke-archive", (element, { store, line, handlers }) => {
	const field = h("input.field", { type: "search", placeholder: "Search the archive by title or project", label: "Search the archive" });
	const list = h("ul.archive-list");
	const told = h("p.muted", { role: "status" }, "Loading…");
	const more = h("button.button.small.archive-more", { hidden: true, onclick: () => ((shown += SHOWN), paint()) });
	let [sessions, total, shown] = [/** @type {Api.Session[]} */ ([]), 0, SHOWN];
	/** Projects by their ids, also removed ones and folders that are none. @type {Map<string, Api.Repo>} */
	let folders = new Map();
	/** The number of the last request, whose response alone counts. */
	let asked = 0;

	const folderOf = (id = "") => store.folderOf(id) ?? folders.get(id);
	const placeOf = (id = "") => folderOf(id)?.name ?? "";

	/** @param {Api.Session} session */
	function make({ id, repoId, agent }) {
		/** As it is at the click. */
		const now = () => /** @type {Api.Session} */ (sessions.find((session) => session.id === id));
		const open = () => handlers.open({ uid: id, title: now().title, projectId: repoId });
		const erase = () => handlers.erase({ uid: id, title: now().title, messageCount: now().messageCount });
		return h("li", h("button.link.name", { onclick: open }), h("span.badge", store.agent(agent).badge),
			h("span.muted.place"), h("time.muted"),
			me.may("member", repoId) && h("button.button.small", { "data-verb": "Restore", onclick: () => line.request("session:unarchive", { sessionId: id }).catch(toastError) }, "Restore"),
			me.may("owner", repoId) && h("button.button.small", { "data-verb": "Delete", onclick: erase }, "Delete…"));
	}

	function paint() {
		const found = sessions.filter(({ title, repoId }) => matching(`${title} ${placeOf(repoId)}`, field.value.trim()));
		const rows = found.slice(0, shown);
		keyed(list, rows, ({ id }) => id, make, (row, { title, repoId, lastActiveAt }) => {
			const isProject = store.projects.some(({ id }) => id === repoId);
			setText(part(row, ".name"), (part(row, ".name").title = title));
			for (const button of row.querySelectorAll("[data-verb]")) button.ariaLabel = `${button.dataset.verb} ${title}`;
			setText(part(row, ".place"), [placeOf(repoId), isProject ? "" : "no project"].filter(Boolean).join(" · "));
			part(row, ".place").title = folderOf(repoId)?.path ?? "";
			setText(part(row, "time"), relativeTime(lastActiveAt, Date.now()));
		});
		more.hidden = rows.length === found.length;
		setText(more, `Show ${Math.min(SHOWN, found.length - rows.length)} more`);
		const beyond = total > sessions.length ? `; the newest ${sessions.length} of ${total} are searched` : "";
		setText(told, !sessions.length ? "No archived sessions. Archiving hides a session from the sidebar and keeps everything in it." : found.length ? `${plural(found.length, "session")}${beyond}` : `No archived session matches${beyond}.`);
	}

	async function load() {
		const mine = (asked += 1);
		const [listed, { repos }] = await Promise.all([rest(`/api/sessions?archived=true&limit=${READ_MAX}`), rest("/api/repos?found=true&archived=true")]);
		if (mine !== asked) return;
		folders = new Map(repos.map((/** @type {Api.Repo} */ repo) => [repo.id, repo]));
		total = listed.total;
		sessions = listed.sessions.sort((/** @type {Api.Session} */ a, /** @type {Api.Session} */ b) => b.lastActiveAt.localeCompare(a.lastActiveAt));
		paint();
	}

	const fail = (/** @type {any} */ error) => {
		if (!sessions.length) setText(told, "The archive cannot be loaded.");
		toastError(error);
	};
	on(field, "input", () => {
		shown = SHOWN;
		paint();
	});
	fill(element, h("div.page", h("h2.page-title", "Archive"), field, told, list, more));
	load().catch(fail);
	const readSoon = makeRereading(element, () => load().catch(() => {}));
	return {
		receive(frame) {
			const isRenamed = frame.type === "session:title-updated" && sessions.some(({ id }) => id === store.uidOf(frame));
			if (isRenamed || CHANGES.includes(frame.type)) readSoon();
		},
		focusFirst: () => field.focus(),
	};
});
