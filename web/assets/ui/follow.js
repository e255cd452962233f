// Makes nodes equal to others, changing only what differs: selection, focus and scroll positions stay.
// An element stays with its listeners, so those must not depend on what it shows.

import { moveBefore } from "./dom.js";

/** From a child on. @param {Node} parent @param {Node} wanted */
export function followChildren(parent, wanted, from = 0) {
	let old = /** @type {ChildNode | null} */ (parent.childNodes[from] ?? null);
	for (const next of [...wanted.childNodes]) {
		const key = next instanceof HTMLElement ? next.dataset.key : undefined;
		if (key) {
			// A row with a key is the same wherever it is, and becomes no other.
			const same = keyedFrom(old, key);
			if (same && same !== old) moveBefore(parent, same, old);
			else if (!same) parent.insertBefore(next, old);
			if (!same) continue;
			old = same;
		}
		const following = /** @type {ChildNode | null} */ (old?.nextSibling ?? null);
		if (old) follow(old, next);
		else parent.appendChild(next);
		old = following;
	}
	for (let following; old; old = following) {
		following = old.nextSibling;
		old.remove();
	}
}

/** The child with a key, from one of its siblings on. @param {ChildNode | null} first */
function keyedFrom(first, key = "") {
	for (let found = first; found; found = /** @type {ChildNode | null} */ (found.nextSibling)) {
		if (found instanceof HTMLElement && found.dataset.key === key) return found;
	}
	return null;
}

/** @param {ChildNode} old @param {ChildNode} next */
function follow(old, next) {
	if (old.isEqualNode(next)) return;
	if (old instanceof Text && next instanceof Text) {
		if (next.data.startsWith(old.data)) old.appendData(next.data.slice(old.length));
		else old.data = next.data;
	} else if (old instanceof HTMLElement && next instanceof HTMLElement && old.tagName === next.tagName) {
		for (const { name } of [...old.attributes]) if (!next.hasAttribute(name)) old.removeAttribute(name);
		for (const { name, value } of next.attributes) {
			// The page's policy forbids the attribute, not the property.
			if (name === "style") old.style.cssText = value;
			else old.setAttribute(name, value);
		}
		followChildren(old, next);
	} else old.replaceWith(next);
}
