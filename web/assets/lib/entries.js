// A conversation as a list of entries: history replaces, update upserts, chunk appends.

/** Entries that tell how things stand and are not part of the conversation. */
const STANDING = ["commands", "modes", "settings", "usage"];

/** @returns {Entries} */
export function makeEntries() {
	let list = /** @type {SpokenEntry[]} */ ([]);
	let standing = /** @type {any} */ ({});
	let seq = 0;
	let more = false;
	const byId = /** @type {Map<string, SpokenEntry>} */ (new Map());
	/** The newest place whose words an entry has, so that a chunk that comes twice counts once. */
	const applied = /** @type {Map<string, number>} */ (new Map());

	/** The object stays the same one, so that its place in the list need not be looked for. @param {any} known @param {any} entry */
	function replace(known, entry, seq = 0) {
		for (const key of Object.keys(known)) delete known[key];
		Object.assign(known, entry, { seq });
	}

	/** Whether an entry is not over, so that it is needed however old it is. @param {any} entry */
	function isOpen({ type, state, status, seq: place }) {
		if (type === "plan") return place > (entries.running()?.seq ?? Infinity);
		return state === "queued" || state === "running" || status === "pending";
	}

	/** @param {any} entry */
	function put(entry, at = 0) {
		const { type, entryId } = entry;
		if (STANDING.includes(type)) {
			// Modes without a list only tell which one is current.
			const available = entry.available?.length ? entry.available : standing[type]?.available;
			standing[type] = type === "modes" ? { ...entry, available } : entry;
			return /** @type {const} */ ("standing");
		}
		const known = byId.get(entryId);
		// What was trimmed is of no interest until it is paged in again.
		if (!known && entry.seq < entries.oldest && list.length) return /** @type {const} */ ("older");
		applied.set(entryId, at);
		if (!known) {
			byId.set(entryId, entry);
			list.push(entry);
			return /** @type {const} */ ("added");
		}
		const isCalled = "state" in known && known.state === "queued" && entry.state !== "queued";
		// Who leaves the queue stands below what was said meanwhile.
		if (isCalled) list.push(...list.splice(list.indexOf(known), 1));
		replace(known, entry, isCalled ? entry.seq : known.seq);
		return isCalled ? "moved" : /** @type {const} */ ("changed");
	}

	/** @type {Entries} */
	const entries = {
		get list() { return list; },
		get standing() { return standing; },
		get seq() { return seq; },
		get more() { return more; },
		get oldest() { return list[0]?.seq ?? seq + 1; },
		get: (entryId) => byId.get(entryId),
		history(frame) {
			list = [];
			standing = {};
			byId.clear();
			applied.clear();
			seq = frame.seq;
			more = frame.more;
			for (const entry of frame.entries) put(entry, seq);
		},
		update(frame) {
			seq = Math.max(seq, frame.seq);
			return put(frame.entry, frame.seq);
		},
		chunk(frame) {
			const entry = byId.get(frame.entryId);
			if (!entry || !("content" in entry)) return "unknown";
			if (frame.seq <= (applied.get(frame.entryId) ?? 0)) return "repeated";
			seq = Math.max(seq, frame.seq);
			applied.set(frame.entryId, frame.seq);
			entry.content += frame.content;
			return "appended";
		},
		page(frame) {
			const all = /** @type {SpokenEntry[]} */ (frame.entries).filter(({ type }) => !STANDING.includes(type));
			const isNew = all.some(({ entryId }) => !byId.has(entryId));
			const older = all.map((entry) => {
				const known = byId.get(entry.entryId);
				// What is here is newer, but its place is where it began.
				if (known) return Object.assign(known, { seq: entry.seq });
				byId.set(entry.entryId, entry);
				applied.set(entry.entryId, seq);
				return entry;
			});
			list = [...older, ...list.filter((entry) => !older.includes(entry))];
			// A page that brings nothing would be asked for without end.
			more = frame.more && isNew;
			return older;
		},
		trim(keep) {
			const old = list.slice(0, Math.max(0, list.length - keep));
			const [open, gone] = [old.filter(isOpen), old.filter((entry) => !isOpen(entry))];
			list = list.slice(old.length);
			const first = entries.oldest;
			// Older ones are asked for by the place of the first.
			list.unshift(...open.map((entry) => Object.assign(entry, { seq: first })));
			for (const { entryId } of gone) {
				byId.delete(entryId);
				applied.delete(entryId);
			}
			more ||= gone.length > 0;
			return gone.map(({ entryId }) => entryId);
		},
		prompts() {
			const said = list.flatMap((entry) => (entry.type === "user" ? [entry.content] : []));
			return said.filter((text, at) => text !== said[at - 1]);
		},
		running: () => list.findLast((entry) => entry.type === "user" && entry.state === "running"),
	};
	return entries;
}
