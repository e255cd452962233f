// <convoke-composer>: the message box. Enter sends; pasting and input methods never do.

import { isComposing, isSend } from "../lib/keys.js";
import { makeRecall } from "../lib/writing.js";
import { makeAttach } from "../ui/attach.js";
import { makeCompletion } from "../ui/completion.js";
import { component, fill, h, icon, isTouch, on } from "../ui/dom.js";
import { dialogs } from "../ui/parts.js";

/** @type {(options: ComposerOptions) => Composer} */
export const makeComposer = component("convoke-composer", (element, { drafts, said, find, onsend, onstop, onpick }) => {
	const box = h("textarea", { rows: 1, label: "Message", ariaAutoComplete: "list", enterKeyHint: isTouch ? "enter" : "send" });
	const frame = h("div.composer");
	const attach = makeAttach({ frame, box, drafts, onchange: () => paint() });
	const pickers = h("div.pickers");
	const usage = h("div");
	const send = h("button.round", { label: "Send", title: "Send (Enter)", onclick: () => (submit(), box.focus()) }, icon("send"));
	const stop = h("button.round.stop", { label: "Stop the agent", title: "Stop (Esc twice)", hidden: true, onclick: () => onstop() }, icon("stop"));
	const recall = makeRecall();
	const completion = makeCompletion(box, { commands: () => commands, find, write: (text) => setValue(text) });
	let commands = /** @type {Api.OfferedCommand[]} */ ([]);
	let key = "";
	let ready = false;

	function setValue(text = "") {
		box.value = text;
		changed();
	}

	function paint() {
		const empty = box.value.trim() === "" && attach.isEmpty;
		send.disabled = empty || !ready || !attach.isReady;
		// With nothing to send during a turn, only the stop button is shown.
		send.hidden = empty && !stop.hidden;
	}

	function changed() {
		// For browsers without `field-sizing`.
		if (!CSS.supports("field-sizing", "content")) {
			box.style.height = "auto";
			box.style.height = `${box.scrollHeight}px`;
		}
		if (key) drafts.set(key, box.value);
		if (key) drafts.set(`${key}.files`, completion.files().join("\n"));
		paint();
		completion.changed();
	}

	function submit() {
		const text = box.value;
		if (send.disabled) return;
		const enclosed = { attachments: attach.take(), files: completion.files() };
		setValue("");
		onsend(text, enclosed);
	}

	on(box, "input", changed);
	on(box, "blur", completion.close);
	on(box, "keydown", (event) => {
		if (isComposing(event)) return;
		if (completion.took(event)) return event.preventDefault();
		const bare = !event.shiftKey && !event.altKey && !event.ctrlKey && !event.metaKey;
		const again = !bare ? null : event.key === "ArrowUp" ? recall.back(box.value, said) : event.key === "ArrowDown" ? recall.forward(box.value) : null;
		if (again !== null) {
			setValue(again);
			completion.close();
		} else if (isSend(event) && !(isTouch && bare)) submit();
		else return;
		event.preventDefault();
	});
	frame.append(attach.element, box, h("div.composer-row", attach.button, pickers, usage, stop, send));
	// A press anywhere in the frame focuses the box.
	on(frame, "pointerdown", (event) => {
		if (event.target.closest("button, select, textarea, .tray")) return;
		event.preventDefault();
		box.focus();
	});
	element.append(completion.element, frame);

	return {
		get text() { return box.value; },
		set text(text) { setValue(text); },
		set commands(/** @type {Api.OfferedCommand[]} */ offered) { commands = offered; },
		focus: () => box.focus(),
		enclose(enclosed) {
			attach.put(enclosed?.attachments);
			completion.know(enclosed?.files);
		},
		restore(name) {
			key = name;
			completion.know(drafts.get(`${key}.files`)?.split("\n"));
			if (!box.value) setValue(drafts.get(key) ?? "");
			attach.restore(key);
		},
		show(state) {
			const wasReady = ready;
			ready = state.ready && !state.disabled;
			if (ready && !wasReady) attach.wake();
			attach.button.disabled = state.disabled;
			box.placeholder = state.placeholder;
			box.disabled = state.disabled;
			stop.hidden = !state.running;
			paint();
		},
		showPickers(all) {
			const wanted = JSON.stringify(all);
			if (pickers.dataset.wanted === wanted) return;
			pickers.dataset.wanted = wanted;
			const current = all.map(({ current, choices }) => choices.find(({ id }) => id === current)?.name ?? current).join(" · ");
			// On a phone one button opens all of them.
			const one = h("button.pickers-one", { label: `Mode and settings: ${current}`, ariaHasPopup: "dialog", onclick: () => openPickers(all, onpick) }, icon("sliders"), h("span", current));
			fill(pickers, ...all.map((picker) => h("span.picker", pickerOf(picker, onpick), icon("chevron"))), all.length > 0 && one);
		},
		showUsage: (/** @type {Child} */ view) => fill(usage, view),
	};
});

/** @param {Picker} picker @param {ComposerOptions["onpick"]} onpick */
function pickerOf({ kind, id, name, current, choices }, onpick) {
	const select = h("select", { label: name, title: name, onchange: () => onpick(kind, id, select.value) }, ...choices.map((choice) => h("option", { value: choice.id, title: choice.description }, choice.name)));
	select.value = current;
	return select;
}

/** @param {Picker[]} all @param {ComposerOptions["onpick"]} onpick */
function openPickers(all, onpick) {
	dialogs.open("Mode and settings", () => [h("div.picker-list", ...all.map((picker) => {
		const select = pickerOf(picker, onpick);
		select.className = "field";
		return h("label", h("span", picker.name), select);
	}))]);
}

/** The pickers for an agent's modes and settings. @param {SessionState} state @returns {Picker[]} */
export function pickersOf({ modes, settings }) {
	const offered = (settings?.settings ?? []).filter(({ choices }) => choices.length);
	// An agent that offers its modes as a setting too would have the same picker twice.
	const ownModes = modes?.available?.length && !offered.some(({ category }) => category === "mode");
	return [
		...(modes && ownModes ? [{ kind: /** @type {const} */ ("mode"), id: "mode", name: "Mode", current: modes.current, choices: modes.available }] : []),
		...offered.map((setting) => ({ ...setting, kind: /** @type {const} */ ("setting") })),
	];
}
