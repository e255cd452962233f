// Parses the query of the palette: words, and filters such as `agent:codex`.

/** The filters that the daemon understands. */
const FILTERS = ["agent:", "project:", "role:", "since:", "until:", "order:"];

/** Parses a query; the daemon does the same with the whole text. @returns {Query} */
export function parseQuery(text = "") {
	const all = text.trim().split(/\s+/).filter(Boolean);
	const filters = all.filter((word) => FILTERS.some((name) => word.startsWith(name)));
	return {
		words: all.filter((word) => !filters.includes(word)).join(" "),
		filters: Object.fromEntries(filters.map((word) => [word.slice(0, word.indexOf(":")), word.slice(word.indexOf(":") + 1)])),
	};
}

/** The index knows the beginnings of words from this length on. */
const PREFIX_MIN = 3;

/** What is sent to the daemon: a last word that may not be typed to its end stands for all that begin with it. */
export function asTyped(text = "") {
	const last = /(?:^|\s)([\p{L}\p{N}]+)$/u.exec(text)?.[1] ?? "";
	const isQuoted = text.split('"').length % 2 === 0;
	return last.length >= PREFIX_MIN && !isQuoted ? `${text.trimStart()}*` : text.trim();
}

/** Whether all words occur in a text. */
export const matching = (text = "", words = "") => words.toLowerCase().split(/\s+/).every((word) => text.toLowerCase().includes(word));

/**
 * Sessions whose titles have the words. Filters that speak of messages (`role:`, `since:`, `until:`) leave none.
 * @param {Session[]} sessions @param {Query} query @param {(session: Session) => { agent: string, project: string }} placeOf
 */
export function matchingSessions(sessions, { words, filters }, placeOf) {
	const { agent = "", project = "", order: _order, ...rest } = filters;
	if (Object.keys(rest).length) return [];
	return sessions.filter((session) => {
		const place = placeOf(session);
		return matching(session.title, words) && (session.cliType === agent || matching(place.agent, agent)) && matching(place.project, project);
	});
}

/**
 * Debounces queries while the user types, and drops answers to earlier ones.
 * @template Answer
 * @param {(text: string) => Promise<Answer>} ask @param {(answer: Answer | null, error?: unknown) => void} tell
 * @param {Pick<World, "later" | "cancel">} world
 */
export function makeTypeahead(ask, tell, world, pause = 150) {
	let newest = 0;
	let timer = /** @type {any} */ (null);
	return (text = "") => {
		const mine = (newest += 1);
		world.cancel(timer);
		if (!text) return tell(null);
		timer = world.later(() => ask(text).then(
			(answer) => mine === newest && tell(answer),
			(error) => mine === newest && tell(null, error),
		), pause);
	};
}
