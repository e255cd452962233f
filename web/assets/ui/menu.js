// A small menu below a button.

import { h, iconButton, on } from "./dom.js";
import { icon } from "./icons.js";

/** A button that opens a menu. @param {() => MenuItem[]} items */
export function menuButton(label = "", items) {
	const button = iconButton("more", label, () => open(button, items()), { ariaHasPopup: "menu", ariaExpanded: "false" });
	return button;
}

/** @param {HTMLElement} button @param {MenuItem[]} items */
function open(button, items) {
	const all = items.map(([label, name, run]) => h("button", { role: "menuitem", tabIndex: -1, onclick: () => (menu.hidePopover(), run()) }, icon(name), label));
	const menu = h("div.menu", { role: "menu", popover: "auto", label: button.ariaLabel }, ...all);
	on(menu, "keydown", (event) => {
		const at = all.indexOf(/** @type {any} */ (document.activeElement));
		const to = { ArrowDown: at + 1, ArrowUp: at - 1, Home: 0, End: -1 }[event.key];
		if (event.key === "Tab") menu.hidePopover();
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
	const { bottom, top, right } = button.getBoundingClientRect();
	const { offsetWidth: width, offsetHeight: height } = menu;
	menu.style.left = `${Math.max(8, Math.min(right - width, innerWidth - width - 8))}px`;
	menu.style.top = `${bottom + height + 8 < innerHeight ? bottom + 4 : Math.max(8, top - height - 4)}px`;
	button.ariaExpanded = "true";
	all[0].focus();
}
