// The user who is signed in at this browser. The daemon checks permissions; the page hides what it would refuse.

import { attempt, keep, kept } from "../lib/kept.js";
import { people } from "../lib/people.js";
import { call } from "./access.js";

const NAME = "me";
/** @type {Set<() => void>} */
const listeners = new Set();
/** Cached from the last visit, so that a viewer's page does not show a message box until the daemon has answered. */
let now = read(kept(NAME));

/** @param {string | null} text @returns {Api.Me} */
function read(text) {
	const me = attempt(() => JSON.parse(text ?? "null"));
	return me?.role && Array.isArray(me.projects) ? me : people.owner;
}

/** @param {Api.Me} next */
function become(next) {
	if (JSON.stringify(next) === JSON.stringify(now)) return;
	now = next;
	listeners.forEach((run) => run());
}

/** @type {Myself} */
export const me = {
	get name() { return now.name; },
	get role() { return now.role; },
	may: (role, projectId) => people.may(now, role, projectId),
	maySomewhere: (role) => people.maySomewhere(now, role),
	who: (by) => people.who(now, by),
	by: (text, by) => people.by(now, text, by),
	get words() { return now.name ? `You are signed in as ${now.name}, who can read here.` : ""; },
	async load() {
		const response = await call("/api/me").catch(() => null);
		const body = response?.ok ? await response.json().catch(() => null) : null;
		if (!body) return;
		keep(NAME, JSON.stringify(body));
		become(read(JSON.stringify(body)));
	},
	onchange: (run) => void listeners.add(run),
};

// Another page of this browser has loaded it.
addEventListener("storage", ({ key, newValue }) => key === `convoke.${NAME}` && become(read(newValue)));
