// Messages on their way: shown as being sent, until the server has them for sure.
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
