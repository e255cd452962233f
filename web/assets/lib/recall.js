// Going back through what was said before with the arrow keys, as in a shell.

/** @returns {Recall} */
export function makeRecall() {
	let said = /** @type {string[]} */ ([]);
	let at = 0;
	let shown = /** @type {string | null} */ (null);
	return {
		// Begins only in an empty box, and goes on only while what it showed was not changed.
		back(text, all) {
			if (text !== shown) {
				if (text !== "") return null;
				said = all();
				at = said.length;
			}
			return at === 0 ? null : (shown = said[(at -= 1)]);
		},
		forward(text) {
			if (shown === null || text !== shown) return null;
			shown = said[(at += 1)] ?? null;
			return shown ?? "";
		},
	};
}
