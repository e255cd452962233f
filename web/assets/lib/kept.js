// Browser storage: small settings and drafts.

/** Browsers throw when they refuse to store something. @template T @param {() => T} action @returns {T | undefined} */
export function attempt(action) {
	try {
		return action();
	} catch {
		return undefined;
	}
}

export const kept = (name = "") => attempt(() => localStorage.getItem(`convoke.${name}`)) ?? null;
export const keep = (name = "", value = "") => attempt(() => localStorage.setItem(`convoke.${name}`, value));

const PREFIX = "convoke.draft.";
/** Drafts beyond these limits are dropped, oldest first, so that the browser's storage never fills up. */
const DRAFTS_MAX = 200;
const AGE_MAX = 90 * 24 * 3600_000;

/** @param {Storage} storage @param {() => number} now @returns {Drafts} */
export function makeDrafts(storage, now) {
	/** Fallback for values that the browser refuses to store. */
	const memory = /** @type {Map<string, string>} */ (new Map());
	const read = (/** @type {string | null | undefined} */ text) => attempt(() => JSON.parse(text ?? "null"));
	return {
		get: (key) => read(memory.get(key) ?? attempt(() => storage.getItem(PREFIX + key)))?.value,
		set(key, value) {
			memory.delete(key);
			if (value === null || value === "") return attempt(() => storage.removeItem(PREFIX + key));
			const text = JSON.stringify({ at: now(), value });
			if (!attempt(() => (storage.setItem(PREFIX + key, text), true))) memory.set(key, text);
		},
		prune() {
			attempt(() => {
				const keys = Array.from({ length: storage.length }, (_, at) => storage.key(at) ?? "").filter((key) => key.startsWith(PREFIX));
				const drafts = keys.map((key) => ({ key, at: read(storage.getItem(key))?.at ?? 0 })).sort((a, b) => b.at - a.at);
				const gone = drafts.filter(({ at }, place) => place >= DRAFTS_MAX || at < now() - AGE_MAX);
				for (const { key } of gone) storage.removeItem(key);
			});
		},
	};
}
