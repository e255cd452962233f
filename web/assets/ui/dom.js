// Building elements by hand. Strings only ever become text, never markup.

import { icon } from "./icons.js";

/** @type {Dom} */
const dom = {
	h(spec, props, ...children) {
		const [tag, ...classes] = spec.split(".");
		const element = /** @type {any} */ (document.createElement(tag));
		if (classes.length) element.className = classes.join(" ");
		if (tag === "button") element.type = "button";
		if (props?.constructor !== Object) children.unshift(/** @type {Child} */ (props));
		else for (const [name, value] of Object.entries(props)) {
			if (value === undefined || value === null || value === false) continue;
			if (name.startsWith("on")) element.addEventListener(name.slice(2), value);
			else if (name === "label") element.ariaLabel = value;
			else if (name in element && name !== "role") element[name] = value;
			else element.setAttribute(name, value);
		}
		fill(element, ...children);
		return element;
	},
	on: (element, events, run, options) => element.addEventListener(events, /** @type {any} */ (run), options),
	fill: (parent, ...children) => parent.replaceChildren(.../** @type {Node[]} */ (children.filter((child) => child || child === ""))),
	setText(element, text) {
		if (element.textContent !== text) element.textContent = text;
	},
	part: (parent, selector) => /** @type {HTMLElement} */ (parent.querySelector(selector)),
	iconButton: (name, label, onclick, props) => h("button.icon-button", { label, title: label, onclick, ...props }, icon(name)),
	component(name, setup) {
		customElements.define(name, class extends HTMLElement {});
		return (...options) => {
			const element = document.createElement(name);
			// Copied with their getters, so that they stay alive.
			return /** @type {any} */ (Object.defineProperties(element, Object.getOwnPropertyDescriptors(setup(element, ...options))));
		};
	},
	keyed(parent, items, keyOf, make, update) {
		const known = new Map(/** @type {HTMLElement[]} */ ([...parent.children]).map((child) => [child.dataset.key, child]));
		const wanted = new Set(items.map(keyOf));
		for (const [key, child] of known) if (!wanted.has(key ?? "")) child.remove();
		let next = parent.firstElementChild;
		for (const item of items) {
			const key = keyOf(item);
			const element = known.get(key) ?? make(item);
			element.dataset.key = key;
			update?.(element, item);
			if (element === next) next = next.nextElementSibling;
			// Where the browser can move an element without taking it out, it keeps focus and scroll position.
			else if (element.isConnected && "moveBefore" in parent) /** @type {any} */ (parent).moveBefore(element, next);
			else parent.insertBefore(element, next);
		}
	},
	async copy(text) {
		try {
			await navigator.clipboard.writeText(text);
			return true;
		} catch {
			// Without a secure context there is only the old way.
			const area = h("textarea.away", { value: text });
			document.body.append(area);
			area.select();
			const done = document.execCommand("copy");
			area.remove();
			return done;
		}
	},
};

export const { h, on, fill, setText, part, iconButton, component, keyed, copy } = dom;
