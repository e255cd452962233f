// Writing messages: recalling earlier ones, completing the agent's commands, and messages in flight.

/** @returns {Recall} */
export function makeRecall() {
	let said = /** @type {string[]} */ ([]);
	let at = 0;
	let shown = /** @type {string | null} */ (null);
	return {
		// Starts only in an empty box, and continues only while the recalled text is unchanged.
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

/** The prefix of a command at the start of the text, when the caret is in it. */
export const typedCommand = (text = "", caret = 0) => /^\/(\S*)$/.exec(text.slice(0, caret))?.[1] ?? null;

/** The beginning of a path after an `@` at the caret, where no word goes before it. */
export const typedMention = (text = "", caret = 0) => /(?:^|[\s("'])@(\S*)$/.exec(text.slice(0, caret))?.[1] ?? null;

/** Those of these files that a text mentions, in the order of the text. @param {Iterable<string>} files */
export function mentioned(text = "", files) {
	/** The index of a mention of a file, which must not continue as a longer path. @type {(file: string, from?: number) => number} */
	const placeOf = (file, from = 0) => {
		const at = text.indexOf(`@${file}`, from);
		const isWhole = /^($|[^\w/.-]|\.(\s|$))/.test(text.slice(at + file.length + 1));
		return at < 0 || (isWhole && /(^|[\s("'])$/.test(text.slice(0, at))) ? at : placeOf(file, at + 1);
	};
	return [...files].map((file) => ({ file, at: placeOf(file) })).filter(({ at }) => at >= 0).sort((a, b) => a.at - b.at).map(({ file }) => file);
}

/** Commands that begin with it, then those that contain it. @param {Api.OfferedCommand[]} commands */
export function fitting(commands, typed = "") {
	const rank = (/** @type {Api.OfferedCommand} */ { name }) => name.toLowerCase().indexOf(typed.toLowerCase());
	const fit = commands.filter((command) => rank(command) >= 0);
	return fit.sort((a, b) => Math.min(rank(a), 1) - Math.min(rank(b), 1) || a.name.localeCompare(b.name));
}

/** A new id of a message. `crypto.randomUUID` exists in secure contexts only. */
export function newId() {
	const bytes = crypto.getRandomValues(new Uint8Array(16));
	bytes[6] = (bytes[6] & 15) | 64;
	bytes[8] = (bytes[8] & 63) | 128;
	const digits = [...bytes].map((byte) => byte.toString(16).padStart(2, "0")).join("");
	return digits.replace(/^(.{8})(.{4})(.{4})(.{4})/, "$1-$2-$3-$4-");
}

// Messages in flight, each until it is in the conversation or the queue.

/** @returns {Outbox} */
export function makeOutbox() {
	let letters = /** @type {Letter[]} */ ([]);
	/** @type {Outbox} */
	const outbox = {
		post(text, { attachments, files, review } = {}) {
			const letter = { id: newId(), text, answered: false, ...(attachments?.length && { attachments }), ...(files?.length && { files }), ...(review?.length && { review }) };
			letters.push(letter);
			return letter;
		},
		drop: (letter) => void (letters = letters.filter((other) => other !== letter)),
		pending(entries) {
			// Entries arrive in the order of `seq`: one before the newest has arrived, or is older than the loaded entries.
			const newest = entries.list.at(-1)?.seq ?? 0;
			letters = letters.filter(({ id, seq = Infinity }) => seq > newest && !entries.get(id) && !entries.queue.some((prompt) => prompt.id === id));
			return letters;
		},
		unanswered(entries) {
			letters = outbox.pending(entries).filter(({ answered, waitsFor }) => !answered || waitsFor);
			return letters.filter(({ answered }) => !answered);
		},
	};
	return outbox;
}
