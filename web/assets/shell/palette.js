// The palette: sessions, words in messages, projects and commands of the page, by typing alone.

import { asTyped, makeTypeahead, matching, matchingSessions, parseQuery } from "../lib/query.js";
import { relativeTime, unmarked } from "../lib/words.js";
import { fill, h, icon, on, quoted } from "../ui/dom.js";
import { dialogs, problem } from "../ui/parts.js";
import { makeMark, paintMarkOf } from "./marks.js";

/** Rows per kind: enough to choose from without scrolling far. */
const [SESSIONS_MAX, HITS_MAX] = [8, 20];
/** Shorter words match too much to be worth a search. */
const WORDS_MIN = 2;
/** The roles that the daemon searches. @type {Record<string, string>} */
const ROLES = { user: "You", agent: "Agent", system: "Convoke" };
const EXAMPLES = ["agent:", "project:", "role:user", "since:", "until:"];
/** Hits are ordered by time unless this is among the words. */
const BEST = "order:best";

/** @param {PaletteOptions} options */
export function openPalette({ store, line, may, commands, slash, onslash, open, create }) {
	const field = h("input", { role: "combobox", autofocus: true, autocomplete: "off", spellcheck: false, placeholder: "Search sessions, messages and commands", label: "Search", ariaExpanded: "true", ariaAutoComplete: "list", "aria-controls": "palette-list", enterKeyHint: "go" });
	const list = h("div.palette-list", { id: "palette-list", role: "listbox", label: "Results" });
	const told = h("p.palette-told.muted", { role: "status" });
	let hits = /** @type {Api.Hit[]} */ ([]);
	let rows = /** @type {PaletteRow[]} */ ([]);
	let at = 0;
	let state = "";

	const projectName = (id = "") => store.folderOf(id)?.name ?? "";
	const placeOf = (/** @type {Session} */ { cliType, projectId }) => ({ agent: store.agent(cliType).title, project: projectName(projectId) });

	/** @returns {[title: string, rows: PaletteRow[]][]} */
	function groups() {
		const query = parseQuery(field.value);
		const hasFilters = Object.keys(query.filters).length > 0;
		const newest = [...store.sessions.values()].sort((a, b) => b.lastActiveAt.localeCompare(a.lastActiveAt));
		const sessions = matchingSessions(newest, query, placeOf).slice(0, SESSIONS_MAX).map((session) => ({ shows: sessionRow(session), run: () => open(session) }));
		const projects = hasFilters ? [] : store.projects.filter(({ id, name, path }) => may("member", id) && query.words && matching(`${name} ${path}`, query.words))
			.map(({ id, name }) => ({ shows: [icon("folder"), h("span.title", `New session in ${name}`)], run: () => create(id) }));
		const known = hasFilters ? [] : commands.filter(([label]) => matching(label, query.words))
			.map(([label, name, run, keys]) => ({ shows: [icon(name), h("span.title", label), keys ? h("kbd", keys) : ""], run }));
		const agents = hasFilters ? [] : slash.filter(({ name, description }) => query.words && matching(`/${name} ${description}`, query.words))
			.map(({ name, description }) => ({ shows: [icon("execute"), h("span.title", `/${name}`), h("span.muted.place", description)], run: () => onslash(name) }));
		// A slash asks for a command.
		const [first, last] = query.words.startsWith("/") ? [agents, []] : [[], agents];
		return [["Commands of the agent", first], ["Sessions", sessions], ["Messages", hits.map(hitRow)], ["Projects", projects], ["Commands", known], ["Commands of the agent", last]];
	}

	/** @param {Session} session */
	function sessionRow(session) {
		const dot = makeMark();
		paintMarkOf(dot, session);
		return [dot, h("span.title", session.title), h("span.muted.place", projectName(session.projectId)), h("time.muted", relativeTime(session.lastActiveAt, Date.now()))];
	}

	/** @param {Api.Hit} hit @returns {PaletteRow} */
	function hitRow({ excerpt, session, seq, role, timestamp }) {
		const words = excerpt.map(({ text, matched }) => (matched ? h("mark", text) : unmarked(text)));
		const where = [ROLES[role] ?? role, unmarked(session.title), session.project, session.archived ? "archived" : ""].filter(Boolean).join(" · ");
		return {
			shows: [icon("search"), h("span.hit", h("span.excerpt", ...words), h("span.muted.place", where)), h("time.muted", relativeTime(timestamp, Date.now()))],
			run: () => open(session, seq),
		};
	}

	function paint() {
		const all = groups().filter(([, some]) => some.length > 0);
		rows = all.flatMap(([, some]) => some);
		let number = 0;
		fill(list, ...all.map(([title, some]) => h("div", { role: "group", label: title }, h("div.palette-title", { ariaHidden: "true" }, title), ...some.map((row) => {
			const mine = number++;
			return h("div.palette-row", { role: "option", id: `palette-${mine}`, onpointerdown: (event) => event.preventDefault(), onclick: () => take(row) }, ...row.shows);
		}))));
		pick(Math.min(at, Math.max(0, rows.length - 1)));
		fill(told, ...quoted(state || (rows.length ? "" : "Nothing found.")));
	}

	function pick(to = 0) {
		at = to;
		const options = [...list.querySelectorAll("[role=option]")];
		options.forEach((option, place) => (option.ariaSelected = String(place === at)));
		// The title of the first group comes into view with the first row.
		if (at === 0) list.scrollTop = 0;
		else options[at]?.scrollIntoView({ block: "nearest" });
		field.setAttribute("aria-activedescendant", options[at]?.id ?? "");
	}

	/** @param {PaletteRow} row */
	function take(row) {
		dialog.close();
		row.run();
	}

	const search = makeTypeahead((query) => line.query("search", { query, limit: HITS_MAX }), (answer, error) => {
		hits = answer?.hits ?? [];
		state = error ? problem(error) : answer?.incomplete ? "The search index is still being filled: messages may be missing." : "";
		paint();
	}, { later: (action, ms) => setTimeout(action, ms), cancel: (timer) => clearTimeout(timer) });

	function typed() {
		const { words, filters } = parseQuery(field.value);
		const isBest = filters.order === "best";
		best.ariaPressed = String(isBest);
		best.classList.toggle("on", isBest);
		at = 0;
		const isWorthIt = words.length >= WORDS_MIN;
		state = isWorthIt ? "Searching messages…" : "";
		// An early Enter would open hits of the previous query.
		hits = [];
		paint();
		search(isWorthIt ? asTyped(field.value) : "");
	}

	const offers = EXAMPLES.map((filter) => h("button.chip", {
		onclick: () => {
			field.value = `${[field.value.trim(), filter].filter(Boolean).join(" ")}${filter.endsWith(":") ? "" : " "}`;
			field.focus();
			typed();
		},
	}, filter));
	const best = h("button.chip", {
		ariaPressed: "false",
		title: "The most relevant messages first, not the newest",
		onclick: () => {
			const others = field.value.split(/\s+/).filter((word) => word && !word.startsWith("order:"));
			field.value = `${[...others, ...(best.ariaPressed === "true" ? [] : [BEST])].join(" ")} `;
			field.focus();
			typed();
		},
	}, "Best first");
	const dialog = dialogs.open("Search", () => [h("div.palette-field", icon("search"), field), h("div.palette-filters", { role: "group", label: "Filters" }, ...offers, best), told, list]);
	dialog.classList.add("palette");
	on(field, "input", typed);
	on(field, "keydown", (event) => {
		if (event.isComposing) return;
		const to = { ArrowDown: at + 1, ArrowUp: at - 1, PageDown: Math.min(at + 8, rows.length - 1), PageUp: Math.max(at - 8, 0) }[event.key];
		if (event.key === "Enter" && rows[at]) take(rows[at]);
		else if (to !== undefined && rows.length) pick((to + rows.length) % rows.length);
		else return;
		event.preventDefault();
	});
	paint();
	return dialog;
}

