// <convoke-sidebar>: projects and their sessions.

import { gravest } from "../lib/attention.js";
import { keep, kept } from "../lib/kept.js";
import { isTyping } from "../lib/keys.js";
import { plural } from "../lib/words.js";
import { component, h, icon, iconButton, keyed, on, part, setText } from "../ui/dom.js";
import { nodeName, nodeText } from "../lib/nodes.js";
import { nodes } from "../ui/nodes.js";
import { menuButton } from "../ui/parts.js";
import { makeMark, paintMark } from "./marks.js";
import { makeRow } from "./session-row.js";

/** With more projects than this, those that are empty say so in a line. */
const FEW = 3;

/** Sessions of a project that are shown initially. */
const SHOWN = 50;

/** @type {(store: Store, handlers: SidebarHandlers) => Sidebar} */
export const makeSidebar = component("convoke-sidebar", (element, store, handlers) => {
	const list = h("div");
	const folders = h("div");
	const moreFolders = h("button.link", { onclick: () => ((foldersShown += SHOWN), inside.paint()) });
	const others = h("section.others", h("div.others-head", h("button.fold.roving", { ariaExpanded: "false", title: "Folders with sessions that are no projects", onclick: () => ((isOpen = !isOpen), inside.paint()) }, icon("chevron"), h("span.title", "Other folders"), h("span.muted.many"))), h("div.sessions", folders, moreFolders));
	let [isOpen, foldersShown] = [false, SHOWN];
	/** The other folders whose sessions are shown. */
	const opened = new Set();
	const empty = h("p.none.muted", "No projects yet.");
	const folded = new Set((kept("folded") ?? "").split(" "));
	/** Projects that show all of their sessions. */
	const whole = new Set();
	let active = /** @type {string | null} */ (null);

	/** @type {SidebarInside} */
	const inside = {
		paint() {
			empty.hidden = store.projects.length > 0;
			keyed(list, store.projects, ({ id }) => id, inside.makeProject, inside.paintProject);
			inside.paintFolders();
			inside.rove();
		},
		paintFolders() {
			const all = store.folders;
			if (all.length === 0) return others.remove();
			if (!others.isConnected) element.append(others);
			setText(part(others, ".many"), String(all.length));
			part(others, ".fold").ariaExpanded = String(isOpen);
			part(others, ".sessions").hidden = !isOpen;
			const shown = all.slice(0, isOpen ? foldersShown : 0);
			keyed(folders, shown, ({ id }) => id, inside.makeFolder, inside.paintFolder);
			moreFolders.hidden = shown.length === all.length;
			setText(moreFolders, `Show ${plural(Math.min(SHOWN, all.length - shown.length), "more folder")}`);
		},
		makeFolder(folder) {
			const { id, name, path } = folder;
			const toggle = () => {
				if (!opened.delete(id)) opened.add(id);
				inside.paint();
			};
			return h("section.project.folder", h("div.project-head", h("button.fold.roving", { title: path, onclick: toggle }, icon("chevron"), h("span.title", name), makeMark())), inside.makeSessions(id));
		},
		paintFolder(section, folder) {
			const isFolded = !opened.has(folder.id);
			if (!isFolded && !store.listed.has(folder.id)) handlers.list(folder);
			inside.paintSessions(section, folder.id, isFolded);
		},
		makeSessions: (id) => h("div.sessions", h("ul"), h("p.none.muted", "No sessions."), h("button.link", {
			onclick: ({ target }) => {
				const rows = /** @type {HTMLElement} */ (target).closest(".sessions")?.getElementsByTagName("a");
				const before = rows?.length ?? 0;
				whole.add(id);
				inside.paint();
				rows?.[before]?.focus();
			},
		})),
		makeProject(project) {
			const { id, name, path } = project;
			const create = () => handlers.create(project);
			const toggle = () => {
				if (!folded.delete(id)) folded.add(id);
				keep("folded", [...folded].join(" "));
				inside.paint();
			};
			const menu = menuButton(`Menu of ${name}`, () => [
				["New session", "add", create],
				...(handlers.may("owner", id) ? [/** @type {MenuItem} */ (["Remove project…", "trash", () => handlers.remove(project)])] : []),
			]);
			return h("section.project",
				h("div.project-head", h("button.fold.roving", { title: path, onclick: toggle }, icon("chevron"), h("span.title", name), h("span.node.muted", { hidden: true }), makeMark()), menu, iconButton("add", `New session in ${name}`, create)),
				inside.makeSessions(id));
		},
		paintProject(section, { id, path, node: nodeId }) {
			const canCreate = handlers.may("member", id);
			for (const button of /** @type {HTMLElement[]} */ ([...section.querySelectorAll(".project-head > .icon-button")])) button.hidden = !canCreate;
			const node = nodes.of(nodeId);
			const where = part(section, ".project-head .node");
			where.hidden = !node;
			where.classList.toggle("gone", node?.away === true);
			setText(where, nodeName(node));
			part(section, ".fold").title = node ? `${path}\n${nodeText(node, Date.now())}` : path;
			setText(part(section, ".none"), canCreate && store.projects.length <= FEW ? "No sessions. Create one to get started." : "No sessions.");
			inside.paintSessions(section, id, folded.has(id));
		},
		paintSessions(section, id, isFolded) {
			const sessions = store.sessionsOf(id);
			const dot = part(section, ".dot");
			// A collapsed project shows the gravest mark in it.
			const mark = gravest(sessions);
			paintMark(dot, mark);
			dot.hidden = !isFolded || !mark;
			part(section, ".fold").ariaExpanded = String(!isFolded);
			part(section, ".sessions").hidden = isFolded;
			const shown = sessions.slice(0, isFolded ? 0 : whole.has(id) ? Infinity : SHOWN);
			keyed(part(section, "ul"), shown, ({ uid }) => uid, inside.makeRow, inside.paintRow);
			part(section, ".none").hidden = sessions.length > 0 || !store.listed.has(id);
			const more = part(section, ".link");
			more.hidden = shown.length === sessions.length;
			setText(more, `Show ${plural(sessions.length - shown.length, "more session")}`);
		},
		makeRow({ uid }) {
			const session = () => /** @type {Session} */ (store.sessions.get(uid));
			const row = makeRow(uid, {
				may: (role) => handlers.may(role, session()?.projectId),
				open: () => handlers.open(session()),
				archive: () => {
					// Move the focus off a row that is about to be removed.
					const all = inside.stops();
					const at = all.indexOf(row.link);
					if (row.contains(document.activeElement)) (all[at + 1] ?? all[at - 1])?.focus();
					handlers.archive(session());
				},
				erase: () => handlers.erase(session()),
				rename: (title) => handlers.rename(session(), title),
			});
			return row;
		},
		paintRow: (row, session) => row.show(session, store.agent(session.cliType), session.uid === active, nodes.of(session.node), store.projects.find(({ id }) => id === session.projectId)?.node !== session.node),
		stops: () => /** @type {HTMLElement[]} */ ([...element.querySelectorAll(".roving")]).filter((stop) => !stop.closest("[hidden]")),
		rove() {
			const all = inside.stops();
			const here = all.find((stop) => stop === document.activeElement) ?? all.find((stop) => stop.ariaCurrent) ?? all[0];
			for (const stop of all) stop.tabIndex = stop === here ? 0 : -1;
		},
	};

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
	element.append(empty, list);

	return {
		show(uid) {
			active = uid;
			inside.paint();
		},
	};
});
