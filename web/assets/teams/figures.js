// Computes the figures of the dashboard from the daemon's data. Nothing here touches the page.

const HOUR = 3_600_000;
const DAY = 24 * HOUR;
/** Lifetimes of conversations, with their upper bounds. @type {[string, number][]} */
const LIVES = [["under an hour", HOUR], ["under a day", DAY], ["under a week", 7 * DAY], ["under a month", 30 * DAY], ["longer", Infinity]];

/** @type {Figures} */
const figures = {
	asker: (team) => team ?? "outside",
	pairName: ({ fromTeam, toTeam, thread }) => `${asker(fromTeam)} → ${toTeam}${thread ? ` #${thread}` : ""}`,
	// After a compaction the count begins anew, but the conversation was used.
	spoken: (sessions) => sessions.filter(({ messageCount, createdAt, lastUsedAt }) => messageCount > 0 || lastUsedAt !== createdAt),
	sum: (all, what) => all.reduce((total, one) => total + one[what], 0),
	matrix(activity, teams) {
		const sorted = (/** @type {string[]} */ names) => [...new Set([...teams, ...names])].sort();
		const answerers = sorted(activity.map(({ toTeam }) => toTeam));
		const askers = [null, ...sorted(activity.flatMap(({ fromTeam }) => fromTeam ?? []))];
		const rows = askers.map((from) => answerers.map((to) => sum(activity.filter(({ fromTeam, toTeam }) => fromTeam === from && toTeam === to), "prompts")));
		return { askers, answerers, rows, most: Math.max(0, ...rows.flat()) };
	},
	timeline(activity, since, stretch, now) {
		const step = stretch === "day" ? DAY : HOUR;
		const first = Math.floor(Date.parse(since) / step);
		return Array.from({ length: Math.floor(now / step) - first + 1 }, (_, at) => {
			const start = (first + at) * step;
			const here = activity.filter((one) => Date.parse(one.start) === start);
			return { start, prompts: sum(here, "prompts"), failures: sum(here, "failures"), compactions: sum(here, "compactions") };
		});
	},
	busiest(activity, count) {
		const pairs = /** @type {Map<string, number>} */ (new Map());
		for (const one of activity) pairs.set(pairName(one), (pairs.get(pairName(one)) ?? 0) + one.prompts);
		return [...pairs].filter(([, prompts]) => prompts > 0).sort((a, b) => b[1] - a[1] || a[0].localeCompare(b[0])).slice(0, count);
	},
	life: ({ createdAt, lastUsedAt }) => Math.max(0, Date.parse(lastUsedAt) - Date.parse(createdAt)),
	lives: (sessions) => LIVES.map(([name, limit], at) => {
		const from = LIVES[at - 1]?.[1] ?? 0;
		return [name, sessions.map(life).filter((ms) => ms >= from && ms < limit).length];
	}),
	spent(usage) {
		const money = /** @type {Record<string, number>} */ ({});
		for (const { currency, amount } of usage.flatMap(({ cost }) => cost)) money[currency] = (money[currency] ?? 0) + amount;
		return { input: sum(usage, "inputTokens"), output: sum(usage, "outputTokens"), money };
	},
};

export const { asker, pairName, spoken, sum, matrix, timeline, busiest, life, lives, spent } = figures;
