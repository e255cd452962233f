// The other machines that share the database. A daemon whose database is a file has none, and sends no requests for them.

import { call } from "./access.js";

/** The polling interval of the machines' states. */
const LOOK_MS = 30_000;
/** @type {Map<string, Api.Node>} */
let known = new Map();
/** @type {Set<() => void>} */
const listeners = new Set();
let isAsked = false;

async function load() {
	if (document.visibilityState !== "visible" && known.size) return;
	const response = await call("/api/nodes").catch(() => null);
	const body = response?.ok ? await response.json().catch(() => null) : null;
	if (!body) return;
	known = new Map(body.nodes.map((/** @type {Api.Node} */ node) => [node.id, node]));
	listeners.forEach((run) => run());
}

/** @type {OtherNodes} */
export const nodes = {
	of(id) {
		if (!id) return undefined;
		if (!isAsked) {
			isAsked = true;
			load();
			setInterval(load, LOOK_MS);
		}
		const node = known.get(id);
		return node?.own ? undefined : node;
	},
	onchange: (run) => void listeners.add(run),
};
