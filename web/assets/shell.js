// The shell: sidebar, tabs with a panel each, Home, and the inbox.

import { attempt, keep, kept, makeDrafts } from "./lib/kept.js";
import { isTyping, shellAction } from "./lib/keys.js";
import { makeStore } from "./lib/store.js";
import { tabs } from "./lib/tabs.js";
import { makeHome } from "./shell/home.js";
import { makeInbox } from "./shell/inbox.js";
import { makeLayout, narrow } from "./shell/layout.js";
import { makeNews } from "./shell/news.js";
import { makePanels } from "./shell/panels.js";
import { makePlace, PLACES } from "./shell/places.js";
import { makeSidebar } from "./shell/sidebar.js";
import { makeTabStrip } from "./shell/tab-strip.js";
import { call } from "./ui/access.js";
import { fill, icon, on, part } from "./ui/dom.js";
import { connect, lineStatus } from "./ui/line.js";
import { me } from "./ui/me.js";
import { nodes } from "./ui/nodes.js";
import { dialogs, toast, toastError } from "./ui/parts.js";
import { rest } from "./ui/rest.js";

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
// A new window begins at Home, with the tabs of the last one.
let state = ownTabs() ? tabs.read(ownTabs()) : tabs.activate(tabs.read(kept("tabs")), null);
let painting = 0;
/** The commands of the agents in open tabs. @type {Map<string, { name: string, description: string }[]>} */
const slash = new Map();

/** Other folders whose sessions were requested. @type {Set<string>} */
const listed = new Set();
/** Projects of other machines that were requested. @type {Set<string>} */
const asked = new Set();

/** @type {Shell} */
const shell = {
	ask: (type, fields) => line.request(type, fields).then(() => true, (error) => (toastError(error), false)),
	async load() {
		shell.loadFolders();
		await Promise.all([line.request("agent:list"), line.request("project:list"), line.request("inbox:list")]);
		// The newest sessions of folders that are no projects; nothing waits for them.
		line.request("home:list").catch(() => {});
		await Promise.all(store.projects.map(({ id }) => line.request("session:list", { projectId: id })));
		// Close tabs whose sessions were archived while this page was closed.
		const unknown = state.tabs.filter(({ uid, projectId }) => !store.sessions.has(uid) && store.listed.has(projectId));
		for (const projectId of new Set(unknown.map((tab) => tab.projectId))) {
			const { sessions } = await line.query("session:list", { projectId, archived: true });
			for (const { uid } of sessions) shell.setTabs(tabs.close(state, uid));
		}
		shell.followLink();
		loadPalette().catch(() => {});
		if (me.may("owner")) home.offer().catch(() => {});
	},
	/** Folders with sessions that are no projects. Without them only their names are missing. */
	async loadFolders() {
		const { repos } = await rest("/api/repos?found=true").catch(() => ({ repos: [] }));
		store.setFolders(repos);
		shell.paint();
	},
	followLink() {
		const wanted = new URLSearchParams(location.search);
		if (!wanted.has("open")) return;
		history.replaceState(history.state, "", location.pathname);
		shell.openById(wanted.get("open") ?? "", Number(wanted.get("at")));
	},
	receive(frame) {
		const uid = store.uidOf(frame);
		const isKnown = store.apply(frame);
		panels.receive(frame);
		home.receive(frame);
		// Other machines announce their sessions, but not their projects.
		const project = "session" in frame && frame.session.node ? frame.session.projectId : "";
		if (project && !store.projects.some(({ id }) => id === project) && !asked.has(project)) {
			asked.add(project);
			shell.ask("project:list");
		}
		// Imported sessions are not announced one by one.
		if (frame.type === "history:import" && !frame.import.running) shell.load().catch(() => {});
		if (frame.type === "inbox:changed") shell.ask("inbox:list");
		if (frame.type === "session:archived" || frame.type === "session:erased") state = tabs.close(state, uid);
		// An agent reports its models and modes when it is started.
		if (frame.type === "session:created") shell.ask("agent:list");
		if (frame.type === "project:added") shell.ask("session:list", { projectId: frame.project.id });
		if (frame.type === "project:removed") shell.loadFolders();
		if (frame.type === "session:unarchived" && !store.folderOf(frame.session.projectId)) shell.loadFolders();
		// Many frames may arrive at once. A timer also runs while the page is hidden.
		if (isKnown) painting ||= setTimeout(shell.paint, 16);
	},
	paint() {
		painting = 0;
		shell.paintRole();
		shell.setTabs(state);
		news.tell();
	},
	paintRole() {
		const isOwner = me.may("owner");
		for (const id of ["settings", "add-project"]) find(id).hidden = !isOwner;
		find("new-session").hidden = !me.maySomewhere("member");
		find("me").hidden = !me.name;
		find("me").textContent = me.name ? `${me.name} · ${me.role}` : "";
		find("me").title = me.name ? `You are signed in as ${me.name}, with the role ${me.role}` : "";
		if (!isOwner) state = tabs.close(state, "@settings");
	},
	open({ uid, title, projectId }, at) {
		if (at) panels.jump(uid, at);
		state = tabs.open(state, { uid, title, projectId });
		shell.go(uid);
		layout.close();
		if (layout.isTight) shell.showInbox(false);
	},
	async openById(uid, at) {
		if (PLACES[uid]) return shell.open({ uid, title: PLACES[uid].title, projectId: "" });
		const session = store.sessions.get(uid);
		if (session) return shell.open(session, at);
		// Sessions of teams and archived ones are not in the lists of the sidebar.
		const response = await call(`/api/sessions/${encodeURIComponent(uid)}`).catch(() => null);
		const body = await response?.json().catch(() => null);
		if (!response?.ok) return toastError({ message: body?.detail ?? "Cannot reach the daemon.", hint: body?.hint });
		shell.open({ uid: body.id, title: body.title, projectId: body.repoId }, at);
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
		const { active } = state;
		// Home shows what the inbox has.
		if (active === null) shell.showInbox(false);
		strip.show(state, (uid) => store.sessions.get(uid));
		panels.show(state);
		sidebar.show(active);
		find("panels").hidden = active === null;
		home.hidden = active !== null;
		if (active === null) home.paint();
		if (!inbox.hidden) inbox.paint();
		news.paintTitle(state.tabs.find(({ uid }) => uid === active)?.title);
	},
	showInbox(isShown) {
		inbox.hidden = !isShown;
		for (const id of ["open-inbox", "bar-inbox"]) find(id).ariaExpanded = String(isShown);
		if (isShown) inbox.paint();
	},
	/** The first prompt of a new session is written on Home. */
	create(projectId) {
		shell.setTabs(tabs.activate(state, null));
		layout.close();
		home.write(projectId);
	},
	compare() {
		shell.create(store.sessions.get(state.active ?? "")?.projectId);
		home.compare();
	},
	async openChanges(uid) {
		panels.changes(uid, true);
		await shell.openById(uid);
	},
	addProject: () => withDialogs((ask) => ask.addProject(line, ({ id, name }) => (toast(`Added ${name}.`), shell.create(id)))),
	async archive({ uid: sessionId, title }) {
		const isOpen = state.tabs.some(({ uid }) => uid === sessionId);
		const undo = async () => {
			const isBack = await shell.ask("session:unarchive", { sessionId });
			const session = store.sessions.get(sessionId);
			if (isBack && isOpen && session) shell.open(session);
		};
		if (await shell.ask("session:archive", { sessionId })) toast(`Archived “${title}”.`, "Undo", undo);
	},
	async retry({ uid: sessionId, acceptsPrompts, messageCount }) {
		if (!acceptsPrompts && !(await shell.ask("session:resume", { sessionId }))) return;
		const { entries } = await line.query("session:page", { sessionId, before: messageCount + 1, limit: RETRY_LOOKS_BACK });
		const last = /** @type {Entry<"user"> | undefined} */ (entries.findLast(({ type }) => type === "user"));
		// Without a prompt in reach, or with one resumed alone, the session is opened to write the next one.
		if (last && (await shell.ask("session:send", { sessionId, content: last.content, attachments: last.attachments, files: last.files }))) return;
		shell.openById(sessionId);
	},
	go(uid) {
		if (uid === undefined) return;
		shell.setTabs(tabs.activate(state, uid));
		if (uid) panels.focus(uid);
		else if (!home.contains(document.activeElement)) find("tab-home").focus();
	},
	palette() {
		loadPalette().then(({ openPalette }) => dialogs.isOpen() || openPalette({ store, line, may: me.may, open: shell.open, create: shell.create, commands: shell.commands(), slash: slash.get(state.active ?? "") ?? [], onslash: (name) => panels.write(state.active ?? "", `/${name}`) }), toastError);
	},
	commands() {
		const act = (action = "") => () => shell.act({ action });
		const tree = store.sessions.get(state.active ?? "")?.worktree;
		return [
			...(me.maySomewhere("member") ? [/** @type {PaletteCommand} */ (["New session", "add", act("new-session"), "Alt+N"])] : []),
			["Home", "home", act("home"), "Alt+0"],
			["Inbox", "inbox", act("inbox"), "Alt+I"],
			...(store.sessions.has(state.active ?? "") ? [/** @type {PaletteCommand} */ (["Changes of the session", "changes", act("changes"), "Alt+C"])] : []),
			...(tree && !tree.removed && me.may("member", store.sessions.get(state.active ?? "")?.projectId) ? [/** @type {PaletteCommand} */ (["Finish the work tree of the session", "branch", act("finish"), "Alt+M"])] : []),
			...(me.maySomewhere("member") ? [/** @type {PaletteCommand} */ (["Compare several agents", "compare", shell.compare])] : []),
			...Object.entries(PLACES).filter(([uid]) => uid !== "@settings" || me.may("owner")).map(([uid, { title, icon }]) => /** @type {PaletteCommand} */ ([title, icon, () => shell.openById(uid)])),
			...(me.may("owner") ? [/** @type {PaletteCommand} */ (["Add a project", "folder", shell.addProject])] : []),
			["Change the theme", "system", shell.nextTheme],
			["Show or hide the sidebar", "sidebar", act("sidebar"), "Alt+B"],
			["Close the tab", "close", act("tab-close"), "Alt+W"],
			["Keyboard shortcuts", "keyboard", dialogs.help, "?"],
		];
	},
	act({ action, number = 0 }) {
		const active = state.active ?? "";
		const at = state.tabs.findIndex(({ uid }) => uid === active);
		/** @type {Record<string, () => void>} */
		const actions = {
			"new-session": () => me.maySomewhere("member") && (store.projects.length ? shell.create(store.sessions.get(active)?.projectId) : shell.addProject()),
			palette: shell.palette,
			home: () => {
				shell.go(null);
				layout.close();
			},
			inbox: () => {
				// On a phone Home is the inbox.
				if (state.active === null || narrow.matches) {
					shell.go(null);
					layout.close();
					return home.focusFirst();
				}
				const hadFocus = inbox.contains(document.activeElement);
				shell.showInbox(inbox.hidden === true);
				layout.close();
				if (!inbox.hidden) inbox.focusFirst();
				else if (hadFocus) (find("side").hidden ? find("bar-inbox") : find("open-inbox")).focus();
			},
			request: () => {
				if (store.sessions.get(active)?.activity === "waiting") return panels.request(active);
				if (inbox.hidden) return shell.act({ action: "inbox" });
				inbox.focusFirst();
			},
			changes: () => panels.changes(active),
			finish: () => panels.finish(active),
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
				if (!active) return;
				shell.setTabs(tabs.close(state, active));
				shell.go(state.active);
			},
			help: dialogs.help,
		};
		if (!dialogs.isOpen()) actions[action]?.();
	},
	nextTheme() {
		const names = Object.keys(THEMES);
		shell.setTheme(names[(names.indexOf(root.dataset.theme ?? "") + 1) % names.length]);
	},
	setTheme(theme) {
		keep("theme", (root.dataset.theme = theme));
		shell.paintTheme();
	},
	paintTheme() {
		const theme = root.dataset.theme ?? "system";
		fill(find("theme"), icon(THEMES[theme]));
		find("theme").title = find("theme").ariaLabel = `Theme: ${theme}`;
	},
};

/** Not needed for the first paint, and there before it is. */
/** Loads the module of the dialogs. @param {(ask: ShellDialogs) => void} run */
const withDialogs = (run) => void import("./shell/dialogs.js").then(({ ask }) => dialogs.isOpen() || run(ask), toastError);

const loadPalette = () => import("./shell/palette.js");

/** Messages before the end that are searched for the last prompt of a failed turn. */
const RETRY_LOOKS_BACK = 200;

/** @param {Erasable} session */
const erase = (session) => withDialogs((ask) => ask.erase(line, session));
/** @type {BoardOptions} */
const boardOptions = {
	store,
	drafts,
	handlers: {
		open: shell.open,
		openById: shell.openById,
		seen: ({ uid: sessionId }) => shell.ask("session:seen", { sessionId }),
		retry: (session) => shell.retry(session).catch(toastError),
	},
	send: async (type, fields) => {
		if (await shell.ask(type, fields)) return;
		// It may have been answered elsewhere.
		line.request("inbox:list").catch(() => {});
		throw new Error(type);
	},
};
const layout = makeLayout(() => (find("toggle-main").hidden = find("bar-inbox").hidden = !find("side").hidden));
const news = makeNews(store, (uid) => (uid ? shell.openById(uid) : shell.go(null)));
const panels = makePanels(find("panels"), (uid) => makePlace(uid, { store, line, handlers: { open: shell.open, openById: shell.openById, openChanges: shell.openChanges, erase, setTheme: shell.setTheme } }));
const home = makeHome(boardOptions, { store, line, drafts, oncreated: shell.open, onadd: shell.addProject, oncompare: () => shell.openById("@comparisons") }, shell.palette, shell.openById);
const inbox = makeInbox(boardOptions, () => shell.act({ action: "inbox" }));
const sidebar = makeSidebar(store, {
	open: shell.open,
	archive: shell.archive,
	erase,
	may: me.may,
	create: ({ id }) => shell.create(id),
	list: ({ id }) => listed.has(id) || (listed.add(id), shell.ask("session:list", { projectId: id }).then(() => listed.delete(id))),
	rename: ({ uid: sessionId }, title) => shell.ask("session:rename", { sessionId, title }),
	remove: ({ id, name, path }) => dialogs.confirm(`Remove ${name}?`, `The project is removed from this list. The folder ${path} and its sessions are kept.`, "Remove", () => shell.ask("project:remove", { projectId: id }).then(() => find("add-project").focus())),
});
const strip = makeTabStrip({
	activate: (uid, how) => (how === "press" ? shell.go(uid) : shell.setTabs(tabs.activate(state, uid))),
	close: (uid) => shell.setTabs(tabs.close(state, uid)),
	move: (uid, to) => shell.setTabs(tabs.move(state, uid, to)),
});

/** @type {[string, string, () => void][]} */
const buttons = [
	["toggle", "sidebar", () => shell.act({ action: "sidebar" })],
	["toggle-main", "sidebar", () => shell.act({ action: "sidebar" })],
	["add-project", "add", shell.addProject],
	["open-inbox", "inbox", () => shell.act({ action: "inbox" })],
	["bar-inbox", "inbox", () => shell.act({ action: "inbox" })],
	["new-session", "add", () => shell.act({ action: "new-session" })],
	["search", "search", shell.palette],
	["help", "keyboard", dialogs.help],
	["theme", "system", shell.nextTheme],
	// The others are in the palette and on Home.
	...Object.entries(PLACES).filter(([uid]) => document.getElementById(uid.slice(1))).map(([uid, { icon }]) => /** @type {[string, string, () => void]} */ ([uid.slice(1), icon, () => shell.openById(uid)])),
];
for (const [id, name, run] of buttons) {
	find(id).prepend(icon(name));
	on(find(id), "click", (event) => {
		// Teams is a link: with a modifier the browser opens it as a separate page.
		if (event.ctrlKey || event.metaKey || event.shiftKey) return;
		event.preventDefault();
		run();
	});
}
home.id = "home";
home.role = "tabpanel";
home.setAttribute("aria-labelledby", "tab-home");
find("main").append(home);
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
	const shortcut = shellAction(event, isTyping(event.target));
	if (!shortcut) return;
	event.preventDefault();
	shell.act(shortcut);
});
addEventListener("message", ({ origin, source, data }) => {
	const uid = origin === location.origin ? (panels.sessionOf(source) ?? "") : "";
	const session = store.sessions.get(uid);
	if (uid && data.convoke === "ready") panels.ready(uid);
	else if (uid && data.convoke === "key") shell.act(data);
	else if (uid && data.convoke === "commands") slash.set(uid, data.commands);
	else if (uid && data.convoke === "open") shell.openById(data.uid, data.at).then(() => data.said && toast(String(data.said)));
	else if (session && data.convoke === "archive") shell.archive(session);
	else if (session && data.convoke === "erase") erase(session);
});
// Update relative times, and every second how long agents have been working.
setInterval(() => shell.setTabs(state), 20_000);
setInterval(() => {
	if (!home.hidden) home.tick();
	if (!inbox.hidden) inbox.paint();
}, 1000);
me.onchange(shell.paint);
nodes.onchange(shell.paint);
shell.paintRole();
line.onframe = shell.receive;
line.onstate = ({ phase }) => {
	if (phase === "open") shell.load().catch(() => {});
	if (!home.hidden) home.paint();
};
start();
