// Queued prompts: edited in place, moved, removed, or sent now.

import { isComposing, isSend, isTyping } from "../lib/keys.js";
import { namesOf, plural } from "../lib/words.js";
import { h, icon, iconButton, keyed, on, part, setText } from "../ui/dom.js";
import { me } from "../ui/me.js";

/** @param {QueueHandlers} handlers @returns {QueueView} */
export function makeQueue(handlers) {
	const count = h("span");
	const next = h("button.button.small", { hidden: true, onclick: () => handlers.send(prompts[0].id) }, "Send next");
	const list = h("ol", { label: "Waiting prompts" });
	const element = h("section.queue", { label: "Waiting prompts", hidden: true }, h("div.queue-head", icon("clock"), count, next), list);
	let prompts = /** @type {Api.QueuedEntry[]} */ ([]);
	let dragged = "";
	let canAct = true;
	/** The prompt that is being edited, and its text so far. */
	let edited = /** @type {{id: string, box: HTMLTextAreaElement} | null} */ (null);

	const placeOf = (id = "") => prompts.findIndex((prompt) => prompt.id === id);
	/** Whether it waits for a machine that is away: then it can only be removed. */
	const isAway = (id = "") => Boolean(prompts[placeOf(id)]?.waitsFor);
	const focusOn = (/** @type {HTMLElement | null | undefined} */ line) => line?.focus();

	function move(id = "", to = 0) {
		if (to >= 0 && to < prompts.length && to !== placeOf(id) && !isAway(id)) handlers.move(id, to);
	}

	/** @param {HTMLElement} line */
	function edit(line, id = "") {
		if (edited || !canAct || isAway(id)) return;
		const text = part(line, ".queue-text");
		const before = prompts[placeOf(id)].content;
		const box = h("textarea.field", { value: before, rows: 1, label: "Waiting message" });
		const end = (keeps = true) => {
			const hadFocus = document.activeElement === box;
			edited = null;
			// Removing the field blurs it, which would end the edit a second time.
			box.onblur = null;
			box.replaceWith(text);
			line.draggable = true;
			if (hadFocus) line.focus();
			const written = box.value.trim();
			if (keeps && written && written !== before) handlers.edit(id, written);
		};
		box.onblur = () => end();
		on(box, "keydown", (event) => {
			event.stopPropagation();
			if (isComposing(event) || !(isSend(event) || event.key === "Escape")) return;
			event.preventDefault();
			end(event.key !== "Escape");
		});
		// A field in something that can be dragged cannot be selected in.
		line.draggable = false;
		edited = { id, box };
		text.replaceWith(box);
		box.focus();
		box.setSelectionRange(before.length, before.length);
	}

	/** @param {Api.QueuedEntry} prompt */
	function make({ id }) {
		const line = h("li", { tabIndex: -1, draggable: true },
			h("span.grip", icon("grip")), h("span.queue-who.muted"), h("span.queue-text", { ondblclick: () => edit(line, id) }), h("span.queue-files", icon("attach"), h("span")),
			h("span.queue-actions",
				iconButton("send", "Send now", () => handlers.send(id), { title: "Send now: stops the running turn (Ctrl+Enter)" }),
				iconButton("edit", "Edit", () => edit(line, id), { title: "Edit (Enter)" }),
				iconButton("up", "Move up", () => move(id, placeOf(id) - 1), { title: "Move up (Alt+↑)", className: "icon-button up" }),
				iconButton("lower", "Move down", () => move(id, placeOf(id) + 1), { title: "Move down (Alt+↓)", className: "icon-button down" }),
				iconButton("close", "Remove", () => handlers.remove(id), { title: "Remove (Delete)" })));
		on(line, "keydown", (event) => {
			if (isTyping(event.target) || event.target !== line) return;
			const step = { ArrowUp: -1, ArrowDown: 1 }[event.key];
			if (step && event.altKey) canAct && move(id, placeOf(id) + step);
			else if (step) focusOn(/** @type {HTMLElement} */ (list.children[placeOf(id) + step]));
			else if (!canAct) return;
			else if (event.key === "Delete" || event.key === "Backspace") handlers.remove(id);
			else if (event.key === "Enter" && (event.ctrlKey || event.metaKey)) isAway(id) || handlers.send(id);
			else if (event.key === "Enter") edit(line, id);
			else return;
			event.preventDefault();
			event.stopPropagation();
		});
		on(line, "dragstart", (event) => {
			dragged = id;
			event.dataTransfer?.setData("text/plain", prompts[placeOf(id)]?.content ?? "");
			line.classList.add("dragged");
		});
		on(line, "dragend", () => ((dragged = ""), line.classList.remove("dragged")));
		on(line, "dragover", (event) => {
			if (!dragged || dragged === id) return;
			event.preventDefault();
			list.querySelector(".drop")?.classList.remove("drop");
			line.classList.add("drop");
		});
		on(line, "dragleave", () => line.classList.remove("drop"));
		on(line, "drop", (event) => {
			event.preventDefault();
			line.classList.remove("drop");
			move(dragged, placeOf(id));
		});
		return line;
	}

	return {
		element,
		show(waiting, held, mayAct) {
			canAct = mayAct;
			const focused = list.contains(document.activeElement) ? placeOf(/** @type {HTMLElement} */ (document.activeElement?.closest("li")).dataset.key) : -1;
			prompts = waiting;
			element.hidden = prompts.length === 0;
			element.classList.toggle("held", held);
			next.hidden = !held || !canAct || isAway(prompts[0]?.id);
			setText(count, held ? `${plural(prompts.length, "message")} held` : `${plural(prompts.length, "message")} waiting`);
			if (edited && placeOf(edited.id) < 0) {
				// Its turn began while it was edited: the text goes back into the message box.
				const { box } = edited;
				box.onblur = null;
				edited = null;
				handlers.lost(box.value);
			}
			keyed(list, prompts, ({ id }) => id, make, (line, { content, attachments, by, waitsFor }) => {
				line.draggable = canAct && !waitsFor && !line.querySelector("textarea");
				for (const one of [".queue-actions", ".grip"]) part(line, one).hidden = !canAct;
				for (const one of line.querySelectorAll(".queue-actions > :not(:last-child)")) /** @type {HTMLElement} */ (one).hidden = Boolean(waitsFor);
				const who = [me.who(by), waitsFor && `waits for ${waitsFor}`].filter(Boolean).join(" · ");
				part(line, ".queue-who").hidden = !who;
				setText(part(line, ".queue-who"), who);
				const text = line.querySelector(".queue-text");
				if (text) setText(text, content);
				const names = namesOf(attachments);
				part(line, ".queue-files").hidden = names === "";
				setText(part(line, ".queue-files span"), names);
				line.title = [me.who(by) && `From ${me.who(by)}`, waitsFor && `Waits for ${waitsFor}, which is away`, content, names].filter(Boolean).join("\n");
			});
			// One of them can be reached with Tab, as in a list.
			[...list.children].forEach((line, at) => (/** @type {HTMLElement} */ (line).tabIndex = at ? -1 : 0));
			if (focused >= 0 && !list.contains(document.activeElement)) focusOn(/** @type {HTMLElement | undefined} */ (list.children[Math.min(focused, prompts.length - 1)]));
		},
	};
}
