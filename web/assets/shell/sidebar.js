// <convoke-sidebar>: projects and their sessions.

import { keep, kept } from "../lib/kept.js";
import { isTyping } from "../lib/keys.js";
import { matching } from "../lib/store.js";
import { plural } from "../lib/words.js";
import { component, h, icon, iconButton, keyed, on, part, setText } from "../ui/dom.js";
import { menuButton } from "../ui/parts.js";
import { makeRow, paintDot } from "./session-row.js";

/** Sessions of a project that are shown initially. */
const SHOWN = 50;

/** @type {(store: Store, wishes: SidebarWishes) => Sidebar} */
export const makeSidebar = component("convoke-sidebar", (element, store, wishes) => {
	const filter = h("input.field", { type: "search", placeholder: "Find a session", label: "Find a session" });
	const list = h("div");
	const empty = h("p.none.muted");
	const folded = new Set((kept("folded") ?? "").split(" "));
	/** Projects that show all of their sessions. */
	const whole = new Set();
	let active = /** @type {string | null} */ (null);

	/** @type {SidebarInside} */
	const inside = {
		paint() {
			const query = filter.value.trim();
			const found = store.projects.map((project) => ({ project, sessions: store.sessionsOf(project.id).filter(({ title }) => matching(title, query)) }));
			const shown = found.filter(({ sessions }) => !query || sessions.length);
			empty.hidden = shown.length > 0;
			setText(empty, query ? "No session matches." : "No projects yet.");
			keyed(list, shown, ({ project }) => project.id, ({ project }) => inside.makeProject(project), (section, { project, sessions }) => inside.paintProject(section, project, sessions, query));
			inside.rove();
		},
		makeProject(project) {
			const { id, name, path } = project;
			const create = () => wishes.create(project);
			const toggle = () => {
				if (!folded.delete(id)) folded.add(id);
				keep("folded", [...folded].join(" "));
				inside.paint();
			};
			const menu = menuButton(`Menu of ${name}`, () => [
				["New session", "add", create],
				["Archived sessions", "archive", () => wishes.archived(project)],
				["Remove project…", "trash", () => wishes.remove(project)],
			]);
			return h("section.project",
				h("div.project-head", h("button.fold.roving", { title: path, onclick: toggle }, icon("chevron"), h("span.title", name), h("span.dot", { role: "img" })), menu, iconButton("add", `New session in ${name}`, create)),
				h("div.sessions", h("ul"), h("p.none.muted", "No sessions. Create one to get started."), h("button.link", {
					onclick: ({ target }) => {
						const rows = /** @type {HTMLElement} */ (target).closest(".sessions")?.getElementsByTagName("a");
						const before = rows?.length ?? 0;
						whole.add(id);
						inside.paint();
						rows?.[before]?.focus();
					},
				})));
		},
		paintProject(section, { id }, sessions, query) {
			const isFolded = folded.has(id) && !query;
			const dot = part(section, ".dot");
			// A collapsed project shows the status of its busiest session.
			const busiest = sessions.find(({ activity }) => activity === "waiting") ?? sessions.find(({ activity }) => activity === "running");
			paintDot(dot, busiest);
			dot.hidden = !isFolded || !busiest;
			part(section, ".fold").ariaExpanded = String(!isFolded);
			part(section, ".sessions").hidden = isFolded;
			const shown = sessions.slice(0, isFolded ? 0 : query || whole.has(id) ? Infinity : SHOWN);
			keyed(part(section, "ul"), shown, ({ uid }) => uid, inside.makeRow, inside.paintRow);
			part(section, ".none").hidden = sessions.length > 0 || !store.listed.has(id);
			const more = part(section, ".link");
			more.hidden = shown.length === sessions.length;
			setText(more, `Show ${plural(sessions.length - shown.length, "more session")}`);
		},
		makeRow({ uid }) {
			const session = () => /** @type {Session} */ (store.sessions.get(uid));
			const row = makeRow(uid, {
				open: () => wishes.open(session()),
				archive: () => {
					// Move the focus off a row that is about to be removed.
					const all = inside.stops();
					const at = all.indexOf(row.link);
					if (row.contains(document.activeElement)) (all[at + 1] ?? all[at - 1])?.focus();
					wishes.archive(session());
				},
				rename: (title) => wishes.rename(session(), title),
			});
			return row;
		},
		paintRow: (row, session) => row.show(session, store.agent(session.cliType), session.uid === active),
		stops: () => /** @type {HTMLElement[]} */ ([...list.querySelectorAll(".roving")]).filter((stop) => !stop.closest("[hidden]")),
		rove() {
			const all = inside.stops();
			const here = all.find((stop) => stop === document.activeElement) ?? all.find((stop) => stop.ariaCurrent) ?? all[0];
			for (const stop of all) stop.tabIndex = stop === here ? 0 : -1;
		},
	};

	on(filter, "input", inside.paint);
	on(filter, "keydown", (event) => {
		if (event.key === "ArrowDown") inside.stops()[0]?.focus();
		else if (event.key === "Enter" && filter.value.trim()) list.querySelector("a")?.click();
		else if (event.key === "Escape" && filter.value) {
			filter.value = "";
			inside.paint();
		} else return;
		event.preventDefault();
		event.stopPropagation();
	});
	on(element, "keydown", (event) => {
		const all = inside.stops();
		const at = all.indexOf(event.target);
		if (at < 0 || isTyping(event.target) || event.altKey || event.ctrlKey || event.metaKey) return;
		const isFold = all[at].matches(".fold");
		const toggles = isFold && event.key === (all[at].ariaExpanded === "true" ? "ArrowLeft" : "ArrowRight");
		const home = isFold ? undefined : all.slice(0, at).findLast((stop) => stop.matches(".fold"));
		const to = { ArrowDown: all[at + 1], ArrowUp: all[at - 1], Home: all[0], End: all.at(-1), ArrowLeft: home }[event.key];
		if (toggles) all[at].click();
		else if (to) to.focus();
		else return;
		event.preventDefault();
		inside.rove();
	});
	element.append(h("div.find", icon("search"), filter), empty, list);

	return {
		find() {
			filter.focus();
			filter.select();
		},
		show(uid) {
			active = uid;
			inside.paint();
		},
	};
});
