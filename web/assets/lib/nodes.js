// The daemons that share a database, as people speak of them.

import { relativeTime } from "./words.js";

/** Where something is, and whether it can be reached. @param {Api.Node} node */
export function nodeText({ name, away, seenAt }, now = 0) {
	const ago = relativeTime(seenAt, now);
	return away ? `On ${name}, which is away${ago === "now" ? "" : ` since ${ago} ago`}. Prompts wait for it.` : `On ${name}`;
}

/** What is said of a prompt that waits for a node. */
export const waitsText = (name = "") => `${name} is away; your prompt waits for it`;
