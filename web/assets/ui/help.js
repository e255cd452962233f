// The list of keyboard shortcuts.

import { SHELL_KEYS } from "../lib/keys.js";
import { h } from "./dom.js";
import { dialogs } from "./parts.js";

const CHAT_KEYS = [
	["Enter", "", "Send"],
	["Shift+Enter", "", "Line break"],
	["↑", "", "Earlier messages, in an empty box"],
	["/", "", "Commands of the agent"],
	["@", "", "Files of the project"],
	["Esc Esc", "", "Stop the agent"],
	["Esc", "", "Back to the message box"],
	["J K", "", "Next and previous entry, in the conversation"],
	["Enter", "", "Open or close the focused entry"],
	["End", "", "Newest entry, in the conversation"],
	["1…9", "", "Answer the request on screen"],
	["Mod+Enter", "", "Send the answers, or a queued prompt now"],
	["Alt+↑ Alt+↓", "", "Move a queued prompt"],
];

const CHANGES_KEYS = [
	["J K", "", "Next and previous file"],
	["N P", "", "Next and previous change"],
	["V", "", "Mark the file as viewed"],
	["↑ ↓", "", "Move through lines; with Shift choose several"],
	["Enter", "", "Comment on the lines"],
	["Esc", "", "Close"],
];

const LIST_KEYS = [
	["↑ ↓", "", "Move through projects and sessions"],
	["← →", "", "Collapse or expand a project; move through tabs"],
	["F2", "", "Rename the session"],
	["Delete", "", "Archive the session, or close the tab"],
];

export function openHelp() {
	const isMac = /Mac|iP/.test(navigator.platform);
	const spelled = (key = "") => (key === "Mod" ? (isMac ? "⌘" : "Ctrl") : key === "Alt" && isMac ? "⌥" : key);
	const group = (title = "", keys = SHELL_KEYS) => h("section", h("h3", title), h("dl", ...keys.flatMap(([press, , what]) => [
		h("dt", ...press.split(/[+ ]/).map((key) => h("kbd", spelled(key)))), h("dd", what),
	])));
	if (dialogs.isOpen()) return;
	dialogs.open("Keyboard", () => [h("div.shortcuts", group("Everywhere"), group("In a conversation", CHAT_KEYS), group("In changes", CHANGES_KEYS), group("In lists", LIST_KEYS))]);
}
