// Dialogs, and the list of keyboard shortcuts in one.

import { CHAT_KEYS, LIST_KEYS, SHELL_KEYS } from "../lib/keys.js";
import { h, iconButton, on } from "./dom.js";

/** @type {DialogModule} */
export const dialogs = {
	open(title, body) {
		const before = /** @type {HTMLElement | null} */ (document.activeElement);
		const dialog = h("dialog", { label: title });
		dialog.append(h("header", h("h2", title), iconButton("close", "Close", () => dialog.close())), .../** @type {Node[]} */ (body(dialog)));
		on(dialog, "pointerdown", ({ target, clientX, clientY }) => {
			const { left, right, top, bottom } = dialog.getBoundingClientRect();
			if (target === dialog && (clientX < left || clientX > right || clientY < top || clientY > bottom)) dialog.close();
		});
		on(dialog, "close", () => {
			dialog.remove();
			if (document.activeElement === document.body) before?.focus();
		});
		document.body.append(dialog);
		dialog.showModal();
		return dialog;
	},
	isOpen: () => document.querySelector("dialog[open]") !== null,
	confirm(title, text, action, run) {
		dialogs.open(title, (dialog) => [
			h("p", text),
			h("footer",
				h("button.button", { autofocus: true, onclick: () => dialog.close() }, "Cancel"),
				h("button.button.danger", { onclick: () => (dialog.close(), run()) }, action)),
		]);
	},
	help() {
		const isMac = /Mac|iP/.test(navigator.platform);
		const spelled = (key = "") => (key === "Mod" ? (isMac ? "⌘" : "Ctrl") : key === "Alt" && isMac ? "⌥" : key);
		const group = (title = "", keys = SHELL_KEYS) => h("section", h("h3", title), h("dl", ...keys.flatMap(([press, , what]) => [
			h("dt", ...press.split(/[+ ]/).map((key) => h("kbd", spelled(key)))), h("dd", what),
		])));
		if (dialogs.isOpen()) return;
		dialogs.open("Keyboard", () => [h("div.shortcuts", group("Everywhere"), group("In a conversation", CHAT_KEYS), group("In lists", LIST_KEYS))]);
	},
};
