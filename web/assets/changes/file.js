// One changed file: a head that folds, and its diff, which is loaded when it is first seen.

import { digest, notesOf, STATUS } from "../lib/changes.js";
import { fileLink } from "../lib/paths.js";
import { plural, visibleName } from "../lib/words.js";
import { counts } from "../ui/code-view.js";
import { copy, fill, h, icon, keepingFocus, on, quoted, setText } from "../ui/dom.js";
import { menuButton, problem, toast } from "../ui/parts.js";
import { makeLines } from "./lines.js";

/** How many lines changed, if lines did. @param {Api.ChangedFile} file */
export const sums = ({ added = 0, removed = 0 }) => (added + removed ? counts(added, removed) : []);

/** Follows a link to the editor; some are followed by the page itself. */
function follow(href = "") {
	const link = h("a", { href, target: "_top", hidden: true });
	document.body.append(link);
	link.click();
	link.remove();
}

/** @param {FileOptions} options @returns {FileView} */
export function makeFile({ path, watcher, width, isSplit, load, comments, handlers, place }) {
	const [folder, name] = [path.slice(0, path.lastIndexOf("/") + 1), path.slice(path.lastIndexOf("/") + 1)];
	const letter = h("span.status", { ariaHidden: "true" });
	const word = h("span.away");
	const notes = h("span.notes");
	const many = h("span.sums");
	const trouble = h("p.file-note");
	const outdatedTitle = h("span");
	const outdatedList = h("div");
	const outdated = h("details.outdated", { hidden: true }, h("summary", icon("comment"), outdatedTitle, icon("chevron")), outdatedList);
	const fold = h("button.file-fold", { onclick: () => toggle(!isOpen) }, icon("chevron"), letter, h("bdi.path", { title: path }, h("span.muted", visibleName(folder)), h("b", visibleName(name))), word, notes);
	const box = h("input", { type: "checkbox", onchange: () => handlers.viewed(path, box.checked) });
	const viewed = h("label.viewed", { title: "Mark this file as viewed (V)" }, box, h("span", "Viewed"));
	const menu = menuButton(`Menu of ${path}`, () => {
		const address = fileLink(place.editor, place.root, path);
		/** @type {MenuItem[]} */
		const items = [["Copy the path", "copy", () => copy(path).then(() => toast("Copied."))]];
		if (address && file.status !== "deleted") items.push(["Open in the editor", "open", () => follow(address)]);
		if (handlers.may()) items.push(["Revert this file…", "undo", () => handlers.revert(path)]);
		return items;
	});
	const body = h("div.file-body", { tabIndex: 0, role: "group", label: `Changes to ${path}`, hidden: true });
	const element = h("section.file", { "data-path": path, label: path }, h("div.file-head", fold, many, viewed, menu), body);
	let file = /** @type {Api.ChangedFile} */ ({ path, status: "modified", binary: false });
	let found = /** @type {Api.FileDiff | null} */ (null);
	let lines = /** @type {Lines | null} */ (null);
	let isOpen = false;
	let asked = 0;
	/** The placeholder of the diff until it is on screen. @type {Chunk} */
	const waiting = { element: body, from: 0, to: 0, isFilled: false, fill: () => void read(), empty: () => {}, again: () => {} };

	function toggle(wanted = true) {
		view.open(wanted);
		handlers.toggled(path, wanted);
	}

	async function read() {
		watcher.drop(waiting);
		const mine = (asked += 1);
		try {
			const next = await load(path);
			if (mine === asked) show(next);
		} catch (error) {
			if (mine !== asked) return;
			fill(trouble, ...quoted(problem(error)), " ", h("button.link", { onclick: read }, "Try again"));
			// What was read before stays.
			if (found) body.prepend(trouble);
			else fill(body, trouble);
		}
	}

	/** @param {Api.FileDiff} next */
	function show(next) {
		const isSame = found && lines && JSON.stringify(found) === JSON.stringify(next);
		found = next;
		trouble.remove();
		if (!isSame) paint();
		handlers.loaded(path);
	}

	/** What has the focus keeps it: a comment may be written while its file changes. */
	const paint = () => keepingFocus(body, build);

	function build() {
		lines?.drop();
		lines = null;
		if (!found) return;
		const { hunks, complete, binary, status } = found;
		if (hunks.length) lines = makeLines({ path, hunks, split: isSplit(), watcher, width: width(), comments: () => comments(path), isReverted: (hunk) => handlers.isReverted(path, digest(JSON.stringify(hunks[hunk]))), handlers: { may: handlers.may, revert: (hunk) => handlers.revert(path, hunk, digest(JSON.stringify(hunks[hunk]))) } });
		const empty = binary ? "A binary file: its content cannot be shown here." : status === "renamed" || status === "copied" ? "Its content is the same." : status === "added" ? "The file is empty." : "No line of it changed.";
		fill(body, lines ? lines.element : h("p.file-note.muted", empty), !complete && h("p.file-note", icon("warning"), "This diff is too long to be shown whole: it is cut off here."), outdated);
		showOutdated();
	}

	/** Comments on lines that are not in the diff any more. */
	function showOutdated() {
		const lost = comments(path).filter(({ element: one }) => !lines?.places.has(one));
		outdated.hidden = lost.length === 0;
		setText(outdatedTitle, `${plural(lost.length, "comment")} on lines that are no longer here`);
		fill(outdatedList, ...lost.map(({ element: one }) => one));
		if (lost.some(({ form }) => form)) outdated.open = true;
	}

	/** @type {FileView} */
	const view = {
		element,
		path,
		get file() { return file; },
		get isOpen() { return isOpen; },
		get lines() { return lines; },
		get hunks() { return found?.hunks ?? []; },
		get body() { return body; },
		get digest() { return found ? digest(JSON.stringify(found.hunks)) : ""; },
		show(next) {
			file = next;
			const [short, what] = STATUS[next.status];
			setText(letter, short);
			letter.title = what;
			setText(word, ` ${what} `);
			element.dataset.status = next.status;
			fill(notes, ...notesOf(next).map((note) => h("span.note", { title: note }, visibleName(note))));
			fill(many, ...sums(next));
			// It may have changed again; it is loaded when it is on screen.
			watcher.drop(waiting);
			if (isOpen) watcher.add(waiting);
		},
		setViewed(isViewed) {
			box.checked = isViewed;
			element.classList.toggle("is-viewed", isViewed);
		},
		open(wanted) {
			if (wanted === isOpen) return;
			isOpen = wanted;
			fold.ariaExpanded = String(isOpen);
			body.hidden = !isOpen;
			if (isOpen && !found) {
				fill(body, h("p.file-note.muted", h("span.spinner"), "Loading…"));
				watcher.add(waiting);
			}
		},
		paint: () => found && paint(),
		showComments: () => keepingFocus(body, () => {
			lines?.showComments();
			if (found) showOutdated();
		}),
		focus: () => fold.focus(),
		drop() {
			// A diff that is still on its way is not shown.
			asked += 1;
			watcher.drop(waiting);
			lines?.drop();
			element.remove();
		},
	};
	fold.ariaExpanded = "false";
	on(fold, "keydown", (event) => {
		const wanted = { ArrowRight: true, ArrowLeft: false }[event.key];
		if (wanted === undefined) return;
		event.preventDefault();
		toggle(wanted);
	});
	return view;
}
