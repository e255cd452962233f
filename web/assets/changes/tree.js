// The changed files as a tree of folders.

import { STATUS, treeOf } from "../lib/changes.js";
import { visibleName } from "../lib/words.js";
import { h, icon, keyed, on } from "../ui/dom.js";
import { sums } from "./file.js";

/** @param {{ go(path: string): void, isViewed(path: string): boolean, commentsOn(path: string): number }} handlers @returns {FileTree} */
export function makeTree({ go, isViewed, commentsOn }) {
	const element = h("ul.tree", { role: "tree", label: "Changed files" });
	const closed = /** @type {Set<string>} */ (new Set());
	let files = /** @type {Api.ChangedFile[]} */ ([]);
	let current = "";

	/** @param {TreeRow} row */
	function make({ path, file }) {
		return h("li", { role: "treeitem", tabIndex: -1, onclick: () => (file ? go(path) : toggle(path)) });
	}

	function toggle(path = "") {
		if (!closed.delete(path)) closed.add(path);
		paint();
	}

	/** @param {HTMLElement} line @param {TreeRow} row */
	function paintRow(line, { path, name, depth, file, isClosed }) {
		const looks = JSON.stringify([name, depth, file, isClosed, file && isViewed(path), file && commentsOn(path)]);
		line.style.setProperty("--depth", String(depth));
		line.ariaLevel = String(depth + 1);
		line.ariaExpanded = file ? null : String(!isClosed);
		line.ariaSelected = String(path === current);
		if (line.dataset.looks === looks) return;
		line.dataset.looks = looks;
		line.title = visibleName(path);
		const said = file ? commentsOn(path) : 0;
		line.classList.toggle("is-viewed", file !== undefined && isViewed(path));
		line.replaceChildren(...(file
			? [h("span.status", { "data-status": file.status, title: STATUS[file.status][1] }, STATUS[file.status][0]), h("span.title", visibleName(name)), said > 0 && h("span.said", icon("comment"), String(said)), isViewed(path) && h("span.seen", { role: "img", label: "viewed" }, icon("check")), ...(file.binary ? [h("span.muted", "binary")] : sums(file))]
			: [icon("chevron"), h("span.title", visibleName(name))]).filter((child) => child !== false));
	}

	function paint() {
		keyed(element, treeOf(files, closed), ({ path, file }) => (file ? path : `${path}/`), make, paintRow);
		rove();
	}

	/** Makes one of them reachable with Tab. */
	function rove(to = /** @type {Element | null} */ (null)) {
		const all = /** @type {HTMLElement[]} */ ([...element.children]);
		const here = to ?? all.find((line) => line === document.activeElement) ?? all.find((line) => line.ariaSelected === "true") ?? all[0];
		for (const line of all) line.tabIndex = line === here ? 0 : -1;
	}

	on(element, "keydown", (event) => {
		const line = /** @type {HTMLElement} */ (event.target.closest("li"));
		const all = /** @type {HTMLElement[]} */ ([...element.children]);
		const at = all.indexOf(line);
		if (at < 0 || event.altKey || event.ctrlKey || event.metaKey) return;
		const isFolder = line.ariaExpanded !== null;
		const up = all.slice(0, at).findLast((other) => Number(other.ariaLevel) < Number(line.ariaLevel));
		const folds = isFolder && ((event.key === "ArrowLeft" && line.ariaExpanded === "true") || (event.key === "ArrowRight" && line.ariaExpanded === "false"));
		const to = { ArrowDown: all[at + 1], ArrowUp: all[at - 1], Home: all[0], End: all.at(-1), ArrowLeft: up }[event.key];
		if (folds || event.key === "Enter" || event.key === " ") line.click();
		else if (to) {
			rove(to);
			to.focus();
		} else return;
		event.preventDefault();
		event.stopPropagation();
	});

	return {
		element,
		show(next) {
			files = next;
			paint();
		},
		paint,
		/** Marks the current file. */
		mark(path) {
			if (path === current) return;
			current = path;
			for (const line of /** @type {HTMLElement[]} */ ([...element.children])) line.ariaSelected = String(line.dataset.key === current);
			element.querySelector('[aria-selected="true"]')?.scrollIntoView({ block: "nearest" });
			rove();
		},
	};
}
