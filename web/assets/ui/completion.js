// Completion in a message box: the agent's commands at its beginning, and files of the project after an @.

import { isSend } from "../lib/keys.js";
import { visibleName } from "../lib/words.js";
import { fitting, mentioned, typedCommand, typedMention } from "../lib/writing.js";
import { h, icon } from "./dom.js";
import { makeListbox } from "./parts.js";

/** Entries that are listed at once; typing finds more. */
const COMMANDS_MAX = 50;
const FILES_MAX = 20;
/** The debounce interval of the search for files. */
const PAUSE_MS = 80;

/** @param {HTMLTextAreaElement} box @param {CompletionOptions} options @returns {CompletionList} */
export function makeCompletion(box, { commands, find, write }) {
	const list = makeListbox(box, { id: "completions", label: "Commands", first: 0, show: (/** @type {Completed} */ { shows }) => shows, take });
	/** Files that are known to be in the project. */
	const known = /** @type {Set<string>} */ (new Set());
	let asked = 0;
	let timer = 0;

	/** Replaces the typed text by it. @param {Completed} completed */
	function take({ typed, text, file }) {
		const caret = box.selectionStart;
		// The caret may have been moved away meanwhile.
		if (!box.value.slice(0, caret).endsWith(typed)) return close();
		const before = box.value.slice(0, caret - typed.length) + text;
		if (file) known.add(file);
		write(`${before}${box.value.slice(caret).replace(/^ /, "")}`);
		box.setSelectionRange(before.length, before.length);
		close();
	}

	function close() {
		asked += 1;
		clearTimeout(timer);
		list.offer([]);
	}

	/** @param {Completed[]} items */
	function offer(items, label = "") {
		list.element.ariaLabel = label;
		list.offer(items);
	}

	/** @param {string} typed */
	async function offerFiles(typed) {
		const mine = (asked += 1);
		const files = await find(typed, FILES_MAX).catch(() => []);
		for (const file of files) if (file === typed) known.add(file);
		if (mine !== asked) return;
		offer(files.map((file) => ({ typed: `@${typed}`, text: `@${file} `, file, shows: pathOf(file) })), "Files");
	}

	return {
		element: list.element,
		close,
		changed() {
			const isHere = document.activeElement === box;
			const command = isHere ? typedCommand(box.value, box.selectionStart) : null;
			const mention = isHere ? typedMention(box.value, box.selectionStart) : null;
			clearTimeout(timer);
			if (mention !== null) return void (timer = setTimeout(offerFiles, PAUSE_MS, mention));
			asked += 1;
			offer(command === null ? [] : fitting(commands(), command).slice(0, COMMANDS_MAX).map(({ name, description, hint }) => (
				{ typed: `/${command}`, text: `/${name} `, shows: [h("b", `/${name}`), h("span.muted", hint ?? ""), h("span.muted", description)] })), "Commands");
		},
		took(event) {
			if (!list.isOpen || !list.picked) return false;
			const { typed, text } = list.picked;
			if (event.key === "Escape") close();
			// A name that is typed in full is sent.
			else if (event.key === "Tab" || (isSend(event) && text.trimEnd() !== typed)) take(list.picked);
			else return list.walk(event);
			event.stopPropagation();
			return true;
		},
		files: () => mentioned(box.value, known),
		forget: () => known.clear(),
		know: (files = []) => files.forEach((file) => known.add(file)),
	};
}

/** A path as the list shows it: its name, then its folder. */
function pathOf(path = "") {
	const [, folder, name] = /** @type {RegExpExecArray} */ (/^(.*?)([^/]*\/?)$/.exec(path));
	return [icon(path.endsWith("/") ? "folder" : "file"), h("b", visibleName(name)), h("span.muted.path", visibleName(folder))];
}
