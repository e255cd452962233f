// Sections of the settings that are not values of `config.toml`: agents, appearance, browsers, and about.

import { timeAgo } from "../../lib/words.js";
import { fill, h, quoted } from "../../ui/dom.js";
import { dialogs, problem, toastError } from "../../ui/parts.js";
import { rest } from "../../ui/rest.js";
import { missingAgent } from "../agents.js";

/** @param {Store} store */
export function makeAgents(store) {
	const element = h("div.agents");
	/** The versions of agents, by name. */
	let versions = /** @type {Record<string, string | undefined>} */ ({});
	const paint = () => fill(element, ...store.agents.map((agent) => (agent.installed ? installedAgent(agent, versions[agent.cliType] ?? agent.version) : missingAgent(agent))));
	paint();
	rest("/api/agents?versions=true").then(({ agents }) => {
		versions = Object.fromEntries(agents.map((/** @type {{ name: string, version?: string }} */ { name, version }) => [name, version]));
		paint();
	}, () => {});
	return { element, paint };
}

/** Login states for people; others show nothing. @type {Record<string, [words: string, look: string]>} */
const LOGIN = { logged_in: ["logged in", "good"], logged_out: ["not logged in", "warn"], unknown: ["log-in not known", "muted"] };

/** @param {Agent} agent */
function installedAgent({ badge, title, cliType, login }, version = "") {
	const [words, look] = LOGIN[login?.state] ?? ["", ""];
	const hint = login?.state === "logged_in" ? "" : (login?.hint ?? "");
	return h("div.agent", h("span.badge", badge), h("span.title", title), h("code.muted", cliType), version && h("span.muted", version), words ? h(`span.${look}`, words) : h("span.good", "installed"),
		words && hint && h("span.login-hint.muted", "To log in: ", ...quoted(hint)));
}

/** @param {(theme: string) => void} setTheme */
export function makeAppearance(setTheme) {
	const theme = document.documentElement.dataset.theme ?? "system";
	const choices = Object.entries({ system: "As the system", light: "Light", dark: "Dark" });
	return h("div.choices", { role: "radiogroup", label: "Theme" }, ...choices.map(([value, text]) => h("label.option", h("input", { type: "radio", name: "theme", value, checked: value === theme, onchange: () => setTheme(value) }), text)));
}

/** The browser and the system out of a user agent, as people name them. */
export function browserName(userAgent = "") {
	const browser = /(Firefox|Edg|OPR|Chrome|Safari)\//.exec(userAgent)?.[1] ?? "";
	const system = /(Windows|Android|iPhone|iPad|Mac OS|CrOS|Linux)/.exec(userAgent)?.[1] ?? "";
	const names = /** @type {Record<string, string>} */ ({ Edg: "Edge", OPR: "Opera", "Mac OS": "macOS", CrOS: "ChromeOS" });
	return [browser, system].filter(Boolean).map((word) => names[word] ?? word).join(" on ") || "A browser";
}

export function makeBrowsers() {
	const list = h("ul.browsers", h("li.muted", "Loading…"));
	async function load() {
		try {
			const { browserSessions } = await rest("/api/browser-sessions");
			fill(list, ...browserSessions.map(row));
		} catch (error) {
			fill(list, h("li.muted", problem(error)));
		}
	}
	/** @param {{ id: string, userAgent: string, createdAt: string, lastUsedAt: string }} browser */
	function row({ id, userAgent, createdAt, lastUsedAt }) {
		const name = browserName(userAgent);
		const revoke = () => dialogs.confirm(`Sign out ${name}?`, "Its open pages are disconnected at once. “convoke open” signs a browser in again.", "Sign out", () => rest(`/api/browser-sessions/${encodeURIComponent(id)}`, "DELETE").then(load, toastError));
		return h("li", h("div.rule-text", h("b", { title: userAgent }, name), h("p.muted", `${id} · since ${new Date(createdAt).toLocaleDateString()} · last used ${timeAgo(lastUsedAt, Date.now())}`)),
			h("button.button.small", { label: `Sign out ${name} ${id}`, onclick: revoke }, "Sign out"));
	}
	load();
	return list;
}

/** @param {Config} config */
export function makeAbout({ path }) {
	const list = h("dl.about");
	rest("/api/status").then(
		({ version, url, home }) => fill(list, ...Object.entries({ Version: version, Address: url, Home: home }).flatMap(([name, value]) => [h("dt", name), h("dd", value)]), h("dt", "Settings file"), h("dd", path)),
		() => fill(list, h("dt", "Version"), h("dd", "Cannot reach the daemon.")),
	);
	return list;
}
