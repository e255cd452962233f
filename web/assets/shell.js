// The shell: sidebar, tabs with a portlet each, and the inbox.

import { attempt, keep, kept, makeDrafts } from "./lib/kept.js";
import { isTyping, shellAction } from "./lib/keys.js";
import { arrived, makeStore } from "./lib/store.js";
import { tabs } from "./lib/tabs.js";
import { windowTitle } from "./lib/words.js";
import { ask } from "./shell/dialogs.js";
import { makeInbox } from "./shell/inbox.js";
import { makeLayout } from "./shell/layout.js";
import { makePanels } from "./shell/panels.js";
import { makeSidebar } from "./shell/sidebar.js";
import { makeTabStrip } from "./shell/tab-strip.js";
import { fill, h, icon, on, part, setText } from "./ui/dom.js";
import { connect, lineStatus } from "./ui/line.js";
import { announce, dialogs, toast, toastError } from "./ui/parts.js";

const find = (id = "") => part(document, `#${id}`);
const root = document.documentElement;

/** The three themes, each with its icon. @type {Record<string, string>} */
const THEMES = { system: "system", light: "sun", dark: "moon" };

/** This window's own tabs survive its reload; other windows have theirs. @param {string} [text] */
const ownTabs = (text) => attempt(() => {
	if (text) sessionStorage.setItem("convoke.tabs", text);
	return sessionStorage.getItem("convoke.tabs");
});

const { line, start } = connect();
const store = makeStore();
const drafts = makeDrafts(localStorage, () => Date.now());
let state = tabs.read(ownTabs() ?? kept("tabs"));
let isNews = false;

/** @type {Shell} */
const shell = {
	ask: (type, fields) => line.request(type, fields).then(() => true, (error) => (toastError(error), false)),
	async load() {
		await Promise.all([line.request("agent:list"), line.request("project:list"), line.request("inbox:list")]);
		await Promise.all(store.projects.map(({ id }) => line.request("session:list", { projectId: id })));
		// Close tabs whose sessions were archived while this page was closed.
		const unknown = state.tabs.filter(({ uid, projectId }) => !store.sessions.has(uid) && store.listed.has(projectId));
		for (const projectId of new Set(unknown.map((tab) => tab.projectId))) {
			const { sessions } = await line.query("session:list", { projectId, archived: true });
			for (const { uid } of sessions) shell.setTabs(tabs.close(state, uid));
		}
	},
	receive(frame) {
		const before = store.inbox;
		const uid = store.uidOf(frame);
		const isKnown = store.apply(frame);
		if (frame.type === "inbox:changed") shell.ask("inbox:list");
		if (frame.type === "session:archived") state = tabs.close(state, uid);
		if (frame.type === "project:added") shell.ask("session:list", { projectId: frame.project.id });
		if (!isKnown) return;
		shell.setTabs(state);
		shell.paintInbox(arrived(before, store.inbox));
	},
	paintInbox(fresh) {
		inbox.paint();
		const { length } = store.inbox;
		find("inbox-count").hidden = length === 0;
		setText(find("inbox-count"), String(length));
		// Requests that were there when the page was opened are not announced.
		if (isNews && fresh.length) {
			announce(`${fresh[0].title}: needs your answer.`);
			if (inbox.notifies && document.visibilityState === "hidden") fresh.forEach(shell.notify);
		}
		isNews ||= store.listed.size > 0;
	},
	notify(item) {
		const note = new Notification(item.title, { body: [item.agent, item.project].filter(Boolean).join(" · "), tag: item.id, icon: "/assets/icon.svg" });
		note.onclick = () => {
			window.focus();
			note.close();
			if (store.uidOf(item)) shell.openById(store.uidOf(item));
			else if (inbox.hidden) shell.act({ action: "inbox" });
		};
	},
	paintTitle() {
		const title = windowTitle(store.inbox.length, state.tabs.find(({ uid }) => uid === state.active)?.title);
		if (document.title !== title) document.title = title;
	},
	open({ uid, title, projectId }) {
		state = tabs.open(state, { uid, title, projectId });
		shell.go(uid);
		layout.close();
	},
	openById(uid) {
		const session = store.sessions.get(uid);
		if (session) shell.open(session);
		else window.open(`/s/${encodeURIComponent(uid)}`, "_blank", "noopener");
		if (matchMedia("(max-width: 1000px)").matches && !inbox.hidden) shell.act({ action: "inbox" });
	},
	setTabs(next) {
		state = next;
		for (const { uid, title } of state.tabs) {
			const session = store.sessions.get(uid);
			if (session && session.title !== title) state = tabs.rename(state, uid, session.title);
		}
		const text = JSON.stringify(state);
		keep("tabs", text);
		ownTabs(text);
		strip.show(state, (uid) => store.sessions.get(uid));
		panels.show(state);
		sidebar.show(state.active);
		find("panels").hidden = state.active === null;
		shell.paintTitle();
		shell.paintWelcome();
	},
	paintWelcome() {
		const welcome = find("welcome");
		const hasProjects = store.projects.length > 0;
		const words = hasProjects ? "Choose a session on the left, or create a new one." : "Add a folder as a project, then create a session with an agent in it.";
		welcome.hidden = state.active !== null || !line.isOpen;
		if (welcome.dataset.words === words) return;
		welcome.dataset.words = words;
		fill(welcome, h("img", { src: "/assets/icon.svg", alt: "", width: 48 }), h("h2", "Convoke"), h("p.muted", words),
			h("button.button.primary", { onclick: () => shell.act({ action: "new-session" }) }, hasProjects ? "New session" : "Add a project"),
			h("p.muted.hint", h("kbd", "?"), " shows the keyboard shortcuts"));
	},
	create(project) {
		keep("project", project.id);
		ask.newSession(line, store, project, shell.open);
	},
	addProject: () => ask.addProject(line, (project) => toast(`Added ${project.name}.`, "New session", () => shell.create(project))),
	async archive({ uid: sessionId, title }) {
		const isOpen = state.tabs.some(({ uid }) => uid === sessionId);
		const undo = async () => {
			const isBack = await shell.ask("session:unarchive", { sessionId });
			const session = store.sessions.get(sessionId);
			if (isBack && isOpen && session) shell.open(session);
		};
		if (await shell.ask("session:archive", { sessionId })) toast(`Archived “${title}”.`, "Undo", undo);
	},
	go(uid) {
		if (!uid) return;
		shell.setTabs(tabs.activate(state, uid));
		panels.focus(uid);
	},
	act({ action, number = 0 }) {
		const active = state.active ?? "";
		const at = state.tabs.findIndex(({ uid }) => uid === active);
		/** @type {Record<string, () => void>} */
		const actions = {
			"new-session": () => {
				const wanted = store.sessions.get(active)?.projectId ?? kept("project");
				const project = store.projects.find(({ id }) => id === wanted) ?? store.projects[0];
				if (project) shell.create(project);
				else shell.addProject();
			},
			inbox: () => {
				inbox.hidden = !inbox.hidden;
				find("open-inbox").ariaExpanded = String(!inbox.hidden);
				layout.close();
				if (inbox.hidden) find("open-inbox").focus();
				else inbox.focusFirst();
			},
			find: () => {
				layout.reveal();
				sidebar.find();
			},
			sidebar: () => {
				layout.toggle();
				find(layout.isShown ? "toggle" : "toggle-main").focus();
			},
			"tab-number": () => shell.go(state.tabs[number - 1]?.uid),
			"tab-next": () => shell.go(tabs.neighbour(state, 1)),
			"tab-previous": () => shell.go(tabs.neighbour(state, -1)),
			"tab-right": () => shell.setTabs(tabs.move(state, active, at + 1)),
			"tab-left": () => shell.setTabs(tabs.move(state, active, at - 1)),
			"tab-close": () => {
				shell.setTabs(tabs.close(state, active));
				shell.go(state.active);
			},
			help: dialogs.help,
		};
		if (!dialogs.isOpen()) actions[action]?.();
	},
	paintTheme() {
		const theme = root.dataset.theme ?? "system";
		fill(find("theme"), icon(THEMES[theme]));
		find("theme").title = find("theme").ariaLabel = `Theme: ${theme}`;
	},
};

const layout = makeLayout(() => (find("toggle-main").hidden = !find("side").hidden));
const panels = makePanels(find("panels"));
const sidebar = makeSidebar(store, {
	open: shell.open,
	archive: shell.archive,
	create: shell.create,
	rename: ({ uid: sessionId }, title) => shell.ask("session:rename", { sessionId, title }),
	remove: ({ id, name, path }) => dialogs.confirm(`Remove ${name}?`, `The project is removed from this list. The folder ${path} and its sessions are kept.`, "Remove", () => shell.ask("project:remove", { projectId: id }).then(() => find("add-project").focus())),
	archived: (project) => ask.archived(line, project, shell.open),
});
const strip = makeTabStrip({
	activate: (uid, how) => (how === "press" ? shell.go(uid) : shell.setTabs(tabs.activate(state, uid))),
	close: (uid) => shell.setTabs(tabs.close(state, uid)),
	move: (uid, to) => shell.setTabs(tabs.move(state, uid, to)),
});
const inbox = makeInbox({
	store,
	drafts,
	onopen: shell.openById,
	onhide: () => shell.act({ action: "inbox" }),
	send: async (type, fields) => {
		if (await shell.ask(type, fields)) return;
		shell.ask("inbox:list");
		throw new Error(type);
	},
});

/** @type {[string, string, () => void][]} */
const buttons = [
	["toggle", "sidebar", () => shell.act({ action: "sidebar" })],
	["toggle-main", "sidebar", () => shell.act({ action: "sidebar" })],
	["add-project", "add", shell.addProject],
	["open-inbox", "inbox", () => shell.act({ action: "inbox" })],
	["new-session", "add", () => shell.act({ action: "new-session" })],
	["help", "keyboard", dialogs.help],
	["theme", "system", () => {
		const names = Object.keys(THEMES);
		keep("theme", (root.dataset.theme = names[(names.indexOf(root.dataset.theme ?? "") + 1) % names.length]));
		shell.paintTheme();
	}],
];
for (const [id, name, run] of buttons) {
	find(id).prepend(icon(name));
	on(find(id), "click", run);
}
find("teams").prepend(icon("columns"));
find("projects").append(sidebar);
find("tabs").append(strip);
find("line").append(lineStatus(line));
inbox.hidden = true;
document.body.append(inbox);
drafts.prune();
shell.paintTheme();
shell.setTabs(state);

addEventListener("storage", shell.paintTheme);
addEventListener("keydown", (event) => {
	const wish = shellAction(event, isTyping(event.target));
	if (!wish) return;
	event.preventDefault();
	shell.act(wish);
});
addEventListener("message", ({ origin, source, data }) => {
	const uid = origin === location.origin ? (panels.sessionOf(source) ?? "") : "";
	const session = store.sessions.get(uid);
	if (uid && data.convoke === "ready") panels.ready(uid);
	else if (uid && data.convoke === "key") shell.act(data);
	else if (session && data.convoke === "archive") shell.archive(session);
});
// Update relative times.
setInterval(() => (sidebar.show(state.active), inbox.paint()), 20_000);
line.onframe = shell.receive;
line.onstate = ({ phase }) => {
	if (phase === "open") shell.load().catch(() => {});
	shell.paintWelcome();
};
start();
