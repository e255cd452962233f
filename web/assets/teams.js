// The dashboard of the teams: who asks whom, when, how long, and what it costs.

import { duration, money as priced, relativeTime, tokens as short } from "./lib/words.js";
import { barChart, matrixChart, timeChart } from "./teams/charts.js";
import { asker, busiest, life, lives, matrix, pairName, spent, sum, timeline } from "./teams/figures.js";
import { dialogs } from "./ui/dialog.js";
import { fill, h, on, part, setText } from "./ui/dom.js";
import { icon } from "./ui/icons.js";
import { toast, toastError } from "./ui/notes.js";

const REFRESH_MS = 15_000;
const find = (id = "") => part(document, `#${id}`);
const stretch = () => /** @type {"hour" | "day"} */ (/** @type {HTMLSelectElement} */ (find("stretch")).value);

/** @param {string} path @param {string} [method] */
async function call(path, method = "GET") {
	const response = await fetch(path, { method });
	const body = await response.json();
	if (!response.ok) throw { message: body.detail, hint: body.hint };
	return body;
}

/** @param {Record<string, number>} money */
const costs = (money) => Object.entries(money).map(([currency, amount]) => priced({ amount, currency })).join(" + ");

/** @param {string} name @param {string} value @param {string} [note] */
const tile = (name, value, note) => h("div.tile", h("dt", name), h("dd", value), note && h("p.muted", note));

/** @param {string} title @param {(Node | string)[]} children */
const card = (title, ...children) => h("section.card", h("h2", title), ...children);

/** @param {Team} team */
function teamCard(team) {
	const dot = h("span.dot", { role: "img", label: team.busy ? "at work" : team.processes ? "awake" : "asleep" });
	dot.dataset.activity = team.busy ? "running" : team.processes ? "idle" : "ended";
	if (team.color) dot.style.background = team.color;
	const told = [team.agent, team.skipPermissions && "acts without asking", team.queued && `${team.queued} waiting`].filter(Boolean).join(" · ");
	return h("li", dot, h("div", h("b", team.name), h("p.muted", team.description ?? team.path), h("p.muted", told)));
}

/** @param {TeamAnalytics} data @param {number} now */
function table({ sessions, usage }, now) {
	const head = ["Conversation", "Status", "Messages", "Lasted", "Tokens", "Cost", "Used"];
	const row = (/** @type {TeamSession} */ session) => {
		const own = usage.filter(({ id }) => id === session.id);
		const { input, output, money } = spent(own);
		const cells = [session.status.replace("_", " "), short(session.messageCount), duration(life(session)), input + output ? `${short(input)} / ${short(output)}` : "", costs(money), relativeTime(session.lastUsedAt, now)];
		return h("tr", { title: session.error }, h("th", { scope: "row" }, h("a", { href: `/s/${encodeURIComponent(session.sessionId)}` }, pairName(session))), ...cells.map((text) => h("td", text)));
	};
	return h("div.scroll", { tabIndex: 0, role: "region", label: "Conversations" }, h("table", h("thead", h("tr", ...head.map((text) => h("th", { scope: "col" }, text)))), h("tbody", ...sessions.map(row))));
}

/** @param {{ teams: Team[] }} listed @param {TeamAnalytics} data */
function paint({ teams }, data) {
	const now = Date.now();
	const when = (/** @type {number} */ start) => new Date(start).toLocaleString(undefined, stretch() === "day" ? { month: "short", day: "numeric" } : { weekday: "short", hour: "2-digit" });
	if (!teams.length && !data.sessions.length) {
		fill(find("board"), h("div.centre", h("h2", "No teams yet"), h("p.muted", "Describe them in teams.json in Convoke's home; it is read by itself."), h("pre", '{ "teams": { "backend": { "path": "/home/me/backend" } } }')));
		return;
	}
	const { activity, stats, usage, sessions, since } = data;
	const failures = sum(activity, "failures");
	const asked = sum(activity, "prompts");
	const { input, output, money } = spent(usage);
	const grid = matrix(activity, teams.map(({ name }) => name));
	const most = busiest(activity, 8);
	fill(find("board"),
		h("ul.team-list", ...teams.map(teamCard)),
		h("dl.tiles",
			tile("Conversations", short(stats.total), `${stats.active} in working order`),
			tile("Asked", short(asked), `${short(stats.totalMessages)} messages since the last compactions`),
			tile("Failed", short(failures), asked ? `${((100 * failures) / asked).toFixed(1)} %` : ""),
			tile("Compacted", short(sum(activity, "compactions")), stats.compactPending ? `${stats.compactPending} pending` : ""),
			tile("Tokens", input + output ? `${short(input)} / ${short(output)}` : "—", "read / written"),
			tile("Cost", costs(money) || "—")),
		card("Who asks whom", matrixChart({ ...grid, askers: grid.askers.map(asker) })),
		card("Over time", timeChart(timeline(activity, since, stretch(), now), when), h("p.legend", h("i.asked"), "asked", h("i.failed"), "failed", h("i.compacted"), "compacted")),
		card("Most active", most.length ? barChart(most, "Most active pairs") : h("p.muted", "Nothing was asked in this time.")),
		card("How long they last", barChart(lives(sessions), "Lifetimes of conversations")),
		card("Conversations", table(data, now)));
}

async function refresh() {
	try {
		const [listed, data] = await Promise.all([call("/api/teams"), call(`/api/teams/analytics?stretch=${stretch()}`)]);
		setText(find("trouble"), "");
		paint(listed, data);
		find("board").ariaBusy = "false";
	} catch (error) {
		const { message } = /** @type {{ message?: string }} */ (error);
		setText(find("trouble"), message ?? "The daemon does not answer.");
	}
}

find("back").append(icon("back"));
find("stop").prepend(icon("stop"));
on(find("stretch"), "change", refresh);
on(find("stop"), "click", () => dialogs.confirm("Stop all agents?", "Everything that agents work on is cancelled, in all sessions and teams, and the agents are stopped. Sessions stay, and go on with the next prompt.", "Stop all", async () => {
	try {
		const { processes } = await call("/api/agents/stop", "POST");
		toast(processes === 1 ? "Stopped 1 agent." : `Stopped ${processes} agents.`);
	} catch (error) {
		toastError(error);
	}
	refresh();
}));
setInterval(() => document.visibilityState === "visible" && !dialogs.isOpen() && refresh(), REFRESH_MS);
document.addEventListener("visibilitychange", () => document.visibilityState === "visible" && refresh());
refresh();
