// Builds elements. Strings only ever become text, never markup; code, names and titles are shown as they are: see `visible`.

import { visible } from "../lib/words.js";

/** Icons, as strokes on a grid of 24. @type {Record<string, string>} */
const PATHS = {
	add: "M12 5v14M5 12h14",
	archive: "M4 5h16v4H4zM6 9v10h12V9M10 13h4",
	attach: "M20 11l-8.5 8.5a5 5 0 0 1-7-7L13 4a3.3 3.3 0 0 1 4.7 4.7l-8.5 8.4a1.7 1.7 0 0 1-2.3-2.3l7.6-7.5",
	back: "M19 12H5M11 6l-6 6 6 6",
	bell: "M6 16V11a6 6 0 0 1 12 0v5l1.5 2h-15zM10 21h4",
	branch: "M7 4v10M7 14a3 3 0 1 0 0 6 3 3 0 0 0 0-6zM17 4a3 3 0 1 0 0 6 3 3 0 0 0 0-6zM17 10c0 4-6 3-8.5 5.5",
	changes: "M6 3h8l4 4v14H6zM12 8v6M9 11h6M9 17h6",
	check: "M5 12.5l4.5 4.5L19 7",
	chevron: "M9 6l6 6-6 6",
	clock: "M12 3a9 9 0 1 0 0 18 9 9 0 0 0 0-18zM12 7v5l3 2",
	close: "M6 6l12 12M18 6L6 18",
	columns: "M4 5h16v14H4zM12 5v14",
	comment: "M4 5h16v11h-8l-5 4v-4H4z",
	compare: "M5 20v-9M12 20V4M19 20v-6",
	copy: "M9 9h11v11H9zM5 15H4V4h11v1",
	denied: "M12 3a9 9 0 1 0 0 18 9 9 0 0 0 0-18zM5.8 5.8l12.4 12.4",
	down: "M12 5v14M6 13l6 6 6-6",
	edit: "M4 20h4L19 9l-4-4L4 16zM13 7l4 4",
	execute: "M4 5h16v14H4zM8 10l3 2.5L8 15M13 15h3",
	expand: "M14 5h5v5M19 5l-6 6M10 19H5v-5M5 19l6-6",
	fetch: "M12 3a9 9 0 1 0 0 18 9 9 0 0 0 0-18zM3 12h18M12 3c3 3 3 15 0 18M12 3c-3 3-3 15 0 18",
	file: "M6 3h8l4 4v14H6zM14 3v4h4",
	folder: "M3 6h6l2 2h10v11H3z",
	home: "M4 11l8-7 8 7v9h-5.5v-5.5h-5V20H4z",
	inbox: "M4 13l3-8h10l3 8v6H4zM4 13h5l1 2h4l1-2h5",
	info: "M12 3a9 9 0 1 0 0 18 9 9 0 0 0 0-18zM12 11v5M12 8v.1",
	keyboard: "M3 6h18v12H3zM7 10v.1M11 10v.1M15 10v.1M7 14h10",
	grip: "M9 6h.01M9 12h.01M9 18h.01M15 6h.01M15 12h.01M15 18h.01",
	link: "M10 14a4 4 0 0 0 6 .5l3-3a4 4 0 0 0-6-6l-1.5 1.5M14 10a4 4 0 0 0-6-.5l-3 3a4 4 0 0 0 6 6l1.5-1.5",
	lower: "M6 9l6 6 6-6",
	lock: "M6 11h12v9H6zM9 11V8a3 3 0 0 1 6 0v3",
	moon: "M20 14a8 8 0 1 1-9-10 6.5 6.5 0 0 0 9 10z",
	markdown: "M3 6h18v12H3zM7 15V9l2.5 3L12 9v6M17 9v6M15 13l2 2 2-2",
	more: "M6 12h.01v1h-1v-1zM12 12h.01v1h-1v-1zM18 12h.01v1h-1v-1z",
	none: "",
	open: "M14 4h6v6M20 4l-9 9M18 14v6H4V6h6",
	people: "M9 5a3 3 0 1 0 0 6 3 3 0 0 0 0-6zM3 19c0-3 2.5-5 6-5s6 2 6 5M16 5.3a3 3 0 0 1 0 5.4M17.5 14.3c2 .7 3.500 2.3 3.5 4.7",
	plan: "M10 6h10M10 12h10M10 18h10M4 6l1.2 1.2L7.5 5M4 12l1.2 1.2L7.5 11M4 18h2",
	question: "M9 9a3 3 0 1 1 4 2.8c-.7.3-1 .8-1 1.7v.5M12 17.5v.1M12 3a9 9 0 1 0 0 18 9 9 0 0 0 0-18z",
	retry: "M19 12a7 7 0 1 1-2-5M19 4v4h-4",
	rows: "M4 5h16v14H4zM4 12h16",
	search: "M11 5a6 6 0 1 0 0 12 6 6 0 0 0 0-12zM20 20l-4.5-4.5",
	send: "M12 19V5M6 11l6-6 6 6",
	shrink: "M19 9h-4V5M15 9l5-5M5 15h4v4M9 15l-5 5",
	sidebar: "M4 5h16v14H4zM10 5v14",
	stop: "M7 7h10v10H7z",
	sun: "M12 8a4 4 0 1 0 0 8 4 4 0 0 0 0-8zM12 3v2M12 19v2M3 12h2M19 12h2M5.6 5.6L7 7M17 17l1.4 1.4M18.4 5.6L17 7M7 17l-1.4 1.4",
	system: "M4 5h16v11H4zM9 20h6M12 16v4",
	sliders: "M4 8h10M18 8h2M4 16h4M12 16h8M14 5.5v5M8 13.5v5",
	think: "M12 4a6 6 0 0 0-3.5 10.9V17h7v-2.1A6 6 0 0 0 12 4zM10 20h4",
	tool: "M14.5 6.5a4 4 0 0 0 4.9 5L20 12l-8 8-3-3 8-8zM14.5 6.5l2.5 2.5 2.5-.5M9 17l-1 1",
	trash: "M5 7h14M9 7V4h6v3M7 7l1 13h8l1-13",
	undo: "M9 14L4 9l5-5M4 9h10a6 6 0 0 1 0 12h-3",
	up: "M6 15l6-6 6 6",
	warning: "M12 4l9 16H3zM12 10v4M12 17v.1",
};

/** Elements whose text is verbatim. */
const VERBATIM = ["code", "pre"];
/** What `refill` put into an element, as it was then: meanwhile something of it may have been opened. @type {WeakMap<Element, HTMLElement>} */
const filled = new WeakMap();
/** Finds an element with another that stands for the same thing: a row, a link, a name. @param {Element} element */
const nameOf = (element) => element.getAttribute("data-at") ?? element.getAttribute("href") ?? element.ariaLabel;

/** Inserts an element; one that is moved keeps focus and scroll position where the browser can. @param {Node} parent @param {Node} element @param {Node | null} next */
export function moveBefore(parent, element, next) {
	if (element.isConnected && "moveBefore" in parent) /** @type {any} */ (parent).moveBefore(element, next);
	else parent.insertBefore(element, next);
}

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
			else if (name === "label") element.ariaLabel = visible(value);
			else if (name === "title") element.title = visible(value);
			else if (name in element && name !== "role") element[name] = value;
			else element.setAttribute(name, value);
		}
		fill(element, ...(VERBATIM.includes(tag) ? children.map((child) => (typeof child === "string" ? visible(child) : child)) : children));
		return element;
	},
	on: (element, events, run, options) => element.addEventListener(events, /** @type {any} */ (run), options),
	onLook: (element, run) => /** @type {const} */ (["pointerenter", "focusin"]).forEach((event) => on(element, event, run)),
	fill: (parent, ...children) => parent.replaceChildren(.../** @type {Node[]} */ (children.filter((child) => child || child === ""))),
	refill(parent, ...children) {
		const next = h("div", ...children);
		if (filled.get(parent)?.isEqualNode(next)) return;
		filled.set(parent, /** @type {HTMLElement} */ (next.cloneNode(true)));
		keepingFocus(/** @type {HTMLElement} */ (parent), () => fill(parent, ...next.childNodes));
	},
	keepingFocus(parent, change) {
		const had = /** @type {any} */ (parent.contains(document.activeElement) ? document.activeElement : null);
		const [from, to, way, top] = [had?.selectionStart, had?.selectionEnd, had?.selectionDirection, had?.scrollTop];
		const name = had && nameOf(had);
		const named = () => (name === null ? [] : [...parent.querySelectorAll(had.localName)].filter((other) => nameOf(other) === name));
		// Of several with one name, such as the buttons of comments, none is its successor.
		const isOnly = had && named().length === 1;
		change();
		if (!had || document.activeElement === had) return;
		if (!had.isConnected) {
			const heirs = isOnly ? named() : [];
			const heir = heirs.length === 1 ? heirs[0] : parent.closest("[tabindex]");
			return /** @type {HTMLElement | null} */ (heir)?.focus({ preventScroll: true });
		}
		had.focus({ preventScroll: true });
		if (typeof from === "number") had.setSelectionRange(from, to, way);
		had.scrollTop = top;
	},
	setText(element, text) {
		if (element.textContent !== text) element.textContent = text;
	},
	part: (parent, selector) => /** @type {HTMLElement} */ (parent.querySelector(selector)),
	icon(name) {
		const [svg, path] = ["svg", "path"].map((tag) => document.createElementNS("http://www.w3.org/2000/svg", tag));
		for (const [key, value] of [["viewBox", "0 0 24 24"], ["aria-hidden", "true"], ["class", "icon"]]) svg.setAttribute(key, value);
		path.setAttribute("d", PATHS[name] ?? PATHS.tool);
		svg.append(path);
		return svg;
	},
	iconButton: (name, label, onclick, props) => h("button.icon-button", { label, title: label, onclick, ...props }, icon(name)),
	component(name, setup) {
		customElements.define(name, class extends HTMLElement {});
		return (...options) => {
			const element = document.createElement(name);
			// Copied with their getters, so that those keep working.
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
			else moveBefore(parent, element, next);
		}
	},
	quoted(text) {
		const parts = visible(text).split("`");
		// One that is alone quotes nothing.
		if (parts.length % 2 === 0) parts.push(parts.splice(-2).join("`"));
		return parts.map((part, at) => (at % 2 ? h("code", part) : part));
	},
	async copy(text) {
		try {
			await navigator.clipboard.writeText(text);
			return true;
		} catch {
			// Without a secure context only `execCommand` works.
			const area = h("textarea.away", { value: text });
			document.body.append(area);
			area.select();
			const done = document.execCommand("copy");
			area.remove();
			return done;
		}
	},
};

/** On a touch keyboard Enter is the only way to insert a line break, and a box that takes the focus covers half of the screen. */
export const isTouch = matchMedia("(hover: none) and (pointer: coarse)").matches;

export const { h, on, onLook, fill, refill, keepingFocus, setText, part, icon, iconButton, component, keyed, quoted, copy } = dom;
