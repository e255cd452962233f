// Parts shared by several pages: dialogs, menus, listboxes, and toasts.

import { sentence } from "../lib/words.js";
import { fill, h, icon, iconButton, on, quoted } from "./dom.js";

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
		if (!dialogs.isOpen()) import("./help.js").then(({ openHelp }) => openHelp(), toastError);
	},
};

/** A button that opens a menu. @param {() => MenuItem[]} items */
export function menuButton(label = "", items) {
	const button = iconButton("more", label, () => openMenu(button, items()), { ariaHasPopup: "menu", ariaExpanded: "false" });
	return button;
}

/** Opens a menu at a button. @param {HTMLElement} button @param {MenuItem[]} items */
export function openMenu(button, items) {
	const all = items.map(([label, name, run]) => h("button", { role: "menuitem", tabIndex: -1, onclick: () => (menu.hidePopover(), run()) }, icon(name), h("span", ...quoted(label))));
	const menu = h("div.menu", { role: "menu", popover: "auto", label: button.ariaLabel }, ...all);
	on(menu, "keydown", (event) => {
		const at = all.indexOf(/** @type {any} */ (document.activeElement));
		const { key } = event;
		// A letter goes to the next item that begins with it.
		const begins = (/** @type {MenuItem} */ [label]) => key.length === 1 && key !== " " && label.toLowerCase().startsWith(key.toLowerCase());
		const found = [...items.keys()].map((place) => (at + 1 + place) % items.length).find((place) => begins(items[place]));
		const to = { ArrowDown: at + 1, ArrowUp: at - 1, Home: 0, End: -1 }[key] ?? found;
		if (key === "Tab") menu.hidePopover();
		if (to === undefined) return;
		event.preventDefault();
		all.at(to % all.length)?.focus();
	});
	on(menu, "toggle", (event) => {
		if (/** @type {any} */ (event).newState === "open") return;
		button.ariaExpanded = "false";
		const had = menu.contains(document.activeElement) || document.activeElement === document.body;
		menu.remove();
		if (had) button.focus();
	});
	button.after(menu);
	menu.showPopover();
	const { bottom, top, left, right } = button.getBoundingClientRect();
	const { offsetWidth: width, offsetHeight: height } = menu;
	// Below a chip it begins where the chip does; a small button stands at the end of a line.
	menu.style.left = `${Math.max(8, Math.min(button.matches(".chip") ? left : right - width, innerWidth - width - 8))}px`;
	menu.style.top = `${bottom + height + 8 < innerHeight ? bottom + 4 : Math.max(8, top - height - 4)}px`;
	button.ariaExpanded = "true";
	// What is chosen now is in view however long the list is.
	all[Math.max(0, items.findIndex(([, name]) => name === "check"))].focus();
}

/**
 * @template Item
 * @param {HTMLElement} field
 * @param {{id: string, label: string, first: number, show: (item: Item) => Child[], take: (item: Item) => void}} options
 * @returns {Listbox<Item>}
 */
export function makeListbox(field, { id, label, first, show, take }) {
	const element = h("div.listbox", { id, label, role: "listbox", hidden: true });
	let items = /** @type {Item[]} */ ([]);
	let at = -1;
	const pick = (to = 0) => {
		at = to;
		[...element.children].forEach((option, place) => (option.ariaSelected = String(place === at)));
		element.children[at]?.scrollIntoView({ block: "nearest" });
		field.setAttribute("aria-activedescendant", at < 0 ? "" : `${id}-${at}`);
	};
	return {
		element,
		get isOpen() { return items.length > 0; },
		get picked() { return items[at]; },
		offer(next) {
			items = next;
			element.hidden = items.length === 0;
			// A press must not move the focus away from the field.
			fill(element, ...items.map((item, place) => h("div", { role: "option", id: `${id}-${place}`, onpointerdown: (event) => (event.preventDefault(), take(item)) }, ...show(item))));
			if (field.role === "combobox") field.ariaExpanded = String(!element.hidden);
			pick(items.length ? first : -1);
		},
		walk({ key }) {
			const step = { ArrowDown: 1, ArrowUp: -1 }[key];
			if (step) pick((Math.max(at, step > 0 ? -1 : 0) + step + items.length) % items.length);
			return step !== undefined;
		},
	};
}

const SHOWN_MS = 6000;
const notes = h("div.toasts", { role: "status" });
const spoken = h("div.away", { role: "status" });
document.body.append(notes, spoken);

/** Announces a text to screen readers. */
export const announce = (text = "") => (spoken.textContent = text);

/** @param {() => void} [run] */
export function toast(text = "", action = "", run, words = /** @type {Child[]} */ ([text])) {
	const note = h("div.toast", h("span", ...words), action && h("button.link", { onclick: () => (note.remove(), run?.()) }, action));
	// A note that is shown already is not repeated.
	if (!action) for (const same of [...notes.children]) if (same.textContent === note.textContent) same.remove();
	let timer = 0;
	const wait = () => (timer = setTimeout(() => note.remove(), SHOWN_MS));
	// The toast stays while it is hovered or focused.
	on(note, "pointerenter", () => clearTimeout(timer));
	on(note, "focusin", () => clearTimeout(timer));
	on(note, "pointerleave", wait);
	on(note, "focusout", wait);
	notes.append(note);
	if (notes.children.length > 3) notes.firstElementChild?.remove();
	wait();
	return note;
}

/** The error message, and its hint if there is one, each as a sentence. @param {any} error @returns {string} */
export const problem = ({ message, hint }) => [message, hint].filter(Boolean).map(sentence).join(" ");

/** Shows it in an element, with its commands as code. @param {Element} element @param {any} error */
export const showProblem = (element, error) => fill(element, ...quoted(problem(error)));

/** @param {any} error */
export const toastError = (error) => toast(problem(error), "", undefined, quoted(problem(error))).classList.add("bad");
