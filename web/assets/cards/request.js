// Shared by permissions and questions.

import { isTyping } from "../lib/keys.js";
import { fill, h, icon, on } from "../ui/dom.js";

/** @type {Record<string, string>} */
const OUTCOMES = { answered: "Answered", rejected: "Declined", timed_out: "Not answered in time", abandoned: "No longer needed" };

/** In place of the answers, for viewers. */
export const UNANSWERABLE = "Waits for someone who can answer.";

/** @param {HTMLElement} element @param {Send} send @returns {CardFrame} */
export function makeCard(element, send) {
	element.className = "request";
	element.role = "group";
	element.tabIndex = -1;
	// Digits choose options, except in a text field; in a set they apply to the focused question.
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
			// Ignore repeated clicks. The buttons are not disabled meanwhile, so that the focus stays.
			if (element.ariaBusy) return;
			element.ariaBusy = "true";
			await send(type, fields).catch(() => {});
			element.ariaBusy = null;
		},
		tell({ status, reason }, { refused, title, outcome = OUTCOMES[status], beside, below }) {
			const isBad = status !== "answered" || refused;
			const isLeft = status === "timed_out" || status === "abandoned";
			const hadFocus = element.contains(document.activeElement);
			element.ariaLabel = outcome;
			fill(element, h(`div.request-told${isBad ? ".refused" : ""}`, icon(isLeft ? "clock" : isBad ? "denied" : "check"), title, h("span.muted", outcome), reason && h("q", reason), beside), below);
			if (hadFocus) element.focus();
		},
	};
}

/**
 * A digit chooses an answer of the first request on screen, wherever the focus is, but for text fields and other requests.
 * @param {ParentNode} among @param {KeyboardEvent} event returns whether there was one
 */
export function choose(among, event) {
	const { target, key } = event;
	const isPlain = !event.altKey && !event.ctrlKey && !event.metaKey && !event.repeat;
	if (!isPlain || !/^[1-9]$/.test(key) || isTyping(target) || /** @type {Element} */ (target).closest(".request, dialog, .menu")) return false;
	const card = pendingRequest(among);
	const { bottom = 0, top = 0 } = card?.getBoundingClientRect() ?? {};
	if (!card || bottom <= 0 || top >= innerHeight) return false;
	card.dispatchEvent(new KeyboardEvent("keydown", { key }));
	return true;
}

/** The first request that waits for an answer. @param {ParentNode} among */
export const pendingRequest = (among) => /** @type {HTMLElement | null} */ (among.querySelector('.request[data-status="pending"]'));

/** Shows on every choice of a card the digit that chooses it. @param {HTMLElement} card */
export function keyHints(card) {
	[...card.querySelectorAll("button[data-choice]")].slice(0, 9).forEach((button, at) => button.append(h("kbd", { ariaHidden: "true" }, String(at + 1))));
}

/** A button that refuses with a note, for which it opens a text field. @param {"Decline" | "Deny"} verb @param {(reason?: string) => void} send */
export function refusalForm(verb, send) {
	const box = h("input.field", { maxLength: 2000, placeholder: "What to do instead (optional)", label: "Note for the agent" });
	const toggle = () => {
		form.hidden = !form.hidden;
		button.ariaExpanded = String(!form.hidden);
		(form.hidden ? button : box).focus();
	};
	const button = h("button.button.quiet", { "data-choice": "", ariaExpanded: "false", onclick: toggle }, `${verb} with a note…`);
	const form = h("form.decline", {
		hidden: true,
		onsubmit: (event) => (event.preventDefault(), send(box.value.trim() || undefined)),
		onkeydown: (event) => event.key === "Escape" && (event.stopPropagation(), toggle()),
	}, box, h("button.button", { type: "submit" }, verb));
	return { form, button, box };
}
