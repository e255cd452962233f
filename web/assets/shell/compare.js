// Starts a comparison: one prompt, several agents or models, and a command that tests the results.

import { attempt, keep, kept } from "../lib/kept.js";
import { fill, h, icon, iconButton, setText } from "../ui/dom.js";
import { dialogs, showProblem } from "../ui/parts.js";
import { rest } from "../ui/rest.js";
import { styles } from "../ui/styles.js";

/** The daemon's limit. */
const RIVALS_MAX = 10;
const RIVALS_MIN = 2;

// Without them the dialog is only less pretty.
styles("trees").catch(() => {});

/** The agents of last time, if they still exist; else the first two. @param {Agent[]} agents @returns {Rival[]} */
function firstRivals(agents) {
	const last = /** @type {Rival[]} */ (attempt(() => JSON.parse(kept("compare") ?? "[]")) ?? []);
	const known = last.filter(({ agent }) => agents.some(({ cliType }) => cliType === agent));
	const [first, second = first] = agents;
	return known.length >= RIVALS_MIN ? known : [first, second].map(({ cliType }) => ({ agent: cliType, model: "" }));
}

/** @param {CompareOptions} options */
export function openCompare({ store, project, prompt, hasFiles, onstarted, onlist }) {
	const agents = store.agents.filter(({ installed }) => installed);
	if (!agents.length) return;
	let rivals = firstRivals(agents);
	const box = h("textarea.field", { rows: 3, value: prompt, autofocus: !prompt, label: "Prompt", placeholder: "What should be done?", oninput: paint });
	const list = h("ul.rivals");
	const add = h("button.button.small", { autofocus: prompt !== "", onclick: () => change([...rivals, { ...rivals[rivals.length - 1] }]) }, "Add an agent");
	const test = h("input.field", { value: kept(`test.${project.id}`) ?? "", label: "Test command", placeholder: "make test", spellcheck: false, autocomplete: "off", autocapitalize: "off" });
	const said = h("p.problem", { role: "alert" });
	const go = h("button.button.primary", { type: "submit" });
	let isBusy = false;

	/** @param {Rival[]} next */
	function change(next) {
		rivals = next;
		fill(list, ...rivals.map(row));
		paint();
	}

	/** @param {string} label @param {string} value @param {[value: string, text: string][]} choices @param {(value: string) => void} onpick */
	function select(label, value, choices, onpick) {
		const field = h("select.field", { label, onchange: () => onpick(field.value) }, ...choices.map(([id, text]) => h("option", { value: id }, text)));
		field.value = value;
		return field;
	}

	/** @param {Rival} rival @param {number} at */
	function row(rival, at) {
		const { models = [] } = agents.find(({ cliType }) => cliType === rival.agent) ?? agents[0];
		const replace = (/** @type {Partial<Rival>} */ other) => {
			change(rivals.with(at, { ...rival, ...other }));
			/** @type {HTMLElement | null | undefined} */ (list.children[at]?.querySelector("agent" in other ? "select" : "select + select"))?.focus();
		};
		return h("li",
			select(`Agent ${at + 1}`, rival.agent, agents.map(({ cliType, title }) => [cliType, title]), (agent) => replace({ agent, model: "" })),
			models.length > 1 && select(`Model of agent ${at + 1}`, rival.model, [["", "Default model"], ...models.map(({ id, name }) => /** @type {[string, string]} */ ([id, name]))], (model) => replace({ model })),
			iconButton("close", `Remove agent ${at + 1}`, () => (change(rivals.toSpliced(at, 1)), add.focus()), { disabled: rivals.length <= RIVALS_MIN }));
	}

	function paint() {
		setText(go, isBusy ? "Starting…" : "Start");
		go.disabled = isBusy || !box.value.trim();
		add.disabled = rivals.length >= RIVALS_MAX;
	}

	async function start() {
		isBusy = true;
		setText(said, "");
		paint();
		const entries = rivals.map(({ agent, model }) => ({ agent, ...(model && { model }) }));
		const line = test.value.trim();
		keep("compare", JSON.stringify(rivals));
		keep(`test.${project.id}`, line);
		try {
			await rest("/api/comparisons", "POST", { repoId: project.id, prompt: box.value.trim(), entries, ...(line && { test: line }) });
			dialog.close();
			onstarted();
		} catch (error) {
			showProblem(said, error);
		}
		isBusy = false;
		paint();
	}

	change(rivals);
	const dialog = dialogs.open("Compare agents", (dialog) => [h("form.compare", { onsubmit: (event) => (event.preventDefault(), start()) },
		h("p.muted", "Each agent works on the prompt in a work tree of ", h("b", project.name), ". You compare what they made, and keep one."),
		box,
		hasFiles && h("p.start-note", icon("info"), "Attached files are not given to the agents of a comparison."),
		list, add,
		h("label.labelled", h("span", "Test command ", h("span.muted", "(optional)")), test, h("span.muted", "Runs in each work tree when its agent is done.")),
		said,
		h("footer", h("button.link", { onclick: () => (dialog.close(), onlist()) }, "Earlier comparisons"), h("button.button", { onclick: () => dialog.close() }, "Cancel"), go))]);
	dialog.classList.add("wide-dialog");
}
