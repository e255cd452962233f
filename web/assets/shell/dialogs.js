// The dialogs of the shell: add a project, delete a session.

import { plural, visibleName } from "../lib/words.js";
import { h, icon, on, setText } from "../ui/dom.js";
import { dialogs, makeListbox, showProblem, toastError } from "../ui/parts.js";

/** @type {ShellDialogs} */
export const ask = {
	addProject(line, onadded) {
		const field = h("input.field", { role: "combobox", autofocus: true, spellcheck: false, autocomplete: "off", placeholder: "~/project", label: "Path of the folder", ariaExpanded: "false", ariaAutoComplete: "list", "aria-controls": "folders" });
		const said = h("p.problem", { role: "alert" });
		const take = (path = "") => {
			field.value = path.replace(/\/*$/, "/");
			field.focus();
			list.offer([]);
			complete();
		};
		const list = makeListbox(field, { id: "folders", label: "Folders", first: -1, take, show: (path = "") => [icon("folder"), h("bdi", visibleName(path))] });
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
				const path = field.value.trim();
				setText(said, path ? "" : "Choose a folder, or write its path.");
				if (!path) return field.focus();
				try {
					const { project } = await line.request("project:add", { path });
					dialog.close();
					onadded(project);
				} catch (error) {
					showProblem(said, error);
					field.focus();
				}
			},
		}, h("p.muted", "A project is a folder in which agents work."), field, list.element, said, h("footer", h("button.button", { onclick: () => dialog.close() }, "Cancel"), h("button.button.primary", { type: "submit" }, "Add project")))]);
		if (dialog.open) complete();
	},
	erase(line, { uid: sessionId, title, messageCount }) {
		dialogs.confirm(`Delete “${title}”?`, `${messageCount ? `All of its ${plural(messageCount, "message")}` : "Everything in it"}, its requests and its place in the search are deleted for good, and its agent is stopped. Files in the project stay as they are.`, "Delete", () => line.request("session:erase", { sessionId }).catch(toastError));
	},
};
