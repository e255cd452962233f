// Something to choose from beside a field: the focus stays in the field, the arrow keys go through the list.

import { fill, h } from "./dom.js";

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
			// A press must not take the focus from the field.
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
