// <convoke-permission>: a permission request of an agent, with its evidence.

import { choicesOf, verdictOf } from "../lib/choices.js";
import { visible } from "../lib/words.js";
import { component, fill, h, icon, quoted } from "../ui/dom.js";
import { me } from "../ui/me.js";
import { openMenu, toast } from "../ui/parts.js";
import { askOf, evidenceView, wordsBeyond } from "./evidence.js";
import { keyHints, makeCard, refusalForm, UNANSWERABLE } from "./request.js";

/** Characters of a title in the name of a card. */
const LABEL_MAX = 160;

/** @type {(around: PermissionPlace) => Card<Api.Permission>} */
export const makePermission = component("convoke-permission", (element, around) => {
	const card = makeCard(element, around.send);
	let shown = "";
	/** A note that was written and not sent. */
	let note = () => "";

	/** A title with the paths of files as they are within the project or the work tree. */
	const within = (title = "") => visible(around.root ? title.replaceAll(`${around.root}/`, "") : title);

	/** @param {Api.Permission} asked */
	function ask(asked) {
		const { permissionId, evidence } = asked;
		const title = within(asked.title);
		const canAnswer = around.may();
		const words = evidence ? within(wordsBeyond(evidence, asked.title)) : title;
		const { allow, deny, always, never } = choicesOf(asked);
		/** @param {string} optionId @param {number} [rule] */
		const answer = (optionId, rule) => settle("permission:answer", { permissionId, optionId, ...(rule === undefined ? {} : { rule }) });
		/** @type {CardFrame["settle"]} */
		const settle = (type, fields) => {
			note = () => "";
			return card.settle(type, fields);
		};
		const decline = refusalForm("Deny", (reason) => settle("question:reject", { questionId: permissionId, reason }));
		note = () => decline.box.value.trim();
		const choice = (style = "", /** @type {Choice} */ { label, name, optionId }) => h(`button.button${style}`, { "data-choice": "", title: name === label ? "" : name, onclick: () => answer(optionId) }, label);
		fill(element,
			h("div.request-head", icon("lock"), evidence ? askOf(evidence) : "Permission required"),
			words && (evidence ? h("p.request-title.said", { title: words }, words) : h("p.request-title", words)),
			evidence && evidenceView(evidence, around),
			canAnswer && h("div.request-actions",
				...allow.map((option, at) => choice(at ? "" : ".primary", option)),
				always.length > 0 && ruleButton(always, never, answer),
				...deny.map((option) => choice(".deny", option)),
				decline.button),
			canAnswer ? decline.form : h("p.boundary", UNANSWERABLE),
			canAnswer && always.length > 0 && h("p.boundary", "A rule only saves you this question. The sandbox decides what the agent can reach."));
		keyHints(element);
		// Screen readers read the command itself below.
		element.ariaLabel = `Permission required: ${title.length > LABEL_MAX ? `${title.slice(0, LABEL_MAX)}…` : title}`;
	}

	return {
		show(asked) {
			// Unchanged requests are not rebuilt, so that focus and half-written notes stay.
			const wanted = JSON.stringify([asked.status, asked.title, asked.options, asked.evidence, asked.rules, around.may(), around.root]);
			if (shown === wanted) return;
			shown = wanted;
			element.dataset.status = asked.status;
			if (asked.status === "pending") return ask(asked);
			if (note()) toast(`Answered elsewhere. Your note was not sent: “${note()}”`);
			note = () => "";
			const { isRefused, text } = verdictOf(asked);
			card.tell(asked, { refused: isRefused, title: h("span.request-title", within(asked.title)), outcome: asked.by ? me.by(text, asked.by) : text });
		},
	};
});

/**
 * The narrowest rule as a button, and a menu for wider ones and for refusals.
 * @param {Rule[]} always @param {Rule[]} never @param {(optionId: string, rule: number) => void} answer
 */
function ruleButton(always, never, answer) {
	const [first] = always;
	const items = () => [...always, ...never].map((rule) => /** @type {MenuItem} */ ([rule.label, always.includes(rule) ? "check" : "close", () => answer(rule.optionId, rule.rule)]));
	const more = h("button.button.more", { label: "More rules", title: "More rules", ariaHasPopup: "menu", ariaExpanded: "false", onclick: () => openMenu(more, items()) }, icon("chevron"));
	return h("span.split-button",
		h("button.button", { "data-choice": "", onclick: () => answer(first.optionId, first.rule) }, h("span", ...quoted(first.label))),
		always.length + never.length > 1 && more);
}
