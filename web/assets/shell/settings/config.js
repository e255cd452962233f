// The values of `config.toml`: shown with their purpose, written back one by one.

import { matching } from "../../lib/query.js";
import { fill, h, keyed, part, quoted, refill, setText } from "../../ui/dom.js";
import { problem, showProblem, toast } from "../../ui/parts.js";

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

/** A line of a list: the title of a section, or a setting; `isSaid`: the title says that all of them need a restart. @typedef {{ id: string, title?: string, setting?: Api.ConfigSetting, isSaid: boolean }} SettingLine */

/** @param {Line} line @returns {Config} */
export function makeConfig(line) {
	const trouble = h("div.problem", { role: "alert" });
	/** The lists of fields, each with the keys that it shows. */
	const lists = /** @type {{ element: HTMLElement, isWanted: (key: string) => boolean }[]} */ ([]);
	let settings = /** @type {Api.ConfigSetting[]} */ ([]);
	let path = "";
	let words = "";
	/** The rows of settings, also of those that are not shown. @type {Map<string, HTMLElement>} */
	const rows = new Map();
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
			const lines = sections.flatMap((section) => {
				const own = shown.filter(({ key }) => sectionOf(key) === section);
				// Said once where it holds for all of them.
				const isSaid = own.length > 1 && own.every(({ restart }) => restart);
				const title = sections.length > 1 ? (section ? nameOf(section) : "General") : isSaid ? "Options" : "";
				return [...(title ? [{ id: `title ${section}`, title, isSaid }] : []), ...own.map((setting) => ({ id: `row ${setting.key}`, setting, isSaid }))];
			});
			keyed(element, lines, ({ id }) => id, make, update);
			element.dataset.found = String(shown.length);
		}
	}

	/** A field that was not saved stays as it is while others are found. @param {SettingLine} line */
	function make({ id, setting }) {
		if (!setting) return h("h4");
		const row = rows.get(id) ?? makeRow(setting);
		rows.set(id, row);
		return row;
	}

	/** @param {any} element @param {SettingLine} line */
	function update(element, { title, setting, isSaid }) {
		if (setting) element.show(setting, isSaid);
		else refill(element, title, isSaid && h("span.tag", RESTART));
	}

	/** The row of a setting; it stays the same element, so that saving one leaves alone what is typed into another. @param {Api.ConfigSetting} first */
	function makeRow(first) {
		const { key } = first;
		const name = nameOf(key);
		const said = h("p.problem", { role: "alert" });
		const text = h("div.setting-text");
		const { element: input, show } = control(first, save);
		const reset = h("button.link", { label: `Reset ${name}`, onclick: () => save(null) }, "Reset");
		const value = h("div.setting-value", input, reset);
		let shown = "";
		input.dataset.key = key;
		input.ariaLabel = `${name} (${key})`;

		async function save(/** @type {any} */ wanted) {
			setText(said, "");
			try {
				if (first.restart) changed.add(key);
				take(await line.query("config:set", { changes: { [key]: wanted } }));
				toast(first.restart ? `Saved. ${name} applies after a restart of the daemon.` : `Saved ${name}.`);
				return true;
			} catch (error) {
				changed.delete(key);
				showProblem(said, error);
				return false;
			}
		}

		return Object.assign(h("div.setting", text, value, said), {
			/** @param {Api.ConfigSetting} setting @param {boolean} isSaid whether its section says that it needs a restart */
			show(setting, isSaid) {
				const { description, restart, source } = setting;
				const boss = overriddenBy(source);
				refill(text, h("b", name), h("code.muted", key), restart && (!isSaid || changed.has(key)) && h("span.tag", RESTART), h("p.muted", ...quoted(`${description.slice(0, 1).toUpperCase()}${description.slice(1)}.`)), boss && h("p.muted", `Set by ${boss}.`));
				input.disabled = boss !== "";
				const had = document.activeElement === reset;
				// Some values differ from their default although nothing sets them: paths are shown whole.
				reset.hidden = source === "default" || boss !== "";
				if (had && reset.hidden) part(value, "input, select, textarea").focus();
				const wanted = JSON.stringify([setting.value, source]);
				if (wanted !== shown) show(setting.value);
				shown = wanted;
			},
		});
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

/** @typedef {HTMLInputElement | HTMLSelectElement | HTMLTextAreaElement | HTMLFieldSetElement} Control */
/** @typedef {(value: any) => Promise<boolean>} Save Returns whether it was done. */

/** The field for a value of this kind; saves when it was changed. @param {Api.ConfigSetting} setting @param {Save} save */
function control({ kind, choices = [] }, save) {
	if (kind === "switch") {
		const box = h("input.switch", { type: "checkbox", role: "switch" });
		return chosen(box, (value) => (box.checked = value === true), () => box.checked, save);
	}
	if (kind === "choice") {
		const pick = h("select.field", ...choices.map((choice) => h("option", { value: choice }, choice || "none")));
		return chosen(pick, (value) => (pick.value = value), () => pick.value, save);
	}
	if (kind === "list" && choices.length) {
		const some = choices.map(() => h("input", { type: "checkbox" }));
		const all = h("fieldset.choices", ...choices.map((choice, at) => h("label.option", some[at], choice)));
		return chosen(all, (value) => some.forEach((box, at) => (box.checked = Array.isArray(value) && value.includes(choices[at]))), () => choices.filter((_, at) => some[at].checked), save);
	}
	if (kind === "list") return typed(h("textarea.field", { rows: 1, placeholder: "One per line", spellcheck: false }), (text) => text.split("\n").map((one) => one.trim()).filter(Boolean), save);
	return typed(h("input.field", { type: kind === "number" ? "number" : "text", step: "any", spellcheck: false }), (text) => (kind === "number" && text !== "" ? Number(text) : text), save);
}

/** A choice that was not saved is taken back. @param {Control} element @param {(value: any) => void} put @param {() => any} read @param {Save} save */
function chosen(element, put, read, save) {
	let now = /** @type {any} */ (undefined);
	element.onchange = async () => (await save(read())) || put(now);
	return { element, show: (/** @type {any} */ value) => put((now = value)) };
}

/** A text that was not saved stays, to be corrected. @param {HTMLInputElement | HTMLTextAreaElement} element @param {(text: string) => any} read @param {Save} save */
function typed(element, read, save) {
	let shown = "";
	element.onchange = () => save(read((shown = element.value)));
	return {
		element: /** @type {Control} */ (element),
		show(/** @type {any} */ value) {
			const isBeingTyped = document.activeElement === element && element.value !== shown;
			if (!isBeingTyped) element.value = shown = written(value);
		},
	};
}
