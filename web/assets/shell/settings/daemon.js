// Sections of the settings that are not values of `config.toml`: agents, appearance, browsers, and about.

import { timeAgo } from "../../lib/words.js";
import { ownBrowser } from "../../ui/access.js";
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
	const root = document.documentElement;
	const choices = Object.entries({ system: "As the system", light: "Light", dark: "Dark" }).map(([value, text]) => ({ text, radio: h("input", { type: "radio", name: "theme", value, onchange: () => setTheme(value) }) }));
	const paint = () => choices.forEach(({ radio }) => (radio.checked = radio.value === (root.dataset.theme ?? "system")));
	paint();
	// It is also changed in the sidebar, and in other windows.
	new MutationObserver(paint).observe(root, { attributeFilter: ["data-theme"] });
	return h("div.choices", { role: "radiogroup", label: "Theme" }, ...choices.map(({ radio, text }) => h("label.option", radio, text)));
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
			fill(list, h("li.muted", ...quoted(problem(error))));
		}
	}
	/** @param {{ id: string, userAgent: string, createdAt: string, lastUsedAt: string, user?: string }} browser */
	function row({ id, userAgent, createdAt, lastUsedAt, user }) {
		const name = browserName(userAgent);
		const isOwn = id === ownBrowser();
		const revoke = () => dialogs.confirm(`Sign out ${isOwn ? "this browser" : name}?`, `${isOwn ? "This page is" : "Its open pages are"} disconnected at once. “convoke open” signs a browser in again.`, "Sign out", () => rest(`/api/browser-sessions/${encodeURIComponent(id)}`, "DELETE").then(load, toastError));
		return h("li", h("div.rule-text", h("b", { title: userAgent }, name), isOwn && h("span.tag", "This browser"), h("p.muted", [user, id, `since ${new Date(createdAt).toLocaleDateString()}`, `last used ${timeAgo(lastUsedAt, Date.now())}`].filter(Boolean).join(" · "))),
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
