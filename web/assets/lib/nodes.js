// The daemons that share a database, as people speak of them.

import { relativeTime, timeAgo } from "./words.js";

/** Where something is, and since when it cannot be reached. @param {Api.Node} node */
export function nodeText({ name, away, seenAt }, now = 0) {
	const seen = relativeTime(seenAt, now) === "now" ? "has just gone away" : `was last seen ${timeAgo(seenAt, now)}`;
	return away ? `On ${name}, which ${seen}. Prompts wait for it.` : `On ${name}`;
}

/** Its name, and whether it is away, as text: a colour alone does not suffice. @param {Api.Node | undefined} node */
export const nodeName = (node) => (node ? `${node.name}${node.away ? " · away" : ""}` : "");

/** The text about a prompt that is queued for a node. */
export const waitsText = (name = "") => `${name} is away; your prompt waits for it`;
