// Agents that are not installed, and how to install them.

import { copy, h, iconButton } from "../ui/dom.js";
import { dialogs, toast } from "../ui/parts.js";

/** @param {Agent} agent */
export function missingAgent({ badge, title, install }) {
	return h("div.agent.missing", h("span.badge", badge), h("span.title", title), "not installed",
		install && h("span.install", h("code", install), iconButton("copy", `Copy the install command of ${title}`, () => copy(install).then(() => toast("Copied.")))));
}

/** Lists those that are not installed. @param {Store} store */
export function moreAgents({ agents }) {
	dialogs.open("More agents", () => [h("p.muted", "Install one in a terminal; it is offered here once it is found."), h("div.agents", ...agents.filter(({ installed }) => !installed).map(missingAgent))]);
}
