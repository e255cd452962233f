// What the dashboard shows, worked out of what the daemon tells. Nothing here touches the page.

const HOUR = 3_600_000;
const STRETCH = { hour: HOUR, day: 24 * HOUR };
/** How long conversations last, up to so much. @type {[string, number][]} */
const LIVES = [["under an hour", HOUR], ["under a day", 24 * HOUR], ["under a week", 168 * HOUR], ["under a month", 720 * HOUR], ["longer", Infinity]];

/** Who asks, in words. @param {string | null} team */
export const asker = (team) => team ?? "outside";

/** @param {{ fromTeam: string | null, toTeam: string, thread: string | null }} pair */
export const pairName = ({ fromTeam, toTeam, thread }) => `${asker(fromTeam)} → ${toTeam}${thread ? ` #${thread}` : ""}`;

/** @param {TeamActivity[]} activity @param {"prompts" | "failures" | "compactions"} what */
export const sum = (activity, what) => activity.reduce((all, one) => all + one[what], 0);

/** Who asks whom how much. @param {TeamActivity[]} activity @param {string[]} teams */
export function matrix(activity, teams) {
	const answerers = [...new Set([...teams, ...activity.map(({ toTeam }) => toTeam)])].sort();
	const named = activity.flatMap(({ fromTeam }) => fromTeam ?? []);
	const askers = [null, ...[...new Set([...teams, ...named])].sort()];
	const count = (/** @type {string | null} */ from, /** @type {string} */ to) => sum(activity.filter(({ fromTeam, toTeam }) => fromTeam === from && toTeam === to), "prompts");
	const rows = askers.map((from) => answerers.map((to) => count(from, to)));
	return { askers, answerers, rows, most: Math.max(0, ...rows.flat()) };
}

/** What was said in every stretch, also in those without a word. @param {TeamActivity[]} activity @param {string} since @param {"hour" | "day"} stretch @param {number} now */
export function timeline(activity, since, stretch, now) {
	const step = STRETCH[stretch];
	const bars = [];
	for (let start = Math.floor(Date.parse(since) / step) * step; start <= now; start += step) {
		const here = activity.filter((one) => Date.parse(one.start) === start);
		bars.push({ start, prompts: sum(here, "prompts"), failures: sum(here, "failures"), compactions: sum(here, "compactions") });
	}
	return bars;
}

/** The pairs that asked most. @param {TeamActivity[]} activity @param {number} count */
export function busiest(activity, count) {
	/** @type {Map<string, number>} */
	const pairs = new Map();
	for (const one of activity) pairs.set(pairName(one), (pairs.get(pairName(one)) ?? 0) + one.prompts);
	return [...pairs].filter(([, prompts]) => prompts > 0).sort((a, b) => b[1] - a[1] || a[0].localeCompare(b[0])).slice(0, count);
}

/** How long a conversation has lasted so far. @param {TeamSession} session */
export const life = ({ createdAt, lastUsedAt }) => Math.max(0, Date.parse(lastUsedAt) - Date.parse(createdAt));

/** How many conversations lasted how long. @param {TeamSession[]} sessions @returns {[string, number][]} */
export const lives = (sessions) => LIVES.map(([name, limit], at) => {
	const from = at ? LIVES[at - 1][1] : 0;
	return [name, sessions.filter((session) => life(session) >= from && life(session) < limit).length];
});

/** Everything that was spent. @param {TeamUsage[]} usage */
export function spent(usage) {
	/** @type {Record<string, number>} */
	const money = {};
	for (const { cost } of usage) for (const { currency, amount } of cost) money[currency] = (money[currency] ?? 0) + amount;
	const add = (/** @type {"inputTokens" | "outputTokens"} */ what) => usage.reduce((all, one) => all + one[what], 0);
	return { input: add("inputTokens"), output: add("outputTokens"), money };
}
