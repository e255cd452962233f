// <convoke-start>: writes the first prompt of a session; project and agent are chips with the choices of last time.

import { keep, kept } from "../lib/kept.js";
import { isSend } from "../lib/keys.js";
import { component, copy, fill, h, icon, iconButton, on, setText } from "../ui/dom.js";
import { dialogs, openMenu, problem, toast, toastError } from "../ui/parts.js";

/** The agent that only shows what Convoke does; others are preferred. */
const DEMO = "demo";
const DRAFT = "message.home";

/** @type {(options: StartOptions) => Start} */
export const makeStart = component("convoke-start", (element, { store, line, drafts, oncreated, onadd }) => {
	const box = h("textarea", { rows: 2, label: "What should be done?", placeholder: "What should be done?", value: drafts.get(DRAFT) ?? "", enterKeyHint: "send" });
	const place = h("button.chip", { ariaHasPopup: "menu", ariaExpanded: "false", onclick: () => openMenu(place, projects()) });
	const who = h("button.chip", { ariaHasPopup: "menu", ariaExpanded: "false", onclick: () => openMenu(who, agents()) });
	const send = iconButton("send", "Start the session (Enter)", create, { className: "send" });
	const said = h("p.problem", { role: "alert" });
	const form = h("div.start", box, h("div.start-foot", place, who, send), said);
	const guide = h("div.guide", h("h2", "Welcome to Convoke"), h("ol", h("li", "Add a folder as a project. Agents work in it."), h("li", "Say what should be done. That starts a session, which is kept until you delete it.")),
		h("button.button.primary", { onclick: onadd }, "Add a project"));
	let isBusy = false;

	const project = () => store.projects.find(({ id }) => id === kept("project")) ?? store.projects[0];
	const usable = () => store.agents.filter(({ installed }) => installed);
	const agent = () => usable().find(({ cliType }) => cliType === kept("agent")) ?? usable().find(({ cliType }) => cliType !== DEMO) ?? usable()[0];

	/** @param {boolean} isChosen */
	const mark = (isChosen) => (isChosen ? "check" : "none");
	/** @returns {MenuItem[]} */
	const projects = () => [
		...store.projects.map((/** @type {Project} */ one) => /** @type {MenuItem} */ ([one.name, mark(one === project()), () => choose("project", one.id)])),
		["Add a project…", "add", onadd],
	];
	/** @returns {MenuItem[]} */
	const agents = () => [
		...usable().map((one) => /** @type {MenuItem} */ ([one.title, mark(one === agent()), () => choose("agent", one.cliType)])),
		...(usable().length < store.agents.length ? [/** @type {MenuItem} */ (["More agents…", "add", () => moreAgents(store)])] : []),
	];

	function choose(name = "", value = "") {
		keep(name, value);
		paint();
		box.focus();
	}

	async function create() {
		const prompt = box.value.trim();
		if (isBusy || !prompt || !line.isOpen || !project() || !agent()) return;
		isBusy = true;
		setText(said, "");
		paint();
		try {
			const { session, refused } = await line.request("session:create", { projectId: project().id, cliType: agent().cliType, prompt });
			keep("project", project().id);
			keep("agent", agent().cliType);
			drafts.set(DRAFT, (box.value = ""));
			// The session is there; its message box has the prompt that was not accepted.
			if (refused) {
				drafts.set(`message.${session.uid}`, prompt);
				toastError({ message: refused });
			}
			oncreated(session);
		} catch (error) {
			setText(said, problem(error));
			box.focus();
		}
		isBusy = false;
		paint();
	}

	function paint() {
		const [where, whom] = [project(), agent()];
		guide.hidden = where !== undefined || !line.isOpen;
		form.hidden = !guide.hidden;
		form.ariaBusy = String(isBusy);
		place.hidden = !where;
		place.title = where?.path ?? "";
		place.ariaLabel = `Project: ${where?.name}`;
		fill(place, icon("folder"), h("span.title", where?.name ?? ""), icon("chevron"));
		who.hidden = !whom;
		who.ariaLabel = `Agent: ${whom?.title}`;
		fill(who, icon("execute"), h("span.title", whom?.title ?? ""), icon("chevron"));
		send.disabled = isBusy || !line.isOpen || !where || !whom || !box.value.trim();
	}

	on(box, "input", () => (drafts.set(DRAFT, box.value), paint()));
	on(box, "keydown", (event) => {
		if (!isSend(event)) return;
		event.preventDefault();
		create();
	});
	element.append(guide, form);
	return {
		paint,
		write(projectId) {
			if (projectId) keep("project", projectId);
			paint();
			(form.hidden ? guide.querySelector("button") : box)?.focus();
		},
	};
});

/** Agents that are not installed, and how to install them. @param {Store} store */
export function moreAgents({ agents }) {
	dialogs.open("More agents", () => [h("p.muted", "Install one in a terminal; it is offered here once it is found."), h("div.agents", ...agents.filter(({ installed }) => !installed).map(missingAgent))]);
}

/** @param {Agent} agent */
export function missingAgent({ badge, title, install }) {
	return h("div.agent.missing", h("span.badge", badge), h("span.title", title), "not installed",
		install && h("span.install", h("code", install), iconButton("copy", `Copy the install command of ${title}`, () => copy(install).then(() => toast("Copied.")))));
}
