// The reducer: the page's copy of a session, and how the daemon's frames change it.
//
// The same as `Entries` in convoke-api; both replay its fixtures/frames.json.

/** Kinds of state; all other entries are conversation. */
const STATE = ["queue", "commands", "modes", "settings", "usage"];

/** @returns {Entries} */
export function makeEntries() {
	let list = /** @type {SpokenEntry[]} */ ([]);
	let state = /** @type {any} */ ({});
	let [rev, generation] = [0, ""];
	let [more, oldest] = [false, 1];
	/** The newest seq of a window that does not reach the end; entries after it are dropped. */
	let last = Infinity;

	/** Whether an entry may still change, so that it is needed however old it is. @param {any} entry */
	function isOpen({ type, partial, state, status, seq }) {
		if (type === "plan") return seq > (entries.running()?.seq ?? Infinity);
		return partial || state === "running" || status === "pending" || status === "running";
	}

	/** @param {any} entry */
	function upsert(entry) {
		const isState = STATE.includes(entry.type);
		// Changes are nearly always among the newest entries.
		const at = isState ? -1 : list.findLastIndex(({ seq }) => seq <= entry.seq);
		const known = isState ? state[entry.entryId] : list[at]?.seq === entry.seq ? list[at] : undefined;
		const isOutside = !isState && !known && ((more && entry.seq < oldest) || entry.seq > last);
		if (isOutside || known?.rev > entry.rev) return "ignored";
		if (isState) state[entry.entryId] = entry;
		else list.splice(known ? at : at + 1, known ? 1 : 0, entry);
		return isState ? "state" : known ? "changed" : "added";
	}

	/** @type {Entries} */
	const entries = {
		get list() { return list; },
		get state() { return state; },
		get rev() { return rev; },
		get generation() { return generation; },
		get more() { return more; },
		get oldest() { return oldest; },
		get newer() { return last < Infinity; },
		get: (entryId) => list.findLast((entry) => entry.entryId === entryId),
		history(frame) {
			[list, state, more, last] = [[], {}, false, Infinity];
			frame.entries.forEach(upsert);
			({ rev, generation, more } = frame);
			if (frame.newer) last = list.at(-1)?.seq ?? 0;
			// Open entries are sent however old they are; otherwise `seq` has no gaps.
			oldest = list.findLast(({ seq }, at) => list[at - 1]?.seq !== seq - 1)?.seq ?? 1;
		},
		opened(frame) {
			rev = Math.max(rev, frame.rev);
			({ generation } = frame);
		},
		update(frame) {
			rev = Math.max(rev, frame.rev);
			return upsert(frame.entry);
		},
		chunk(frame) {
			rev = Math.max(rev, frame.rev);
			const entry = entries.get(frame.entryId);
			if (!entry || entry.rev >= frame.rev || (entry.type !== "assistant" && entry.type !== "thinking")) return false;
			entry.content += frame.content;
			entry.rev = frame.rev;
			return true;
		},
		page(frame) {
			const first = frame.entries[0]?.seq ?? oldest;
			// A page without older entries would be requested again and again.
			more = frame.more && first < oldest;
			oldest = Math.min(oldest, first);
			return /** @type {SpokenEntry[]} */ (frame.entries.filter((entry) => upsert(entry) === "changed"));
		},
		trim(keep) {
			const [old, kept] = [list.slice(0, -keep), list.slice(-keep)];
			if (old.length === 0) return;
			const open = old.filter(isOpen);
			list = [...open, ...kept];
			oldest = Math.max(oldest, kept[0].seq);
			more ||= open.length < old.length;
		},
		prompts() {
			const asked = list.flatMap((entry) => (entry.type === "user" ? [entry.content] : []));
			const said = [...asked, ...entries.queue.map(({ content }) => content)];
			return said.filter((text, at) => text && text !== said[at - 1]);
		},
		running: () => list.findLast((entry) => entry.type === "user" && entry.state === "running"),
		get queue() { return state.queue?.prompts ?? []; },
		get held() { return state.queue?.held === true; },
	};
	return entries;
}
