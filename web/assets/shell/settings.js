// <convoke-settings>: the settings page. Every value is one of `config.toml`, but for those that belong to this browser.

import { component, fill, h, on } from "../ui/dom.js";
import { makeHistories } from "./histories.js";
import { makeConfig } from "./settings/config.js";
import { makeAbout, makeAgents, makeAppearance, makeBrowsers } from "./settings/daemon.js";
import { makeRules } from "./settings/rules.js";
import { makeNotify } from "./notify.js";

/** Settings with a section of their own, by the beginning of their keys; all others are defaults. */
const [NOTIFY, EDITOR, HISTORY] = ["notify.", "editor.", "history."];

/** @type {(place: PlaceOptions) => PlaceView} */
export const makeSettings = component("convoke-settings", (element, options) => {
	const config = makeConfig(options.line);
	const rules = makeRules(options);
	const agents = makeAgents(options.store);
	const histories = makeHistories(options);
	/** @type {[id: string, title: string, hint: string, ...parts: Child[]][]} */
	const sections = [
		["defaults", "Defaults", "Limits and paths of the daemon.", config.fields((key) => ![NOTIFY, EDITOR, HISTORY].some((start) => key.startsWith(start)))],
		["rules", "Rules", "What agents may do without asking, and what they may never do. A rule saves you a question; it is not a boundary. The sandbox is: it confines an agent whatever the rules say.", rules.element],
		["agents", "Agents", "Programs that sessions can be started with.", agents.element],
		["histories", "Histories", "Conversations that other programs keep on this machine. They are counted here; nothing of them is read before you import it.", histories.element, config.fields((key) => key.startsWith(HISTORY))],
		["notifications", "Notifications", "In this browser while the page is in the background, and by a command of yours at any time.", makeNotify(), config.fields((key) => key.startsWith(NOTIFY))],
		["appearance", "Appearance", "How the page looks in this browser, and which editor opens files.", makeAppearance(options.wishes.setTheme), config.fields((key) => key.startsWith(EDITOR))],
		["browsers", "Signed-in browsers", "Browsers that may use this page. Sign another one in with “convoke open”.", makeBrowsers()],
		["about", "About", "", makeAbout(config)],
	];
	const links = sections.map(([id, title]) => h("a", { href: `#${id}`, onclick: (event) => (event.preventDefault(), go(id)) }, title));
	const parts = sections.map(([id, title, hint, ...inside]) => h("section.setting-group", { id: `settings-${id}`, label: title, tabIndex: -1 }, h("h3", title), hint && h("p.muted", hint), ...inside));
	const field = h("input.field", { type: "search", placeholder: "Find a setting", label: "Find a setting" });

	/** Shows one section, without touching the address. */
	function go(id = "") {
		const part = /** @type {HTMLElement} */ (element.querySelector(`#settings-${id}`));
		part.scrollIntoView({ block: "start" });
		part.focus({ preventScroll: true });
	}

	on(field, "input", () => config.filter(field.value.trim()));
	fill(element, h("div.page.settings", h("h2.page-title", "Settings"), h("nav.settings-nav", { label: "Sections" }, ...links), config.trouble, field, ...parts));
	config.load();
	rules.load();
	histories.load();
	return {
		receive(frame) {
			const { type } = frame;
			histories.receive(frame);
			if (type === "rule:changed") rules.load();
			// The connection is back.
			if (type === "project:list") config.load().then(rules.load).then(histories.load);
			if (type === "agent:list") agents.paint();
		},
		focusFirst: () => links[0].focus(),
	};
});
