// The dialogs of the shell: add a project, create a session, archived sessions.

import { keep, kept } from "../lib/kept.js";
import { relativeTime } from "../lib/words.js";
import { copy, fill, h, icon, iconButton, on, setText } from "../ui/dom.js";
import { dialogs, makeListbox, problem, toast, toastError } from "../ui/parts.js";

/** @param {HTMLDialogElement} dialog */
const cancel = (dialog) => h("button.button", { onclick: () => dialog.close() }, "Cancel");

/** @type {ShellDialogs} */
export const ask = {
	addProject(line, onadded) {
		const field = h("input.field", { role: "combobox", autofocus: true, spellcheck: false, autocomplete: "off", placeholder: "/home/you/project", label: "Path of the folder", ariaExpanded: "false", ariaAutoComplete: "list", "aria-controls": "folders" });
		const said = h("p.problem", { role: "alert" });
		const take = (path = "") => {
			field.value = path.replace(/\/*$/, "/");
			field.focus();
			list.offer([]);
			complete();
		};
		const list = makeListbox(field, { id: "folders", label: "Folders", first: -1, take, show: (path = "") => [icon("folder"), h("bdi", path)] });
		let asked = 0;
		const complete = async () => {
			const mine = (asked += 1);
			const { folders } = await line.query("folder:complete", { path: field.value }).catch(() => ({ folders: [] }));
			// Drop responses to earlier input.
			if (mine === asked) list.offer(folders.filter((path = "") => path !== field.value.replace(/(.)\/+$/, "$1")));
		};
		on(field, "input", complete);
		on(field, "keydown", (event) => {
			if (!list.isOpen || event.isComposing) return;
			if (list.picked && ["Enter", "Tab"].includes(event.key)) take(list.picked);
			else if (list.picked && event.key === "Escape") list.offer([]);
			else if (!list.walk(event)) return;
			event.preventDefault();
		});
		const dialog = dialogs.open("Add a project", (dialog) => [h("form", {
			onsubmit: async (event) => {
				event.preventDefault();
				setText(said, "");
				try {
					const { project } = await line.request("project:add", { path: field.value.trim() });
					dialog.close();
					onadded(project);
				} catch (error) {
					setText(said, problem(error));
					field.focus();
				}
			},
		}, h("p.muted", "A project is a folder in which agents work."), field, list.element, said, h("footer", cancel(dialog), h("button.button.primary", { type: "submit" }, "Add project")))]);
		if (dialog.open) complete();
	},
	newSession(line, store, project, oncreated) {
		const said = h("p.problem", { role: "alert" });
		const where = h("select.field", { label: "Project" }, ...store.projects.map(({ id, name, path }) => h("option", { value: id }, `${name} — ${path}`)));
		where.value = project.id;
		const usable = store.agents.filter(({ installed }) => installed);
		const first = usable.find(({ cliType }) => cliType === kept("agent")) ?? usable[0];
		const create = async (cliType = "", /** @type {HTMLElement} */ button) => {
			if (dialog.matches(".busy")) return;
			dialog.classList.add("busy");
			button.classList.add("chosen");
			setText(said, "");
			keep("agent", cliType);
			try {
				const { session } = await line.request("session:create", { projectId: where.value, cliType });
				// If the dialog was closed meanwhile, the session is only shown in the sidebar.
				const isWanted = dialog.open;
				dialog.close();
				if (isWanted) oncreated(session);
			} catch (error) {
				setText(said, problem(error));
			}
			dialog.classList.remove("busy");
			button.classList.remove("chosen");
		};
		const offers = store.agents.map((agent) => {
			const { cliType, badge, title, installed, install } = agent;
			const names = [h("span.badge", badge), h("span.title", title)];
			if (!installed) return h("div.agent.missing", ...names, "not installed", install && h("code", install), install && iconButton("copy", `Copy the install command of ${title}`, () => copy(install).then(() => toast("Copied."))));
			const button = h("button.agent", { autofocus: agent === first, onclick: () => create(cliType, button) }, ...names, h("span.spinner"));
			return button;
		});
		const dialog = dialogs.open("New session", (dialog) => [store.projects.length > 1 ? where : h("p.muted", project.path), h("div.agents", { role: "group", label: "Agents" }, ...offers), said, h("footer", cancel(dialog))]);
	},
	archived(line, project, onopen) {
		const list = h("ul.archived", h("li.muted", "Loading…"));
		const dialog = dialogs.open(`Archived in ${project.name}`, () => [list]);
		const show = async () => {
			const { sessions } = await line.query("session:list", { projectId: project.id, archived: true });
			const rows = sessions.map((/** @type {Session} */ session) => h("li",
				h("button.link", { onclick: () => (dialog.close(), onopen(session)) }, session.title),
				h("time.muted", relativeTime(session.lastActiveAt, Date.now())),
				h("button.button.small", { onclick: () => line.request("session:unarchive", { sessionId: session.uid }).then(show).catch(toastError) }, "Restore")));
			fill(list, ...rows, !rows.length && h("li.muted", "No archived sessions."));
		};
		show().catch(toastError);
	},
};
