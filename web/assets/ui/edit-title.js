// Renames something in place.

import { isComposing } from "../lib/keys.js";
import { h, on } from "./dom.js";

/** Replaces an element by a text field until the edit ends. @param {HTMLElement} element @param {(value: string) => void} save */
export function editTitle(element, value = "", save) {
	const field = h("input.edit", { value, label: "Title of the session", maxLength: 200 });
	const end = (keeps = true) => {
		const hadFocus = document.activeElement === field;
		// Removing the field blurs it, which would end the edit a second time.
		field.onblur = null;
		field.replaceWith(element);
		if (hadFocus) element.focus();
		const written = field.value.trim();
		if (keeps && written && written !== value) save(written);
	};
	field.onblur = () => end();
	on(field, "keydown", (event) => {
		event.stopPropagation();
		if (!isComposing(event) && ["Enter", "Escape"].includes(event.key)) end(event.key === "Enter");
	});
	element.replaceWith(field);
	field.focus();
	field.select();
}
