// <convoke-settings>: the settings page. Every value is one of `config.toml`, but for those that belong to this browser.

import { matching } from "../lib/query.js";
import { component, fill, h, on } from "../ui/dom.js";
import { makeHistories } from "./histories.js";
import { makeConfig } from "./settings/config.js";
import { makeAbout, makeAgents, makeAppearance, makeBrowsers } from "./settings/daemon.js";
import { makePeople } from "./settings/people.js";
import { makeRules } from "./settings/rules.js";
import { makeNotify } from "./notify.js";

/** Settings with a section of their own, by the beginning of their keys; all others are defaults. */
const [NOTIFY, EDITOR, HISTORY] = ["notify.", "editor.", "history."];

/** Why the browser shows no notifications, if it does not. */
const noNotify = () => (!("Notification" in window) ? "This browser shows no notifications of this page: they need https, or a page of this machine." : Notification.permission === "denied" ? "This browser blocks the notifications of this page; its own settings can allow them." : "");

/** @type {(place: PlaceOptions) => PlaceView} */
export const makeSettings = component("convoke-settings", (element, options) => {
	const config = makeConfig(options.line);
	const rules = makeRules(options);
	const agents = makeAgents(options.store);
	const histories = makeHistories(options);
	/** @type {[id: string, title: string, hint: string, ...parts: Child[]][]} */
	const sections = [
		["agents", "Agents", "Programs that sessions can be started with.", agents.element],
		["appearance", "Appearance", "How the page looks in this browser, and which editor opens files.", makeAppearance(options.handlers.setTheme), config.fields((key) => key.startsWith(EDITOR))],
		["notifications", "Notifications", "In this browser while the page is in the background, and by a command of yours at any time.", makeNotify(), noNotify() && h("p.muted", noNotify()), config.fields((key) => key.startsWith(NOTIFY))],
		["histories", "Histories", "Conversations that other programs keep on this machine. They are counted here; nothing of them is read before you import it.", histories.element, config.fields((key) => key.startsWith(HISTORY))],
		["rules", "Rules", "What agents may do without asking, and what they may never do. A rule saves you a question; it is not a boundary. The sandbox is: it confines an agent whatever the rules say.", rules.element],
		["people", "People", "Others who may use this daemon, and with what. Viewers read, members prompt and answer, owners manage.", makePeople(options.store)],
		["browsers", "Signed-in browsers", "Browsers that may use this page. Sign another one in with “convoke open”.", makeBrowsers()],
		["defaults", "Limits and paths", "The other values of config.toml.", config.fields((key) => ![NOTIFY, EDITOR, HISTORY].some((start) => key.startsWith(start)))],
		["about", "About", "", makeAbout(config)],
	];
	const links = sections.map(([id, title]) => h("a", { href: `#${id}`, onclick: (event) => (event.preventDefault(), go(id)) }, title));
	const parts = sections.map(([id, title, hint, ...inside]) => h("section.setting-group", { id: `settings-${id}`, label: title, tabIndex: -1 }, h("h3", title), hint && h("p.muted", hint), ...inside));
	const field = h("input.field", { type: "search", placeholder: "Find a setting", label: "Find a setting" });
	const none = h("p.muted", { role: "status", hidden: true }, "No setting matches.");

	/** Shows one section, without touching the address. */
	function go(id = "") {
		const part = /** @type {HTMLElement} */ (element.querySelector(`#settings-${id}`));
		if (part.hidden) {
			field.value = "";
			find();
		}
		part.scrollIntoView({ block: "start" });
		part.focus({ preventScroll: true });
	}

	/** What is not a value of the file is found by the words about it. */
	function find() {
		const words = field.value.trim();
		config.filter(words);
		parts.forEach((part, at) => {
			const [, title, hint, ...inside] = sections[at];
			const isNamed = matching(`${title} ${hint}`, words);
			const found = inside.some((one) => one instanceof HTMLElement && Number(one.dataset.found) > 0);
			part.hidden = !isNamed && !found;
			// Without the others in a section that only one setting brought here.
			for (const one of inside) if (one instanceof HTMLElement && one.dataset.found === undefined) one.hidden = !isNamed;
		});
		none.hidden = parts.some((part) => !part.hidden);
	}

	on(field, "input", find);
	fill(element, h("div.page.settings", h("h2.page-title", "Settings"), h("nav.settings-nav", { label: "Sections" }, ...links), config.trouble, field, none, ...parts));
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
