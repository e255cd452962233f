// <convoke-changes>: the changes of a session beside its conversation; file by file, with comments and reverts.

import { fingerprint, leftOutWhy, treeOf } from "../lib/changes.js";
import { keep, kept } from "../lib/kept.js";
import { plural, totalsText } from "../lib/words.js";
import { counts } from "../ui/code-view.js";
import { component, fill, h, icon, iconButton, keyed, on, quoted, refill, setText } from "../ui/dom.js";
import { menuButton, problem, toastError } from "../ui/parts.js";
import { makeFoldedPaths } from "../ui/path-list.js";
import { rest } from "../ui/rest.js";
import { acts, undone } from "./acts.js";
import { makeWatcher } from "./chunks.js";
import { makeFile } from "./file.js";
import { makeGrip } from "./grip.js";
import { makePointing } from "./pointing.js";
import { makeReview } from "./review.js";
import { makeTree } from "./tree.js";

/** Limits for files that are open at first: changed lines of one, changed lines of all, and their number. */
const OPEN_LINES = 400;
const OPEN_TOTAL = 4000;
const OPEN_FILES = 60;
/** Two columns need this much room. */
const SPLIT_FROM = 560;
/** Characters of a prompt that name its turn. */
const NAME_MAX = 60;

/** @type {(options: ChangesOptions) => ChangesPanel} */
export const makePanel = component("convoke-changes", (element, options) => {
	const { drafts, place } = options;
	const uid = options.uid();
	const base = `/api/sessions/${encodeURIComponent(uid)}/changes`;
	const views = /** @type {Map<string, FileView>} */ (new Map());
	/** Files that were opened or closed by hand. */
	const chosen = /** @type {Map<string, boolean>} */ (new Map());
	/** What was reverted here, and not undone: scope, file, and hunk unless all of it. */
	const reverted = /** @type {Set<string>} */ (new Set());
	let found = /** @type {Api.SessionChanges | null} */ (null);
	let turn = 0;
	let [asked, width] = [0, 0];
	let isSplit = false;
	let painted = "";

	const scope = h("select", { label: "Changes of", onchange: choose });
	const sums = h("span.sums");
	const layout = iconButton("columns", "", () => (keep("diff", kept("diff") === "split" ? "unified" : "split"), arrange()));
	const wide = iconButton("expand", "", () => (document.body.classList.toggle("changes-only"), arrange()), { className: "icon-button wide" });
	const files = h("button.files-toggle", { ariaExpanded: "false", onclick: () => showTree(tree.element.hidden === true) }, icon("chevron"), h("span"));
	const seen = h("span.muted.seen-count");
	const cutText = h("span");
	const cut = h("p.told", { hidden: true }, icon("warning"), cutText);
	const notWatched = makeFoldedPaths("Changes to these files are neither shown nor restored.");
	const changedBetween = makeFoldedPaths("You, another program, or a command that a turn left running changed these files while no turn ran. Their changes are not shown here.");
	const others = h("div", notWatched.element, changedBetween.element);
	const told = h("div.changes-told", cut, others);
	const none = h("div.centre.none", { hidden: true });
	const noneTitle = h("h3");
	const list = h("div.file-list");
	const scroller = h("div.changes-scroller", { tabIndex: -1 }, told, list);
	const watcher = makeWatcher(scroller);
	const tree = makeTree({ go, isViewed, commentsOn: (path) => review.countOn(path) });
	const review = makeReview({
		drafts,
		key: () => `review.${uid}`,
		sent: options.sent,
		fileOf: (path) => views.get(path),
		begun: (path) => chosen.set(path, true),
		changed: (path) => (views.get(path)?.showComments(), tree.paint()),
		canSend: options.canSend,
		send: options.send,
		go: (id) => {
			const path = review.get(id)?.path ?? "";
			go(path);
			const view = review.elementOf(id);
			view?.scrollIntoView({ block: "center" });
		},
	});
	const pointing = makePointing(scroller, { fileAt: (target) => views.get(/** @type {HTMLElement | null} */ (target.closest(".file"))?.dataset.path ?? ""), files: ordered, begin: review.begin, may: options.may, isWriting: () => review.isWriting, viewed: (path) => setViewed(path, !isViewed(path)) });

	/** Shows the whole session, or one turn. */
	function choose() {
		turn = Number(scope.value);
		chosen.clear();
		for (const path of [...views.keys()]) drop(path);
		load();
	}

	function drop(path = "") {
		const view = views.get(path);
		views.delete(path);
		review.gone(path);
		view?.drop();
	}

	/** The files in the order of the tree. */
	function ordered() {
		return treeOf(found?.files ?? [], new Set()).flatMap(({ file }) => (file ? [/** @type {FileView} */ (views.get(file.path))] : []));
	}

	/** @returns {Promise<void>} */
	async function load() {
		const mine = (asked += 1);
		try {
			const next = await rest(`${base}${turn ? `?turn=${turn}` : ""}`);
			if (mine !== asked) return;
			found = next;
			show();
		} catch (/** @type {any} */ error) {
			if (mine !== asked) return;
			// A turn whose checkpoints were removed.
			if (!turn || error.status !== 404) return complain(error);
			turn = 0;
			return load();
		}
	}

	/** There is nothing to show, and why. @param {any} error */
	function complain(error) {
		const isNone = error.status === 404 || error.status === 409;
		if (!isNone && review.isWriting) return void toastError(error);
		found = null;
		element.classList.add("is-none");
		none.hidden = false;
		fill(none, h("h3", isNone ? "No changes to show" : "The changes could not be read"), h("p.muted", ...(error.status === 404 ? ["A checkpoint is made before and after each turn: send a message, and what it changes is shown here."] : quoted(problem(error)))), !isNone && h("button.button", { onclick: load }, "Try again"));
	}

	function show() {
		if (!found) return;
		const { totals, complete } = found;
		const isEmpty = found.files.length === 0;
		showScope(found.turns, found.numbers);
		fill(sums, ...(complete && !isEmpty ? counts(totals.added, totals.removed) : []));
		sums.title = totalsText(totals);
		element.classList.toggle("is-none", isEmpty);
		none.hidden = !isEmpty;
		showOthers(found);
		setText(noneTitle, turn ? "This turn changed no files" : "No files have changed");
		if (!isEmpty && others.parentElement !== told) told.append(others);
		if (isEmpty && others.parentElement !== none) fill(none, icon("check"), noneTitle, others);
		cut.hidden = complete;
		setText(cutText, `Too many files changed to list them all: these are the first ${found.files.length.toLocaleString("en")} of ${totals.files.toLocaleString("en")}, and their lines are not counted.`);
		const wanted = new Set(found.files.map(({ path }) => path));
		for (const path of [...views.keys()]) if (!wanted.has(path)) drop(path);
		const order = treeOf(found.files, new Set()).flatMap(({ file }) => file ?? []);
		keyed(list, order, ({ path }) => path, ({ path }) => make(path).element, (_, file) => views.get(file.path)?.show(file));
		let [lines, opened] = [0, 0];
		for (const file of order) {
			const changed = (file.added ?? 0) + (file.removed ?? 0);
			const isSmall = changed <= OPEN_LINES && lines + changed <= OPEN_TOTAL && opened < OPEN_FILES && file.status !== "deleted" && found.complete;
			// One that is read stays open when it grows.
			const wants = chosen.get(file.path) ?? ((isSmall || views.get(file.path)?.isOpen === true) && !isViewed(file.path));
			if (wants) [lines, opened] = [lines + changed, opened + 1];
			views.get(file.path)?.open(wants);
		}
		tree.show(found.files);
		paintViewed();
		review.paint();
	}

	/** @param {Api.SessionChanges} shown */
	function showOthers({ leftOut, between }) {
		notWatched.show(`${plural(leftOut.length, "file")} not watched`, leftOut.map((file) => [file.path, leftOutWhy(file)]));
		const count = between?.files ?? 0;
		changedBetween.show(`${plural(count, "file")} changed between the turns`, (between?.paths ?? []).map((path) => [path]), count);
	}

	/** @param {number[]} turns @param {number[]} numbers */
	function showScope(turns, numbers) {
		const prompts = new Map(options.prompts().map(({ seq, text }) => [seq, text.replace(/\s+/g, " ").trim()]));
		const nameOf = (seq = 0, at = 0) => {
			const text = prompts.get(seq) ?? "";
			return `Turn ${numbers[at] ?? at + 1}${text && ` · ${text.length > NAME_MAX ? `${text.slice(0, NAME_MAX)}…` : text}`}`;
		};
		// The newest first, which is needed most.
		const choices = turns.map((seq, at) => h("option", { value: String(seq) }, nameOf(seq, at))).reverse();
		// New options would take the chosen one away from a list that is open.
		refill(scope, h("option", { value: "0" }, "Whole session"), ...choices);
		if (scope.value !== String(turn)) scope.value = String(turn);
	}

	function make(path = "") {
		const view = makeFile({
			path, watcher, place,
			width: () => width,
			isSplit: () => isSplit,
			load: (file) => rest(`${base}/file?path=${encodeURIComponent(file)}${turn ? `&turn=${turn}` : ""}`),
			comments: review.on,
			handlers: {
				may: options.may,
				viewed: setViewed,
				toggled: (file, isOpen) => chosen.set(file, isOpen),
				loaded: () => paintViewed(),
				isReverted: (file, digest) => reverted.has(`${turn} ${file}`) || reverted.has(`${turn} ${file} ${digest}`),
				revert: async (file, hunk, digest) => {
					const what = { path: file, ...(turn && { turn }), ...(hunk !== undefined && { hunk }) };
					const isDone = await (hunk === undefined ? acts.confirmRevert(uid, what) : acts.revert(uid, what, `one change in ${file.split("/").at(-1)}`));
					if (!isDone) return;
					// The diff of a turn stays what it was.
					reverted.add(`${turn} ${file}${digest ? ` ${digest}` : ""}`);
					view.paint();
				},
			},
		});
		views.set(path, view);
		return view;
	}

	/** The viewed files: for each file and scope its fingerprint then. @returns {Record<string, string>} */
	const marks = () => drafts.get(`viewed.${uid}`) ?? {};

	function isViewed(path = "") {
		const view = views.get(path);
		const [print, digest] = (marks()[`${turn} ${path}`] ?? "").split("\n");
		return view !== undefined && print === fingerprint(view.file) && (!digest || !view.digest || digest === view.digest);
	}

	function setViewed(path = "", wants = true) {
		const view = views.get(path);
		if (!view) return;
		const { [`${turn} ${path}`]: _, ...others } = marks();
		drafts.set(`viewed.${uid}`, wants ? { ...others, [`${turn} ${path}`]: `${fingerprint(view.file)}\n${view.digest}` } : others);
		chosen.delete(path);
		view.open(!wants);
		paintViewed();
		if (wants) view.element.scrollIntoView({ block: "nearest" });
	}

	function paintViewed() {
		for (const [path, view] of views) view.setViewed(isViewed(path));
		const count = [...views.keys()].filter(isViewed).length;
		setText(seen, count ? `${count} of ${views.size} viewed` : "");
		setText(/** @type {Element} */ (files.lastElementChild), plural(views.size, "file"));
		tree.paint();
	}

	function openAll(wants = true) {
		for (const [path, view] of views) {
			chosen.set(path, wants);
			view.open(wants);
		}
	}

	function showTree(wants = true) {
		tree.element.hidden = !wants;
		files.ariaExpanded = String(wants);
		keep("changes-tree", wants ? "shown" : "hidden");
	}

	function go(path = "") {
		const view = views.get(path);
		if (!view) return;
		view.open(true);
		chosen.set(path, true);
		view.element.scrollIntoView({ block: "start" });
		view.focus();
		tree.mark(path);
	}

	/** After a change of size or of the setting. */
	function arrange() {
		const now = scroller.clientWidth;
		if (!now) return;
		const canSplit = now >= SPLIT_FROM;
		const wants = canSplit && kept("diff") === "split";
		layout.hidden = !canSplit;
		fill(layout, icon(wants ? "rows" : "columns"));
		layout.ariaLabel = layout.title = wants ? "Show in one column" : "Show side by side";
		const isOnly = document.body.classList.contains("changes-only");
		fill(wide, icon(isOnly ? "shrink" : "expand"));
		wide.ariaLabel = wide.title = isOnly ? "Show the conversation" : "Use the whole width";
		width = now;
		if (wants === isSplit) return;
		isSplit = wants;
		for (const view of views.values()) view.paint();
	}

	let looking = 0;
	on(scroller, "scroll", () => {
		looking ||= requestAnimationFrame(() => {
			looking = 0;
			const { left, top } = scroller.getBoundingClientRect();
			const at = /** @type {HTMLElement | null | undefined} */ (document.elementFromPoint(left + 30, top + 60)?.closest(".file"));
			if (at?.dataset.path) tree.mark(at.dataset.path);
		});
	}, { passive: true });
	new ResizeObserver(arrange).observe(scroller);
	undone.addEventListener("undone", () => {
		reverted.clear();
		for (const view of views.values()) view.paint();
	});
	const menu = menuButton("Menu of the changes", () => [
		["Read again", "retry", load],
		["Open all files", "down", () => openAll(true)],
		["Close all files", "up", () => openAll(false)],
		["Undo the last restore", "undo", () => acts.undo(uid)],
	]);
	const close = iconButton("close", "Close the changes", () => options.close(), { title: "Close (Esc)" });
	element.role = "complementary";
	element.ariaLabel = "Changes";
	showTree(kept("changes-tree") ? kept("changes-tree") === "shown" : innerWidth >= 720);
	element.append(makeGrip(),
		h("div.changes-head", h("h2", "Changes"), h("span.picker.scope", scope, icon("chevron")), sums, layout, wide, menu, close),
		h("div.changes-body", h("div.tree-side", h("div.tree-head", files, seen), tree.element), scroller, none),
		review.element);
	load();
	return {
		refresh: load,
		/** Paints again after a change of the prompts, or of whether the session accepts them. */
		paint() {
			const now = `${options.canSend()} ${options.may()} ${options.sent().length}`;
			if (now === painted) return;
			painted = now;
			review.paint();
			for (const view of views.values()) if (view.isOpen) view.showComments();
		},
		focusFirst: () => (found?.files.length ? scope : close).focus(),
		escape: pointing.escape,
	};
});
