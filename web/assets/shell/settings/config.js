// The values of `config.toml`: shown with their purpose, written back one by one.

import { matching } from "../../lib/query.js";
import { fill, h, quoted, setText } from "../../ui/dom.js";
import { problem, toast } from "../../ui/parts.js";

/** What overrides the file, so that a change in it has no effect. */
function overriddenBy(source = "") {
	const [kind, name] = source.split(" ");
	return kind === "env" ? `the environment variable ${name}` : kind === "flag" ? `the flag ${name} of the daemon` : "";
}

/** Names of settings whose keys say too little by themselves. @type {Record<string, string>} */
const NAMES = {
	"history.import": "Import conversations",
	"history.recall": "What agents may recall",
	"history.open_for": "Counts as open for",
	"notify.command": "Command",
	"editor.open": "Editor",
	"editor.command": "Editor command",
};

/** A key in words: `idle_timeout_minutes` is “Idle timeout (minutes)”. */
const nameOf = (key = "") => {
	if (NAMES[key]) return NAMES[key];
	const words = key.slice(key.lastIndexOf(".") + 1).replaceAll("_", " ").replace(/ ms$/, " milliseconds").replace(/ (milliseconds|seconds|minutes|hours|days|bytes)$/, " ($1)");
	const plain = words.replace(/\burl\b/g, "URL").replace(/\bdir\b/g, "folder");
	return plain[0].toUpperCase() + plain.slice(1);
};

const RESTART = "needs a restart";

/** The section of a key in the file. */
const sectionOf = (key = "") => key.slice(0, Math.max(0, key.lastIndexOf(".")));

/** A value as the text of a field. @param {any} value */
const written = (value) => (Array.isArray(value) ? value.join("\n") : String(value ?? ""));

/** @param {Line} line @returns {Config} */
export function makeConfig(line) {
	const trouble = h("div.problem", { role: "alert" });
	/** The lists of fields, each with the keys that it shows. */
	const lists = /** @type {{ element: HTMLElement, isWanted: (key: string) => boolean }[]} */ ([]);
	let settings = /** @type {Api.ConfigSetting[]} */ ([]);
	let path = "";
	let words = "";
	/** Values that were changed here and apply after a restart. */
	const changed = new Set();
	const about = h("code.path");

	/** @param {any} error */
	const complain = (error) => fill(trouble, h("b", "The configuration cannot be read or written. "), ...quoted(problem(error)), " ", h("button.link", { onclick: load }, "Try again"));

	async function load() {
		try {
			take(await line.query("config:get"));
		} catch (error) {
			complain(error);
			if (!settings.length) for (const { element } of lists) fill(element, h("p.muted.setting", "Shown once the configuration can be read."));
		}
	}

	/** @param {{ path: string, settings: Api.ConfigSetting[] }} frame */
	function take(frame) {
		({ path, settings } = frame);
		fill(trouble);
		setText(about, path);
		paint();
	}

	function paint() {
		for (const { element, isWanted } of lists) {
			const shown = settings.filter(({ key, description }) => isWanted(key) && matching(`${key} ${nameOf(key)} ${description}`, words));
			const sections = [...new Set(shown.map(({ key }) => sectionOf(key)))];
			fill(element, ...sections.flatMap((section) => {
				const own = shown.filter(({ key }) => sectionOf(key) === section);
				// Said once where it holds for all of them.
				const isSaid = own.length > 1 && own.every(({ restart }) => restart);
				const title = sections.length > 1 ? (section ? nameOf(section) : "General") : isSaid ? "Options" : "";
				return [title && h("h4", title, isSaid && h("span.tag", RESTART)), ...own.map((setting) => row(setting, nameOf(setting.key), isSaid))];
			}));
			element.dataset.found = String(shown.length);
		}
	}

	/** @param {Api.ConfigSetting} setting @param {boolean} isSaid whether its section says that it needs a restart */
	function row(setting, name = "", isSaid) {
		const { key, description, restart, source } = setting;
		const said = h("p.problem", { role: "alert" });
		const boss = overriddenBy(source);
		// Some values differ from their default although nothing sets them: paths are shown whole.
		const isChanged = source !== "default";
		const save = async (/** @type {any} */ value) => {
			setText(said, "");
			try {
				if (restart) changed.add(key);
				take(await line.query("config:set", { changes: { [key]: value } }));
				toast(restart ? `Saved. ${name} applies after a restart of the daemon.` : `Saved ${name}.`);
				focusOn(key);
				return true;
			} catch (error) {
				changed.delete(key);
				setText(said, problem(error));
				return false;
			}
		};
		const input = control(setting, save);
		input.disabled = boss !== "";
		input.dataset.key = key;
		input.ariaLabel = `${name} (${key})`;
		return h("div.setting", h("div.setting-text", h("b", name), h("code.muted", key), restart && (!isSaid || changed.has(key)) && h("span.tag", RESTART), h("p.muted", ...quoted(`${description.slice(0, 1).toUpperCase()}${description.slice(1)}.`)), boss && h("p.muted", `Set by ${boss}.`)),
			h("div.setting-value", input, isChanged && !boss && h("button.link", { label: `Reset ${name}`, onclick: () => save(null) }, "Reset")), said);
	}

	/** The field is rebuilt when its value was saved. */
	function focusOn(key = "") {
		if (document.activeElement === document.body) /** @type {HTMLElement | null} */ (document.querySelector(`[data-key="${CSS.escape(key)}"]`))?.focus();
	}

	return {
		trouble,
		path: about,
		load,
		filter(wanted) {
			words = wanted;
			paint();
		},
		fields(isWanted) {
			const element = h("div.settings-list");
			lists.push({ element, isWanted });
			return element;
		},
	};
}

/**
 * The field for a value of this kind; saves when it was changed.
 * @param {Api.ConfigSetting} setting @param {(value: any) => Promise<boolean>} save returns whether it was done
 * @returns {HTMLInputElement | HTMLSelectElement | HTMLTextAreaElement | HTMLFieldSetElement}
 */
function control({ kind, value, choices = [] }, save) {
	// A choice that was not saved is reset; typed text stays, to be corrected.
	const options = () => choices.map((choice) => h("option", { value: choice, selected: choice === value }, choice || "none"));
	const some = choices.map((choice) => h("input", { type: "checkbox", checked: Array.isArray(value) && value.includes(choice), onchange: () => save(choices.filter((_, at) => some[at].checked)) }));
	const box = h("input.switch", { type: "checkbox", role: "switch", checked: value === true, onchange: async () => (await save(box.checked)) || (box.checked = value === true) });
	const pick = h("select.field", { onchange: async () => (await save(pick.value)) || (pick.value = value) }, ...(kind === "choice" ? options() : []));
	const lines = h("textarea.field", { rows: 1, value: written(value), placeholder: "One per line", spellcheck: false, onchange: () => save(lines.value.split("\n").map((one) => one.trim()).filter(Boolean)) });
	const field = h("input.field", { type: kind === "number" ? "number" : "text", step: "any", value: written(value), spellcheck: false, onchange: () => save(kind === "number" && field.value !== "" ? Number(field.value) : field.value) });
	if (kind === "switch") return box;
	if (kind === "choice") return pick;
	if (kind !== "list") return field;
	return choices.length ? h("fieldset.choices", ...choices.map((choice, at) => h("label.option", some[at], choice))) : lines;
}
