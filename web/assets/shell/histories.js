// Conversations of other programs: the offer to import them on Home, and their section in the settings.

import { foundText, isOffered, missing, progressOf, resultText } from "../lib/histories.js";
import { keep, kept } from "../lib/kept.js";
import { plural, timeAgo } from "../lib/words.js";
import { fill, h, icon, iconButton, keyed, setText } from "../ui/dom.js";
import { showProblem, toast, toastError } from "../ui/parts.js";
import { rest } from "../ui/rest.js";

/** What became of the offer in this browser. */
const OFFER = "import-offer";

/** Folders that the offer shows when it is done. */
const FOLDERS = 5;

/** The progress and the result of an import. */
function makeProgress(before = "") {
	const bar = h("progress", { max: 1, label: "Import" });
	const text = h("p", { role: "status" });
	const failed = h("details.import-failed", { hidden: true }, h("summary", "What could not be read", icon("chevron")), h("ul.paths"));
	const element = h("div.import-run", { hidden: true }, bar, text, failed);
	return {
		element,
		/** @param {Api.HistoryImport | undefined} run */
		show(run) {
			element.hidden = !run?.number;
			if (!run) return;
			bar.hidden = !run.running;
			bar.value = progressOf(run).part;
			setText(text, run.running ? progressOf(run).text : before + resultText(run));
			failed.hidden = run.running || run.failed.length === 0;
			fill(/** @type {Element} */ (failed.lastElementChild), ...run.failed.map(({ file, line, error }) => h("li", h("code", line ? `${file}:${line}` : file), ` ${error}`)));
		},
	};
}

/** Folders of imported sessions that are no projects. @param {Line} line @param {() => void} onadded */
function makeFolders(line, onadded) {
	const list = h("ul.folders");
	const all = h("button.button.small.add-all", { hidden: true, onclick: addAll });
	let every = /** @type {Api.FoundRepo[]} */ ([]);

	/** One after the other: a folder that is gone must not keep the others away. */
	async function addAll() {
		all.disabled = true;
		let added = 0;
		for (const { path } of every) await line.request("project:add", { path }).then(() => (added += 1), toastError);
		if (added) toast(`Added ${plural(added, "project")}.`);
		all.disabled = false;
		onadded();
	}

	/** @param {Api.FoundRepo} folder */
	const make = ({ path, name, sessions }) => h("li", h("div.rule-text", h("b", name), h("p.muted", h("code", path), ` · ${plural(sessions, "session")}`)), h("button.button.small", {
		label: `Add project ${name}`,
		onclick: () => line.request("project:add", { path }).then(() => (toast(`Added ${name}.`), onadded()), toastError),
	}, "Add project"));
	return {
		element: h("div", list, all),
		/** Shows some of them, and offers to add all. @param {Api.FoundRepo[]} folders */
		show(folders, whole = folders) {
			every = whole;
			keyed(list, folders, ({ id }) => id, make);
			all.hidden = folders.length === 0 || every.length < 2;
			setText(all, `Add all ${every.length} as projects`);
		},
	};
}

const begin = (sources = /** @type {string[]} */ ([])) => rest("/api/histories/import", "POST", { sources });

/** The offer on Home. After the import it lists the folders, as long as they are no projects and it is not closed. @param {OfferOptions} options @returns {HistoryView} */
export function makeOffer({ line, settings, isEmpty }) {
	const title = h("h2");
	const why = h("p.muted", "Convoke can read them, keep them and find any word in them. Nothing is read without your yes, and the originals stay as they are.");
	const yes = h("button.button.primary", { onclick: run }, "Import");
	const no = h("button.button.quiet", { onclick: dismiss }, "Not now");
	const close = iconButton("close", "Close", dismiss, { hidden: true });
	const progress = makeProgress();
	const folders = makeFolders(line, load);
	const more = h("p", { hidden: true });
	const foot = h("div.offer-foot", yes, no);
	const element = h("section.offer", { label: "Import conversations", hidden: true }, h("div.offer-head", icon("inbox"), title, close), why, foot, progress.element, more, folders.element);
	let isBegun = kept(OFFER) === "taken";
	/** Whether this page has seen the import. */
	let isWitness = false;

	async function load() {
		try {
			show(await rest("/api/histories"));
		} catch {
			// Without an answer there is nothing to offer.
		}
	}

	/** @param {Api.Histories} found */
	function show(found) {
		// It may have been accepted in another browser, or in a terminal.
		isBegun ||= isEmpty() && found.projects.length > 0;
		if (!isBegun) {
			element.hidden = !isOffered(found);
			setText(title, missing(found.agents).length ? foundText(found.agents) : "");
			return;
		}
		const isDone = !found.run?.running;
		isWitness ||= !isDone;
		foot.hidden = why.hidden = true;
		element.hidden = isDone && !isWitness && found.projects.length === 0;
		setText(title, isDone ? "Your conversations are here" : "Importing your conversations");
		close.hidden = !isDone;
		progress.show(isWitness ? found.run : undefined);
		const shown = isDone ? found.projects.slice(0, FOLDERS) : [];
		folders.show(shown, found.projects);
		more.hidden = shown.length === 0;
		fill(more, "They were held in folders that are no projects yet. Add those that you work in; ", h("button.link", { onclick: settings }, "the settings"), found.projects.length > FOLDERS ? ` list all ${found.projects.length}.` : " list them, too.");
	}

	async function run() {
		yes.disabled = true;
		try {
			await begin();
			isBegun = isWitness = true;
			foot.hidden = why.hidden = true;
			setText(title, "Importing your conversations");
			keep(OFFER, "taken");
			await load();
		} catch (error) {
			toastError(error);
		}
		yes.disabled = false;
	}

	function dismiss() {
		keep(OFFER, "dismissed");
		element.hidden = true;
		if (!isBegun) toast("You can import them later, in the settings under Histories.");
	}

	load();
	return {
		element,
		receive(frame) {
			if (frame.type !== "history:import" || !isBegun) return;
			isWitness = true;
			element.hidden = false;
			progress.show(frame.import);
			if (!frame.import.running) load();
		},
	};
}

/** The section of the settings. @param {PlaceOptions} options @returns {HistoryView & { load(): void }} */
export function makeHistories({ line }) {
	const told = h("p.muted");
	const list = h("ul.sources");
	const all = h("button.button.small", { onclick: () => run([]) }, "Import everything");
	const progress = makeProgress("Last import: ");
	const folders = makeFolders(line, load);
	const head = h("h4", "Folders that are no projects yet");
	const element = h("div.histories", told, h("div.sources-card", list, progress.element), h("div.histories-foot", all), head, folders.element);

	async function load() {
		try {
			show(await rest("/api/histories"));
		} catch (error) {
			showProblem(told, error);
		}
	}

	/** @param {string[]} sources */
	async function run(sources) {
		try {
			progress.show(await begin(sources));
			load();
		} catch (error) {
			toastError(error);
		}
	}

	/** @param {Api.Histories} found */
	function show({ import: mode, agents, projects, run: now }) {
		const isOff = mode === "never" || now?.running === true;
		setText(told, mode === "never" ? "Imports are switched off by history.import." : agents.length ? "" : "No conversations of other programs were found on this machine.");
		keyed(list, agents, ({ source }) => source, ({ source, name }) => h("li", h("div.rule-text", h("b", name), h("p.muted")), h("button.button.small", { onclick: () => run([source]) })), (line, { name, found, imported, newest, followed }) => {
			setText(line.querySelector("p"), [plural(found, "conversation"), imported ? `${imported === found ? "all" : imported} imported` : "none imported", newest && `newest ${timeAgo(newest, Date.now())}`, followed && "new ones come by themselves"].filter(Boolean).join(" · "));
			const button = line.querySelector("button");
			setText(button, imported ? "Import again" : "Import");
			button.ariaLabel = `${button.textContent} from ${name}`;
			button.disabled = isOff;
		});
		all.hidden = agents.length < 2;
		all.disabled = isOff;
		progress.show(now);
		head.hidden = projects.length === 0;
		folders.show(projects);
	}

	return {
		element,
		load,
		receive(frame) {
			if (frame.type !== "history:import") return;
			progress.show(frame.import);
			if (!frame.import.running) load();
		},
	};
}
