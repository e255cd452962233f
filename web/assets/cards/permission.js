// <convoke-permission>: a permission request of an agent.

import { component, fill, h, icon } from "../ui/dom.js";
import { declineForm, makeCard } from "./request.js";

/** The order of the options: most frequently used first. */
const KINDS = ["allow_once", "allow_always", "reject_once", "reject_always"];

/** @type {(around: {send: Send}) => Card<Api.Permission>} */
export const makePermission = component("convoke-permission", (element, { send }) => {
	const { settle, tell } = makeCard(element, send);
	let shown = "";

	/** @param {Api.Permission} asked */
	function ask({ permissionId, title, always, options }) {
		const choice = (name = "", kind = "", optionId = "", remember = false) => h(`button.button${kind}`, { "data-choice": "", onclick: () => settle("permission:answer", { permissionId, optionId, remember }) }, name);
		const sorted = options.toSorted((a, b) => KINDS.indexOf(a.kind) - KINDS.indexOf(b.kind));
		const buttons = sorted.map(({ optionId, name, kind }, at) => choice(name, kind.startsWith("reject") ? ".quiet" : at ? "" : ".primary", optionId));
		// Convoke remembers exactly what is asked, and says what that is.
		if (always && sorted[0]?.kind === "allow_once") {
			buttons.splice(1, 0, choice(`Always allow ${always}`, "", sorted[0].optionId, true));
		}
		const decline = declineForm((reason) => settle("question:reject", { questionId: permissionId, reason }));
		fill(element, h("div.request-head", icon("lock"), "Permission required"), h("p.request-title", title), h("div.request-actions", ...buttons, decline.button), decline.form);
		element.ariaLabel = `Permission required: ${title}`;
	}

	return {
		show(asked) {
			// Unchanged requests are not rebuilt, so that focus and half-written notes stay.
			const wanted = JSON.stringify([asked.status, asked.title, asked.options]);
			if (shown === wanted) return;
			shown = wanted;
			element.dataset.status = asked.status;
			if (asked.status === "pending") return ask(asked);
			const option = asked.options.find(({ optionId }) => optionId === asked.optionId);
			tell(asked, { refused: option?.kind.startsWith("reject"), title: h("span.request-title", asked.title), outcome: option?.name });
		},
	};
});
