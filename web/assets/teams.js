// The dashboard of the teams: questions by team, over time, lifetimes, and costs.

import { isTyping, shellAction } from "./lib/keys.js";
import { nodeName } from "./lib/nodes.js";
import { duration, money as priced, plural, relativeTime, sessionOfPath, tokens as short } from "./lib/words.js";
import { charts } from "./teams/charts.js";
import { asker, busiest, life, lives, matrix, pairName, spent, spoken, sum, timeline } from "./teams/figures.js";
import { call, onSignIn, showDenied, signIn } from "./ui/access.js";
import { h, icon, on, part, setText } from "./ui/dom.js";
import { followChildren } from "./ui/follow.js";
import { me } from "./ui/me.js";
import { nodes } from "./ui/nodes.js";
import { dialogs, toast, toastError } from "./ui/parts.js";

const REFRESH_MS = 15_000;
const isEmbedded = parent !== window;
const find = (id = "") => part(document, `#${id}`);
const stretch = () => /** @type {any} */ (find("stretch")).value;

async function ask(path = "", method = "GET") {
	const response = await call(path, { method });
	showDenied(response.status === 401);
	const body = await response.json();
	if (!response.ok) throw { message: body.detail, hint: body.hint };
	return body;
}

const costs = (money = {}) => Object.entries(money).map(([currency, amount]) => priced({ amount, currency })).join(" + ");
const tile = (name = "", value = "", note = "") => h("div.tile", h("dt", name), h("dd", value), note && h("dd.muted", note));
const card = (title = "", /** @type {Child[]} */ ...children) => h("section.card", h("h2", title), ...children);

/** @param {Api.Team} team */
function teamCard({ name, busy, processes, color, agent, skipPermissions, queued, description, path, node }) {
	const dot = h("span.dot", { role: "img", label: busy ? "busy" : processes ? "awake" : "asleep", "data-mark": busy ? "working" : processes ? "idle" : "ended" });
	const where = nodeName(nodes.of(node));
	const told = [agent, where && `on ${where}`, skipPermissions && "does not ask for permission", queued && `${queued} waiting`].filter(Boolean).join(" · ");
	const item = h("li", dot, h("div", h("b", name), h("p.muted", description ?? path), h("p.muted", told)));
	if (color) item.style.setProperty("--team", color);
	return item;
}

/** Inside the shell a conversation opens as a tab. @param {MouseEvent} event */
function openInShell(event) {
	const uid = sessionOfPath(/** @type {HTMLAnchorElement} */ (event.currentTarget).pathname);
	if (!isEmbedded || event.ctrlKey || event.metaKey || event.shiftKey) return;
	event.preventDefault();
	parent.postMessage({ convoke: "open", uid }, location.origin);
}

/** @param {Pick<Api.TeamAnalytics, "sessions" | "usage">} data */
function table({ sessions, usage }) {
	const head = ["Conversation", "Status", "Messages", "Lasted", "Tokens", "Cost", "Used"];
	const row = (/** @type {Api.TeamSession} */ session) => {
		const { input, output, money } = spent(usage.filter(({ id }) => id === session.id));
		const cells = [session.status.replace("_", " "), short(session.messageCount), duration(life(session)), input + output ? `${short(input)} / ${short(output)}` : "", costs(money), relativeTime(session.lastUsedAt, Date.now())];
		return h("tr", { title: session.error, "data-key": session.id }, h("th", { scope: "row" }, h("a", { href: `/s/${encodeURIComponent(session.sessionId)}`, onclick: openInShell }, pairName(session)), nodes.of(session.node) && h("span.muted", ` on ${nodeName(nodes.of(session.node))}`)), ...cells.map((text) => h("td", text)));
	};
	return h("div.scroll", { tabIndex: 0, role: "region", label: "Conversations" }, h("table", h("thead", h("tr", ...head.map((text) => h("th", { scope: "col" }, text)))), h("tbody", ...sessions.map(row))));
}

/** @param {Api.Team[]} teams @param {Api.TeamAnalytics} data @returns {Child[]} */
function boardOf(teams, data) {
	const { activity, stats, usage, since } = data;
	const sessions = spoken(data.sessions);
	if (!teams.length && !sessions.length) {
		return [h("div.centre", h("h2", "No teams yet"), h("p.muted", "Configure them in teams.json in Convoke's home; changes are loaded automatically."), h("pre", '{ "teams": { "backend": { "path": "/home/me/backend" } } }'))];
	}
	/** @type {Intl.DateTimeFormatOptions} */
	const format = stretch() === "day" ? { month: "short", day: "numeric" } : { weekday: "short", hour: "2-digit" };
	const when = (start = 0) => new Date(start).toLocaleString(undefined, format);
	const failures = sum(activity, "failures");
	const asked = sum(activity, "prompts");
	const { input, output, money } = spent(usage);
	const grid = matrix(activity, teams.map(({ name }) => name));
	const most = busiest(activity, 8);
	return [
		h("ul.team-list", ...teams.map(teamCard)),
		h("dl.tiles",
			tile("Conversations", short(sessions.length), `${sessions.filter(({ status }) => status === "active" || status === "idle").length} active`),
			tile("Asked", short(asked), `${short(stats.totalMessages)} ${stats.totalMessages === 1 ? "message" : "messages"} since the last compactions`),
			tile("Failed", short(failures), asked ? `${((100 * failures) / asked).toFixed(1)} %` : ""),
			tile("Compacted", short(sum(activity, "compactions")), stats.compactPending ? `${stats.compactPending} pending` : ""),
			tile("Tokens", input + output ? `${short(input)} / ${short(output)}` : "—", "read / written"),
			tile("Cost", costs(money) || "—")),
		card("Questions by team", charts.matrix(grid.askers.map(asker), grid)),
		card("Over time", charts.time(timeline(activity, since, stretch(), Date.now()), when), h("p.legend", h("i.asked"), "asked", h("i.failed"), "failed", h("i.compacted"), "compacted")),
		card("Most active", most.length ? charts.bars(most, "Most active pairs") : h("p.muted", "No questions in this period.")),
		card("Lifetime", charts.bars(lives(sessions), "Lifetimes of conversations")),
		card("Conversations", sessions.length ? table({ sessions, usage }) : h("p.muted", "No team has asked another yet.")),
	];
}

/** The number of the last request, whose response alone counts. */
let asked = 0;

async function refresh() {
	const mine = (asked += 1);
	try {
		const [{ teams }, data] = await Promise.all([ask("/api/teams"), ask(`/api/teams/analytics?stretch=${stretch()}`)]);
		if (mine !== asked) return;
		setText(find("trouble"), "");
		followChildren(find("board"), h("main", ...boardOf(teams, data)));
		find("board").ariaBusy = "false";
	} catch (/** @type {any} */ error) {
		if (mine === asked) setText(find("trouble"), error instanceof TypeError ? "Cannot reach the daemon." : error.message);
	}
}

async function stop() {
	try {
		const { processes } = await ask("/api/agents/stop", "POST");
		toast(`Stopped ${plural(processes, "agent")}.`);
	} catch (error) {
		toastError(error);
	}
	refresh();
}

find("back").append(icon("back"));
find("back").hidden = isEmbedded;
find("stop").prepend(icon("stop"));
nodes.onchange(refresh);
on(find("stretch"), "change", refresh);
on(find("stop"), "click", () => dialogs.confirm("Stop all agents?", "All running turns in all sessions and teams are cancelled, and the agents are stopped. Sessions are kept, and continue with the next prompt.", "Stop all", stop));
addEventListener("keydown", (event) => {
	const shortcut = shellAction(event, isTyping(event.target));
	if (!shortcut) return;
	if (isEmbedded) parent.postMessage({ convoke: "key", ...shortcut }, location.origin);
	else if (shortcut.action === "help") dialogs.help();
	else return;
	event.preventDefault();
});
addEventListener("message", ({ origin, source, data }) => {
	if (origin === location.origin && source === parent && data?.convoke === "focus") find("stretch").focus();
});
const look = () => document.visibilityState === "visible" && !dialogs.isOpen() && refresh();
setInterval(look, REFRESH_MS);
document.addEventListener("visibilitychange", look);
onSignIn(refresh);
const showStop = () => (find("stop").hidden = !me.may("owner"));
me.onchange(showStop);
showStop();
signIn().then(refresh).then(() => isEmbedded ? undefined : me.load());
