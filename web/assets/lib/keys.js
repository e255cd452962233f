// Keyboard shortcuts, and when they are disabled.

/**
 * Global shortcuts: keys, action, explanation. `Mod` is Control, or Command on a Mac. Letters with Alt are
 * identified by the key's position, because Alt changes their characters on some keyboards.
 */
export const SHELL_KEYS = [
	["Alt+N", "new-session", "New session"],
	["Alt+I", "inbox", "Inbox"],
	["Alt+A", "request", "Go to the request that needs an answer"],
	["Alt+C", "changes", "Changes of the session"],
	["Alt+M", "finish", "Finish the work tree of the session"],
	["Mod+K", "palette", "Search sessions, messages and commands"],
	["Alt+0", "home", "Home"],
	["Alt+B", "sidebar", "Show or hide the sidebar"],
	["Alt+1…9", "tab-number", "Go to a tab"],
	["Alt+PageDown", "tab-next", "Next tab"],
	["Alt+PageUp", "tab-previous", "Previous tab"],
	["Alt+Shift+PageDown", "tab-right", "Move the tab right"],
	["Alt+Shift+PageUp", "tab-left", "Move the tab left"],
	["Alt+W", "tab-close", "Close the tab"],
	["?", "help", "This list"],
];

/** Whether a key press goes to a text field. @param {any} target */
export function isTyping(target) {
	if (target?.isContentEditable) return true;
	const field = target?.closest?.("input, textarea, select");
	return !!field && !["checkbox", "radio"].includes(field.type);
}

/** The action of a key press. @param {KeyboardEvent} press @returns {Shortcut | null} */
export function shellAction({ key, code, altKey, ctrlKey, metaKey, shiftKey }, typing = false) {
	const mod = ctrlKey || metaKey;
	let keys = key;
	if (altKey && !mod) {
		const number = Number(/^Digit([1-9])$/.exec(code)?.[1]);
		if (number && !shiftKey) return { action: "tab-number", number };
		keys = `Alt+${shiftKey ? "Shift+" : ""}${/^(?:Key|Digit)([A-Z0])$/.exec(code)?.[1] ?? key}`;
	} else if (mod && !altKey && !shiftKey) keys = `Mod+${key.toUpperCase()}`;
	else if (mod || typing) return null;
	const known = SHELL_KEYS.find(([name]) => name === keys);
	return known ? { action: known[1] } : null;
}

/** Whether Enter was pressed to send, and not to end the composition of a character. @param {KeyboardEvent} event */
export const isSend = (event) => event.key === "Enter" && !event.shiftKey && !event.altKey && !isComposing(event);

/** @param {KeyboardEvent} event */
export const isComposing = (event) => event.isComposing || event.keyCode === 229;
