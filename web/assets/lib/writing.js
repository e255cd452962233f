// What is about to be said: going back through what was said before, commands of the agent, and messages on their way.

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

/** The beginning of a command at the start of the text, when the caret stands in it. */
export const typedCommand = (text = "", caret = 0) => /^\/(\S*)$/.exec(text.slice(0, caret))?.[1] ?? null;

/** Commands that begin with it, then those that contain it. @param {Command[]} commands */
export function fitting(commands, typed = "") {
	const rank = (/** @type {Command} */ { name }) => name.toLowerCase().indexOf(typed.toLowerCase());
	const fit = commands.filter((command) => rank(command) >= 0);
	return fit.sort((a, b) => Math.min(rank(a), 1) - Math.min(rank(b), 1) || a.name.localeCompare(b.name));
}

// A line that breaks in between leaves it open whether a message arrived; the history tells.

/** @returns {Outbox} */
export function makeOutbox() {
	let letters = /** @type {Letter[]} */ ([]);
	/** @type {Outbox} */
	const outbox = {
		get letters() { return letters; },
		post(text, after) {
			const letter = /** @type {Letter} */ ({ text, after, state: "sending" });
			letters.push(letter);
			return letter;
		},
		sent(letter, seq, entries) {
			if (entries.some((entry) => entry.type === "user" && entry.seq === seq)) outbox.drop(letter);
			else Object.assign(letter, { state: "sent", after: seq - 1 });
		},
		drop: (letter) => void (letters = letters.filter((other) => other !== letter)),
		arrived(entry) {
			if (entry.type !== "user") return;
			const ours = letters.find(({ text, after }) => entry.seq > after && entry.content.trim() === text.trim());
			if (ours) outbox.drop(ours);
		},
		caughtUp() {
			const lost = letters.filter(({ state }) => state === "unsure");
			lost.forEach(outbox.drop);
			return lost.map(({ text }) => text);
		},
	};
	return outbox;
}
