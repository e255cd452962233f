// Comments on lines: written in the diff, collected in a tray until they are sent as one prompt.

import { linesText, quoteOf } from "../lib/changes.js";
import { isComposing } from "../lib/keys.js";
import { plural, visibleName } from "../lib/words.js";
import { newId } from "../lib/writing.js";
import { fill, h, icon, iconButton, keyed, on, setText } from "../ui/dom.js";
import { announce, dialogs } from "../ui/parts.js";

/** The daemon's limit for one prompt. */
const COMMENTS_MAX = 200;

/** @param {ReviewOptions} options @returns {Review} */
export function makeReview({ drafts, key, sent, fileOf, begun, changed, go, send, canSend }) {
	let pending = /** @type {PendingComment[]} */ (drafts.get(key()) ?? []);
	/** The comment that is being written; `end` closes its form, and keeps what is written as a comment. */
	let form = /** @type {(ShownComment & { end(): void }) | null} */ (null);
	/** The elements of comments by id, so that they stay the same. @type {Map<string, HTMLElement>} */
	const made = new Map();
	let isOpen = false;

	const count = h("span.review-count");
	const list = h("ul.review-list", { label: "Comments" });
	const field = h("textarea.field", { rows: 1, label: "Message with the comments", placeholder: "A message with the comments (optional)", value: drafts.get(`${key()}.text`) ?? "", oninput: () => write(field.value) });
	const post = h("button.button.primary.small", { onclick: submit }, "Send to the agent");
	const toggle = h("button.review-toggle", { ariaExpanded: "false", onclick: () => ((isOpen = !isOpen), paint()) }, icon("comment"), count, icon("chevron"));
	const element = h("section.review", { label: "Review", hidden: true }, h("div.review-body", list, field), h("div.review-foot", toggle, post));
	on(field, "keydown", (event) => {
		if (isComposing(event) || event.key !== "Enter" || !(event.ctrlKey || event.metaKey)) return;
		event.preventDefault();
		submit();
	});

	/** @param {PendingComment[]} next */
	function keep(next) {
		pending = next;
		drafts.set(key(), pending.length ? pending : null);
		paint();
	}

	function paint() {
		element.hidden = pending.length === 0;
		element.classList.toggle("is-open", isOpen);
		toggle.ariaExpanded = String(isOpen);
		setText(count, plural(pending.length, "comment"));
		post.disabled = !canSend();
		keyed(list, pending, ({ id }) => id, ({ id }) => h("li", h("button.review-place", { onclick: () => go(id) }, h("b"), h("span.muted")), iconButton("close", "Remove the comment", () => remove(id))), (line, { path, comment, ...range }) => {
			setText(line.querySelector("b"), `${visibleName(path.split("/").at(-1))}, ${linesText(range)}`);
			setText(line.querySelector(".muted"), comment);
		});
	}

	async function submit() {
		if (!pending.length || !canSend()) return;
		const [sending, text] = [pending, field.value.trim()];
		const paths = new Set(pending.map(({ path }) => path));
		const answer = send(text, sending.map(({ id: _, ...comment }) => comment));
		write("");
		isOpen = false;
		keep([]);
		made.clear();
		paths.forEach(changed);
		if ((await answer) !== false) return;
		// It was refused, so the text is restored.
		write(text);
		keep([...sending, ...pending]);
		paths.forEach(changed);
	}

	function write(text = "") {
		field.value = text;
		drafts.set(`${key()}.text`, text);
	}

	function remove(id = "") {
		const gone = pending.find((comment) => comment.id === id);
		const hadFocus = made.get(id)?.contains(document.activeElement);
		keep(pending.filter((comment) => comment.id !== id));
		made.delete(id);
		announce("The comment is removed.");
		if (!gone) return;
		changed(gone.path);
		if (hadFocus) back(gone.path, gone.side, gone.endLine);
	}

	/** @param {PendingComment} comment */
	function viewOf(comment) {
		const known = made.get(comment.id);
		if (known) return known;
		const view = commentElement(comment, `Your comment, ${linesText(comment)}`, iconButton("edit", "Edit the comment", () => edit(comment)), iconButton("trash", "Remove the comment", () => remove(comment.id)));
		view.dataset.comment = comment.id;
		made.set(comment.id, view);
		return view;
	}

	/** @param {PendingComment} comment */
	function edit(comment) {
		const { path, side, startLine: from, endLine: to, id, comment: text, quote } = comment;
		keep(pending.filter((other) => other.id !== id));
		made.delete(id);
		// Its lines may be gone.
		begin(path, { side, from, to }, text, quote);
	}

	/** Opens the form below some lines. @type {Review["begin"]} */
	function begin(path, { side, from, to }, text = "", quote = quoteOf(fileOf(path)?.hunks ?? [], side, from, to)) {
		const file = fileOf(path);
		if (!file || quote === undefined) return void announce("A comment is about lines that stand together.");
		shelve();
		const box = h("textarea.field", { rows: 2, value: text, label: `Comment on ${path}, ${linesText({ side, startLine: from, endLine: to })}`, placeholder: "What should be different here?" });
		const range = { path, side, startLine: from, endLine: to, quote };
		const end = (comment = "") => {
			// A question whether to discard it may still be open.
			if (form?.element !== view) return;
			form = null;
			fileOf(path)?.lines?.select(null);
			if (comment) keep([...pending, { id: newId(), ...range, comment }].slice(-COMMENTS_MAX));
			changed(path);
		};
		const add = () => {
			const comment = box.value.trim();
			if (!comment) return box.focus();
			end(comment);
			announce("The comment is added to the review.");
			back(path, side, to);
		};
		const leave = () => {
			end(text);
			back(path, side, to);
		};
		const view = h("div.comment.is-form", h("div.comment-head", icon("comment"), h("span.muted", `New comment, ${linesText({ side, startLine: from, endLine: to })}`)), box,
			h("div.comment-foot", h("span.muted.hint", "Ctrl+Enter adds it"), h("button.button.small", { onclick: leave }, "Cancel"), h("button.button.primary.small", { onclick: add }, "Add comment")));
		on(view, "keydown", (event) => {
			event.stopPropagation();
			if (isComposing(event)) return;
			if (event.key === "Escape" && (box.value.trim() === text.trim())) leave();
			else if (event.key === "Escape") dialogs.confirm("Discard this comment?", "What you have written here is lost.", "Discard", leave);
			else if (event.key === "Enter" && (event.ctrlKey || event.metaKey)) add();
			else return;
			event.preventDefault();
		});
		form = { ...range, comment: "", element: view, form: true, end: () => end(box.value.trim() || text) };
		file.lines?.select({ side, from, to });
		begun(path);
		changed(path);
		view.scrollIntoView({ block: "nearest" });
		box.focus();
	}

	/** Closes the form where it cannot go on. What was written becomes a comment of the review, and writing goes on there. */
	function shelve() {
		const hadFocus = form?.element.contains(document.activeElement);
		form?.end();
		if (!hadFocus || !pending.length) return;
		isOpen = true;
		paint();
		field.focus();
	}

	/** Returns the focus to the lines. @param {DiffSide} side */
	function back(path = "", side, number = 0) {
		const file = fileOf(path);
		const at = file?.lines?.rowOf(side, number) ?? -1;
		if (at >= 0) file?.lines?.focus(at);
	}

	/** Comments that were sent, by their text. @type {Map<string, HTMLElement>} */
	const told = new Map();
	/** @param {ReviewComment} comment */
	function sentView(comment, seq = 0) {
		const name = JSON.stringify([seq, comment]);
		const known = told.get(name) ?? commentElement(comment, `Sent, ${linesText(comment)}`);
		known.classList.add("is-sent");
		told.set(name, known);
		return known;
	}

	return {
		element,
		paint,
		begin,
		get isWriting() { return form?.element.checkVisibility() === true; },
		gone: (path) => form?.path === path && shelve(),
		countOn: (path) => pending.filter((comment) => comment.path === path).length,
		on: (path) => [
			...sent().filter(({ comment }) => comment.path === path).map(({ comment, seq }) => ({ ...comment, element: sentView(comment, seq) })),
			...pending.filter((comment) => comment.path === path).map((comment) => ({ ...comment, element: viewOf(comment) })),
			...(form?.path === path ? [form] : []),
		],
		get: (id) => pending.find((comment) => comment.id === id),
		elementOf: (id) => made.get(id),
	};
}

/** A comment in the diff. @param {ReviewComment} comment @param {Child[]} actions */
function commentElement(comment, label = "", ...actions) {
	const view = h("div.comment", { role: "group", label }, h("div.comment-head", icon("comment"), h("span.muted", label), ...actions));
	const text = h("p.comment-text");
	fill(text, comment.comment);
	view.append(text);
	return view;
}
