// The rules: listed with how often they were used, added, and revoked.

import { plural, timeAgo } from "../../lib/words.js";
import { matcherOf, patternHelp } from "../../lib/rules.js";
import { h, keyed, part, quoted, setText } from "../../ui/dom.js";
import { dialogs, showProblem, toastError } from "../../ui/parts.js";

/** @param {PlaceOptions} options @returns {{ element: HTMLElement, load(): void }} */
export function makeRules({ line, store, handlers }) {
	const list = h("ul.rules");
	const told = h("p.muted");
	const add = h("button.button.small", { onclick: () => addRule(line, store) }, "Add a rule…");

	/** @param {Api.Rule} rule */
	function make({ id, text, sessionId, createdAt }) {
		const revoke = () => dialogs.confirm("Revoke this rule?", `${text}. From now on you are asked again.`, "Revoke", () => line.request("rule:remove", { ruleId: id }).catch(toastError));
		return h("li", h("div.rule-text", h("b", ...quoted(text)), h("p.muted", h("span.used"), " · since ", new Date(createdAt).toLocaleDateString(), sessionId && " · ", sessionId && h("button.link", { onclick: () => handlers.openById(sessionId) }, "from this session"))),
			h("button.button.small", { label: `Revoke: ${text}`, onclick: revoke }, "Revoke"));
	}

	/** @param {Api.Rule[]} rules */
	function paint(rules) {
		keyed(list, rules, ({ id }) => id, make, (row, { usedCount, lastUsedAt, effect }) => {
			row.dataset.effect = effect;
			setText(part(row, ".used"), usedCount ? `used ${plural(usedCount, "time")}${lastUsedAt ? `, last ${timeAgo(lastUsedAt, Date.now())}` : ""}` : "never used");
		});
		setText(told, rules.length ? "" : "No rules. “Always allow …” in a permission request makes one.");
	}

	return {
		element: h("div", list, told, add),
		load: () => line.query("rule:list").then(({ rules }) => paint(rules), (error) => showProblem(told, error)),
	};
}

/** @param {Line} line @param {Store} store */
function addRule(line, store) {
	const choice = (label = "", /** @type {[string, string][]} */ ...options) => h("select.field", { label }, ...options.map(([value, text]) => h("option", { value }, text)));
	const effect = choice("Effect", ["allow", "Always allow"], ["deny", "Always deny"]);
	const kind = choice("Kind", ["command", "a command"], ["edit", "editing files"], ["read", "reading files"], ["tool", "a tool of an MCP server"], ["fetch", "fetching from a domain"]);
	const pattern = h("input.field", { label: "Pattern", spellcheck: false, autocomplete: "off" });
	const where = choice("Project", ["", "in all projects"], ...store.projects.map(({ id, name }) => /** @type {[string, string]} */ ([id, `in ${name}`])));
	const agent = choice("Agent", ["", "for any agent"], ...store.agents.map(({ cliType, title }) => /** @type {[string, string]} */ ([cliType, `for ${title}`])));
	const help = h("p.muted");
	const said = h("p.problem", { role: "alert" });
	const explain = () => {
		const { example, text } = patternHelp(kind.value);
		pattern.placeholder = example;
		setText(help, text);
	};
	kind.onchange = explain;
	// The narrower choice first: a rule for everything is chosen, not left over.
	if (store.projects[0]) where.value = store.projects[0].id;
	explain();
	dialogs.open("Add a rule", (dialog) => [h("form.rule-form", {
		onsubmit: async (event) => {
			event.preventDefault();
			setText(said, "");
			const matcher = matcherOf(kind.value, pattern.value);
			if (!matcher) return pattern.focus();
			try {
				await line.request("rule:add", { effect: /** @type {any} */ (effect.value), matcher, ...(where.value && { projectId: where.value }), ...(agent.value && { agent: agent.value }) });
				dialog.close();
			} catch (error) {
				showProblem(said, error);
			}
		},
	}, h("div.rule-row", effect, kind), pattern, help, h("div.rule-row", where, agent), said, h("footer", h("button.button", { onclick: () => dialog.close() }, "Cancel"), h("button.button.primary", { type: "submit" }, "Add rule")))]);
}
