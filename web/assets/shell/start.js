// <convoke-start>: writes the first prompt of a session; project, agent, model, mode and work tree are chips with the choices of last time.

import { idleLongest } from "../lib/attention.js";
import { keep, kept } from "../lib/kept.js";
import { isComposing, isSend } from "../lib/keys.js";
import { nodeText } from "../lib/nodes.js";
import { makeAttach } from "../ui/attach.js";
import { makeCompletion } from "../ui/completion.js";
import { component, fill, h, icon, iconButton, isTouch, on, quoted, setText } from "../ui/dom.js";
import { me } from "../ui/me.js";
import { nodes } from "../ui/nodes.js";
import { dialogs, openMenu, problem, showProblem, toastError } from "../ui/parts.js";
import { makeTreeChip } from "./tree-chip.js";

/** The demo agent; others are preferred. */
const DEMO = "demo";
const DRAFT = "message.home";
/** What an agent may offer, and what it is called here. @type {[kind: "model" | "mode", name: string][]} */
const CHOSEN = [["model", "Model"], ["mode", "Mode"]];

/** @type {(options: StartOptions) => Start} */
export const makeStart = component("convoke-start", (element, { store, line, drafts, oncreated, onadd, oncompare }) => {
	const box = h("textarea", { rows: 2, label: "What should be done?", placeholder: "What should be done?", value: drafts.get(DRAFT) ?? "", enterKeyHint: isTouch ? "enter" : "send" });
	const place = h("button.chip", { ariaHasPopup: "menu", ariaExpanded: "false", onclick: () => openMenu(place, projects()) });
	const who = h("button.chip", { ariaHasPopup: "menu", ariaExpanded: "false", onclick: () => openMenu(who, agents()) });
	const settings = CHOSEN.map(([kind, name]) => {
		const chip = h("button.chip", { ariaHasPopup: "menu", ariaExpanded: "false", onclick: () => openMenu(chip, choices(kind)) });
		return { kind, name, chip };
	});
	const send = iconButton("send", "Start the session (Enter)", create, { className: "send" });
	const said = h("p.problem", { role: "alert" });
	const form = h("div.start");
	const attach = makeAttach({ frame: form, box, drafts, onchange: () => paint() });
	const completion = makeCompletion(box, {
		commands: () => [],
		find: (query, limit) => line.query("file:complete", { projectId: project().id, query, limit }).then(({ files }) => files),
		write: (text) => write(text),
	});
	const tree = makeTreeChip({ store, drafts, project: () => project(), onchange: () => (paint(), box.focus()) });
	const alone = h("p.start-note", { hidden: true }, icon("info"), h("span", "Only the demo agent is installed. It shows what Convoke does, without a model."), h("button.link", { onclick: more }, "Install an agent"));
	form.append(attach.element, box, h("div.start-foot", attach.button, place, who, ...settings.map(({ chip }) => chip), tree.chip, send), alone, tree.note, said);
	const guide = h("div.guide", h("h2", "Welcome to Convoke"), h("ol", h("li", "Add a folder as a project. Agents work in it."), h("li", "Say what should be done. That starts a session, which is kept until you delete it.")),
		h("button.button.primary", { onclick: onadd }, "Add a project"));
	const reading = h("p.reading.muted", { hidden: true });
	let [isBusy, wasOpen] = [false, false];

	const places = () => store.projects.filter(({ id }) => me.may("member", id));
	const project = () => places().find(({ id }) => id === kept("project")) ?? places()[0];
	const usable = () => store.agents.filter(({ installed }) => installed);
	const agent = () => usable().find(({ cliType }) => cliType === kept("agent")) ?? usable().find(({ cliType }) => cliType !== DEMO) ?? usable()[0];

	const offered = (kind = CHOSEN[0][0]) => agent()?.[`${kind}s`] ?? [];
	/** The choice for this agent, if it is still offered. */
	const chosen = (kind = CHOSEN[0][0]) => offered(kind).find(({ id }) => id === kept(`${kind}.${agent().cliType}`));
	const current = (kind = CHOSEN[0][0]) => chosen(kind) ?? offered(kind).find(({ id }) => id === agent()[kind]);

	/** @param {boolean} isChosen */
	const mark = (isChosen) => (isChosen ? "check" : "none");
	/** @returns {MenuItem[]} */
	const projects = () => [
		...places().map((/** @type {Project} */ one) => /** @type {MenuItem} */ ([[one.name, nodes.of(one.node)?.name].filter(Boolean).join(" · "), mark(one === project()), () => choose("project", one.id)])),
		...(me.may("owner") ? [/** @type {MenuItem} */ (["Add a project…", "add", onadd])] : []),
	];
	/** @returns {MenuItem[]} */
	const agents = () => [
		...usable().map((one) => /** @type {MenuItem} */ ([one.title, mark(one === agent()), () => choose("agent", one.cliType)])),
		["Compare several agents…", "compare", compare],
		...(usable().length < store.agents.length ? [/** @type {MenuItem} */ (["More agents…", "add", more])] : []),
	];

	/** @returns {MenuItem[]} */
	const choices = (kind = CHOSEN[0][0]) => offered(kind).map((one) => [one.name, mark(one === current(kind)), () => choose(`${kind}.${agent().cliType}`, one.id)]);

	function write(text = "") {
		box.value = text;
		changed();
	}

	function changed() {
		setText(said, "");
		drafts.set(DRAFT, box.value);
		drafts.set(`${DRAFT}.files`, completion.files().join("\n"));
		completion.changed();
		paint();
	}

	function choose(name = "", value = "") {
		keep(name, value);
		if (name === "project") completion.forget();
		paint();
		box.focus();
	}

	/** Sends the prompt to several agents, each in a work tree of its own. */
	function compare() {
		if (!project() || dialogs.isOpen()) return;
		const onstarted = () => {
			write("");
			oncompare();
		};
		import("./compare.js").then(({ openCompare }) => openCompare({ store, project: project(), prompt: box.value.trim(), hasFiles: !attach.isEmpty, onstarted, onlist: oncompare }), toastError);
	}

	function more() {
		import("./agents.js").then(({ moreAgents }) => moreAgents(store), toastError);
	}

	async function create() {
		paint();
		if (send.disabled) return;
		const [prompt, attachments, files] = [box.value.trim(), attach.stored, completion.files()];
		isBusy = true;
		setText(said, "");
		paint();
		try {
			const { session, refused } = await line.request("session:create", { projectId: project().id, cliType: agent().cliType, model: chosen("model")?.id, mode: chosen("mode")?.id, prompt, attachments, files, worktree: tree.wanted });
			tree.used();
			keep("project", project().id);
			keep("agent", agent().cliType);
			drafts.set(DRAFT, (box.value = ""));
			attach.take();
			completion.forget();
			// The session exists; its message box has the prompt that was refused.
			if (refused) {
				drafts.set(`message.${session.uid}`, prompt);
				if (attachments.length) drafts.set(`message.${session.uid}.attachments`, attachments);
				toastError({ message: refused });
			}
			oncreated(session);
		} catch (error) {
			fill(said, ...quoted(problem(error)), ...makeRoom(/** @type {{ hint?: string }} */ (error)));
			box.focus();
		}
		isBusy = false;
		paint();
	}

	/** Where too many sessions are active: completes the one that was idle longest, and starts the new one. @param {{ hint?: string }} error @returns {Child[]} */
	function makeRoom({ hint = "" }) {
		// The hint names the setting with the limit.
		const idle = hint.includes("sessions.max_active") && idleLongest([...store.sessions.values()].filter(({ projectId }) => me.may("member", projectId)));
		if (!idle) return [];
		const complete = () => line.request("session:end", { sessionId: idle.id, how: "complete" }).then(create, (error) => showProblem(said, error));
		return [h("span.room", h("button.button.small", { onclick: complete }, `Complete “${idle.title}” and start`), h("span.muted", "It is idle, and resumes with its next prompt."))];
	}

	function paint() {
		const [where, whom] = [project(), agent()];
		reading.hidden = me.maySomewhere("member");
		setText(reading, me.words);
		guide.hidden = where !== undefined || !line.isOpen || !me.may("owner");
		form.hidden = !guide.hidden || !me.maySomewhere("member");
		form.ariaBusy = String(isBusy);
		place.hidden = !where;
		const node = nodes.of(where?.node);
		place.title = [where?.path, node && nodeText(node, Date.now())].filter(Boolean).join("\n");
		place.ariaLabel = `Project: ${where?.name}`;
		fill(place, icon("folder"), h("span.title", where?.name ?? ""), icon("chevron"));
		who.hidden = !whom;
		who.ariaLabel = `Agent: ${whom?.title}`;
		fill(who, icon("execute"), h("span.title", whom?.title ?? ""), icon("chevron"));
		for (const { kind, name, chip } of settings) {
			const title = current(kind)?.name ?? "Default";
			chip.hidden = offered(kind).length < 2;
			chip.ariaLabel = `${name}: ${title}`;
			fill(chip, icon(kind === "model" ? "think" : "sliders"), h("span.title", title), icon("chevron"));
		}
		alone.hidden = whom?.cliType !== DEMO || usable().length > 1;
		tree.paint();
		if (line.isOpen && !wasOpen) attach.wake();
		wasOpen = line.isOpen;
		send.disabled = isBusy || !line.isOpen || !where || !whom || !attach.isReady || (!box.value.trim() && attach.isEmpty);
	}

	// One may have been installed meanwhile.
	addEventListener("focus", () => !alone.hidden && line.isOpen && line.request("agent:list").catch(() => {}));
	on(box, "input", changed);
	on(box, "blur", completion.close);
	on(box, "keydown", (event) => {
		if (isComposing(event)) return;
		if (completion.took(event)) return event.preventDefault();
		if (!isSend(event) || (isTouch && !event.ctrlKey && !event.metaKey)) return;
		event.preventDefault();
		create();
	});
	element.append(guide, reading, form, completion.element);
	attach.restore(DRAFT);
	completion.know(drafts.get(`${DRAFT}.files`)?.split("\n"));
	return {
		paint,
		compare,
		write(projectId) {
			if (projectId && projectId !== project()?.id) {
				keep("project", projectId);
				completion.forget();
			}
			paint();
			(form.hidden ? guide.querySelector("button") : box)?.focus();
		},
	};
});
