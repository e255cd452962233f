// Short words at the edge of the page that go away by themselves, and words for screen readers only.

import { h, on } from "./dom.js";

const SHOWN_MS = 6000;
const notes = h("div.toasts", { role: "status" });
const spoken = h("div.away", { role: "status" });
document.body.append(notes, spoken);

/** Tells a screen reader of a turn of events. */
export const announce = (text = "") => (spoken.textContent = text);

/** @param {() => void} [run] */
export function toast(text = "", action = "", run) {
	const note = h("div.toast", h("span", text), action && h("button.link", { onclick: () => (note.remove(), run?.()) }, action));
	let timer = 0;
	const wait = () => (timer = setTimeout(() => note.remove(), SHOWN_MS));
	// Whoever is about to press the button gets the time for it.
	on(note, "pointerenter", () => clearTimeout(timer));
	on(note, "focusin", () => clearTimeout(timer));
	on(note, "pointerleave", wait);
	on(note, "focusout", wait);
	notes.append(note);
	if (notes.children.length > 3) notes.firstElementChild?.remove();
	wait();
	return note;
}

/** What went wrong, with the way out where there is one. @param {any} error */
export const problem = ({ message, hint }) => [message, hint].filter(Boolean).join(" ");

/** @param {any} error */
export const toastError = (error) => toast(problem(error)).classList.add("bad");
