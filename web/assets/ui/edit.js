// Changing a title where it stands: Enter or leaving keeps it, Escape does not.

import { isComposing } from "../lib/keys.js";
import { h, on } from "./dom.js";

/** Puts a field in an element's place until the edit is over. @param {HTMLElement} element @param {(value: string) => void} save */
export function editTitle(element, value = "", save) {
	const field = h("input.edit", { value, label: "Title of the session", maxLength: 200 });
	const end = (keeps = true) => {
		const hadFocus = document.activeElement === field;
		// Taking the field away blurs it, and that would end the edit once more.
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
