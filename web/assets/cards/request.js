// What permissions and questions have in common.

import { isTyping } from "../lib/keys.js";
import { fill, h, icon, on } from "../ui/dom.js";

/** @type {Record<string, string>} */
const OUTCOMES = { answered: "Answered", rejected: "Declined", timed_out: "Nobody answered in time", abandoned: "The asker went away" };

/** @param {HTMLElement} element @param {Send} send @returns {CardFrame} */
export function makeCard(element, send) {
	element.className = "request";
	element.role = "group";
	element.tabIndex = -1;
	// Digits choose options, unless somebody is typing; in a set they mean the question in which the focus is.
	on(element, "keydown", (event) => {
		const { key, target } = event;
		if (isTyping(target) || event.altKey || event.ctrlKey || event.metaKey || !/^[1-9]$/.test(key)) return;
		const scope = target.closest(".question") ?? element.querySelector(".question") ?? element;
		const choice = /** @type {HTMLElement | undefined} */ (scope.querySelectorAll("[data-choice]")[Number(key) - 1]);
		if (!choice) return;
		event.preventDefault();
		choice.focus();
		choice.click();
	});
	return {
		async settle(type, fields) {
			// Once is enough; and what cannot be used for a moment keeps the focus all the same.
			if (element.ariaBusy) return;
			element.ariaBusy = "true";
			await send(type, fields).catch(() => {});
			element.ariaBusy = null;
		},
		tell({ status, reason }, { refused, title, outcome = OUTCOMES[status], beside, below }) {
			const isBad = status !== "answered" || refused;
			const hadFocus = element.contains(document.activeElement);
			element.ariaLabel = outcome;
			fill(element, h(`div.request-told${isBad ? ".refused" : ""}`, icon(isBad ? "close" : "check"), title, h("span.muted", outcome), reason && h("q", reason), beside), below);
			if (hadFocus) element.focus();
		},
	};
}

/** A way to say no in one's own words: a button that opens a box. @param {(reason?: string) => void} send */
export function declineForm(send) {
	const box = h("input.field", { maxLength: 2000, placeholder: "What should be done instead? (optional)", label: "Why not, in your own words" });
	const toggle = () => {
		form.hidden = !form.hidden;
		button.ariaExpanded = String(!form.hidden);
		(form.hidden ? button : box).focus();
	};
	const button = h("button.button.quiet", { ariaExpanded: "false", onclick: toggle }, "Decline with words…");
	const form = h("form.decline", {
		hidden: true,
		onsubmit: (event) => (event.preventDefault(), send(box.value.trim() || undefined)),
		onkeydown: (event) => event.key === "Escape" && (event.stopPropagation(), toggle()),
	}, box, h("button.button", { type: "submit" }, "Decline"));
	return { form, button, box };
}
